/* SPDX-License-Identifier: MIT */
/* Offer and reclaim, priorities, residency states, reservations (KMT-277 to KMT-286, KMT-021). */
#include <ntddk.h>
#include <d3dkmthk.h>

#include "kmt/adapter.h"
#include "kmt/call.h"
#include "kmt/client_memory.h"
#include "kmt/device.h"
#include "kmt/handle.h"
#include "kmt/paging_queue.h"
#include "util/alloc.h"
#include "verify/refusal.h"
#include "vidmm/allocation/offer.h"
#include "vidmm/residency/budget.h"
#include "vidsch/client.h"

/* One of two lists of handles, of resources or of allocations, both with the same count. */
struct lists {
    D3DKMT_HANDLE *resources, *allocations;
};

static NTSTATUS copy_lists(struct lists *lists, const D3DKMT_HANDLE *resources,
                           const D3DKMT_HANDLE *allocations, UINT count)
{
    lists->resources = lists->allocations = NULL;
    if (count == 0 || (resources != NULL) == (allocations != NULL))
        return refuse(STATUS_INVALID_PARAMETER, "KMT-279", /* KMT-283 */
                      "%u elements, resources at %p, allocations at %p: one list, not empty", count,
                      (const void *)resources, (const void *)allocations);
    return resources ? kmt_client_copy_array(resources, count, sizeof(D3DKMT_HANDLE),
                                             (void **)&lists->resources)
                     : kmt_client_copy_array(allocations, count, sizeof(D3DKMT_HANDLE),
                                             (void **)&lists->allocations);
}

static void free_lists(struct lists *lists)
{
    util_free(lists->resources);
    util_free(lists->allocations);
}

/* ---- offer ---- */

static NTSTATUS offer(struct kmt_call *call, void *arguments)
{
    const D3DKMT_OFFERALLOCATIONS *args = arguments;
    struct kmt_device *device;
    struct lists lists;
    NTSTATUS status;

    if (args->Flags.Reserved || args->Priority < D3DKMT_OFFER_PRIORITY_LOW ||
        args->Priority > D3DKMT_OFFER_PRIORITY_AUTO)
        return refuse(STATUS_INVALID_PARAMETER, NULL, "offer priority %d, reserved bits 0x%x",
                      (int)args->Priority, args->Flags.Reserved);
    status = copy_lists(&lists, args->pResources, args->HandleList, args->NumAllocations);
    if (NT_SUCCESS(status)) {
        device = kmt_handle_device(call, args->hDevice);
        status = device ? vidsch_device_check(device->sch, false) : STATUS_INVALID_PARAMETER;
        if (NT_SUCCESS(status))
            status = vidmm_offer(device->mm, lists.resources, lists.allocations,
                                 args->NumAllocations, args->Priority, args->Flags);
    }
    free_lists(&lists);
    return status;
}

/* ---- reclaim ---- */

/* The older form, which has no paging queue, has BOOLs, the newer one results or, for clients of
 * 2.0, BOOLs of the same size and meaning. */
static NTSTATUS carry_out_reclaim(struct vidmm_device *device, struct vidmm_paging_queue *queue,
                                  const struct lists *lists, UINT count, void *user, uint64_t *fence)
{
    D3DDDI_RECLAIM_RESULT *results = NULL;
    NTSTATUS status;

    if (user) {
        if (!kmt_client_probe_write(user, count * sizeof(*results)))
            return STATUS_INVALID_PARAMETER;
        results = util_zalloc(count, sizeof(*results));
        if (!results)
            return STATUS_NO_MEMORY;
    }
    status = queue
                 ? vidmm_reclaim(queue, lists->resources, lists->allocations, count, results, fence)
                 : vidmm_reclaim_later(device, lists->resources, lists->allocations, count, results);
    if (NT_SUCCESS(status) && user && !kmt_client_put(user, results, count * sizeof(*results)))
        status = STATUS_INVALID_PARAMETER;
    util_free(results);
    return status;
}

