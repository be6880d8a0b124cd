/* SPDX-License-Identifier: MIT */
/* The standard VGA: a mode by its registers, what is on the screen, and the EDID. */
#include "support/check_rule.h"

#include <string.h>

#include "../../devices/common/vga/dispi.h"
#include "support/bench.h"

#define MMIO 2u

static void set(struct bench *b, enum dispi_index index, uint16_t value)
{
    bench_write(b, MMIO, 0x500 + 2u * index, 2, value);
}

static uint16_t get(struct bench *b, enum dispi_index index)
{
    return (uint16_t)bench_read(b, MMIO, 0x500 + 2u * index, 2);
}

static void set_mode(struct bench *b, uint16_t width, uint16_t height, uint16_t bpp)
{
    set(b, DISPI_ENABLE, 0);
    set(b, DISPI_XRES, width);
    set(b, DISPI_YRES, height);
    set(b, DISPI_BPP, bpp);
    set(b, DISPI_ENABLE, DISPI_ENABLED | DISPI_LFB | DISPI_NOCLEARMEM);
}

static struct bench *with(const char *option)
{
    const char *const options[] = {option, NULL};

    return bench_create("stdvga", options);
}

TEST(it_is_known_by_its_ids_and_options)
{
    struct bench *b = with(NULL);

    CHECK(b->description.vendor == 0x1234 && b->description.device == 0x1111);
    CHECK(b->description.class_code == 0x030000 && b->description.bar[0].bytes == 16u << 20);
    CHECK(b->description.fixed_port == 0x1CE && b->description.fixed_ports == 4);
    CHECK(get(b, DISPI_REGISTERS) == 0xFFFF); /* behind them in the BAR */
    bench_write(b, MMIO, 0x500 + 2 * DISPI_XRES, 1, 8);
    CHECK(get(b, DISPI_XRES) == 0); /* half a register */
    bench_write(b, DXGK_DEVICE_FIXED_PORTS, 0, 2, DISPI_REGISTERS);
    CHECK(bench_read(b, DXGK_DEVICE_FIXED_PORTS, 1, 2) == 0);
    CHECK(get(b, DISPI_ID) == 0xB0C5 && get(b, DISPI_VIDEO_MEMORY_64K) == 256);
    set(b, DISPI_ID, 0xB0C0); /* an old driver */
    CHECK(get(b, DISPI_ID) == 0xB0C0);
    set(b, DISPI_ID, 0xB0C6);
    CHECK(get(b, DISPI_ID) == 0xB0C0);
    CHECK(bench_refusal(b, "vram=3145728") && bench_refusal(b, "vram=524288"));
    CHECK(bench_refusal(b, "width=1001") && bench_refusal(b, "mmio=2") &&
          bench_refusal(b, "vram=x"));
    CHECK(!bench_refusal(b, "vram=2097152") && !bench_refusal(b, "other=x"));
    bench_destroy(b);
    b = with("mmio=0");
    CHECK(b->description.bar[MMIO].kind == DXGK_BAR_NONE);
    bench_destroy(b);
}

TEST(a_mode_is_seen)
{
    struct bench *b = with(NULL);
    struct dxgk_scanout s;

    CHECK(bench_scanout(b, 0, &s) == DXGK_SCANOUT_FIRMWARE);
    set_mode(b, 800, 600, 32);
    CHECK(bench_scanout(b, 0, &s) == DXGK_SCANOUT_ON && s.width == 800 && s.height == 600);
    CHECK(s.pitch == 3200 && s.format == DXGK_PIXEL_BGRX && s.pixels == b->vram);
    memcpy(b->vram + (size_t)599 * 3200 + 799 * 4, "\x11\x22\x33", 3);
    CHECK(bench_pixel(b, 0, 799, 599) == 0x332211);
    set_mode(b, 640, 480, 24);
    CHECK(bench_scanout(b, 0, &s) == DXGK_SCANOUT_ON && s.pitch == 1920 &&
          s.format == DXGK_PIXEL_BGR);
    set_mode(b, 640, 480, 16);
    CHECK(bench_scanout(b, 0, &s) == DXGK_SCANOUT_ON && s.pitch == 1280 &&
          s.format == DXGK_PIXEL_RGB565);
    set(b, DISPI_BPP, 9); /* none */
    CHECK(get(b, DISPI_BPP) == 16);
    set(b, DISPI_ENABLE, 0);
    CHECK(bench_scanout(b, 0, &s) == DXGK_SCANOUT_FIRMWARE);
    set_mode(b, 640, 480, 32);
    b->model->reset(b->device);
    CHECK(bench_scanout(b, 0, &s) == DXGK_SCANOUT_FIRMWARE && get(b, DISPI_XRES) == 0);
    bench_destroy(b);
}

/* What does not fit is made to, and read back so. */
TEST(a_mode_fits_into_memory)
{
    struct bench *b = with("vram=1048576");
    struct dxgk_scanout s;

    set_mode(b, 1001, 768, 32);
    CHECK(get(b, DISPI_XRES) == 1000 && get(b, DISPI_VIRT_WIDTH) == 1000);
    CHECK(get(b, DISPI_YRES) == 262 && get(b, DISPI_VIRT_HEIGHT) == 262); /* 1 MiB / 4000 */
    CHECK(bench_scanout(b, 0, &s) == DXGK_SCANOUT_ON && s.height == 262 && s.bytes >= 262 * s.pitch);
    set_mode(b, 0, 0, 32);
    CHECK(get(b, DISPI_XRES) == 8 && get(b, DISPI_YRES) == 1);
    set(b, DISPI_ENABLE, DISPI_GETCAPS);
    CHECK(get(b, DISPI_XRES) == 16000 && get(b, DISPI_YRES) == 12000 && get(b, DISPI_BPP) == 32);
    bench_destroy(b);
}

