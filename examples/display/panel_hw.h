/* SPDX-License-Identifier: MIT */
/*
 * The Panel: a frame buffer with one connector, 60 pictures a second. For the driver and for the
 * model: only numbers.
 *
 *   BAR 0   4 KiB of registers, 32 bits each
 *   BAR 2   8 MiB of video memory: the picture from its beginning, B, G, R, X; the pointer at its end
 */
#ifndef PANEL_HW_H
#define PANEL_HW_H

#define PANEL_VENDOR 0x1D58u
#define PANEL_DEVICE 0x0010u

#define PANEL_REGISTER_BYTES 0x1000u
#define PANEL_MEMORY_BYTES   0x800000u
#define PANEL_POINTER_SIDE   64u
#define PANEL_POINTER_BYTES  (PANEL_POINTER_SIDE * PANEL_POINTER_SIDE * 4u) /* B, G, R, A */
#define PANEL_POINTER_AT     (PANEL_MEMORY_BYTES - PANEL_POINTER_BYTES)
#define PANEL_HERTZ          60u
#define PANEL_BLANK_LINES    30u /* after those of the picture */

#define PANEL_ID         0x00u /* read only: PANEL_ID_VALUE */
#define PANEL_SIZE       0x04u /* columns 15:0, lines 31:16 */
#define PANEL_PITCH      0x08u /* bytes from a line to the next */
#define PANEL_CONTROL    0x0Cu /* PANEL_ON, PANEL_POINTER */
#define PANEL_STATUS     0x10u /* read only: PANEL_CONNECTED, PANEL_BLANK */
#define PANEL_IRQ_STATUS 0x14u /* PANEL_VSYNC, PANEL_PLUG; reading clears it */
#define PANEL_IRQ_ENABLE 0x18u
#define PANEL_LINE       0x1Cu  /* read only: the line that is scanned out */
#define PANEL_POINTER_XY 0x20u  /* its left upper corner: column 15:0, line 31:16, signed */
#define PANEL_EDID_BYTES 0x24u  /* read only; 0: there is none */
#define PANEL_EDID       0x400u /* read only: up to 1024 bytes */
#define PANEL_EDID_MOST  1024u

#define PANEL_ID_VALUE 0x4C4E4150u /* "PANL" */

#define PANEL_ON        0x1u /* of CONTROL: the picture is sent */
#define PANEL_POINTER   0x2u
#define PANEL_CONNECTED 0x1u /* of STATUS: a monitor is there */
#define PANEL_BLANK     0x2u
#define PANEL_VSYNC     0x1u /* of the interrupt: a vertical blank has begun */
#define PANEL_PLUG      0x2u /* another monitor, or none */

#endif
