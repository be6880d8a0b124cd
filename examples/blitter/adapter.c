/* SPDX-License-Identifier: MIT */
/* Registration, and the adapter's life from AddDevice to Unload: its resources and what it says about itself. */
#include "blitter.h"

PVOID BlitterAllocate(SIZE_T Bytes)
{
    PVOID memory = ExAllocatePoolWithTag(NonPagedPoolNx, Bytes, BLITTER_TAG);

    if (memory)
        RtlZeroMemory(memory, Bytes);
    return memory;
}

NTSTATUS NTAPI BlitterAddDevice(IN_CONST_PDEVICE_OBJECT PhysicalDeviceObject,
                                OUT_PPVOID MiniportDeviceContext)
{
    BLITTER_ADAPTER *adapter = (BLITTER_ADAPTER *)BlitterAllocate(sizeof(*adapter));

    UNREFERENCED_PARAMETER(PhysicalDeviceObject);
    if (!adapter)
        return STATUS_NO_MEMORY;
    *MiniportDeviceContext = adapter;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI BlitterRemoveDevice(IN_CONST_PVOID MiniportDeviceContext)
{
    ExFreePoolWithTag((PVOID)MiniportDeviceContext, BLITTER_TAG);
    return STATUS_SUCCESS;
}

VOID NTAPI BlitterUnload(VOID)
{
}

/* ---- start and stop ---- */

/* The two memory ranges of the function: registers first, then video memory. */
static NTSTATUS FindRanges(BLITTER_ADAPTER *Adapter, PHYSICAL_ADDRESS *Registers)
{
    const CM_PARTIAL_RESOURCE_LIST *list;
    DXGK_DEVICE_INFO info;
    ULONG found = 0;
    NTSTATUS status;

    RtlZeroMemory(&info, sizeof(info));
    status = Adapter->Dxgk.DxgkCbGetDeviceInformation(Adapter->Dxgk.DeviceHandle, &info);
    if (!NT_SUCCESS(status))
        return status;
    if (!info.TranslatedResourceList || info.TranslatedResourceList->Count == 0)
        return STATUS_DEVICE_CONFIGURATION_ERROR;
    list = &info.TranslatedResourceList->List[0].PartialResourceList;
    for (ULONG i = 0; i < list->Count; i++) {
        const CM_PARTIAL_RESOURCE_DESCRIPTOR *resource = list->PartialDescriptors + i;

        if (resource->Type != CmResourceTypeMemory)
            continue;
        if (found == 0) {
            *Registers = resource->u.Memory.Start;
        } else if (found == 1) {
            Adapter->VramBus = resource->u.Memory.Start;
            Adapter->VramBytes = resource->u.Memory.Length;
        }
        found++;
    }
    return found >= 2 ? STATUS_SUCCESS : STATUS_DEVICE_CONFIGURATION_ERROR;
}

/* From nothing, or after a reset: no packet is there, and the fence is the one last reported. */
VOID BlitterStartHardware(BLITTER_ADAPTER *Adapter)
{
    BlitterWrite(Adapter, BLITTER_REG_RESET, 1);
    BlitterWrite(Adapter, BLITTER_REG_COMPLETED, Adapter->Completed);
    BlitterWrite(Adapter, BLITTER_REG_IRQ_ENABLE, 1);
}

NTSTATUS NTAPI BlitterStartDevice(IN_CONST_PVOID MiniportDeviceContext,
                                  IN_PDXGK_START_INFO DxgkStartInfo,
                                  IN_PDXGKRNL_INTERFACE DxgkInterface,
                                  OUT_PULONG NumberOfVideoPresentSources,
                                  OUT_PULONG NumberOfChildren)
{
    BLITTER_ADAPTER *adapter = (BLITTER_ADAPTER *)MiniportDeviceContext;
    PHYSICAL_ADDRESS registers;
    PVOID mapped = NULL;
    NTSTATUS status;

    registers.QuadPart = 0;
    adapter->Dxgk = *DxgkInterface;
    adapter->Submitted = adapter->Completed = adapter->PreemptionFence = adapter->Faulted = 0;
    if (DxgkStartInfo->RequiredDmaQueueEntry > BLITTER_QUEUE)
        return STATUS_NOT_SUPPORTED;
    status = FindRanges(adapter, &registers);
    if (NT_SUCCESS(status))
        status = adapter->Dxgk.DxgkCbMapMemory(adapter->Dxgk.DeviceHandle, registers,
                                               BLITTER_REGISTER_BYTES, FALSE, FALSE, MmNonCached,
                                               &mapped);
    if (!NT_SUCCESS(status))
        return status;
    adapter->Registers = (PUCHAR)mapped;
    if (BlitterRead(adapter, BLITTER_REG_ID) != BLITTER_ID) {
        adapter->Registers = NULL;
        adapter->Dxgk.DxgkCbUnmapMemory(adapter->Dxgk.DeviceHandle, mapped);
        return STATUS_DEVICE_CONFIGURATION_ERROR;
    }
    BlitterStartHardware(adapter);
    *NumberOfVideoPresentSources = 0; /* it drives no screen */
    *NumberOfChildren = 0;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI BlitterStopDevice(IN_CONST_PVOID MiniportDeviceContext)
{
    BLITTER_ADAPTER *adapter = (BLITTER_ADAPTER *)MiniportDeviceContext;
    PVOID registers = adapter->Registers;

    if (!registers)
        return STATUS_SUCCESS;
    BlitterWrite(adapter, BLITTER_REG_RESET, 1);
    adapter->Registers = NULL; /* the interrupt routine looks at this first */
    adapter->Dxgk.DxgkCbUnmapMemory(adapter->Dxgk.DeviceHandle, registers);
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI BlitterSetPowerState(IN_CONST_PVOID MiniportDeviceContext, IN_ULONG DeviceUid,
                                    IN_DEVICE_POWER_STATE DevicePowerState,
                                    IN_POWER_ACTION ActionType)
{
    BLITTER_ADAPTER *adapter = (BLITTER_ADAPTER *)MiniportDeviceContext;

    UNREFERENCED_PARAMETER(ActionType);
    if (DeviceUid != DISPLAY_ADAPTER_HW_ID || !adapter->Registers)
        return STATUS_SUCCESS;
    if (DevicePowerState == PowerDeviceD0)
        BlitterStartHardware(adapter);
    else
        BlitterWrite(adapter, BLITTER_REG_RESET, 1);
    return STATUS_SUCCESS;
}

/* At any IRQL, when the system has stopped: the device touches no memory any more. */
VOID NTAPI BlitterResetDevice(IN_CONST_PVOID MiniportDeviceContext)
{
    const BLITTER_ADAPTER *adapter = (const BLITTER_ADAPTER *)MiniportDeviceContext;

    if (adapter->Registers)
        BlitterWrite(adapter, BLITTER_REG_RESET, 1);
}

/* ---- what the adapter says about itself ---- */

static NTSTATUS DriverCaps(DXGK_DRIVERCAPS *Caps)
{
    Caps->HighestAcceptableAddress.QuadPart = 0xFFFFFFFFFF; /* 40 bits */
    Caps->MaxAllocationListSlotId = 0;
    Caps->SchedulingCaps.MultiEngineAware = 1;
    Caps->SchedulingCaps.PreemptionAware = 1;
    Caps->GpuEngineTopology.NbAsymetricProcessingNodes = 1;
    Caps->WDDMVersion = DXGKDDI_WDDMv2;
    Caps->SupportPerEngineTDR = TRUE;
    /* Asked for at this version, though nothing is presented. */
    Caps->PresentationCaps.SupportKernelModeCommandBuffer = 1;
    Caps->FlipCaps.FlipOnVSyncMmIo = 1;
    Caps->FlipCaps.FlipIndependent = 1;
    return STATUS_SUCCESS;
}

/* Video memory, all of it visible to the CPU, and the aperture. Called twice, first for the number. */
static NTSTATUS Segments(const BLITTER_ADAPTER *Adapter, DXGK_QUERYSEGMENTOUT4 *Out)
{
    if (Out->pSegmentDescriptor) {
        DXGK_SEGMENTDESCRIPTOR4 *vram = (DXGK_SEGMENTDESCRIPTOR4 *)(PVOID)Out->pSegmentDescriptor;
        DXGK_SEGMENTDESCRIPTOR4 *aperture =
            (DXGK_SEGMENTDESCRIPTOR4 *)(PVOID)(Out->pSegmentDescriptor +
                                               Out->SegmentDescriptorStride);

        vram->BaseAddress.QuadPart = 0;
        vram->Size = Adapter->VramBytes;
        vram->CommitLimit = Adapter->VramBytes;
        vram->CpuTranslatedAddress = Adapter->VramBus;
        vram->Flags.CpuVisible = 1;
        vram->Flags.LocalBudgetGroup = 1;
        aperture->BaseAddress.QuadPart = (LONGLONG)BLITTER_APERTURE;
        aperture->Size = (SIZE_T)BLITTER_APERTURE_PAGES << PAGE_SHIFT;
        aperture->CommitLimit = aperture->Size;
        aperture->Flags.Aperture = 1;
        aperture->Flags.CacheCoherent = 1;
        aperture->Flags.NonLocalBudgetGroup = 1;
        Out->PagingBufferSegmentId = 0; /* system memory */
        Out->PagingBufferSize = BLITTER_PAGING_BYTES;
        Out->PagingBufferPrivateDataSize = 0;
    }
    Out->NbSegment = 2;
    return STATUS_SUCCESS;
}

static NTSTATUS PhysicalAdapter(const BLITTER_ADAPTER *Adapter, DXGK_PHYSICALADAPTERCAPS *Caps)
{
    Caps->NumExecutionNodes = 1;
    Caps->PagingNodeIndex = 0;
    Caps->DxgkPhysicalAdapterHandle = Adapter->Dxgk.DeviceHandle;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI BlitterQueryAdapterInfo(IN_CONST_HANDLE hAdapter,
                                       IN_CONST_PDXGKARG_QUERYADAPTERINFO pQueryAdapterInfo)
{
    const BLITTER_ADAPTER *adapter = (const BLITTER_ADAPTER *)hAdapter;
    PVOID out = pQueryAdapterInfo->pOutputData;
    UINT bytes = pQueryAdapterInfo->OutputDataSize;

    switch (pQueryAdapterInfo->Type) {
    case DXGKQAITYPE_DRIVERCAPS:
        return bytes < sizeof(DXGK_DRIVERCAPS) ? STATUS_BUFFER_TOO_SMALL
                                               : DriverCaps((DXGK_DRIVERCAPS *)out);
    case DXGKQAITYPE_QUERYSEGMENT4:
        return bytes < sizeof(DXGK_QUERYSEGMENTOUT4)
                   ? STATUS_BUFFER_TOO_SMALL
                   : Segments(adapter, (DXGK_QUERYSEGMENTOUT4 *)out);
    case DXGKQAITYPE_PHYSICALADAPTERCAPS:
        return bytes < sizeof(DXGK_PHYSICALADAPTERCAPS)
                   ? STATUS_BUFFER_TOO_SMALL
                   : PhysicalAdapter(adapter, (DXGK_PHYSICALADAPTERCAPS *)out);
    default:
        return STATUS_NOT_SUPPORTED;
    }
}

NTSTATUS NTAPI BlitterGetNodeMetadata(IN_CONST_HANDLE hAdapter, UINT NodeOrdinalAndAdapterIndex,
                                      OUT_PDXGKARG_GETNODEMETADATA pGetNodeMetadata)
{
    UNREFERENCED_PARAMETER(hAdapter);
    if (NodeOrdinalAndAdapterIndex != 0)
        return STATUS_INVALID_PARAMETER;
    RtlZeroMemory(pGetNodeMetadata, sizeof(*pGetNodeMetadata));
    pGetNodeMetadata->EngineType = DXGK_ENGINE_TYPE_COPY;
    return STATUS_SUCCESS;
}

/* ---- registration ---- */

#ifndef _WIN32
DECLSPEC_EXPORT /* the one function that is looked for by name in an ELF object */
#endif
    NTSTATUS NTAPI
    DriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath)
{
    DRIVER_INITIALIZATION_DATA data;

    RtlZeroMemory(&data, sizeof(data));
    data.Version = DXGKDDI_INTERFACE_VERSION;
    data.DxgkDdiAddDevice = BlitterAddDevice;
    data.DxgkDdiStartDevice = BlitterStartDevice;
    data.DxgkDdiStopDevice = BlitterStopDevice;
    data.DxgkDdiRemoveDevice = BlitterRemoveDevice;
    data.DxgkDdiUnload = BlitterUnload;
    data.DxgkDdiSetPowerState = BlitterSetPowerState;
    data.DxgkDdiResetDevice = BlitterResetDevice;
    data.DxgkDdiQueryAdapterInfo = BlitterQueryAdapterInfo;
    data.DxgkDdiGetNodeMetadata = BlitterGetNodeMetadata;
    data.DxgkDdiCreateDevice = BlitterCreateDevice;
    data.DxgkDdiDestroyDevice = BlitterDestroyDevice;
    data.DxgkDdiCreateContext = BlitterCreateContext;
    data.DxgkDdiDestroyContext = BlitterDestroyContext;
    data.DxgkDdiCreateAllocation = BlitterCreateAllocation;
    data.DxgkDdiDestroyAllocation = BlitterDestroyAllocation;
    data.DxgkDdiDescribeAllocation = BlitterDescribeAllocation;
    data.DxgkDdiGetStandardAllocationDriverData = BlitterGetStandardAllocationDriverData;
    data.DxgkDdiOpenAllocation = BlitterOpenAllocation;
    data.DxgkDdiCloseAllocation = BlitterCloseAllocation;
    data.DxgkDdiBuildPagingBuffer = BlitterBuildPagingBuffer;
    data.DxgkDdiRender = BlitterRender;
    data.DxgkDdiPatch = BlitterPatch;
    data.DxgkDdiSubmitCommand = BlitterSubmitCommand;
    data.DxgkDdiPreemptCommand = BlitterPreemptCommand;
    data.DxgkDdiQueryCurrentFence = BlitterQueryCurrentFence;
    data.DxgkDdiInterruptRoutine = BlitterInterruptRoutine;
    data.DxgkDdiDpcRoutine = BlitterDpcRoutine;
    data.DxgkDdiQueryDependentEngineGroup = BlitterQueryDependentEngineGroup;
    data.DxgkDdiQueryEngineStatus = BlitterQueryEngineStatus;
    data.DxgkDdiResetEngine = BlitterResetEngine;
    data.DxgkDdiResetFromTimeout = BlitterResetFromTimeout;
    data.DxgkDdiRestartFromTimeout = BlitterRestartFromTimeout;
    data.DxgkDdiCollectDbgInfo = BlitterCollectDbgInfo;
    return DxgkInitialize(DriverObject, RegistryPath, &data);
}
