/* SPDX-License-Identifier: MIT */
/* The animated form of PNG: chunks acTL, fcTL and fdAT beside those of its first picture. */
#ifndef DXGK_IMAGES_APNG_H
#define DXGK_IMAGES_APNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "screens/picture.h"

#define APNG_FRAME_BYTES 54u /* of a frame beside its data: the chunk fcTL, and what frames fdAT */

/* A rectangle of the canvas that is replaced. */
struct apng_frame {
    uint32_t x, y, width, height;
    uint64_t ms;  /* how long it stands; more than 65,535 ms are rounded to what the file can say */
    void *data;   /* its pixels, as the chunks IDAT have them together */
    size_t bytes; /* of data */
};

/* The picture as a frame at 0, 0 for 0 ms; its data is for free(). False: `why` says why not;
 * *frame is unchanged then. */
bool apng_encode_frame(struct apng_frame *frame, const struct picture *picture, char *why,
                       size_t why_bytes);

/* The bytes of a file of at least one frame, for free(). The first one is the canvas: at 0, 0, and
 * as large as it. NULL: out of memory. */
void *apng_build(size_t *bytes, const struct apng_frame *frame, uint32_t count);

#endif
