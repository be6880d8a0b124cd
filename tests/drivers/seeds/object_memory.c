/* SPDX-License-Identifier: MIT */
/* Physical memory objects and their views. */
#include "seeds.h"

#if SEEDS_2_9

static HANDLE handle(ULONGLONG value)
{
    return (HANDLE)(ULONG_PTR)value;
}

static void fill_kind(DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT *args, const ULONGLONG *member)
{
    switch ((int)args->Type) {
    case DXGK_PHYSICAL_MEMORY_TYPE_MDL:
        args->Mdl.LowAddress.QuadPart = (LONGLONG)member[0];
        args->Mdl.HighAddress.QuadPart = (LONGLONG)member[1];
        args->Mdl.SkipBytes.QuadPart = (LONGLONG)member[2];
        args->Mdl.Flags = (UINT)member[3];
        break;
    case DXGK_PHYSICAL_MEMORY_TYPE_CONTIGUOUS_MEMORY:
        args->ContiguousMemory.LowestAcceptableAddress.QuadPart = (LONGLONG)member[0];
        args->ContiguousMemory.HighestAcceptableAddress.QuadPart = (LONGLONG)member[1];
        args->ContiguousMemory.BoundaryAddressMultiple.QuadPart = (LONGLONG)member[2];
        break;
    case DXGK_PHYSICAL_MEMORY_TYPE_SECTION:
        args->Section.DesiredAccess = (ACCESS_MASK)member[0];
        args->Section.PageProtection = (ULONG)member[2];
        args->Section.AllocationAttributes = (ULONG)member[3];
        break;
    default:
        args->IOSpace.BaseAddress.QuadPart = (LONGLONG)member[0];
        break;
    }
}

static void create(struct seeds_adapter *adapter, struct seeds_escape *e)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args;

    RtlZeroMemory(&args, sizeof(args));
    args.hAdapter = e->arg[0] ? adapter->dxgk.DeviceHandle : NULL;
    args.Size = (SIZE_T)e->arg[1];
    args.Context = (ULONG_PTR)e->arg[2];
    args.Type = (DXGK_PHYSICAL_MEMORY_TYPE)e->arg[3];
    args.CacheType = (DXGK_MEMORY_CACHING_TYPE)e->arg[4];
    args.hPhysicalMemoryObject = handle(e->arg[9]);
    args.hAdapterMemoryObject = handle(e->arg[10]);
    fill_kind(&args, &e->arg[5]);
    e->status = adapter->dxgk.DxgkCbCreatePhysicalMemoryObject(e->how & SEEDS_NO_ARGUMENTS ? NULL
                                                                                           : &args);
    e->arg[9] = (ULONG_PTR)args.hPhysicalMemoryObject;
    e->arg[10] = (ULONG_PTR)args.hAdapterMemoryObject;
}

static void destroy(struct seeds_adapter *adapter, struct seeds_escape *e)
{
    DXGKARGCB_DESTROY_PHYSICAL_MEMORY_OBJECT args;

    args.hPhysicalMemoryObject = handle(e->arg[0]);
    args.hAdapterMemoryObject = handle(e->arg[1]);
    adapter->dxgk.DxgkCbDestroyPhysicalMemoryObject(&args);
    e->status = STATUS_SUCCESS;
}

static void map(struct seeds_adapter *adapter, struct seeds_escape *e)
{
    DXGKARGCB_MAP_PHYSICAL_MEMORY args;

    args.hPhysicalMemoryObject = handle(e->arg[0]);
    args.AccessMode = (DXGK_ACCESS_MODE)e->arg[1];
    args.Offset = (SIZE_T)e->arg[2];
    args.Size = (SIZE_T)e->arg[3];
    args.pMappedAddress = (PVOID)(ULONG_PTR)e->arg[4];
    e->status = adapter->dxgk.DxgkCbMapPhysicalMemory(e->how & SEEDS_NO_ARGUMENTS ? NULL : &args);
    e->arg[0] = (ULONG_PTR)args.hPhysicalMemoryObject;
    e->arg[1] = (ULONGLONG)args.AccessMode;
    e->arg[2] = args.Offset;
    e->arg[3] = args.Size;
    e->arg[4] = (ULONG_PTR)args.pMappedAddress;
}

