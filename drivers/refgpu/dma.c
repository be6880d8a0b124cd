/* SPDX-License-Identifier: MIT */
/*
 * System memory for the device. With DMA remapping the device sees logical addresses, and the
 * services that hand out MDLs or plain contiguous memory are refused; physical memory objects with
 * address descriptor lists work in every mode, and show which mode it is: if the page in a list is
 * not the physical page of the CPU mapping, it is a logical one. Common buffers of a DMA adapter work
 * in every mode, too; the service key may ask for them.
 */
#include "driver.h"

ULONGLONG refgpu_dma_page(const struct refgpu_dma *dma, ULONG page)
{
    if (!dma->adl)
        return dma->bus + ((ULONGLONG)page << PAGE_SHIFT);
    if (dma->adl->Flags.Contiguous)
        return ((ULONGLONG)dma->adl->BasePageNumber + page) << PAGE_SHIFT;
    return (ULONGLONG)dma->adl->Pages[page] << PAGE_SHIFT;
}

static void put_adapter(struct refgpu_adapter *adapter)
{
    if (adapter->common_buffers != 0 || !adapter->dma_adapter)
        return;
    adapter->dma_adapter->DmaOperations->PutDmaAdapter(adapter->dma_adapter);
    adapter->dma_adapter = NULL;
}

static void free_common(struct refgpu_adapter *adapter, struct refgpu_dma *dma)
{
    adapter->dma_adapter->DmaOperations->FreeCommonBuffer(
        adapter->dma_adapter, 2 * (ULONG)dma->bytes, dma->common_bus, dma->common, TRUE);
    adapter->common_buffers--;
    put_adapter(adapter);
}

void refgpu_dma_free(struct refgpu_adapter *adapter, struct refgpu_dma *dma)
{
    if (dma->adl) {
        DXGKARGCB_FREE_ADL args = {.hAdapterMemoryObject = dma->adapter_object, .pAdl = dma->adl};

        adapter->dxgk.DxgkCbFreeAdl(&args);
    }
    if (dma->mapping) {
        DXGKARGCB_UNMAP_PHYSICAL_MEMORY args = {.hPhysicalMemoryObject = dma->object,
                                                .pBaseAddress = dma->mapping,
                                                .Size = dma->mapping_bytes};

        adapter->dxgk.DxgkCbUnmapPhysicalMemory(&args);
    }
    if (dma->object) {
        DXGKARGCB_DESTROY_PHYSICAL_MEMORY_OBJECT args = {
            .hPhysicalMemoryObject = dma->object, .hAdapterMemoryObject = dma->adapter_object};

        adapter->dxgk.DxgkCbDestroyPhysicalMemoryObject(&args);
    }
    if (dma->contiguous) {
        DXGKARGCB_FREECONTIGUOUSMEMORY args = {.hMemoryHandle = dma->contiguous};

        (void)adapter->dxgk.DxgkCbFreeContiguousMemory(adapter->dxgk.DeviceHandle, &args);
    }
    if (dma->common)
        free_common(adapter, dma);
    RtlZeroMemory(dma, sizeof *dma);
}

/* Make the CPU view and the device view of a physical memory object. */
static NTSTATUS view_object(struct refgpu_adapter *adapter, struct refgpu_dma *dma,
                            BOOLEAN contiguous)
{
    DXGKARGCB_MAP_PHYSICAL_MEMORY map;
    DXGKARGCB_ALLOCATE_ADL list;
    NTSTATUS status;

    RtlZeroMemory(&map, sizeof map);
    map.hPhysicalMemoryObject = dma->object;
    map.AccessMode = DXGK_ACCESS_MODE_KERNEL_MODE;
    map.Size = dma->bytes;
    status = adapter->dxgk.DxgkCbMapPhysicalMemory(&map);
    if (!NT_SUCCESS(status))
        return status;
    dma->mapping = map.pMappedAddress;
    dma->mapping_bytes = map.Size;
    dma->cpu = (PUCHAR)map.pMappedAddress + map.Offset;
    RtlZeroMemory(dma->cpu, dma->bytes);

    RtlZeroMemory(&list, sizeof list);
    list.hAdapterMemoryObject = dma->adapter_object;
    list.Size = dma->bytes;
    if (contiguous)
        list.Flags.RequireContiguous = 1;
    else
        list.Flags.PreferContiguous = 1;
    status = adapter->dxgk.DxgkCbAllocateAdl(&list);
    if (!NT_SUCCESS(status))
        return status;
    dma->adl = list.pAdl;
    dma->bus = refgpu_dma_page(dma, 0);
    return STATUS_SUCCESS;
}

