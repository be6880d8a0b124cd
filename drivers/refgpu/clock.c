/* SPDX-License-Identifier: MIT */
/* The clock of the board, which all engines share, beside that of the processors. */
#include "driver.h"

NTSTATUS NTAPI RefGpuCalibrateGpuClock(IN_CONST_HANDLE hAdapter, UINT32 NodeOrdinal,
                                       UINT32 EngineOrdinal,
                                       OUT_PDXGKARG_CALIBRATEGPUCLOCK pClockCalibration)
{
    struct refgpu_adapter *adapter = hAdapter;

    if (NodeOrdinal >= refgpu_nodes(adapter) || EngineOrdinal)
        return STATUS_INVALID_PARAMETER;
    pClockCalibration->GpuFrequency = REFGPU_TIME_FREQUENCY;
    pClockCalibration->GpuClockCounter = refgpu_read64(adapter, REFGPU_REG_TIME_LO);
    pClockCalibration->CpuClockCounter = (ULONGLONG)KeQueryPerformanceCounter(NULL).QuadPart;
    return STATUS_SUCCESS;
}
