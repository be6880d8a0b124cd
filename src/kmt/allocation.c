/* SPDX-License-Identifier: MIT */
/*
 * Creating allocations (KMT-190 to KMT-222). The arguments come in four pieces: the structure, the
 * array of elements, the private data of the resource, and the private data of each element, which
 * also travel back. All are copied before the memory manager sees anything; what the driver wrote
 * is copied to the client last, and if that fails everything is undone.
 */
#include <string.h>

#include <ntddk.h>
#include <d3dkmthk.h>

#include "ddi/client_handle.h"
#include "kmt/adapter.h"
#include "kmt/call.h"
#include "kmt/client_memory.h"
#include "kmt/device.h"
#include "kmt/handle.h"
#include "kmt/process.h"
#include "kmt/shared.h"
#include "kmt/source_owner.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/array.h"
#include "verify/refusal.h"
#include "vidmm/allocation/allocation.h"
#include "vidmm/allocation/destroy.h"
#include "vidmm/allocation/standard.h"
#include "vidsch/client.h"

#define MAX_TOTAL_PRIVATE ((uint64_t)256 << 20)

struct allocation_creation {
    D3DKMT_CREATEALLOCATION *args;
    struct vidmm_create_request request;
    D3DDDI_ALLOCATIONINFO2 *info; /* host copy, in the newer form */
    void **original;              /* private data as the client gave them, to see what changed */
    void *resource_private;
    UINT resource_bytes;
    struct kmt_shared *shared; /* of a resource with CreateShared, until that has it */
    UINT heap_bytes;           /* of a standard allocation; 0: the client describes what it wants */
    bool old;                  /* D3DDDI_ALLOCATIONINFO elements */
};

/* ---- flags ---- */

static UINT flags_value(D3DKMT_CREATEALLOCATIONFLAGS flags)
{
    UINT value;

    memcpy(&value, &flags, sizeof(value));
    return value;
}

/* KMT-192, KMT-207, KMT-209, KMT-210, KMT-214, KMT-216, KMT-217, KMT-225. */
static NTSTATUS check_flags(const D3DKMT_CREATEALLOCATION *args)
{
    D3DKMT_CREATEALLOCATIONFLAGS f = args->Flags;

    if (f.CreateProtected || f.CreateWriteCombined || f.CreateCached || f.OpenCrossAdapter ||
        f.PhysicallyContiguous || f.NoKmdAccess || f.SharedDisplayable || f.Reserved)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-217",
                      "Flags 0x%x: bits that a client may not set, or reserved ones",
                      flags_value(f));
    if (!f.CreateResource && args->NumAllocations == 0)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-192", "no allocations, and no CreateResource");
    if (f.StandardAllocation ? f.ExistingSysMem == f.ExistingSection || args->NumAllocations != 1 ||
                                   args->PrivateDriverDataSize
                             : f.ExistingSysMem || f.ExistingSection)
        return refuse(STATUS_INVALID_PARAMETER, "ALLOC-019",
                      "Flags 0x%x with %u allocations and private data of %u bytes", flags_value(f),
                      args->NumAllocations, args->PrivateDriverDataSize);
    if (f.CreateShared
            ? !f.CreateResource
            : (f.NonSecure || f.RestrictSharedAccess || f.CrossAdapter || f.NtSecuritySharing))
        return refuse(STATUS_INVALID_PARAMETER, "ALLOC-018",
                      "Flags 0x%x: bits of sharing without CreateShared or CreateResource",
                      flags_value(f));
    if ((f.NonSecure && f.RestrictSharedAccess) || (f.Zeroed && f.AllowNotZeroed))
        return refuse(STATUS_INVALID_PARAMETER, "KMT-216",
                      "Flags 0x%x: bits that exclude each other", flags_value(f));
    if (args->NumAllocations > KMT_MAX_ELEMENTS || (args->NumAllocations && !args->pAllocationInfo))
        return refuse(STATUS_INVALID_PARAMETER, "KMT-012", "%u allocations described at %p",
                      args->NumAllocations, (const void *)args->pAllocationInfo);
    if (args->PrivateRuntimeDataSize > KMT_MAX_PRIVATE_BYTES ||
        (args->PrivateRuntimeDataSize && !args->pPrivateRuntimeData))
        return kmt_client_refuse_private(args->pPrivateRuntimeData, args->PrivateRuntimeDataSize);
    return STATUS_SUCCESS;
}

