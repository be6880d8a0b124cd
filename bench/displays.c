/* SPDX-License-Identifier: MIT */
/*
 * Displays: a change of the mode, calls of the VidPN interface, pictures of display-only drivers and
 * flips of full ones, by the number of outputs. Pictures are measured beside plain copying of their
 * bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "dxgkhost/display.h"

#define WIDTH  1920u
#define HEIGHT 1080u
#define BYTES  ((size_t)WIDTH * HEIGHT * 4)
#define ROUNDS 1000u /* of drivers/outputs.c, at each commit of the smaller mode */
#define CALLS  6u    /* of the interface, a round */

static uint64_t count_of(uint64_t full)
{
    return bench_options.quick ? full / 50 + 2 : full;
}

static uint8_t *pixels_of(int value)
{
    uint8_t *pixels = malloc(BYTES);

    if (pixels)
        memset(pixels, value, BYTES);
    else
        bench_die("out of memory");
    return pixels;
}

/* Seconds that a plain copy of a picture takes. */
static double plain_copy(void)
{
    const uint64_t count = count_of(500);
    uint8_t *from = pixels_of(1), *to = pixels_of(2);
    double seconds;

    seconds = bench_now();
    for (uint64_t i = 0; i < count; i++) {
        memcpy(to, from, BYTES);
        __asm__ volatile("" : : "r"(to) : "memory");
    }
    seconds = (bench_now() - seconds) / (double)count;
    free(from);
    free(to);
    return seconds;
}

/* ---- machines ---- */

struct scene {
    struct dxgk_machine *machine;
    unsigned outputs;
    double copy;
};

static void plug(struct scene *s, unsigned output, const char *modes)
{
    size_t bytes;
    char error[256] = "";
    uint8_t *edid = dxgk_edid_of_modes(modes, &bytes, error, sizeof(error));
    const struct dxgk_monitor monitor = {.output = output, .edid = edid, .bytes = bytes};

    if (!edid || dxgk_machine_set_monitor(s->machine, &monitor, error, sizeof(error)) != DXGK_OK)
        bench_die("no monitor: %s", error);
    free(edid);
}

static void run(struct scene *s, const char *device, const char *driver,
                void (*program)(void *scene))
{
    const double start = bench_now();
    struct dxgk_machine_config config;
    char error[512] = "", option[32];
    const char *const options[] = {option};

    dxgk_machine_config_init(&config);
    config.seed = 1 + bench_options.seed_base;
    config.processors = 1;
    config.ram_bytes = UINT64_C(1) << 30;
    s->machine = dxgk_machine_create(&config, error, sizeof(error));
    snprintf(option, sizeof(option), "outputs=%u", s->outputs);
    if (!s->machine ||
        dxgk_machine_add_device(s->machine, device, options, 1, error, sizeof(error)) != DXGK_OK)
        bench_die("no machine: %s", error);
    for (unsigned i = 0; i < s->outputs; i++)
        plug(s, i, "1920x1080@60,1280x720@60");
    if (dxgk_machine_load_driver(s->machine, driver, error, sizeof(error)) != DXGK_OK)
        bench_die("no adapter: %s", error);
    if (strcmp(device, "null") == 0)
        bench_result("displays: start", s->outputs, 1, bench_now() - start);
    if (dxgk_machine_run(s->machine, "bench", program, s) != DXGK_OK)
        bench_die("the run did not end well");
    dxgk_machine_shutdown(s->machine);
    dxgk_machine_destroy(s->machine);
}

static uint64_t ddi_calls(const struct scene *s)
{
    struct dxgk_statistics statistics;

    dxgk_machine_statistics(s->machine, &statistics);
    return statistics.ddi_calls;
}

static void set_mode(unsigned source, uint32_t width, uint32_t height)
{
    const struct dxgk_display_mode mode = {.width = width, .height = height};
    char error[256] = "";

    if (dxgk_client_set_mode(0, source, &mode, error, sizeof(error)) != DXGK_OK)
        bench_die("%s", error);
}

/* ---- display-only: modes ---- */

/* The last source, whose smaller mode has no rounds of its own unless it is the first one, too. */
static void modes(const struct scene *s)
{
    const uint64_t count = count_of(200), calls = ddi_calls(s);
    const unsigned source = s->outputs - 1;
    double larger = 0, smaller = 0, start;

    for (uint64_t i = 0; i < count; i++) {
        start = bench_now();
        set_mode(source, 1280, 720);
        smaller += bench_now() - start;
        start = bench_now();
        set_mode(source, WIDTH, HEIGHT);
        larger += bench_now() - start;
    }
    bench_result("displays: change of the mode", s->outputs, count, larger);
    bench_detail("ddi_calls", (double)(ddi_calls(s) - calls) / (double)(2 * count));
    if (s->outputs == 1)
        bench_result("displays: VidPN call", 1, count * ROUNDS * CALLS, smaller - larger);
}

/* ---- display-only: pictures ---- */

