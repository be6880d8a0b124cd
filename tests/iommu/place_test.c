/* SPDX-License-Identifier: MIT */
/* Domains at their limits: which addresses are taken, refused and used again, and what is left after a failure. */
#include "iommu/iommu.h"
#include "iommu/pasid.h"
#include "ram/ram.h"
#include "support/check_rule.h"
#include "util/alloc.h"

#include <string.h>

enum { BOTH = IOMMU_READ | IOMMU_WRITE };

#define RAM_PAGES (((uint64_t)64 << 20) / PAGE_BYTES)
#define LIMIT     ((uint64_t)1 << 40) /* of page numbers */

static struct ram *ram;
static struct util_heap heap;
static uint64_t blocks; /* of RAM alone */

static int set_up(void)
{
    heap = (struct util_heap){0};
    util_heap_current = &heap;
    ram = ram_create(&(struct ram_config){.bytes = RAM_PAGES * PAGE_BYTES});
    blocks = heap.live_blocks;
    return ram ? 0 : -1;
}

static int tear_down(void)
{
    ram_destroy(ram);
    util_heap_current = NULL;
    return heap.live_blocks == 0 ? 0 : -1;
}

#define RIG_ARGUMENT_place void
#define RIG_RUN_place(body)         \
    test_set_up(set_up, tear_down); \
    body()

/* `pages` of addresses, page 0 among them. */
static struct iommu_domain *make(enum iommu_mode mode, uint64_t pages)
{
    struct iommu_domain *domain = iommu_domain_create(
        ram, mode, (struct logical_addr){pages * PAGE_BYTES - 1});

    CHECK(domain != NULL);
    return domain;
}

static struct page_number page(uint64_t number)
{
    return (struct page_number){number};
}

static struct logical_page at(uint64_t number)
{
    return (struct logical_page){number};
}

static uint64_t reach(const struct iommu_domain *domain, uint64_t logical)
{
    struct phys_addr physical;

    return iommu_translate(domain, (struct logical_addr){logical * PAGE_BYTES}, IOMMU_READ,
                           &physical)
               ? physical.value / PAGE_BYTES
               : 0;
}

static enum iommu_result map_at(struct iommu_domain *domain, uint64_t logical, uint64_t frame,
                                uint64_t count)
{
    const struct logical_page chosen = at(logical);
    struct logical_page got = {0x77};
    enum iommu_result result = iommu_map_at(domain, &chosen, page(frame), count, BOTH, &got);

    CHECK(got.value == (result == IOMMU_DONE ? logical : 0x77));
    CHECK(iommu_validate(domain));
    return result;
}

/* ---- the size of a domain ---- */

TEST_WITH(place, a_limit_counts_whole_pages)
{
    struct logical_page first;
    struct iommu_domain *domain = iommu_domain_create(ram, IOMMU_REMAP,
                                                      (struct logical_addr){2 * PAGE_BYTES - 1});

    CHECK(domain && iommu_map_run(domain, page(9), 1, BOTH, &first) && first.value == 1);
    CHECK(!iommu_map_run(domain, page(9), 1, BOTH, &first));
    iommu_domain_destroy(domain);
    domain = iommu_domain_create(ram, IOMMU_REMAP, (struct logical_addr){3 * PAGE_BYTES - 2});
    CHECK_RULE("IOMMU-029/a", domain && iommu_map_run(domain, page(9), 1, BOTH, &first) &&
                                  !iommu_map_run(domain, page(9), 1, BOTH, &first));
    iommu_domain_destroy(domain);
    /* Page 0 alone is no domain. */
    CHECK(!iommu_domain_create(ram, IOMMU_REMAP, (struct logical_addr){PAGE_BYTES - 1}));
    CHECK(!iommu_domain_create(ram, IOMMU_REMAP, (struct logical_addr){0}));
    CHECK(heap.live_blocks == blocks);
    domain = iommu_domain_create(ram, IOMMU_REMAP, (struct logical_addr){UINT64_MAX});
    CHECK(domain && map_at(domain, LIMIT - 1, 9, 1) == IOMMU_DONE);
    CHECK(reach(domain, LIMIT - 1) == 9);
    iommu_domain_destroy(domain);
}

