/* SPDX-License-Identifier: MIT */
/* How far a picture is from another one (PRES-320). */
#ifndef DXGK_SCREENS_PICTURE_COMPARE_H
#define DXGK_SCREENS_PICTURE_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

#include "screens/picture.h"

/* Pixels that only one of the pictures has differ by 255. */
struct picture_difference {
    bool same_size;
    uint64_t count;  /* pixels that differ by more than the tolerance */
    uint8_t largest; /* difference of a channel anywhere, also within the tolerance */
    RECT box;        /* around the pixels that were counted; all 0: none was */
};

/* `tolerance`: by how much a channel may differ. */
struct picture_difference picture_compare(const struct picture *picture,
                                          const struct picture *reference, uint8_t tolerance);
/* Equal enough: of one size, and at most `allowed` pixels differ. */
bool picture_matches(const struct picture_difference *difference, uint64_t allowed);

/* A picture for the eye, as large as both: pixels that were counted are red, brighter ones differ
 * by more; behind them stands the reference in dark grey. False: out of memory, or neither is a
 * picture; *shown is unchanged then. */
bool picture_show_difference(struct picture *shown, const struct picture *picture,
                             const struct picture *reference, uint8_t tolerance);

#endif
