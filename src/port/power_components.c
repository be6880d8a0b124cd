/* SPDX-License-Identifier: MIT */
/*
 * Runtime power: the components a driver reports, their references and F-states (LIFE-157 to LIFE-166, CAPS-104 to CAPS-107).
 *
 *   PREPARE_TO_START  Active, Latency, Residency are legal
 *   STARTED           all power callbacks are; an unreferenced component that the driver uses goes to sleep
 *   STOPPED           none
 *
 * The host drives the components of engines and memory itself, and keeps them at F0. What the others do is decided by one thread
 * per adapter, which makes every call of DxgkDdiSetPowerComponentFState, one at a time, by way of F0.
 */
#include <string.h>

#include <initguid.h> /* the GUIDs of power management are defined here */

#include "port/port_private.h"
#include "sim/fault.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/thread.h"
#include "sim/wait.h"

/* ---- the driver's description ---- */

static NTSTATUS check_states(const DXGK_POWER_RUNTIME_COMPONENT *c, UINT index)
{
    if (c->StateCount < 1 || c->StateCount > DXGK_MAX_F_STATES)
        REFUSE("CAPS-105", "power component %u has %u states", index, c->StateCount);
    if (c->States[0].TransitionLatency || c->States[0].ResidencyRequirement ||
        !c->States[0].NominalPower)
        REFUSE("CAPS-105", "F0 of power component %u: latency %llu, residency %llu, power %u",
               index, (unsigned long long)c->States[0].TransitionLatency,
               (unsigned long long)c->States[0].ResidencyRequirement, c->States[0].NominalPower);
    for (ULONG i = 1; i < c->StateCount; i++)
        if ((c->States[i].NominalPower != DXGK_FSTATE_UNKNOWN_POWER &&
             c->States[i - 1].NominalPower != DXGK_FSTATE_UNKNOWN_POWER &&
             c->States[i].NominalPower >= c->States[i - 1].NominalPower) ||
            c->States[i].TransitionLatency < c->States[i - 1].TransitionLatency)
            REFUSE("CAPS-105",
                   "F%u of power component %u does not use less power at a longer latency than F%u",
                   i, index, i - 1);
    return STATUS_SUCCESS;
}

static bool same_thing(const DXGK_POWER_COMPONENT_MAPPING *a, const DXGK_POWER_COMPONENT_MAPPING *b)
{
    if (a->ComponentType != b->ComponentType)
        return false;
    if (a->ComponentType == DXGK_POWER_COMPONENT_ENGINE)
        return a->EngineDesc.NodeIndex == b->EngineDesc.NodeIndex;
    return (a->ComponentType == DXGK_POWER_COMPONENT_MEMORY ||
            a->ComponentType == DXGK_POWER_COMPONENT_MEMORY_REFRESH) &&
           a->MemoryDesc.SegmentID == b->MemoryDesc.SegmentID;
}

static NTSTATUS check_mapping(const struct port_adapter *adapter, UINT index)
{
    const DXGK_POWER_RUNTIME_COMPONENT *c = &adapter->component[index].info;

    if ((UINT)c->ComponentMapping.ComponentType >= DXGK_POWER_COMPONENT_MAX)
        REFUSE("CAPS-106", "power component %u is of type %d", index,
               (int)c->ComponentMapping.ComponentType);
    if (c->ComponentMapping.ComponentType == DXGK_POWER_COMPONENT_ENGINE &&
        c->ComponentMapping.EngineDesc.NodeIndex >= adapter->nodes)
        REFUSE("CAPS-106", "power component %u is of node %u", index,
               c->ComponentMapping.EngineDesc.NodeIndex);
    for (UINT other = 0; other < index; other++)
        if (same_thing(&adapter->component[other].info.ComponentMapping, &c->ComponentMapping))
            REFUSE("CAPS-106", "power components %u and %u map to the same engine or segment",
                   other, index);
    if (c->ProviderCount > DXGK_MAX_POWER_COMPONENT_PROVIDERS)
        REFUSE("CAPS-106", "power component %u has %u providers", index, c->ProviderCount);
    for (ULONG i = 0; i < c->ProviderCount; i++)
        if (c->Providers[i] >= adapter->components)
            REFUSE("CAPS-106", "power component %u names provider %u of %u", index, c->Providers[i],
                   adapter->components);
    return STATUS_SUCCESS;
}

/* Of the kinds whose references the host keeps itself. */
static bool is_hosts(const struct port_component *component)
{
    DXGK_POWER_COMPONENT_TYPE type = component->info.ComponentMapping.ComponentType;

    return type == DXGK_POWER_COMPONENT_ENGINE || type == DXGK_POWER_COMPONENT_MEMORY ||
           type == DXGK_POWER_COMPONENT_MEMORY_REFRESH;
}

