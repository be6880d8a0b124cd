/* SPDX-License-Identifier: MIT */
/* The adapter: its life from AddDevice to Unload, and what it says about itself. */
#include "compute.h"

PVOID ComputeAllocate(SIZE_T Bytes)
{
    PVOID memory = ExAllocatePoolWithTag(NonPagedPoolNx, Bytes, COMPUTE_TAG);

    if (memory)
        RtlZeroMemory(memory, Bytes);
    return memory;
}

NTSTATUS NTAPI ComputeAddDevice(IN_CONST_PDEVICE_OBJECT PhysicalDeviceObject,
                                OUT_PPVOID MiniportDeviceContext)
{
    COMPUTE_ADAPTER *adapter = (COMPUTE_ADAPTER *)ComputeAllocate(sizeof(*adapter));

    UNREFERENCED_PARAMETER(PhysicalDeviceObject);
    if (!adapter)
        return STATUS_NO_MEMORY;
    KeInitializeSpinLock(&adapter->Lock);
    KeInitializeEvent(&adapter->Wake, SynchronizationEvent, FALSE);
    *MiniportDeviceContext = adapter;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI ComputeRemoveDevice(IN_CONST_PVOID MiniportDeviceContext)
{
    ExFreePoolWithTag((PVOID)MiniportDeviceContext, COMPUTE_TAG);
    return STATUS_SUCCESS;
}

VOID NTAPI ComputeUnload(VOID)
{
}

NTSTATUS NTAPI ComputeStartDevice(IN_CONST_PVOID MiniportDeviceContext,
                                  IN_PDXGK_START_INFO DxgkStartInfo,
                                  IN_PDXGKRNL_INTERFACE DxgkInterface,
                                  OUT_PULONG NumberOfVideoPresentSources,
                                  OUT_PULONG NumberOfChildren)
{
    COMPUTE_ADAPTER *adapter = (COMPUTE_ADAPTER *)MiniportDeviceContext;
    HANDLE thread;
    NTSTATUS status;

    if (DxgkStartInfo->RequiredDmaQueueEntry > COMPUTE_QUEUE)
        return STATUS_NOT_SUPPORTED;
    adapter->Dxgk = *DxgkInterface;
    adapter->First = adapter->Count = adapter->PreemptionFence = 0;
    adapter->Submitted = adapter->Completed = 0;
    adapter->Stop = FALSE;
    status = PsCreateSystemThread(&thread, THREAD_ALL_ACCESS, NULL, NULL, NULL, ComputeThread,
                                  adapter);
    if (!NT_SUCCESS(status))
        return status;
    status = ObReferenceObjectByHandle(thread, THREAD_ALL_ACCESS, *PsThreadType, KernelMode,
                                       &adapter->Thread, NULL);
    ZwClose(thread);
    *NumberOfVideoPresentSources = 0;
    *NumberOfChildren = 0;
    return status;
}

NTSTATUS NTAPI ComputeStopDevice(IN_CONST_PVOID MiniportDeviceContext)
{
    COMPUTE_ADAPTER *adapter = (COMPUTE_ADAPTER *)MiniportDeviceContext;
    KIRQL irql;

    if (!adapter->Thread)
        return STATUS_SUCCESS;
    KeAcquireSpinLock(&adapter->Lock, &irql);
    adapter->Stop = TRUE;
    KeReleaseSpinLock(&adapter->Lock, irql);
    KeSetEvent(&adapter->Wake, IO_NO_INCREMENT, FALSE);
    KeWaitForSingleObject(adapter->Thread, Executive, KernelMode, FALSE, NULL);
    ObDereferenceObject(adapter->Thread);
    adapter->Thread = NULL;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI ComputeSetPowerState(IN_CONST_PVOID MiniportDeviceContext, IN_ULONG DeviceUid,
                                    IN_DEVICE_POWER_STATE DevicePowerState,
                                    IN_POWER_ACTION ActionType)
{
    UNREFERENCED_PARAMETER(MiniportDeviceContext);
    UNREFERENCED_PARAMETER(DeviceUid);
    UNREFERENCED_PARAMETER(DevicePowerState);
    UNREFERENCED_PARAMETER(ActionType);
    return STATUS_SUCCESS;
}

VOID NTAPI ComputeResetDevice(IN_CONST_PVOID MiniportDeviceContext)
{
    UNREFERENCED_PARAMETER(MiniportDeviceContext);
}

/* ---- what the adapter says about itself ---- */

static NTSTATUS DriverCaps(DXGK_DRIVERCAPS *Caps)
{
    Caps->HighestAcceptableAddress.QuadPart = -1;
    Caps->SchedulingCaps.MultiEngineAware = 1;
    Caps->SchedulingCaps.PreemptionAware = 1;
    Caps->SchedulingCaps.LowIrqlPreemptCommand = 1;
    Caps->MemoryManagementCaps.VirtualAddressingSupported = 1;
    Caps->MemoryManagementCaps.GpuMmuSupported = 1;
    Caps->GpuEngineTopology.NbAsymetricProcessingNodes = 1;
    Caps->PreemptionCaps.ComputePreemptionGranularity =
        D3DKMDT_COMPUTE_PREEMPTION_DMA_BUFFER_BOUNDARY;
    Caps->WDDMVersion = DXGKDDI_WDDMv2_6;
    Caps->SupportPerEngineTDR = TRUE;
    Caps->MiscCaps.ComputeOnly = 1;
    return STATUS_SUCCESS;
}

/* An aperture, since each adapter has a segment. What it would show lies in system memory, where the engine reads it. */
static NTSTATUS Segments(DXGK_QUERYSEGMENTOUT4 *Out)
{
    if (Out->pSegmentDescriptor) {
        DXGK_SEGMENTDESCRIPTOR4 *aperture = (DXGK_SEGMENTDESCRIPTOR4 *)(PVOID)Out->pSegmentDescriptor;

        aperture->BaseAddress.QuadPart = 0xC0000000;
        aperture->Size = 0x1000000;
        aperture->CommitLimit = aperture->Size;
        aperture->Flags.Aperture = 1;
        aperture->Flags.CacheCoherent = 1;
        aperture->Flags.PitchAlignment = ComputeHabits.PitchAlignment & 1;
        aperture->Flags.NonLocalBudgetGroup = 1;
        Out->PagingBufferSegmentId = 0; /* system memory */
        Out->PagingBufferSize = COMPUTE_PAGING_BYTES;
        Out->PagingBufferPrivateDataSize = 0;
    }
    Out->NbSegment = 1;
    return STATUS_SUCCESS;
}

static NTSTATUS GpuMmuCaps(DXGK_GPUMMUCAPS *Caps)
{
    Caps->ReadOnlyMemorySupported = 1;
    Caps->ZeroInPteSupported = 1;
    Caps->CacheCoherentMemorySupported = 1;
    Caps->PageTableUpdateMode = DXGK_PAGETABLEUPDATE_CPU_VIRTUAL;
    Caps->VirtualAddressBitCount = PAGE_SHIFT + ComputeHabits.IndexBits + ComputeHabits.RootBits;
    Caps->LeafPageTableSizeFor64KPagesInBytes = ComputeHabits.TableBytes;
    Caps->PageTableLevelCount = 2;
    return STATUS_SUCCESS;
}

static NTSTATUS PageTableLevel(UINT Level, DXGK_PAGE_TABLE_LEVEL_DESC *Desc)
{
    if (Level > 1)
        return STATUS_INVALID_PARAMETER;
    Desc->PageTableIndexBitCount = Level == 0 ? ComputeHabits.IndexBits : ComputeHabits.RootBits;
    Desc->PageTableSizeInBytes = Level == 0 ? ComputeHabits.TableBytes : ComputeHabits.RootBytes;
    Desc->PageTableSegmentId = ComputeHabits.TableSegment;
    Desc->PagingProcessPageTableSegmentId = ComputeHabits.TableSegment;
    return STATUS_SUCCESS;
}

static NTSTATUS PhysicalAdapter(const COMPUTE_ADAPTER *Adapter, DXGK_PHYSICALADAPTERCAPS *Caps)
{
    Caps->NumExecutionNodes = 1;
    Caps->PagingNodeIndex = 0;
    Caps->DxgkPhysicalAdapterHandle = Adapter->Dxgk.DeviceHandle;
    Caps->Flags.GpuMmuSupported = 1;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI ComputeQueryAdapterInfo(IN_CONST_HANDLE hAdapter,
                                       IN_CONST_PDXGKARG_QUERYADAPTERINFO pQueryAdapterInfo)
{
    PVOID out = pQueryAdapterInfo->pOutputData;

    switch (pQueryAdapterInfo->Type) {
    case DXGKQAITYPE_DRIVERCAPS:
        return DriverCaps((DXGK_DRIVERCAPS *)out);
    case DXGKQAITYPE_QUERYSEGMENT4:
        return Segments((DXGK_QUERYSEGMENTOUT4 *)out);
    case DXGKQAITYPE_GPUMMUCAPS:
        return GpuMmuCaps((DXGK_GPUMMUCAPS *)out);
    case DXGKQAITYPE_PAGETABLELEVELDESC:
        return PageTableLevel(*(const UINT *)pQueryAdapterInfo->pInputData,
                              (DXGK_PAGE_TABLE_LEVEL_DESC *)out);
    case DXGKQAITYPE_NUMPOWERCOMPONENTS:
        *(UINT *)out = 0;
        return STATUS_SUCCESS;
    case DXGKQAITYPE_HISTORYBUFFERPRECISION: /* of the one node */
        ((DXGKARG_HISTORYBUFFERPRECISION *)out)->PrecisionBits = 64;
        return STATUS_SUCCESS;
    case DXGKQAITYPE_PHYSICALADAPTERCAPS:
        return PhysicalAdapter((const COMPUTE_ADAPTER *)hAdapter, (DXGK_PHYSICALADAPTERCAPS *)out);
    default:
        return STATUS_NOT_SUPPORTED;
    }
}

NTSTATUS NTAPI ComputeGetNodeMetadata(IN_CONST_HANDLE hAdapter, UINT NodeOrdinalAndAdapterIndex,
                                      OUT_PDXGKARG_GETNODEMETADATA pGetNodeMetadata)
{
    UNREFERENCED_PARAMETER(hAdapter);
    if (NodeOrdinalAndAdapterIndex != 0)
        return STATUS_INVALID_PARAMETER;
    RtlZeroMemory(pGetNodeMetadata, sizeof(*pGetNodeMetadata));
    pGetNodeMetadata->EngineType = DXGK_ENGINE_TYPE_OTHER;
    RtlCopyMemory(pGetNodeMetadata->FriendlyName, L"Compute", sizeof(L"Compute"));
    pGetNodeMetadata->GpuMmuSupported = TRUE;
    return STATUS_SUCCESS;
}
