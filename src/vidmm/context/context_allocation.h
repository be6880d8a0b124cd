/* SPDX-License-Identifier: MIT */
/*
 * Context allocations: memory that a driver has the host keep for a context or a device, with GPU
 * addresses that stay (DxgkCbCreateContextAllocation and its kind). Life in context_allocation.c,
 * content and updates in context_allocation_use.c.
 */
#ifndef DXGK_VIDMM_CONTEXT_ALLOCATION_H
#define DXGK_VIDMM_CONTEXT_ALLOCATION_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

#include "util/list.h"
#include "vidmm/record/follow_record.h"
#include "vidmm/record/paging_record.h"

struct ddi_adapter;
struct vidmm;
struct vidmm_allocation;
struct vidmm_context;
struct vidmm_device;
struct vidmm_process;

/* ---- callbacks of the driver, validated for IRQL and state by port ---- */

NTSTATUS vidmm_cb_create_context_allocation(struct ddi_adapter *adapter,
                                            DXGKARGCB_CREATECONTEXTALLOCATION *args);
NTSTATUS vidmm_cb_destroy_context_allocation(struct ddi_adapter *adapter, HANDLE allocation);
D3DGPU_VIRTUAL_ADDRESS vidmm_cb_map_context_allocation(struct ddi_adapter *adapter,
                                                       const DXGKARGCB_MAPCONTEXTALLOCATION *args);
NTSTATUS vidmm_cb_update_context_allocation(struct ddi_adapter *adapter,
                                            const DXGKARGCB_UPDATECONTEXTALLOCATION *args);
/* ---- for the scheduler ---- */

/* First commit of context allocations: INIT_CONTEXT_RESOURCE, before the first packet of the
 * context. May block. */
NTSTATUS vidmm_context_prepare(struct vidmm_context *context);

/* ---- inside ---- */

struct context_allocation {
    struct list link;       /* vidmm->context_allocations */
    struct list owner_link; /* context->allocations; on itself if the device's */
    HANDLE handle;          /* hAllocation; NULL: it is at its end (destroy) */
    bool destroyed;         /* by the driver, but the end comes after the reset (late) */
    struct vidmm *vidmm;
    struct vidmm_context *context; /* NULL: of the device */
    HANDLE device;                 /* host handle of the device */
    struct vidmm_process *process;
    struct vidmm_allocation *allocation;
    uint64_t size;     /* bytes, as asked for */
    bool map_for_init; /* MapGpuVirtualAddress (CTXA-015) */
    bool cpu_view;     /* CTXA-040 */
    void *view;        /* kernel address of it all, or NULL */
    bool pinned;       /* the allocation is resident to stay */
    bool initialised;  /* INIT_CONTEXT_RESOURCE was built for its content */
    bool committed;    /* resident, pinned and initialised */
    bool restore;      /* it was before the reset */
    uint32_t users;    /* callbacks in the middle of something with it */
    bool doomed;       /* goes with the last of them */
    struct vidmm_follow follow;
    struct paging_job job, late;
};

/* ---- context_allocation_check.c ---- */

/* Arguments of a creation, but for the owner (CTXA-013 to CTXA-028); a failure is told. */
NTSTATUS context_allocation_check(const struct vidmm *vidmm,
                                  const DXGKARGCB_CREATECONTEXTALLOCATION *args);
/* PreferredSegment.SegmentId0 .. SegmentId4. */
UINT context_allocation_preferred(const DXGKARGCB_CREATECONTEXTALLOCATION *args, unsigned place);

/* ---- context_allocation.c ---- */

/* By handle; NULL: none of this adapter. */
struct context_allocation *context_allocation_find(struct ddi_adapter *adapter, HANDLE handle);
/* The same, and it stays until context_allocation_unuse, even if it is destroyed meanwhile (then
 * its handle is NULL). Lock held. */
struct context_allocation *context_allocation_use(struct ddi_adapter *adapter, HANDLE handle);
/* Lock held, or on a thread inside the driver. */
void context_allocation_unuse(struct context_allocation *item);
/* Is the current thread inside a DDI that itself is needed to carry out paging (CTXA-060,
 * CTXA-067)? Reports it. */
bool context_allocation_inside_paging(const char *rule);
/* Would the current thread wait for ever, if it waited for paging: because nobody gets into the
 * driver before the DDI it is in has returned, or the adapter sleeps (CTXA-060, CTXA-067)? */
bool context_allocation_blocked(const struct vidmm *vidmm);
/* Report that as a violation. */
void context_allocation_tell_blocked(const char *rule, const struct vidmm *vidmm);
/* The vidmm_device of a host handle of the scheduler's; NULL: none (yet). */
struct vidmm_device *context_allocation_device(struct vidmm *vidmm, HANDLE handle);

/* Make resident, for good, and have the driver write its content, unless that was done (builder's
 * fiber). */
NTSTATUS context_allocation_commit(struct paging_turn *turn, struct context_allocation *item);
/* Is it one that this context runs with? */
bool context_allocation_belongs(const struct context_allocation *item,
                                const struct vidmm_context *context);

/* DxgkDdiDestroyContext is about to be called: no more are made for the context (CTXA-012). */
void context_allocation_close(struct vidmm_context *context);

void context_allocation_finish_all(struct vidmm_context *context);
/* Context allocations of a context or its device are resident and initialised. */
bool context_allocations_ready(const struct vidmm_context *context);
/* VRAM content is lost and everything evicted (in vidmm_reset_cleanup): they are made resident and,
 * where content is gone, initialised again, by context_allocations_restore (CTXA-068). */
void context_allocations_lost(struct vidmm *vidmm);
void context_allocations_restore(struct paging_turn *turn, struct vidmm *vidmm);
/* After DxgkDdiDestroyDevice, or a failed DxgkDdiCreateDevice, by the handle the driver was given:
 * what is left is a leak and freed. Lock not held. */
void context_allocation_device_gone(struct vidmm *vidmm, HANDLE host_device);

#endif
