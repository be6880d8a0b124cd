/* SPDX-License-Identifier: MIT */
/*
 * Offered allocations: when memory is needed, their content may be discarded instead of paged out
 * (RES-062 to RES-073). An offer takes effect (in_force) when every device that has the allocation
 * open has offered it (KMT-285) and the GPU work queued before is finished. Reclaiming ends the
 * offer for all devices, and reports whether the content still exists.
 */
#include "vidmm/allocation/offer.h"
#include "ddi/client_handle.h"
#include "nt/base/kprocess.h"
#include "sim/mutex.h"
#include "util/handle.h"
#include "util/list.h"
#include "verify/refusal.h"
#include "vidmm/content/backing.h"
#include "vidmm/paging/follow.h"
#include "vidmm/paging/paging_worker.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/device_record.h"
#include "vidmm/record/follow_record.h"
#include "vidmm/record/open_record.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/resource_record.h"
#include "vidmm/record/segment_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/residency/readiness.h"
#include "vidmm/residency/residency.h"
#include "vidmm/residency/victim.h"

static uint32_t opens_of(const struct vidmm_allocation *allocation)
{
    uint32_t count = 0;

    LIST_FOR(node, &allocation->opens)
        count++;
    return count;
}

/* Does the offer take effect now? Called after each change of what it depends on. */
static void offer_update(struct vidmm_allocation *allocation)
{
    bool all = allocation->offer.count && allocation->offer.count == opens_of(allocation);
    bool in_force = all;

    LIST_FOR(node, &allocation->opens)
        if (follow_pending(&CONTAINER(node, struct vidmm_open, link)->offer_after))
            in_force = false;
    if (in_force == allocation->offer.in_force)
        return;
    allocation->offer.in_force = in_force;
    if (in_force)
        allocation->victim.released_at = ++allocation->vidmm->clock;
    LIST_FOR(node, &allocation->opens) {
        struct vidmm_open *open = CONTAINER(node, struct vidmm_open, link);

        if (in_force)
            readiness_not_missing(open);
        else if (open->residency_count && !allocation->ready)
            readiness_missing(open); /* it was opened once more */
    }
    victim_update(allocation);
    paging_poke(allocation->vidmm);
}

void offer_opens_changed(struct vidmm_allocation *allocation)
{
    offer_update(allocation);
}

static void gpu_done(struct vidmm_device *device, struct vidmm_follow *follow)
{
    (void)device;
    offer_update(CONTAINER(follow, struct vidmm_open, offer_after)->allocation);
}

void offer_forget(struct vidmm_open *open)
{
    follow_cancel(&open->offer_after);
    if (open->offered) {
        open->offered = false;
        open->allocation->offer.count--;
    }
    if (open->allocation->offer.count == 0)
        open->allocation->offer.in_force = false;
}

static void offer(struct vidmm_open *open, D3DKMT_OFFER_PRIORITY priority, D3DKMT_OFFER_FLAGS flags)
{
    struct vidmm_allocation *allocation = open->allocation;

    allocation->offer.priority = (UINT)priority;
    allocation->offer.decommit = flags.AllowDecommit;
    if (!open->offered) {
        open->offered = true;
        allocation->offer.count++;
    }
    if (!flags.OfferImmediately && !follow_pending(&open->offer_after))
        follow_device(open->device, &open->offer_after, gpu_done); /* RES-063 */
    offer_update(allocation);
    victim_update(allocation); /* the priority may have changed */
}

static D3DDDI_RECLAIM_RESULT reclaim(struct vidmm_open *open)
{
    struct vidmm_allocation *allocation = open->allocation;
    D3DDDI_RECLAIM_RESULT result = allocation->offer.discarded ? D3DDDI_RECLAIM_RESULT_DISCARDED
                                                               : D3DDDI_RECLAIM_RESULT_OK;

    if (allocation->offer.uncommitted && !NT_SUCCESS(backing_take(allocation)))
        return D3DDDI_RECLAIM_RESULT_NOT_COMMITTED; /* RES-071 */
    allocation->offer.uncommitted = false;
    LIST_FOR(node, &allocation->opens) {
        struct vidmm_open *other = CONTAINER(node, struct vidmm_open, link);

        follow_cancel(&other->offer_after);
        other->offered = false;
    }
    allocation->offer.count = 0;
    allocation->offer.in_force = false;
    allocation->offer.discarded = false;
    LIST_FOR(node, &allocation->opens) {
        struct vidmm_open *other = CONTAINER(node, struct vidmm_open, link);

        if (other->residency_count && !allocation->ready)
            readiness_joining(other);
    }
    victim_update(allocation);
    return result;
}

