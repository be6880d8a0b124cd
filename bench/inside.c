/* SPDX-License-Identifier: MIT */
/* Cases below the client interface: cost floors of the host, contiguous memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "iommu/iommu.h"
#include "physmem/physical_adapter.h"
#include "physmem/physical_memory.h"
#include "physmem/physical_services.h"
#include "ram/ram.h"
#include "sim/machine.h"
#include "sim/point.h"
#include "sim/sim.h"
#include "sim/thread.h"
#include "sim/wait.h"
#include "util/rng.h"

/* ---- floors ---- */

static int add_one(int value)
{
    return value + 1;
}

static int (*volatile indirect)(int) = add_one;

struct switching {
    uint64_t count;
    struct sim_thread *other;
    double seconds;
};

static void partner(void *argument)
{
    struct switching *s = argument;

    for (uint64_t i = 0; i < s->count; i++)
        sim_block(SIM_FOREVER, NULL);
}

static void switcher(void *argument)
{
    struct switching *s = argument;
    double start = bench_now();

    for (uint64_t i = 0; i < s->count; i++) {
        while (!sim_unblock(s->other, 0))
            sim_block(sim_now() + 1, NULL);
        sim_block(sim_now() + 1, NULL);
    }
    s->seconds = bench_now() - start;
}

/* Loads of which each needs the one before, all over so much memory: what a cache miss costs, which
 * is most of what the frame allocator costs. */
static void dependent_loads(uint64_t mebibytes)
{
    uint64_t lines = mebibytes << 14, count = bench_options.quick ? 10000 : 2000000;
    struct line {
        struct line *next;
        char rest[56];
    } *line = aligned_alloc(4096, lines * sizeof(*line)), *at;
    struct line *volatile last;
    struct rng rng = {1};
    double start;
    char name[64];

    if (!line)
        bench_die("out of memory");
    /* One cycle through all of them, in random order (Sattolo). */
    for (uint64_t i = 0; i < lines; i++)
        line[i].next = &line[i];
    for (uint64_t i = lines; --i > 0;) {
        uint64_t other = rng_next(&rng) % i;
        struct line *next = line[i].next;

        line[i].next = line[other].next;
        line[other].next = next;
    }
    at = line;
    start = bench_now();
    for (uint64_t i = 0; i < count; i++)
        at = at->next;
    last = at; /* so that it is not optimized away */
    (void)last;
    snprintf(name, sizeof(name), "floor: dependent load, %llu MiB", (unsigned long long)mebibytes);
    bench_result(name, 0, count, bench_now() - start);
    free(line);
}

void bench_floors(void)
{
    uint64_t count = bench_options.quick ? 100000 : 20000000;
    struct sim_config config = {.seed = 1, .processors = 1};
    struct sim_machine *machine = sim_machine_create(&config);
    struct switching s = {.count = count / 20};
    double start = bench_now();
    int value = 0;

    for (uint64_t i = 0; i < count; i++)
        value = indirect(value);
    bench_result("floor: indirect call", 0, count, bench_now() - start);
    start = bench_now();
    for (uint64_t i = 0; i < count; i++) {
        void *volatile block = malloc(64);

        free(block);
    }
    bench_result("floor: malloc+free 64", 0, count, bench_now() - start);
    dependent_loads(1);
    dependent_loads(16);
    dependent_loads(256);
    if (!machine)
        bench_die("no machine");
    sim_enter(machine);
    start = bench_now();
    for (uint64_t i = 0; i < count; i++)
        sim_point();
    bench_result("floor: point", 0, count, bench_now() - start);
    s.other = sim_thread_create("partner", SIM_THREAD_KERNEL, partner, &s);
    sim_thread_release(sim_thread_create("switcher", SIM_THREAD_KERNEL, switcher, &s));
    sim_run(NULL, NULL, SIM_FOREVER);
    bench_result("floor: block+unblock round trip", 0, s.count, s.seconds);
    sim_thread_release(s.other);
    sim_leave();
    sim_machine_destroy(machine);
}

/* ---- contiguous memory ---- */

static void contiguous(uint64_t live, enum iommu_mode mode, bool guard, const char *name)
{
    uint64_t count = bench_options.quick ? 2000 : 500000;
    struct sim_config machine_config = {.seed = 1, .processors = 1};
    struct ram_config ram_config = {.bytes = 64ull << 30};
    struct sim_machine *machine = sim_machine_create(&machine_config);
    struct physical_adapter_config config;
    struct physical_memory *memory;
    struct physical_adapter *adapter;
    struct iommu_domain *domain;
    struct ram *ram;
    struct rng rng = {0xC0FFEE00 + bench_options.seed_base};
    HANDLE *handles = calloc(live, sizeof(*handles));
    double start = 0;

    if (!machine || !handles)
        bench_die("out of memory");
    sim_enter(machine);
    ram = ram_create(&ram_config);
    domain = iommu_domain_create(ram, mode, (struct logical_addr){(1ull << 48) - 1});
    memory = physical_memory_create(ram, NULL);
    physical_memory_set_guard(memory, guard);
    memset(&config, 0, sizeof(config));
    config.memory = memory;
    config.domain = domain;
    config.name = "bench";
    adapter = physical_adapter_create(&config);
    for (uint64_t i = 0; i < live + count; i++) {
        DXGKARGCB_ALLOCATECONTIGUOUSMEMORY args;
        uint64_t slot = i < live ? i : rng_next(&rng) % live;

        if (i == live)
            start = bench_now();
        if (handles[slot]) {
            DXGKARGCB_FREECONTIGUOUSMEMORY args_free;

            memset(&args_free, 0, sizeof(args_free));
            args_free.hMemoryHandle = handles[slot];
            bench_check("FreeContiguousMemory", physical_contiguous_free(adapter, &args_free));
        }
        memset(&args, 0, sizeof(args));
        args.NumberOfBytes = (1 + rng_next(&rng) % 8) * 4096;
        args.HighestAcceptableAddress.QuadPart = -1;
        args.CacheType = DXGK_MEMORY_CACHING_TYPE_CACHED;
        args.BoundaryAddressMultiple.QuadPart = rng_next(&rng) & 1 ? 0x10000 : 0;
        bench_check("AllocateContiguousMemory", physical_contiguous_allocate(adapter, &args));
        handles[slot] = args.hMemoryHandle;
    }
    bench_result(name, live, count, bench_now() - start);
    physical_adapter_destroy(adapter);
    physical_memory_destroy(memory);
    iommu_domain_destroy(domain);
    ram_destroy(ram);
    sim_leave();
    sim_machine_destroy(machine);
    free(handles);
}

/* A guard page takes two more mappings of the host for each block. */
static bool guards_possible(uint64_t live)
{
    FILE *file = fopen("/proc/sys/vm/max_map_count", "r");
    unsigned long most = 0;
    bool known = file && fscanf(file, "%lu", &most) == 1;

    if (file)
        fclose(file);
    if (known && most < 2 * live + 1000) {
        printf("    %llu guards need more than vm.max_map_count = %lu\n", (unsigned long long)live,
               most);
        return false;
    }
    return true;
}

void bench_contiguous(void)
{
    static const uint64_t lives[] = {1000, 10000, 100000};

    for (size_t i = 0; i < (bench_options.quick ? 1u : 3u); i++) {
        if (guards_possible(lives[i]))
            contiguous(lives[i], IOMMU_OFF, true, "contiguous alloc+free, guarded");
        contiguous(lives[i], IOMMU_OFF, false, "contiguous alloc+free");
        contiguous(lives[i], IOMMU_ISOLATION, false, "contiguous alloc+free, isolated");
    }
}
