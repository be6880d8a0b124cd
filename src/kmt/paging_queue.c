/* SPDX-License-Identifier: MIT */
/* Paging queues (GPUVA-063 to GPUVA-070). */
#include <ntddk.h>
#include <d3dkmthk.h>

#include "kmt/paging_queue.h"
#include "ddi/client_handle.h"
#include "kmt/adapter.h"
#include "kmt/call.h"
#include "kmt/device.h"
#include "kmt/handle.h"
#include "kmt/sync.h"
#include "util/alloc.h"
#include "util/handle.h"
#include "util/list.h"
#include "verify/refusal.h"
#include "vidmm/process.h"
#include "vidsch/client.h"

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
        return refuse(STATUS_INVALID_PARAMETER, "GPUVA-065", "priority %d, physical adapter %u",
                      (int)args->Priority, args->PhysicalAdapterIndex);
    device = kmt_handle_device(call, args->hDevice);
    if (!device)
        return STATUS_INVALID_PARAMETER;
    if (!kmt_adapter_is_2x(device->adapter))
        return kmt_adapter_refuse_1x();
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
    struct kmt_paging_queue *queue = kmt_handle_take(call, args->hPagingQueue,
                                                     DDI_CLIENT_PAGING_QUEUE);

    if (!queue)
        return STATUS_INVALID_PARAMETER;
    kmt_call_pin(call, queue->device);
    kmt_call_wait_unpinned(call->process, call, queue);
    kmt_paging_queue_destroy(queue);
    return STATUS_SUCCESS;
}

KMT_IN_OUT(D3DKMTCreatePagingQueue, D3DKMT_CREATEPAGINGQUEUE, create_paging_queue)
KMT_END_OUT(D3DKMTDestroyPagingQueue, D3DDDI_DESTROYPAGINGQUEUE, destroy_paging_queue)
