/* SPDX-License-Identifier: MIT */
/*
 * What a screen showed over a time, as an animated PNG (APNG): a file for every browser, and for
 * other viewers its first picture.
 *
 * Of each picture only the rectangle that differs from the one before is kept, compressed; a
 * picture equal to the one before lasts on. The animation is as large as the largest picture, and
 * what a smaller one leaves free is black.
 */
#ifndef DXGK_IMAGES_ANIMATION_H
#define DXGK_IMAGES_ANIMATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "screens/picture.h"

struct animation; /* private */

/* NULL: out of memory. */
struct animation *animation_begin(void);
/* The screen shows this from `time` (ns) on, which is not before that of the last one. False: `why`
 * says why not, and nothing has changed. */
bool animation_add(struct animation *animation, const struct picture *picture, uint64_t time,
                   char *why, size_t why_bytes);
/* How many different pictures there are, and about how many bytes a file would have. */
uint32_t animation_frames(const struct animation *animation);
uint64_t animation_bytes(const struct animation *animation);
/* The last picture lasts until `time`; viewers then begin again. More may be added afterwards.
 * False: `why` says why not, without the path. */
bool animation_write(const struct animation *animation, const char *path, uint64_t time, char *why,
                     size_t why_bytes);
void animation_free(struct animation *animation); /* NULL is allowed */

#endif
