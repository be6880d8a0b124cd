/* SPDX-License-Identifier: MIT */
/* The power components that a driver reports (CAPS-104 to CAPS-107). */
#include "port/query/components.h"
#include "nt/base/status_name.h"
#include "port/query/query.h"
#include "port/record/adapter_record.h"
#include "port/record/port_refuse.h"
#include "util/alloc.h"

/* Report what is wrong with a component, which is then not used. */
#define WRONG(rule, ...)                          \
    do {                                          \
        PORT_FINDING(adapter, rule, __VA_ARGS__); \
        return false;                             \
    } while (0)

static bool check_states(struct port_adapter *adapter, const DXGK_POWER_RUNTIME_COMPONENT *c,
                         UINT index)
{
    if (c->StateCount < 1 || c->StateCount > DXGK_MAX_F_STATES)
        WRONG("CAPS-105", "power component %u has %u states", index, c->StateCount);
    if (c->States[0].TransitionLatency || c->States[0].ResidencyRequirement ||
        !c->States[0].NominalPower)
        WRONG("CAPS-105", "F0 of power component %u: latency %llu, residency %llu, power %u", index,
              (unsigned long long)c->States[0].TransitionLatency,
              (unsigned long long)c->States[0].ResidencyRequirement, c->States[0].NominalPower);
    for (ULONG i = 1; i < c->StateCount; i++)
        if ((c->States[i].NominalPower != DXGK_FSTATE_UNKNOWN_POWER &&
             c->States[i - 1].NominalPower != DXGK_FSTATE_UNKNOWN_POWER &&
             c->States[i].NominalPower >= c->States[i - 1].NominalPower) ||
            c->States[i].TransitionLatency < c->States[i - 1].TransitionLatency)
            WRONG("CAPS-105",
                  "F%u of power component %u does not use less power at a longer latency than F%u",
                  i, index, i - 1);
    return true;
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

static bool check_mapping(struct port_adapter *adapter, UINT index)
{
    const DXGK_POWER_RUNTIME_COMPONENT *c = &adapter->components.component[index].info;

    if ((UINT)c->ComponentMapping.ComponentType >= DXGK_POWER_COMPONENT_MAX)
        WRONG("CAPS-106", "power component %u is of type %d", index,
              (int)c->ComponentMapping.ComponentType);
    if (c->ComponentMapping.ComponentType == DXGK_POWER_COMPONENT_ENGINE &&
        c->ComponentMapping.EngineDesc.NodeIndex >= adapter->nodes.count)
        WRONG("CAPS-106", "power component %u is of node %u", index,
              c->ComponentMapping.EngineDesc.NodeIndex);
    for (UINT other = 0; other < index; other++)
        if (same_thing(&adapter->components.component[other].info.ComponentMapping,
                       &c->ComponentMapping))
            WRONG("CAPS-106", "power components %u and %u map to the same engine or segment", other,
                  index);
    if (c->ProviderCount > DXGK_MAX_POWER_COMPONENT_PROVIDERS)
        WRONG("CAPS-106", "power component %u has %u providers", index, c->ProviderCount);
    for (ULONG i = 0; i < c->ProviderCount; i++)
        if (c->Providers[i] >= adapter->components.count)
            WRONG("CAPS-106", "power component %u names provider %u of %u", index, c->Providers[i],
                  adapter->components.count);
    return true;
}

bool port_components_is_hosts(const struct port_component *component)
{
    DXGK_POWER_COMPONENT_TYPE type = component->info.ComponentMapping.ComponentType;

    return type == DXGK_POWER_COMPONENT_ENGINE || type == DXGK_POWER_COMPONENT_MEMORY ||
           type == DXGK_POWER_COMPONENT_MEMORY_REFRESH;
}

/* `good`: what the driver said of the component can be used. */
static NTSTATUS query_component(struct port_adapter *adapter, UINT index, bool *good)
{
    struct port_component *component = &adapter->components.component[index];
    NTSTATUS status = port_query(adapter, DXGKQAITYPE_POWERCOMPONENTINFO, &index, sizeof(index),
                                 &component->info, sizeof(component->info));

    if (!NT_SUCCESS(status))
        return status;
    component->latency = component->residency = UINT64_MAX;
    component->active = port_components_is_hosts(component);
    *good = check_states(adapter, &component->info, index) && check_mapping(adapter, index) && *good;
    return status;
}

/* CAPS-013: without an answer there are no components; a compute-only driver should have one. */
static NTSTATUS query_count(struct port_adapter *adapter, UINT *count)
{
    NTSTATUS status = port_query(adapter, DXGKQAITYPE_NUMPOWERCOMPONENTS, NULL, 0, count,
                                 sizeof(*count));

    if (NT_SUCCESS(status))
        return status;
    *count = 0;
    if (adapter->ddi.compute_only && !port_query_not_offered(status))
        return status;
    if (adapter->ddi.compute_only)
        PORT_EXPECTED(adapter, "CAPS-013", "a compute-only driver answers %s with %s",
                      port_query_name(DXGKQAITYPE_NUMPOWERCOMPONENTS), nt_status_text(status).text);
    return STATUS_SUCCESS;
}

NTSTATUS port_components_query(struct port_adapter *adapter)
{
    NTSTATUS status;
    bool good = true;
    UINT count = 0;

    if (port_driver_version(adapter) < DXGKDDI_INTERFACE_VERSION_WIN8)
        return STATUS_SUCCESS;
    status = query_count(adapter, &count);
    if (!NT_SUCCESS(status) || !count)
        return status;
    if (!adapter->caps.driver.SupportRuntimePowerManagement) {
        VIOLATION("CAPS-107", "%u power components without SupportRuntimePowerManagement", count);
        return STATUS_SUCCESS;
    }
    if (count > PORT_MAX_COMPONENTS) {
        PORT_FINDING(adapter, "CAPS-104", "the driver reports %u power components; %u are possible",
                     count, PORT_MAX_COMPONENTS);
        return STATUS_SUCCESS;
    }
    adapter->components.component = util_zalloc(count, sizeof(*adapter->components.component));
    if (!adapter->components.component)
        return STATUS_NO_MEMORY;
    adapter->components.count = count;
    for (UINT i = 0; i < count && NT_SUCCESS(status); i++)
        status = query_component(adapter, i, &good);
    if (NT_SUCCESS(status) && !good)
        port_components_forget(adapter); /* without runtime power management */
    return status;
}

void port_components_forget(struct port_adapter *adapter)
{
    util_free(adapter->components.component);
    adapter->components.component = NULL;
    adapter->components.count = 0;
    adapter->components.runtime = PORT_RUNTIME_POWER_OFF;
}
