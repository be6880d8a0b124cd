/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check_rule.h"

static uint64_t now(void *host)
{
    return ((struct bench *)host)->time;
}

static bool inside(struct bench *bench, uint64_t address, size_t bytes)
{
    const bool is = address < BENCH_RAM && bytes <= BENCH_RAM - address;

    bench->refused += !is;
    return is;
}

static bool dma_read(void *host, uint64_t address, void *to, size_t bytes)
{
    struct bench *bench = host;

    if (inside(bench, address, bytes)) {
        memcpy(to, bench->ram + address, bytes);
        return true;
    }
    memset(to, 0xFF, bytes);
    return false;
}

static bool dma_write(void *host, uint64_t address, const void *from, size_t bytes)
{
    struct bench *bench = host;

    if (!inside(bench, address, bytes))
        return false;
    memcpy(bench->ram + address, from, bytes);
    return true;
}

static void interrupt(void *host, uint32_t message)
{
    struct bench *bench = host;

    CHECK(message < bench->description.messages);
    bench->interrupts[message]++;
}

static void timer_arm(void *host, unsigned timer, uint64_t delay)
{
    struct bench *bench = host;

    CHECK(timer < DXGK_DEVICE_TIMERS);
    bench->armed[timer] = true;
    bench->due[timer] = bench->time + delay;
}

static void timer_disarm(void *host, unsigned timer)
{
    ((struct bench *)host)->armed[timer] = false;
}

static void *memory(void *host, unsigned bar)
{
    return bar == 0 ? ((struct bench *)host)->vram : NULL;
}

static void trace(void *host, const char *name, uint64_t value)
{
    (void)host, (void)name, (void)value;
}

static void trace_begin(void *host, unsigned engine, const char *name, uint64_t value)
{
    (void)host, (void)engine, (void)name, (void)value;
}

static void trace_end(void *host, unsigned engine, const char *name)
{
    (void)host, (void)engine, (void)name;
}

static void dma_source(void *host, unsigned engine, uint64_t command)
{
    (void)host, (void)engine, (void)command;
}

static void outputs(void *host, const struct dxgk_device_outputs *told)
{
    ((struct bench *)host)->outputs = told;
}

/* What is not here is called by none of the models. */
static const struct dxgk_device_services services = {
    .size = sizeof(services),
    .now = now,
    .dma_read = dma_read,
    .dma_write = dma_write,
    .interrupt = interrupt,
    .timer_arm = timer_arm,
    .timer_disarm = timer_disarm,
    .memory = memory,
    .trace = trace,
    .trace_begin = trace_begin,
    .trace_end = trace_end,
    .dma_source = dma_source,
    .outputs = outputs,
};

struct bench *bench_create(const char *name, const char *const *options)
{
    struct dxgk_device_config config = {.count = 0, .option = options};
    const char *build = getenv("DXGK_BUILD"), *error = NULL;
    struct bench *bench = calloc(1, sizeof(*bench));
    dxgk_device_get_model_fn get;
    char path[1024];

    CHECK(bench != NULL);
    while (options[config.count])
        config.count++;
    (void)snprintf(path, sizeof(path), "%s/devices/%s.so", build ? build : ".", name);
    bench->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!bench->library)
        fail_msg("%s", dlerror());
    *(void **)&get = dlsym(bench->library, "dxgk_device_get_model");
    CHECK(get != NULL && get(DXGK_DEVICE_API_VERSION + 1u) == NULL);
    bench->model = get(DXGK_DEVICE_API_VERSION);
    if (!bench->model->configure(&config, &bench->description, &error))
        fail_msg("%s", error);
    bench->ram = calloc(1, BENCH_RAM);
    bench->vram = bench->description.bar[0].bytes ? calloc(1, bench->description.bar[0].bytes)
                                                  : NULL;
    CHECK(bench->ram && (bench->vram || !bench->description.bar[0].bytes));
    bench->device = bench->model->create(&config, &services, bench);
    CHECK(bench->device != NULL && bench->outputs != NULL);
    return bench;
}

void bench_destroy(struct bench *bench)
{
    bench->model->destroy(bench->device);
    free(bench->ram);
    free(bench->vram);
    dlclose(bench->library);
    free(bench);
}

const char *bench_refusal(const struct bench *bench, const char *option)
{
    const struct dxgk_device_config config = {.count = 1, .option = &option};
    struct dxgk_device_description description;
    const char *error = NULL;

    memset(&description, 0, sizeof(description));
    return bench->model->configure(&config, &description, &error) ? NULL : error;
}

uint64_t bench_read(struct bench *bench, unsigned bar, uint64_t offset, unsigned width)
{
    const uint64_t value = bench->model->read(bench->device, bar, offset, width);

    return width == 8 ? value : value & (((uint64_t)1 << (8 * width)) - 1);
}

void bench_write(struct bench *bench, unsigned bar, uint64_t offset, unsigned width, uint64_t value)
{
    bench->model->write(bench->device, bar, offset, width, value);
}

void bench_pass(struct bench *bench, uint64_t nanoseconds)
{
    const uint64_t end = bench->time + nanoseconds;

    for (;;) {
        unsigned next = DXGK_DEVICE_TIMERS;

        for (unsigned i = 0; i < DXGK_DEVICE_TIMERS; i++)
            if (bench->armed[i] && bench->due[i] <= end &&
                (next == DXGK_DEVICE_TIMERS || bench->due[i] < bench->due[next]))
                next = i;
        if (next == DXGK_DEVICE_TIMERS)
            break;
        bench->armed[next] = false;
        bench->time = bench->due[next];
        bench->model->timer(bench->device, next);
    }
    bench->time = end;
}

enum dxgk_scanout_state bench_scanout(struct bench *bench, unsigned output,
                                      struct dxgk_scanout *scanout)
{
    memset(scanout, 0, sizeof(*scanout));
    CHECK(output < bench->outputs->count);
    return bench->outputs->scanout(bench->device, output, scanout);
}

uint32_t bench_pixel(struct bench *bench, unsigned output, uint32_t x, uint32_t y)
{
    static const uint32_t bytes[] = {
        [DXGK_PIXEL_BGRX] = 4, [DXGK_PIXEL_BGR] = 3, [DXGK_PIXEL_RGB565] = 2};
    struct dxgk_scanout scanout;
    uint32_t pixel = 0;
    size_t at;

    CHECK(bench_scanout(bench, output, &scanout) == DXGK_SCANOUT_ON);
    at = (size_t)y * scanout.pitch + (size_t)x * bytes[scanout.format];
    CHECK(x < scanout.width && y < scanout.height && at + bytes[scanout.format] <= scanout.bytes);
    memcpy(&pixel, (const uint8_t *)scanout.pixels + at, bytes[scanout.format]);
    return scanout.format == DXGK_PIXEL_RGB565 ? pixel : pixel & 0xFFFFFF;
}