static NTSTATUS reclaim2(struct kmt_call *call, void *arguments)
{
    D3DKMT_RECLAIMALLOCATIONS2 *args = arguments;
    struct kmt_paging_queue *queue;
    uint64_t fence = 0;
    struct lists lists;
    NTSTATUS status = copy_lists(&lists, args->pResources, args->HandleList, args->NumAllocations);

    if (NT_SUCCESS(status)) {
        queue = kmt_handle_paging_queue(call, args->hPagingQueue); /* KMT-286 */
        status = queue ? vidsch_device_check(queue->device->sch, false) : STATUS_INVALID_PARAMETER;
        if (NT_SUCCESS(status))
            status = carry_out_reclaim(queue->device->mm, queue->mm, &lists, args->NumAllocations,
                                       args->pResults, &fence);
    }
    if (NT_SUCCESS(status))
        args->PagingFenceValue = fence; /* KMT-287 */
    free_lists(&lists);
    return status;
}

static NTSTATUS reclaim(struct kmt_call *call, void *arguments)
{
    const D3DKMT_RECLAIMALLOCATIONS *args = arguments;
    struct kmt_device *device;
    uint64_t fence = 0;
    struct lists lists;
    NTSTATUS status = copy_lists(&lists, args->pResources, args->HandleList, args->NumAllocations);

    if (NT_SUCCESS(status)) {
        device = kmt_handle_device(call, args->hDevice);
        status = device ? vidsch_device_check(device->sch, false) : STATUS_INVALID_PARAMETER;
        if (NT_SUCCESS(status))
            status = carry_out_reclaim(device->mm, NULL, &lists, args->NumAllocations,
                                       args->pDiscarded, &fence);
    }
    free_lists(&lists);
    return status;
}

/* ---- priorities and states: of one resource, or of a list ---- */

struct selection {
    D3DKMT_HANDLE device, resource;
    const D3DKMT_HANDLE *user_list;
    UINT count;
};

static NTSTATUS check_selection(const struct selection *s, const void *values)
{
    if (s->resource ? s->user_list || s->count : s->count == 0)
        return refuse(STATUS_INVALID_PARAMETER, "ALLOC-142", /* RES-074 */
                      "resource 0x%x with a list of %u allocations: one of them", s->resource,
                      s->count);
    return values ? STATUS_SUCCESS
                  : refuse(STATUS_INVALID_PARAMETER, "KMT-006", "the array of values is NULL");
}

static UINT values_of(const struct selection *s)
{
    return s->resource ? 1 : s->count;
}

static NTSTATUS find_selection(struct kmt_call *call, const struct selection *s,
                               D3DKMT_HANDLE **list, struct kmt_device **device)
{
    NTSTATUS status = kmt_client_copy_array(s->user_list, s->resource ? 0 : s->count,
                                            sizeof(**list), (void **)list);

    if (!NT_SUCCESS(status))
        return status;
    *device = kmt_handle_device(call, s->device);
    if (*device)
        return STATUS_SUCCESS;
    util_free(*list);
    return STATUS_INVALID_PARAMETER;
}

static NTSTATUS set_priority(struct kmt_call *call, void *arguments)
{
    const D3DKMT_SETALLOCATIONPRIORITY *args = arguments;
    const struct selection s = {args->hDevice, args->hResource, args->phAllocationList,
                                args->AllocationCount};
    struct kmt_device *device;
    D3DKMT_HANDLE *list;
    UINT *values;
    NTSTATUS status = check_selection(&s, args->pPriorities);

    if (NT_SUCCESS(status))
        status = kmt_client_copy_array(args->pPriorities, values_of(&s), sizeof(*values),
                                       (void **)&values);
    if (!NT_SUCCESS(status))
        return status;
    status = find_selection(call, &s, &list, &device);
    if (NT_SUCCESS(status)) {
        status = vidsch_device_check(device->sch, false);
        if (NT_SUCCESS(status))
            status = vidmm_set_priority(device->mm, s.resource, list, s.resource ? 0 : s.count,
                                        values);
        util_free(list);
    }
    util_free(values);
    return status;
}

/* What the two questions have in common: an array of UINT-sized answers. Legal on a lost device
 * (KMT-124). */
