/* SPDX-License-Identifier: MIT */
/*
 * Residency lists: each device has a list of allocations, each with a count (RES-010). A client's
 * call changes counts at once; the worker then moves memory. No context of a device runs while an
 * allocation of its list is missing. Missing allocations are on device->missing_list, so neither
 * the check nor the paging looks at those that are resident.
 *
 * MakeResident succeeds or fails as a whole, and decides from counters before it changes anything:
 * does the list with the additions fit the segments (device->charged), and is the process within
 * its budget (budget.c)? Each entry is charged to the first segment of its placement order that has
 * room by these counters. The allocation may later be placed elsewhere.
 */
#include "vidmm/residency/residency.h"
#include "sim/mutex.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/checked.h"
#include "util/list.h"
#include "verify/refusal.h"
#include "vidmm/paging/follow.h"
#include "vidmm/paging/paging_worker.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/device_record.h"
#include "vidmm/record/dxgkrnl_events.h"
#include "vidmm/record/follow_record.h"
#include "vidmm/record/open_record.h"
#include "vidmm/record/paging_record.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/segment_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/record/vidmm_run.h"
#include "vidmm/record/vidmm_scheduler.h"
#include "vidmm/residency/budget.h"
#include "vidmm/residency/cpu_view.h"
#include "vidmm/residency/departure.h"
#include "vidmm/residency/open_place.h"
#include "vidmm/residency/readiness.h"
#include "vidmm/residency/repack.h"
#include "vidmm/residency/victim.h"
#include "vidmm/space/address_space.h"
#include "vidmm/space/root_table.h"

/* ---- the list ---- */

void residency_add(struct vidmm_open *open)
{
    struct vidmm_allocation *allocation = open->allocation;
    struct vidmm *vidmm = allocation->vidmm;

    vidmm_assert_locked(open->allocation->vidmm);
    list_push_back(&open->device->residency, &open->residency_link);
    open->listed_at = ++vidmm->clock;
    allocation->device_references++;
    if (!vidmm_writes_are_listed(vidmm))
        allocation->written = true; /* assume so */
    departure_cancel(allocation);
    if (!allocation->ready)
        readiness_joining(open);
    victim_update(allocation);
}

static void used_no_more(struct vidmm_device *device, struct vidmm_follow *follow)
{
    struct vidmm_allocation *allocation = CONTAINER(follow, struct vidmm_open, use)->allocation;

    (void)device;
    allocation->users--;
    departure_consider(allocation);
    victim_update(allocation);
    paging_poke(allocation->vidmm);
}

static void off_the_list(struct vidmm_open *open)
{
    struct vidmm_allocation *allocation = open->allocation;

    list_remove(&open->residency_link);
    budget_uncharge(open);
    if (--allocation->device_references == 0)
        allocation->victim.released_at = ++allocation->vidmm->clock;
}

void residency_unlist(struct vidmm_open *open)
{
    open->residency_count = 0;
    off_the_list(open);
    victim_update(open->allocation);
    readiness_not_missing(open);
}

void residency_remove(struct vidmm_open *open, bool leave)
{
    struct vidmm_allocation *allocation = open->allocation;

    vidmm_assert_locked(open->allocation->vidmm);
    off_the_list(open);
    if (allocation->device_references == 0)
        allocation->victim.leave = leave;
    /* RES-026: work queued before may still use it, also such as was queued since it was taken off
     * the list last. */
    if (follow_pending(&open->use))
        follow_cancel(&open->use);
    else
        allocation->users++;
    open->last_use = allocation->vidmm->scheduler->device_ticket(open->device);
    follow_device(open->device, &open->use, used_no_more);
    victim_update(allocation);
    readiness_not_missing(open);
}

void residency_forget(struct vidmm_open *open)
{
    if (open->residency_count) {
        open->residency_count = 0;
        list_remove(&open->residency_link);
        budget_uncharge(open);
        open->allocation->device_references--;
        readiness_not_missing(open);
    }
    if (follow_pending(&open->use)) {
        follow_cancel(&open->use);
        open->allocation->users--;
    }
    open->allocation->pins -=
        open->kept; /* PATCH-122: its handle is dead, so vidmm_portion_release cannot do this */
    open->kept = 0;
    victim_update(open->allocation);
}

