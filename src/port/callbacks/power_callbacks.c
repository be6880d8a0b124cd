/* SPDX-License-Identifier: MIT */
/* The callbacks for power components: when each is legal, and what it does to its component
 * (LIFE-159 to LIFE-165). */
#include "port/callbacks/power_callbacks.h"
#include "ddi/ddi.h"
#include "ddi/entry.h"
#include "port/callbacks/callback.h"
#include "port/query/components.h"
#include "port/record/adapter_record.h"
#include "port/record/boundary.h"
#include "port/running/power_components.h"
#include "sim/irql.h"
#include "verify/refusal.h"

/* Check IRQL, time of the call (LIFE-159) and index. NULL: refused or no such component; this was
 * reported, and the callback has ended. */
static struct port_component *begin(struct port_callback *cb, HANDLE handle, const char *name,
                                    uintptr_t caller, UINT index, uint8_t max_irql,
                                    enum port_runtime_power from)
{
    struct port_adapter *adapter;

    if (!NT_SUCCESS(port_callback_begin(cb, handle, name, caller, max_irql,
                                        max_irql == SIM_IRQL_PASSIVE ? "THREAD-047" : "THREAD-050",
                                        0)))
        return NULL;
    adapter = cb->adapter;
    if (adapter->components.runtime < from ||
        adapter->components.runtime == PORT_RUNTIME_POWER_STOPPED)
        VIOLATION("LIFE-159", "%s was called %s", name,
                  adapter->components.runtime == PORT_RUNTIME_POWER_STOPPED
                      ? "after POWER_MANAGEMENT_STOPPED"
                      : "too early");
    else if (index >= adapter->components.count)
        VIOLATION("LIFE-160", "%s was called for component %u of %u", name, index,
                  adapter->components.count);
    else
        return &adapter->components.component[index];
    port_callback_end(cb);
    return NULL;
}

static void NTAPI set_active(IN_CONST_HANDLE handle, UINT index)
{
    struct port_callback cb;
    struct port_component *component = begin(&cb, handle, "DxgkCbSetPowerComponentActive",
                                             PORT_CALLER, index, SIM_IRQL_PASSIVE,
                                             PORT_RUNTIME_POWER_PREPARED);

    if (!component)
        return;
    component->active++; /* LIFE-160 */
    component->used = true;
    if (ddi_inside(DDI_DxgkDdiSetPowerComponentFState) ||
        ddi_inside(DDI_CB_POWER_RUNTIME_CONTROL_REQUEST))
        VIOLATION("LIFE-165",
                  "DxgkCbSetPowerComponentActive was called inside %s: it would wait for itself",
                  ddi_inside(DDI_DxgkDdiSetPowerComponentFState)
                      ? "DxgkDdiSetPowerComponentFState"
                      : "DxgkCbPowerRuntimeControlRequest");
    else
        port_power_components_wait_for_f0(cb.adapter, component);
    port_callback_end(&cb);
}

static void NTAPI set_idle(IN_CONST_HANDLE handle, UINT index)
{
    struct port_callback cb;
    struct port_component *component = begin(&cb, handle, "DxgkCbSetPowerComponentIdle", PORT_CALLER,
                                             index, SIM_IRQL_DISPATCH, PORT_RUNTIME_POWER_STARTED);

    if (!component)
        return;
    if (sim_irql() == SIM_IRQL_DISPATCH &&
        component->info.ComponentMapping.ComponentType != DXGK_POWER_COMPONENT_OTHER)
        VIOLATION(
            "LIFE-161",
            "DxgkCbSetPowerComponentIdle was called at DISPATCH_LEVEL for component %u, which is not of type OTHER",
            index);
    if (component->active == (port_components_is_hosts(component) ? 1u : 0u)) {
        VIOLATION(
            "LIFE-160",
            "DxgkCbSetPowerComponentIdle of component %u has no DxgkCbSetPowerComponentActive before it",
            index);
    } else {
        component->active--;
        port_power_components_kick(cb.adapter);
    }
    port_callback_end(&cb);
}

