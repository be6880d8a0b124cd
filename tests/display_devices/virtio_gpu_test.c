/* SPDX-License-Identifier: MIT */
/* The virtio GPU: resources, scan-outs, what is flushed, and what it refuses. */
#include "support/check_rule.h"

#include <string.h>

#include "../../devices/virtio_gpu/protocol.h"
#include "support/virtio.h"

#define WIDTH  64u
#define HEIGHT 8u
#define PITCH  (WIDTH * 4u)
#define BYTES  (PITCH * HEIGHT)
#define PAGES  0x200000u /* backing: the second half of the picture lies before the first */

static const char *const plain[] = {NULL};

static struct bench *started(const char *const *options)
{
    struct bench *b = bench_create("virtio_gpu", options);

    v_start(b, 2, 64, 0);
    return b;
}

static uint32_t create(struct bench *b, uint32_t id, uint32_t format, uint32_t width,
                       uint32_t height)
{
    const struct gpu_create_2d command = {
        {.type = GPU_RESOURCE_CREATE_2D}, id, format, width, height};

    return v_command(b, &command, sizeof(command));
}

static uint32_t only(struct bench *b, uint32_t type, uint32_t id)
{
    const struct gpu_resource_only command = {{.type = type}, id, 0};

    return v_command(b, &command, sizeof(command));
}

struct attach {
    struct gpu_attach_backing command;
    struct gpu_memory_entry entry[2];
};

static uint32_t attach(struct bench *b, uint32_t id)
{
    const struct attach command = {{{.type = GPU_ATTACH_BACKING}, id, 2},
                                   {{PAGES + BYTES / 2, BYTES / 2, 0}, {PAGES, BYTES / 2, 0}}};

    return v_command(b, &command, sizeof(command));
}

static uint32_t transfer(struct bench *b, uint32_t id, struct gpu_rect rect, uint64_t offset)
{
    const struct gpu_transfer command = {{.type = GPU_TRANSFER_TO_HOST_2D}, rect, offset, id, 0};

    return v_command(b, &command, sizeof(command));
}

static uint32_t flush(struct bench *b, uint32_t id, struct gpu_rect rect)
{
    const struct gpu_flush command = {{.type = GPU_RESOURCE_FLUSH}, rect, id, 0};

    return v_command(b, &command, sizeof(command));
}

static uint32_t scan_out(struct bench *b, uint32_t scanout, uint32_t id, struct gpu_rect rect)
{
    const struct gpu_set_scanout command = {{.type = GPU_SET_SCANOUT}, rect, scanout, id};

    return v_command(b, &command, sizeof(command));
}

static const struct gpu_rect whole = {0, 0, WIDTH, HEIGHT};

/* Pixel x, y of the picture in guest memory, which is cut into halves. */
static void paint(struct bench *b, uint32_t x, uint32_t y, uint32_t value)
{
    const uint32_t offset = y * PITCH + x * 4;

    memcpy(b->ram + PAGES + (offset + BYTES / 2) % BYTES, &value, sizeof(value));
}

/* A scanned-out resource with memory. */
static struct bench *shown(void)
{
    struct bench *b = started(plain);

    CHECK(create(b, 1, GPU_BGRX, WIDTH, HEIGHT) == GPU_OK && attach(b, 1) == GPU_OK);
    CHECK(scan_out(b, 0, 1, whole) == GPU_OK);
    return b;
}

TEST(what_is_flushed_is_seen)
{
    struct bench *b = shown();
    struct dxgk_scanout s;

    CHECK(bench_scanout(b, 0, &s) == DXGK_SCANOUT_ON && s.width == WIDTH && s.height == HEIGHT);
    paint(b, 3, 1, 0xFF102030);
    paint(b, 63, 7, 0xFF405060);
    CHECK(transfer(b, 1, whole, 0) == GPU_OK);
    CHECK_RULE("PRES-314", bench_pixel(b, 0, 3, 1) == 0);
    CHECK(flush(b, 1, (struct gpu_rect){0, 0, WIDTH, 4}) == GPU_OK);
    CHECK_RULE("PRES-314", bench_pixel(b, 0, 3, 1) == 0x102030 && bench_pixel(b, 0, 63, 7) == 0);
    CHECK(flush(b, 1, whole) == GPU_OK);
    CHECK_RULE("PRES-314", bench_pixel(b, 0, 63, 7) == 0x405060);
    paint(b, 3, 1, 0xFFFFFFFF); /* without a transfer */
    CHECK(flush(b, 1, whole) == GPU_OK && bench_pixel(b, 0, 3, 1) == 0x102030);
    bench_destroy(b);
}

