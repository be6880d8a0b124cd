/* SPDX-License-Identifier: MIT */
/*
 * Evacuation: before video memory loses its content, or the driver overwrites it, everything is
 * moved to system memory; later it comes back as needed (THREAD-029, LIFE-109, LIFE-154).
 *
 *   evacuate   A job of the worker evicts each allocation from its memory segment or aperture, also
 *              pinned and locked ones. After that nothing is built any more (vidmm->reset, as
 *              between a reset and its restoration)
 *   return     Page tables, aperture ranges and context allocations are restored. Allocations that
 *              queued GPU work may use, although no residency list has them any more, are made
 *              resident; all others are when the next submission needs them
 *
 * The scheduler holds the work of clients back from before vidmm_evacuate until after vidmm_return.
 */
#include "util/address.h"
#include "util/list.h"
#include "vidmm/context/context_allocation.h"
#include "vidmm/paging/paging.h"
#include "vidmm/paging/paging_worker.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/open_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/record/vidmm_run.h"
#include "vidmm/record/vidmm_scheduler.h"
#include "vidmm/reset.h"
#include "vidmm/residency/aperture_range.h"
#include "vidmm/residency/placement.h"

/* What the CPU sees through a window does not stay: no page of that may be mapped meanwhile
 * (RES-084). */
static bool is_kept(const struct vidmm_allocation *allocation, const uint64_t *kept_bytes)
{
    uint64_t kept = kept_bytes ? kept_bytes[allocation->segment - 1] >> PAGE_BITS : 0;

    if (allocation->view.window.window)
        return false;
    for (uint32_t i = 0; i < allocation->run_count; i++)
        if (allocation->runs[i].first + allocation->runs[i].pages > kept)
            return false;
    return true;
}

struct evacuation {
    const uint64_t *kept_bytes;
    bool losing_power;
};

static bool moves(const struct vidmm_allocation *allocation, const void *arg)
{
    const struct evacuation *evacuation = arg;

    return allocation->runs && allocation->segment && !is_kept(allocation, evacuation->kept_bytes);
}

static NTSTATUS evacuate_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    const struct evacuation *evacuation = arg;
    NTSTATUS status = paging_flush(vidmm, NULL),
             settled; /* operations built earlier are submitted normally */

    if (NT_SUCCESS(status))
        status = context_allocations_leave(vidmm, moves, evacuation);
    if (!NT_SUCCESS(status))
        return status;
    vidmm->losing_power = evacuation->losing_power;

    LIST_FOR(node, &vidmm->allocations) {
        struct vidmm_allocation *allocation = CONTAINER(node, struct vidmm_allocation, link);

        if (!moves(allocation, evacuation))
            continue;
        allocation->absence = ABSENCE_POWER;
        status = placement_move_out(turn, vidmm, allocation, !allocation->offer.in_force);
        if (!NT_SUCCESS(status))
            break;
    }
    context_allocations_lost(
        vidmm); /* all of them, evicted or not: they are committed again before use */
    settled = paging_settle(vidmm);
    vidmm->losing_power = false;
    status = NT_SUCCESS(status) ? settled : status;
    vidmm->reset = NT_SUCCESS(status);
    if (vidmm->reset) {
        vidmm_tables_lost(vidmm);
        aperture_ranges_lost(vidmm);
    }
    return status;
}

NTSTATUS vidmm_evacuate(struct vidmm *vidmm, const uint64_t *kept_bytes, bool losing_power)
{
    struct evacuation evacuation = {kept_bytes, losing_power};
    NTSTATUS status = paging_run(vidmm, evacuate_job, &evacuation);

    /* After a failure, what was evicted is made resident when it is needed. */
    return vidmm_status(status);
}

bool vidmm_is_evacuated(const struct vidmm *vidmm)
{
    return vidmm->reset;
}

/* May queued work use an allocation that no residency list has any more? An allocation that only
 * waits to be destroyed is not made resident: the thread that destroys it may be the one that woke
 * the adapter and waits for this. */
static bool work_may_use(const struct vidmm_allocation *allocation)
{
    LIST_FOR(node, &allocation->opens) {
        const struct vidmm_open *open = CONTAINER(node, struct vidmm_open, link);

        if (open->last_use &&
            !allocation->vidmm->scheduler->device_done(open->device, open->last_use))
            return true;
    }
    return false;
}

static NTSTATUS fetch_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    (void)arg;
    LIST_FOR(node, &vidmm->allocations) {
        struct vidmm_allocation *allocation = CONTAINER(node, struct vidmm_allocation, link);

        if (allocation->users && !allocation->resident && !allocation->destroyed &&
            work_may_use(allocation) && placement_bring_in(turn, vidmm, allocation) == STATUS_RETRY)
            return STATUS_RETRY;
    }
    return STATUS_SUCCESS;
}

NTSTATUS vidmm_return(struct vidmm *vidmm)
{
    NTSTATUS status = vidmm_reset_restore(vidmm);

    if (NT_SUCCESS(status))
        status = vidmm_status(paging_run(vidmm, fetch_job, NULL));
    return status;
}
