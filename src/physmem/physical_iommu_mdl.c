/* SPDX-License-Identifier: MIT */
/*
 * DxgkCbMapMdlToIoMmu and DxgkCbUnmapMdlFromIoMmu: the MDL is the driver's, and must not change
 * while it is mapped. The host uses its own copy of the page list, and compares the two at the end.
 */
#include "physmem/physical_services.h"

#include <string.h>

#include "iommu/iommu.h"
#include "physmem/physical_backing.h"
#include "physmem/physical_gate.h"
#include "physmem/physical_record.h"
#include "physmem/physical_refuse.h"
#include "physmem/physical_tracked.h"
#include "ram/ram.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/list.h"
#include "verify/verify.h"

struct iommu_mdl {
    struct physical_tracked tracked;
    const MDL *mdl;
    MDL header;                      /* as it was when mapped */
    struct physical_backing backing; /* pages that it named; the frames belong to the driver */
};

static uint64_t mdl_span(const MDL *header)
{
    return ((uint64_t)header->ByteOffset + header->ByteCount + PAGE_BYTES - 1) / PAGE_BYTES;
}

static NTSTATUS check_mdl_header(const struct physical_memory *memory, const MDL *mdl, MDL *header)
{
    if (!mdl || !physical_hooks_read_driver(&memory->hooks, header, mdl, sizeof(*header)))
        return physical_refuse("PHYS-079", "pMdl is NULL or no memory");
    if (!(header->MdlFlags & (MDL_PAGES_LOCKED | MDL_SOURCE_IS_NONPAGED_POOL | MDL_PARTIAL)))
        return physical_refuse(
            "PHYS-079", "the pages of the MDL are neither locked nor nonpaged (MdlFlags 0x%x)",
            (unsigned)(USHORT)header->MdlFlags);
    if (header->ByteCount == 0 || header->ByteOffset >= PAGE_BYTES)
        return physical_refuse("PHYS-079",
                               "the MDL describes no bytes (ByteCount %u, ByteOffset %u)",
                               header->ByteCount, header->ByteOffset);
    return STATUS_SUCCESS;
}

/* A driver must not map pages that were not allocated (PHYS-079). */
static NTSTATUS check_page(const struct physical_memory *memory, uint64_t index,
                           struct page_number page)
{
    if (page.value == 0 || page.value >= ram_bytes(memory->ram) / PAGE_BYTES)
        return physical_refuse("PHYS-080", "page %llu of the MDL, 0x%llx, is no RAM",
                               (unsigned long long)index, (unsigned long long)page.value);
    if (ram_page_owner(memory->ram, page) == RAM_FREE ||
        ram_page_owner(memory->ram, page) == RAM_QUARANTINED)
        return physical_refuse("PHYS-079", "page %llu of the MDL, 0x%llx, is free memory",
                               (unsigned long long)index, (unsigned long long)page.value);
    return STATUS_SUCCESS;
}

/* Copy the list of pages, and check each. */
static NTSTATUS snapshot(const struct physical_memory *memory, struct iommu_mdl *mapped)
{
    struct page_number *list;

    _Static_assert(sizeof(PFN_NUMBER) == sizeof(*list), "a PFN entry is 64 bits wide (PHYS-058)");
    mapped->backing.pages = mdl_span(&mapped->header);
    list = util_alloc(mapped->backing.pages * sizeof(*list));
    if (!list)
        return STATUS_INSUFFICIENT_RESOURCES;
    if (!physical_hooks_read_driver(&memory->hooks, list, MmGetMdlPfnArray(mapped->mdl),
                                    mapped->backing.pages * sizeof(*list))) {
        util_free(list);
        return physical_refuse("PHYS-079", "the page list of the MDL is not there");
    }
    for (uint64_t i = 0; i < mapped->backing.pages; i++) {
        NTSTATUS status = check_page(memory, i, list[i]);

        if (status == STATUS_SUCCESS)
            continue;
        util_free(list);
        return status;
    }
    mapped->backing.list = list;
    return STATUS_SUCCESS;
}

