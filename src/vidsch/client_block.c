/* SPDX-License-Identifier: MIT */
#include "vidsch/client_block.h"
#include "ram/ram.h"
#include "vidsch/scheduler.h"

bool vidsch_client_block_create(struct vidsch *vidsch, struct client_block *block, uint64_t bytes)
{
    struct ram *ram = vidsch->config.ram;
    struct ram_request request = {.pages = align_up(bytes, PAGE_BYTES) >> PAGE_BITS,
                                  .owner = RAM_CLIENT,
                                  .cache = RAM_CACHED,
                                  .zero = true};

    *block = (struct client_block){0};
    if (bytes == 0)
        return true;
    block->frames = util_alloc((size_t)request.pages * sizeof(*block->frames));
    if (!block->frames)
        return false;
    if (!ram_take_pages(ram, &request, block->frames)) {
        util_free(block->frames);
        block->frames = NULL;
        return false;
    }
    block->pages = request.pages;
    block->view = ram_view_reserve(ram, block->pages +
                                            1); /* the last page stays unmapped, against overruns */
    if (block->view && ram_view_point(ram, block->view, 0, block->frames, block->pages, true))
        return true;
    vidsch_client_block_destroy(vidsch, block);
    return false;
}

void vidsch_client_block_destroy(struct vidsch *vidsch, struct client_block *block)
{
    if (block->view)
        ram_view_release(vidsch->config.ram, block->view, block->pages + 1);
    if (block->frames)
        ram_give_pages(vidsch->config.ram, block->frames, block->pages);
    util_free(block->frames);
    *block = (struct client_block){0};
}
