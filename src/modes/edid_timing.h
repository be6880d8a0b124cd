/* SPDX-License-Identifier: MIT */
/* The three ways in which a base block of an EDID names a timing. */
#ifndef DXGK_MODES_EDID_TIMING_H
#define DXGK_MODES_EDID_TIMING_H

#include <stdbool.h>
#include <stdint.h>

#include "modes/timing.h"

#define EDID_ESTABLISHED    17u /* bits, the first of them bit 7 of its byte */
#define EDID_ESTABLISHED_3  44u /* of the descriptor with more of them */
#define EDID_DETAILED_BYTES 18u
#define EDID_RATE_UNIT      10000u /* Hz */

/* Of the bit with this number. */
struct timing edid_established_timing(unsigned bit);
struct timing edid_established_3_timing(unsigned bit);
/* Of a code of two bytes; of EDID before 1.3 `square` is the ratio that 16:10 is now. False: the
 * code is not used. */
bool edid_standard_timing(const uint8_t *code, bool square, struct timing *timing);
/* Of 18 bytes; false: they are none, but a descriptor of something else, or hold less than a
 * picture, as unused ones of old monitors do. */
bool edid_detailed_timing(const uint8_t *bytes, struct timing *timing);
/* Do these 18 bytes hold a timing, by their pixel rate, and no descriptor? */
static inline bool edid_is_timing(const uint8_t *bytes)
{
    return bytes[0] || bytes[1];
}

#endif
