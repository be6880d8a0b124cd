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
 * A leaf entry may also be at level 1 (2 MiB) or 2 (1 GiB): it is made where one call maps a range
 * that has this alignment on both sides, and split when only a part of it is unmapped or mapped
 * again.
 *
 * The depth grows with the highest page mapped, so that the usual few GiB cost three levels
 * although device windows may be near 2^52.
 *
 * Walk cache: the tables of level 0 used last are found without a descent, by their page, and so is
 * the table of level 1 used last, for leaves of 2 MiB. A table
 * of level 0 that becomes empty stays in the tree while the walk cache has it (it is "idle"), for
 * the next mapping at its pages; any other empty table is unlinked at once, and a few of those (all
 * zero, as new tables must be) are kept as spares. So memory is proportional to what is mapped,
 * plus at most IO_NEAR_TABLES idle tables, the tables above them, and IO_SPARE_TABLES.
 *
 * Cost: one lookup in the walk cache, or one descent, per call and 512 pages, then vector
 * operations on consecutive entries (io_entries.h). Counters are updated per table and call, never
 * per entry.
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
    IO_LARGE_LEVELS = 2, /* leaves are at levels 0 .. this one */
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

/* Starts on a cache line of its own; the entries follow on the next ones. */
struct io_table {
    _Alignas(64) uint64_t page; /* the first page it maps */
    struct io_table *parent;    /* NULL: the root */
    uint32_t used;              /* entries that are not 0 */
    uint32_t level;
    struct io_table *next_spare;
    void *block; /* the heap block that contains it */
    _Alignas(64) uint64_t entry[IO_TABLE_ENTRIES];
};

struct io_tables {
    struct io_table *root;
    unsigned levels; /* of the tree; 0 while root is NULL */
    /* a page may be mapped several times, to the same frame: entries have counts */
    bool shared;
    uint64_t pages;  /* mapped, in units of 4 KiB */
    uint64_t large;  /* leaves above level 0 */
    uint64_t tables; /* in the tree */
    uint64_t idle;   /* how many of these are empty; all are of level 0, and in `near` */
    struct io_table *spare;
    unsigned spares;
    struct io_table *near[IO_NEAR_TABLES]; /* walk cache: tables of level 0, by page; or NULL */
    struct io_table *upper;                /* and the table of level 1 used last; or NULL */
    /* The pages being mapped: tables on the path to them stay, even if they are empty. */
    uint64_t keep_page, keep_count;
    const struct io_entry_work *work;
};

enum io_result { IO_DONE, IO_TAKEN, IO_NO_MEMORY };

/* Called with `count` consecutive entries of `level`, as they were before each leaf among them
 * loses one mapping; entries of 0 were not mapped. */
typedef void io_released(void *context, const uint64_t *entries, uint64_t count, unsigned level);

void io_tables_init(struct io_tables *tables, bool shared);
/* Frees all tables, including those of pages that are still mapped. */
void io_tables_finish(struct io_tables *tables);

/* Map `count` (> 0) pages from `page` on to `frames` (an array), or if that is NULL, to first,
 * first + 1, ... IO_TAKEN: a page is already mapped (shared: to another frame, or too many times),
 * or is beyond the last possible entry. On failure no new page is mapped. */
enum io_result io_tables_map(struct io_tables *tables, uint64_t page,
                             const struct page_number *frames, uint64_t first, uint64_t count,
                             unsigned rights);
/* Remove one mapping from each page of the range; pages that are not mapped are skipped. Needs
 * memory only if the range contains a part of a large leaf, which a range that was mapped as a
 * whole never does. If that memory is missing, all of the leaf is unmapped: too little is
 * reachable, never too much. */
void io_tables_unmap(struct io_tables *tables, uint64_t page, uint64_t count, io_released *released,
                     void *context);
/* The leaf that maps the page, and its level; 0: not mapped. */
uint64_t io_tables_find(const struct io_tables *tables, uint64_t page, unsigned *level);
/* Of `count` (> 0) pages from `page` on, how many at the start are all mapped, or all not mapped;
 * *mapped says which. */
uint64_t io_tables_run(const struct io_tables *tables, uint64_t page, uint64_t count, bool *mapped);
/* Calls `leaf` for every leaf, in the order of pages. */
void io_tables_each(const struct io_tables *tables,
                    void (*leaf)(void *context, uint64_t page, uint64_t entry, unsigned level),
                    void *context);
/* Free the idle and the spare tables. */
void io_tables_trim(struct io_tables *tables);
/* Bytes of tables, including the idle and the spare ones. */
uint64_t io_tables_bytes(const struct io_tables *tables);
/* Check every invariant of the tree. */
bool io_tables_validate(const struct io_tables *tables);

static inline uint64_t io_entry_count(uint64_t entry)
{
    return entry >> IO_COUNT_SHIFT;
}

static inline uint64_t io_entry_frame(uint64_t entry)
{
    return (entry & IO_FRAME_MASK) >> IO_FRAME_SHIFT;
}

/* Number of pages that an entry of the level maps. */
static inline uint64_t io_span(unsigned level)
{
    return (uint64_t)1 << (level * IO_TABLE_BITS);
}

static inline bool io_is_leaf(uint64_t entry)
{
    return (entry & IO_LEAF) != 0;
}

#endif