TEST(a_part_of_a_larger_screen_is_shown)
{
    struct bench *b = with(NULL);
    struct dxgk_scanout s;

    set_mode(b, 640, 480, 32);
    set(b, DISPI_VIRT_WIDTH, 1024);
    set(b, DISPI_X_OFFSET, 100);
    set(b, DISPI_Y_OFFSET, 20);
    memcpy(b->vram + (size_t)20 * 4096 + 400, "\x01\x02\x03", 3);
    CHECK(bench_pixel(b, 0, 0, 0) == 0x030201);
    set(b, DISPI_X_OFFSET, 500); /* at most 384 */
    CHECK(get(b, DISPI_X_OFFSET) == 384);
    set(b, DISPI_VIRT_WIDTH, 32); /* not narrower than the picture */
    CHECK(get(b, DISPI_VIRT_WIDTH) == 640);
    CHECK(bench_scanout(b, 0, &s) == DXGK_SCANOUT_ON && s.pitch == 2560);
    bench_destroy(b);
}

TEST(memory_is_cleared_unless_the_driver_says_no)
{
    struct bench *b = with(NULL);

    memset(b->vram, 0x5A, 16u << 20);
    set_mode(b, 640, 480, 32);
    CHECK(bench_pixel(b, 0, 639, 479) == 0x5A5A5A);
    set(b, DISPI_ENABLE, 0);
    set(b, DISPI_ENABLE, DISPI_ENABLED | DISPI_LFB);
    CHECK(bench_pixel(b, 0, 639, 479) == 0 && b->vram[640 * 480 * 4] == 0x5A);
    set(b, DISPI_ENABLE, 0);
    memset(b->vram, 0x5A, 16u << 20);
    set(b, DISPI_ENABLE, 0); /* nothing is switched on */
    CHECK(b->vram[0] == 0x5A);
    bench_destroy(b);
}

TEST(ports_reach_the_same_registers)
{
    struct bench *b = with("mmio=0");
    struct dxgk_scanout s;
    const uint16_t values[][2] = {{DISPI_XRES, 1024},
                                  {DISPI_YRES, 768},
                                  {DISPI_BPP, 32},
                                  {DISPI_ENABLE, DISPI_ENABLED | DISPI_LFB}};

    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        bench_write(b, DXGK_DEVICE_FIXED_PORTS, 0, 2, values[i][0]);
        bench_write(b, DXGK_DEVICE_FIXED_PORTS, 1 + i % 2, 2, values[i][1]); /* 0x1CF, 0x1D0 */
        CHECK(bench_read(b, DXGK_DEVICE_FIXED_PORTS, 0, 2) == values[i][0]);
        CHECK(bench_read(b, DXGK_DEVICE_FIXED_PORTS, 2 - i % 2, 2) == values[i][1]);
    }
    CHECK(bench_scanout(b, 0, &s) == DXGK_SCANOUT_ON && s.width == 1024);
    bench_write(b, DXGK_DEVICE_FIXED_PORTS, 1, 1, 0); /* of another width */
    CHECK(bench_read(b, DXGK_DEVICE_FIXED_PORTS, 1, 1) == 0xFF);
    CHECK(bench_scanout(b, 0, &s) == DXGK_SCANOUT_ON);
    bench_destroy(b);
}

/* As Linux' driver blanks: the bit of the attribute index that lets the picture through. */
TEST(the_picture_can_be_blanked)
{
    struct bench *b = with(NULL);
    struct dxgk_scanout s;

    set_mode(b, 640, 480, 32);
    (void)bench_read(b, MMIO, 0x41A, 1);
    bench_write(b, MMIO, 0x400, 1, 0x05);
    CHECK(bench_scanout(b, 0, &s) == DXGK_SCANOUT_OFF);
    bench_write(b, MMIO, 0x400, 1, 0x20); /* data, not an index */
    CHECK(bench_scanout(b, 0, &s) == DXGK_SCANOUT_OFF && bench_read(b, MMIO, 0x401, 1) == 0x20);
    bench_write(b, MMIO, 0x400, 1, 0x05);
    (void)bench_read(b, MMIO, 0x41A, 1); /* an index comes next again */
    bench_write(b, MMIO, 0x400, 1, 0x20);
    CHECK(bench_scanout(b, 0, &s) == DXGK_SCANOUT_ON);
    CHECK(bench_read(b, MMIO, 0x600, 4) == 8 && bench_read(b, MMIO, 0x604, 4) == 0x1E1E1E1E);
    CHECK(bench_read(b, MMIO, 0x700, 4) == 0xFFFFFFFF);
    CHECK(bench_read(b, MMIO, 0x420, 1) == 0xFF && bench_read(b, MMIO, 0x608, 1) == 0xFF);
    bench_write(b, MMIO, 0x402, 1, 0x67);
    CHECK(bench_read(b, MMIO, 0x40C, 1) == 0x67); /* miscellaneous output */
    bench_write(b, MMIO, 0x41F, 1, 0x11);         /* none that it has */
    CHECK(bench_read(b, MMIO, 0x40C, 1) == 0x67 && bench_read(b, MMIO, 0x41F, 1) == 0xFF);
    bench_destroy(b);
}
