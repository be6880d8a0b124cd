/* SPDX-License-Identifier: MIT */
/* IOMMU domains: what a device reaches in each mode, and the books behind it. */
#include "iommu/iommu.h"
#include "ram/ram.h"
#include "support/check_rule.h"
#include "util/alloc.h"
#include "util/rng.h"

#include <string.h>

enum { BOTH = IOMMU_READ | IOMMU_WRITE };

#define MIB ((uint64_t)1 << 20)

static struct ram *ram;
static struct util_heap heap;

static int set_up(void)
{
    heap = (struct util_heap){0};
    util_heap_current = &heap;
    ram = ram_create(&(struct ram_config){.bytes = 64 * MIB});
    return ram ? 0 : -1;
}

static int tear_down(void)
{
    ram_destroy(ram);
    util_heap_current = NULL;
    return heap.live_blocks == 0 ? 0 : -1;
}

#define RIG_ARGUMENT_domain void
#define RIG_RUN_domain(body)        \
    test_set_up(set_up, tear_down); \
    body()

static struct iommu_domain *make(enum iommu_mode mode, uint64_t highest)
{
    struct iommu_domain *domain = iommu_domain_create(ram, mode, (struct logical_addr){highest});

    CHECK(domain != NULL);
    return domain;
}

static struct page_number page(uint64_t number)
{
    return (struct page_number){number};
}

static struct logical_page device_page(uint64_t number)
{
    return (struct logical_page){number};
}

/* The page a device reaches, or 0 for a fault. */
static uint64_t reach(const struct iommu_domain *domain, uint64_t logical, enum iommu_access access)
{
    struct phys_addr physical;

    if (!iommu_translate(domain, (struct logical_addr){logical * PAGE_BYTES + 5}, access, &physical))
        return 0;
    CHECK(physical.value % PAGE_BYTES == 5);
    return physical.value / PAGE_BYTES;
}

TEST_WITH(domain, off_passes_everything_and_keeps_books)
{
    struct iommu_domain *domain = make(IOMMU_OFF, 0);

    CHECK(reach(domain, 77, IOMMU_WRITE) == 77);
    CHECK(!iommu_page_mapped(domain, device_page(77)));
    CHECK(iommu_map_run(domain, page(77), 1, BOTH, NULL));
    CHECK(iommu_page_mapped(domain, device_page(77)) && ram_page_iommu_maps(ram, page(77)) == 1);
    iommu_unmap_run(domain, device_page(77), 1);
    CHECK(!iommu_page_mapped(domain, device_page(77)) && ram_page_iommu_maps(ram, page(77)) == 0);
    iommu_domain_destroy(domain);
}

TEST_WITH(domain, isolation_passes_mapped_pages_only)
{
    struct iommu_domain *domain = make(IOMMU_ISOLATION, 0);
    struct logical_page logical[3];
    struct page_number pages[3] = {{9}, {5}, {700}};
    uint64_t reached = 0;

    CHECK(iommu_map(domain, pages, 3, BOTH, logical));
    CHECK_RULE("IOMMU-001/b", memcmp(logical, pages, sizeof(pages)) == 0);
    for (uint64_t i = 0; i < ram_bytes(ram) / PAGE_BYTES + 100; i++)
        reached += reach(domain, i, IOMMU_READ) == i && i != 0;
    CHECK_RULE("IOMMU-070/a", reached == 3);
    CHECK(iommu_validate(domain) && iommu_domain_mapped_pages(domain) == 3);
    iommu_unmap(domain, logical, 3);
    CHECK(reach(domain, 9, IOMMU_READ) == 0 && reach(domain, 700, IOMMU_READ) == 0);
    CHECK(iommu_validate(domain) && iommu_domain_mapped_pages(domain) == 0);
    iommu_domain_destroy(domain);
}

TEST_WITH(domain, isolation_counts_the_mappings_of_a_page)
{
    struct iommu_domain *domain = make(IOMMU_ISOLATION, 0);

    CHECK(iommu_map_run(domain, page(40), 8, BOTH, NULL));
    CHECK(iommu_map_run(domain, page(44), 8, BOTH, NULL));
    CHECK(ram_page_iommu_maps(ram, page(45)) == 2 && iommu_domain_mapped_pages(domain) == 12);
    iommu_unmap_run(domain, device_page(40), 8);
    CHECK(reach(domain, 43, IOMMU_READ) == 0);
    CHECK_RULE("IOMMU-050", reach(domain, 45, IOMMU_READ) == 45);
    CHECK(iommu_validate(domain));
    iommu_unmap_run(domain, device_page(44), 8);
    CHECK(reach(domain, 45, IOMMU_READ) == 0);
    iommu_domain_destroy(domain);
}