TEST_WITH(place, all_of_a_domain_fits_into_one_run)
{
    struct iommu_domain *domain = make(IOMMU_REMAP, 1024);
    struct logical_page first = {0x77};

    CHECK(!iommu_map_run(domain, page(9), 1024, BOTH, &first) && first.value == 0x77);
    CHECK(!iommu_map_run(domain, page(9), 513, BOTH, &first) && first.value == 0x77);
    CHECK_RULE("IOMMU-031/a",
               iommu_map_run(domain, page(9), 512, BOTH, &first) && first.value == 512);
    CHECK(!iommu_map_run(domain, page(9), 0, BOTH, &first) && first.value == 512);
    CHECK(!iommu_map_identity_run(domain, page(9), 0, BOTH));
    CHECK(iommu_domain_map_count(domain) == 512 && iommu_domain_mapped_pages(domain) == 512);
    iommu_domain_destroy(domain);
}

TEST_WITH(place, a_lower_limit_is_for_new_addresses)
{
    struct iommu_domain *domain = make(IOMMU_REMAP, 1024);
    const struct logical_page above = at(8), below = at(7);
    struct logical_page first;

    CHECK(map_at(domain, 900, 9, 1) == IOMMU_DONE);
    iommu_domain_set_highest(domain, (struct logical_addr){UINT64_MAX});
    iommu_domain_set_highest(domain, (struct logical_addr){PAGE_BYTES - 2});
    iommu_domain_set_highest(domain, (struct logical_addr){2048 * PAGE_BYTES - 1});
    CHECK(map_at(domain, 1023, 9, 1) == IOMMU_DONE);
    iommu_domain_set_highest(domain, (struct logical_addr){8 * PAGE_BYTES - 1});
    CHECK(iommu_map_at(domain, &above, page(9), 1, BOTH, NULL) == IOMMU_INVALID);
    CHECK(iommu_map_at(domain, &below, page(9), 1, BOTH, NULL) == IOMMU_DONE);
    CHECK(!iommu_map_run(domain, page(9), 8, BOTH, &first));
    CHECK(iommu_map_run(domain, page(9), 2, BOTH, &first) && first.value == 2);
    CHECK(reach(domain, 900) == 9 && reach(domain, 1023) == 9);
    CHECK(iommu_map_run(domain, page(9), 1, BOTH, &first) && first.value == 1);
    iommu_domain_destroy(domain);
}

/* ---- chosen addresses ---- */

TEST_WITH(place, arguments_at_the_limits)
{
    struct iommu_domain *domain = make(IOMMU_REMAP, LIMIT);
    const struct logical_page chosen = at(5);

    CHECK(map_at(domain, LIMIT - 1, 5, 1) == IOMMU_DONE);
    CHECK(map_at(domain, LIMIT, 5, 1) == IOMMU_INVALID);
    CHECK(map_at(domain, LIMIT - 2, 5, 3) == IOMMU_INVALID);
    CHECK(map_at(domain, UINT64_MAX, 5, 2) == IOMMU_INVALID);
    CHECK(map_at(domain, 5, LIMIT - 1, 1) == IOMMU_DONE);
    CHECK(map_at(domain, 6, LIMIT, 1) == IOMMU_INVALID);
    CHECK(map_at(domain, 6, LIMIT - 1, 2) == IOMMU_INVALID);
    CHECK(map_at(domain, 6, 9, 0) == IOMMU_INVALID && map_at(domain, 6, 9, LIMIT) == IOMMU_INVALID);
    CHECK(map_at(domain, 0, 9, 1) == IOMMU_INVALID);
    CHECK(iommu_map_at(domain, &chosen, page(9), 1, 0, NULL) == IOMMU_INVALID);
    CHECK_RULE("IOMMU-051", iommu_map_at(domain, &chosen, page(9), 1, 4, NULL) == IOMMU_INVALID);
    CHECK(iommu_domain_mapped_pages(domain) == 2);
    iommu_domain_destroy(domain);
}

TEST_WITH(place, no_page_is_taken_twice)
{
    struct iommu_domain *domain = make(IOMMU_REMAP, 1024);

    CHECK(map_at(domain, 100, 50, 4) == IOMMU_DONE);
    CHECK_RULE("IOMMU-050", map_at(domain, 97, 60, 4) == IOMMU_IN_USE);
    CHECK_RULE("IOMMU-050", map_at(domain, 103, 60, 4) == IOMMU_IN_USE);
    CHECK_RULE("IOMMU-050", map_at(domain, 101, 60, 1) == IOMMU_IN_USE);
    CHECK(map_at(domain, 96, 60, 4) == IOMMU_DONE && map_at(domain, 104, 70, 4) == IOMMU_DONE);
    CHECK(reach(domain, 99) == 63 && reach(domain, 100) == 50 && reach(domain, 104) == 70);
    iommu_unmap_run(domain, at(100), 4);
    CHECK_RULE("IOMMU-033/b", map_at(domain, 100, 80, 4) == IOMMU_DONE && reach(domain, 103) == 83);
    CHECK(ram_page_iommu_maps(ram, page(50)) == 0 && ram_page_iommu_maps(ram, page(83)) == 1);
    CHECK(iommu_domain_mapped_pages(domain) == 12);
    iommu_domain_destroy(domain);
}

