/* SPDX-License-Identifier: MIT */
/* The extent tree against the obvious slow version: one byte per unit, searched unit by unit. */
#include "support/check_rule.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"
#include "util/extent.h"
#include "util/rng.h"

enum { UNITS = 3000, RANGES = 400 };

struct model {
    bool free[UNITS];
};

struct range {
    uint64_t start, size;
};

static bool model_is_free(const struct model *model, uint64_t start, uint64_t size)
{
    for (uint64_t i = start; i < start + size; i++)
        if (i >= UNITS || !model->free[i])
            return false;
    return true;
}

static bool model_fits(const struct model *model, const struct extent_request *want, uint64_t start)
{
    uint64_t high = want->high ? want->high : UNITS;
    uint64_t align = want->align ? want->align : 1;

    if (start < want->low || start + want->size > high || start % align != 0)
        return false;
    return model_is_free(model, start, want->size);
}

static bool model_find(const struct model *model, const struct extent_request *want, uint64_t *start)
{
    for (uint64_t i = 0; i < UNITS; i++) {
        *start = want->from_end ? UNITS - 1 - i : i;
        if (model_fits(model, want, *start))
            return true;
    }
    return false;
}

static void model_set(struct model *model, uint64_t start, uint64_t size, bool free)
{
    memset(&model->free[start], free, size);
}

static uint64_t model_largest(const struct model *model)
{
    uint64_t best = 0, run = 0;

    for (uint64_t i = 0; i < UNITS; i++) {
        run = model->free[i] ? run + 1 : 0;
        if (run > best)
            best = run;
    }
    return best;
}

static struct extent_request random_request(struct rng *rng)
{
    struct extent_request want = {.size = 1 + rng_below(rng, rng_below(rng, 4) ? 20 : 200)};

    if (rng_below(rng, 2))
        want.align = (uint64_t)1 << rng_below(rng, 11);
    if (rng_below(rng, 3) == 0) {
        want.low = rng_below(rng, UNITS);
        want.high = want.low + rng_below(rng, UNITS);
        if (want.high > UNITS)
            want.high = 0;
    }
    want.from_end = rng_below(rng, 2);
    return want;
}

static void compare(const struct extent_tree *tree, const struct model *model, struct rng *rng)
{
    uint64_t low = rng_below(rng, UNITS), high = rng_below(rng, UNITS + 1);

    CHECK(extent_tree_validate(tree));
    CHECK(extent_largest(tree) == model_largest(model));
    if (high > low)
        CHECK(extent_is_free(tree, low, high - low) == model_is_free(model, low, high - low));
}

static void walk(uint64_t seed, bool whole, unsigned steps)
{
    static struct model model;
    struct rng rng = {.state = seed};
    struct extent_tree tree;
    struct range ranges[RANGES];
    unsigned live = 0;

    model_set(&model, 0, UNITS, false);
    extent_tree_init(&tree);
    for (uint64_t at = seed % 3; at < UNITS; at += 1000) { /* a few regions with holes between */
        CHECK(extent_give(&tree, at, at + 990 < UNITS ? 990 : UNITS - at));
        model_set(&model, at, at + 990 < UNITS ? 990 : UNITS - at, true);
    }
    for (unsigned step = 0; step < steps; step++) {
        unsigned what = rng_below(&rng, 10);

        if (what < 4 && live < RANGES) {
            struct extent_request want = random_request(&rng);
            uint64_t expected = 0, got = 0;
            bool found = model_find(&model, &want, &expected);

            CHECK(extent_take(&tree, &want, &got) == found);
            if (found) {
                CHECK(got == expected);
                model_set(&model, got, want.size, false);
                ranges[live++] = (struct range){got, want.size};
            }
        } else if (what == 4 && live < RANGES) {
            uint64_t start = rng_below(&rng, UNITS), size = 1 + rng_below(&rng, 30);
            bool found = model_is_free(&model, start, size);

            CHECK(extent_take_fixed(&tree, start, size) == found);
            if (found) {
                model_set(&model, start, size, false);
                ranges[live++] = (struct range){start, size};
            }
        } else if (live > 0) {
            unsigned pick = rng_below(&rng, live);
            struct range range = ranges[pick];

            if (!whole && range.size > 2) { /* give back a piece from the middle, keep the two ends */
                uint64_t cut = range.start + 1 + rng_below(&rng, (uint32_t)range.size - 2);

                CHECK(extent_give(&tree, cut, 1));
                model_set(&model, cut, 1, true);
                ranges[pick].size = cut - range.start;
                if (live < RANGES) {
                    ranges[live++] = (struct range){cut + 1, range.start + range.size - cut - 1};
                } else {
                    CHECK(extent_give(&tree, cut + 1, range.start + range.size - cut - 1));
                    model_set(&model, cut + 1, range.start + range.size - cut - 1, true);
                }
            } else {
                CHECK(extent_give(&tree, range.start, range.size));
                CHECK(!extent_give(&tree, range.start, range.size));
                model_set(&model, range.start, range.size, true);
                ranges[pick] = ranges[--live];
            }
        }
        compare(&tree, &model, &rng);
    }
    while (live > 0) {
        live--;
        CHECK(extent_give(&tree, ranges[live].start, ranges[live].size));
    }
    CHECK(extent_tree_validate(&tree));
    CHECK(tree.extents == 3);
    extent_tree_finish(&tree);
}

