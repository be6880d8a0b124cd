/* SPDX-License-Identifier: MIT */
/*
 * The addresses of one space, taken and given back, among N live ranges: W1 (no constraint), WA
 * (half of the requests aligned to 2 MiB), W2 (windows of a sixteenth, too), W3 (fixed addresses).
 * Units are pages; sizes are multiples of 64 KiB. Each is run with the map of mapped and free ranges
 * as an address space uses it, with the tree of free ranges alone, and with a plain binary tree.
 * Requests are drawn before the clock starts; afterwards each live range is checked.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "address_reference.h"
#include "bench.h"
#include "util/address.h"
#include "util/array.h"
#include "util/extent.h"
#include "util/range_map.h"
#include "util/rng.h"

#define GRANULE 16u  /* pages: 64 KiB */
#define BASE    512u /* page: 2 MiB */
#define SPARSE  ((uint64_t)1 << (47 - PAGE_BITS))

enum structure { MAPPED_AND_FREE, FREE_ONLY, PLAIN_TREE, STRUCTURES };

static const char *const structure_names[STRUCTURES] = {"mapped+free", "free only", "plain tree"};

/* One space, in one of the structures. */
struct space {
    enum structure structure;
    struct range_map map;
    struct extent_tree tree;
    struct reference *reference;
};

struct slot {
    uint64_t start;
    uint32_t size; /* 0: empty */
};

struct request {
    uint32_t slot, size;
    uint32_t align;
    uint64_t low, high;
};

struct workload {
    const char *name;
    bool aligned, windows, sparse;
};

/* ---- structures ---- */

static void space_open(struct space *space, enum structure structure, uint64_t first, uint64_t end)
{
    bool good = true;

    space->structure = structure;
    if (structure == MAPPED_AND_FREE) {
        good = range_map_init(&space->map, first, end);
    } else if (structure == FREE_ONLY) {
        extent_tree_init(&space->tree);
        good = extent_give(&space->tree, first, end - first);
    } else {
        space->reference = reference_create(first, end);
    }
    if (!good)
        bench_die("out of memory");
}

static void space_close(struct space *space)
{
    if (space->structure == MAPPED_AND_FREE)
        range_map_finish(&space->map);
    else if (space->structure == FREE_ONLY)
        extent_tree_finish(&space->tree);
    else
        reference_destroy(space->reference);
}

static bool space_take(struct space *space, const struct extent_request *want, struct slot *slot)
{
    switch (space->structure) {
    case MAPPED_AND_FREE:
        return range_map_take(&space->map, want, slot, &slot->start);
    case FREE_ONLY:
        return extent_take(&space->tree, want, &slot->start);
    default:
        return reference_take(space->reference, want, &slot->start);
    }
}

static bool space_take_fixed(struct space *space, struct slot *slot)
{
    switch (space->structure) {
    case MAPPED_AND_FREE:
        return range_map_take_fixed(&space->map, slot->start, slot->size, slot);
    case FREE_ONLY:
        return extent_take_fixed(&space->tree, slot->start, slot->size);
    default:
        return reference_take_fixed(space->reference, slot->start, slot->size);
    }
}

static void space_give(struct space *space, const struct slot *slot)
{
    switch (space->structure) {
    case MAPPED_AND_FREE:
        (void)range_map_give(&space->map, slot->start);
        break;
    case FREE_ONLY:
        (void)extent_give(&space->tree, slot->start, slot->size);
        break;
    default:
        reference_give(space->reference, slot->start);
    }
}

static uint64_t space_bytes(const struct space *space)
{
    switch (space->structure) {
    case MAPPED_AND_FREE:
        return space->map.leaves.objects * space->map.leaves.object_bytes +
               space->map.branches.objects * space->map.branches.object_bytes;
    case FREE_ONLY:
        return space->tree.nodes.objects * space->tree.nodes.object_bytes;
    default:
        return reference_bytes(space->reference);
    }
}

/* ---- draws ---- */

/* 2^a to 2^b, logarithmic. */
static uint64_t draw_size(struct rng *rng, double a, double b)
{
    double unit = (double)(rng_next(rng) >> 11) * 0x1p-53;

    return (uint64_t)floor(exp2(a + (b - a) * unit));
}

static uint32_t draw_pages(struct rng *rng)
{
    return (uint32_t)(align_up(draw_size(rng, 12, 26), GRANULE * PAGE_BYTES) >> PAGE_BITS);
}

static void *array(uint64_t count, size_t bytes)
{
    void *block = calloc(count, bytes);

    if (!block)
        bench_die("out of memory");
    return block;
}

static void constrain(struct rng *rng, const struct workload *workload, uint64_t pages,
                      struct request *request)
{
    uint64_t aligned, windowed, window = align_down(pages / 16, GRANULE);

