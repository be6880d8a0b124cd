/* SPDX-License-Identifier: MIT */
/* What the adapter says about itself, as the device's configuration asks for it. */
#include "seeds.h"

#define HIGHEST ((1ll << 48) - 1)

#if SEEDS_2_0
/* 1 or 0, for bit fields */
static UINT has_mmu(const struct seeds_adapter *adapter)
{
    return (adapter->config & SEEDS_CONFIG_GPUMMU) != 0;
}
#endif

static ULONG nodes(const struct seeds_adapter *adapter)
{
    return adapter->config & SEEDS_CONFIG_MULTI ? SEEDS_ENGINES : 1;
}

static NTSTATUS driver_caps(const struct seeds_adapter *adapter, DXGK_DRIVERCAPS *caps)
{
    caps->HighestAcceptableAddress.QuadPart = HIGHEST;
    caps->MaxAllocationListSlotId = 1; /* 0: destination, 1: source */
    caps->PresentationCaps.SupportKernelModeCommandBuffer = 1;
    caps->FlipCaps.FlipOnVSyncMmIo = 1;
    caps->SchedulingCaps.MultiEngineAware = (adapter->config & SEEDS_CONFIG_MULTI) != 0;
    caps->SchedulingCaps.PreemptionAware = (adapter->config & SEEDS_CONFIG_PREEMPT) != 0;
    caps->SchedulingCaps.NoDmaPatching = (adapter->config & SEEDS_CONFIG_NO_DMA_PATCHING) != 0;
    caps->GpuEngineTopology.NbAsymetricProcessingNodes = nodes(adapter);
    caps->MemoryManagementCaps.PagingNode = nodes(adapter) - 1;
    caps->SupportPerEngineTDR = TRUE;
    caps->WDDMVersion = DXGKDDI_WDDMv1_2;
#if SEEDS_2_0
    caps->WDDMVersion = SEEDS_2_9 ? (DXGK_WDDMVERSION)0x2900 : DXGKDDI_WDDMv2;
    caps->FlipCaps.FlipIndependent = 1;
    caps->MemoryManagementCaps.VirtualAddressingSupported = has_mmu(adapter) & 1;
    caps->MemoryManagementCaps.GpuMmuSupported = has_mmu(adapter) & 1;
#endif
#if SEEDS_2_9
    caps->MemoryManagementCaps.IoMmuSecureModeSupported = 1;
    caps->MemoryManagementCaps.MapAperture2Supported = 1;
#endif
    return STATUS_SUCCESS;
}

/* ---- segments: video memory, all of it visible to the CPU, and the aperture ---- */

#if SEEDS_2_0

static NTSTATUS segments(const struct seeds_adapter *adapter, DXGK_QUERYSEGMENTOUT4 *out)
{
    DXGK_SEGMENTDESCRIPTOR4 *vram, *aperture;

    out->NbSegment = 2;
    if (!out->pSegmentDescriptor)
        return STATUS_SUCCESS;
    vram = (DXGK_SEGMENTDESCRIPTOR4 *)(PVOID)out->pSegmentDescriptor;
    aperture = (DXGK_SEGMENTDESCRIPTOR4 *)(PVOID)(out->pSegmentDescriptor +
                                                  out->SegmentDescriptorStride);
    vram->BaseAddress.QuadPart = (LONGLONG)SEEDS_VRAM;
    vram->Size = vram->CommitLimit = adapter->vram_bytes;
    vram->CpuTranslatedAddress = adapter->vram_bus;
    vram->Flags.CpuVisible = 1;
    vram->Flags.LocalBudgetGroup = 1;
    aperture->BaseAddress.QuadPart = (LONGLONG)SEEDS_APERTURE;
    aperture->Size = aperture->CommitLimit = (SIZE_T)SEEDS_APERTURE_PAGES << PAGE_SHIFT;
    aperture->Flags.Aperture = 1;
    aperture->Flags.CacheCoherent = 1;
    aperture->Flags.NonLocalBudgetGroup = 1;
    out->PagingBufferSegmentId = adapter->config & SEEDS_CONFIG_PAGING_APERTURE
                                     ? SEEDS_SEGMENT_APERTURE
                                     : 0;
    out->PagingBufferSize = SEEDS_PAGING_BYTES;
    out->PagingBufferPrivateDataSize = SEEDS_CONFIG_PRIVATE(adapter->config) * 8;
    return STATUS_SUCCESS;
}

