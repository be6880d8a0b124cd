/* SPDX-License-Identifier: MIT */
/* What the files about allocations share. */
#ifndef DXGK_VIDMM_ALLOCATION_H
#define DXGK_VIDMM_ALLOCATION_H

#include "vidmm/vidmm_private.h"

/* ---- allocation_info.c ---- */

/* What the driver said about an allocation, checked (ALLOC rules: VIOLATION and a failure) and taken over. */
NTSTATUS allocation_read_info(struct vidmm_allocation *allocation, const DXGK_ALLOCATIONINFO *info);
/* It is not larger than every segment of its set. */
bool allocation_fits_somewhere(const struct vidmm_allocation *allocation);

/* ---- allocation.c ---- */

/* An empty record, on no list. NULL: out of memory. */
struct vidmm_allocation *allocation_new(struct vidmm *vidmm);
/* Give back its pages and the record; nothing refers to it any more. A hold keeps the record until allocation_unhold. */
void allocation_free(struct vidmm_allocation *allocation);
/* Keep the record while the lock is dropped. */
void allocation_hold(struct vidmm_allocation *allocation);
void allocation_unhold(struct vidmm_allocation *allocation);

/* ---- destroy.c ---- */

/* Set memory aside for the next, which must not fail. */
NTSTATUS allocation_prepare_close(struct vidmm_device *device);
/* Close everything a device has open, and wait until it is gone. Lock not held. */
void allocation_close_all(struct vidmm_device *device);

#endif