/* KMT-191, KMT-192. */
static NTSTATUS check_resource(const struct kmt_call *call, const D3DKMT_CREATEALLOCATION *args)
{
    if (args->hResource && !kmt_handle_lookup(call, args->hResource, DDI_CLIENT_RESOURCE))
        return refuse(STATUS_INVALID_HANDLE, "KMT-191", "handle 0x%x is not that of a resource",
                      args->hResource);
    return args->hResource && (args->Flags.CreateResource || args->Flags.StandardAllocation)
               ? refuse(STATUS_INVALID_PARAMETER, "KMT-192",
                        "hResource 0x%x with CreateResource or StandardAllocation", args->hResource)
               : STATUS_SUCCESS;
}

/* What this host does not do yet, or never does. */
static NTSTATUS check_support(const D3DKMT_CREATEALLOCATION *args)
{
    D3DKMT_CREATEALLOCATIONFLAGS f = args->Flags;

    return f.PartialSharedCreation || f.CrossAdapter || f.RestrictSharedAccess || f.ExistingSection
               ? refuse(STATUS_NOT_SUPPORTED, NULL,
                        "Flags 0x%x: kinds of sharing, or sections, that this host does not have",
                        flags_value(f))
               : STATUS_SUCCESS;
}

/* KMT-219, KMT-220: the description of a standard allocation. */
static NTSTATUS read_standard(struct allocation_creation *c)
{
    D3DKMT_CREATESTANDARDALLOCATION standard;
    uint64_t bytes;

    if (!kmt_client_get(&standard, c->args->pStandardAllocation, sizeof(standard)))
        return STATUS_INVALID_PARAMETER;
    if (standard.Flags.Value)
        return refuse(STATUS_INVALID_PARAMETER, NULL, "Flags 0x%x of a standard allocation",
                      standard.Flags.Value);
    if (standard.Type == D3DKMT_STANDARDALLOCATIONTYPE_INTERNALBACKINGSTORE)
        return refuse(STATUS_NOT_SUPPORTED, NULL, "this host has no internal backing stores");
    if (standard.Type != D3DKMT_STANDARDALLOCATIONTYPE_EXISTINGHEAP)
        return refuse(STATUS_INVALID_PARAMETER, NULL, "type %d of standard allocation is unknown",
                      (int)standard.Type);
    bytes = standard.ExistingHeapData.Size;
    if (bytes == 0 || bytes % PAGE_BYTES || bytes > UINT32_MAX)
        return refuse(STATUS_INVALID_PARAMETER, "ALLOC-020", "a heap of %llu bytes",
                      (unsigned long long)bytes);
    if (!c->info[0].pSystemMem || (uintptr_t)c->info[0].pSystemMem % PAGE_BYTES)
        return refuse(STATUS_INVALID_PARAMETER, "ALLOC-020", "the heap's memory is at %p",
                      c->info[0].pSystemMem);
    c->heap_bytes = (UINT)bytes;
    return STATUS_SUCCESS;
}

/* ---- copying in ---- */

static void widen(D3DDDI_ALLOCATIONINFO2 *to, const D3DDDI_ALLOCATIONINFO *from)
{
    memset(to, 0, sizeof(*to));
    to->pSystemMem = from->pSystemMem;
    to->pPrivateDriverData = from->pPrivateDriverData;
    to->PrivateDriverDataSize = from->PrivateDriverDataSize;
    to->VidPnSourceId = from->VidPnSourceId;
    to->Flags.Primary = from->Flags.Primary;
    to->Flags.Stereo = from->Flags.Stereo;
    to->Flags.Reserved = from->Flags.Reserved ? 1 : 0;
}

