/* SPDX-License-Identifier: MIT */
/* Contiguous memory, and the CPU's and the device's looks at any address. */
#include "seeds.h"

#if DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_4

static HANDLE adapter_handle(struct seeds_adapter *adapter, const struct seeds_escape *e)
{
    return e->how & SEEDS_WRONG_ADAPTER ? (HANDLE)adapter : adapter->dxgk.DeviceHandle;
}

static void allocate_contiguous(struct seeds_adapter *adapter, struct seeds_escape *e)
{
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY args;

    args.NumberOfBytes = (SIZE_T)e->arg[0];
    args.LowestAcceptableAddress.QuadPart = (LONGLONG)e->arg[1];
    args.HighestAcceptableAddress.QuadPart = (LONGLONG)e->arg[2];
    args.BoundaryAddressMultiple.QuadPart = (LONGLONG)e->arg[3];
    args.CacheType = (DXGK_MEMORY_CACHING_TYPE)e->arg[4];
    args.hMemoryHandle = (HANDLE)(ULONG_PTR)e->arg[5];
    args.pMemory = (PVOID)(ULONG_PTR)e->arg[6];
    e->status = adapter->dxgk.DxgkCbAllocateContiguousMemory(
        adapter_handle(adapter, e), e->how & SEEDS_NO_ARGUMENTS ? NULL : &args);
    e->arg[0] = args.NumberOfBytes;
    e->arg[1] = (ULONGLONG)args.LowestAcceptableAddress.QuadPart;
    e->arg[2] = (ULONGLONG)args.HighestAcceptableAddress.QuadPart;
    e->arg[3] = (ULONGLONG)args.BoundaryAddressMultiple.QuadPart;
    e->arg[4] = (ULONGLONG)args.CacheType;
    e->arg[5] = (ULONG_PTR)args.hMemoryHandle;
    e->arg[6] = (ULONG_PTR)args.pMemory;
}

static void free_contiguous(struct seeds_adapter *adapter, struct seeds_escape *e)
{
    DXGKARGCB_FREECONTIGUOUSMEMORY args;

    args.hMemoryHandle = (HANDLE)(ULONG_PTR)e->arg[0];
    e->status = adapter->dxgk.DxgkCbFreeContiguousMemory(
        adapter_handle(adapter, e), e->how & SEEDS_NO_ARGUMENTS ? NULL : &args);
}

#endif

/* ---- the CPU ---- */

static void access_bytes(struct seeds_escape *e)
{
    volatile UCHAR *bytes = (volatile UCHAR *)(ULONG_PTR)e->arg[0];
    const BOOLEAN write = e->code == SEEDS_CPU_WRITE;

    switch (e->arg[1]) {
    case SEEDS_REGISTER:
        if (write)
            WRITE_REGISTER_ULONG((volatile ULONG *)(PVOID)(ULONG_PTR)e->arg[0], (ULONG)e->arg[2]);
        else
            e->arg[2] = READ_REGISTER_ULONG((volatile ULONG *)(PVOID)(ULONG_PTR)e->arg[0]);
        break;
    case 1:
        if (write)
            *bytes = (UCHAR)e->arg[2];
        else
            e->arg[2] = *bytes;
        break;
    case 4:
        if (write)
            *(volatile ULONG *)(PVOID)(ULONG_PTR)e->arg[0] = (ULONG)e->arg[2];
        else
            e->arg[2] = *(volatile ULONG *)(PVOID)(ULONG_PTR)e->arg[0];
        break;
    default:
        if (write)
            *(volatile ULONGLONG *)(PVOID)(ULONG_PTR)e->arg[0] = e->arg[2];
        else
            e->arg[2] = *(volatile ULONGLONG *)(PVOID)(ULONG_PTR)e->arg[0];
        break;
    }
}

/* No handler takes what is missing of the kernel's part of the addresses, so that it is asked for. */
static void cpu_access(struct seeds_escape *e)
{
    if (e->arg[1] != SEEDS_REGISTER && !(DXGK_HAS_SEH && e->how & SEEDS_UNASKED) &&
        !MmIsAddressValid((PVOID)(ULONG_PTR)e->arg[0])) {
        e->status = STATUS_ACCESS_VIOLATION;
        return;
    }
#if DXGK_HAS_SEH
    DXGK_TRY
    {
        access_bytes(e);
        e->status = STATUS_SUCCESS;
    }
    DXGK_EXCEPT(EXCEPTION_EXECUTE_HANDLER)
    {
        e->status = GetExceptionCode();
    }
#else
    /* gcc for Windows has no way to survive a bad address. */
    access_bytes(e);
    e->status = STATUS_SUCCESS;
#endif
}

void seeds_memory_service(struct seeds_adapter *adapter, struct seeds_escape *e)
{
    switch (e->code) {
#if DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WDDM2_4
    case SEEDS_ALLOCATE_CONTIGUOUS:
        allocate_contiguous(adapter, e);
        break;
    case SEEDS_FREE_CONTIGUOUS:
        free_contiguous(adapter, e);
        break;
#endif
    case SEEDS_CPU_READ:
    case SEEDS_CPU_WRITE:
        cpu_access(e);
        break;
    case SEEDS_PHYSICAL:
        e->arg[1] = (ULONGLONG)MmGetPhysicalAddress((PVOID)(ULONG_PTR)e->arg[0]).QuadPart;
        e->status = STATUS_SUCCESS;
        break;
    case SEEDS_PEEK:
        e->arg[2] = seeds_peek(adapter, SEEDS_PEEK_READ, 0, e->arg[0], &e->arg[1]);
        e->status = STATUS_SUCCESS;
        break;
    case SEEDS_POKE:
        e->arg[2] = seeds_peek(adapter, SEEDS_PEEK_WRITE, 0, e->arg[0], &e->arg[1]);
        e->status = STATUS_SUCCESS;
        break;
    default:
        break;
    }
}