TEST_WITH(place, elsewhere_a_page_keeps_its_address)
{
    struct iommu_domain *domain = make(IOMMU_ISOLATION, 1024);
    const struct logical_page none = {0};

    CHECK(map_at(domain, 100, 101, 4) == IOMMU_INVALID);
    CHECK(map_at(domain, 100, 100, 4) == IOMMU_DONE && reach(domain, 103) == 103);
    CHECK_RULE("IOMMU-050", map_at(domain, 103, 103, 1) == IOMMU_IN_USE);
    CHECK_RULE("IOMMU-053", iommu_map_at(domain, NULL, page(9), 1, BOTH, NULL) == IOMMU_UNSUPPORTED);
    CHECK(iommu_map_at(domain, &none, page(0), 1, BOTH, NULL) == IOMMU_DONE);
    CHECK(iommu_map_identity_run(domain, page(200), 2, BOTH) && reach(domain, 201) == 201);
    iommu_domain_destroy(domain);
}

TEST_WITH(place, a_choice_without_memory_changes_nothing)
{
    struct iommu_domain *domain = make(IOMMU_REMAP, LIMIT);
    enum iommu_result result = IOMMU_NO_MEMORY;
    unsigned failures = 0;

    for (uint64_t n = 1; result != IOMMU_DONE; n++) {
        heap.fail_at = heap.requests + n;
        result = map_at(domain, 12345678, 50, 3);
        heap.fail_at = 0;
        CHECK(result == IOMMU_DONE || result == IOMMU_NO_MEMORY);
        failures += result != IOMMU_DONE;
        CHECK(iommu_domain_mapped_pages(domain) == (result == IOMMU_DONE ? 3 : 0));
    }
    CHECK(failures > 0);
    CHECK(reach(domain, 12345680) == 52);
    iommu_domain_destroy(domain);
}

/* ---- domains that place by themselves ---- */

TEST_WITH(place, regions_are_kept_for_identity)
{
    const struct iommu_region regions[2] = {{at(100), 16}, {at(8), 4}};
    struct iommu_domain *domain = iommu_domain_create_placing(
        ram, (struct logical_addr){128 * PAGE_BYTES - 1}, regions, 2);
    struct logical_page first;
    uint64_t mapped = 0;

    CHECK(domain != NULL);
    CHECK_RULE("IOMMU-053", map_at(domain, 99, 99, 2) == IOMMU_UNSUPPORTED);
    CHECK_RULE("IOMMU-053", map_at(domain, 114, 114, 3) == IOMMU_UNSUPPORTED);
    CHECK_RULE("IOMMU-053", map_at(domain, 100, 100, 16) == IOMMU_DONE);
    CHECK_RULE("IOMMU-053", map_at(domain, 11, 11, 1) == IOMMU_DONE);
    CHECK_RULE("IOMMU-053", map_at(domain, 12, 12, 1) == IOMMU_UNSUPPORTED);
    CHECK(map_at(domain, 105, 105, 1) == IOMMU_IN_USE);
    while (iommu_map_at(domain, NULL, page(50), 1, BOTH, &first) == IOMMU_DONE) {
        CHECK(first.value != 0 && first.value < 128 && (first.value < 100 || first.value > 115));
        CHECK(first.value < 8 || first.value > 11);
        mapped++;
    }
    CHECK(mapped == 127 - 20);
    CHECK(iommu_map_at(domain, NULL, page(50), 1, BOTH, &first) == IOMMU_NO_MEMORY);
    /* What is given back in a region stays the region's. */
    iommu_unmap_run(domain, at(100), 16);
    CHECK(iommu_map_at(domain, NULL, page(50), 1, BOTH, NULL) == IOMMU_NO_MEMORY);
    CHECK(map_at(domain, 100, 100, 2) == IOMMU_DONE && iommu_validate(domain));
    iommu_domain_destroy(domain);
}

