/* SPDX-License-Identifier: MIT */
/*
 * The scheduler for the room of client calls: devices, contexts, what is queued in them, and
 * synchronization objects.
 *
 * PASSIVE_LEVEL on a simulated thread unless a function says otherwise.
 */
#ifndef DXGK_VIDSCH_CLIENT_H
#define DXGK_VIDSCH_CLIENT_H

#include "vidsch/vidsch.h"

struct vidmm_process;

/* ---- devices and contexts ---- */
NTSTATUS vidsch_device_create(struct vidsch *vidsch, struct vidmm_process *mm,
                              const D3DKMT_CREATEDEVICEFLAGS *flags, struct vidsch_device **out);
/* Lets queued work finish unless lost; destroys what is left of contexts and synchronization
 * objects, opens, then the driver's device. */
void vidsch_device_destroy(struct vidsch_device *device);
struct vidmm_device *vidsch_device_mm(struct vidsch_device *device);
D3DKMT_DEVICEEXECUTION_STATE vidsch_device_state(const struct vidsch_device *device);
NTSTATUS vidsch_device_wait_idle(struct vidsch_device *device);
/* STATUS_SUCCESS, or what a submission (or another call) on a lost device gets (KMT-123). */
NTSTATUS vidsch_device_check(const struct vidsch_device *device, bool submission);
/* Device error without the GPU (D3DKMTMarkDeviceAsError, a process that is killed): queued packets
 * are cancelled (TDR-080). */
NTSTATUS vidsch_device_mark_error(struct vidsch_device *device, D3DKMT_DEVICEEXECUTION_STATE state);
NTSTATUS vidsch_device_fault_state(struct vidsch_device *device,
                                   D3DKMT_DEVICEPAGEFAULT_STATE *state);

struct vidsch_context_request {
    UINT node, engine_affinity;
    D3DDDI_CREATECONTEXTFLAGS flags;
    const void *private_data;
    UINT private_bytes;
    bool virtual_addressing;
    D3DKMT_CLIENTHINT hint;
};
NTSTATUS vidsch_context_create(struct vidsch_device *device,
                               const struct vidsch_context_request *request,
                               struct vidsch_context **out);
void vidsch_context_destroy(struct vidsch_context *context);
/* A context that owns a mutex must not be destroyed by its client (KMT-159). */
bool vidsch_context_owns_mutex(const struct vidsch_context *context);
struct vidsch_device *vidsch_context_device(const struct vidsch_context *context);
/* What the driver's CreateDevice and CreateContext called them. */
HANDLE vidsch_device_driver_handle(const struct vidsch_device *device);
HANDLE vidsch_context_driver_handle(const struct vidsch_context *context);
/* The client-visible buffer and lists of a physical-mode context (D3DKMT_CREATECONTEXT and
 * D3DKMT_RENDER outputs); client memory. */
struct vidsch_client_lists {
    void *command_buffer;
    UINT command_bytes;
    D3DDDI_ALLOCATIONLIST *allocations;
    UINT allocation_count;
    D3DDDI_PATCHLOCATIONLIST *patches;
    UINT patch_count;
};
void vidsch_context_lists(const struct vidsch_context *context, struct vidsch_client_lists *lists);
NTSTATUS vidsch_context_set_priority(struct vidsch_context *context, INT priority);
INT vidsch_context_priority(const struct vidsch_context *context);

/* args is a host copy; buffers it points to are client memory. Outputs (new buffers and sizes,
 * QueuedBufferCount) are written to it. */
NTSTATUS vidsch_render(struct vidsch_context *context, D3DKMT_RENDER *args);
NTSTATUS vidsch_submit_command(struct vidsch_context *const *contexts, UINT count,
                               const D3DKMT_SUBMITCOMMAND *args, const void *private_data);

/* ---- synchronization objects ---- */
NTSTATUS vidsch_sync_create(struct vidsch_device *device, D3DDDI_SYNCHRONIZATIONOBJECTINFO2 *info,
                            struct vidsch_sync **out);
void vidsch_sync_destroy(struct vidsch_sync *sync);
struct vidsch_device *vidsch_sync_device(const struct vidsch_sync *sync);
D3DDDI_SYNCHRONIZATIONOBJECT_TYPE vidsch_sync_type(const struct vidsch_sync *sync);
/* Queued in the context: block or signal when reached. */
NTSTATUS vidsch_sync_wait_gpu(struct vidsch_context *context, struct vidsch_sync *const *list,
                              const UINT64 *values, UINT count);
NTSTATUS vidsch_sync_signal_gpu(struct vidsch_context *const *contexts, UINT contexts_count,
                                struct vidsch_sync *const *list, const UINT64 *values, UINT count,
                                D3DDDICB_SIGNALFLAGS flags);
NTSTATUS vidsch_sync_signal_cpu(struct vidsch_sync *const *list, const UINT64 *values, UINT count,
                                D3DDDICB_SIGNALFLAGS flags);
/* EnqueueCpuEvent: `notify` once all contexts have come to it, or are lost (then with
 * STATUS_DEVICE_REMOVED). */
NTSTATUS vidsch_sync_enqueue_event(struct vidsch_context *const *contexts, UINT count,
                                   void (*notify)(void *context, NTSTATUS status), void *context);
/* CPU notification: called at each signal. */
void vidsch_sync_on_signal(struct vidsch_sync *sync, void (*notify)(void *context), void *context);
/* Blocks until all (any) are reached; deadline in virtual ns (SIM_FOREVER). STATUS_TIMEOUT,
 * STATUS_DEVICE_REMOVED (device lost meanwhile), STATUS_INVALID_HANDLE (object destroyed
 * meanwhile). */
NTSTATUS vidsch_sync_wait_cpu(struct vidsch_sync *const *list, const UINT64 *values, UINT count,
                              bool wait_any, uint64_t deadline);
/* The same without blocking: `notify` is called exactly once if the result is a success, maybe
 * before the return. All notify functions run at DISPATCH_LEVEL or below and must not call the
 * scheduler. */
NTSTATUS vidsch_sync_wait_async(struct vidsch_sync *const *list, const UINT64 *values, UINT count,
                                bool wait_any, void (*notify)(void *context, NTSTATUS status),
                                void *context);
UINT64 vidsch_sync_value(struct vidsch_sync *sync);
/* Progress of a paging queue: for vidmm_paging_queue_create. */
void vidsch_sync_progress(void *object, uint64_t value);

#endif
