/* SPDX-License-Identifier: MIT */
/* The outputs: what is scanned out and when it changes, vertical blanks, monitors, the pointer. */
#include "support/check_rule.h"

#include <string.h>

#include "support/fake_machine.h"

/* 64 x 48 of 80 x 50 pixels at 240 kHz: 60 frames a second. */
#define WIDTH  64u
#define HEIGHT 48u
#define PITCH  320u /* more than a line */
#define PERIOD 16666667u
#define BLANK0 16000000u /* 48 of 50 lines */
#define RED    0x00FF0000u

static const uint8_t edid[128] = {0x00, 0xFF, 0x10, 0x20, [127] = 0x77};

static uint32_t out(struct fake *fake, uint32_t reg)
{
    return fake_read(fake, REFGPU_REG_OUTPUT(0u, reg));
}

static void set(struct fake *fake, uint32_t reg, uint32_t value)
{
    fake_write(fake, REFGPU_REG_OUTPUT(0u, reg), value);
}

static void address(struct fake *fake, uint64_t offset)
{
    fake_write64(fake, REFGPU_REG_OUTPUT(0u, REFGPU_OUT_ADDRESS_LO), offset);
}

static void time_it(struct fake *fake)
{
    set(fake, REFGPU_OUT_SIZE, HEIGHT << 16 | WIDTH);
    set(fake, REFGPU_OUT_TOTAL, 50u << 16 | 80u);
    set(fake, REFGPU_OUT_CLOCK, 240);
}

/* With a monitor, a picture at VRAM offset 0x1000, and all interrupts. */
static struct fake *lit(void)
{
    static const char *const options[] = {"outputs=2"};
    struct fake *fake = fake_create(options, 1);

    CHECK(fake->outputs && fake->outputs->count == 2);
    CHECK(fake->outputs->monitor(fake->device, 0, edid, sizeof(edid)));
    fake_write(fake, REFGPU_REG_IRQ_ENABLE, REFGPU_IRQ_DISPLAY_ALL);
    time_it(fake);
    set(fake, REFGPU_OUT_PITCH, PITCH);
    address(fake, 0x1000);
    set(fake, REFGPU_OUT_CONTROL, REFGPU_OUT_CONTROL_ENABLE);
    return fake;
}

static enum dxgk_scanout_state look(struct fake *fake, struct dxgk_scanout *shown)
{
    memset(shown, 0, sizeof(*shown));
    return fake->outputs->scanout(fake->device, 0, shown);
}

static uint64_t shown_at(struct fake *fake)
{
    struct dxgk_scanout shown;

    CHECK(look(fake, &shown) == DXGK_SCANOUT_ON);
    return (uint64_t)((const uint8_t *)shown.pixels - fake->vram);
}

TEST(a_board_without_outputs_tells_of_none)
{
    struct fake *fake = fake_create(NULL, 0);

    CHECK(!fake->outputs && REFGPU_FEATURE_OUTPUTS(fake_read(fake, REFGPU_REG_FEATURES)) == 0);
    set(fake, REFGPU_OUT_CLOCK, 240);
    CHECK(out(fake, REFGPU_OUT_CLOCK) == 0);
    fake_destroy(fake);
}

TEST(options_of_outputs)
{
    static const char *const bad[] = {"outputs=3", "outputs=x", "vga=1", "vga=2"};
    static const char *const vga[] = {"outputs=1", "vga=1"};
    struct fake *fake = fake_create(NULL, 0);
    struct dxgk_device_description description = {0};
    const char *error = NULL;
    struct dxgk_scanout shown;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const struct dxgk_device_config config = {.count = 1, .option = &bad[i]};

        CHECK(!fake->model->configure(&config, &description, &error) && error);
    }
    CHECK(fake->model->configure(&(struct dxgk_device_config){2, vga}, &description, &error));
    CHECK(description.class_code == REFGPU_PCI_CLASS_VGA);
    fake_destroy(fake);
    fake = fake_create(vga, 2);
    CHECK(fake->outputs->count == 1);
    CHECK(REFGPU_FEATURE_OUTPUTS(fake_read(fake, REFGPU_REG_FEATURES)) == 1);
    fake_write(fake, REFGPU_REG_OUTPUT(1u, REFGPU_OUT_CLOCK), 240);
    CHECK(fake_read(fake, REFGPU_REG_OUTPUT(1u, REFGPU_OUT_CLOCK)) == 0);
    CHECK(look(fake, &shown) == DXGK_SCANOUT_FIRMWARE);
    set(fake, REFGPU_OUT_CONTROL, 0);
    CHECK(look(fake, &shown) == DXGK_SCANOUT_OFF);
    fake->model->reset(fake->device);
    CHECK(look(fake, &shown) == DXGK_SCANOUT_FIRMWARE);
    fake_destroy(fake);
}

