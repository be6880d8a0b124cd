/* SPDX-License-Identifier: MIT */
/* IO page tables: runs of a 2 MiB slot mapped and unmapped in batches of 32 slots, by one call or many. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "iommu/io_entries.h"
#include "iommu/io_table.h"
#include "iommu/iommu.h"
#include "ram/ram.h"
#include "util/array.h"
#include "util/rng.h"

enum { SLOT_PAGES = 512, BATCH = 32, HOT = 64, COLD = 32768, REPETITIONS = 7 };

#define FIRST_PAGE ((uint64_t)1 << 28) /* of address 2^40 */
#define RIGHTS     3u

struct work {
    const char *name;
    uint64_t slots;
    uint64_t pages; /* of a slot that are mapped */
    uint64_t call;  /* pages a call */
    bool scattered; /* frames by a list */
    bool aligned;   /* physical memory as well: one leaf of 2 MiB */
    bool per_call;  /* the figure is of a call, not of an entry */
};

static struct page_number frames[SLOT_PAGES];

static void map_slot(struct io_tables *tables, const struct work *w, uint64_t slot)
{
    uint64_t page = FIRST_PAGE + slot * SLOT_PAGES;
    uint64_t first = (slot + 1) * 2 * SLOT_PAGES + (w->aligned ? 0 : 1);

    for (uint64_t at = 0; at < w->pages; at += w->call) {
        enum io_result result = io_tables_map(tables, page + at, w->scattered ? frames + at : NULL,
                                              first + at, w->call, RIGHTS);

        if (result != IO_DONE)
            bench_die("a page is taken");
    }
}

static void unmap_slot(struct io_tables *tables, const struct work *w, uint64_t slot)
{
    for (uint64_t at = 0; at < w->pages; at += w->call)
        io_tables_unmap(tables, FIRST_PAGE + slot * SLOT_PAGES + at, w->call, NULL, NULL);
}

/* 32 slots, each another. */
static void draw(struct rng *rng, uint64_t slots, uint64_t *batch, uint8_t *used)
{
    for (unsigned i = 0; i < BATCH; i++) {
        do
            batch[i] = rng_next(rng) % slots;
        while (used[batch[i]]);
        used[batch[i]] = 1;
    }
    for (unsigned i = 0; i < BATCH; i++)
        used[batch[i]] = 0;
}

