/* SPDX-License-Identifier: MIT */
/* Native fences: creation, and opening by NT handle (KMT-419, KMT-420). All else is as with any
 * monitored fence. */
#include <ntddk.h>
#include <d3dkmthk.h>

#include "kmt/adapter.h"
#include "kmt/call.h"
#include "kmt/client_memory.h"
#include "kmt/device.h"
#include "kmt/handle.h"
#include "kmt/nt_share.h"
#include "kmt/shared.h"
#include "kmt/sync.h"
#include "util/alloc.h"
#include "verify/refusal.h"
#include "vidsch/client.h"

static D3DDDI_NATIVEFENCEMAPPING mapping_of(const struct kmt_sync *sync)
{
    return (D3DDDI_NATIVEFENCEMAPPING){
        .CurrentValueCpuVa = vidsch_sync_view_cpu(sync->view),
        .CurrentValueGpuVa = vidsch_sync_view_gpu(sync->view),
        .MonitoredValueGpuVa = vidsch_sync_view_monitored(sync->view),
    };
}

/* On failure nothing remains. The driver and the scheduler know the fence before any thread of the
 * client can end it. */
static NTSTATUS make(struct kmt_device *device, D3DDDI_CREATENATIVEFENCEINFO *info,
                     void *private_data)
{
    struct vidsch_sync *sch;
    struct kmt_sync *sync;
    NTSTATUS status = vidsch_native_create(device->sch, info, &sch);

    if (!NT_SUCCESS(status))
        return status;
    status = kmt_sync_make(device, sch, info->Flags, &sync);
    if (!NT_SUCCESS(status)) {
        vidsch_sync_destroy(sch);
        return status;
    }
    status = kmt_sync_view(sync, info->Flags, info->EngineAffinity);
    if (NT_SUCCESS(status))
        status = vidsch_native_begin(sch, sync->view, private_data, info->PrivateDriverDataSize);
    if (NT_SUCCESS(status) &&
        !kmt_client_put(info->pPrivateDriverData, private_data, info->PrivateDriverDataSize))
        status = STATUS_INVALID_PARAMETER;
    if (!NT_SUCCESS(status)) {
        kmt_sync_remove(sync);
        return status;
    }
    status = kmt_sync_publish(sync);
    if (!NT_SUCCESS(status))
        return status;
    info->hSyncObject = sync->handle;
    info->NativeFenceMapping = mapping_of(sync);
    return STATUS_SUCCESS;
}

static NTSTATUS create_native_fence(struct kmt_call *call, void *arguments)
{
    D3DKMT_CREATENATIVEFENCE *args = arguments;
    D3DDDI_CREATENATIVEFENCEINFO *info = &args->Info;
    struct kmt_device *device;
    void *private_data;
    NTSTATUS status;

    if (info->Flags.Reserved || info->Flags.Reserved0)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-009", "reserved bits in Flags 0x%x",
                      info->Flags.Value);
    if (info->PrivateDriverDataSize > KMT_MAX_PRIVATE_BYTES ||
        (info->PrivateDriverDataSize && !info->pPrivateDriverData))
        return kmt_client_refuse_private(info->pPrivateDriverData, info->PrivateDriverDataSize);
    device = kmt_handle_device(call, args->hDevice);
    if (!device)
        return STATUS_INVALID_PARAMETER;
    status = kmt_client_copy_private(info->pPrivateDriverData, info->PrivateDriverDataSize,
                                     &private_data);
    if (!NT_SUCCESS(status))
        return status;
    status = make(device, info, private_data);
    util_free(private_data);
    return status;
}

static NTSTATUS check_native(const struct kmt_shared *shared)
{
    if (shared->gone)
        return refuse(STATUS_DEVICE_REMOVED, NULL, "the adapter of the object is gone");
    return vidsch_sync_is_native(shared->sync)
               ? STATUS_SUCCESS
               : refuse(STATUS_INVALID_PARAMETER, "KMT-420", "the object is no native fence");
}

static NTSTATUS open_native_fence(struct kmt_call *call, void *arguments)
{
    D3DKMT_OPENNATIVEFENCEFROMNTHANDLE *args = arguments;
    struct kmt_nt_share *share;
    struct kmt_device *device;
    struct kmt_sync *sync = NULL;
    NTSTATUS status;

    if (args->Flags.Reserved || args->Flags.Reserved0 || args->Flags.SignalByKmd)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-362", "reserved bits in Flags 0x%x",
                      args->Flags.Value);
    device = kmt_handle_device(call, args->hDevice);
    if (!device)
        return STATUS_INVALID_PARAMETER;
    if (!vidsch_native_supported(device->sch))
        return refuse(STATUS_NOT_SUPPORTED, "KMT-420", "the adapter has no native fences");
    status = kmt_nt_share_open(args->hNtHandle, NT_USER_SHARED_SYNC, &share);
    if (!NT_SUCCESS(status))
        return status;
    status = vidsch_device_check(device->sch, false);
    if (NT_SUCCESS(status))
        status = check_native(share->part[KMT_PART_SYNC]);
    if (NT_SUCCESS(status))
        status = kmt_sync_open_nt(device, share->part[KMT_PART_SYNC], args->hNtHandle, args->Flags,
                                  args->EngineAffinity, &sync);
    if (NT_SUCCESS(status)) {
        args->hSyncObject = sync->handle;
        args->NativeFenceMapping = mapping_of(sync);
    }
    kmt_nt_share_close(share);
    return status;
}

KMT_IN_OUT(D3DKMTCreateNativeFence, D3DKMT_CREATENATIVEFENCE, create_native_fence)
KMT_IN_OUT(D3DKMTOpenNativeFenceFromNtHandle, D3DKMT_OPENNATIVEFENCEFROMNTHANDLE, open_native_fence)