/* ---- lists of allocations or resources ---- */

struct offer_walk {
    struct vidmm_device *device;
    const D3DKMT_HANDLE *resources, *list;
    UINT count;
};

/* Call `visit` for each allocation, in order. False: a handle is invalid, or
 * `visit` returned false. */
static bool walk(const struct offer_walk *w,
                 bool (*visit)(struct vidmm_open *open, UINT index, void *arg), void *arg)
{
    const struct handle_table *handles = w->device->process->handles;

    for (UINT i = 0; i < w->count; i++) {
        if (w->list) {
            struct vidmm_open *open = open_find(w->device, w->list[i]);

            if (!open || !visit(open, i, arg))
                return false;
            continue;
        }

        struct vidmm_resource_open *resource = handle_lookup(handles, w->resources[i],
                                                             DDI_CLIENT_RESOURCE);

        if (!resource || resource->device != w->device || list_empty(&resource->device_link)) {
            (void)refuse(STATUS_INVALID_PARAMETER, "KMT-026",
                         "handle 0x%x is no resource of this device", w->resources[i]);
            return false;
        }
        LIST_FOR(node, &resource->opens)
            if (!visit(CONTAINER(node, struct vidmm_open, resource_link), i, arg))
                return false;
    }
    return true;
}

static bool is_one_list(const struct offer_walk *w)
{
    if ((w->resources != NULL) != (w->list != NULL) && w->count != 0)
        return true;
    (void)refuse(STATUS_INVALID_PARAMETER, "KMT-279", /* RES-062 */
                 "%u elements, %s resources, %s allocations: one list of them, not empty", w->count,
                 w->resources ? "with" : "without", w->list ? "with" : "without");
    return false;
}

/* ALLOC-142: a resource instead of a list, not with one. */
static bool is_alone(const struct offer_walk *w, UINT count)
{
    if (!is_one_list(w))
        return false;
    if (!w->resources || count == 0)
        return true;
    (void)refuse(STATUS_INVALID_PARAMETER, "ALLOC-142", "a resource and a list of %u allocations",
                 count);
    return false;
}

static bool may_offer(struct vidmm_open *open, UINT index, void *arg)
{
    (void)arg;
    if (open->allocation->view.lock_count == 0 && open->allocation->pins == 0)
        return true;
    (void)refuse(STATUS_INVALID_PARAMETER, "RES-073", "element %u is locked or pinned", index);
    return false;
}

struct offer_arg {
    D3DKMT_OFFER_PRIORITY priority;
    D3DKMT_OFFER_FLAGS flags;
};

static bool offer_one(struct vidmm_open *open, UINT index, void *arg)
{
    const struct offer_arg *a = arg;

    (void)index;
    offer(open, a->priority, a->flags);
    return true;
}

NTSTATUS vidmm_offer(struct vidmm_device *device, const D3DKMT_HANDLE *resources,
                     const D3DKMT_HANDLE *list, UINT count, D3DKMT_OFFER_PRIORITY priority,
                     D3DKMT_OFFER_FLAGS flags)
{
    struct vidmm *vidmm = device->process->vidmm;
    const struct offer_walk w = {
        .device = device, .resources = resources, .list = list, .count = count};
    struct offer_arg arg = {.priority = priority, .flags = flags};
    NTSTATUS status = STATUS_INVALID_PARAMETER;

    if (!is_one_list(&w))
        return status;
    if (priority < D3DKMT_OFFER_PRIORITY_LOW || priority > D3DKMT_OFFER_PRIORITY_AUTO ||
        flags.Reserved)
        return refuse(status, NULL, "offer priority %d, reserved bits 0x%x", (int)priority,
                      flags.Reserved);
    sim_mutex_lock(&vidmm->lock);
    if (walk(&w, may_offer, NULL)) {
        walk(&w, offer_one, &arg);
        status = STATUS_SUCCESS;
    }
    sim_mutex_unlock(&vidmm->lock);
    return status;
}

