/* SPDX-License-Identifier: MIT */
/*
 * The display engine: for each output a timing, an address in VRAM, and what a monitor says of
 * itself. Its timers run only while a blank has an effect: an address waits for it, or it is to be
 * told.
 *
 *   display.c  the registers, and time
 *   scanout.c  pictures and monitors
 */
#ifndef REFGPU_DISPLAY_H
#define REFGPU_DISPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "dxgkhost/device.h"
#include "refgpu_display_hw.h"
#include "sched.h"

#define REFGPU_DISPLAY_TIMER(output) (REFGPU_SCHED_TIMER + 1u + (output))

struct refgpu_device;

/* What goes into effect together. */
struct refgpu_frame {
    uint64_t address;
    uint32_t pitch, format;
};

struct refgpu_output {
    /* registers */
    uint32_t control, size, total, clock, interrupt;
    struct refgpu_frame set, next, now; /* written; ordered; scanned out */
    uint32_t edid_offset, pointer_position;
    uint64_t pointer_shape;
    uint32_t gamma_index;
    uint16_t gamma[REFGPU_GAMMA_ENTRIES];

    bool pending;   /* `next` waits for a blank */
    bool timed;     /* the timer is armed */
    uint64_t start; /* of frame 0: when ENABLE was set */

    uint8_t *edid; /* NULL: no monitor */
    uint32_t edid_bytes;
    uint8_t *black, *composed; /* for pictures that are not as they are in VRAM; NULL: none yet */
    uint64_t black_bytes, composed_bytes;
};

struct refgpu_display {
    uint32_t outputs;
    bool vga;     /* option: a VGA-compatible controller */
    bool touched; /* a CONTROL register was written since the last reset */
    struct refgpu_output output[REFGPU_OUTPUTS];
};

/* ---- display.c ---- */

uint32_t refgpu_display_read(struct refgpu_device *device, uint32_t offset);
void refgpu_display_write(struct refgpu_device *device, uint32_t offset, uint32_t value);
void refgpu_display_power_on(struct refgpu_device *device); /* monitors stay */
void refgpu_display_timer(struct refgpu_device *device, uint32_t index);
/* The picture that is scanned out lies in VRAM, in a format that there is. */
bool refgpu_display_fits(const struct refgpu_device *device, const struct refgpu_output *output);

static inline uint32_t refgpu_output_width(const struct refgpu_output *output)
{
    return output->size & 0xFFFFu;
}

static inline uint32_t refgpu_output_height(const struct refgpu_output *output)
{
    return output->size >> 16;
}

static inline uint32_t refgpu_format_bytes(uint32_t format)
{
    return format == REFGPU_OUT_FORMAT_R5G6B5 ? 2u : 4u;
}

/* ---- scanout.c ---- */

/* Tell the host of the outputs, if there are any. */
void refgpu_display_tell(struct refgpu_device *device);
void refgpu_display_free(struct refgpu_device *device);

#endif