TEST_WITH(place, regions_that_cannot_be_kept_make_no_domain)
{
    struct iommu_region regions[17];
    const struct logical_addr highest = {1024 * PAGE_BYTES - 1};
    struct iommu_domain *domain;

    for (uint64_t i = 0; i < 17; i++)
        regions[i] = (struct iommu_region){at(10 + 2 * i), 2};
    CHECK(!iommu_domain_create_placing(ram, highest, regions, 17));
    domain = iommu_domain_create_placing(ram, highest, regions, 16);
    CHECK(domain && map_at(domain, 40, 40, 2) == IOMMU_DONE);
    iommu_domain_destroy(domain);
    regions[1].first.value = 11;
    CHECK(!iommu_domain_create_placing(ram, highest, regions, 2));
    regions[1].first.value = 1023;
    CHECK(!iommu_domain_create_placing(ram, highest, regions, 2));
    for (uint64_t n = 1; n < 10; n++) {
        heap.fail_at = heap.requests + n;
        domain = iommu_domain_create_placing(ram, highest, regions, 1);
        heap.fail_at = 0;
        if (domain)
            break;
    }
    CHECK(domain && iommu_validate(domain));
    iommu_domain_destroy(domain);
    iommu_domain_destroy(NULL);
    CHECK(heap.live_blocks == blocks);
}

/* ---- the books ---- */

TEST_WITH(place, runs_that_leave_ram_count_inside)
{
    struct iommu_domain *domain = make(IOMMU_ISOLATION, 1024);

    CHECK(iommu_map_run(domain, page(RAM_PAGES - 2), 4, BOTH, NULL));
    CHECK(ram_page_iommu_maps(ram, page(RAM_PAGES - 2)) == 1);
    CHECK(ram_page_iommu_maps(ram, page(RAM_PAGES - 1)) == 1);
    CHECK(reach(domain, RAM_PAGES + 1) == RAM_PAGES + 1 && iommu_validate(domain));
    iommu_unmap_run(domain, at(RAM_PAGES - 2), 4);
    CHECK(ram_page_iommu_maps(ram, page(RAM_PAGES - 1)) == 0 && iommu_validate(domain));
    CHECK(iommu_map_run(domain, page(RAM_PAGES), 2, BOTH, NULL));
    CHECK(iommu_domain_clear(domain) == 2 && iommu_domain_mapped_pages(domain) == 0);
    iommu_domain_destroy(domain);
}

/* Frames in any order, more than are unbooked at a time, and some of them several times. */
TEST_WITH(place, each_mapping_of_a_frame_counts)
{
    struct iommu_domain *domain = make(IOMMU_REMAP, 4096);
    struct page_number pages[200];
    struct logical_page logical[200];

    for (unsigned i = 0; i < 200; i++)
        pages[i] = page(i % 7 == 0 ? 77 : 2000 - i);
    CHECK(iommu_map(domain, pages, 200, BOTH, logical));
    CHECK(ram_page_iommu_maps(ram, page(77)) == 29 && ram_page_iommu_maps(ram, page(1999)) == 1);
    CHECK(iommu_map(domain, pages, 64, BOTH, NULL));
    CHECK(ram_page_iommu_maps(ram, page(77)) == 39 && ram_page_iommu_maps(ram, page(1999)) == 2);
    CHECK(iommu_domain_map_count(domain) == 264);
    iommu_unmap(domain, logical, 200);
    CHECK(ram_page_iommu_maps(ram, page(77)) == 10 && ram_page_iommu_maps(ram, page(1999)) == 1);
    CHECK(ram_page_iommu_maps(ram, page(1801)) == 0 && iommu_validate(domain));
    CHECK(iommu_domain_clear(domain) == 64 && ram_page_iommu_maps(ram, page(77)) == 0);
    CHECK(iommu_domain_mapped_pages(domain) == 0 && iommu_domain_bytes(domain) > 0);
    iommu_domain_destroy(domain);
}

TEST_WITH(place, a_run_is_mapped_or_not_as_far_as_it_is_alike)
{
    struct iommu_domain *domain = make(IOMMU_REMAP, 1ull << 30);
    bool mapped;

    CHECK(map_at(domain, 100, 50, 10) == IOMMU_DONE && map_at(domain, 512, 512, 512) == IOMMU_DONE);
    CHECK(iommu_domain_large_pages(domain) == 1);
    CHECK(iommu_run_mapped(domain, at(90), 100, &mapped) == 10 && !mapped);
    CHECK(iommu_run_mapped(domain, at(100), 100, &mapped) == 10 && mapped);
    CHECK(iommu_run_mapped(domain, at(105), 5, &mapped) == 5 && mapped);
    CHECK(iommu_run_mapped(domain, at(110), 402, &mapped) == 402 && !mapped);
    CHECK(iommu_run_mapped(domain, at(110), 500, &mapped) == 402 && !mapped);
    CHECK(iommu_run_mapped(domain, at(700), 1000, &mapped) == 324 && mapped);
    CHECK(iommu_run_mapped(domain, at(1 << 29), 1000, &mapped) == 1000 && !mapped);
    CHECK(iommu_page_mapped(domain, at(1023)) && !iommu_page_mapped(domain, at(1024)));
    CHECK(!iommu_page_mapped(domain, at(99)) && !iommu_page_mapped(domain, at(511)));
    iommu_domain_destroy(domain);
}

