/* SPDX-License-Identifier: MIT */
/* Primaries: allocations that stay where they are while a video present source shows them, or is
 * about to (PRES-060, PRES-081). For the room that shows them. */
#ifndef DXGK_VIDMM_SCANOUT_H
#define DXGK_VIDMM_SCANOUT_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmthk.h>

#include "vidmm/record/follow_record.h"

struct vidmm_allocation;
struct vidmm_device;

/* What a source shows, as DxgkDdiSetVidPnSourceAddress names it. */
struct vidmm_scanout {
    HANDLE allocation; /* of DxgkDdiCreateAllocation */
    UINT segment;
    uint64_t address; /* segment base plus offset, as in DXGK_ALLOCATIONLIST (PRES-121) */
};

/* A reference to the allocation of a client's handle, which ends with vidmm_scanout_release: its
 * memory stays until then, whatever the client destroys. NULL: no allocation of the device. */
struct vidmm_allocation *vidmm_scanout_get(struct vidmm_device *device, D3DKMT_HANDLE handle);
/* The same of a resource, whose first allocation it is, or of an allocation. */
struct vidmm_allocation *vidmm_scanout_get_first(struct vidmm_device *device, D3DKMT_HANDLE handle);
void vidmm_scanout_release(struct vidmm_allocation *allocation);
/* Is it marked as a primary of this source? */
bool vidmm_scanout_fits(const struct vidmm_allocation *allocation, UINT source);
HANDLE vidmm_scanout_handle(const struct vidmm_allocation *allocation); /* the driver's */
/* The driver's handle of what the device has opened (DXGK_ALLOCATIONLIST); NULL: nothing. */
HANDLE vidmm_scanout_open_handle(struct vidmm_device *device, D3DKMT_HANDLE handle);
/* Did the driver create it CpuVisible? */
bool vidmm_scanout_cpu_visible(const struct vidmm_allocation *allocation);
uint64_t vidmm_scanout_bytes(const struct vidmm_allocation *allocation);

/* Page it in, and keep it there until as many calls of vidmm_scanout_unpin. Only a reset or the end
 * of the adapter's power takes it away then; vidmm_scanout_place pages it in again. PASSIVE_LEVEL;
 * waits for the paging. Fails with STATUS_NO_MEMORY, and what the driver returned. */
NTSTATUS vidmm_scanout_pin(struct vidmm_allocation *allocation, struct vidmm_scanout *where);
NTSTATUS vidmm_scanout_place(struct vidmm_allocation *allocation, struct vidmm_scanout *where);
void vidmm_scanout_unpin(struct vidmm_allocation *allocation);

/* Something shows it, and is going to show another: work that is queued from now on waits before it
 * writes to it (PRES-138). False: that has happened, or does not. Level up to DISPATCH_LEVEL. */
void vidmm_scanout_leaves(struct vidmm_allocation *allocation, bool leaves);

/* Call `ready(context)` when the GPU has finished what the device has queued so far; at once, if it
 * has. Lock of the memory manager held. */
struct vidmm_scanout_wait {
    struct vidmm_follow follow;
    void (*ready)(void *context);
    void *context;
};
void vidmm_scanout_after(struct vidmm_device *device, struct vidmm_scanout_wait *wait);
/* `ready` is not called any more. */
void vidmm_scanout_forget(struct vidmm_device *device, struct vidmm_scanout_wait *wait);

/* Read its content from the first byte on, where the CPU reaches it. False: it cannot, or it is
 * shorter. */
bool vidmm_scanout_read(struct vidmm_allocation *allocation, void *bytes, uint64_t count);
/* Where the host has its first byte; NULL: the CPU does not reach it. */
const void *vidmm_scanout_start(const struct vidmm_allocation *allocation);

#endif
