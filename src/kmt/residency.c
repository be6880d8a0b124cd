/* SPDX-License-Identifier: MIT */
/* Paging queues, residency, video memory budgets (KMT-279 to KMT-291, KMT-297). */
#include <string.h>

#include "ddi/client_handle.h"
#include "kmt/kmt_private.h"
#include "nt/base/kprocess.h"
#include "vidmm/residency/budget.h"
#include "vidmm/process.h"
#include "vidmm/residency/residency.h"

/* ---- paging queues ---- */

/* The queue's progress is a monitored fence that only the host signals (GPUVA-063, GPUVA-070). */
static NTSTATUS make_fence(struct kmt_paging_queue *queue, void **address)
{
    D3DDDI_SYNCHRONIZATIONOBJECTINFO2 info = {.Type = D3DDDI_MONITORED_FENCE};
    struct vidsch_sync *sch;
    NTSTATUS status;

    info.Flags.NoSignal = 1;
    status = vidsch_sync_create(queue->device->sch, &info, &sch);
    if (!NT_SUCCESS(status))
        return status;
    queue->sync = kmt_sync_add(queue->device, sch);
    if (!queue->sync) {
        vidsch_sync_destroy(sch);
        return STATUS_NO_MEMORY;
    }
    queue->sync->queue = queue;
    *address = info.MonitoredFence.FenceValueCPUVirtualAddress;
    return STATUS_SUCCESS;
}

static NTSTATUS make_queue(struct kmt_call *call, struct kmt_paging_queue *queue,
                           D3DKMT_CREATEPAGINGQUEUE *args)
{
    void *address = NULL;
    NTSTATUS status = make_fence(queue, &address);

    if (!NT_SUCCESS(status))
        return status;
    status = vidmm_paging_queue_create(queue->device->mm, args->Priority, vidsch_sync_progress,
                                       queue->sync->sch, &queue->mm);
    if (NT_SUCCESS(status)) {
        queue->handle = handle_create(&call->process->nt->handles, DDI_CLIENT_PAGING_QUEUE, queue);
        if (queue->handle) {
            args->hPagingQueue = queue->handle;
            args->hSyncObject = queue->sync->handle;
            args->FenceValueCPUVirtualAddress = address;
            return STATUS_SUCCESS;
        }
        vidmm_paging_queue_destroy(queue->mm);
        status = STATUS_NO_MEMORY;
    }
    kmt_sync_remove(queue->sync);
    return status;
}

static NTSTATUS create_paging_queue(struct kmt_call *call, void *arguments)
{
    D3DKMT_CREATEPAGINGQUEUE *args = arguments;
    struct kmt_paging_queue *queue;
    struct kmt_device *device;
    NTSTATUS status;

    if (args->Priority < D3DDDI_PAGINGQUEUE_PRIORITY_BELOW_NORMAL ||
        args->Priority > D3DDDI_PAGINGQUEUE_PRIORITY_ABOVE_NORMAL || args->PhysicalAdapterIndex != 0)
        return STATUS_INVALID_PARAMETER; /* GPUVA-065 */
    device = kmt_device_of(call, args->hDevice);
    if (!device)
        return STATUS_INVALID_PARAMETER;
    if (!kmt_adapter_is_2x(device->adapter))
        return STATUS_NOT_SUPPORTED; /* KMT-022 */
    status = vidsch_device_check(device->sch, false);
    if (!NT_SUCCESS(status))
        return status;
    queue = util_zalloc(1, sizeof(*queue));
    if (!queue)
        return STATUS_NO_MEMORY;
    queue->device = device;
    status = make_queue(call, queue, args);
    if (!NT_SUCCESS(status)) {
        util_free(queue);
        return status;
    }
    list_push_back(&device->queues, &queue->link);
    return STATUS_SUCCESS;
}

void kmt_paging_queue_destroy(struct kmt_paging_queue *queue)
{
    list_remove(&queue->link);
    vidmm_paging_queue_destroy(queue->mm); /* GPUVA-071: waits */
    kmt_sync_remove(queue->sync);
    util_free(queue);
}

static NTSTATUS destroy_paging_queue(struct kmt_call *call, void *arguments)
{
    const D3DDDI_DESTROYPAGINGQUEUE *args = arguments;
    struct kmt_paging_queue *queue = kmt_take(call, args->hPagingQueue, DDI_CLIENT_PAGING_QUEUE);

    if (!queue)
        return STATUS_INVALID_PARAMETER;
    kmt_pin(call, queue->device);
    kmt_wait_unpinned(call->process, call, queue);
    kmt_paging_queue_destroy(queue);
    return STATUS_SUCCESS;
}

