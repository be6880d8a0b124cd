/* SPDX-License-Identifier: MIT */
/*
 * Runs of pages that the device can access, between pages that it cannot. DMA buffers and paging
 * buffers consist of them; their private data and lists are in memory of ddi/guarded.h.
 */
#ifndef DXGK_VIDSCH_DMA_MEMORY_H
#define DXGK_VIDSCH_DMA_MEMORY_H

#include <string.h>

#include "util/address.h"
#include "vidsch/vidsch.h"

#define VIDSCH_CANARY       0xC5
#define VIDSCH_CANARY_BYTES 64u

/* Take contiguous pages that the device can access at `logical`, with `guard` pages on each side
 * that it cannot. False: out of memory. */
bool vidsch_dma_memory_take(struct vidsch *vidsch, uint64_t pages, uint64_t guard,
                            struct page_number *first, struct logical_page *logical);
void vidsch_dma_memory_give(struct vidsch *vidsch, struct page_number first, uint64_t pages,
                            uint64_t guard, struct logical_page logical);

extern const uint8_t vidsch_canary[VIDSCH_CANARY_BYTES];

/* At most VIDSCH_CANARY_BYTES of them. Inline, since compilers compare a constant count in two or
 * three instructions, and each Render looks at them. */
static inline bool vidsch_dma_memory_is_canary(const uint8_t *bytes, size_t count)
{
    return memcmp(bytes, vidsch_canary, count) == 0;
}

#endif
