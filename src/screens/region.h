/* SPDX-License-Identifier: MIT */
/* A set of pixels as rectangles that do not overlap: at most 64 of them, else the one that covers
 * them all (PRES-204). All zeros: the empty set. */
#ifndef DXGK_SCREENS_REGION_H
#define DXGK_SCREENS_REGION_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

#define REGION_MOST 64u

struct region {
    uint32_t count;
    bool boxed; /* there were more: the one rectangle covers pixels that nobody added, too, and
                   grows with each that is added */
    RECT rect[REGION_MOST];
};

bool rect_empty(const RECT *rect);
/* What both have; it may be empty. */
RECT rect_common(const RECT *a, const RECT *b);
/* The smallest that covers both; an empty one counts for nothing. */
RECT rect_cover(const RECT *a, const RECT *b);

void region_clear(struct region *region);
bool region_empty(const struct region *region);
/* An empty rectangle adds nothing. */
void region_add(struct region *region, const RECT *rect);
void region_add_all(struct region *region, const struct region *other);
/* Only what lies inside stays. */
void region_clip(struct region *region, const RECT *inside);
/* All 0 for the empty set. */
RECT region_box(const struct region *region);
/* Number of pixels. */
uint64_t region_pixels(const struct region *region);
bool region_has(const struct region *region, LONG x, LONG y);
/* No rectangle is empty or overlaps another; for tests and debug builds. */
bool region_validate(const struct region *region);

#endif
