/* SPDX-License-Identifier: MIT */
/*
 * The video memory manager of one adapter: what the rooms above call.
 *
 *   vidmm            segments, paging worker, paging process
 *    +- process      one per client process on the adapter: GPU virtual address space, budget,
 *        |           hKmdProcess
 *        +- device   residency list (allocation -> count), paging queues
 *        +- context  (embedded in vidsch's context) root page table, context allocations
 *   allocation       belongs to the adapter; opened by devices (struct vidmm_open = one
 *                    hDeviceSpecificAllocation)
 *
 * All functions are for PASSIVE_LEVEL on a simulated thread unless they say otherwise; they may
 * block on sim mutexes and on paging work. Statuses are NTSTATUS as the SEG, ALLOC, RES, PAGE,
 * GPUVA and CTXA rules name them. vidmm.c has the overview by file.
 */
#ifndef DXGK_VIDMM_H
#define DXGK_VIDMM_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>
#include <d3dkmthk.h>

#include "bus/bus.h"
#include "ddi/ddi.h"
#include "iommu/iommu.h"
#include "nt/nt.h"
#include "ram/ram.h"
#include "util/address.h"

struct vidmm;
struct vidmm_process;
struct vidmm_device;
struct vidmm_allocation;
struct vidmm_open;
struct vidmm_resource;
struct vidmm_paging_queue;
struct vidmm_space; /* a GPU virtual address space */

/* ---- what vidmm needs from the scheduler (registered by vidsch; the only way up) ---- */

/* One submission in a DMA buffer of the system context, while vidmm fills it: from `start` on, behind those before. Offsets are
 * bytes from byte 0 of the buffer. */
struct vidmm_paging_buffer {
    void *data;        /* kernel address, 4 KiB aligned */
    uint32_t capacity; /* bytes */
    uint32_t start;
    uint32_t used; /* end of what is written so far */
    void *private_data;
    uint32_t private_capacity;
    uint32_t private_start;
    uint32_t private_used;
    bool full;    /* no room for what comes next: that goes to another buffer. Set by vidmm */
    bool nobodys; /* of a power-down: submitted with no device or context (PAGE-019). Set by vidmm */
    struct logical_addr logical; /* device address of byte 0 in physical mode */
    struct gpu_va va;            /* address of byte 0 in the paging process, when virtual */
    void *scheduler_private;
};

