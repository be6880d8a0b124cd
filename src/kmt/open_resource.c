/* SPDX-License-Identifier: MIT */
/*
 * Asking about shared resources and opening them, by global handle and by NT handle (KMT-226 to
 * KMT-239, KMT-252 to KMT-256). The buffers of an open must have exactly the sizes that a query
 * tells, but for that of all private data, which may be larger.
 */
#include <string.h>

#include <ntddk.h>
#include <d3dkmthk.h>

#include "kmt/adapter.h"
#include "kmt/call.h"
#include "kmt/client_memory.h"
#include "kmt/device.h"
#include "kmt/handle.h"
#include "kmt/keyed_mutex.h"
#include "kmt/kmt.h"
#include "kmt/nt_share.h"
#include "kmt/process.h"
#include "kmt/shared.h"
#include "kmt/sync.h"
#include "port/record/adapter_info.h"
#include "util/address.h"
#include "util/alloc.h"
#include "verify/refusal.h"
#include "vidmm/allocation/allocation.h"
#include "vidmm/allocation/destroy.h"
#include "vidsch/client.h"

/* ---- queries ---- */

static NTSTATUS query(const struct kmt_shared *shared, struct vidmm_resource_info *info)
{
    if (shared->gone)
        return refuse(STATUS_DEVICE_REMOVED, NULL, "the adapter of the resource is gone");
    vidmm_resource_query(shared->resource, info);
    return info->private_bytes > UINT32_MAX ? STATUS_INTEGER_OVERFLOW : STATUS_SUCCESS;
}

static NTSTATUS query_global(struct kmt_call *call, void *arguments)
{
    D3DKMT_QUERYRESOURCEINFO *args = arguments;
    const struct kmt_shared *shared = kmt_shared_find(call->process->kmt, args->hGlobalShare,
                                                      DDI_CLIENT_RESOURCE);
    struct vidmm_resource_info info;
    NTSTATUS status;

    if (!kmt_handle_device(call, args->hDevice))
        return STATUS_INVALID_PARAMETER;
    if (!shared)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-026",
                      "the shared handle is not that of a resource");
    status = query(shared, &info);
    if (!NT_SUCCESS(status))
        return status;
    args->PrivateRuntimeDataSize = shared->runtime_bytes; /* KMT-227: sizes alone */
    args->TotalPrivateDriverDataSize = (UINT)info.private_bytes;
    args->ResourcePrivateDriverDataSize = info.resource_private_bytes;
    args->NumAllocations = info.allocations;
    return STATUS_SUCCESS;
}

static NTSTATUS query_nt(struct kmt_call *call, void *arguments)
{
    D3DKMT_QUERYRESOURCEINFOFROMNTHANDLE *args = arguments;
    struct vidmm_resource_info info;
    struct kmt_nt_share *share;
    NTSTATUS status;

    if (!kmt_handle_device(call, args->hDevice))
        return STATUS_INVALID_PARAMETER;
    status = kmt_nt_share_open(args->hNtHandle, NT_USER_SHARED_RESOURCE, &share);
    if (!NT_SUCCESS(status))
        return status;
    status = query(share->part[KMT_PART_RESOURCE], &info);
    if (NT_SUCCESS(status)) {
        args->PrivateRuntimeDataSize = share->part[KMT_PART_RESOURCE]->runtime_bytes;
        args->TotalPrivateDriverDataSize = (UINT)info.private_bytes;
        args->ResourcePrivateDriverDataSize = info.resource_private_bytes;
        args->NumAllocations = info.allocations;
    }
    kmt_nt_share_close(share);
    return status;
}

/* ---- opening ---- */

/* What both calls ask for, and where the answers go. */
struct opening {
    struct kmt_device *device;
    struct kmt_shared *shared;
    bool read_only;
    UINT count;
    D3DDDI_OPENALLOCATIONINFO *info; /* one of these */
    D3DDDI_OPENALLOCATIONINFO2 *info2;
    void *runtime, *resource_private, *total;
    UINT runtime_bytes, resource_private_bytes, total_bytes;
    NTSTATUS total_too_small;
    struct vidmm_open_item *item;
    D3DKMT_HANDLE handle;
};

