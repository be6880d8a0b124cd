/* SPDX-License-Identifier: MIT */
/*
 * WDDM 1.x residency. No client says what must be resident; the patch-location list of each DMA
 * buffer does (RES-002, PATCH-116). The scheduler asks for one portion at a time, just before it is
 * submitted. Only then is it decided where the portion ends.
 *
 *   plan       The portion's allocations are put on the residency list of the device, in order, and
 *              are held there. If they do not fit (by the charges of budget.c): allocations on the
 *              list that no portion holds are taken off; then waiting portions release theirs; then
 *              portions in flight are waited for; and then the portion is cut at the SplitOffset of
 *              the element that does not fit (PATCH-121)
 *   bring in   in order (RES-003). An allocation that fits by its charge but cannot be placed cuts
 *              the portion, too
 *   ready      everything is resident, and the GPU has executed the paging operations
 *
 * If nothing would be left of the portion, the device is put in error (PATCH-124). A portion that
 * the driver has seen is never cut again: after preemption it is submitted as it was, with current
 * addresses.
 *
 * If everything is resident already, preparing needs no job, only a walk of the list: O(elements).
 */
#include "vidmm/residency/portion.h"
#include "sim/machine.h"
#include "trace/trace.h"
#include "util/alloc.h"
#include "util/list.h"
#include "verify/verify.h"
#include "vidmm/paging/paging_worker.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/device_record.h"
#include "vidmm/record/open_record.h"
#include "vidmm/record/paging_record.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/segment_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/residency/budget.h"
#include "vidmm/residency/cpu_view.h"
#include "vidmm/residency/placement.h"
#include "vidmm/residency/readiness.h"
#include "vidmm/residency/repack.h"
#include "vidmm/residency/residency.h"
#include "vidmm/residency/victim.h"

/* The open of an element. NULL: the element names none, or its client destroyed it with the promise
 * that no work uses it (AssumeNotInUse). */
static struct vidmm_open *open_of(const struct vidmm_portion *portion, uint32_t element)
{
    D3DKMT_HANDLE handle = portion->need[element].allocation;

    return handle ? open_find_queued(portion->device, handle) : NULL;
}

/* ---- reading and writing ---- */

/* What each element of the first `count` needs: an allocation may have several. */
static void note_writes(const struct vidmm_portion *portion, uint32_t count)
{
    if (!portion->device->process->vidmm->old.sets_differ)
        return;
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < count; i++) {
            struct vidmm_open *open = open_of(portion, i);

            if (open)
                open->writes = pass && (open->writes || portion->need[i].write);
        }
}

static UINT set_for(const struct vidmm_open *open)
{
    const struct allocation_segments *s = &open->allocation->segments;

    return open->writes ? s->writes : s->reads;
}

/* ALLOC-039. What is pinned stays where it is. */
static bool is_placed_well(const struct vidmm_open *open)
{
    const struct vidmm_allocation *allocation = open->allocation;

    return !allocation->segment || allocation->pins ||
           (set_for(open) & segment_bit(allocation->segment));
}

/* Move it out of a segment where the portion cannot use it. */
static NTSTATUS leave_wrong_place(struct paging_turn *turn, const struct vidmm_open *open)
{
    struct vidmm_allocation *allocation = open->allocation;
    NTSTATUS status;

    allocation->segments.restricted = set_for(open);
    if (!allocation->runs || is_placed_well(open))
        return STATUS_SUCCESS;
    status = victim_need_idle(turn, allocation);
    if (!NT_SUCCESS(status))
        return status;
    allocation->absence = ABSENCE_MOVED;
    return placement_move_out(turn, allocation->vidmm, allocation, true);
}

/* ---- holding ---- */

static void let_go(struct vidmm_portion *portion, uint32_t from, uint32_t end)
{
    for (uint32_t i = from; i < end; i++) {
        struct vidmm_open *open = open_of(portion, i);

        if (open && open->portions)
            open->portions--;
    }
}

static NTSTATUS hold(struct vidmm_open *open)
{
    if (!open->residency_count) {
        NTSTATUS status = budget_charge(open, true);

        if (!NT_SUCCESS(status))
            return status;
        open->residency_count = 1;
        residency_add(open);
    }
    open->portions++;
    return STATUS_SUCCESS;
}

