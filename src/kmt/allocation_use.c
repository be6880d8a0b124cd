/* SPDX-License-Identifier: MIT */
/* Destroying allocations, and access by the CPU (KMT-261 to KMT-276). */
#include <stdlib.h>
#include <string.h>

#include <ntddk.h>
#include <d3dkmthk.h>

#include "ddi/client_handle.h"
#include "kmt/adapter.h"
#include "kmt/call.h"
#include "kmt/client_memory.h"
#include "kmt/device.h"
#include "kmt/handle.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/checked.h"
#include "verify/refusal.h"
#include "vidmm/allocation/destroy.h"
#include "vidmm/allocation/renaming.h"
#include "vidmm/residency/cpu_access.h"
#include "vidmm/residency/lock_aperture.h"
#include "vidmm/residency/lock_wait.h"
#include "vidmm/residency/open_place.h"
#include "vidsch/client.h"

/* ---- destruction ---- */

static int by_value(const void *a, const void *b)
{
    D3DKMT_HANDLE x = *(const D3DKMT_HANDLE *)a, y = *(const D3DKMT_HANDLE *)b;

    return x < y ? -1 : x > y;
}

/* KMT-263. Sorts the list. */
static bool has_duplicates(D3DKMT_HANDLE *list, UINT count)
{
    qsort(list, count, sizeof(*list), by_value);
    for (UINT i = 1; i < count; i++)
        if (list[i] == list[i - 1])
            return true;
    return false;
}

/* Copy of the list for the check, which changes its order: the driver sees the client's
 * (ALLOC-086). */
static NTSTATUS check_duplicates(const D3DKMT_HANDLE *list, UINT count)
{
    D3DKMT_HANDLE *sorted;
    bool duplicates;

    if (count < 2)
        return STATUS_SUCCESS;
    sorted = util_alloc(count * sizeof(*sorted));
    if (!sorted)
        return STATUS_NO_MEMORY;
    memcpy(sorted, list, count * sizeof(*sorted));
    duplicates = has_duplicates(sorted, count);
    util_free(sorted);
    return duplicates ? refuse(STATUS_INVALID_PARAMETER, NULL,
                               "a list of %u handles names one of them twice", count)
                      : STATUS_SUCCESS;
}

static NTSTATUS destroy(struct kmt_call *call, const D3DKMT_DESTROYALLOCATION2 *args)
{
    struct kmt_device *device;
    D3DKMT_HANDLE *list = NULL;
    NTSTATUS status;

    if (args->Flags.Reserved || args->Flags.SystemUseOnly)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-262", /* ALLOC-091 */
                      "reserved bits in Flags 0x%x", args->Flags.Value);
    if (args->hResource && args->AllocationCount && args->phAllocationList)
        return refuse(STATUS_INVALID_PARAMETER, "ALLOC-085",
                      "hResource 0x%x with a list of %u allocations", args->hResource,
                      args->AllocationCount);
    if (!args->hResource && !args->AllocationCount) /* KMT-263 */
        return kmt_handle_device(call, args->hDevice) ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER;
    status = kmt_client_copy_array(args->phAllocationList,
                                   args->hResource ? 0 : args->AllocationCount, sizeof(*list),
                                   (void **)&list);
    if (!NT_SUCCESS(status))
        return status;
    status = check_duplicates(list, args->hResource ? 0 : args->AllocationCount);
    device = kmt_handle_device(call, args->hDevice);
    if (NT_SUCCESS(status) && !device)
        status = STATUS_INVALID_PARAMETER;
    if (NT_SUCCESS(status))
        status = vidmm_allocation_destroy(device->mm, args->hResource, list,
                                          args->hResource ? 0 : args->AllocationCount, args->Flags);
    util_free(list);
    return status;
}

