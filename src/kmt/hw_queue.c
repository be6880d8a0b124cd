/* SPDX-License-Identifier: MIT */
/* Hardware queues: creation, the end, commands, waits and signals (KMT-173 to KMT-181, KMT-325,
 * KMT-326, KMT-396 to KMT-398). */
#include <ntddk.h>
#include <d3dkmthk.h>

#include "kmt/hw_queue.h"
#include "ddi/client_handle.h"
#include "kmt/adapter.h"
#include "kmt/call.h"
#include "kmt/client_memory.h"
#include "kmt/device.h"
#include "kmt/handle.h"
#include "kmt/sync.h"
#include "util/alloc.h"
#include "util/handle.h"
#include "verify/refusal.h"
#include "vidmm/residency/open_place.h"
#include "vidsch/client.h"

/* ---- creation ---- */

/* Which process has the context, on which device. */
static struct kmt_device *device_of(const struct kmt_process *process,
                                    const struct vidsch_context *context)
{
    const struct vidsch_device *sch = vidsch_context_device(context);

    LIST_FOR(a, &process->adapters) {
        LIST_FOR(d, &CONTAINER(a, struct kmt_adapter, link)->devices) {
            struct kmt_device *device = CONTAINER(d, struct kmt_device, link);

            if (device->sch == sch)
                return device;
        }
    }
    return NULL;
}

/* A context of either kind (KMT-173), pinned. */
static struct vidsch_context *parent_of(struct kmt_call *call, D3DKMT_HANDLE handle)
{
    struct vidsch_context *context = handle_lookup(&call->process->nt->handles, handle,
                                                   DDI_CLIENT_CONTEXT);

    if (!context)
        context = kmt_handle_lookup(call, handle, DDI_CLIENT_HW_CONTEXT);
    if (context)
        kmt_call_pin(call, context);
    return context;
}

/* KMT-174: only the GPU and the driver signal it. */
static NTSTATUS make_progress(struct kmt_device *device, struct kmt_hw_queue *queue,
                              D3DKMT_CREATEHWQUEUE *args)
{
    D3DDDI_SYNCHRONIZATIONOBJECTINFO2 info = {.Type = D3DDDI_MONITORED_FENCE};
    struct vidsch_sync *sch;
    NTSTATUS status;

    info.Flags.NoSignal = 1;
    status = vidsch_sync_create(device->sch, &info, &sch);
    if (!NT_SUCCESS(status))
        return status;
    queue->progress = kmt_sync_add(device, sch);
    if (!queue->progress) {
        vidsch_sync_destroy(sch);
        return STATUS_NO_MEMORY;
    }
    queue->progress->of_hw_queue = true;
    args->hHwQueueProgressFence = queue->progress->handle;
    args->HwQueueProgressFenceCPUVirtualAddress = info.MonitoredFence.FenceValueCPUVirtualAddress;
    args->HwQueueProgressFenceGPUVirtualAddress = info.MonitoredFence.FenceValueGPUVirtualAddress;
    return STATUS_SUCCESS;
}

static NTSTATUS make_queue(struct kmt_call *call, struct kmt_device *device,
                           struct kmt_hw_queue *queue, D3DKMT_CREATEHWQUEUE *args)
{
    struct vidsch_hw_queue_request request = {.parent = queue->parent,
                                              .flags = args->Flags,
                                              .private_bytes = args->PrivateDriverDataSize};
    NTSTATUS status = kmt_client_copy_private(args->pPrivateDriverData, args->PrivateDriverDataSize,
                                              &request.private_data);

    if (!NT_SUCCESS(status))
        return status;
    status = make_progress(device, queue, args);
    if (NT_SUCCESS(status)) {
        request.progress = queue->progress->sch;
        request.progress_handle = queue->progress->handle;
        status = vidsch_hw_queue_open(&request, &queue->sch);
        if (NT_SUCCESS(status)) {
            queue->handle = handle_create(&call->process->nt->handles, DDI_CLIENT_HW_QUEUE,
                                          queue->sch);
            status = queue->handle ? STATUS_SUCCESS : STATUS_NO_MEMORY;
            if (!queue->handle)
                vidsch_context_destroy(queue->sch);
        }
        if (!NT_SUCCESS(status))
            kmt_sync_remove(queue->progress);
    }
    util_free(request.private_data);
    return status;
}

