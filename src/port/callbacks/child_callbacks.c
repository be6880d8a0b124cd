/* SPDX-License-Identifier: MIT */
/* A child was connected or disconnected (LIFE-083), or something of a connector has changed. */
#include "port/callbacks/child_callbacks.h"
#include "port/callbacks/callback.h"
#include "port/query/children.h"
#include "port/record/adapter_record.h"
#include "port/record/boundary.h"
#include "port/running/display.h"
#include "sim/irql.h"

static NTSTATUS NTAPI indicate_child_status(HANDLE DeviceHandle, PDXGK_CHILD_STATUS ChildStatus)
{
    struct port_callback cb;
    DXGK_CHILD_STATUS copy;
    NTSTATUS status = port_callback_begin(&cb, DeviceHandle, "DxgkCbIndicateChildStatus",
                                          PORT_CALLER, SIM_IRQL_DISPATCH, "THREAD-050", 0);

    if (!NT_SUCCESS(status))
        return status;
    status = STATUS_INVALID_PARAMETER;
    if (PORT_TAKE(DXGK_CHILD_STATUS, &copy, ChildStatus)) {
        if (cb.adapter->ddi.present_display_only || cb.adapter->display.modes)
            status = port_display_note(cb.adapter, &copy); /* DISP-048 */
        else if (port_children_note_status(cb.adapter, &copy))
            status = STATUS_SUCCESS;
        else
            VIOLATION("LIFE-083", "the adapter has no child 0x%x", copy.ChildUid);
    }
    return port_callback_return(&cb, status);
}

/* DISP-088, DISP-089 */
static NTSTATUS NTAPI indicate_connector_change(const HANDLE DeviceHandle)
{
    struct port_callback cb;
    NTSTATUS status = port_callback_begin(&cb, DeviceHandle, "DxgkCbIndicateConnectorChange",
                                          PORT_CALLER, SIM_IRQL_DISPATCH, "DISP-089", 0);

    if (!NT_SUCCESS(status))
        return status;
    return port_callback_return(&cb, port_display_connector(cb.adapter));
}

void port_child_callbacks_fill(DXGKRNL_INTERFACE *interface)
{
    interface->DxgkCbIndicateConnectorChange = indicate_connector_change;
    interface->DxgkCbIndicateChildStatus = indicate_child_status;
}
