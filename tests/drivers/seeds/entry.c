/* SPDX-License-Identifier: MIT */
/* Registration, and the adapter's life from AddDevice to Unload. */
#include "seeds.h"

PVOID seeds_allocate(SIZE_T bytes)
{
    PVOID memory = ExAllocatePoolWithTag(NonPagedPoolNx, bytes, SEEDS_TAG);

    if (memory)
        RtlZeroMemory(memory, bytes);
    return memory;
}

void seeds_free(PVOID memory)
{
    if (memory)
        ExFreePoolWithTag(memory, SEEDS_TAG);
}

NTSTATUS NTAPI SeedsAddDevice(IN_CONST_PDEVICE_OBJECT PhysicalDeviceObject,
                              OUT_PPVOID MiniportDeviceContext)
{
    struct seeds_adapter *adapter = (struct seeds_adapter *)seeds_allocate(sizeof(*adapter));

    UNREFERENCED_PARAMETER(PhysicalDeviceObject);
    if (!adapter)
        return STATUS_NO_MEMORY;
    adapter->self = adapter;
    KeInitializeSpinLock(&adapter->lock);
    *MiniportDeviceContext = adapter;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI SeedsRemoveDevice(IN_CONST_PVOID MiniportDeviceContext)
{
    seeds_free((PVOID)MiniportDeviceContext);
    return STATUS_SUCCESS;
}

VOID NTAPI SeedsUnload(VOID)
{
}

/* ---- start and stop ---- */

/* The two memory ranges of the function: registers first, then video memory. */
static NTSTATUS find_ranges(struct seeds_adapter *adapter)
{
    const CM_PARTIAL_RESOURCE_LIST *list;
    DXGK_DEVICE_INFO info;
    ULONG found = 0;
    NTSTATUS status;

    RtlZeroMemory(&info, sizeof(info));
    status = adapter->dxgk.DxgkCbGetDeviceInformation(adapter->dxgk.DeviceHandle, &info);
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
            adapter->register_bus = resource->u.Memory.Start;
        } else if (found == 1) {
            adapter->vram_bus = resource->u.Memory.Start;
            adapter->vram_bytes = resource->u.Memory.Length;
        }
        found++;
    }
    return found >= 2 ? STATUS_SUCCESS : STATUS_DEVICE_CONFIGURATION_ERROR;
}

/* From nothing, or after a reset: no packet is there, and the fences are those last reported. */
void seeds_hardware_start(struct seeds_adapter *adapter)
{
    seeds_write(adapter, SEEDS_REG_RESET, 1);
    for (ULONG i = 0; i < SEEDS_ENGINES; i++)
        seeds_write(adapter, SEEDS_REG_ENGINE(i, SEEDS_ENG_COMPLETED), adapter->node[i].completed);
    seeds_write(adapter, SEEDS_REG_IRQ_ENABLE, 1);
}