static NTSTATUS ask(struct kmt_call *call, const struct selection *s, void *user, bool residency)
{
    struct kmt_device *device;
    D3DKMT_HANDLE *list;
    UINT *values;
    NTSTATUS status = check_selection(s, user);

    _Static_assert(sizeof(D3DKMT_ALLOCATIONRESIDENCYSTATUS) == sizeof(UINT),
                   "answers have one size");
    if (!NT_SUCCESS(status))
        return status;
    status = find_selection(call, s, &list, &device);
    if (!NT_SUCCESS(status))
        return status;
    values = util_zalloc(values_of(s), sizeof(*values));
    if (!values)
        status = STATUS_NO_MEMORY;
    else if (residency)
        status = vidmm_query_residency(device->mm, s->resource, list, s->resource ? 0 : s->count,
                                       (D3DKMT_ALLOCATIONRESIDENCYSTATUS *)(void *)values);
    else
        status = vidmm_get_priority(device->mm, s->resource, list, s->resource ? 0 : s->count,
                                    values);
    if (NT_SUCCESS(status) && !kmt_client_put(user, values, values_of(s) * sizeof(*values)))
        status = STATUS_INVALID_PARAMETER;
    util_free(values);
    util_free(list);
    return status;
}

static NTSTATUS get_priority(struct kmt_call *call, void *arguments)
{
    const D3DKMT_GETALLOCATIONPRIORITY *args = arguments;
    const struct selection s = {args->hDevice, args->hResource, args->phAllocationList,
                                args->AllocationCount};

    return ask(call, &s, args->pPriorities, false);
}

static NTSTATUS query_residency(struct kmt_call *call, void *arguments)
{
    const D3DKMT_QUERYALLOCATIONRESIDENCY *args = arguments;
    const struct selection s = {args->hDevice, args->hResource, args->phAllocationList,
                                args->AllocationCount};

    return ask(call, &s, args->pResidencyStatus, true);
}

/* ---- reservations ---- */

static NTSTATUS change_reservation(struct kmt_call *call, void *arguments)
{
    const D3DKMT_CHANGEVIDEOMEMORYRESERVATION *args = arguments;
    struct nt_process *process;
    struct kmt_adapter *adapter;
    NTSTATUS status;

    if ((unsigned)args->MemorySegmentGroup > D3DKMT_MEMORY_SEGMENT_GROUP_NON_LOCAL ||
        args->PhysicalAdapterIndex != 0)
        return refuse(STATUS_INVALID_PARAMETER, "RES-043", "segment group %d of physical adapter %u",
                      (int)args->MemorySegmentGroup, args->PhysicalAdapterIndex);
    adapter = kmt_handle_adapter(call, args->hAdapter);
    if (!adapter)
        return STATUS_INVALID_PARAMETER;
    status = kmt_handle_process(call, args->hProcess, KMT_PROCESS_SET_INFORMATION, &process);
    if (NT_SUCCESS(status))
        status = kmt_adapter_check(adapter);
    if (!NT_SUCCESS(status))
        return status;
    if (process != call->process->nt)
        return refuse(STATUS_ACCESS_DENIED, NULL, "a reservation for another process");
    if (!adapter->mm) /* nothing is in use there, so nothing can be kept */
        return args->Reservation
                   ? refuse(STATUS_INVALID_PARAMETER, NULL,
                            "a reservation of %llu bytes, but the process has no device",
                            (unsigned long long)args->Reservation)
                   : STATUS_SUCCESS;
    return vidmm_set_reservation(adapter->mm, args->MemorySegmentGroup, args->Reservation);
}

KMT_IN(D3DKMTOfferAllocations, D3DKMT_OFFERALLOCATIONS, offer)
KMT_IN(D3DKMTReclaimAllocations, D3DKMT_RECLAIMALLOCATIONS, reclaim)
KMT_IN_OUT(D3DKMTReclaimAllocations2, D3DKMT_RECLAIMALLOCATIONS2, reclaim2)
KMT_IN(D3DKMTSetAllocationPriority, D3DKMT_SETALLOCATIONPRIORITY, set_priority)
KMT_IN(D3DKMTGetAllocationPriority, D3DKMT_GETALLOCATIONPRIORITY, get_priority)
KMT_IN(D3DKMTQueryAllocationResidency, D3DKMT_QUERYALLOCATIONRESIDENCY, query_residency)
KMT_IN(D3DKMTChangeVideoMemoryReservation, D3DKMT_CHANGEVIDEOMEMORYRESERVATION, change_reservation)
