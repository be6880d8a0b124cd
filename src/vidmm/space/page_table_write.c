/* SPDX-License-Identifier: MIT */
/*
 * Writing entries. A change walks the tables from the root once. The invariants are in
 * page_table.c.
 *
 *   pages    tables on the way are made ready (InitialUpdate, then the links from above, adjacent
 *            ones in one operation); then one operation per leaf
 *   fill     an entry of an upper table that is covered completely and has no table below is
 *            written itself, adjacent ones in one operation; tables that are no longer held are
 *            replaced by the fill
 */
#include <string.h>

#include "vidmm/space/page_table_write.h"
#include "util/address.h"
#include "util/bits.h"
#include "util/list.h"
#include "vidmm/space/page_table.h"
#include "vidmm/space/page_table_op.h"

static const DXGK_PTE invalid_entry;

static DXGK_PTE fill_entry(enum entry_state state)
{
    DXGK_PTE entry = invalid_entry;

    if (state == ENTRY_ZERO) {
        entry.Valid = 1; /* GPUVA-192 */
        entry.Zero = 1;
    }
    return entry;
}

static uint64_t entry_first(const struct page_table *table, uint32_t index)
{
    return table->first + ((uint64_t)index << table->space->mmu->geometry.shift[table->level]);
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t sooner(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* ---- sources ---- */

/* Segment and page number of page `page` of the source. Fast if pages are asked for
 * in ascending order. */
static uint64_t source_page(struct entry_source *source, uint64_t page, UINT *segment)
{
    if (source->logical) {
        *segment = 0;
        return source->logical[page].value;
    }
    if (page < source->run_first)
        source->run = 0, source->run_first = source->run_base;
    while (page - source->run_first >= source->runs[source->run].pages)
        source->run_first += source->runs[source->run++].pages;
    *segment = source->runs[source->run].segment;
    return source->runs[source->run].first + (page - source->run_first);
}

/* Can the pages that begin at `first` be mapped by one large page (GPUVA-213 to GPUVA-216)? */
static bool large_fits(const struct vidmm_space *space, struct entry_source *source, uint64_t first)
{
    const struct table_geometry *geometry = &space->mmu->geometry;
    uint64_t page = first - source->origin, start, step;
    UINT segment;

    if (!source->large || !geometry->caps.LargePageSupported)
        return false;
    start = source_page(source, page, &segment);
    if (segment == 0 && !geometry->caps.SysMemLargePageSupported)
        return false;
    if ((start & (geometry->span - 1)) != 0 && !geometry->caps.AllowNonAlignedLargePageAddress)
        return false;
    for (uint64_t done = 0; done < geometry->span; done += step) {
        UINT other;

        if (source_page(source, page + done, &other) != start + done || other != segment)
            return false;
        step = source->logical
                   ? 1
                   : source->runs[source->run].pages - (page + done - source->run_first);
    }
    return true;
}

static DXGK_PTE page_entry(const struct vidmm_space *space, struct entry_source *source,
                           uint64_t page)
{
    const DXGK_GPUMMUCAPS *caps = &space->mmu->geometry.caps;
    DXGK_PTE entry = invalid_entry;
    UINT segment;

    entry.PageAddress = source_page(source, page - source->origin, &segment);
    entry.Valid = 1;
    entry.Segment = segment & 0x1F;
    entry.ReadOnly = source->read_only && caps->ReadOnlyMemorySupported;    /* GPUVA-193 */
    entry.NoExecute = source->no_execute && caps->NoExecuteMemorySupported; /* GPUVA-194 */
    /* GPUVA-195 */
    entry.CacheCoherent = segment == 0 && source->coherent && caps->CacheCoherentMemorySupported;
    return entry;
}

/* ---- leaves ---- */

static void write_fill_entries(struct page_table *table, uint32_t start, uint32_t count,
                               const struct entry_source *source)
{
    const DXGK_PTE entry = fill_entry(source->state);
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

static void write_small(struct page_table *leaf, uint64_t first, uint64_t count,
                        struct entry_source *source)
{
    struct gpu_mmu *mmu = leaf->space->mmu;
    uint32_t start = (uint32_t)(first - leaf->first), end = start + (uint32_t)count;

    if (source->state != ENTRY_PAGES) {
        write_fill_entries(leaf, start, end - start, source);
        return;
    }
    table_open(leaf);
    while (start < end) {
        uint32_t some = end - start < mmu->entry_capacity ? end - start : mmu->entry_capacity;

        for (uint32_t i = 0; i < some; i++)
            mmu->entries[i] = page_entry(leaf->space, source, leaf->first + start + i);
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

/* ---- 64 KB entries ---- */

/* Can the 64 KB from that page on be mapped by one entry (GPUVA-203, GPUVA-204, GPUVA-211)? */
static bool wide_fits(const struct vidmm_space *space, struct entry_source *source, uint64_t first)
{
    uint64_t start;
    UINT segment, other;

    if (source->state != ENTRY_PAGES || !source->wide || source->logical)
        return false;
    start = source_page(source, first - source->origin, &segment);
    return segment != 0 && space->vidmm->segment[segment].flags.Use64KBPages &&
           start % TWIN_PAGES == 0 &&
           source_page(source, first - source->origin + TWIN_PAGES - 1, &other) ==
               start + TWIN_PAGES - 1 &&
           other == segment;
}

static uint32_t twin_index(const struct page_table *leaf, uint64_t page)
{
    return (uint32_t)((page - leaf->first) >> TWIN_SHIFT);
}

/* Invalidate the 64 KB entries of these pages, which are whole 64 KB; those of 4 KB are. */
static void drop_wide(struct page_table *leaf, uint64_t first, uint64_t end)
{
    struct page_table *twin = leaf->twin;

    for (uint32_t i = twin_index(leaf, first), to = twin_index(leaf, end); i < to;) {
        uint32_t start = i;

        while (i < to && bit_test(twin->set, i))
            i++;
        if (i == start) {
            i++;
            continue;
        }
        table_change(&(struct table_change){.table = twin,
                                            .start = start,
                                            .count = i - start,
                                            .entries = &invalid_entry,
                                            .repeat = true});
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
            write_small(leaf, page, TWIN_PAGES, &nothing);
    table_open(leaf->twin);
    while (first < end) {
        const uint32_t start = twin_index(leaf, first), rest = twin_index(leaf, end) - start;
        const uint32_t some = rest < mmu->entry_capacity ? rest : mmu->entry_capacity;

        for (uint32_t i = 0; i < some; i++)
            mmu->entries[i] = page_entry(leaf->space, source, first + ((uint64_t)i << TWIN_SHIFT));
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
           wide_fits(leaf->space, source, page);
}

/* ---- single PTE mode ---- */

bool tables_are_wide(struct vidmm_space *space, uint64_t first, uint64_t count,
                     struct entry_source *source)
{
    if (first % TWIN_PAGES || count % TWIN_PAGES)
        return false;
    for (uint64_t page = first; page < first + count && source->state == ENTRY_PAGES;
         page += TWIN_PAGES)
        if (!wide_fits(space, source, page))
            return false;
    return true;
}

static void write_wide_table(struct page_table *leaf, uint64_t first, uint64_t end,
                             struct entry_source *source)
{
    const uint32_t start = twin_index(leaf, first), count = twin_index(leaf, end) - start;
    const DXGK_PTE entry = fill_entry(source->state);

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

static void link_children(struct page_table *table, uint32_t start, uint32_t count);

/* GPUVA-207: its entries are written to a table of 4 KB entries, which takes its place; no context
 * of the process runs until the change is settled. */
static void make_small(struct page_table *leaf)
{
    table_suspend(leaf->space);
    leaf->wide = false;
    bits_put(leaf->twin->set, 0, leaf->twin->entries, false);
    bits_put(leaf->set, 0, leaf->entries, false);
    table_invalidate_all(leaf, true);
    leaf->space->records->refill(leaf->space, leaf);
    table_note_flush(leaf->space, leaf->first, leaf->entries, true);
    if (leaf->ready)
        link_children(leaf->parent, leaf->index, 1);
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

void tables_write_leaf(struct page_table *leaf, uint64_t first, uint64_t count,
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
    if (!leaf->twin || !leaf->space->mmu->geometry.dual) {
        write_small(leaf, first, count, source);
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
            page = sooner(align_down(page, TWIN_PAGES) + TWIN_PAGES, end);
        drop_wide(leaf, align_up(start, TWIN_PAGES), align_down(page, TWIN_PAGES));
        write_small(leaf, start, page - start, source);
    }
}

/* ---- making tables ready ---- */

/* All entries of what will be linked become invalid (GPUVA-149, GPUVA-175). */
static void begin_table(struct page_table *table)
{
    bits_put(table->set, 0, table->entries, false);
    if (!table->wide)
        table_invalidate_all(table, true);
    if (!table->twin)
        return;
    bits_put(table->twin->set, 0, table->twin->entries, false);
    if (table->wide || table->space->mmu->geometry.dual)
        table_invalidate_all(table->twin, true);
}

/* Fill a new table with what the entry above it has expressed so far. */
static void initialise(struct page_table *table)
{
    const struct page_table *above = table->parent;

    table->wide = table->twin && !table->space->mmu->geometry.dual &&
                  table->space->records->wide_only(table);
    begin_table(table);
    if (!bit_test(above->set, table->index))
        return;
    if (table->level == 0)
        table->space->records->refill(table->space, table);
    else
        write_fill_entries(table, 0, table->entries, &(struct entry_source){.state = ENTRY_ZERO});
}

static DXGK_PTE entry_of(const struct page_table *child)
{
    DXGK_PTE entry = invalid_entry;

    entry.Valid = 1;
    entry.Segment = child->place.run.segment & 0x1F;
    entry.PageTableAddress = child->place.run.first;
    return entry;
}

static DXGK_PTE link_entry(const struct page_table *child)
{
    DXGK_PTE entry = entry_of(child->wide ? child->twin : child);

    entry.PageTablePageSize = child->wide ? DXGK_PTE_PAGE_TABLE_PAGE_64KB
                                          : DXGK_PTE_PAGE_TABLE_PAGE_4KB; /* GPUVA-206 */
    return entry;
}

/* Link entries [start, start + count) to their tables; all of them have one. */
static void link_children(struct page_table *table, uint32_t start, uint32_t count)
{
    struct gpu_mmu *mmu = table->space->mmu;
    unsigned shift = mmu->geometry.shift[table->level];

    table_open(table);
    while (count > 0) {
        uint32_t some = count < mmu->entry_capacity ? count : mmu->entry_capacity;

        for (uint32_t i = 0; i < some; i++) {
            table->child[start + i]->ready = true;
            mmu->entries[i] = link_entry(table->child[start + i]);
            if (mmu->geometry.dual && table->child[start + i]->twin)
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

/* Make the tables of entries `from` to `to` ready. */
static void ready_children(struct page_table *table, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i <= to;) {
        uint32_t start = i;

        while (i <= to && !table->child[i]->ready)
            initialise(table->child[i++]);
        if (i > start)
            link_children(table, start, i - start);
        else
            i++;
    }
}

void tables_start(struct vidmm_space *space)
{
    if (space->root->ready)
        return;
    table_invalidate_all(space->root, true);
    space->root->ready = true;
}

static void ready_below(struct page_table *table, uint64_t first, uint64_t end)
{
    unsigned shift = table->space->mmu->geometry.shift[table->level];
    uint32_t from = table_index(table, shift, first), to = table_index(table, shift, end - 1);

    if (table->level == 0)
        return;
    ready_children(table, from, to);
    for (uint32_t i = from; i <= to; i++) {
        uint64_t low = entry_first(table, i), high = low + ((uint64_t)1 << shift);

        ready_below(table->child[i], later(first, low), sooner(end, high));
    }
}

void tables_ready(struct vidmm_space *space, uint64_t first, uint64_t count)
{
    tables_start(space);
    ready_below(space->root, first, first + count);
}

/* ---- pages ---- */

static void write_large(struct page_table *table, uint32_t index, struct entry_source *source)
{
    struct page_table *child = table->child[index];
    uint64_t first = entry_first(table, index);
    DXGK_PTE entry = page_entry(table->space, source, first);

    entry.LargePage = 1;
    table_change(&(struct table_change){.table = table,
                                        .start = index,
                                        .count = 1,
                                        .entries = &entry,
                                        .allocation = source->allocation,
                                        .offset = (first - source->origin) << PAGE_BITS});
    table_note_flush(table->space, first, table->space->mmu->geometry.span,
                     bit_test(table->set, index));
    bits_put(table->set, index, 1, true);
    bits_put(table->large, index, 1, true);
    if (child && child->ready) {
        child->ready = false;
        bits_put(child->set, 0, child->entries, false);
        if (child->twin)
            bits_put(child->twin->set, 0, child->twin->entries, false);
    }
}

static void write_pages(struct page_table *table, uint64_t first, uint64_t end,
                        struct entry_source *source)
{
    unsigned shift = table->space->mmu->geometry.shift[table->level];
    uint32_t from = table_index(table, shift, first), to = table_index(table, shift, end - 1);

    if (table->level == 0) {
        tables_write_leaf(table, first, end - first, source);
        return;
    }
    if (!source->large || table->level > 1)
        ready_children(table, from, to);
    for (uint32_t i = from; i <= to; i++) {
        uint64_t low = entry_first(table, i), high = low + ((uint64_t)1 << shift);

        if (table->level == 1 && first <= low && high <= end &&
            large_fits(table->space, source, low)) {
            write_large(table, i, source);
            continue;
        }
        ready_children(table, i, i);
        write_pages(table->child[i], later(first, low), sooner(end, high), source);
    }
}

/* ---- fills ---- */

/* The table below `index` is no longer held: the fill replaces it. */
static void unlink_child(struct page_table *table, uint32_t index)
{
    struct page_table *child = table->child[index];

    table->child[index] = NULL;
    table->uses--;
    child->parent = NULL;
    if (!child->ready) {
        table_destroy(child);
        return;
    }
    child->ready = false;
    list_push_back(&table->space->doomed, &child->deferred.link);
}

/* Write the fill to the table below, if there is one. True: the entry itself has to be written,
 * because there is no table below (any more). */
static bool fill_below(struct page_table *table, uint32_t index, uint64_t first, uint64_t end,
                       struct entry_source *source);

static void write_fill(struct page_table *table, uint64_t first, uint64_t end,
                       struct entry_source *source)
{
    unsigned shift = table->space->mmu->geometry.shift[table->level];
    uint32_t from = table_index(table, shift, first), to = table_index(table, shift, end - 1),
             start = from;

    if (table->level == 0) {
        tables_write_leaf(table, first, end - first, source);
        return;
    }
    for (uint32_t i = from; i <= to; i++) {
        uint64_t low = entry_first(table, i), high = low + ((uint64_t)1 << shift);

        if (fill_below(table, i, later(first, low), sooner(end, high), source))
            continue;
        if (start < i)
            write_fill_entries(table, start, i - start, source);
        start = i + 1;
    }
    if (start <= to)
        write_fill_entries(table, start, to + 1 - start, source);
}

static bool fill_below(struct page_table *table, uint32_t index, uint64_t first, uint64_t end,
                       struct entry_source *source)
{
    struct page_table *child = table->child[index];
    bool whole = end - first == (uint64_t)1 << table->space->mmu->geometry.shift[table->level];
    bool large = bit_test(table->large, index);

    if (!child)
        return whole;
    if (child->uses == 0) {
        unlink_child(table, index);
        return true;
    }
    if (!child->ready) {
        if (whole)
            return true;
        if (!large && bit_test(table->set, index) == (source->state == ENTRY_ZERO))
            return false; /* the entry has this state already */
        ready_children(table, index, index);
    }
    write_fill(child, first, end, source);
    if (child->uses != 0)
        return false;
    unlink_child(table, index);
    return true;
}

void tables_write(struct vidmm_space *space, uint64_t first, uint64_t count,
                  struct entry_source *source)
{
    if (!space->root || count == 0)
        return;
    if (!space->root->ready && source->state == ENTRY_INVALID) {
        tables_prune(space, first, count);
        return;
    }
    tables_start(space);
    if (source->state == ENTRY_PAGES)
        write_pages(space->root, first, first + count, source);
    else
        write_fill(space->root, first, first + count, source);
    if (source->state != ENTRY_PAGES)
        tables_prune(space, first, count);
}

/* ---- rebuilding ---- */

static void rebuild(struct page_table *table);

/* Write the entries of an upper table again: first complete the tables below and link them, then
 * write Zero entries, and at last large pages. */
static void rebuild_upper(struct page_table *table)
{
    const struct entry_source zero = {.state = ENTRY_ZERO};
    uint64_t span = (uint64_t)1 << table->space->mmu->geometry.shift[table->level];

    for (uint32_t i = 0; i < table->entries; i++)
        if (table->child[i] && table->child[i]->ready)
            rebuild(table->child[i]);
    for (uint32_t i = 0; i < table->entries;) {
        uint32_t start = i;

        while (i < table->entries && table->child[i] && table->child[i]->ready)
            i++;
        if (i > start) {
            link_children(table, start, i - start);
            continue;
        }
        while (i < table->entries && bit_test(table->set, i) && !bit_test(table->large, i) &&
               !(table->child[i] && table->child[i]->ready))
            i++;
        if (i > start)
            write_fill_entries(table, start, i - start, &zero);
        else
            i++;
    }
    for (uint32_t i = 0; i < table->entries; i++) {
        if (!bit_test(table->large, i))
            continue;
        bits_put(table->set, i, 1, false);
        bits_put(table->large, i, 1, false);
        table->space->records->rewrite(table->space, entry_first(table, i), span);
    }
}

static void rebuild(struct page_table *table)
{
    if (table->level > 0) {
        table_invalidate_all(table, true);
        rebuild_upper(table);
        return;
    }
    begin_table(table);
    table->space->records->refill(table->space, table);
}

void tables_rebuild(struct vidmm_space *space)
{
    if (space->root && space->root->ready)
        rebuild(space->root);
}

/* ---- resizing the root ---- */

struct page_table *tables_replace_root(struct vidmm_space *space, struct page_table *table)
{
    struct page_table *old = space->root;
    uint32_t common = old->entries < table->entries ? old->entries : table->entries;

    for (uint32_t i = 0; i < common; i++) {
        struct page_table *child = old->child[i];

        if (!child)
            continue;
        old->child[i] = NULL;
        old->uses--;
        child->parent = table;
        table->child[i] = child;
        table->uses++;
    }
    memcpy(table->set, old->set, (common + 63) / 64 * sizeof(uint64_t));
    memcpy(table->large, old->large, (common + 63) / 64 * sizeof(uint64_t));
    space->root = table;
    if (old->ready) {
        table->ready = true;
        table_invalidate_all(table, true);
        rebuild_upper(table);
    }
    return old;
}
