/* SPDX-License-Identifier: MIT */
/*
 * Page tables of one GPU virtual address space: what the host knows of each table, where its memory
 * is, and the operations by which the driver writes it. Used by the files of address spaces only;
 * theory of operation in page_table.c.
 *
 * Positions and counts are pages of 4 KiB. Everything here needs the lock of vidmm; what may build
 * operations is for the builder's fiber (vidmm_private.h), and says so.
 */
#ifndef DXGK_VIDMM_PAGE_TABLE_H
#define DXGK_VIDMM_PAGE_TABLE_H

#include "vidmm/bits.h"
#include "vidmm/vidmm_private.h"

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

/* What to write into entries. */
enum entry_state { ENTRY_INVALID, ENTRY_ZERO, ENTRY_PAGES };

struct entry_source {
    enum entry_state state;
    bool read_only, no_execute, coherent;
    bool large;          /* large pages allowed */
    HANDLE allocation;   /* driver's handle of what is mapped, or NULL */
    uint64_t protection; /* DriverProtection */
    /* page `p` of the space maps page `p - origin` of the object (may wrap) */
    uint64_t origin;
    const struct page_number *logical; /* device page of each page of the object, or NULL: */
    const struct vidmm_run *runs;      /* its pieces */
    uint32_t run_count;
    uint64_t run_base; /* page of the object at which the runs start */
    uint32_t run;      /* cursor; start with 0, run_base */
    uint64_t run_first;
};

/* Are the descriptions the driver gave consistent (GPUVA-010 to GPUVA-024, GPUVA-223)? Reports what
 * is not; STATUS_DEVICE_CONFIGURATION_ERROR. */
NTSTATUS table_description_check(const struct vidmm *vidmm);
/* The numbers of every space of the adapter. */
void table_geometry_init(struct table_geometry *geometry, const struct vidmm *vidmm);
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

/* ---- which tables must exist (page_table.c) ----
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

/* ---- writing entries (page_table_write.c); builder's fiber ----
 * What the driver or the adapter refuses is remembered in space->status; the records go on as if it
 * had been written. */

/* The tables that the state needs are held. Tables that a fill leaves without use are unlinked. */
void tables_write(struct vidmm_space *space, uint64_t first, uint64_t count,
                  struct entry_source *source);
/* The same for one leaf table, whatever is reachable: for space_refill. */
void tables_write_leaf(struct page_table *leaf, uint64_t first, uint64_t count,
                       struct entry_source *source);
/* Make all tables of [first, first + count) ready, which are held. */
void tables_ready(struct vidmm_space *space, uint64_t first, uint64_t count);
/* Make the root ready. */
void tables_start(struct vidmm_space *space);
/* Write everything anew, as after a loss of content. */
void tables_rebuild(struct vidmm_space *space);
/* Put `table` in place of the root (not ready, more or fewer entries) and take over what stands
 * below it; returns the old one. */
struct page_table *tables_replace_root(struct vidmm_space *space, struct page_table *table);
/* FLUSH_TLB for what changed, and let go of tables that were unlinked; ends every change. Returns
 * and clears space->status. */
NTSTATUS tables_settle(struct vidmm_space *space);
/* Provided by address_space.c: write all pages of a leaf table that are not invalid, with
 * tables_write_leaf. */
void space_refill(struct vidmm_space *space, struct page_table *leaf);
/* ... and write a span anew that had large pages. */
void space_rewrite(struct vidmm_space *space, uint64_t first, uint64_t count);

/* ---- operations (page_table_op.c); builder's fiber ---- */

struct table_change {
    struct page_table *table;
    uint32_t start, count;
    const DXGK_PTE *entries; /* one if repeat */
    bool repeat, initial, evict;
    HANDLE allocation;
    uint64_t offset; /* bytes in the allocation */
    uint64_t protection;
};
void table_change(const struct table_change *change);
/* GPU_VIRTUAL: map the table for the changes that follow, before the array of entries is filled
 * (mapping uses it, too). */
void table_open(struct page_table *table);
void table_flush(struct vidmm_space *space, uint64_t first, uint64_t count);
/* Entries of these pages changed: a flush is owed. `was_valid`: one of them could be cached
 * before. */
void table_note_flush(struct vidmm_space *space, uint64_t first, uint64_t count, bool was_valid);
void table_invalidate_all(struct page_table *table, bool initial);

#endif
