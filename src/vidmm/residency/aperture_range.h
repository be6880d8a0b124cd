/* SPDX-License-Identifier: MIT */
/* DMA buffers and paging buffers that are mapped in an aperture segment (PATCH-040, PAGE-002). */
#ifndef DXGK_VIDMM_APERTURE_RANGE_H
#define DXGK_VIDMM_APERTURE_RANGE_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

#include "util/address.h"
#include "util/list.h"

struct vidmm;

/* A DMA buffer or paging buffer in an aperture segment: contiguous frames that the scheduler owns
 * and the driver maps there, until they are unmapped. */
struct vidmm_aperture_range {
    struct list link; /* vidmm->aperture_ranges */
    UINT place;       /* segment in which it has a range; 0: none */
    UINT segment;     /* the same while it is mapped, so that the GPU can use it; else 0 */
    uint64_t first;   /* page of the segment */
    uint64_t pages;
    struct page_number frame;    /* first frame */
    struct logical_page logical; /* its device address */
};
/* Map a buffer into one of the aperture segments of `set` (bit n: segment n + 1), trying the lowest
 * id first; sets the other members. Blocks until the GPU has done it. STATUS_NO_MEMORY: no room. */
NTSTATUS vidmm_aperture_map(struct vidmm *vidmm, UINT set, struct vidmm_aperture_range *range);
/* Also on a lost adapter. Does nothing if the range is not mapped. */
void vidmm_aperture_unmap(struct vidmm *vidmm, struct vidmm_aperture_range *range);
/* Segment base + offset of the buffer's first byte. */
uint64_t vidmm_aperture_address(const struct vidmm *vidmm, const struct vidmm_aperture_range *range);

/* ---- lock held ---- */

/* Bytes of the apertures that these ranges use. */
uint64_t aperture_range_bytes(const struct vidmm *vidmm);
/* The mappings were lost (reset, loss of power); and map them again as before. */
void aperture_ranges_lost(struct vidmm *vidmm);
NTSTATUS aperture_ranges_restore(struct vidmm *vidmm);

#endif
