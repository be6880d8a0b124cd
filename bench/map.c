/* SPDX-License-Identifier: MIT */
/* GPU virtual addresses: small ranges among many, and 1 GiB by entries of 4 KiB. */
#include <stdlib.h>

#include "bench.h"
#include "ddi/ddi.h"
#include "util/rng.h"

/* ---- map and free ---- */

static void map_client(void *argument)
{
    uint64_t live = *(uint64_t *)argument;
    uint64_t count = bench_options.quick ? 500 : 100000;
    struct rng rng = {0x5EED0000 + bench_options.seed_base};
    D3DGPU_VIRTUAL_ADDRESS *va = calloc(live, sizeof(*va));
    struct bench_client c;
    D3DKMT_HANDLE *list, one;
    UINT64 fence = 0;
    double start;

    if (!va)
        bench_die("out of memory");
    bench_client_open(&c);
    list = bench_make_live(&c, live);
    /* half of them are mapped at any time, with holes everywhere */
    for (uint64_t i = 0; i < live; i++)
        va[i] = bench_map_pages(&c, list[i], 1, &fence);
    for (uint64_t i = 0; i < live; i++)
        if (rng_next(&rng) & 1) {
            bench_unmap(&c, va[i], 4096);
            va[i] = 0;
        }
    bench_wait_queue(&c, fence);
    start = bench_now();
    for (uint64_t i = 0; i < 2 * count; i++) {
        uint64_t at = rng_next(&rng) % live;

        if (va[at] != 0)
            bench_unmap(&c, va[at], 4096);
        va[at] = va[at] != 0 ? 0 : bench_map_pages(&c, list[at], 1, &fence);
    }
    bench_wait_queue(&c, fence);
    bench_result("map+free, 4 KiB, not resident", live, count, bench_now() - start);

    count = bench_options.quick ? 100 : 20000;
    one = bench_allocate(&c, 1 << 16, REFGPU_ALLOCATION_PHYSICAL, REFGPU_IN_VRAM);
    bench_make_resident(&c, &one, 1);
    start = bench_now();
    for (uint64_t i = 0; i < count; i++) {
        D3DGPU_VIRTUAL_ADDRESS place = bench_map_pages(&c, one, 16, &fence);

        bench_wait_queue(&c, fence);
        bench_unmap(&c, place, 1 << 16);
    }
    bench_result("map+wait+free, 64 KiB, resident", live, count, bench_now() - start);
    bench_free(&c, &one, 1);
    bench_drop_live(&c, list, live);
    bench_client_close(&c);
    free(va);
}

/*
 * 1 GiB of addresses with 4 KiB entries: one allocation of 64 MiB, mapped sixteen times. The host's part is the
 * same with a driver that does nothing for what it is asked to build, so that its GPU has nothing to do either.
 * Of each the least of some repetitions.
 */
enum { WINDOWS = 16, PAGES = 16384, ENTRIES = WINDOWS * PAGES };

static struct ddi_adapter *paging_adapter; /* that was last asked to build a paging buffer */

/* Linked in its place (bench/CMakeLists.txt). */
NTSTATUS __real_ddi_build_paging_buffer(struct ddi_adapter *adapter,
                                        DXGKARG_BUILDPAGINGBUFFER *args);
NTSTATUS __wrap_ddi_build_paging_buffer(struct ddi_adapter *adapter,
                                        DXGKARG_BUILDPAGINGBUFFER *args);

NTSTATUS __wrap_ddi_build_paging_buffer(struct ddi_adapter *adapter, DXGKARG_BUILDPAGINGBUFFER *args)
{
    paging_adapter = adapter;
    return __real_ddi_build_paging_buffer(adapter, args);
}

static NTSTATUS NTAPI build_nothing(IN_CONST_HANDLE adapter, IN_PDXGKARG_BUILDPAGINGBUFFER args)
{
    (void)adapter;
    (void)args;
    return STATUS_SUCCESS;
}

struct large {
    struct bench_client client;
    D3DKMT_HANDLE large, small;
    double mapping, unmapping;
};

