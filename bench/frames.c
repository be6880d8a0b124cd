/* SPDX-License-Identifier: MIT */
/*
 * Physical frames: runs under constraints (W4 of the workloads, W4u without constraints), sets of
 * single frames (W4s), and what the books of a nearly empty machine cost.
 *
 * A W4 request takes six draws, in this order: size, alignment, class of bounds, place of an 8 GiB
 * window, whether there is a boundary, and which. Operations are timed one by one by the time-stamp
 * counter, so a figure holds about 10 ns of measuring.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <x86intrin.h>

#include "bench.h"
#include "ram/ram.h"
#include "util/rng.h"

#define GIB        ((uint64_t)1 << 30)
#define MOST_PAGES 512u

/* ---- draws ---- */

static double unit(struct rng *rng)
{
    return (double)(rng_next(rng) >> 11) * 0x1p-53;
}

static uint64_t draw_pages(struct rng *rng)
{
    uint64_t pages = (uint64_t)floor(exp2(unit(rng) * log2(513)));

    return pages > MOST_PAGES ? MOST_PAGES : pages;
}

/* Bounds by class. They are those of 64 GiB, and grow with RAM, or the requests for the lowest
 * addresses would soon be for more than there is. */
static void draw_bounds(struct ram_request *request, double class, double place, uint64_t bytes)
{
    uint64_t sixteenth = bytes / 16;

    request->high.value = bytes - 1;
    if (class >= .80 && class < .85) {
        request->high.value = sixteenth - 1;
    } else if (class >= .85 && class < .90) {
        request->low.value = sixteenth;
    } else if (class >= .90 && class < .95) {
        request->high.value = 4 * sixteenth - 1;
    } else if (class >= .95) {
        request->low.value = (uint64_t)floor(place * (double)((bytes - 2 * sixteenth) >> PAGE_BITS)) *
                             PAGE_BYTES;
        request->high.value = request->low.value + 2 * sixteenth - 1;
    }
}

static struct ram_request draw_request(struct rng *rng, uint64_t bytes, bool constrained)
{
    struct ram_request request = {.owner = RAM_CONTIGUOUS, .pages = draw_pages(rng)};
    double align = unit(rng), class = unit(rng), place = unit(rng), bounded = unit(rng);
    uint64_t boundary = (uint64_t)1 << (16 + (unsigned)floor(17 * unit(rng)));

    request.high.value = bytes - 1;
    if (!constrained)
        return request;
    request.align_bytes = align < .6 ? 4096 : align < .9 ? 65536 : (uint64_t)2 << 20;
    draw_bounds(&request, class, place, bytes);
    while (boundary < request.pages * PAGE_BYTES)
        boundary *= 2;
    if (bounded < .5)
        request.boundary_bytes = boundary;
    return request;
}

/* ---- one operation at a time ---- */

struct samples {
    uint32_t *ticks; /* of each operation */
    uint64_t count, capacity;
    double total;
};

static void sample(struct samples *samples, uint64_t ticks)
{
    samples->total += (double)ticks;
    if (samples->count < samples->capacity)
        samples->ticks[samples->count++] = ticks < UINT32_MAX ? (uint32_t)ticks : UINT32_MAX;
}

