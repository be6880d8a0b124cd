/* SPDX-License-Identifier: MIT */
/*
 * IO page tables and logical addresses against naive models. DXGK_LONG=1 runs ten million random operations; otherwise
 * as many as fit a few seconds.
 */
#include "iommu/iommu.h"
#include "ram/ram.h"
#include "support/check_rule.h"
#include "support/table_model.h"
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
#ifdef __SANITIZE_ADDRESS__
    usual /= 4;
#endif
    return getenv("DXGK_LONG") ? 10000000 : usual;
}

/* ---- tables against arrays ---- */

TEST_WITH(table, tables_agree_with_arrays)
{
    table_agrees(&heap, false, (uint64_t)1 << 28, 41, operations(150000));
    table_agrees(&heap, false, 0, 42, operations(150000));
}

TEST_WITH(table, shared_tables_agree_with_arrays)
{
    table_agrees(&heap, true, (uint64_t)1 << 20, 43, operations(150000));
}

/* ---- logical addresses against a bitmap ---- */

enum { SPACE_PAGES = 2048, SPACE_RUNS = 300 };

struct run {
    uint64_t first, count;
};

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
