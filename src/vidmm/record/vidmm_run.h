/* SPDX-License-Identifier: MIT */
/* Consecutive pages: the place of an allocation or page table is a list of runs. */
#ifndef DXGK_VIDMM_RUN_H
#define DXGK_VIDMM_RUN_H

#include <stdint.h>

#include <ntddk.h>

/* Consecutive pages of one segment. In segment 0, system memory, `first` is a device
 * (logical) page number. */
struct vidmm_run {
    UINT segment;
    uint64_t first; /* page: offset in the segment >> 12, or logical page */
    uint64_t pages;
};

#endif
