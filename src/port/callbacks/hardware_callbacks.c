/* SPDX-License-Identifier: MIT */
#include "port/callbacks/hardware_callbacks.h"
#include "ddi/ddi.h"
#include "nt/ke/level.h"
#include "port/callbacks/callback.h"
#include "port/record/adapter_info.h"
#include "port/record/adapter_record.h"
#include "port/record/boundary.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "verify/refusal.h"
#include "vidsch/vidsch.h"

static bool is_hardware_scheduled(const struct port_adapter *adapter)
{
    for (UINT i = 0; i < adapter->nodes.count; i++)
        if (adapter->nodes.node[i].hardware_scheduled)
            return true;
    return false;
}

/* Called by DxgkDdiResetHwEngine, so at its level (TDR-075). */
static NTSTATUS NTAPI invalidate_hw_context(IN_CONST_PDXGKARGCB_INVALIDATEHWCONTEXT args)
{
    static const char name[] = "DxgkCbInvalidateHwContext";
    DXGKARGCB_INVALIDATEHWCONTEXT copy;
    struct port_callback cb;
    NTSTATUS status;

    if (!PORT_TAKE(DXGKARGCB_INVALIDATEHWCONTEXT, &copy, args))
        return STATUS_INVALID_PARAMETER;
    status = port_callback_begin(&cb, copy.hAdapter, name, PORT_CALLER, SIM_IRQL_DISPATCH,
                                 "TDR-075", 0);
    if (!NT_SUCCESS(status))
        return status;
    if (!is_hardware_scheduled(cb.adapter) || !port_adapter_vidsch(cb.adapter)) {
        VIOLATION("LIFE-059", "%s on an adapter without a hardware-scheduled node", name);
        return port_callback_return(&cb, STATUS_NOT_SUPPORTED);
    }
    return port_callback_return(
        &cb, vidsch_hw_invalidate(port_adapter_vidsch(cb.adapter), copy.hHwContext, copy.Flags));
}

/* The callback names no adapter: the handle does. At the level of DxgkDdiConnectDoorbell, from
 * which a driver takes the doorbell of another queue. */
static NTSTATUS NTAPI disconnect_doorbell(INOUT_PDXGKARGCB_DISCONNECTDOORBELL args)
{
    static const char name[] = "DxgkCbDisconnectDoorbell";
    DXGKARGCB_DISCONNECTDOORBELL copy;
    struct ddi_frame *frame;
    NTSTATUS status;

    if (!sim_current || sim_current->stopped)
        return STATUS_DEVICE_REMOVED;
    frame = ddi_callback_enter(ddi_current_adapter(), name, PORT_CALLER);
    if (sim_irql() > SIM_IRQL_DISPATCH) {
        VIOLATION("SUBMIT-123", "%s was called at %s", name, nt_irql_name(sim_irql()));
        status = STATUS_INVALID_DEVICE_REQUEST;
    } else if (!PORT_TAKE(DXGKARGCB_DISCONNECTDOORBELL, &copy, args)) {
        status = refuse(STATUS_INVALID_PARAMETER, "SUBMIT-123", "the argument cannot be read");
    } else {
        status = vidsch_doorbell_taken(&copy);
    }
    ddi_callback_leave(frame);
    return status;
}

void port_hardware_callbacks_fill(DXGKRNL_INTERFACE *interface)
{
    interface->DxgkCbInvalidateHwContext = invalidate_hw_context;
    interface->DxgkCbDisconnectDoorbell = disconnect_doorbell;
}