/* Set a limit on latency or residency, which the driver may do only for its own components. */
static void set_wish(HANDLE handle, const char *name, uintptr_t caller, UINT index, ULONGLONG value,
                     bool latency)
{
    struct port_callback cb;
    struct port_component *component = begin(&cb, handle, name, caller, index, SIM_IRQL_DISPATCH,
                                             PORT_RUNTIME_POWER_PREPARED);

    if (!component)
        return;
    if (component->info.ComponentMapping.ComponentType != DXGK_POWER_COMPONENT_OTHER) {
        VIOLATION("LIFE-162", "%s was called for component %u, which is not of type OTHER", name,
                  index);
    } else {
        *(latency ? &component->latency : &component->residency) = value;
        port_power_components_kick(cb.adapter);
    }
    port_callback_end(&cb);
}

static void NTAPI set_latency(IN_CONST_HANDLE handle, UINT index, ULONGLONG latency)
{
    set_wish(handle, "DxgkCbSetPowerComponentLatency", PORT_CALLER, index, latency, true);
}

static void NTAPI set_residency(IN_CONST_HANDLE handle, UINT index, ULONGLONG residency)
{
    set_wish(handle, "DxgkCbSetPowerComponentResidency", PORT_CALLER, index, residency, false);
}

static void NTAPI complete_f_state(IN_CONST_HANDLE handle, UINT index)
{
    struct port_callback cb;
    struct port_component *component = begin(&cb, handle, "DxgkCbCompleteFStateTransition",
                                             PORT_CALLER, index, SIM_IRQL_DISPATCH,
                                             PORT_RUNTIME_POWER_STARTED);

    if (!component)
        return;
    if (!component->info.Flags.DriverCompletesFStateTransition || !component->awaiting) {
        VIOLATION("LIFE-164", "DxgkCbCompleteFStateTransition of component %u, %s", index,
                  component->info.Flags.DriverCompletesFStateTransition
                      ? "of which no transition is in progress"
                      : "which does not complete its transitions");
    } else {
        port_power_components_complete(cb.adapter, component);
    }
    port_callback_end(&cb);
}

/* There is no platform firmware to serve it, so no control code is supported. */
static NTSTATUS NTAPI power_runtime_control_request(IN_CONST_HANDLE handle, LPCGUID code, PVOID in,
                                                    SIZE_T in_bytes, PVOID out, SIZE_T out_bytes,
                                                    PSIZE_T returned)
{
    const SIZE_T none = 0;
    struct port_callback cb;
    NTSTATUS status = port_callback_begin(&cb, handle, "DxgkCbPowerRuntimeControlRequest",
                                          PORT_CALLER, SIM_IRQL_DISPATCH, "THREAD-050", 0);

    (void)in;
    (void)in_bytes;
    (void)out;
    (void)out_bytes;
    if (!NT_SUCCESS(status))
        return status;
    cb.frame->entry = DDI_CB_POWER_RUNTIME_CONTROL_REQUEST;
    status = refuse(STATUS_NOT_SUPPORTED, NULL,
                    "there is no platform firmware that knows the control code");
    if (cb.adapter->components.runtime != PORT_RUNTIME_POWER_STARTED)
        VIOLATION(
            "LIFE-159",
            "DxgkCbPowerRuntimeControlRequest was called outside POWER_MANAGEMENT_STARTED and STOPPED");
    else if (!code || (returned && !PORT_GIVE(SIZE_T, returned, &none)))
        status = refuse(STATUS_INVALID_PARAMETER, NULL,
                        "PowerControlCode is NULL, or BytesReturned cannot be written");
    return port_callback_return(&cb, status);
}

void port_power_callbacks_fill(DXGKRNL_INTERFACE *interface)
{
    interface->DxgkCbSetPowerComponentActive = set_active;
    interface->DxgkCbSetPowerComponentIdle = set_idle;
    interface->DxgkCbSetPowerComponentLatency = set_latency;
    interface->DxgkCbSetPowerComponentResidency = set_residency;
    interface->DxgkCbCompleteFStateTransition = complete_f_state;
    interface->DxgkCbPowerRuntimeControlRequest = power_runtime_control_request;
}
