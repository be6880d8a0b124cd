/* SPDX-License-Identifier: MIT */
/* Heap memory: counting, injection, release; the object cache and the checked arithmetic on top. */
#include "support/check_rule.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"
#include "util/checked.h"
#include "util/slab.h"

static struct util_heap heap;

static int up(void)
{
    heap = (struct util_heap){0};
    util_heap_current = &heap;
    return 0;
}

static int down(void)
{
    util_heap_current = NULL;
    return heap.live_blocks == 0 && heap.live_bytes == 0 ? 0 : -1;
}

#define RIG_ARGUMENT_alloc void
#define RIG_RUN_alloc(body) \
    test_set_up(up, down);  \
    body()

TEST_WITH(alloc, blocks_are_counted)
{
    char *a = util_alloc(10), *b = util_zalloc(5, 4), *c = util_strdup("text");

    CHECK(heap.live_blocks == 3 && heap.live_bytes == 35 && heap.requests == 3);
    CHECK((uintptr_t)a % _Alignof(max_align_t) == 0 && b[19] == 0 && strcmp(c, "text") == 0);
    a = util_realloc(a, 1000);
    CHECK(heap.live_blocks == 3 && heap.live_bytes == 1025);
    util_free(b);
    util_free(a);
    util_free(c);
    util_free(NULL);
}

TEST_WITH(alloc, the_chosen_request_fails)
{
    void *a, *b;

    heap.fail_at = 2;
    a = util_alloc(1);
    CHECK(a && util_alloc(1) == NULL && heap.failures == 1);
    b = util_alloc(1);
    CHECK(b && !util_fault_point());
    heap.fail_at = heap.requests + 1;
    CHECK(util_fault_point() && !util_fault_point());
    heap.fail_at = heap.requests + 1;
    heap.fail_onward = true;
    CHECK(util_realloc(a, 500) == NULL && util_strdup("x") == NULL && util_zalloc(1, 1) == NULL);
    util_free(a);
    util_free(b);
}

TEST_WITH(alloc, sizes_that_overflow_fail)
{
    CHECK(util_zalloc(SIZE_MAX / 2, 3) == NULL && util_alloc(SIZE_MAX) == NULL &&
          util_alloc(SIZE_MAX - 8) == NULL);
    CHECK(heap.requests == 3);
}

TEST_WITH(alloc, release_frees_what_is_left)
{
    for (unsigned i = 0; i < 7; i++)
        CHECK(util_alloc(i));
    CHECK(util_heap_release(&heap) == 7 && heap.live_blocks == 0);
}

TEST_WITH(alloc, blocks_remember_their_heap)
{
    void *counted = util_alloc(8), *plain;

    util_heap_current = NULL;
    plain = util_alloc(8);
    CHECK(heap.live_blocks == 1 && !util_fault_point());
    util_free(counted);
    CHECK(heap.live_blocks == 0);
    util_heap_current = &heap;
    plain = util_realloc(plain, 100);
    util_free(plain);
}

TEST_WITH(alloc, objects_of_a_slab_are_distinct_and_reused)
{
    struct slab slab;
    char *objects[100];

    slab_init(&slab, 64);
    for (unsigned i = 0; i < 100; i++) {
        objects[i] = slab_take(&slab);
        CHECK(objects[i] && (uintptr_t)objects[i] % 64 == 0);
        memset(objects[i], (int)i, 64);
    }
    for (unsigned i = 0; i < 100; i++)
        CHECK(objects[i][0] == (char)i && objects[i][63] == (char)i);
    CHECK(slab_validate(&slab));
    slab_give(&slab, objects[42]);
    CHECK(slab_take(&slab) == objects[42]);
    CHECK(slab_reserve(&slab, 500) && slab.spare_objects >= 500 && slab_validate(&slab));
    heap.fail_at = heap.requests + 1;
    heap.fail_onward = true;
    for (unsigned i = 0; i < 500; i++)
        CHECK(slab_take(&slab));
    while (slab_take(&slab))
        ;
    CHECK(slab.spare_objects == 0 && slab_validate(&slab));
    slab_finish(&slab);
}

/* A large cache asks for its memory in whole huge pages, and is still looked at quickly. */
TEST_WITH(alloc, a_large_slab_grows_by_huge_pages)
{
    enum { COUNT = 40000, BYTES = 512 };
    void **objects = calloc(COUNT, sizeof(void *));
    uint64_t chunks;
    struct slab slab;

    slab_init(&slab, BYTES);
    for (unsigned i = 0; i < COUNT; i++) {
        objects[i] = slab_take(&slab);
        CHECK(objects[i] && (uintptr_t)objects[i] % BYTES % 64 == 0);
    }
    chunks = heap.live_blocks;
    CHECK(chunks < 40 && slab.objects <= COUNT + COUNT / 4 + 4096);
    CHECK((uintptr_t)objects[COUNT - 1] / (2 << 20) == (uintptr_t)objects[COUNT - 2] / (2 << 20));
    for (unsigned i = 0; i < COUNT; i++)
        slab_give(&slab, objects[i * 7919ull % COUNT]);
    CHECK(slab_validate(&slab) && slab.spare_objects == slab.objects);
    slab_finish(&slab);
    CHECK(heap.live_blocks == 0);
    free(objects);
}

TEST_WITH(alloc, checked_arithmetic_tells_what_does_not_fit)
{
    uint64_t wide;
    uint32_t narrow;

    CHECK(!ckd_add(&wide, UINT64_MAX - 1, 1) && wide == UINT64_MAX && ckd_add(&wide, UINT64_MAX, 1));
    CHECK(ckd_mul(&narrow, 65536u, 65536u) && !ckd_mul(&narrow, 65535u, 65537u) &&
          narrow == UINT32_MAX);
    CHECK(ckd_sub(&narrow, 1u, 2u));
    CHECK(!ckd_align_up(&wide, 4097, 4096) && wide == 8192 && ckd_align_up(&wide, UINT64_MAX, 4096));
    CHECK(range_inside(8, 0, 8) && range_inside(0, 8, 8) && !range_inside(1, 8, 8) &&
          !range_inside(UINT64_MAX, 2, 8));
    CHECK(ranges_overlap(0, 5, 4, 1) && !ranges_overlap(0, 4, 4, 1) && !ranges_overlap(4, 0, 0, 10));
    CHECK(power_of_two_at_least(1) == 1 && power_of_two_at_least(5) == 8 &&
          power_of_two_at_least(8) == 8);
}
