/* SPDX-License-Identifier: MIT */
/*
 * IO page tables and logical addresses against naive models. DXGK_LONG=1 runs ten million random operations; otherwise
 * as many as fit a few seconds.
 */
#include "iommu/io_entries.h"
#include "iommu/io_table.h"
#include "iommu/iommu.h"
#include "ram/ram.h"
#include "support/check_rule.h"
#include "util/alloc.h"
#include "util/rng.h"

#include <stdlib.h>
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

static uint64_t operations(uint64_t usual)
{
    return getenv("DXGK_LONG") ? 10000000 : usual;
}

/* The frame behind a page, and its mappings; 0, 0: none. */
static uint64_t frame_of(const struct io_tables *t, uint64_t page, uint64_t *count, uint64_t *rights)
{
    unsigned level;
    uint64_t entry = io_tables_find(t, page, &level);

    *count = io_entry_count(entry);
    *rights = entry & IO_RIGHTS;
    return entry ? io_entry_frame(entry) + (page & (io_span(level) - 1)) : 0;
}

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
    CHECK(frame_of(&t, (3 << 18) + 77777, &count, &rights) == (5 << 18) + 77777 && count == 1);
    CHECK(frame_of(&t, (4 << 18) + 500, &count, &rights) == (6 << 18) + 500);
    CHECK(frame_of(&t, (4 << 18) + 514, &count, &rights) == (6 << 18) + 514);
    /* Physical memory that is not aligned the same way has small leaves. */
    CHECK(io_tables_map(&t, 512, NULL, 1000, 512, 3) == IO_DONE && t.large == 2);
    io_tables_unmap(&t, 3 << 18, (1 << 18) + 512 + 3, NULL, NULL);
    io_tables_unmap(&t, 512, 512, NULL, NULL);
    CHECK(t.pages == 0 && t.large == 0 && io_tables_validate(&t));
    io_tables_trim(&t);
    CHECK(io_tables_bytes(&t) == 0 && heap.live_blocks == 0 && io_tables_validate(&t));
    io_tables_finish(&t);
}

