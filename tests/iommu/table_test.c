/* SPDX-License-Identifier: MIT */
/*
 * IO page tables: large leaves and how they are split, tables that are kept for later, failures of memory, and a short run
 * against the model.
 */
#include "iommu/io_entries.h"
#include "iommu/io_table.h"
#include "support/check_rule.h"
#include "support/table_model.h"
#include "util/address.h"
#include "util/alloc.h"

#include <string.h>

static struct util_heap heap;

static int set_up(void)
{
    heap = (struct util_heap){0};
    util_heap_current = &heap;
    return 0;
}

static int tear_down(void)
{
    util_heap_current = NULL;
    return heap.live_blocks == 0 ? 0 : -1;
}

#define RIG_ARGUMENT_table void
#define RIG_RUN_table(body)         \
    test_set_up(set_up, tear_down); \
    body()

/* ---- large leaves ---- */

TEST_WITH(table, aligned_runs_get_large_leaves)
{
    struct io_tables t;
    unsigned level;
    uint64_t count, rights;

    io_tables_init(&t, false);
    CHECK(io_tables_map(&t, 3 << 18, NULL, 5 << 18, (1 << 18) + 512 + 3, 3) == IO_DONE);
    CHECK(t.large == 2 && t.pages == (1 << 18) + 512 + 3 && io_tables_validate(&t));
    io_tables_find(&t, (3 << 18) + 77, &level);
    CHECK(level == 2);
    CHECK(table_frame_of(&t, (3 << 18) + 77777, &count, &rights) == (5 << 18) + 77777 && count == 1);
    CHECK(table_frame_of(&t, (4 << 18) + 500, &count, &rights) == (6 << 18) + 500);
    CHECK(table_frame_of(&t, (4 << 18) + 514, &count, &rights) == (6 << 18) + 514);
    /* Physical memory that is not aligned the same way has small leaves. */
    CHECK(io_tables_map(&t, 512, NULL, 1000, 512, 3) == IO_DONE && t.large == 2);
    io_tables_unmap(&t, 3 << 18, (1 << 18) + 512 + 3, NULL, NULL);
    io_tables_unmap(&t, 512, 512, NULL, NULL);
    CHECK(t.pages == 0 && t.large == 0 && io_tables_validate(&t));
    io_tables_trim(&t);
    CHECK(io_tables_bytes(&t) == 0 && heap.live_blocks == 0 && io_tables_validate(&t));
    io_tables_finish(&t);
}

/* The table of leaves of 2 MiB that was used last is found at once: as long as it is there. */
TEST_WITH(table, leaves_of_2_mib_are_found_at_once)
{
    struct io_tables tables;
    unsigned level;

    io_tables_init(&tables, false);
    CHECK(io_tables_map(&tables, 1024, NULL, 512, 512, 3) == IO_DONE);
    CHECK(tables.upper && tables.upper->level == 1);
    CHECK(io_tables_map(&tables, 2048, NULL, 4096, 512, 1) == IO_DONE);
    CHECK(io_entry_frame(io_tables_find(&tables, 2048, &level)) == 4096 && level == 1);
    CHECK((io_tables_find(&tables, 2048, &level) & IO_RIGHTS) == 1);
    CHECK(tables.pages == 1024 && tables.large == 2 && io_tables_validate(&tables));
    CHECK(io_tables_map(&tables, 2048, NULL, 8192, 512, 3) == IO_TAKEN);
    CHECK(io_tables_map(&tables, 2048 + 256, NULL, 256, 512, 3) == IO_TAKEN); /* not of a leaf */
    io_tables_unmap(&tables, 1024 + 256, 512, NULL, NULL); /* the second half of one */
    CHECK(tables.pages == 768 && io_tables_validate(&tables));
    io_tables_unmap(&tables, 1024, 512, NULL, NULL);
    io_tables_unmap(&tables, 1024, 512, NULL, NULL);
    CHECK(tables.pages == 512 && io_tables_validate(&tables));
    io_tables_unmap(&tables, 2048, 512, NULL, NULL);
    io_tables_trim(&tables);
    CHECK(!tables.root && !tables.upper && io_tables_validate(&tables));
    CHECK(io_tables_map(&tables, 2048, NULL, 4096, 512, 1) == IO_DONE);
    CHECK(io_tables_map(&tables, 1ull << 30, NULL, 512, 512, 1) == IO_DONE); /* in another table */
    CHECK(tables.upper->page == 1ull << 30 && io_tables_validate(&tables));
    io_tables_unmap(&tables, 2048, 512, NULL, NULL);
    CHECK(tables.pages == 512 && io_tables_validate(&tables));
    io_tables_finish(&tables);
}

