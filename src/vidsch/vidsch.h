/* SPDX-License-Identifier: MIT */
/*
 * The GPU scheduler of one adapter, as the room that starts adapters uses it: its configuration,
 * creation, suspension and end, and the driver's notifications. Calls for clients are in client.h.
 *
 *   vidsch                nodes (fence counter, packets in flight), system device and context,
 *    |                    worker thread, timeouts
 *    +- device            what is lost in case of error; client (D3DKMT) handle DDI_CLIENT_DEVICE
 *        +- context       one node; software queue (FIFO of packets), DMA-buffer pool
 *   sync                  synchronization objects
 *
 * One worker thread per adapter picks packets: highest priority context first, then round robin.
 * Only the worker calls Patch and SubmitCommand, so calls of the GPU scheduler class never overlap;
 * client calls only queue packets. RequiredDmaQueueEntry and HwQueuePacketCap limit the packets in
 * flight on a node.
 *
 * PASSIVE_LEVEL on a simulated thread unless a function says otherwise.
 *
 * The host handles given to the driver (ddi_adapter.handles) resolve to: DDI_HANDLE_CONTEXT, to a
 * struct vidmm_context; DDI_HANDLE_DEVICE, to a variable of type struct vidmm_device *, which is
 * NULL until DxgkDdiCreateDevice has returned.
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
#include "iommu/iommu.h"

struct journal;
struct vidsch;
struct vidsch_device;
struct vidsch_context;
struct vidsch_sync;
struct vidsch_sync_view;

/* TDR-008, TDR-009 */
enum vidsch_tdr_level {
    TDR_LEVEL_OFF = 0,
    TDR_LEVEL_FATAL = 1, /* each timeout is a bug check */
    TDR_LEVEL_RECOVER = 3,
};

/* TDR-013; 0 and 2 have no name: here both mean recovery within the limits */
enum vidsch_tdr_debug_mode {
    TDR_DEBUG_IGNORE_TIMEOUTS = 1,
    TDR_DEBUG_RECOVER_ALWAYS = 3, /* even beyond TdrLimitCount */
};

struct vidsch_tdr_settings { /* one member per registry value, in its unit */
    UINT level;              /* TdrLevel: enum vidsch_tdr_level */
    UINT delay;              /* TdrDelay, s */
    UINT ddi_delay;          /* TdrDdiDelay, s */
    UINT limit_count, limit_time;
    UINT debug_mode; /* TdrDebugMode: enum vidsch_tdr_debug_mode */
    bool enable_preemption;
};

struct vidsch_node_info {
    DXGKARG_GETNODEMETADATA metadata;
    bool virtual_addressing;
    bool hardware_scheduled;   /* contexts of hardware queues (CAPS-103) */
    bool user_mode_submission; /* with doorbells */
    bool stamps;               /* its history buffers have time stamps that are known: */
    UINT stamp_bits;           /* PrecisionBits; 0: the driver formats them (CAPS-109) */
};

/* What is known of Windows in more than one way, or was decided here before somebody saw it: false
 * is what Windows was seen to do. */
struct vidsch_policy {
    bool shared_ids;  /* preemption requests count with the submissions of the node (PREEMPT-011) */
    bool patient;     /* a higher priority preempts after a quantum, not at once (PREEMPT-039) */
    bool round_robin; /* equal priorities alternate by packet, not by quantum (SUBMIT-019) */
};

struct vidsch_config {
    struct ddi_adapter *ddi;
    struct ram *ram;
    struct iommu_domain *domain;
    UINT wddm_version;
    UINT nodes;
    const struct vidsch_node_info *node; /* copied */
    UINT paging_node;
    DXGK_VIDSCHCAPS caps;
    UINT max_allocation_list_slot;
    bool split_dma_buffers; /* WDDM 1.x: cut DMA buffers at every split point (PATCH-132) */
    bool test_prepatching;  /* give DxgkDdiPatch no location that is right already (PATCH-141) */
    UINT required_dma_queue_entry;
    /* DXGK_QUERYSEGMENTOUT4: PagingBufferSize, rounded up to pages, and
     * PagingBufferPrivateDataSize */
    UINT paging_buffer_bytes;
    UINT paging_buffer_private_bytes;
    bool per_engine_tdr;
    bool native_to_cmp; /* DXGK_NATIVE_FENCE_CAPS.MapToCmpAddressSpace */
    /* of DXGK_USERMODESUBMISSION_CAPS; 0: no submission from user mode, no secondary doorbells */
    UINT doorbell_bytes, secondary_doorbell_bytes;
    bool displays;             /* of which nobody waits for the vertical sync (SUBMIT-072) */
    UINT paging_segment;       /* PagingBufferSegmentId; 0: paging buffers are in system memory */
    UINT aperture_segment_set; /* bit n: segment n + 1 is an aperture (for DmaBufferSegmentSet) */
    uint64_t virtual_address_end; /* first address past the GPU address space; 0: 2^64 */
    struct vidsch_tdr_settings tdr;
    struct vidsch_policy policy;
    /* Receives a line for each fault and each reset when it happens (TDR-083), at levels up to
     * DISPATCH_LEVEL; may be NULL. */
    void (*loss)(struct ddi_adapter *adapter, const char *line);
    /* A reset of the adapter is over; on the worker. */
    void (*restarted)(struct ddi_adapter *adapter);
    struct bus_device *device;  /* NULL: nothing is known of it (engine_check.h) */
    struct bus_device *checked; /* whose use of root tables is checked; NULL: none is */
    bool hw_paging;             /* paging goes to a hardware queue (hw_paging.h) */
    bool journal;               /* of submissions (life.h) */
    bool check_patches;         /* what DxgkDdiPatch does (patch_check.h) */
    const struct dxgk_patch_format *patch_format; /* NULL: it is not known */
};

