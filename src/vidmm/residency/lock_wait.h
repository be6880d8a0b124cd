/* SPDX-License-Identifier: MIT */
/* WDDM 1.x: a lock waits until the GPU has finished with the allocation (ALLOC-116, ALLOC-117). */
#ifndef DXGK_VIDMM_LOCK_WAIT_H
#define DXGK_VIDMM_LOCK_WAIT_H

#include <stdbool.h>

#include <ntddk.h>
#include <d3dkmthk.h>

struct vidmm;
struct vidmm_allocation;
struct vidmm_device;

/* Whom to wait for: all packets that have the allocation in their list, or only those that write
 * to it. With `at_once` STATUS_GRAPHICS_ALLOCATION_BUSY if there are such. STATUS_SUCCESS also if
 * `device` is lost, or the adapter: the lock itself is refused then. */
NTSTATUS vidmm_lock_wait(struct vidmm_device *device, D3DKMT_HANDLE allocation, bool writers_only,
                         bool at_once);
/* Does a lock, of whatever device, wait for work of this one? */
bool vidmm_device_lock_waits(const struct vidmm_device *device);
/* A device, or the adapter, was lost. */
void lock_wait_wake(struct vidmm *vidmm);
/* Has queued work the allocation in its list? Lock held. */
bool lock_wait_is_busy(const struct vidmm_allocation *allocation);

#endif
