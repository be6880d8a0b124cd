/* SPDX-License-Identifier: MIT */
/*
 * A compute-only driver with GPU virtual addresses and the habits of published ones, which Windows accepts: the value Habit of the
 * service key chooses one, and each is a line below. Without it nothing is to be said about the driver.
 */
#include "compute/compute.h"
#include "service_value.h"

#include "compute/absent.c"
#include "compute/adapter.c"
#include "compute/engine.c"
#include "compute/memory.c"

#ifdef COMPUTE_ESCAPE
DXGKDDI_ESCAPE COMPUTE_ESCAPE;
#endif
COMPUTE_HABITS ComputeHabits;

static const COMPUTE_HABITS base = {
    .SystemSegment = COMPUTE_APERTURE, /* whose content is system memory, and mapped as that */
    .TableSegment = 0,
    .IndexBits = 9,
    .RootBits = 9,
    .TableBytes = 4096,
    .RootBytes = 4096,
    .SystemContextBytes = COMPUTE_PAGING_BYTES,
};

static NTSTATUS NTAPI HabitNotifyAcpiEvent(IN_CONST_PVOID MiniportDeviceContext,
                                           IN_DXGK_EVENT_TYPE EventType, IN_ULONG Event,
                                           IN_PVOID Argument, OUT_PULONG AcpiFlags)
{
    UNREFERENCED_PARAMETER(MiniportDeviceContext);
    UNREFERENCED_PARAMETER(EventType);
    UNREFERENCED_PARAMETER(Event);
    UNREFERENCED_PARAMETER(Argument);
    *AcpiFlags = 0;
    return STATUS_SUCCESS;
}

static VOID Choose(ULONG Habit, DRIVER_INITIALIZATION_DATA *Data)
{
    ComputeHabits = base;
    if (Habit == 1 || Habit == 9)
        ComputeHabits.SystemSegment = COMPUTE_SYSTEM;
    if (Habit == 2 || Habit == 9)
        ComputeHabits.TableSegment = COMPUTE_SYSTEM;
    if (Habit == 3 || Habit == 9)
        ComputeHabits.TableBytes = 16384, ComputeHabits.IndexBits = 11;
    if (Habit == 4 || Habit == 9)
        ComputeHabits.RootBytes = 16384, ComputeHabits.RootBits = 11;
    if (Habit == 5)
        ComputeHabits.RootBytes = 1024, ComputeHabits.RootBits = 7;
    if (Habit == 6 || Habit == 9)
        ComputeHabits.SystemContextBytes = 0;
    if (Habit == 7 || Habit == 9)
        ComputeHabits.PitchAlignment = 1;
    if (Habit == 8 || Habit == 9)
        Data->DxgkDdiNotifyAcpiEvent = HabitNotifyAcpiEvent;
}

static VOID FillTable(DRIVER_INITIALIZATION_DATA *Data)
{
    Data->Version = DXGKDDI_INTERFACE_VERSION;
    Data->DxgkDdiAddDevice = ComputeAddDevice;
    Data->DxgkDdiStartDevice = ComputeStartDevice;
    Data->DxgkDdiStopDevice = ComputeStopDevice;
    Data->DxgkDdiRemoveDevice = ComputeRemoveDevice;
    Data->DxgkDdiUnload = ComputeUnload;
    Data->DxgkDdiSetPowerState = ComputeSetPowerState;
    Data->DxgkDdiResetDevice = ComputeResetDevice;
    Data->DxgkDdiQueryChildRelations = ComputeQueryChildRelations;
    Data->DxgkDdiQueryChildStatus = ComputeQueryChildStatus;
    Data->DxgkDdiQueryDeviceDescriptor = ComputeQueryDeviceDescriptor;
    Data->DxgkDdiSetStablePowerState = ComputeSetStablePowerState;
    Data->DxgkDdiSetVirtualMachineData = ComputeSetVirtualMachineData;
    Data->DxgkDdiFormatHistoryBuffer = ComputeFormatHistoryBuffer;
    Data->DxgkDdiCalibrateGpuClock = ComputeCalibrateGpuClock;
    Data->DxgkDdiQueryAdapterInfo = ComputeQueryAdapterInfo;
    Data->DxgkDdiGetNodeMetadata = ComputeGetNodeMetadata;
    Data->DxgkDdiCreateProcess = ComputeCreateProcess;
    Data->DxgkDdiDestroyProcess = ComputeDestroyProcess;
    Data->DxgkDdiCreateDevice = ComputeCreateDevice;
    Data->DxgkDdiDestroyDevice = ComputeDestroyDevice;
    Data->DxgkDdiCreateContext = ComputeCreateContext;
    Data->DxgkDdiDestroyContext = ComputeDestroyContext;
    Data->DxgkDdiSetRootPageTable = ComputeSetRootPageTable;
    Data->DxgkDdiGetRootPageTableSize = ComputeGetRootPageTableSize;
    Data->DxgkDdiCreateAllocation = ComputeCreateAllocation;
    Data->DxgkDdiDestroyAllocation = ComputeDestroyAllocation;
    Data->DxgkDdiDescribeAllocation = ComputeDescribeAllocation;
    Data->DxgkDdiGetStandardAllocationDriverData = ComputeGetStandardAllocationDriverData;
    Data->DxgkDdiOpenAllocation = ComputeOpenAllocation;
    Data->DxgkDdiCloseAllocation = ComputeCloseAllocation;
    Data->DxgkDdiBuildPagingBuffer = ComputeBuildPagingBuffer;
    Data->DxgkDdiSubmitCommand = ComputeSubmitCommand;
    Data->DxgkDdiSubmitCommandVirtual = ComputeSubmitCommandVirtual;
    Data->DxgkDdiPreemptCommand = ComputePreemptCommand;
    Data->DxgkDdiInterruptRoutine = ComputeInterruptRoutine;
    Data->DxgkDdiDpcRoutine = ComputeDpcRoutine;
    Data->DxgkDdiQueryDependentEngineGroup = ComputeQueryDependentEngineGroup;
    Data->DxgkDdiQueryEngineStatus = ComputeQueryEngineStatus;
    Data->DxgkDdiResetEngine = ComputeResetEngine;
    Data->DxgkDdiResetFromTimeout = ComputeResetFromTimeout;
    Data->DxgkDdiRestartFromTimeout = ComputeRestartFromTimeout;
    Data->DxgkDdiCollectDbgInfo = ComputeCollectDbgInfo;
#ifdef COMPUTE_ESCAPE
    Data->DxgkDdiEscape = COMPUTE_ESCAPE;
#endif
}

#ifndef _WIN32
DECLSPEC_EXPORT /* the one function that is looked for by name in an ELF object */
#endif
    NTSTATUS NTAPI
    DriverEntry(PDRIVER_OBJECT DriverObject, PUNICODE_STRING RegistryPath)
{
    DRIVER_INITIALIZATION_DATA data;

    RtlZeroMemory(&data, sizeof(data));
    FillTable(&data);
    Choose(ServiceValue(RegistryPath, L"Habit"), &data);
    return DxgkInitialize(DriverObject, RegistryPath, &data);
}