/* ---- bringing in ---- */

/* Make the allocations of one of the two lists resident, oldest first. If one of the device's list
 * is moved out for that, it is missing again and is added at the end. */
static NTSTATUS bring_in_list(struct paging_turn *turn, struct vidmm_device *device,
                              struct list *list)
{
    struct list *node = list->next;

    while (node != list) {
        struct vidmm_open *open = CONTAINER(node, struct vidmm_open, missing_link);
        struct list *next = node->next;
        NTSTATUS status = open->allocation->resident
                              ? STATUS_SUCCESS
                              : repack_bring_in(turn, device, open->allocation);

        if (!NT_SUCCESS(status))
            return status;
        if (!list_empty(node))
            node = node->next; /* it is still on the list, and will be ready later */
        else if (next != list && !list_empty(next))
            node = next; /* it became ready at once and left the list */
        else
            node = list->next;
    }
    return STATUS_SUCCESS;
}

/* Make resident what the device is missing: first that for which all its work waits, since some of
 * that may have to run before there is room for the rest. */
static NTSTATUS bring_in_missing(struct paging_turn *turn, struct vidmm_device *device)
{
    NTSTATUS status;

    do {
        device->displaced = false;
        status = bring_in_list(turn, device, &device->missing_list);
        if (NT_SUCCESS(status))
            status = readiness_return_tables(device);
        if (NT_SUCCESS(status))
            status = bring_in_list(turn, device, &device->joining_list);
    } while (NT_SUCCESS(status) && device->displaced);
    return status;
}

void residency_fail_device(struct vidmm_device *device)
{
    struct vidmm *vidmm = device->process->vidmm;

    if (device->lost || vidmm->lost)
        return;
    device->tell_error = true;
    if (list_empty(&device->tell_link))
        list_push_back(&vidmm->tell_devices, &device->tell_link);
    paging_tell(vidmm);
}

/* The job of one MakeResident call: the listed allocations that were not ready. */
struct residency_job {
    struct vidmm_device *device;
    UINT count;
    struct vidmm_allocation *allocation[]; /* with a hold (allocation_hold) */
};

static NTSTATUS make_resident_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    const struct residency_job *job = arg;
    NTSTATUS status = STATUS_SUCCESS;

    (void)vidmm;
    if (job->device->lost)
        return STATUS_DEVICE_REMOVED;
    job->device->displaced = false;
    for (UINT i = 0; i < job->count && NT_SUCCESS(status); i++) {
        struct vidmm_allocation *allocation = job->allocation[i];

        if (!allocation->gone && !allocation->destroyed && allocation->device_references &&
            !allocation->offer.in_force)
            status = repack_bring_in(turn, job->device, allocation);
    }
    if (NT_SUCCESS(status) && job->device->displaced)
        status = bring_in_missing(turn, job->device); /* members that were moved out for this */
    if (!NT_SUCCESS(status) && status != STATUS_RETRY)
        residency_fail_device(job->device); /* RES-040 */
    return status;
}

static void make_resident_done(struct vidmm *vidmm, void *arg, NTSTATUS status)
{
    struct residency_job *job = arg;

    (void)vidmm;
    (void)status;
    for (UINT i = 0; i < job->count; i++)
        allocation_unhold(job->allocation[i]);
    util_free(job);
}

/* A job with room for `count` allocations; NULL: out of memory. */
static struct residency_job *job_new(struct vidmm_device *device, UINT count)
{
    struct residency_job *job;
    uint64_t bytes;

    if (ckd_mul(&bytes, (uint64_t)count, sizeof(job->allocation[0])) ||
        ckd_add(&bytes, bytes, sizeof(*job)))
        return NULL;
    job = util_alloc(bytes);
    if (job) {
        job->device = device;
        job->count = 0;
    }
    return job;
}

static void job_add(struct residency_job *job, struct vidmm_allocation *allocation)
{
    allocation_hold(allocation);
    job->allocation[job->count++] = allocation;
}

struct residency_job *residency_job_new(struct vidmm_device *device, UINT count)
{
    return job_new(device, count);
}

