/* SPDX-License-Identifier: MIT */
/* Describes what already occupies addresses that were requested, for reports. */
#ifndef DXGK_VIDMM_VA_NEIGHBOUR_H
#define DXGK_VIDMM_VA_NEIGHBOUR_H

#include <stdbool.h>
#include <stdint.h>

#include "vidmm/space/va_range.h"

/* What occupies the first page of a requested range that is not free. */
struct va_neighbour {
    enum range_kind kind;
    uint64_t first, pages; /* of the whole range */
    uint64_t bytes;        /* size of the allocation mapped at that page; 0: none */
};
/* False: the range is free. Lock held. */
bool va_neighbour_at(const struct vidmm_space *space, uint64_t first, uint64_t pages,
                     struct va_neighbour *out);
/* "a reservation of the client, 0x40000000 to 0x4000ffff". */
struct va_neighbour_text {
    char text[128];
};
struct va_neighbour_text va_neighbour_describe(const struct va_neighbour *neighbour);

#endif
