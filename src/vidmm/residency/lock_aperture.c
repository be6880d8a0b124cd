/* SPDX-License-Identifier: MIT */
/*
 * The allocation is locked as by any other lock first; then its view is pointed at the range. Where
 * there is none to be had, the allocation moves to system memory, and its view with it, until it is
 * unlocked.
 */
#include "vidmm/residency/lock_aperture.h"
#include "sim/mutex.h"
#include "verify/refusal.h"
#include "vidmm/paging/paging_worker.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/device_record.h"
#include "vidmm/record/open_record.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/residency/cpu_access.h"
#include "vidmm/residency/cpu_view.h"
#include "vidmm/residency/placement.h"
#include "vidmm/residency/swizzling_range.h"
#include "vidmm/residency/victim.h"

struct aperture_lock {
    struct vidmm_allocation *allocation;
    const D3DKMT_LOCK *args;
};

static NTSTATUS move_out(struct vidmm *vidmm, struct paging_turn *turn,
                         struct vidmm_allocation *allocation)
{
    NTSTATUS status;

    if (allocation->victim.captured)
        return refuse(STATUS_GRAPHICS_CANT_EVICT_PINNED_ALLOCATION, "ALLOC-131",
                      "the allocation is pinned in segment %u", allocation->segment);
    allocation->view.kept_out = true;
    status = victim_need_free(turn, allocation);
    if (NT_SUCCESS(status)) {
        allocation->absence = ABSENCE_MOVED;
        status = placement_move_out(turn, vidmm, allocation, true);
    }
    return status;
}

/* The range is there. If the view cannot show it, what other locks look at stays. */
static NTSTATUS turn_to_range(struct vidmm_allocation *allocation, const struct view_range *before)
{
    const bool through = allocation->view.through_range;
    NTSTATUS status;

    allocation->view.through_range = true;
    status = cpu_view_placed(allocation);
    if (!NT_SUCCESS(status))
        allocation->view.through_range = through;
    swizzling_range_settle(allocation, before, NT_SUCCESS(status));
    if (!NT_SUCCESS(status))
        (void)cpu_view_placed(allocation);
    return status;
}

static NTSTATUS look_through_range(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    const struct aperture_lock *lock = arg;
    struct vidmm_allocation *allocation = lock->allocation;
    const D3DDDICB_LOCKFLAGS flags = lock->args->Flags;
    struct view_range before;
    NTSTATUS status;

    if (allocation->gone || allocation->destroyed || !allocation->view.address ||
        !cpu_view_in_memory_segment(allocation) || cpu_view_shows_backing(allocation))
        return STATUS_SUCCESS;
    if (allocation->view.kept_out) /* a second run */
        return move_out(vidmm, turn, allocation);
    status = swizzling_range_acquire(allocation, lock->args->PrivateDriverData,
                                     flags.UseAlternateVA, &before);
    if (NT_SUCCESS(status))
        return turn_to_range(allocation, &before);
    return flags.DonotEvict ? status /* ALLOC-132 */ : move_out(vidmm, turn, allocation);
}

NTSTATUS vidmm_lock_aperture(struct vidmm_device *device, const D3DKMT_LOCK *args, void **address)
{
    struct vidmm *vidmm = device->process->vidmm;
    struct aperture_lock lock = {.args = args};
    const struct vidmm_open *open;
    NTSTATUS status;

    sim_mutex_lock(&vidmm->lock);
    open = open_find(device, args->hAllocation);
    lock.allocation = open ? open->allocation : NULL;
    if (lock.allocation) {
        allocation_hold(lock.allocation);
        lock.allocation->view.wants_range++; /* it need not leave its segment for the lock */
    }
    sim_mutex_unlock(&vidmm->lock);
    if (!lock.allocation)
        return refuse(STATUS_INVALID_PARAMETER, NULL, "handle 0x%x is no allocation of the device",
                      args->hAllocation);
    status = vidmm_lock2(device, args->hAllocation, address);
    if (NT_SUCCESS(status)) {
        status = paging_run(vidmm, look_through_range, &lock);
        if (!NT_SUCCESS(status))
            (void)vidmm_unlock2(device, args->hAllocation);
    }
    sim_mutex_lock(&vidmm->lock);
    if (!NT_SUCCESS(status) && cpu_view_in_memory_segment(lock.allocation))
        lock.allocation->view.kept_out = false; /* it could not leave, and other locks go on */
    lock.allocation->view.wants_range--;
    allocation_unhold(lock.allocation);
    sim_mutex_unlock(&vidmm->lock);
    return vidmm_status(status);
}
