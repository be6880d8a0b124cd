/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "modes/edid_make.h"
#include "modes/edid.h"
#include "modes/edid_timing.h"
#include "modes/timing_list.h"
#include "util/alloc.h"
#include "util/explain.h"
#include "util/min_max.h"

#define ESTABLISHED_AT 35u
#define STANDARD_AT    38u
#define STANDARDS      8u
#define DETAILED_AT    54u
#define DETAILED       4u
#define EXTENSIONS_AT  126u
#define SUM_AT         127u

#define CTA_DATA        4u
#define CTA_SHORT_VIDEO 2u
#define CTA_DETAILED    6u         /* that an extension has room for */
#define SHORT_VIDEO     10u        /* codes for which there is room, too */
#define MOST_LIMIT      (255u * 2) /* Hz or kHz, of a range */

/* ---- one timing ---- */

static uint32_t at_most(uint32_t value, uint32_t most)
{
    return (uint32_t)min_of(value, most);
}

static uint32_t field_lines(const struct timing *t, uint32_t lines)
{
    return t->interlaced ? lines / 2 : lines;
}

static uint64_t rate_units(const struct timing *t)
{
    return t->pixel_rate / EDID_RATE_UNIT + (t->pixel_rate % EDID_RATE_UNIT >= EDID_RATE_UNIT / 2);
}

static void put_12_bits(uint8_t *low, uint8_t *high, unsigned shift, uint32_t value)
{
    *low = (uint8_t)value;
    *high |= (uint8_t)(value >> 8 << shift);
}

/* Front porch and pulse, which a timing does not tell: half of the blank part is behind them. */
static void put_sync(uint8_t *d, uint32_t blank, uint32_t lines)
{
    const uint32_t pulse = at_most(blank / 4, 1023), front = at_most(blank / 4, 1023);
    const uint32_t pulse_lines = at_most(lines / 4, 63), front_lines = at_most(lines / 4, 63);

    d[8] = (uint8_t)front;
    d[9] = (uint8_t)pulse;
    d[10] = (uint8_t)((front_lines & 15) << 4 | (pulse_lines & 15));
    d[11] = (uint8_t)(front >> 8 << 6 | pulse >> 8 << 4 | front_lines >> 4 << 2 | pulse_lines >> 4);
}

/* Of 96 dots an inch. */
static uint32_t millimetres(uint32_t pixels)
{
    return pixels * 254 / 960;
}

/* The size of the monitor is that of a picture of `preferred`. */
static void put_detailed(uint8_t *d, const struct timing *t, const struct timing *preferred)
{
    const uint32_t units = (uint32_t)rate_units(t), height = field_lines(t, t->height);
    const uint32_t blank = t->total_width - t->width;
    const uint32_t lines = field_lines(t, t->total_height) - height;

    memset(d, 0, EDID_DETAILED_BYTES);
    d[0] = (uint8_t)units;
    d[1] = (uint8_t)(units >> 8);
    put_12_bits(&d[2], &d[4], 4, t->width);
    put_12_bits(&d[3], &d[4], 0, blank);
    put_12_bits(&d[5], &d[7], 4, height);
    put_12_bits(&d[6], &d[7], 0, lines);
    put_sync(d, blank, lines);
    put_12_bits(&d[12], &d[14], 4, at_most(millimetres(preferred->width), 4095));
    put_12_bits(&d[13], &d[14], 0, at_most(millimetres(preferred->height), 4095));
    d[17] = (uint8_t)(0x18 | (t->interlaced ? 0x80 : 0)); /* separate digital synchronization */
}

/* Would the timing come back as it is? Not if a number is too large, or wrong. */
static bool is_exact(const struct timing *t)
{
    uint8_t bytes[EDID_DETAILED_BYTES];
    struct timing back;

    put_detailed(bytes, t, t);
    return edid_detailed_timing(bytes, &back) && timing_equal(&back, t);
}