static void iommu_mdl_free(struct physical_tracked *tracked)
{
    struct iommu_mdl *mapped = CONTAINER(tracked, struct iommu_mdl, tracked);

    physical_backing_unmap(tracked->adapter->domain, &mapped->backing);
    util_free(mapped->backing.list);
    physical_tracked_remove(tracked);
    util_free(mapped);
}

static const struct physical_class iommu_mdl_class = {.kind = PHYSICAL_IOMMU_MDL,
                                                      .free = iommu_mdl_free};

static NTSTATUS build_mapped(struct physical_adapter *adapter, struct iommu_mdl *mapped)
{
    NTSTATUS status = check_mdl_header(adapter->memory, mapped->mdl, &mapped->header);

    if (status == STATUS_SUCCESS)
        status = snapshot(adapter->memory, mapped);
    if (status != STATUS_SUCCESS)
        return status;
    if (!physical_backing_map(adapter->domain, &mapped->backing)) {
        util_free(mapped->backing.list);
        return STATUS_INSUFFICIENT_RESOURCES;
    }
    if (!physical_tracked_enter(&mapped->tracked, adapter->memory, adapter, &iommu_mdl_class,
                                mapped->backing.pages * PAGE_BYTES, 0)) {
        physical_backing_unmap(adapter->domain, &mapped->backing);
        util_free(mapped->backing.list);
        return STATUS_INSUFFICIENT_RESOURCES;
    }
    return STATUS_SUCCESS;
}

NTSTATUS physical_iommu_mdl_map(struct physical_adapter *adapter, DXGKARGCB_MAPMDLTOIOMMU *args)
{
    struct iommu_mdl *mapped;
    NTSTATUS status;

    if (!args)
        return physical_refuse("PHYS-015", "NULL argument to DxgkCbMapMdlToIoMmu");
    args->hMemoryHandle = NULL;
    if (!physical_gate_acquire(adapter))
        return STATUS_INVALID_DEVICE_STATE;
    if (!physical_gate_legacy(adapter))
        return STATUS_NOT_SUPPORTED;
    mapped = util_zalloc(1, sizeof(*mapped));
    if (!mapped)
        return STATUS_INSUFFICIENT_RESOURCES;
    mapped->mdl = args->pMdl;
    status = build_mapped(adapter, mapped);
    if (status != STATUS_SUCCESS) {
        util_free(mapped);
        return status;
    }
    args->hMemoryHandle = physical_tracked_handle(&mapped->tracked);
    return STATUS_SUCCESS;
}

/* PHYS-082: whether MDL and page list are unchanged since mapping. */
static bool snapshot_holds(const struct iommu_mdl *mapped)
{
    const struct physical_memory *memory = mapped->tracked.memory;
    PFN_NUMBER some[64];
    MDL now;

    if (!physical_hooks_read_driver(&memory->hooks, &now, mapped->mdl, sizeof(now)) ||
        now.ByteCount != mapped->header.ByteCount || now.ByteOffset != mapped->header.ByteOffset)
        return false;
    for (uint64_t i = 0; i < mapped->backing.pages; i += 64) {
        uint64_t count = mapped->backing.pages - i < 64 ? mapped->backing.pages - i : 64;

        if (!physical_hooks_read_driver(&memory->hooks, some, &MmGetMdlPfnArray(mapped->mdl)[i],
                                        count * sizeof(*some)) ||
            memcmp(some, &mapped->backing.list[i], count * sizeof(*some)) != 0)
            return false;
    }
    return true;
}

void physical_iommu_mdl_unmap(struct physical_adapter *adapter,
                              const DXGKARGCB_UNMAPMDLFROMIOMMU *args)
{
    struct physical_tracked *tracked;

    if (!args) {
        physical_refuse("PHYS-015", "NULL argument to DxgkCbUnmapMdlFromIoMmu");
        return;
    }
    tracked = physical_tracked_find(adapter->memory, adapter, PHYSICAL_IOMMU_MDL,
                                    (uintptr_t)args->hMemoryHandle, "PHYS-017");
    if (!tracked)
        return;
    if (!snapshot_holds(CONTAINER(tracked, struct iommu_mdl, tracked)))
        VIOLATION("PHYS-082", "the MDL or its page list changed while it was mapped");
    iommu_mdl_free(tracked);
}
