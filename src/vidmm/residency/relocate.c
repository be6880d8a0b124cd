/* SPDX-License-Identifier: MIT */
/*
 * Copying an allocation to another place in its memory segment, for adapters whose paging node
 * supports that (MovePagingSupported).
 */
#include "vidmm/residency/relocate.h"
#include "util/alloc.h"
#include "util/extent.h"
#include "vidmm/content/content.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/segment_record.h"
#include "vidmm/record/vidmm_run.h"
#include "vidmm/residency/readiness.h"
#include "vidmm/residency/victim.h"
#include "vidmm/segment/segment.h"
#include "vidmm/space/va_mapping.h"

static uint64_t run_pages(const struct vidmm_allocation *allocation)
{
    uint64_t pages = 0;

    for (uint32_t i = 0; i < allocation->run_count; i++)
        pages += allocation->runs[i].pages;
    return pages;
}

/* Allocate memory for it outside the hole: free pages inside the hole are taken temporarily. */
static NTSTATUS take_outside(struct vidmm_allocation *allocation, uint64_t hole, uint64_t pages,
                             struct vidmm_run **runs, uint32_t *run_count)
{
    struct vidmm_segment *segment = &allocation->vidmm->segment[allocation->segment];
    bool contiguous = allocation->accessed_physically || !allocation->vidmm->config.gpu_mmu;
    struct {
        uint64_t first, pages;
    } held[64];
    unsigned count = 0;
    uint64_t from = hole;
    uint64_t first;
    uint64_t size;
    NTSTATUS status = STATUS_SUCCESS;

    while (NT_SUCCESS(status) && extent_next(&segment->free, from, &first, &size) &&
           first < hole + pages) {
        uint64_t end = first + size < hole + pages ? first + size : hole + pages;

        first = first < hole ? hole : first;
        if (count == sizeof(held) / sizeof(held[0]))
            status = STATUS_NO_MEMORY;
        else if (!extent_take_fixed(&segment->free, first, end - first))
            status = STATUS_INSUFFICIENT_RESOURCES;
        else
            held[count].first = first, held[count++].pages = end - first;
        from = end;
    }
    if (NT_SUCCESS(status))
        status = segment_take(segment, run_pages(allocation), allocation->alignment, contiguous,
                              false, runs, run_count);
    while (count--)
        extent_give(&segment->free, held[count].first, held[count].pages);
    return status;
}

NTSTATUS relocate_in_segment(struct paging_turn *turn, struct vidmm_allocation *allocation,
                             uint64_t hole, uint64_t pages)
{
    struct vidmm *vidmm = allocation->vidmm;
    struct vidmm_run *from = allocation->runs;
    uint32_t from_count = allocation->run_count;
    struct vidmm_run *to;
    uint32_t to_count;
    NTSTATUS status = take_outside(allocation, hole, pages, &to, &to_count);

    if (!NT_SUCCESS(status))
        return status;
    allocation->absence = ABSENCE_MOVED;
    readiness_end(turn, allocation);
    status = space_allocation_placed(vidmm, allocation);
    if (NT_SUCCESS(status))
        status = content_move(allocation, from, from_count, to, to_count);
    if (NT_SUCCESS(status))
        status = content_notify(allocation, to);
    if (!NT_SUCCESS(status)) {
        segment_give(vidmm, to, to_count);
        util_free(to);
        victim_update(allocation);
        return status; /* it is parked at its old place */
    }
    segment_give(vidmm, from, from_count);
    chronicle_left(allocation, ABSENCE_MOVED);
    util_free(from);
    allocation->runs = to;
    allocation->run_count = to_count;
    status = readiness_arrive(allocation);
    victim_update(allocation);
    return status;
}
