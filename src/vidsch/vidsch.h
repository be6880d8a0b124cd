/* SPDX-License-Identifier: MIT */
/*
 * The GPU scheduler of one adapter: what the rooms above call.
 *
 *   vidsch                nodes (fence counter, packets in flight), system device and context,
 *    |                    worker thread, timeouts
 *    +- device            unit of error; client (D3DKMT) handle NT_CLIENT_DEVICE
 *        +- context       one node; software queue (FIFO of packets), DMA-buffer pool
 *   sync                  synchronization objects
 *
 * One worker fiber per adapter picks packets: highest priority context first, then round robin;
 * Patch and SubmitCommand are called from it, so nothing of the GPU scheduler class overlaps.
 * Client calls only queue. A node holds as many packets in flight as
 * RequiredDmaQueueEntry/HwQueuePacketCap allow.
 *
 * PASSIVE_LEVEL on a simulated thread unless a function says otherwise.
 *
 * Objects behind the driver's host handles (ddi_adapter.handles): DDI_HANDLE_CONTEXT: struct
 * vidmm_context; DDI_HANDLE_DEVICE: struct vidmm_device * (a pointer to that pointer, which is NULL
 * until DxgkDdiCreateDevice has returned).
 */
#ifndef DXGK_VIDSCH_H
#define DXGK_VIDSCH_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>
#include <dispmprt.h>
#include <d3dkmthk.h>

#include "ddi/ddi.h"
#include "vidmm/all.h"

struct vidsch;
struct vidsch_device;
struct vidsch_context;
struct vidsch_sync;

struct vidsch_tdr_settings { /* names of the registry values; units as there */
    UINT level;              /* TdrLevel: 0 off, 1 fatal, 3 recover */
    UINT delay;              /* TdrDelay, s */
    UINT ddi_delay;          /* TdrDdiDelay, s */
    UINT limit_count, limit_time;
    UINT debug_mode;
    bool enable_preemption;
};

struct vidsch_node_info {
    DXGKARG_GETNODEMETADATA metadata;
    bool virtual_addressing;
};

struct vidsch_config {
    struct ddi_adapter *ddi;
    struct bus_device *device;
    struct ram *ram;
    struct iommu_domain *domain;
    UINT wddm_version;
    UINT nodes;
    const struct vidsch_node_info *node; /* copied */
    UINT paging_node;
    DXGK_VIDSCHCAPS caps;
    UINT max_allocation_list_slot;
    bool split_dma_buffers; /* WDDM 1.x: a portion at every split point (PATCH-132) */
    UINT required_dma_queue_entry;
    /* DXGK_QUERYSEGMENTOUT4: PagingBufferSize, rounded up to pages, and private data */
    UINT paging_buffer_bytes;
    UINT paging_buffer_private_bytes;
    bool per_engine_tdr;
    UINT paging_segment;       /* PagingBufferSegmentId; 0: paging buffers are in system memory */
    UINT aperture_segment_set; /* bit n: segment n + 1 is an aperture (for DmaBufferSegmentSet) */
    uint64_t highest_address;  /* HighestAcceptableAddress; 0: no limit */
    uint64_t virtual_address_end; /* first address past the GPU address space; 0: 2^64 */
    struct vidsch_tdr_settings tdr;
    /* Recovery failed: the adapter is lost with this bug check code. The bug check follows. */
    void (*adapter_lost)(struct ddi_adapter *adapter, uint32_t bugcheck_code);
};

extern const struct vidmm_scheduler vidsch_for_vidmm;

NTSTATUS vidsch_create(const struct vidsch_config *config, struct vidsch **out);
/* System device and system context on the paging node, worker thread. After vidmm_start_process,
 * before vidmm_start. */
NTSTATUS vidsch_start(struct vidsch *vidsch);
/* The end, in this order: vidsch_quiesce (all devices are lost; it returns when their work is
 * over), kmt destroys the devices of clients, vidmm_stop, vidsch_stop (system device and context,
 * threads). */
void vidsch_quiesce(struct vidsch *vidsch);
void vidsch_stop(struct vidsch *vidsch);
void vidsch_destroy(struct vidsch *vidsch);
bool vidsch_validate(struct vidsch *vidsch);

/* Submit nothing more, and wait until the driver has nothing: the engines are idle then.
 * STATUS_IO_TIMEOUT: they were not within `limit_ns`, and nothing is suspended. Calls nest. */
NTSTATUS vidsch_suspend(struct vidsch *vidsch, uint64_t limit_ns);
void vidsch_resume(struct vidsch *vidsch);
/* As vidsch_suspend, and in addition no thread but the current one is in the driver, as DDIs of
 * synchronization level two require. A thread inside the driver may be waiting for paging, which
 * does not go on while the adapter is suspended. So both are tried together for a short time, then
 * let go for as long, and so on, each time for longer. STATUS_IO_TIMEOUT after `limit_ns`: reported
 * as a wait of `name` (THREAD-037) unless that is NULL. */
NTSTATUS vidsch_stand_still(struct vidsch *vidsch, uint64_t limit_ns, const char *name);
void vidsch_go_on(struct vidsch *vidsch);
/* As vidsch_suspend, for the work of clients alone; paging goes on. */
NTSTATUS vidsch_hold_clients(struct vidsch *vidsch, uint64_t limit_ns);
void vidsch_release_clients(struct vidsch *vidsch);

struct vidsch_statistics {
    uint64_t submissions, paging_submissions,
        patches /* locations applied by drivers: elements given to Patch */, preemptions,
        engine_resets, adapter_resets;
    uint64_t interrupts_notified, dpcs_notified, fences_signaled;
};
void vidsch_statistics(const struct vidsch *vidsch, struct vidsch_statistics *statistics);

/* ---- interrupts: from port's DxgkCbNotifyInterrupt (DIRQL) and DxgkCbNotifyDpc (DISPATCH) ---- */
void vidsch_notify_interrupt(struct vidsch *vidsch, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data);
void vidsch_notify_dpc(struct vidsch *vidsch);
/* The bus refused a DMA access of the device: recorded for the report of the page fault that the
 * driver notifies. Any level. */
void vidsch_note_bus_fault(struct vidsch *vidsch, const struct iommu_fault *fault);

/* ---- devices and contexts (kmt) ---- */
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

/* Force a timeout now (escape, tests). */
NTSTATUS vidsch_force_reset(struct vidsch *vidsch, bool whole_adapter);
/* One engine (D3DKMT_TDRDBGCTRLTYPE_ENGINETDR). */
NTSTATUS vidsch_force_engine_reset(struct vidsch *vidsch, UINT node);

#endif
