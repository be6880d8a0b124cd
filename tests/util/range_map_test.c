/* SPDX-License-Identifier: MIT */
/* The range map against the obvious slow version: the owner of each unit, searched unit by unit. */
#include "support/check_rule.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"
#include "util/range_map.h"
#include "util/rng.h"

enum { FIRST = 7, UNITS = 3000 };

struct model {
    void *owner[UNITS];
};

static bool model_is_free(const struct model *model, uint64_t start, uint64_t size)
{
    if (start < FIRST || start + size > UNITS)
        return false;
    for (uint64_t i = start; i < start + size; i++)
        if (model->owner[i])
            return false;
    return true;
}

static bool model_find(const struct model *model, const struct extent_request *want, uint64_t *start)
{
    uint64_t high = want->high ? want->high : UNITS, align = want->align ? want->align : 1;

    for (uint64_t i = 0; i < UNITS; i++) {
        *start = want->from_end ? UNITS - 1 - i : i;
        if (*start >= want->low && *start + want->size <= high && *start % align == 0 &&
            model_is_free(model, *start, want->size))
            return true;
    }
    return false;
}

static void model_set(struct model *model, uint64_t start, uint64_t size, void *owner)
{
    for (uint64_t i = start; i < start + size; i++)
        model->owner[i] = owner;
}

/* The range, or gap, that ends above the unit and whose units are mapped or not. */
static bool model_from(const struct model *model, uint64_t unit, bool mapped,
                       struct range_map_entry *entry)
{
    uint64_t end;

    unit = unit < FIRST ? FIRST : unit;
    while (unit < UNITS && (model->owner[unit] != NULL) != mapped)
        unit++;
    if (unit == UNITS)
        return false;
    entry->owner = model->owner[unit];
    for (end = unit; end < UNITS && model->owner[end] == entry->owner; end++)
        ;
    while (unit > FIRST && model->owner[unit - 1] == entry->owner)
        unit--;
    entry->first = unit;
    entry->size = end - unit;
    return true;
}