static NTSTATUS check_sizes(const struct opening *o, const struct vidmm_resource_info *info)
{
    if (o->count != info->allocations || o->runtime_bytes != o->shared->runtime_bytes ||
        o->resource_private_bytes != info->resource_private_bytes)
        return refuse(STATUS_INVALID_PARAMETER, "ALLOC-081",
                      "%u allocations, runtime data of %u bytes, private data of %u bytes; the "
                      "resource has %u, %u, %u",
                      o->count, (UINT)o->runtime_bytes, (UINT)o->resource_private_bytes,
                      info->allocations, (UINT)o->shared->runtime_bytes,
                      (UINT)info->resource_private_bytes);
    if (info->private_bytes && !o->total)
        return refuse(STATUS_INVALID_PARAMETER, "ALLOC-081",
                      "no buffer for %llu bytes of private data",
                      (unsigned long long)info->private_bytes);
    return o->total_bytes < info->private_bytes
               ? refuse(o->total_too_small, "ALLOC-081",
                        "a buffer of %u bytes for %llu bytes of private data", o->total_bytes,
                        (unsigned long long)info->private_bytes)
               : STATUS_SUCCESS;
}

static bool writable(const struct opening *o, UINT total)
{
    return kmt_client_probe_write(o->runtime, o->runtime_bytes) &&
           kmt_client_probe_write(o->resource_private, o->resource_private_bytes) &&
           kmt_client_probe_write(o->total, total) &&
           kmt_client_probe_write(o->info, o->info ? o->count * sizeof(*o->info) : 0) &&
           kmt_client_probe_write(o->info2, o->info2 ? o->count * sizeof(*o->info2) : 0);
}

/* KMT-232: the element says where in the client's buffer its private data were copied. */
static bool write_element(const struct opening *o, UINT i, const void *data)
{
    D3DDDI_OPENALLOCATIONINFO old = {0};
    D3DDDI_OPENALLOCATIONINFO2 info;

    if (o->info) {
        old.hAllocation = o->item[i].allocation;
        old.pPrivateDriverData = data;
        old.PrivateDriverDataSize = o->item[i].private_bytes;
        return kmt_client_put(&o->info[i], &old, sizeof(old));
    }
    memset(&info, 0, sizeof(info)); /* KMT-236: no GPU virtual address */
    info.hAllocation = o->item[i].allocation;
    info.pPrivateDriverData = data;
    info.PrivateDriverDataSize = o->item[i].private_bytes;
    return kmt_client_put(&o->info2[i], &info, sizeof(info));
}

/* KMT-233 to KMT-235. */
static bool write_out(struct opening *o, const struct vidmm_resource_info *info)
{
    UINT at = 0;

    for (UINT i = 0; i < o->count; i++) {
        void *place = o->item[i].private_bytes ? (uint8_t *)o->total + at : NULL;

        if (!kmt_client_put(place, o->item[i].private_data, o->item[i].private_bytes) ||
            !write_element(o, i, place))
            return false;
        at += (UINT)align_up(o->item[i].private_bytes, 8);
    }
    o->total_bytes = at;
    return kmt_client_put(o->runtime, o->shared->runtime, o->runtime_bytes) &&
           kmt_client_put(o->resource_private, info->resource_private, o->resource_private_bytes);
}

static void undo_open(const struct opening *o)
{
    D3DDDICB_DESTROYALLOCATION2FLAGS flags = {.AssumeNotInUse = 1, .SynchronousDestroy = 1};

    (void)vidmm_allocation_destroy(o->device->mm, o->handle, NULL, 0, flags);
}

/* The caller keeps the resource alive. */
static NTSTATUS open_checked(struct opening *o)
{
    struct vidmm_resource_info info;
    NTSTATUS status = query(o->shared, &info);

    if (NT_SUCCESS(status))
        status = check_sizes(o, &info);
    if (NT_SUCCESS(status) && !writable(o, (UINT)info.private_bytes))
        status = STATUS_INVALID_PARAMETER;
    if (NT_SUCCESS(status))
        status = vidsch_device_check(o->device->sch, false);
    if (!NT_SUCCESS(status))
        return status;
    o->item = util_zalloc(o->count ? o->count : 1, sizeof(*o->item));
    if (!o->item)
        return STATUS_NO_MEMORY;
    status = vidmm_resource_open(o->device->mm, o->shared->resource, o->read_only, o->item,
                                 o->count, &o->handle);
    if (NT_SUCCESS(status) && !write_out(o, &info)) {
        undo_open(o);
        status = STATUS_INVALID_PARAMETER;
    }
    util_free(o->item);
    return status;
}

