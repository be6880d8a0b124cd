/* SPDX-License-Identifier: MIT */
/* What there is when a recording of events ends, and the segments when it begins. */
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/dxgkrnl_events.h"
#include "vidmm/record/dxgkrnl_objects.h"
#include "vidmm/record/open_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/segment/segment.h"
#include "vidmm/vidmm.h"

void vidmm_tell_segments(const struct vidmm *vidmm)
{
    if (!wintrace_on())
        return;
    for (UINT id = 1; id <= vidmm->segment_count; id++) {
        const struct vidmm_segment *segment = &vidmm->segment[id];

        wintrace_emit(WINTRACE_SEGMENT, id, vidmm_adapter_handle(vidmm), segment->base,
                      segment->cpu.value, segment->bytes, 0, segment->flags.Value,
                      segment->commit_limit, 0, (uint64_t)segment_group(vidmm, id));
    }
}

void vidmm_tell_all(const struct vidmm *vidmm)
{
    if (!wintrace_on())
        return;
    vidmm_tell_segments(vidmm);
    LIST_FOR(link, &vidmm->allocations) {
        const struct vidmm_allocation *allocation = CONTAINER(link, struct vidmm_allocation, link);

        vidmm_tell_allocation(allocation, ALLOCATION_LISTED);
        LIST_FOR(node, &allocation->opens)
            vidmm_tell_open(CONTAINER(node, struct vidmm_open, link), ALLOCATION_LISTED);
    }
}
