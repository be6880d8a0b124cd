/* SPDX-License-Identifier: MIT */
/*
 * Context allocations: memory with fixed GPU addresses that the host keeps for a context or a
 * device, on request of the driver (DxgkCbCreateContextAllocation and related callbacks).
 * context_allocation.c creates and destroys them, context_allocation_use.c has content and updates.
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

/* ---- driver callbacks; port has checked IRQL and state ---- */

NTSTATUS vidmm_cb_create_context_allocation(struct ddi_adapter *adapter,
                                            DXGKARGCB_CREATECONTEXTALLOCATION *args);
NTSTATUS vidmm_cb_destroy_context_allocation(struct ddi_adapter *adapter, HANDLE allocation);
D3DGPU_VIRTUAL_ADDRESS vidmm_cb_map_context_allocation(struct ddi_adapter *adapter,
                                                       const DXGKARGCB_MAPCONTEXTALLOCATION *args);
NTSTATUS vidmm_cb_update_context_allocation(struct ddi_adapter *adapter,
                                            const DXGKARGCB_UPDATECONTEXTALLOCATION *args);
/* ---- for the scheduler ---- */

/* Commit the context's allocations, that is, make them resident and have the driver initialize them
 * (INIT_CONTEXT_RESOURCE), before the first packet of the context. May block. */
NTSTATUS vidmm_context_prepare(struct vidmm_context *context);

/* ---- for this sub-room ---- */

struct context_allocation {
    struct list link;       /* vidmm->contexts.all */
    struct list owner_link; /* context->allocations; linked to itself if it is the device's */
    HANDLE handle;          /* hAllocation; NULL: destroyed (destroy) */
    bool destroyed; /* the driver destroyed it, but a job (late) does the work after a reset */
    struct vidmm *vidmm;
    struct vidmm_context *context; /* NULL: it belongs to the device */
    HANDLE device;                 /* host handle of the device */
    struct vidmm_process *process;
    struct vidmm_allocation *allocation;
    uint64_t size;     /* bytes, as requested */
    bool map_for_init; /* MapGpuVirtualAddress (CTXA-015) */
    bool cpu_view;     /* the driver gets a CPU address (CTXA-040) */
    void *view;        /* kernel address of the whole allocation, or NULL */
    bool pinned;       /* `allocation` is resident and must stay so */
    bool initialised;  /* INIT_CONTEXT_RESOURCE was built for its current content */
    bool committed;    /* resident, pinned and initialized */
    bool restore;      /* it was committed before the reset, and must be again */
    uint32_t users;    /* callbacks that are using it */
    bool doomed;       /* to be freed when `users` becomes 0 */
    struct vidmm_follow follow;
    struct paging_job job, late;
};

/* ---- context_allocation_check.c ---- */

/* Check the arguments of a creation, except for the owner (CTXA-013 to CTXA-028);
 * reports what is wrong. */
NTSTATUS context_allocation_check(const struct vidmm *vidmm,
                                  const DXGKARGCB_CREATECONTEXTALLOCATION *args);
/* PreferredSegment.SegmentId0 .. SegmentId4. */
UINT context_allocation_preferred(const DXGKARGCB_CREATECONTEXTALLOCATION *args, unsigned place);

/* ---- context_allocation.c ---- */

/* Look up a handle; NULL: not a context allocation of this adapter. */
struct context_allocation *context_allocation_find(struct ddi_adapter *adapter, HANDLE handle);
/* The same, and keep it until context_allocation_unuse, even if it is destroyed meanwhile (then its
 * handle is NULL). Lock held. */
struct context_allocation *context_allocation_use(struct ddi_adapter *adapter, HANDLE handle);
/* With the lock held, or on a thread inside the driver. */
void context_allocation_unuse(struct context_allocation *item);
/* Is the current thread inside a DDI that is itself part of paging (CTXA-060, CTXA-067)? If so,
 * that is reported. */
bool context_allocation_inside_paging(const char *rule);
/* Would the current thread deadlock if it waited for paging? True if no other thread can
 * enter the driver until the current DDI has returned, or if the adapter is not in D0
 * (CTXA-060, CTXA-067). */
bool context_allocation_blocked(const struct vidmm *vidmm);
/* Report that as a violation. */
void context_allocation_tell_blocked(const char *rule, const struct vidmm *vidmm);
/* The vidmm_device of a host handle that the scheduler created; NULL: there is none (yet). */
struct vidmm_device *context_allocation_device(struct vidmm *vidmm, HANDLE handle);

/* If not done already, make it resident, pin it, and have the driver initialize its content
 * (builder's fiber). */
NTSTATUS context_allocation_commit(struct paging_turn *turn, struct context_allocation *item);
/* Does it belong to this context, or to the context's device? */
bool context_allocation_belongs(const struct context_allocation *item,
                                const struct vidmm_context *context);

/* DxgkDdiDestroyContext is about to be called: none can be created for the context from
 * now on (CTXA-012). */
void context_allocation_close(struct vidmm_context *context);

void context_allocation_finish_all(struct vidmm_context *context);
/* True if all context allocations of the context and its device are committed. */
bool context_allocations_ready(const struct vidmm_context *context);
/* Before those move of which `moves` says so: have the hardware leave their contexts, whose work
 * has ended (CTXA-033). */
typedef bool (*context_allocation_moves)(const struct vidmm_allocation *moved, const void *arg);
NTSTATUS context_allocations_leave(struct vidmm *vidmm, context_allocation_moves moves,
                                   const void *arg);
/* After a reset or evacuation evicted them: mark them as not committed.
 * context_allocations_restore makes them resident again and, where the content was lost, has it
 * initialized again (CTXA-068). */
void context_allocations_lost(struct vidmm *vidmm);
void context_allocations_restore(struct paging_turn *turn, struct vidmm *vidmm);
/* After DxgkDdiDestroyDevice, or a DxgkDdiCreateDevice that failed: report context allocations
 * of the device (named by the handle that the driver got) that were not destroyed, and free
 * them. Lock not held. */
void context_allocation_device_gone(struct vidmm *vidmm, HANDLE host_device);

#endif
