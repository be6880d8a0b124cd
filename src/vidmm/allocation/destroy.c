/* SPDX-License-Identifier: MIT */
/*
 * Closing and destroying allocations.
 *
 *   at once      handles become invalid, CPU views end, residency counts are dropped
 *   later        when GPU work queued before is finished (unless the client promises that none
 *                uses them): operations that invalidate entries, unmap the aperture range and free
 *                the place are built and waited for; DxgkDdiCloseAllocation; for allocations that
 *                are no longer open anywhere, DxgkDdiDestroyAllocation; then pages and records are
 *                freed (ALLOC-092)
 *
 * The second half runs on the device's follower fiber, or on the caller's thread if nothing has to
 * be waited for.
 */
#include "vidmm/allocation/destroy.h"
#include "ddi/client_handle.h"
#include "ddi/ddi.h"
#include "nt/base/status_name.h"
#include "nt/base/kprocess.h"
#include "sim/machine.h"
#include "sim/mutex.h"
#include "sim/wait.h"
#include "util/alloc.h"
#include "util/handle.h"
#include "util/list.h"
#include "verify/refusal.h"
#include "verify/verify.h"
#include "vidmm/allocation/allocation.h"
#include "vidmm/allocation/handle_callbacks.h"
#include "vidmm/allocation/offer.h"
#include "vidmm/paging/follow.h"
#include "vidmm/paging/paging.h"
#include "vidmm/paging/paging_worker.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/device_record.h"
#include "vidmm/record/dxgkrnl_objects.h"
#include "vidmm/record/follow_record.h"
#include "vidmm/record/open_record.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/renaming_record.h"
#include "vidmm/record/resource_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/record/vidmm_scheduler.h"
#include "vidmm/residency/cpu_view.h"
#include "vidmm/residency/placement.h"
#include "vidmm/residency/residency.h"
#include "vidmm/residency/victim.h"
#include "vidmm/space/va_mapping.h"

/* How long the destruction of a device waits for drivers to release what they acquired. */
#define ACQUIRED_NS 1000000000u

struct destruction {
    struct vidmm_follow follow;
    struct vidmm_device *device;
    struct vidmm_resource_open *resource_open; /* resource to close, too; NULL: only `opens` */
    struct list opens;                         /* vidmm_open.device_link */
    UINT count;
    HANDLE *handle; /* buffer for lists of handles, count elements */
    bool synchronous, done;
    bool singly; /* allocations of no resource: the driver gets one a call */
    struct sim_waitq finished;
    struct list held; /* in vidmm->destructions_held */
};

static struct destruction *destruction_new(struct vidmm_device *device, UINT capacity)
{
    struct destruction *d = util_zalloc(1, sizeof(*d));

    if (!d)
        return NULL;
    d->device = device;
    d->handle = util_alloc((capacity ? capacity : 1) * sizeof(*d->handle));
    if (!d->handle) {
        util_free(d);
        return NULL;
    }
    follow_init(&d->follow);
    list_init(&d->opens);
    list_init(&d->held);
    sim_waitq_init(&d->finished);
    return d;
}

static void destruction_free(struct destruction *d)
{
    if (!d)
        return;
    util_free(d->handle);
    util_free(d);
}

/* ---- at once (lock held) ---- */

static void end_locks(struct vidmm_open *open)
{
    struct vidmm_allocation *allocation = open->allocation;

    allocation->view.lock_count -= open->lock_count;
    open->lock_count = 0;
    if (allocation->view.lock_count == 0)
        cpu_view_end(allocation);
}

static void instance_dies(struct destruction *d, struct vidmm_open *open)
{
    handle_remove(d->device->process->handles, open->handle, DDI_CLIENT_ALLOCATION);
    end_locks(open);
    offer_forget(open);
    residency_forget(open);
    open->allocation->users++; /* queued GPU work may use it until destruction_run */
    victim_update(open->allocation);
    list_remove(&open->device_link);
    list_remove(&open->resource_link);
    list_push_back(&d->opens, &open->device_link);
    if (!open->allocation->instance.further)
        d->count++;
}