static NTSTATUS create_hw_queue(struct kmt_call *call, void *arguments)
{
    D3DKMT_CREATEHWQUEUE *args = arguments;
    struct vidsch_context *parent;
    struct kmt_hw_queue *queue;
    struct kmt_device *device;
    NTSTATUS status;

    if (args->PrivateDriverDataSize > KMT_MAX_PRIVATE_BYTES ||
        (args->PrivateDriverDataSize && !args->pPrivateDriverData))
        return kmt_client_refuse_private(args->pPrivateDriverData, args->PrivateDriverDataSize);
    parent = parent_of(call, args->hHwContext);
    device = parent ? device_of(call->process, parent) : NULL;
    if (!device)
        return STATUS_INVALID_PARAMETER;
    kmt_call_pin(call, device);
    status = vidsch_hw_queue_check(parent, args->Flags);
    if (!NT_SUCCESS(status))
        return status;
    queue = util_zalloc(1, sizeof(*queue));
    if (!queue)
        return STATUS_NO_MEMORY;
    queue->parent = parent;
    status = make_queue(call, device, queue, args);
    if (!NT_SUCCESS(status)) {
        util_free(queue);
        return status;
    }
    args->hHwQueue = queue->handle;
    list_push_back(&device->hw_queues, &queue->link);
    return STATUS_SUCCESS;
}

/* ---- the end ---- */

static void destroy_queue(struct kmt_process *process, struct kmt_device *device,
                          struct kmt_hw_queue *queue, const struct kmt_call *call)
{
    handle_remove(&process->nt->handles, queue->handle, DDI_CLIENT_HW_QUEUE);
    list_remove(&queue->link);
    kmt_call_wait_unpinned(process, call, queue->sch);
    device->draining++;
    vidsch_context_destroy(queue->sch); /* KMT-179: waits */
    device->draining--;
    kmt_sync_remove(queue->progress);
    util_free(queue);
}

void kmt_hw_queues_destroy(struct kmt_process *process, struct kmt_device *device,
                           const struct vidsch_context *parent, const struct kmt_call *call)
{
    LIST_FOR_SAFE(link, next, &device->hw_queues) {
        struct kmt_hw_queue *queue = CONTAINER(link, struct kmt_hw_queue, link);

        if (!parent || queue->parent == parent)
            destroy_queue(process, device, queue, call);
    }
}

static NTSTATUS destroy_hw_queue(struct kmt_call *call, void *arguments)
{
    const D3DKMT_DESTROYHWQUEUE *args = arguments;
    struct vidsch_context *sch = kmt_handle_lookup(call, args->hHwQueue, DDI_CLIENT_HW_QUEUE);
    struct kmt_device *device = sch ? device_of(call->process, sch) : NULL;

    if (!device)
        return STATUS_INVALID_PARAMETER;
    kmt_call_pin(call, device);
    LIST_FOR(link, &device->hw_queues) {
        struct kmt_hw_queue *queue = CONTAINER(link, struct kmt_hw_queue, link);

        if (queue->sch == sch) {
            destroy_queue(call->process, device, queue, call);
            return STATUS_SUCCESS;
        }
    }
    return STATUS_INVALID_PARAMETER;
}

/* ---- commands ---- */

static struct vidsch_context *queue_of(struct kmt_call *call, D3DKMT_HANDLE handle)
{
    struct vidsch_context *queue = kmt_handle_lookup(call, handle, DDI_CLIENT_HW_QUEUE);

    if (queue)
        kmt_call_pin(call, queue);
    return queue;
}

/* As KMT-321 of D3DKMTSubmitCommand. */
static NTSTATUS check_primaries(struct kmt_call *call, const D3DKMT_SUBMITCOMMANDTOHWQUEUE *args,
                                const struct vidsch_context *queue)
{
    const struct vidmm_device *device = vidsch_device_mm(vidsch_context_device(queue));
    D3DKMT_HANDLE handle[D3DDDI_MAX_WRITTEN_PRIMARIES];

    if (args->NumPrimaries > D3DDDI_MAX_WRITTEN_PRIMARIES)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-321", "%u primaries, at most %u",
                      args->NumPrimaries, D3DDDI_MAX_WRITTEN_PRIMARIES);
    if (!kmt_client_get(handle, args->WrittenPrimaries, args->NumPrimaries * sizeof(handle[0])))
        return STATUS_INVALID_PARAMETER;
    for (UINT i = 0; i < args->NumPrimaries; i++) {
        struct vidmm_open *open = kmt_handle_lookup(call, handle[i], DDI_CLIENT_ALLOCATION);

        if (!open || vidmm_open_device(open) != device || !vidmm_open_on_residency_list(open))
            return refuse(STATUS_INVALID_PARAMETER, "KMT-321",
                          "primary %u, handle 0x%x, is no allocation of the device that was made "
                          "resident",
                          i, handle[i]);
    }
    return STATUS_SUCCESS;
}

