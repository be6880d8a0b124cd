/* SPDX-License-Identifier: MIT */
/*
 * Paging operations that move, fill, map and announce the content of an allocation. All append
 * operations (builder's fiber, lock held); none changes what the allocation's record says about its
 * place.
 */
#ifndef DXGK_VIDMM_CONTENT_H
#define DXGK_VIDMM_CONTENT_H

#include "vidmm/vidmm_private.h"

/* Fill its whole size at `runs` of a memory segment with its pattern. */
NTSTATUS content_fill(struct vidmm_allocation *allocation, const struct vidmm_run *runs,
                      uint32_t run_count);
/* Copy between `runs` of a memory segment and the backing pages, which the device must reach. */
NTSTATUS content_transfer(struct vidmm_allocation *allocation, const struct vidmm_run *runs,
                          uint32_t run_count, bool to_system);
/* Copy between two places in memory segments. */
NTSTATUS content_move(struct vidmm_allocation *allocation, const struct vidmm_run *from,
                      uint32_t from_count, const struct vidmm_run *to, uint32_t to_count);
/* It leaves its memory segment without a copy; the driver hears of it only on physical paging
 * (PAGE-042). */
NTSTATUS content_discard(struct vidmm_allocation *allocation, const struct vidmm_run *runs,
                         uint32_t run_count);
/* NOTIFY_RESIDENCY, for allocations that asked for it (GPUVA-239). `run` NULL: evicted. */
NTSTATUS content_notify(struct vidmm_allocation *allocation, const struct vidmm_run *run);
/* Map the backing pages at page `first` of an aperture segment, and the reverse (which puts the
 * dummy page there). The first may make allocation->aperture_view, for the caller to release after
 * the unmap. */
NTSTATUS content_map_aperture(struct vidmm_allocation *allocation, UINT segment, uint64_t first);
NTSTATUS content_unmap_aperture(struct vidmm_allocation *allocation, UINT segment, uint64_t first);

/* An MDL over the backing pages that is freed when the operations built until then are done. NULL:
 * out of memory. */
struct mdl_block;
struct mdl_block *content_mdl_create(const struct vidmm_allocation *allocation);
/* The same over contiguous frames. */
struct mdl_block *content_mdl_of_run(struct page_number first, uint64_t pages);
MDL *content_mdl(struct mdl_block *block);
void content_mdl_defer_free(struct vidmm *vidmm, struct mdl_block *block);

/* The page behind unmapped aperture ranges. */
NTSTATUS content_dummy_create(struct vidmm *vidmm);
void content_dummy_destroy(struct vidmm *vidmm);

#endif
