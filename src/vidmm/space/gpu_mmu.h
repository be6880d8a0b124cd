/* SPDX-License-Identifier: MIT */
/*
 * The GPU memory management unit of an adapter, as the driver described it: how addresses are
 * translated, and what all address spaces of the adapter share.
 */
#ifndef DXGK_VIDMM_GPU_MMU_H
#define DXGK_VIDMM_GPU_MMU_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

#include "ddi/guarded.h"
#include "util/extent.h"
#include "util/hash.h"
#include "util/list.h"
#include "vidmm/record/paging_record.h"
#include "vidmm/space/address_space.h"
#include "vidmm/space/table_asked.h"

struct page_table;
struct vidmm;
struct vidmm_space;

#define TABLE_LEVELS DXGK_MAX_PAGE_TABLE_LEVEL_COUNT

/* How an address is split into page-table indices; one per adapter. */
struct table_geometry {
    unsigned levels;
    unsigned shift[TABLE_LEVELS]; /* page-number bits below the index of this level */
    /* number of entries of a table; of a resizable root: the maximum */
    uint32_t entries[TABLE_LEVELS];
    uint64_t end;   /* size of a space in pages */
    uint64_t span;  /* pages that one leaf table maps */
    uint64_t first; /* pages below are never given out (GPUVA-057, GPUVA-058) */
    uint64_t wide;  /* ranges of that many pages go to 64 KB boundaries if they can (GPUVA-062) */
    bool resizable_root; /* true with two levels */
    bool twins; /* leaf tables have a second one beside them, of 64 KB entries (page_table.h) */
    bool dual;  /* and both are linked at a time */
    /* bits that the driver's interface version does not define are cleared (GPUVA-026) */
    DXGK_GPUMMUCAPS caps;
};

/* A temporary mapping in the scratch area. */
struct scratch_window {
    struct paging_deferred deferred;
    uint64_t first, pages;
};

/* The scratch area: part of the paging process's address space where memory is mapped temporarily
 * for paging operations (scratch.h). In pages. */
struct scratch_area {
    uint64_t first; /* it ends at gpu_mmu.end */
    struct extent_tree free;
    uint64_t limit;          /* largest mapping; two of this size fit at once */
    struct hash_map windows; /* first page -> struct scratch_window in use */
    /* A fallback for mapping one page table when host memory or scratch addresses run out. */
    struct scratch_window reserve;
    struct page_table *reserve_user; /* the table mapped there now */
    bool reserve_busy;               /* the GPU may still use it */
    uint64_t tables_first,
        tables_pages; /* where the area's own leaf tables are mapped, for GPU_VIRTUAL */
};

/* GPU_VIRTUAL updates: how code that writes page tables gets GPU addresses of them. It is a table
 * of pointers because the scratch area, which provides the addresses, itself writes page tables. */
struct table_windows {
    struct gpu_va (*map)(struct page_table *table); /* 0: the adapter is lost */
    void (*release)(struct vidmm *vidmm, struct gpu_va va, uint64_t pages);
    /* of the leaf table that maps a scratch address; 0 unless the driver's caps need it */
    struct gpu_va (*of_leaf)(const struct vidmm *vidmm, struct gpu_va va);
};

struct gpu_mmu {
    struct vidmm *vidmm;
    struct table_geometry geometry;
    DXGK_PTE *entries; /* buffer for the entries of one operation, in entry_memory */
    uint32_t entry_capacity;
    /* as many invalid entries, for drivers with dual PTEs (tables of 64 KB pages are not used) */
    DXGK_PTE *none;
    struct ddi_guarded entry_memory, one_memory, none_memory; /* the second: of a single entry */
    struct list spaces;  /* struct vidmm_space.link, all of the adapter */
    struct list unclean; /* struct vidmm_space.unclean */
    uint64_t tables;
    struct paging_queue chores; /* jobs of spaces that no client waits for */
    const struct table_windows *windows;
    struct table_watch watch;

    struct vidmm_space *space; /* of the paging process */
    uint64_t end;              /* number of its pages that are used */
    struct scratch_area scratch;
    bool known; /* the paging process was reported to the driver */
};

/* Created at the first call, without geometry (see gpu_mmu_prepare): context allocations need it
 * even if the adapter has no GpuMmu. NULL: out of memory. */
struct gpu_mmu *gpu_mmu_get(struct vidmm *vidmm);
void gpu_mmu_destroy(struct gpu_mmu *mmu);
/* Set the geometry and allocate the arrays of entries, from the driver's description, which must
 * have been checked. */
NTSTATUS gpu_mmu_prepare(struct gpu_mmu *mmu);

#endif
