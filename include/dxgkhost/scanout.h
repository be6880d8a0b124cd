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

#ifdef __cplusplus
}
#endif

#endif
