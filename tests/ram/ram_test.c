/* SPDX-License-Identifier: MIT */
/* Physical memory: who gets which frames, what stands in them, and the views of them. */
#include "support/check_rule.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ram/ram.h"
#include "util/alloc.h"
#include "util/rng.h"
#include "verify/verify.h"

#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

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
    return set_up_bytes((uint64_t)1 << 40);
}

static int tear_down(void)
{
    ram_destroy(ram);
    verify_log_install(NULL);
    verify_log_destroy(verify);
    util_heap_current = NULL;
    return heap.live_blocks == 0 ? 0 : -1;
}

#define RIG_ARGUMENT_ram void
#define RIG_RUN_ram(body)           \
    test_set_up(set_up, tear_down); \
    body()
#define RIG_ARGUMENT_large_ram void
#define RIG_RUN_large_ram(body)           \
    test_set_up(set_up_large, tear_down); \
    body()

static struct ram_request ask(uint64_t pages)
{
    return (struct ram_request){.pages = pages, .owner = RAM_HOST, .cache = RAM_CACHED};
}

static struct page_number page(uint64_t number)
{
    return (struct page_number){number};
}

static bool touches_fault(volatile char *address);

static sigjmp_buf fault_mark;

static void on_fault(int signal)
{
    (void)signal;
    siglongjmp(fault_mark, 1);
}

static bool touches_fault(volatile char *address)
{
    struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_NODEFER}, before;
    volatile bool faulted = true;

    sigaction(SIGSEGV, &action, &before);
    if (sigsetjmp(fault_mark, 1) == 0) {
        (void)*address;
        faulted = false;
    }
    sigaction(SIGSEGV, &before, NULL);
    return faulted;
}

TEST_WITH(ram, reports_its_size)
{
    CHECK(ram_bytes(ram) == 16 * MIB && ram_highest(ram).value == 16 * MIB - 1);
    CHECK(ram_free_pages(ram) == 4095);
    CHECK(ram_create(&(struct ram_config){.bytes = MIB + 1}) == NULL);
    CHECK(ram_create(&(struct ram_config){.bytes = 4096}) == NULL);
}

TEST_WITH(ram, never_hands_out_frame_zero)
{
    struct ram_request request = ask(1);
    struct page_number first;
    unsigned taken = 0;

    while (ram_take_contiguous(ram, &request, &first)) {
        CHECK_RULE("PHYS-004", first.value != 0);
        taken++;
    }
    CHECK(taken == 4095 && ram_free_pages(ram) == 0 && ram_validate(ram));
}

TEST_WITH(ram, places_runs_by_window_alignment_and_boundary)
{
    struct ram_request request = ask(3);
    struct page_number first;

    request.low.value = 8 * MIB;
    request.high.value = 12 * MIB - 1;
    request.align_bytes = 65536;
    CHECK(ram_take_contiguous(ram, &request, &first) && first.value == 12 * MIB / PAGE_BYTES - 16);
    CHECK(ram_take_contiguous(ram, &request, &first) && first.value == 12 * MIB / PAGE_BYTES - 32);
    request = ask(700);
    request.boundary_bytes = 4 * MIB;
    for (unsigned i = 0; i < 3; i++) {
        CHECK(ram_take_contiguous(ram, &request, &first));
        CHECK(first.value / 1024 == (first.value + 699) / 1024);
    }
    request = ask(2);
    request.low.value = 4 * MIB + 1; /* not a whole page */
    request.high.value = 4 * MIB + 3 * PAGE_BYTES - 2;
    CHECK(!ram_take_contiguous(ram, &request, &first));
    CHECK(ram_validate(ram));
}

TEST_WITH(ram, records_owner_and_cache_and_forgets_them)
{
    struct ram_request request = {.pages = 4, .owner = RAM_CONTIGUOUS, .cache = RAM_WRITE_COMBINED};
    struct page_number first;

    CHECK(ram_take_contiguous(ram, &request, &first));
    CHECK(ram_page_owner(ram, page(first.value + 3)) == RAM_CONTIGUOUS);
    CHECK(ram_page_cache(ram, first) == RAM_WRITE_COMBINED);
    ram_give_contiguous(ram, first, 4);
    CHECK(ram_page_owner(ram, first) == RAM_FREE && ram_free_pages(ram) == 4095 &&
          ram_validate(ram));
}

TEST_WITH(ram, scattered_pages_are_all_or_nothing_and_few_runs)
{
    static struct page_number pages[4096];
    struct page_number odd[1000];
    struct ram_request request = ask(2000);
    unsigned breaks = 0;

    CHECK(ram_take_pages(ram, &request, pages));
    for (unsigned i = 0; i < 1000; i++)
        odd[i] = pages[2 * i + 1];
    ram_give_pages(ram, odd, 1000); /* 1000 holes of one page, and one run of 2095 */
    request = ask(2100);
    CHECK(ram_take_pages(ram, &request, pages));
    for (unsigned i = 1; i < 2100; i++)
        breaks += pages[i].value != pages[i - 1].value + 1;
    CHECK(breaks <= 5);
    CHECK(ram_validate(ram));
    request = ask(996);
    CHECK(!ram_take_pages(ram, &request, pages));
    CHECK(ram_free_pages(ram) == 995 && ram_validate(ram));
    request = ask(995);
    CHECK(ram_take_pages(ram, &request, pages) && ram_free_pages(ram) == 0);
    ram_give_pages(ram, pages, 995);
    CHECK(ram_free_pages(ram) == 995 && ram_validate(ram));
}