static NTSTATUS query_component(struct port_adapter *adapter, UINT index)
{
    struct port_component *component = &adapter->component[index];
    NTSTATUS status = port_query(adapter, DXGKQAITYPE_POWERCOMPONENTINFO, &index, sizeof(index),
                                 &component->info, sizeof(component->info));

    if (!NT_SUCCESS(status))
        return status;
    component->latency = component->residency = UINT64_MAX;
    component->active = is_hosts(component);
    status = check_states(&component->info, index);
    return NT_SUCCESS(status) ? check_mapping(adapter, index) : status;
}

NTSTATUS port_query_components(struct port_adapter *adapter)
{
    UINT count = 0;
    NTSTATUS status;

    if (port_driver_version(adapter) < DXGKDDI_INTERFACE_VERSION_WIN8)
        return STATUS_SUCCESS;
    status = port_query(adapter, DXGKQAITYPE_NUMPOWERCOMPONENTS, NULL, 0, &count, sizeof(count));
    if (!NT_SUCCESS(status))
        return adapter->ddi.compute_only ? status : STATUS_SUCCESS; /* CAPS-013 */
    if (count && !adapter->caps.SupportRuntimePowerManagement) {
        VIOLATION("CAPS-107", "%u power components without SupportRuntimePowerManagement", count);
        return STATUS_SUCCESS;
    }
    if (count > PORT_MAX_COMPONENTS)
        REFUSE("CAPS-104", "the driver reports %u power components", count);
    if (!count)
        return STATUS_SUCCESS;
    adapter->component = util_zalloc(count, sizeof(*adapter->component));
    if (!adapter->component)
        return STATUS_NO_MEMORY;
    adapter->components = count;
    for (UINT i = 0; i < count && NT_SUCCESS(status); i++)
        status = query_component(adapter, i);
    return status;
}

void port_components_forget(struct port_adapter *adapter)
{
    util_free(adapter->component);
    adapter->component = NULL;
    adapter->components = 0;
    adapter->runtime_power = RUNTIME_POWER_OFF;
}

/* ---- transitions ---- */

/* The level of the next call: the driver must be ready for both, whatever the call is (THREAD-046). One in three, since the ways
 * down and up alternate themselves. */
static uint8_t next_level(struct port_adapter *adapter)
{
    return adapter->power_calls++ % 3 == 1 ? SIM_IRQL_DISPATCH : SIM_IRQL_PASSIVE;
}

static void kick(struct port_adapter *adapter)
{
    sim_waitq_wake(&adapter->power_wait, UINT32_MAX);
}

/* The deepest state that the driver's wishes allow. */
static UINT deepest(const struct port_component *component)
{
    UINT state = 0;

    for (ULONG i = 1; i < component->info.StateCount; i++)
        if (component->info.States[i].TransitionLatency <= component->latency &&
            component->info.States[i].ResidencyRequirement <= component->residency)
            state = i;
    return state;
}

static UINT wanted(const struct port_component *component)
{
    return component->active || component->held || !component->used ? 0 : deepest(component);
}

/* One step towards what is wanted: each starts or ends at F0 (LIFE-163). */
static void step(struct port_adapter *adapter, UINT index)
{
    struct port_component *component = &adapter->component[index];
    UINT target = component->state ? 0 : wanted(component);
    NTSTATUS status;

    component->in_transition = true;
    component->awaiting = component->info.Flags.DriverCompletesFStateTransition;
    status = ddi_set_power_component_f_state(&adapter->ddi, index, target, next_level(adapter));
    if (!NT_SUCCESS(status)) {
        component->awaiting = false;
        if (status != STATUS_DEVICE_REMOVED)
            VIOLATION("LIFE-163", "SetPowerComponentFState of component %u to F%u returned 0x%08x",
                      index, target, (unsigned)status);
    }
    component->state = target;
    component->in_transition = component->awaiting;
    sim_waitq_wake(&adapter->power_done, UINT32_MAX);
}

static bool work(struct port_adapter *adapter)
{
    for (UINT i = 0; i < adapter->components; i++) {
        struct port_component *component = &adapter->component[i];

        if (component->in_transition || component->state == wanted(component))
            continue;
        step(adapter, i);
        return true;
    }
    return false;
}

static void power_main(void *arg)
{
    struct port_adapter *adapter = arg;

    while (!adapter->power_end) {
        if (adapter->runtime_power == RUNTIME_POWER_STARTED && work(adapter))
            continue;
        sim_waitq_wait(&adapter->power_wait, SIM_FOREVER);
    }
    adapter->power_ended = true;
    sim_waitq_wake(&adapter->power_done, UINT32_MAX);
}