TEST_WITH(domain, rights_are_checked)
{
    struct iommu_domain *domain = make(IOMMU_ISOLATION, 0);

    CHECK(iommu_map_run(domain, page(3), 1, IOMMU_READ, NULL));
    CHECK(reach(domain, 3, IOMMU_READ) == 3);
    CHECK_RULE("IOMMU-051", reach(domain, 3, IOMMU_WRITE) == 0);
    iommu_domain_destroy(domain);
}

TEST_WITH(domain, remap_keeps_order_and_stays_below_the_limit)
{
    struct iommu_domain *domain = make(IOMMU_REMAP, MIB - 1);
    struct page_number pages[6] = {{900}, {3}, {777}, {4}, {5}, {16000}};
    struct logical_page logical[6];

    CHECK(iommu_map(domain, pages, 6, BOTH, logical));
    for (unsigned i = 0; i < 6; i++) {
        CHECK_RULE("IOMMU-032", logical[i].value == logical[0].value + i);
        CHECK_RULE("IOMMU-032", reach(domain, logical[i].value, IOMMU_WRITE) == pages[i].value);
    }
    CHECK_RULE("IOMMU-031/a", logical[0].value % 8 == 0);
    CHECK_RULE("IOMMU-029/a", logical[5].value < MIB / PAGE_BYTES);
    CHECK(iommu_validate(domain));
    iommu_unmap(domain, logical, 6);
    CHECK(iommu_validate(domain) && iommu_domain_mapped_pages(domain) == 0);
    iommu_domain_destroy(domain);
}

TEST_WITH(domain, remap_never_maps_page_zero_and_uses_all_others)
{
    struct iommu_domain *domain = make(IOMMU_REMAP, MIB - 1);
    struct logical_page logical;
    unsigned mapped = 0;

    while (iommu_map_run(domain, page(50), 1, BOTH, &logical)) {
        CHECK_RULE("IOMMU-030/a", logical.value != 0);
        CHECK_RULE("IOMMU-029/a", logical.value <= MIB / PAGE_BYTES - 1);
        mapped++;
    }
    CHECK(mapped == MIB / PAGE_BYTES - 1);
    CHECK_RULE("IOMMU-030/b", reach(domain, 0, IOMMU_READ) == 0);
    iommu_domain_destroy(domain);
    CHECK(ram_page_iommu_maps(ram, page(50)) == 0);
}

TEST_WITH(domain, remap_reuses_as_late_as_possible)
{
    struct iommu_domain *domain = make(IOMMU_REMAP, 16 * PAGE_BYTES - 1); /* 15 pages */
    struct logical_page first, second, logical;

    CHECK(iommu_map_run(domain, page(50), 1, BOTH, &first));
    CHECK(iommu_map_run(domain, page(51), 1, BOTH, &second));
    iommu_unmap_run(domain, second, 1);
    iommu_unmap_run(domain, first, 1);
    for (unsigned i = 0; i < 13; i++) {
        CHECK(iommu_map_run(domain, page(52), 1, BOTH, &logical));
        CHECK_RULE("IOMMU-033/a", logical.value != first.value && logical.value != second.value);
    }
    CHECK(iommu_map_run(domain, page(53), 1, BOTH, &logical));
    CHECK_RULE("IOMMU-033/b", logical.value == second.value);
    CHECK(iommu_map_run(domain, page(53), 1, BOTH, &logical) && logical.value == first.value);
    CHECK(iommu_validate(domain));
    iommu_unmap_run(domain, second, 1);
    iommu_domain_reuse_early(domain, true);
    iommu_unmap_run(domain, first, 1);
    CHECK(iommu_map_run(domain, page(53), 1, BOTH, &logical) && logical.value == first.value);
    iommu_domain_destroy(domain);
}

