/* SPDX-License-Identifier: MIT */
/*
 * Whose memory is taken when a segment is full (RES-053).
 *
 *   1  offered allocations, LOW before NORMAL before HIGH; content dropped   segment->victims
 *   2  allocations that no device lists, GPU work done                       segment->victims
 *   3  lists of devices that are idle, or suspended for this                 device->listed[segment]
 *
 * The list of the device that memory is sought for is safe, with one exception: less important
 * members that fit in another segment make way for more important ones, as long as the list as a
 * whole fits (eviction_make_way).
 *
 * Inside a class lower priority first, then least recently used. Never: what is pinned, and what
 * unfinished GPU work may use. In class 3 a newcomer that has another choice of segment does not
 * drive out what has a higher priority (RES-054). All orders are trees, so finding a victim costs
 * O(log allocations) in classes 1 and 2 and O(devices) in the others.
 *
 * Where enough is free but not in one piece, allocations are moved out of the way before anything
 * is evicted (compact.c).
 *
 * When only running devices are left, the job first waits (STATUS_RETRY) as long as the worker's
 * patience lasts, since they may become idle; then the least recently used of their processes is
 * suspended, its work in flight finishes, and its devices count as idle for this job. They are made
 * complete again before they run (RES-050). A device that has just become complete is spared until
 * it has run something, so that two devices that do not fit together take turns instead of
 * starving.
 */
#include "vidmm/eviction.h"
#include "sim/sim.h"
#include "trace/trace.h"
#include "util/address.h"
#include "util/extent.h"
#include "util/list.h"
#include "vidmm/allocation_record.h"
#include "vidmm/budget.h"
#include "vidmm/compact.h"
#include "vidmm/device_record.h"
#include "vidmm/open_record.h"
#include "vidmm/order.h"
#include "vidmm/placement.h"
#include "vidmm/portion.h"
#include "vidmm/process_record.h"
#include "vidmm/scheduler.h"
#include "vidmm/segment.h"
#include "vidmm/segment_record.h"

enum victim_class { VICTIM_OFFERED, VICTIM_UNLISTED, VICTIM_LOCKED };

/* ---- the orders ---- */