/* With all instances of its allocation: the driver has created one (ALLOC-121). */
static void open_dies(struct destruction *d, struct vidmm_open *open)
{
    if (!open->renaming) {
        instance_dies(d, open);
        return;
    }
    LIST_FOR(node, &open->renaming->instances)
        instance_dies(d, CONTAINER(node, struct vidmm_open, instance_link));
}

static void resource_dies(struct destruction *d, struct vidmm_resource_open *resource_open)
{
    struct list *node;

    handle_remove(d->device->process->handles, resource_open->handle, DDI_CLIENT_RESOURCE);
    list_remove(&resource_open->device_link);
    d->resource_open = resource_open;
    while ((node = list_pop_front(&resource_open->opens)) != NULL)
        open_dies(d, CONTAINER(node, struct vidmm_open, resource_link));
}

/* ---- holds ---- */

struct vidmm_allocation *vidmm_open_hold(struct vidmm_open *open)
{
    open->allocation->claims.acquired++;
    return open->allocation;
}

void vidmm_hold_end(struct vidmm_allocation *allocation)
{
    if (allocation && --allocation->claims.acquired == 0)
        allocation_released(allocation->vidmm);
}

HANDLE vidmm_open_driver_handle(const struct vidmm_open *open)
{
    return open->driver_handle;
}

/* ---- later (lock not held) ---- */

static struct vidmm_open *open_of(struct list *node)
{
    return CONTAINER(node, struct vidmm_open, device_link);
}

bool allocation_dies_unopened(const struct vidmm_allocation *allocation)
{
    return !allocation->resource || allocation->resource->references == 0;
}

/* Will the allocation be destroyed with this open? Opens that are being closed beside it do not
 * count: whichever is closed last, nobody uses its memory any more. */
static bool is_last(const struct vidmm_open *open)
{
    LIST_FOR(node, &open->allocation->opens) {
        const struct vidmm_open *other = CONTAINER(node, struct vidmm_open, link);

        if (other != open && !other->closing)
            return false;
    }
    return allocation_dies_unopened(open->allocation);
}

/* ALLOC-099: the driver still holds a reference to an allocation that would be destroyed. */
static bool is_acquired(const struct destruction *d)
{
    LIST_FOR(node, &d->opens)
        if (open_of(node)->allocation->claims.acquired && is_last(open_of(node)))
            return true;
    return false;
}

/* Does the same process have another open of the allocation? */
static bool process_keeps(const struct vidmm_open *open)
{
    LIST_FOR(node, &open->allocation->opens) {
        const struct vidmm_open *other = CONTAINER(node, struct vidmm_open, link);

        if (other != open && other->device->process == open->device->process)
            return true;
    }
    return false;
}

static bool needs_paging(const struct destruction *d)
{
    LIST_FOR(node, &d->opens) {
        const struct vidmm_allocation *allocation = open_of(node)->allocation;

        if (allocation->runs || !list_empty(&allocation->mappings) ||
            !paging_ticket_done(allocation->vidmm, allocation->arrival.busy_ticket))
            return true;
    }
    return false;
}

/* Their memory is not given to others before no copy can bring back an entry that maps it. */
static bool is_copied(const struct destruction *d)
{
    LIST_FOR(node, &d->opens)
        if (open_of(node)->allocation->claims.copied)
            return true;
    return false;
}

static NTSTATUS drop_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    const struct destruction *d = arg;

    (void)turn;
    if (is_copied(d))
        return STATUS_RETRY; /* its end is announced (copied_use_end) */
    LIST_FOR(node, &d->opens) {
        struct vidmm_open *open = open_of(node);
        struct vidmm_allocation *allocation = open->allocation;

        if (is_last(open)) {
            if (allocation->destroyed)
                continue; /* by another that is closed at the same time */
            allocation->destroyed = true;
            space_allocation_destroyed(vidmm, allocation);
            placement_drop(allocation);
        } else if (!process_keeps(open) && open->device->process->space) {
            space_allocation_closed(open->device->process->space, allocation);
        }
    }
    return STATUS_SUCCESS;
}