/* If everything that the portion needs is listed and ready, hold it; this needs no job. */
static bool hold_what_is_ready(struct vidmm_portion *portion)
{
    note_writes(portion, portion->wanted);
    for (uint32_t i = 0; i < portion->wanted; i++) {
        struct vidmm_open *open = open_of(portion, i);

        if (open && !(open->residency_count && open->allocation->ready && is_placed_well(open))) {
            let_go(portion, 0, i);
            return false;
        }
        if (open)
            open->portions++;
    }
    portion->count = portion->wanted;
    return true;
}

static void now_held(struct vidmm_portion *portion)
{
    portion->held = true;
    list_init(&portion->link);
    list_push_back(&portion->device->portions, &portion->link);
}

static void unhold(struct vidmm_portion *portion)
{
    if (!portion->held)
        return;
    let_go(portion, 0, portion->count);
    portion->held = false;
    list_remove(&portion->link);
}

/* RES-008. What is pinned stays where it is. */
static bool is_misplaced(const struct vidmm_allocation *allocation)
{
    return cpu_view_leaves_memory(allocation) && cpu_view_in_memory_segment(allocation) &&
           !allocation->pins;
}

static bool is_ready(const struct vidmm_portion *portion)
{
    note_writes(portion, portion->count);
    for (uint32_t i = 0; i < portion->count; i++) {
        const struct vidmm_open *open = open_of(portion, i);

        if (open &&
            !(open->allocation->ready && is_placed_well(open) && !is_misplaced(open->allocation)))
            return false;
    }
    return true;
}

/* ---- what fits ---- */

static bool unlist(struct vidmm_device *device)
{
    bool any = false;

    LIST_FOR_SAFE(node, following, &device->residency) {
        struct vidmm_open *open = CONTAINER(node, struct vidmm_open, residency_link);

        if (open->portions)
            continue;
        residency_unlist(open);
        any = true;
    }
    return any;
}

bool portion_unlist_all(struct vidmm *vidmm)
{
    bool any = false;

    if (vidmm->config.wddm_version >= DXGKDDI_INTERFACE_VERSION_WDDM2_0)
        return false;
    LIST_FOR(node, &vidmm->devices)
        any |= unlist(CONTAINER(node, struct vidmm_device, link));
    return any;
}

/* Portions that are not in flight release what they hold. */
static bool waiting_let_go(struct vidmm_device *device)
{
    bool any = false;

    LIST_FOR_SAFE(node, following, &device->portions) {
        struct vidmm_portion *portion = CONTAINER(node, struct vidmm_portion, link);

        if (portion->in_flight)
            continue;
        unhold(portion);
        any = true;
    }
    return any;
}

/* Cut the portion at the SplitOffset of `element`. STATUS_NO_MEMORY: nothing would be left. */
static NTSTATUS cut(struct vidmm_portion *portion, uint32_t element, uint32_t held)
{
    uint32_t split = portion->need[element].split;
    uint32_t count = element;

    if (portion->fixed || split <= portion->start) {
        const struct vidmm_open *open = open_of(portion, element);

        NOTE("PATCH-124",
             "what is needed together from byte 0x%x of a DMA buffer on does not fit: no room for "
             "allocation 0x%x of 0x%llx bytes; the device is in error",
             portion->start, portion->need[element].allocation,
             open ? (unsigned long long)open->allocation->bytes : 0ull);
        let_go(portion, 0, held);
        return STATUS_NO_MEMORY;
    }
    while (count > 0 && portion->need[count - 1].split >= split)
        count--;
    let_go(portion, count, held);
    portion->count = count;
    trace_instant(portion->device->process->vidmm->track, "split", "offset", split, NULL, 0);
    return STATUS_SUCCESS;
}

