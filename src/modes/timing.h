/* SPDX-License-Identifier: MIT */
/* The timing of a signal: by VESA's formulas, and as Windows' structure has it. */
#ifndef DXGK_MODES_TIMING_H
#define DXGK_MODES_TIMING_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <dispmprt.h>

/* In pixels and lines; of an interlaced signal, those of both fields. */
struct timing {
    uint32_t width, height, total_width, total_height;
    uint64_t pixel_rate; /* Hz */
    bool interlaced;
};

bool timing_equal(const struct timing *a, const struct timing *b);

/* ---- formulas ---- */

#define TIMING_MOST_SIDE  16384u
#define TIMING_MOST_HERTZ 1000u

/* By VESA's formula (CVT), with normal or reduced blanking. The sides are 1 to TIMING_MOST_SIDE,
 * the rate 1 to TIMING_MOST_HERTZ; of a tiny picture the pixel rate may come out as 0. */
struct timing timing_by_formula(uint32_t width, uint32_t height, uint32_t hertz);
struct timing timing_by_reduced_formula(uint32_t width, uint32_t height, uint32_t hertz);

/* ---- Windows' structure ---- */

/* With frequencies as reduced fractions (DISP-105). */
D3DKMDT_VIDEO_SIGNAL_INFO timing_signal(const struct timing *timing,
                                        D3DKMDT_VIDEO_SIGNAL_STANDARD standard);

#endif
