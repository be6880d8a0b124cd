/* SPDX-License-Identifier: MIT */
/* Building the operations with which the driver writes page tables and flushes the TLB
 * (builder's fiber). */
#ifndef DXGK_VIDMM_PAGE_TABLE_OP_H
#define DXGK_VIDMM_PAGE_TABLE_OP_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

struct page_table;
struct vidmm_allocation;
struct vidmm_space;

struct table_change {
    struct page_table *table;
    uint32_t start, count;
    const DXGK_PTE *entries; /* only one if `repeat` */
    bool repeat, initial, evict;
    const struct vidmm_allocation *allocation; /* NULL: none */
    uint64_t offset;                           /* byte offset in the allocation */
    uint64_t protection;
};
void table_change(const struct table_change *change);
/* GPU_VIRTUAL: map the table in the paging process for the changes that follow. Call it before
 * filling the array of entries, since mapping uses the same array. */
void table_open(struct page_table *table);
/* Suspend the process, until tables_settle. */
void table_suspend(struct vidmm_space *space);
void table_flush(struct vidmm_space *space, uint64_t first, uint64_t count);
/* Remember that the TLB must be flushed for these pages. `was_valid`: one of the entries may
 * have been cached. */
void table_note_flush(struct vidmm_space *space, uint64_t first, uint64_t count, bool was_valid);
void table_invalidate_all(struct page_table *table, bool initial);

#endif
