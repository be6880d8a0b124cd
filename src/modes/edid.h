/* SPDX-License-Identifier: MIT */
/* What a monitor says of itself: blocks of 128 bytes (EDID). Any bytes are taken, as they come from
 * a driver (DISP-104, DISP-105, DISP-146). */
#ifndef DXGK_MODES_EDID_H
#define DXGK_MODES_EDID_H

#include <stdbool.h>
#include <stdint.h>

#include "modes/mode_set.h"

#define EDID_BLOCK       128u
#define EDID_MOST_BLOCKS 256u

/* Is the block right by its sum, and a base block by its header (DISP-069)? */
bool edid_block_valid(const uint8_t *block, bool base);
/* Number of extension blocks that a base block announces. */
unsigned edid_extensions(const uint8_t *base);
/* Its modes go into the set of the monitor. False: out of memory. */
bool edid_modes(const uint8_t *edid, unsigned blocks, struct mode_set *set);
/* The n-th range of frequencies that it names; false: it names fewer. */
bool edid_range(const uint8_t *edid, unsigned n, D3DKMDT_MONITOR_FREQUENCY_RANGE *range);
/* The modes of a monitor that says nothing (DISP-106). False: out of memory. */
bool edid_default_modes(struct mode_set *set);

#endif
