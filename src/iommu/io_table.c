/* SPDX-License-Identifier: MIT */
/* IO page tables. The theory of operation is in io_table.h. */
#include "iommu/io_table.h"

#include <string.h>

#include "util/alloc.h"

enum { SPARE_TABLES = 64 };

static unsigned slot_at(uint64_t page, unsigned level)
{
    return (unsigned)(page >> (level * IO_TABLE_BITS)) & (IO_TABLE_ENTRIES - 1);
}

static struct io_table *child_of(uint64_t entry)
{
    return (struct io_table *)(uintptr_t)entry;
}

static uint64_t entry_of(const struct io_table *table)
{
    return (uint64_t)(uintptr_t)table;
}

/* ---- tables ---- */

void io_tables_init(struct io_tables *tables, bool shared)
{
    *tables = (struct io_tables){.shared = shared};
}

static struct io_table *table_new(struct io_tables *tables)
{
    struct io_table *table = tables->spare;

    if (table) {
        tables->spare = table->next_spare;
        tables->spares--;
    } else {
        table = util_zalloc(1, sizeof(*table));
        if (!table)
            return NULL;
    }
    tables->tables++;
    return table;
}

/* The table is empty. */
static void table_drop(struct io_tables *tables, struct io_table *table)
{
    tables->tables--;
    if (tables->near == table)
        tables->near = NULL;
    if (tables->spares >= SPARE_TABLES) {
        util_free(table);
        return;
    }
    table->next_spare = tables->spare;
    tables->spare = table;
    tables->spares++;
}

static void table_free(struct io_table *table, unsigned level)
{
    for (unsigned i = 0; level > 0 && i < IO_TABLE_ENTRIES; i++)
        if (table->entry[i] && !io_is_leaf(table->entry[i]))
            table_free(child_of(table->entry[i]), level - 1);
    util_free(table);
}

void io_tables_finish(struct io_tables *tables)
{
    if (tables->root)
        table_free(tables->root, tables->levels - 1);
    while (tables->spare) {
        struct io_table *table = tables->spare;

        tables->spare = table->next_spare;
        util_free(table);
    }
    io_tables_init(tables, tables->shared);
}

static bool covered(const struct io_tables *tables, uint64_t page)
{
    return tables->levels > 0 && page >> (tables->levels * IO_TABLE_BITS) == 0;
}

/* Unlink the tables on the way to the page that are empty, from the lowest up. */
static void prune(struct io_tables *tables, uint64_t page)
{
    struct io_table *way[IO_MAX_LEVELS] = {0};
    struct io_table *table = covered(tables, page) ? tables->root : NULL;
    unsigned level = tables->levels;

    while (table) {
        uint64_t entry;

        way[--level] = table;
        entry = level > 0 ? table->entry[slot_at(page, level)] : 0;
        table = entry && !io_is_leaf(entry) ? child_of(entry) : NULL;
    }
    for (; level + 1 < tables->levels; level++) {
        if (way[level]->used > 0)
            return;
        way[level + 1]->entry[slot_at(page, level + 1)] = 0;
        way[level + 1]->used--;
        table_drop(tables, way[level]);
    }
    if (tables->root && tables->root->used == 0) {
        table_drop(tables, tables->root);
        tables->root = NULL;
        tables->levels = 0;
    }
}

/* Put roots on top until there is a table of `level` for the page. An empty tree gets one root, of
 * the right level. */
static bool deepen(struct io_tables *tables, uint64_t page, unsigned level)
{
    unsigned levels = level + 1;

    while (levels < IO_MAX_LEVELS && page >> (levels * IO_TABLE_BITS) != 0)
        levels++;
    while (tables->levels < levels) {
        struct io_table *root = table_new(tables);

        if (!root)
            return false;
        if (tables->root) {
            root->entry[0] = entry_of(tables->root);
            root->used = 1;
            tables->levels++;
        } else {
            tables->levels = levels;
        }
        tables->root = root;
    }
    return true;
}

/* The leaf at `entry` of `level` becomes a table of smaller ones that say the same. */
static bool split(struct io_tables *tables, uint64_t *entry, unsigned level)
{
    struct io_table *table = table_new(tables);

    if (!table)
        return false;
    for (uint64_t i = 0; i < IO_TABLE_ENTRIES; i++)
        table->entry[i] = *entry + i * io_span(level - 1) * IO_FRAME_ONE;
    table->used = IO_TABLE_ENTRIES;
    *entry = entry_of(table);
    tables->large += level > 1 ? IO_TABLE_ENTRIES - 1 : (uint64_t)-1;
    return true;
}