TEST_WITH(table, a_leaf_is_split_where_a_part_of_it_goes)
{
    struct io_tables t;
    uint64_t count, rights;

    io_tables_init(&t, false);
    CHECK(io_tables_map(&t, 1 << 18, NULL, 1 << 18, 1 << 18, 3) == IO_DONE && t.large == 1);
    io_tables_unmap(&t, (1 << 18) + 1000, 1, NULL, NULL);
    CHECK(t.large == 511 && t.pages == (1 << 18) - 1 && io_tables_validate(&t));
    CHECK(table_frame_of(&t, (1 << 18) + 999, &count, &rights) == (1 << 18) + 999 && rights == 3);
    CHECK(table_frame_of(&t, (1 << 18) + 1000, &count, &rights) == 0);
    io_tables_unmap(&t, 1 << 18, 1 << 18, NULL, NULL);
    CHECK(t.pages == 0 && io_tables_validate(&t));
    io_tables_finish(&t);
}

/* Without memory for the split all of the leaf goes: less is reachable, never more. */
TEST_WITH(table, a_split_without_memory_unmaps_the_whole_leaf)
{
    struct io_tables t;

    io_tables_init(&t, false);
    CHECK(io_tables_map(&t, 1024, NULL, 2048, 512, 3) == IO_DONE && t.large == 1);
    heap.fail_at = heap.requests + 1;
    heap.fail_onward = true;
    io_tables_unmap(&t, 1030, 2, NULL, NULL);
    heap.fail_at = 0;
    CHECK(t.pages == 0 && io_tables_validate(&t));
    io_tables_unmap(&t, 1024, 512, NULL, NULL);
    CHECK(t.pages == 0 && io_tables_validate(&t));
    io_tables_finish(&t);
}

TEST_WITH(table, shared_large_leaves_count)
{
    struct io_tables t;
    uint64_t count, rights;

    io_tables_init(&t, true);
    CHECK(io_tables_map(&t, 1024, NULL, 1024, 1024, 1) == IO_DONE && t.large == 2);
    CHECK(io_tables_map(&t, 1024, NULL, 1024, 512, 3) == IO_DONE && t.large == 2);
    CHECK(io_tables_map(&t, 1500, NULL, 1500, 100, 1) == IO_DONE && t.large == 0);
    CHECK(table_frame_of(&t, 1520, &count, &rights) == 1520 && count == 3 && rights == 3);
    CHECK(table_frame_of(&t, 1540, &count, &rights) == 1540 && count == 2 && rights == 1);
    CHECK(io_tables_validate(&t));
    heap.fail_at = heap.requests + 1;
    heap.fail_onward = true; /* what was mapped whole is unmapped whole: no memory needed */
    io_tables_unmap(&t, 1024, 1024, NULL, NULL);
    io_tables_unmap(&t, 1500, 100, NULL, NULL);
    CHECK(table_frame_of(&t, 1520, &count, &rights) == 1520 && count == 1 && t.pages == 512);
    io_tables_unmap(&t, 1024, 512, NULL, NULL);
    heap.fail_at = 0;
    CHECK(t.pages == 0 && io_tables_validate(&t));
    io_tables_finish(&t);
}

TEST_WITH(table, what_is_taken_stays)
{
    struct io_tables t;
    struct page_number frames[3] = {{7}, {8}, {(uint64_t)1 << 40}};

    io_tables_init(&t, false);
    CHECK(io_tables_map(&t, 600, NULL, 9, 4, 3) == IO_DONE);
    CHECK(io_tables_map(&t, 0, NULL, 5000, 601, 3) == IO_TAKEN && t.pages == 4);
    CHECK(io_tables_map(&t, 603, frames, 0, 2, 3) == IO_TAKEN && t.pages == 4);
    CHECK(io_tables_map(&t, 700, frames, 0, 3, 3) == IO_TAKEN && t.pages == 4);
    CHECK(io_tables_map(&t, (uint64_t)1 << 45, frames, 0, 1, 3) == IO_TAKEN);
    CHECK(io_tables_map(&t, 0, NULL, ((uint64_t)1 << 40) - 2, 3, 3) == IO_TAKEN);
    CHECK(io_tables_validate(&t));
    io_tables_finish(&t);
}