void residency_job_add(struct residency_job *job, struct vidmm_open *open)
{
    if (open->residency_count && !open->allocation->ready)
        job_add(job, open->allocation);
}

/* For events: the device's open of its one allocation; 0 if there are more. */
static uint64_t about_of(const struct residency_job *job)
{
    if (job->count != 1)
        return 0;
    LIST_FOR(link, &job->allocation[0]->opens) {
        const struct vidmm_open *open = CONTAINER(link, struct vidmm_open, link);

        if (open->device == job->device)
            return vidmm_open_handle(open);
    }
    return 0;
}

NTSTATUS residency_job_post(struct vidmm_paging_queue *queue, struct residency_job *job,
                            uint64_t *fence)
{
    NTSTATUS status = STATUS_SUCCESS;

    if (job->count) {
        const struct paging_work work = {.fn = make_resident_job,
                                         .release = make_resident_done,
                                         .arg = job,
                                         .kind = JOB_MAKE_RESIDENT,
                                         .about = about_of(job)};

        status = paging_queue_post(queue, &work, fence);
        if (NT_SUCCESS(status))
            return STATUS_PENDING;
    }
    make_resident_done(queue->base.vidmm, job, status);
    return status;
}

/* ---- MakeResident ---- */

/* Increment the count of every element, charging those that are not listed yet. On failure
 * nothing has changed. */
static NTSTATUS count_all(struct vidmm_device *device, const D3DKMT_HANDLE *list, UINT count,
                          bool over_budget, uint64_t *bytes_to_trim)
{
    NTSTATUS status = STATUS_SUCCESS;
    UINT done;

    for (done = 0; done < count; done++) {
        struct vidmm_open *open = open_find(device, list[done]);

        if (open->residency_count == 0) {
            status = budget_charge(open, over_budget);
            if (!NT_SUCCESS(status))
                break;
        }
        open->residency_count++;
    }
    if (NT_SUCCESS(status))
        return status;
    *bytes_to_trim = budget_excess(device, list + done, count - done);
    (void)refuse(status, NULL,
                 "element %u of the list, handle 0x%x, does not fit %s: %llu bytes have to go",
                 done, list[done], over_budget ? "into video memory" : "into the budget",
                 (unsigned long long)*bytes_to_trim);
    while (done--) {
        struct vidmm_open *open = open_find(device, list[done]);

        if (--open->residency_count == 0)
            budget_uncharge(open);
    }
    return status;
}

static void uncount_all(struct vidmm_device *device, const D3DKMT_HANDLE *list, UINT count)
{
    for (UINT i = 0; i < count; i++) {
        struct vidmm_open *open = open_find(device, list[i]);

        if (--open->residency_count == 0)
            residency_remove(open, false);
    }
}

/* Put new elements on the list, and add those that are not ready to the job. */
static void list_all(struct vidmm_device *device, const D3DKMT_HANDLE *list, UINT count,
                     struct residency_job *job)
{
    for (UINT i = 0; i < count; i++) {
        struct vidmm_open *open = open_find(device, list[i]);

        if (list_empty(&open->residency_link))
            residency_add(open);
        vidmm_tell_listed(open);
        residency_job_add(job, open);
    }
}

static NTSTATUS check_make_resident(struct vidmm_device *device, const D3DKMT_HANDLE *list,
                                    UINT count, D3DDDI_MAKERESIDENT_FLAGS flags)
{
    if (flags.Reserved || (flags.MustSucceed && !flags.CantTrimFurther))
        return refuse(STATUS_INVALID_PARAMETER, "RES-020", /* RES-012 */
                      "Flags 0x%x: reserved bits, or MustSucceed without CantTrimFurther",
                      flags.Value);
    for (UINT i = 0; i < count; i++)
        if (!open_find(device, list[i]))
            return STATUS_INVALID_PARAMETER;
    if (device->lost || device->process->vidmm->lost)
        return refuse(STATUS_DEVICE_REMOVED, NULL, "the device or the adapter is lost");
    return STATUS_SUCCESS;
}

