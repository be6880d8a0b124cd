/* SPDX-License-Identifier: MIT */
/*
 * How the device reaches memory: the DMA mode and the IOMMU domain. The switch to isolation is in
 * isolate.c.
 *
 *   before StartDevice   the mode is chosen by the driver's answers and what the machine has;
 *                        logical mode, and isolation that DXGK_IOMMU_CAPS requires, begin at once
 *   after the start      isolation that IOMMUFlags or an older driver asks for is switched on
 *                        under exclusive access (IOMMU-041, IOMMU-054)
 *
 * An adapter in physical mode has a domain too, which translates nothing, and records what the
 * device may use.
 */
#include <stdio.h>
#include <string.h>

#include "port/running/domain.h"
#include "bus/device.h"
#include "bus/dma.h"
#include "nt/cm/registry.h"
#include "nt/dma/dma_mapping.h"
#include "physmem/physical_adapter.h"
#include "port/query/reserved_ranges.h"
#include "port/record/adapter_record.h"
#include "port/record/port_refuse.h"
#include "ram/ram.h"
#include "sim/machine.h"
#include "sim/sim_assert.h"
#include "trace/trace.h"

#define REMAPPING_COMPATIBLE     3u
#define HAL_IOMMU_INTERNAL_ERROR 0x1D9u

NTSTATUS port_iommu_status(enum iommu_result result)
{
    switch (result) {
    case IOMMU_DONE:
        return STATUS_SUCCESS;
    case IOMMU_NO_MEMORY:
        return STATUS_NO_MEMORY;
    case IOMMU_IN_USE:
        return STATUS_RESOURCE_IN_USE; /* IOMMU-050 */
    case IOMMU_NOT_ATTACHED:
        return STATUS_INVALID_PARAMETER_1; /* IOMMU-045 */
    case IOMMU_UNSUPPORTED:
        return STATUS_NOT_SUPPORTED; /* IOMMU-053 */
    case IOMMU_BUSY:
        return STATUS_DEVICE_BUSY;
    case IOMMU_BROKEN:
        return STATUS_IO_DEVICE_ERROR;
    case IOMMU_ATTACHED:
    case IOMMU_INVALID:
        break;
    }
    return STATUS_INVALID_PARAMETER;
}

/* ---- choice ---- */

/* IOMMU-028: the value DmaRemappingCompatible of the driver's Parameters key; without it, the
 * machine's configuration. */
static bool opted_in(const struct port_adapter *adapter)
{
    char path[160];
    uint32_t type, bytes, value = 0;
    const void *data;

    snprintf(path, sizeof(path),
             "\\Registry\\Machine\\System\\CurrentControlSet\\Services\\%s\\Parameters",
             adapter->driver->service);
    data = nt_registry_get(path, "DmaRemappingCompatible", &type, &bytes);
    if (!data || bytes != sizeof(value))
        return !adapter->port->config.remapping_opt_out;
    memcpy(&value, data, sizeof(value));
    return value == REMAPPING_COMPATIBLE;
}

static bool supports_remapping(const struct port_adapter *adapter)
{
    if (!adapter->caps.iommu.DmaRemappingSupported)
        return false;
    if (!adapter->caps.highest_visible || !adapter->caps.iommu.IommuIsolationSupported) {
        VIOLATION(
            "IOMMU-020",
            "DmaRemappingSupported counts only with HighestVisibleAddress and IommuIsolationSupported");
        return false;
    }
    if (!opted_in(adapter)) {
        NOTE(
            "IOMMU-028",
            "DmaRemappingSupported does not count: the driver is not installed with DmaRemappingCompatible = 3");
        return false;
    }
    return true;
}