/* ---- tables kept for later ---- */

/* What is mapped and unmapped in turns needs no memory, and no more is kept than is said. */
TEST_WITH(table, empty_tables_wait_for_their_next_use)
{
    struct io_tables t;
    uint64_t requests;

    io_tables_init(&t, false);
    for (uint64_t i = 0; i < IO_NEAR_TABLES; i++)
        CHECK(io_tables_map(&t, i * 512, NULL, 7, 1, 3) == IO_DONE);
    for (uint64_t i = 0; i < IO_NEAR_TABLES; i++)
        io_tables_unmap(&t, i * 512, 1, NULL, NULL);
    CHECK(t.idle == IO_NEAR_TABLES && io_tables_validate(&t));
    requests = heap.requests;
    for (uint64_t i = 0; i < IO_NEAR_TABLES; i++)
        CHECK(io_tables_map(&t, i * 512 + 99, NULL, 7, 1, 3) == IO_DONE);
    CHECK(heap.requests == requests && t.idle == 0);
    for (uint64_t i = 0; i < IO_NEAR_TABLES; i++)
        io_tables_unmap(&t, i * 512 + 99, 1, NULL, NULL);
    /* Far apart, so that the way to each is its own. */
    for (uint64_t i = 0; i < 5000; i++) {
        uint64_t page = (i * 7919 % 65536) << 27 | (i * 31 % 512) << 9;

        CHECK(io_tables_map(&t, page, NULL, i, 1, 3) == IO_DONE);
        io_tables_unmap(&t, page, 1, NULL, NULL);
        CHECK(t.idle <= IO_NEAR_TABLES && t.spares <= IO_SPARE_TABLES);
        CHECK(t.tables <= (uint64_t)IO_NEAR_TABLES * IO_MAX_LEVELS);
    }
    CHECK(t.pages == 0 && io_tables_validate(&t));
    io_tables_trim(&t);
    CHECK(heap.live_blocks == 0);
    io_tables_finish(&t);
}

TEST_WITH(table, empty_tables_are_not_in_the_way_of_large_leaves)
{
    struct io_tables t;
    unsigned level;

    io_tables_init(&t, false);
    for (uint64_t i = 0; i < 8; i++) {
        CHECK(io_tables_map(&t, (1 << 18) + i * 512 + 5, NULL, 7, 1, 3) == IO_DONE);
        io_tables_unmap(&t, (1 << 18) + i * 512 + 5, 1, NULL, NULL);
    }
    CHECK(t.idle == 8);
    CHECK(io_tables_map(&t, (1 << 18) + 512, NULL, 512, 512, 3) == IO_DONE && t.large == 1);
    CHECK(t.idle == 7 && io_tables_validate(&t));
    io_tables_unmap(&t, (1 << 18) + 512, 512, NULL, NULL);
    CHECK(io_tables_map(&t, 1 << 18, NULL, 1 << 18, 1 << 18, 3) == IO_DONE && t.idle == 0);
    io_tables_find(&t, (1 << 18) + 5, &level);
    CHECK(level == 2 && t.large == 1 && io_tables_validate(&t));
    io_tables_finish(&t);
}

