/* SPDX-License-Identifier: MIT */
/* IO page tables. The theory of operation is in io_table.h. */
#include "iommu/io_table.h"
#include "iommu/io_entries.h"
#include "iommu/io_table_step.h"
#include "util/address.h"
#include "util/alloc.h"

#include <string.h>

static uint64_t entry_of(const struct io_table *table)
{
    return (uint64_t)(uintptr_t)table;
}

/* ---- tables ---- */

void io_tables_init(struct io_tables *tables, bool shared)
{
    *tables = (struct io_tables){.shared = shared, .work = io_entry_work()};
}

static struct io_table *table_alloc(void)
{
    const size_t align = _Alignof(struct io_table);
    char *block = util_zalloc(1, sizeof(struct io_table) + align - 1);
    struct io_table *table;

    if (!block)
        return NULL;
    table = (struct io_table *)(void *)(block + (align - (uintptr_t)block % align) % align);
    table->block = block;
    return table;
}

static struct io_table *table_new(struct io_tables *tables, uint64_t page, unsigned level)
{
    struct io_table *table = tables->spare;

    if (table) {
        tables->spare = table->next_spare;
        tables->spares--;
    } else {
        table = table_alloc();
        if (!table)
            return NULL;
    }
    table->page = page & ~(io_span(level + 1) - 1);
    table->level = level;
    table->parent = NULL;
    tables->tables++;
    tables->idle += level == 0;
    return table;
}

/* Drop an empty table that is no longer linked anywhere. */
static void table_drop(struct io_tables *tables, struct io_table *table)
{
    struct io_table **near = &tables->near[io_near_index(table->page)];

    tables->tables--;
    tables->idle -= table->level == 0;
    if (*near == table)
        *near = NULL;
    if (tables->upper == table)
        tables->upper = NULL;
    if (tables->spares >= IO_SPARE_TABLES) {
        util_free(table->block);
        return;
    }
    table->next_spare = tables->spare;
    tables->spare = table;
    tables->spares++;
}

static void link_table(struct io_table *parent, struct io_table *table)
{
    uint64_t *entry = &parent->entry[io_slot_at(table->page, parent->level)];

    parent->used += *entry == 0;
    *entry = entry_of(table);
    table->parent = parent;
}

/* Whether the table is on the path to pages that are being mapped. */
static bool kept(const struct io_tables *tables, const struct io_table *table)
{
    return tables->keep_count > 0 && table->page < tables->keep_page + tables->keep_count &&
           tables->keep_page < table->page + io_span(table->level + 1);
}

/* Remove the table if it is empty, then those above it that became empty. */
static void unlink_empty(struct io_tables *tables, struct io_table *table)
{
    while (table && table->used == 0 && !kept(tables, table)) {
        struct io_table *parent = table->parent;

        if (parent) {
            parent->entry[io_slot_at(table->page, parent->level)] = 0;
            parent->used--;
        } else {
            tables->root = NULL;
            tables->levels = 0;
        }
        table_drop(tables, table);
        table = parent;
    }
}

static void free_spares(struct io_tables *tables)
{
    while (tables->spare) {
        struct io_table *table = tables->spare;

        tables->spare = table->next_spare;
        util_free(table->block);
    }
    tables->spares = 0;
}

void io_tables_trim(struct io_tables *tables)
{
    for (unsigned i = 0; i < IO_NEAR_TABLES; i++)
        unlink_empty(tables, tables->near[i]);
    free_spares(tables);
}

static void table_free(struct io_table *table)
{
    for (unsigned i = 0; table->level > 0 && i < IO_TABLE_ENTRIES; i++)
        if (table->entry[i] && !io_is_leaf(table->entry[i]))
            table_free(io_child_of(table->entry[i]));
    util_free(table->block);
}

void io_tables_finish(struct io_tables *tables)
{
    if (tables->root)
        table_free(tables->root);
    free_spares(tables);
    io_tables_init(tables, tables->shared);
}

/* Unlink the empty tables on the path to the page. */
static void prune(struct io_tables *tables, uint64_t page)
{
    struct io_table *table = io_covered(tables, page) ? tables->root : NULL;

    while (table && table->level > 0) {
        uint64_t entry = table->entry[io_slot_at(page, table->level)];

        if (!entry || io_is_leaf(entry))
            break;
        table = io_child_of(entry);
    }
    unlink_empty(tables, table);
}

/* ---- the walk cache ---- */

/* Make room in the walk cache for the table of the page. A table in that place leaves the cache,
 * and the tree too if it is idle. */
