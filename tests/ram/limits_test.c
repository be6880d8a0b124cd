/* SPDX-License-Identifier: MIT */
/* Memory at its limits: sizes, windows, counts that outgrow a byte, runs beyond the end, the arena of views. */
#include "support/check_rule.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ram/file.h"
#include "ram/ram.h"
#include "util/alloc.h"
#include "verify/verify.h"

#define MIB      ((uint64_t)1 << 20)
#define GIB      ((uint64_t)1 << 30)
#define PAGES    (16 * MIB / PAGE_BYTES)
#define FOUR_GIB ((uint64_t)1 << 20) /* as a page number */

static struct ram *ram;
static struct util_heap heap;
static struct verify_log *verify;

static int set_up_bytes(uint64_t bytes)
{
    heap = (struct util_heap){0};
    util_heap_current = &heap;
    verify = verify_log_create();
    verify_log_install(verify);
    ram = ram_create(&(struct ram_config){.bytes = bytes});
    return ram ? 0 : -1;
}

static int set_up(void)
{
    return set_up_bytes(16 * MIB);
}

static int set_up_large(void)
{
    return set_up_bytes(8 * GIB);
}

static int tear_down(void)
{
    ram_destroy(ram);
    verify_log_install(NULL);
    verify_log_destroy(verify);
    util_heap_current = NULL;
    return heap.live_blocks == 0 ? 0 : -1;
}

#define RIG_ARGUMENT_limits void
#define RIG_RUN_limits(body)        \
    test_set_up(set_up, tear_down); \
    body()
#define RIG_ARGUMENT_large void
#define RIG_RUN_large(body)               \
    test_set_up(set_up_large, tear_down); \
    body()

static struct page_number page(uint64_t number)
{
    return (struct page_number){number};
}

/* Of these bytes, both inclusive. */
static struct ram_request between(uint64_t pages, uint64_t low, uint64_t high)
{
    return (struct ram_request){
        .pages = pages, .low = {low}, .high = {high}, .owner = RAM_POOL, .cache = RAM_WRITE_COMBINED};
}

static bool take_at(uint64_t first, uint64_t pages)
{
    const struct ram_request request = between(pages, first * PAGE_BYTES,
                                               (first + pages) * PAGE_BYTES - 1);
    struct page_number got;

    return ram_take_contiguous(ram, &request, &got) && got.value == first;
}

/* ---- sizes and windows ---- */

TEST_WITH(limits, sizes_have_limits)
{
    struct ram *other;

    CHECK(!ram_create(&(struct ram_config){.bytes = MIB - PAGE_BYTES}));
    CHECK(!ram_create(&(struct ram_config){.bytes = 2 * MIB - 1}));
    CHECK(!ram_create(&(struct ram_config){.bytes = ((uint64_t)1 << 40) + PAGE_BYTES}));
    CHECK(!ram_create(&(struct ram_config){.bytes = 0}));
    other = ram_create(&(struct ram_config){.bytes = MIB});
    CHECK(other && ram_free_pages(other) == 255 && ram_depot(other) == NULL);
    ram_destroy(other);
    ram_destroy(NULL);
}

TEST_WITH(limits, windows_are_of_whole_pages)
{
    struct ram_request request = between(1, 100 * PAGE_BYTES + 1, 102 * PAGE_BYTES - 2);
    struct page_number first = {7};

    CHECK(!ram_take_contiguous(ram, &request, &first) && first.value == 7);
    request.high.value++;
    CHECK(ram_take_contiguous(ram, &request, &first) && first.value == 101);
    request = between(1, 16 * MIB - PAGE_BYTES, UINT64_MAX);
    CHECK(ram_take_contiguous(ram, &request, &first) && first.value == PAGES - 1);
    request = between(1, 16 * MIB, UINT64_MAX);
    CHECK(!ram_take_contiguous(ram, &request, &first));
    request = between(0, 0, 0);
    CHECK(!ram_take_contiguous(ram, &request, &first));
    request = between(PAGES, 0, 0);
    CHECK(!ram_take_contiguous(ram, &request, &first));
    CHECK(ram_free_pages(ram) == PAGES - 3 && ram_validate(ram));
    CHECK(ram_page_owner(ram, page(101)) == RAM_POOL);
    CHECK(ram_page_cache(ram, page(101)) == RAM_WRITE_COMBINED);
}