struct vidmm_scheduler {
    /* Context handle (driver's) of the system context on the paging node; NULL without
     * MultiEngineAware. */
    HANDLE (*system_context)(struct ddi_adapter *adapter);
    HANDLE (*system_device)(struct ddi_adapter *adapter);
    /* Room for a submission: the rest of a paging buffer that is not full, or a new one; blocks while there is none. */
    NTSTATUS (*paging_buffer_get)(struct ddi_adapter *adapter, struct vidmm_paging_buffer **buffer);
    /* Queue it on the paging node behind all earlier ones and take it back; *ticket grows by one
     * each time. used = start, in both: not submitted, but the ticket completes only after all earlier ones
     * (GPUVA-187). */
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

/* ---- adapter ---- */

/* Part of a segment that must not be used (DXGKQAITYPE_SEGMENTMEMORYSTATE). */
struct vidmm_bad_range {
    UINT segment;
    DXGK_MEMORYRANGE range;
};

struct vidmm_config {
    struct ddi_adapter *ddi;
    struct ram *ram;
    struct bus_device *device;
    struct iommu_domain *domain; /* never NULL: IOMMU_OFF has one too */
    const struct vidmm_scheduler *scheduler;
    struct iommu_pasids *pasids; /* the adapter shares process address spaces (IoMmu model); or NULL */
    DXGK_VIDMMCAPS caps;
    UINT wddm_version;              /* interface version of the driver */
    uint64_t aperture_commit_limit; /* DXGK_DRIVERCAPS.ApertureSegmentCommitLimit; 0: none */
    uint64_t internal_va_start,
        internal_va_end; /* InternalGpuVirtualAddressRange; 0, 0: everything */
    UINT paging_node;
    DXGK_QUERYSEGMENTOUT4 segments; /* its descriptor array is read during the call only */
    UINT segment_count;
    const struct vidmm_bad_range *bad_range; /* read during the call only; may be NULL */
    UINT bad_range_count;
    bool move_paging; /* DXGK_PHYSICALADAPTERFLAGS.MovePagingSupported */
    bool gpu_mmu;     /* the physical adapter uses the GpuMmu model */
    DXGK_GPUMMUCAPS mmu;
    DXGK_PAGE_TABLE_LEVEL_DESC level[DXGK_MAX_PAGE_TABLE_LEVEL_COUNT];
    uint64_t eviction_seed; /* 0: documented order only */
};

/* Checks the segment table and MMU description (SEG, GPUVA rules: VIOLATION +
 * STATUS_DEVICE_CONFIGURATION_ERROR) and builds the manager. No DDI is called yet. */
NTSTATUS vidmm_create(const struct vidmm_config *config, struct vidmm **vidmm);
/* The paging process, its address space and page tables, the paging worker thread. The scheduler's
 * system context exists between the two: vidmm_start_process, (vidsch makes system device and
 * context), vidmm_start. */
NTSTATUS vidmm_start_process(struct vidmm *vidmm);
NTSTATUS vidmm_start(struct vidmm *vidmm);
/* Map the pages of a paging DMA buffer (device pages of contiguous or scattered system memory) in
 * the paging process; for good. Between vidmm_start_process and vidmm_start, or on the worker.
 * STATUS_NOT_SUPPORTED without GpuMmu. */
NTSTATUS vidmm_map_paging_buffer(struct vidmm *vidmm, const struct page_number *logical,
                                 uint64_t pages, struct gpu_va *va);
void vidmm_unmap_paging_buffer(struct vidmm *vidmm, struct gpu_va va, uint64_t pages);
/* Evict everything, end the worker. All client objects are gone before. The second, after the
 * scheduler's system device and context are gone, destroys the paging process. */
void vidmm_stop(struct vidmm *vidmm);
void vidmm_destroy(struct vidmm *vidmm);
/* After DxgkDdiResetFromTimeout: VRAM content is lost; tell the driver (zero-size TRANSFER,
 * UNMAP_APERTURE_SEGMENT), mark content lost, and rebuild page tables after the restart. */
void vidmm_reset_cleanup(struct vidmm *vidmm);
NTSTATUS vidmm_reset_restore(struct vidmm *vidmm);
/* While `out`, callbacks that wait for paging, or for somebody who waits for it, return instead, so
 * that their threads leave the driver (CTXA-061). */
void vidmm_let_driver_out(struct vidmm *vidmm, bool out);

/* Before video memory loses its content for a while, or the driver may wipe it: everything in a segment goes to system memory, but
 * what lies wholly in the first kept_bytes[n] bytes of segment n + 1 (NULL: nothing stays). Nothing is brought in or submitted
 * then until vidmm_return. The scheduler holds clients' work back meanwhile (vidsch_hold_clients). On failure
 * everything is as usual again, though perhaps elsewhere. `losing_power`: the paging buffers name no device and no context (PAGE-019). */
NTSTATUS vidmm_evacuate(struct vidmm *vidmm, const uint64_t *kept_bytes, bool losing_power);
NTSTATUS vidmm_return(struct vidmm *vidmm);
/* It is so now. A reset of the adapter that was under way meanwhile ends it. */
bool vidmm_is_evacuated(const struct vidmm *vidmm);

/* Surprise removal: nothing is built or submitted any more; requests give STATUS_DEVICE_REMOVED,
 * destruction goes on. */
void vidmm_set_lost(struct vidmm *vidmm);

/* Memory sizes and segment information for queries. */
void vidmm_segment_sizes(const struct vidmm *vidmm, D3DKMT_SEGMENTSIZEINFO *info);
NTSTATUS vidmm_query_video_memory(struct vidmm *vidmm, struct vidmm_process *process,
                                  D3DKMT_QUERYVIDEOMEMORYINFO *info);

struct vidmm_statistics {
    uint64_t bytes_paged_in, bytes_paged_out, bytes_filled, paging_operations, paging_buffers,
        page_table_updates /* entries */;
    uint64_t evictions, allocations_live, allocations_created;
};
void vidmm_statistics(const struct vidmm *vidmm, struct vidmm_statistics *statistics);
/* Check every invariant of segments, residency lists and address spaces; for tests. */
bool vidmm_validate(struct vidmm *vidmm);

/* ---- process, device, context ---- */

/* The process on this adapter: made (DxgkDdiCreateProcess) at the first open, destroyed at the last
 * close. */
NTSTATUS vidmm_process_open(struct vidmm *vidmm, struct nt_process *process,
                            struct vidmm_process **out);
void vidmm_process_close(struct vidmm_process *process);
/* 0: the adapter does not share the address space. */
ULONG vidmm_process_pasid(const struct vidmm_process *process);
HANDLE vidmm_process_driver_handle(const struct vidmm_process *process);
struct nt_process *vidmm_process_nt(const struct vidmm_process *process);
struct vidmm_process *vidmm_paging_process(struct vidmm *vidmm);
struct vidmm_space *vidmm_process_space(struct vidmm_process *process); /* NULL without GpuMmu */

/* `owner` is vidsch's device, given back by vidmm_device_owner. driver_device: what
 * DxgkDdiCreateDevice returned. */
NTSTATUS vidmm_device_create(struct vidmm_process *process, HANDLE driver_device, void *owner,
                             struct vidmm_device **device);
/* Frees what the client left: paging queues, opens, residency list. */
void vidmm_device_destroy(struct vidmm_device *device);
/* After DxgkDdiDestroyDevice, or a DxgkDdiCreateDevice that failed, by the handle the driver was
 * given: context allocations of the device that are left are reported and freed (CTXA-066). */
void vidmm_device_gone(struct vidmm *vidmm, HANDLE host_device);
void *vidmm_device_owner(const struct vidmm_device *device);
struct vidmm_process *vidmm_device_process(const struct vidmm_device *device);
/* The device is lost: Lock2, MakeResident, Map... give STATUS_DEVICE_REMOVED from now on
 * (GPUVA-073). */
void vidmm_device_set_lost(struct vidmm_device *device);

/* Part of vidsch's context; vidmm keeps root table and context allocations here. */
struct vidmm_context {
    struct vidmm_device *device;
    struct ddi_adapter *adapter;
    HANDLE host_handle;   /* value given to the driver (DDI_HANDLE_CONTEXT) */
    HANDLE driver_handle; /* what DxgkDdiCreateContext returned; NULL before */
    bool virtual_addressing;
    bool system;
    struct list link;        /* in the process */
    struct list allocations; /* context allocations */
};

/* Before DxgkDdiCreateContext (so that callbacks inside it find the context), and after it
 * succeeded: announces the root page table (DxgkDdiSetRootPageTable). */
void vidmm_context_init(struct vidmm_context *context, struct vidmm_device *device,
                        bool virtual_addressing, bool system);
NTSTATUS vidmm_context_attach(struct vidmm_context *context);
/* Before and after DxgkDdiDestroyContext: the second reports context allocations left (CTXA rules)
 * and frees them. */
void vidmm_context_detach(struct vidmm_context *context);
void vidmm_context_finish(struct vidmm_context *context);

/* ---- before a submission (called by vidsch) ---- */

/* Is the whole residency list of the device (and the context's own allocations) resident? True: the
 * packet may go now. False: paging was started; scheduler->device_resident is called when done.
 * O(1) when nothing is missing. */
bool vidmm_device_prepare(struct vidmm_device *device, struct vidmm_context *context);
/* First commit of context allocations: INIT_CONTEXT_RESOURCE, before the first packet of the
 * context. May block. */
NTSTATUS vidmm_context_prepare(struct vidmm_context *context);

/* A DMA buffer or paging buffer that lies in an aperture segment (PATCH-040, PAGE-002): contiguous frames of the scheduler's, mapped
 * there by the driver until they are unmapped. */
struct vidmm_aperture_range {
    struct list link; /* vidmm->aperture_ranges */
    UINT place;       /* segment in which it has its range; 0: none */
    UINT segment;     /* the same while the GPU reaches it there; 0: it does not */
    uint64_t first;   /* page of the segment */
    uint64_t pages;
    struct page_number frame, logical; /* first ones */
};
/* Map into one of the aperture segments of `set` (bit n: segment n + 1), lowest id first; all other members are set. Blocks until the
 * GPU has done it. STATUS_NO_MEMORY: no room. */
NTSTATUS vidmm_aperture_map(struct vidmm *vidmm, UINT set, struct vidmm_aperture_range *range);
/* Undone also when the adapter is lost; nothing to do for a range that is not mapped. */
void vidmm_aperture_unmap(struct vidmm *vidmm, struct vidmm_aperture_range *range);
/* Segment base + offset of its first byte. */
uint64_t vidmm_aperture_address(const struct vidmm *vidmm, const struct vidmm_aperture_range *range);

/* ---- WDDM 1.x: what a portion of a DMA buffer needs (RES-002, PATCH-116) ---- */

/* One element of a patch-location list. */
struct vidmm_need {
    D3DKMT_HANDLE allocation; /* 0: none */
    uint32_t split;           /* SplitOffset; never less than that of the element before */
};

/* A portion of a DMA buffer: the elements from its first one on, as many as fit memory together.
 * Zeroed by its owner, who sets the first group. The record stays in place until it is released. */
struct vidmm_portion {
    struct vidmm_device *device;
    const struct vidmm_need *need; /* its first element; outlives the portion */
    uint32_t wanted;               /* elements that it may have */
    uint32_t start;                /* byte of the DMA buffer: a cut there would leave nothing */
    bool fixed;                    /* the driver knows it: no element may be left out any more */
    bool in_flight;                /* the GPU may use its memory */

