/* SPDX-License-Identifier: MIT */
/* Residency, video memory budgets (KMT-279 to KMT-291, KMT-297). */
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
#include "util/list.h"
#include "verify/refusal.h"
#include "vidmm/residency/budget.h"
#include "vidmm/residency/residency.h"
#include "vidmm/process.h"
#include "vidsch/client.h"
#include "vidsch/dxgkrnl_events.h"
#include "wintrace/emit.h"

/* ---- residency ---- */

/* For traces of Windows' provider. */
static void tell_begin(const struct kmt_paging_queue *queue, const D3DDDI_MAKERESIDENT *args)
{
    if (wintrace_on())
        wintrace_emit(WINTRACE_MAKE_RESIDENT_START, vidmm_paging_queue_handle(queue->mm),
                      vidsch_sync_handle(queue->sync->sch), args->NumAllocations, args->Flags.Value);
}

static void tell_end(NTSTATUS status, uint64_t trim, uint64_t fence)
{
    if (wintrace_on())
        wintrace_emit(WINTRACE_MAKE_RESIDENT_STOP, (uint32_t)status, trim, fence);
}

static NTSTATUS make_resident(struct kmt_call *call, void *arguments)
{
    D3DDDI_MAKERESIDENT *args = arguments;
    struct kmt_paging_queue *queue;
    D3DKMT_HANDLE *list;
    uint64_t fence = 0, trim = 0;
    NTSTATUS status;

    if (args->NumAllocations == 0 || args->Flags.Reserved ||
        (args->Flags.MustSucceed && !args->Flags.CantTrimFurther))
        return refuse(STATUS_INVALID_PARAMETER, "KMT-279", /* RES-020 */
                      "%u allocations, Flags 0x%x: at least one; MustSucceed with CantTrimFurther",
                      args->NumAllocations, args->Flags.Value);
    status = kmt_client_copy_array(args->AllocationList, args->NumAllocations, sizeof(*list),
                                   (void **)&list);
    if (!NT_SUCCESS(status))
        return status;
    queue = kmt_handle_paging_queue(call, args->hPagingQueue);
    status = queue ? vidsch_device_check(queue->device->sch, false) : STATUS_INVALID_PARAMETER;
    if (NT_SUCCESS(status)) {
        tell_begin(queue, args);
        status = vidmm_make_resident(queue->mm, list, args->NumAllocations, args->Flags, &fence,
                                     &trim);
        tell_end(status, trim, fence);
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
        return refuse(STATUS_INVALID_PARAMETER, "KMT-279", "%u allocations, Flags 0x%x",
                      args->NumAllocations, args->Flags.Value);
    status = kmt_client_copy_array(args->AllocationList, args->NumAllocations, sizeof(*list),
                                   (void **)&list);
    if (!NT_SUCCESS(status))
        return status;
    device = kmt_handle_device(call, args->hDevice);
    status = STATUS_INVALID_PARAMETER;
    if (device)
        status = kmt_adapter_is_2x(device->adapter)
                     ? vidmm_evict(device->mm, list, args->NumAllocations, args->Flags, &trim)
                     : kmt_adapter_refuse_1x();
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
        return refuse(STATUS_INVALID_PARAMETER, "RES-043", "segment group %d of physical adapter %u",
                      (int)args->MemorySegmentGroup, args->PhysicalAdapterIndex);
    adapter = kmt_handle_adapter(call, args->hAdapter);
    if (!adapter)
        return STATUS_INVALID_PARAMETER;
    status = kmt_handle_process(call, args->hProcess, KMT_PROCESS_QUERY_INFORMATION, &process);
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
    if (port_adapter_display_only(adapter->port))
        return kmt_adapter_refuse_display_only("it has no segments");
    return vidmm_query_video_memory(port_adapter_vidmm(adapter->port), mm, args);
}

KMT_IN_OUT(D3DKMTMakeResident, D3DDDI_MAKERESIDENT, make_resident)
KMT_IN_OUT(D3DKMTEvict, D3DKMT_EVICT, evict)
KMT_IN_OUT(D3DKMTQueryVideoMemoryInfo, D3DKMT_QUERYVIDEOMEMORYINFO, query_video_memory_info)
