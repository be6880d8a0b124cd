/* SPDX-License-Identifier: MIT */
/* What the table of a compute-only driver has to have though there is nothing behind it: children, clocks, virtual machines. */
#include "compute.h"

NTSTATUS NTAPI ComputeQueryChildRelations(IN_CONST_PVOID MiniportDeviceContext,
                                          PDXGK_CHILD_DESCRIPTOR ChildRelations,
                                          ULONG ChildRelationsSize)
{
    UNREFERENCED_PARAMETER(MiniportDeviceContext);
    UNREFERENCED_PARAMETER(ChildRelations);
    UNREFERENCED_PARAMETER(ChildRelationsSize);
    return STATUS_NOT_IMPLEMENTED;
}

NTSTATUS NTAPI ComputeQueryChildStatus(IN_CONST_PVOID MiniportDeviceContext,
                                       INOUT_PDXGK_CHILD_STATUS ChildStatus,
                                       IN_BOOLEAN NonDestructiveOnly)
{
    UNREFERENCED_PARAMETER(MiniportDeviceContext);
    UNREFERENCED_PARAMETER(ChildStatus);
    UNREFERENCED_PARAMETER(NonDestructiveOnly);
    return STATUS_NOT_IMPLEMENTED;
}

NTSTATUS NTAPI ComputeQueryDeviceDescriptor(IN_CONST_PVOID MiniportDeviceContext, IN_ULONG ChildUid,
                                            INOUT_PDXGK_DEVICE_DESCRIPTOR DeviceDescriptor)
{
    UNREFERENCED_PARAMETER(MiniportDeviceContext);
    UNREFERENCED_PARAMETER(ChildUid);
    UNREFERENCED_PARAMETER(DeviceDescriptor);
    return STATUS_NOT_IMPLEMENTED;
}

VOID NTAPI ComputeSetStablePowerState(IN_CONST_HANDLE hAdapter,
                                      IN_CONST_PDXGKARG_SETSTABLEPOWERSTATE pArgs)
{
    UNREFERENCED_PARAMETER(hAdapter);
    UNREFERENCED_PARAMETER(pArgs);
}

NTSTATUS NTAPI ComputeSetVirtualMachineData(IN_CONST_HANDLE hAdapter,
                                            IN_CONST_PDXGKARG_SETVIRTUALMACHINEDATA Args)
{
    UNREFERENCED_PARAMETER(hAdapter);
    UNREFERENCED_PARAMETER(Args);
    return STATUS_NOT_IMPLEMENTED;
}

NTSTATUS NTAPI ComputeFormatHistoryBuffer(IN_CONST_HANDLE hContext,
                                          DXGKARG_FORMATHISTORYBUFFER *pFormatData)
{
    UNREFERENCED_PARAMETER(hContext);
    UNREFERENCED_PARAMETER(pFormatData);
    return STATUS_NOT_IMPLEMENTED;
}

NTSTATUS NTAPI ComputeCalibrateGpuClock(IN_CONST_HANDLE hAdapter, UINT32 NodeOrdinal,
                                        UINT32 EngineOrdinal,
                                        OUT_PDXGKARG_CALIBRATEGPUCLOCK pClockCalibration)
{
    UNREFERENCED_PARAMETER(hAdapter);
    UNREFERENCED_PARAMETER(NodeOrdinal);
    UNREFERENCED_PARAMETER(EngineOrdinal);
    UNREFERENCED_PARAMETER(pClockCalibration);
    return STATUS_NOT_IMPLEMENTED;
}
