/* SPDX-License-Identifier: MIT */
/*
 * The orders in which eviction looks for victims (eviction.c), and whether an allocation may be
 * evicted now. An allocation is in the order of its segment, or in those of the devices that list
 * it. victim_update moves it whenever its place, references or priority change.
 */
#include "vidmm/residency/victim.h"
#include "util/list.h"
#include "util/order.h"
#include "verify/refusal.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/device_record.h"
#include "vidmm/record/open_record.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/record/vidmm_scheduler.h"

enum victim_class { VICTIM_OFFERED, VICTIM_UNLISTED, VICTIM_LOCKED, VICTIM_QUEUED };

/* ---- the orders ---- */

static uint64_t offer_rank(const struct vidmm_allocation *allocation)
{
    switch (allocation->offer.priority) {
    case D3DKMT_OFFER_PRIORITY_LOW:
        return 0;
    case D3DKMT_OFFER_PRIORITY_HIGH:
        return 2;
    case D3DKMT_OFFER_PRIORITY_AUTO: /* RES-066: by the eviction priority */
        return allocation->priority < D3DDDI_ALLOCATIONPRIORITY_NORMAL    ? 0
               : allocation->priority == D3DDDI_ALLOCATIONPRIORITY_NORMAL ? 1
                                                                          : 2;
    default:
        return 1;
    }
}

static uint64_t victim_key(const struct vidmm_allocation *allocation)
{
    uint64_t class = allocation->claims.queued     ? VICTIM_QUEUED
                     : allocation->view.lock_count ? VICTIM_LOCKED
                                                   : VICTIM_UNLISTED;

    if (allocation->offer.in_force)
        return (uint64_t)VICTIM_OFFERED << 34 | offer_rank(allocation) << 32 | allocation->priority;
    return class << 34 | allocation->priority;
}

static void take_out(struct vidmm_allocation *allocation)
{
    struct vidmm *vidmm = allocation->vidmm;

    if (allocation->victim.segment)
        order_remove(&vidmm->segment[allocation->victim.segment].victims, &allocation->victim.node);
    if (allocation->victim.leaving_segment)
        vidmm->segment[allocation->victim.leaving_segment].leaving--;
    allocation->victim.segment = allocation->victim.leaving_segment = 0;
    LIST_FOR(node, &allocation->opens) {
        struct vidmm_open *open = CONTAINER(node, struct vidmm_open, link);

        if (open->ordered)
            order_remove(&open->device->listed[open->order_segment], &open->order);
        open->ordered = false;
    }
}

void victim_update(struct vidmm_allocation *allocation)
{
    struct vidmm *vidmm = allocation->vidmm;
    UINT segment = allocation->segment;

    vidmm_assert_locked(vidmm);
    take_out(allocation);
    if (!allocation->runs || segment == 0 || allocation->pins || allocation->destroyed)
        return;
    if (allocation->device_references == 0 || allocation->offer.in_force) {
        if (allocation->users) {
            vidmm->segment[segment].leaving++;
            allocation->victim.leaving_segment = segment;
        } else {
            order_insert(&vidmm->segment[segment].victims, &allocation->victim.node,
                         victim_key(allocation), allocation->victim.released_at);
            allocation->victim.segment = segment;
        }
        return;
    }
    LIST_FOR(node, &allocation->opens) {
        struct vidmm_open *open = CONTAINER(node, struct vidmm_open, link);

        if (!open->residency_count)
            continue;
        order_insert(&open->device->listed[segment], &open->order, allocation->priority,
                     open->listed_at);
        open->order_segment = segment;
        open->ordered = true;
    }
}

/* ---- who may be evicted ---- */

bool victim_device_idle(struct vidmm_device *device)
{
    const struct vidmm *vidmm = device->process->vidmm;

    return device->lost || device->process->suspended ||
           (vidmm->scheduler->device_done(device, vidmm->scheduler->device_ticket(device)) &&
            !vidmm->scheduler->device_rings(device));
}

NTSTATUS victim_need_idle(struct paging_turn *turn, struct vidmm_allocation *allocation)
{
    if (allocation->users)
        return STATUS_RETRY;
    LIST_FOR(node, &allocation->opens) {
        struct vidmm_open *open = CONTAINER(node, struct vidmm_open, link);

        if (!open->residency_count || victim_device_idle(open->device))
            continue;
        turn->suspend = open->device->process;
        return STATUS_RETRY;
    }
    return STATUS_SUCCESS;
}

NTSTATUS victim_need_free(struct paging_turn *turn, struct vidmm_allocation *allocation)
{
    if (allocation->victim.captured)
        return refuse(STATUS_GRAPHICS_CANT_EVICT_PINNED_ALLOCATION, "ALLOC-054",
                      "the allocation is pinned in segment %u", allocation->segment);
    if (allocation->pins)
        return STATUS_RETRY; /* until a portion has run (PATCH-122) */
    return victim_need_idle(turn, allocation);
}

bool victim_movable(const struct paging_turn *turn, const struct vidmm_allocation *allocation,
                    bool own)
{
    if (allocation->users || allocation->view.lock_count || allocation->pins)
        return false;
    LIST_FOR(node, &allocation->opens) {
        struct vidmm_open *open = CONTAINER(node, struct vidmm_open, link);

        if (open->residency_count &&
            ((open->device == turn->requester && !own) || !victim_device_idle(open->device)))
            return false;
    }
    return true;
}
