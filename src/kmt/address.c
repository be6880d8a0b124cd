/* SPDX-License-Identifier: MIT */
/* GPU virtual addresses of the process (KMT-298; the rules themselves are GPUVA-074 to GPUVA-136,
 * in the memory manager). */
#include <ntddk.h>
#include <d3dkmthk.h>

#include "kmt/adapter.h"
#include "kmt/call.h"
#include "kmt/client_memory.h"
#include "kmt/device.h"
#include "kmt/handle.h"
#include "kmt/paging_queue.h"
#include "kmt/sync.h"
#include "port/record/adapter_info.h"
#include "util/alloc.h"
#include "verify/refusal.h"
#include "vidmm/space/gpu_va.h"
#include "vidsch/client.h"

static NTSTATUS check_model(const struct kmt_adapter *adapter)
{
    if (!kmt_adapter_is_2x(adapter))
        return kmt_adapter_refuse_1x();
    return port_adapter_gpu_mmu(adapter->port)
               ? STATUS_SUCCESS
               : refuse(STATUS_NOT_SUPPORTED, NULL, "the adapter has no GPU virtual addresses");
}

static NTSTATUS map_gpu_va(struct kmt_call *call, void *arguments)
{
    D3DDDI_MAPGPUVIRTUALADDRESS *args = arguments;
    struct kmt_paging_queue *queue = kmt_handle_paging_queue(call, args->hPagingQueue);
    NTSTATUS status;

    if (!queue)
        return STATUS_INVALID_PARAMETER;
    status = check_model(queue->device->adapter);
    if (NT_SUCCESS(status))
        status = vidsch_device_check(queue->device->sch, false);
    return NT_SUCCESS(status) ? vidmm_map_gpu_va(queue->mm, args) : status;
}

/* With the handle of an adapter the range is reserved for the process, with that of a queue through
 * it. */
static NTSTATUS reserve_gpu_va(struct kmt_call *call, void *arguments)
{
    D3DDDI_RESERVEGPUVIRTUALADDRESS *args = arguments;
    struct kmt_paging_queue *queue = kmt_handle_paging_queue(call, args->hPagingQueue);
    struct kmt_adapter *adapter = queue ? queue->device->adapter
                                        : kmt_handle_adapter(call, args->hAdapter);
    bool opened = false;
    NTSTATUS status;

    if (!adapter)
        return STATUS_INVALID_PARAMETER;
    status = check_model(adapter);
    if (NT_SUCCESS(status))
        status = queue ? vidsch_device_check(queue->device->sch, false) : kmt_adapter_check(adapter);
    if (NT_SUCCESS(status))
        status = kmt_adapter_begin_process(adapter, &opened);
    if (!NT_SUCCESS(status))
        return status;
    status = vidmm_reserve_gpu_va(adapter->mm, queue ? queue->mm : NULL, args);
    if (!NT_SUCCESS(status) && opened)
        kmt_adapter_end_process(adapter);
    return status;
}

static NTSTATUS free_gpu_va(struct kmt_call *call, void *arguments)
{
    const D3DKMT_FREEGPUVIRTUALADDRESS *args = arguments;
    struct kmt_adapter *adapter = kmt_handle_adapter(call, args->hAdapter);
    NTSTATUS status;

    if (!adapter)
        return STATUS_INVALID_PARAMETER;
    status = check_model(adapter);
    if (!NT_SUCCESS(status))
        return status;
    if (!adapter->mm)
        return refuse(STATUS_INVALID_PARAMETER, "GPUVA-118",
                      "nothing was ever mapped or reserved in this process");
    return vidmm_free_gpu_va(adapter->mm, args->BaseAddress,
                             args->Size); /* also when devices are lost (KMT-124) */
}

static NTSTATUS check_update(const D3DKMT_UPDATEGPUVIRTUALADDRESS *args,
                             const struct kmt_device *device, const struct vidsch_context *context)
{
    if (args->Reserved0 || args->Reserved1 || args->Flags.Reserved || args->NumOperations == 0)
        return refuse(STATUS_INVALID_PARAMETER, "GPUVA-132",
                      "%u operations, Reserved0 0x%llx, Reserved1 0x%llx, Flags 0x%x",
                      args->NumOperations, (unsigned long long)args->Reserved0,
                      (unsigned long long)args->Reserved1, args->Flags.Value);
    if (vidsch_context_device(context) != device->sch)
        return refuse(STATUS_INVALID_PARAMETER, "GPUVA-135",
                      "hContext is a context of another device than hDevice");
    return check_model(device->adapter);
}

/* The fence is waited for and signaled, so the handle needs the right to both. */
static NTSTATUS get_fence(const struct kmt_call *call, D3DKMT_HANDLE handle,
                          struct vidsch_sync **fence)
{
    struct kmt_sync_list list;
    NTSTATUS status = kmt_sync_list_get(call, &handle, 1, KMT_SYNC_WAIT, &list);

    if (NT_SUCCESS(status))
        status = kmt_sync_list_get(call, &handle, 1, KMT_SYNC_SIGNAL, &list);
    *fence = list.sync[0];
    return status;
}

static NTSTATUS update_gpu_va(struct kmt_call *call, void *arguments)
{
    const D3DKMT_UPDATEGPUVIRTUALADDRESS *args = arguments;
    const struct kmt_device *device = kmt_handle_device(call, args->hDevice);
    struct vidsch_context *context = device ? kmt_handle_context(call, args->hContext) : NULL;
    struct vidsch_update_request request = {.value = args->FenceValue,
                                            .do_not_wait = args->Flags.DoNotWait,
                                            .count = args->NumOperations};
    void *operations = NULL;
    NTSTATUS status;

    if (!device || !context)
        return STATUS_INVALID_PARAMETER;
    status = check_update(args, device, context);
    if (NT_SUCCESS(status))
        status = get_fence(call, args->hFenceObject, &request.fence);
    if (NT_SUCCESS(status))
        status = kmt_client_copy_array(args->Operations, args->NumOperations,
                                       sizeof(*args->Operations), &operations);
    if (!NT_SUCCESS(status))
        return status;
    request.operations = operations;
    status = vidsch_update_addresses(context, &request);
    util_free(operations);
    return status;
}

KMT_IN(D3DKMTUpdateGpuVirtualAddress, D3DKMT_UPDATEGPUVIRTUALADDRESS, update_gpu_va)
KMT_IN_OUT(D3DKMTMapGpuVirtualAddress, D3DDDI_MAPGPUVIRTUALADDRESS, map_gpu_va)
KMT_IN_OUT(D3DKMTReserveGpuVirtualAddress, D3DDDI_RESERVEGPUVIRTUALADDRESS, reserve_gpu_va)
KMT_IN(D3DKMTFreeGpuVirtualAddress, D3DKMT_FREEGPUVIRTUALADDRESS, free_gpu_va)
