/* SPDX-License-Identifier: MIT */
/* DXGK_DRIVERCAPS, and DXGK_PHYSICALADAPTERCAPS of the one physical adapter (CAPS-017, CAPS-094 to
 * CAPS-096). */
#include <string.h>

#include "port/query/driver_caps.h"
#include "nt/base/status_name.h"
#include "port/query/admission.h"
#include "port/query/query.h"
#include "port/record/adapter_record.h"
#include "port/record/port_refuse.h"
#include "port/record/versions.h"

/* CAPS-122: a driver that was built with later headers but claims WDDM 1.x is treated as one of
 * WDDM 1.x. */
static UINT model_of(UINT built, UINT claimed)
{
    if (built < DXGKDDI_INTERFACE_VERSION_WDDM2_0 || !claimed || claimed >= DXGKDDI_WDDMv2)
        return built;
    if (claimed >= DXGKDDI_WDDMv1_3)
        return DXGKDDI_INTERFACE_VERSION_WDDM1_3;
    return claimed >= DXGKDDI_WDDMv1_2 ? DXGKDDI_INTERFACE_VERSION_WIN8
                                       : DXGKDDI_INTERFACE_VERSION_WIN7;
}

/* Set to NULL the entry points that its driver model does not have. */
static void drop_later_entries(struct port_adapter *adapter)
{
    DRIVER_INITIALIZATION_DATA *table = &adapter->ddi.table;
    size_t bytes = port_version_table_bytes(port_model_version(adapter));

    if (port_model_version(adapter) != port_driver_version(adapter))
        memset((char *)table + bytes, 0, sizeof(*table) - bytes);
}

/* CAPS-017, CAPS-018 */
NTSTATUS port_driver_caps_query(struct port_adapter *adapter)
{
    NTSTATUS status;

    memset(&adapter->caps.driver, 0, sizeof(adapter->caps.driver));
    status = port_query(adapter, DXGKQAITYPE_DRIVERCAPS, NULL, 0, &adapter->caps.driver,
                        port_version_caps_bytes(port_driver_version(adapter)));
    if (!NT_SUCCESS(status)) {
        verify_decline("CAPS-004", "DXGKQAITYPE_DRIVERCAPS failed with %s",
                       nt_status_text(status).text);
        return status;
    }
    adapter->ddi.compute_only = port_driver_version(adapter) >= DXGKDDI_INTERFACE_VERSION_WDDM2_6 &&
                                adapter->caps.driver.MiscCaps.ComputeOnly;
    adapter->caps.model = model_of(port_driver_version(adapter),
                                   (UINT)adapter->caps.driver.WDDMVersion);
    drop_later_entries(adapter);
    adapter->ddi.low_irql_preempt = adapter->caps.driver.SchedulingCaps.LowIrqlPreemptCommand;
    return port_admission_check(adapter);
}

/* CAPS-095: what DXGK_DRIVERCAPS says, for a driver that does not answer the query. */
static void assume_physical_adapter(struct port_adapter *adapter)
{
    const DXGK_VIDMMCAPS *m = &adapter->caps.driver.MemoryManagementCaps;
    DXGK_PHYSICALADAPTERCAPS *caps = &adapter->caps.physical;

    memset(caps, 0, sizeof(*caps));
    caps->NumExecutionNodes = (WORD)adapter->nodes.count;
    caps->PagingNodeIndex = (WORD)m->PagingNode;
    caps->Flags.GpuMmuSupported = m->GpuMmuSupported;
    caps->Flags.IoMmuSupported = m->IoMmuSupported;
}

/* CAPS-068, CAPS-069: the paging node of a 1.x driver. */
static NTSTATUS assume_1x_adapter(struct port_adapter *adapter)
{
    const DXGK_VIDMMCAPS *m = &adapter->caps.driver.MemoryManagementCaps;

    adapter->caps.physical.NumExecutionNodes = (WORD)adapter->nodes.count;
    adapter->caps.gpu_mmu = false;
    if (!adapter->caps.driver.SchedulingCaps.MultiEngineAware)
        return STATUS_SUCCESS;
    if (m->PagingNode >= adapter->nodes.count)
        PORT_REFUSE("CAPS-069", "PagingNode %u is not below the %u nodes", m->PagingNode,
                    adapter->nodes.count);
    adapter->caps.physical.PagingNodeIndex = (WORD)m->PagingNode;
    return STATUS_SUCCESS;
}

NTSTATUS port_driver_caps_query_physical(struct port_adapter *adapter)
{
    DXGK_QUERYPHYSICALADAPTERCAPSIN in = {.PhysicalAdapterIndex = 0};
    DXGK_PHYSICALADAPTERCAPS *caps = &adapter->caps.physical;
    const DXGK_VIDMMCAPS *m = &adapter->caps.driver.MemoryManagementCaps;
    NTSTATUS status;

    adapter->nodes.count = adapter->caps.driver.SchedulingCaps.MultiEngineAware
                               ? adapter->caps.driver.GpuEngineTopology.NbAsymetricProcessingNodes
                               : 1;
    memset(caps, 0, sizeof(*caps));
    if (port_model_version(adapter) < DXGKDDI_INTERFACE_VERSION_WDDM2_0)
        return assume_1x_adapter(adapter);
    status = port_query(adapter, DXGKQAITYPE_PHYSICALADAPTERCAPS, &in, sizeof(in), caps,
                        port_version_physical_caps_bytes(port_driver_version(adapter)));
    if (!NT_SUCCESS(status)) {
        if (!port_query_not_offered(status))
            return status;
        assume_physical_adapter(adapter);
    } else if (caps->DxgkPhysicalAdapterHandle != adapter->handle) {
        PORT_FINDING(adapter, "CAPS-094",
                     "DxgkPhysicalAdapterHandle is not the DeviceHandle given to StartDevice");
    }
    if (caps->NumExecutionNodes != adapter->nodes.count) {
        PORT_FINDING(adapter, "CAPS-095", "NumExecutionNodes is %u, NbAsymetricProcessingNodes %u",
                     caps->NumExecutionNodes, adapter->nodes.count);
        caps->NumExecutionNodes = (WORD)adapter->nodes.count;
    }
    if (caps->PagingNodeIndex >= caps->NumExecutionNodes)
        PORT_REFUSE("CAPS-069", "PagingNodeIndex %u is not below the %u nodes",
                    caps->PagingNodeIndex, caps->NumExecutionNodes);
    if ((caps->Flags.GpuMmuSupported && !m->GpuMmuSupported) ||
        (caps->Flags.IoMmuSupported && !m->IoMmuSupported)) {
        VIOLATION("CAPS-096",
                  "the physical adapter names an addressing model that MemoryManagementCaps lacks");
        caps->Flags.GpuMmuSupported &= m->GpuMmuSupported;
        caps->Flags.IoMmuSupported &= m->IoMmuSupported;
    }
    if ((m->GpuMmuSupported && !caps->Flags.GpuMmuSupported) ||
        (m->IoMmuSupported && !caps->Flags.IoMmuSupported)) {
        PORT_FINDING(
            adapter, "CAPS-096",
            "MemoryManagementCaps names an addressing model that no physical adapter repeats");
        caps->Flags.GpuMmuSupported = m->GpuMmuSupported;
        caps->Flags.IoMmuSupported = m->IoMmuSupported;
    }
    adapter->caps.gpu_mmu = caps->Flags.GpuMmuSupported;
    adapter->caps.shared_address_space = caps->Flags.IoMmuSupported &&
                                         port_shares_address_spaces(adapter->port);
    return STATUS_SUCCESS;
}
