/* SPDX-License-Identifier: MIT */
/*
 * How the driver sees the pages of a DMA buffer or a paging buffer: through all of RAM, or, with
 * special pool, through a view of its own, behind which nothing is. Pages of known bytes lie before
 * and behind; what is nearest is compared.
 */
#ifndef DXGK_VIDSCH_DMA_VIEW_H
#define DXGK_VIDSCH_DMA_VIEW_H

#include "ddi/fenced.h"
#include "vidsch/dma_memory.h"

struct dma_view {
    uint8_t *data; /* NULL: there is none */
    uint8_t *behind;
    void *view; /* with special pool */
    uint64_t pages;
    struct ddi_fence fence;
};

/* Of pages taken by vidsch_dma_memory_take with a guard page on each side; `what`, a literal, names
 * them in reports. False: out of memory. */
bool vidsch_dma_view_create(struct vidsch *vidsch, struct dma_view *view, struct page_number first,
                            uint64_t pages, const char *what);
/* May be all zero (never created). */
void vidsch_dma_view_destroy(struct vidsch *vidsch, struct dma_view *view);

static inline bool vidsch_dma_view_intact(const struct dma_view *view)
{
    return vidsch_dma_memory_is_canary(view->data - VIDSCH_CANARY_BYTES, VIDSCH_CANARY_BYTES) &&
           vidsch_dma_memory_is_canary(view->behind, VIDSCH_CANARY_BYTES);
}

#endif