#else

static NTSTATUS segments(const struct seeds_adapter *adapter, DXGK_QUERYSEGMENTOUT3 *out)
{
    DXGK_SEGMENTDESCRIPTOR3 *vram = out->pSegmentDescriptor, *aperture = vram + 1;

    out->NbSegment = 2;
    if (!vram)
        return STATUS_SUCCESS;
    vram->BaseAddress.QuadPart = (LONGLONG)SEEDS_VRAM;
    vram->Size = vram->CommitLimit = adapter->vram_bytes;
    vram->CpuTranslatedAddress = adapter->vram_bus;
    vram->Flags.CpuVisible = 1;
    aperture->BaseAddress.QuadPart = (LONGLONG)SEEDS_APERTURE;
    aperture->Size = aperture->CommitLimit = (SIZE_T)SEEDS_APERTURE_PAGES << PAGE_SHIFT;
    aperture->Flags.Aperture = 1;
    aperture->Flags.CacheCoherent = 1;
    out->PagingBufferSegmentId = adapter->config & SEEDS_CONFIG_PAGING_APERTURE
                                     ? SEEDS_SEGMENT_APERTURE
                                     : 0;
    out->PagingBufferSize = SEEDS_PAGING_BYTES;
    out->PagingBufferPrivateDataSize = SEEDS_CONFIG_PRIVATE(adapter->config) * 8;
    return STATUS_SUCCESS;
}

#endif

/* ---- WDDM 2 ---- */

#if SEEDS_2_0

static NTSTATUS mmu_caps(const struct seeds_adapter *adapter, DXGK_GPUMMUCAPS *caps)
{
    caps->ReadOnlyMemorySupported = 1;
    caps->NoExecuteMemorySupported = (adapter->config & SEEDS_CONFIG_NOEXEC) != 0;
    caps->ZeroInPteSupported = 1;
    caps->CacheCoherentMemorySupported = 1;
    caps->PageTableUpdateMode = adapter->config & SEEDS_CONFIG_CPU_TABLES
                                    ? DXGK_PAGETABLEUPDATE_CPU_VIRTUAL
                                    : DXGK_PAGETABLEUPDATE_GPU_PHYSICAL;
    caps->VirtualAddressBitCount = SEEDS_VA_BITS;
    caps->LeafPageTableSizeFor64KPagesInBytes = SEEDS_TABLE_BYTES;
    caps->PageTableLevelCount = SEEDS_LEVELS;
    return STATUS_SUCCESS;
}

static NTSTATUS level(const struct seeds_adapter *adapter, DXGK_PAGE_TABLE_LEVEL_DESC *desc)
{
    const UINT segment = adapter->config & SEEDS_CONFIG_CPU_TABLES ? 0 : SEEDS_SEGMENT_VRAM;

    desc->PageTableIndexBitCount = SEEDS_LEVEL_BITS;
    desc->PageTableSegmentId = desc->PagingProcessPageTableSegmentId = segment;
    desc->PageTableSizeInBytes = SEEDS_TABLE_BYTES;
    desc->PageTableAlignmentInBytes = SEEDS_TABLE_BYTES;
    return STATUS_SUCCESS;
}