NTSTATUS vidmm_make_resident(struct vidmm_paging_queue *queue, const D3DKMT_HANDLE *list,
                             UINT count, D3DDDI_MAKERESIDENT_FLAGS flags, uint64_t *fence,
                             uint64_t *bytes_to_trim)
{
    struct vidmm_device *device = queue->base.device;
    struct vidmm *vidmm = queue->base.vidmm;
    struct residency_job *job;
    uint64_t trim = 0;
    NTSTATUS status;

    *fence = 0;
    *bytes_to_trim = 0;
    job = job_new(device, count); /* allocated first, so that a failure changes nothing */
    if (!job)
        return STATUS_NO_MEMORY;
    sim_mutex_lock(&vidmm->lock);
    status = check_make_resident(device, list, count, flags);
    if (NT_SUCCESS(status)) {
        status = count_all(device, list, count, flags.CantTrimFurther, &trim);
        if (status == STATUS_NO_MEMORY && flags.MustSucceed)
            residency_fail_device(device); /* RES-020 */
    }
    if (NT_SUCCESS(status)) {
        list_all(device, list, count, job);
        status = residency_job_post(queue, job, fence);
        if (!NT_SUCCESS(status))
            uncount_all(device, list, count);
    } else {
        util_free(job);
    }
    sim_mutex_unlock(&vidmm->lock);
    if (status == STATUS_NO_MEMORY)
        *bytes_to_trim = trim;
    return status;
}

/* ---- Evict ---- */

/* RES-025: every count must suffice; a handle may occur more than once. */
static bool check_evict(struct vidmm_device *device, const D3DKMT_HANDLE *list, UINT count)
{
    bool ok = true;
    UINT seen = 0;

    for (; seen < count && ok; seen++) {
        struct vidmm_open *open = open_find(device, list[seen]);

        if (!open)
            break;
        ok = ++open->mark <= open->residency_count;
        if (!ok)
            (void)refuse(STATUS_INVALID_PARAMETER, "RES-025",
                         "handle 0x%x is evicted %u times, and was made resident %u times",
                         list[seen], (UINT)open->mark, (UINT)open->residency_count);
    }
    ok = ok && seen == count;
    while (seen--)
        open_find(device, list[seen])->mark = 0;
    return ok;
}

NTSTATUS vidmm_evict(struct vidmm_device *device, const D3DKMT_HANDLE *list, UINT count,
                     D3DDDI_EVICT_FLAGS flags, uint64_t *bytes_to_trim)
{
    struct vidmm *vidmm = device->process->vidmm;
    NTSTATUS status = STATUS_INVALID_PARAMETER;

    if (flags.Reserved)
        return refuse(status, NULL, "reserved bits in Flags 0x%x", flags.Value);
    sim_mutex_lock(&vidmm->lock);
    if (check_evict(device, list, count)) {
        for (UINT i = 0; i < count; i++) {
            struct vidmm_open *open = open_find(device, list[i]);

            if (flags.NotWrittenTo)
                open->allocation->written =
                    /* matters only if a system copy exists (RES-029) */
                    false;
            if (--open->residency_count == 0)
                residency_remove(open, !flags.EvictOnlyIfNecessary);
        }
        *bytes_to_trim = budget_over(device->process);
        status = STATUS_SUCCESS;
    }
    sim_mutex_unlock(&vidmm->lock);
    return status;
}

/* ---- before a submission ---- */

static NTSTATUS prepare_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    struct vidmm_device *device = arg;
    NTSTATUS status;

    (void)vidmm;
    if (device->lost)
        return STATUS_DEVICE_REMOVED;
    status = bring_in_missing(turn, device);
    if (!NT_SUCCESS(status) && status != STATUS_RETRY)
        residency_fail_device(device);
    return status;
}

static void prepare_done(struct vidmm *vidmm, void *arg, NTSTATUS status)
{
    struct vidmm_device *device = arg;

    (void)vidmm;
    (void)status;
    device->preparing = false;
    /* Something was evicted again before everything had arrived: repeat. */
    if (device->held && !device->lost && NT_SUCCESS(status))
        residency_prepare(device);
}