/* 60 walks: ten million steps in the long form. With sanitizers the model takes ten times as long. */
static unsigned steps(void)
{
#ifdef __SANITIZE_ADDRESS__
    const unsigned usual = 600;
#else
    const unsigned usual = 3000;
#endif

    return getenv("DXGK_LONG") ? 170000 : usual;
}

TEST(agrees_with_the_model_over_random_walks)
{
    for (uint64_t seed = 1; seed <= 40; seed++)
        walk(seed, true, steps());
}

TEST(agrees_with_the_model_when_takes_come_back_in_pieces)
{
    for (uint64_t seed = 100; seed < 120; seed++)
        walk(seed, false, steps());
}

TEST(refuses_what_overlaps_or_makes_no_sense)
{
    struct extent_tree tree;
    uint64_t start = 77;

    extent_tree_init(&tree);
    CHECK(extent_give(&tree, 10, 10));
    CHECK(!extent_give(&tree, 5, 6));
    CHECK(!extent_give(&tree, 19, 2));
    CHECK(!extent_give(&tree, 12, 3));
    CHECK(!extent_give(&tree, 0, 100));
    CHECK(!extent_give(&tree, 30, 0));
    CHECK(!extent_give(&tree, UINT64_MAX, 2));
    CHECK(!extent_take(&tree, &(struct extent_request){.size = 0}, &start));
    CHECK(!extent_take(&tree, &(struct extent_request){.size = 1, .align = 3}, &start));
    CHECK(!extent_take(&tree, &(struct extent_request){.size = UINT64_MAX}, &start));
    CHECK(!extent_take(&tree, &(struct extent_request){.size = 1, .low = UINT64_MAX}, &start));
    CHECK(!extent_take_fixed(&tree, 15, UINT64_MAX));
    CHECK(start == 77 && tree.free_units == 10);
    CHECK(extent_tree_validate(&tree));
    extent_tree_finish(&tree);
}

/* Contract: what one take gave always comes back, even with every allocation failing. */
TEST(giving_back_never_needs_memory)
{
    struct util_heap heap = {0};
    struct rng rng = {.state = 7};
    struct extent_tree tree;
    struct range *ranges = calloc(20000, sizeof(*ranges));
    unsigned live = 0;

    util_heap_current = &heap;
    extent_tree_init(&tree);
    CHECK(extent_give(&tree, 0, 100000));
    while (live < 20000) {
        struct extent_request want = {.size = 1 + rng_below(&rng, 8)};

        if (!extent_take(&tree, &want, &ranges[live].start))
            break;
        ranges[live++].size = want.size;
    }
    heap.fail_at = heap.requests + 1;
    heap.fail_onward = true;
    for (unsigned left = live; left > 0; left--) {
        unsigned pick = rng_below(&rng, left);

        CHECK(extent_give(&tree, ranges[pick].start, ranges[pick].size));
        ranges[pick] = ranges[left - 1];
        CHECK(left % 200 != 0 || extent_tree_validate(&tree));
    }
    CHECK(heap.failures == 0);
    CHECK(extent_tree_validate(&tree) && tree.extents == 1 && tree.free_units == 100000);
    extent_tree_finish(&tree);
    CHECK(heap.live_blocks == 0);
    util_heap_current = NULL;
    free(ranges);
}