    /* vidmm's */
    uint32_t count;      /* elements that it has: once prepared, all that fit */
    bool held;           /* its allocations are on the residency list for it */
    bool waits_for_kept; /* it did not fit beside what others keep in place */
    struct list link;    /* device->portions while held */
    D3DKMT_HANDLE *kept; /* bound before its start, and not to move until it has run */
    uint32_t kept_count;
};

/* Everything the portion needs is where the GPU can use it: true, and `count` says how far the
 * portion goes. False: that is being seen to; scheduler->device_resident tells when to ask again, or
 * scheduler->device_error that not even what is needed at its start fits (PATCH-124). One portion of
 * a device is prepared at a time. Scheduler's worker; makes no point. O(elements). */
bool vidmm_portion_prepare(struct vidmm_portion *portion);
/* Memory that an earlier portion bound stays where it is until this one is released (PATCH-122);
 * that portion is still held. Uses `kept` (util_alloc) up. */
void vidmm_portion_keep(struct vidmm_portion *portion, D3DKMT_HANDLE *kept, uint32_t count);
/* It is not with the GPU any more, but will be again: what was planned beside it is planned anew. Any
 * level up to DISPATCH. */
void vidmm_portion_returned(struct vidmm_portion *portion);
/* It has run, or never will. Any level up to DISPATCH; the record may go then. */
void vidmm_portion_release(struct vidmm_portion *portion);
/* Bytes of an opened allocation. */
uint64_t vidmm_open_bytes(const struct vidmm_open *open);

/* The open behind a handle that work was queued with: its client may have destroyed it since, and it
 * is there until that work is done (ALLOC-088). NULL: none of the device, or the client vouched that
 * nothing uses it. */
struct vidmm_open *vidmm_open_find_queued(struct vidmm_device *device, D3DKMT_HANDLE handle);
/* Where an opened allocation is, for allocation lists. Any level up to DISPATCH. */
struct vidmm_place {
    bool resident;
    UINT segment;           /* 0: system memory */
    uint64_t physical;      /* base + offset, for DXGK_ALLOCATIONLIST; 0: unknown or scattered */
    HANDLE device_specific; /* hDeviceSpecificAllocation */
};
bool vidmm_open_place(const struct vidmm_open *open, struct vidmm_place *place);
bool vidmm_open_accessed_physically(const struct vidmm_open *open);
/* Or it was, and is still there for work queued before its end. */
bool vidmm_open_on_residency_list(const struct vidmm_open *open);
bool vidmm_open_locked(const struct vidmm_open *open);
bool vidmm_open_cpu_visible(
    const struct vidmm_open *open); /* CpuVisible or CpuVisibleOnDemand (ALLOC-046) */
bool vidmm_open_read_only(const struct vidmm_open *open);
bool vidmm_open_offered(const struct vidmm_open *open); /* RES-065 */
struct vidmm_device *vidmm_open_device(const struct vidmm_open *open);

/* ---- allocations; arguments already copied from the client and size-checked ---- */

struct vidmm_create_item {
    const void *system_memory; /* client memory given with the allocation, or NULL */
    void *private_data;        /* in/out, owned by the caller */
    UINT private_bytes;
    D3DDDI_ALLOCATIONINFO2 *info; /* flags in; hAllocation and GpuVirtualAddress out */
};
struct vidmm_create_request {
    D3DKMT_CREATEALLOCATIONFLAGS flags;
    D3DKMT_HANDLE resource;       /* existing resource to add to, or 0 */
    const void *resource_private; /* UINT resource_private_bytes */
    UINT resource_private_bytes;
    UINT count;
    struct vidmm_create_item *item;
};
/* Calls DxgkDdiCreateAllocation and DxgkDdiOpenAllocation; makes the client handles. All or
 * nothing. */
NTSTATUS vidmm_allocation_create(struct vidmm_device *device, struct vidmm_create_request *request,
                                 D3DKMT_HANDLE *resource);
/* Shared resources. A reference keeps a resource and its allocations alive without any open, as a
 * global or NT handle does; the caller keeps what it hangs on it. */
struct vidmm_resource_info {
    UINT allocations, resource_private_bytes;
    uint64_t private_bytes; /* of all allocations, each rounded up to 8 (KMT-233) */
    bool read_only;
};
/* The resource behind a client's handle, with a reference; NULL: no such handle on the device, or
 * not shared. */
struct vidmm_resource *vidmm_resource_get(struct vidmm_device *device, D3DKMT_HANDLE resource);
void vidmm_resource_reference(struct vidmm_resource *resource);
/* The last reference of a resource that nobody has open destroys it: PASSIVE_LEVEL, calls the
 * driver. */
void vidmm_resource_put(struct vidmm_resource *resource);
void vidmm_resource_query(const struct vidmm_resource *resource, struct vidmm_resource_info *info);
struct vidmm_open_item {
    D3DKMT_HANDLE allocation; /* out */
    void *private_data;       /* out: the stored data, valid while the resource lives; read only */
    UINT private_bytes;
};
/* Open all allocations on a device (DxgkDdiOpenAllocation with Create clear). `count` is their
 * number; all or nothing. */
NTSTATUS vidmm_resource_open(struct vidmm_device *device, struct vidmm_resource *resource,
                             bool read_only, struct vidmm_open_item *item, UINT count,
                             D3DKMT_HANDLE *handle);
/* Destroys (closes) either a resource or `count` allocations. Waits for queued work unless told not
 * to. */
NTSTATUS vidmm_allocation_destroy(struct vidmm_device *device, D3DKMT_HANDLE resource,
                                  const D3DKMT_HANDLE *list, UINT count,
                                  D3DDDICB_DESTROYALLOCATION2FLAGS flags);
NTSTATUS vidmm_lock2(struct vidmm_device *device, D3DKMT_HANDLE allocation, void **address);
NTSTATUS vidmm_unlock2(struct vidmm_device *device, D3DKMT_HANDLE allocation);

/* ---- residency and addresses ---- */

/* `progress` is told each new value of the queue's fence (in order, from the paging worker). */
NTSTATUS vidmm_paging_queue_create(struct vidmm_device *device, D3DDDI_PAGINGQUEUE_PRIORITY priority,
                                   void (*progress)(void *context, uint64_t value), void *context,
                                   struct vidmm_paging_queue **queue);
/* Waits for its work. */
void vidmm_paging_queue_destroy(struct vidmm_paging_queue *queue);
struct vidmm_device *vidmm_paging_queue_device(const struct vidmm_paging_queue *queue);

NTSTATUS vidmm_make_resident(struct vidmm_paging_queue *queue, const D3DKMT_HANDLE *list,
                             UINT count, D3DDDI_MAKERESIDENT_FLAGS flags, uint64_t *fence,
                             uint64_t *bytes_to_trim);
NTSTATUS vidmm_evict(struct vidmm_device *device, const D3DKMT_HANDLE *list, UINT count,
                     D3DDDI_EVICT_FLAGS flags, uint64_t *bytes_to_trim);

/* Offer and reclaim, priorities, residency: for resources or for allocations, one of the two lists
 * being NULL (the last three: one resource with count 0, or a list). Statuses as RES-062 to
 * RES-074, ALLOC-142, KMT-278 and KMT-279 say; the caller checks what else is in the structures.
 * results (may be NULL): one per element. Reclaim: STATUS_PENDING with *fence != 0, or
 * STATUS_SUCCESS. */
NTSTATUS vidmm_offer(struct vidmm_device *device, const D3DKMT_HANDLE *resources,
                     const D3DKMT_HANDLE *list, UINT count, D3DKMT_OFFER_PRIORITY priority,
                     D3DKMT_OFFER_FLAGS flags);
NTSTATUS vidmm_reclaim(struct vidmm_paging_queue *queue, const D3DKMT_HANDLE *resources,
                       const D3DKMT_HANDLE *list, UINT count, D3DDDI_RECLAIM_RESULT *results,
                       uint64_t *fence);
NTSTATUS vidmm_set_priority(struct vidmm_device *device, D3DKMT_HANDLE resource,
                            const D3DKMT_HANDLE *list, UINT count, const UINT *priorities);
NTSTATUS vidmm_get_priority(struct vidmm_device *device, D3DKMT_HANDLE resource,
                            const D3DKMT_HANDLE *list, UINT count, UINT *priorities);
NTSTATUS vidmm_query_residency(struct vidmm_device *device, D3DKMT_HANDLE resource,
                               const D3DKMT_HANDLE *list, UINT count,
                               D3DKMT_ALLOCATIONRESIDENCYSTATUS *states);
/* RES-044. */
NTSTATUS vidmm_set_reservation(struct vidmm_process *process, D3DKMT_MEMORY_SEGMENT_GROUP group,
                               uint64_t bytes);

NTSTATUS vidmm_map_gpu_va(struct vidmm_paging_queue *queue, D3DDDI_MAPGPUVIRTUALADDRESS *args);
NTSTATUS vidmm_reserve_gpu_va(struct vidmm_process *process, struct vidmm_paging_queue *queue,
                              D3DDDI_RESERVEGPUVIRTUALADDRESS *args);
NTSTATUS vidmm_free_gpu_va(struct vidmm_process *process, D3DGPU_VIRTUAL_ADDRESS base,
                           D3DGPU_SIZE_T size);

/* ---- fence memory (monitored fences, paging queues): 8-byte slots ---- */

struct vidmm_fence_slot {
    volatile uint64_t *kernel; /* host's view */
    void *client;              /* the client's read-only CPU address */
    struct gpu_va va;          /* 0 without GpuMmu */
    void *page;                /* private */
};
NTSTATUS vidmm_fence_slot_create(struct vidmm_process *process, struct vidmm_fence_slot *slot);
void vidmm_fence_slot_destroy(struct vidmm_process *process, struct vidmm_fence_slot *slot);

/* ---- driver callbacks that end here (validated for IRQL and state by port) ---- */

NTSTATUS vidmm_cb_create_context_allocation(struct ddi_adapter *adapter,
                                            DXGKARGCB_CREATECONTEXTALLOCATION *args);
NTSTATUS vidmm_cb_destroy_context_allocation(struct ddi_adapter *adapter, HANDLE allocation);
D3DGPU_VIRTUAL_ADDRESS vidmm_cb_map_context_allocation(struct ddi_adapter *adapter,
                                                       const DXGKARGCB_MAPCONTEXTALLOCATION *args);
NTSTATUS vidmm_cb_update_context_allocation(struct ddi_adapter *adapter,
                                            const DXGKARGCB_UPDATECONTEXTALLOCATION *args);
NTSTATUS vidmm_cb_reserve_gpu_va(struct ddi_adapter *adapter,
                                 DXGKARGCB_RESERVEGPUVIRTUALADDRESSRANGE *args);
/* DxgkCbGetHandleData, GetHandleParent, EnumHandleChildren for client handles of the current
 * process. Below DISPATCH_LEVEL. */
void *vidmm_cb_get_handle_data(struct ddi_adapter *adapter, const DXGKARGCB_GETHANDLEDATA *args);
/* DxgkCbAcquireHandleData: as the above, and the allocation is not destroyed before *release was
 * given back (NULL with a NULL result). DxgkCbReleaseHandleData. Up to APC_LEVEL. */
void *vidmm_cb_acquire_handle_data(struct ddi_adapter *adapter, const DXGKARGCB_GETHANDLEDATA *args,
                                   HANDLE *release);
void vidmm_cb_release_handle_data(struct ddi_adapter *adapter,
                                  const DXGKARGCB_RELEASEHANDLEDATA *args);
D3DKMT_HANDLE vidmm_cb_get_handle_parent(struct ddi_adapter *adapter, D3DKMT_HANDLE allocation);
D3DKMT_HANDLE vidmm_cb_enum_handle_children(struct ddi_adapter *adapter,
                                            const DXGKARGCB_ENUMHANDLECHILDREN *args);

#endif
