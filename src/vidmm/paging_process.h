/* SPDX-License-Identifier: MIT */
/*
 * The paging process of an adapter: the address space in which paging buffers run. Also holds what
 * all address spaces of the adapter share. The three functions of vidmm_* are for the scheduler.
 */
#ifndef DXGK_VIDMM_PAGING_PROCESS_H
#define DXGK_VIDMM_PAGING_PROCESS_H

#include "vidmm/page_table.h"

/* A mapping in the scratch area. */
struct scratch_window {
    struct paging_deferred deferred;
    uint64_t first, pages;
};

struct paging_process {
    struct vidmm *vidmm;
    struct table_geometry geometry;
    DXGK_PTE *entries; /* for one operation */
    uint32_t entry_capacity;
    /* as many invalid entries, where the driver has dual PTEs (no table of 64 KB pages is used) */
    DXGK_PTE *none;
    struct list spaces;  /* struct vidmm_space.link, all of the adapter */
    struct list unclean; /* struct vidmm_space.unclean */
    uint64_t tables, table_pages;
    struct vidmm_space *space;           /* of the paging process */
    uint64_t end;                        /* pages of it that are used */
    uint64_t window_first, window_pages; /* leaf tables of the scratch area, for GPU_VIRTUAL */
    uint64_t scratch_first;              /* first page of the scratch area; it reaches to `end` */
    struct extent_tree scratch;
    uint64_t scratch_limit;  /* pages; two such windows fit at once */
    struct hash_map windows; /* first page -> struct scratch_window in use */
    /* For one page table at a time, when host memory or scratch addresses are short. */
    struct scratch_window reserve;
    struct page_table *reserve_user; /* it is mapped there now */
    bool reserve_busy;               /* the GPU may still use it */
    struct paging_queue chores;      /* work of spaces that no client waits for */
    struct list context_allocations;
    uint32_t uncommitted;    /* of them: not initialised yet */
    struct hash_map closing; /* struct vidmm_context * whose end has begun */
    bool known;              /* the driver knows the paging process */
};

/* GPU_VIRTUAL: map a page table so that it can be edited, until scratch_release. Does not fail for
 * want of memory. 0: the adapter is gone. */
struct gpu_va scratch_map_table(struct page_table *table);

/* Made on first use: context allocations need it on adapters without GpuMmu, too. NULL: out of
 * memory. */
struct paging_process *paging_process_get(struct vidmm *vidmm);

#endif