/* ... but for its pixel rate? */
static bool is_near(const struct timing *t)
{
    struct timing rounded = *t;

    rounded.pixel_rate = rate_units(t) * EDID_RATE_UNIT;
    return is_exact(&rounded);
}

/* ---- where each goes ---- */

struct plan {
    const struct edid_wish *wish;
    uint8_t *edid;
    unsigned blocks;
    unsigned standards; /* codes that are used */
    unsigned shorts;
    uint8_t code[SHORT_VIDEO];
    const struct timing **detailed; /* behind each other: of the base block, then of extensions */
    unsigned details;
};

static bool as_established(uint8_t *base, const struct timing *t)
{
    for (unsigned i = 0; i < EDID_ESTABLISHED; i++) {
        const struct timing one = edid_established_timing(i);

        if (timing_equal(&one, t)) {
            base[ESTABLISHED_AT + i / 8] |= (uint8_t)(0x80 >> i % 8);
            return true;
        }
    }
    return false;
}

static bool as_standard(struct plan *plan, const struct timing *t)
{
    struct timing one;

    /* 1366 pixels are said by the code of 1360, which not everyone knows */
    if (plan->standards == STANDARDS || t->width % 8)
        return false;
    for (unsigned second = 0; second < 256; second++) {
        const uint8_t code[2] = {(uint8_t)(t->width / 8 - 31), (uint8_t)second};

        if (!edid_standard_timing(code, false, &one) || !timing_equal(&one, t))
            continue;
        memcpy(plan->edid + STANDARD_AT + (size_t)2 * plan->standards++, code, 2);
        return true;
    }
    return false;
}

static bool as_short(struct plan *plan, const struct timing *t)
{
    const uint32_t code = timing_code(t);

    if (!code || plan->shorts == SHORT_VIDEO)
        return false;
    plan->code[plan->shorts++] = (uint8_t)code;
    return true;
}

static bool is_repeated(const struct edid_wish *wish, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (timing_equal(&wish->timing[i], &wish->timing[n]))
            return true;
    return false;
}

/* The first is a detailed timing. The others go where they come back as they are, and the base
 * block has room, before extensions are made for them. */
static bool place(struct plan *plan, unsigned n)
{
    const struct timing *t = &plan->wish->timing[n];

    if (n && (is_repeated(plan->wish, n) || as_established(plan->edid, t) || as_standard(plan, t)))
        return true;
    if (n && !is_exact(t) && as_short(plan, t))
        return true;
    if (!is_near(t))
        return false;
    plan->detailed[plan->details++] = t;
    return true;
}

/* ---- the ranges ---- */

struct limits {
    uint64_t low, high; /* in whole Hz or kHz */
};

static void widen(struct limits *limits, uint64_t numerator, uint64_t denominator)
{
    const uint64_t low = numerator / denominator;
    const uint64_t high = low + (numerator % denominator != 0);

    if (!limits->high || low < limits->low)
        limits->low = low ? low : 1;
    if (high > limits->high)
        limits->high = high;
}

static void find_limits(const struct edid_wish *wish, struct limits *fields, struct limits *lines,
                        struct limits *pixels)
{
    for (unsigned i = 0; i < wish->count; i++) {
        const struct timing *t = &wish->timing[i];
        const uint64_t frame = (uint64_t)t->total_width * t->total_height;

        widen(fields, t->pixel_rate * (t->interlaced ? 2 : 1), frame);
        widen(lines, t->pixel_rate, t->total_width * UINT64_C(1000));
        widen(pixels, t->pixel_rate, 10000000);
    }
}

static void put_limits(uint8_t *at, uint8_t *offsets, unsigned shift, const struct limits *limits)
{
    const unsigned both = limits->low > 255, upper = limits->high > 255;

    at[0] = (uint8_t)(limits->low - (both ? 255 : 0));
    at[1] = (uint8_t)(limits->high - (upper ? 255 : 0));
    *offsets |= (uint8_t)((upper << 1 | both) << shift);
}