/* The table of `level` on the way to the page, made if need be. NULL: out of memory; what was made
 * for nothing is left for prune. */
static struct io_table *descend(struct io_tables *tables, uint64_t page, unsigned level)
{
    struct io_table *table;

    if (level == 0 && tables->near && page - tables->near_page < IO_TABLE_ENTRIES)
        return tables->near;
    if (!deepen(tables, page, level))
        return NULL;
    table = tables->root;
    for (unsigned at = tables->levels; --at > level;) {
        uint64_t *entry = &table->entry[slot_at(page, at)];

        if (io_is_leaf(*entry)) {
            if (!split(tables, entry, at))
                return NULL;
        } else if (!*entry) {
            struct io_table *made = table_new(tables);

            if (!made)
                return NULL;
            *entry = entry_of(made);
            table->used++;
        }
        table = child_of(*entry);
    }
    if (level == 0) {
        tables->near = table;
        tables->near_page = page & ~(uint64_t)(IO_TABLE_ENTRIES - 1);
    }
    return table;
}

/* ---- map ---- */

/* What one call maps, and how far it is. */
struct mapping {
    uint64_t page;
    const struct page_number *frames; /* or NULL: first, first + 1, ... */
    uint64_t first, count;
    unsigned rights;
};

/* What stands at `level` for the page: a leaf, a table, or 0. */
static uint64_t entry_at(const struct io_tables *tables, uint64_t page, unsigned level)
{
    const struct io_table *table = tables->root;

    if (!covered(tables, page) || tables->levels <= level)
        return 0;
    for (unsigned at = tables->levels; --at > level;) {
        uint64_t entry = table->entry[slot_at(page, at)];

        if (!entry || io_is_leaf(entry))
            return 0;
        table = child_of(entry);
    }
    return table->entry[slot_at(page, level)];
}

/* The level of the entries that page `done` of the mapping and those after it get, and how many of
 * them stand in one table. */
static unsigned next_chunk(const struct io_tables *tables, const struct mapping *map, uint64_t done,
                           uint64_t *entries)
{
    uint64_t page = map->page + done, left = map->count - done;

    for (unsigned level = IO_LARGE_LEVELS; !map->frames && level > 0; level--) {
        uint64_t span = io_span(level), there;

        if (left < span || (page | (map->first + done)) & (span - 1))
            continue;
        there = entry_at(tables, page, level);
        if (!there || io_is_leaf(there)) {
            *entries = 1;
            return level;
        }
    }
    *entries = IO_TABLE_ENTRIES - slot_at(page, 0);
    if (*entries > left)
        *entries = left;
    return 0;
}

static uint64_t frame_at(const struct mapping *map, uint64_t index)
{
    return map->frames ? map->frames[index].value : map->first + index;
}

static bool frames_fit(const struct mapping *map)
{
    uint64_t all = 0;

    if (!map->frames)
        return map->first < (uint64_t)1 << IO_FRAME_BITS &&
               map->count <= ((uint64_t)1 << IO_FRAME_BITS) - map->first;
    for (uint64_t i = 0; i < map->count; i++)
        all |= map->frames[i].value;
    return all >> IO_FRAME_BITS == 0;
}

static bool all_zero(const uint64_t *entries, uint64_t count)
{
    uint64_t any = 0;

    for (uint64_t i = 0; i < count; i++)
        any |= entries[i];
    return any == 0;
}

/* May the entries take one more mapping? A page may have several only where logical = physical
 * (IOMMU-050, PHYS-081). */
