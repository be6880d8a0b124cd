/* SPDX-License-Identifier: MIT */
/* Reserved ranges and segments of system memory in the device's domain (IOMMU-027, IOMMU-081 to
 * IOMMU-083, CAPS-119). */
#include "port/running/domain_reserve.h"
#include "port/record/adapter_record.h"
#include "port/record/port_refuse.h"
#include "ram/ram.h"
#include "util/checked.h"

/* Map those pages of the range that are not mapped yet, each at its own address. */
static NTSTATUS map_rest(struct port_adapter *adapter, uint64_t first, uint64_t end)
{
    while (first < end) {
        const struct page_number at = {first};
        bool mapped;
        uint64_t run = iommu_run_mapped(adapter->domain.domain, page_identity(at), end - first,
                                        &mapped);

        if (!mapped &&
            !iommu_map_identity_run(adapter->domain.domain, at, run, IOMMU_READ | IOMMU_WRITE))
            return STATUS_NO_MEMORY;
        first += run;
    }
    return STATUS_SUCCESS;
}

/* IOMMU-082: can the device reach the range, and is nothing mapped there except the first `before`
 * reserved ranges? */
static bool fits_logical(const struct port_adapter *adapter, uint64_t first, uint64_t end,
                         UINT32 before)
{
    if (end - 1 > adapter->caps.highest_visible >> PAGE_BITS)
        return false;
    for (uint64_t page = first, run; page < end; page += run) {
        bool mapped, known;

        run = iommu_run_mapped(adapter->domain.domain, (struct logical_page){page}, end - page,
                               &mapped);
        known = !mapped;
        for (UINT32 i = 0; i < before && !known; i++) {
            const DXGK_PHYSICAL_MEMORY_RANGE *range = &adapter->reserved.range[i];
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

/* CAPS-119: memory on the bus that the device uses although the host did not allocate it. */
NTSTATUS port_domain_reserve(struct port_adapter *adapter)
{
    uint64_t top = ram_highest(adapter->port->config.ram).value;

    for (UINT32 i = 0; i < adapter->reserved.count; i++) {
        uint64_t base = (uint64_t)adapter->reserved.range[i].BaseAddress.QuadPart;
        uint64_t bytes = (uint64_t)adapter->reserved.range[i].NumberOfBytes.QuadPart;
        uint64_t end;
        NTSTATUS status;

        if (!bytes || (base | bytes) & (PAGE_BYTES - 1) || ckd_add(&end, base, bytes)) {
            PORT_EXPECTED(
                adapter, "CAPS-119",
                "the hardware reserved range 0x%llx + 0x%llx is empty, wraps or is not page aligned",
                (unsigned long long)base, (unsigned long long)bytes);
            continue; /* it is left out, as the next one */
        }
        if (base <= top) {
            PORT_EXPECTED(
                adapter, "CAPS-119",
                "the hardware reserved range 0x%llx + 0x%llx touches RAM that the memory manager owns",
                (unsigned long long)base, (unsigned long long)bytes);
            continue;
        }
        if (adapter->domain.mode == IOMMU_REMAP &&
            !fits_logical(adapter, base >> PAGE_BITS, end >> PAGE_BITS, i))
            PORT_CANNOT(
                "IOMMU-082",
                "the hardware reserved range 0x%llx + 0x%llx is out of the device's reach or in use",
                (unsigned long long)base, (unsigned long long)bytes);
        status = map_rest(adapter, base >> PAGE_BITS, end >> PAGE_BITS);
        if (!NT_SUCCESS(status))
            return status;
    }
    return STATUS_SUCCESS;
}

/* IOMMU-027 matters only for certification; the driver runs all the same. */
static void note_compliance(const struct port_adapter *adapter)
{
    const UINT claimed = (UINT)adapter->caps.driver.WDDMVersion;

    if (port_model_version(adapter) < DXGKDDI_INTERFACE_VERSION_WDDM3_0 ||
        (claimed && claimed < DXGKDDI_WDDMv3_0) || /* built with later headers */
        adapter->caps.iommu.DmaRemappingSupported)
        return;
    for (UINT i = 0; i < adapter->segments.count; i++) {
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
        uint64_t run = iommu_run_mapped(domain, (struct logical_page){first}, end - first, &mapped);

        if (!mapped)
            return first;
        first += run;
    }
    return end;
}

/* IOMMU-081, IOMMU-083: segments made of system memory. Pages of RAM in them are skipped, since the
 * driver allocated and mapped those. */
NTSTATUS port_domain_reserve_segments(struct port_adapter *adapter)
{
    const uint64_t ram_pages = ram_bytes(adapter->port->config.ram) >> PAGE_BITS;

    note_compliance(adapter);
    for (UINT i = 0; i < adapter->segments.count; i++) {
        const DXGK_SEGMENTDESCRIPTOR4 *segment = port_segment(adapter, i);
        uint64_t first = (uint64_t)segment->BaseAddress.QuadPart >> PAGE_BITS, end;
        NTSTATUS status;

        if (!segment->Flags.PopulatedFromSystemMemory ||
            ckd_add(&end, first, (uint64_t)segment->Size >> PAGE_BITS))
            continue;
        if (adapter->domain.mode == IOMMU_REMAP) {
            const uint64_t uncovered = first_unmapped(adapter->domain.domain, first, end);

            if (uncovered < end)
                PORT_REFUSE("IOMMU-083",
                            "segment %u: no ADL covers device page 0x%llx of its system memory",
                            i + 1, (unsigned long long)uncovered);
            continue;
        }
        status = map_rest(adapter, first < ram_pages ? ram_pages : first,
                          end < ram_pages ? ram_pages : end);
        if (!NT_SUCCESS(status))
            return status;
    }
    return STATUS_SUCCESS;
}
