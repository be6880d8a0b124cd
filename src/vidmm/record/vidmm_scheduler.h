/* SPDX-License-Identifier: MIT */
/*
 * What the memory manager calls in the scheduler. The scheduler is a higher room, so it passes this
 * table when the memory manager is created; there is no other call upwards.
 */
#ifndef DXGK_VIDMM_SCHEDULER_H
#define DXGK_VIDMM_SCHEDULER_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>
#include <d3dkmthk.h>

#include "util/address.h"

struct ddi_adapter;
struct vidmm_context;
struct vidmm_device;
struct vidmm_process;

/* A paging buffer while vidmm writes one submission to it. Several submissions may share a buffer:
 * this one begins at `start`. Offsets are bytes from the start of the buffer. */
struct vidmm_paging_buffer {
    void *data;        /* kernel address, 4 KiB aligned */
    uint32_t capacity; /* bytes */
    uint32_t start;
    uint32_t used;   /* end of what has been written so far */
    uint32_t number; /* of the buffer among those of the adapter, from 1 */
    void *private_data;
    uint32_t private_capacity;
    uint32_t private_start;
    uint32_t private_used;
    bool full; /* the next operation did not fit: continue in another buffer. Set by vidmm */
    /* Part of a power-down: submit it without device and context (PAGE-019). Set by vidmm */
    bool nobodys;
    /* What the paging fence is to be when it is done, of a hardware queue; else 0. Set by vidmm */
    uint64_t fence_value;
    struct logical_addr logical; /* device address of byte 0, for physical mode */
    struct gpu_va va;            /* address of byte 0 in the paging process, for virtual mode */
    void *scheduler_private;
};

struct vidmm_scheduler {
    /* The driver's handle of the system context on the paging node; NULL without
     * MultiEngineAware. */
    HANDLE (*system_context)(struct ddi_adapter *adapter);
    HANDLE (*system_device)(struct ddi_adapter *adapter);
    /* The driver's handle of the hardware queue for paging; only with hw_paging. */
    HANDLE (*paging_queue)(struct ddi_adapter *adapter);
    /* Get space for a submission: the rest of a paging buffer that is not full, or a new buffer.
     * Blocks until there is one. */
    NTSTATUS (*paging_buffer_get)(struct ddi_adapter *adapter, struct vidmm_paging_buffer **buffer);
    /* Queue the submission on the paging node behind all earlier ones, and return the buffer to
     * the scheduler. *ticket is the previous ticket plus one. With nothing written (used == start
     * for both parts) nothing is submitted, but the ticket still completes only after all earlier
     * ones (GPUVA-187). */
    NTSTATUS(*paging_buffer_submit)
    (struct ddi_adapter *adapter, struct vidmm_paging_buffer *buffer, uint64_t *ticket);
    bool (*paging_done)(struct ddi_adapter *adapter, uint64_t ticket);
    /* Block until the ticket is complete. STATUS_DEVICE_REMOVED if the adapter is
     * stopped or lost. */
    NTSTATUS (*paging_wait)(struct ddi_adapter *adapter, uint64_t ticket);
    /* The ticket of the last packet that any context of the device has queued, or one that stands
     * for what its clients have submitted themselves; whether it and all earlier ones are retired;
     * and wait until they are. device_nudge has that wait, or the next one, return early, with
     * STATUS_RETRY; only one thread waits for a device. */
    uint64_t (*device_ticket)(struct vidmm_device *device);
    bool (*device_done)(struct vidmm_device *device, uint64_t ticket);
    NTSTATUS (*device_wait)(struct vidmm_device *device, uint64_t ticket);
    void (*device_nudge)(struct vidmm_device *device);
    /* May work of the device begin at any time, since its clients submit it themselves? Not while
     * its process is suspended. */
    bool (*device_rings)(struct vidmm_device *device);
    /* Stop submitting work of all contexts of a process, and wait until its work in flight is
     * retired, and what its clients submit themselves does not run; then allow it again. */
    NTSTATUS (*process_suspend)(struct vidmm_process *process);
    void (*process_resume)(struct vidmm_process *process);
    /* Memory of this context of the device, or of each (`context` NULL), is going to move, and its
     * work has ended: have the hardware leave it, which may keep its state (CTXA-033). */
    NTSTATUS (*context_leave)(struct vidmm_device *device, struct vidmm_context *context);
    /* The paging buffer of a companion context, empty (GPUVA-137). Its member `va` is set by vidmm,
     * to an address in the privileged space. */
    struct vidmm_paging_buffer *(*companion_buffer)(struct vidmm_context *companion);
    /* Submit what was written to it, before all else that the context has queued; done(context) is
     * called when it has ended, or is canceled, at levels up to DISPATCH_LEVEL. */
    void (*companion_submit)(struct vidmm_context *companion, void (*done)(void *context),
                             void *context);
    /* Put a device into the error state (a failed page-in:
     * D3DKMT_DEVICEEXECUTION_ERROR_OUTOFMEMORY, ...). */
    void (*device_error)(struct vidmm_device *device, D3DKMT_DEVICEEXECUTION_STATE state);
    /* Everything on the device's residency list is resident now: packets that vidmm_device_prepare
     * refused may be submitted. */
    void (*device_resident)(struct vidmm_device *device);
    /* A screen has left an allocation, or stays at it: work may write to it. Level up to
     * DISPATCH_LEVEL. */
    void (*screen_left)(struct ddi_adapter *adapter);
    /* The number of its host handle, for events. */
    uint32_t (*device_number)(const struct vidmm_device *device);
};

#endif
