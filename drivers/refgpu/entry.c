/* SPDX-License-Identifier: MIT */
/* Registration with the graphics kernel, AddDevice and RemoveDevice. */
#include "driver.h"

PVOID refgpu_allocate(SIZE_T bytes)
{
    PVOID memory = ExAllocatePoolWithTag(NonPagedPoolNx, bytes, REFGPU_TAG);

    if (memory)
        RtlZeroMemory(memory, bytes);
    return memory;
}

void refgpu_free(PVOID memory)
{
    if (memory)
        ExFreePoolWithTag(memory, REFGPU_TAG);
}

/* Value of a hexadecimal digit; -1: it is none. */
static int hex_digit(WCHAR c)
{
    if (c >= L'0' && c <= L'9')
        return c - L'0';
    if (c >= L'A' && c <= L'F')
        return c - L'A' + 10;
    if (c >= L'a' && c <= L'f')
        return c - L'a' + 10;
    return -1;
}

/*
 * The number of bus address bits of the board is needed before the registers can be read: it is the
 * subsystem id, the first four digits after SUBSYS_ in the hardware id. Without it, 48 is assumed.
 */
static ULONG board_address_bits(PDEVICE_OBJECT pdo)
{
    static const WCHAR mark[] = {L'S', L'U', L'B', L'S', L'Y', L'S', L'_'};
    const ULONG mark_length = sizeof mark / sizeof mark[0];
    WCHAR ids[256];
    ULONG bytes = 0;
    ULONG length;

    if (!NT_SUCCESS(IoGetDeviceProperty(pdo, DevicePropertyHardwareID, sizeof ids, ids, &bytes)))
        return 48;
    length = bytes / (ULONG)sizeof(WCHAR);
    for (ULONG i = 0; i + mark_length + 4u <= length; i++) {
        ULONG value = 0, k = 0;

        while (k < mark_length && ids[i + k] == mark[k])
            k++;
        if (k < mark_length)
            continue;
        for (k = 0; k < 4u; k++) {
            const int digit = hex_digit(ids[i + mark_length + k]);

            if (digit < 0)
                return 48;
            value = value << 4 | (ULONG)digit;
        }
        return value >= 32u && value <= 52u ? value : 48u;
    }
    return 48;
}