extern const struct vidmm_scheduler vidsch_for_vidmm;

NTSTATUS vidsch_create(const struct vidsch_config *config, struct vidsch **out);
/* The scheduler of the adapter; NULL before vidsch_create and after vidsch_destroy. */
struct vidsch *vidsch_of_adapter(const struct ddi_adapter *adapter);
/* Start the threads, create the system devices and the system context on the paging node, and have
 * the page tables of the paging process made behind them (vidmm_start_tables). Called after
 * vidmm_start_process and before vidmm_start. */
NTSTATUS vidsch_start(struct vidsch *vidsch);
/* To shut down, call in this order: vidsch_quiesce (puts all devices in error and returns when
 * their work has ended); kmt destroys the devices of clients; vidmm_stop; vidsch_stop (ends the
 * system device, its context and the threads). */
void vidsch_quiesce(struct vidsch *vidsch);
/* The device was pulled out: from the first call on clients are refused as after a stop, and the
 * second puts their devices in error, which cancels what is queued (KMT-485). */
void vidsch_set_removed(struct vidsch *vidsch);
void vidsch_lose_removed(struct vidsch *vidsch);
void vidsch_stop(struct vidsch *vidsch);
void vidsch_destroy(struct vidsch *vidsch);
bool vidsch_validate(struct vidsch *vidsch);
bool vidsch_validate_lists(struct vidsch *vidsch); /* without what is spare */

/* Stop submitting, and wait until the driver has no packet left: the engines are idle then.
 * STATUS_IO_TIMEOUT: they were still busy after `limit_ns`, and the scheduler is not suspended.
 * Calls nest. */
NTSTATUS vidsch_suspend(struct vidsch *vidsch, uint64_t limit_ns);
void vidsch_resume(struct vidsch *vidsch);
/* Like vidsch_suspend, and in addition only the current thread may be in the driver, as DDIs of
 * synchronization level two require. A thread inside the driver may be waiting for paging, which
 * stops while the adapter is suspended. So the function tries for a short time to get both, gives
 * up both for as long, and repeats this, doubling the time. STATUS_IO_TIMEOUT after `limit_ns`:
 * reported as a wait of `name` (THREAD-037) unless `name` is NULL. */
NTSTATUS vidsch_stand_still(struct vidsch *vidsch, uint64_t limit_ns, const char *name);
/* Ends vidsch_stand_still. */
void vidsch_go_on(struct vidsch *vidsch);
/* The system device on which shared primaries are opened (PRES-061); of an adapter with displays
 * that has been started. */
struct vidmm_device *vidsch_display_device(const struct vidsch *vidsch);
/* Like vidsch_suspend, but for clients' packets only; paging continues. */
NTSTATUS vidsch_hold_clients(struct vidsch *vidsch, uint64_t limit_ns);
void vidsch_release_clients(struct vidsch *vidsch);

struct vidsch_statistics {
    uint64_t submissions, paging_submissions, patches /* patch locations given to DxgkDdiPatch */,
        preemptions, engine_resets, adapter_resets;
    uint64_t log_entries; /* of scheduling logs (hw_log.h) */
    uint64_t interrupts_notified, dpcs_notified, fences_signaled;
};
/* NULL: none is kept. */
const struct journal *vidsch_journal(const struct vidsch *vidsch);
void vidsch_statistics(const struct vidsch *vidsch, struct vidsch_statistics *statistics);

/* ---- interrupts: called for DxgkCbNotifyInterrupt (DIRQL) and DxgkCbNotifyDpc (DISPATCH) ---- */
void vidsch_notify_interrupt(struct vidsch *vidsch, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data);
void vidsch_notify_dpc(struct vidsch *vidsch);
/* The bus refused a DMA access of the device. The fault is kept for the report of the page fault
 * that the driver notifies. Any level. */
void vidsch_note_bus_fault(struct vidsch *vidsch, const struct iommu_fault *fault);

/* DxgkCbInvalidateHwContext. */
NTSTATUS vidsch_hw_invalidate(struct vidsch *vidsch, HANDLE context,
                              DXGK_INVALIDATEHWCONTEXTFLAGS flags);

/* DxgkCbDisconnectDoorbell. */
NTSTATUS vidsch_doorbell_taken(const DXGKARGCB_DISCONNECTDOORBELL *args);
/* The adapter is to lose its power: no client rings any more (KMT-186; yields). */
void vidsch_doorbells_disconnect(struct vidsch *vidsch);

/* Reset now the engines that are busy, or the whole adapter (escape, tests). */
NTSTATUS vidsch_force_reset(struct vidsch *vidsch, bool whole_adapter);
/* Reset one engine (D3DKMT_TDRDBGCTRLTYPE_ENGINETDR). */
NTSTATUS vidsch_force_engine_reset(struct vidsch *vidsch, UINT node);

#endif
