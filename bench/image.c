/* SPDX-License-Identifier: MIT */
/* Windows images: how long one takes from its file to DriverEntry, and what a call of a kernel service costs in it. */
#include <stdio.h>
#include <unistd.h>

#include "bench.h"
#include "bus/bus.h"
#include "loader/loader.h"
#include "nt/nt.h"
#include "ram/ram.h"
#include "sim/machine.h"
#include "sim/sim.h"
#include "sim/thread.h"
#include "windows/large.h"
#include "x64/x64.h"

struct image_run {
    const struct loader_image *image;
    uint64_t count;
    double plain, import, host;
};

typedef void NTAPI loop(uint64_t count);

/* On a kernel thread, as a driver is called. */
static void time_calls(void *argument)
{
    struct image_run *run = argument;
    struct large_calls calls;
    double start;

    bench_check("DriverEntry",
                loader_image_entry(run->image)(NULL, (PUNICODE_STRING)(void *)&calls));
    start = bench_now();
    ((loop *)(uintptr_t)calls.plain)(run->count);
    run->plain = bench_now() - start;
    start = bench_now();
    ((loop *)(uintptr_t)calls.import)(run->count);
    run->import = bench_now() - start;
    start = bench_now();
    for (uint64_t i = 0; i < run->count; i++)
        ExGetPreviousMode();
    run->host = bench_now() - start;
}

static struct loader_image *load(const char *path)
{
    struct loader_image *image;
    char error[512];

    if (!NT_SUCCESS(loader_image_load(path, 0, &image, error, sizeof(error))))
        bench_die("%s", error);
    return image;
}

static void measure(const char *path)
{
    struct image_run run = {.count = bench_options.quick ? 10000 : 20000000};
    unsigned loads = bench_options.quick ? 3 : 200;
    struct loader_image *image;
    double start = bench_now();

    for (unsigned i = 0; i < loads; i++) {
        struct large_calls calls;

        image = load(path);
        bench_check("DriverEntry", loader_image_entry(image)(NULL, (PUNICODE_STRING)(void *)&calls));
        loader_image_unload(image);
    }
    bench_milliseconds("image: 1 MiB .sys to DriverEntry", (bench_now() - start) / loads);
    run.image = image = load(path);
    sim_thread_release(sim_thread_create("image", SIM_THREAD_KERNEL, time_calls, &run));
    sim_run(NULL, NULL, SIM_FOREVER);
    bench_result("image: plain call", 0, run.count, run.plain);
    bench_result("image: kernel service by import", 0, run.count, run.import);
    bench_result("image: the same by the host", 0, run.count, run.host);
    loader_image_unload(image);
}

void bench_image(void)
{
    const struct sim_config machine_config = {.seed = 1, .processors = 1};
    const struct ram_config ram_config = {.bytes = 64u << 20};
    struct sim_machine *machine;
    struct nt_config nt_config = {0};
    struct ram *ram;
    struct bus *bus;
    struct nt *nt;
    char path[512];

    snprintf(path, sizeof(path), "%s/large.sys", DXGK_BENCH_IMAGES);
    if (access(path, R_OK) != 0)
        return; /* its compiler is not installed */
    machine = sim_machine_create(&machine_config);
    if (!machine)
        bench_die("no machine");
    sim_enter(machine);
    ram = ram_create(&ram_config);
    bus = bus_create(ram);
    nt_config.ram = ram;
    nt_config.bus = bus;
    nt = nt_create(&nt_config);
    if (!nt || !x64_create())
        bench_die("no machine");
    measure(path);
    x64_destroy();
    nt_destroy(nt);
    bus_destroy(bus);
    ram_destroy(ram);
    sim_leave();
    sim_machine_destroy(machine);
}
