/* SPDX-License-Identifier: MIT */
#include "modes/edid_timing.h"
#include "modes/mode_check.h"
#include "modes/timing_list.h"
#include "util/assert.h"

#define LEAST_SIDE 64u

struct named {
    uint16_t width, height, hertz;
    bool reduced;
};

/* clang-format off */
static const struct named established[EDID_ESTABLISHED] = {
    {720, 400, 70, false},   {720, 400, 88, false},  {640, 480, 60, false},  {640, 480, 67, false},
    {640, 480, 72, false},   {640, 480, 75, false},  {800, 600, 56, false},  {800, 600, 60, false},
    {800, 600, 72, false},   {800, 600, 75, false},  {832, 624, 75, false},  {1024, 768, 87, false},
    {1024, 768, 60, false},  {1024, 768, 70, false}, {1024, 768, 75, false}, {1280, 1024, 75, false},
    {1152, 870, 75, false},
};

static const struct named established_3[EDID_ESTABLISHED_3] = {
    {640, 350, 85, false},   {640, 400, 85, false},   {720, 400, 85, false},   {640, 480, 85, false},
    {848, 480, 60, false},   {800, 600, 85, false},   {1024, 768, 85, false},  {1152, 864, 75, false},
    {1280, 768, 60, true},   {1280, 768, 60, false},  {1280, 768, 75, false},  {1280, 768, 85, false},
    {1280, 960, 60, false},  {1280, 960, 85, false},  {1280, 1024, 60, false}, {1280, 1024, 85, false},
    {1360, 768, 60, false},  {1440, 900, 60, true},   {1440, 900, 60, false},  {1440, 900, 75, false},
    {1440, 900, 85, false},  {1400, 1050, 60, true},  {1400, 1050, 60, false}, {1400, 1050, 75, false},
    {1400, 1050, 85, false}, {1680, 1050, 60, true},  {1680, 1050, 60, false}, {1680, 1050, 75, false},
    {1680, 1050, 85, false}, {1600, 1200, 60, false}, {1600, 1200, 65, false}, {1600, 1200, 70, false},
    {1600, 1200, 75, false}, {1600, 1200, 85, false}, {1792, 1344, 60, false}, {1792, 1344, 75, false},
    {1856, 1392, 60, false}, {1856, 1392, 75, false}, {1920, 1200, 60, true},  {1920, 1200, 60, false},
    {1920, 1200, 75, false}, {1920, 1200, 85, false}, {1920, 1440, 60, false}, {1920, 1440, 75, false},
};
/* clang-format on */

static struct timing of_name(const struct named *name)
{
    struct timing timing = {0};
    const bool known = name->reduced
                           ? timing_known_reduced(name->width, name->height, name->hertz, &timing)
                           : timing_known(name->width, name->height, name->hertz, &timing);

    util_assert(known);
    return timing;
}

struct timing edid_established_timing(unsigned bit)
{
    return of_name(&established[bit]);
}

struct timing edid_established_3_timing(unsigned bit)
{
    return of_name(&established_3[bit]);
}

bool edid_standard_timing(const uint8_t *code, bool square, struct timing *timing)
{
    static const uint8_t ratio[][2] = {{16, 10}, {4, 3}, {5, 4}, {16, 9}};
    const uint8_t *r = ratio[code[1] >> 6];
    uint32_t width = (code[0] + 31u) * 8, hertz = (code[1] & 63u) + 60, height;

    if (code[0] == 0 || (code[0] == 1 && code[1] == 1))
        return false;
    height = square && code[1] >> 6 == 0 ? width : width * r[1] / r[0];
    /* which a code cannot say, and these stand for */
    if ((width == 1360 && height == 765) || (width == 1368 && height == 769)) {
        width = 1366;
        height = 768;
    }
    if (!timing_known(width, height, hertz, timing) || timing->interlaced)
        *timing = timing_by_formula(width, height, hertz);
    return true;
}

/* A mode may have it (VIDPN-096). */
static bool has_sound_rate(const struct timing *t)
{
    const uint64_t frame = (uint64_t)t->total_width * t->total_height;
    const uint64_t pixels = t->pixel_rate * (t->interlaced ? 2 : 1);

    return pixels >= frame && pixels <= frame * MODE_MOST_HERTZ;
}

bool edid_detailed_timing(const uint8_t *d, struct timing *timing)
{
    const uint32_t width = d[2] | (d[4] & 0xF0u) << 4, height = d[5] | (d[7] & 0xF0u) << 4;
    const uint32_t blank = d[3] | (d[4] & 0x0Fu) << 8, lines = d[6] | (d[7] & 0x0Fu) << 8;
    const bool interlaced = d[17] & 0x80; /* all lines are then those of a field */

    if (!edid_is_timing(d) || width < LEAST_SIDE || height < LEAST_SIDE)
        return false;
    *timing = (struct timing){.width = width,
                              .height = interlaced ? height * 2 : height,
                              .total_width = width + blank,
                              .total_height = interlaced ? (height + lines) * 2 + 1 : height + lines,
                              .pixel_rate = (d[0] | (uint32_t)d[1] << 8) * (uint64_t)EDID_RATE_UNIT,
                              .interlaced = interlaced};
    return has_sound_rate(timing);
}
