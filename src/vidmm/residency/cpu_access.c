/* SPDX-License-Identifier: MIT */
/* Lock2 and Unlock2: an allocation has one CPU mapping (cpu_view.c), from its first lock
 * to its last unlock. */
#include "vidmm/residency/cpu_access.h"
#include "sim/mutex.h"
#include "util/alloc.h"
#include "verify/refusal.h"
#include "vidmm/content/backing.h"
#include "vidmm/content/content.h"
#include "vidmm/paging/paging.h"
#include "vidmm/paging/paging_worker.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/device_record.h"
#include "vidmm/record/open_record.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/resource_record.h"
#include "vidmm/record/segment_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/residency/cpu_view.h"
#include "vidmm/residency/placement.h"
#include "vidmm/residency/victim.h"

#define MAX_LOCKS 65535u /* KMT-269 */

static NTSTATUS nothing(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    (void)turn;
    (void)vidmm;
    (void)arg;
    return STATUS_SUCCESS;
}

/* On the worker, which does not run while the adapter sleeps: show a memory segment that is not
 * CpuVisible through its CPU host aperture, or else move the allocation out of it (ALLOC-126). */
static NTSTATUS expose(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    struct vidmm_allocation *allocation = arg;
    NTSTATUS status;

    if (allocation->destroyed || !cpu_view_in_memory_segment(allocation) ||
        !cpu_view_forbids(allocation, &vidmm->segment[allocation->segment]))
        return STATUS_SUCCESS;
    if (allocation->view.lock_count && cpu_view_may_use_window(allocation) &&
        NT_SUCCESS(cpu_view_open_window(allocation)))
        return STATUS_SUCCESS;
    status = victim_need_free(turn, allocation);
    if (NT_SUCCESS(status)) {
        allocation->absence = ABSENCE_MOVED;
        status = placement_move_out(turn, vidmm, allocation, true);
    }
    if (NT_SUCCESS(status) && allocation->device_references)
        status = placement_bring_in(turn, vidmm, allocation);
    return status;
}

/* ALLOC-052: it was evicted in the order of the GPU, which the CPU cannot make sense of. */
static bool needs_other_order(const struct vidmm_allocation *allocation)
{
    return allocation->view.order.swizzled && !cpu_view_in_memory_segment(allocation) &&
           allocation->content == CONTENT_SYSTEM;
}

/* On the worker: through a memory segment and out again, for the driver to put it in linear order.
 * */
static NTSTATUS straighten(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    struct vidmm_allocation *allocation = arg;
    const UINT before = allocation->segments.restricted;
    NTSTATUS status = STATUS_SUCCESS;

    if (allocation->destroyed || !needs_other_order(allocation))
        return STATUS_SUCCESS;
    if (allocation->runs) {
        status = victim_need_free(turn, allocation);
        if (NT_SUCCESS(status))
            status = placement_move_out(turn, vidmm, allocation, true);
    }
    allocation->segments.restricted = 0;
    for (UINT id = 1; id <= vidmm->segment_count; id++)
        if (!segment_is_aperture(&vidmm->segment[id]))
            allocation->segments.restricted |= segment_bit(id) & allocation->segments.supported;
    allocation->view.order.passing = true;
    if (NT_SUCCESS(status))
        status = placement_bring_in(turn, vidmm, allocation);
    allocation->view.order.passing = false;
    allocation->segments.restricted = before;
    return NT_SUCCESS(status) ? expose(vidmm, turn, allocation) : status;
}

/* PRES-060 */
static bool is_shared_primary(const struct vidmm_allocation *allocation)
{
    return allocation->segments.primary && allocation->resource && allocation->resource->shared;
}

