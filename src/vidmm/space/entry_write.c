/* SPDX-License-Identifier: MIT */
#include "vidmm/space/entry_write.h"
#include "util/address.h"
#include "util/bits.h"
#include "vidmm/space/entry_source.h"
#include "vidmm/space/gpu_mmu.h"
#include "vidmm/space/page_table.h"
#include "vidmm/space/page_table_op.h"

#include <string.h>

uint64_t entry_first(const struct page_table *table, uint32_t index)
{
    return table->first + ((uint64_t)index << table->space->mmu->geometry.shift[table->level]);
}

/* ---- fills and pages ---- */

void entries_fill(struct page_table *table, uint32_t start, uint32_t count,
                  const struct entry_source *source)
{
    const DXGK_PTE entry = source_fill(source->state);
    bool was_set;

    if (source->state == ENTRY_INVALID && !bits_trim(table->set, &start, &count))
        return;
    was_set = bits_any(table->set, start, count);
    table_change(&(struct table_change){.table = table,
                                        .start = start,
                                        .count = count,
                                        .entries = &entry,
                                        .repeat = true,
                                        .protection = source->protection});
    bits_put(table->set, start, count, source->state != ENTRY_INVALID);
    if (table->level > 0)
        bits_put(table->large, start, count, false);
    table_note_flush(table->space, entry_first(table, start),
                     (uint64_t)count << table->space->mmu->geometry.shift[table->level], was_set);
}

void entries_write(struct page_table *leaf, uint64_t first, uint64_t count,
                   struct entry_source *source)
{
    struct gpu_mmu *mmu = leaf->space->mmu;
    uint32_t start = (uint32_t)(first - leaf->first), end = start + (uint32_t)count;

    if (source->state != ENTRY_PAGES) {
        entries_fill(leaf, start, end - start, source);
        return;
    }
    table_open(leaf);
    while (start < end) {
        uint32_t some = end - start < mmu->entry_capacity ? end - start : mmu->entry_capacity;

        source_entries(leaf->space, source, leaf->first + start, 0, mmu->entries, some);
        table_change(
            &(struct table_change){.table = leaf,
                                   .start = start,
                                   .count = some,
                                   .entries = mmu->entries,
                                   .allocation = source->allocation,
                                   .offset = (leaf->first + start - source->origin) << PAGE_BITS,
                                   .protection = source->protection});
        table_note_flush(leaf->space, leaf->first + start, some, bits_any(leaf->set, start, some));
        bits_put(leaf->set, start, some, true);
        start += some;
    }
}

/* ---- links ---- */

static DXGK_PTE entry_of(const struct page_table *child)
{
    DXGK_PTE entry = {.Flags = 0};

    entry.Valid = 1;
    entry.Segment = child->place.run.segment & 0x1F;
    entry.PageTableAddress = child->place.run.first;
    return entry;
}

static DXGK_PTE link_entry(const struct page_table *child)
{
    DXGK_PTE entry = {.Flags = 0};

    if (child->absent) /* it is linked when it comes back */
        return entry;
    entry = entry_of(child->wide ? child->twin : child);
    entry.PageTablePageSize = child->wide ? DXGK_PTE_PAGE_TABLE_PAGE_64KB
                                          : DXGK_PTE_PAGE_TABLE_PAGE_4KB; /* GPUVA-206 */
    return entry;
}

void entries_link(struct page_table *table, uint32_t start, uint32_t count)
{
    struct gpu_mmu *mmu = table->space->mmu;
    unsigned shift = mmu->geometry.shift[table->level];

    table_open(table);
    while (count > 0) {
        uint32_t some = count < mmu->entry_capacity ? count : mmu->entry_capacity;

        for (uint32_t i = 0; i < some; i++) {
            table->child[start + i]->ready = true;
            mmu->entries[i] = link_entry(table->child[start + i]);
            if (mmu->geometry.dual && table->child[start + i]->twin &&
                !table->child[start + i]->absent)
                mmu->none[i] = entry_of(table->child[start + i]->twin);
        }
        table_change(&(struct table_change){
            .table = table, .start = start, .count = some, .entries = mmu->entries});
        if (mmu->geometry.dual)
            memset(mmu->none, 0, some * sizeof(DXGK_PTE));
        table_note_flush(table->space, entry_first(table, start), (uint64_t)some << shift,
                         bits_any(table->set, start, some));
        bits_put(table->set, start, some, true);
        bits_put(table->large, start, some, false);
        start += some;
        count -= some;
    }
}