/* Until the component is at F0 and stays there. PASSIVE. */
static void wait_for_f0(struct port_adapter *adapter, const struct port_component *component)
{
    kick(adapter);
    while ((component->state || component->in_transition) && !sim_current->stopped &&
           adapter->runtime_power == RUNTIME_POWER_STARTED)
        sim_waitq_wait(&adapter->power_done, SIM_FOREVER);
}

/* ---- start and stop ---- */

static void announce(struct port_adapter *adapter, const GUID *code, uint8_t irql)
{
    (void)ddi_power_runtime_control_request(&adapter->ddi, code, irql);
}

NTSTATUS port_runtime_power_start(struct port_adapter *adapter)
{
    if (!adapter->caps.SupportRuntimePowerManagement || !adapter->components)
        return STATUS_SUCCESS;
    adapter->power_end = adapter->power_ended = false;
    adapter->power_thread = sim_thread_create("power", SIM_THREAD_KERNEL, power_main, adapter);
    if (!adapter->power_thread)
        return STATUS_NO_MEMORY;
    adapter->runtime_power = RUNTIME_POWER_PREPARED;
    announce(adapter, &GUID_DXGKDDI_POWER_MANAGEMENT_PREPARE_TO_START,
             SIM_IRQL_PASSIVE); /* LIFE-158 */
    adapter->runtime_power = RUNTIME_POWER_STARTED;
    announce(adapter, &GUID_DXGKDDI_POWER_MANAGEMENT_STARTED, next_level(adapter));
    kick(adapter);
    return STATUS_SUCCESS;
}

void port_components_hold(struct port_adapter *adapter)
{
    for (UINT i = 0; i < adapter->components; i++) {
        struct port_component *component = &adapter->component[i];

        if (!component->info.Flags.TransitionTo_F0_OnDx)
            continue;
        component->held = true;
        wait_for_f0(adapter, component);
    }
}

void port_components_release(struct port_adapter *adapter)
{
    for (UINT i = 0; i < adapter->components; i++)
        adapter->component[i].held = false;
    kick(adapter);
}

void port_runtime_power_stop(struct port_adapter *adapter)
{
    if (!adapter->power_thread)
        return;
    for (UINT i = 0; i < adapter->components && !adapter->ddi.gone; i++) {
        adapter->component[i].held = true; /* the driver stops with everything at F0 */
        wait_for_f0(adapter, &adapter->component[i]);
    }
    announce(adapter, &GUID_DXGKDDI_POWER_MANAGEMENT_STOPPED, SIM_IRQL_PASSIVE);
    adapter->runtime_power = RUNTIME_POWER_STOPPED;
    adapter->power_end = true;
    kick(adapter);
    while (!adapter->power_ended && !sim_current->stopped)
        sim_waitq_wait(&adapter->power_done, SIM_FOREVER);
    sim_thread_release(adapter->power_thread);
    adapter->power_thread = NULL;
}

/* ---- callbacks ---- */

/* Level, window (LIFE-159) and index. NULL: refused, or no such component; reported, and the callback is over. */
static struct port_component *begin(struct callback *cb, HANDLE handle, const char *name,
                                    uintptr_t caller, UINT index, uint8_t max_irql,
                                    enum port_runtime_power from)
{
    struct port_adapter *adapter;

    if (!NT_SUCCESS(callback_begin(cb, handle, name, caller, max_irql,
                                   max_irql == SIM_IRQL_PASSIVE ? "THREAD-047" : "THREAD-050", 0)))
        return NULL;
    adapter = cb->adapter;
    if (adapter->runtime_power < from || adapter->runtime_power == RUNTIME_POWER_STOPPED)
        VIOLATION("LIFE-159", "%s was called %s", name,
                  adapter->runtime_power == RUNTIME_POWER_STOPPED ? "after POWER_MANAGEMENT_STOPPED"
                                                                  : "too early");
    else if (index >= adapter->components)
        VIOLATION("LIFE-160", "%s was called for component %u of %u", name, index,
                  adapter->components);
    else
        return &adapter->component[index];
    callback_end(cb);
    return NULL;
}

static void NTAPI set_active(IN_CONST_HANDLE handle, UINT index)
{
    struct callback cb;
    struct port_component *component = begin(&cb, handle, "DxgkCbSetPowerComponentActive", CALLER,
                                             index, SIM_IRQL_PASSIVE, RUNTIME_POWER_PREPARED);

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
        wait_for_f0(cb.adapter, component);
    callback_end(&cb);
}

