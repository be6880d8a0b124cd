/* SPDX-License-Identifier: MIT */
/*
 * What is evicted when a segment is full (RES-053). A victim is the allocation chosen.
 *
 *   1  offered allocations, LOW before NORMAL before HIGH; content dropped  segment->victims
 *   2  allocations that no device lists, GPU work done; last those that     segment->victims
 *      queued updates map
 *   3  lists of devices that are idle, or suspended for this job            device->listed[segment]
 *
 *   4  page tables of processes whose devices are, all, idle or           space->tables.placed
 *      suspended (space/table_residency.c)
 *
 * Classes 3 and 4 are one where priorities decide; tables have TABLE_PRIORITY. Of the spaces the
 * one goes first whose process used the GPU least recently.
 *
 * The list of the device for which memory is needed is safe, with one exception: less important
 * members that fit in another segment are moved there for more important ones, as long as the whole
 * list still fits (eviction_make_way).
 *
 * Within a class, lower priority goes first, then least recently used. Allocations that are pinned,
 * or that unfinished GPU work may use, are never evicted. In class 3, a newcomer that could go to
 * another segment does not evict anything of higher priority (RES-054). All orders are trees, so
 * finding a victim costs O(log allocations) in classes 1 and 2, and O(devices) in class 3.
 *
 * If enough pages are free, but not contiguous, allocations are moved together before anything is
 * evicted (compact.c).
 *
 * If only running devices are left, they may become idle, so the job first waits (STATUS_RETRY; the
 * worker limits the time). Then the process of the least recently used device is suspended, its
 * work in flight finishes, and its devices count as idle for this job. Their lists are made
 * resident again before they run (RES-050). A device whose list has just become complete is not
 * evicted until it has run something. So two devices that do not fit together take turns, and
 * neither starves.
 */
#include "vidmm/residency/eviction.h"
#include "sim/machine.h"
#include "trace/trace.h"
#include "util/address.h"
#include "util/extent.h"
#include "util/list.h"
#include "util/order.h"
#include "vidmm/paging/paging_worker.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/device_record.h"
#include "vidmm/record/open_record.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/segment_record.h"
#include "vidmm/residency/budget.h"
#include "vidmm/residency/compact.h"
#include "vidmm/residency/placement.h"
#include "vidmm/residency/portion.h"
#include "vidmm/residency/table_victim.h"
#include "vidmm/residency/victim.h"
#include "vidmm/segment/segment.h"
#include "vidmm/space/address_space.h"
#include "vidmm/space/table_residency.h"

