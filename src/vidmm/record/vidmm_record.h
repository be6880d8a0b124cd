/* SPDX-License-Identifier: MIT */
/*
 * The memory manager of one adapter.
 *
 * Locking: one sim_mutex (vidmm->lock) protects segments, the places of allocations, residency
 * lists, address spaces and the paging buffer under construction. It is held across
 * DxgkDdiBuildPagingBuffer and while waiting for the paging node. It is not held across
 * DxgkDdiSetRootPageTable, DxgkDdiCreateAllocation and similar calls, nor while waiting for GPU
 * work of a client. Code at interrupt level does not take it: what that code reads
 * (vidmm_open_place) is written in release order. vidmm_assert_locked checks that the lock is held.
 *
 * Internal statuses: STATUS_NO_MEMORY: a segment is full. STATUS_INSUFFICIENT_RESOURCES: no host
 * memory, frames or IOMMU address space; the client gets STATUS_NO_MEMORY for it (vidmm_status).
 * STATUS_RETRY: the job must wait until client work on the GPU has finished (paging_worker.h).
 */
#ifndef DXGK_VIDMM_VIDMM_RECORD_H
#define DXGK_VIDMM_VIDMM_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include <ntddk.h>
#include <d3dkmddi.h>

#include "sim/machine.h"
#include "sim/mutex.h"
#include "sim/sim_assert.h"
#include "sim/wait.h"
#include "trace/trace.h"
#include "util/hash.h"
#include "vidmm/record/chronicle.h"
#include "vidmm/record/context_record.h"
#include "vidmm/record/paging_record.h"
#include "vidmm/record/segment_record.h"
#include "vidmm/record/vidmm_config.h"

struct gpu_mmu;
struct paging_worker;

/* Context allocations of the adapter. */
struct context_allocations {
    struct list all;         /* context_allocation.link */
    uint32_t uncommitted;    /* those that are not initialized yet */
    struct hash_map closing; /* struct vidmm_context * that are being destroyed */
};

/* Threads inside the driver that wait for the lock or for paging (driver_run.h). */
struct driver_waits {
    struct paging_queue runs; /* struct driver_run */
    struct sim_waitq wait;    /* waited on until a run is over */
    struct list waiters;      /* struct driver_waiter: threads that wait for the lock */
    bool out;                 /* they must not wait any longer (vidmm_let_driver_out) */
};

/* The page that unmapped aperture ranges point to. */
struct aperture_dummy {
    struct page_number frame;
    struct logical_page page; /* its device address */
    bool exists;
};

/* The buffer in which operations are built that are not submitted. */
struct vidmm_discard {
    struct vidmm_paging_buffer *buffer;
    struct page_number first;
};

/* The last numbers given, for events. */
struct vidmm_serials {
    uint32_t allocations, opens, queues, jobs;
};

/* WDDM 1.x (portion.c, swizzling_range.c, lock_wait.c). */
struct vidmm_old {
    uint32_t kept;    /* allocations pinned until a portion has run */
    bool sets_differ; /* some allocation has one segment set for reading, and another for writing */
    struct swizzling_range *range; /* config.swizzling_ranges of them */
    struct sim_waitq lock_waits;   /* woken when the wait of some lock is over */
};

struct vidmm_budgets {
    /* bytes on residency lists by memory segment group, counted once per process */
    uint64_t usage[2];
    struct list watches; /* struct vidmm_budget_watch */
};

struct vidmm {
    struct vidmm_config config;
    struct ddi_adapter *ddi;
    const struct vidmm_scheduler *scheduler;
    const struct room_maker *room_maker;
    const struct paging_idle_work *idle_work;
    struct sim_mutex lock;
    struct list process_changes; /* process.c */
    struct sim_waitq process_changed;
    UINT segment_count;
    bool refused; /* a finding about the segments or the MMU refuses the adapter */
    struct vidmm_segment segment[VIDMM_MAX_SEGMENTS]; /* by id; [0] unused */
    UINT aperture;                                    /* id of the aperture segment, 0: none */
    uint64_t aperture_limit; /* limit of bytes mapped through all aperture segments together */
    uint64_t aperture_mapped;
    struct list aperture_ranges; /* vidmm_aperture_range.link */
    struct list allocations, processes, devices;
    struct context_allocations contexts;
    struct vidmm_process *paging_process;
    struct gpu_mmu *mmu;
    struct paging_worker *worker;
    struct vidmm_paging_buffer *buffer; /* under construction, or NULL */
    uint32_t buffer_operations; /* built since the last flush, including those that wrote nothing */
    bool losing_power; /* paging buffers are submitted without device and context (PAGE-019) */
    uint64_t last_ticket;
    struct paging_fence fence;
    struct list deferred;           /* struct paging_deferred, for operations not flushed yet */
    struct list retiring;           /* struct paging_deferred, by ticket */
    struct list tell, tell_devices; /* what the retire fiber has to report about */
    struct paging_queue chores;     /* jobs that no client waits for */
    struct list destructions_held; /* destruction.held: wait until an acquired handle is released */
    struct vidmm_old old;
    struct list departures; /* allocations that the idle worker evicts (departure.c) */
    struct vidmm_budgets budget;
    uint64_t system_limit; /* TotalSystemMemoryAvailableForGraphics */
    struct driver_waits driver;
    bool reset; /* between reset_cleanup and reset_restore: operations are built, not submitted */
    bool blank; /* from reset_begin to reset_cleanup: no view of a client shows video memory */
    struct vidmm_discard discard;
    struct aperture_dummy dummy;
    struct vidmm_serials serials;
    struct chronicle chronicle;
    trace_track track;
    struct vidmm_statistics statistics;
    bool started, stopping, lost;
    uint64_t clock; /* order for LRU */
};

/* At the entry of functions that need the lock (sim/sim_assert.h). */
#define vidmm_assert_locked(vidmm) sim_assert_owner(&(vidmm)->lock)

/* WDDM 1.x: the allocation list of each submission says what it writes to (PATCH-076). Else the GPU
 * may write to all that is resident, at any time. */
static inline bool vidmm_writes_are_listed(const struct vidmm *vidmm)
{
    return vidmm->config.wddm_version < DXGKDDI_INTERFACE_VERSION_WDDM2_0;
}

/* Of an operation that found no memory of the host, frames or IOMMU addresses: STATUS_NO_MEMORY,
 * with that as the reason of the call unless a closer one is known. */
NTSTATUS vidmm_host_is_full(void);
/* The status that a client gets for an internal one. */
static inline NTSTATUS vidmm_status(NTSTATUS status)
{
    return status == STATUS_INSUFFICIENT_RESOURCES ? vidmm_host_is_full() : status;
}

#endif