TEST_WITH(limits, boundaries_are_of_whole_pages)
{
    struct ram_request request = between(1, 0, 0);
    struct page_number first;

    request.boundary_bytes = PAGE_BYTES / 2;
    CHECK(!ram_take_contiguous(ram, &request, &first));
    request.boundary_bytes = PAGE_BYTES;
    CHECK(ram_take_contiguous(ram, &request, &first));
    request.pages = 2;
    CHECK(!ram_take_contiguous(ram, &request, &first));
    request.boundary_bytes = 2 * PAGE_BYTES;
    request.low.value = 101 * PAGE_BYTES;
    request.high.value = 103 * PAGE_BYTES - 1;
    CHECK(!ram_take_contiguous(ram, &request, &first));
    request.high.value++;
    request.high.value += PAGE_BYTES - 1;
    CHECK(ram_take_contiguous(ram, &request, &first) && first.value == 102);
}

/* ---- free runs ---- */

TEST_WITH(limits, free_runs_end_where_frames_are_used)
{
    struct page_number next = {7};

    CHECK(take_at(100, 3) && take_at(110, 1));
    CHECK(ram_free_run(ram, page(0)) == 0 && ram_free_run(ram, page(1)) == 99);
    CHECK(ram_free_run(ram, page(99)) == 1 && ram_free_run(ram, page(100)) == 0);
    CHECK(ram_free_run(ram, page(103)) == 7 && ram_free_run(ram, page(111)) == PAGES - 111);
    CHECK(ram_free_run(ram, page(PAGES - 1)) == 1 && ram_free_run(ram, page(PAGES)) == 0);
    CHECK(ram_next_free(ram, page(0), &next) && next.value == 1);
    CHECK(ram_next_free(ram, page(100), &next) && next.value == 103);
    CHECK(ram_next_free(ram, page(103), &next) && next.value == 103);
    CHECK(ram_next_free(ram, page(PAGES - 1), &next) && next.value == PAGES - 1);
    CHECK(take_at(PAGES - 1, 1) && !ram_next_free(ram, page(PAGES - 1), &next));
    CHECK(!ram_next_free(ram, page(PAGES), &next) && next.value == PAGES - 1);
}

TEST_WITH(limits, as_many_as_there_are_or_none)
{
    struct ram_request request = between(6, 100 * PAGE_BYTES, 105 * PAGE_BYTES - 1);
    struct page_number pages[6] = {{7}};

    CHECK(take_at(102, 1));
    CHECK(!ram_take_pages(ram, &request, pages) && ram_free_pages(ram) == PAGES - 2);
    CHECK(ram_take_some_pages(ram, &request, pages) == 4 && ram_free_pages(ram) == PAGES - 6);
    CHECK(ram_take_some_pages(ram, &request, pages) == 0);
    request.pages = 0;
    CHECK(ram_take_some_pages(ram, &request, pages) == 0);
    CHECK(ram_validate(ram));
}

/* ---- giving back ---- */

TEST_WITH(limits, what_is_given_back_ends_with_memory)
{
    const struct page_number list[6] = {page(PAGES - 1), page(PAGES), page(PAGES + 5),
                                        page(0),         page(50),    page(49)};

    CHECK(take_at(PAGES - 2, 2) && take_at(49, 2));
    ram_give_contiguous(ram, page(PAGES - 2), 10);
    CHECK(ram_free_pages(ram) == PAGES - 3);
    CHECK(take_at(PAGES - 1, 1));
    ram_give_contiguous(ram, page(PAGES), 3);
    ram_give_contiguous(ram, page(0), 1);
    CHECK(ram_free_pages(ram) == PAGES - 4);
    ram_give_pages(ram, list, 6);
    CHECK(ram_free_pages(ram) == PAGES - 1 && ram_validate(ram));
    CHECK(ram_page_owner(ram, page(0)) == RAM_HOST);
}

/* Neighbours in any order, and one that is not. */
TEST_WITH(limits, lists_are_given_back_in_any_order)
{
    static const uint64_t orders[4][5] = {{200, 201, 202, 203, 204},
                                          {204, 203, 202, 201, 200},
                                          {202, 203, 201, 204, 200},
                                          {202, 200, 204, 201, 203}};

    for (unsigned i = 0; i < 4; i++) {
        struct page_number list[5];

        CHECK(take_at(199, 7));
        for (unsigned k = 0; k < 5; k++)
            list[k] = page(orders[i][k]);
        ram_give_pages(ram, list, 5);
        CHECK(ram_free_pages(ram) == PAGES - 3 && ram_free_run(ram, page(200)) == 5);
        CHECK(ram_page_owner(ram, page(199)) == RAM_POOL);
        CHECK(ram_page_owner(ram, page(205)) == RAM_POOL);
        ram_give_contiguous(ram, page(199), 1);
        ram_give_contiguous(ram, page(205), 1);
        CHECK(ram_validate(ram));
    }
    ram_give_pages(ram, NULL, 0);
}

