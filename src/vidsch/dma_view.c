/* SPDX-License-Identifier: MIT */
#include "vidsch/dma_view.h"

#include "ram/ram.h"
#include "vidsch/scheduler.h"

/* The page before the data is in the view, too: for the known bytes. */
static bool make_view(struct ram *ram, struct dma_view *view, struct page_number first)
{
    const struct ram_view_source source = {.file = -1, .page = first.value - 1, .writable = true};

    view->view = ram_view_reserve(ram, view->pages + 2);
    if (!view->view)
        return false;
    if (!ram_view_point_run(ram, view->view, 0, &source, view->pages + 1)) {
        ram_view_release(ram, view->view, view->pages + 2);
        view->view = NULL;
        return false;
    }
    view->data = (uint8_t *)view->view + PAGE_BYTES;
    view->fence.data = view->data;
    view->fence.bytes = view->pages << PAGE_BITS;
    ddi_fence_put(&view->fence);
    return true;
}

bool vidsch_dma_view_create(struct vidsch *vidsch, struct dma_view *view, struct page_number first,
                            uint64_t pages, const char *what)
{
    struct ram *ram = vidsch->config.ram;
    uint8_t *direct = ram_direct(ram, page_phys(first));

    *view = (struct dma_view){.pages = pages, .fence.what = what};
    view->behind = direct + (pages << PAGE_BITS);
    memset(direct - VIDSCH_CANARY_BYTES, VIDSCH_CANARY, VIDSCH_CANARY_BYTES);
    memset(view->behind, VIDSCH_CANARY, VIDSCH_CANARY_BYTES);
    if (ddi_fences())
        return make_view(ram, view, first);
    view->data = direct;
    return true;
}

void vidsch_dma_view_destroy(struct vidsch *vidsch, struct dma_view *view)
{
    if (view->view) {
        ddi_fence_remove(&view->fence);
        ram_view_release(vidsch->config.ram, view->view, view->pages + 2);
    }
    *view = (struct dma_view){.data = NULL};
}
