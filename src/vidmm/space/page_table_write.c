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
#include "vidmm/space/entry_source.h"
#include "vidmm/space/entry_write.h"
#include "vidmm/space/page_table.h"
#include "vidmm/space/page_table_op.h"
#include "vidmm/space/wide_pages.h"

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t sooner(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

void tables_write_leaf(struct page_table *leaf, uint64_t first, uint64_t count,
                       struct entry_source *source)
{
    if (leaf->twin)
        wide_write_leaf(leaf, first, count, source);
    else
        entries_write(leaf, first, count, source);
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
        entries_fill(table, 0, table->entries, &(struct entry_source){.state = ENTRY_ZERO});
}

/* Make the tables of entries `from` to `to` ready. */
static void ready_children(struct page_table *table, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i <= to;) {
        uint32_t start = i;

        while (i <= to && !table->child[i]->ready)
            initialise(table->child[i++]);
        if (i > start)
            entries_link(table, start, i - start);
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
    DXGK_PTE entry;

    source_entries(table->space, source, first, 0, &entry, 1);
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
            source_fits_large(table->space, source, low)) {
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
            entries_fill(table, start, i - start, source);
        start = i + 1;
    }
    if (start <= to)
        entries_fill(table, start, to + 1 - start, source);
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

/* Write the entries of an upper table again, which are invalid: link the tables below, which are
 * complete, then write Zero entries, and at last large pages. */
static void rebuild_entries(struct page_table *table)
{
    const struct entry_source zero = {.state = ENTRY_ZERO};
    uint64_t span = (uint64_t)1 << table->space->mmu->geometry.shift[table->level];

    for (uint32_t i = 0; i < table->entries;) {
        uint32_t start = i;

        while (i < table->entries && table->child[i] && table->child[i]->ready)
            i++;
        if (i > start) {
            entries_link(table, start, i - start);
            continue;
        }
        while (i < table->entries && bit_test(table->set, i) && !bit_test(table->large, i) &&
               !(table->child[i] && table->child[i]->ready))
            i++;
        if (i > start)
            entries_fill(table, start, i - start, &zero);
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

static void rebuild(struct page_table *table);

static void rebuild_below(struct page_table *table)
{
    for (uint32_t i = 0; i < table->entries; i++)
        if (table->child[i] && table->child[i]->ready)
            rebuild(table->child[i]);
    rebuild_entries(table);
}

static void rebuild_leaf(struct page_table *leaf)
{
    begin_table(leaf);
    leaf->space->records->refill(leaf->space, leaf);
}

static void rebuild(struct page_table *table)
{
    if (table->level == 0) {
        rebuild_leaf(table);
        return;
    }
    table_invalidate_all(table, true);
    rebuild_below(table);
}

void tables_rebuild(struct vidmm_space *space)
{
    if (space->root && space->root->ready)
        rebuild(space->root);
}

/* ---- tables that move ---- */

void tables_write_again(struct page_table *table)
{
    if (!table->ready)
        return;
    if (table->level == 0) {
        rebuild_leaf(table);
    } else {
        table_invalidate_all(table, true);
        rebuild_entries(table);
    }
    if (table->parent && !table->parent->absent)
        entries_link(table->parent, table->index, 1);
}

/* GPUVA-168: the whole table, by one entry. */
static void tell_leaving(struct page_table *table)
{
    const DXGK_PTE invalid = {.Flags = 0};

    if (!table->place.written)
        return;
    table_change(&(struct table_change){
        .table = table, .count = table->entries, .entries = &invalid, .repeat = true, .evict = true});
}

void tables_forsake(struct page_table *table)
{
    struct vidmm_space *space = table->space;
    const DXGK_PTE invalid = {.Flags = 0};

    if (table->ready && table->parent) {
        table_change(&(struct table_change){.table = table->parent,
                                            .start = table->index,
                                            .count = 1,
                                            .entries = &invalid,
                                            .repeat = true});
        table_note_flush(space, entry_first(table->parent, table->index),
                         (uint64_t)1 << space->mmu->geometry.shift[table->parent->level], true);
    } else if (table->ready && !table->absent) {
        table_flush(space, 0, 0); /* the root: the whole space */
        space->flush_first = space->flush_end = 0;
    }
    tell_leaving(table);
    if (table->twin)
        tell_leaving(table->twin);
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
        rebuild_below(table);
    }
    return old;
}
