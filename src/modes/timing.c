/* SPDX-License-Identifier: MIT */
#include "modes/timing.h"

#define CLOCK_STEP  250000u
#define CELL        8u
#define FRONT_PORCH 3u
#define LEAST_PORCH 6u /* behind the synchronization, in lines */

bool timing_equal(const struct timing *a, const struct timing *b)
{
    return a->width == b->width && a->height == b->height && a->total_width == b->total_width &&
           a->total_height == b->total_height && a->pixel_rate == b->pixel_rate &&
           a->interlaced == b->interlaced;
}

/* ---- the formulas ---- */

#define MIN_BLANK_NS     550000.0 /* of vertical synchronization and back porch */
#define REDUCED_BLANK_NS 460000.0 /* and front porch */
#define REDUCED_BLANK    160u     /* pixels of a line */

/* Lines of vertical synchronization tell the aspect ratio. */
static uint32_t sync_lines(uint32_t width, uint32_t height)
{
    return width * 3 == height * 4                               ? 4
           : width * 9 == height * 16                            ? 5
           : width * 10 == height * 16                           ? 6
           : width * 4 == height * 5 || width * 9 == height * 15 ? 7
                                                                 : 10;
}

static uint32_t whole_cells(uint32_t width)
{
    return (width + CELL - 1) / CELL * CELL;
}

struct timing timing_by_formula(uint32_t width, uint32_t height, uint32_t hertz)
{
    const uint32_t sync = sync_lines(width, height), cells = whole_cells(width);
    const double line_ns = (1e9 / hertz - MIN_BLANK_NS) / (height + FRONT_PORCH);
    uint32_t lines = (uint32_t)(MIN_BLANK_NS / line_ns) + 1, blank;
    double duty = 30.0 - 300.0 * line_ns / 1e6; /* percent of a line that is blank */
    struct timing t = {.width = width, .height = height};

    if (lines < sync + LEAST_PORCH)
        lines = sync + LEAST_PORCH;
    if (duty < 20.0)
        duty = 20.0;
    blank = (uint32_t)(cells * duty / (100.0 - duty) / (2 * CELL)) * 2 * CELL;
    t.total_width = cells + blank;
    t.total_height = height + lines + FRONT_PORCH;
    t.pixel_rate = (uint64_t)(t.total_width * 1e9 / line_ns / CLOCK_STEP) * CLOCK_STEP;
    return t;
}

struct timing timing_by_reduced_formula(uint32_t width, uint32_t height, uint32_t hertz)
{
    const uint32_t least = FRONT_PORCH + sync_lines(width, height) + LEAST_PORCH;
    const double line_ns = (1e9 / hertz - REDUCED_BLANK_NS) / height;
    uint32_t lines = (uint32_t)(REDUCED_BLANK_NS / line_ns) + 1;
    struct timing t = {.width = width, .height = height};

    if (lines < least)
        lines = least;
    t.total_width = whole_cells(width) + REDUCED_BLANK;
    t.total_height = height + lines;
    t.pixel_rate = (uint64_t)hertz * t.total_width * t.total_height / CLOCK_STEP *
                   (uint64_t)CLOCK_STEP;
    return t;
}

/* ---- Windows' structure ---- */

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

static D3DDDI_RATIONAL reduced(uint64_t numerator, uint64_t denominator)
{
    const uint64_t divisor = common_divisor(numerator, denominator);

    numerator /= divisor;
    denominator /= divisor;
    while (numerator > UINT32_MAX / 2 || denominator > UINT32_MAX / 2) {
        numerator = (numerator + 1) / 2; /* never 0 */
        denominator = (denominator + 1) / 2;
    }
    return (D3DDDI_RATIONAL){(UINT)numerator, (UINT)denominator};
}

D3DKMDT_VIDEO_SIGNAL_INFO timing_signal(const struct timing *t,
                                        D3DKMDT_VIDEO_SIGNAL_STANDARD standard)
{
    const uint64_t frame = (uint64_t)t->total_width * t->total_height;
    D3DKMDT_VIDEO_SIGNAL_INFO signal = {.VideoStandard = standard};

    signal.TotalSize = (D3DKMDT_2DREGION){t->total_width, t->total_height};
    signal.ActiveSize = (D3DKMDT_2DREGION){t->width, t->height};
    signal.VSyncFreq = reduced(t->pixel_rate * (t->interlaced ? 2 : 1), frame);
    signal.HSyncFreq = reduced(t->pixel_rate, t->total_width);
    signal.PixelRate = (SIZE_T)t->pixel_rate;
    signal.ScanLineOrdering = t->interlaced ? D3DDDI_VSSLO_INTERLACED_UPPERFIELDFIRST
                                            : D3DDDI_VSSLO_PROGRESSIVE;
    return signal;
}