static uint64_t offer_rank(const struct vidmm_allocation *allocation)
{
    switch (allocation->offer_priority) {
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
    uint64_t class = allocation->lock_count ? VICTIM_LOCKED : VICTIM_UNLISTED;

    if (allocation->offer_in_force)
        return (uint64_t)VICTIM_OFFERED << 34 | offer_rank(allocation) << 32 | allocation->priority;
    return class << 34 | allocation->priority;
}

static void take_out(struct vidmm_allocation *allocation)
{
    struct vidmm *vidmm = allocation->vidmm;

    if (allocation->victim_segment)
        order_remove(&vidmm->segment[allocation->victim_segment].victims, &allocation->victim_node);
    if (allocation->leaving_segment)
        vidmm->segment[allocation->leaving_segment].leaving--;
    allocation->victim_segment = allocation->leaving_segment = 0;
    LIST_FOR(node, &allocation->opens) {
        struct vidmm_open *open = CONTAINER(node, struct vidmm_open, link);

        if (open->ordered)
            order_remove(&open->device->listed[open->order_segment], &open->order);
        open->ordered = false;
    }
}

void eviction_update(struct vidmm_allocation *allocation)
{
    struct vidmm *vidmm = allocation->vidmm;
    UINT segment = allocation->segment;

    take_out(allocation);
    if (!allocation->runs || segment == 0 || allocation->pins || allocation->destroyed)
        return;
    if (allocation->device_references == 0 || allocation->offer_in_force) {
        if (allocation->users) {
            vidmm->segment[segment].leaving++;
            allocation->leaving_segment = segment;
        } else {
            order_insert(&vidmm->segment[segment].victims, &allocation->victim_node,
                         victim_key(allocation), allocation->released_at);
            allocation->victim_segment = segment;
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

/* ---- who may lose memory ---- */

bool eviction_device_idle(struct vidmm_device *device)
{
    const struct vidmm *vidmm = device->process->vidmm;

    return device->lost || device->process->suspended ||
           vidmm->scheduler->device_done(device, vidmm->scheduler->device_ticket(device));
}

NTSTATUS eviction_need_idle(struct vidmm_allocation *allocation)
{
    struct vidmm *vidmm = allocation->vidmm;

    if (allocation->users)
        return STATUS_RETRY;
    LIST_FOR(node, &allocation->opens) {
        struct vidmm_open *open = CONTAINER(node, struct vidmm_open, link);

        if (!open->residency_count || eviction_device_idle(open->device))
            continue;
        vidmm->suspend = open->device->process;
        return STATUS_RETRY;
    }
    return STATUS_SUCCESS;
}

/* No client's GPU work can touch it. `own`: the list of the device that memory is sought for does
 * not protect it. */
bool eviction_movable(const struct vidmm_allocation *allocation, bool own)
{
    const struct vidmm *vidmm = allocation->vidmm;

    if (allocation->users || allocation->lock_count || allocation->pins)
        return false;
    LIST_FOR(node, &allocation->opens) {
        struct vidmm_open *open = CONTAINER(node, struct vidmm_open, link);

        if (open->residency_count &&
            ((open->device == vidmm->requester && !own) || !eviction_device_idle(open->device)))
            return false;
    }
    return true;
}

/* Class 3: `limit` is the highest priority that may go. */
static struct vidmm_allocation *listed_victim(struct vidmm *vidmm, UINT segment, UINT limit)
{
    struct vidmm_allocation *best = NULL;
    uint64_t best_used = 0;

    LIST_FOR(link, &vidmm->devices) {
        struct vidmm_device *device = CONTAINER(link, struct vidmm_device, link);
        struct order_node *node = order_first(&device->listed[segment]);

        if (!node || device == vidmm->requester || !eviction_device_idle(device))
            continue;
        for (; node; node = order_next(node)) {
            struct vidmm_allocation *allocation =
                CONTAINER(node, struct vidmm_open, order)->allocation;

            if (allocation->priority > limit)
                break;
            if (!eviction_movable(allocation, false))
                continue;
            if (!best || allocation->priority < best->priority ||
                (allocation->priority == best->priority && device->used_at < best_used)) {
                best = allocation;
                best_used = device->used_at;
            }
            break;
        }
    }
    return best;
}

/* Class 4: of the requester, less important than the newcomer, and in the reckoning has room
 * elsewhere. */
static struct vidmm_open *own_victim(struct vidmm *vidmm, UINT segment,
                                     const struct vidmm_allocation *newcomer)
{
    struct vidmm_device *device = vidmm->requester;

    if (!device || !newcomer || !eviction_device_idle(device))
        return NULL;
    for (struct order_node *node = order_first(&device->listed[segment]); node;
         node = order_next(node)) {
        struct vidmm_open *open = CONTAINER(node, struct vidmm_open, order);

        if (open->allocation->priority >= newcomer->priority)
            break;
        if (open->allocation->device_references == 1 && eviction_movable(open->allocation, true) &&
            budget_fits_elsewhere(open, segment))
            return open;
    }
    return NULL;
}

NTSTATUS eviction_make_way(const struct vidmm_allocation *newcomer, UINT segment)
{
    struct vidmm *vidmm = newcomer->vidmm;

    while (!budget_allows(newcomer, segment)) {
        struct vidmm_open *open = own_victim(vidmm, segment, newcomer);
        NTSTATUS status;

        if (!open)
            return STATUS_NO_MEMORY;
        status = residency_move_out(vidmm, open->allocation, true);
        if (!NT_SUCCESS(status))
            return status;
        budget_charge_elsewhere(open, segment);
    }
    return STATUS_SUCCESS;
}

static struct vidmm_allocation *pick_victim(struct vidmm *vidmm, const struct room_request *room)
{
    struct order_node *node;
    struct vidmm_allocation *victim;

    while ((node = order_first(&room->segment->victims)) != NULL) {
        victim = CONTAINER(node, struct vidmm_allocation, victim_node);
        if (victim->pins == 0)
            return victim;
        eviction_update(victim); /* pinned since it got there */
    }
    victim = listed_victim(vidmm, room->segment->id,
                           room->newcomer && !room->last ? room->newcomer->priority : UINT32_MAX);
    return victim;
}

/* Nothing can go now: will it later? */
static NTSTATUS prospects(struct vidmm *vidmm, const struct vidmm_segment *segment)
{
    struct vidmm_device *oldest = NULL;
    bool running = false;

    LIST_FOR(link, &vidmm->devices) {
        struct vidmm_device *device = CONTAINER(link, struct vidmm_device, link);

        /* Of the requester itself something could be moved, too, if it did not run. */
        if (!device->listed[segment->id].root || eviction_device_idle(device))
            continue;
        running = true;
        if (device->granted_until <= sim_now() && (!oldest || device->used_at < oldest->used_at))
            oldest = device;
    }
    if (running) {
        vidmm->retry_at = sim_now();
        if (vidmm->impatient && oldest)
            vidmm->suspend = oldest->process;
        return STATUS_RETRY;
    }
    return segment->leaving ? STATUS_RETRY : STATUS_NO_MEMORY;
}

static bool commits(const struct vidmm *vidmm, const struct room_request *room)
{
    return !segment_is_aperture(room->segment) ||
           segment_aperture_commits(vidmm, room->segment, room->pages << PAGE_BITS);
}

static bool enough(const struct vidmm *vidmm, const struct room_request *room)
{
    const struct vidmm_segment *segment = room->segment;

    return commits(vidmm, room) && segment->free.free_units >= room->pages &&
           (!room->contiguous || extent_largest(&segment->free) >= room->pages);
}

static NTSTATUS evict(struct vidmm *vidmm, struct vidmm_allocation *victim)
{
    bool keep = !victim->offer_in_force;
    NTSTATUS status = residency_move_out(vidmm, victim, keep);

    if (NT_SUCCESS(status) && !keep) {
        victim->discarded = true;
        trace_instant(vidmm->track, "discard", "bytes", victim->pages << PAGE_BITS, NULL, 0);
    }
    return status;
}

NTSTATUS residency_make_room(struct vidmm *vidmm, const struct room_request *room)
{
    /* RES-057 */
    if (room->contiguous && room->segment->free.free_units >= room->pages && commits(vidmm, room)) {
        NTSTATUS status = compact(vidmm, room);

        if (status != STATUS_NO_MEMORY)
            return status;
    }
    do {
        struct vidmm_allocation *victim = pick_victim(vidmm, room);
        NTSTATUS status;

        if (!victim && portion_unlist_all(vidmm))
            victim = pick_victim(vidmm, room);
        status = victim ? evict(vidmm, victim) : prospects(vidmm, room->segment);
        if (!NT_SUCCESS(status))
            return status;
    } while (!enough(vidmm, room));
    return STATUS_SUCCESS;
}

NTSTATUS eviction_clear(struct vidmm *vidmm, UINT segment)
{
    const struct room_request room = {.segment = &vidmm->segment[segment], .last = true};
    struct vidmm_allocation *victim;
    NTSTATUS status = STATUS_SUCCESS;

    while (NT_SUCCESS(status) && (victim = pick_victim(vidmm, &room)) != NULL)
        status = evict(vidmm, victim);
    return status;
}
