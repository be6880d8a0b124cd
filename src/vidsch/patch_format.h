/* SPDX-License-Identifier: MIT */
/* How the drivers that are known write addresses into DMA buffers. */
#ifndef DXGK_VIDSCH_PATCH_FORMAT_H
#define DXGK_VIDSCH_PATCH_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include "dxgkhost/patches.h"
#include "vidsch/vidsch.h"

/* One of those that are built in, by name; NULL: there is none. */
const struct dxgk_patch_format *patch_format_named(const char *name);
/* Whether a description can be followed; *why says what is wrong with it. */
bool patch_format_check(const struct dxgk_patch_format *format, const char **why);
/* The encoding of a location; NULL: nothing is known of it. O(encodings). */
static inline const struct dxgk_patch_encoding *patch_encoding_of(
    const struct dxgk_patch_format *format, const D3DDDI_PATCHLOCATIONLIST *location)
{
    for (uint32_t i = 0; i < format->encodings; i++) {
        const struct dxgk_patch_encoding *e = &format->encoding[i];

        if ((location->DriverId & e->driver_mask) == e->driver &&
            (location->SlotId & e->slot_mask) == e->slot)
            return e;
    }
    return NULL;
}

/* The address that a location asks for, of an allocation at `address`, without base. */
static inline uint64_t patch_address(const struct dxgk_patch_encoding *encoding,
                                     const D3DDDI_PATCHLOCATIONLIST *location, uint64_t address)
{
    address += location->AllocationOffset;
    if (encoding->driver_shift)
        address += (uint64_t)location->DriverId << encoding->driver_shift;
    return address;
}

/* The bits that hold the address, and what they are for an address with its base. */
static inline uint64_t patch_bits(const struct dxgk_patch_encoding *encoding)
{
    const uint64_t whole = encoding->bytes == 8 ? ~0ull : 0xFFFFFFFFull;

    return encoding->mask ? encoding->mask : whole;
}

static inline uint64_t patch_value(const struct dxgk_patch_encoding *encoding, uint64_t address)
{
    return (address + encoding->base) >> encoding->right << encoding->left & patch_bits(encoding);
}

#endif
