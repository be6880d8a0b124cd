/* SPDX-License-Identifier: MIT */
/* The capabilities that the adapter reports. */
#include "driver.h"

#define PAGING_BUFFER_BYTES 0x10000u

static LONGLONG highest_address(const struct refgpu_adapter *adapter)
{
    return (LONGLONG)((1ull << adapter->dma_bits) - 1u);
}

static void display_caps(DXGK_DRIVERCAPS *caps)
{
    caps->PresentationCaps.NoOverlapScreenBlt = 1; /* rows are copied from the top */
    caps->FlipCaps.FlipImmediateMmIo = 1;
    caps->MaxQueuedFlipOnVSync = 1;
    caps->PointerCaps.Color = 1;
    caps->ColorTransformCaps.Gamma_Rgb256x3x16 = 1;
    caps->MaxPointerWidth = caps->MaxPointerHeight = REFGPU_POINTER_SIDE;
    caps->SupportNonVGA = TRUE;
    caps->SupportSmoothRotation = TRUE; /* of what does not turn: 0 degrees to 0 degrees */
    caps->SupportDirectFlip = TRUE;
}

static NTSTATUS driver_caps(const struct refgpu_adapter *adapter, DXGK_DRIVERCAPS *caps)
{
    caps->HighestAcceptableAddress.QuadPart = highest_address(adapter);
    caps->MaxAllocationListSlotId = 1; /* 0: low half of an address, 1: high half */
    caps->InterruptMessageNumber = 0;
    caps->PresentationCaps.SupportKernelModeCommandBuffer = 1;
    caps->FlipCaps.FlipOnVSyncMmIo = 1;
    caps->FlipCaps.FlipIndependent = 1;
    caps->SchedulingCaps.MultiEngineAware = 1;
    caps->SchedulingCaps.PreemptionAware = 1;
    caps->SchedulingCaps.CancelCommandAware = 1;
    caps->MemoryManagementCaps.VirtualAddressingSupported = 1;
    caps->MemoryManagementCaps.GpuMmuSupported = 1;
    caps->MemoryManagementCaps.IoMmuSecureModeSupported = 1;
    caps->MemoryManagementCaps.MapAperture2Supported = 1;
    caps->MemoryManagementCaps.PagingNode = refgpu_paging_node(adapter);
    caps->GpuEngineTopology.NbAsymetricProcessingNodes = refgpu_nodes(adapter);
    caps->WDDMVersion = DXGKDDI_WDDMv2_9;
    caps->PreemptionCaps.GraphicsPreemptionGranularity =
        D3DKMDT_GRAPHICS_PREEMPTION_PRIMITIVE_BOUNDARY;
    caps->PreemptionCaps.ComputePreemptionGranularity = D3DKMDT_COMPUTE_PREEMPTION_DISPATCH_BOUNDARY;
    caps->SupportPerEngineTDR = TRUE;
    if (adapter->display.outputs)
        display_caps(caps);
    return STATUS_SUCCESS;
}

