/* SPDX-License-Identifier: MIT */
/* Allocations whose pages the driver sees, too (ShareBackingStoreWithKmd). */
#ifndef DXGK_VIDMM_SHARED_BACKING_H
#define DXGK_VIDMM_SHARED_BACKING_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

struct vidmm_allocation;

/* Does what the driver said go together with ShareBackingStoreWithKmd, if it set that? VIOLATION
 * and a failure if not (PHYS-182, PHYS-184). After flags, sets and resource are known. */
NTSTATUS shared_backing_check(const struct vidmm_allocation *allocation);
/* If it did: take the pages and tell the driver their kernel address. On failure, the driver's own
 * or STATUS_NO_MEMORY, the allocation is to be destroyed (PHYS-187). PASSIVE_LEVEL, lock not
 * held. */
NTSTATUS shared_backing_give(struct vidmm_allocation *allocation);
/* The address ends; the driver has been told (DxgkDdiDestroyAllocation). */
void shared_backing_end(struct vidmm_allocation *allocation);

#endif
