/* SPDX-License-Identifier: MIT */
/* One step down the IO page tables: from a page and a level to the entry, and from the entry to the
 * next table. For the two files that implement the tables. */
#ifndef DXGK_IOMMU_IO_TABLE_STEP_H
#define DXGK_IOMMU_IO_TABLE_STEP_H

#include "iommu/io_table.h"

static inline unsigned io_slot_at(uint64_t page, unsigned level)
{
    return (unsigned)(page >> (level * IO_TABLE_BITS)) & (IO_TABLE_ENTRIES - 1);
}

static inline struct io_table *io_child_of(uint64_t entry)
{
    return (struct io_table *)(uintptr_t)entry;
}

static inline unsigned io_near_index(uint64_t page)
{
    return (unsigned)(page >> IO_TABLE_BITS) % IO_NEAR_TABLES;
}

/* The table of level 0 of the page, if the walk cache has it. */
static inline struct io_table *io_near(const struct io_tables *tables, uint64_t page)
{
    struct io_table *table = tables->near[io_near_index(page)];

    return table && page - table->page < IO_TABLE_ENTRIES ? table : NULL;
}

/* The entry of 2 MiB that begins with the page, if the walk cache has its table. */
static inline uint64_t *io_upper(const struct io_tables *tables, uint64_t page)
{
    struct io_table *table = tables->upper;

    return table && page - table->page < io_span(2) && (page & (io_span(1) - 1)) == 0
               ? &table->entry[io_slot_at(page, 1)]
               : NULL;
}

static inline bool io_covered(const struct io_tables *tables, uint64_t page)
{
    return tables->levels > 0 && page >> (tables->levels * IO_TABLE_BITS) == 0;
}

#endif
