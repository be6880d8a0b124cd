/* SPDX-License-Identifier: MIT */
/* The operations by which the driver writes page tables and flushes translations (builder's
 * fiber). */
#ifndef DXGK_VIDMM_PAGE_TABLE_OP_H
#define DXGK_VIDMM_PAGE_TABLE_OP_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

struct page_table;
struct vidmm_space;

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