TEST(a_signal_needs_a_timing)
{
    static const uint32_t bad[][3] = {
        {0, 50u << 16 | 80u, 240},
        {HEIGHT << 16 | WIDTH, 48u << 16 | 80u, 240}, /* no line for a blank */
        {HEIGHT << 16 | WIDTH, 50u << 16 | 63u, 240},
        {HEIGHT << 16 | WIDTH, 50u << 16 | 80u, 0},
        {HEIGHT << 16 | WIDTH, 50u << 16 | 80u, 4001}, /* more than 1000 Hz */
        {HEIGHT << 16 | 8193u, 50u << 16 | 9000u, 240},
    };
    static const char *const options[] = {"outputs=1"};
    struct fake *fake = fake_create(options, 1);
    struct dxgk_scanout shown;

    CHECK(fake->outputs->monitor(fake->device, 0, edid, sizeof(edid)));
    CHECK(look(fake, &shown) == DXGK_SCANOUT_OFF);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        set(fake, REFGPU_OUT_SIZE, bad[i][0]);
        set(fake, REFGPU_OUT_TOTAL, bad[i][1]);
        set(fake, REFGPU_OUT_CLOCK, bad[i][2]);
        set(fake, REFGPU_OUT_CONTROL, REFGPU_OUT_CONTROL_ALL);
        CHECK(out(fake, REFGPU_OUT_CONTROL) ==
              (REFGPU_OUT_CONTROL_ALL & ~REFGPU_OUT_CONTROL_ENABLE));
    }
    time_it(fake);
    set(fake, REFGPU_OUT_CONTROL, REFGPU_OUT_CONTROL_ENABLE);
    CHECK(out(fake, REFGPU_OUT_CONTROL) == REFGPU_OUT_CONTROL_ENABLE);
    set(fake, REFGPU_OUT_CLOCK, 480); /* not while there is a signal */
    CHECK(out(fake, REFGPU_OUT_CLOCK) == 240);
    CHECK(!fake_step(fake)); /* no blank has an effect */
    fake_destroy(fake);
}

TEST(what_is_scanned_out)
{
    struct fake *fake = lit();
    struct dxgk_scanout shown;

    CHECK(look(fake, &shown) == DXGK_SCANOUT_ON && shown.width == WIDTH && shown.height == HEIGHT &&
          shown.pitch == PITCH && shown.format == DXGK_PIXEL_BGRX &&
          shown.pixels == fake->vram + 0x1000 && shown.bytes >= PITCH * HEIGHT);
    set(fake, REFGPU_OUT_FORMAT, REFGPU_OUT_FORMAT_R5G6B5); /* it goes with the address */
    CHECK(look(fake, &shown) == DXGK_SCANOUT_ON && shown.format == DXGK_PIXEL_BGRX);
    fake_write64(fake, REFGPU_REG_OUTPUT(0u, REFGPU_OUT_NOW_LO), 0x3000);
    CHECK(look(fake, &shown) == DXGK_SCANOUT_ON && shown.format == DXGK_PIXEL_RGB565 &&
          shown.pixels == fake->vram + 0x3000);
    set(fake, REFGPU_OUT_CONTROL, REFGPU_OUT_CONTROL_ENABLE | REFGPU_OUT_CONTROL_BLANK);
    CHECK(look(fake, &shown) == DXGK_SCANOUT_ON && shown.width == WIDTH &&
          shown.bytes >= (size_t)shown.pitch * HEIGHT && !*(const uint8_t *)shown.pixels &&
          shown.pixels != fake->vram + 0x3000);
    CHECK(fake->outputs->monitor(fake->device, 0, NULL, 0));
    CHECK(look(fake, &shown) == DXGK_SCANOUT_OFF); /* nobody is there to see it */
    fake_destroy(fake);
}

