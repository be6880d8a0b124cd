/* SPDX-License-Identifier: MIT */
/*
 * Writing page-table entries of a space (builder's fiber). What the driver or the adapter refuses
 * is remembered in space->status; the records go on as if it had been written.
 */
#ifndef DXGK_VIDMM_PAGE_TABLE_WRITE_H
#define DXGK_VIDMM_PAGE_TABLE_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

struct page_table;
struct vidmm_space;

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
    const struct logical_page *logical; /* device page of each page of the object, or NULL: */
    const struct vidmm_run *runs;       /* its pieces */
    uint32_t run_count;
    uint64_t run_base; /* page of the object at which the runs start */
    uint32_t run;      /* cursor; start with 0, run_base */
    uint64_t run_first;
};

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

#endif