static int compare_ticks(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* Of the wall clock, whatever the figures are of: the counter runs on while others have the core. */
static double wall_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double tick_seconds(void)
{
    double start = wall_seconds(), end;
    uint64_t ticks = __rdtsc();

    do
        end = wall_seconds();
    while (end < start + .02);
    return (end - start) / (double)(__rdtsc() - ticks);
}

/* Of the sorted samples without the thousandth that took longest: an operation that another process
 * interrupted counts as what it was for. */
static double calm_mean(const struct samples *samples, double tick)
{
    uint64_t count = samples->count - samples->count / 1000;
    double total = 0;

    for (uint64_t i = 0; i < count; i++)
        total += samples->ticks[i];
    return count ? total * tick * 1e9 / (double)count : 0;
}

static double quantile(const struct samples *samples, double q, double tick)
{
    return samples->count
               ? samples->ticks[(uint64_t)(q * (double)(samples->count - 1))] * tick * 1e9
               : 0;
}

static void report(const char *name, uint64_t live, struct samples *samples)
{
    double tick = tick_seconds();

    if (samples->count == 0)
        return;
    qsort(samples->ticks, samples->count, sizeof(*samples->ticks), compare_ticks);
    bench_result(name, live, samples->count, samples->total * tick);
    bench_detail("mean_below_p99.9_ns", calm_mean(samples, tick));
    bench_detail("median_ns", quantile(samples, .5, tick));
    bench_detail("p99.9_ns", quantile(samples, .999, tick));
    bench_detail("worst_ns", quantile(samples, 1, tick));
}

static void prepare(struct samples *samples, uint64_t capacity)
{
    *samples = (struct samples){.ticks = malloc(capacity * sizeof(*samples->ticks)),
                                .capacity = capacity};
    if (!samples->ticks)
        bench_die("out of memory");
}

/* ---- W4 ---- */

struct block {
    uint32_t first, pages;
};

struct churn {
    struct ram *ram;
    struct rng rng;
    uint64_t bytes, used, live, capacity;
    bool constrained;
    struct block *blocks;
    uint64_t asked, low_asked, low_given;
    struct samples takes, gives;
};

static bool asks_for_low(const struct churn *churn, const struct ram_request *request)
{
    return request->high.value < churn->bytes / 16;
}

/* What the request demanded, it must have got: figures of wrong answers are worth nothing. */
static void check_place(const struct ram_request *request, uint64_t first)
{
    uint64_t start = first * PAGE_BYTES, last = start + request->pages * PAGE_BYTES - 1;

    if (start < request->low.value || last > request->high.value ||
        (request->align_bytes && start % request->align_bytes != 0) ||
        (request->boundary_bytes &&
         start / request->boundary_bytes != last / request->boundary_bytes))
        bench_die("a run of frames in a wrong place");
}

static bool take(struct churn *churn, const struct ram_request *request, bool timed)
{
    struct page_number first;
    uint64_t start = __rdtsc(), end;
    bool taken = ram_take_contiguous(churn->ram, request, &first);

    end = __rdtsc();
    if (timed) {
        sample(&churn->takes, end - start);
        churn->asked++;
        churn->low_asked += asks_for_low(churn, request);
        churn->low_given += taken && asks_for_low(churn, request);
    }
    if (!taken)
        return false;
    check_place(request, first.value);
    if (churn->live == churn->capacity)
        bench_die("more blocks than expected");
    churn->blocks[churn->live++] = (struct block){(uint32_t)first.value, (uint32_t)request->pages};
    churn->used += request->pages;
    return true;
}

static void give_one(struct churn *churn)
{
    uint64_t at = rng_next(&churn->rng) % churn->live;
    struct block block = churn->blocks[at];
    uint64_t start = __rdtsc();

    ram_give_contiguous(churn->ram, (struct page_number){block.first}, block.pages);
    sample(&churn->gives, __rdtsc() - start);
    churn->blocks[at] = churn->blocks[--churn->live];
    churn->used -= block.pages;
}

static void fill(struct churn *churn, uint64_t target)
{
    unsigned refused = 0;

    while (refused < 100000) {
        struct ram_request request = draw_request(&churn->rng, churn->bytes, churn->constrained);

        if (churn->used + request.pages > target)
            return;
        refused += !take(churn, &request, false);
    }
    bench_die("not filled: %.3f", (double)churn->used / (double)target);
}

static void runs(const char *what, uint64_t bytes, double occupancy, bool constrained)
{
    uint64_t pages = bytes / PAGE_BYTES, target = (uint64_t)((double)pages * occupancy);
    uint64_t count = bench_options.quick ? 2000 : 1000000, given = 0, books;
    struct churn churn = {.ram = ram_create(&(struct ram_config){.bytes = bytes}),
                          .rng = {0xC0FFEE00 + bench_options.seed_base},
                          .bytes = bytes,
                          .capacity = pages / 16,
                          .constrained = constrained};
    char name[64];

    churn.blocks = malloc(churn.capacity * sizeof(*churn.blocks));
    if (!churn.ram || !churn.blocks)
        bench_die("out of memory");
    prepare(&churn.takes, count);
    prepare(&churn.gives, 4 * count);
    fill(&churn, target);
    for (uint64_t i = 0; i < count; i++) {
        struct ram_request request = draw_request(&churn.rng, bytes, constrained);

        while (churn.used + request.pages > target)
            give_one(&churn);
        given += take(&churn, &request, true);
    }
    books = ram_bookkeeping_bytes(churn.ram);
    snprintf(name, sizeof(name), "%s %g %% take", what, occupancy * 100);
    report(name, churn.live, &churn.takes);
    bench_detail("success", (double)given / (double)churn.asked);
    if (churn.low_asked)
        bench_detail("success_in_lowest_16th", (double)churn.low_given / (double)churn.low_asked);
    bench_detail("bytes_per_block", (double)books / (double)churn.live);
    snprintf(name, sizeof(name), "%s %g %% give", what, occupancy * 100);
    report(name, churn.live, &churn.gives);
    free(churn.takes.ticks);
    free(churn.gives.ticks);
    free(churn.blocks);
    ram_destroy(churn.ram);
}

static const double occupancies[] = {.50, .75, .90, .95};

void bench_frames(void)
{
    uint64_t bytes = 64 * GIB;

    for (unsigned i = 0; i < (bench_options.quick ? 1u : 4u); i++)
        runs("W4 64 GiB", bytes, bench_options.quick ? .02 : occupancies[i], true);
    runs("W4u 64 GiB", bytes, bench_options.quick ? .02 : .75, false);
}

/* Its books take up to half a GiB. */
void bench_frames_1t(void)
{
    for (unsigned i = 0; i < (bench_options.quick ? 1u : 4u); i++)
        runs("W4 1 TiB", 1024 * GIB, bench_options.quick ? .0005 : occupancies[i], true);
}

/* ---- W4s ---- */

struct page_set {
    struct page_number *list;
    uint32_t pages;
};

struct set_churn {
    struct ram *ram;
    struct rng rng;
    struct page_set *sets;
    uint64_t live, used;
    uint64_t taken_pages, given_pages;
    struct samples takes, gives;
};

static void give_set(struct set_churn *churn)
{
    struct page_set *set = &churn->sets[rng_next(&churn->rng) % churn->live];
    uint64_t start = __rdtsc();

    ram_give_pages(churn->ram, set->list, set->pages);
    sample(&churn->gives, __rdtsc() - start);
    churn->given_pages += set->pages;
    churn->used -= set->pages;
    free(set->list);
    *set = churn->sets[--churn->live];
}

static void take_set(struct set_churn *churn, uint64_t pages, bool timed)
{
    struct ram_request request = {.owner = RAM_MDL_PAGES, .pages = pages};
    struct page_set set = {.list = malloc(pages * sizeof(*set.list)), .pages = (uint32_t)pages};
    uint64_t start;
    bool taken;

    if (!set.list)
        bench_die("out of memory");
    start = __rdtsc();
    taken = ram_take_pages(churn->ram, &request, set.list);
    if (!taken)
        bench_die("frames are free and were not given");
    if (timed) {
        sample(&churn->takes, __rdtsc() - start);
        churn->taken_pages += pages;
    }
    churn->sets[churn->live++] = set;
    churn->used += pages;
}

static void sets(unsigned repetition, struct set_churn *churn)
{
    uint64_t bytes = 16 * GIB, count = bench_options.quick ? 500 : 200000;
    uint64_t target = bench_options.quick ? 50000 : bytes / PAGE_BYTES * 3 / 4;
    bool filling = true;

    churn->ram = ram_create(&(struct ram_config){.bytes = bytes});
    churn->rng.state = 0xAB0000 + repetition + bench_options.seed_base;
    churn->sets = calloc(bytes / PAGE_BYTES / 16, sizeof(*churn->sets));
    churn->live = churn->used = 0;
    if (!churn->ram || !churn->sets)
        bench_die("out of memory");
    for (uint64_t i = 0; i < count; i += !filling) {
        uint64_t pages = draw_pages(&churn->rng);

        filling &= churn->used + pages <= target;
        while (churn->used + pages > target)
            give_set(churn);
        take_set(churn, pages, !filling);
    }
    while (churn->live > 0)
        free(churn->sets[--churn->live].list);
    free(churn->sets);
    ram_destroy(churn->ram);
}

static void report_sets(const char *name, uint64_t pages, struct samples *samples)
{
    double tick = tick_seconds(), all = (double)samples->count;

    if (pages == 0)
        return;
    qsort(samples->ticks, samples->count, sizeof(*samples->ticks), compare_ticks);
    bench_result(name, 0, pages, samples->total * tick);
    bench_detail("without_slowest_0.1_%_ns", calm_mean(samples, tick) * all / (double)pages);
    free(samples->ticks);
}

void bench_frame_sets(void)
{
    struct set_churn churn = {0};

    prepare(&churn.takes, 1000000);
    prepare(&churn.gives, 4000000);
    for (unsigned i = 0; i < (bench_options.quick ? 1u : 5u); i++)
        sets(i, &churn);
    report_sets("W4s take, per page", churn.taken_pages, &churn.takes);
    report_sets("W4s give, per page", churn.given_pages, &churn.gives);
}

/* ---- books ---- */

void bench_frame_books(void)
{
    struct ram *ram = ram_create(&(struct ram_config){.bytes = 1024 * GIB});
    struct ram_request request = {.owner = RAM_CONTIGUOUS, .pages = 16};
    struct page_number first;
    double start = bench_now();

    if (!ram || !ram_take_contiguous(ram, &request, &first))
        bench_die("out of memory");
    bench_result("1 TiB, one allocation", 1, 1, bench_now() - start);
    bench_detail("bookkeeping_bytes", (double)ram_bookkeeping_bytes(ram));
    ram_destroy(ram);
}