TEST_WITH(table, a_leaf_is_split_where_a_part_of_it_goes)
{
    struct io_tables t;
    uint64_t count, rights;

    io_tables_init(&t, false);
    CHECK(io_tables_map(&t, 1 << 18, NULL, 1 << 18, 1 << 18, 3) == IO_DONE && t.large == 1);
    io_tables_unmap(&t, (1 << 18) + 1000, 1, NULL, NULL);
    CHECK(t.large == 511 && t.pages == (1 << 18) - 1 && io_tables_validate(&t));
    CHECK(frame_of(&t, (1 << 18) + 999, &count, &rights) == (1 << 18) + 999 && rights == 3);
    CHECK(frame_of(&t, (1 << 18) + 1000, &count, &rights) == 0);
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
    CHECK(frame_of(&t, 1520, &count, &rights) == 1520 && count == 3 && rights == 3);
    CHECK(frame_of(&t, 1540, &count, &rights) == 1540 && count == 2 && rights == 1);
    CHECK(io_tables_validate(&t));
    heap.fail_at = heap.requests + 1;
    heap.fail_onward = true; /* what was mapped whole is unmapped whole: no memory needed */
    io_tables_unmap(&t, 1024, 1024, NULL, NULL);
    io_tables_unmap(&t, 1500, 100, NULL, NULL);
    CHECK(frame_of(&t, 1520, &count, &rights) == 1520 && count == 1 && t.pages == 512);
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

/* ---- the tables against arrays ---- */

/* More tables than the walk cache has places for. */
enum {
    MODEL_TABLES = 160,
    MODEL_PAGES = MODEL_TABLES * 512,
    MODEL_RUNS = 40,
    MODEL_LONGEST = 4096
};

struct run {
    uint64_t first, count;
};

struct model {
    uint64_t frame[MODEL_PAGES], count[MODEL_PAGES];
    struct run runs[MODEL_RUNS];
    unsigned live;
    uint64_t released, failures;
};

static void count_released(void *context, const uint64_t *entries, uint64_t count, unsigned level)
{
    struct model *m = context;

    for (uint64_t i = 0; i < count; i++)
        m->released += entries[i] ? io_span(level) : 0;
}

/* Mostly short, now and then across tables or large and aligned; at most MODEL_LONGEST. */
static struct run random_run(struct rng *rng)
{
    struct run run;

    switch (rng_below(rng, 8)) {
    case 0:
        run.first = 512 * rng_below(rng, MODEL_TABLES - 8);
        run.count = 512 * (1 + (uint64_t)rng_below(rng, MODEL_LONGEST / 512));
        break;
    case 1:
        run.first = rng_below(rng, MODEL_PAGES - 1200);
        run.count = 1 + rng_below(rng, 1200);
        break;
    default:
        run.first = rng_below(rng, MODEL_PAGES - 20);
        run.count = 1 + rng_below(rng, 20);
    }
    return run;
}

static bool model_map(struct model *m, struct io_tables *t, struct rng *rng, uint64_t base)
{
    struct run run = random_run(rng);
    struct page_number frames[MODEL_LONGEST];
    bool list = !t->shared && rng_below(rng, 2), taken = false;
    uint64_t first = t->shared ? base + run.first : 1 + 512 * rng_below(rng, 9) + run.first % 512;
    enum io_result result;

    for (uint64_t i = 0; i < run.count; i++) {
        frames[i].value = list ? 1 + rng_below(rng, 100000) : first + i;
        taken |= !t->shared && m->count[run.first + i] > 0;
    }
    heap.fail_at = rng_below(rng, 16) ? 0 : heap.requests + 1 + rng_below(rng, 4);
    result = io_tables_map(t, base + run.first, list ? frames : NULL, first, run.count, 3);
    heap.fail_at = 0;
    if (result == IO_NO_MEMORY) {
        m->failures++;
        return true;
    }
    if ((result == IO_DONE) == taken)
        return false;
    if (taken)
        return true;
    for (uint64_t i = 0; i < run.count; i++) {
        m->frame[run.first + i] = frames[i].value;
        m->count[run.first + i]++;
    }
    m->runs[m->live++] = run;
    return true;
}

static bool model_unmap(struct model *m, struct io_tables *t, struct rng *rng, uint64_t base)
{
    unsigned pick = (unsigned)rng_below(rng, m->live);
    struct run run = m->runs[pick];

    m->runs[pick] = m->runs[--m->live];
    m->released = 0;
    io_tables_unmap(t, base + run.first, run.count, count_released, m);
    for (uint64_t i = run.first; i < run.first + run.count; i++)
        m->count[i]--;
    return m->released == run.count;
}

static bool run_agrees(const struct model *m, const struct io_tables *t, struct rng *rng,
                       uint64_t base)
{
    uint64_t page = rng_below(rng, MODEL_PAGES), most = MODEL_PAGES - page, run = 1;
    uint64_t count = 1 + rng_below(rng, most < 2000 ? (uint32_t)most : 2000);
    bool mapped;

    while (run < count && !m->count[page + run] == !m->count[page])
        run++;
    return io_tables_run(t, base + page, count, &mapped) == run && mapped == (m->count[page] > 0);
}

static bool model_agrees(const struct model *m, const struct io_tables *t, uint64_t base,
                         uint64_t page)
{
    uint64_t count, rights, frame = frame_of(t, base + page, &count, &rights);

    return count == m->count[page] && (count == 0 || frame == m->frame[page]);
}

static void agree(bool shared, uint64_t base, uint64_t seed)
{
    static struct model m;
    struct rng rng = {.state = seed};
    struct io_tables t;
    uint64_t total = operations(150000);

    memset(&m, 0, sizeof(m));
    io_tables_init(&t, shared);
    for (uint64_t step = 0; step < total; step++) {
        if (m.live == 0 || (m.live < MODEL_RUNS && rng_below(&rng, 2)))
            CHECK(model_map(&m, &t, &rng, base));
        else
            CHECK(model_unmap(&m, &t, &rng, base));
        for (unsigned i = 0; i < 8; i++)
            CHECK(model_agrees(&m, &t, base, rng_below(&rng, MODEL_PAGES)));
        CHECK(run_agrees(&m, &t, &rng, base));
        if (step < 8000 || step % 1024 == 0)
            CHECK(io_tables_validate(&t));
        for (uint64_t page = 0; step % 4096 == 0 && page < MODEL_PAGES; page++)
            CHECK(model_agrees(&m, &t, base, page));
    }
    CHECK(m.failures > 0);
    while (m.live > 0)
        CHECK(model_unmap(&m, &t, &rng, base));
    CHECK(t.pages == 0 && t.tables - t.idle <= (uint64_t)IO_NEAR_TABLES * (IO_MAX_LEVELS - 1));
    CHECK(io_tables_validate(&t));
    io_tables_trim(&t);
    CHECK(t.tables == 0 && io_tables_bytes(&t) == 0 && io_tables_validate(&t));
    io_tables_finish(&t);
}

TEST_WITH(table, tables_agree_with_arrays)
{
    agree(false, (uint64_t)1 << 28, 41);
    agree(false, 0, 42);
}

TEST_WITH(table, shared_tables_agree_with_arrays)
{
    agree(true, (uint64_t)1 << 20, 43);
}

/* ---- logical addresses against a bitmap ---- */

enum { SPACE_PAGES = 2048, SPACE_RUNS = 300 };

static uint64_t power_of_two(uint64_t count)
{
    uint64_t power = 1;

    while (power < count)
        power *= 2;
    return power;
}

/* Could a range have been found, counting those that wait to be used again? */
static bool has_room(const bool *taken, uint64_t count)
{
    uint64_t align = power_of_two(count);

    for (uint64_t start = 0; start + count <= SPACE_PAGES; start += align) {
        uint64_t run = 0;

        while (run < count && start + run > 0 && !taken[start + run])
            run++;
        if (run == count)
            return true;
    }
    return false;
}

TEST_WITH(table, logical_addresses_agree_with_a_bitmap)
{
    struct ram *ram = ram_create(&(struct ram_config){.bytes = 64u << 20});
    struct iommu_domain *domain = iommu_domain_create(
        ram, IOMMU_REMAP, (struct logical_addr){SPACE_PAGES * (uint64_t)PAGE_BYTES - 1});
    static bool taken[SPACE_PAGES];
    struct run runs[SPACE_RUNS];
    struct rng rng = {.state = 77};
    uint64_t total = operations(100000), mapped = 0;
    unsigned live = 0;

    memset(taken, 0, sizeof(taken));
    CHECK(ram && domain);
    for (uint64_t step = 0; step < total; step++) {
        if (live == 0 || (live < SPACE_RUNS && rng_below(&rng, 5) < 3)) {
            struct run run = {.count = 1 + rng_below(&rng, rng_below(&rng, 8) ? 8 : 200)};
            struct page_number frame = {1 + rng_below(&rng, 15000)};
            struct logical_page at;
            bool room = has_room(taken, run.count);

            CHECK(iommu_map_run(domain, frame, run.count, 3, &at) == room);
            if (!room)
                continue;
            run.first = at.value;
            CHECK_RULE("IOMMU-031/a", run.first % power_of_two(run.count) == 0);
            for (uint64_t i = run.first; i < run.first + run.count; i++) {
                CHECK(i > 0 && i < SPACE_PAGES && !taken[i]);
                taken[i] = true;
            }
            mapped += run.count;
            runs[live++] = run;
        } else {
            unsigned pick = (unsigned)rng_below(&rng, live);

            iommu_unmap_run(domain, (struct logical_page){runs[pick].first}, runs[pick].count);
            for (uint64_t i = 0; i < runs[pick].count; i++)
                taken[runs[pick].first + i] = false;
            mapped -= runs[pick].count;
            runs[pick] = runs[--live];
        }
        CHECK(iommu_domain_mapped_pages(domain) == mapped);
        if (step < 3000 || step % 4096 == 0)
            CHECK(iommu_validate(domain));
    }
    CHECK(iommu_domain_clear(domain) == mapped);
    CHECK(iommu_domain_delete(domain) == IOMMU_DONE);
    CHECK(ram_validate(ram));
    ram_destroy(ram);
}

/* ---- books ---- */

/* Where and how often things were mapped must not matter for what is kept. */
TEST_WITH(table, books_follow_what_is_mapped)
{
    struct ram *ram = ram_create(&(struct ram_config){.bytes = (uint64_t)1 << 40});
    struct iommu_domain *domain = iommu_domain_create(
        ram, IOMMU_REMAP, (struct logical_addr){((uint64_t)1 << 48) - 1});
    struct logical_page at;
    uint64_t once;

    CHECK(ram && domain);
    CHECK(iommu_map_run(domain, (struct page_number){12345}, 4, 3, &at));
    CHECK(heap.live_bytes < (uint64_t)1 << 20);
    iommu_unmap_run(domain, at, 4);
    for (unsigned i = 0; i < 30000; i++) {
        CHECK(iommu_map_run(domain, (struct page_number){1 + i}, 1 + i % 40, 3, &at));
        iommu_unmap_run(domain, at, 1 + i % 40);
    }
    once = heap.live_bytes;
    for (unsigned i = 0; i < 100000; i++) {
        CHECK(iommu_map_run(domain, (struct page_number){1 + i}, 1 + i % 40, 3, &at));
        iommu_unmap_run(domain, at, 1 + i % 40);
    }
    CHECK(heap.live_bytes <= once + 4096);
    CHECK(iommu_domain_bytes(domain) < 400000);
    iommu_domain_destroy(domain);
    ram_destroy(ram);
}
