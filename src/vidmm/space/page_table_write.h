/* SPDX-License-Identifier: MIT */
/*
 * Writing the page-table entries of a space (builder's fiber). A failure of the driver or the
 * adapter is stored in space->status, and the records continue as if the entries had been written.
 */
#ifndef DXGK_VIDMM_PAGE_TABLE_WRITE_H
#define DXGK_VIDMM_PAGE_TABLE_WRITE_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

#include "vidmm/space/entry_source.h"

struct page_table;
struct vidmm_space;

/* The tables that `source` needs must be held. Tables that a fill makes
 * unnecessary are unlinked. */
void tables_write(struct vidmm_space *space, uint64_t first, uint64_t count,
                  struct entry_source *source);
/* The same for one leaf table, even if the GPU cannot reach it yet: for space_records.refill. */
void tables_write_leaf(struct page_table *leaf, uint64_t first, uint64_t count,
                       struct entry_source *source);
/* Make all tables of [first, first + count) ready; they must be held. */
void tables_ready(struct vidmm_space *space, uint64_t first, uint64_t count);
/* Make the root ready. */
void tables_start(struct vidmm_space *space);
/* Write all entries again, after their content was lost. */
void tables_rebuild(struct vidmm_space *space);
/* The table has come to another place: write what it has there, and link it. */
void tables_write_again(struct page_table *table);
/* It is about to leave its place: have nothing lead to it, and tell the driver (GPUVA-167). */
void tables_forsake(struct page_table *table);
/* Replace the root by `table` (not ready, with more or fewer entries), to which the tables below
 * are moved. Returns the old root. */
struct page_table *tables_replace_root(struct vidmm_space *space, struct page_table *table);
/* End a change: build FLUSH_TLB for the entries that changed, and free the tables that were
 * unlinked. Returns space->status and clears it. */
NTSTATUS tables_settle(struct vidmm_space *space);

#endif
