/* SPDX-License-Identifier: MIT */
/* Opening shared synchronization objects, by global and by NT handle (KMT-356 to KMT-362). */
#include <ntddk.h>
#include <d3dkmthk.h>

#include "kmt/adapter.h"
#include "kmt/call.h"
#include "kmt/device.h"
#include "kmt/handle.h"
#include "kmt/kmt.h"
#include "kmt/nt_share.h"
#include "kmt/process.h"
#include "kmt/shared.h"
#include "kmt/sync.h"
#include "util/array.h"
#include "verify/refusal.h"
#include "vidsch/client.h"

/* KMT-357: of the process on the object's adapter, which it need not have opened. */
static NTSTATUS open_on_adapter(struct kmt_call *call, struct kmt_shared *shared,
                                struct kmt_sync **sync)
{
    struct kmt_adapter *adapter;
    NTSTATUS status;

    if (shared->gone)
        return refuse(STATUS_DEVICE_REMOVED, NULL, "the adapter of the object is gone");
    status = kmt_adapter_of(call, shared->port, &adapter);
    if (!NT_SUCCESS(status))
        return status;
    kmt_call_pin(call, adapter);
    status = kmt_sync_open(adapter, NULL, shared, sync);
    if (NT_SUCCESS(status))
        status = kmt_sync_publish(*sync);
    kmt_adapter_put(adapter, call);
    return status;
}

static NTSTATUS open_global(struct kmt_call *call, void *arguments)
{
    D3DKMT_OPENSYNCHRONIZATIONOBJECT *args = arguments;
    struct kmt_shared *shared;
    struct kmt_sync *sync;
    NTSTATUS status;

    for (unsigned i = 0; i < ARRAY_COUNT(args->Reserved); i++)
        if (args->Reserved[i])
            return refuse(STATUS_INVALID_PARAMETER, "KMT-356", "Reserved members are not 0");
    shared = kmt_shared_find(call->process->kmt, args->hSharedHandle, DDI_CLIENT_SYNC);
    if (!shared)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-026",
                      "shared handle 0x%x is not that of a synchronization object",
                      args->hSharedHandle);
    status = open_on_adapter(call, shared, &sync);
    if (NT_SUCCESS(status))
        args->hSyncObject = sync->handle;
    return status;
}

static void limit(struct kmt_sync *sync, HANDLE handle)
{
    ACCESS_MASK access = nt_user_handle_access(handle);

    sync->no_wait = !(access & D3DDDI_SYNC_OBJECT_WAIT);
    sync->no_signal = !(access & D3DDDI_SYNC_OBJECT_SIGNAL);
}

NTSTATUS kmt_sync_open_nt(struct kmt_device *device, struct kmt_shared *shared, HANDLE handle,
                          D3DDDI_SYNCHRONIZATIONOBJECT_FLAGS flags, UINT affinity,
                          struct kmt_sync **out)
{
    NTSTATUS status = kmt_sync_open(device->adapter, device, shared, out);

    if (!NT_SUCCESS(status))
        return status;
    limit(*out, handle);
    status = kmt_sync_view(*out, flags, affinity);
    if (NT_SUCCESS(status))
        return kmt_sync_publish(*out);
    kmt_sync_remove(*out);
    return status;
}

static NTSTATUS open_nt(struct kmt_call *call, void *arguments)
{
    D3DKMT_OPENSYNCOBJECTFROMNTHANDLE *args = arguments;
    struct kmt_nt_share *share;
    struct kmt_sync *sync;
    NTSTATUS status = kmt_nt_share_open(args->hNtHandle, NT_USER_SHARED_SYNC, &share);

    if (!NT_SUCCESS(status))
        return status;
    status = open_on_adapter(call, share->part[KMT_PART_SYNC], &sync);
    if (NT_SUCCESS(status)) {
        limit(sync, args->hNtHandle);
        args->hSyncObject = sync->handle;
    }
    kmt_nt_share_close(share);
    return status;
}

static void answer(const struct kmt_sync *sync, D3DKMT_OPENSYNCOBJECTFROMNTHANDLE2 *args)
{
    args->hSyncObject = sync->handle;
    if (!sync->view)
        return;
    args->MonitoredFence.FenceValueCPUVirtualAddress = vidsch_sync_view_cpu(sync->view);
    args->MonitoredFence.FenceValueGPUVirtualAddress = vidsch_sync_view_gpu(sync->view);
}

static NTSTATUS open_nt2(struct kmt_call *call, void *arguments)
{
    D3DKMT_OPENSYNCOBJECTFROMNTHANDLE2 *args = arguments;
    struct kmt_nt_share *share;
    struct kmt_device *device;
    struct kmt_sync *sync;
    NTSTATUS status;

    if (args->Flags.Reserved || args->Flags.Reserved0 || args->Flags.SignalByKmd)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-362", "reserved bits in Flags 0x%x",
                      args->Flags.Value);
    device = kmt_handle_device(call, args->hDevice);
    if (!device)
        return STATUS_INVALID_PARAMETER;
    status = kmt_nt_share_open(args->hNtHandle, NT_USER_SHARED_SYNC, &share);
    if (!NT_SUCCESS(status))
        return status;
    status = vidsch_device_check(device->sch, false);
    if (NT_SUCCESS(status))
        status = kmt_sync_open_nt(device, share->part[KMT_PART_SYNC], args->hNtHandle, args->Flags,
                                  args->MonitoredFence.EngineAffinity, &sync);
    if (NT_SUCCESS(status))
        answer(sync, args);
    kmt_nt_share_close(share);
    return status;
}

KMT_IN_OUT(D3DKMTOpenSynchronizationObject, D3DKMT_OPENSYNCHRONIZATIONOBJECT, open_global)
KMT_IN_OUT(D3DKMTOpenSyncObjectFromNtHandle, D3DKMT_OPENSYNCOBJECTFROMNTHANDLE, open_nt)
KMT_IN_OUT(D3DKMTOpenSyncObjectFromNtHandle2, D3DKMT_OPENSYNCOBJECTFROMNTHANDLE2, open_nt2)
