/* SPDX-License-Identifier: MIT */
/*
 * Content operations, in the two families of the interface (PAGE-027).
 *
 *   GpuMmu adapters     VIRTUAL_TRANSFER, VIRTUAL_FILL: source and destination are first mapped in
 *                       the scratch area of the paging process. An allocation that is larger than
 *                       the scratch area, or has several unique driver protections, is processed in
 *                       chunks of ascending offset (PAGE-062).
 *   all others          TRANSFER, FILL, DISCARD_CONTENT: segment addresses include BaseAddress;
 *                       system memory is described by an MDL that stays valid until the paging
 *                       buffer has completed (PAGE-038), or mapped in an aperture that the driver
 *                       named for evictions (PAGE-039).
 */
#include <inttypes.h>

#include "vidmm/content/content.h"
#include "trace/trace.h"
#include "util/address.h"
#include "util/alloc.h"
#include "vidmm/content/aperture.h"
#include "vidmm/content/backing.h"
#include "vidmm/content/content_mdl.h"
#include "vidmm/paging/paging.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/dxgkrnl_events.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/record/vidmm_run.h"
#include "vidmm/segment/segment.h"
#include "vidmm/space/gpu_mmu.h"
#include "vidmm/space/scratch.h"
#include "vidmm/space/va_mapping.h"

static uint64_t minimum(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* ---- chunks ---- */

/* Write the runs of pages [page, page + pages) to `slice`, which has room for run_count elements.
 * Returns their number. */
static uint32_t slice_runs(const struct vidmm_run *runs, uint32_t run_count, uint64_t page,
                           uint64_t pages, struct vidmm_run *slice)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < run_count && pages; i++) {
        struct vidmm_run run = runs[i];

        if (page >= run.pages) {
            page -= run.pages;
            continue;
        }
        run.first += page;
        run.pages = minimum(run.pages - page, pages);
        page = 0;
        pages -= run.pages;
        slice[count++] = run;
    }
    return count;
}

/* Source or destination of an operation that is built in chunks. */
struct side {
    const struct vidmm_run *runs;
    uint32_t run_count;
    struct vidmm_run *slice;
};

static bool side_init(struct side *side, const struct vidmm_run *runs, uint32_t run_count)
{
    side->runs = runs;
    side->run_count = run_count;
    side->slice = util_alloc(run_count * sizeof(*side->slice));
    return side->slice != NULL;
}

static NTSTATUS side_map(struct side *side, struct vidmm_allocation *allocation, uint64_t page,
                         uint64_t pages, bool read_only, struct gpu_va *va)
{
    uint32_t count = slice_runs(side->runs, side->run_count, page, pages, side->slice);

    return scratch_map_allocation(allocation->vidmm, allocation, page, side->slice, count,
                                  read_only, va);
}

static uint64_t chunk_pages(const struct vidmm_allocation *allocation, uint64_t page)
{
    uint64_t pages = allocation->pages - page;

    space_driver_protection(allocation, page, &pages);
    pages = minimum(pages, allocation->pages - page);
    return minimum(pages, scratch_limit(allocation->vidmm));
}

static NTSTATUS fill_virtual(struct vidmm_allocation *allocation, const struct vidmm_run *runs,
                             uint32_t run_count)
{
    struct vidmm *vidmm = allocation->vidmm;
    struct side to;
    NTSTATUS status = STATUS_SUCCESS;

    if (!side_init(&to, runs, run_count))
        return STATUS_INSUFFICIENT_RESOURCES;
    for (uint64_t page = 0, pages; page < allocation->pages && NT_SUCCESS(status); page += pages) {
        DXGKARG_BUILDPAGINGBUFFER op = {.Operation = DXGK_OPERATION_VIRTUAL_FILL};
        struct gpu_va va;

        pages = chunk_pages(allocation, page);
        status = side_map(&to, allocation, page, pages, false, &va);
        if (!NT_SUCCESS(status))
            break;
        op.FillVirtual.hAllocation = allocation->driver_handle;
        op.FillVirtual.AllocationOffsetInBytes = page << PAGE_BITS;
        op.FillVirtual.FillSizeInBytes = pages << PAGE_BITS;
        op.FillVirtual.FillPattern = allocation->fill_pattern;
        op.FillVirtual.DestinationVirtualAddress = va.value;
        status = paging_build(vidmm, &op,
                              &(struct paging_subject){allocation, NULL, NULL, to.slice});
        scratch_release(vidmm, va, pages);
    }
    util_free(to.slice);
    return status;
}

