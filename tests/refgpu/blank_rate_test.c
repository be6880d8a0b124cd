/* SPDX-License-Identifier: MIT */
/* Vertical blanks of a mode whose period is no whole number of nanoseconds. */
#include "support/check_rule.h"

#include "support/fake_machine.h"

#define SECOND UINT64_C(1000000000)

static uint32_t out(struct fake *fake, uint32_t reg)
{
    return fake_read(fake, REFGPU_REG_OUTPUT(0u, reg));
}

static void set(struct fake *fake, uint32_t reg, uint32_t value)
{
    fake_write(fake, REFGPU_REG_OUTPUT(0u, reg), value);
}

/* 64 x 48 of 1001 x 60 pixels at 3600 kHz: 60000 frames in 1001 seconds. */
static struct fake *lit(uint64_t start)
{
    static const char *const options[] = {"outputs=1"};
    static const uint8_t edid[128] = {0x00, 0xFF, 0x10, 0x20, [127] = 0x77};
    struct fake *fake = fake_create(options, 1);

    fake->time = start;
    CHECK(fake->outputs->monitor(fake->device, 0, edid, sizeof(edid)));
    fake_write(fake, REFGPU_REG_IRQ_ENABLE, REFGPU_IRQ_DISPLAY_ALL);
    set(fake, REFGPU_OUT_SIZE, 48u << 16 | 64u);
    set(fake, REFGPU_OUT_TOTAL, 60u << 16 | 1001u);
    set(fake, REFGPU_OUT_CLOCK, 3600);
    set(fake, REFGPU_OUT_PITCH, 256);
    set(fake, REFGPU_OUT_CONTROL, REFGPU_OUT_CONTROL_ENABLE);
    return fake;
}

/* Nobody asks for them, so nothing runs meanwhile. */
TEST(an_hour_of_blanks)
{
    struct fake *fake = lit(12345);

    fake->time = 12345 + 3600 * SECOND;
    CHECK_RULE("PRES-325", out(fake, REFGPU_OUT_FRAMES) == 215784 && fake->interrupts == 0);
    fake_destroy(fake);
}

/* The n-th begins (n + 48/60) * 1001/60000 s after the start, rounded up to nanoseconds. */
static uint64_t begins(uint64_t n)
{
    const unsigned __int128 parts = (unsigned __int128)(60 * n + 48) * 1001 * SECOND;

    return (uint64_t)((parts + 60 * 60000 - 1) / (60 * 60000));
}

TEST(they_do_not_drift)
{
    struct fake *fake = lit(7);

    set(fake, REFGPU_OUT_INTERRUPT, REFGPU_OUT_INTERRUPT_VSYNC);
    for (uint64_t i = 0; i < 20000; i++) {
        CHECK_RULE("PRES-325", fake_step(fake) && fake->time == 7 + begins(i) &&
                                   out(fake, REFGPU_OUT_FRAMES) == i + 1);
        (void)fake_read(fake, REFGPU_REG_IRQ_ACK);
    }
    fake_destroy(fake);
}
