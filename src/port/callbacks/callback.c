/* SPDX-License-Identifier: MIT */
/* Entry and exit of every callback: handle, state and IRQL are checked in the same way for all. */
#include "port/callbacks/callback.h"
#include "ddi/ddi.h"
#include "ddi/handle.h"
#include "nt/ke/level.h"
#include "port/record/adapter_record.h"
#include "sim/interrupt.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "verify/refusal.h"

struct port_adapter *port_callback_adapter(HANDLE device_handle)
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

/* A DeviceHandle that is not valid yet is reported here, too (LIFE-064). */
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

/* The IRQL limits of memory callbacks were documented before Windows checked them, so breaking one
 * is fatal only for a driver whose interface version is above that of WDDM 3.1. */
static enum verify_severity level_severity(const struct port_adapter *adapter)
{
    return adapter && adapter->ddi.table.Version > DXGKDDI_INTERFACE_VERSION_WDDM3_1 ? VERIFY_FATAL
                                                                                     : VERIFY_ERROR;
}

/* In a callback notes are reasons, too. */
static void begin_reasons(struct port_callback *callback, const char *name)
{
    refusal_begin(&callback->refusal);
    callback->refusal.call = name;
    callback->refusal.notes = true;
}

NTSTATUS port_callback_begin(struct port_callback *callback, HANDLE device_handle, const char *name,
                             uintptr_t caller, uint8_t max_irql, const char *rule, unsigned flags)
{
    struct port_adapter *adapter;
    NTSTATUS status = STATUS_SUCCESS;

    if (!sim_current || sim_current->stopped)
        return STATUS_DEVICE_REMOVED;
    adapter = port_callback_adapter(device_handle);
    if (adapter && adapter->state == PORT_ADDED) /* LIFE-064: not valid before StartDevice */
        adapter = NULL;
    callback->adapter = adapter;
    begin_reasons(callback, name);
    callback->frame = ddi_callback_enter(adapter ? &adapter->ddi : NULL, name, caller);
    if (!adapter) {
        report_bad_handle(device_handle);
        status = STATUS_INVALID_PARAMETER;
    } else if (sim_in_interrupt() && !(flags & PORT_CALLBACK_IN_ISR)) {
        VIOLATION("THREAD-060", "%s was called inside the interrupt service routine", name);
        status = STATUS_INVALID_DEVICE_REQUEST;
    } else if (!(flags & PORT_CALLBACK_ANY_IRQL) && sim_irql() > max_irql) {
        verify_report(rule, flags & PORT_CALLBACK_CARRY_OUT ? level_severity(adapter) : VERIFY_ERROR,
                      "%s was called at %s; its limit is %s", name, nt_irql_name(sim_irql()),
                      nt_irql_name(max_irql));
        /* THREAD-009: at APC_LEVEL it is carried out */
        if (sim_irql() >= SIM_IRQL_DISPATCH && !(flags & PORT_CALLBACK_CARRY_OUT))
            status = STATUS_INVALID_DEVICE_REQUEST;
    }
    if (NT_SUCCESS(status) && adapter->state == PORT_STOPPED && !(flags & PORT_CALLBACK_FREEING)) {
        VIOLATION("LIFE-064", "%s was called after StopDevice", name);
        status = STATUS_INVALID_DEVICE_STATE;
    }
    return NT_SUCCESS(status) ? status : port_callback_return(callback, status);
}

/* The adapter whose driver calls: that of the DDI in progress. Outside any DDI (threads, timers):
 * the only adapter, if there is exactly one, else NULL. */
static struct port_adapter *calling_adapter(void)
{
    struct port *port = port_current();
    struct ddi_adapter *current = ddi_current_adapter();

    if (current)
        return port_adapter_of_ddi(current);
    return port && !list_empty(&port->adapter_list) &&
                   port->adapter_list.next == port->adapter_list.prev
               ? CONTAINER(port->adapter_list.next, struct port_adapter, link)
               : NULL;
}

NTSTATUS port_callback_begin_without_adapter(struct port_callback *cb, const char *name,
                                             uintptr_t caller)
{
    if (!sim_current || sim_current->stopped)
        return STATUS_DEVICE_REMOVED;
    cb->adapter = calling_adapter();
    begin_reasons(cb, name);
    cb->frame = ddi_callback_enter(cb->adapter ? &cb->adapter->ddi : NULL, name, caller);
    if (sim_in_interrupt()) {
        VIOLATION("THREAD-060", "%s was called inside the interrupt service routine", name);
        return port_callback_return(cb, STATUS_INVALID_DEVICE_REQUEST);
    }
    if (sim_irql() > SIM_IRQL_APC)
        verify_report("THREAD-049", level_severity(cb->adapter),
                      "%s was called at %s; its limit is APC_LEVEL", name, nt_irql_name(sim_irql()));
    return STATUS_SUCCESS;
}

NTSTATUS port_callback_begin_of_system(struct port_callback *cb, const char *name, uintptr_t caller,
                                       uint8_t max_irql, const char *rule)
{
    if (!sim_current || sim_current->stopped)
        return STATUS_DEVICE_REMOVED;
    cb->adapter = NULL;
    begin_reasons(cb, name);
    cb->frame = ddi_callback_enter(NULL, name, caller);
    if (sim_irql() <= max_irql)
        return STATUS_SUCCESS;
    verify_report(rule, VERIFY_ERROR, "%s was called at %s; its limit is %s", name,
                  nt_irql_name(sim_irql()), nt_irql_name(max_irql));
    return sim_irql() >= SIM_IRQL_DISPATCH ? port_callback_return(cb, STATUS_INVALID_DEVICE_REQUEST)
                                           : STATUS_SUCCESS; /* THREAD-009 */
}

void port_callback_end(struct port_callback *callback)
{
    (void)port_callback_return(callback, STATUS_SUCCESS);
}

NTSTATUS port_callback_return(struct port_callback *callback, NTSTATUS status)
{
    const char *name = callback->frame->name;

    ddi_callback_leave(callback->frame);
    if (status == STATUS_INSUFFICIENT_RESOURCES && callback->refusal.status == 0)
        (void)refuse(status, NULL, "no memory of the host, RAM or IOMMU addresses are left for it");
    refusal_end(&callback->refusal, name, status);
    return status;
}