static void near_clear(struct io_tables *tables, uint64_t page)
{
    struct io_table **place = &tables->near[io_near_index(page)], *table = *place;

    if (!table || page - table->page < IO_TABLE_ENTRIES)
        return;
    *place = NULL;
    unlink_empty(tables, table);
}

/* Remove idle tables inside the range, since they prevent large leaves. */
static void drop_idle(struct io_tables *tables, uint64_t page, uint64_t count)
{
    uint64_t first = page >> IO_TABLE_BITS, last = (page + count - 1) >> IO_TABLE_BITS;
    uint64_t places = last - first + 1;

    if (places > IO_NEAR_TABLES)
        places = IO_NEAR_TABLES;
    for (uint64_t i = 0; i < places; i++) {
        struct io_table *table = tables->near[(first + i) % IO_NEAR_TABLES];

        if (table && table->page >= page && table->page - page < count)
            unlink_empty(tables, table);
    }
}

/* ---- the way down ---- */

/* Add levels above the root until there is a table of `level` for the page. An empty tree gets one
 * root, of the right level. */
static bool deepen(struct io_tables *tables, uint64_t page, unsigned level)
{
    unsigned levels = level + 1;

    while (levels < IO_MAX_LEVELS && page >> (levels * IO_TABLE_BITS) != 0)
        levels++;
    while (tables->levels < levels) {
        unsigned top = tables->root ? tables->levels : levels - 1;
        struct io_table *root = table_new(tables, 0, top);

        if (!root)
            return false;
        if (tables->root)
            link_table(root, tables->root);
        tables->root = root;
        tables->levels = top + 1;
    }
    return true;
}

/* Replace the leaf at the page by a table of smaller leaves with the same mapping. */
static bool split(struct io_tables *tables, struct io_table *parent, uint64_t page)
{
    const unsigned level = parent->level;
    const uint64_t leaf = parent->entry[io_slot_at(page, level)];
    struct io_table *table = table_new(tables, page, level - 1);

    if (!table)
        return false;
    tables->work->fill_run(table->entry, IO_TABLE_ENTRIES, leaf, io_span(level - 1) * IO_FRAME_ONE);
    table->used = IO_TABLE_ENTRIES;
    tables->idle -= level - 1 == 0;
    link_table(parent, table);
    tables->large += level > 1 ? IO_TABLE_ENTRIES - 1 : (uint64_t)-1;
    return true;
}

/* The table of `level` on the path to the page, created if necessary. NULL: out of memory; tables
 * that were created are left for prune(). */
static struct io_table *descend(struct io_tables *tables, uint64_t page, unsigned level)
{
    struct io_table *table;

    if (level == 0) {
        table = io_near(tables, page);
        if (table)
            return table;
        near_clear(tables, page);
    }
    if (!deepen(tables, page, level))
        return NULL;
    table = tables->root;
    while (table->level > level) {
        uint64_t entry = table->entry[io_slot_at(page, table->level)];

        if (io_is_leaf(entry)) {
            if (!split(tables, table, page))
                return NULL;
        } else if (!entry) {
            struct io_table *made = table_new(tables, page, table->level - 1);

            if (!made)
                return NULL;
            link_table(table, made);
        }
        table = io_child_of(table->entry[io_slot_at(page, table->level)]);
    }
    if (level == 0)
        tables->near[io_near_index(page)] = table;
    else if (level == 1)
        tables->upper = table;
    return table;
}

/* ---- map ---- */

/* A mapping call and its progress. */
struct mapping {
    uint64_t page;
    const struct page_number *frames; /* or NULL: first, first + 1, ... */
    uint64_t first, count;
    unsigned rights;
    unsigned largest; /* the highest level that a leaf may have */
};

/* The entry at `level` for the page: a leaf, a table, or 0. */
static uint64_t entry_at(const struct io_tables *tables, uint64_t page, unsigned level)
{
    const struct io_table *table = tables->root;

    if (!io_covered(tables, page) || tables->levels <= level)
        return 0;
    for (unsigned at = tables->levels; --at > level;) {
        uint64_t entry = table->entry[io_slot_at(page, at)];

        if (!entry || io_is_leaf(entry))
            return 0;
        table = io_child_of(entry);
    }
    return table->entry[io_slot_at(page, level)];
}

/* The level of the entries for page `done` of the mapping and those after it, and how many of them
 * are in one table. */
