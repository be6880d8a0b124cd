/* SPDX-License-Identifier: MIT */
#include "vidmm/space/wide_pages.h"
#include "util/address.h"
#include "util/bits.h"
#include "vidmm/space/address_space.h"
#include "vidmm/space/entry_source.h"
#include "vidmm/space/entry_write.h"
#include "vidmm/space/gpu_mmu.h"
#include "vidmm/space/page_table.h"
#include "vidmm/space/page_table_op.h"

/* ---- dual PTE mode ---- */

static uint32_t twin_index(const struct page_table *leaf, uint64_t page)
{
    return (uint32_t)((page - leaf->first) >> TWIN_SHIFT);
}

/* Invalidate the 64 KB entries of these pages, which are whole 64 KB; those of 4 KB are. */
static void drop_wide(struct page_table *leaf, uint64_t first, uint64_t end)
{
    struct page_table *twin = leaf->twin;
    const DXGK_PTE invalid = source_fill(ENTRY_INVALID);

    for (uint32_t i = twin_index(leaf, first), to = twin_index(leaf, end); i < to;) {
        uint32_t start = i;

        while (i < to && bit_test(twin->set, i))
            i++;
        if (i == start) {
            i++;
            continue;
        }
        table_change(&(struct table_change){
            .table = twin, .start = start, .count = i - start, .entries = &invalid, .repeat = true});
        bits_put(twin->set, start, i - start, false);
        bits_put(leaf->set, start << TWIN_SHIFT, (i - start) << TWIN_SHIFT, false);
        table_note_flush(leaf->space, leaf->first + ((uint64_t)start << TWIN_SHIFT),
                         (uint64_t)(i - start) << TWIN_SHIFT, true);
    }
}

/* The 64 KB around an edge of what is written are not in one state any more. */
static void split_wide(struct page_table *leaf, uint64_t edge)
{
    const uint64_t first = align_down(edge, TWIN_PAGES);

    if (edge == first || !bit_test(leaf->twin->set, twin_index(leaf, first)))
        return;
    drop_wide(leaf, first, first + TWIN_PAGES);
    leaf->space->records->refill_part(leaf, first, TWIN_PAGES);
}

static void write_wide(struct page_table *leaf, uint64_t first, uint64_t end,
                       struct entry_source *source)
{
    struct gpu_mmu *mmu = leaf->space->mmu;
    struct entry_source nothing = {.state = ENTRY_INVALID, .protection = source->protection};

    for (uint64_t page = first; page < end && !leaf->wide; page += TWIN_PAGES) /* GPUVA-210 */
        if (!bit_test(leaf->twin->set, twin_index(leaf, page)))
            entries_write(leaf, page, TWIN_PAGES, &nothing);
    table_open(leaf->twin);
    while (first < end) {
        const uint32_t start = twin_index(leaf, first), rest = twin_index(leaf, end) - start;
        const uint32_t some = rest < mmu->entry_capacity ? rest : mmu->entry_capacity;

        source_entries(leaf->space, source, first, TWIN_SHIFT, mmu->entries, some);
        table_change(&(struct table_change){.table = leaf->twin,
                                            .start = start,
                                            .count = some,
                                            .entries = mmu->entries,
                                            .allocation = source->allocation,
                                            .offset = (first - source->origin) << PAGE_BITS,
                                            .protection = source->protection});
        table_note_flush(leaf->space, first, (uint64_t)some << TWIN_SHIFT,
                         bits_any(leaf->twin->set, start, some));
        bits_put(leaf->twin->set, start, some, true);
        bits_put(leaf->set, start << TWIN_SHIFT, some << TWIN_SHIFT, true);
        first += (uint64_t)some << TWIN_SHIFT;
    }
}

static bool is_wide(const struct page_table *leaf, uint64_t page, uint64_t end,
                    struct entry_source *source)
{
    return page % TWIN_PAGES == 0 && page + TWIN_PAGES <= end &&
           source_fits_wide(leaf->space, source, page);
}

/* ---- single PTE mode ---- */

bool tables_are_wide(struct vidmm_space *space, uint64_t first, uint64_t count,
                     struct entry_source *source)
{
    if (first % TWIN_PAGES || count % TWIN_PAGES)
        return false;
    for (uint64_t page = first; page < first + count && source->state == ENTRY_PAGES;
         page += TWIN_PAGES)
        if (!source_fits_wide(space, source, page))
            return false;
    return true;
}

static void write_wide_table(struct page_table *leaf, uint64_t first, uint64_t end,
                             struct entry_source *source)
{
    const uint32_t start = twin_index(leaf, first), count = twin_index(leaf, end) - start;
    const DXGK_PTE entry = source_fill(source->state);

    if (source->state == ENTRY_PAGES) {
        write_wide(leaf, first, end, source);
        return;
    }
    drop_wide(leaf, first, end);
    if (source->state == ENTRY_INVALID)
        return;
    table_change(&(struct table_change){.table = leaf->twin,
                                        .start = start,
                                        .count = count,
                                        .entries = &entry,
                                        .repeat = true,
                                        .protection = source->protection});
    bits_put(leaf->twin->set, start, count, true);
    bits_put(leaf->set, start << TWIN_SHIFT, count << TWIN_SHIFT, true);
    table_note_flush(leaf->space, first, end - first, false);
}

/* GPUVA-207: its entries are written to a table of 4 KB entries, which takes its place; no context
 * of the process runs until the change is settled. */
static void make_small(struct page_table *leaf)
{
    if (!leaf->absent)
        table_suspend(leaf->space);
    leaf->wide = false;
    bits_put(leaf->twin->set, 0, leaf->twin->entries, false);
    bits_put(leaf->set, 0, leaf->entries, false);
    table_invalidate_all(leaf, true);
    leaf->space->records->refill(leaf->space, leaf);
    table_note_flush(leaf->space, leaf->first, leaf->entries, true);
    if (leaf->ready)
        entries_link(leaf->parent, leaf->index, 1);
}

void tables_make_small(struct vidmm_space *space, uint64_t first, uint64_t count)
{
    for (uint64_t page = first; page < first + count;) {
        struct page_table *leaf = tables_leaf(space, page);

        if (leaf->wide)
            make_small(leaf);
        page = leaf->first + leaf->entries;
    }
}

/* ---- both ---- */

static uint64_t next_wide(uint64_t page, uint64_t end)
{
    const uint64_t next = align_down(page, TWIN_PAGES) + TWIN_PAGES;

    return next < end ? next : end;
}

void wide_write_leaf(struct page_table *leaf, uint64_t first, uint64_t count,
                     struct entry_source *source)
{
    const uint64_t end = first + count;

    if (leaf->wide && !tables_are_wide(leaf->space, first, count, source)) {
        make_small(leaf);
        return; /* from the records, which say so already */
    }
    if (leaf->wide) {
        write_wide_table(leaf, first, end, source);
        return;
    }
    if (!leaf->space->mmu->geometry.dual) {
        entries_write(leaf, first, count, source);
        return;
    }
    split_wide(leaf, first);
    split_wide(leaf, end);
    for (uint64_t page = first; page < end;) {
        const uint64_t start = page;

        while (is_wide(leaf, page, end, source))
            page += TWIN_PAGES;
        if (page > start) {
            write_wide(leaf, start, page, source);
            continue;
        }
        while (page < end && !is_wide(leaf, page, end, source))
            page = next_wide(page, end);
        drop_wide(leaf, align_up(start, TWIN_PAGES), align_down(page, TWIN_PAGES));
        entries_write(leaf, start, page - start, source);
    }
}