static void unmap(struct seeds_adapter *adapter, struct seeds_escape *e)
{
    DXGKARGCB_UNMAP_PHYSICAL_MEMORY args;

    args.hPhysicalMemoryObject = handle(e->arg[0]);
    args.pBaseAddress = (PVOID)(ULONG_PTR)e->arg[1];
    args.Size = (SIZE_T)e->arg[2];
    adapter->dxgk.DxgkCbUnmapPhysicalMemory(&args);
    e->status = STATUS_SUCCESS;
}

static void open_object(struct seeds_adapter *adapter, struct seeds_escape *e)
{
    DXGKARGCB_OPEN_PHYSICAL_MEMORY_OBJECT args;

    RtlZeroMemory(&args, sizeof(args));
    args.hPhysicalMemoryObject = handle(e->arg[0]);
    args.hAdapter = adapter->dxgk.DeviceHandle;
    e->status = adapter->dxgk.DxgkCbOpenPhysicalMemoryObject(&args);
    e->arg[1] = (ULONG_PTR)args.hAdapterMemoryObject;
}

static void close_object(struct seeds_adapter *adapter, struct seeds_escape *e)
{
    DXGKARGCB_CLOSE_PHYSICAL_MEMORY_OBJECT args;

    args.hAdapterMemoryObject = handle(e->arg[0]);
    adapter->dxgk.DxgkCbClosePhysicalMemoryObject(&args);
    e->status = STATUS_SUCCESS;
}

static ULONGLONG page_number(const DXGK_ADL *adl, ULONG page)
{
    return adl->Flags.Contiguous ? adl->BasePageNumber + page : adl->Pages[page];
}

static void allocate_list(struct seeds_adapter *adapter, struct seeds_escape *e)
{
    DXGKARGCB_ALLOCATE_ADL args;

    RtlZeroMemory(&args, sizeof(args));
    args.hAdapterMemoryObject = handle(e->arg[0]);
    args.Offset = (SIZE_T)e->arg[1];
    args.Size = (SIZE_T)e->arg[2];
    args.Flags.Value = (UINT32)e->arg[3];
    e->status = adapter->dxgk.DxgkCbAllocateAdl(&args);
    e->arg[4] = (ULONG_PTR)args.pAdl;
    if (!NT_SUCCESS(e->status))
        return;
    e->arg[5] = args.pAdl->PageCount;
    e->arg[6] = args.pAdl->Flags.Contiguous;
    e->arg[7] = page_number(args.pAdl, 0);
    e->arg[8] = page_number(args.pAdl, args.pAdl->PageCount - 1);
}

static void free_list(struct seeds_adapter *adapter, struct seeds_escape *e)
{
    DXGKARGCB_FREE_ADL args;

    args.hAdapterMemoryObject = handle(e->arg[0]);
    args.pAdl = (DXGK_ADL *)(ULONG_PTR)e->arg[1];
    adapter->dxgk.DxgkCbFreeAdl(&args);
    e->status = STATUS_SUCCESS;
}

void seeds_object_service(struct seeds_adapter *adapter, struct seeds_escape *e)
{
    static void (*const service[])(struct seeds_adapter *, struct seeds_escape *) = {
        create, destroy, map, unmap, open_object, close_object, allocate_list, free_list,
    };

    service[e->code - SEEDS_CREATE_OBJECT](adapter, e);
}

#else

void seeds_object_service(struct seeds_adapter *adapter, struct seeds_escape *e)
{
    UNREFERENCED_PARAMETER(adapter);
    e->status = STATUS_NOT_SUPPORTED;
}

#endif