static void call_close(struct destruction *d, const HANDLE *handle, UINT count)
{
    const DXGKARG_CLOSEALLOCATION args = {.NumAllocations = count, .pOpenHandleList = handle};
    NTSTATUS status = ddi_close_allocation(d->device->process->vidmm->ddi, d->device->driver_handle,
                                           &args);

    if (ddi_driver_failed(d->device->process->vidmm->ddi, status))
        VIOLATION("ALLOC-084", "DxgkDdiCloseAllocation returned %s", nt_status_text(status).text);
}

static void driver_close(struct destruction *d)
{
    UINT count = 0;

    LIST_FOR(node, &d->opens)
        if (!open_of(node)->allocation->instance.further)
            d->handle[count++] = open_of(node)->driver_handle;
    for (UINT i = 0; d->singly && i < count; i++)
        call_close(d, &d->handle[i], 1);
    if (!d->singly && count)
        call_close(d, d->handle, count);
}

static void call_destroy(struct vidmm *vidmm, const DXGKARG_DESTROYALLOCATION *args)
{
    NTSTATUS status = ddi_destroy_allocation(vidmm->ddi, args);

    if (ddi_driver_failed(vidmm->ddi, status))
        VIOLATION("ALLOC-084", "DxgkDdiDestroyAllocation returned %s", nt_status_text(status).text);
}

/* Destroy the allocations that are no longer open anywhere, and the resource if it goes: in one
 * call, or one a call if they were created singly. */
static void driver_destroy(struct destruction *d, bool resource_goes)
{
    struct vidmm *vidmm = d->device->process->vidmm;
    DXGKARG_DESTROYALLOCATION args = {.pAllocationList = d->handle};

    LIST_FOR(node, &d->opens)
        if (!open_of(node)->allocation->instance.further &&
            list_empty(&open_of(node)->allocation->opens) &&
            allocation_dies_unopened(open_of(node)->allocation))
            d->handle[args.NumAllocations++] = open_of(node)->allocation->driver_handle;
    if (resource_goes && d->resource_open->resource->driver_knows) {
        args.hResource = d->resource_open->resource->driver_handle;
        args.Flags.DestroyResource = 1;
    }
    for (UINT i = 0; d->singly && i < args.NumAllocations; i++) {
        const DXGKARG_DESTROYALLOCATION one = {.NumAllocations = 1,
                                               .pAllocationList = &d->handle[i]};

        call_destroy(vidmm, &one);
    }
    if (!d->singly && (args.NumAllocations || args.Flags.DestroyResource))
        call_destroy(vidmm, &args);
}

/* Does the resource have more allocations, which a reference kept when their last
 * opens were closed? */
static bool has_leftovers(const struct destruction *d)
{
    UINT count = 0;

    LIST_FOR(node, &d->resource_open->resource->allocations)
        count++;
    return count > d->count;
}

/* If the process that created the allocation has closed its last open, no process may lock it any
 * more; its memory counts for the oldest remaining opener (KMT-476). */
static void new_owner(struct vidmm_allocation *allocation, const struct nt_process *leaving)
{
    if (allocation->creator != leaving)
        return;
    LIST_FOR(node, &allocation->opens)
        if (CONTAINER(node, struct vidmm_open, link)->device->process->nt == leaving)
            return;
    allocation->creator = NULL;
}

/* GPU work no longer uses the opens, so they no longer keep their allocations resident. */
static void uses_end(struct destruction *d)
{
    struct vidmm *vidmm = d->device->process->vidmm;

    sim_mutex_lock(&vidmm->lock);
    LIST_FOR(node, &d->opens) {
        list_remove(&open_of(node)->dying_link);
        residency_forget(open_of(node));
    }
    sim_mutex_unlock(&vidmm->lock);
}

/* Free the opens, and the allocations that nobody has open any more. Lock held. */
static void free_opens(struct destruction *d)
{
    struct vidmm *vidmm = d->device->process->vidmm;
    struct list *node;

    while ((node = list_pop_front(&d->opens)) != NULL) {
        struct vidmm_open *open = open_of(node);
        struct vidmm_allocation *allocation = open->allocation;

        allocation->users--;
        if (list_empty(&allocation->opens) && allocation_dies_unopened(allocation)) {
            allocation->destroyed = true;
            allocation_free(allocation);
            vidmm->statistics.allocations_live--;
        } else {
            new_owner(allocation, d->device->process->nt);
            victim_update(allocation);
        }
        open->handle = 0; /* it is none any more (open_dies) */
        open_record_free(open);
    }
}

