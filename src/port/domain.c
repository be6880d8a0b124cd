/* SPDX-License-Identifier: MIT */
/*
 * How the device reaches memory: the DMA mode, the IOMMU domain, and memory that is there before anybody asked for it. The switch
 * to isolation is in isolate.c.
 *
 *   before StartDevice   the mode is chosen from what the driver said and what the machine has. Logical mode, and isolation that
 *                        DXGK_IOMMU_CAPS requires, are in force at once
 *   after the start      isolation by IOMMUFlags, or required by an older driver, is switched on under exclusive access
 *                        (IOMMU-041, IOMMU-054)
 *
 * An adapter in physical mode has a domain too: it translates nothing, and keeps the books of what the device may use.
 */
#include <stdio.h>
#include <string.h>

#include "port/port_private.h"
#include "sim/machine.h"

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

/* IOMMU-028: DmaRemappingCompatible of the driver's Parameters key; if that is not there, how the machine was set up. */
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
    if (!adapter->iommu_caps.DmaRemappingSupported)
        return false;
    if (!adapter->highest_visible || !adapter->iommu_caps.IommuIsolationSupported) {
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

NTSTATUS port_choose_dma_mode(struct port_adapter *adapter)
{
    const struct port_config *config = &adapter->port->config;
    uint64_t top = ram_highest(config->ram).value;

    if (adapter->iommu_caps.IommuIsolationRequired && !adapter->iommu_caps.IommuIsolationSupported)
        REFUSE("IOMMU-016", "IommuIsolationRequired is set without IommuIsolationSupported");
    adapter->remapping = supports_remapping(adapter);
    adapter->mode = IOMMU_OFF;
    if (adapter->highest_visible && adapter->highest_visible < top) {
        /* CAPS-116 */
        if (!adapter->remapping || !config->iommu_present) {
            WARNING("CAPS-116", "HighestVisibleAddress 0x%llx is below the top of RAM 0x%llx and %s",
                    (unsigned long long)adapter->highest_visible, (unsigned long long)top,
                    adapter->remapping ? "there is no IOMMU"
                                       : "the driver does not support DMA remapping");
            return STATUS_NOT_SUPPORTED;
        }
        adapter->mode = IOMMU_REMAP;
    } else if (config->iommu == IOMMU_REMAP && adapter->remapping) {
        adapter->mode = IOMMU_REMAP; /* IOMMU-026: forced */
    } else if (config->iommu == IOMMU_REMAP) {
        WARNING(
            "IOMMU-026",
            "logical mode was asked for, but DmaRemappingSupported is not reported or does not count");
        return STATUS_NOT_SUPPORTED;
    } else if (adapter->iommu_caps.IommuIsolationRequired) {
        if (!config->iommu_present) {
            WARNING("IOMMU-014", "the driver requires isolation and there is no IOMMU");
            return STATUS_NOT_SUPPORTED;
        }
        adapter->mode = IOMMU_ISOLATION; /* IOMMU-015 */
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
    NTSTATUS status;

    if (bits && bits < 64 && highest.value >> bits)
        highest.value = (1ull << bits) - 1;
    adapter->domain = iommu_domain_create(ram, adapter->mode, highest);
    if (!adapter->domain)
        return STATUS_NO_MEMORY;
    bus_device_set_judged(adapter->device, !adapter->port->config.dma_unjudged);
    status = port_iommu_status(bus_device_attach(adapter->device, adapter->domain));
    if (!NT_SUCCESS(status)) /* IOMMU-014, IOMMU-040 */
        return status;
    trace_instant(TRACE_PROCESSOR(sim_current->processor), "IOMMU attach", "mode",
                  (uint64_t)adapter->mode, NULL, 0);
    if (adapter->mode != IOMMU_OFF)
        adapter->isolation = PORT_IOMMU_DOMAIN | PORT_IOMMU_MAPPINGS | PORT_IOMMU_ATTACHED;
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
    const trace_track track = TRACE_PROCESSOR(sim_current->processor);
    enum iommu_result result;

    if (adapter->physical)
        physical_adapter_destroy(adapter->physical);
    adapter->physical = NULL;
    util_free(adapter->reserved);
    adapter->reserved = NULL;
    adapter->reserved_count = 0;
    adapter->isolation = 0;
    if (!adapter->domain)
        return;
    trace_instant(track, "IOMMU unmap", "pages", iommu_domain_clear(adapter->domain), NULL, 0);
    bus_device_attach(adapter->device, NULL);
    trace_instant(track, "IOMMU detach", NULL, 0, NULL, 0);
    result = iommu_domain_delete(adapter->domain);
    if (result != IOMMU_DONE)
        verify_fatal("IOMMU-047", HAL_IOMMU_INTERNAL_ERROR, 0, 0, 0, 0,
                     "the domain of %s cannot be deleted: %u devices, %llu pages", adapter->name,
                     iommu_domain_attached(adapter->domain),
                     (unsigned long long)iommu_domain_mapped_pages(adapter->domain));
    trace_instant(track, "IOMMU delete", NULL, 0, NULL, 0);
    adapter->domain = NULL;
}

/* ---- reserved ranges ---- */

/* Map the pages of the range that are not mapped yet, at their own addresses. */
static NTSTATUS map_rest(struct port_adapter *adapter, uint64_t first, uint64_t end)
{
    while (first < end) {
        const struct page_number at = {first};
        bool mapped;
        uint64_t run = iommu_run_mapped(adapter->domain, at, end - first, &mapped);

        if (!mapped && !iommu_map_identity_run(adapter->domain, at, run, IOMMU_READ | IOMMU_WRITE))
            return STATUS_NO_MEMORY;
        first += run;
    }
    return STATUS_SUCCESS;
}

/* IOMMU-082: within reach of the device, and nothing of the driver's there. Ranges reported before may be. */
static bool fits_logical(const struct port_adapter *adapter, uint64_t first, uint64_t end,
                         UINT32 before)
{
    if (end - 1 > adapter->highest_visible >> PAGE_BITS || first == 0)
        return false;
    for (uint64_t page = first, run; page < end; page += run) {
        bool mapped, known;

        run = iommu_run_mapped(adapter->domain, (struct page_number){page}, end - page, &mapped);
        known = !mapped;
        for (UINT32 i = 0; i < before && !known; i++) {
            const DXGK_PHYSICAL_MEMORY_RANGE *range = &adapter->reserved[i];
            const uint64_t inside = page - ((uint64_t)range->BaseAddress.QuadPart >> PAGE_BITS);
            const uint64_t pages = (uint64_t)range->NumberOfBytes.QuadPart >> PAGE_BITS;

            known = inside < pages;
            if (known && run > pages - inside)
                run = pages - inside;
        }
        if (!known)
            return false;
    }
    return true;
}

/* CAPS-119: bus memory that the device keeps using without having got it from the host. */
NTSTATUS port_domain_reserve(struct port_adapter *adapter)
{
    uint64_t top = ram_highest(adapter->port->config.ram).value;

    for (UINT32 i = 0; i < adapter->reserved_count; i++) {
        uint64_t base = (uint64_t)adapter->reserved[i].BaseAddress.QuadPart;
        uint64_t bytes = (uint64_t)adapter->reserved[i].NumberOfBytes.QuadPart;
        uint64_t end;
        NTSTATUS status;

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
        if (adapter->mode == IOMMU_REMAP &&
            !fits_logical(adapter, base >> PAGE_BITS, end >> PAGE_BITS, i)) {
            WARNING(
                "IOMMU-082",
                "the hardware reserved range 0x%llx + 0x%llx is out of the device's reach or in use",
                (unsigned long long)base, (unsigned long long)bytes);
            return STATUS_NOT_SUPPORTED;
        }
        status = map_rest(adapter, base >> PAGE_BITS, end >> PAGE_BITS);
        if (!NT_SUCCESS(status))
            return status;
    }
    return STATUS_SUCCESS;
}

/* IOMMU-027: a matter of certification, not of running. */
static void note_compliance(const struct port_adapter *adapter)
{
    if (port_model_version(adapter) < DXGKDDI_INTERFACE_VERSION_WDDM3_0 ||
        adapter->iommu_caps.DmaRemappingSupported)
        return;
    for (UINT i = 0; i < adapter->segment_count; i++) {
        const DXGK_SEGMENTDESCRIPTOR4 *segment = port_segment(adapter, i);

        if (!segment->Flags.Aperture && !segment->Flags.PopulatedFromSystemMemory) {
            NOTE("IOMMU-027",
                 "a WDDM 3.0 driver of an adapter with memory of its own must support DMA remapping");
            return;
        }
    }
}

static uint64_t first_unmapped(const struct iommu_domain *domain, uint64_t first, uint64_t end)
{
    bool mapped = true;

    while (first < end) {
        uint64_t run = iommu_run_mapped(domain, (struct page_number){first}, end - first, &mapped);

        if (!mapped)
            return first;
        first += run;
    }
    return end;
}

/* IOMMU-081, IOMMU-083: segments that are made of memory of the system. Pages of RAM are the driver's, which holds them. */
NTSTATUS port_domain_reserve_segments(struct port_adapter *adapter)
{
    const uint64_t ram_pages = ram_bytes(adapter->port->config.ram) >> PAGE_BITS;

    note_compliance(adapter);
    for (UINT i = 0; i < adapter->segment_count; i++) {
        const DXGK_SEGMENTDESCRIPTOR4 *segment = port_segment(adapter, i);
        uint64_t first = (uint64_t)segment->BaseAddress.QuadPart >> PAGE_BITS, end;
        NTSTATUS status;

        if (!segment->Flags.PopulatedFromSystemMemory ||
            ckd_add(&end, first, (uint64_t)segment->Size >> PAGE_BITS))
            continue;
        if (adapter->mode == IOMMU_REMAP) {
            const uint64_t uncovered = first_unmapped(adapter->domain, first, end);

            if (uncovered < end)
                REFUSE("IOMMU-083",
                       "segment %u: no ADL covers device page 0x%llx of its system memory", i + 1,
                       (unsigned long long)uncovered);
            continue;
        }
        status = map_rest(adapter, first < ram_pages ? ram_pages : first,
                          end < ram_pages ? ram_pages : end);
        if (!NT_SUCCESS(status))
            return status;
    }
    return STATUS_SUCCESS;
}