TEST(a_transfer_takes_its_rectangle_from_its_offset)
{
    struct bench *b = shown();
    const struct gpu_rect part = {10, 2, 5, 3};

    for (uint32_t y = 0; y < HEIGHT; y++)
        for (uint32_t x = 0; x < WIDTH; x++)
            paint(b, x, y, y << 8 | x);
    CHECK(transfer(b, 1, part, 2 * PITCH + 10 * 4) == GPU_OK && flush(b, 1, whole) == GPU_OK);
    CHECK(bench_pixel(b, 0, 10, 2) == 0x020A && bench_pixel(b, 0, 14, 4) == 0x040E);
    CHECK(bench_pixel(b, 0, 15, 4) == 0 && bench_pixel(b, 0, 14, 5) == 0 &&
          bench_pixel(b, 0, 9, 2) == 0 && bench_pixel(b, 0, 10, 1) == 0);
    CHECK(transfer(b, 1, (struct gpu_rect){0, 0, 1, 1}, BYTES - 4) == GPU_OK); /* the last pixel */
    CHECK(transfer(b, 1, (struct gpu_rect){0, 0, 1, 1}, BYTES - 3) == GPU_ERR_INVALID_PARAMETER);
    CHECK(transfer(b, 1, (struct gpu_rect){0, 0, 2, 2}, BYTES - PITCH) == GPU_ERR_INVALID_PARAMETER);
    CHECK(transfer(b, 1, (struct gpu_rect){60, 0, 5, 1}, 0) == GPU_ERR_INVALID_PARAMETER);
    CHECK(transfer(b, 1, (struct gpu_rect){0, 8, 1, 1}, 0) == GPU_ERR_INVALID_PARAMETER);
    CHECK(flush(b, 1, (struct gpu_rect){0, 1, 1, 8}) == GPU_ERR_INVALID_PARAMETER);
    CHECK(flush(b, 1, (struct gpu_rect){WIDTH, HEIGHT, 0, 0}) == GPU_OK); /* nothing, inside */
    CHECK(transfer(b, 1, (struct gpu_rect){0, 0, 0, 8}, BYTES) == GPU_OK);
    CHECK(transfer(b, 1, (struct gpu_rect){0, 0, 8, 0}, BYTES) == GPU_OK);
    CHECK(b->refused == 0);
    bench_destroy(b);
}

TEST(formats_become_the_same_colours)
{
    static const struct {
        uint32_t format, memory;
    } formats[] = {{GPU_BGRA, 0xAA112233}, {GPU_BGRX, 0xAA112233}, {GPU_ARGB, 0x332211AA},
                   {GPU_XRGB, 0x332211AA}, {GPU_RGBA, 0xAA332211}, {GPU_RGBX, 0xAA332211},
                   {GPU_ABGR, 0x112233AA}, {GPU_XBGR, 0x112233AA}};
    struct bench *b = started(plain);

    for (uint32_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        CHECK(create(b, i + 1, formats[i].format, WIDTH, HEIGHT) == GPU_OK);
        CHECK(attach(b, i + 1) == GPU_OK);
        paint(b, 0, 0, formats[i].memory);
        CHECK(transfer(b, i + 1, whole, 0) == GPU_OK && scan_out(b, 0, i + 1, whole) == GPU_OK);
        CHECK(bench_pixel(b, 0, 0, 0) == 0x112233);
    }
    CHECK(create(b, 20, 5, WIDTH, HEIGHT) == GPU_ERR_INVALID_PARAMETER);
    bench_destroy(b);
}

TEST(a_part_of_a_resource_is_scanned_out)
{
    struct bench *b = shown();
    struct dxgk_scanout s;

    paint(b, 20, 3, 0x00AABBCC);
    paint(b, 19, 3, 0x00111111);
    CHECK(transfer(b, 1, whole, 0) == GPU_OK);
    CHECK(scan_out(b, 0, 1, (struct gpu_rect){20, 2, 16, 4}) == GPU_OK);
    CHECK(bench_scanout(b, 0, &s) == DXGK_SCANOUT_ON && s.width == 16 && s.height == 4);
    CHECK(bench_pixel(b, 0, 0, 1) == 0xAABBCC && bench_pixel(b, 0, 15, 1) == 0);
    paint(b, 35, 5, 0x00123123);
    CHECK(transfer(b, 1, whole, 0) == GPU_OK);
    CHECK(flush(b, 1, (struct gpu_rect){0, 0, 20, HEIGHT}) == GPU_OK); /* beside it */
    CHECK(bench_pixel(b, 0, 15, 3) == 0);
    CHECK(flush(b, 1, (struct gpu_rect){35, 5, 29, 3}) == GPU_OK);
    CHECK(bench_pixel(b, 0, 15, 3) == 0x123123);
    CHECK(scan_out(b, 0, 1, (struct gpu_rect){60, 0, 16, 4}) == GPU_ERR_INVALID_PARAMETER);
    CHECK(scan_out(b, 0, 1, (struct gpu_rect){0, 0, 0, 4}) == GPU_ERR_INVALID_PARAMETER);
    CHECK(scan_out(b, 1, 1, whole) == GPU_ERR_INVALID_SCANOUT);
    CHECK(scan_out(b, 0, 2, whole) == GPU_ERR_INVALID_RESOURCE);
    CHECK(bench_pixel(b, 0, 15, 3) == 0x123123);
    bench_destroy(b);
}

