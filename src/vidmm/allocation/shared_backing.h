/* SPDX-License-Identifier: MIT */
/* Allocations whose pages are also mapped for the driver (ShareBackingStoreWithKmd). */
#ifndef DXGK_VIDMM_SHARED_BACKING_H
#define DXGK_VIDMM_SHARED_BACKING_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

struct vidmm_allocation;

/* If the driver set ShareBackingStoreWithKmd: is that allowed for this allocation? VIOLATION and a
 * failure if not (PHYS-182, PHYS-184). Call it when flags, segment sets and resource are known. */
NTSTATUS shared_backing_check(const struct vidmm_allocation *allocation);
/* If the driver set it: allocate the pages and tell the driver their kernel address. On failure
 * (the driver's own, or STATUS_NO_MEMORY) the allocation must be destroyed (PHYS-187).
 * PASSIVE_LEVEL, lock not held. */
NTSTATUS shared_backing_give(struct vidmm_allocation *allocation);
/* Release the kernel mapping; the driver must have been told (DxgkDdiDestroyAllocation). */
void shared_backing_end(struct vidmm_allocation *allocation);

#endif