/* A rectangle of each source in turn. */
static void draw(const struct scene *s, const char *name, uint32_t width, uint32_t height,
                 uint64_t count)
{
    uint8_t *pixels = pixels_of(0x40);
    const struct dxgk_drawing drawing = {
        .pixels = pixels, .pitch = (size_t)width * 4, .width = width, .height = height};
    double seconds;

    seconds = bench_now();
    for (uint64_t i = 0; i < count; i++)
        if (dxgk_client_draw(0, (unsigned)(i % s->outputs), &drawing, true, NULL, 0) != DXGK_OK)
            bench_die("nothing is drawn");
    seconds = bench_now() - seconds;
    free(pixels);
    bench_result(name, s->outputs, count, seconds);
    if (width == WIDTH)
        bench_detail("times_memcpy", seconds / (double)count / s->copy);
}

static void display_only(void *scene)
{
    const struct scene *s = scene;

    modes(s);
    if (s->outputs == 1)
        draw(s, "displays: picture of 1920 x 1080", WIDTH, HEIGHT, count_of(300));
    draw(s, "displays: picture of 64 x 64", 64, 64, count_of(5000));
}

/* ---- flips ---- */

static D3DKMT_HANDLE primary(struct bench_client *c)
{
    struct refgpu_allocation_data data = {.magic = REFGPU_UMD_MAGIC,
                                          .flags = REFGPU_ALLOCATION_PRIMARY |
                                                   REFGPU_ALLOCATION_CPU_VISIBLE,
                                          .bytes = BYTES,
                                          .width = WIDTH,
                                          .height = HEIGHT,
                                          .pitch = WIDTH * 4};
    D3DDDI_ALLOCATIONINFO2 info = {
        .pPrivateDriverData = &data, .PrivateDriverDataSize = sizeof(data), .Flags.Primary = 1};
    D3DKMT_CREATEALLOCATION create = {
        .hDevice = c->device, .NumAllocations = 1, .pAllocationInfo2 = &info};

    bench_check("D3DKMTCreateAllocation2", D3DKMTCreateAllocation2(&create));
    bench_make_resident(c, &info.hAllocation, 1);
    return info.hAllocation;
}

static void await_blank(const struct bench_client *c)
{
    const D3DKMT_WAITFORVERTICALBLANKEVENT wait = {.hAdapter = c->adapter, .hDevice = c->device};

    bench_check("D3DKMTWaitForVerticalBlankEvent", D3DKMTWaitForVerticalBlankEvent(&wait));
}

static void begin_flips(struct bench_client *c, const D3DKMT_HANDLE list[2])
{
    D3DKMT_VIDPNSOURCEOWNER_TYPE type = D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE;
    UINT source = 0;
    const D3DKMT_SETVIDPNSOURCEOWNER own = {
        .hDevice = c->device, .pType = &type, .pVidPnSourceId = &source, .VidPnSourceCount = 1};
    D3DKMT_SETDISPLAYMODE mode = {.hDevice = c->device, .hPrimaryAllocation = list[0]};

    bench_check("D3DKMTSetVidPnSourceOwner", D3DKMTSetVidPnSourceOwner(&own));
    bench_check("D3DKMTSetDisplayMode", D3DKMTSetDisplayMode(&mode));
}

static void flips(void *scene)
{
    const struct scene *s = scene;
    const uint64_t count = count_of(2000);
    D3DKMT_PRESENT present = {.Flags.Flip = 1, .FlipInterval = D3DDDI_FLIPINTERVAL_ONE};
    D3DKMT_HANDLE list[2];
    struct bench_client c;
    double seconds;

    bench_client_open(&c);
    for (unsigned i = 0; i < 2; i++)
        list[i] = primary(&c);
    begin_flips(&c, list);
    present.hContext = c.physical;
    seconds = bench_now();
    for (uint64_t i = 0; i < count; i++) {
        present.hSource = list[(i + 1) % 2];
        bench_check("D3DKMTPresent", D3DKMTPresent(&present));
        await_blank(&c);
    }
    seconds = bench_now() - seconds;
    bench_result("displays: flip of 1920 x 1080", s->outputs, count, seconds);
    bench_detail("times_memcpy", seconds / (double)count / s->copy);
    bench_client_close(&c);
}

/* A copy of a whole screen by the GPU, from D3DKMTPresent to its fence. */
static void copies(void *scene)
{
    const RECT all = {0, 0, (LONG)WIDTH, (LONG)HEIGHT};
    const struct scene *s = scene;
    const uint64_t count = count_of(300);
    D3DKMT_PRESENT present = {.Flags.Blt = 1, .SubRectCnt = 1, .pSrcSubRects = &all};
    struct bench_client c;
    double seconds;

    bench_client_open(&c);
    present.hContext = c.physical;
    present.hSource = primary(&c);
    seconds = bench_now();
    for (uint64_t i = 0; i < count; i++) {
        bench_check("D3DKMTPresent", D3DKMTPresent(&present));
        bench_drain(&c, c.physical);
    }
    seconds = bench_now() - seconds;
    bench_result("displays: copy of 1920 x 1080", s->outputs, count, seconds);
    bench_detail("times_memcpy", seconds / (double)count / s->copy);
    bench_client_close(&c);
}

void bench_displays(void)
{
    struct scene s = {.copy = plain_copy()};

    bench_result("displays: memcpy of 1920 x 1080", 0, 1, s.copy);
    for (s.outputs = 1; s.outputs <= 16; s.outputs *= 2)
        run(&s, "null", DXGK_BENCH_IMAGES "/outputs.so", display_only);
    s.outputs = 1;
    run(&s, bench_options.device, bench_options.driver, flips);
    run(&s, bench_options.device, bench_options.driver, copies);
}