TEST(the_vga_is_shown_until_a_scan_out_is_set)
{
    const char *const no_vga[] = {"vga=0", NULL};
    struct bench *b = started(plain);
    struct dxgk_scanout s;

    CHECK(bench_scanout(b, 0, &s) == DXGK_SCANOUT_FIRMWARE);
    bench_write(b, DXGK_DEVICE_FIXED_PORTS, 0, 2, 1); /* the width */
    bench_write(b, DXGK_DEVICE_FIXED_PORTS, 1, 2, 800);
    bench_write(b, DXGK_DEVICE_FIXED_PORTS, 0, 2, 2);
    bench_write(b, DXGK_DEVICE_FIXED_PORTS, 1, 2, 600);
    bench_write(b, DXGK_DEVICE_FIXED_PORTS, 0, 2, 4);
    bench_write(b, DXGK_DEVICE_FIXED_PORTS, 1, 2, 0x41);
    CHECK(bench_scanout(b, 0, &s) == DXGK_SCANOUT_ON && s.width == 800 && s.pixels == b->vram);
    CHECK(create(b, 1, GPU_BGRX, WIDTH, HEIGHT) == GPU_OK && scan_out(b, 0, 1, whole) == GPU_OK);
    CHECK(bench_scanout(b, 0, &s) == DXGK_SCANOUT_ON && s.width == WIDTH);
    CHECK(scan_out(b, 0, 0, (struct gpu_rect){0, 0, 0, 0}) == GPU_OK);
    CHECK(bench_scanout(b, 0, &s) == DXGK_SCANOUT_OFF);
    CHECK(scan_out(b, 0, 1, whole) == GPU_OK && only(b, GPU_RESOURCE_UNREF, 1) == GPU_OK);
    CHECK(bench_scanout(b, 0, &s) == DXGK_SCANOUT_OFF);
    v_set(b, V_STATUS, 1, 0);
    CHECK(bench_scanout(b, 0, &s) == DXGK_SCANOUT_ON && s.width == 800);
    b->model->reset(b->device);
    CHECK(bench_scanout(b, 0, &s) == DXGK_SCANOUT_FIRMWARE);
    bench_destroy(b);
    b = started(no_vga);
    CHECK(b->description.class_code == 0x038000 && b->description.bar[0].kind == DXGK_BAR_NONE);
    CHECK(bench_scanout(b, 0, &s) == DXGK_SCANOUT_OFF);
    bench_destroy(b);
}

TEST(resources_are_made_and_dropped_once)
{
    const char *const small[] = {"memory=1048576", NULL};
    struct bench *b = started(small);

    CHECK(create(b, 0, GPU_BGRX, 8, 8) == GPU_ERR_INVALID_RESOURCE);
    CHECK(create(b, 1, GPU_BGRX, 512, 512) == GPU_OK); /* all that there is */
    CHECK(create(b, 1, GPU_BGRX, 8, 8) == GPU_ERR_INVALID_RESOURCE);
    CHECK(create(b, 2, GPU_BGRX, 1, 1) == GPU_ERR_OUT_OF_MEMORY);
    CHECK(create(b, 2, GPU_BGRX, 0, 8) == GPU_ERR_INVALID_PARAMETER);
    CHECK(create(b, 2, GPU_BGRX, 16385, 1) == GPU_ERR_INVALID_PARAMETER);
    CHECK(create(b, 2, GPU_BGRX, 16384, 1) == GPU_ERR_OUT_OF_MEMORY); /* it may be so long */
    CHECK(attach(b, 2) == GPU_ERR_INVALID_RESOURCE);
    CHECK(transfer(b, 1, whole, 0) == GPU_ERR_UNSPEC); /* no memory is attached */
    CHECK(only(b, GPU_DETACH_BACKING, 1) == GPU_ERR_UNSPEC);
    CHECK(attach(b, 1) == GPU_OK && attach(b, 1) == GPU_ERR_UNSPEC);
    CHECK(only(b, GPU_DETACH_BACKING, 1) == GPU_OK && attach(b, 1) == GPU_OK);
    CHECK(only(b, GPU_RESOURCE_UNREF, 1) == GPU_OK);
    CHECK(only(b, GPU_RESOURCE_UNREF, 1) == GPU_ERR_INVALID_RESOURCE);
    CHECK(flush(b, 1, whole) == GPU_ERR_INVALID_RESOURCE);
    CHECK(create(b, 1, GPU_BGRX, 512, 512) == GPU_OK);
    bench_destroy(b);
}

