/* SPDX-License-Identifier: MIT */
/*
 * Runtime power: references and F-states of the components (LIFE-157 to LIFE-166).
 *
 *   PREPARE_TO_START  Active, Latency, Residency are legal
 *   STARTED           all power callbacks are legal; a component that the driver has used leaves
 *                     F0 when it has no references
 *   STOPPED           none is legal
 *
 * The host itself references the components of engines and memory, and so keeps them at F0. For the
 * others one thread per adapter decides. It makes every call of DxgkDdiSetPowerComponentFState, one
 * at a time; each transition starts or ends at F0.
 */
#include <initguid.h> /* the GUIDs of power management are defined here */

#include "port/running/power_components.h"
#include "nt/base/status_name.h"
#include "ddi/ddi.h"
#include "port/record/adapter_record.h"
#include "port/record/port_assert.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/thread.h"
#include "sim/wait.h"

void port_power_components_init(struct port_adapter *adapter)
{
    sim_waitq_init(&adapter->components.wait);
    sim_waitq_init(&adapter->components.done);
}

/* ---- transitions ---- */

/* The IRQL of the next call: the driver must be ready for both (THREAD-046). Every third call is at
 * DISPATCH_LEVEL; with every second, only transitions in one direction would be. */
static uint8_t next_level(struct port_adapter *adapter)
{
    return adapter->components.calls++ % 3 == 1 ? SIM_IRQL_DISPATCH : SIM_IRQL_PASSIVE;
}

void port_power_components_kick(struct port_adapter *adapter)
{
    sim_waitq_wake(&adapter->components.wait, UINT32_MAX);
}

/* The deepest F-state that the driver's limits on latency and residency allow. */
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

/* One step towards the wanted state: each step starts or ends at F0 (LIFE-163). */
static void step(struct port_adapter *adapter, UINT index)
{
    struct port_component *component = &adapter->components.component[index];
    UINT target = component->state ? 0 : wanted(component);
    NTSTATUS status;

    component->in_transition = true;
    component->awaiting = component->info.Flags.DriverCompletesFStateTransition;
    status = ddi_set_power_component_f_state(&adapter->ddi, index, target, next_level(adapter));
    if (!NT_SUCCESS(status)) {
        component->awaiting = false;
        if (status != STATUS_DEVICE_REMOVED)
            VIOLATION("LIFE-163", "SetPowerComponentFState of component %u to F%u returned %s",
                      index, target, nt_status_text(status).text);
    }
    component->state = target;
    component->in_transition = component->awaiting;
    sim_waitq_wake(&adapter->components.done, UINT32_MAX);
}

static bool work(struct port_adapter *adapter)
{
    port_assert_components_thread(adapter);
    for (UINT i = 0; i < adapter->components.count; i++) {
        struct port_component *component = &adapter->components.component[i];

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

    while (!adapter->components.end) {
        if (adapter->components.runtime == PORT_RUNTIME_POWER_STARTED && work(adapter))
            continue;
        sim_waitq_wait(&adapter->components.wait, SIM_FOREVER);
    }
    adapter->components.ended = true;
    sim_waitq_wake(&adapter->components.done, UINT32_MAX);
}

void port_power_components_wait_for_f0(struct port_adapter *adapter,
                                       const struct port_component *component)
{
    port_assert_may_wait();
    port_power_components_kick(adapter);
    while ((component->state || component->in_transition) && !sim_current->stopped &&
           adapter->components.runtime == PORT_RUNTIME_POWER_STARTED)
        sim_waitq_wait(&adapter->components.done, SIM_FOREVER);
}

void port_power_components_complete(struct port_adapter *adapter, struct port_component *component)
{
    component->awaiting = false;
    if (!ddi_inside(DDI_DxgkDdiSetPowerComponentFState))
        component->in_transition = false; /* the DDI has returned, so the next call may follow */
    sim_waitq_wake(&adapter->components.done, UINT32_MAX);
    port_power_components_kick(adapter);
}

/* ---- start and stop ---- */

static void announce(struct port_adapter *adapter, const GUID *code, uint8_t irql)
{
    (void)ddi_power_runtime_control_request(&adapter->ddi, code, irql);
}

NTSTATUS port_power_components_start(struct port_adapter *adapter)
{
    if (!adapter->caps.driver.SupportRuntimePowerManagement || !adapter->components.count)
        return STATUS_SUCCESS;
    adapter->components.end = adapter->components.ended = false;
    adapter->components.thread = sim_thread_create("power", SIM_THREAD_KERNEL, power_main, adapter);
    if (!adapter->components.thread)
        return STATUS_NO_MEMORY;
    adapter->components.runtime = PORT_RUNTIME_POWER_PREPARED;
    announce(adapter, &GUID_DXGKDDI_POWER_MANAGEMENT_PREPARE_TO_START,
             SIM_IRQL_PASSIVE); /* LIFE-158 */
    adapter->components.runtime = PORT_RUNTIME_POWER_STARTED;
    announce(adapter, &GUID_DXGKDDI_POWER_MANAGEMENT_STARTED, next_level(adapter));
    port_power_components_kick(adapter);
    return STATUS_SUCCESS;
}

void port_power_components_hold(struct port_adapter *adapter)
{
    for (UINT i = 0; i < adapter->components.count; i++) {
        struct port_component *component = &adapter->components.component[i];

        if (!component->info.Flags.TransitionTo_F0_OnDx)
            continue;
        component->held = true;
        port_power_components_wait_for_f0(adapter, component);
    }
}

void port_power_components_release(struct port_adapter *adapter)
{
    for (UINT i = 0; i < adapter->components.count; i++)
        adapter->components.component[i].held = false;
    port_power_components_kick(adapter);
}

void port_power_components_stop(struct port_adapter *adapter)
{
    if (!adapter->components.thread)
        return;
    for (UINT i = 0; i < adapter->components.count && !adapter->ddi.gone; i++) {
        adapter->components.component[i].held =
            true; /* a driver is stopped with all components at F0 */
        port_power_components_wait_for_f0(adapter, &adapter->components.component[i]);
    }
    announce(adapter, &GUID_DXGKDDI_POWER_MANAGEMENT_STOPPED, SIM_IRQL_PASSIVE);
    adapter->components.runtime = PORT_RUNTIME_POWER_STOPPED;
    adapter->components.end = true;
    port_power_components_kick(adapter);
    while (!adapter->components.ended && !sim_current->stopped)
        sim_waitq_wait(&adapter->components.done, SIM_FOREVER);
    sim_thread_release(adapter->components.thread);
    adapter->components.thread = NULL;
}
