/* SPDX-License-Identifier: MIT */
/* Pictures of memory in the formats of Windows' surfaces (PRES-315). Channels of fewer or more than
 * 8 bits become the nearest of 8; alpha is dropped. */
#ifndef DXGK_SCREENS_PICTURE_FORMAT_H
#define DXGK_SCREENS_PICTURE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntddk.h>
#include <dispmprt.h>

#include "screens/picture.h"

#define PICTURE_COLORS 256u /* of a palette */

/* An image in memory, as it is scanned out. */
struct picture_memory {
    const void *bytes; /* the first row */
    size_t size;       /* how many bytes may be read there */
    size_t pitch;      /* from a row to the next, bytes */
    uint32_t width, height;
    D3DDDIFORMAT format;
    const D3DKMDT_PALETTEDATA *palette; /* PICTURE_COLORS of them; of D3DDDIFMT_P8 alone */
};

/* Bytes of a pixel; 0: pictures are not made of this format. */
uint32_t picture_format_bytes(D3DDDIFORMAT format);

/* False: `why` says what of the description is wrong, or that memory is short; *picture is
 * unchanged then. */
bool picture_from_memory(struct picture *picture, const struct picture_memory *memory, char *why,
                         size_t why_bytes);

/* One row for a caller whose memory is in pieces: `width` pixels from `row` on, of a format that
 * picture_format_bytes knows, become RGB. */
void picture_convert_row(uint8_t *rgb, const void *row, uint32_t width, D3DDDIFORMAT format,
                         const D3DKMDT_PALETTEDATA *palette);

#endif
