/* SPDX-License-Identifier: MIT */
/*
 * Promotion (RES-055). An allocation that was placed in a less preferred segment is moved to its
 * first choice when memory appears there and no GPU work uses it. Each memory segment has a list of
 * such allocations. When memory of a segment is freed, the worker looks at that list as background
 * work. There it also finds what it has moved out of the segment only to make a hole for another
 * (RES-057), and brings it in again.
 */
#include "vidmm/residency/promotion.h"
#include "util/address.h"
#include "util/extent.h"
#include "util/list.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/residency/budget.h"
#include "vidmm/residency/cpu_view.h"
#include "vidmm/residency/placement.h"
#include "vidmm/residency/victim.h"
#include "vidmm/segment/segment.h"

#define TRIES 16u /* allocations to examine in one step; the rest waits for the next time */

static bool has_room(const struct vidmm *vidmm, const struct vidmm_segment *segment,
                     const struct vidmm_allocation *allocation)
{
    uint64_t pages = segment_pages(segment, segment->flags.PitchAlignment ? allocation->pitch_pages
                                                                          : allocation->pages);

    if (pages == 0 || !budget_allows(allocation, segment->id))
        return false; /* 0: its pitch is none of the segment's */
    if (allocation->accessed_physically || !vidmm->config.gpu_mmu)
        return extent_largest(&segment->free) >= pages + (allocation->alignment >> PAGE_BITS);
    return segment->free.free_units >= pages;
}

static void promote(struct paging_turn *turn, struct vidmm *vidmm,
                    struct vidmm_allocation *allocation)
{
    /* Evict it and make it resident again. If the second fails, it is made resident
     * before its devices run. */
    allocation->absence = ABSENCE_MOVED;
    if (NT_SUCCESS(placement_move_out(turn, vidmm, allocation, true)) &&
        allocation->device_references)
        (void)placement_bring_in(turn, vidmm, allocation);
}

static bool may_return(const struct vidmm_allocation *allocation)
{
    return !allocation->destroyed && !allocation->offer.in_force && !allocation->arrival.alone;
}

static bool step(struct paging_turn *turn, struct vidmm *vidmm, struct vidmm_segment *segment)
{
    unsigned tries = 0;

    LIST_FOR(node, &segment->demoted) {
        struct vidmm_allocation *allocation = CONTAINER(node, struct vidmm_allocation,
                                                        victim.demoted_link);

        const bool room = has_room(vidmm, segment, allocation);

        if (!room && !allocation->runs)
            continue;
        if (!room || ++tries > TRIES)
            break;
        if (!allocation->runs && may_return(allocation)) {
            if (!NT_SUCCESS(placement_put(turn, allocation, segment->id)))
                list_remove(&allocation->victim.demoted_link); /* until it is needed */
            return true;
        }
        if (allocation->ready && allocation->device_references &&
            !allocation->arrival.alone && /* idle work suspends nobody (ALLOC-055) */
            victim_movable(turn, allocation, true) && !cpu_view_forbids(allocation, segment)) {
            promote(turn, vidmm, allocation);
            if (allocation->segment != segment->id)
                segment->space_appeared = false; /* the room is in pieces of the wrong alignment */
            return true;
        }
    }
    segment->space_appeared = false;
    return false;
}

bool promotion_step(struct paging_turn *turn, struct vidmm *vidmm)
{
    for (UINT id = 1; id <= vidmm->segment_count; id++)
        if (vidmm->segment[id].space_appeared && step(turn, vidmm, &vidmm->segment[id]))
            return true;
    return false;
}