static bool put_ranges(uint8_t *d, const struct edid_wish *wish)
{
    struct limits fields = {0, 0}, lines = {0, 0}, pixels = {0, 0};

    find_limits(wish, &fields, &lines, &pixels);
    if (fields.high > MOST_LIMIT || lines.high > MOST_LIMIT)
        return false;
    d[3] = 0xFD;
    put_limits(d + 5, &d[4], 0, &fields);
    put_limits(d + 7, &d[4], 2, &lines);
    d[9] = (uint8_t)pixels.high; /* neither detailed timings nor codes have more than 255 */
    d[10] = 1;                   /* these limits, and no formula */
    d[11] = 0x0A;
    memset(d + 12, ' ', 6);
    return true;
}

/* ---- blocks ---- */

static void put_text(uint8_t *d, uint8_t tag, const char *text)
{
    unsigned i = 0;

    d[3] = tag;
    for (; i < EDID_TEXT && text[i]; i++)
        d[5 + i] = (uint8_t)text[i];
    if (i < EDID_TEXT)
        d[5 + i++] = 0x0A;
    for (; i < EDID_TEXT; i++)
        d[5 + i] = ' ';
}

static void put_head(uint8_t *base, const struct edid_wish *wish)
{
    static const uint8_t head[] = {
        0,    0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0, /* header */
        0x13, 0x07, 1,    0,    0,    0,    0,    0, /* manufacturer DXG, product, serial number */
        0xFF, 36,   1,    4,                         /* model of 2026; EDID 1.4 */
        0xA0, 0,    0,    120,  0x06,                /* digital, 8 bits; size; gamma; features */
        0xEE, 0x91, 0xA3, 0x54, 0x4C, 0x99, 0x26, 0x0F, 0x50, 0x54, /* colours of sRGB */
    };

    memcpy(base, head, sizeof(head));
    base[21] = (uint8_t)at_most((millimetres(wish->timing[0].width) + 5) / 10, 255);
    base[22] = (uint8_t)at_most((millimetres(wish->timing[0].height) + 5) / 10, 255);
    memset(base + STANDARD_AT, 1, (size_t)2 * STANDARDS);
}

static unsigned details_in_base(const struct edid_wish *wish)
{
    return DETAILED - 2 - (wish->serial != NULL); /* beside ranges, name, and serial number */
}

static bool put_descriptors(struct plan *plan)
{
    uint8_t *at = plan->edid + DETAILED_AT;
    const uint8_t *end = at + (size_t)DETAILED * EDID_DETAILED_BYTES;

    for (unsigned i = 0; i < plan->details && i < details_in_base(plan->wish);
         i++, at += EDID_DETAILED_BYTES)
        put_detailed(at, plan->detailed[i], &plan->wish->timing[0]);
    if (!put_ranges(at, plan->wish))
        return false;
    at += EDID_DETAILED_BYTES;
    put_text(at, 0xFC, plan->wish->name ? plan->wish->name : "dxgkhost");
    at += EDID_DETAILED_BYTES;
    if (plan->wish->serial) {
        put_text(at, 0xFF, plan->wish->serial);
        at += EDID_DETAILED_BYTES;
    }
    for (; at < end; at += EDID_DETAILED_BYTES)
        at[3] = 0x10; /* unused */
    return true;
}

static unsigned extensions(const struct plan *plan)
{
    const unsigned base = details_in_base(plan->wish);
    const unsigned rest = plan->details > base ? plan->details - base : 0;

    if (!rest && !plan->shorts)
        return 0;
    return rest ? (rest + CTA_DETAILED - 1) / CTA_DETAILED : 1;
}

