/* SPDX-License-Identifier: MIT */
/*
 * The scheduler as the room of client calls uses it: devices, contexts, what is queued in them, and
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
/* Wait for queued work unless the device is lost; then destroy its remaining contexts, its
 * synchronization objects, its opened allocations, and last the driver's device. */
void vidsch_device_destroy(struct vidsch_device *device);
struct vidmm_device *vidsch_device_mm(struct vidsch_device *device);
D3DKMT_DEVICEEXECUTION_STATE vidsch_device_state(const struct vidsch_device *device);
NTSTATUS vidsch_device_wait_idle(struct vidsch_device *device);
/* Until what its clients have submitted themselves up to now has ended (yields). */
void vidsch_device_wait_rung(struct vidsch_device *device);
/* STATUS_SUCCESS, or the status that a submission (or any other call) on a lost device returns
 * (KMT-123). */
NTSTATUS vidsch_device_check(const struct vidsch_device *device, bool submission);
/* Why the device was lost: the line of its fault or reset, or a clause; "" if it is not lost. Valid
 * until it is destroyed. */
const char *vidsch_device_loss_text(const struct vidsch_device *device);
/* Put the device in error for a reason other than the GPU (D3DKMTMarkDeviceAsError, a process that
 * is killed): queued packets are canceled (TDR-080). */
NTSTATUS vidsch_device_mark_error(struct vidsch_device *device, D3DKMT_DEVICEEXECUTION_STATE state);
NTSTATUS vidsch_device_fault_state(struct vidsch_device *device,
                                   D3DKMT_DEVICEPAGEFAULT_STATE *state);

struct vidsch_context_request {
    UINT node, engine_affinity;
    D3DDDI_CREATECONTEXTFLAGS flags;
    const void *private_data;
    UINT private_bytes;
    bool virtual_addressing;
    bool hardware; /* D3DKMTCreateHwContext */
    D3DKMT_CLIENTHINT hint;
};
NTSTATUS vidsch_context_create(struct vidsch_device *device,
                               const struct vidsch_context_request *request,
                               struct vidsch_context **out);
void vidsch_context_destroy(struct vidsch_context *context);
/* A context that owns a mutex must not be destroyed by its client (KMT-159). */
bool vidsch_context_owns_mutex(const struct vidsch_context *context);
struct vidsch_device *vidsch_context_device(const struct vidsch_context *context);
/* The handles that the driver's CreateDevice and CreateContext returned. */
HANDLE vidsch_device_driver_handle(const struct vidsch_device *device);
HANDLE vidsch_context_driver_handle(const struct vidsch_context *context);
/* The command buffer and lists that the client of a physical-mode context fills for its next Render
 * (outputs of D3DKMTCreateContext and D3DKMTRender); client memory. */
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
/* 0, or 1: ahead of the other contexts of its process that have its priority. */
NTSTATUS vidsch_context_set_in_process_priority(struct vidsch_context *context, INT priority);
INT vidsch_context_in_process_priority(const struct vidsch_context *context);
/* The class of a process (nt_process.id), for all that it has on any adapter. */
void vidsch_set_process_class(uint32_t process, D3DKMT_SCHEDULINGPRIORITYCLASS priority_class);

/* `args` is a host copy; the buffers it points to are client memory. Outputs (new buffers and
 * sizes, QueuedBufferCount) are written to it. */
NTSTATUS vidsch_render(struct vidsch_context *context, D3DKMT_RENDER *args);
NTSTATUS vidsch_submit_command(struct vidsch_context *const *contexts, UINT count,
                               const D3DKMT_SUBMITCOMMAND *args, const void *private_data);

/* Hardware queues: each is a context as far as the scheduler is concerned, which
 * vidsch_context_destroy ends. Its progress fence is the caller's: a monitored fence of the device,
 * which ends after it; `private_data` is a host copy. */
struct vidsch_hw_queue_request {
    struct vidsch_context *parent;
    D3DDDI_CREATEHWQUEUEFLAGS flags;
    void *private_data;
    UINT private_bytes;
    struct vidsch_sync *progress;
    D3DKMT_HANDLE progress_handle;
};
/* May a queue with these flags be made in the context? */
NTSTATUS vidsch_hw_queue_check(const struct vidsch_context *parent, D3DDDI_CREATEHWQUEUEFLAGS flags);
NTSTATUS vidsch_hw_queue_open(const struct vidsch_hw_queue_request *request,
                              struct vidsch_context **out);
NTSTATUS vidsch_hw_queue_submit(struct vidsch_context *queue,
                                const D3DKMT_SUBMITCOMMANDTOHWQUEUE *args, const void *private_data);
NTSTATUS vidsch_hw_queue_wait(struct vidsch_context *queue, struct vidsch_sync *const *list,
                              const UINT64 *values, UINT count);
NTSTATUS vidsch_hw_queue_signal(struct vidsch_context *const *queues, UINT queue_count,
                                struct vidsch_sync *const *list, const UINT64 *values, UINT count,
                                D3DDDICB_SIGNALFLAGS flags);

/* Doorbells: a queue for submission from user mode has one or none, and names it (doorbell.h). */
struct vidsch_doorbell_request {
    D3DKMT_CREATE_DOORBELL_FLAGS flags;
    void *private_data; /* a host copy, to which the driver's answer comes back */
    UINT private_bytes;
    struct vidmm_open *ring, *control; /* opens of the device; `control` may be NULL */
};
struct vidsch_doorbell_addresses {
    void *doorbell, *secondary, *status, *last_queued; /* of the client */
};
/* Are there doorbells at all? */
NTSTATUS vidsch_doorbell_support(const struct vidsch_context *queue);
NTSTATUS vidsch_doorbell_create(struct vidsch_context *queue,
                                const struct vidsch_doorbell_request *request);