TEST_WITH(ram, zeroed_memory_is_zero_however_it_was_used)
{
    struct ram_request request = ask(1024);
    struct page_number first;
    const char *bytes;

    request.zero = true;
    for (unsigned round = 0; round < 3; round++) {
        CHECK(ram_take_contiguous(ram, &request, &first));
        bytes = ram_direct(ram, page_phys(first));
        for (uint64_t i = 0; i < 1024 * PAGE_BYTES; i += 97)
            CHECK(bytes[i] == 0);
        memset(ram_direct(ram, page_phys(first)), 0x5a, 1024 * PAGE_BYTES);
        for (unsigned i = 0; i < 1024 && round == 0; i++) /* by pages: no hole is punched */
            ram_give_contiguous(ram, page(first.value + i), 1);
        if (round > 0)
            ram_give_contiguous(ram, first, 1024);
    }
}

TEST_WITH(ram, held_frames_are_quarantined)
{
    struct ram_request request = ask(8);
    struct page_number first, other;
    unsigned taken = 0;

    CHECK(ram_take_contiguous(ram, &request, &first));
    ram_iommu_map_page(ram, page(first.value + 2));
    ram_lock_page(ram, page(first.value + 5));
    ram_give_contiguous(ram, first, 8);
    CHECK_RULE("PHYS-003/ac", verify_rule_count(verify, "PHYS-003") == 2);
    CHECK(ram_page_owner(ram, page(first.value + 2)) == RAM_QUARANTINED && ram_validate(ram));
    for (request = ask(1); ram_take_contiguous(ram, &request, &other); taken++)
        CHECK_RULE("PHYS-003/bc", other.value != first.value + 2 && other.value != first.value + 5);
    CHECK(taken == 4093);
    /* What held them lets go. */
    ram_iommu_unmap_page(ram, page(first.value + 2));
    CHECK_RULE("PHYS-003/b", ram_take_contiguous(ram, &request, &other) &&
                                 other.value == first.value + 2 && ram_validate(ram));
    ram_unlock_page(ram, page(first.value + 5));
    CHECK_RULE("PHYS-003/c", ram_take_contiguous(ram, &request, &other) &&
                                 other.value == first.value + 5 && ram_validate(ram));
}

TEST_WITH(ram, what_is_given_twice_counts_once)
{
    struct ram_request request = ask(4);
    struct page_number first;

    CHECK(ram_take_contiguous(ram, &request, &first));
    ram_give_contiguous(ram, first, 4);
    ram_give_contiguous(ram, first, 4);
    ram_give_contiguous(ram, page(0), 1);
    CHECK(ram_free_pages(ram) == 4095 && ram_validate(ram));
}

TEST_WITH(ram, giving_back_survives_without_memory)
{
    static struct page_number pages[4095], mixed[4095];
    struct ram_request request = ask(4095);
    struct page_number first;

    CHECK(ram_take_pages(ram, &request, pages));
    for (unsigned i = 0; i < 4095; i++)
        mixed[i] = pages[(i * 1024) % 4095]; /* 1024 and 4095 have no common factor */
    heap.fail_at = heap.requests + 1;
    heap.fail_onward = true;
    ram_give_pages(ram, mixed, 3000);
    CHECK(ram_free_pages(ram) == 3000 && ram_validate(ram));
    heap.fail_at = 0;
    ram_give_pages(ram, mixed + 3000, 1095);
    request = ask(4095);
    CHECK(ram_take_contiguous(ram, &request, &first) && ram_validate(ram));
}

TEST_WITH(large_ram, a_terabyte_costs_little_and_low_memory_is_spared)
{
    struct ram_request request = ask(1);
    struct page_number first;

    CHECK(ram_take_contiguous(ram, &request, &first) && first.value == ((uint64_t)1 << 28) - 1);
    request.high.value = 4 * GIB - 1;
    CHECK(ram_take_contiguous(ram, &request, &first) && first.value == (1u << 20) - 1);
    request.high.value = 16 * MIB - 1;
    CHECK(ram_take_contiguous(ram, &request, &first) && first.value == 4095);
    request.high.value = MIB - 1;
    CHECK(ram_take_contiguous(ram, &request, &first) && first.value < 256);
    strcpy(ram_direct(ram, page_phys(first)), "low");
    CHECK(heap.live_bytes < 100000);
    ram_give_contiguous(ram, first, 1);
}