TEST_WITH(domain, stale_translations_last_until_the_flush)
{
    struct iommu_domain *domain = make(IOMMU_ISOLATION, 0);

    CHECK(iommu_map_run(domain, page(60), 4, BOTH, NULL));
    CHECK(reach(domain, 61, IOMMU_READ) == 61);
    iommu_unmap_run_unflushed(domain, device_page(60), 4);
    CHECK_RULE("IOMMU-074/a", reach(domain, 61, IOMMU_READ) == 61);
    iommu_flush_run(domain, device_page(60), 4);
    CHECK_RULE("IOMMU-074/b", reach(domain, 61, IOMMU_READ) == 0);
    CHECK(iommu_map_run(domain, page(60), 4, BOTH, NULL) && reach(domain, 61, IOMMU_READ) == 61);
    iommu_unmap_run(domain, device_page(60), 4);
    CHECK_RULE("IOMMU-074/b", reach(domain, 61, IOMMU_READ) == 0);
    iommu_domain_destroy(domain);
}

/* Maps a stretch, uses every `step`-th page of `used` ones from `offset` on, unmaps it without a flush, flushes some, and looks. */
static void flush_some(struct rng *rng, struct iommu_domain *domain, uint64_t frame, uint64_t pages,
                       uint64_t offset, uint64_t used, uint64_t step)
{
    const uint64_t longest = rng_below(rng, 2) ? 64 : (uint32_t)pages + 1000;
    const uint64_t count = 1 + rng_below(rng, (uint32_t)longest);
    struct logical_page at;
    uint64_t start;

    CHECK(iommu_map_run(domain, page(frame), pages, BOTH, &at));
    start = at.value + rng_below(rng, (uint32_t)pages) - rng_below(rng, 500);
    for (uint64_t i = 0; i < used; i++)
        CHECK(reach(domain, at.value + offset + i * step, IOMMU_READ) == frame + offset + i * step);
    iommu_unmap_run_unflushed(domain, at, pages);
    iommu_flush_run(domain, device_page(start), count);
    for (uint64_t i = 0; i < used; i++) {
        const uint64_t first = at.value + offset + i * step;
        const bool named = first < start + count && start < first + step;

        CHECK_RULE("IOMMU-074/b", (reach(domain, first, IOMMU_READ) == 0) == named);
    }
    iommu_flush_run(domain, at, pages);
    for (uint64_t i = 0; i < used; i++)
        CHECK_RULE("IOMMU-074/b", reach(domain, at.value + offset + i * step, IOMMU_READ) == 0);
}

/* As many translations as the IOTLB holds, of pages and of leaves of 2 MiB. */
TEST_WITH(domain, flushes_drop_what_they_name_and_nothing_else)
{
    struct iommu_domain *domain = make(IOMMU_REMAP, (1ull << 40) - 1);
    struct rng rng = {.state = 31};

    for (unsigned round = 0; round < 200; round++) {
        flush_some(&rng, domain, (1 << 20) + 1, 4096, rng_below(&rng, 3000), 1024, 1);
        flush_some(&rng, domain, 1 << 20, 64 * 512, 0, 64, 512);
    }
    CHECK(iommu_validate(domain));
    CHECK(iommu_domain_delete(domain) == IOMMU_DONE);
}

TEST_WITH(domain, isolating_changes_no_address)
{
    struct iommu_domain *domain = make(IOMMU_OFF, 0);

    CHECK(iommu_map_run(domain, page(60), 4, BOTH, NULL));
    CHECK_RULE("IOMMU-003/a", iommu_domain_isolate(domain));
    CHECK_RULE("IOMMU-004/b", reach(domain, 61, IOMMU_WRITE) == 61);
    CHECK(reach(domain, 63, IOMMU_READ) == 63);
    CHECK(reach(domain, 64, IOMMU_READ) == 0);
    CHECK_RULE("IOMMU-003/d", !iommu_domain_isolate(domain));
    iommu_domain_destroy(domain);
    domain = make(IOMMU_REMAP, MIB - 1);
    CHECK_RULE("IOMMU-003/d",
               !iommu_domain_isolate(domain) && iommu_domain_mode(domain) == IOMMU_REMAP);
    iommu_domain_destroy(domain);
}

