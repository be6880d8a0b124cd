/* SPDX-License-Identifier: MIT */
/* DMA buffers and paging buffers that lie in an aperture segment (PATCH-040, PAGE-002). */
#ifndef DXGK_VIDMM_APERTURE_RANGE_H
#define DXGK_VIDMM_APERTURE_RANGE_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

#include "util/address.h"
#include "util/list.h"

struct vidmm;

/* A DMA buffer or paging buffer that lies in an aperture segment (PATCH-040, PAGE-002): contiguous
 * frames of the scheduler's, mapped there by the driver until they are unmapped. */
struct vidmm_aperture_range {
    struct list link; /* vidmm->aperture_ranges */
    UINT place;       /* segment in which it has its range; 0: none */
    UINT segment;     /* the same while the GPU reaches it there; 0: it does not */
    uint64_t first;   /* page of the segment */
    uint64_t pages;
    struct page_number frame;    /* the first */
    struct logical_page logical; /* the first */
};
/* Map into one of the aperture segments of `set` (bit n: segment n + 1), lowest id first; all other
 * members are set. Blocks until the GPU has done it. STATUS_NO_MEMORY: no room. */
NTSTATUS vidmm_aperture_map(struct vidmm *vidmm, UINT set, struct vidmm_aperture_range *range);
/* Undone also when the adapter is lost; nothing to do for a range that is not mapped. */
void vidmm_aperture_unmap(struct vidmm *vidmm, struct vidmm_aperture_range *range);
/* Segment base + offset of its first byte. */
uint64_t vidmm_aperture_address(const struct vidmm *vidmm, const struct vidmm_aperture_range *range);

/* ---- lock held ---- */

/* Bytes mapped through apertures by such ranges. */
uint64_t aperture_range_bytes(const struct vidmm *vidmm);
/* The aperture points nowhere (reset, loss of power), and again as it was. */
void aperture_ranges_lost(struct vidmm *vidmm);
NTSTATUS aperture_ranges_restore(struct vidmm *vidmm);

#endif
