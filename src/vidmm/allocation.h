/* SPDX-License-Identifier: MIT */
/* What the files about allocations share. */
#ifndef DXGK_VIDMM_ALLOCATION_H
#define DXGK_VIDMM_ALLOCATION_H

#include "vidmm/vidmm_private.h"

/* ---- allocation_info.c ---- */

/* What the driver said about an allocation, checked (ALLOC rules: VIOLATION and a failure) and
 * taken over. */
NTSTATUS allocation_read_info(struct vidmm_allocation *allocation, const DXGK_ALLOCATIONINFO *info);
/* It is not larger than every segment of its set. */
bool allocation_fits_somewhere(const struct vidmm_allocation *allocation);

/* ---- allocation.c ---- */

/* An empty record, on no list. NULL: out of memory. */
struct vidmm_allocation *allocation_new(struct vidmm *vidmm);
/* Give back its pages and the record; nothing refers to it any more. A hold keeps the record until
 * allocation_unhold. */
void allocation_free(struct vidmm_allocation *allocation);
/* Keep the record while the lock is dropped. */
void allocation_hold(struct vidmm_allocation *allocation);
void allocation_unhold(struct vidmm_allocation *allocation);

/* A record for a device's open of an allocation, on no list; and the reverse. */
struct vidmm_open *allocation_open_new(struct vidmm_device *device,
                                       struct vidmm_allocation *allocation);
void allocation_open_free(struct vidmm_open *open);

/* ---- shared_backing.c ---- */

/* Does what the driver said go together with ShareBackingStoreWithKmd, if it set that? VIOLATION
 * and a failure if not (PHYS-182, PHYS-184). After flags, sets and resource are known. */
NTSTATUS shared_backing_check(const struct vidmm_allocation *allocation);
/* If it did: take the pages and tell the driver their kernel address. On failure, the driver's own
 * or STATUS_NO_MEMORY, the allocation is to be destroyed (PHYS-187). PASSIVE_LEVEL, lock not
 * held. */
NTSTATUS shared_backing_give(struct vidmm_allocation *allocation);
/* The address ends; the driver has been told (DxgkDdiDestroyAllocation). */
void shared_backing_end(struct vidmm_allocation *allocation);

/* ---- destroy.c ---- */

/* The allocation is destroyed when its last open goes: nothing else keeps it. */
bool allocation_dies_unopened(const struct vidmm_allocation *allocation);
/* Destroy allocations (resource_link) that nobody has open or references, and their resource. Lock
 * not held. */
void allocation_destroy_unopened(struct vidmm_resource *resource);
/* What was acquired of an allocation has been released: waiting destructions go on. Lock held. */
void allocation_released(struct vidmm *vidmm);

/* Set memory aside for the next, which must not fail. */
NTSTATUS allocation_prepare_close(struct vidmm_device *device);
/* Close everything a device has open, and wait until it is gone. Lock not held. */
void allocation_close_all(struct vidmm_device *device);

/* ---- handle_callbacks.c ---- */

/* Report what drivers have acquired and not released, and release it (ALLOC-103). */
void handle_references_end(struct vidmm *vidmm);

#endif
