/* SPDX-License-Identifier: MIT */
/*
 * How the device reaches memory: the DMA mode, the IOMMU domain, the switch to isolation, and reserved ranges.
 *
 *   before StartDevice   the mode is chosen from what the driver said and what the machine has; logical mode is in force at once
 *   after the start      isolation is switched on under exclusive access (IOMMU-041, IOMMU-054)
 */
#include <string.h>

#include "port/port_private.h"

#define EXCLUSIVE_LIMIT 60000000000u

/* ---- choice ---- */

NTSTATUS port_choose_dma_mode(struct port_adapter *adapter)
{
    enum iommu_mode wanted = adapter->port->config.iommu;
    uint64_t top = ram_highest(adapter->port->config.ram).value;
    bool remapping = adapter->iommu_caps.DmaRemappingSupported;

    if (adapter->iommu_caps.IommuIsolationRequired && !adapter->iommu_caps.IommuIsolationSupported)
        REFUSE("IOMMU-016", "IommuIsolationRequired is set without IommuIsolationSupported");
    if (remapping && (!adapter->highest_visible || !adapter->iommu_caps.IommuIsolationSupported)) {
        VIOLATION(
            "IOMMU-020",
            "DmaRemappingSupported counts only with HighestVisibleAddress and IommuIsolationSupported");
        remapping = false;
    }
    adapter->mode = IOMMU_OFF;
    adapter->attach_after_start = false;
    if (adapter->highest_visible && adapter->highest_visible < top) {
        /* CAPS-116 */
        if (!remapping || wanted == IOMMU_OFF) {
            WARNING("CAPS-116", "HighestVisibleAddress 0x%llx is below the top of RAM 0x%llx and %s",
                    (unsigned long long)adapter->highest_visible, (unsigned long long)top,
                    remapping ? "there is no IOMMU" : "the driver does not support DMA remapping");
            return STATUS_NOT_SUPPORTED;
        }
        adapter->mode = IOMMU_REMAP;
    } else if (wanted == IOMMU_REMAP && remapping) {
        adapter->mode = IOMMU_REMAP; /* IOMMU-026: forced */
    } else if (wanted == IOMMU_REMAP) {
        WARNING("IOMMU-026",
                "logical mode was asked for, but the driver does not report DmaRemappingSupported");
        return STATUS_NOT_SUPPORTED;
    } else if (adapter->iommu_caps.IommuIsolationRequired && wanted == IOMMU_OFF) {
        WARNING("IOMMU-014", "the driver requires isolation and there is no IOMMU");
        return STATUS_NOT_SUPPORTED;
    } else if (wanted == IOMMU_ISOLATION) {
        /* IOMMU-015: before the start only if it is required; else, or if an older driver states it in DXGK_DRIVERCAPS, after. */
        adapter->attach_after_start = !adapter->iommu_caps.IommuIsolationRequired;
        adapter->mode = adapter->attach_after_start ? IOMMU_OFF : IOMMU_ISOLATION;
    }
    return STATUS_SUCCESS;
}

/* ---- life ---- */

NTSTATUS port_domain_create(struct port_adapter *adapter)
{
    struct ram *ram = adapter->port->config.ram;
    struct logical_addr highest = {adapter->highest_visible ? adapter->highest_visible
                                                            : ram_highest(ram).value};
    uint8_t bits = bus_device_description(adapter->device)->dma_bits;
    struct physical_adapter_config config;

    if (bits && bits < 64 && highest.value >> bits)
        highest.value = (1ull << bits) - 1;
    adapter->domain = iommu_domain_create(ram, adapter->mode, highest);
    if (!adapter->domain)
        return STATUS_NO_MEMORY;
    bus_device_attach(adapter->device, adapter->domain);
    memset(&config, 0, sizeof(config));
    config.memory = adapter->port->physical;
    config.domain = adapter->domain;
    config.name = adapter->driver->service;
    config.driver = adapter->driver->image;
    config.legacy_refused = port_driver_version(adapter) >= DXGKDDI_INTERFACE_VERSION_WDDM3_0 &&
                            adapter->iommu_caps.DmaRemappingSupported;
    adapter->physical = physical_adapter_create(&config);
    return adapter->physical ? STATUS_SUCCESS : STATUS_NO_MEMORY;
}

