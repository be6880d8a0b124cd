/* SPDX-License-Identifier: MIT */
/*
 * Residency for people: which allocations were in each segment of an adapter, from when to when,
 * why each left, and for which other one it was evicted.
 */
#ifndef DXGK_REPORT_RESIDENCY_H
#define DXGK_REPORT_RESIDENCY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct vidmm;

/* `name` is the adapter's, `now` the virtual time. Text: for each segment how many stays there
 * were, how full it was at most, why allocations left, and who had to leave most often for whom.
 * SVG: a chart for each segment, addresses downwards. False: out of memory, or writing failed. The
 * cost is that of sorting the events. */
bool report_residency_text(const struct vidmm *vidmm, const char *name, uint64_t now, FILE *out);
bool report_residency_svg(const struct vidmm *vidmm, const char *name, uint64_t now, FILE *out);

#endif