static NTSTATUS create_object(struct refgpu_adapter *adapter, struct refgpu_dma *dma,
                              BOOLEAN contiguous)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT create;
    NTSTATUS status;

    RtlZeroMemory(&create, sizeof create);
    create.hAdapter = adapter->dxgk.DeviceHandle;
    create.Size = dma->bytes;
    create.Context = (ULONG_PTR)dma;
    create.CacheType = DXGK_MEMORY_CACHING_TYPE_CACHED;
    if (contiguous) {
        create.Type = DXGK_PHYSICAL_MEMORY_TYPE_CONTIGUOUS_MEMORY;
        create.ContiguousMemory.HighestAcceptableAddress.QuadPart = 0x7FFFFFFFFFFFFFFFll;
    } else {
        create.Type = DXGK_PHYSICAL_MEMORY_TYPE_MDL;
        create.Mdl.HighAddress.QuadPart = (LONGLONG)((1ull << adapter->dma_bits) - 1u);
        if (adapter->remapped)
            create.Mdl.HighAddress.QuadPart = 0x7FFFFFFFFFFFFFFFll;
    }
    status = adapter->dxgk.DxgkCbCreatePhysicalMemoryObject(&create);
    if (!NT_SUCCESS(status))
        return status;
    dma->object = create.hPhysicalMemoryObject;
    dma->adapter_object = create.hAdapterMemoryObject;
    status = view_object(adapter, dma, contiguous);
    if (!NT_SUCCESS(status))
        refgpu_dma_free(adapter, dma);
    return status;
}

NTSTATUS refgpu_dma_pages(struct refgpu_adapter *adapter, SIZE_T bytes, struct refgpu_dma *dma)
{
    NTSTATUS status;

    RtlZeroMemory(dma, sizeof *dma);
    dma->bytes = bytes;
    status = create_object(adapter, dma, FALSE);
    if (NT_SUCCESS(status))
        adapter->remapped = (ULONGLONG)MmGetPhysicalAddress(dma->cpu).QuadPart != dma->bus;
    return status;
}

/* A common buffer is bound to no boundary: in twice as many bytes there is a part that crosses none,
 * if the number of bytes is a power of two, at most 64 KiB. */
static NTSTATUS allocate_common(struct refgpu_adapter *adapter, struct refgpu_dma *dma)
{
    DEVICE_DESCRIPTION description;
    ULONG registers;

    RtlZeroMemory(&description, sizeof description);
    description.Version = DEVICE_DESCRIPTION_VERSION;
    description.Master = TRUE;
    description.ScatterGather = TRUE;
    description.Dma32BitAddresses = TRUE;
    description.InterfaceType = PCIBus;
    description.MaximumLength = PAGE_SIZE;
    if (!adapter->dma_adapter)
        adapter->dma_adapter = IoGetDmaAdapter(adapter->pdo, &description, &registers);
    if (!adapter->dma_adapter)
        return STATUS_INSUFFICIENT_RESOURCES;
    dma->common = adapter->dma_adapter->DmaOperations->AllocateCommonBuffer(
        adapter->dma_adapter, 2 * (ULONG)dma->bytes, &dma->common_bus, TRUE);
    if (!dma->common) {
        put_adapter(adapter);
        return STATUS_INSUFFICIENT_RESOURCES;
    }
    adapter->common_buffers++;
    dma->bus = ((ULONGLONG)dma->common_bus.QuadPart + dma->bytes - 1) & ~(dma->bytes - 1);
    dma->cpu = (PUCHAR)dma->common + (dma->bus - (ULONGLONG)dma->common_bus.QuadPart);
    RtlZeroMemory(dma->cpu, dma->bytes);
    return STATUS_SUCCESS;
}

NTSTATUS refgpu_dma_contiguous(struct refgpu_adapter *adapter, SIZE_T bytes, struct refgpu_dma *dma)
{
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY args;
    NTSTATUS status;

    RtlZeroMemory(dma, sizeof *dma);
    dma->bytes = bytes;
    if (refgpu_settings.common_buffers)
        return allocate_common(adapter, dma);
    if (adapter->remapped)
        return create_object(adapter, dma, TRUE);
    RtlZeroMemory(&args, sizeof args);
    args.NumberOfBytes = bytes;
    args.HighestAcceptableAddress.QuadPart = 0xFFFFFFFFll;
    args.BoundaryAddressMultiple.QuadPart = 0x10000;
    args.CacheType = DXGK_MEMORY_CACHING_TYPE_CACHED;
    status = adapter->dxgk.DxgkCbAllocateContiguousMemory(adapter->dxgk.DeviceHandle, &args);
    if (status == STATUS_NOT_SUPPORTED) {
        /* Remapping is on, although the logical addresses equal the physical ones. */
        adapter->remapped = TRUE;
        return create_object(adapter, dma, TRUE);
    }
    if (!NT_SUCCESS(status))
        return status;
    dma->contiguous = args.hMemoryHandle;
    dma->cpu = args.pMemory;
    dma->bus = (ULONGLONG)MmGetPhysicalAddress(args.pMemory).QuadPart;
    RtlZeroMemory(dma->cpu, bytes);
    return STATUS_SUCCESS;
}