static unsigned next_chunk(const struct io_tables *tables, const struct mapping *map, uint64_t done,
                           uint64_t *entries)
{
    uint64_t page = map->page + done, left = map->count - done;

    for (unsigned level = map->largest; level > 0; level--) {
        uint64_t span = io_span(level), there;

        if (left < span || (page | (map->first + done)) & (span - 1))
            continue;
        there = entry_at(tables, page, level);
        if (!there || io_is_leaf(there)) {
            *entries = 1;
            return level;
        }
    }
    *entries = IO_TABLE_ENTRIES - io_slot_at(page, 0);
    if (*entries > left)
        *entries = left;
    return 0;
}

static uint64_t frame_at(const struct mapping *map, uint64_t index)
{
    return map->frames ? map->frames[index].value : map->first + index;
}

/* The bitwise OR of the entries. */
static uint64_t any_of(const struct io_tables *tables, const uint64_t *entries, uint64_t count)
{
    uint64_t any = 0;

    if (count >= IO_ENTRIES_MANY)
        return tables->work->differ(entries, count, 0);
    for (uint64_t i = 0; i < count; i++)
        any |= entries[i];
    return any;
}

static bool frames_fit(const struct io_tables *tables, const struct page_number *frames,
                       uint64_t first, uint64_t count)
{
    if (!frames)
        return first < (uint64_t)1 << IO_FRAME_BITS &&
               count <= ((uint64_t)1 << IO_FRAME_BITS) - first;
    return any_of(tables, &frames->value, count) >> IO_FRAME_BITS == 0;
}

/* Whether the entries can take one more mapping. A page may have several only where logical =
 * physical (IOMMU-050, PHYS-081). */
static bool addable(const struct io_tables *tables, const struct io_table *table, unsigned slot,
                    uint64_t count, const struct mapping *map, uint64_t done)
{
    const uint64_t *entries = &table->entry[slot];

    if (table->used == 0 || any_of(tables, entries, count) == 0)
        return true;
    if (!tables->shared)
        return false;
    for (uint64_t i = 0; i < count; i++)
        if (entries[i] &&
            (!io_is_leaf(entries[i]) || io_entry_frame(entries[i]) != frame_at(map, done + i) ||
             io_entry_count(entries[i]) == IO_COUNT_MAX))
            return false;
    return true;
}

/* Create the tables that the mapping needs. */
static enum io_result prepare(struct io_tables *tables, const struct mapping *map)
{
    uint64_t entries;

    for (uint64_t done = 0; done < map->count;) {
        unsigned level = next_chunk(tables, map, done, &entries);
        struct io_table *table;

        tables->keep_page = map->page;
        /* abandon() must also visit what a failure leaves incomplete */
        tables->keep_count = done + 1;
        table = descend(tables, map->page + done, level);
        if (!table)
            return IO_NO_MEMORY;
        if (!addable(tables, table, io_slot_at(map->page + done, level), entries, map, done))
            return IO_TAKEN;
        done += entries * io_span(level);
    }
    return IO_DONE;
}

static uint64_t leaf_flags(unsigned rights)
{
    return IO_COUNT_ONE | IO_LEAF | rights;
}

/* Several leaves of level 0, or one leaf of any level. */
static inline void fill_free(const struct io_tables *tables, uint64_t *entries,
                             const struct page_number *frames, uint64_t first, uint64_t count,
                             uint64_t flags)
{
    if (count < IO_ENTRIES_MANY)
        for (uint64_t i = 0; i < count; i++)
            entries[i] = (frames ? frames[i].value : first + i) << IO_FRAME_SHIFT | flags;
    else if (frames)
        tables->work->fill_list(entries, frames, count, IO_FRAME_SHIFT, flags);
    else
        tables->work->fill_run(entries, count, first << IO_FRAME_SHIFT | flags, IO_FRAME_ONE);
}

static void fill(struct io_tables *tables, struct io_table *table, unsigned slot, uint64_t count,
                 unsigned level, const struct mapping *map, uint64_t done)
{
    uint64_t *entries = &table->entry[slot];
    const uint64_t flags = leaf_flags(map->rights);
    uint64_t added = count;

    /* If not shared, they are free, since addable() said so. */
    if (!tables->shared || table->used == 0 || any_of(tables, entries, count) == 0) {
        fill_free(tables, entries, map->frames ? map->frames + done : NULL, map->first + done,
                  count, flags);
    } else {
        for (uint64_t i = 0; i < count; i++) {
            added -= entries[i] != 0;
            if (entries[i])
                entries[i] = (entries[i] + IO_COUNT_ONE) | map->rights;
            else
                entries[i] = frame_at(map, done + i) << IO_FRAME_SHIFT | flags;
        }
    }
    tables->idle -= table->used == 0 && level == 0;
    table->used += (uint32_t)added;
    tables->pages += added * io_span(level);
    tables->large += level > 0 ? added : 0;
}

