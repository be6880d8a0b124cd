/* SPDX-License-Identifier: MIT */
/*
 * Each open of an allocation knows the last packet of its device that uses it (open_record.h). A
 * lock waits for that packet of every device that has it open. In what follows a wait new packets
 * may come; those are waited for, too.
 *
 * The work may be another process's, which may never end. So the wait is over, too, when the
 * device that locks is lost (an error, the end of its process or of the adapter), or when a
 * deadlock is broken, by which the device that is waited for loses its work (KMT-162).
 */
#include "vidmm/residency/lock_wait.h"
#include "sim/machine.h"
#include "sim/mutex.h"
#include "sim/wait.h"
#include "util/list.h"
#include "verify/refusal.h"
#include "vidmm/paging/follow.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/device_record.h"
#include "vidmm/record/follow_record.h"
#include "vidmm/record/open_record.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/record/vidmm_scheduler.h"

struct waiter {
    struct vidmm_follow follow;
    bool over;
};

static void over(struct vidmm_device *device, struct vidmm_follow *follow)
{
    struct waiter *waiter = CONTAINER(follow, struct waiter, follow);

    device->lock_waits--;
    waiter->over = true;
    lock_wait_wake(device->process->vidmm);
}

void lock_wait_wake(struct vidmm *vidmm)
{
    sim_waitq_wake(&vidmm->old.lock_waits, UINT32_MAX);
}

bool vidmm_device_lock_waits(const struct vidmm_device *device)
{
    return device->lock_waits != 0;
}

/* Lock held; dropped meanwhile. The end of the busy device, too, ends the wait. */
static void wait_for(const struct vidmm_device *own, struct vidmm_device *busy, uint64_t ticket)
{
    struct vidmm *vidmm = own->process->vidmm;
    struct waiter waiter = {.over = false};

    follow_init(&waiter.follow);
    busy->lock_waits++;
    follow_after(busy, &waiter.follow, ticket, over);
    sim_mutex_unlock(&vidmm->lock);
    while (!waiter.over && !own->lost && !vidmm->lost && !sim_current->stopped)
        sim_waitq_wait(&vidmm->old.lock_waits, SIM_FOREVER);
    sim_mutex_lock(&vidmm->lock);
    if (!waiter.over && !sim_current->stopped) {
        follow_cancel(&waiter.follow);
        busy->lock_waits--;
    }
}

/* A device whose work is in the way. NULL: none is. */
static struct vidmm_device *busy_device(const struct vidmm_allocation *allocation,
                                        bool writers_only, uint64_t *ticket)
{
    LIST_FOR(node, &allocation->opens) {
        const struct vidmm_open *open = CONTAINER(node, struct vidmm_open, link);

        *ticket = writers_only ? open->written_by : open->used_by;
        if (*ticket && !allocation->vidmm->scheduler->device_done(open->device, *ticket))
            return open->device;
    }
    return NULL;
}

bool lock_wait_is_busy(const struct vidmm_allocation *allocation)
{
    uint64_t ticket;

    return busy_device(allocation, false, &ticket) != NULL;
}

NTSTATUS vidmm_lock_wait(struct vidmm_device *device, D3DKMT_HANDLE handle, bool writers_only,
                         bool at_once)
{
    struct vidmm *vidmm = device->process->vidmm;
    NTSTATUS status = STATUS_SUCCESS;

    sim_mutex_lock(&vidmm->lock);
    while (NT_SUCCESS(status) && !device->lost && !vidmm->lost && !sim_current->stopped) {
        const struct vidmm_open *open = open_find(device, handle);
        uint64_t ticket;
        struct vidmm_device *busy = open ? busy_device(open->allocation, writers_only, &ticket)
                                         : NULL;

        if (!busy)
            break;
        if (at_once)
            status = refuse(STATUS_GRAPHICS_ALLOCATION_BUSY, "ALLOC-116",
                            "the GPU still %s allocation 0x%x, and DonotWait is set",
                            writers_only ? "writes to" : "uses", handle);
        else
            wait_for(device, busy, ticket);
    }
    sim_mutex_unlock(&vidmm->lock);
    return status;
}