static NTSTATUS destroy_allocation(struct kmt_call *call, void *arguments)
{
    const D3DKMT_DESTROYALLOCATION *args = arguments;
    D3DKMT_DESTROYALLOCATION2 newer = {
        .hDevice = args->hDevice,
        .hResource = args->hResource,
        .phAllocationList = args->phAllocationList,
        .AllocationCount = args->AllocationCount,
    };

    return destroy(call, &newer); /* KMT-261 */
}

static NTSTATUS destroy_allocation2(struct kmt_call *call, void *arguments)
{
    return destroy(call, arguments);
}

/* ---- access by the CPU ---- */

static NTSTATUS lock2(struct kmt_call *call, void *arguments)
{
    D3DKMT_LOCK2 *args = arguments;
    struct kmt_device *device;
    NTSTATUS status;

    if (args->Flags.Value)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-009", "reserved bits in Flags 0x%x",
                      args->Flags.Value);
    device = kmt_handle_device(call, args->hDevice);
    if (!device || !kmt_handle_lookup(call, args->hAllocation, DDI_CLIENT_ALLOCATION))
        return STATUS_INVALID_PARAMETER;
    if (!kmt_adapter_is_2x(device->adapter))
        return kmt_adapter_refuse_1x();
    status = vidsch_device_check(device->sch, false);
    return NT_SUCCESS(status) ? vidmm_lock2(device->mm, args->hAllocation, &args->pData) : status;
}

static NTSTATUS unlock2(struct kmt_call *call, void *arguments)
{
    const D3DKMT_UNLOCK2 *args = arguments;
    struct kmt_device *device = kmt_handle_device(call, args->hDevice);

    if (!device || !kmt_handle_lookup(call, args->hAllocation, DDI_CLIENT_ALLOCATION))
        return STATUS_INVALID_PARAMETER;
    if (!kmt_adapter_is_2x(device->adapter))
        return kmt_adapter_refuse_1x();
    return vidmm_unlock2(device->mm, args->hAllocation); /* also on a lost device (KMT-124) */
}

/* ---- the older calls ---- */

/* KMT-266, KMT-274, ALLOC-118. */
static NTSTATUS check_lock(const D3DKMT_LOCK *args)
{
    D3DDDICB_LOCKFLAGS f = args->Flags;

    if (f.Reserved || (f.ReadOnly && f.WriteOnly) || (f.IgnoreSync && f.AcquireAperture) ||
        (f.UseAlternateVA && !f.AcquireAperture))
        return refuse(STATUS_INVALID_PARAMETER, NULL,
                      "Flags 0x%x: reserved bits, or bits that exclude each other", f.Value);
    if (args->GpuVirtualAddress || (f.LockEntire && (args->NumPages || args->pPages)) ||
        (args->NumPages && !args->pPages))
        return refuse(STATUS_INVALID_PARAMETER, NULL,
                      "GpuVirtualAddress 0x%llx, %u pages at %p, Flags 0x%x",
                      (unsigned long long)args->GpuVirtualAddress, args->NumPages,
                      (const void *)args->pPages, f.Value);
    return STATUS_SUCCESS;
}

/* KMT-267: the list, which only says where the address begins: more is locked than is asked for. */
static NTSTATUS read_pages(const D3DKMT_LOCK *args, const struct vidmm_open *open, UINT *first)
{
    const uint64_t pages = (vidmm_open_bytes(open) + PAGE_BYTES - 1) >> PAGE_BITS;
    UINT *list;
    NTSTATUS status;

    *first = 0;
    if (args->NumPages == 0)
        return STATUS_SUCCESS;
    if (args->NumPages > KMT_MAX_ELEMENTS)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-012", "a list of %u pages", args->NumPages);
    status = kmt_client_copy_array(args->pPages, args->NumPages, sizeof(*list), (void **)&list);
    if (!NT_SUCCESS(status))
        return status;
    *first = list[0];
    for (UINT i = 0; NT_SUCCESS(status) && i < args->NumPages; i++)
        if (list[i] >= pages)
            status = refuse(STATUS_INVALID_PARAMETER, "KMT-267",
                            "element %u of the list is page %u of an allocation of %llu", i,
                            list[i], (unsigned long long)pages);
    util_free(list);
    return status;
}