static NTSTATUS submit_to_hw_queue(struct kmt_call *call, void *arguments)
{
    const D3DKMT_SUBMITCOMMANDTOHWQUEUE *args = arguments;
    struct vidsch_context *queue;
    void *data = NULL;
    NTSTATUS status;

    if (args->PrivateDriverDataSize > KMT_MAX_PRIVATE_BYTES ||
        (args->PrivateDriverDataSize && !args->pPrivateDriverData))
        return kmt_client_refuse_private(args->pPrivateDriverData, args->PrivateDriverDataSize);
    queue = queue_of(call, args->hHwQueue);
    if (!queue)
        return STATUS_INVALID_PARAMETER;
    status = check_primaries(call, args, queue);
    if (NT_SUCCESS(status))
        status = kmt_client_copy_private(args->pPrivateDriverData, args->PrivateDriverDataSize,
                                         &data);
    if (NT_SUCCESS(status))
        status = vidsch_hw_queue_submit(queue, args, data);
    util_free(data);
    return status;
}

/* ---- waits and signals ---- */

static NTSTATUS wait_on_hw_queue(struct kmt_call *call, void *arguments)
{
    const D3DKMT_SUBMITWAITFORSYNCOBJECTSTOHWQUEUE *args = arguments;
    struct vidsch_context *queue = queue_of(call, args->hHwQueue);
    UINT64 values[KMT_MAX_OBJECTS];
    struct kmt_sync_list list;
    NTSTATUS status;

    if (!queue)
        return STATUS_INVALID_PARAMETER;
    status = kmt_sync_list_copy(call, args->ObjectHandleArray, args->ObjectCount, KMT_SYNC_WAIT,
                                &list);
    if (!NT_SUCCESS(status))
        return status;
    if (!kmt_client_get(values, args->FenceValueArray, list.count * sizeof(values[0])))
        return STATUS_INVALID_PARAMETER;
    return vidsch_hw_queue_wait(queue, list.sync, values, list.count);
}

static NTSTATUS find_queues(struct kmt_call *call, const D3DKMT_HANDLE *user, UINT count,
                            struct vidsch_context **queue)
{
    D3DKMT_HANDLE handle[D3DDDI_MAX_BROADCAST_CONTEXT];

    if (count == 0 || count > D3DDDI_MAX_BROADCAST_CONTEXT)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-398", "%u queues, 1 to %u are possible", count,
                      D3DDDI_MAX_BROADCAST_CONTEXT);
    if (!kmt_client_get(handle, user, count * sizeof(handle[0])))
        return STATUS_INVALID_PARAMETER;
    for (UINT i = 0; i < count; i++) {
        queue[i] = kmt_handle_lookup(call, handle[i], DDI_CLIENT_HW_QUEUE);
        if (!queue[i])
            return STATUS_INVALID_PARAMETER;
    }
    return STATUS_SUCCESS;
}

static NTSTATUS signal_from_hw_queue(struct kmt_call *call, void *arguments)
{
    const D3DKMT_SUBMITSIGNALSYNCOBJECTSTOHWQUEUE *args = arguments;
    struct vidsch_context *queue[D3DDDI_MAX_BROADCAST_CONTEXT];
    UINT64 values[KMT_MAX_OBJECTS];
    struct kmt_sync_list list;
    NTSTATUS status;

    if (args->Flags.EnqueueCpuEvent || args->Flags.Reserved ||
        args->Flags.DXGK_SIGNAL_FLAG_INTERNAL0)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-398", "Flags 0x%x", args->Flags.Value);
    status = find_queues(call, args->BroadcastHwQueueArray, args->BroadcastHwQueueCount, queue);
    if (NT_SUCCESS(status))
        status = kmt_sync_list_copy(call, args->ObjectHandleArray, args->ObjectCount,
                                    KMT_SYNC_SIGNAL, &list);
    if (!NT_SUCCESS(status))
        return status;
    if (!kmt_client_get(values, args->FenceValueArray, list.count * sizeof(values[0])))
        return STATUS_INVALID_PARAMETER;
    return vidsch_hw_queue_signal(queue, args->BroadcastHwQueueCount, list.sync, values, list.count,
                                  args->Flags);
}

KMT_IN_OUT(D3DKMTCreateHwQueue, D3DKMT_CREATEHWQUEUE, create_hw_queue)
KMT_END(D3DKMTDestroyHwQueue, D3DKMT_DESTROYHWQUEUE, destroy_hw_queue)
KMT_IN(D3DKMTSubmitCommandToHwQueue, D3DKMT_SUBMITCOMMANDTOHWQUEUE, submit_to_hw_queue)
KMT_IN(D3DKMTSubmitWaitForSyncObjectsToHwQueue, D3DKMT_SUBMITWAITFORSYNCOBJECTSTOHWQUEUE,
       wait_on_hw_queue)
KMT_IN(D3DKMTSubmitSignalSyncObjectsToHwQueue, D3DKMT_SUBMITSIGNALSYNCOBJECTSTOHWQUEUE,
       signal_from_hw_queue)