static NTSTATUS segments(const struct refgpu_adapter *adapter, DXGK_QUERYSEGMENTOUT4 *out)
{
    DXGK_SEGMENTDESCRIPTOR4 *vram, *aperture;

    if (!out->pSegmentDescriptor) {
        out->NbSegment = 2;
        return STATUS_SUCCESS;
    }
    if (out->NbSegment < 2u || out->SegmentDescriptorStride < sizeof *vram)
        return STATUS_INVALID_PARAMETER;
    vram = (DXGK_SEGMENTDESCRIPTOR4 *)(PVOID)out->pSegmentDescriptor;
    vram->BaseAddress.QuadPart = (LONGLONG)REFGPU_VRAM_BASE;
    vram->Size = adapter->vram_bytes;
    vram->CommitLimit = adapter->vram_bytes;
    vram->CpuTranslatedAddress = adapter->vram_bus;
    vram->Flags.CpuVisible = 1;
    vram->Flags.ApplicationTarget = 1;
    vram->Flags.LocalBudgetGroup = 1;
    vram->Flags.DirectFlip = adapter->display.outputs != 0;

    aperture = (DXGK_SEGMENTDESCRIPTOR4 *)(PVOID)(out->pSegmentDescriptor +
                                                  out->SegmentDescriptorStride);
    aperture->BaseAddress.QuadPart = (LONGLONG)REFGPU_GART_BASE;
    aperture->Size = (SIZE_T)adapter->gart_pages << PAGE_SHIFT;
    aperture->CommitLimit = aperture->Size;
    aperture->Flags.Aperture = 1;
    aperture->Flags.CacheCoherent = 1;
    aperture->Flags.ApplicationTarget = 1;
    aperture->Flags.NonLocalBudgetGroup = 1;

    out->NbSegment = 2;
    out->PagingBufferSegmentId = 0;
    out->PagingBufferSize = PAGING_BUFFER_BYTES;
    out->PagingBufferPrivateDataSize = REFGPU_PRIVATE_BYTES;
    return STATUS_SUCCESS;
}

static NTSTATUS gpu_mmu_caps(const struct refgpu_adapter *adapter, DXGK_GPUMMUCAPS *caps)
{
    caps->ReadOnlyMemorySupported = 1;
    caps->NoExecuteMemorySupported = adapter->no_execute ? 1 : 0;
    caps->ZeroInPteSupported = 1;
    caps->CacheCoherentMemorySupported = 1;
    caps->InvalidTlbEntriesNotCached = 1;
    caps->PageTableUpdateMode = refgpu_settings.update_mode;
    caps->VirtualAddressBitCount = REFGPU_VA_BITS;
    caps->LeafPageTableSizeFor64KPagesInBytes = REFGPU_TABLE_BYTES;
    caps->PageTableLevelCount = REFGPU_LEVELS;
    return STATUS_SUCCESS;
}

static NTSTATUS page_table_level(const DXGK_QUERYPAGETABLELEVELDESCIN *in,
                                 DXGK_PAGE_TABLE_LEVEL_DESC *level)
{
    if (in->LevelIndex >= REFGPU_LEVELS)
        return STATUS_INVALID_PARAMETER;
    level->PageTableIndexBitCount = REFGPU_LEVEL_BITS;
    level->PageTableSegmentId = REFGPU_SEGMENT_VRAM;
    level->PagingProcessPageTableSegmentId = REFGPU_SEGMENT_VRAM;
    level->PageTableSizeInBytes = REFGPU_TABLE_BYTES;
    level->PageTableAlignmentInBytes = REFGPU_TABLE_BYTES;
    return STATUS_SUCCESS;
}

static NTSTATUS physical_adapter(const struct refgpu_adapter *adapter,
                                 DXGK_PHYSICALADAPTERCAPS *caps)
{
    caps->NumExecutionNodes = (WORD)refgpu_nodes(adapter);
    caps->PagingNodeIndex = (WORD)refgpu_paging_node(adapter);
    caps->DxgkPhysicalAdapterHandle = adapter->dxgk.DeviceHandle;
    caps->Flags.GpuMmuSupported = 1;
    caps->Flags.MovePagingSupported = 1;
    return STATUS_SUCCESS;
}

static NTSTATUS history_precision(const DXGKARG_QUERYADAPTERINFO *query)
{
    DXGKARG_HISTORYBUFFERPRECISION *node = query->pOutputData;

    for (UINT i = 0; i < query->OutputDataSize / sizeof *node; i++)
        node[i].PrecisionBits = 64;
    return STATUS_SUCCESS;
}