TEST_WITH(domain, identity_ranges_stand_beside_chosen_ones)
{
    struct iommu_domain *domain = make(IOMMU_REMAP, MIB - 1);
    struct logical_page logical;

    CHECK(iommu_map_run(domain, page(50), 8, BOTH, &logical));
    CHECK(iommu_map_identity_run(domain, page(100), 4, BOTH));
    CHECK(reach(domain, 102, IOMMU_WRITE) == 102);
    CHECK(!iommu_map_identity_run(domain, page(logical.value + 3), 1, BOTH));
    CHECK(!iommu_map_identity_run(domain, page(MIB / PAGE_BYTES), 1, BOTH));
    CHECK(!iommu_map_identity_run(domain, page(0), 1, BOTH));
    CHECK(iommu_validate(domain));
    iommu_domain_destroy(domain);
}

TEST_WITH(domain, device_windows_far_above_ram_can_be_mapped)
{
    struct iommu_domain *domain = make(IOMMU_ISOLATION, 0);
    uint64_t far = ((uint64_t)1 << 39) + 511;

    CHECK(iommu_map_run(domain, page(7), 1, BOTH, NULL));
    CHECK(iommu_map_run(domain, page(far), 3, BOTH, NULL));
    CHECK(reach(domain, far + 2, IOMMU_WRITE) == far + 2 && reach(domain, 7, IOMMU_READ) == 7);
    CHECK(!iommu_map_run(domain, page((uint64_t)1 << 41), 1, BOTH, NULL));
    CHECK(iommu_validate(domain));
    iommu_unmap_run(domain, device_page(far), 3);
    CHECK(iommu_validate(domain));
    iommu_domain_destroy(domain);
}

/* Every allocation inside a map fails once; nothing must have changed after the failure. */
TEST_WITH(domain, maps_without_memory_change_nothing)
{
    struct page_number pages[1100];
    struct logical_page logical[1100];

    for (unsigned i = 0; i < 1100; i++)
        pages[i] = page((uint64_t)(i * 7919) % 16000 + 1);
    for (int mode = IOMMU_OFF; mode <= IOMMU_REMAP; mode++) {
        struct iommu_domain *domain = make((enum iommu_mode)mode, ((uint64_t)1 << 40) - 1);
        unsigned failures = 0;

        for (uint64_t n = 1;; n++) {
            bool ok;

            heap.fail_at = heap.requests + n;
            ok = iommu_map(domain, pages, 1100, BOTH, logical);
            heap.fail_at = 0;
            CHECK(iommu_validate(domain));
            if (ok)
                break;
            failures++;
            CHECK(iommu_domain_mapped_pages(domain) == 0 && ram_page_iommu_maps(ram, pages[0]) == 0);
        }
        CHECK(failures > 2);
        iommu_unmap(domain, logical, 1100);
        CHECK(iommu_validate(domain) && iommu_domain_mapped_pages(domain) == 0);
        iommu_domain_destroy(domain);
    }
}

enum { MODEL_PAGES = 2000, MODEL_RUNS = 60 };

/* Random runs against an array of counts. */
TEST_WITH(domain, agrees_with_a_model_of_counts)
{
    struct run {
        uint64_t first, count;
    } runs[MODEL_RUNS];
    static unsigned counts[MODEL_PAGES];
    struct iommu_domain *domain = make(IOMMU_ISOLATION, 0);
    struct rng rng = {.state = 11};
    unsigned live = 0;

    memset(counts, 0, sizeof(counts));
    for (unsigned step = 0; step < 2000; step++) {
        struct run run;
        bool map = live == 0 || (live < MODEL_RUNS && rng_below(&rng, 2));
        unsigned pick = map ? live : rng_below(&rng, live);

        if (map) {
            run.first = 1 + rng_below(&rng, MODEL_PAGES - 700);
            run.count = 1 + rng_below(&rng, 650);
            CHECK(iommu_map_run(domain, page(run.first), run.count, BOTH, NULL));
            runs[live++] = run;
        } else {
            run = runs[pick];
            iommu_unmap_run(domain, device_page(run.first), run.count);
            runs[pick] = runs[--live];
        }
        for (uint64_t i = run.first; i < run.first + run.count; i++)
            counts[i] += map ? 1u : -1u;
        for (unsigned probe = 0; probe < 50; probe++) {
            uint64_t at = 1 + rng_below(&rng, MODEL_PAGES - 1);

            CHECK((reach(domain, at, IOMMU_READ) == at) == (counts[at] > 0));
            CHECK(ram_page_iommu_maps(ram, page(at)) == counts[at]);
        }
        CHECK(iommu_validate(domain));
    }
    iommu_domain_destroy(domain);
}