static NTSTATUS open_resource(struct opening *o)
{
    NTSTATUS status;

    if (!o->device)
        return STATUS_INVALID_PARAMETER;
    if (!o->shared || (o->count && !o->info && !o->info2))
        return refuse(STATUS_INVALID_PARAMETER, NULL, "%s",
                      o->shared ? "no list for the allocations"
                                : "the shared handle is not that of a resource");
    if (o->shared->gone)
        return refuse(STATUS_DEVICE_REMOVED, NULL, "the adapter of the resource is gone");
    if (o->shared->port != o->device->adapter->port)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-237", "the resource is of another adapter");
    kmt_shared_reference(o->shared);
    status = open_checked(o);
    kmt_shared_release(o->shared);
    return status;
}

static NTSTATUS open_global(struct kmt_call *call, D3DKMT_OPENRESOURCE *args, bool old)
{
    struct opening o = {
        .device = kmt_handle_device(call, args->hDevice),
        .shared = kmt_shared_find(call->process->kmt, args->hGlobalShare, DDI_CLIENT_RESOURCE),
        .count = args->NumAllocations,
        .info = old ? args->pOpenAllocationInfo : NULL,
        .info2 = old ? NULL : args->pOpenAllocationInfo2,
        .runtime = args->pPrivateRuntimeData,
        .runtime_bytes = args->PrivateRuntimeDataSize,
        .resource_private = args->pResourcePrivateDriverData,
        .resource_private_bytes = args->ResourcePrivateDriverDataSize,
        .total = args->pTotalPrivateDriverDataBuffer,
        .total_bytes = args->TotalPrivateDriverDataBufferSize,
        .total_too_small = STATUS_INVALID_PARAMETER,
    };
    NTSTATUS status = open_resource(&o);

    if (!NT_SUCCESS(status))
        return status;
    args->TotalPrivateDriverDataBufferSize = o.total_bytes;
    args->hResource = o.handle;
    return STATUS_SUCCESS;
}

static NTSTATUS open_1(struct kmt_call *call, void *arguments)
{
    return open_global(call, arguments, true);
}

static NTSTATUS open_2(struct kmt_call *call, void *arguments)
{
    return open_global(call, arguments, false);
}

/* ---- bundles ---- */

/* The other members of a bundle; all or none (KMT-252, KMT-253). */
static NTSTATUS open_others(struct kmt_call *call, const struct kmt_nt_share *share,
                            struct kmt_device *device, D3DKMT_OPENRESOURCEFROMNTHANDLE *args)
{
    struct kmt_keyed *keyed;
    struct kmt_sync *sync;
    NTSTATUS status;

    args->hKeyedMutex = args->hSyncObject = 0;
    if (!share->part[KMT_PART_MUTEX]) {
        args->KeyedMutexPrivateRuntimeDataSize = 0;
        return STATUS_SUCCESS;
    }
    status = kmt_keyed_open(call, share->part[KMT_PART_MUTEX], args->pKeyedMutexPrivateRuntimeData,
                            args->KeyedMutexPrivateRuntimeDataSize, &keyed);
    if (!NT_SUCCESS(status))
        return status;
    status = kmt_sync_open(device->adapter, device, share->part[KMT_PART_SYNC], &sync);
    if (NT_SUCCESS(status))
        status = kmt_sync_publish(sync);
    if (!NT_SUCCESS(status)) {
        kmt_keyed_close(keyed);
        return status;
    }
    args->hKeyedMutex = keyed->handle;
    args->hSyncObject = sync->handle;
    return STATUS_SUCCESS;
}