TEST(a_picture_lies_in_vram)
{
    struct fake *fake = lit();
    const uint64_t last = FAKE_VRAM_BYTES - 0x4000; /* 47 pitches and a line are 0x3BC0 */
    struct dxgk_scanout shown;

    CHECK(!(out(fake, REFGPU_OUT_STATUS) & REFGPU_OUT_STATUS_RANGE));
    fake_write64(fake, REFGPU_REG_OUTPUT(0u, REFGPU_OUT_NOW_LO), last);
    CHECK(look(fake, &shown) == DXGK_SCANOUT_ON);
    fake_write64(fake, REFGPU_REG_OUTPUT(0u, REFGPU_OUT_NOW_LO), last + 0x1000);
    CHECK(look(fake, &shown) == DXGK_SCANOUT_OFF);
    CHECK(out(fake, REFGPU_OUT_STATUS) & REFGPU_OUT_STATUS_RANGE);
    fake_write64(fake, REFGPU_REG_OUTPUT(0u, REFGPU_OUT_NOW_LO), 1ull << 40);
    CHECK(look(fake, &shown) == DXGK_SCANOUT_OFF);
    set(fake, REFGPU_OUT_PITCH, 192); /* less than a line */
    fake_write64(fake, REFGPU_REG_OUTPUT(0u, REFGPU_OUT_NOW_LO), 0);
    CHECK(look(fake, &shown) == DXGK_SCANOUT_OFF);
    set(fake, REFGPU_OUT_PITCH, 256);
    set(fake, REFGPU_OUT_FORMAT, REFGPU_OUT_FORMATS);
    fake_write64(fake, REFGPU_REG_OUTPUT(0u, REFGPU_OUT_NOW_LO), 0);
    CHECK(look(fake, &shown) == DXGK_SCANOUT_OFF);
    fake_destroy(fake);
}

TEST(an_address_waits_for_the_blank)
{
    struct fake *fake = lit();

    CHECK(shown_at(fake) == 0x1000);
    fake->time = 5000000;
    address(fake, 0x8000);
    CHECK(shown_at(fake) == 0x1000);
    CHECK(out(fake, REFGPU_OUT_STATUS) & REFGPU_OUT_STATUS_PENDING);
    CHECK(out(fake, REFGPU_OUT_NOW_LO) == 0x1000 && out(fake, REFGPU_OUT_ADDRESS_LO) == 0x8000);
    CHECK(fake_step(fake) && fake->time == BLANK0);
    CHECK(shown_at(fake) == 0x8000 && out(fake, REFGPU_OUT_NOW_LO) == 0x8000);
    CHECK(!(out(fake, REFGPU_OUT_STATUS) & REFGPU_OUT_STATUS_PENDING));
    CHECK(fake->interrupts == 0 && !fake_step(fake)); /* nobody asked to be told */
    fake_destroy(fake);
}

TEST(the_upper_half_of_an_address_is_the_order)
{
    struct fake *fake = lit();

    set(fake, REFGPU_OUT_ADDRESS_LO, 0x9000);
    CHECK(!(out(fake, REFGPU_OUT_STATUS) & REFGPU_OUT_STATUS_PENDING) && !fake_step(fake));
    set(fake, REFGPU_OUT_ADDRESS_HI, 0);
    set(fake, REFGPU_OUT_ADDRESS_LO, 0xA000); /* the next one; half of it must not be seen */
    CHECK(fake_step(fake) && shown_at(fake) == 0x9000);
    set(fake, REFGPU_OUT_ADDRESS_HI, 0);
    set(fake, REFGPU_OUT_NOW_LO, 0xB000);
    set(fake, REFGPU_OUT_NOW_HI, 0); /* at once, and in place of what waits */
    CHECK(shown_at(fake) == 0xB000 && !fake_step(fake));
    set(fake, REFGPU_OUT_CONTROL, 0);
    address(fake, 0xC000); /* without a signal there is no blank to wait for */
    CHECK(out(fake, REFGPU_OUT_NOW_LO) == 0xC000);
    fake_destroy(fake);
}

