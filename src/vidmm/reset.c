/* SPDX-License-Identifier: MIT */
/*
 * Reset of the adapter. Between the reset and the restart nothing runs on the GPU. Operations built
 * in that time only tell the driver what has been lost, and their buffers are discarded (TDR-051).
 * The content of memory segments is lost, that of system pages is kept (RES-085, RES-086). After
 * the restart the page tables are written again.
 */
#include "vidmm/reset.h"
#include "sim/mutex.h"
#include "util/address.h"
#include "util/list.h"
#include "vidmm/content/content.h"
#include "vidmm/context/context_allocation.h"
#include "vidmm/paging/paging.h"
#include "vidmm/paging/paging_fence.h"
#include "vidmm/paging/paging_worker.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/dxgkrnl_events.h"
#include "vidmm/record/segment_record.h"
#include "vidmm/record/vidmm_run.h"
#include "vidmm/residency/aperture_range.h"
#include "vidmm/residency/cpu_view.h"
#include "vidmm/residency/placement.h"
#include "vidmm/space/address_space.h"
#include "vidmm/space/gpu_mmu.h"
#include "vidmm/space/paging_process.h"
#include "vidmm/space/root_table.h"

static bool in_memory(const struct vidmm_allocation *allocation)
{
    return allocation->segment &&
           !segment_is_aperture(&allocation->vidmm->segment[allocation->segment]);
}

/* RES-085: with physical paging, a TRANSFER of size 0 tells the driver. */
static void tell_evicted(struct vidmm_allocation *allocation)
{
    struct vidmm *vidmm = allocation->vidmm;
    DXGKARG_BUILDPAGINGBUFFER op = {.Operation = DXGK_OPERATION_TRANSFER};

    if (vidmm->config.gpu_mmu) {
        content_notify(allocation, NULL);
        return;
    }
    op.Transfer.hAllocation = allocation->driver_handle;
    op.Transfer.Source.SegmentId = allocation->segment;
    op.Transfer.Source.SegmentAddress.QuadPart = (int64_t)segment_physical(
        &vidmm->segment[allocation->segment], segment_page_addr(allocation->runs[0].first));
    op.Transfer.Flags.TransferStart = 1;
    op.Transfer.Flags.TransferEnd = 1;
    op.Transfer.Flags.AllocationIsIdle = 1;
    paging_build(vidmm, &op, &(struct paging_subject){.allocation = allocation});
}

static void purge(struct vidmm_allocation *allocation)
{
    bool memory = in_memory(allocation);
    bool clean = allocation->system_copy && !allocation->written;

    if (memory)
        tell_evicted(allocation);
    allocation->absence = ABSENCE_RESET;
    placement_purge(allocation);
    if (!memory)
        return;
    allocation->content = clean || allocation->borrowed ? CONTENT_SYSTEM : CONTENT_NONE;
    allocation->system_copy = false;
}

void vidmm_tables_lost(struct vidmm *vidmm)
{
    if (vidmm->mmu)
        vidmm->mmu->watch.lost = true;
}

void vidmm_reset_begin(struct vidmm *vidmm)
{
    vidmm->blank = true;
    LIST_FOR(node, &vidmm->allocations)
        cpu_view_blank(CONTAINER(node, struct vidmm_allocation, link));
}

void vidmm_reset_cleanup(struct vidmm *vidmm)
{
    sim_mutex_lock(&vidmm->lock);
    paging_flush(vidmm, NULL); /* operations that a job had built; the scheduler drops them */
    paging_fence_forget(vidmm);
    paging_retire(vidmm, vidmm->last_ticket);
    vidmm->reset = true;
    vidmm_tables_lost(vidmm);
    aperture_ranges_lost(vidmm);
    LIST_FOR(node, &vidmm->allocations) {
        struct vidmm_allocation *allocation = CONTAINER(node, struct vidmm_allocation, link);

        if (allocation->runs)
            purge(allocation);
    }
    vidmm->blank = false; /* what is in video memory from now on has come after the reset */
    paging_flush(vidmm, NULL);
    paging_retire(vidmm, vidmm->last_ticket);
    context_allocations_lost(vidmm);
    sim_mutex_unlock(&vidmm->lock);
}

static NTSTATUS rebuild_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    NTSTATUS status;

    (void)arg;
    status = space_rebuild_all(vidmm);
    context_allocations_restore(turn, vidmm); /* CTXA-068 */
    return status;
}

static NTSTATUS remap_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    (void)turn;
    (void)arg;
    return aperture_ranges_restore(vidmm);
}

NTSTATUS vidmm_reset_restore(struct vidmm *vidmm)
{
    NTSTATUS status;

    sim_mutex_lock(&vidmm->lock);
    status = paging_process_rebuild(vidmm);
    vidmm->reset = false;
    sim_mutex_unlock(&vidmm->lock);
    paging_poke(vidmm);
    if (NT_SUCCESS(status) && !list_empty(&vidmm->aperture_ranges))
        status = paging_run(vidmm, remap_job, NULL);
    if (NT_SUCCESS(status) && vidmm->config.gpu_mmu)
        status = paging_run(vidmm, rebuild_job, NULL);
    if (NT_SUCCESS(status) && vidmm->config.gpu_mmu) {
        sim_mutex_lock(&vidmm->lock);
        root_announce_all(vidmm);
        sim_mutex_unlock(&vidmm->lock);
    }
    return status;
}
