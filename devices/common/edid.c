/* SPDX-License-Identifier: MIT */
/* VESA E-EDID 1.4; timings by VESA CVT with reduced blanking. */
#include "edid.h"

#include <string.h>

#define HERTZ          60u
#define BLANK_PIXELS   160u
#define FRONT_PIXELS   48u
#define SYNC_PIXELS    32u
#define FRONT_LINES    3u
#define BACK_LINES     6u
#define BLANK_MICROSEC 460u
#define CLOCK_STEP     250000u /* Hz */

#define DETAILED   54u
#define DESCRIPTOR 18u

struct timing {
    uint32_t width, height, sync_lines, blank_lines;
    uint32_t clock; /* 10 kHz */
};

static uint32_t sync_lines(uint32_t width, uint32_t height)
{
    if (width * 3 == height * 4)
        return 4;
    if (width * 9 == height * 16)
        return 5;
    if (width * 10 == height * 16)
        return 6;
    return width * 4 == height * 5 || width * 9 == height * 15 ? 7 : 10;
}

static struct timing make_timing(uint32_t width, uint32_t height)
{
    struct timing t = {.width = width, .height = height, .sync_lines = sync_lines(width, height)};
    const uint32_t least = FRONT_LINES + t.sync_lines + BACK_LINES;
    const uint32_t blank = BLANK_MICROSEC * HERTZ; /* millionths of the period, at least */
    uint64_t clock;

    t.blank_lines = blank * height / (1000000u - blank) + 1;
    if (t.blank_lines < least)
        t.blank_lines = least;
    clock = (uint64_t)HERTZ * (width + BLANK_PIXELS) * (height + t.blank_lines);
    t.clock = (uint32_t)(clock / CLOCK_STEP * CLOCK_STEP / 10000);
    return t;
}

/* Low byte here, the rest in a nibble elsewhere. */
static void put_12(uint8_t *low, uint8_t *nibble, unsigned shift, uint32_t value)
{
    *low = (uint8_t)value;
    *nibble |= (uint8_t)((value >> 8) << shift);
}

static void put_detailed(uint8_t *d, const struct timing *t, uint32_t mm_wide, uint32_t mm_high)
{
    d[0] = (uint8_t)t->clock;
    d[1] = (uint8_t)(t->clock >> 8);
    put_12(&d[2], &d[4], 4, t->width);
    put_12(&d[3], &d[4], 0, BLANK_PIXELS);
    put_12(&d[5], &d[7], 4, t->height);
    put_12(&d[6], &d[7], 0, t->blank_lines);
    d[8] = FRONT_PIXELS;
    d[9] = SYNC_PIXELS;
    d[10] = (uint8_t)(FRONT_LINES << 4 | t->sync_lines);
    put_12(&d[12], &d[14], 4, mm_wide);
    put_12(&d[13], &d[14], 0, mm_high);
    d[17] = 0x1A; /* digital separate sync, positive horizontally */
}

static void put_name(uint8_t *d)
{
    static const uint8_t name[] = {0,   0,   0,   0xFC, 0,    'd', 'x', 'g', 'k',
                                   'h', 'o', 's', 't',  '\n', ' ', ' ', ' ', ' '};

    memcpy(d, name, sizeof(name));
}

/* 50 to 75 Hz, 30 to 160 kHz, up to 600 MHz; no formula */
static void put_limits(uint8_t *d)
{
    static const uint8_t limits[] = {0, 0, 0, 0xFD, 0, 50, 75, 30, 160, 60, 1};

    memcpy(d, limits, sizeof(limits));
    d[11] = '\n';
    memset(d + 12, ' ', 6);
}

void edid_preferred(const uint8_t *edid, size_t bytes, uint32_t *width, uint32_t *height)
{
    const uint8_t *d = edid + DETAILED;

    *width = 1024;
    *height = 768;
    if (bytes < EDID_BYTES || (d[0] == 0 && d[1] == 0) || !(d[2] | d[4] >> 4) || !(d[5] | d[7] >> 4))
        return;
    *width = d[2] | (d[4] & 0xF0u) << 4;
    *height = d[5] | (d[7] & 0xF0u) << 4;
}

void edid_make(uint8_t edid[EDID_BYTES], uint32_t width, uint32_t height)
{
    static const uint8_t beginning[] = {
        0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x00, /* header */
        0x13, 0x0B,                                     /* "DXK" */
        0x01, 0x00, 0,    0,    0,    0,                /* product, serial number */
        1,    36,   1,    4,                            /* week, year 2026; version 1.4 */
        0xA0, 0,    0,    120,  0x06, /* digital, 8 bits; gamma 2.2; sRGB, native */
        0xEE, 0x91, 0xA3, 0x54, 0x4C, 0x99, 0x26, 0x0F, 0x50, 0x54, /* primaries of sRGB */
        0x21, 0x08, 0x00, /* 640x480, 800x600, 1024x768, all at 60 Hz */
        0x81, 0xC0, 0x81, 0x80, 0xA9, 0x40, 0xD1, 0xC0, /* 1280x720, 1280x1024, 1600x1200, 1920x1080 */
        0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01};
    const struct timing timing = make_timing(width, height);
    const uint32_t mm_wide = width * 254 / 960, mm_high = height * 254 / 960; /* 96 pixels an inch */
    uint8_t sum = 0;

    memset(edid, 0, EDID_BYTES);
    memcpy(edid, beginning, sizeof(beginning));
    edid[21] = (uint8_t)(mm_wide / 10);
    edid[22] = (uint8_t)(mm_high / 10);
    put_detailed(edid + DETAILED, &timing, mm_wide, mm_high);
    put_name(edid + DETAILED + DESCRIPTOR);
    put_limits(edid + DETAILED + 2 * DESCRIPTOR);
    edid[DETAILED + 3 * DESCRIPTOR + 3] = 0x10; /* an unused descriptor */
    for (unsigned i = 0; i < EDID_BYTES - 1; i++)
        sum = (uint8_t)(sum + edid[i]);
    edid[EDID_BYTES - 1] = (uint8_t)-sum;
}