TEST(blanks_are_told_while_they_are_asked_for)
{
    struct fake *fake = lit();

    fake->time = BLANK0 + 1;
    set(fake, REFGPU_OUT_INTERRUPT, REFGPU_OUT_INTERRUPT_VSYNC);
    CHECK(fake_step(fake) && fake->time == BLANK0 + PERIOD && fake->interrupts == 1);
    CHECK(fake_read(fake, REFGPU_REG_IRQ_ACK) == REFGPU_IRQ_VSYNC(0));
    for (uint64_t i = 2; i < 600; i++) {
        CHECK(fake_step(fake) && fake->time == (BLANK0 * 3u + i * 50000000u + 2u) / 3u);
        CHECK(out(fake, REFGPU_OUT_FRAMES) == i + 1u && fake->interrupts == i);
        CHECK(out(fake, REFGPU_OUT_STATUS) & REFGPU_OUT_STATUS_BLANK);
        CHECK(out(fake, REFGPU_OUT_LINE) == (HEIGHT | REFGPU_OUT_LINE_BLANK));
        (void)fake_read(fake, REFGPU_REG_IRQ_ACK);
    }
    set(fake, REFGPU_OUT_INTERRUPT, 0);
    CHECK(!fake_step(fake));
    set(fake, REFGPU_OUT_INTERRUPT, REFGPU_OUT_INTERRUPT_VSYNC);
    set(fake, REFGPU_OUT_CONTROL, 0);
    CHECK(!fake_step(fake)); /* no signal, no blanks */
    fake_destroy(fake);
}

TEST(the_line_that_is_scanned_out)
{
    struct fake *fake = lit();

    CHECK(out(fake, REFGPU_OUT_LINE) == 0 && out(fake, REFGPU_OUT_FRAMES) == 0);
    fake->time = 333333; /* a line has a fiftieth of 16.67 ms */
    CHECK(out(fake, REFGPU_OUT_LINE) == 0);
    fake->time = 333334;
    CHECK(out(fake, REFGPU_OUT_LINE) == 1);
    fake->time = BLANK0 - 1;
    CHECK(out(fake, REFGPU_OUT_LINE) == HEIGHT - 1 && out(fake, REFGPU_OUT_FRAMES) == 0);
    fake->time = BLANK0;
    CHECK(out(fake, REFGPU_OUT_LINE) == (HEIGHT | REFGPU_OUT_LINE_BLANK));
    CHECK(out(fake, REFGPU_OUT_FRAMES) == 1);
    fake->time = PERIOD;
    CHECK(out(fake, REFGPU_OUT_LINE) == 0 && out(fake, REFGPU_OUT_FRAMES) == 1);
    fake_destroy(fake);
}

TEST(monitors_say_what_they_are)
{
    struct fake *fake = lit();
    uint8_t large[REFGPU_EDID_MOST_BYTES + 1] = {0x5A};

    CHECK(out(fake, REFGPU_OUT_STATUS) & REFGPU_OUT_STATUS_CONNECTED);
    CHECK(
        !(fake_read(fake, REFGPU_REG_OUTPUT(1u, REFGPU_OUT_STATUS)) & REFGPU_OUT_STATUS_CONNECTED));
    CHECK(out(fake, REFGPU_OUT_EDID_BYTES) == 128);
    CHECK(out(fake, REFGPU_OUT_EDID_DATA) == 0x2010FF00u && out(fake, REFGPU_OUT_EDID_OFFSET) == 4);
    set(fake, REFGPU_OUT_EDID_OFFSET, 124);
    CHECK(out(fake, REFGPU_OUT_EDID_DATA) == 0x77000000u && out(fake, REFGPU_OUT_EDID_DATA) == 0);
    CHECK(fake->interrupts == 0);
    set(fake, REFGPU_OUT_INTERRUPT, REFGPU_OUT_INTERRUPT_PLUG);
    CHECK(!fake->outputs->monitor(fake->device, 0, large, sizeof(large)));
    CHECK(fake->interrupts == 0 && out(fake, REFGPU_OUT_EDID_BYTES) == 128);
    CHECK(fake->outputs->monitor(fake->device, 0, large, sizeof(large) - 1));
    CHECK(fake->interrupts == 1 && out(fake, REFGPU_OUT_EDID_BYTES) == REFGPU_EDID_MOST_BYTES);
    CHECK(fake_read(fake, REFGPU_REG_IRQ_ACK) == REFGPU_IRQ_PLUG(0));
    CHECK(fake->outputs->monitor(fake->device, 1, edid, sizeof(edid)));
    CHECK(fake->interrupts == 1); /* the other one is not to be told of */
    CHECK(fake->outputs->monitor(fake->device, 0, NULL, 0) && fake->interrupts == 2);
    CHECK(out(fake, REFGPU_OUT_STATUS) == 0 || !(out(fake, REFGPU_OUT_STATUS) & 1u));
    CHECK(out(fake, REFGPU_OUT_EDID_BYTES) == 0);
    fake->model->reset(fake->device); /* monitors stay where they are */
    CHECK(fake_read(fake, REFGPU_REG_OUTPUT(1u, REFGPU_OUT_STATUS)) == REFGPU_OUT_STATUS_CONNECTED);
    CHECK(out(fake, REFGPU_OUT_CONTROL) == 0 && out(fake, REFGPU_OUT_INTERRUPT) == 0);
    fake_destroy(fake);
}

