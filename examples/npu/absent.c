/* SPDX-License-Identifier: MIT */
/*
 * Entries that the table of a compute-only driver has although there is nothing behind them: outputs, clocks, history buffers, virtual
 * machines.
 */
#include "npu.h"

NTSTATUS NTAPI NpuQueryChildRelations(IN_CONST_PVOID MiniportDeviceContext,
                                      PDXGK_CHILD_DESCRIPTOR ChildRelations,
                                      ULONG ChildRelationsSize)
{
    UNREFERENCED_PARAMETER(MiniportDeviceContext);
    UNREFERENCED_PARAMETER(ChildRelations);
    UNREFERENCED_PARAMETER(ChildRelationsSize);
    return STATUS_NOT_IMPLEMENTED;
}

NTSTATUS NTAPI NpuQueryChildStatus(IN_CONST_PVOID MiniportDeviceContext,
                                   INOUT_PDXGK_CHILD_STATUS ChildStatus,
                                   IN_BOOLEAN NonDestructiveOnly)
{
    UNREFERENCED_PARAMETER(MiniportDeviceContext);
    UNREFERENCED_PARAMETER(ChildStatus);
    UNREFERENCED_PARAMETER(NonDestructiveOnly);
    return STATUS_NOT_IMPLEMENTED;
}

NTSTATUS NTAPI NpuQueryDeviceDescriptor(IN_CONST_PVOID MiniportDeviceContext, IN_ULONG ChildUid,
                                        INOUT_PDXGK_DEVICE_DESCRIPTOR DeviceDescriptor)
{
    UNREFERENCED_PARAMETER(MiniportDeviceContext);
    UNREFERENCED_PARAMETER(ChildUid);
    UNREFERENCED_PARAMETER(DeviceDescriptor);
    return STATUS_NOT_IMPLEMENTED;
}

VOID NTAPI NpuSetStablePowerState(IN_CONST_HANDLE hAdapter,
                                  IN_CONST_PDXGKARG_SETSTABLEPOWERSTATE pArgs)
{
    UNREFERENCED_PARAMETER(hAdapter);
    UNREFERENCED_PARAMETER(pArgs);
}

NTSTATUS NTAPI NpuSetVirtualMachineData(IN_CONST_HANDLE hAdapter,
                                        IN_CONST_PDXGKARG_SETVIRTUALMACHINEDATA Args)
{
    UNREFERENCED_PARAMETER(hAdapter);
    UNREFERENCED_PARAMETER(Args);
    return STATUS_NOT_IMPLEMENTED;
}

NTSTATUS NTAPI NpuFormatHistoryBuffer(IN_CONST_HANDLE hContext,
                                      DXGKARG_FORMATHISTORYBUFFER *pFormatData)
{
    UNREFERENCED_PARAMETER(hContext);
    UNREFERENCED_PARAMETER(pFormatData);
    return STATUS_NOT_IMPLEMENTED;
}

NTSTATUS NTAPI NpuCalibrateGpuClock(IN_CONST_HANDLE hAdapter, UINT32 NodeOrdinal,
                                    UINT32 EngineOrdinal,
                                    OUT_PDXGKARG_CALIBRATEGPUCLOCK pClockCalibration)
{
    UNREFERENCED_PARAMETER(hAdapter);
    UNREFERENCED_PARAMETER(NodeOrdinal);
    UNREFERENCED_PARAMETER(EngineOrdinal);
    UNREFERENCED_PARAMETER(pClockCalibration);
    return STATUS_NOT_IMPLEMENTED;
}
