/* SPDX-License-Identifier: MIT */
/*
 * DMA buffers and paging buffers in aperture segments (PATCH-040, PAGE-002). The scheduler owns the
 * frames. Here a buffer gets a range of the aperture, and the driver maps the frames there by a map
 * operation that names no allocation. The ranges count like everything else mapped in the aperture
 * (SEG-033, SEG-035), and are never moved.
 *
 * `place` is set as long as the range is allocated. `segment` is set only while the range is
 * mapped, that is, while it can be used as an address. So a paging buffer that contains the
 * operations for its own range uses its system address.
 */
#include "vidmm/residency/aperture_range.h"
#include "sim/machine.h"
#include "util/address.h"
#include "util/list.h"
#include "vidmm/content/content_mdl.h"
#include "vidmm/paging/paging.h"
#include "vidmm/paging/paging_worker.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/record/vidmm_run.h"
#include "vidmm/segment/segment.h"

struct range_job {
    struct vidmm_aperture_range *range;
    UINT set;
};

uint64_t vidmm_aperture_address(const struct vidmm *vidmm, const struct vidmm_aperture_range *range)
{
    return segment_physical(&vidmm->segment[range->segment], segment_page_addr(range->first));
}

uint64_t aperture_range_bytes(const struct vidmm *vidmm)
{
    uint64_t bytes = 0;

    LIST_FOR(node, &vidmm->aperture_ranges)
        bytes += CONTAINER(node, struct vidmm_aperture_range, link)->pages << PAGE_BITS;
    return bytes;
}

/* ---- operations ---- */

static NTSTATUS build_map(struct vidmm *vidmm, const struct vidmm_aperture_range *range)
{
    DXGKARG_BUILDPAGINGBUFFER op = {.Operation = DXGK_OPERATION_MAP_APERTURE_SEGMENT};
    struct mdl_block *block;
    NTSTATUS status;

    if (vidmm->config.caps.MapAperture2Supported) { /* CAPS-067 */
        op.Operation = DXGK_OPERATION_MAP_APERTURE_SEGMENT2;
        op.MapApertureSegment2.SegmentId = range->place;
        op.MapApertureSegment2.OffsetInPages = range->first;
        op.MapApertureSegment2.NumberOfPages = range->pages;
        op.MapApertureSegment2.Adl.PageCount = (UINT32)range->pages;
        op.MapApertureSegment2.Adl.Flags.Contiguous = 1;
        op.MapApertureSegment2.Adl.BasePageNumber = range->logical.value;
        return paging_build(vidmm, &op, NULL);
    }
    block = content_mdl_of_run(range->frame, range->pages);
    if (!block)
        return STATUS_NO_MEMORY;
    op.MapApertureSegment.SegmentId = range->place;
    op.MapApertureSegment.OffsetInPages = range->first;
    op.MapApertureSegment.NumberOfPages = range->pages;
    op.MapApertureSegment.pMdl = content_mdl(block);
    status = paging_build(vidmm, &op, NULL);
    content_mdl_defer_free(vidmm, block);
    return status;
}

static NTSTATUS build_unmap(struct vidmm *vidmm, const struct vidmm_aperture_range *range)
{
    DXGKARG_BUILDPAGINGBUFFER op = {.Operation = DXGK_OPERATION_UNMAP_APERTURE_SEGMENT};

    op.UnmapApertureSegment.SegmentId = range->place;
    op.UnmapApertureSegment.OffsetInPages = range->first;
    op.UnmapApertureSegment.NumberOfPages = range->pages;
    op.UnmapApertureSegment.DummyPage.QuadPart = (int64_t)(vidmm->dummy.page.value << PAGE_BITS);
    return paging_build(vidmm, &op, NULL);
}

/* ---- ranges ---- */

static NTSTATUS take_place(struct vidmm *vidmm, UINT id, struct vidmm_aperture_range *range)
{
    struct vidmm_segment *segment = &vidmm->segment[id];
    uint64_t bytes = range->pages << PAGE_BITS;
    struct vidmm_run run;
    NTSTATUS status;

    if (!segment_aperture_commits(vidmm, segment, bytes))
        return STATUS_NO_MEMORY;
    status = segment_take_pinned(vidmm, id, range->pages, 0, &run);
    if (!NT_SUCCESS(status))
        return status;
    vidmm->aperture_mapped += bytes;
    range->place = id;
    range->first = run.first;
    list_push_back(&vidmm->aperture_ranges, &range->link);
    return STATUS_SUCCESS;
}

static void give_place(struct vidmm *vidmm, struct vidmm_aperture_range *range)
{
    const struct vidmm_run run = {
        .segment = range->place, .first = range->first, .pages = range->pages};

    segment_give_pinned(vidmm, &run);
    vidmm->aperture_mapped -= range->pages << PAGE_BITS;
    range->place = range->segment = 0;
    list_remove(&range->link);
}

static NTSTATUS map_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    const struct range_job *job = arg;
    NTSTATUS status = STATUS_NO_MEMORY;

    (void)turn;
    for (UINT set = job->set; set && status == STATUS_NO_MEMORY; set &= set - 1)
        status = take_place(vidmm, 1u + (UINT)__builtin_ctz(set), job->range);
    if (!NT_SUCCESS(status))
        return status;
    status = build_map(vidmm, job->range);
    if (NT_SUCCESS(status))
        status = paging_settle(vidmm);
    if (!NT_SUCCESS(status))
        give_place(vidmm, job->range);
    else
        job->range->segment = job->range->place;
    return status;
}

static NTSTATUS unmap_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    struct vidmm_aperture_range *range = arg;
    NTSTATUS status;

    (void)turn;
    range->segment = 0;
    status = build_unmap(vidmm, range);
    if (NT_SUCCESS(status))
        status = paging_settle(vidmm); /* the caller may free the frames on return */
    give_place(vidmm, range);
    return status;
}

NTSTATUS vidmm_aperture_map(struct vidmm *vidmm, UINT set, struct vidmm_aperture_range *range)
{
    struct range_job job = {.range = range, .set = set};

    range->place = range->segment = 0;
    list_init(&range->link);
    return vidmm_status(paging_run(vidmm, map_job, &job));
}

void vidmm_aperture_unmap(struct vidmm *vidmm, struct vidmm_aperture_range *range)
{
    if (range->place && !sim_current->stopped)
        (void)paging_run(vidmm, unmap_job, range);
}

void aperture_ranges_lost(struct vidmm *vidmm)
{
    LIST_FOR(node, &vidmm->aperture_ranges)
        CONTAINER(node, struct vidmm_aperture_range, link)->segment = 0;
}

NTSTATUS aperture_ranges_restore(struct vidmm *vidmm)
{
    NTSTATUS status = STATUS_SUCCESS, settled;

    LIST_FOR(node, &vidmm->aperture_ranges) {
        NTSTATUS one = build_map(vidmm, CONTAINER(node, struct vidmm_aperture_range, link));

        if (NT_SUCCESS(status))
            status = one;
    }
    settled = paging_settle(vidmm);
    if (NT_SUCCESS(status))
        status = settled;
    if (!NT_SUCCESS(status))
        return status; /* their system addresses continue to be used */
    LIST_FOR(node, &vidmm->aperture_ranges) {
        struct vidmm_aperture_range *range = CONTAINER(node, struct vidmm_aperture_range, link);

        range->segment = range->place;
    }
    return status;
}
