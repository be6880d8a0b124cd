/* SPDX-License-Identifier: MIT */
/* What IO page tables hold, and whether they hold together. */
#include "iommu/io_table.h"
#include "iommu/io_table_step.h"

uint64_t io_tables_find(const struct io_tables *tables, uint64_t page, unsigned *level)
{
    const struct io_table *table = tables->root;
    uint64_t entry;

    *level = 0;
    if (!io_covered(tables, page))
        return 0;
    for (unsigned at = tables->levels; at-- > 0; table = io_child_of(entry)) {
        entry = table->entry[io_slot_at(page, at)];
        *level = at;
        if (!entry || io_is_leaf(entry))
            return entry;
    }
    return 0;
}

uint64_t io_tables_run(const struct io_tables *tables, uint64_t page, uint64_t count, bool *mapped)
{
    const uint64_t end = page + count;
    uint64_t at = page;
    unsigned level;

    *mapped = io_tables_find(tables, page, &level) != 0;
    while (at < end && (io_tables_find(tables, at, &level) != 0) == *mapped) {
        if (!io_covered(tables, at))
            return count;
        at = (at | (io_span(level) - 1)) + 1;
    }
    return at < end ? at - page : count;
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
            each(io_child_of(entry), level - 1, page + i * io_span(level), leaf, context);
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
    uint64_t pages, large, tables, idle;
};

static bool valid_leaf(const struct io_tables *tables, uint64_t page, uint64_t entry, unsigned level)
{
    uint64_t span = io_span(level);

    return level <= IO_LARGE_LEVELS && io_entry_count(entry) > 0 && (entry & IO_RIGHTS) != 0 &&
           ((page | io_entry_frame(entry)) & (span - 1)) == 0 &&
           (tables->shared || io_entry_count(entry) == 1);
}

/* An empty table must be of level 0 and in the walk cache. */
static bool valid_empty(const struct io_tables *tables, const struct io_table *table)
{
    return table->level == 0 && io_near(tables, table->page) == table;
}

static bool valid_table(const struct io_tables *tables, const struct io_table *table,
                        const struct io_table *parent, uint64_t page, struct totals *totals)
{
    const unsigned level = table->level;
    uint32_t used = 0;

    if (table->parent != parent || table->page != page || (parent && parent->level != level + 1))
        return false;
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
                   (level == 0 || !valid_table(tables, io_child_of(entry), table, at, totals))) {
            return false;
        }
    }
    totals->idle += used == 0;
    return used == table->used && (used > 0 || valid_empty(tables, table));
}

static bool all_zero(const uint64_t *entries, uint64_t count)
{
    uint64_t any = 0;

    for (uint64_t i = 0; i < count; i++)
        any |= entries[i];
    return any == 0;
}

static bool valid_spares(const struct io_tables *tables)
{
    unsigned count = 0;

    for (const struct io_table *table = tables->spare; table; table = table->next_spare, count++)
        if (table->used != 0 || !all_zero(table->entry, IO_TABLE_ENTRIES))
            return false;
    return count == tables->spares && count <= IO_SPARE_TABLES;
}

/* Is the table where its page leads? */
static bool in_tree(const struct io_tables *tables, const struct io_table *sought, unsigned level)
{
    const struct io_table *table = tables->root;

    if (!io_covered(tables, sought->page) || tables->levels <= level)
        return false;
    while (table->level > level) {
        uint64_t entry = table->entry[io_slot_at(sought->page, table->level)];

        if (!entry || io_is_leaf(entry))
            return false;
        table = io_child_of(entry);
    }
    return table == sought;
}

/* The walk cache must agree with the tree. */
static bool valid_near(const struct io_tables *tables)
{
    for (unsigned i = 0; i < IO_NEAR_TABLES; i++) {
        const struct io_table *near = tables->near[i];

        if (near && (io_near_index(near->page) != i || !in_tree(tables, near, 0)))
            return false;
    }
    return !tables->upper || in_tree(tables, tables->upper, 1);
}

bool io_tables_validate(const struct io_tables *tables)
{
    struct totals totals = {0};

    if ((tables->root == NULL) != (tables->levels == 0) || !valid_spares(tables) ||
        tables->keep_count != 0)
        return false;
    if (tables->root && (tables->root->level + 1 != tables->levels ||
                         !valid_table(tables, tables->root, NULL, 0, &totals)))
        return false;
    return valid_near(tables) && totals.pages == tables->pages && totals.large == tables->large &&
           totals.tables == tables->tables && totals.idle == tables->idle;
}
