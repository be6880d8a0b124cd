/* SPDX-License-Identifier: MIT */
/* Pages in a row: the unit in which the place of memory is written down. */
#ifndef DXGK_VIDMM_RUN_H
#define DXGK_VIDMM_RUN_H

#include <stdint.h>

#include <ntddk.h>

/* Pages of one segment. Segment 0 is system memory: `first` is then the device (logical) page
 * number. */
struct vidmm_run {
    UINT segment;
    uint64_t first; /* page: offset in the segment >> 12, or logical page */
    uint64_t pages;
};

#endif
