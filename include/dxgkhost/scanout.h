/* SPDX-License-Identifier: MIT */
/*
 * What a device shows on its outputs for displays, as its model tells it. The host asks when
 * somebody looks at a screen, between two other calls of the model.
 */
#ifndef DXGKHOST_SCANOUT_H
#define DXGKHOST_SCANOUT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum dxgk_scanout_state {
    /* the driver has programmed nothing since the last reset: what the firmware has lit, as the
     * host knows it */
    DXGK_SCANOUT_FIRMWARE = 0,
    DXGK_SCANOUT_OFF, /* no signal */
    DXGK_SCANOUT_ON,  /* the picture that is described */
};

/* A pixel, by its bytes in memory, the one at the lowest address first. */
enum dxgk_pixel_format {
    DXGK_PIXEL_BGRX = 0, /* 4 bytes, the last ignored */
    DXGK_PIXEL_BGR,      /* 3 bytes */
    DXGK_PIXEL_RGB565,   /* 2 bytes, little endian: red in bits 15:11, green 10:5, blue 4:0 */
};

struct dxgk_scanout {
    uint32_t width, height; /* pixels, 1 to 16384 */
    uint32_t pitch;         /* bytes from a row to the next, at least those of its pixels */
    enum dxgk_pixel_format format;
    const void *pixels; /* the topmost row. The model's: the host copies before it returns to it */
    size_t bytes;       /* that may be read there */
};

/* A monitor on an output. */
struct dxgk_device_monitor {
    uint32_t width, height; /* that it prefers; 0, 0: there is none */
    const uint8_t *edid;    /* whole blocks of 128 bytes; NULL: the model makes one */
    size_t edid_bytes;
};

struct dxgk_device_outputs {
    uint32_t size;  /* of this structure */
    unsigned count; /* of outputs: as many as the driver can report, in the order of its children */
    /* `device` is what `create` returned. Changes nothing in it, and uses no service but `memory`;
     * *scanout is zeroed before and counts with DXGK_SCANOUT_ON. */
    enum dxgk_scanout_state (*scanout)(void *device, unsigned output, struct dxgk_scanout *scanout);
    /* A monitor comes, goes, or takes the place of another; *monitor is valid for the call. What
     * hardware would do then, the model does. NULL, or a literal that says why it is not possible.
     * The function may be missing: monitors stay as they are. */
    const char *(*plug)(void *device, unsigned output, const struct dxgk_device_monitor *monitor);
};

#ifdef __cplusplus
}
#endif

#endif