static NTSTATUS private_info(const struct refgpu_adapter *adapter,
                             const DXGKARG_QUERYADAPTERINFO *query)
{
    struct refgpu_adapter_info info;

    if (query->OutputDataSize < sizeof info)
        return STATUS_INVALID_PARAMETER;
    RtlZeroMemory(&info, sizeof info);
    info.magic = REFGPU_UMD_MAGIC;
    info.version = REFGPU_UMD_VERSION;
    info.device_version = REFGPU_VERSION;
    info.nodes = refgpu_nodes(adapter);
    info.vram_bytes = adapter->vram_bytes;
    info.aperture_bytes = (ULONGLONG)adapter->gart_pages << PAGE_SHIFT;
    info.remapped = adapter->remapped;
    RtlCopyMemory(query->pOutputData, &info, sizeof info);
    return STATUS_SUCCESS;
}

/* Minimum bytes of the output; 0: the type is unknown. */
static SIZE_T output_bytes(DXGK_QUERYADAPTERINFOTYPE type)
{
    switch (type) {
    case DXGKQAITYPE_UMDRIVERPRIVATE:
        return sizeof(struct refgpu_adapter_info);
    case DXGKQAITYPE_DRIVERCAPS:
        return sizeof(DXGK_DRIVERCAPS);
    case DXGKQAITYPE_QUERYSEGMENT4:
        return sizeof(DXGK_QUERYSEGMENTOUT4);
    case DXGKQAITYPE_NUMPOWERCOMPONENTS:
        return sizeof(UINT);
    case DXGKQAITYPE_HISTORYBUFFERPRECISION:
        return sizeof(DXGKARG_HISTORYBUFFERPRECISION);
    case DXGKQAITYPE_GPUMMUCAPS:
        return sizeof(DXGK_GPUMMUCAPS);
    case DXGKQAITYPE_PAGETABLELEVELDESC:
        return sizeof(DXGK_PAGE_TABLE_LEVEL_DESC);
    case DXGKQAITYPE_PHYSICALADAPTERCAPS:
        return sizeof(DXGK_PHYSICALADAPTERCAPS);
    case DXGKQAITYPE_FRAMEBUFFERSAVESIZE:
        return sizeof(DXGK_FRAMEBUFFERSAVEAREA);
    case DXGKQAITYPE_HARDWARERESERVEDRANGES:
        return sizeof(DXGK_HARDWARERESERVEDRANGES);
    case DXGKQAITYPE_DEVICE_TYPE_CAPS:
        return sizeof(DXGK_DEVICE_TYPE_CAPS);
    case DXGKQAITYPE_WDDMDEVICECAPS:
        return sizeof(DXGK_WDDMDEVICECAPS);
    case DXGKQAITYPE_PHYSICAL_MEMORY_CAPS:
        return sizeof(DXGK_PHYSICAL_MEMORY_CAPS);
    case DXGKQAITYPE_IOMMU_CAPS:
        return sizeof(DXGK_IOMMU_CAPS);
    case DXGKQAITYPE_DISPLAY_DRIVERCAPS_EXTENSION:
        return sizeof(DXGK_DISPLAY_DRIVERCAPS_EXTENSION);
    default:
        return 0;
    }
}