static void keep_least(double *least, double seconds)
{
    if (*least == 0 || seconds < *least)
        *least = seconds;
}

/* Entries are taken away before the next ones are written: so by mapping something small. */
static void settle(struct large *l)
{
    UINT64 fence = 0;
    D3DGPU_VIRTUAL_ADDRESS va = bench_map_pages(&l->client, l->small, 1, &fence);

    bench_wait_queue(&l->client, fence);
    bench_unmap(&l->client, va, 4096);
}

static void map_windows(struct large *l)
{
    D3DGPU_VIRTUAL_ADDRESS va[WINDOWS];
    double start = bench_now();
    UINT64 fence = 0;

    for (unsigned i = 0; i < WINDOWS; i++)
        va[i] = bench_map_pages(&l->client, l->large, PAGES, &fence);
    bench_wait_queue(&l->client, fence);
    keep_least(&l->mapping, bench_now() - start);
    start = bench_now();
    for (unsigned i = 0; i < WINDOWS; i++)
        bench_unmap(&l->client, va[i], (uint64_t)PAGES * 4096);
    settle(l);
    keep_least(&l->unmapping, bench_now() - start);
}

/* As a table is after other work, and again, when caches have what they can hold of it. */
static double plain_loop(volatile uint64_t *entry)
{
    double start = bench_now();

    for (uint64_t i = 0; i < ENTRIES; i++)
        entry[i] = i << 12 | 1;
    return bench_now() - start;
}

static void map_large_client(void *argument)
{
    unsigned rounds = bench_options.quick ? 1 : 200;
    uint64_t *table = calloc(ENTRIES, sizeof(*table));
    struct large all = {.mapping = 0}, host;
    double plain = 0, hot = 0;

    (void)argument;
    if (!table)
        bench_die("out of memory");
    bench_client_open(&all.client);
    all.large = bench_allocate(&all.client, (uint64_t)PAGES * 4096, REFGPU_ALLOCATION_PHYSICAL,
                               REFGPU_IN_VRAM);
    all.small = bench_allocate(&all.client, 4096, REFGPU_ALLOCATION_PHYSICAL, REFGPU_IN_VRAM);
    bench_make_resident(&all.client, &all.large, 1);
    bench_make_resident(&all.client, &all.small, 1);
    host = all;
    for (unsigned round = 0; round < rounds; round++) {
        PDXGKDDI_BUILDPAGINGBUFFER build;

        map_windows(&all);
        build = paging_adapter->table.DxgkDdiBuildPagingBuffer;
        paging_adapter->table.DxgkDdiBuildPagingBuffer = build_nothing;
        map_windows(&host);
        paging_adapter->table.DxgkDdiBuildPagingBuffer = build;
        keep_least(&plain, plain_loop(table));
        keep_least(&hot, plain_loop(table));
    }
    bench_result("floor: an entry, by a plain loop", 0, ENTRIES, plain);
    bench_result("floor: the same once more", 0, ENTRIES, hot);
    bench_result("map 1 GiB, an entry, host alone", 0, ENTRIES, host.mapping);
    bench_detail("ratio to a plain loop", host.mapping / plain);
    bench_detail("ratio to the same once more", host.mapping / hot);
    bench_result("map 1 GiB, an entry", 0, ENTRIES, all.mapping);
    bench_detail("ratio to a plain loop", all.mapping / plain);
    bench_result("free 1 GiB, an entry, host alone", 0, ENTRIES, host.unmapping);
    bench_result("free 1 GiB, an entry", 0, ENTRIES, all.unmapping);
    bench_free(&all.client, &all.large, 1);
    bench_free(&all.client, &all.small, 1);
    bench_client_close(&all.client);
    free(table);
}

void bench_map_large(void)
{
    bench_on_machine(map_large_client, NULL);
}

void bench_map(void)
{
    for (size_t i = 0; i < (bench_options.quick ? 1u : 3u); i++) {
        uint64_t live = bench_live_counts[i];

        bench_on_machine(map_client, &live);
    }
}