static bool any(struct vidmm_open *open, UINT index, void *arg)
{
    (void)open;
    (void)index;
    (void)arg;
    return true;
}

struct reclaim_arg {
    D3DDDI_RECLAIM_RESULT *results;
    struct residency_job *job; /* NULL: what is missing comes before the next submission */
};

static bool count_one(struct vidmm_open *open, UINT index, void *arg)
{
    (void)open;
    (void)index;
    ++*(UINT *)arg;
    return true;
}

static bool reclaim_one(struct vidmm_open *open, UINT index, void *arg)
{
    struct reclaim_arg *a = arg;
    D3DDDI_RECLAIM_RESULT result = reclaim(open);

    if (a->results && result > a->results[index])
        a->results[index] = result; /* of a resource: the worst result of its allocations */
    if (a->job && result != D3DDDI_RECLAIM_RESULT_NOT_COMMITTED)
        residency_job_add(a->job, open);
    return true;
}

NTSTATUS vidmm_reclaim_later(struct vidmm_device *device, const D3DKMT_HANDLE *resources,
                             const D3DKMT_HANDLE *list, UINT count, D3DDDI_RECLAIM_RESULT *results)
{
    struct vidmm *vidmm = device->process->vidmm;
    const struct offer_walk w = {
        .device = device, .resources = resources, .list = list, .count = count};
    struct reclaim_arg arg = {.results = results};
    NTSTATUS status = STATUS_INVALID_PARAMETER;

    if (!is_one_list(&w))
        return status;
    sim_mutex_lock(&vidmm->lock);
    if (walk(&w, any, NULL)) {
        for (UINT i = 0; results && i < count; i++)
            results[i] = D3DDDI_RECLAIM_RESULT_OK;
        walk(&w, reclaim_one, &arg);
        status = STATUS_SUCCESS;
    }
    sim_mutex_unlock(&vidmm->lock);
    return status;
}

NTSTATUS vidmm_reclaim(struct vidmm_paging_queue *queue, const D3DKMT_HANDLE *resources,
                       const D3DKMT_HANDLE *list, UINT count, D3DDDI_RECLAIM_RESULT *results,
                       uint64_t *fence)
{
    struct vidmm_device *device = queue->base.device;
    struct vidmm *vidmm = queue->base.vidmm;
    const struct offer_walk w = {
        .device = device, .resources = resources, .list = list, .count = count};
    struct reclaim_arg arg = {.results = results};
    UINT allocations = 0;
    NTSTATUS status = STATUS_INVALID_PARAMETER;

    *fence = 0;
    if (!is_one_list(&w))
        return status;
    sim_mutex_lock(&vidmm->lock);
    if (walk(&w, count_one, &allocations)) {
        status = STATUS_NO_MEMORY;
        arg.job = residency_job_new(device, allocations);
    }
    if (arg.job) {
        for (UINT i = 0; results && i < count; i++)
            results[i] = D3DDDI_RECLAIM_RESULT_OK;
        walk(&w, reclaim_one, &arg);
        status = residency_job_post(queue, arg.job, fence); /* RES-069 */
        if (!NT_SUCCESS(status))
            /* it is reclaimed anyway, and made resident before the next submission */
            status = STATUS_SUCCESS;
    }
    sim_mutex_unlock(&vidmm->lock);
    return status;
}

/* ---- priorities and residency ---- */

struct value_arg {
    const UINT *in;
    UINT *out;
};

static bool set_priority(struct vidmm_open *open, UINT index, void *arg)
{
    open->allocation->priority = ((const struct value_arg *)arg)->in[index];
    victim_update(open->allocation);
    return true;
}