static void destruction_run(struct destruction *d)
{
    struct vidmm_device *device = d->device;
    struct vidmm *vidmm = device->process->vidmm;
    bool resource_goes = false;
    bool leftovers = false;

    uses_end(d);
    if (is_acquired(d)) {
        list_push_back(&vidmm->destructions_held, &d->held);
        return;
    }
    LIST_FOR(node, &d->opens)
        open_of(node)->closing = true;
    if (needs_paging(d))
        (void)paging_run(vidmm, drop_job,
                         d); /* on failure the adapter is lost, and nothing uses the memory */
    driver_close(d);
    sim_mutex_lock(&vidmm->lock);
    LIST_FOR(link, &d->opens) {
        list_remove(&open_of(link)->link);
        vidmm_tell_open(open_of(link), ALLOCATION_ENDS);
        offer_opens_changed(open_of(link)->allocation);
    }
    if (d->resource_open) {
        list_remove(&d->resource_open->link);
        resource_goes = list_empty(&d->resource_open->resource->opens) &&
                        d->resource_open->resource->references == 0;
        leftovers = resource_goes && has_leftovers(d);
    }
    sim_mutex_unlock(&vidmm->lock);
    driver_destroy(d, resource_goes && !leftovers);
    sim_mutex_lock(&vidmm->lock);
    paging_catch_up(vidmm); /* what an earlier place left mapped */
    free_opens(d);
    if (leftovers) {
        sim_mutex_unlock(&vidmm->lock);
        allocation_destroy_unopened(d->resource_open->resource);
        sim_mutex_lock(&vidmm->lock);
    } else if (resource_goes) {
        resource_record_free(d->resource_open->resource);
    }
    util_free(d->resource_open);
    device->destructions--;
    sim_waitq_wake(&device->idle, UINT32_MAX);
    d->done = true;
    sim_waitq_wake(&d->finished, UINT32_MAX);
    if (!d->synchronous)
        destruction_free(d);
    paging_poke(vidmm);
    sim_mutex_unlock(&vidmm->lock);
}

static void gpu_done(struct vidmm_device *device, struct vidmm_follow *follow)
{
    struct vidmm *vidmm = device->process->vidmm;

    sim_mutex_unlock(&vidmm->lock);
    destruction_run(CONTAINER(follow, struct destruction, follow));
    sim_mutex_lock(&vidmm->lock);
}

/* Lock held; dropped meanwhile. Afterwards `d` may have been freed, unless it is synchronous. */
static void destruction_start(struct destruction *d, bool assume_idle)
{
    struct vidmm_device *device = d->device;
    const struct vidmm_scheduler *scheduler = device->process->vidmm->scheduler;
    uint64_t ticket = assume_idle ? 0 : scheduler->device_ticket(device);
    bool idle = (ticket == 0 || scheduler->device_done(device, ticket)) &&
                list_empty(&device->follows);

    LIST_FOR(node, &d->opens) {
        open_of(node)->last_use = ticket;
        if (ticket && !idle)
            list_push_back(&device->dying, &open_of(node)->dying_link);
    }
    device->destructions++;
    if (idle && !is_acquired(d) && (d->synchronous || !needs_paging(d))) {
        gpu_done(device, &d->follow);
        return;
    }
    /* Also when the device is idle but paging is needed: the client must not wait for
     * paging (KMT-018). */
    follow_after(device, &d->follow, ticket, gpu_done);
}

void allocation_released(struct vidmm *vidmm)
{
    struct list *node;

    while ((node = list_pop_front(&vidmm->destructions_held)) != NULL) {
        struct destruction *d = CONTAINER(node, struct destruction, held);

        follow_after(d->device, &d->follow, 0, gpu_done);
    }
}

/* ---- resources that no device has open ---- */

