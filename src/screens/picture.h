/* SPDX-License-Identifier: MIT */
/* A picture: what a screen shows, or is to show, as 8 bits each of red, green and blue
 * (PRES-311). */
#ifndef DXGK_SCREENS_PICTURE_H
#define DXGK_SCREENS_PICTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PICTURE_STEP      3u     /* bytes of a pixel */
#define PICTURE_MOST_SIDE 16384u /* pixels */

/* All zeros: no picture, as of a screen without a signal (PRES-316). */
struct picture {
    uint32_t width, height;
    uint8_t *rows; /* from the top, without gaps between them; NULL: no picture */
};

/* Whether a picture may have this size: neither side 0 nor too long. */
bool picture_size_valid(uint32_t width, uint32_t height);

/* A picture with pixels that mean nothing yet, or with black ones. False: out of memory, or no
 * valid size; *picture is unchanged then. */
bool picture_make(struct picture *picture, uint32_t width, uint32_t height);
bool picture_make_black(struct picture *picture, uint32_t width, uint32_t height);
/* False: out of memory. A copy of no picture is none. */
bool picture_copy(struct picture *copy, const struct picture *picture);
/* It is no picture afterwards. */
void picture_free(struct picture *picture);

static inline uint8_t *picture_at(const struct picture *picture, uint32_t x, uint32_t y)
{
    return picture->rows + ((size_t)y * picture->width + x) * PICTURE_STEP;
}

/* The checksum of PRES-319. */
uint32_t picture_checksum(const struct picture *picture);

#endif
