/* SPDX-License-Identifier: MIT */
/*
 * The pages that contain the pool's blocks, for the pool itself, special pool and forced IRQL
 * checking.
 */
#ifndef DXGK_NT_POOL_PAGE_H
#define DXGK_NT_POOL_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "nt/mm/pool.h"
#include "ram/ram.h"
#include "util/list.h"
#include "util/slab.h"

#define NT_OPEN_PAGES 32u

struct nt_pool {
    /* pages with a free slot, by size class; first those not executable, then the executable
     * ones */
    struct list *partial;
    struct nt_pool_page **owner; /* by physical page number; sparse */
    uint64_t owner_bytes;
    struct slab blocks;
    struct list quarantine; /* oldest first */
    uint64_t quarantine_bytes, quarantine_limit;
    struct list special_freed; /* freed blocks of special pool, oldest first */
    uint32_t special_retired;
    void *open_page[NT_OPEN_PAGES]; /* paged.c: pages of paged pool that are accessible now */
    unsigned open_pages, next_open;
    struct nt_pool_statistics statistics;
    const struct nt_resource_class *block_class; /* of the resources of blocks */
    uint32_t failed; /* requests in a row that found no memory (pool_limit.c) */
};

/* Contiguous frames: one page divided into slots, or the pages of one large block. */
struct nt_pool_page {
    struct list link; /* if it has a free slot: in the list of its class */
    uint8_t *base;    /* in the direct view, or the view below */
    void *view;       /* of special pool; one page longer than the frames */
    struct page_number first;
    uint64_t pages;
    uint8_t class;
    bool large; /* one block with its own pages */
    bool executable;
    uint16_t slots, used;
    uint64_t taken[2]; /* a bit per slot */
    struct nt_block *block[];
};

struct nt_pool_page *nt_pool_create_page(uint64_t pages, uint16_t slots, bool zero);
/* Make it executable until it, or its view, is destroyed. False: out of memory. */
bool nt_pool_make_executable(struct nt_pool_page *page);
void nt_pool_destroy_page(struct nt_pool_page *page);
/* Its frames no longer belong to a pool page. */
void nt_pool_disown_page(const struct nt_pool_page *page);

#endif