static NTSTATUS transfer_chunk(struct vidmm_allocation *allocation, struct side *from,
                               struct side *to, uint64_t page, uint64_t pages,
                               DXGK_MEMORY_TRANSFER_DIRECTION direction)
{
    struct vidmm *vidmm = allocation->vidmm;
    DXGKARG_BUILDPAGINGBUFFER op = {.Operation = DXGK_OPERATION_VIRTUAL_TRANSFER};
    struct gpu_va source;
    struct gpu_va destination;
    NTSTATUS status = side_map(from, allocation, page, pages, true, &source);

    if (!NT_SUCCESS(status))
        return status;
    status = side_map(to, allocation, page, pages, false, &destination);
    if (NT_SUCCESS(status)) {
        op.TransferVirtual.hAllocation = allocation->driver_handle;
        op.TransferVirtual.AllocationOffsetInBytes = page << PAGE_BITS;
        op.TransferVirtual.TransferSizeInBytes = pages << PAGE_BITS;
        op.TransferVirtual.SourceVirtualAddress = source.value;
        op.TransferVirtual.DestinationVirtualAddress = destination.value;
        op.TransferVirtual.TransferDirection = direction;
        if (vidmm->mmu->geometry.caps.LegacyBehaviors.SourcePageTableVaInTransfer) { /* GPUVA-235 */
            op.TransferVirtual.SourcePageTable = scratch_table(vidmm, source).value;
            op.TransferVirtual.DestinationPageTable = scratch_table(vidmm, destination).value;
        }
        status = paging_build(vidmm, &op,
                              &(struct paging_subject){allocation, NULL, from->slice, to->slice});
        scratch_release(vidmm, destination, pages);
    }
    scratch_release(vidmm, source, pages);
    return status;
}

static NTSTATUS transfer_virtual(struct vidmm_allocation *allocation,
                                 const struct vidmm_run *from_runs, uint32_t from_count,
                                 const struct vidmm_run *to_runs, uint32_t to_count,
                                 DXGK_MEMORY_TRANSFER_DIRECTION direction)
{
    struct side from = {0};
    struct side to = {0};
    NTSTATUS status = STATUS_SUCCESS;

    if (!side_init(&from, from_runs, from_count) || !side_init(&to, to_runs, to_count)) {
        util_free(from.slice);
        return STATUS_INSUFFICIENT_RESOURCES;
    }
    for (uint64_t page = 0, pages; page < allocation->pages && NT_SUCCESS(status); page += pages) {
        pages = chunk_pages(allocation, page);
        status = transfer_chunk(allocation, &from, &to, page, pages, direction);
    }
    util_free(from.slice);
    util_free(to.slice);
    return status;
}

/* ---- physical paging ---- */
static int64_t segment_address(const struct vidmm *vidmm, const struct vidmm_run *run)
{
    return (int64_t)segment_physical(&vidmm->segment[run->segment], segment_page_addr(run->first));
}

static NTSTATUS fill_physical(struct vidmm_allocation *allocation, const struct vidmm_run *run)
{
    DXGKARG_BUILDPAGINGBUFFER op = {.Operation = DXGK_OPERATION_FILL};

    op.Fill.hAllocation = allocation->driver_handle;
    op.Fill.FillSize = allocation->pages << PAGE_BITS;
    op.Fill.FillPattern = allocation->fill_pattern;
    op.Fill.Destination.SegmentId = run->segment;
    op.Fill.Destination.SegmentAddress.QuadPart = segment_address(allocation->vidmm, run);
    return paging_build(allocation->vidmm, &op, &(struct paging_subject){.allocation = allocation});
}

/* ALLOC-052: only for the CPU the content has to be in linear order outside memory segments. */
static void order_of_transfer(const struct vidmm_allocation *allocation, bool to_system,
                              DXGK_TRANSFERFLAGS *flags)
{
    const struct allocation_order *order = &allocation->view.order;

    if (!order->swizzles)
        return;
    flags->Swizzle = !to_system && !order->swizzled;
    flags->Unswizzle = to_system && order->swizzled && allocation->view.lock_count;
}