void residency_prepare(struct vidmm_device *device)
{
    if (device->preparing)
        return;
    device->preparing = true;
    device->prepare_job = (struct paging_job){
        .fn = prepare_job, .release = prepare_done, .arg = device, .kind = JOB_PAGE_IN_DEVICE};
    paging_job_post(&device->prepare, &device->prepare_job);
}

/* Without the lock: no other thread runs during this function, and the scheduler may be holding up
 * the lock's owner, so waiting could deadlock. */
bool vidmm_device_prepare(struct vidmm_device *device, struct vidmm_context *context,
                          uint64_t ticket)
{
    struct vidmm *vidmm = device->process->vidmm;
    const struct vidmm_space *space = context ? space_of_context(context) : device->process->space;

    /* its own allocations stay pinned (vidmm_context_prepare) */
    if (readiness_allows(device, ticket) && !(space && space->tables.away)) {
        device->used_at = ++vidmm->clock;
        if (device->granted_until) {
            device->granted_until = 0;
            paging_poke(vidmm);
        }
        return true;
    }
    device->held = true;
    residency_prepare(device);
    return false;
}

/* ---- where an allocation is ---- */

bool vidmm_open_place(const struct vidmm_open *open, struct vidmm_place *place)
{
    const struct vidmm_allocation *allocation = open->allocation;
    const struct vidmm *vidmm = allocation->vidmm;
    UINT segment = allocation->segment;

    *place = (struct vidmm_place){.device_specific = open->driver_handle};
    if (!allocation->ready)
        return false;
    place->resident = true;
    place->segment = segment;
    if (segment == 0)
        return true;
    if (segment_is_aperture(&vidmm->segment[segment]))
        place->physical = segment_physical(&vidmm->segment[segment],
                                           segment_page_addr(allocation->aperture.first));
    else if (allocation->run_count == 1)
        place->physical = segment_physical(&vidmm->segment[segment],
                                           segment_page_addr(allocation->runs[0].first));
    return true;
}

bool vidmm_open_accessed_physically(const struct vidmm_open *open)
{
    return open->allocation->accessed_physically;
}

struct vidmm_allocation *vidmm_open_history(const struct vidmm_open *open)
{
    return open->allocation->flags.HistoryBuffer ? open->allocation : NULL;
}

uint64_t vidmm_open_bytes(const struct vidmm_open *open)
{
    return open->allocation->bytes;
}

bool vidmm_open_on_residency_list(const struct vidmm_open *open)
{
    return open->residency_count != 0 || (!list_empty(&open->dying_link) && open->allocation->ready);
}

bool vidmm_open_locked(const struct vidmm_open *open)
{
    return open->allocation->view.lock_count != 0;
}

static UINT aperture_set(const struct vidmm *vidmm)
{
    UINT set = 0;

    for (UINT id = 1; id <= vidmm->segment_count; id++)
        if (segment_is_aperture(&vidmm->segment[id]))
            set |= segment_bit(id);
    return set;
}

bool vidmm_open_has_aperture(const struct vidmm_open *open)
{
    return open->allocation->segments.supported & aperture_set(open->allocation->vidmm);
}

bool vidmm_open_aperture_only(const struct vidmm_open *open)
{
    return !(open->allocation->segments.supported & ~aperture_set(open->allocation->vidmm));
}

bool vidmm_open_swizzles(const struct vidmm_open *open)
{
    return open->allocation->view.order.swizzles;
}

void vidmm_open_used(struct vidmm_open *open, bool write)
{
    open->used_by = open->allocation->vidmm->scheduler->device_ticket(open->device);
    if (write)
        open->written_by = open->used_by;
}

bool vidmm_open_may_leave_memory(const struct vidmm_open *open)
{
    const struct vidmm_allocation *allocation = open->allocation;

    return cpu_view_may_leave_memory(allocation) &&
           !(allocation->victim.captured && cpu_view_in_memory_segment(allocation));
}

bool vidmm_open_read_only(const struct vidmm_open *open)
{
    return open->read_only;
}

bool vidmm_open_offered(const struct vidmm_open *open)
{
    return open->allocation->offer.in_force;
}

struct vidmm_device *vidmm_open_device(const struct vidmm_open *open)
{
    return open->device;
}