static NTSTATUS check_lock(const struct vidmm_open *open)
{
    const struct vidmm_allocation *allocation = open->allocation;

    if (open->device->lost || allocation->vidmm->lost)
        return refuse(STATUS_DEVICE_REMOVED, NULL, "the device or the adapter is lost");
    if (allocation->offer.in_force)
        return refuse(STATUS_INVALID_PARAMETER, "RES-065", "the allocation is offered");
    if (allocation->creator != open->device->process->nt && !is_shared_primary(allocation))
        return refuse(STATUS_INVALID_PARAMETER, "ALLOC-119",
                      "the allocation was created by another process");
    if (allocation->view.elsewhere)
        return refuse(STATUS_INVALID_PARAMETER, "PRES-079",
                      "the driver created the primary with UseAlternateVA: it has no lock");
    if (allocation->view.lock_count >= MAX_LOCKS)
        return refuse(STATUS_GRAPHICS_TOO_MANY_REFERENCES, NULL, "the allocation has %u locks",
                      (UINT)allocation->view.lock_count);
    if (!allocation->cpu_visible && cpu_view_in_memory_segment(allocation) &&
        !(allocation->vidmm->aperture &&
          (allocation->segments.supported & segment_bit(allocation->vidmm->aperture))))
        return refuse(STATUS_INVALID_PARAMETER, "ALLOC-128",
                      "the allocation is in a memory segment, not CpuVisible, and no aperture "
                      "segment is in its set 0x%x",
                      allocation->segments.supported);
    return STATUS_SUCCESS;
}

/* The first lock. lock_count is 1 already, so placement takes the lock into account. Lock held;
 * dropped while waiting for paging. The caller holds the record. */
static NTSTATUS first_lock(struct vidmm_allocation *allocation)
{
    struct vidmm *vidmm = allocation->vidmm;
    NTSTATUS status = STATUS_SUCCESS;
    bool forbidden = cpu_view_in_memory_segment(allocation) &&
                     cpu_view_forbids(allocation, &vidmm->segment[allocation->segment]);
    const bool other_order = needs_other_order(allocation);

    if (forbidden || other_order || allocation->arrival.pending ||
        !paging_ticket_done(vidmm, allocation->arrival.busy_ticket)) {
        /* A pending copy or fill would overwrite what the CPU writes. This waits only for paging,
         * never for client work. */
        sim_mutex_unlock(&vidmm->lock);
        status = paging_run(vidmm,
                            other_order ? straighten
                            : forbidden ? expose
                                        : nothing,
                            allocation);
        sim_mutex_lock(&vidmm->lock);
    }
    if (allocation->destroyed || allocation->gone || allocation->view.lock_count == 0)
        return refuse(STATUS_INVALID_PARAMETER, NULL,
                      "the allocation was destroyed or unlocked while it was being locked");
    if (NT_SUCCESS(status) && !cpu_view_in_memory_segment(allocation))
        status = backing_take(allocation);
    return vidmm_status(NT_SUCCESS(status) ? cpu_view_make(allocation) : status);
}

static NTSTATUS ensure_view(struct vidmm_allocation *allocation)
{
    struct vidmm *vidmm = allocation->vidmm;
    NTSTATUS status = STATUS_SUCCESS;

    while (NT_SUCCESS(status) && (!allocation->view.address || allocation->view.lost)) {
        if (allocation->view.locking) {
            /* Another thread is creating the view. */
            sim_mutex_unlock(&vidmm->lock);
            status = paging_run(vidmm, nothing, NULL);
            sim_mutex_lock(&vidmm->lock);
            continue;
        }
        allocation->view.locking = true;
        status = first_lock(allocation);
        allocation->view.locking = false;
    }
    return status;
}

