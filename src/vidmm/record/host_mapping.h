/* SPDX-License-Identifier: MIT */
/* What the CPU host aperture of a segment shows of something in it. */
#ifndef DXGK_VIDMM_HOST_MAPPING_H
#define DXGK_VIDMM_HOST_MAPPING_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

/* Empty while `window` is NULL. */
struct host_mapping {
    UINT segment;
    uint64_t count;   /* pages of the segment's own size */
    uint32_t *window; /* for each of them, in order: the page of the window */
    bool one_range;   /* these follow each other */
    bool kept;        /* they are those that are kept for page tables */
};

#endif
