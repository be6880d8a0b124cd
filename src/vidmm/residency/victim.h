/* SPDX-License-Identifier: MIT */
/* Victims: which allocations may be evicted, and in which order. Lock held, builder's fiber. */
#ifndef DXGK_VIDMM_VICTIM_H
#define DXGK_VIDMM_VICTIM_H

#include <stdbool.h>

#include <ntddk.h>

struct paging_turn;
struct vidmm_allocation;
struct vidmm_device;

/* STATUS_SUCCESS if no GPU work of a client can use the allocation now; else STATUS_RETRY, with the
 * process to suspend if that helps. */
NTSTATUS victim_need_idle(struct paging_turn *turn, struct vidmm_allocation *allocation);
/* The same for one that is to be moved: it is not pinned. One with the flag Capture stays so:
 * STATUS_GRAPHICS_CANT_EVICT_PINNED_ALLOCATION. */
NTSTATUS victim_need_free(struct paging_turn *turn, struct vidmm_allocation *allocation);
/* Move the allocation to its right position in the eviction orders, after its place, references or
 * priority changed. Cannot fail. */
void victim_update(struct vidmm_allocation *allocation);

/* The device has no unfinished GPU work, or is suspended or lost. */
bool victim_device_idle(struct vidmm_device *device);
/* The allocation is not pinned or locked, and no GPU work of a client can use it. `own`: true even
 * if it is on the list of the device for which memory is needed. */
bool victim_movable(const struct paging_turn *turn, const struct vidmm_allocation *allocation,
                    bool own);

#endif
