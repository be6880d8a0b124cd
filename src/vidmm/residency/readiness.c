/* SPDX-License-Identifier: MIT */
/*
 * When an allocation may be used. Once its place is recorded and its content is being copied there,
 * page-table entries point to it (`resident`). It is `ready` when the GPU has executed those
 * operations. Until then no work of the devices that list it runs, but what was queued before they
 * listed it: that cannot use it, and what it does use may be in its way (RES-026). When more of the
 * work of a device that was held back can run, that is reported to the scheduler, and the device is
 * protected from eviction until it has run.
 */
#include "vidmm/residency/readiness.h"
#include "sim/machine.h"
#include "util/list.h"
#include "vidmm/paging/paging.h"
#include "vidmm/paging/paging_worker.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/device_record.h"
#include "vidmm/record/dxgkrnl_events.h"
#include "vidmm/record/open_record.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/record/vidmm_scheduler.h"
#include "vidmm/residency/budget.h"
#include "vidmm/residency/demotion.h"
#include "vidmm/residency/victim.h"
#include "vidmm/space/address_space.h"
#include "vidmm/space/table_residency.h"
#include "vidmm/space/va_mapping.h"

void readiness_tell(struct vidmm_device *device)
{
    struct vidmm *vidmm = device->process->vidmm;

    device->granted_until = sim_now() + GRANT_NS;
    device->tell_resident = true;
    if (list_empty(&device->tell_link))
        list_push_back(&vidmm->tell_devices, &device->tell_link);
    paging_tell(vidmm);
}

static void device_complete(struct vidmm_device *device)
{
    const struct vidmm_space *space = device->process->space;

    if (!device->held || (space && space->tables.away))
        return;
    device->held = false;
    readiness_tell(device);
}

/* The last ticket that waits for none of those that are joining: they are in the order in which
 * they were listed. */
static uint64_t last_allowed(const struct vidmm_device *device)
{
    return list_empty(&device->joining_list)
               ? UINT64_MAX
               : CONTAINER(device->joining_list.next, struct vidmm_open, missing_link)->joined_after;
}

bool readiness_allows(const struct vidmm_device *device, uint64_t ticket)
{
    return device->missing == 0 && ticket <= last_allowed(device);
}

void readiness_not_missing(struct vidmm_open *open)
{
    struct vidmm_device *device = open->device;
    const uint64_t before = last_allowed(device);

    if (list_empty(&open->missing_link))
        return;
    list_remove(&open->missing_link);
    if (!open->joining)
        device->missing--;
    if (device->missing == 0 && (!open->joining || last_allowed(device) > before))
        device_complete(device);
    open->joining = false;
}

void readiness_missing(struct vidmm_open *open)
{
    struct vidmm_device *device = open->device;

    if (!list_empty(&open->missing_link) || open->allocation->offer.in_force)
        return; /* an offered allocation is not waited for */
    list_push_back(&device->missing_list, &open->missing_link);
    device->missing++;
}

void readiness_joining(struct vidmm_open *open)
{
    struct vidmm_device *device = open->device;

    if (!list_empty(&open->missing_link) || open->allocation->offer.in_force)
        return;
    open->joining = true;
    open->joined_after = device->process->vidmm->scheduler->device_ticket(device);
    list_push_back(&device->joining_list, &open->missing_link);
}

/* ---- page tables ---- */

static void tables_returned(struct vidmm *vidmm, struct paging_deferred *deferred)
{
    struct vidmm_space *space = CONTAINER(deferred, struct vidmm_space, tables.returned);

    space->tables.returning = false;
    if (space->tables.absent)
        return; /* some were evicted again */
    space->tables.away = false;
    LIST_FOR(node, &vidmm->devices) {
        struct vidmm_device *device = CONTAINER(node, struct vidmm_device, link);

        if (device->process == space->process && device->missing == 0)
            device_complete(device);
    }
}

NTSTATUS readiness_return_tables(struct vidmm_device *device)
{
    struct vidmm *vidmm = device->process->vidmm;
    struct vidmm_space *space = device->process->space;
    NTSTATUS status;

    if (!space || !space->tables.away)
        return STATUS_SUCCESS;
    status = tables_return(space);
    if (!NT_SUCCESS(status))
        return status;
    if (space->tables.returning)
        list_remove(&space->tables.returned.link);
    space->tables.returning = true;
    space->tables.returned.fn = tables_returned;
    paging_defer(vidmm, &space->tables.returned);
    return status;
}

/* ---- allocations ---- */

static void set_ready(struct vidmm_allocation *allocation)
{
    allocation->ready = true;
    LIST_FOR(node, &allocation->opens)
        readiness_not_missing(CONTAINER(node, struct vidmm_open, link));
    victim_update(allocation);
}

static void arrived(struct vidmm *vidmm, struct paging_deferred *deferred)
{
    struct vidmm_allocation *allocation = CONTAINER(deferred, struct vidmm_allocation,
                                                    arrival.deferred);

    (void)vidmm;
    allocation->arrival.pending = false;
    set_ready(allocation);
}

void readiness_end(const struct paging_turn *turn, struct vidmm_allocation *allocation)
{
    if (allocation->arrival.pending) {
        list_remove(&allocation->arrival.deferred.link);
        allocation->arrival.pending = false;
    }
    allocation->ready = false;
    allocation->resident = false;
    list_remove(&allocation->victim.demoted_link);
    LIST_FOR(node, &allocation->opens) {
        struct vidmm_open *open = CONTAINER(node, struct vidmm_open, link);

        if (!open->residency_count)
            continue;
        readiness_missing(open);
        if (turn && open->device == turn->requester)
            open->device->displaced = true;
        else if (open->device->preparing)
            paging_poke(allocation->vidmm); /* its job may be waiting with the joining ones */
    }
}

NTSTATUS readiness_arrive(struct vidmm_allocation *allocation)
{
    struct vidmm *vidmm = allocation->vidmm;
    NTSTATUS status;

    vidmm_assert_locked(allocation->vidmm);
    allocation->resident = true;
    status = space_allocation_placed(vidmm, allocation);
    if (!NT_SUCCESS(status)) {
        allocation->resident = false;
        space_allocation_placed(vidmm, allocation);
        return status;
    }
    if (allocation->flags.Capture && !allocation->victim.captured) {
        allocation->victim.captured = true; /* ALLOC-054: it is not moved from now on */
        allocation->pins++;
    }
    vidmm_tell_placed(allocation);
    chronicle_placed(allocation);
    budget_placed(allocation);
    demotion_note(allocation);
    allocation->arrival.busy_ticket = paging_ticket_now(vidmm);
    allocation->arrival.pending = true;
    allocation->arrival.deferred.fn = arrived;
    victim_update(allocation);
    paging_defer(vidmm, &allocation->arrival.deferred);
    return STATUS_SUCCESS;
}