/* A stretch of more tables than the walk cache has places for, that needs more than there is. */
TEST_WITH(table, a_failed_mapping_leaves_no_tables)
{
    struct io_tables t;
    uint64_t live;

    io_tables_init(&t, false);
    CHECK(io_tables_map(&t, 100 * 512 + 3, NULL, 7, 1, 3) == IO_DONE);
    CHECK(io_tables_map(&t, 300 * 512 + 3, NULL, 7, 1, 3) == IO_DONE);
    io_tables_unmap(&t, 300 * 512 + 3, 1, NULL, NULL);
    io_tables_trim(&t);
    live = heap.live_blocks;
    for (uint64_t nth = 1; nth < 2 * IO_NEAR_TABLES; nth++) {
        io_tables_trim(&t);
        heap.fail_at = heap.requests + nth;
        CHECK(io_tables_map(&t, 101 * 512 + 7, NULL, 1, 130ull * 512, 3) == IO_NO_MEMORY);
        CHECK(t.pages == 1 && t.tables == t.levels && io_tables_validate(&t));
    }
    heap.fail_at = 0;
    CHECK(io_tables_map(&t, 0, NULL, 1, 110ull * 512, 3) == IO_TAKEN);
    CHECK(t.pages == 1 && t.idle == 0 && io_tables_validate(&t));
    io_tables_trim(&t);
    CHECK(heap.live_blocks == live);
    CHECK(io_tables_map(&t, 101 * 512 + 7, NULL, 1, 130ull * 512, 3) == IO_DONE);
    CHECK(io_tables_validate(&t));
    io_tables_finish(&t);
}

/* ---- entries as vectors ---- */

static void vectors_agree_with_loops(const struct io_entry_work *work, uint64_t count,
                                     uint64_t *entries, const struct page_number *frames)
{
    const uint64_t flags = IO_COUNT_ONE | IO_LEAF | 3, guard = entries[count];

    work->fill_run(entries, count, flags, IO_FRAME_ONE);
    for (uint64_t i = 0; i < count; i++)
        CHECK(entries[i] == flags + i * IO_FRAME_ONE);
    CHECK(work->rising(entries, count, IO_FRAME_ONE));
    CHECK(count < 2 || !work->rising(entries, count, 2 * IO_FRAME_ONE));
    for (uint64_t i = 0; i < count; i++) {
        CHECK(work->differ(entries, count, IO_COUNT_ONE) >> IO_COUNT_SHIFT == 0);
        entries[i] += IO_COUNT_ONE;
        CHECK(work->differ(entries, count, IO_COUNT_ONE) >> IO_COUNT_SHIFT != 0);
        CHECK(work->rising(entries, count, IO_FRAME_ONE) == (count == 1));
        entries[i] -= IO_COUNT_ONE;
    }
    work->fill_list(entries, frames, count, IO_FRAME_SHIFT, flags);
    for (uint64_t i = 0; i < count; i++)
        CHECK(entries[i] == (frames[i].value << IO_FRAME_SHIFT | flags));
    memset(entries, 0, count * sizeof(*entries));
    CHECK(work->differ(entries, count, 0) == 0);
    for (uint64_t i = 0; i < count; i++) {
        entries[i] = (uint64_t)1 << i % 64;
        CHECK(work->differ(entries, count, 0) == entries[i]);
        entries[i] = 0;
    }
    CHECK(entries[count] == guard);
}

TEST_WITH(table, entries_are_the_same_with_any_instructions)
{
    static const char *const sets[] = {"baseline", "avx2"};
    static uint64_t entries[IO_TABLE_ENTRIES + 2];
    static struct page_number frames[IO_TABLE_ENTRIES];

    for (uint64_t i = 0; i < IO_TABLE_ENTRIES; i++)
        frames[i].value = i * 7919 % 100003;
    CHECK(io_entry_work_named("none such") == NULL);
    for (size_t set = 0; set < sizeof(sets) / sizeof(sets[0]); set++) {
        const struct io_entry_work *work = io_entry_work_named(sets[set]);

        for (uint64_t count = 0; work && count <= 70; count++) {
            entries[count] = entries[count + 1] = 0x5555;
            vectors_agree_with_loops(work, count, entries, frames);
            vectors_agree_with_loops(work, count, entries + 1, frames);
        }
        if (work)
            vectors_agree_with_loops(work, IO_TABLE_ENTRIES, entries + 1, frames);
    }
}

/* ---- a short run against the model ---- */

TEST_WITH(table, tables_agree_with_arrays)
{
    table_agrees(&heap, false, (uint64_t)1 << 28, 51, 6000);
    table_agrees(&heap, false, 0, 52, 6000);
}

TEST_WITH(table, shared_tables_agree_with_arrays)
{
    table_agrees(&heap, true, (uint64_t)1 << 20, 53, 6000);
}