static int by_value(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

/* What reading the clock costs: as much is in each stretch of time. */
static double clock_cost(void)
{
    double least = 1, start;

    for (unsigned i = 0; i < 50; i++) {
        start = bench_now();
        for (unsigned n = 0; n < 100; n++)
            bench_now();
        start = (bench_now() - start) / 101;
        least = start < least ? start : least;
    }
    return least;
}

static void report(const struct work *w, const char *what, double *seconds, uint64_t slots)
{
    uint64_t units = w->per_call ? slots * (w->pages / w->call) : slots * w->pages;
    char name[64];

    qsort(seconds, REPETITIONS, sizeof(*seconds), by_value);
    snprintf(name, sizeof(name), "W5 %s, %s", w->name, what);
    bench_result(name, w->slots, units, seconds[REPETITIONS / 2]);
}

static void run(const struct work *w)
{
    const uint64_t batches = bench_options.quick ? 2 : 4000;
    const double clock = clock_cost();
    struct rng rng = {0x5EED0005 + bench_options.seed_base};
    double map[REPETITIONS] = {0}, unmap[REPETITIONS] = {0};
    uint8_t *used = calloc(w->slots, 1);
    uint64_t batch[BATCH];
    struct io_tables tables;

    if (!used)
        bench_die("out of memory");
    io_tables_init(&tables, false);
    for (unsigned r = 0; r < REPETITIONS; r++) {
        for (uint64_t b = 0; b < batches; b++) {
            double start, middle;

            draw(&rng, w->slots, batch, used);
            start = bench_now();
            for (unsigned i = 0; i < BATCH; i++)
                map_slot(&tables, w, batch[i]);
            middle = bench_now();
            for (unsigned i = 0; i < BATCH; i++)
                unmap_slot(&tables, w, batch[i]);
            unmap[r] += bench_now() - middle - clock;
            map[r] += middle - start - clock;
        }
    }
    report(w, "map", map, batches * BATCH);
    report(w, "unmap", unmap, batches * BATCH);
    io_tables_finish(&tables);
    free(used);
}

/* What filling as many tables costs at least: one store for each entry, or four entries a store. */
static void run_floor(void)
{
    const uint64_t count = bench_options.quick ? 64 : 200000;
    const struct io_entry_work *work = io_entry_work();
    static _Alignas(4096) uint64_t tables[HOT][SLOT_PAGES];
    double start;

    memset(tables, 0, sizeof(tables));
    start = bench_now();
    for (uint64_t i = 0; i < count; i++) {
        volatile uint64_t *entries = tables[i % HOT];

        for (uint64_t at = 0; at < SLOT_PAGES; at++)
            entries[at] = i + at;
    }
    bench_result("floor: table entry, a store each", HOT, count * SLOT_PAGES, bench_now() - start);
    start = bench_now();
    for (uint64_t i = 0; i < count; i++)
        work->fill_run(tables[i % HOT], SLOT_PAGES, i, 8);
    bench_result("floor: table entry, by vectors", HOT, count * SLOT_PAGES, bench_now() - start);
}

/* The same with all that a domain does: books of the frames, IOTLB, logical addresses. */
static void run_domain(enum iommu_mode mode, bool scattered, const char *name)
{
    static struct logical_page logical[SLOT_PAGES];
    uint64_t count = bench_options.quick ? 64 : 20000;
    struct ram *ram = ram_create(&(struct ram_config){.bytes = 4ull << 30});
    struct iommu_domain *domain = ram ? iommu_domain_create(ram, mode,
                                                            (struct logical_addr){(1ull << 48) - 1})
                                      : NULL;
    struct logical_page at;
    double start;

    if (!domain)
        bench_die("out of memory");
    start = bench_now();
    for (uint64_t i = 0; i < count; i++) {
        if (scattered ? !iommu_map(domain, frames, SLOT_PAGES, RIGHTS, logical)
                      : !iommu_map_run(domain, (struct page_number){1 + i % 1000 * 1024},
                                       SLOT_PAGES, RIGHTS, &at))
            bench_die("no logical address");
        if (scattered)
            iommu_unmap(domain, logical, SLOT_PAGES);
        else
            iommu_unmap_run(domain, at, SLOT_PAGES);
    }
    bench_result(name, 0, count * SLOT_PAGES, bench_now() - start);
    iommu_domain_destroy(domain);
    ram_destroy(ram);
}

void bench_io_table(void)
{
    static const struct work works[] = {
        {"512 entries, 1 call", HOT, 512, 512, false, false, false},
        {"512 entries, 1 call, cold", COLD, 512, 512, false, false, false},
        {"512 entries, 32 calls", HOT, 512, 16, false, false, false},
        {"512 scattered, 1 call", HOT, 512, 512, true, false, false},
        {"512 scattered, 512 calls", HOT, 512, 1, true, false, false},
        {"64 KiB call", HOT, 16, 16, false, false, true},
        {"64 KiB call, cold", COLD, 16, 16, false, false, true},
        {"4 KiB call", HOT, 1, 1, false, false, true},
        {"4 KiB call, cold", COLD, 1, 1, false, false, true},
        {"2 MiB leaf", HOT, 512, 512, false, true, true},
    };

    for (uint64_t i = 0; i < SLOT_PAGES; i++)
        frames[i].value = 3 + i * 7919 % 100003 * 2;
    run_floor();
    for (size_t i = 0; i < ARRAY_COUNT(works); i++)
        run(&works[i]);
    run_domain(IOMMU_ISOLATION, false, "domain map+unmap, isolated, a page");
    run_domain(IOMMU_REMAP, false, "domain map+unmap, logical, a page");
    run_domain(IOMMU_REMAP, true, "the same, scattered frames");
}