static NTSTATUS copy_elements(struct allocation_creation *c)
{
    UINT count = c->args->NumAllocations;
    D3DDDI_ALLOCATIONINFO *old = NULL;
    NTSTATUS status;

    if (!c->old)
        return kmt_client_copy_array(c->args->pAllocationInfo2, count, sizeof(*c->info),
                                     (void **)&c->info);
    status = kmt_client_copy_array(c->args->pAllocationInfo, count, sizeof(*old), (void **)&old);
    if (!NT_SUCCESS(status))
        return status;
    c->info = util_alloc((count ? count : 1) * sizeof(*c->info));
    for (UINT i = 0; c->info && i < count; i++)
        widen(&c->info[i], &old[i]);
    util_free(old);
    return c->info ? STATUS_SUCCESS : STATUS_NO_MEMORY;
}

static NTSTATUS check_elements(const struct allocation_creation *c)
{
    uint64_t total = 0;

    for (UINT i = 0; i < c->args->NumAllocations; i++) {
        const D3DDDI_ALLOCATIONINFO2 *info = &c->info[i];

        if (info->Flags.Reserved)
            return refuse(STATUS_INVALID_PARAMETER, "KMT-203", /* KMT-009 */
                          "allocation %u has Flags 0x%x: reserved bits", i, info->Flags.Value);
        if (info->PrivateDriverDataSize > KMT_MAX_PRIVATE_BYTES ||
            (info->PrivateDriverDataSize && !info->pPrivateDriverData))
            return kmt_client_refuse_private(info->pPrivateDriverData, info->PrivateDriverDataSize);
        for (unsigned j = 0; j < ARRAY_COUNT(info->Reserved); j++)
            if (info->Reserved[j])
                return refuse(STATUS_INVALID_PARAMETER, "KMT-009",
                              "allocation %u has a Reserved member that is not 0", i);
        total += info->PrivateDriverDataSize;
    }
    return total > MAX_TOTAL_PRIVATE ? refuse(STATUS_NO_MEMORY, NULL, "%llu bytes of private data",
                                              (unsigned long long)total)
                                     : STATUS_SUCCESS;
}

static NTSTATUS copy_privates(struct allocation_creation *c)
{
    UINT count = c->args->NumAllocations;
    NTSTATUS status = STATUS_SUCCESS;

    c->request.item = util_zalloc(count ? count : 1, sizeof(*c->request.item));
    c->original = util_zalloc(count ? count : 1, sizeof(*c->original));
    if (!c->request.item || !c->original)
        return STATUS_NO_MEMORY;
    for (UINT i = 0; i < count && NT_SUCCESS(status); i++) {
        struct vidmm_create_item *item = &c->request.item[i];

        item->info = &c->info[i];
        item->system_memory = c->info[i].pSystemMem;
        if (c->heap_bytes)
            continue; /* ALLOC-023: the driver describes it */
        item->private_bytes = c->info[i].PrivateDriverDataSize;
        status = kmt_client_copy_private(c->info[i].pPrivateDriverData, item->private_bytes,
                                         &item->private_data);
        if (NT_SUCCESS(status) && item->private_bytes) {
            c->original[i] = util_alloc(item->private_bytes);
            if (!c->original[i])
                return STATUS_NO_MEMORY;
            memcpy(c->original[i], item->private_data, item->private_bytes);
        }
    }
    return status;
}