static NTSTATUS plan(struct vidmm_portion *portion)
{
    struct vidmm_device *device = portion->device;
    uint32_t held = 0;
    NTSTATUS status = STATUS_SUCCESS;

    note_writes(portion, portion->wanted);
    while (held < portion->wanted) {
        struct vidmm_open *open = open_of(portion, held);

        if (open)
            open->allocation->segments.restricted = set_for(open); /* charged accordingly */
        status = open ? hold(open) : STATUS_SUCCESS;
        if (NT_SUCCESS(status)) {
            held++;
            continue;
        }
        if (status == STATUS_NO_MEMORY && (unlist(device) || waiting_let_go(device)))
            continue;
        break;
    }
    portion->count = held;
    if (status == STATUS_NO_MEMORY && !list_empty(&device->portions))
        status = STATUS_RETRY; /* the job runs again when a portion in flight has ended */
    else if (status == STATUS_NO_MEMORY)
        return cut(portion, held, held);
    if (!NT_SUCCESS(status))
        let_go(portion, 0, held);
    return status;
}

/* ---- the job ---- */

/* Must be checked after sim points: the portion may have been released and freed meanwhile. */
static bool is_wanted(const struct vidmm_device *device, const struct vidmm_portion *portion)
{
    return device->portion_preparing == portion && !device->lost;
}

static bool others_keep(const struct vidmm_portion *portion)
{
    return portion->device->process->vidmm->old.kept > portion->kept_count;
}

/* STATUS_RETRY: not possible while other portions keep allocations in place. Nothing is
 * tried until they are released (paging_poke): moving allocations to and fro would only
 * delay those portions. */
static NTSTATUS bring_in_one(struct paging_turn *turn, struct vidmm_device *device,
                             struct vidmm_portion *portion, struct vidmm_allocation *allocation)
{
    struct vidmm *vidmm = allocation->vidmm;
    NTSTATUS status = STATUS_SUCCESS;

    if (is_misplaced(allocation)) {
        status = victim_need_idle(turn, allocation);
        if (!NT_SUCCESS(status))
            return status;
        allocation->absence = ABSENCE_MOVED;
        status = placement_move_out(turn, vidmm, allocation, true);
    }
    if (NT_SUCCESS(status))
        status = placement_bring_in(turn, vidmm, allocation);
    if (status != STATUS_NO_MEMORY || !is_wanted(device, portion))
        return status;
    portion->waits_for_kept = others_keep(portion);
    return portion->waits_for_kept ? STATUS_RETRY : repack_bring_in(turn, device, allocation);
}

static NTSTATUS bring_in_all(struct paging_turn *turn, struct vidmm_device *device,
                             struct vidmm_portion *portion)
{
    note_writes(portion, portion->count);
    for (uint32_t i = 0; i < portion->count; i++) {
        struct vidmm_open *open = open_of(portion, i);
        NTSTATUS status = open ? leave_wrong_place(turn, open) : STATUS_SUCCESS;

        if (NT_SUCCESS(status) && is_wanted(device, portion) && open &&
            (!open->allocation->resident || is_misplaced(open->allocation)))
            status = bring_in_one(turn, device, portion, open->allocation);
        if (!is_wanted(device, portion))
            return STATUS_DEVICE_REMOVED;
        if (status == STATUS_NO_MEMORY) {
            uint32_t held = portion->count;

            status = cut(portion, i, held);
            if (NT_SUCCESS(status))
                continue; /* the loop now ends at the new count */
            portion->held = false;
            list_remove(&portion->link);
        }
        if (!NT_SUCCESS(status))
            return status;
    }
    return STATUS_SUCCESS;
}

/* Bringing in one allocation may move others of the list out, so repeat until nothing was moved. */
static NTSTATUS bring_in(struct paging_turn *turn, struct vidmm_device *device,
                         struct vidmm_portion *portion)
{
    NTSTATUS status;

    do {
        device->displaced = false;
        status = bring_in_all(turn, device, portion);
    } while (NT_SUCCESS(status) && device->displaced);
    if (NT_SUCCESS(status)) /* otherwise the next job could evict it before it has run */
        device->granted_until = sim_now() + GRANT_NS;
    return status;
}