NTSTATUS port_domain_choose_mode(struct port_adapter *adapter)
{
    const struct port_config *config = &adapter->port->config;
    uint64_t top = ram_highest(config->ram).value;

    if (adapter->caps.iommu.IommuIsolationRequired && !adapter->caps.iommu.IommuIsolationSupported) {
        PORT_FINDING(adapter, "IOMMU-016",
                     "IommuIsolationRequired is set without IommuIsolationSupported");
        adapter->caps.iommu.IommuIsolationSupported = 1;
    }
    adapter->domain.remapping = supports_remapping(adapter);
    adapter->domain.mode = IOMMU_OFF;
    if (adapter->caps.highest_visible && adapter->caps.highest_visible < top) {
        /* CAPS-116 */
        if (!adapter->domain.remapping || !config->iommu_present)
            PORT_CANNOT("CAPS-116",
                        "HighestVisibleAddress 0x%llx is below the top of RAM 0x%llx and %s",
                        (unsigned long long)adapter->caps.highest_visible, (unsigned long long)top,
                        adapter->domain.remapping ? "there is no IOMMU"
                                                  : "the driver does not support DMA remapping");
        adapter->domain.mode = IOMMU_REMAP;
    } else if (config->iommu == IOMMU_REMAP && adapter->domain.remapping) {
        adapter->domain.mode = IOMMU_REMAP; /* IOMMU-026: forced */
    } else if (config->iommu == IOMMU_REMAP) {
        PORT_CANNOT(
            "IOMMU-026",
            "logical mode was asked for, but DmaRemappingSupported is not reported or does not count");
    } else if (adapter->caps.iommu.IommuIsolationRequired) {
        if (!config->iommu_present)
            PORT_CANNOT("IOMMU-014", "the driver requires isolation and there is no IOMMU");
        adapter->domain.mode = IOMMU_ISOLATION; /* IOMMU-015 */
    }
    return STATUS_SUCCESS;
}

/* ---- life ---- */

NTSTATUS port_domain_create(struct port_adapter *adapter)
{
    struct ram *ram = adapter->port->config.ram;
    struct logical_addr highest = {adapter->caps.highest_visible ? adapter->caps.highest_visible
                                                                 : ram_highest(ram).value};
    uint8_t bits = bus_device_description(adapter->device)->dma_bits;
    struct physical_adapter_config config;
    NTSTATUS status;

    sim_assert_passive();
    if (bits && bits < 64 && highest.value >> bits)
        highest.value = (1ull << bits) - 1;
    adapter->domain.domain = iommu_domain_create(ram, adapter->domain.mode, highest);
    if (!adapter->domain.domain)
        return STATUS_NO_MEMORY;
    bus_device_set_judged(adapter->device, !adapter->port->config.dma_unjudged);
    status = port_iommu_status(bus_device_attach(adapter->device, adapter->domain.domain));
    if (!NT_SUCCESS(status)) /* IOMMU-014, IOMMU-040 */
        return status;
    nt_dma_domain_begins(adapter->device, adapter->domain.domain);
    trace_instant(TRACE_PROCESSOR(sim_current->processor), "IOMMU attach", "mode",
                  (uint64_t)adapter->domain.mode, NULL, 0);
    if (adapter->domain.mode != IOMMU_OFF)
        adapter->domain.isolation = PORT_IOMMU_DOMAIN | PORT_IOMMU_MAPPINGS | PORT_IOMMU_ATTACHED;
    memset(&config, 0, sizeof(config));
    config.memory = adapter->port->physical;
    config.domain = adapter->domain.domain;
    config.name = adapter->driver->service;
    config.driver = adapter->driver->image;
    config.legacy_refused = port_driver_version(adapter) >= DXGKDDI_INTERFACE_VERSION_WDDM3_0 &&
                            adapter->caps.iommu.DmaRemappingSupported;
    adapter->domain.physical = physical_adapter_create(&config);
    return adapter->domain.physical ? STATUS_SUCCESS : STATUS_NO_MEMORY;
}

/* IOMMU-048: reclaim the driver's memory, unmap what remains, detach, delete. */
void port_domain_destroy(struct port_adapter *adapter)
{
    const trace_track track = TRACE_PROCESSOR(sim_current->processor);
    enum iommu_result result;

    if (adapter->domain.physical)
        physical_adapter_destroy(adapter->domain.physical);
    adapter->domain.physical = NULL;
    port_reserved_ranges_forget(adapter);
    adapter->domain.isolation = 0;
    if (!adapter->domain.domain)
        return;
    nt_dma_domain_ends(adapter->domain.domain);
    trace_instant(track, "IOMMU unmap", "pages", iommu_domain_clear(adapter->domain.domain), NULL,
                  0);
    bus_device_attach(adapter->device, NULL);
    trace_instant(track, "IOMMU detach", NULL, 0, NULL, 0);
    result = iommu_domain_delete(adapter->domain.domain);
    if (result != IOMMU_DONE)
        verify_fatal("IOMMU-047", HAL_IOMMU_INTERNAL_ERROR, 0, 0, 0, 0,
                     "the domain of %s cannot be deleted: %u devices, %llu pages", adapter->name,
                     iommu_domain_attached(adapter->domain.domain),
                     (unsigned long long)iommu_domain_mapped_pages(adapter->domain.domain));
    trace_instant(track, "IOMMU delete", NULL, 0, NULL, 0);
    adapter->domain.domain = NULL;
}
