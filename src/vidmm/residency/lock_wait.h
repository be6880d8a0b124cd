/* SPDX-License-Identifier: MIT */
/* WDDM 1.x: a lock waits until the GPU has finished with the allocation (ALLOC-116, ALLOC-117). */
#ifndef DXGK_VIDMM_LOCK_WAIT_H
#define DXGK_VIDMM_LOCK_WAIT_H

#include <stdbool.h>

#include <ntddk.h>
#include <d3dkmthk.h>

struct vidmm_device;

/* Whom to wait for: all packets that have the allocation in their list, or only those that write
 * to it. With `at_once` STATUS_GRAPHICS_ALLOCATION_BUSY if there are such. */
NTSTATUS vidmm_lock_wait(struct vidmm_device *device, D3DKMT_HANDLE allocation, bool writers_only,
                         bool at_once);

#endif