/* IOMMU-048: reclaim, unmap what is left, detach, delete. */
void port_domain_destroy(struct port_adapter *adapter)
{
    if (adapter->physical)
        physical_adapter_destroy(adapter->physical);
    adapter->physical = NULL;
    for (UINT32 i = 0; i < adapter->reserved_mapped; i++) {
        const DXGK_PHYSICAL_MEMORY_RANGE *range = &adapter->reserved[i];

        iommu_unmap_run(adapter->domain,
                        (struct page_number){(uint64_t)range->BaseAddress.QuadPart >> PAGE_BITS},
                        (uint64_t)range->NumberOfBytes.QuadPart >> PAGE_BITS);
    }
    util_free(adapter->reserved);
    adapter->reserved = NULL;
    adapter->reserved_count = adapter->reserved_mapped = 0;
    bus_device_attach(adapter->device, NULL);
    if (adapter->domain)
        iommu_domain_destroy(adapter->domain);
    adapter->domain = NULL;
}

/* CAPS-119: bus memory that the device keeps using without having got it from the host. */
NTSTATUS port_domain_reserve(struct port_adapter *adapter)
{
    uint64_t top = ram_highest(adapter->port->config.ram).value;

    for (UINT32 i = 0; i < adapter->reserved_count; i++) {
        uint64_t base = (uint64_t)adapter->reserved[i].BaseAddress.QuadPart;
        uint64_t bytes = (uint64_t)adapter->reserved[i].NumberOfBytes.QuadPart;
        uint64_t end;

        if (!bytes || (base | bytes) & (PAGE_BYTES - 1) || ckd_add(&end, base, bytes))
            REFUSE(
                "CAPS-119",
                "the hardware reserved range 0x%llx + 0x%llx is empty, wraps or is not page aligned",
                (unsigned long long)base, (unsigned long long)bytes);
        if (base <= top)
            REFUSE(
                "CAPS-119",
                "the hardware reserved range 0x%llx + 0x%llx touches RAM that the memory manager owns",
                (unsigned long long)base, (unsigned long long)bytes);
        if (!iommu_map_identity_run(adapter->domain, (struct page_number){base >> PAGE_BITS},
                                    bytes >> PAGE_BITS, IOMMU_READ | IOMMU_WRITE))
            return STATUS_NO_MEMORY;
        adapter->reserved_mapped++;
    }
    return STATUS_SUCCESS;
}

/* ---- from physical to isolated ---- */

/* Everything that is mapped stays as it is (IOMMU-004). */
static NTSTATUS switch_domain(struct port_adapter *adapter)
{
    DXGKARG_ENDEXCLUSIVEACCESS end;
    NTSTATUS status = STATUS_SUCCESS;
    NTSTATUS ended;

    if (iommu_domain_isolate(adapter->domain))
        adapter->mode = IOMMU_ISOLATION;
    else
        status = STATUS_UNSUCCESSFUL;
    memset(&end, 0, sizeof(end));
    ended = ddi_end_exclusive_access(&adapter->ddi, &end);
    if (!NT_SUCCESS(ended)) /* IOMMU-063 */
        VIOLATION("IOMMU-063", "DxgkDdiEndExclusiveAccess returned 0x%08x", (unsigned)ended);
    return status;
}

NTSTATUS port_domain_isolate(struct port_adapter *adapter)
{
    DXGKARG_BEGINEXCLUSIVEACCESS begin;
    NTSTATUS status;

    if (!adapter->attach_after_start)
        return STATUS_SUCCESS;
    status = ddi_exclude_others(&adapter->ddi, EXCLUSIVE_LIMIT); /* THREAD-036 */
    if (!NT_SUCCESS(status))
        return status;
    memset(&begin, 0, sizeof(begin));
    status = ddi_begin_exclusive_access(&adapter->ddi, &begin);
    if (NT_SUCCESS(status)) {
        status = switch_domain(adapter);
        adapter->attach_after_start = false;
    }
    ddi_admit_others(&adapter->ddi);
    return status;
}
