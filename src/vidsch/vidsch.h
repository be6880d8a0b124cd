/* SPDX-License-Identifier: MIT */
/*
 * The GPU scheduler of one adapter, for the room that starts adapters: its configuration, life and
 * standstill, and what the driver notifies. What clients do with it is in client.h.
 *
 *   vidsch                nodes (fence counter, packets in flight), system device and context,
 *    |                    worker thread, timeouts
 *    +- device            unit of error; client (D3DKMT) handle DDI_CLIENT_DEVICE
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
 * The driver's host handles (ddi_adapter.handles) resolve to these objects: DDI_HANDLE_CONTEXT to a
 * struct vidmm_context; DDI_HANDLE_DEVICE to a variable of type struct vidmm_device *, which is
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

struct vidsch;
struct vidsch_device;
struct vidsch_context;
struct vidsch_sync;

/* TDR-008, TDR-009 */
enum vidsch_tdr_level {
    TDR_LEVEL_OFF = 0,
    TDR_LEVEL_FATAL = 1, /* each timeout is a bug check */
    TDR_LEVEL_RECOVER = 3,
};

/* TDR-013; 0 and 2 are the same here. */
enum vidsch_tdr_debug_mode {
    TDR_DEBUG_IGNORE_TIMEOUTS = 1,
    TDR_DEBUG_RECOVER_ALWAYS = 3, /* however often */
};

struct vidsch_tdr_settings { /* names of the registry values; units as there */
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
/* Of the adapter, from vidsch_create to vidsch_destroy; else NULL. */
struct vidsch *vidsch_of_adapter(const struct ddi_adapter *adapter);
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

/* Force a timeout now (escape, tests). */
NTSTATUS vidsch_force_reset(struct vidsch *vidsch, bool whole_adapter);
/* One engine (D3DKMT_TDRDBGCTRLTYPE_ENGINETDR). */
NTSTATUS vidsch_force_engine_reset(struct vidsch *vidsch, UINT node);

#endif