static bool addable(const struct io_tables *tables, const struct io_table *table, unsigned slot,
                    uint64_t count, const struct mapping *map, uint64_t done)
{
    const uint64_t *entries = &table->entry[slot];

    if (table->used == 0 || all_zero(entries, count))
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

/* Make the tables that the mapping needs. */
static enum io_result prepare(struct io_tables *tables, const struct mapping *map,
                              uint64_t *prepared)
{
    uint64_t entries;

    for (uint64_t done = 0; done < map->count;) {
        unsigned level = next_chunk(tables, map, done, &entries);
        struct io_table *table;

        *prepared = done + 1; /* also what a failure left half made is looked at */
        table = descend(tables, map->page + done, level);
        if (!table)
            return IO_NO_MEMORY;
        if (!addable(tables, table, slot_at(map->page + done, level), entries, map, done))
            return IO_TAKEN;
        done += entries * io_span(level);
        *prepared = done;
    }
    return IO_DONE;
}

static void fill_free(uint64_t *entries, uint64_t count, const struct mapping *map, uint64_t done)
{
    uint64_t flags = IO_COUNT_ONE | IO_LEAF | map->rights;

    if (map->frames) {
        const struct page_number *frames = map->frames + done;

        for (uint64_t i = 0; i < count; i++)
            entries[i] = frames[i].value << IO_FRAME_SHIFT | flags;
    } else {
        uint64_t value = (map->first + done) << IO_FRAME_SHIFT | flags;

        for (uint64_t i = 0; i < count; i++)
            entries[i] = value + i * IO_FRAME_ONE;
    }
}

static void fill(struct io_tables *tables, struct io_table *table, unsigned slot, uint64_t count,
                 unsigned level, const struct mapping *map, uint64_t done)
{
    uint64_t *entries = &table->entry[slot];
    uint64_t added = count;

    /* Not shared: they are free, since they were addable. */
    if (!tables->shared || table->used == 0 || all_zero(entries, count)) {
        fill_free(entries, count, map, done);
    } else {
        for (uint64_t i = 0; i < count; i++) {
            added -= entries[i] != 0;
            if (entries[i])
                entries[i] = (entries[i] + IO_COUNT_ONE) | map->rights;
            else
                fill_free(&entries[i], 1, map, done + i);
        }
    }
    table->used += (uint32_t)added;
    tables->pages += added * io_span(level);
    tables->large += level > 0 ? added : 0;
}

static void commit(struct io_tables *tables, const struct mapping *map)
{
    uint64_t entries;

    for (uint64_t done = 0; done < map->count; done += entries) {
        unsigned level = next_chunk(tables, map, done, &entries);

        fill(tables, descend(tables, map->page + done, level), slot_at(map->page + done, level),
             entries, level, map, done);
        entries *= io_span(level);
    }
}

/* Undo prepare: tables that are empty go. */
static void abandon(struct io_tables *tables, uint64_t page, uint64_t count)
{
    uint64_t end = page + count;

    while (page < end) {
        prune(tables, page);
        page = (page | (IO_TABLE_ENTRIES - 1)) + 1;
    }
}

enum io_result io_tables_map(struct io_tables *tables, uint64_t page,
                             const struct page_number *frames, uint64_t first, uint64_t count,
                             unsigned rights)
{
    const struct mapping map = {
        .page = page, .frames = frames, .first = first, .count = count, .rights = rights};
    const uint64_t limit = (uint64_t)1 << (IO_MAX_LEVELS * IO_TABLE_BITS);
    uint64_t prepared = 0;
    enum io_result result;

    if (page >= limit || count > limit - page || !frames_fit(&map))
        return IO_TAKEN;
    result = prepare(tables, &map, &prepared);
    if (result == IO_DONE)
        commit(tables, &map);
    else
        abandon(tables, page, prepared);
    return result;
}

/* ---- unmap ---- */

static bool all_single(const uint64_t *entries, uint64_t count)
{
    uint64_t other = 0;

    for (uint64_t i = 0; i < count; i++)
        other |= (entries[i] >> IO_COUNT_SHIFT) ^ 1;
    return other == 0;
}

/* Entries that are 0 or leaves. */
static void remove_entries(struct io_tables *tables, struct io_table *table, unsigned slot,
                           uint64_t count, unsigned level)
{
    uint64_t *entries = &table->entry[slot];
    const bool whole = !tables->shared && table->used == IO_TABLE_ENTRIES &&
                       count == IO_TABLE_ENTRIES;
    uint64_t removed = 0;

    if (whole || all_single(entries, count)) {
        memset(entries, 0, count * sizeof(*entries));
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
}

/* The table and level at which the page is decided: its leaf, or the 0 on the way. A large leaf that
 * [page, page + count) covers in part is split, unless there is no memory. */
static struct io_table *decide(struct io_tables *tables, uint64_t page, uint64_t count,
                               unsigned *level)
{
    struct io_table *table = tables->root;

    *level = 0;
    if (tables->near && page - tables->near_page < IO_TABLE_ENTRIES)
        return tables->near;
    for (unsigned at = tables->levels; --at > 0;) {
        uint64_t *entry = &table->entry[slot_at(page, at)];
        bool whole = (page & (io_span(at) - 1)) == 0 && count >= io_span(at);

        if (!*entry || (io_is_leaf(*entry) && (whole || !split(tables, entry, at)))) {
            *level = at;
            return table;
        }
        table = child_of(*entry);
    }
    tables->near = table;
    tables->near_page = page & ~(uint64_t)(IO_TABLE_ENTRIES - 1);
    return table;
}

void io_tables_unmap(struct io_tables *tables, uint64_t page, uint64_t count, io_released *released,
                     void *context)
{
    while (count > 0 && covered(tables, page)) {
        unsigned level;
        struct io_table *table = decide(tables, page, count, &level);
        unsigned slot = slot_at(page, level);
        uint64_t entries = level > 0 ? 1 : IO_TABLE_ENTRIES - slot;
        uint64_t now = entries * io_span(level) - (page & (io_span(level) - 1));

        if (now > count) {
            now = count;
            entries = level > 0 ? 1 : count;
        }
        if (released)
            released(context, &table->entry[slot], entries, level);
        remove_entries(tables, table, slot, entries, level);
        if (table->used == 0)
            prune(tables, page);
        page += now;
        count -= now;
    }
}

/* ---- look ---- */

uint64_t io_tables_find(const struct io_tables *tables, uint64_t page, unsigned *level)
{
    const struct io_table *table = tables->root;
    uint64_t entry;

    *level = 0;
    if (!covered(tables, page))
        return 0;
    for (unsigned at = tables->levels; at-- > 0; table = child_of(entry)) {
        entry = table->entry[slot_at(page, at)];
        *level = at;
        if (!entry || io_is_leaf(entry))
            return entry;
    }
    return 0;
}

static void each(const struct io_table *table, unsigned level, uint64_t page,
                 void (*leaf)(void *context, uint64_t page, uint64_t entry, unsigned level),
                 void *context)
{
    for (uint64_t i = 0; i < IO_TABLE_ENTRIES; i++) {
        uint64_t entry = table->entry[i];

        if (io_is_leaf(entry))
            leaf(context, page + i * io_span(level), entry, level);
        else if (entry)
            each(child_of(entry), level - 1, page + i * io_span(level), leaf, context);
    }
}

void io_tables_each(const struct io_tables *tables,
                    void (*leaf)(void *context, uint64_t page, uint64_t entry, unsigned level),
                    void *context)
{
    if (tables->root)
        each(tables->root, tables->levels - 1, 0, leaf, context);
}

uint64_t io_tables_bytes(const struct io_tables *tables)
{
    return (tables->tables + tables->spares) * sizeof(struct io_table);
}

/* ---- validation ---- */

struct totals {
    uint64_t pages, large, tables;
};

static bool valid_leaf(const struct io_tables *tables, uint64_t page, uint64_t entry, unsigned level)
{
    uint64_t span = io_span(level);

    return level <= IO_LARGE_LEVELS && io_entry_count(entry) > 0 && (entry & IO_RIGHTS) != 0 &&
           ((page | io_entry_frame(entry)) & (span - 1)) == 0 &&
           (tables->shared || io_entry_count(entry) == 1);
}

static bool valid_table(const struct io_tables *tables, const struct io_table *table,
                        unsigned level, uint64_t page, struct totals *totals)
{
    uint32_t used = 0;

    totals->tables++;
    for (uint64_t i = 0; i < IO_TABLE_ENTRIES; i++) {
        uint64_t entry = table->entry[i], at = page + i * io_span(level);

        used += entry != 0;
        if (io_is_leaf(entry)) {
            if (!valid_leaf(tables, at, entry, level))
                return false;
            totals->pages += io_span(level);
            totals->large += level > 0;
        } else if (entry &&
                   (level == 0 || !valid_table(tables, child_of(entry), level - 1, at, totals))) {
            return false;
        }
    }
    return used == table->used && used > 0;
}

static bool valid_spares(const struct io_tables *tables)
{
    unsigned count = 0;

    for (const struct io_table *table = tables->spare; table; table = table->next_spare, count++)
        if (table->used != 0 || !all_zero(table->entry, IO_TABLE_ENTRIES))
            return false;
    return count == tables->spares;
}

bool io_tables_validate(const struct io_tables *tables)
{
    struct totals totals = {0};

    if ((tables->root == NULL) != (tables->levels == 0) || !valid_spares(tables))
        return false;
    if (tables->root && !valid_table(tables, tables->root, tables->levels - 1, 0, &totals))
        return false;
    return totals.pages == tables->pages && totals.large == tables->large &&
           totals.tables == tables->tables;
}