/* Class 3. `limit`: the highest priority that may be evicted. */
static struct vidmm_allocation *listed_victim(struct paging_turn *turn, struct vidmm *vidmm,
                                              UINT segment, UINT limit)
{
    struct vidmm_allocation *best = NULL;
    uint64_t best_used = 0;

    LIST_FOR(link, &vidmm->devices) {
        struct vidmm_device *device = CONTAINER(link, struct vidmm_device, link);
        struct order_node *node = order_first(&device->listed[segment]);

        if (!node || device == turn->requester || !victim_device_idle(device))
            continue;
        for (; node; node = order_next(node)) {
            struct vidmm_allocation *allocation =
                CONTAINER(node, struct vidmm_open, order)->allocation;

            if (allocation->priority > limit)
                break;
            if (!victim_movable(turn, allocation, false))
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

/* The exception for the requester's own list: a member that is less important than the newcomer,
 * and whose charge fits another segment. */
static struct vidmm_open *own_victim(struct paging_turn *turn, UINT segment,
                                     const struct vidmm_allocation *newcomer)
{
    struct vidmm_device *device = turn->requester;

    if (!device || !newcomer || !victim_device_idle(device))
        return NULL;
    for (struct order_node *node = order_first(&device->listed[segment]); node;
         node = order_next(node)) {
        struct vidmm_open *open = CONTAINER(node, struct vidmm_open, order);

        if (open->allocation->priority >= newcomer->priority)
            break;
        if (open->allocation->device_references == 1 &&
            victim_movable(turn, open->allocation, true) && budget_fits_elsewhere(open, segment))
            return open;
    }
    return NULL;
}

NTSTATUS eviction_make_way(struct paging_turn *turn, const struct vidmm_allocation *newcomer,
                           UINT segment)
{
    struct vidmm *vidmm = newcomer->vidmm;

    while (!budget_allows(newcomer, segment)) {
        struct vidmm_open *open = own_victim(turn, segment, newcomer);
        NTSTATUS status;

        if (!open)
            return STATUS_NO_MEMORY;
        open->allocation->absence = ABSENCE_DEMOTED;
        vidmm->chronicle.room_for = newcomer->number.of_all;
        status = placement_move_out(turn, vidmm, open->allocation, true);
        vidmm->chronicle.room_for = 0;
        if (!NT_SUCCESS(status))
            return status;
        budget_charge_elsewhere(open, segment);
    }
    return STATUS_SUCCESS;
}

static struct vidmm_allocation *pick_victim(struct paging_turn *turn, struct vidmm *vidmm,
                                            const struct room_request *room)
{
    struct order_node *node;
    struct vidmm_allocation *victim;

    while ((node = order_first(&room->segment->victims)) != NULL) {
        victim = CONTAINER(node, struct vidmm_allocation, victim.node);
        if (victim->pins == 0)
            return victim;
        victim_update(victim); /* it was pinned after it was added */
    }
    victim = listed_victim(turn, vidmm, room->segment->id,
                           room->newcomer && !room->last ? room->newcomer->priority : UINT32_MAX);
    return victim;
}

/* Nothing can be evicted now. STATUS_RETRY: that may change. */
static NTSTATUS prospects(struct paging_turn *turn, struct vidmm *vidmm,
                          const struct room_request *room)
{
    const struct vidmm_segment *segment = room->segment;
    struct vidmm_device *oldest = NULL;
    bool running = false;

    LIST_FOR(link, &vidmm->devices) {
        struct vidmm_device *device = CONTAINER(link, struct vidmm_device, link);

        /* The requester counts, too: if it did not run, its allocations could be moved. */
        if ((!device->listed[segment->id].root &&
             !(device->process->space && table_victim_for(turn, room, device->process->space))) ||
            victim_device_idle(device))
            continue;
        running = true;
        if (device->granted_until <= sim_now() && (!oldest || device->used_at < oldest->used_at))
            oldest = device;
    }
    if (running) {
        turn->retry_at = sim_now();
        if (turn->impatient && oldest)
            turn->suspend = oldest->process;
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

static NTSTATUS evict(struct paging_turn *turn, struct vidmm *vidmm,
                      const struct room_request *room, struct vidmm_allocation *victim)
{
    bool keep = !victim->offer.in_force;
    NTSTATUS status;

    victim->absence = keep ? ABSENCE_ROOM : ABSENCE_OFFERED;
    vidmm->chronicle.room_for = room && room->newcomer ? room->newcomer->number.of_all : 0;
    status = placement_move_out(turn, vidmm, victim, keep);
    vidmm->chronicle.room_for = 0;
    if (NT_SUCCESS(status) && !keep)
        trace_instant(vidmm->track, "discard", "bytes", victim->pages << PAGE_BITS, NULL, 0);
    return status;
}

/* Enough tables for the request, or all of one space. */
static bool evict_tables(struct paging_turn *turn, struct vidmm *vidmm,
                         const struct room_request *room)
{
    struct vidmm_space *space = table_victim_pick(turn, vidmm, room);
    const uint64_t there = room->segment->free.free_units,
                   pages = room->pages > there ? room->pages - there : 1;

    return space && tables_evict(space, room->segment->id, pages) > 0;
}

NTSTATUS eviction_make_room(struct paging_turn *turn, struct vidmm *vidmm,
                            const struct room_request *room)
{
    paging_assert_builder(vidmm);
    /* RES-057 */
    if (room->contiguous && room->segment->free.free_units >= room->pages && commits(vidmm, room)) {
        NTSTATUS status = compact_make_hole(turn, vidmm, room);

        if (status == STATUS_NO_MEMORY && portion_unlist_all(vidmm))
            status = compact_make_hole(turn, vidmm, room);
        if (status != STATUS_NO_MEMORY)
            return status;
    }
    do {
        struct vidmm_allocation *victim = pick_victim(turn, vidmm, room);
        NTSTATUS status;

        if (!victim && portion_unlist_all(vidmm))
            victim = pick_victim(turn, vidmm, room);
        if (victim && victim->priority <= TABLE_PRIORITY)
            status = evict(turn, vidmm, room, victim);
        else if (evict_tables(turn, vidmm, room))
            status = STATUS_SUCCESS;
        else
            status = victim ? evict(turn, vidmm, room, victim) : prospects(turn, vidmm, room);
        if (!NT_SUCCESS(status))
            return status;
    } while (!enough(vidmm, room));
    return STATUS_SUCCESS;
}

NTSTATUS eviction_clear(struct paging_turn *turn, struct vidmm *vidmm, UINT segment)
{
    const struct room_request room = {.segment = &vidmm->segment[segment], .last = true};
    struct vidmm_allocation *victim;
    struct vidmm_space *space;
    NTSTATUS status = STATUS_SUCCESS;

    while (NT_SUCCESS(status) && (victim = pick_victim(turn, vidmm, &room)) != NULL)
        status = evict(turn, vidmm, NULL, victim);
    while (NT_SUCCESS(status) && (space = table_victim_pick(turn, vidmm, &room)) != NULL &&
           tables_evict(space, segment, UINT64_MAX) > 0)
        ;
    return status;
}

const struct room_maker eviction_room_maker = {.make_room = eviction_make_room,
                                               .make_way = eviction_make_way};