static struct extent_request random_request(struct rng *rng)
{
    struct extent_request want = {.size = 1 + rng_below(rng, rng_below(rng, 4) ? 5 : 120)};

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

/* A walk: a map and its model, whose units are `scale` units of the map. */
struct walk {
    struct model model;
    struct range_map map;
    struct rng rng;
    uint64_t scale;
};

static void compare(struct walk *w)
{
    uint64_t unit = rng_below(&w->rng, UNITS);

    CHECK(range_map_validate(&w->map));
    CHECK(range_map_at(&w->map, unit * w->scale) == w->model.owner[unit]);
    for (unsigned mapped = 0; mapped < 2; mapped++) {
        struct range_map_entry expected = {0}, got = {0};
        bool any = model_from(&w->model, unit, mapped, &expected);

        CHECK((mapped ? range_map_from(&w->map, unit * w->scale, &got)
                      : range_map_free_from(&w->map, unit * w->scale, &got)) == any);
        CHECK(got.first == expected.first * w->scale && got.size == expected.size * w->scale &&
              got.owner == expected.owner);
    }
}

static void take_somewhere(struct walk *w, void *owner)
{
    struct extent_request want = random_request(&w->rng), scaled;
    uint64_t expected = 0, got = 0;
    bool found;

    if (w->scale != 1)
        want.align = 0;
    found = model_find(&w->model, &want, &expected);
    scaled = want;
    scaled.size *= w->scale;
    scaled.low *= w->scale;
    scaled.high *= w->scale;
    CHECK(range_map_take(&w->map, &scaled, owner, &got) == found);
    if (!found)
        return;
    CHECK(got == expected * w->scale);
    model_set(&w->model, expected, want.size, owner);
}

static void take_there(struct walk *w, void *owner)
{
    uint64_t start = rng_below(&w->rng, UNITS), size = 1 + rng_below(&w->rng, 30);
    bool found = model_is_free(&w->model, start, size);

    CHECK(range_map_take_fixed(&w->map, start * w->scale, size * w->scale, owner) == found);
    if (found)
        model_set(&w->model, start, size, owner);
}

static void give_one(struct walk *w)
{
    struct range_map_entry entry;

    if (!model_from(&w->model, rng_below(&w->rng, UNITS), true, &entry))
        return;
    if (entry.size > 1 || w->scale > 1)
        CHECK(range_map_give(&w->map, entry.first * w->scale + 1) == NULL);
    CHECK(range_map_give(&w->map, entry.first * w->scale) == entry.owner);
    CHECK(range_map_give(&w->map, entry.first * w->scale) == NULL);
    model_set(&w->model, entry.first, entry.size, NULL);
}

/* Fills and empties by turns, so that nodes are split and joined. */
static void walk(uint64_t seed, uint64_t scale, unsigned steps)
{
    static struct walk w;

    memset(&w, 0, sizeof(w));
    w.rng.state = seed;
    w.scale = scale;
    CHECK(range_map_init(&w.map, FIRST * scale, UNITS * scale));
    for (unsigned step = 0; step < steps; step++) {
        unsigned takes = step / 1500 % 2 ? 3 : 7, what = rng_below(&w.rng, 10);
        void *owner = (void *)(uintptr_t)(step + 1);

        if (what < takes - 1)
            take_somewhere(&w, owner);
        else if (what < takes)
            take_there(&w, owner);
        else
            give_one(&w);
        compare(&w);
    }
    range_map_finish(&w.map);
}

/* 50 walks: ten million steps in the long form. With sanitizers the model takes ten times as long. */
static unsigned steps(void)
{
#ifdef __SANITIZE_ADDRESS__
    const unsigned usual = 400;
#else
    const unsigned usual = 3000;
#endif

    return getenv("DXGK_LONG") ? 200000 : usual;
}

TEST(agrees_with_the_model_over_random_walks)
{
    for (uint64_t seed = 1; seed <= 30; seed++)
        walk(seed, 1, steps());
}

/* Pieces so far apart that few fit the offsets of one leaf, or none beside another. */
TEST(agrees_with_the_model_in_a_vast_space)
{
    for (uint64_t seed = 31; seed <= 40; seed++)
        walk(seed, (uint64_t)1 << 24, steps());
    for (uint64_t seed = 41; seed <= 50; seed++)
        walk(seed, (uint64_t)1 << 33, steps());
}

TEST(refuses_what_overlaps_or_makes_no_sense)
{
    struct range_map map;
    uint64_t start = 77;
    int owner;

    CHECK(range_map_init(&map, 10, 20));
    CHECK(range_map_take_fixed(&map, 12, 3, &owner));
    CHECK(!range_map_take_fixed(&map, 9, 1, &owner));
    CHECK(!range_map_take_fixed(&map, 9, 2, &owner));
    CHECK(!range_map_take_fixed(&map, 11, 2, &owner));
    CHECK(!range_map_take_fixed(&map, 14, 1, &owner));
    CHECK(!range_map_take_fixed(&map, 15, 6, &owner));
    CHECK(!range_map_take_fixed(&map, 20, 1, &owner));
    CHECK(!range_map_take_fixed(&map, 15, 0, &owner));
    CHECK(!range_map_take_fixed(&map, 15, UINT64_MAX, &owner));
    CHECK(!range_map_take(&map, &(struct extent_request){.size = 0}, &owner, &start));
    CHECK(!range_map_take(&map, &(struct extent_request){.size = 1, .align = 3}, &owner, &start));
    CHECK(!range_map_take(&map, &(struct extent_request){.size = UINT64_MAX}, &owner, &start));
    CHECK(!range_map_take(&map, &(struct extent_request){.size = 6}, &owner, &start));
    CHECK(!range_map_take(&map, &(struct extent_request){.size = 1, .low = 20}, &owner, &start));
    CHECK(!range_map_take(&map, &(struct extent_request){.size = 1, .high = 10}, &owner, &start));
    CHECK(!range_map_give(&map, 9) && !range_map_give(&map, 10) && !range_map_give(&map, 13) &&
          !range_map_give(&map, 20));
    CHECK(!range_map_at(&map, 9) && !range_map_at(&map, 11) && range_map_at(&map, 14) == &owner &&
          !range_map_at(&map, 15) && !range_map_at(&map, 20));
    CHECK(start == 77 && map.free_units == 7 && map.ranges == 1 && !map.out_of_memory);
    CHECK(range_map_take(&map, &(struct extent_request){.size = 5}, &owner, &start) && start == 15);
    CHECK(range_map_validate(&map));
    range_map_finish(&map);
}

/* Contract: giving back never needs memory. */
TEST(giving_back_never_needs_memory)
{
    struct util_heap heap = {0};
    struct rng rng = {.state = 7};
    struct range_map map;
    uint64_t *starts = calloc(20000, sizeof(*starts));
    unsigned live = 0;

    util_heap_current = &heap;
    CHECK(range_map_init(&map, 0, 100000));
    while (live < 20000) {
        struct extent_request want = {.size = 1 + rng_below(&rng, 8)};

        if (!range_map_take(&map, &want, &map, &starts[live]))
            break;
        live++;
    }
    heap.fail_at = heap.requests + 1;
    heap.fail_onward = true;
    for (unsigned left = live; left > 0; left--) {
        unsigned pick = rng_below(&rng, left);

        CHECK(range_map_give(&map, starts[pick]) == &map);
        starts[pick] = starts[left - 1];
        CHECK(left % 200 != 0 || range_map_validate(&map));
    }
    CHECK(heap.failures == 0);
    CHECK(range_map_validate(&map) && map.height == 1 && map.free_units == 100000 &&
          map.ranges == 0);
    range_map_finish(&map);
    CHECK(heap.live_blocks == 0);
    util_heap_current = NULL;
    free(starts);
}

TEST(a_take_without_memory_changes_nothing)
{
    struct util_heap heap = {0};
    struct range_map map;
    unsigned refused = 0;
    uint64_t start;

    util_heap_current = &heap;
    heap.fail_at = 1;
    CHECK(!range_map_init(&map, 0, 100000) && heap.live_blocks == 0);
    CHECK(range_map_init(&map, 0, 100000));
    for (unsigned i = 0; i < 5000; i++) {
        struct extent_request want = {.size = 2, .low = 7 * i, .high = 7 * i + 2};
        uint64_t units = map.free_units;

        heap.fail_at = heap.requests + 1;
        while (!range_map_take(&map, &want, &map, &start)) {
            CHECK(map.out_of_memory && map.free_units == units && range_map_validate(&map));
            refused++;
        }
        CHECK(start == 7 * i);
    }
    CHECK(refused > 3);
    CHECK(!range_map_take(&map, &(struct extent_request){.size = 200000}, &map, &start));
    CHECK(!map.out_of_memory);
    range_map_finish(&map);
    CHECK(heap.live_blocks == 0);
    util_heap_current = NULL;
}

/* Lengths beyond what a record can hold are found all the same. */
TEST(very_long_ranges_are_told_apart)
{
    const uint64_t giant = (uint64_t)1 << 40;
    struct extent_request want = {.size = giant - 512, .align = 512};
    struct range_map map;
    uint64_t start;
    int owner;

    CHECK(range_map_init(&map, 1, 3 * giant));
    CHECK(range_map_take_fixed(&map, giant - 599, 599, &owner));
    CHECK(range_map_take_fixed(&map, 2 * giant - 600, 1112, &owner));
    CHECK(range_map_take(&map, &want, &owner, &start) && start == 2 * giant + 512);
    CHECK(!range_map_take(&map, &want, &owner, &start));
    want = (struct extent_request){.size = giant / 2, .align = giant / 2, .from_end = true};
    CHECK(range_map_take(&map, &want, &owner, &start) && start == giant);
    CHECK(range_map_give(&map, giant) == &owner);
    want.size = giant - 600;
    CHECK(range_map_take(&map, &want, &owner, &start) && start == giant);
    CHECK(range_map_validate(&map));
    range_map_finish(&map);
}

/* A range of more units than an offset holds, with others on both sides of it. */
TEST(offsets_reach_their_limit)
{
    const uint64_t limit = (uint64_t)INT32_MAX;
    struct range_map map;
    int owner;

    for (uint64_t size = limit - 3; size <= limit + 3; size++) {
        CHECK(range_map_init(&map, 0, 4 * limit));
        CHECK(range_map_take_fixed(&map, 0, size, &owner));
        CHECK(range_map_take_fixed(&map, size, 1, &owner));
        CHECK(range_map_take_fixed(&map, size + 2, 5, &owner));
        CHECK(range_map_validate(&map));
        CHECK(range_map_at(&map, size - 1) && range_map_at(&map, size) &&
              !range_map_at(&map, size + 1) && range_map_at(&map, size + 2));
        CHECK(range_map_give(&map, 0) && range_map_give(&map, size + 2) &&
              range_map_give(&map, size));
        CHECK(range_map_validate(&map) && map.free_units == 4 * limit);
        range_map_finish(&map);
    }
}

/* Deep maps stay right while they grow and shrink at every level. */
TEST(deep_maps_grow_and_shrink)
{
    enum { COUNT = 60000 };
    struct range_map map;

    CHECK(range_map_init(&map, 0, 2 * COUNT));
    for (unsigned round = 0; round < 3; round++) {
        for (uint64_t i = 0; i < COUNT; i++) { /* every second unit, in an order without pattern */
            CHECK(range_map_take_fixed(&map, (i * 7919 % COUNT) * 2, 1, &map));
            CHECK(i % 2000 != 0 || range_map_validate(&map));
        }
        CHECK(map.ranges == COUNT && map.height >= 4);
        for (uint64_t i = 0; i < COUNT; i++) {
            uint64_t at = (i * (round == 0 ? 1 : round == 1 ? COUNT - 1 : 7919) % COUNT) * 2;

            CHECK(range_map_give(&map, at) == &map);
            CHECK(i % 2000 != 0 || range_map_validate(&map));
        }
        CHECK(map.ranges == 0 && map.height == 1 && range_map_validate(&map));
    }
    range_map_finish(&map);
}

/* Where ranges are placed one behind the other, from either end, nodes are left nearly full. */
TEST(ranges_in_a_row_are_kept_densely)
{
    for (unsigned from_end = 0; from_end < 2; from_end++) {
        struct extent_request want = {.size = 3, .from_end = from_end};
        struct range_map map;
        uint64_t start;

        CHECK(range_map_init(&map, 0, 1 << 20));
        for (unsigned i = 0; i < 100000; i++)
            CHECK(range_map_take(&map, &want, &map, &start));
        CHECK((map.leaves.objects - map.leaves.spare_objects) * 512 <= 100000 * 16);
        range_map_finish(&map);
    }
}