static void commit(struct io_tables *tables, const struct mapping *map)
{
    uint64_t entries;

    for (uint64_t done = 0; done < map->count; done += entries) {
        unsigned level = next_chunk(tables, map, done, &entries);

        fill(tables, descend(tables, map->page + done, level), io_slot_at(map->page + done, level),
             entries, level, map, done);
        entries *= io_span(level);
    }
}

/* Undo prepare(): remove tables that are empty. */
static void abandon(struct io_tables *tables, uint64_t page, uint64_t count)
{
    uint64_t end = page + count;

    while (page < end) {
        prune(tables, page);
        page = (page | (IO_TABLE_ENTRIES - 1)) + 1;
    }
}

/* More than one run of entries: create all tables and check all entries, then fill them. */
static enum io_result map_many(struct io_tables *tables, const struct mapping *map)
{
    const enum io_result result = prepare(tables, map);
    const uint64_t prepared = tables->keep_count;

    if (result == IO_DONE)
        commit(tables, map);
    tables->keep_count = 0;
    if (result != IO_DONE)
        abandon(tables, map->page, prepared);
    return result;
}

static enum io_result map_one(struct io_tables *tables, const struct mapping *map, unsigned level,
                              uint64_t entries)
{
    struct io_table *table = descend(tables, map->page, level);
    unsigned slot = io_slot_at(map->page, level);
    enum io_result result = IO_NO_MEMORY;

    if (table && addable(tables, table, slot, entries, map, 0)) {
        fill(tables, table, slot, entries, level, map, 0);
        return IO_DONE;
    }
    if (table)
        result = IO_TAKEN;
    prune(tables, map->page);
    return result;
}

/* The common case: free entries of a table in the walk cache. False, with nothing done: not that
 * case. */
static inline bool map_near(struct io_tables *tables, uint64_t page,
                            const struct page_number *frames, uint64_t first, uint64_t count,
                            uint64_t flags)
{
    struct io_table *table = io_near(tables, page);
    const unsigned slot = io_slot_at(page, 0);
    uint64_t *entries;

    if (!table || count > IO_TABLE_ENTRIES - slot)
        return false;
    entries = &table->entry[slot];
    if (table->used > 0 && any_of(tables, entries, count) != 0)
        return false;
    fill_free(tables, entries, frames, first, count, flags);
    tables->idle -= table->used == 0;
    table->used += (uint32_t)count;
    tables->pages += count;
    return true;
}

/* The same for one leaf of level 1. */
static inline bool map_upper(struct io_tables *tables, uint64_t page, uint64_t first,
                             uint64_t count, uint64_t flags)
{
    uint64_t *entry = count == io_span(1) ? io_upper(tables, page) : NULL;

    if (!entry || *entry)
        return false;
    *entry = first << IO_FRAME_SHIFT | flags;
    tables->upper->used++;
    tables->pages += count;
    tables->large++;
    return true;
}

static enum io_result map_far(struct io_tables *tables, const struct mapping *map)
{
    uint64_t entries;
    unsigned level;

    if (map->largest > 0 && tables->idle > 0)
        drop_idle(tables, map->page, map->count);
    level = next_chunk(tables, map, 0, &entries);
    if (entries * io_span(level) == map->count)
        return map_one(tables, map, level, entries);
    return map_many(tables, map);
}

enum io_result io_tables_map(struct io_tables *tables, uint64_t page,
                             const struct page_number *frames, uint64_t first, uint64_t count,
                             unsigned rights)
{
    const uint64_t limit = (uint64_t)1 << (IO_MAX_LEVELS * IO_TABLE_BITS);
    const bool large = !frames && count >= io_span(1) && ((page ^ first) & (io_span(1) - 1)) == 0;

    if (page >= limit || count > limit - page || !frames_fit(tables, frames, first, count))
        return IO_TAKEN;
    if (!large && map_near(tables, page, frames, first, count, leaf_flags(rights)))
        return IO_DONE;
    if (large && map_upper(tables, page, first, count, leaf_flags(rights)))
        return IO_DONE;
    return map_far(tables, &(struct mapping){.page = page,
                                             .frames = frames,
                                             .first = first,
                                             .count = count,
                                             .rights = rights,
                                             .largest = !large               ? 0
                                                        : count < io_span(2) ? 1
                                                                             : IO_LARGE_LEVELS});
}

/* ---- unmap ---- */

