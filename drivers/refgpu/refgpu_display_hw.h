/* SPDX-License-Identifier: MIT */
/*
 * RefGPU hardware interface, the display engine: registers of the outputs (section 14 of
 * docs/refgpu.md). As refgpu_hw.h, only numbers and layouts.
 */
/* clang-format off: tables */
#ifndef REFGPU_DISPLAY_HW_H
#define REFGPU_DISPLAY_HW_H

#include <stdint.h>

#include "refgpu_hw.h"

#define REFGPU_OUTPUTS 2u /* at most; FEATURES says how many the board has */

#define REFGPU_FEATURE_OUTPUTS(features) (((features) >> 8) & 0xFu)
#define REFGPU_FEATURE_OUTPUTS_SHIFT     8u

/* Causes in IRQ_STATUS and IRQ_ENABLE, one bit per output. */
#define REFGPU_IRQ_VSYNC(output) (0x00100000u << (output)) /* a vertical blank has begun */
#define REFGPU_IRQ_PLUG(output)  (0x00400000u << (output)) /* another monitor, or none */
#define REFGPU_IRQ_DISPLAY_ALL   0x00F00000u

/* ---- registers; a _LO/_HI pair may be accessed as one 64-bit register ---- */

#define REFGPU_OUTPUT_STRIDE         0x100u
#define REFGPU_REG_OUTPUT(output, r) (0x3000u + (output)*REFGPU_OUTPUT_STRIDE + (r))

#define REFGPU_OUT_CONTROL          0x00u /* RW REFGPU_OUT_CONTROL_x */
#define REFGPU_OUT_STATUS           0x04u /* RO REFGPU_OUT_STATUS_x */
#define REFGPU_OUT_SIZE             0x08u /* RW columns 15:0 and lines 31:16 that are seen */
#define REFGPU_OUT_TOTAL            0x0Cu /* RW columns 15:0 and lines 31:16 with blanks */
#define REFGPU_OUT_CLOCK            0x10u /* RW pixels a second, in units of 1000 */
#define REFGPU_OUT_INTERRUPT        0x14u /* RW REFGPU_OUT_INTERRUPT_x */
#define REFGPU_OUT_ADDRESS_LO       0x18u /* RW VRAM offset of the picture from the next blank on */
#define REFGPU_OUT_ADDRESS_HI       0x1Cu /*    writing it is the order */
#define REFGPU_OUT_NOW_LO           0x20u /* RW VRAM offset of the picture that is scanned out */
#define REFGPU_OUT_NOW_HI           0x24u /*    writing it changes the picture at once */
#define REFGPU_OUT_PITCH            0x28u /* RW bytes from a line to the next; goes with ADDRESS */
#define REFGPU_OUT_FORMAT           0x2Cu /* RW REFGPU_OUT_FORMAT_x; goes with ADDRESS */
#define REFGPU_OUT_LINE             0x30u /* RO line that is scanned out, and REFGPU_OUT_LINE_BLANK */
#define REFGPU_OUT_FRAMES           0x34u /* RO vertical blanks since ENABLE was set */
#define REFGPU_OUT_EDID_BYTES       0x38u /* RO size of what the monitor says of itself; 0: nothing */
#define REFGPU_OUT_EDID_OFFSET      0x3Cu /* RW where EDID_DATA reads */
#define REFGPU_OUT_EDID_DATA        0x40u /* RC four bytes; EDID_OFFSET goes on by 4 */
#define REFGPU_OUT_POINTER_POSITION 0x44u /* RW column 15:0 and line 31:16 of its corner, signed */
#define REFGPU_OUT_POINTER_SHAPE_LO 0x48u /* RW VRAM offset of its pixels, 4 KiB aligned */
#define REFGPU_OUT_POINTER_SHAPE_HI 0x4Cu
#define REFGPU_OUT_GAMMA_INDEX      0x50u /* RW where GAMMA_DATA is: red 0 to 255, green, blue */
#define REFGPU_OUT_GAMMA_DATA       0x54u /* RW 16 bits; writing it, GAMMA_INDEX goes on by 1 */

#define REFGPU_OUT_CONTROL_ENABLE  0x00000001u /* there is a signal */
#define REFGPU_OUT_CONTROL_BLANK   0x00000002u /* a black one; nothing is read */
#define REFGPU_OUT_CONTROL_POINTER 0x00000004u /* the pointer is drawn over the picture */
#define REFGPU_OUT_CONTROL_GAMMA   0x00000008u /* what is seen goes through the gamma ramp */
#define REFGPU_OUT_CONTROL_ALL     0x0000000Fu

#define REFGPU_OUT_STATUS_CONNECTED 0x00000001u /* there is a monitor */
#define REFGPU_OUT_STATUS_BLANK     0x00000002u /* in the vertical blank */
#define REFGPU_OUT_STATUS_PENDING   0x00000004u /* ADDRESS waits for the blank */
#define REFGPU_OUT_STATUS_RANGE     0x00000008u /* the picture does not lie in VRAM: no signal */

#define REFGPU_OUT_INTERRUPT_VSYNC 0x00000001u /* IRQ_VSYNC is raised at each blank */
#define REFGPU_OUT_INTERRUPT_PLUG  0x00000002u /* IRQ_PLUG is raised */
#define REFGPU_OUT_INTERRUPT_ALL   0x00000003u

#define REFGPU_OUT_FORMAT_X8R8G8B8 0u
#define REFGPU_OUT_FORMAT_A8R8G8B8 1u /* alpha is ignored */
#define REFGPU_OUT_FORMAT_R5G6B5   2u
#define REFGPU_OUT_FORMATS         3u

#define REFGPU_OUT_LINE_BLANK 0x80000000u

#define REFGPU_OUT_MOST_SIDE    8192u
#define REFGPU_OUT_MOST_CLOCK   1200000u
#define REFGPU_OUT_MOST_HERTZ   1000u
#define REFGPU_OUT_PITCH_UNIT   64u
#define REFGPU_OUT_ADDRESS_UNIT 4096u
#define REFGPU_EDID_MOST_BYTES  32768u
#define REFGPU_GAMMA_LEVELS     256u /* of each of three channels */
#define REFGPU_GAMMA_ENTRIES    (3u * REFGPU_GAMMA_LEVELS)
#define REFGPU_POINTER_SIDE     64u
#define REFGPU_POINTER_BYTES    (REFGPU_POINTER_SIDE * REFGPU_POINTER_SIDE * 4u)

/* clang-format on */

#endif