static NTSTATUS copy_in(struct allocation_creation *c)
{
    const D3DKMT_CREATEALLOCATION *args = c->args;
    size_t element = c->old ? sizeof(D3DDDI_ALLOCATIONINFO) : sizeof(D3DDDI_ALLOCATIONINFO2);
    NTSTATUS status = copy_elements(c);

    if (NT_SUCCESS(status))
        status = check_elements(c);
    if (NT_SUCCESS(status) &&
        !kmt_client_probe_write(args->pAllocationInfo, args->NumAllocations * element))
        status = STATUS_INVALID_PARAMETER;
    if (NT_SUCCESS(status) && args->Flags.StandardAllocation)
        status = read_standard(c);
    if (NT_SUCCESS(status))
        status = copy_privates(c);
    if (NT_SUCCESS(status) && !args->Flags.StandardAllocation)
        status = kmt_client_copy_private(args->pPrivateDriverData, args->PrivateDriverDataSize,
                                         &c->resource_private);
    return status;
}

static void release(struct allocation_creation *c)
{
    /* the number is the client's, and has been checked only if there are arrays */
    UINT count = c->request.item || c->original ? c->args->NumAllocations : 0;

    for (UINT i = 0; i < count; i++) {
        if (c->request.item)
            util_free(c->request.item[i].private_data);
        if (c->original)
            util_free(c->original[i]);
    }
    util_free(c->request.item);
    util_free(c->original);
    util_free(c->info);
    util_free(c->resource_private);
    kmt_shared_free(c->shared);
}

/* ---- copying out ---- */

static bool write_element(const struct allocation_creation *c, UINT i)
{
    const struct vidmm_create_item *item = &c->request.item[i];
    const D3DDDI_ALLOCATIONINFO2 *info = &c->info[i];

    /* KMT-198; a client may keep data in constant memory that no driver writes to */
    if (item->private_bytes && !c->heap_bytes &&
        memcmp(c->original[i], item->private_data, item->private_bytes) != 0 &&
        !kmt_client_put(info->pPrivateDriverData, item->private_data, item->private_bytes))
        return false;
    if (c->old)
        return kmt_client_put(&c->args->pAllocationInfo[i].hAllocation, &info->hAllocation,
                              sizeof(info->hAllocation));
    return kmt_client_put(&c->args->pAllocationInfo2[i].hAllocation, &info->hAllocation,
                          sizeof(info->hAllocation)) &&
           kmt_client_put(&c->args->pAllocationInfo2[i].GpuVirtualAddress, &info->GpuVirtualAddress,
                          sizeof(info->GpuVirtualAddress));
}

static void undo(const struct allocation_creation *c, struct kmt_device *device,
                 D3DKMT_HANDLE resource)
{
    D3DDDICB_DESTROYALLOCATION2FLAGS flags = {.AssumeNotInUse = 1, .SynchronousDestroy = 1};
    UINT count = c->args->NumAllocations;
    D3DKMT_HANDLE *list;

    if (c->args->Flags.CreateResource) {
        (void)vidmm_allocation_destroy(device->mm, resource, NULL, 0, flags);
        return;
    }
    list = util_alloc(count * sizeof(*list));
    for (UINT i = 0; i < count; i++) {
        if (list)
            list[i] = c->info[i].hAllocation;
        else
            (void)vidmm_allocation_destroy(device->mm, 0, &c->info[i].hAllocation, 1, flags);
    }
    if (list)
        (void)vidmm_allocation_destroy(device->mm, 0, list, count, flags);
    util_free(list);
}

/* The driver makes the private data that the client has not. */
static NTSTATUS describe_heap(struct allocation_creation *c, struct kmt_device *device)
{
    struct vidmm_standard_data data;
    NTSTATUS status = vidmm_standard_heap(device->mm, c->heap_bytes, &data);

    if (!NT_SUCCESS(status))
        return status;
    c->request.heap_bytes = c->heap_bytes;
    c->request.item[0].private_data = data.allocation;
    c->request.item[0].private_bytes = data.allocation_bytes;
    c->resource_private = data.resource;
    c->resource_bytes = data.resource_bytes;
    return STATUS_SUCCESS;
}

