/* SPDX-License-Identifier: MIT */
/* The EDID of the monitor that a model shows its pictures on. */
#ifndef DEVICES_COMMON_EDID_H
#define DEVICES_COMMON_EDID_H

#include <stdint.h>

#define EDID_BYTES      128u
#define EDID_MOST_WIDTH 4088u
#define EDID_MOST_LINES 2400u

/* EDID 1.4 of one block. The preferred mode is width x height at 60 Hz with the reduced blanking of
 * CVT; the established and standard timings are the usual sizes. Both sides: 64 up to the most
 * above, the width a multiple of 8. */
void edid_make(uint8_t edid[EDID_BYTES], uint32_t width, uint32_t height);

#endif
