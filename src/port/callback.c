/* SPDX-License-Identifier: MIT */
/* Entry and exit of every callback: handle, state and IRQL are checked the same way everywhere. */
#include "port/port_private.h"

#include "sim/interrupt.h"
#include "sim/irql.h"
#include "sim/machine.h"

struct port_adapter *port_adapter_of_handle(HANDLE device_handle)
{
    struct port *port = port_current();

    return port ? ddi_handle_lookup(&port->handles, device_handle, DDI_HANDLE_ADAPTER) : NULL;
}

static bool is_miniport_context(HANDLE handle)
{
    struct port *port = port_current();

    if (!port || !handle)
        return false;
    LIST_FOR(node, &port->adapter_list)
        if (CONTAINER(node, struct port_adapter, link)->ddi.context == handle)
            return true;
    return false;
}

/* Also with a DeviceHandle that is not valid yet (LIFE-064). */
static void report_bad_handle(HANDLE handle)
{
    const struct port *port = port_current();

    if (is_miniport_context(handle))
        VIOLATION(
            "LIFE-063",
            "the handle is the MiniportDeviceContext, not the DeviceHandle of DXGKRNL_INTERFACE");
    else
        VIOLATION("LIFE-063", "the handle is %s, no DeviceHandle of a present adapter",
                  port ? ddi_handle_describe(&port->handles, handle).text : "unknown");
}

/* A driver whose interface is newer than 3.1 must know the limits of the memory callbacks; an older
 * one may have been built when they were written but not checked. */
enum verify_severity callback_level_severity(const struct port_adapter *adapter)
{
    return adapter && adapter->ddi.table.Version > DXGKDDI_INTERFACE_VERSION_WDDM3_1 ? VERIFY_FATAL
                                                                                     : VERIFY_ERROR;
}

NTSTATUS callback_begin(struct callback *callback, HANDLE device_handle, const char *name,
                        uintptr_t caller, uint8_t max_irql, const char *rule, unsigned flags)
{
    struct port_adapter *adapter;
    NTSTATUS status = STATUS_SUCCESS;

    if (!sim_current || sim_current->stopped)
        return STATUS_DEVICE_REMOVED;
    adapter = port_adapter_of_handle(device_handle);
    if (adapter && adapter->state == PORT_ADDED) /* LIFE-064: not valid before StartDevice */
        adapter = NULL;
    callback->adapter = adapter;
    ddi_callback_enter(&callback->frame, adapter ? &adapter->ddi : NULL, name, caller);
    if (!adapter) {
        report_bad_handle(device_handle);
        status = STATUS_INVALID_PARAMETER;
    } else if (sim_in_interrupt() && !(flags & CALLBACK_IN_ISR)) {
        VIOLATION("THREAD-060", "%s was called inside the interrupt service routine", name);
        status = STATUS_INVALID_DEVICE_REQUEST;
    } else if (!(flags & CALLBACK_ANY_IRQL) && sim_irql() > max_irql) {
        verify_report(rule,
                      flags & CALLBACK_CARRY_OUT ? callback_level_severity(adapter) : VERIFY_ERROR,
                      "%s was called at %s; its limit is %s", name, nt_irql_name(sim_irql()),
                      nt_irql_name(max_irql));
        /* THREAD-009: at APC_LEVEL it is carried out */
        if (sim_irql() >= SIM_IRQL_DISPATCH && !(flags & CALLBACK_CARRY_OUT))
            status = STATUS_INVALID_DEVICE_REQUEST;
    }
    if (NT_SUCCESS(status) && adapter->state == PORT_STOPPED && !(flags & CALLBACK_FREEING)) {
        VIOLATION("LIFE-064", "%s was called after StopDevice", name);
        status = STATUS_INVALID_DEVICE_STATE;
    }
    if (!NT_SUCCESS(status))
        ddi_callback_leave(&callback->frame);
    return status;
}

void callback_end(struct callback *callback)
{
    ddi_callback_leave(&callback->frame);
}