/* KMT-193 to KMT-195: what a shared resource needs is there before the driver is called. */
static NTSTATUS prepare_sharing(struct allocation_creation *c, const struct kmt_device *device)
{
    if (!c->args->Flags.CreateShared)
        return STATUS_SUCCESS;
    c->shared = kmt_shared_create(device->adapter->process->kmt, DDI_CLIENT_RESOURCE,
                                  device->adapter->port, c->args->Flags.NtSecuritySharing);
    if (!c->shared)
        return STATUS_NO_MEMORY;
    c->shared->runtime_bytes = c->args->PrivateRuntimeDataSize;
    return kmt_client_copy_private(c->args->pPrivateRuntimeData, c->shared->runtime_bytes,
                                   &c->shared->runtime);
}

static void set_shared(struct allocation_creation *c, struct kmt_device *device,
                       D3DKMT_HANDLE resource)
{
    struct vidmm_resource *made;

    if (!c->shared)
        return;
    made = vidmm_resource_get(device->mm, resource);
    kmt_shared_set_resource(c->shared, made);
    c->args->hGlobalShare = c->shared->global;
    c->shared = NULL;
    vidmm_resource_put(made);
}

static NTSTATUS carry_out(struct allocation_creation *c, struct kmt_device *device)
{
    D3DKMT_CREATEALLOCATION *args = c->args;
    D3DKMT_HANDLE resource = args->hResource;
    NTSTATUS status = c->heap_bytes ? describe_heap(c, device) : STATUS_SUCCESS;

    if (NT_SUCCESS(status))
        status = prepare_sharing(c, device);
    if (!NT_SUCCESS(status))
        return status;
    c->request.flags = args->Flags;
    c->request.resource = args->hResource;
    c->request.resource_private = c->resource_private;
    c->request.resource_private_bytes = c->resource_bytes;
    c->request.count = args->NumAllocations;
    status = vidmm_allocation_create(device->mm, &c->request, &resource);
    if (!NT_SUCCESS(status))
        return status;
    for (UINT i = 0; i < args->NumAllocations; i++) {
        if (write_element(c, i))
            continue;
        undo(c, device, resource);
        return STATUS_INVALID_PARAMETER;
    }
    if (args->Flags.CreateResource)
        args->hResource = resource;
    args->hGlobalShare = 0; /* KMT-194 */
    set_shared(c, device, resource);
    return status;
}

static NTSTATUS check_primaries(const struct allocation_creation *c,
                                const struct kmt_adapter *adapter)
{
    for (UINT i = 0; i < c->args->NumAllocations; i++) {
        NTSTATUS status = kmt_check_primary(adapter, i, &c->info[i]);

        if (!NT_SUCCESS(status))
            return status;
    }
    return STATUS_SUCCESS;
}

static NTSTATUS create(struct kmt_call *call, D3DKMT_CREATEALLOCATION *args, bool old)
{
    struct allocation_creation c = {
        .args = args, .old = old, .resource_bytes = args->PrivateDriverDataSize};
    struct kmt_device *device;
    NTSTATUS status = check_flags(args);

    if (NT_SUCCESS(status))
        status = copy_in(&c);
    if (NT_SUCCESS(status)) {
        device = kmt_handle_device(call, args->hDevice);
        status = device ? check_resource(call, args) : STATUS_INVALID_PARAMETER;
        if (NT_SUCCESS(status))
            status = check_primaries(&c, device->adapter);
        if (NT_SUCCESS(status))
            status = check_support(args);
        if (NT_SUCCESS(status))
            status = vidsch_device_check(device->sch, false);
        if (NT_SUCCESS(status))
            status = carry_out(&c, device);
    }
    release(&c);
    return status;
}

static NTSTATUS create_allocation(struct kmt_call *call, void *arguments)
{
    return create(call, arguments, true);
}

static NTSTATUS create_allocation2(struct kmt_call *call, void *arguments)
{
    return create(call, arguments, false);
}

KMT_IN_OUT(D3DKMTCreateAllocation, D3DKMT_CREATEALLOCATION, create_allocation)
KMT_IN_OUT(D3DKMTCreateAllocation2, D3DKMT_CREATEALLOCATION, create_allocation2)
