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

/* Destroy (close) either a resource or `count` allocations. Memory is freed after queued work,
 * unless the client promises with AssumeNotInUse that none uses it. Waits only with
 * SynchronousDestroy. */
NTSTATUS vidmm_allocation_destroy(struct vidmm_device *device, D3DKMT_HANDLE resource,
                                  const D3DKMT_HANDLE *list, UINT count,
                                  D3DDDICB_DESTROYALLOCATION2FLAGS flags);
/* Is the allocation destroyed when its last open is closed? False: a reference
 * keeps its resource. */
bool allocation_dies_unopened(const struct vidmm_allocation *allocation);
/* Destroy a resource that no device has open and nothing references, with its
 * allocations. Lock not held. */
void allocation_destroy_unopened(struct vidmm_resource *resource);
/* The driver has released an allocation that it had acquired: continue the destructions that waited
 * for that. Lock held, or no sim point passes meanwhile. */
void allocation_released(struct vidmm *vidmm);

/* Allocate memory for allocation_close_all, which must not fail. */
NTSTATUS allocation_prepare_close(struct vidmm_device *device);
/* Close everything that a device has open, and wait until that is done. Lock not held. */
void allocation_close_all(struct vidmm_device *device);

#endif
