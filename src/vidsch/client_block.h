/* SPDX-License-Identifier: MIT */
/*
 * Memory that a client may write and the host reads: the command buffer and the two lists of a
 * context. Whole pages seen through one view, with an unmapped page behind them.
 */
#ifndef DXGK_VIDSCH_CLIENT_BLOCK_H
#define DXGK_VIDSCH_CLIENT_BLOCK_H

#include "util/address.h"
#include "vidsch/vidsch.h"

struct client_block {
    void *view;
    struct page_number *frames;
    uint64_t pages;
};

/* False: out of memory. */
bool vidsch_client_block_create(struct vidsch *vidsch, struct client_block *block, uint64_t bytes);
void vidsch_client_block_destroy(struct vidsch *vidsch, struct client_block *block);

#endif
