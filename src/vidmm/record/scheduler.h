/* SPDX-License-Identifier: MIT */
/*
 * What the memory manager needs from the scheduler, which is above it: the scheduler registers the
 * table when the memory manager is created. It is the only way up.
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
struct vidmm_device;
struct vidmm_process;

/* One submission in a DMA buffer of the system context, while vidmm fills it: from `start` on,
 * behind those before. Offsets are bytes from byte 0 of the buffer. */
struct vidmm_paging_buffer {
    void *data;        /* kernel address, 4 KiB aligned */
    uint32_t capacity; /* bytes */
    uint32_t start;
    uint32_t used; /* end of what is written so far */
    void *private_data;
    uint32_t private_capacity;
    uint32_t private_start;
    uint32_t private_used;
    bool full; /* no room for what comes next: that goes to another buffer. Set by vidmm */
    /* Of a power-down: submitted with no device or context (PAGE-019). Set by vidmm */
    bool nobodys;
    struct logical_addr logical; /* device address of byte 0 in physical mode */
    struct gpu_va va;            /* address of byte 0 in the paging process, when virtual */
    void *scheduler_private;
};

struct vidmm_scheduler {
    /* Context handle (driver's) of the system context on the paging node; NULL without
     * MultiEngineAware. */
    HANDLE (*system_context)(struct ddi_adapter *adapter);
    HANDLE (*system_device)(struct ddi_adapter *adapter);
    /* Room for a submission: the rest of a paging buffer that is not full, or a new one; blocks
     * while there is none. */
    NTSTATUS (*paging_buffer_get)(struct ddi_adapter *adapter, struct vidmm_paging_buffer **buffer);
    /* Queue it on the paging node behind all earlier ones and take it back; *ticket grows by one
     * each time. used = start, in both: not submitted, but the ticket completes only after all
     * earlier ones (GPUVA-187). */
    NTSTATUS(*paging_buffer_submit)
    (struct ddi_adapter *adapter, struct vidmm_paging_buffer *buffer, uint64_t *ticket);
    bool (*paging_done)(struct ddi_adapter *adapter, uint64_t ticket);
    /* Block until done. STATUS_DEVICE_REMOVED if the adapter was stopped or lost meanwhile. */
    NTSTATUS (*paging_wait)(struct ddi_adapter *adapter, uint64_t ticket);
    /* Number of the last packet queued by any context of the device; and wait until that and all
     * earlier ones are retired. */
    uint64_t (*device_ticket)(struct vidmm_device *device);
    bool (*device_done)(struct vidmm_device *device, uint64_t ticket);
    NTSTATUS (*device_wait)(struct vidmm_device *device, uint64_t ticket);
    /* Hold back (and release) submissions of all contexts of a process, waiting until those in
     * flight are retired. */
    NTSTATUS (*process_suspend)(struct vidmm_process *process);
    void (*process_resume)(struct vidmm_process *process);
    /* Put a device into the error state (failed page-in: D3DKMT_DEVICEEXECUTION_ERROR_OUTOFMEMORY,
     * ...). */
    void (*device_error)(struct vidmm_device *device, D3DKMT_DEVICEEXECUTION_STATE state);
    /* The residency list of the device became complete: packets held back by vidmm_device_prepare
     * may go. */
    void (*device_resident)(struct vidmm_device *device);
};

#endif