static NTSTATUS drop_resource_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    const struct vidmm_resource *resource = arg;

    (void)turn;
    LIST_FOR(node, &resource->allocations) {
        struct vidmm_allocation *allocation = CONTAINER(node, struct vidmm_allocation,
                                                        resource_link);

        allocation->destroyed = true;
        space_allocation_destroyed(vidmm, allocation);
        placement_drop(allocation);
    }
    return STATUS_SUCCESS;
}

void allocation_destroy_unopened(struct vidmm_resource *resource)
{
    struct vidmm *vidmm = resource->vidmm;
    DXGKARG_DESTROYALLOCATION args = {.hResource = resource->driver_handle};
    struct vidmm_allocation *dying[16];
    HANDLE few[16];
    UINT count;
    struct list *node;

    (void)paging_run(vidmm, drop_resource_job, resource);
    args.pAllocationList = few;
    while (resource->driver_knows && !args.Flags.DestroyResource) {
        /* Several calls of up to 16, so that no memory is needed; the last
         * destroys the resource. */
        count = 0;
        sim_mutex_lock(&vidmm->lock);
        while (count < 16 && (node = list_pop_front(&resource->allocations)) != NULL) {
            struct vidmm_allocation *allocation = CONTAINER(node, struct vidmm_allocation,
                                                            resource_link);

            dying[count] = allocation;
            few[count++] = allocation->driver_handle;
        }
        args.NumAllocations = count; /* `count` is used later, since the driver may change args */
        args.Flags.DestroyResource = list_empty(&resource->allocations);
        sim_mutex_unlock(&vidmm->lock);
        call_destroy(vidmm, &args);
        sim_mutex_lock(&vidmm->lock);
        paging_catch_up(vidmm);
        for (UINT i = 0; i < count; i++) /* only now the driver has been told (PHYS-186) */
            allocation_free(dying[i]);
        vidmm->statistics.allocations_live -= count;
        sim_mutex_unlock(&vidmm->lock);
    }
    resource_record_free(resource);
}

/* ---- requests ---- */

/* All handles must be of the same resource, or all of none, and each may occur once
 * (ALLOC-085, KMT-263). */
static bool check_list(struct vidmm_device *device, const D3DKMT_HANDLE *list, UINT count)
{
    struct vidmm_open *first = count ? open_find(device, list[0]) : NULL;
    bool ok = first != NULL;
    UINT seen = 0;

    if (count == 0)
        (void)refuse(STATUS_INVALID_PARAMETER, NULL, "a list of no allocations");
    for (; seen < count && ok; seen++) {
        struct vidmm_open *open = open_find(device, list[seen]);

        if (!open)
            break;
        ok = open->resource_open == first->resource_open && open->mark++ == 0;
        if (!ok)
            (void)refuse(STATUS_INVALID_PARAMETER, NULL,
                         "element %u of the list, handle 0x%x, is %s", seen, list[seen],
                         open->resource_open == first->resource_open
                             ? "there twice"
                             : "of another resource than the first");
    }
    ok = ok && seen == count;
    while (seen--)
        open_find(device, list[seen])->mark = 0;
    return ok;
}