NTSTATUS NTAPI RefGpuQueryAdapterInfo(IN_CONST_HANDLE hAdapter,
                                      IN_CONST_PDXGKARG_QUERYADAPTERINFO pQueryAdapterInfo)
{
    const struct refgpu_adapter *adapter = hAdapter;
    const DXGKARG_QUERYADAPTERINFO *query = pQueryAdapterInfo;
    const SIZE_T need = output_bytes(query->Type);
    PVOID out = query->pOutputData;

    if (!need)
        return STATUS_NOT_SUPPORTED;
    if (!out || query->OutputDataSize < need)
        return STATUS_INVALID_PARAMETER;
    switch (query->Type) {
    case DXGKQAITYPE_UMDRIVERPRIVATE:
        return private_info(adapter, query);
    case DXGKQAITYPE_DRIVERCAPS:
        return driver_caps(adapter, out);
    case DXGKQAITYPE_QUERYSEGMENT4:
        return segments(adapter, out);
    case DXGKQAITYPE_NUMPOWERCOMPONENTS:
        *(UINT *)out = 0;
        return STATUS_SUCCESS;
    case DXGKQAITYPE_HISTORYBUFFERPRECISION:
        return history_precision(query);
    case DXGKQAITYPE_GPUMMUCAPS:
        return gpu_mmu_caps(adapter, out);
    case DXGKQAITYPE_PAGETABLELEVELDESC:
        if (!query->pInputData || query->InputDataSize < sizeof(DXGK_QUERYPAGETABLELEVELDESCIN))
            return STATUS_INVALID_PARAMETER;
        return page_table_level(query->pInputData, out);
    case DXGKQAITYPE_PHYSICALADAPTERCAPS:
        return physical_adapter(adapter, out);
    case DXGKQAITYPE_FRAMEBUFFERSAVESIZE: /* no part of VRAM is reserved for the miniport itself */
        ((DXGK_FRAMEBUFFERSAVEAREA *)out)->MaximumSize = 0;
        return STATUS_SUCCESS;
    case DXGKQAITYPE_HARDWARERESERVEDRANGES:
        ((DXGK_HARDWARERESERVEDRANGES *)out)->NumRanges = 0;
        return STATUS_SUCCESS;
    case DXGKQAITYPE_DEVICE_TYPE_CAPS:
        ((DXGK_DEVICE_TYPE_CAPS *)out)->Discrete = 1;
        return STATUS_SUCCESS;
    case DXGKQAITYPE_WDDMDEVICECAPS:
        ((DXGK_WDDMDEVICECAPS *)out)->WDDMVersion = DXGKDDI_WDDMv2_9;
        return STATUS_SUCCESS;
    case DXGKQAITYPE_PHYSICAL_MEMORY_CAPS:
        ((DXGK_PHYSICAL_MEMORY_CAPS *)out)->HighestVisibleAddress.QuadPart = highest_address(
            adapter);
        return STATUS_SUCCESS;
    case DXGKQAITYPE_DISPLAY_DRIVERCAPS_EXTENSION:
        ((DXGK_DISPLAY_DRIVERCAPS_EXTENSION *)out)->Value = 0;
        return STATUS_SUCCESS;
    default: /* DXGKQAITYPE_IOMMU_CAPS */
        ((DXGK_IOMMU_CAPS *)out)->IommuIsolationSupported = 1;
        ((DXGK_IOMMU_CAPS *)out)->DmaRemappingSupported = 1;
        return STATUS_SUCCESS;
    }
}

NTSTATUS NTAPI RefGpuGetNodeMetadata(IN_CONST_HANDLE hAdapter, UINT NodeOrdinalAndAdapterIndex,
                                     OUT_PDXGKARG_GETNODEMETADATA pGetNodeMetadata)
{
    if (NodeOrdinalAndAdapterIndex >=
        refgpu_nodes(
            hAdapter)) /* the adapter index in the high half is 0: there are no linked adapters */
        return STATUS_INVALID_PARAMETER;
    RtlZeroMemory(pGetNodeMetadata, sizeof *pGetNodeMetadata);
    if (NodeOrdinalAndAdapterIndex == REFGPU_NODE_2D) {
        pGetNodeMetadata->EngineType = DXGK_ENGINE_TYPE_3D;
    } else {
        pGetNodeMetadata->EngineType = DXGK_ENGINE_TYPE_COPY;
        pGetNodeMetadata->GpuMmuSupported = TRUE;
    }
    if (NodeOrdinalAndAdapterIndex == REFGPU_NODE_SCHEDULED) {
        pGetNodeMetadata->Flags.ContextSchedulingSupported = 1;
        pGetNodeMetadata->Flags.RingBufferFenceRelease = 1; /* the device writes progress fences */
        pGetNodeMetadata->Flags.MaxInFlightHwQueueBuffers = REFGPU_QUEUE_ENTRIES - 1u;
    }
    return STATUS_SUCCESS;
}