TEST_WITH(ram, views_show_the_frames_and_know_them)
{
    struct ram_request request = ask(6);
    struct page_number first, order[5];
    struct phys_addr physical;
    char *view, *frame;

    CHECK(ram_take_contiguous(ram, &request, &first));
    for (unsigned i = 0; i < 6; i++)
        strcpy(ram_direct(ram, page_phys(page(first.value + i))), (char[]){(char)('a' + i), 0});
    for (unsigned i = 0; i < 5; i++)
        order[i] = page(first.value + (const uint64_t[]){4, 5, 0, 2, 1}[i]);
    view = ram_view_reserve(ram, 8);
    CHECK(view && touches_fault(view));
    CHECK(ram_view_point(ram, view, 1, order, 5, true));
    CHECK(touches_fault(view) && touches_fault(view + 6 * PAGE_BYTES));
    for (unsigned i = 0; i < 5; i++) {
        CHECK(view[(i + 1) * PAGE_BYTES] == "efacb"[i]);
        CHECK(ram_physical(ram, view + (i + 1) * PAGE_BYTES + 7, &physical));
        CHECK(physical.value == page_phys(order[i]).value + 7);
    }
    CHECK(!ram_physical(ram, view, &physical));
    view[3 * PAGE_BYTES] = 'Z';
    frame = ram_direct(ram, page_phys(first));
    CHECK(*frame == 'Z');
    CHECK(ram_physical(ram, frame + 9, &physical) && physical.value == page_phys(first).value + 9);
    CHECK(!ram_physical(ram, &physical, &physical));
    ram_view_unpoint(ram, view, 1, 5);
    CHECK(touches_fault(view + PAGE_BYTES) && !ram_physical(ram, view + PAGE_BYTES, &physical));
    ram_view_release(ram, view, 8);
    CHECK(ram_validate(ram));
}

TEST_WITH(ram, views_move_without_changing_address)
{
    struct ram_request request = ask(2);
    struct page_number first;
    char *view;
    int file = memfd_create("device", 0);

    CHECK(file >= 0 && ftruncate(file, 3 * PAGE_BYTES) == 0 &&
          pwrite(file, "dev", 4, 2 * PAGE_BYTES) == 4);
    CHECK(ram_take_contiguous(ram, &request, &first));
    strcpy(ram_direct(ram, page_phys(first)), "ram");
    view = ram_view_reserve(ram, 1);
    CHECK(ram_view_point(ram, view, 0, &first, 1, false) && strcmp(view, "ram") == 0);
    CHECK(ram_view_point_file(ram, view, 0, file, 2, 1, true) && strcmp(view, "dev") == 0);
    CHECK(!ram_physical(ram, view, &(struct phys_addr){0}));
    CHECK(ram_view_point(ram, view, 0, &first, 1, true) && strcmp(view, "ram") == 0);
    ram_view_release(ram, view, 1);
    CHECK(touches_fault(view));
    close(file);
}

TEST_WITH(ram, every_failing_request_leaves_things_as_they_were)
{
    struct ram_request request = ask(5);
    struct page_number pages[5];
    unsigned failures = 0;

    for (uint64_t n = 1;; n++) {
        struct ram *other;

        heap.fail_at = heap.requests + n;
        other = ram_create(&(struct ram_config){.bytes = MIB});
        heap.fail_at = 0;
        if (other) {
            ram_destroy(other);
            break;
        }
        failures++;
    }
    CHECK(failures >= 6);
    heap.fail_at = heap.requests + 1;
    CHECK(!ram_take_pages(ram, &request, pages) && ram_free_pages(ram) == 4095);
    heap.fail_at = heap.requests + 1;
    CHECK(!ram_take_contiguous(ram, &request, pages) && ram_free_pages(ram) == 4095);
    heap.fail_at = heap.requests + 1;
    CHECK(ram_view_reserve(ram, 3) == NULL);
    CHECK(ram_validate(ram));
}

/* Frames come and go in all shapes; the frame records must tell the same story as the tree. */
TEST_WITH(ram, stays_consistent_over_random_walks)
{
    struct rng rng = {.state = 5};
    static struct page_number held[4096];
    unsigned count = 0;

    for (unsigned step = 0; step < 600; step++) {
        if (rng_below(&rng, 2)) {
            struct ram_request request = ask(1 + rng_below(&rng, 200));
            bool ok;

            request.zero = rng_below(&rng, 2);
            if (request.pages > 4095 - count)
                continue;
            if (rng_below(&rng, 2)) {
                ok = ram_take_pages(ram, &request, held + count);
                CHECK(ok);
            } else {
                struct page_number first;

                ok = ram_take_contiguous(ram, &request, &first);
                for (unsigned i = 0; ok && i < request.pages; i++)
                    held[count + i] = page(first.value + i);
            }
            count += ok ? (unsigned)request.pages : 0;
        } else if (count > 0) {
            unsigned from = rng_below(&rng, count), many = 1 + rng_below(&rng, 150);

            if (many > count - from)
                many = count - from;
            ram_give_pages(ram, held + from, many);
            memmove(held + from, held + from + many, (count - from - many) * sizeof(*held));
            count -= many;
        }
        CHECK(ram_free_pages(ram) == 4095 - count);
        if (step % 4 == 0)
            CHECK(ram_validate(ram));
    }
}