static NTSTATUS open_bundle(struct kmt_call *call, const struct kmt_nt_share *share,
                            D3DKMT_OPENRESOURCEFROMNTHANDLE *args)
{
    struct opening o = {
        .device = kmt_handle_device(call, args->hDevice),
        .shared = share->part[KMT_PART_RESOURCE],
        .read_only = !(nt_user_handle_access(args->hNtHandle) & SHARED_ALLOCATION_WRITE),
        .count = args->NumAllocations,
        .info2 = args->pOpenAllocationInfo2,
        .runtime = args->pPrivateRuntimeData,
        .runtime_bytes = args->PrivateRuntimeDataSize,
        .resource_private = args->pResourcePrivateDriverData,
        .resource_private_bytes = args->ResourcePrivateDriverDataSize,
        .total = args->pTotalPrivateDriverDataBuffer,
        .total_bytes = args->TotalPrivateDriverDataBufferSize,
        .total_too_small = STATUS_NO_MEMORY,
    };
    NTSTATUS status = open_resource(&o);

    if (!NT_SUCCESS(status))
        return status;
    status = open_others(call, share, o.device, args);
    if (!NT_SUCCESS(status)) {
        undo_open(&o);
        return status;
    }
    args->TotalPrivateDriverDataBufferSize = o.total_bytes;
    args->hResource = o.handle;
    return STATUS_SUCCESS;
}

static NTSTATUS open_nt(struct kmt_call *call, void *arguments)
{
    D3DKMT_OPENRESOURCEFROMNTHANDLE *args = arguments;
    struct kmt_nt_share *share;
    NTSTATUS status;

    if (!kmt_handle_device(call, args->hDevice))
        return STATUS_INVALID_PARAMETER;
    status = kmt_nt_share_open(args->hNtHandle, NT_USER_SHARED_RESOURCE, &share);
    if (status == STATUS_OBJECT_TYPE_MISMATCH)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-253", "the NT handle is not of a resource");
    if (!NT_SUCCESS(status))
        return status;
    status = open_bundle(call, share, args);
    kmt_nt_share_close(share);
    return status;
}

/* ---- whose it is ---- */

static NTSTATUS adapter_luid(struct kmt_call *call, void *arguments)
{
    D3DKMT_GETSHAREDRESOURCEADAPTERLUID *args = arguments;
    const struct kmt_shared *shared;
    struct kmt_nt_share *share = NULL;
    NTSTATUS status = STATUS_SUCCESS;

    if ((args->hGlobalShare != 0) == (args->hNtHandle != NULL))
        return refuse(STATUS_INVALID_PARAMETER, "KMT-256",
                      "hGlobalShare 0x%x and hNtHandle %p: one of them", args->hGlobalShare,
                      args->hNtHandle);
    if (args->hNtHandle)
        status = kmt_nt_share_open(args->hNtHandle, NT_USER_SHARED_RESOURCE, &share);
    if (!NT_SUCCESS(status))
        return status;
    shared = share ? share->part[KMT_PART_RESOURCE]
                   : kmt_shared_find(call->process->kmt, args->hGlobalShare, DDI_CLIENT_RESOURCE);
    if (shared)
        args->AdapterLuid = port_adapter_luid(shared->port);
    if (share)
        kmt_nt_share_close(share);
    return shared ? STATUS_SUCCESS
                  : refuse(STATUS_INVALID_PARAMETER, NULL, "no resource has this handle");
}

KMT_IN_OUT(D3DKMTQueryResourceInfo, D3DKMT_QUERYRESOURCEINFO, query_global)
KMT_IN_OUT(D3DKMTQueryResourceInfoFromNtHandle, D3DKMT_QUERYRESOURCEINFOFROMNTHANDLE, query_nt)
KMT_IN_OUT(D3DKMTOpenResource, D3DKMT_OPENRESOURCE, open_1)
KMT_IN_OUT(D3DKMTOpenResource2, D3DKMT_OPENRESOURCE, open_2)
KMT_IN_OUT(D3DKMTOpenResourceFromNtHandle, D3DKMT_OPENRESOURCEFROMNTHANDLE, open_nt)
KMT_IN_OUT(D3DKMTGetSharedResourceAdapterLuid, D3DKMT_GETSHAREDRESOURCEADAPTERLUID, adapter_luid)
