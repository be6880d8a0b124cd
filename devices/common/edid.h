/* SPDX-License-Identifier: MIT */
/* The EDID of the monitor that a model shows its pictures on. */
#ifndef DEVICES_COMMON_EDID_H
#define DEVICES_COMMON_EDID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EDID_BYTES      128u
#define EDID_LEAST      64u
#define EDID_MOST_WIDTH 4088u
#define EDID_MOST_LINES 2400u

/* Can an EDID be made for it? */
static inline bool edid_possible(uint32_t width, uint32_t height)
{
    return width >= EDID_LEAST && width <= EDID_MOST_WIDTH && width % 8 == 0 &&
           height >= EDID_LEAST && height <= EDID_MOST_LINES;
}

/* The size of its first detailed timing; of an EDID without one, 1024 x 768. */
void edid_preferred(const uint8_t *edid, size_t bytes, uint32_t *width, uint32_t *height);

/* EDID 1.4 of one block. The preferred mode is width x height at 60 Hz with the reduced blanking of
 * CVT; the established and standard timings are the usual sizes. */
void edid_make(uint8_t edid[EDID_BYTES], uint32_t width, uint32_t height);

#endif
