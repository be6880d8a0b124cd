/* SPDX-License-Identifier: MIT */
/* The picture of a mouse pointer, as drivers get it (PRES-236 to PRES-239). */
#ifndef DXGK_SCREENS_POINTER_SHAPE_H
#define DXGK_SCREENS_POINTER_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntddk.h>
#include <dispmprt.h>

#define POINTER_MOST_SIDE 1024u /* pixels */

enum pointer_kind {
    POINTER_NONE, /* so that a shape of zeros is none */
    POINTER_MONOCHROME,
    POINTER_COLOR,
    POINTER_MASKED_COLOR
};

struct pointer_shape {
    enum pointer_kind kind;
    uint32_t width, height; /* pixels; of a monochrome one, those of one mask */
    uint32_t pitch;         /* bytes from a line to the next, as PRES-238 has it */
    uint32_t hot_x, hot_y;
    uint8_t *pixels; /* the lines; of a monochrome one, those of the AND mask, then those of the XOR
                        mask, with the leftmost pixel in the highest bit */
};

/* A copy of pixels whose lines are `pitch` bytes apart. False: `why` says what is wrong with them,
 * or that memory is short; *shape is unchanged then. */
bool pointer_shape_make(struct pointer_shape *shape, const struct pointer_shape *of, char *why,
                        size_t why_bytes);
/* It is none afterwards. */
void pointer_shape_free(struct pointer_shape *shape);

/* All lines, of both masks. */
size_t pointer_shape_bytes(const struct pointer_shape *shape);
/* With the bit of its kind alone. */
DXGK_POINTERFLAGS pointer_shape_flags(const struct pointer_shape *shape);

/* The shape for hardware with these abilities: a copy, or a monochrome one in color (PRES-240).
 * False: `why` says why it must be drawn in software (PRES-226); *fitted is unchanged then. */
bool pointer_shape_fit(struct pointer_shape *fitted, const struct pointer_shape *shape,
                       DXGK_POINTERFLAGS caps, uint32_t most_width, uint32_t most_height, char *why,
                       size_t why_bytes);

/* ---- what a shape does to a pixel of the screen ---- */

/* `rgb`: 0x00RRGGBB; the result has 0 in the highest byte, too. Colors are blended with straight
 * alpha. */
uint32_t pointer_shape_over(const struct pointer_shape *shape, uint32_t x, uint32_t y, uint32_t rgb);

#endif
