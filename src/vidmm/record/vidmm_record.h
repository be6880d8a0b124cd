/* SPDX-License-Identifier: MIT */
/*
 * The memory manager of one adapter: its parts, and what they share.
 *
 * Locking: one sim_mutex (vidmm->lock) guards segments, allocations' places, residency lists,
 * address spaces and the paging buffer under construction. It is held across
 * DxgkDdiBuildPagingBuffer and while waiting for the paging node, never across
 * DxgkDdiSetRootPageTable, DxgkDdiCreateAllocation and its kind, and never while waiting for the
 * GPU work of a client. Interrupt-level code never needs it: what it reads (vidmm_open_place) is
 * written with a release order. vidmm_assert_locked checks it.
 *
 * Statuses inside: STATUS_NO_MEMORY: no room in a segment. STATUS_INSUFFICIENT_RESOURCES: host
 * memory, frames or IOMMU space failed; becomes STATUS_NO_MEMORY at the client (vidmm_status).
 * STATUS_RETRY: the job cannot go on before client work of the GPU has finished (paging_worker.h).
 */
#ifndef DXGK_VIDMM_VIDMM_RECORD_H
#define DXGK_VIDMM_VIDMM_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include <ntddk.h>
#include <d3dkmddi.h>

#include "sim/assert.h"
#include "sim/machine.h"
#include "sim/mutex.h"
#include "sim/wait.h"
#include "trace/trace.h"
#include "util/hash.h"
#include "vidmm/record/context_record.h"
#include "vidmm/record/paging_record.h"
#include "vidmm/record/segment_record.h"
#include "vidmm/record/vidmm_config.h"

struct gpu_mmu;
struct paging_worker;

/* Context allocations of the adapter. */
struct context_allocations {
    struct list all;         /* context_allocation.link */
    uint32_t uncommitted;    /* of them: not initialised yet */
    struct hash_map closing; /* struct vidmm_context * whose end has begun */
};

/* Threads inside the driver that wait for paging (driver_run.h). */
struct driver_waits {
    struct paging_queue runs; /* struct driver_run */
    struct sim_waitq wait;    /* who waits for those */
    struct list waiters;      /* struct driver_waiter: who waits for the lock */
    bool out;                 /* both wait no longer (vidmm_let_driver_out) */
};

struct vidmm {
    struct vidmm_config config;
    struct ddi_adapter *ddi;
    const struct vidmm_scheduler *scheduler;
    const struct room_maker *room_maker;
    const struct paging_idle_work *idle_work;
    struct sim_mutex lock;
    struct sim_mutex processes_lock; /* one opens or closes at a time; taken before `lock` */
    UINT segment_count;
    struct vidmm_segment segment[VIDMM_MAX_SEGMENTS]; /* by id; [0] unused */
    UINT aperture;                                    /* id of the aperture segment, 0: none */
    uint64_t aperture_limit; /* bytes mapped through all aperture segments together at most */
    uint64_t aperture_mapped;
    struct list aperture_ranges; /* vidmm_aperture_range.link */
    struct list allocations, processes, devices;
    struct context_allocations contexts;
    struct vidmm_process *paging_process;
    struct gpu_mmu *mmu;
    struct paging_worker *worker;
    struct vidmm_paging_buffer *buffer; /* under construction, or NULL */
    uint32_t buffer_operations; /* built since the last flush, also those that wrote nothing */
    bool losing_power;          /* what is built is submitted for nobody (PAGE-019) */
    uint64_t last_ticket;
    struct list deferred; /* struct paging_deferred, of operations not flushed yet */
    struct list retiring; /* struct paging_deferred, by ticket */
    struct list tell,
        tell_devices; /* queues and devices the retire fiber has news of for the scheduler */
    struct paging_queue chores;    /* what no client waits for */
    struct list destructions_held; /* destruction.held: until something acquired is released */
    uint32_t kept;          /* allocations that may not move until a portion has run (portion.c) */
    struct list departures; /* allocations to move out when the worker has nothing else to do */
    uint64_t usage[2];      /* bytes on residency lists by memory segment group, once per process */
    uint64_t system_limit;  /* TotalSystemMemoryAvailableForGraphics */
    struct driver_waits driver;
    bool reset; /* between reset_cleanup and reset_restore: built but not submitted */
    struct vidmm_paging_buffer *discard; /* for those */
    struct page_number discard_first;
    struct page_number dummy_frame; /* the page behind unmapped aperture ranges */
    struct logical_page dummy;      /* where the device has it */
    bool has_dummy;
    trace_track track;
    struct vidmm_statistics statistics;
    bool started, stopping, lost;
    uint64_t clock; /* order for LRU */
};

/* At the entry of what needs the lock (sim/assert.h). */
#define vidmm_assert_locked(vidmm) sim_assert_owner(&(vidmm)->lock)

/* What a client is told for an internal status. */
static inline NTSTATUS vidmm_status(NTSTATUS status)
{
    return status == STATUS_INSUFFICIENT_RESOURCES ? STATUS_NO_MEMORY : status;
}

#endif
