/* SPDX-License-Identifier: MIT */
/* D3DKMTQueryClockCalibration: what the clock of a node shows, and when (KMT-139, KMT-140). */
#include <string.h>

#include <ntddk.h>
#include <d3dkmthk.h>

#include "ddi/entries_clock.h"
#include "kmt/adapter.h"
#include "kmt/call.h"
#include "kmt/handle.h"
#include "port/record/adapter_info.h"
#include "verify/refusal.h"

static NTSTATUS query_clock_calibration(struct kmt_call *call, void *arguments)
{
    D3DKMT_QUERYCLOCKCALIBRATION *args = arguments;
    struct kmt_adapter *adapter = kmt_handle_adapter(call, args->hAdapter);
    struct ddi_adapter *ddi;
    DXGKARG_CALIBRATEGPUCLOCK clock;
    NTSTATUS status;

    if (!adapter)
        return STATUS_INVALID_PARAMETER;
    status = kmt_adapter_check(adapter);
    if (!NT_SUCCESS(status))
        return status;
    if (args->NodeOrdinal >= port_adapter_nodes(adapter->port) || args->PhysicalAdapterIndex != 0)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-139",
                      "node %u of physical adapter %u: there are %u nodes, and one adapter",
                      args->NodeOrdinal, args->PhysicalAdapterIndex,
                      port_adapter_nodes(adapter->port));
    ddi = port_adapter_ddi(adapter->port);
    if (!ddi_has(ddi, DxgkDdiCalibrateGpuClock))
        return refuse(STATUS_NOT_SUPPORTED, "KMT-139", "the driver has no DxgkDdiCalibrateGpuClock");
    memset(&clock, 0, sizeof(clock));
    status = ddi_calibrate_gpu_clock(ddi, args->NodeOrdinal, args->PhysicalAdapterIndex, &clock);
    if (NT_SUCCESS(status))
        args->ClockData = clock;
    return status;
}

KMT_IN_OUT(D3DKMTQueryClockCalibration, D3DKMT_QUERYCLOCKCALIBRATION, query_clock_calibration)