void vidsch_doorbell_addresses(const struct vidsch_context *queue,
                               struct vidsch_doorbell_addresses *addresses);
NTSTATUS vidsch_doorbell_connect(struct vidsch_context *queue);
NTSTATUS vidsch_doorbell_notify(struct vidsch_context *queue);
NTSTATUS vidsch_doorbell_destroy(struct vidsch_context *queue);

/* Queue updates of page tables, a copy of the client's: they wait until the fence has reached the
 * value, and then set it to the next one (GPUVA-122 to GPUVA-136). Blocks while too many are
 * queued. */
struct vidsch_update_request {
    struct vidsch_sync *fence;
    UINT64 value;
    bool do_not_wait;
    const D3DDDI_UPDATEGPUVIRTUALADDRESS_OPERATION *operations;
    UINT count;
};
NTSTATUS vidsch_update_addresses(struct vidsch_context *owner,
                                 const struct vidsch_update_request *request);

/* ---- synchronization objects ---- */
NTSTATUS vidsch_sync_create(struct vidsch_device *device, D3DDDI_SYNCHRONIZATIONOBJECTINFO2 *info,
                            struct vidsch_sync **out);
void vidsch_sync_destroy(struct vidsch_sync *sync);
/* A shared object belongs to no device: it stays, in whatever state, when its creator's device is
 * lost or destroyed (KMT-365). */
void vidsch_sync_detach(struct vidsch_sync *sync);
/* What a device has of a shared monitored fence that it created or opened: addresses in its process
 * (for the GPU unless NoGPUAccess), and the flags NoSignal, NoWait and NoSignalMaxValueOnTdr, which
 * count for it alone. Ends before the device does. Source: KMT-360 to KMT-363, KMT-395. */
NTSTATUS vidsch_sync_view_create(struct vidsch_device *device, struct vidsch_sync *sync,
                                 D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS flags, UINT affinity,
                                 struct vidsch_sync_view **out);
void vidsch_sync_view_destroy(struct vidsch_sync_view *view);
void *vidsch_sync_view_cpu(const struct vidsch_sync_view *view);
D3DGPU_VIRTUAL_ADDRESS vidsch_sync_view_gpu(const struct vidsch_sync_view *view);
/* Of a native fence: the address of MonitoredValue; 0: it is none. */
D3DGPU_VIRTUAL_ADDRESS vidsch_sync_view_monitored(const struct vidsch_sync_view *view);
/* A native fence, always with a view as a shared fence (SUBMIT-149): made without the driver; then,
 * with its creator's view, by the driver, to which the private data goes and comes back. From then
 * on vidsch_sync_destroy ends it with the driver, too. */
NTSTATUS vidsch_native_create(struct vidsch_device *device,
                              const D3DDDI_CREATENATIVEFENCEINFO *info, struct vidsch_sync **out);
NTSTATUS vidsch_native_begin(struct vidsch_sync *sync, const struct vidsch_sync_view *view,
                             void *private_data, UINT private_bytes);
bool vidsch_native_supported(const struct vidsch_device *device);
bool vidsch_sync_is_native(const struct vidsch_sync *sync);
struct vidsch_device *vidsch_sync_device(const struct vidsch_sync *sync);
D3DDDI_SYNCHRONIZATIONOBJECT_TYPE vidsch_sync_type(const struct vidsch_sync *sync);
/* Queue a wait or a signal in the context; it takes effect when it is reached. */
NTSTATUS vidsch_sync_wait_gpu(struct vidsch_context *context, struct vidsch_sync *const *list,
                              const UINT64 *values, UINT count);
NTSTATUS vidsch_sync_signal_gpu(struct vidsch_context *const *contexts, UINT contexts_count,
                                struct vidsch_sync *const *list, const UINT64 *values, UINT count,
                                D3DDDICB_SIGNALFLAGS flags);
NTSTATUS vidsch_sync_signal_cpu(struct vidsch_sync *const *list, const UINT64 *values, UINT count,
                                D3DDDICB_SIGNALFLAGS flags);
/* EnqueueCpuEvent: call `notify` when all contexts have reached it, or with STATUS_DEVICE_REMOVED
 * when they are lost. */
NTSTATUS vidsch_sync_enqueue_event(struct vidsch_context *const *contexts, UINT count,
                                   void (*notify)(void *context, NTSTATUS status), void *context);
/* CPU notification object: call `notify` at each signal. */
void vidsch_sync_on_signal(struct vidsch_sync *sync, void (*notify)(void *context), void *context);
/* Block until all objects (wait_any: one of them) have reached their values. `deadline` is in
 * virtual ns, or SIM_FOREVER. Fails with STATUS_TIMEOUT, STATUS_DEVICE_REMOVED (a device was lost
 * meanwhile) or STATUS_INVALID_HANDLE (an object was destroyed meanwhile). */
NTSTATUS vidsch_sync_wait_cpu(struct vidsch_sync *const *list, const UINT64 *values, UINT count,
                              bool wait_any, uint64_t deadline);
/* The same without blocking: if the function succeeds, `notify` is called exactly once, possibly
 * before it returns. All notify functions run at DISPATCH_LEVEL or below and must not call the
 * scheduler. */
NTSTATUS vidsch_sync_wait_async(struct vidsch_sync *const *list, const UINT64 *values, UINT count,
                                bool wait_any, void (*notify)(void *context, NTSTATUS status),
                                void *context);
UINT64 vidsch_sync_value(struct vidsch_sync *sync);
/* Advance the fence of a paging queue; the callback for vidmm_paging_queue_create. */
void vidsch_sync_progress(void *object, uint64_t value);

#endif