NTSTATUS vidmm_set_priority(struct vidmm_device *device, D3DKMT_HANDLE resource,
                            const D3DKMT_HANDLE *list, UINT count, const UINT *priorities)
{
    struct vidmm *vidmm = device->process->vidmm;
    const struct offer_walk w = {.device = device,
                                 .resources = resource ? &resource : NULL,
                                 .list = list,
                                 .count = resource ? 1 : count};
    struct value_arg arg = {.in = priorities};
    NTSTATUS status = STATUS_INVALID_PARAMETER;

    if (!is_alone(&w, count))
        return status;
    for (UINT i = 0; i < w.count; i++)
        if (priorities[i] == 0)
            return refuse(status, "KMT-278", "priority %u of the list is 0", i);
    sim_mutex_lock(&vidmm->lock);
    if (walk(&w, any, NULL)) {
        walk(&w, set_priority, &arg);
        status = STATUS_SUCCESS;
    }
    sim_mutex_unlock(&vidmm->lock);
    return status;
}

static bool get_priority(struct vidmm_open *open, UINT index, void *arg)
{
    UINT *out = &((struct value_arg *)arg)->out[index];

    if (*out == 0) /* of a resource: the priority of its first allocation */
        *out = open->allocation->priority;
    return true;
}

NTSTATUS vidmm_get_priority(struct vidmm_device *device, D3DKMT_HANDLE resource,
                            const D3DKMT_HANDLE *list, UINT count, UINT *priorities)
{
    struct vidmm *vidmm = device->process->vidmm;
    const struct offer_walk w = {.device = device,
                                 .resources = resource ? &resource : NULL,
                                 .list = list,
                                 .count = resource ? 1 : count};
    struct value_arg arg = {.out = priorities};
    NTSTATUS status = STATUS_INVALID_PARAMETER;

    if (!is_alone(&w, count))
        return status;
    sim_mutex_lock(&vidmm->lock);
    if (walk(&w, any, NULL)) {
        for (UINT i = 0; i < w.count; i++)
            priorities[i] = 0;
        walk(&w, get_priority, &arg);
        status = STATUS_SUCCESS;
    }
    sim_mutex_unlock(&vidmm->lock);
    return status;
}

static bool get_residency(struct vidmm_open *open, UINT index, void *arg)
{
    const struct vidmm_allocation *allocation = open->allocation;
    UINT *out = &((struct value_arg *)arg)->out[index];
    UINT state = D3DKMT_ALLOCATIONRESIDENCYSTATUS_NOTRESIDENT;

    if (allocation->resident && allocation->segment &&
        !segment_is_aperture(&allocation->vidmm->segment[allocation->segment]))
        state = D3DKMT_ALLOCATIONRESIDENCYSTATUS_RESIDENTINGPUMEMORY;
    else if (allocation->resident)
        state = D3DKMT_ALLOCATIONRESIDENCYSTATUS_RESIDENTINSHAREDMEMORY;
    if (state > *out)
        *out = state; /* of a resource: the lowest state, which has the highest number */
    return true;
}

NTSTATUS vidmm_query_residency(struct vidmm_device *device, D3DKMT_HANDLE resource,
                               const D3DKMT_HANDLE *list, UINT count,
                               D3DKMT_ALLOCATIONRESIDENCYSTATUS *states)
{
    struct vidmm *vidmm = device->process->vidmm;
    const struct offer_walk w = {.device = device,
                                 .resources = resource ? &resource : NULL,
                                 .list = list,
                                 .count = resource ? 1 : count};
    struct value_arg arg = {.out = (UINT *)states};
    NTSTATUS status = STATUS_INVALID_PARAMETER;

    _Static_assert(sizeof(D3DKMT_ALLOCATIONRESIDENCYSTATUS) == sizeof(UINT), "written as numbers");
    if (!is_alone(&w, count)) /* RES-074 */
        return status;
    sim_mutex_lock(&vidmm->lock);
    if (walk(&w, any, NULL)) {
        for (UINT i = 0; i < w.count; i++)
            arg.out[i] = 0;
        walk(&w, get_residency, &arg);
        for (UINT i = 0; i < w.count; i++)
            if (arg.out[i] == 0) /* an empty resource */
                arg.out[i] = D3DKMT_ALLOCATIONRESIDENCYSTATUS_NOTRESIDENT;
        status = STATUS_SUCCESS;
    }
    sim_mutex_unlock(&vidmm->lock);
    return status;
}