NTSTATUS NTAPI SeedsStartDevice(IN_CONST_PVOID MiniportDeviceContext,
                                IN_PDXGK_START_INFO DxgkStartInfo,
                                IN_PDXGKRNL_INTERFACE DxgkInterface,
                                OUT_PULONG NumberOfVideoPresentSources, OUT_PULONG NumberOfChildren)
{
    struct seeds_adapter *adapter = (struct seeds_adapter *)MiniportDeviceContext;
    PVOID mapped = NULL;
    NTSTATUS status;

    adapter->dxgk = *DxgkInterface;
    RtlZeroMemory(adapter->node, sizeof(adapter->node));
    if (DxgkStartInfo->RequiredDmaQueueEntry > SEEDS_QUEUE)
        return STATUS_NOT_SUPPORTED;
    status = find_ranges(adapter);
    if (NT_SUCCESS(status))
        status = adapter->dxgk.DxgkCbMapMemory(adapter->dxgk.DeviceHandle, adapter->register_bus,
                                               SEEDS_REGISTER_BYTES, FALSE, FALSE, MmNonCached,
                                               &mapped);
    if (!NT_SUCCESS(status))
        return status;
    adapter->registers = (PUCHAR)mapped;
    adapter->config = seeds_read(adapter, SEEDS_REG_CONFIG);
    seeds_hardware_start(adapter);
    *NumberOfVideoPresentSources = 0;
    *NumberOfChildren = 0;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI SeedsStopDevice(IN_CONST_PVOID MiniportDeviceContext)
{
    struct seeds_adapter *adapter = (struct seeds_adapter *)MiniportDeviceContext;
    PVOID registers = adapter->registers;

    if (!registers)
        return STATUS_SUCCESS;
    seeds_write(adapter, SEEDS_REG_RESET, 1);
    adapter->registers = NULL; /* the interrupt routine looks at this first */
    adapter->dxgk.DxgkCbUnmapMemory(adapter->dxgk.DeviceHandle, registers);
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI SeedsSetPowerState(IN_CONST_PVOID MiniportDeviceContext, IN_ULONG DeviceUid,
                                  IN_DEVICE_POWER_STATE DevicePowerState, IN_POWER_ACTION ActionType)
{
    struct seeds_adapter *adapter = (struct seeds_adapter *)MiniportDeviceContext;

    UNREFERENCED_PARAMETER(ActionType);
    if (DeviceUid != DISPLAY_ADAPTER_HW_ID || !adapter->registers)
        return STATUS_SUCCESS;
    if (DevicePowerState == PowerDeviceD0)
        seeds_hardware_start(adapter);
    else
        seeds_write(adapter, SEEDS_REG_RESET, 1);
    if (adapter->expect_power == SEEDS_POWER_GOES)
        adapter->expect_power = SEEDS_POWER_STAYS;
    return STATUS_SUCCESS;
}

/* At any IRQL, when the system has stopped: the device touches no memory any more. */
VOID NTAPI SeedsResetDevice(IN_CONST_PVOID MiniportDeviceContext)
{
    const struct seeds_adapter *adapter = (const struct seeds_adapter *)MiniportDeviceContext;

    if (adapter->registers)
        seeds_write(adapter, SEEDS_REG_RESET, 1);
}

#if SEEDS_2_9
NTSTATUS NTAPI SeedsBeginExclusiveAccess(IN_CONST_HANDLE hAdapter,
                                         IN_PDXGKARG_BEGINEXCLUSIVEACCESS pBeginExclusiveAccess)
{
    UNREFERENCED_PARAMETER(hAdapter);
    UNREFERENCED_PARAMETER(pBeginExclusiveAccess);
    return STATUS_SUCCESS; /* the engines are idle, and the device does nothing by itself */
}

NTSTATUS NTAPI SeedsEndExclusiveAccess(IN_CONST_HANDLE hAdapter,
                                       IN_PDXGKARG_ENDEXCLUSIVEACCESS pEndExclusiveAccess)
{
    UNREFERENCED_PARAMETER(hAdapter);
    UNREFERENCED_PARAMETER(pEndExclusiveAccess);
    return STATUS_SUCCESS;
}
#endif

/* ---- registration ---- */

static void fill_later_entries(DRIVER_INITIALIZATION_DATA *data)
{
#if SEEDS_2_0
    data->DxgkDdiGetNodeMetadata = SeedsGetNodeMetadata;
    data->DxgkDdiCreateProcess = SeedsCreateProcess;
    data->DxgkDdiDestroyProcess = SeedsDestroyProcess;
    data->DxgkDdiSetRootPageTable = SeedsSetRootPageTable;
    data->DxgkDdiGetRootPageTableSize = SeedsGetRootPageTableSize;
    data->DxgkDdiSubmitCommandVirtual = SeedsSubmitCommandVirtual;
#endif
#if SEEDS_2_9
    data->DxgkDdiBeginExclusiveAccess = SeedsBeginExclusiveAccess;
    data->DxgkDdiEndExclusiveAccess = SeedsEndExclusiveAccess;
#endif
    UNREFERENCED_PARAMETER(data);
}

#ifndef _WIN32
DECLSPEC_EXPORT /* the one function that is looked for by name in an ELF object */
#endif
    NTSTATUS NTAPI
    DriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath)
{
    DRIVER_INITIALIZATION_DATA data;

    RtlZeroMemory(&data, sizeof(data));
    data.Version = DXGKDDI_INTERFACE_VERSION;
    data.DxgkDdiAddDevice = SeedsAddDevice;
    data.DxgkDdiStartDevice = SeedsStartDevice;
    data.DxgkDdiStopDevice = SeedsStopDevice;
    data.DxgkDdiRemoveDevice = SeedsRemoveDevice;
    data.DxgkDdiUnload = SeedsUnload;
    data.DxgkDdiSetPowerState = SeedsSetPowerState;
    data.DxgkDdiResetDevice = SeedsResetDevice;
    data.DxgkDdiQueryAdapterInfo = SeedsQueryAdapterInfo;
    data.DxgkDdiCreateDevice = SeedsCreateDevice;
    data.DxgkDdiDestroyDevice = SeedsDestroyDevice;
    data.DxgkDdiCreateContext = SeedsCreateContext;
    data.DxgkDdiDestroyContext = SeedsDestroyContext;
    data.DxgkDdiCreateAllocation = SeedsCreateAllocation;
    data.DxgkDdiDestroyAllocation = SeedsDestroyAllocation;
    data.DxgkDdiDescribeAllocation = SeedsDescribeAllocation;
    data.DxgkDdiGetStandardAllocationDriverData = SeedsGetStandardAllocationDriverData;
    data.DxgkDdiOpenAllocation = SeedsOpenAllocation;
    data.DxgkDdiCloseAllocation = SeedsCloseAllocation;
    data.DxgkDdiBuildPagingBuffer = SeedsBuildPagingBuffer;
    data.DxgkDdiRender = SeedsRender;
    data.DxgkDdiPatch = SeedsPatch;
    data.DxgkDdiSubmitCommand = SeedsSubmitCommand;
    data.DxgkDdiPreemptCommand = SeedsPreemptCommand;
    data.DxgkDdiQueryCurrentFence = SeedsQueryCurrentFence;
    data.DxgkDdiInterruptRoutine = SeedsInterruptRoutine;
    data.DxgkDdiDpcRoutine = SeedsDpcRoutine;
    data.DxgkDdiQueryDependentEngineGroup = SeedsQueryDependentEngineGroup;
    data.DxgkDdiQueryEngineStatus = SeedsQueryEngineStatus;
    data.DxgkDdiResetEngine = SeedsResetEngine;
    data.DxgkDdiResetFromTimeout = SeedsResetFromTimeout;
    data.DxgkDdiRestartFromTimeout = SeedsRestartFromTimeout;
    data.DxgkDdiCollectDbgInfo = SeedsCollectDbgInfo;
    data.DxgkDdiEscape = SeedsEscape;
    fill_later_entries(&data);
    return DxgkInitialize(DriverObject, RegistryPath, &data);
}