static NTSTATUS transfer_physical(struct vidmm_allocation *allocation, const struct vidmm_run *run,
                                  bool to_system)
{
    DXGKARG_BUILDPAGINGBUFFER op = {.Operation = DXGK_OPERATION_TRANSFER};
    struct mdl_block *block = content_mdl_create(allocation);
    NTSTATUS status;

    if (!block)
        return STATUS_INSUFFICIENT_RESOURCES;
    op.Transfer.hAllocation = allocation->driver_handle;
    op.Transfer.TransferSize = allocation->pages << PAGE_BITS;
    op.Transfer.Flags.TransferStart = 1;
    op.Transfer.Flags.TransferEnd = 1;
    if (to_system) {
        op.Transfer.Source.SegmentId = run->segment;
        op.Transfer.Source.SegmentAddress.QuadPart = segment_address(allocation->vidmm, run);
        op.Transfer.Destination.pMdl = content_mdl(block);
    } else {
        op.Transfer.Source.pMdl = content_mdl(block);
        op.Transfer.Destination.SegmentId = run->segment;
        op.Transfer.Destination.SegmentAddress.QuadPart = segment_address(allocation->vidmm, run);
    }
    order_of_transfer(allocation, to_system, &op.Transfer.Flags);
    status = paging_build(allocation->vidmm, &op,
                          &(struct paging_subject){.allocation = allocation});
    content_mdl_defer_free(allocation->vidmm, block);
    if (NT_SUCCESS(status) && (op.Transfer.Flags.Swizzle || op.Transfer.Flags.Unswizzle))
        allocation->view.order.swizzled = op.Transfer.Flags.Swizzle;
    return status;
}

/* A range of an aperture segment of EvictionSegmentSet, for the time of one copy. False: none is
 * named, or there is no room, for which nothing else is evicted. */
static bool detour_find(const struct vidmm_allocation *allocation, struct vidmm_run *detour)
{
    struct vidmm *vidmm = allocation->vidmm;
    struct vidmm_run *run;
    uint32_t count;

    for (UINT id = 1; id <= vidmm->segment_count; id++) {
        struct vidmm_segment *segment = &vidmm->segment[id];

        if (!(allocation->segments.eviction & segment_bit(id)) ||
            !segment_aperture_commits(vidmm, segment, allocation->pages << PAGE_BITS) ||
            !NT_SUCCESS(segment_take(segment, allocation->pages, allocation->alignment, true, false,
                                     &run, &count)))
            continue;
        *detour = *run;
        util_free(run);
        return true;
    }
    return false;
}

/* PAGE-039: out through an aperture, to which the backing pages are mapped meanwhile. What its
 * range is used for next is built behind these operations. */
static NTSTATUS transfer_by_detour(struct vidmm_allocation *allocation, const struct vidmm_run *run,
                                   const struct vidmm_run *detour)
{
    NTSTATUS status = aperture_map(allocation, detour->segment, detour->first);

    if (NT_SUCCESS(status)) {
        status = content_move(allocation, run, 1, detour, 1);
        if (NT_SUCCESS(status))
            status = aperture_unmap(allocation, detour->segment, detour->first);
    }
    segment_give(allocation->vidmm, detour, 1);
    return status;
}

static NTSTATUS transfer_out(struct vidmm_allocation *allocation, const struct vidmm_run *run)
{
    struct vidmm_run detour;

    return detour_find(allocation, &detour) ? transfer_by_detour(allocation, run, &detour)
                                            : transfer_physical(allocation, run, true);
}

/* ---- both families ---- */

NTSTATUS content_fill(struct vidmm_allocation *allocation, const struct vidmm_run *runs,
                      uint32_t run_count)
{
    struct vidmm *vidmm = allocation->vidmm;
    NTSTATUS status = vidmm->config.gpu_mmu ? fill_virtual(allocation, runs, run_count)
                                            : fill_physical(allocation, runs);

    if (NT_SUCCESS(status)) {
        allocation->view.order.swizzled = allocation->view.order.swizzles;
        vidmm->statistics.bytes_filled += allocation->pages << PAGE_BITS;
        trace_counter("paging bytes filled", vidmm->statistics.bytes_filled);
    }
    return status;
}

