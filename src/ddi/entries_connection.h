/* SPDX-License-Identifier: MIT */
/* The typed DDI calls of the connection change model of WDDM 2.2; otherwise like ddi.h. */
#ifndef DXGK_DDI_ENTRIES_CONNECTION_H
#define DXGK_DDI_ENTRIES_CONNECTION_H

#include "ddi/ddi.h"

NTSTATUS ddi_display_detect_control(struct ddi_adapter *a, const DXGKARG_DISPLAYDETECTCONTROL *args);
NTSTATUS ddi_query_connection_change(struct ddi_adapter *a, DXGKARG_QUERYCONNECTIONCHANGE *args);
NTSTATUS ddi_set_timings_from_vidpn(struct ddi_adapter *a, DXGKARG_SETTIMINGSFROMVIDPN *args);

#endif