NTSTATUS NTAPI RefGpuAddDevice(IN_CONST_PDEVICE_OBJECT PhysicalDeviceObject,
                               OUT_PPVOID MiniportDeviceContext)
{
    struct refgpu_adapter *adapter = refgpu_allocate(sizeof *adapter);

    if (!adapter)
        return STATUS_NO_MEMORY;
    adapter->pdo = (PDEVICE_OBJECT)PhysicalDeviceObject;
    adapter->dma_bits = board_address_bits(adapter->pdo);
    for (ULONG i = 0; i < REFGPU_NODES; i++) {
        adapter->node[i].adapter = adapter;
        adapter->node[i].index = i;
    }
    KeInitializeSpinLock(&adapter->log_lock);
    *MiniportDeviceContext = adapter;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI RefGpuRemoveDevice(IN_CONST_PVOID MiniportDeviceContext)
{
    refgpu_free((PVOID)MiniportDeviceContext);
    return STATUS_SUCCESS;
}

void NTAPI RefGpuUnload(void)
{
}

/* There is no screen to restore; only silence the device. Any level, nonpaged memory only. */
void NTAPI RefGpuResetDevice(IN_CONST_PVOID MiniportDeviceContext)
{
    struct refgpu_adapter *adapter = (struct refgpu_adapter *)MiniportDeviceContext;

    if (adapter->registers)
        refgpu_write_register(adapter, REFGPU_REG_CONTROL, REFGPU_CONTROL_RESET);
}

void NTAPI RefGpuControlEtwLogging(IN_BOOLEAN Enable, IN_ULONG Flags, IN_UCHAR Level)
{
    (void)Enable;
    (void)Flags;
    (void)Level;
}

/* Called only if StartDevice has reported sources. */
static void set_display_entries(DRIVER_INITIALIZATION_DATA *data)
{
    data->DxgkDdiQueryChildRelations = RefGpuQueryChildRelations;
    data->DxgkDdiQueryChildStatus = RefGpuQueryChildStatus;
    data->DxgkDdiQueryDeviceDescriptor = RefGpuQueryDeviceDescriptor;
    data->DxgkDdiRecommendMonitorModes = RefGpuRecommendMonitorModes;
    data->DxgkDdiIsSupportedVidPn = RefGpuIsSupportedVidPn;
    data->DxgkDdiRecommendFunctionalVidPn = RefGpuRecommendFunctionalVidPn;
    data->DxgkDdiEnumVidPnCofuncModality = RefGpuEnumVidPnCofuncModality;
    data->DxgkDdiCommitVidPn = RefGpuCommitVidPn;
    data->DxgkDdiUpdateActiveVidPnPresentPath = RefGpuUpdateActiveVidPnPresentPath;
    data->DxgkDdiQueryVidPnHWCapability = RefGpuQueryVidPnHWCapability;
    data->DxgkDdiSetVidPnSourceAddress = RefGpuSetVidPnSourceAddress;
    data->DxgkDdiSetVidPnSourceVisibility = RefGpuSetVidPnSourceVisibility;
    data->DxgkDdiControlInterrupt = RefGpuControlInterrupt;
    data->DxgkDdiGetScanLine = RefGpuGetScanLine;
    data->DxgkDdiSetPointerPosition = RefGpuSetPointerPosition;
    data->DxgkDdiSetPointerShape = RefGpuSetPointerShape;
    data->DxgkDdiPresent = RefGpuPresent;
    data->DxgkDdiStopDeviceAndReleasePostDisplayOwnership =
        RefGpuStopDeviceAndReleasePostDisplayOwnership;
    data->DxgkDdiSystemDisplayEnable = RefGpuSystemDisplayEnable;
    data->DxgkDdiSystemDisplayWrite = RefGpuSystemDisplayWrite;
}

#if defined(DECLSPEC_EXPORT) /* an ELF object hides symbols that are not exported */
DECLSPEC_EXPORT
#endif
NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath)
{
    DRIVER_INITIALIZATION_DATA data;

    refgpu_read_settings(RegistryPath);
    RtlZeroMemory(&data, sizeof data);
    data.Version = DXGKDDI_INTERFACE_VERSION;
    data.DxgkDdiAddDevice = RefGpuAddDevice;
    data.DxgkDdiStartDevice = RefGpuStartDevice;
    data.DxgkDdiStopDevice = RefGpuStopDevice;
    data.DxgkDdiRemoveDevice = RefGpuRemoveDevice;
    data.DxgkDdiInterruptRoutine = RefGpuInterruptRoutine;
    data.DxgkDdiDpcRoutine = RefGpuDpcRoutine;
    data.DxgkDdiSetPowerState = RefGpuSetPowerState;
    data.DxgkDdiResetDevice = RefGpuResetDevice;
    data.DxgkDdiUnload = RefGpuUnload;
    data.DxgkDdiControlEtwLogging = RefGpuControlEtwLogging;
    data.DxgkDdiQueryAdapterInfo = RefGpuQueryAdapterInfo;
    data.DxgkDdiGetNodeMetadata = RefGpuGetNodeMetadata;
    data.DxgkDdiCreateProcess = RefGpuCreateProcess;
    data.DxgkDdiDestroyProcess = RefGpuDestroyProcess;
    data.DxgkDdiCreateDevice = RefGpuCreateDevice;
    data.DxgkDdiDestroyDevice = RefGpuDestroyDevice;
    data.DxgkDdiCreateContext = RefGpuCreateContext;
    data.DxgkDdiDestroyContext = RefGpuDestroyContext;
    data.DxgkDdiSetRootPageTable = RefGpuSetRootPageTable;
    data.DxgkDdiGetRootPageTableSize = RefGpuGetRootPageTableSize;
    data.DxgkDdiCreateAllocation = RefGpuCreateAllocation;
    data.DxgkDdiDestroyAllocation = RefGpuDestroyAllocation;
    data.DxgkDdiDescribeAllocation = RefGpuDescribeAllocation;
    data.DxgkDdiGetStandardAllocationDriverData = RefGpuGetStandardAllocationDriverData;
    data.DxgkDdiOpenAllocation = RefGpuOpenAllocation;
    data.DxgkDdiCloseAllocation = RefGpuCloseAllocation;
    data.DxgkDdiRender = RefGpuRender;
    data.DxgkDdiPatch = RefGpuPatch;
    data.DxgkDdiSubmitCommand = RefGpuSubmitCommand;
    data.DxgkDdiSubmitCommandVirtual = RefGpuSubmitCommandVirtual;
    data.DxgkDdiPreemptCommand = RefGpuPreemptCommand;
    data.DxgkDdiCancelCommand = RefGpuCancelCommand;
    data.DxgkDdiQueryCurrentFence = RefGpuQueryCurrentFence;
    data.DxgkDdiCalibrateGpuClock = RefGpuCalibrateGpuClock;
    data.DxgkDdiBuildPagingBuffer = RefGpuBuildPagingBuffer;
    data.DxgkDdiQueryDependentEngineGroup = RefGpuQueryDependentEngineGroup;
    data.DxgkDdiQueryEngineStatus = RefGpuQueryEngineStatus;
    data.DxgkDdiResetEngine = RefGpuResetEngine;
    data.DxgkDdiResetFromTimeout = RefGpuResetFromTimeout;
    data.DxgkDdiRestartFromTimeout = RefGpuRestartFromTimeout;
    data.DxgkDdiCollectDbgInfo = RefGpuCollectDbgInfo;
    data.DxgkDdiBeginExclusiveAccess = RefGpuBeginExclusiveAccess;
    data.DxgkDdiEndExclusiveAccess = RefGpuEndExclusiveAccess;
    data.DxgkDdiEscape = RefGpuEscape;
    set_display_entries(&data);
    if (refgpu_settings.hardware_scheduling) {
        data.DxgkDdiCreateHwContext = RefGpuCreateHwContext;
        data.DxgkDdiDestroyHwContext = RefGpuDestroyHwContext;
        data.DxgkDdiCreateHwQueue = RefGpuCreateHwQueue;
        data.DxgkDdiDestroyHwQueue = RefGpuDestroyHwQueue;
        data.DxgkDdiSubmitCommandToHwQueue = RefGpuSubmitCommandToHwQueue;
        data.DxgkDdiValidateSubmitCommand = RefGpuValidateSubmitCommand;
        data.DxgkDdiSetupPriorityBands = RefGpuSetupPriorityBands;
        data.DxgkDdiSetContextSchedulingProperties = RefGpuSetContextSchedulingProperties;
        data.DxgkDdiSetSchedulingLogBuffer = RefGpuSetSchedulingLogBuffer;
        data.DxgkDdiSuspendContext = RefGpuSuspendContext;
        data.DxgkDdiResumeContext = RefGpuResumeContext;
        data.DxgkDdiResetHwEngine = RefGpuResetHwEngine;
        data.DxgkDdiResumeHwEngine = RefGpuResumeHwEngine;
    }
    if (refgpu_settings.signals_fences)
        data.DxgkDdiSignalMonitoredFence = RefGpuSignalMonitoredFence;
    return DxgkInitialize(DriverObject, RegistryPath, &data);
}
