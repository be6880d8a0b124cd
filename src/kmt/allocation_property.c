/* SPDX-License-Identifier: MIT */
/* Changing where an allocation may be (KMT-290). */
#include <ntddk.h>
#include <d3dkmthk.h>

#include "kmt/adapter.h"
#include "kmt/call.h"
#include "kmt/device.h"
#include "kmt/handle.h"
#include "kmt/paging_queue.h"
#include "verify/refusal.h"
#include "vidmm/allocation/property.h"
#include "vidsch/client.h"

static NTSTATUS update_property(struct kmt_call *call, void *arguments)
{
    D3DDDI_UPDATEALLOCPROPERTY *args = arguments;
    struct kmt_paging_queue *queue;
    uint64_t fence = 0;
    NTSTATUS status;

    if (args->Flags.Reserved || args->SetUnmoveable || args->Reserved)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-290",
                      "Flags 0x%x and PropertyMaskValue 0x%x: bits beyond the documented ones",
                      args->Flags.Value, args->PropertyMaskValue);
    queue = kmt_handle_paging_queue(call, args->hPagingQueue);
    if (!queue || !kmt_handle_lookup(call, args->hAllocation, DDI_CLIENT_ALLOCATION))
        return STATUS_INVALID_PARAMETER;
    status = vidsch_device_check(queue->device->sch, false);
    if (NT_SUCCESS(status))
        status = vidmm_update_property(queue->mm, args, &fence);
    if (NT_SUCCESS(status))
        args->PagingFenceValue = fence;
    return status;
}

KMT_IN_OUT(D3DKMTUpdateAllocationProperty, D3DDDI_UPDATEALLOCPROPERTY, update_property)
