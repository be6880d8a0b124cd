/* SPDX-License-Identifier: MIT */
/* Pictures as PNG, in files and in memory; with a color for each pixel and without alpha. */
#ifndef DXGK_IMAGES_PNG_FILE_H
#define DXGK_IMAGES_PNG_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "screens/picture.h"

/* The bytes of a file, for free(); NULL: `why` says why not. */
void *png_encode(size_t *bytes, const struct picture *picture, char *why, size_t why_bytes);
/* PNGs of any kind, but with 8 bits a channel afterwards and without their alpha. False: `why` says
 * why not; *picture is unchanged then. */
bool png_decode(struct picture *picture, const void *png, size_t bytes, char *why, size_t why_bytes);

/* False: `why` says why not, without the path. A file that could not be written to its end is
 * removed. */
bool png_write(const char *path, const struct picture *picture, char *why, size_t why_bytes);
bool png_read(struct picture *picture, const char *path, char *why, size_t why_bytes);

/* Bytes into a file that is made or replaced, as above. */
bool png_write_bytes(const char *path, const void *bytes, size_t count, char *why, size_t why_bytes);

#endif