/* ---- counts ---- */

TEST_WITH(limits, counts_outgrow_a_byte)
{
    CHECK(take_at(100, 2));
    for (uint32_t n = 1; n <= 1000; n++) {
        ram_lock_page(ram, page(100));
        ram_iommu_map_page(ram, page(101));
        CHECK(ram_page_locks(ram, page(100)) == n && ram_page_iommu_maps(ram, page(101)) == n);
    }
    CHECK(ram_page_locks(ram, page(101)) == 0 && ram_page_iommu_maps(ram, page(100)) == 0);
    for (uint32_t n = 1000; n-- > 0;) {
        ram_unlock_page(ram, page(100));
        ram_iommu_unmap_page(ram, page(101));
        CHECK(ram_page_locks(ram, page(100)) == n && ram_page_iommu_maps(ram, page(101)) == n);
    }
    ram_unlock_page(ram, page(100));
    ram_iommu_unmap_page(ram, page(101));
    CHECK(ram_page_locks(ram, page(100)) == 0 && ram_page_iommu_maps(ram, page(101)) == 0);
    CHECK(ram_validate(ram));
}

TEST_WITH(limits, runs_count_as_their_pages_do)
{
    const struct page_number list[3] = {page(PAGES - 1), page(PAGES), page(101)};

    CHECK(take_at(100, 4));
    for (unsigned n = 0; n < 300; n++)
        ram_iommu_map_page(ram, page(101));
    for (unsigned n = 0; n < 256; n++)
        ram_iommu_map_run(ram, page(100), 4);
    CHECK(ram_page_iommu_maps(ram, page(100)) == 256 && ram_page_iommu_maps(ram, page(101)) == 556);
    ram_lock_page(ram, page(102));
    for (unsigned n = 0; n < 256; n++)
        ram_iommu_unmap_run(ram, page(100), 4);
    CHECK(ram_page_iommu_maps(ram, page(100)) == 0 && ram_page_iommu_maps(ram, page(101)) == 300);
    CHECK(ram_validate(ram));
    ram_give_contiguous(ram, page(100), 4);
    CHECK_RULE("PHYS-003/ac", verify_rule_count(verify, "PHYS-003") == 2);
    CHECK(ram_free_pages(ram) == PAGES - 3);
    ram_unlock_page(ram, page(102));
    for (unsigned n = 0; n < 300; n++)
        ram_iommu_unmap_run(ram, page(101), 1);
    CHECK(ram_free_pages(ram) == PAGES - 1 && ram_validate(ram));
    CHECK(take_at(PAGES - 1, 1) && take_at(101, 1));
    ram_iommu_map_pages(ram, list, 3);
    CHECK(ram_page_iommu_maps(ram, page(PAGES - 1)) == 1 &&
          ram_page_iommu_maps(ram, page(101)) == 1);
    ram_iommu_unmap_pages(ram, list, 3);
    CHECK(ram_page_iommu_maps(ram, page(PAGES - 1)) == 0 &&
          ram_page_iommu_maps(ram, page(101)) == 0);
}

/* ---- addresses ---- */

TEST_WITH(limits, addresses_are_known_to_their_last_byte)
{
    const struct phys_addr last = {16 * MIB - 1};
    struct phys_addr physical = {7};
    char *direct = ram_direct(ram, (struct phys_addr){0}), *end;

    end = ram_direct(ram, last);
    CHECK(direct && end == direct + 16 * MIB - 1);
    CHECK(!ram_direct(ram, (struct phys_addr){16 * MIB}));
    CHECK(ram_physical(ram, end, &physical) && physical.value == last.value);
    CHECK(ram_physical(ram, direct, &physical) && physical.value == 0);
    CHECK(!ram_physical(ram, end + 1, &physical) && physical.value == 0);
}

