/* SPDX-License-Identifier: MIT */
/* System pages of an allocation: its frames, and their mapping for the device. Lock held. */
#ifndef DXGK_VIDMM_BACKING_H
#define DXGK_VIDMM_BACKING_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

struct backing_release;
struct page_number;
struct vidmm;
struct vidmm_allocation;
struct vidmm_run;

/* Ensure the allocation has frames. New ones are filled with its pattern if it has no content yet
 * (which then is CONTENT_SYSTEM). */
NTSTATUS backing_take(struct vidmm_allocation *allocation);
/* Ensure they are mapped for the device (allocation->logical). */
NTSTATUS backing_map(struct vidmm_allocation *allocation);
/* Undo it at once: no operation was built with them. Harmless without a mapping. */
void backing_unmap_now(struct vidmm_allocation *allocation);
/* Runs that describe the mapped pages: fewest pieces. */
NTSTATUS backing_runs(const struct vidmm_allocation *allocation, struct vidmm_run **runs,
                      uint32_t *run_count);
/* Take mapping (and frames) off the allocation when the GPU is done; `release`, from the heap or
 * the allocation's final one, is used up. */
void backing_defer_unmap(struct vidmm_allocation *allocation, struct backing_release *release,
                         bool frames);

/* Frames that nothing uses any more; frees the array. */
void backing_give(struct vidmm *vidmm, struct page_number *backing, uint64_t pages, bool borrowed);

#endif
