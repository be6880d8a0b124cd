/* SPDX-License-Identifier: MIT */
/* Registration, and the adapter's life from AddDevice to Unload: its resources and what it says about itself. */
#include "npu.h"

PVOID NpuAllocate(SIZE_T Bytes)
{
    PVOID memory = ExAllocatePoolWithTag(NonPagedPoolNx, Bytes, NPU_TAG);

    if (memory)
        RtlZeroMemory(memory, Bytes);
    return memory;
}

NTSTATUS NTAPI NpuAddDevice(IN_CONST_PDEVICE_OBJECT PhysicalDeviceObject,
                            OUT_PPVOID MiniportDeviceContext)
{
    NPU_ADAPTER *adapter = (NPU_ADAPTER *)NpuAllocate(sizeof(*adapter));

    UNREFERENCED_PARAMETER(PhysicalDeviceObject);
    if (!adapter)
        return STATUS_NO_MEMORY;
    *MiniportDeviceContext = adapter;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI NpuRemoveDevice(IN_CONST_PVOID MiniportDeviceContext)
{
    ExFreePoolWithTag((PVOID)MiniportDeviceContext, NPU_TAG);
    return STATUS_SUCCESS;
}

VOID NTAPI NpuUnload(VOID)
{
}

/* ---- start and stop ---- */

static NTSTATUS FindRegisters(const DXGK_DEVICE_INFO *Info, PHYSICAL_ADDRESS *Registers)
{
    const CM_PARTIAL_RESOURCE_LIST *list;

    if (!Info->TranslatedResourceList || Info->TranslatedResourceList->Count == 0)
        return STATUS_DEVICE_CONFIGURATION_ERROR;
    list = &Info->TranslatedResourceList->List[0].PartialResourceList;
    for (ULONG i = 0; i < list->Count; i++) {
        const CM_PARTIAL_RESOURCE_DESCRIPTOR *resource = list->PartialDescriptors + i;

        if (resource->Type == CmResourceTypeMemory &&
            resource->u.Memory.Length >= NPU_REGISTER_BYTES) {
            *Registers = resource->u.Memory.Start;
            return STATUS_SUCCESS;
        }
    }
    return STATUS_DEVICE_CONFIGURATION_ERROR;
}

/* From nothing, or after a reset: no packet is there, and the fence is the one last reported. */
VOID NpuStartHardware(NPU_ADAPTER *Adapter)
{
    NpuWrite(Adapter, NPU_REG_RESET, 1);
    Adapter->Shared.Status->completed = Adapter->Completed;
    NpuWrite64(Adapter, NPU_REG_STATUS_LO, NpuBusAddress(&Adapter->Shared));
    NpuWrite(Adapter, NPU_REG_IRQ_ENABLE, 1);
}

static NTSTATUS MapRegisters(NPU_ADAPTER *Adapter, PHYSICAL_ADDRESS Registers)
{
    PVOID mapped = NULL;
    NTSTATUS status = Adapter->Dxgk.DxgkCbMapMemory(Adapter->Dxgk.DeviceHandle, Registers,
                                                    NPU_REGISTER_BYTES, FALSE, FALSE, MmNonCached,
                                                    &mapped);

    if (!NT_SUCCESS(status))
        return status;
    Adapter->Registers = (PUCHAR)mapped;
    if (NpuRead(Adapter, NPU_REG_ID) == NPU_ID)
        return STATUS_SUCCESS;
    Adapter->Registers = NULL;
    Adapter->Dxgk.DxgkCbUnmapMemory(Adapter->Dxgk.DeviceHandle, mapped);
    return STATUS_DEVICE_CONFIGURATION_ERROR;
}

static VOID UnmapRegisters(NPU_ADAPTER *Adapter)
{
    PVOID registers = Adapter->Registers;

    NpuWrite(Adapter, NPU_REG_RESET, 1);
    Adapter->Registers = NULL; /* the interrupt routine looks at this first */
    Adapter->Dxgk.DxgkCbUnmapMemory(Adapter->Dxgk.DeviceHandle, registers);
}

NTSTATUS NTAPI NpuStartDevice(IN_CONST_PVOID MiniportDeviceContext,
                              IN_PDXGK_START_INFO DxgkStartInfo, IN_PDXGKRNL_INTERFACE DxgkInterface,
                              OUT_PULONG NumberOfVideoPresentSources, OUT_PULONG NumberOfChildren)
{
    NPU_ADAPTER *adapter = (NPU_ADAPTER *)MiniportDeviceContext;
    PHYSICAL_ADDRESS registers;
    DXGK_DEVICE_INFO info;
    NTSTATUS status;

    if (DxgkStartInfo->RequiredDmaQueueEntry > NPU_QUEUE)
        return STATUS_NOT_SUPPORTED;
    adapter->Dxgk = *DxgkInterface;
    adapter->Submitted = adapter->Completed = adapter->PreemptionFence = 0;
    adapter->FaultedFence = 0;
    adapter->Packets = 0;
    registers.QuadPart = 0;
    RtlZeroMemory(&info, sizeof(info));
    status = adapter->Dxgk.DxgkCbGetDeviceInformation(adapter->Dxgk.DeviceHandle, &info);
    if (NT_SUCCESS(status))
        status = FindRegisters(&info, &registers);
    if (NT_SUCCESS(status))
        status = MapRegisters(adapter, registers);
    if (!NT_SUCCESS(status))
        return status;
    status = NpuShare(adapter, &adapter->Shared);
    if (!NT_SUCCESS(status)) {
        UnmapRegisters(adapter);
        return status;
    }
    NpuStartHardware(adapter);
    *NumberOfVideoPresentSources = 0; /* it drives no screen */
    *NumberOfChildren = 0;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI NpuStopDevice(IN_CONST_PVOID MiniportDeviceContext)
{
    NPU_ADAPTER *adapter = (NPU_ADAPTER *)MiniportDeviceContext;

    if (!adapter->Registers)
        return STATUS_SUCCESS;
    UnmapRegisters(adapter);
    NpuUnshare(adapter, &adapter->Shared);
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI NpuSetPowerState(IN_CONST_PVOID MiniportDeviceContext, IN_ULONG DeviceUid,
                                IN_DEVICE_POWER_STATE DevicePowerState, IN_POWER_ACTION ActionType)
{
    NPU_ADAPTER *adapter = (NPU_ADAPTER *)MiniportDeviceContext;

    UNREFERENCED_PARAMETER(ActionType);
    if (DeviceUid != DISPLAY_ADAPTER_HW_ID || !adapter->Registers)
        return STATUS_SUCCESS;
    if (DevicePowerState == PowerDeviceD0)
        NpuStartHardware(adapter);
    else
        NpuWrite(adapter, NPU_REG_RESET, 1);
    return STATUS_SUCCESS;
}

/* At any IRQL, when the system has stopped: the device touches no memory any more. */
VOID NTAPI NpuResetDevice(IN_CONST_PVOID MiniportDeviceContext)
{
    const NPU_ADAPTER *adapter = (const NPU_ADAPTER *)MiniportDeviceContext;

    if (adapter->Registers)
        NpuWrite(adapter, NPU_REG_RESET, 1);
}

/* ---- what the adapter says about itself ---- */

static NTSTATUS DriverCaps(DXGK_DRIVERCAPS *Caps)
{
    Caps->HighestAcceptableAddress.QuadPart = NPU_HIGHEST_ADDRESS;
    Caps->SchedulingCaps.MultiEngineAware = 1;
    Caps->SchedulingCaps.PreemptionAware = 1;
    Caps->SchedulingCaps.LowIrqlPreemptCommand = 1;
    Caps->MemoryManagementCaps.VirtualAddressingSupported = 1;
    Caps->MemoryManagementCaps.GpuMmuSupported = 1;
    Caps->MemoryManagementCaps.IoMmuSecureModeSupported = 1;
    Caps->MemoryManagementCaps.MapAperture2Supported = 1;
    Caps->GpuEngineTopology.NbAsymetricProcessingNodes = 1;
    Caps->PreemptionCaps.ComputePreemptionGranularity =
        D3DKMDT_COMPUTE_PREEMPTION_DMA_BUFFER_BOUNDARY;
    Caps->WDDMVersion = DXGKDDI_WDDMv2_9;
    Caps->SupportPerEngineTDR = TRUE;
    Caps->MiscCaps.ComputeOnly = 1;
    return STATUS_SUCCESS;
}

/* Each adapter has a segment. What this one shows is system memory, at addresses that the engine never uses: it has page tables. */
static NTSTATUS Segments(DXGK_QUERYSEGMENTOUT4 *Out)
{
    if (Out->pSegmentDescriptor) {
        DXGK_SEGMENTDESCRIPTOR4 *aperture = (DXGK_SEGMENTDESCRIPTOR4 *)(PVOID)Out->pSegmentDescriptor;

        aperture->BaseAddress.QuadPart = 0x40000000;
        aperture->Size = 0x10000000;
        aperture->CommitLimit = aperture->Size;
        aperture->Flags.Aperture = 1;
        aperture->Flags.CacheCoherent = 1;
        aperture->Flags.NonLocalBudgetGroup = 1;
        Out->PagingBufferSegmentId = 0; /* system memory */
        Out->PagingBufferSize = NPU_PAGING_BYTES;
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
    Caps->PageTableUpdateMode = NpuUpdateMode;
    Caps->VirtualAddressBitCount = PAGE_SHIFT + NPU_LEVELS * NPU_LEVEL_BITS;
    Caps->PageTableLevelCount = NPU_LEVELS;
    return STATUS_SUCCESS;
}

static NTSTATUS PageTableLevel(UINT Level, DXGK_PAGE_TABLE_LEVEL_DESC *Desc)
{
    if (Level >= NPU_LEVELS)
        return STATUS_INVALID_PARAMETER;
    Desc->PageTableIndexBitCount = NPU_LEVEL_BITS;
    Desc->PageTableSizeInBytes = PAGE_SIZE;
    Desc->PageTableSegmentId = 0; /* system memory */
    Desc->PagingProcessPageTableSegmentId = 0;
    return STATUS_SUCCESS;
}

static NTSTATUS PhysicalAdapter(const NPU_ADAPTER *Adapter, DXGK_PHYSICALADAPTERCAPS *Caps)
{
    Caps->NumExecutionNodes = 1;
    Caps->PagingNodeIndex = 0;
    Caps->DxgkPhysicalAdapterHandle = Adapter->Dxgk.DeviceHandle;
    Caps->Flags.GpuMmuSupported = 1;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI NpuQueryAdapterInfo(IN_CONST_HANDLE hAdapter,
                                   IN_CONST_PDXGKARG_QUERYADAPTERINFO pQueryAdapterInfo)
{
    const NPU_ADAPTER *adapter = (const NPU_ADAPTER *)hAdapter;
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
    case DXGKQAITYPE_PHYSICALADAPTERCAPS:
        return PhysicalAdapter(adapter, (DXGK_PHYSICALADAPTERCAPS *)out);
    case DXGKQAITYPE_PHYSICAL_MEMORY_CAPS:
        ((DXGK_PHYSICAL_MEMORY_CAPS *)out)->HighestVisibleAddress.QuadPart = NPU_HIGHEST_ADDRESS;
        return STATUS_SUCCESS;
    case DXGKQAITYPE_IOMMU_CAPS: /* the driver's own memory goes through address descriptor lists */
        ((DXGK_IOMMU_CAPS *)out)->IommuIsolationSupported = 1;
        ((DXGK_IOMMU_CAPS *)out)->DmaRemappingSupported = 1;
        return STATUS_SUCCESS;
    case DXGKQAITYPE_FRAMEBUFFERSAVESIZE:
        ((DXGK_FRAMEBUFFERSAVEAREA *)out)->MaximumSize = 0; /* it has no memory to save */
        return STATUS_SUCCESS;
    case DXGKQAITYPE_HARDWARERESERVEDRANGES:
        ((DXGK_HARDWARERESERVEDRANGES *)out)->NumRanges = 0;
        return STATUS_SUCCESS;
    case DXGKQAITYPE_NUMPOWERCOMPONENTS:
        *(UINT *)out = 0;
        return STATUS_SUCCESS;
    case DXGKQAITYPE_HISTORYBUFFERPRECISION:
        ((DXGKARG_HISTORYBUFFERPRECISION *)out)->PrecisionBits = 64;
        return STATUS_SUCCESS;
    default:
        return STATUS_NOT_SUPPORTED;
    }
}

NTSTATUS NTAPI NpuGetNodeMetadata(IN_CONST_HANDLE hAdapter, UINT NodeOrdinalAndAdapterIndex,
                                  OUT_PDXGKARG_GETNODEMETADATA pGetNodeMetadata)
{
    UNREFERENCED_PARAMETER(hAdapter);
    if (NodeOrdinalAndAdapterIndex != 0)
        return STATUS_INVALID_PARAMETER;
    RtlZeroMemory(pGetNodeMetadata, sizeof(*pGetNodeMetadata));
    pGetNodeMetadata->EngineType = DXGK_ENGINE_TYPE_OTHER;
    RtlCopyMemory(pGetNodeMetadata->FriendlyName, L"Neural", sizeof(L"Neural"));
    pGetNodeMetadata->GpuMmuSupported = TRUE;
    return STATUS_SUCCESS;
}

/* Counters. The bytes are a program's, which may say anything and change them at any time: they are read once. */
NTSTATUS NTAPI NpuEscape(IN_CONST_HANDLE hAdapter, IN_CONST_PDXGKARG_ESCAPE pEscape)
{
    const NPU_ADAPTER *adapter = (const NPU_ADAPTER *)hAdapter;
    struct npu_escape escape;

    if (pEscape->PrivateDriverDataSize < sizeof(escape))
        return STATUS_INVALID_PARAMETER;
    RtlCopyMemory(&escape, pEscape->pPrivateDriverData, sizeof(escape));
    if (escape.magic != NPU_MAGIC)
        return STATUS_INVALID_PARAMETER;
    if (escape.what == NPU_ESCAPE_COMPLETED)
        escape.value = (ULONG)adapter->Packets;
    else if (escape.what == NPU_ESCAPE_BYTES)
        escape.value = (ULONGLONG)adapter->AllocatedBytes;
    else
        return STATUS_INVALID_PARAMETER;
    RtlCopyMemory(pEscape->pPrivateDriverData, &escape, sizeof(escape));
    return STATUS_SUCCESS;
}

/* ---- registration ---- */

DXGK_PAGETABLEUPDATEMODE NpuUpdateMode;

/* The value PageTableUpdateMode of the service's key: who writes page tables; default: the CPU. */
static VOID ReadSettings(PUNICODE_STRING RegistryPath)
{
    union {
        KEY_VALUE_PARTIAL_INFORMATION info;
        UCHAR bytes[sizeof(KEY_VALUE_PARTIAL_INFORMATION) + sizeof(ULONG)];
    } answer;
    OBJECT_ATTRIBUTES attributes;
    UNICODE_STRING name;
    ULONG bytes = 0, value = 0;
    HANDLE key;

    NpuUpdateMode = DXGK_PAGETABLEUPDATE_CPU_VIRTUAL;
    InitializeObjectAttributes(&attributes, RegistryPath, OBJ_KERNEL_HANDLE | OBJ_CASE_INSENSITIVE,
                               NULL, NULL);
    if (!NT_SUCCESS(ZwOpenKey(&key, KEY_READ, &attributes)))
        return;
    RtlInitUnicodeString(&name, L"PageTableUpdateMode");
    if (NT_SUCCESS(ZwQueryValueKey(key, &name, KeyValuePartialInformation, &answer, sizeof(answer),
                                   &bytes)) &&
        answer.info.Type == REG_DWORD && answer.info.DataLength == sizeof(value))
        RtlCopyMemory(&value, answer.info.Data, sizeof(value));
    if (value <= DXGK_PAGETABLEUPDATE_GPU_PHYSICAL)
        NpuUpdateMode = (DXGK_PAGETABLEUPDATEMODE)value;
    ZwClose(key);
}

#ifndef _WIN32
DECLSPEC_EXPORT /* the one function that is looked for by name in an ELF object */
#endif
    NTSTATUS NTAPI
    DriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath)
{
    DRIVER_INITIALIZATION_DATA data;

    ReadSettings(RegistryPath);
    RtlZeroMemory(&data, sizeof(data));
    data.Version = DXGKDDI_INTERFACE_VERSION;
    data.DxgkDdiAddDevice = NpuAddDevice;
    data.DxgkDdiStartDevice = NpuStartDevice;
    data.DxgkDdiStopDevice = NpuStopDevice;
    data.DxgkDdiRemoveDevice = NpuRemoveDevice;
    data.DxgkDdiUnload = NpuUnload;
    data.DxgkDdiSetPowerState = NpuSetPowerState;
    data.DxgkDdiResetDevice = NpuResetDevice;
    data.DxgkDdiQueryChildRelations = NpuQueryChildRelations;
    data.DxgkDdiQueryChildStatus = NpuQueryChildStatus;
    data.DxgkDdiQueryDeviceDescriptor = NpuQueryDeviceDescriptor;
    data.DxgkDdiSetStablePowerState = NpuSetStablePowerState;
    data.DxgkDdiSetVirtualMachineData = NpuSetVirtualMachineData;
    data.DxgkDdiFormatHistoryBuffer = NpuFormatHistoryBuffer;
    data.DxgkDdiCalibrateGpuClock = NpuCalibrateGpuClock;
    data.DxgkDdiQueryAdapterInfo = NpuQueryAdapterInfo;
    data.DxgkDdiGetNodeMetadata = NpuGetNodeMetadata;
    data.DxgkDdiEscape = NpuEscape;
    data.DxgkDdiCreateProcess = NpuCreateProcess;
    data.DxgkDdiDestroyProcess = NpuDestroyProcess;
    data.DxgkDdiCreateDevice = NpuCreateDevice;
    data.DxgkDdiDestroyDevice = NpuDestroyDevice;
    data.DxgkDdiCreateContext = NpuCreateContext;
    data.DxgkDdiDestroyContext = NpuDestroyContext;
    data.DxgkDdiCreateAllocation = NpuCreateAllocation;
    data.DxgkDdiDestroyAllocation = NpuDestroyAllocation;
    data.DxgkDdiDescribeAllocation = NpuDescribeAllocation;
    data.DxgkDdiGetStandardAllocationDriverData = NpuGetStandardAllocationDriverData;
    data.DxgkDdiOpenAllocation = NpuOpenAllocation;
    data.DxgkDdiCloseAllocation = NpuCloseAllocation;
    data.DxgkDdiSetRootPageTable = NpuSetRootPageTable;
    data.DxgkDdiGetRootPageTableSize = NpuGetRootPageTableSize;
    data.DxgkDdiBuildPagingBuffer = NpuBuildPagingBuffer;
    data.DxgkDdiSubmitCommand = NpuSubmitCommand;
    data.DxgkDdiSubmitCommandVirtual = NpuSubmitCommandVirtual;
    data.DxgkDdiPreemptCommand = NpuPreemptCommand;
    data.DxgkDdiInterruptRoutine = NpuInterruptRoutine;
    data.DxgkDdiDpcRoutine = NpuDpcRoutine;
    data.DxgkDdiQueryDependentEngineGroup = NpuQueryDependentEngineGroup;
    data.DxgkDdiQueryEngineStatus = NpuQueryEngineStatus;
    data.DxgkDdiBeginExclusiveAccess = NpuBeginExclusiveAccess;
    data.DxgkDdiEndExclusiveAccess = NpuEndExclusiveAccess;
    data.DxgkDdiResetEngine = NpuResetEngine;
    data.DxgkDdiResetFromTimeout = NpuResetFromTimeout;
    data.DxgkDdiRestartFromTimeout = NpuRestartFromTimeout;
    data.DxgkDdiCollectDbgInfo = NpuCollectDbgInfo;
    return DxgkInitialize(DriverObject, RegistryPath, &data);
}
