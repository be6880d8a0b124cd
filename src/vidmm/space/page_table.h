/* SPDX-License-Identifier: MIT */
/*
 * Page tables of one GPU virtual address space: what the host knows of each table,
 * where its memory is, and which tables must exist. Writing entries:
 * page_table_write.h. Theory of operation in page_table.c.
 *
 * Positions and counts are pages of 4 KiB. Everything here needs the lock of vidmm; what may build
 * operations is for the builder's fiber (paging.h), and says so.
 */
#ifndef DXGK_VIDMM_PAGE_TABLE_H
#define DXGK_VIDMM_PAGE_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

#include "util/address.h"
#include "util/list.h"
#include "vidmm/space/gpu_mmu.h"
#include "vidmm/record/paging_record.h"
#include "vidmm/record/run.h"

struct table_geometry;

/* Memory of a table. */
struct table_place {
    struct vidmm_run run;     /* what the GPU sees */
    struct page_number frame; /* of a table in system memory */
    uint64_t pages;           /* 0: none */
};

struct page_table {
    struct vidmm_space *space;
    struct page_table *parent; /* NULL: root */
    struct page_table **child; /* above level 0 */
    uint64_t *set;             /* bit: the entry is not invalid */
    uint64_t *large;           /* bit: the entry maps a large page; NULL on level 0 */
    uint64_t first;            /* first page translated */
    /* level 0: pages that may be mapped; above: tables below. Plus edges of fills (page_table.c) */
    uint64_t uses;
    uint32_t entries;
    uint32_t index; /* in the parent */
    uint8_t level;
    bool ready; /* written once in full and reachable from above */
    struct table_place place;
    /* GPU_VIRTUAL: where the paging process sees it while it is edited; 0: nowhere */
    struct gpu_va window;
    struct list link; /* in the space's doomed or windows list */
    struct paging_deferred deferred;
};

static inline uint64_t table_entry_pages(const struct table_geometry *geometry, unsigned level)
{
    return (uint64_t)1 << geometry->shift[level];
}
static inline uint32_t table_index(const struct page_table *table, unsigned shift, uint64_t page)
{
    return (uint32_t)((page - table->first) >> shift);
}

/* A table of `entries` entries for [first, ...), with memory, not ready. `bytes` 0: as the level's
 * descriptor says. */
NTSTATUS table_create(struct vidmm_space *space, struct page_table *parent, unsigned level,
                      uint32_t index, uint32_t entries, uint64_t bytes, struct page_table **table);
/* The GPU does not know it (any more): memory and record go at once. Children must be gone. */
void table_destroy(struct page_table *table);
/* Take it and everything below it apart, without operations; memory goes when operations built so
 * far are done. */
void table_abandon(struct page_table *table);
D3DGPU_PHYSICAL_ADDRESS table_address(const struct page_table *table);

/* ---- which tables must exist ----
 * On failure nothing is held: STATUS_NO_MEMORY (segment), STATUS_INSUFFICIENT_RESOURCES (host
 * memory), STATUS_RETRY. */

/* All leaf tables of [first, first + count): its pages may be mapped. Given back page by page. */
NTSTATUS tables_hold(struct vidmm_space *space, uint64_t first, uint64_t count);
void tables_drop(struct vidmm_space *space, uint64_t first, uint64_t count);
/* The tables in whose entries page `edge` begins in the middle: on its two sides the entries may
 * differ. */
NTSTATUS tables_hold_edge(struct vidmm_space *space, uint64_t edge);
void tables_drop_edge(struct vidmm_space *space, uint64_t edge);
/* Something in [first, first + count) is not invalid, or a table there that the GPU can reach is
 * held no more: only tables_write can put it right. */
bool tables_need_write(const struct vidmm_space *space, uint64_t first, uint64_t count);
/* Free tables that nothing holds and the GPU never saw. */
void tables_prune(struct vidmm_space *space, uint64_t first, uint64_t count);
bool tables_validate(const struct vidmm_space *space);

#endif
