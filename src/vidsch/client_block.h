/* SPDX-License-Identifier: MIT */
/*
 * A client block: memory that a client may write and the host reads, for the command buffer and the
 * two lists of a context. It is whole pages with one mapping, followed by an unmapped page.
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
