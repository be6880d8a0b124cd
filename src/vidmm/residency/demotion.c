/* SPDX-License-Identifier: MIT */
#include "vidmm/residency/demotion.h"
#include "util/list.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/segment_record.h"
#include "vidmm/segment/segment.h"

void demotion_note(struct vidmm_allocation *allocation)
{
    UINT order[VIDMM_MAX_SEGMENTS];
    UINT down;
    struct vidmm_segment *best;

    list_remove(&allocation->victim.demoted_link);
    if (!segment_order(allocation, order, &down))
        return;
    best = &allocation->vidmm->segment[order[0]];
    if (allocation->segment == order[0] || segment_is_aperture(best) || allocation->pins)
        return;
    list_push_back(&best->demoted, &allocation->victim.demoted_link);
}

void demotion_displaced(struct vidmm_allocation *allocation, struct vidmm_segment *segment)
{
    list_push_front(&segment->demoted, &allocation->victim.demoted_link);
}