static void NTAPI set_idle(IN_CONST_HANDLE handle, UINT index)
{
    struct callback cb;
    struct port_component *component = begin(&cb, handle, "DxgkCbSetPowerComponentIdle", CALLER,
                                             index, SIM_IRQL_DISPATCH, RUNTIME_POWER_STARTED);

    if (!component)
        return;
    if (sim_irql() == SIM_IRQL_DISPATCH &&
        component->info.ComponentMapping.ComponentType != DXGK_POWER_COMPONENT_OTHER)
        VIOLATION(
            "LIFE-161",
            "DxgkCbSetPowerComponentIdle was called at DISPATCH_LEVEL for component %u, which is not of type OTHER",
            index);
    if (component->active == (is_hosts(component) ? 1u : 0u)) {
        VIOLATION(
            "LIFE-160",
            "DxgkCbSetPowerComponentIdle of component %u has no DxgkCbSetPowerComponentActive before it",
            index);
    } else {
        component->active--;
        kick(cb.adapter);
    }
    callback_end(&cb);
}

/* Latency and residency: wishes for the driver's own components. */
static void set_wish(HANDLE handle, const char *name, uintptr_t caller, UINT index, ULONGLONG value,
                     bool latency)
{
    struct callback cb;
    struct port_component *component = begin(&cb, handle, name, caller, index, SIM_IRQL_DISPATCH,
                                             RUNTIME_POWER_PREPARED);

    if (!component)
        return;
    if (component->info.ComponentMapping.ComponentType != DXGK_POWER_COMPONENT_OTHER) {
        VIOLATION("LIFE-162", "%s was called for component %u, which is not of type OTHER", name,
                  index);
    } else {
        *(latency ? &component->latency : &component->residency) = value;
        kick(cb.adapter);
    }
    callback_end(&cb);
}

static void NTAPI set_latency(IN_CONST_HANDLE handle, UINT index, ULONGLONG latency)
{
    set_wish(handle, "DxgkCbSetPowerComponentLatency", CALLER, index, latency, true);
}

static void NTAPI set_residency(IN_CONST_HANDLE handle, UINT index, ULONGLONG residency)
{
    set_wish(handle, "DxgkCbSetPowerComponentResidency", CALLER, index, residency, false);
}

static void NTAPI complete_f_state(IN_CONST_HANDLE handle, UINT index)
{
    struct callback cb;
    struct port_component *component = begin(&cb, handle, "DxgkCbCompleteFStateTransition", CALLER,
                                             index, SIM_IRQL_DISPATCH, RUNTIME_POWER_STARTED);

    if (!component)
        return;
    if (!component->info.Flags.DriverCompletesFStateTransition || !component->awaiting) {
        VIOLATION("LIFE-164", "DxgkCbCompleteFStateTransition of component %u, %s", index,
                  component->info.Flags.DriverCompletesFStateTransition
                      ? "of which no transition is in progress"
                      : "which does not complete its transitions");
    } else {
        component->awaiting = false;
        if (!ddi_inside(DDI_DxgkDdiSetPowerComponentFState))
            component->in_transition = false; /* the DDI has returned: the next may follow */
        sim_waitq_wake(&cb.adapter->power_done, UINT32_MAX);
        kick(cb.adapter);
    }
    callback_end(&cb);
}

/* No platform firmware takes part: nothing is known by any code. */
static NTSTATUS NTAPI power_runtime_control_request(IN_CONST_HANDLE handle, LPCGUID code, PVOID in,
                                                    SIZE_T in_bytes, PVOID out, SIZE_T out_bytes,
                                                    PSIZE_T returned)
{
    const SIZE_T none = 0;
    struct callback cb;
    NTSTATUS status = callback_begin(&cb, handle, "DxgkCbPowerRuntimeControlRequest", CALLER,
                                     SIM_IRQL_DISPATCH, "THREAD-050", 0);

    (void)in;
    (void)in_bytes;
    (void)out;
    (void)out_bytes;
    if (!NT_SUCCESS(status))
        return status;
    cb.frame.entry = DDI_CB_POWER_RUNTIME_CONTROL_REQUEST;
    status = STATUS_NOT_SUPPORTED;
    if (cb.adapter->runtime_power != RUNTIME_POWER_STARTED)
        VIOLATION(
            "LIFE-159",
            "DxgkCbPowerRuntimeControlRequest was called outside POWER_MANAGEMENT_STARTED and STOPPED");
    else if (!code || (returned && !sim_copy_checked(returned, &none, sizeof(none))))
        status = STATUS_INVALID_PARAMETER;
    callback_end(&cb);
    return status;
}

void port_fill_power_callbacks(DXGKRNL_INTERFACE *interface)
{
    interface->DxgkCbSetPowerComponentActive = set_active;
    interface->DxgkCbSetPowerComponentIdle = set_idle;
    interface->DxgkCbSetPowerComponentLatency = set_latency;
    interface->DxgkCbSetPowerComponentResidency = set_residency;
    interface->DxgkCbCompleteFStateTransition = complete_f_state;
    interface->DxgkCbPowerRuntimeControlRequest = power_runtime_control_request;
}