/* ALLOC-118: what the flags ask of the allocation; those of 2.x clients ask for nothing. */
static NTSTATUS check_allocation(const struct kmt_device *device, const struct vidmm_open *open,
                                 D3DDDICB_LOCKFLAGS f)
{
    if (kmt_adapter_is_2x(device->adapter))
        return STATUS_SUCCESS;
    if ((f.IgnoreSync || f.IgnoreReadSync) &&
        (!vidmm_open_has_aperture(open) || vidmm_open_swizzles(open)))
        return refuse(STATUS_INVALID_PARAMETER, "ALLOC-118",
                      "Flags 0x%x on an allocation that is swizzled, or has no aperture segment in "
                      "its set",
                      f.Value);
    if (f.AcquireAperture && vidmm_open_aperture_only(open))
        return refuse(STATUS_INVALID_PARAMETER, "ALLOC-118",
                      "AcquireAperture on an allocation with aperture segments alone in its set");
    return STATUS_SUCCESS;
}

/* ALLOC-116, ALLOC-117, ALLOC-124: only a 1.x client waits for the GPU. */
static NTSTATUS wait_for_gpu(const struct kmt_device *device, const D3DKMT_LOCK *args)
{
    const D3DDDICB_LOCKFLAGS f = args->Flags;

    if (kmt_adapter_is_2x(device->adapter))
        return STATUS_SUCCESS;
    if (f.IgnoreSync && f.DonotWait)
        return STATUS_SUCCESS;
    return vidmm_lock_wait(device->mm, args->hAllocation, f.IgnoreReadSync, f.DonotWait);
}

/* ALLOC-121: whether the lock with Discard is of an instance that the client need not wait for. */
static bool renames(const struct kmt_device *device, const struct vidmm_open *open,
                    D3DDDICB_LOCKFLAGS f)
{
    return f.Discard && !kmt_adapter_is_2x(device->adapter) && vidmm_open_renames(open);
}

/* Of args->hAllocation, which is idle as far as the flags want it. KMT-272: one count for both. */
static NTSTATUS take_lock(const struct kmt_device *device, D3DKMT_LOCK *args)
{
    return args->Flags.AcquireAperture && !kmt_adapter_is_2x(device->adapter)
               ? vidmm_lock_aperture(device->mm, args, &args->pData)
               : vidmm_lock2(device->mm, args->hAllocation, &args->pData);
}

static NTSTATUS lock_another(const struct kmt_device *device, D3DKMT_LOCK *args)
{
    const D3DKMT_HANDLE named = args->hAllocation;
    NTSTATUS status = vidmm_rename(device->mm, &args->hAllocation, args->Flags.NoExistingReference);

    if (!NT_SUCCESS(status))
        return status;
    status = take_lock(device, args);
    if (!NT_SUCCESS(status)) {
        vidmm_rename_undo(device->mm, args->hAllocation);
        args->hAllocation = named;
    }
    return status;
}

static NTSTATUS lock(struct kmt_call *call, void *arguments)
{
    D3DKMT_LOCK *args = arguments;
    const struct vidmm_open *open;
    struct kmt_device *device;
    UINT first;
    NTSTATUS status = check_lock(args);

    if (!NT_SUCCESS(status))
        return status;
    device = kmt_handle_device(call, args->hDevice);
    open = device ? kmt_handle_lookup(call, args->hAllocation, DDI_CLIENT_ALLOCATION) : NULL;
    status = open ? read_pages(args, open, &first) : STATUS_INVALID_PARAMETER;
    if (NT_SUCCESS(status))
        status = vidsch_device_check(device->sch, false);
    if (NT_SUCCESS(status))
        status = check_allocation(device, open, args->Flags);
    if (NT_SUCCESS(status) && renames(device, open, args->Flags)) {
        status = lock_another(device, args);
    } else if (NT_SUCCESS(status)) {
        status = vidmm_instance_check(open);
        if (NT_SUCCESS(status))
            status = wait_for_gpu(device, args);
        if (NT_SUCCESS(status))
            status = take_lock(device, args);
    }
    if (NT_SUCCESS(status))
        args->pData = (uint8_t *)args->pData + ((size_t)first << PAGE_BITS);
    return status;
}

