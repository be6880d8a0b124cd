/* SPDX-License-Identifier: MIT */
/* The typed DDI calls of GPU clocks, both at DISPATCH_LEVEL (THREAD-020, THREAD-040). */
#include "ddi/entries_clock.h"
#include "ddi/door.h"

NTSTATUS ddi_calibrate_gpu_clock(struct ddi_adapter *a, UINT32 node, UINT32 engine,
                                 DXGKARG_CALIBRATEGPUCLOCK *args)
{
    CALL_BOTH(a, DxgkDdiCalibrateGpuClock, args, a->context, node, engine);
}

NTSTATUS ddi_format_history_buffer(struct ddi_adapter *a, HANDLE context,
                                   DXGKARG_FORMATHISTORYBUFFER *args)
{
    CALL_BOTH(a, DxgkDdiFormatHistoryBuffer, args, context);
}