static NTSTATUS physical_adapter(const struct seeds_adapter *adapter, DXGK_PHYSICALADAPTERCAPS *caps)
{
    caps->NumExecutionNodes = (USHORT)nodes(adapter);
    caps->PagingNodeIndex = (USHORT)(nodes(adapter) - 1);
    caps->DxgkPhysicalAdapterHandle = adapter->dxgk.DeviceHandle;
    caps->Flags.GpuMmuSupported = has_mmu(adapter) & 1;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI SeedsGetNodeMetadata(IN_CONST_HANDLE hAdapter, UINT NodeOrdinalAndAdapterIndex,
                                    OUT_PDXGKARG_GETNODEMETADATA pGetNodeMetadata)
{
    const struct seeds_adapter *adapter = (const struct seeds_adapter *)hAdapter;

    if (NodeOrdinalAndAdapterIndex >= nodes(adapter))
        return STATUS_INVALID_PARAMETER;
    RtlZeroMemory(pGetNodeMetadata, sizeof(*pGetNodeMetadata));
    pGetNodeMetadata->EngineType = NodeOrdinalAndAdapterIndex ? DXGK_ENGINE_TYPE_COPY
                                                              : DXGK_ENGINE_TYPE_3D;
    pGetNodeMetadata->GpuMmuSupported = NodeOrdinalAndAdapterIndex && has_mmu(adapter);
    return STATUS_SUCCESS;
}

#endif

#if SEEDS_2_9
static NTSTATUS later_info(const struct seeds_adapter *adapter, DXGK_QUERYADAPTERINFOTYPE type,
                           PVOID out)
{
    UNREFERENCED_PARAMETER(adapter);
    switch (type) {
    case DXGKQAITYPE_FRAMEBUFFERSAVESIZE:
        ((DXGK_FRAMEBUFFERSAVEAREA *)out)->MaximumSize = 0;
        return STATUS_SUCCESS;
    case DXGKQAITYPE_HARDWARERESERVEDRANGES:
        ((DXGK_HARDWARERESERVEDRANGES *)out)->NumRanges = 0;
        return STATUS_SUCCESS;
    case DXGKQAITYPE_PHYSICAL_MEMORY_CAPS:
        ((DXGK_PHYSICAL_MEMORY_CAPS *)out)->HighestVisibleAddress.QuadPart = HIGHEST;
        return STATUS_SUCCESS;
    case DXGKQAITYPE_IOMMU_CAPS:
        ((DXGK_IOMMU_CAPS *)out)->IommuIsolationSupported = 1;
        ((DXGK_IOMMU_CAPS *)out)->DmaRemappingSupported = 1; /* asked for before the start */
        return STATUS_SUCCESS;
    default:
        return STATUS_NOT_SUPPORTED;
    }
}
#endif

NTSTATUS NTAPI SeedsQueryAdapterInfo(IN_CONST_HANDLE hAdapter,
                                     IN_CONST_PDXGKARG_QUERYADAPTERINFO pQueryAdapterInfo)
{
    const struct seeds_adapter *adapter = (const struct seeds_adapter *)hAdapter;
    PVOID out = pQueryAdapterInfo->pOutputData;

    switch (pQueryAdapterInfo->Type) {
    case DXGKQAITYPE_DRIVERCAPS:
        return driver_caps(adapter, (DXGK_DRIVERCAPS *)out);
#if SEEDS_2_0
    case DXGKQAITYPE_QUERYSEGMENT4:
        return segments(adapter, (DXGK_QUERYSEGMENTOUT4 *)out);
    case DXGKQAITYPE_PHYSICALADAPTERCAPS:
        return physical_adapter(adapter, (DXGK_PHYSICALADAPTERCAPS *)out);
    case DXGKQAITYPE_GPUMMUCAPS:
        return mmu_caps(adapter, (DXGK_GPUMMUCAPS *)out);
    case DXGKQAITYPE_PAGETABLELEVELDESC:
        return level(adapter, (DXGK_PAGE_TABLE_LEVEL_DESC *)out);
#else
    case DXGKQAITYPE_QUERYSEGMENT3:
        return segments(adapter, (DXGK_QUERYSEGMENTOUT3 *)out);
#endif
    default:
#if SEEDS_2_9
        return later_info(adapter, pQueryAdapterInfo->Type, out);
#else
        return STATUS_NOT_SUPPORTED;
#endif
    }
}
