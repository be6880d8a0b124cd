/* SPDX-License-Identifier: MIT */
/* Timings by size and rate, or by code: VESA's list for monitors, and that of CTA-861. */
#ifndef DXGK_MODES_TIMING_LIST_H
#define DXGK_MODES_TIMING_LIST_H

#include "modes/timing.h"

/* One of the list (VESA DMT, without reduced blanking where it has both), or those that older
 * displays had; false: it has none. `hertz` counts fields. */
bool timing_known(uint32_t width, uint32_t height, uint32_t hertz, struct timing *timing);
/* One of that list with reduced blanking. */
bool timing_known_reduced(uint32_t width, uint32_t height, uint32_t hertz, struct timing *timing);
/* By its video identification code (CTA-861); false: the code has none, or one of 4096 and more
 * pixels a line, which are not taken from codes (DISP-104). */
bool timing_of_code(uint32_t code, struct timing *timing);
/* The first code that has this timing; 0: none. */
uint32_t timing_code(const struct timing *timing);
/* Who asks for this size and rate, in thousandths of a Hz, gets this: one of a list, or by formula,
 * with reduced blanking where a detailed timing could not hold the other. False: there is none. */
bool timing_wanted(uint32_t width, uint32_t height, uint32_t millihertz, bool interlaced,
                   struct timing *timing);

#endif