NTSTATUS vidmm_lock2(struct vidmm_device *device, D3DKMT_HANDLE handle, void **address)
{
    struct vidmm *vidmm = device->process->vidmm;
    struct vidmm_allocation *allocation;
    struct vidmm_open *open;
    NTSTATUS status;

    sim_mutex_lock(&vidmm->lock);
    open = open_find(device, handle);
    status = open ? check_lock(open) : STATUS_INVALID_PARAMETER;
    if (NT_SUCCESS(status)) {
        allocation = open->allocation;
        allocation->view.lock_count++;
        open->lock_count++;
        allocation_hold(allocation);
        status = ensure_view(allocation);
        open = open_find(
            device, handle); /* it may have been destroyed meanwhile, which also ended the lock */
        if (NT_SUCCESS(status)) {
            *address = allocation->view.address;
        } else if (open && open->allocation == allocation && open->lock_count) {
            open->lock_count--;
            allocation->view.lock_count--;
        }
        if (!allocation->gone)
            victim_update(allocation);
        allocation_unhold(allocation);
    }
    sim_mutex_unlock(&vidmm->lock);
    return status;
}

/* ---- Unlock2 ---- */

/* What is pinned gets the copy where it is. */
static NTSTATUS push_in_place(struct vidmm *vidmm, struct paging_turn *turn,
                              struct vidmm_allocation *allocation)
{
    struct backing_release *release;
    NTSTATUS status = victim_need_idle(turn, allocation);

    if (!NT_SUCCESS(status))
        return status;
    release = util_alloc(sizeof(*release));
    status = release ? backing_map(allocation) : STATUS_INSUFFICIENT_RESOURCES;
    if (!NT_SUCCESS(status)) {
        util_free(release);
        return status;
    }
    status = content_transfer(allocation, allocation->runs, allocation->run_count, false);
    backing_defer_unmap(allocation, release, false);
    return NT_SUCCESS(status) ? paging_settle(vidmm) : status; /* before the GPU uses it again */
}

/* The CPU has written to the system copy of a PermanentSysMem allocation: copy it
 * to the segment. */
static NTSTATUS push(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    struct vidmm_allocation *allocation = arg;
    NTSTATUS status;

    if (allocation->destroyed || !cpu_view_in_memory_segment(allocation))
        return STATUS_SUCCESS;
    if (allocation->pins)
        return push_in_place(vidmm, turn, allocation);
    status = victim_need_idle(turn, allocation);
    if (!NT_SUCCESS(status))
        return status;
    allocation->system_copy = true;
    allocation->written = false;
    allocation->absence = ABSENCE_MOVED;
    status = placement_move_out(turn, vidmm, allocation, true);
    if (NT_SUCCESS(status) && allocation->device_references)
        status = placement_bring_in(turn, vidmm, allocation);
    return status;
}

static void pushed(struct vidmm *vidmm, void *arg, NTSTATUS status)
{
    (void)vidmm;
    (void)status;
    allocation_unhold(arg);
}

/* ALLOC-047. As a job that no client waits for. */
static NTSTATUS push_later(struct vidmm_allocation *allocation)
{
    struct vidmm *vidmm = allocation->vidmm;
    NTSTATUS status;

    if (!cpu_view_shows_backing(allocation) || !cpu_view_in_memory_segment(allocation))
        return STATUS_SUCCESS;
    status = paging_post(&vidmm->chores, push, pushed, allocation);
    if (NT_SUCCESS(status))
        allocation_hold(allocation);
    return status;
}

NTSTATUS vidmm_unlock2(struct vidmm_device *device, D3DKMT_HANDLE handle)
{
    struct vidmm *vidmm = device->process->vidmm;
    struct vidmm_open *open;
    NTSTATUS status = STATUS_INVALID_PARAMETER;

    sim_mutex_lock(&vidmm->lock);
    open = open_find(device, handle);
    if (open && open->lock_count == 0)
        (void)refuse(status, NULL, "allocation 0x%x is not locked", handle);
    if (open && open->lock_count) {
        struct vidmm_allocation *allocation = open->allocation;

        status = allocation->view.lock_count == 1 && !vidmm->lost ? push_later(allocation)
                                                                  : STATUS_SUCCESS;
        if (NT_SUCCESS(status)) {
            open->lock_count--;
            if (--allocation->view.lock_count == 0)
                cpu_view_end(allocation);
            victim_update(allocation);
            paging_poke(vidmm);
        }
    }
    sim_mutex_unlock(&vidmm->lock);
    return status;
}