static NTSTATUS portion_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    struct vidmm_device *device = arg;
    struct vidmm_portion *portion = device->portion_preparing;

    (void)vidmm;
    if (!portion || device->lost)
        return STATUS_DEVICE_REMOVED;
    if (portion->waits_for_kept && others_keep(portion))
        return STATUS_RETRY;
    if (!portion->held) {
        NTSTATUS status = plan(portion);

        if (!NT_SUCCESS(status))
            return status;
        now_held(portion);
    }
    return bring_in(turn, device, portion);
}

static void portion_done(struct vidmm *vidmm, void *arg, NTSTATUS status)
{
    struct vidmm_device *device = arg;

    (void)vidmm;
    device->portion_posted = false;
    device->portion_preparing = NULL;
    if (NT_SUCCESS(status)) {
        readiness_tell(device);
        return;
    }
    if (status == STATUS_DEVICE_REMOVED) {
        if (!device->lost && !device->process->vidmm->lost)
            readiness_tell(device); /* the portion was released: another one may be prepared */
        return;
    }
    if (status != STATUS_NO_MEMORY) /* cut() reports that itself */
        NOTE("RES-005",
             "what a DMA buffer needs cannot be brought in (0x%08x); the device is in error",
             (unsigned)status);
    residency_fail_device(device); /* RES-005 */
}

/* ---- for the scheduler ---- */

static void went(struct vidmm_device *device)
{
    device->used_at = ++device->process->vidmm->clock;
    if (device->granted_until) {
        device->granted_until = 0;
        paging_poke(device->process->vidmm);
    }
}

/* Without the lock, as vidmm_device_prepare: no other thread runs during this function, and the
 * scheduler may be holding up the lock's owner, so waiting could deadlock. */
bool vidmm_portion_prepare(struct vidmm_portion *portion)
{
    struct vidmm_device *device = portion->device;

    if (device->portion_posted)
        return false; /* the job reports when it is done */
    if (!portion->held && hold_what_is_ready(portion))
        now_held(portion);
    if (portion->held && is_ready(portion)) {
        went(device);
        return true;
    }
    device->portion_posted = true;
    device->portion_preparing = portion;
    device->portion_job = (struct paging_job){
        .fn = portion_job, .release = portion_done, .arg = device, .kind = JOB_PAGE_IN_DEVICE};
    paging_job_post(&device->prepare, &device->portion_job);
    return false;
}

void vidmm_portion_keep(struct vidmm_portion *portion, D3DKMT_HANDLE *kept, uint32_t count)
{
    portion->kept = kept;
    portion->kept_count = count;
    for (uint32_t i = 0; i < count; i++) {
        struct vidmm_open *open = open_find_queued(portion->device, kept[i]);

        if (open) {
            open->portions++;
            open->kept++;
            open->allocation->pins++;
        }
    }
    portion->device->process->vidmm->old.kept += count;
}

void vidmm_portion_submitted(struct vidmm_portion *portion)
{
    portion->in_flight = true;
    for (uint32_t i = 0; i < portion->count; i++) {
        const struct vidmm_open *open = portion->need[i].write ? open_of(portion, i) : NULL;

        if (open)
            open->allocation->written = true;
    }
}

void vidmm_portion_returned(struct vidmm_portion *portion)
{
    struct vidmm_device *device = portion->device;

    portion->in_flight = false;
    if (!device->portion_posted)
        return;
    device->portion_preparing =
        NULL; /* it may wait for this one to end; readiness_tell has it asked for again */
    paging_poke(device->process->vidmm);
}

void vidmm_portion_release(struct vidmm_portion *portion)
{
    struct vidmm_device *device = portion->device;
    struct vidmm *vidmm = device->process->vidmm;
    uint32_t kept = portion->kept_count;

    unhold(portion);
    vidmm->old.kept -= kept;
    for (uint32_t i = 0; i < kept; i++) {
        struct vidmm_open *open = open_find_queued(device, portion->kept[i]);

        if (open && open->kept) {
            open->portions--;
            open->kept--;
            open->allocation->pins--;
        }
    }
    util_free(portion->kept);
    portion->kept = NULL;
    portion->kept_count = 0;
    if (device->portion_preparing == portion)
        device->portion_preparing = NULL;
    if (device->portion_posted || kept)
        paging_poke(vidmm); /* a job may wait for what this portion held */
}