static uint32_t pixel(struct fake *fake, uint32_t x, uint32_t y)
{
    struct dxgk_scanout shown;
    uint32_t value;

    CHECK(look(fake, &shown) == DXGK_SCANOUT_ON && shown.format == DXGK_PIXEL_BGRX);
    memcpy(&value, (const uint8_t *)shown.pixels + (size_t)y * shown.pitch + 4u * (size_t)x, 4);
    return value & 0xFFFFFFu;
}

static void point(struct fake *fake, int32_t x, int32_t y)
{
    set(fake, REFGPU_OUT_POINTER_POSITION, (uint32_t)y << 16 | ((uint32_t)x & 0xFFFFu));
}

TEST(the_pointer_is_over_the_picture)
{
    static const uint32_t corner[2] = {0xFF123456u, 0x80FF0000u};
    struct fake *fake = lit();

    memset(fake->vram + 0x10000, 0, REFGPU_POINTER_BYTES);
    memcpy(fake->vram + 0x10000, corner, sizeof(corner));
    memset(fake->vram + 0x1000, 0x40, PITCH * HEIGHT);
    fake_write64(fake, REFGPU_REG_OUTPUT(0u, REFGPU_OUT_POINTER_SHAPE_LO), 0x10000);
    point(fake, 10, 20);
    CHECK(pixel(fake, 10, 20) == 0x404040);
    set(fake, REFGPU_OUT_CONTROL, REFGPU_OUT_CONTROL_ENABLE | REFGPU_OUT_CONTROL_POINTER);
    CHECK(pixel(fake, 10, 20) == 0x123456 && pixel(fake, 11, 20) == 0xA02020);
    CHECK(pixel(fake, 12, 20) == 0x404040 && pixel(fake, 9, 20) == 0x404040);
    CHECK(fake->vram[0x1000 + 20 * PITCH + 10 * 4] == 0x40); /* the picture itself is as it was */
    point(fake, -1, 0);
    CHECK(pixel(fake, 0, 0) == 0xA02020);
    point(fake, (int32_t)WIDTH - 1, (int32_t)HEIGHT - 1);
    CHECK(pixel(fake, WIDTH - 1, HEIGHT - 1) == 0x123456 && pixel(fake, 0, 0) == 0x404040);
    fake_write64(fake, REFGPU_REG_OUTPUT(0u, REFGPU_OUT_POINTER_SHAPE_LO), FAKE_VRAM_BYTES - 0x1000);
    CHECK(pixel(fake, WIDTH - 1, HEIGHT - 1) == 0x404040); /* not wholly in VRAM */
    fake_destroy(fake);
}

