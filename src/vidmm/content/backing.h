/* SPDX-License-Identifier: MIT */
/* System pages (the backing) of an allocation: their frames, and the mapping of the frames for the
 * device. Lock held. */
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

/* Ensure that the allocation has frames. New frames are filled with its pattern if it has no
 * content yet; its content is then CONTENT_SYSTEM. */
NTSTATUS backing_take(struct vidmm_allocation *allocation);
/* Ensure that the frames are mapped for the device (allocation->logical). */
NTSTATUS backing_map(struct vidmm_allocation *allocation);
/* Unmap them at once, which is safe only if no operation was built that uses them. Does nothing if
 * they are not mapped. */
void backing_unmap_now(struct vidmm_allocation *allocation);
/* Describe the mapped pages by as few runs as possible. */
NTSTATUS backing_runs(const struct vidmm_allocation *allocation, struct vidmm_run **runs,
                      uint32_t *run_count);
/* Remove the mapping (and with `frames` also the frames) from the allocation; they are unmapped and
 * freed when the GPU is done. Takes ownership of `release`, which is from the heap or
 * allocation->final. */
void backing_defer_unmap(struct vidmm_allocation *allocation, struct backing_release *release,
                         bool frames);

/* Free frames that nothing uses any more, and the array. */
void backing_give(struct vidmm *vidmm, struct page_number *backing, uint64_t pages, bool borrowed);

#endif