/* Whether each entry has exactly one mapping. */
static bool all_single(const struct io_tables *tables, const uint64_t *entries, uint64_t count)
{
    uint64_t other = 0;

    if (count >= IO_ENTRIES_MANY)
        other = tables->work->differ(entries, count, IO_COUNT_ONE);
    else
        for (uint64_t i = 0; i < count; i++)
            other |= entries[i] ^ IO_COUNT_ONE;
    return other >> IO_COUNT_SHIFT == 0;
}

static inline void clear(uint64_t *entries, uint64_t count)
{
    if (count == 1)
        entries[0] = 0;
    else
        memset(entries, 0, count * sizeof(*entries));
}

/* The entries are 0 or leaves. */
static void remove_entries(struct io_tables *tables, struct io_table *table, unsigned slot,
                           uint64_t count, unsigned level)
{
    uint64_t *entries = &table->entry[slot];
    uint64_t removed = 0;

    if (all_single(tables, entries, count)) {
        clear(entries, count);
        removed = count;
    } else {
        for (uint64_t i = 0; i < count; i++) {
            if (!entries[i])
                continue;
            entries[i] -= IO_COUNT_ONE;
            if (io_entry_count(entries[i]) > 0)
                continue;
            entries[i] = 0;
            removed++;
        }
    }
    table->used -= (uint32_t)removed;
    tables->pages -= removed * io_span(level);
    tables->large -= level > 0 ? removed : 0;
    if (table->used > 0)
        return;
    if (level == 0)
        tables->idle += removed > 0; /* it stays, since the walk cache has it */
    else
        unlink_empty(tables, table);
}

/* The table that decides about the page: the one with its leaf, or with the 0 on the path. One of
 * level 0 is then in the walk cache. A large leaf that [page, page + count) covers only in part is
 * split, unless memory is short. */
static struct io_table *decide(struct io_tables *tables, uint64_t page, uint64_t count)
{
    struct io_table *table = io_near(tables, page);

    if (table)
        return table;
    for (table = tables->root; table->level > 0;) {
        const uint64_t entry = table->entry[io_slot_at(page, table->level)];
        const uint64_t span = io_span(table->level);
        const bool whole = (page & (span - 1)) == 0 && count >= span;

        if (table->level == 1)
            tables->upper = table;
        if (!entry || (io_is_leaf(entry) && (whole || !split(tables, table, page))))
            return table;
        table = io_child_of(table->entry[io_slot_at(page, table->level)]);
    }
    near_clear(tables, page);
    tables->near[io_near_index(page)] = table;
    return table;
}

/* The common case: entries with one mapping each, in a table of the walk cache. False, with nothing
 * done: not that case. */
static inline bool unmap_near(struct io_tables *tables, uint64_t page, uint64_t count,
                              io_released *released, void *context)
{
    struct io_table *table = io_near(tables, page);
    const unsigned slot = io_slot_at(page, 0);
    uint64_t *entries;

    if (!table || count > IO_TABLE_ENTRIES - slot)
        return false;
    entries = &table->entry[slot];
    if ((tables->shared || table->used < IO_TABLE_ENTRIES) && !all_single(tables, entries, count))
        return false;
    if (released)
        released(context, entries, count, 0);
    clear(entries, count);
    table->used -= (uint32_t)count;
    tables->idle += table->used == 0;
    tables->pages -= count;
    return true;
}

/* The same for one leaf of level 1. */
static inline bool unmap_upper(struct io_tables *tables, uint64_t page, uint64_t count,
                               io_released *released, void *context)
{
    uint64_t *entry = count == io_span(1) ? io_upper(tables, page) : NULL;
    struct io_table *table = tables->upper;

    if (!entry || !io_is_leaf(*entry) || io_entry_count(*entry) != 1)
        return false;
    if (released)
        released(context, entry, 1, 1);
    *entry = 0;
    tables->pages -= count;
    tables->large--;
    if (--table->used == 0)
        unlink_empty(tables, table);
    return true;
}

void io_tables_unmap(struct io_tables *tables, uint64_t page, uint64_t count, io_released *released,
                     void *context)
{
    if (count == 0 || unmap_near(tables, page, count, released, context) ||
        unmap_upper(tables, page, count, released, context))
        return;
    while (count > 0 && io_covered(tables, page)) {
        struct io_table *table = decide(tables, page, count);
        unsigned level = table->level, slot = io_slot_at(page, level);
        uint64_t entries = level > 0 ? 1 : IO_TABLE_ENTRIES - slot;
        uint64_t now = entries * io_span(level) - (page & (io_span(level) - 1));

        if (now > count) {
            now = count;
            entries = level > 0 ? 1 : count;
        }
        if (released)
            released(context, &table->entry[slot], entries, level);
        remove_entries(tables, table, slot, entries, level);
        page += now;
        count -= now;
    }
}
