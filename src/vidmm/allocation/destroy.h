/* SPDX-License-Identifier: MIT */
/* Closing and destroying allocations. */
#ifndef DXGK_VIDMM_DESTROY_H
#define DXGK_VIDMM_DESTROY_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>
#include <d3dkmthk.h>

struct vidmm;
struct vidmm_allocation;
struct vidmm_device;
struct vidmm_resource;

/* Destroys (closes) either a resource or `count` allocations. Waits for queued work unless told not
 * to. */
NTSTATUS vidmm_allocation_destroy(struct vidmm_device *device, D3DKMT_HANDLE resource,
                                  const D3DKMT_HANDLE *list, UINT count,
                                  D3DDDICB_DESTROYALLOCATION2FLAGS flags);
/* The allocation is destroyed when its last open goes: nothing else keeps it. */
bool allocation_dies_unopened(const struct vidmm_allocation *allocation);
/* Destroy allocations (resource_link) that nobody has open or references, and their resource. Lock
 * not held. */
void allocation_destroy_unopened(struct vidmm_resource *resource);
/* What was acquired of an allocation has been released: waiting destructions go on. Lock held,
 * or no sim point passes meanwhile. */
void allocation_released(struct vidmm *vidmm);

/* Set memory aside for the next, which must not fail. */
NTSTATUS allocation_prepare_close(struct vidmm_device *device);
/* Close everything a device has open, and wait until it is gone. Lock not held. */
void allocation_close_all(struct vidmm_device *device);

#endif
