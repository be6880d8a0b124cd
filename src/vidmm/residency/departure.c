/* SPDX-License-Identifier: MIT */
/*
 * The paging worker's background work: first, allocations that a client has evicted are moved out
 * of their segment (RES-027); then, demoted allocations are moved to a better segment
 * (promotion.c).
 */
#include "vidmm/residency/departure.h"
#include "util/list.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/residency/placement.h"
#include "vidmm/residency/promotion.h"

static void departure_add(struct vidmm_allocation *allocation)
{
    if (list_empty(&allocation->victim.leave_link))
        list_push_back(&allocation->vidmm->departures, &allocation->victim.leave_link);
}

void departure_consider(struct vidmm_allocation *allocation)
{
    if (allocation->victim.leave && allocation->users == 0 && allocation->device_references == 0 &&
        allocation->runs)
        departure_add(allocation);
}

void departure_cancel(struct vidmm_allocation *allocation)
{
    allocation->victim.leave = false;
    list_remove(&allocation->victim.leave_link);
}

/* False: there is no allocation to move out. */
static bool depart(struct paging_turn *turn, struct vidmm *vidmm)
{
    struct list *node = list_pop_front(&vidmm->departures);
    struct vidmm_allocation *allocation;

    if (!node)
        return false;
    allocation = CONTAINER(node, struct vidmm_allocation, victim.leave_link);
    if (allocation->claims.queued)
        return true; /* it leaves when that is over */
    allocation->victim.leave = false;
    /* On failure it stays until its memory is needed. */
    if (allocation->device_references == 0 && allocation->pins == 0 && allocation->users == 0 &&
        !allocation->destroyed) {
        allocation->absence = ABSENCE_EVICTED;
        (void)placement_move_out(turn, vidmm, allocation, true);
    }
    return true;
}

static bool step(struct vidmm *vidmm, struct paging_turn *turn)
{
    return depart(turn, vidmm) || promotion_step(turn, vidmm);
}

static bool waiting(const struct vidmm *vidmm)
{
    return !list_empty(&vidmm->departures);
}

const struct paging_idle_work departure_idle_work = {.step = step, .waiting = waiting};
