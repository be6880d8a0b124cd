/* SPDX-License-Identifier: MIT */
/* The software pointer: a shape drawn into an image, and taken away again. */
#ifndef DXGK_SCREENS_POINTER_DRAW_H
#define DXGK_SCREENS_POINTER_DRAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntddk.h>
#include <dispmprt.h>

#include "screens/picture.h"
#include "screens/pointer_shape.h"

/* Pixels with a byte for each color; what else a pixel has (alpha) stays as it is. */
struct pointer_canvas {
    uint8_t *pixels;
    size_t pitch;
    uint32_t width, height;
    uint32_t step;            /* bytes of a pixel */
    uint8_t red, green, blue; /* where in it */
};

/* False: not a format with a byte for each color; *canvas is unchanged then. */
bool pointer_canvas_of_image(struct pointer_canvas *canvas, void *pixels, size_t pitch,
                             uint32_t width, uint32_t height, D3DDDIFORMAT format);
struct pointer_canvas pointer_canvas_of_picture(const struct picture *picture);

/* What of the image a shape covers whose top left corner is at x, y; it may be empty. */
RECT pointer_area(const struct pointer_canvas *canvas, const struct pointer_shape *shape, int32_t x,
                  int32_t y);
void pointer_draw(const struct pointer_canvas *canvas, const struct pointer_shape *shape, int32_t x,
                  int32_t y);

/* What was under a pointer. All zeros: nothing. */
struct pointer_under {
    RECT area;
    uint8_t *bytes;  /* its lines, without gaps */
    size_t capacity; /* kept from one pointer to the next */
};

/* Draws, and keeps what is under it. False: out of memory, and nothing was drawn; *under is
 * unchanged then. */
bool pointer_put(struct pointer_under *under, const struct pointer_canvas *canvas,
                 const struct pointer_shape *shape, int32_t x, int32_t y);
/* What was under it is there again, on the same canvas; nothing is kept afterwards. */
void pointer_take(struct pointer_under *under, const struct pointer_canvas *canvas);
void pointer_under_free(struct pointer_under *under);

#endif
