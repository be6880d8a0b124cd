/* SPDX-License-Identifier: MIT */
/*
 * Memory that driver and engine share: a physical memory object, which the CPU sees by a mapping and the engine by the addresses of a
 * list. Without DMA remapping these are physical, with it they are what the IOMMU translates: the driver does not need to know.
 */
#include "npu.h"

ULONGLONG NpuBusAddress(const NPU_SHARED *Shared)
{
    const DXGK_ADL *adl = Shared->Adl;

    return (ULONGLONG)(adl->Flags.Contiguous ? adl->BasePageNumber : adl->Pages[0]) << PAGE_SHIFT;
}

static NTSTATUS Map(NPU_ADAPTER *Adapter, NPU_SHARED *Shared)
{
    DXGKARGCB_MAP_PHYSICAL_MEMORY map;
    NTSTATUS status;

    RtlZeroMemory(&map, sizeof(map));
    map.hPhysicalMemoryObject = Shared->Object;
    map.AccessMode = DXGK_ACCESS_MODE_KERNEL_MODE;
    map.Size = PAGE_SIZE;
    status = Adapter->Dxgk.DxgkCbMapPhysicalMemory(&map);
    if (!NT_SUCCESS(status))
        return status;
    Shared->Mapping = map.pMappedAddress;
    Shared->MappingBytes = map.Size;
    Shared->Status = (volatile struct npu_status *)(PVOID)((PUCHAR)map.pMappedAddress + map.Offset);
    RtlZeroMemory((PVOID)Shared->Status, PAGE_SIZE);
    return STATUS_SUCCESS;
}

static NTSTATUS List(NPU_ADAPTER *Adapter, NPU_SHARED *Shared)
{
    DXGKARGCB_ALLOCATE_ADL list;
    NTSTATUS status;

    RtlZeroMemory(&list, sizeof(list));
    list.hAdapterMemoryObject = Shared->AdapterObject;
    list.Size = PAGE_SIZE;
    list.Flags.PreferContiguous = 1;
    status = Adapter->Dxgk.DxgkCbAllocateAdl(&list);
    if (NT_SUCCESS(status))
        Shared->Adl = list.pAdl;
    return status;
}

/* One page. */
NTSTATUS NpuShare(NPU_ADAPTER *Adapter, NPU_SHARED *Shared)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT create;
    NTSTATUS status;

    RtlZeroMemory(Shared, sizeof(*Shared));
    RtlZeroMemory(&create, sizeof(create));
    create.hAdapter = Adapter->Dxgk.DeviceHandle;
    create.Size = PAGE_SIZE;
    create.CacheType = DXGK_MEMORY_CACHING_TYPE_CACHED;
    create.Type = DXGK_PHYSICAL_MEMORY_TYPE_MDL;
    create.Mdl.HighAddress.QuadPart = NPU_HIGHEST_ADDRESS;
    status = Adapter->Dxgk.DxgkCbCreatePhysicalMemoryObject(&create);
    if (!NT_SUCCESS(status))
        return status;
    Shared->Object = create.hPhysicalMemoryObject;
    Shared->AdapterObject = create.hAdapterMemoryObject;
    status = Map(Adapter, Shared);
    if (NT_SUCCESS(status))
        status = List(Adapter, Shared);
    if (!NT_SUCCESS(status))
        NpuUnshare(Adapter, Shared);
    return status;
}

VOID NpuUnshare(NPU_ADAPTER *Adapter, NPU_SHARED *Shared)
{
    if (Shared->Adl) {
        DXGKARGCB_FREE_ADL args;

        RtlZeroMemory(&args, sizeof(args));
        args.hAdapterMemoryObject = Shared->AdapterObject;
        args.pAdl = Shared->Adl;
        Adapter->Dxgk.DxgkCbFreeAdl(&args);
    }
    if (Shared->Mapping) {
        DXGKARGCB_UNMAP_PHYSICAL_MEMORY args;

        RtlZeroMemory(&args, sizeof(args));
        args.hPhysicalMemoryObject = Shared->Object;
        args.pBaseAddress = Shared->Mapping;
        args.Size = Shared->MappingBytes;
        Adapter->Dxgk.DxgkCbUnmapPhysicalMemory(&args);
    }
    if (Shared->Object) {
        DXGKARGCB_DESTROY_PHYSICAL_MEMORY_OBJECT args;

        RtlZeroMemory(&args, sizeof(args));
        args.hPhysicalMemoryObject = Shared->Object;
        args.hAdapterMemoryObject = Shared->AdapterObject;
        Adapter->Dxgk.DxgkCbDestroyPhysicalMemoryObject(&args);
    }
    RtlZeroMemory(Shared, sizeof(*Shared));
}