static void put_extensions(struct plan *plan)
{
    /* video capabilities: every picture is shown whole, and the range of RGB can be chosen */
    static const uint8_t abilities[] = {0xE2, 0, 0x4A};
    unsigned next = details_in_base(plan->wish);

    for (unsigned i = 1; i < plan->blocks; i++) {
        uint8_t *block = plan->edid + (size_t)i * EDID_BLOCK;
        unsigned at = CTA_DATA;

        block[0] = 2;
        block[1] = 3;
        block[3] = 0x80; /* pictures are shown whole */
        if (i == 1) {
            memcpy(block + at, abilities, sizeof(abilities));
            at += sizeof(abilities);
        }
        if (i == 1 && plan->shorts) {
            block[at++] = (uint8_t)(CTA_SHORT_VIDEO << 5 | plan->shorts);
            memcpy(block + at, plan->code, plan->shorts);
            at += plan->shorts;
        }
        block[2] = (uint8_t)at;
        for (; next < plan->details && at + EDID_DETAILED_BYTES <= SUM_AT; at += EDID_DETAILED_BYTES)
            put_detailed(block + at, plan->detailed[next++], &plan->wish->timing[0]);
    }
}

static void put_sums(struct plan *plan)
{
    for (unsigned i = 0; i < plan->blocks; i++) {
        uint8_t *block = plan->edid + (size_t)i * EDID_BLOCK, sum = 0;

        for (unsigned k = 0; k < SUM_AT; k++)
            sum = (uint8_t)(sum + block[k]);
        block[SUM_AT] = (uint8_t)-sum;
    }
}

/* ---- the whole ---- */

static bool is_text(const char *text)
{
    if (!text)
        return true;
    if (!*text || strlen(text) > EDID_TEXT)
        return false;
    for (; *text; text++)
        if (*text < ' ' || *text > '~')
            return false;
    return true;
}

static bool build(struct plan *plan, char *error, size_t error_bytes)
{
    const struct edid_wish *wish = plan->wish;

    put_head(plan->edid, wish);
    for (unsigned i = 0; i < wish->count; i++)
        if (!place(plan, i)) {
            util_explain(
                error, error_bytes, "an EDID cannot name %ux%u%s with %llu pixels a second%s",
                wish->timing[i].width, wish->timing[i].height,
                wish->timing[i].interlaced ? " interlaced" : "",
                (unsigned long long)wish->timing[i].pixel_rate, i ? "" : " as the preferred mode");
            return false;
        }
    plan->blocks = 1 + extensions(plan);
    if (plan->blocks > EDID_MOST_BLOCKS) {
        util_explain(error, error_bytes, "%u modes do not fit into an EDID", wish->count);
        return false;
    }
    plan->edid[EXTENSIONS_AT] = (uint8_t)(plan->blocks - 1);
    if (!put_descriptors(plan)) {
        util_explain(error, error_bytes, "a mode has more than %u Hz or %u kHz", MOST_LIMIT,
                     MOST_LIMIT);
        return false;
    }
    put_extensions(plan);
    put_sums(plan);
    return true;
}

uint8_t *edid_make(const struct edid_wish *wish, unsigned *blocks, char *error, size_t error_bytes)
{
    struct plan plan = {.wish = wish};
    bool ok;

    if (!wish->count) {
        util_explain(error, error_bytes, "an EDID needs a mode");
        return NULL;
    }
    if (!is_text(wish->name) || !is_text(wish->serial)) {
        util_explain(error, error_bytes, "the %s of a monitor is not 1 to %u characters of ASCII",
                     is_text(wish->name) ? "serial number" : "name", EDID_TEXT);
        return NULL;
    }
    plan.edid = util_zalloc(EDID_MOST_BLOCKS, EDID_BLOCK);
    plan.detailed = util_zalloc(wish->count, sizeof(struct timing *));
    ok = plan.edid && plan.detailed;
    if (!ok)
        util_explain(error, error_bytes, "out of memory");
    ok = ok && build(&plan, error, error_bytes);
    util_free(plan.detailed);
    if (ok) {
        *blocks = plan.blocks;
        return plan.edid;
    }
    util_free(plan.edid);
    return NULL;
}