TEST(a_take_without_memory_changes_nothing)
{
    struct util_heap heap = {0};
    struct extent_tree tree;
    unsigned refused = 0;
    uint64_t start;

    util_heap_current = &heap;
    extent_tree_init(&tree);
    heap.fail_at = 1;
    CHECK(!extent_give(&tree, 0, 1000));
    CHECK(extent_give(&tree, 0, 1000));
    for (unsigned i = 0; i < 300; i++) {
        uint64_t units = tree.free_units;

        heap.fail_at = heap.requests + 1;
        while (!extent_take(
            &tree, &(struct extent_request){.size = 2, .low = 3 * i, .high = 3 * i + 2}, &start)) {
            CHECK(tree.out_of_memory && tree.free_units == units && extent_tree_validate(&tree));
            refused++;
        }
        CHECK(start == 3 * i);
    }
    CHECK(refused > 3);
    CHECK(!extent_take(&tree, &(struct extent_request){.size = 2000}, &start));
    CHECK(!tree.out_of_memory);
    extent_tree_finish(&tree);
    util_heap_current = NULL;
}

TEST(walks_its_ranges_in_order)
{
    uint64_t start, size, from = 0, seen = 0;
    struct extent_tree tree;

    extent_tree_init(&tree);
    for (uint64_t i = 0; i < 50; i++)
        CHECK(extent_give(&tree, ((i * 37) % 50) * 10, 4));
    for (; extent_next(&tree, from, &start, &size); from = start + size, seen++)
        CHECK(start == seen * 10 && size == 4);
    CHECK(seen == 50);
    CHECK(extent_next(&tree, 12, &start, &size) && start == 10);
    CHECK(extent_next(&tree, 14, &start, &size) && start == 20);
    extent_tree_finish(&tree);
}

/* Lengths beyond what a summary can hold are found all the same. */
TEST(very_long_ranges_are_told_apart)
{
    const uint64_t giant = (uint64_t)1 << 40;
    struct extent_request want = {.size = giant - 512, .align = 512};
    struct extent_tree tree;
    uint64_t start;

    extent_tree_init(&tree);
    CHECK(extent_give(&tree, 1, giant - 600) && extent_give(&tree, giant, giant - 600));
    CHECK(extent_give(&tree, 2 * giant + 512, giant - 512));
    CHECK(extent_largest(&tree) == giant - 512);
    CHECK(extent_take(&tree, &want, &start) && start == 2 * giant + 512);
    CHECK(!extent_take(&tree, &want, &start) && extent_largest(&tree) == giant - 600);
    want = (struct extent_request){.size = giant / 2, .align = giant / 2, .from_end = true};
    CHECK(extent_take(&tree, &want, &start) && start == giant);
    CHECK(extent_tree_validate(&tree));
    extent_tree_finish(&tree);
}

/* Deep trees stay right while they grow and shrink at every level. */
TEST(deep_trees_grow_and_shrink)
{
    struct extent_tree tree;

    extent_tree_init(&tree);
    for (unsigned round = 0; round < 3; round++) {
        for (uint64_t i = 0; i < 30000; i++) { /* every second unit, in an order without pattern */
            CHECK(extent_give(&tree, (i * 7919 % 30000) * 2, 1));
            CHECK(i % 1000 != 0 || extent_tree_validate(&tree));
        }
        CHECK(tree.extents == 30000 && tree.height >= 4 && extent_largest(&tree) == 1);
        for (uint64_t i = 0; i < 30000; i++) {
            uint64_t at = (i * (round == 0 ? 1 : round == 1 ? 29999 : 7919) % 30000) * 2;

            CHECK(extent_take_fixed(&tree, at, 1));
            CHECK(!extent_take_fixed(&tree, at, 1));
            CHECK(i % 1000 != 0 || extent_tree_validate(&tree));
        }
        CHECK(tree.extents == 0 && tree.root == NULL && tree.free_units == 0);
    }
    extent_tree_finish(&tree);
}