TEST(commands_are_whole_and_known)
{
    struct gpu_attach_backing claims = {{.type = GPU_ATTACH_BACKING}, 1, 100};
    const struct gpu_header fenced = {.type = 0x1FF, .flags = 1, .fence = 0x123456789, .context = 7};
    struct bench *b = started(plain);
    struct gpu_header answer;

    CHECK(create(b, 1, GPU_BGRX, 8, 8) == GPU_OK);
    CHECK(v_command(b, &claims, sizeof(claims)) == GPU_ERR_UNSPEC); /* the entries are missing */
    CHECK(transfer(b, 1, (struct gpu_rect){0, 0, 1, 1}, 0) == GPU_ERR_UNSPEC);
    CHECK(v_command(b, &claims, 8) == GPU_ERR_UNSPEC);
    claims.entries = 0;
    CHECK(v_command(b, &claims, sizeof(claims)) == GPU_ERR_INVALID_PARAMETER);
    CHECK(v_command(b, &fenced, sizeof(fenced)) == GPU_ERR_UNSPEC && v_written(b, 0) == 24);
    memcpy(&answer, b->ram + V_IN, sizeof(answer));
    CHECK(answer.flags == 1 && answer.fence == 0x123456789 && answer.context == 7);
    CHECK(create(b, 2, GPU_BGRX, 8, 8) == GPU_OK);
    memcpy(&answer, b->ram + V_IN, sizeof(answer));
    CHECK(answer.flags == 0 && answer.fence == 0);
    bench_destroy(b);
}

/* Memory that the bus refuses reads as ones; the command goes on. */
TEST(a_page_that_is_refused)
{
    const struct attach command = {{{.type = GPU_ATTACH_BACKING}, 1, 2},
                                   {{PAGES, BYTES / 2, 0}, {BENCH_RAM, BYTES / 2, 0}}};
    struct bench *b = started(plain);

    CHECK(create(b, 1, GPU_BGRX, WIDTH, HEIGHT) == GPU_OK);
    CHECK(v_command(b, &command, sizeof(command)) == GPU_OK);
    CHECK(transfer(b, 1, whole, 0) == GPU_OK && b->refused == HEIGHT / 2);
    CHECK(scan_out(b, 0, 1, whole) == GPU_OK);
    CHECK(bench_pixel(b, 0, 0, 3) == 0 && bench_pixel(b, 0, 0, 4) == 0xFFFFFF);
    bench_destroy(b);
}

/* One command after the other, and a large one delays those behind it. */
TEST(commands_take_time)
{
    const struct gpu_transfer first = {{.type = GPU_TRANSFER_TO_HOST_2D}, whole, 0, 1, 0};
    const struct gpu_header second = {.type = GPU_GET_DISPLAY_INFO};
    const char *const options[] = {"latency=5000", NULL};
    struct bench *b = started(options);
    uint16_t before;

    CHECK(create(b, 1, GPU_BGRX, WIDTH, HEIGHT) == GPU_OK && attach(b, 1) == GPU_OK);
    memcpy(b->ram + V_OUT, &first, sizeof(first));
    memcpy(b->ram + V_OUT + 4096, &second, sizeof(second));
    v_describe(b, 0, 0, (struct v_descriptor){V_OUT, sizeof(first), 0, 0});
    v_describe(b, 0, 1, (struct v_descriptor){V_OUT + 4096, sizeof(second), 0, 0});
    before = v_given(b, 0);
    v_offer(b, 0, 0);
    v_offer(b, 0, 1);
    bench_pass(b, 4999);
    CHECK(v_given(b, 0) == before);
    bench_pass(b, 1);
    CHECK(v_given(b, 0) == (uint16_t)(before + 1));
    bench_pass(b, 5000 + BYTES / 16 - 1);
    CHECK(v_given(b, 0) == (uint16_t)(before + 1));
    bench_pass(b, 1);
    CHECK(v_given(b, 0) == (uint16_t)(before + 2));
    bench_destroy(b);
}
