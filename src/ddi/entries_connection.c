/* SPDX-License-Identifier: MIT */
/* The typed DDI calls of the connection change model; otherwise like entries.c. */
#include "ddi/entries_connection.h"
#include "ddi/door.h"
#include "ddi/parts.h"

#include "sim/irql.h"
#include "sim/machine.h"

/* Both are of the child I/O class, and of no child. */

NTSTATUS ddi_display_detect_control(struct ddi_adapter *a, const DXGKARG_DISPLAYDETECTCONTROL *args)
{
    CALL_IN(a, DxgkDdiDisplayDetectControl, args, a->context);
}

NTSTATUS ddi_query_connection_change(struct ddi_adapter *a, DXGKARG_QUERYCONNECTIONCHANGE *args)
{
    CALL_BOTH(a, DxgkDdiQueryConnectionChange, args, a->context);
}

NTSTATUS ddi_set_timings_from_vidpn(struct ddi_adapter *a, DXGKARG_SETTIMINGSFROMVIDPN *args)
{
    CALL_PARTS_IN(a, DxgkDdiSetTimingsFromVidPn, args, ddi_parts_set_timings, a->context);
}