/* ---- refusals ---- */

static enum iommu_cause cause(const struct iommu_domain *domain, uint64_t logical,
                              enum iommu_access access)
{
    return iommu_refusal(domain, (struct logical_addr){logical * PAGE_BYTES + 9}, access);
}

TEST_WITH(place, each_refusal_has_its_cause)
{
    struct iommu_domain *domain = make(IOMMU_REMAP, 1024);
    const struct logical_page chosen = at(100);

    CHECK(cause(domain, 100, IOMMU_READ) == IOMMU_CAUSE_UNMAPPED);
    CHECK(iommu_map_at(domain, &chosen, page(50), 4, IOMMU_WRITE, NULL) == IOMMU_DONE);
    CHECK(cause(domain, 100, IOMMU_READ) == IOMMU_CAUSE_RIGHTS);
    CHECK(cause(domain, 100, IOMMU_WRITE) == IOMMU_CAUSE_NO_RAM);
    iommu_unmap_run(domain, chosen, 4);
    CHECK(cause(domain, 99, IOMMU_READ) == IOMMU_CAUSE_UNMAPPED);
    CHECK(cause(domain, 100, IOMMU_READ) == IOMMU_CAUSE_STALE);
    CHECK(cause(domain, 103, IOMMU_READ) == IOMMU_CAUSE_STALE);
    CHECK(cause(domain, 104, IOMMU_READ) == IOMMU_CAUSE_UNMAPPED);
    CHECK(strcmp(iommu_cause_text(IOMMU_CAUSE_UNMAPPED), "which is not mapped for it") == 0);
    CHECK(strcmp(iommu_cause_text(IOMMU_CAUSE_STALE), "which is not mapped for it any more") == 0);
    iommu_domain_destroy(domain);
}

/* ---- flushes ---- */

TEST_WITH(place, flushes_of_nothing_and_of_single_pages)
{
    struct iommu_domain *domain = make(IOMMU_REMAP, 1ull << 20);

    CHECK(map_at(domain, 100, 50, 3) == IOMMU_DONE);
    CHECK(reach(domain, 100) == 50 && reach(domain, 101) == 51 && reach(domain, 102) == 52);
    iommu_unmap_run_unflushed(domain, at(100), 3);
    iommu_domain_lose_flushes(domain, 1);
    iommu_flush_run(domain, at(100), 0); /* none, and none is lost */
    iommu_flush_run(domain, at(100), 3); /* lost */
    CHECK_RULE("IOMMU-074/a", reach(domain, 100) == 50 && reach(domain, 102) == 52);
    iommu_flush_run(domain, at(101), 1);
    CHECK_RULE("IOMMU-074/b",
               reach(domain, 100) == 50 && reach(domain, 101) == 0 && reach(domain, 102) == 52);
    iommu_flush_run(domain, at(0), 1ull << 30);
    CHECK_RULE("IOMMU-074/b", reach(domain, 100) == 0 && reach(domain, 102) == 0);
    iommu_domain_destroy(domain);
}

/* A large leaf in the IOTLB serves its pages, for its rights. */
TEST_WITH(place, a_large_translation_has_rights_and_an_end)
{
    struct iommu_domain *domain = make(IOMMU_REMAP, 1ull << 20);
    const struct logical_page chosen = at(1024);
    struct phys_addr physical;

    CHECK(iommu_map_at(domain, &chosen, page(512), 512, IOMMU_READ, NULL) == IOMMU_DONE);
    CHECK(iommu_domain_large_pages(domain) == 1);
    CHECK(reach(domain, 1024 + 7) == 519 && reach(domain, 1024 + 511) == 1023);
    CHECK(reach(domain, 1023) == 0 && reach(domain, 1536) == 0);
    CHECK_RULE("IOMMU-051", !iommu_translate(domain, (struct logical_addr){1030 * PAGE_BYTES},
                                             IOMMU_WRITE, &physical));
    iommu_domain_destroy(domain);
}
