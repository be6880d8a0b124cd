/* SPDX-License-Identifier: MIT */
/* What other rooms and files ask about an adapter, and the references to its record. */
#include <stdio.h>
#include <string.h>

#include "port/record/adapter_info.h"
#include "modes/modes.h"
#include "nt/cm/registry.h"
#include "nt/io/device_object.h"
#include "port/record/adapter_record.h"
#include "sim/machine.h"
#include "util/alloc.h"

struct port_adapter *port_adapter_first(struct port *port)
{
    struct list *node = port->adapter_list.next;

    return node == &port->adapter_list ? NULL : CONTAINER(node, struct port_adapter, link);
}

struct port_adapter *port_adapter_next(struct port_adapter *adapter)
{
    struct list *node = adapter->link.next;

    return node == &adapter->port->adapter_list ? NULL : CONTAINER(node, struct port_adapter, link);
}

struct port_adapter *port_adapter_by_luid(struct port *port, LUID luid)
{
    for (struct port_adapter *a = port_adapter_first(port); a; a = port_adapter_next(a))
        if (a->luid.LowPart == luid.LowPart && a->luid.HighPart == luid.HighPart)
            return a;
    return NULL;
}

void port_adapter_interface(const struct port_adapter *adapter, const char *class, char *text,
                            size_t bytes)
{
    if (bytes == 0)
        return;
    text[0] = '\0';
    if (nt_device_object_path(&adapter->pdo, text, bytes))
        snprintf(text + strlen(text), bytes - strlen(text), "%s", class);
}

LUID port_adapter_luid(const struct port_adapter *adapter)
{
    return adapter->luid;
}

GUID port_adapter_guid(const struct port_adapter *adapter)
{
    return adapter->guid;
}

const char *port_adapter_name(const struct port_adapter *adapter)
{
    return adapter->name;
}

uint64_t port_adapter_memory_size(const struct port_adapter *adapter)
{
    uint32_t type, bytes;
    const void *value = nt_registry_get(adapter->software_key, "HardwareInformation.MemorySize",
                                        &type, &bytes);
    uint32_t megabytes;

    if (!value || bytes != sizeof(megabytes))
        return 0;
    memcpy(&megabytes, value, sizeof(megabytes));
    return (uint64_t)megabytes << 20;
}

struct ddi_adapter *port_adapter_ddi(struct port_adapter *adapter)
{
    return &adapter->ddi;
}

struct bus_device *port_adapter_bus_device(struct port_adapter *adapter)
{
    return adapter->device;
}

struct iommu_domain *port_adapter_domain(const struct port_adapter *adapter)
{
    return adapter->domain.domain;
}

struct physical_adapter *port_adapter_physical(const struct port_adapter *adapter)
{
    return adapter->domain.physical;
}

struct vidmm *port_adapter_vidmm(const struct port_adapter *adapter)
{
    return adapter->managers.vidmm;
}

struct vidsch *port_adapter_vidsch(const struct port_adapter *adapter)
{
    return adapter->managers.vidsch;
}

bool port_adapter_lost(const struct port_adapter *adapter)
{
    return adapter->lost || sim_current->stopped;
}

bool port_adapter_is_open(const struct port_adapter *adapter)
{
    return adapter->open && !port_adapter_lost(adapter);
}

DEVICE_POWER_STATE port_adapter_power(const struct port_adapter *adapter)
{
    return adapter->power.state;
}

enum iommu_mode port_adapter_dma_mode(const struct port_adapter *adapter)
{
    return adapter->domain.mode;
}

UINT port_adapter_isolation(const struct port_adapter *adapter)
{
    return adapter->domain.isolation;
}

const DXGK_DRIVERCAPS *port_adapter_caps(const struct port_adapter *adapter)
{
    return &adapter->caps.driver;
}

DXGK_WDDMVERSION port_adapter_wddm(const struct port_adapter *adapter)
{
    return adapter->caps.driver.WDDMVersion ? adapter->caps.driver.WDDMVersion
                                            : adapter->caps.device_wddm;
}

bool port_adapter_is_2x(const struct port_adapter *adapter)
{
    return port_model_version(adapter) >= DXGKDDI_INTERFACE_VERSION_WDDM2_0;
}

bool port_adapter_flips_at_intervals(const struct port_adapter *adapter)
{
    return adapter->caps.driver.FlipCaps.FlipInterval;
}

bool port_adapter_segment_flips(const struct port_adapter *adapter, UINT segment)
{
    return segment && segment <= adapter->segments.count &&
           port_segment(adapter, segment - 1)->Flags.DirectFlip;
}

bool port_adapter_display_only(const struct port_adapter *adapter)
{
    return adapter->ddi.present_display_only != NULL;
}

ULONG port_adapter_sources(const struct port_adapter *adapter)
{
    return adapter->display.modes ? adapter->display.modes->sources : 0;
}

bool port_adapter_is_post(const struct port_adapter *adapter)
{
    return adapter->post.bytes != 0;
}

UINT port_adapter_nodes(const struct port_adapter *adapter)
{
    return adapter->nodes.count;
}

const DXGKARG_GETNODEMETADATA *port_adapter_node(const struct port_adapter *adapter, UINT node)
{
    return node < adapter->nodes.count ? &adapter->nodes.node[node].metadata : NULL;
}

bool port_adapter_stamps(const struct port_adapter *adapter)
{
    for (UINT i = 0; i < adapter->nodes.count && !port_adapter_is_2x(adapter); i++)
        if (adapter->nodes.node[i].stamps)
            return true;
    return false;
}

bool port_adapter_node_virtual(const struct port_adapter *adapter, UINT node)
{
    return node < adapter->nodes.count && adapter->nodes.node[node].virtual_addressing;
}

struct port_hw_scheduling port_adapter_hw_scheduling(const struct port_adapter *adapter)
{
    struct port_hw_scheduling answer = {.support = adapter->features.hwsch_state,
                                        .by_default = adapter->features.hwsch_by_default};

    for (UINT i = 0; i < port_adapter_nodes(adapter); i++)
        answer.enabled |= adapter->nodes.node[i].hardware_scheduled;
    return answer;
}

bool port_adapter_gpu_mmu(const struct port_adapter *adapter)
{
    return adapter->caps.gpu_mmu;
}

const DXGK_GPUMMUCAPS *port_adapter_mmu(const struct port_adapter *adapter)
{
    return &adapter->mmu.caps;
}

const DXGK_GPUVERSION *port_adapter_gpu_version(const struct port_adapter *adapter)
{
    return &adapter->description.gpu_version;
}

const DXGK_ADAPTER_PERFDATACAPS *port_adapter_perf_caps(const struct port_adapter *adapter)
{
    return &adapter->description.perf_caps;
}

bool port_adapter_child_connected(const struct port_adapter *adapter, ULONG uid)
{
    for (ULONG i = 0; i < adapter->children.count; i++)
        if (adapter->children.child[i].ChildUid == uid)
            return adapter->children.connected[i] != FALSE;
    return false;
}

void port_adapter_retain(struct port_adapter *adapter)
{
    adapter->client_references++;
}

void port_adapter_release(struct port_adapter *adapter)
{
    if (--adapter->client_references == 0 && adapter->dismantled)
        util_free(adapter);
}