NTSTATUS content_transfer(struct vidmm_allocation *allocation, const struct vidmm_run *runs,
                          uint32_t run_count, bool to_system)
{
    struct vidmm *vidmm = allocation->vidmm;
    struct vidmm_run *system = NULL;
    uint32_t system_count = 0;
    NTSTATUS status;

    if (!vidmm->config.gpu_mmu) {
        status = to_system ? transfer_out(allocation, runs)
                           : transfer_physical(allocation, runs, false);
    } else {
        status = backing_runs(allocation, &system, &system_count);
        if (NT_SUCCESS(status) && to_system)
            status = transfer_virtual(allocation, runs, run_count, system, system_count,
                                      DXGK_MEMORY_TRANSFER_LOCAL_TO_SYSTEM);
        else if (NT_SUCCESS(status))
            status = transfer_virtual(allocation, system, system_count, runs, run_count,
                                      DXGK_MEMORY_TRANSFER_SYSTEM_TO_LOCAL);
        util_free(system);
    }
    if (!NT_SUCCESS(status))
        return status;
    if (to_system) {
        vidmm->statistics.bytes_paged_out += allocation->pages << PAGE_BITS;
        trace_counter("paging bytes out", vidmm->statistics.bytes_paged_out);
    } else {
        vidmm->statistics.bytes_paged_in += allocation->pages << PAGE_BITS;
        trace_counter("paging bytes in", vidmm->statistics.bytes_paged_in);
    }
    return status;
}

NTSTATUS content_move(struct vidmm_allocation *allocation, const struct vidmm_run *from,
                      uint32_t from_count, const struct vidmm_run *to, uint32_t to_count)
{
    struct vidmm *vidmm = allocation->vidmm;
    DXGKARG_BUILDPAGINGBUFFER op = {.Operation = DXGK_OPERATION_TRANSFER};

    if (vidmm->config.gpu_mmu)
        return transfer_virtual(allocation, from, from_count, to, to_count,
                                DXGK_MEMORY_TRANSFER_LOCAL_TO_LOCAL);
    op.Transfer.hAllocation = allocation->driver_handle;
    op.Transfer.TransferSize = allocation->pages << PAGE_BITS;
    op.Transfer.Flags.TransferStart = 1;
    op.Transfer.Flags.TransferEnd = 1;
    op.Transfer.Source.SegmentId = from->segment;
    op.Transfer.Source.SegmentAddress.QuadPart = segment_address(vidmm, from);
    op.Transfer.Destination.SegmentId = to->segment;
    op.Transfer.Destination.SegmentAddress.QuadPart = segment_address(vidmm, to);
    return paging_build(vidmm, &op, &(struct paging_subject){.allocation = allocation});
}

NTSTATUS content_discard(struct vidmm_allocation *allocation, const struct vidmm_run *runs,
                         uint32_t run_count)
{
    DXGKARG_BUILDPAGINGBUFFER op = {.Operation = DXGK_OPERATION_DISCARD_CONTENT};

    (void)run_count;
    if (allocation->vidmm->config.gpu_mmu)
        return STATUS_SUCCESS;
    op.DiscardContent.hAllocation = allocation->driver_handle;
    op.DiscardContent.SegmentId = runs->segment;
    op.DiscardContent.SegmentAddress.QuadPart = segment_address(allocation->vidmm, runs);
    return paging_build(allocation->vidmm, &op, &(struct paging_subject){.allocation = allocation});
}

NTSTATUS content_notify(struct vidmm_allocation *allocation, const struct vidmm_run *run)
{
    DXGKARG_BUILDPAGINGBUFFER op = {.Operation = DXGK_OPERATION_NOTIFY_RESIDENCY};

    if (!allocation->flags.ExplicitResidencyNotification || !allocation->accessed_physically)
        return STATUS_SUCCESS;
    op.NotifyResidency.hAllocation = allocation->driver_handle;
    if (run) {
        op.NotifyResidency.PhysicalAddress.SegmentId = run->segment;
        op.NotifyResidency.PhysicalAddress.SegmentOffset = segment_page_addr(run->first).value;
        op.NotifyResidency.Resident = 1;
    }
    return paging_build(allocation->vidmm, &op, &(struct paging_subject){.allocation = allocation});
}
