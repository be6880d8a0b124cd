/* SPDX-License-Identifier: MIT */
/* The entries of GPU clocks and of the time stamps that are taken by them; as those in ddi.h. */
#ifndef DXGK_DDI_ENTRIES_CLOCK_H
#define DXGK_DDI_ENTRIES_CLOCK_H

#include "ddi/ddi.h"

NTSTATUS ddi_calibrate_gpu_clock(struct ddi_adapter *a, UINT32 node, UINT32 engine,
                                 DXGKARG_CALIBRATEGPUCLOCK *args);
NTSTATUS ddi_format_history_buffer(struct ddi_adapter *a, HANDLE context,
                                   DXGKARG_FORMATHISTORYBUFFER *args);

#endif