    if (!workload->aligned)
        return;
    aligned = rng_next(rng) & 1;
    windowed = rng_next(rng) & 1;
    if (aligned)
        request->align = 512;
    if (!workload->windows || !windowed)
        return;
    request->low = BASE + (rng_next(rng) % ((pages - window) / GRANULE + 1)) * GRANULE;
    request->high = request->low + window;
}

/* The requests that fill the slots, and those of the churn behind them. The pages of the space. */
static uint64_t draw(const struct workload *workload, struct rng *rng, uint64_t slots,
                     uint64_t pairs, struct request *requests)
{
    uint64_t total = 0, pages;

    for (uint64_t i = 0; i < slots; i++) {
        requests[i] = (struct request){
            .slot = (uint32_t)i, .size = draw_pages(rng), .align = GRANULE};
        total += requests[i].size;
    }
    for (uint64_t i = slots; i < slots + pairs; i++) {
        requests[i].slot = (uint32_t)(rng_next(rng) % slots);
        requests[i].size = draw_pages(rng);
        requests[i].align = GRANULE;
    }
    pages = workload->sparse
                ? SPARSE
                : align_up((uint64_t)((double)total * PAGE_BYTES / 0.75), 512 * PAGE_BYTES) >>
                      PAGE_BITS;
    for (uint64_t i = 0; i < slots + pairs; i++)
        constrain(rng, workload, pages, &requests[i]);
    return pages;
}

/* ---- checks ---- */

static int by_start(const void *a, const void *b)
{
    const struct slot *left = a, *right = b;

    return left->start < right->start ? -1 : left->start > right->start;
}

/* No two live ranges share a page, and all are inside the space. Sorts the slots. */
static void check_slots(struct slot *slots, uint64_t count, uint64_t end)
{
    uint64_t from = BASE;

    qsort(slots, count, sizeof(*slots), by_start);
    for (uint64_t i = 0; i < count; i++) {
        if (slots[i].size == 0)
            continue;
        if (slots[i].start < from || slots[i].start + slots[i].size > end)
            bench_die("a range in a wrong place");
        from = slots[i].start + slots[i].size;
    }
}

static void check_place(const struct request *request, const struct slot *slot)
{
    if (slot->start % request->align != 0 || slot->start < request->low ||
        (request->high && slot->start + request->size > request->high))
        bench_die("a range where the request did not allow it");
}

/* ---- runs ---- */

struct figure {
    double seconds;
    uint64_t failures, live;
    double bytes; /* of the structure, for each live range */
};

static bool serve(struct space *space, const struct request *request, struct slot *slot)
{
    const struct extent_request want = {
        .size = request->size, .align = request->align, .low = request->low, .high = request->high};

    if (slot->size > 0)
        space_give(space, slot);
    slot->size = space_take(space, &want, slot) ? request->size : 0;
    return slot->size > 0;
}

static void measure_bytes(struct figure *figure, const struct space *space,
                          const struct slot *slots, uint64_t count)
{
    figure->live = 0;
    for (uint64_t i = 0; i < count; i++)
        figure->live += slots[i].size > 0;
    figure->bytes = (double)space_bytes(space) / (double)figure->live;
}

static void churn(const struct workload *workload, enum structure structure, uint64_t seed,
                  uint64_t slots, uint64_t pairs, struct figure *figure)
{
    struct request *requests = array(slots + pairs, sizeof(*requests));
    const struct request **last = array(slots, sizeof(*last));
    struct slot *slot = array(slots, sizeof(*slot));
    struct rng rng = {seed};
    uint64_t pages = draw(workload, &rng, slots, pairs, requests);
    struct space space;
    double start;

    space_open(&space, structure, BASE, BASE + pages);
    for (uint64_t i = 0; i < slots; i++)
        (void)serve(&space, &requests[i], &slot[i]);
    figure->failures = 0;
    start = bench_now();
    for (uint64_t i = slots; i < slots + pairs; i++)
        figure->failures += !serve(&space, &requests[i], &slot[requests[i].slot]);
    figure->seconds = bench_now() - start;
    measure_bytes(figure, &space, slot, slots);
    for (uint64_t i = 0; i < slots + pairs; i++)
        last[requests[i].slot] = &requests[i];
    for (uint64_t i = 0; i < slots; i++)
        if (slot[i].size > 0)
            check_place(last[i], &slot[i]);
    check_slots(slot, slots, BASE + pages);
    space_close(&space);
    free(slot);
    free(last);
    free(requests);
}

