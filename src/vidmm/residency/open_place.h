/* SPDX-License-Identifier: MIT */
/* Where an opened allocation is, and what else a submission needs to know about it.
 * For the scheduler. */
#ifndef DXGK_VIDMM_OPEN_PLACE_H
#define DXGK_VIDMM_OPEN_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>
#include <d3dkmthk.h>

struct vidmm_allocation;
struct vidmm_device;
struct vidmm_open;

/* Bytes of an opened allocation. */
uint64_t vidmm_open_bytes(const struct vidmm_open *open);

/* The open behind a handle that work was queued with. The client may have destroyed the handle
 * since; the open then exists until that work is done (ALLOC-088). NULL: not a handle of the
 * device, or it was destroyed with the promise that no work uses it (AssumeNotInUse). */
struct vidmm_open *vidmm_open_find_queued(struct vidmm_device *device, D3DKMT_HANDLE handle);
/* For allocation lists. Any level up to DISPATCH. */
struct vidmm_place {
    bool resident;
    UINT segment;           /* 0: system memory */
    uint64_t physical;      /* base + offset, for DXGK_ALLOCATIONLIST; 0: unknown or scattered */
    HANDLE device_specific; /* hDeviceSpecificAllocation */
};
bool vidmm_open_place(const struct vidmm_open *open, struct vidmm_place *place);
bool vidmm_open_accessed_physically(const struct vidmm_open *open);
/* The allocation, if the driver made it a history buffer (ALLOC-057); NULL: it did not. */
struct vidmm_allocation *vidmm_open_history(const struct vidmm_open *open);
/* True also if it was destroyed, but is still resident for work queued before. */
bool vidmm_open_on_residency_list(const struct vidmm_open *open);
bool vidmm_open_locked(const struct vidmm_open *open);
bool vidmm_open_may_leave_memory(const struct vidmm_open *open); /* RES-008 */
bool vidmm_open_read_only(const struct vidmm_open *open);
bool vidmm_open_offered(const struct vidmm_open *open); /* RES-065 */
/* Its set has an aperture segment, or nothing else; its content has an order of the GPU's
 * (ALLOC-118). */
bool vidmm_open_has_aperture(const struct vidmm_open *open);
bool vidmm_open_aperture_only(const struct vidmm_open *open);
bool vidmm_open_swizzles(const struct vidmm_open *open);
/* A screen shows it, and a flip to another is queued; *departure: the how many-eth time. Any level
 * up to DISPATCH. */
bool vidmm_open_leaves_screen(const struct vidmm_open *open, uint32_t *departure);
/* WDDM 1.x: the packet that the device has queued last has it in its allocation list. Any thread,
 * without the lock. */
void vidmm_open_used(struct vidmm_open *open, bool write);
struct vidmm_device *vidmm_open_device(const struct vidmm_open *open);

#endif