TEST(the_pointer_is_over_pixels_of_16_bits)
{
    static const uint32_t dot = 0xFF00FF00u;
    struct fake *fake = lit();

    for (uint32_t i = 0; i < PITCH * HEIGHT / 2u; i++)
        memcpy(fake->vram + 0x1000 + 2u * (size_t)i, "\x00\xF8", 2); /* red */
    memcpy(fake->vram + 0x10000, &dot, sizeof(dot));
    fake_write64(fake, REFGPU_REG_OUTPUT(0u, REFGPU_OUT_POINTER_SHAPE_LO), 0x10000);
    set(fake, REFGPU_OUT_FORMAT, REFGPU_OUT_FORMAT_R5G6B5);
    fake_write64(fake, REFGPU_REG_OUTPUT(0u, REFGPU_OUT_NOW_LO), 0x1000);
    set(fake, REFGPU_OUT_CONTROL, REFGPU_OUT_CONTROL_ENABLE | REFGPU_OUT_CONTROL_POINTER);
    CHECK(pixel(fake, 0, 0) == 0x00FF00 && pixel(fake, 63, 47) == RED);
    fake_destroy(fake);
}

/* Of all three channels: picture and pointer go through it, and memory stays as it is. */
TEST(the_gamma_ramp)
{
    static const uint32_t corner = 0xFF0000FFu;
    struct fake *fake = lit();

    set(fake, REFGPU_OUT_GAMMA_INDEX, 0);
    for (uint32_t i = 0; i < REFGPU_GAMMA_ENTRIES; i++) {
        const uint32_t level = i % 256u;
        const uint32_t value = i < 256u ? 255u - level : i < 512u ? level / 2u : level;

        CHECK(out(fake, REFGPU_OUT_GAMMA_INDEX) == i);
        set(fake, REFGPU_OUT_GAMMA_DATA, value << 8 | 0xFFu);
    }
    CHECK(out(fake, REFGPU_OUT_GAMMA_INDEX) == 0 && out(fake, REFGPU_OUT_GAMMA_DATA) == 0xFFFF);
    set(fake, REFGPU_OUT_GAMMA_INDEX, 256u + 8u);
    CHECK(out(fake, REFGPU_OUT_GAMMA_DATA) == 0x4FF && out(fake, REFGPU_OUT_GAMMA_DATA) == 0x4FF);
    set(fake, REFGPU_OUT_GAMMA_INDEX, REFGPU_GAMMA_ENTRIES);
    CHECK(out(fake, REFGPU_OUT_GAMMA_INDEX) == 0);
    memset(fake->vram + 0x1000, 0x40, PITCH * HEIGHT);
    memset(fake->vram + 0x10000, 0, REFGPU_POINTER_BYTES);
    memcpy(fake->vram + 0x10000, &corner, sizeof(corner));
    CHECK(shown_at(fake) == 0x1000);
    set(fake, REFGPU_OUT_CONTROL, REFGPU_OUT_CONTROL_ENABLE | REFGPU_OUT_CONTROL_GAMMA);
    CHECK(pixel(fake, 0, 0) == 0xBF2040 && pixel(fake, WIDTH - 1, HEIGHT - 1) == 0xBF2040);
    CHECK(fake->vram[0x1000] == 0x40);
    fake_write64(fake, REFGPU_REG_OUTPUT(0u, REFGPU_OUT_POINTER_SHAPE_LO), 0x10000);
    point(fake, 3, 4);
    CHECK(pixel(fake, 3, 4) == 0xBF2040);
    set(fake, REFGPU_OUT_CONTROL, REFGPU_OUT_CONTROL_ALL & ~REFGPU_OUT_CONTROL_BLANK);
    CHECK(pixel(fake, 3, 4) == 0xFF00FF && pixel(fake, 4, 4) == 0xBF2040);
    memset(fake->vram + 0x3000, 0xFF, PITCH * HEIGHT);
    set(fake, REFGPU_OUT_FORMAT, REFGPU_OUT_FORMAT_R5G6B5);
    fake_write64(fake, REFGPU_REG_OUTPUT(0u, REFGPU_OUT_NOW_LO), 0x3000);
    CHECK(pixel(fake, 60, 40) == 0x007FFF);
    fake->model->reset(fake->device);
    CHECK(out(fake, REFGPU_OUT_GAMMA_DATA) == 0 && out(fake, REFGPU_OUT_GAMMA_INDEX) == 0);
    fake_destroy(fake);
}