/* KMT-273: all or none. */
static NTSTATUS check_locked(const struct kmt_call *call, const struct kmt_device *device,
                             const D3DKMT_HANDLE *list, UINT count)
{
    for (UINT i = 0; i < count; i++) {
        struct vidmm_open *open = kmt_handle_lookup(call, list[i], DDI_CLIENT_ALLOCATION);

        if (!open || vidmm_open_device(open) != device->mm || !vidmm_open_locked(open))
            return refuse(STATUS_INVALID_PARAMETER, NULL,
                          "element %u of the list, handle 0x%x, is no locked allocation of this "
                          "device",
                          i, list[i]);
    }
    return STATUS_SUCCESS;
}

static NTSTATUS unlock(struct kmt_call *call, void *arguments)
{
    const D3DKMT_UNLOCK *args = arguments;
    struct kmt_device *device;
    D3DKMT_HANDLE *list;
    NTSTATUS status;

    if (args->NumAllocations == 0)
        return refuse(STATUS_INVALID_PARAMETER, NULL, "a list of no allocations");
    status = kmt_client_copy_array(args->phAllocations, args->NumAllocations, sizeof(*list),
                                   (void **)&list);
    if (!NT_SUCCESS(status))
        return status;
    device = kmt_handle_device(call, args->hDevice);
    status = device ? check_duplicates(list, args->NumAllocations) : STATUS_INVALID_PARAMETER;
    if (NT_SUCCESS(status))
        status = check_locked(call, device, list, args->NumAllocations);
    for (UINT i = 0; NT_SUCCESS(status) && i < args->NumAllocations; i++)
        status = vidmm_unlock2(device->mm, list[i]);
    util_free(list);
    return status;
}

/* ALLOC-139: the platform is coherent. */
static NTSTATUS invalidate_cache(struct kmt_call *call, void *arguments)
{
    const D3DKMT_INVALIDATECACHE *args = arguments;
    struct kmt_device *device = kmt_handle_device(call, args->hDevice);
    const struct vidmm_open *open = device ? kmt_handle_lookup(call, args->hAllocation,
                                                               DDI_CLIENT_ALLOCATION)
                                           : NULL;

    if (!open)
        return STATUS_INVALID_PARAMETER;
    if (vidmm_open_device(open) != device->mm)
        return refuse(STATUS_INVALID_PARAMETER, NULL, "allocation 0x%x is of another device",
                      args->hAllocation);
    return range_inside(args->Offset, args->Length, vidmm_open_bytes(open))
               ? STATUS_SUCCESS
               : refuse(STATUS_INVALID_PARAMETER, "ALLOC-139",
                        "0x%llx bytes from 0x%llx on, of an allocation of 0x%llx",
                        (unsigned long long)args->Length, (unsigned long long)args->Offset,
                        (unsigned long long)vidmm_open_bytes(open));
}

KMT_IN(D3DKMTInvalidateCache, D3DKMT_INVALIDATECACHE, invalidate_cache)
KMT_IN_OUT(D3DKMTLock, D3DKMT_LOCK, lock)
KMT_IN(D3DKMTUnlock, D3DKMT_UNLOCK, unlock)
KMT_END(D3DKMTDestroyAllocation, D3DKMT_DESTROYALLOCATION, destroy_allocation)
KMT_END(D3DKMTDestroyAllocation2, D3DKMT_DESTROYALLOCATION2, destroy_allocation2)
KMT_IN_OUT(D3DKMTLock2, D3DKMT_LOCK2, lock2)
KMT_IN(D3DKMTUnlock2, D3DKMT_UNLOCK2, unlock2)
