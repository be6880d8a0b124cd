/* SPDX-License-Identifier: MIT */
/*
 * Swizzling ranges of a WDDM 1.x adapter: addresses of the device through which the CPU sees an
 * allocation of a memory segment in linear order (ALLOC-130 to ALLOC-133). Lock held.
 */
#ifndef DXGK_VIDMM_SWIZZLING_RANGE_H
#define DXGK_VIDMM_SWIZZLING_RANGE_H

#include <stdbool.h>

#include <ntddk.h>

struct vidmm;
struct vidmm_allocation;
struct view_range;

/* One range, by RangeId. */
struct swizzling_range {
    struct vidmm_allocation *allocation; /* NULL: it is free */
    UINT private_data;
};

/* Give the allocation a range that was acquired with this private data. If the driver has none
 * left, ranges of allocations that nobody looks at through them are released, one after another.
 * Fails with the driver's status; STATUS_GRAPHICS_UNSWIZZLING_APERTURE_UNAVAILABLE if all ranges
 * are in use. `other_size`: the driver may change the size. *before: the range that locks look
 * through now. It stays until swizzling_range_settle, and if this fails, for good. */
NTSTATUS swizzling_range_acquire(struct vidmm_allocation *allocation, UINT private_data,
                                 bool other_size, struct view_range *before);
/* After it has succeeded: release what the allocation had before, or (`taken` false) what it has
 * got. */
void swizzling_range_settle(struct vidmm_allocation *allocation, const struct view_range *before,
                            bool taken);
/* Does nothing without one. The memory behind it must not be given away before. */
void swizzling_range_release(struct vidmm_allocation *allocation);

#endif