/* ---- residency ---- */

static NTSTATUS make_resident(struct kmt_call *call, void *arguments)
{
    D3DDDI_MAKERESIDENT *args = arguments;
    struct kmt_paging_queue *queue;
    D3DKMT_HANDLE *list;
    uint64_t fence = 0, trim = 0;
    NTSTATUS status;

    if (args->NumAllocations == 0 || args->Flags.Reserved ||
        (args->Flags.MustSucceed && !args->Flags.CantTrimFurther))
        return STATUS_INVALID_PARAMETER; /* KMT-279, RES-020 */
    status = kmt_copy_array(args->AllocationList, args->NumAllocations, sizeof(*list),
                            (void **)&list);
    if (!NT_SUCCESS(status))
        return status;
    queue = kmt_queue_of(call, args->hPagingQueue);
    status = queue ? vidsch_device_check(queue->device->sch, false) : STATUS_INVALID_PARAMETER;
    if (NT_SUCCESS(status)) {
        status = vidmm_make_resident(queue->mm, list, args->NumAllocations, args->Flags, &fence,
                                     &trim);
        if (NT_SUCCESS(status)) {
            args->PagingFenceValue = fence;
            args->NumBytesToTrim = trim;
        } else if (status == STATUS_NO_MEMORY) {
            args->NumAllocations = 0; /* RES-015, RES-016 */
            args->PagingFenceValue = 0;
            args->NumBytesToTrim = trim;
            call->write_on_failure = true;
        }
    }
    util_free(list);
    return status;
}

static NTSTATUS evict(struct kmt_call *call, void *arguments)
{
    D3DKMT_EVICT *args = arguments;
    struct kmt_device *device;
    D3DKMT_HANDLE *list;
    uint64_t trim = 0;
    NTSTATUS status;

    if (args->NumAllocations == 0 || args->Flags.Reserved)
        return STATUS_INVALID_PARAMETER;
    status = kmt_copy_array(args->AllocationList, args->NumAllocations, sizeof(*list),
                            (void **)&list);
    if (!NT_SUCCESS(status))
        return status;
    device = kmt_device_of(call, args->hDevice);
    status = STATUS_INVALID_PARAMETER;
    if (device)
        status = kmt_adapter_is_2x(device->adapter)
                     ? vidmm_evict(device->mm, list, args->NumAllocations, args->Flags, &trim)
                     : STATUS_NOT_SUPPORTED;
    if (NT_SUCCESS(status))
        args->NumBytesToTrim = trim;
    util_free(list);
    return status;
}

/* ---- budgets ---- */

static NTSTATUS query_video_memory_info(struct kmt_call *call, void *arguments)
{
    D3DKMT_QUERYVIDEOMEMORYINFO *args = arguments;
    struct kmt_adapter *adapter;
    struct nt_process *process;
    struct vidmm_process *mm = NULL;
    NTSTATUS status;

    if ((unsigned)args->MemorySegmentGroup > D3DKMT_MEMORY_SEGMENT_GROUP_NON_LOCAL ||
        args->PhysicalAdapterIndex != 0)
        return STATUS_INVALID_PARAMETER;
    adapter = kmt_adapter_of(call, args->hAdapter);
    if (!adapter)
        return STATUS_INVALID_PARAMETER;
    status = kmt_process_handle(call, args->hProcess, &process);
    if (NT_SUCCESS(status))
        status = kmt_adapter_check(adapter);
    if (!NT_SUCCESS(status))
        return status;
    if (process == call->process->nt) {
        mm = adapter->mm;
    } else if (process->client) {
        LIST_FOR(node, &((struct kmt_process *)process->client)->adapters) {
            struct kmt_adapter *other = CONTAINER(node, struct kmt_adapter, link);

            if (other->port == adapter->port)
                mm = other->mm;
        }
    }
    return vidmm_query_video_memory(port_adapter_vidmm(adapter->port), mm, args);
}

KMT_IN_OUT(D3DKMTCreatePagingQueue, D3DKMT_CREATEPAGINGQUEUE, create_paging_queue)
KMT_END_OUT(D3DKMTDestroyPagingQueue, D3DDDI_DESTROYPAGINGQUEUE, destroy_paging_queue)
KMT_IN_OUT(D3DKMTMakeResident, D3DDDI_MAKERESIDENT, make_resident)
KMT_IN_OUT(D3DKMTEvict, D3DKMT_EVICT, evict)
KMT_IN_OUT(D3DKMTQueryVideoMemoryInfo, D3DKMT_QUERYVIDEOMEMORYINFO, query_video_memory_info)
