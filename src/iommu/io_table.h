/* SPDX-License-Identifier: MIT */
/*
 * IO page tables: a radix tree of tables of 512 entries that maps logical pages to frames.
 *
 *       root, level 2  -- [page >> 18] -->  level 1  -- [page >> 9 & 511] -->
 *                                           level 0  -- [page & 511] -->  entry
 *
 *       leaf entry:   | 63      43 | 42        3 |  2   | 1 0    |
 *                     |  count     |  frame      | leaf | rights |     0: nothing there
 *       other entry:  address of the next table, which is a multiple of 8
 *
 * A leaf entry may stand at level 1 (2 MiB) and 2 (1 GiB) as well: it is made where one call maps a
 * stretch that is aligned so on both sides, and split when a part of it gets another fate.
 *
 * The depth grows with the highest page mapped, so that the usual few GiB cost three levels
 * although device windows may stand near 2^52.
 *
 * Walk cache: the tables of level 0 used last are found without a descent, by their page. A table
 * of level 0 that becomes empty stays in the tree as long as it is there (it is "idle"), for the
 * next mapping in its place; any other empty table is unlinked at once, and a few of those (all
 * zero, as a new one has to be) are kept for the next need. So memory follows what is mapped, but
 * for IO_NEAR_TABLES idle tables, the way to them, and IO_SPARE_TABLES.
 *
 * Cost: one look into the walk cache, or one descent, for each 512 pages and call, then entries
 * side by side as vectors (io_entries.h). Books are kept by table and call, never by entry.
 */
#ifndef DXGK_IOMMU_IO_TABLE_H
#define DXGK_IOMMU_IO_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct page_number;

enum {
    IO_TABLE_BITS = 9,
    IO_TABLE_ENTRIES = 1 << IO_TABLE_BITS,
    IO_MAX_LEVELS = 5,   /* 45 bits of page number */
    IO_LARGE_LEVELS = 2, /* leaves stand at level 0 .. this */
    IO_NEAR_TABLES = 64,
    IO_SPARE_TABLES = 16
};

#define IO_RIGHTS      ((uint64_t)3)
#define IO_LEAF        ((uint64_t)4)
#define IO_FRAME_SHIFT 3
#define IO_FRAME_BITS  40
#define IO_FRAME_ONE   ((uint64_t)1 << IO_FRAME_SHIFT)
#define IO_FRAME_MASK  ((((uint64_t)1 << IO_FRAME_BITS) - 1) << IO_FRAME_SHIFT)
#define IO_COUNT_SHIFT (IO_FRAME_SHIFT + IO_FRAME_BITS)
#define IO_COUNT_ONE   ((uint64_t)1 << IO_COUNT_SHIFT)
#define IO_COUNT_MAX   (((uint64_t)1 << (64 - IO_COUNT_SHIFT)) - 1)

/* On a cache line of its own, with the entries on those behind it. */
struct io_table {
    _Alignas(64) uint64_t page; /* the first one it stands for */
    struct io_table *parent;    /* NULL: the root */
    uint32_t used;              /* entries that are not 0 */
    uint32_t level;
    struct io_table *next_spare;
    void *block; /* of the heap, that it is in */
    _Alignas(64) uint64_t entry[IO_TABLE_ENTRIES];
};

struct io_tables {
    struct io_table *root;
    unsigned levels; /* of the tree; 0 while root is NULL */
    bool shared;     /* a page may be mapped several times, to one frame: entries count */
    uint64_t pages;  /* mapped, of 4 KiB */
    uint64_t large;  /* leaves above level 0 */
    uint64_t tables; /* in the tree */
    uint64_t idle;   /* of these, the empty ones; all of level 0, and near */
    struct io_table *spare;
    unsigned spares;
    struct io_table *near[IO_NEAR_TABLES]; /* of level 0, by page; or NULL */
    /* Being mapped: tables on the way to these pages stay, even if they are empty. */
    uint64_t keep_page, keep_count;
    const struct io_entry_work *work;
};

enum io_result { IO_DONE, IO_TAKEN, IO_NO_MEMORY };

/* Told of `count` entries of `level` side by side as they were, before each leaf among them loses
 * one mapping; those that are 0 were not mapped. */
typedef void io_released(void *context, const uint64_t *entries, uint64_t count, unsigned level);

void io_tables_init(struct io_tables *tables, bool shared);
/* Frees all tables, also those of what is still mapped. */
void io_tables_finish(struct io_tables *tables);

/* Map `count` (> 0) pages from `page` on to `frames` (an array), or to first, first + 1, ... if
 * that is NULL. IO_TAKEN: a page is mapped already (shared: to another frame, or too often), or
 * lies where no entry can. On failure nothing is mapped that was not. */
enum io_result io_tables_map(struct io_tables *tables, uint64_t page,
                             const struct page_number *frames, uint64_t first, uint64_t count,
                             unsigned rights);
/* Take one mapping off each page of the range. Pages that are not mapped are passed over. Needs
 * memory only if a large leaf is inside in part, which a range that was mapped whole never has; if
 * there is none then, all of that leaf is unmapped: too little is reachable, never too much. */
void io_tables_unmap(struct io_tables *tables, uint64_t page, uint64_t count, io_released *released,
                     void *context);
/* The leaf that maps the page, and its level; 0: not mapped. */
uint64_t io_tables_find(const struct io_tables *tables, uint64_t page, unsigned *level);
/* Of `count` (> 0) pages from `page` on, how many are mapped, or not mapped, as the first is. */
uint64_t io_tables_run(const struct io_tables *tables, uint64_t page, uint64_t count, bool *mapped);
/* Every leaf, in order of pages. */
void io_tables_each(const struct io_tables *tables,
                    void (*leaf)(void *context, uint64_t page, uint64_t entry, unsigned level),
                    void *context);
/* Give back the tables that are kept for later, idle and spare. */
void io_tables_trim(struct io_tables *tables);
/* Bytes of tables, those kept for later included. */
uint64_t io_tables_bytes(const struct io_tables *tables);
/* Every invariant of the tree. */
bool io_tables_validate(const struct io_tables *tables);

static inline uint64_t io_entry_count(uint64_t entry)
{
    return entry >> IO_COUNT_SHIFT;
}

static inline uint64_t io_entry_frame(uint64_t entry)
{
    return (entry & IO_FRAME_MASK) >> IO_FRAME_SHIFT;
}

/* Pages that an entry of the level stands for. */
static inline uint64_t io_span(unsigned level)
{
    return (uint64_t)1 << (level * IO_TABLE_BITS);
}

static inline bool io_is_leaf(uint64_t entry)
{
    return (entry & IO_LEAF) != 0;
}

#endif
