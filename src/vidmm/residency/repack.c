/* SPDX-License-Identifier: MIT */
/*
 * The list of a device fits its segments by its charges (budget.c), but fragmentation may prevent
 * it: there is no hole for a contiguous member, and compaction cannot make one. Then the whole list
 * is evicted and placed again, each member in the segment to which it is charged: contiguous ones
 * first, larger alignment before smaller, larger size before smaller; those that may be scattered
 * fill the rest. This succeeds whenever the charges fit. It is the last resort before the device is
 * put in error.
 */
#include <stdlib.h>

#include "vidmm/residency/repack.h"
#include "sim/machine.h"
#include "util/alloc.h"
#include "util/list.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/device_record.h"
#include "vidmm/record/follow_record.h"
#include "vidmm/record/open_record.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/residency/eviction.h"
#include "vidmm/residency/placement.h"
#include "vidmm/residency/victim.h"

#define STUCK_NS 2000000000u /* as TdrDelay */

static bool is_contiguous(const struct vidmm_allocation *allocation)
{
    return allocation->accessed_physically || !allocation->vidmm->config.gpu_mmu;
}

static int by_difficulty(const void *a, const void *b)
{
    const struct vidmm_open *const x = *(const struct vidmm_open *const *)a;
    const struct vidmm_open *const y = *(const struct vidmm_open *const *)b;
    const struct vidmm_allocation *p = x->allocation;
    const struct vidmm_allocation *q = y->allocation;

    if (is_contiguous(p) != is_contiguous(q))
        return is_contiguous(p) ? -1 : 1;
    if (p->alignment != q->alignment)
        return p->alignment > q->alignment ? -1 : 1;
    if (p->pages != q->pages)
        return p->pages > q->pages ? -1 : 1;
    return x->listed_at < y->listed_at ? -1 : x->listed_at > y->listed_at;
}

/* The members of the list that can be moved, and those that are missing. */
static struct vidmm_open **movable_list(struct paging_turn *turn, struct vidmm_device *device,
                                        size_t *count)
{
    struct vidmm_open **list;
    size_t listed = 0;

    LIST_FOR(node, &device->residency)
        listed++;
    list = util_alloc((listed ? listed : 1) * sizeof(struct vidmm_open *));
    *count = 0;
    if (!list)
        return NULL;
    LIST_FOR(node, &device->residency) {
        struct vidmm_open *open = CONTAINER(node, struct vidmm_open, residency_link);
        const struct vidmm_allocation *allocation = open->allocation;

        if (allocation->offer.in_force ||
            (allocation->runs && (allocation->pins || allocation->view.lock_count)))
            continue;
        /* A member in bare system memory takes no segment memory. One in a segment may be charged
         * to another segment, if it was placed before. */
        if (!allocation->runs || (allocation->segment && victim_movable(turn, allocation, true)))
            list[(*count)++] = open;
    }
    return list;
}

static NTSTATUS repack(struct paging_turn *turn, struct vidmm_device *device)
{
    struct vidmm *vidmm = device->process->vidmm;
    NTSTATUS status = STATUS_SUCCESS;
    struct vidmm_open **list;
    size_t count;

    if (!victim_device_idle(device)) {
        turn->suspend = device->process;
        return STATUS_RETRY;
    }
    list = movable_list(turn, device, &count);
    if (!list)
        return STATUS_INSUFFICIENT_RESOURCES;
    qsort(list, count, sizeof(struct vidmm_open *), by_difficulty);
    for (size_t i = 0; i < count && NT_SUCCESS(status); i++) {
        list[i]->allocation->absence = ABSENCE_MOVED;
        status = placement_move_out(turn, vidmm, list[i]->allocation, true);
    }
    /* Allocations of other devices are evicted first; otherwise each placement would
     * evict them one by one. */
    for (UINT id = 1; id <= vidmm->segment_count && NT_SUCCESS(status); id++)
        if (device->charged[id])
            status = eviction_clear(turn, vidmm, id);
    for (size_t i = 0; i < count && NT_SUCCESS(status); i++)
        status = placement_put(turn, list[i]->allocation,
                               list[i]->charge ? list[i]->charge : vidmm->aperture);
    util_free(list);
    return status;
}

/* A job that is to be run again waits for nothing but work of its own device, which may use what the
 * device has evicted or destroyed since (RES-026), and which waits for what the job is to bring. */
static bool waits_for_itself(const struct paging_turn *turn, const struct vidmm_device *device)
{
    const struct vidmm *vidmm = device->process->vidmm;
    uint32_t own = 0, all = 0;

    if (turn->suspend || turn->retry_at != UINT64_MAX || !device->missing)
        return false;
    LIST_FOR(node, &device->opens) {
        const struct vidmm_open *open = CONTAINER(node, struct vidmm_open, device_link);

        own += follow_pending(&open->use) && open->allocation->victim.leaving_segment;
    }
    LIST_FOR(node, &device->dying) {
        const struct vidmm_open *open = CONTAINER(node, struct vidmm_open, dying_link);

        own += open->allocation->victim.leaving_segment != 0;
    }
    for (UINT id = 1; id <= vidmm->segment_count; id++)
        all += vidmm->segment[id].leaving;
    return own && own == all;
}

/* It has done so for a while: none of that work is on the GPU, where it would have ended. */
static bool is_stuck(struct paging_turn *turn, struct vidmm_device *device)
{
    if (!waits_for_itself(turn, device)) {
        device->stuck_since = 0;
        return false;
    }
    if (!device->stuck_since)
        device->stuck_since = sim_now();
    turn->retry_at = sim_now();
    return sim_now() - device->stuck_since >= STUCK_NS;
}

NTSTATUS repack_bring_in(struct paging_turn *turn, struct vidmm_device *device,
                         struct vidmm_allocation *allocation)
{
    NTSTATUS status = placement_bring_in(turn, device->process->vidmm, allocation);

    if (status == STATUS_RETRY && is_stuck(turn, device))
        return STATUS_NO_MEMORY;
    if (status != STATUS_NO_MEMORY || !allocation->device_references)
        return status;
    status = repack(turn, device);
    if (status == STATUS_RETRY && is_stuck(turn, device))
        return STATUS_NO_MEMORY;
    /* Whoever waits for it would begin again for ever. */
    return NT_SUCCESS(status) && !allocation->resident ? STATUS_NO_MEMORY : status;
}