TEST_WITH(limits, views_are_apart_and_come_round)
{
    struct page_number frame = {100};
    struct phys_addr physical;
    char *first = ram_view_reserve(ram, 2), *second = ram_view_reserve(ram, 1), *again;

    CHECK(!ram_view_reserve(ram, 0));
    CHECK(!ram_view_reserve(ram, (256 * GIB + 64 * MIB) / PAGE_BYTES));
    CHECK(first && second == first + 3 * PAGE_BYTES); /* one page between */
    CHECK(take_at(100, 1) && ram_view_point(ram, second, 0, &frame, 1, true));
    CHECK(ram_physical(ram, second + PAGE_BYTES - 1, &physical) &&
          physical.value == 101 * PAGE_BYTES - 1);
    CHECK(!ram_physical(ram, second - 1, &physical) &&
          !ram_physical(ram, second + PAGE_BYTES, &physical));
    ram_view_release(ram, second, 1);
    CHECK(!ram_physical(ram, second, &physical));
    /* Addresses are not used again before the others were. */
    again = ram_view_reserve(ram, 1);
    CHECK(again == second + 2 * PAGE_BYTES);
    ram_view_release(ram, again, 1);
    ram_view_release(ram, first, 2);
    again = ram_view_reserve(ram, (256 * GIB + 64 * MIB) / PAGE_BYTES - 4);
    CHECK(again == first);
    CHECK(!ram_view_reserve(ram, 5) && ram_validate(ram));
    ram_view_release(ram, again, (256 * GIB + 64 * MIB) / PAGE_BYTES - 4);
}

TEST_WITH(limits, copies_on_write_stay_in_the_view)
{
    const struct page_number frame = {100};
    struct ram_view_source source = {.file = -1, .page = 100, .copy_on_write = true};
    char *view = ram_view_reserve(ram, 300), *direct;

    CHECK(take_at(100, 300) && view && ram_view_point_run(ram, view, 0, &source, 300));
    direct = ram_direct(ram, page_phys(frame));
    direct[0] = 'd';
    CHECK(view[0] == 'd');
    view[0] = 'v';
    CHECK(direct[0] == 'd' && view[0] == 'v');
    source.copy_on_write = false;
    source.writable = true;
    CHECK(ram_view_point_run(ram, view, 0, &source, 300) && view[0] == 'd');
    view[299 * PAGE_BYTES] = 'w';
    CHECK(direct[299 * PAGE_BYTES] == 'w');
    heap.fail_at = heap.requests + 1;
    CHECK(!ram_view_point_file(ram, view, 0, -1, 0, 1, false));
    heap.fail_at = 0;
    CHECK(view[0] == 'd');
    ram_view_release(ram, view, 300);
}

/* ---- beyond 4 GiB ---- */

static uint64_t take_two(uint64_t low, uint64_t end, struct page_number *pages)
{
    const struct ram_request request = between(2, low * PAGE_BYTES, end * PAGE_BYTES - 1);

    return ram_take_some_pages(ram, &request, pages);
}

TEST_WITH(large, pieces_come_from_above_first)
{
    struct page_number pages[2];

    CHECK(take_at(FOUR_GIB + 11, 1));
    CHECK(take_two(FOUR_GIB + 10, FOUR_GIB + 13, pages) == 2);
    CHECK(pages[0].value + pages[1].value == 2 * FOUR_GIB + 22 && pages[0].value != pages[1].value);
    CHECK(take_at(FOUR_GIB - 1, 1));
    CHECK(take_two(FOUR_GIB - 2, FOUR_GIB + 1, pages) == 2);
    CHECK(pages[0].value == FOUR_GIB && pages[1].value == FOUR_GIB - 2);
    CHECK(take_at(300, 1));
    CHECK(take_two(299, 302, pages) == 2);
    CHECK(pages[0].value + pages[1].value == 600 && pages[0].value != pages[1].value);
    CHECK(take_two(299, 302, pages) == 0 && ram_validate(ram));
}

/* ---- files ---- */

TEST_WITH(limits, files_that_cannot_be_made)
{
    struct ram_file file;

    CHECK(!ram_file_open(NULL, (uint64_t)1 << 63, &file) && !file.bytes && file.file == -1);
    CHECK(!ram_file_open(NULL, (uint64_t)1 << 47, &file) && !file.bytes && file.file == -1);
}

TEST_WITH(limits, a_depot_keeps_what_is_small)
{
    struct ram_depot *depot = ram_depot_create();
    struct ram_file file;
    uint8_t *bytes;

    CHECK(depot && ram_file_open(depot, 64 * MIB, &file));
    bytes = file.bytes;
    memset(file.bytes, 1, 32 * MIB);
    ram_file_close(depot, &file);
    CHECK(ram_file_open(depot, 64 * MIB, &file) && file.bytes == bytes);
    CHECK(file.bytes[0] == 0 && file.bytes[32 * MIB - 1] == 0);
    ram_file_close(depot, &file);
    ram_depot_destroy(depot);
}
