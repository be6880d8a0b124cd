/* SPDX-License-Identifier: MIT */
/* Context allocations: what context_allocation.c (life) and context_allocation_use.c (content,
 * addresses, updates) share. */
#ifndef DXGK_VIDMM_CONTEXT_ALLOCATION_H
#define DXGK_VIDMM_CONTEXT_ALLOCATION_H

#include "vidmm/address_space.h"

struct context_allocation {
    struct list link;       /* shared->context_allocations */
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
    struct follow follow;
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
NTSTATUS context_allocation_commit(struct context_allocation *item);
/* Is it one that this context runs with? */
bool context_allocation_belongs(const struct context_allocation *item,
                                const struct vidmm_context *context);

/* DxgkDdiDestroyContext is about to be called: no more are made for the context (CTXA-012). */
void context_allocation_close(struct vidmm_context *context);

#endif
