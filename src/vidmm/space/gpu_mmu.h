/* SPDX-License-Identifier: MIT */
/*
 * The GPU memory management unit of an adapter, as the driver described it: how addresses are
 * split, and what all address spaces of the adapter share.
 */
#ifndef DXGK_VIDMM_GPU_MMU_H
#define DXGK_VIDMM_GPU_MMU_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

#include "util/extent.h"
#include "util/hash.h"
#include "util/list.h"
#include "vidmm/space/address_space.h"
#include "vidmm/record/paging_record.h"

struct page_table;
struct vidmm;
struct vidmm_space;

#define TABLE_LEVELS DXGK_MAX_PAGE_TABLE_LEVEL_COUNT

/* How an address is split; one per adapter. */
struct table_geometry {
    unsigned levels;
    unsigned shift[TABLE_LEVELS];   /* page-number bits below the index of this level */
    uint32_t entries[TABLE_LEVELS]; /* of a table; for a resizable root the most it may ever need */
    uint64_t end;                   /* pages of a space */
    uint64_t span;                  /* pages under one leaf table */
    bool resizable_root;            /* two levels */
    /* bits newer than the driver's interface are cleared (GPUVA-026) */
    DXGK_GPUMMUCAPS caps;
};

/* A mapping in the scratch area. */
struct scratch_window {
    struct paging_deferred deferred;
    uint64_t first, pages;
};

/* The scratch area of the paging process: addresses for operations in flight (scratch.h). Pages. */
struct scratch_area {
    uint64_t first; /* it reaches to the end of what is used of the address space */
    struct extent_tree free;
    uint64_t limit;          /* two such windows fit at once */
    struct hash_map windows; /* first page -> struct scratch_window in use */
    /* For one page table at a time, when host memory or scratch addresses are short. */
    struct scratch_window reserve;
    struct page_table *reserve_user;     /* it is mapped there now */
    bool reserve_busy;                   /* the GPU may still use it */
    uint64_t tables_first, tables_pages; /* where its own leaf tables are mapped, for GPU_VIRTUAL */
};

/* GPU_VIRTUAL: how those who edit page tables get addresses of them. The scratch area has them,
 * which itself writes page tables. */
struct table_windows {
    struct gpu_va (*map)(struct page_table *table); /* 0: the adapter is gone */
    void (*release)(struct vidmm *vidmm, struct gpu_va va, uint64_t pages);
    /* of the leaf table that maps a scratch address; 0 unless the driver's caps call for it */
    struct gpu_va (*of_leaf)(const struct vidmm *vidmm, struct gpu_va va);
};

struct gpu_mmu {
    struct vidmm *vidmm;
    struct table_geometry geometry;
    DXGK_PTE *entries; /* for one operation */
    uint32_t entry_capacity;
    /* as many invalid entries, where the driver has dual PTEs (no table of 64 KB pages is used) */
    DXGK_PTE *none;
    struct list spaces;  /* struct vidmm_space.link, all of the adapter */
    struct list unclean; /* struct vidmm_space.unclean */
    uint64_t tables, table_pages;
    struct paging_queue chores; /* work of spaces that no client waits for */
    const struct table_windows *windows;

    struct vidmm_space *space; /* of the paging process */
    uint64_t end;              /* pages of it that are used */
    struct scratch_area scratch;
    bool known; /* the driver knows the paging process */
};

/* Made at the first call, without geometry (gpu_mmu_prepare): context allocations need it also on
 * an adapter that has no GpuMmu. NULL: out of memory. */
struct gpu_mmu *gpu_mmu_get(struct vidmm *vidmm);
void gpu_mmu_destroy(struct gpu_mmu *mmu);
/* Geometry and arrays of entries, from the driver's description, which was checked. */
NTSTATUS gpu_mmu_prepare(struct gpu_mmu *mmu);

#endif