NTSTATUS vidmm_allocation_destroy(struct vidmm_device *device, D3DKMT_HANDLE resource,
                                  const D3DKMT_HANDLE *list, UINT count,
                                  D3DDDICB_DESTROYALLOCATION2FLAGS flags)
{
    struct vidmm *vidmm = device->process->vidmm;
    struct vidmm_resource_open *resource_open = NULL;
    struct destruction *d;
    bool ok;

    if (flags.Reserved || flags.SystemUseOnly)
        return refuse(STATUS_INVALID_PARAMETER, NULL, "reserved bits in Flags 0x%x", flags.Value);
    if ((resource != 0) == (list != NULL))
        return refuse(STATUS_INVALID_PARAMETER, NULL, "resource 0x%x and %s list of allocations",
                      resource, list ? "a" : "no");
    sim_mutex_lock(&vidmm->lock);
    if (resource) {
        resource_open = handle_lookup(device->process->handles, resource, DDI_CLIENT_RESOURCE);
        ok = resource_open && resource_open->device == device &&
             !list_empty(&resource_open->device_link);
        if (!ok)
            (void)refuse(STATUS_INVALID_PARAMETER, "KMT-026",
                         "handle 0x%x is no resource of this device", resource);
        count = 0;
        if (ok)
            LIST_FOR(node, &resource_open->opens)
                count++;
    } else {
        ok = check_list(device, list, count);
    }
    d = ok ? destruction_new(device, count) : NULL;
    if (!d) {
        sim_mutex_unlock(&vidmm->lock);
        return ok ? STATUS_NO_MEMORY : STATUS_INVALID_PARAMETER;
    }
    d->synchronous = flags.SynchronousDestroy;
    if (resource)
        resource_dies(d, resource_open);
    for (UINT i = 0; !resource && i < count; i++) {
        struct vidmm_open *open = handle_lookup(device->process->handles, list[i],
                                                DDI_CLIENT_ALLOCATION);

        if (open) /* it did not go with another instance before it in the list */
            open_dies(d, open);
    }
    destruction_start(d, flags.AssumeNotInUse);
    sim_mutex_unlock(&vidmm->lock);
    if (flags.SynchronousDestroy) {
        while (!d->done)
            sim_waitq_wait(&d->finished, SIM_FOREVER);
        destruction_free(d);
    }
    return STATUS_SUCCESS;
}

/* ---- closing a device ---- */

NTSTATUS allocation_prepare_close(struct vidmm_device *device)
{
    device->last_destruction = destruction_new(device, 1);
    return device->last_destruction ? STATUS_SUCCESS : STATUS_NO_MEMORY;
}

/* Start destroying as much as one destruction can hold: a resource with its allocations, or all
 * allocations that belong to none, which the driver gets singly (ALLOC-145). If there is no memory
 * for that, one allocation at a time, with the destruction that was allocated when the device was
 * created. */
static struct destruction *next_to_die(struct vidmm_device *device)
{
    struct vidmm_resource_open *resource_open = NULL;
    struct destruction *d;
    UINT count = 0;

    if (!list_empty(&device->resource_opens))
        resource_open = CONTAINER(device->resource_opens.next, struct vidmm_resource_open,
                                  device_link);
    LIST_FOR(node, &device->opens)
        count++;
    d = destruction_new(device, count);
    if (!d) {
        d = device->last_destruction;
        d->resource_open = NULL;
        d->count = 0;
        d->done = false;
    }
    d->synchronous = true;
    if (resource_open && (d != device->last_destruction || list_empty(&resource_open->opens)))
        resource_dies(d, resource_open);
    else if (d == device->last_destruction)
        open_dies(d, CONTAINER(device->opens.next, struct vidmm_open, device_link));
    else
        while (!list_empty(&device->opens))
            open_dies(d, CONTAINER(device->opens.next, struct vidmm_open, device_link));
    d->singly = d->resource_open == NULL;
    return d;
}

/* Wait until it is done. Waits without limit for the GPU, but not for a driver that has forgotten
 * to release what it acquired: a device can always be destroyed. */
static void wait_for(struct destruction *d)
{
    while (!d->done)
        if (sim_waitq_wait(&d->finished, sim_now() + ACQUIRED_NS) == SIM_TIMED_OUT &&
            !list_empty(&d->held))
            handle_references_end_of(d->device);
}

void allocation_close_all(struct vidmm_device *device)
{
    struct vidmm *vidmm = device->process->vidmm;

    for (;;) {
        struct destruction *d;

        while (device->destructions)
            if (sim_waitq_wait(&device->idle, sim_now() + ACQUIRED_NS) == SIM_TIMED_OUT &&
                !list_empty(&vidmm->destructions_held))
                handle_references_end_of(device);
        if (list_empty(&device->opens) && list_empty(&device->resource_opens))
            break;
        sim_mutex_lock(&vidmm->lock);
        d = next_to_die(device);
        destruction_start(d, true);
        sim_mutex_unlock(&vidmm->lock);
        wait_for(d);
        if (d != device->last_destruction)
            destruction_free(d);
    }
    destruction_free(device->last_destruction);
}