/* W3: ranges at their own addresses, unmapped and mapped again. */
static void toggle(enum structure structure, uint64_t seed, uint64_t slots, uint64_t pairs,
                   struct figure *figure)
{
    struct slot *slot = array(slots, sizeof(*slot));
    uint32_t *order = array(slots, sizeof(*order)), *toggles = array(2 * pairs, sizeof(*toggles));
    bool *mapped = array(slots, sizeof(*mapped));
    struct rng rng = {seed};
    uint64_t end = BASE;
    struct space space;
    double start;

    for (uint64_t i = 0; i < slots; i++) {
        slot[i] = (struct slot){end, draw_pages(&rng)};
        end += slot[i].size;
        if ((rng_next(&rng) & 3) == 0)
            end += align_up(draw_size(&rng, 16, 21), GRANULE * PAGE_BYTES) >> PAGE_BITS;
        order[i] = (uint32_t)i;
    }
    for (uint64_t i = slots; i >= 2; i--) {
        uint64_t j = rng_next(&rng) % i;
        uint32_t other = order[j];

        order[j] = order[i - 1];
        order[i - 1] = other;
    }
    space_open(&space, structure, BASE, end);
    for (uint64_t i = 0; i < slots; i++)
        if (!space_take_fixed(&space, &slot[order[i]]))
            bench_die("an address that should be free is taken");
    for (uint64_t i = 0; i < slots; i++)
        mapped[order[i]] = i < slots - slots / 2;
    for (uint64_t i = slots - slots / 2; i < slots; i++)
        space_give(&space, &slot[order[i]]);
    for (uint64_t i = 0; i < 2 * pairs; i++)
        toggles[i] = (uint32_t)(rng_next(&rng) % slots);
    figure->failures = 0;
    start = bench_now();
    for (uint64_t i = 0; i < 2 * pairs; i++) {
        uint32_t at = toggles[i];

        if (mapped[at])
            space_give(&space, &slot[at]);
        else
            figure->failures += !space_take_fixed(&space, &slot[at]);
        mapped[at] = !mapped[at];
    }
    figure->seconds = bench_now() - start;
    for (uint64_t i = 0; i < slots; i++)
        slot[i].size = mapped[i] ? slot[i].size : 0;
    measure_bytes(figure, &space, slot, slots);
    check_slots(slot, slots, end);
    space_close(&space);
    free(mapped);
    free(toggles);
    free(order);
    free(slot);
}

/* ---- cases ---- */

static int by_seconds(const void *a, const void *b)
{
    const struct figure *left = a, *right = b;

    return left->seconds < right->seconds ? -1 : left->seconds > right->seconds;
}

/* NULL: W3. The median of some repetitions. */
static void run(const struct workload *workload, enum structure structure, uint64_t slots)
{
    unsigned repetitions = bench_options.quick ? 1 : slots < 1000000 ? 5 : 3;
    uint64_t pairs = bench_options.quick ? 20000 : 1000000;
    struct figure figures[5] = {{0}};
    const struct figure *median = &figures[repetitions / 2];
    char name[64];

    for (unsigned i = 0; i < repetitions; i++) {
        uint64_t seed = 0x5EED0000 + bench_options.seed_base + i;

        if (workload)
            churn(workload, structure, seed, slots, pairs, &figures[i]);
        else
            toggle(structure, seed, slots, pairs, &figures[i]);
    }
    snprintf(name, sizeof(name), "addresses %s, %s", workload ? workload->name : "W3",
             structure_names[structure]);
    qsort(figures, repetitions, sizeof(figures[0]), by_seconds);
    bench_result(name, slots, pairs, median->seconds);
    bench_detail("failures", (double)median->failures);
    bench_detail("bytes a range", median->bytes);
}

/* With alignments the plain tree tries gap after gap: its cost grows with their number. */
static bool is_endless(const struct workload *workload, enum structure structure, uint64_t slots)
{
    return structure == PLAIN_TREE && workload && workload->aligned && slots > 10000;
}

static void run_all(uint64_t slots, bool plain)
{
    static const struct workload workloads[] = {
        {.name = "W1"},
        {.name = "W1 sparse", .sparse = true},
        {.name = "WA", .aligned = true},
        {.name = "W2", .aligned = true, .windows = true},
    };

    for (unsigned i = 0; i <= ARRAY_COUNT(workloads); i++) {
        const struct workload *workload = i < ARRAY_COUNT(workloads) ? &workloads[i] : NULL;

        for (unsigned structure = 0; structure < STRUCTURES; structure++)
            if ((plain || structure != PLAIN_TREE) && !is_endless(workload, structure, slots))
                run(workload, structure, slots);
    }
}

void bench_addresses(void)
{
    for (uint64_t slots = 1000; slots <= (bench_options.quick ? 1000 : 1000000); slots *= 10)
        run_all(slots, true);
}

void bench_addresses_large(void)
{
    run_all(bench_options.quick ? 2000 : 10000000, false);
}
