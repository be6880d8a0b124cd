/* SPDX-License-Identifier: MIT */
/*
 * MDLs: DxgkCbAllocatePagesForMdl / DxgkCbFreePagesFromMdl (host's pages, host's MDL) and
 * DxgkCbMapMdlToIoMmu / DxgkCbUnmapMdlFromIoMmu (driver's MDL). In both the driver holds a
 * structure that it must leave alone: the host works from its own list of pages, and compares.
 */
#include "vidmm/physical_private.h"

#include <string.h>

#include "util/alloc.h"
#include "verify/verify.h"

/* ---- the host's MDL ---- */

struct mdl_pages {
    struct physical_tracked tracked;
    struct physical_backing backing;
    MDL *mdl;
};

MDL *physical_mdl_create(struct physical_memory *memory, const struct physical_backing *backing,
                         uint64_t pages)
{
    size_t bytes = sizeof(MDL) + pages * sizeof(PFN_NUMBER);
    MDL *mdl = util_zalloc(1, bytes);

    if (!mdl)
        return NULL;
    mdl->Size = (CSHORT)bytes; /* too narrow for large MDLs, in Windows too */
    mdl->MdlFlags = MDL_PAGES_LOCKED;
    mdl->ByteCount = (ULONG)(pages * PAGE_BYTES);
    for (uint64_t i = 0; i < pages; i++)
        MmGetMdlPfnArray(mdl)[i] = physical_backing_page(backing, i).value;
    if (memory->hooks.mdl_lend &&
        !memory->hooks.mdl_lend(memory->hooks.context, mdl, backing->list, pages)) {
        util_free(mdl);
        return NULL;
    }
    return mdl;
}

/* What mapping routines may change (flags, system address) is left out. */
bool physical_mdl_unchanged(const MDL *mdl, const struct physical_backing *backing, uint64_t pages)
{
    if (mdl->ByteOffset != 0 || mdl->ByteCount != pages * PAGE_BYTES || mdl->StartVa != NULL)
        return false;
    for (uint64_t i = 0; i < pages; i++)
        if (MmGetMdlPfnArray(mdl)[i] != physical_backing_page(backing, i).value)
            return false;
    return true;
}

void physical_mdl_destroy(struct physical_memory *memory, MDL *mdl)
{
    if (memory->hooks.mdl_unmap && memory->hooks.mdl_unmap(memory->hooks.context, mdl))
        VIOLATION("PHYS-076", "an MDL was released while mapped into a process");
    util_free(mdl);
}

static enum ram_cache mdl_pages_cache(const struct physical_tracked *tracked)
{
    const struct mdl_pages *pages = CONTAINER(tracked, const struct mdl_pages, tracked);

    return ram_page_cache(tracked->memory->ram, physical_backing_page(&pages->backing, 0));
}

static void mdl_pages_free(struct physical_tracked *tracked)
{
    struct mdl_pages *pages = CONTAINER(tracked, struct mdl_pages, tracked);

    if (!physical_mdl_unchanged(pages->mdl, &pages->backing, pages->backing.pages))
        VIOLATION("PHYS-077", "the MDL of %llu bytes was changed by the driver",
                  (unsigned long long)tracked->bytes);
    physical_backing_unmap(tracked->adapter->domain, &pages->backing);
    physical_mdl_destroy(tracked->memory, pages->mdl);
    physical_backing_give(tracked->memory, &pages->backing);
    physical_untrack(tracked);
    util_free(pages);
}

static const struct physical_class mdl_pages_class = {
    .kind = PHYSICAL_MDL_PAGES, .free = mdl_pages_free, .cache = mdl_pages_cache};

static NTSTATUS build(struct physical_adapter *adapter, const DXGKARGCB_ALLOCATEPAGESFORMDL *args,
                      struct mdl_pages *pages)
{
    struct physical_memory *memory = adapter->memory;
    struct physical_mdl_limits limits = {
        .bytes = args->TotalBytes,
        .low = (uint64_t)args->LowAddress.QuadPart,
        .high = (uint64_t)args->HighAddress.QuadPart,
        .skip = (uint64_t)args->SkipBytes.QuadPart,
        .flags = args->Flags,
    };
    NTSTATUS status = physical_take_mdl(memory, &limits, (enum ram_cache)args->CacheType,
                                        RAM_MDL_PAGES, &pages->backing);

    if (status != STATUS_SUCCESS)
        return status;
    pages->mdl = physical_mdl_create(memory, &pages->backing, pages->backing.pages);
    if (!pages->mdl)
        goto no_mdl;
    if (!physical_backing_map(adapter->domain, &pages->backing))
        goto no_mapping;
    if (physical_track(&pages->tracked, memory, adapter, &mdl_pages_class,
                       pages->backing.pages * PAGE_BYTES, 0))
        return STATUS_SUCCESS;
    physical_backing_unmap(adapter->domain, &pages->backing);
no_mapping:
    physical_mdl_destroy(memory, pages->mdl);
no_mdl:
    physical_backing_give(memory, &pages->backing);
    return STATUS_INSUFFICIENT_RESOURCES;
}

NTSTATUS physical_allocate_pages_for_mdl(struct physical_adapter *adapter,
                                         DXGKARGCB_ALLOCATEPAGESFORMDL *args)
{
    struct mdl_pages *pages;
    NTSTATUS status;

    if (!args)
        return physical_refuse("PHYS-015", "NULL argument to DxgkCbAllocatePagesForMdl");
    args->hMemoryHandle = NULL;
    args->pMdl = NULL;
    if (!physical_may_acquire(adapter))
        return STATUS_INVALID_DEVICE_STATE;
    if (!physical_may_use_legacy(adapter))
        return STATUS_NOT_SUPPORTED;
    status = physical_check_cache_type(args->CacheType);
    if (status != STATUS_SUCCESS)
        return status;
    pages = util_zalloc(1, sizeof(*pages));
    if (!pages)
        return STATUS_INSUFFICIENT_RESOURCES;
    status = build(adapter, args, pages);
    if (status != STATUS_SUCCESS) {
        util_free(pages);
        return status;
    }
    args->hMemoryHandle = physical_handle(&pages->tracked);
    args->pMdl = pages->mdl;
    return STATUS_SUCCESS;
}

NTSTATUS physical_free_pages_from_mdl(struct physical_adapter *adapter,
                                      const DXGKARGCB_FREEPAGESFROMMDL *args)
{
    struct physical_tracked *tracked;

    if (!args)
        return physical_refuse("PHYS-015", "NULL argument to DxgkCbFreePagesFromMdl");
    tracked = physical_find(adapter->memory, adapter, PHYSICAL_MDL_PAGES,
                            (uintptr_t)args->hMemoryHandle, "PHYS-017");
    if (!tracked)
        return STATUS_INVALID_HANDLE;
    mdl_pages_free(tracked);
    return STATUS_SUCCESS;
}

/* ---- the driver's MDL ---- */

struct iommu_mdl {
    struct physical_tracked tracked;
    const MDL *mdl;
    MDL header;                      /* as it was */
    struct physical_backing backing; /* the pages it named; frames are the driver's */
};

static uint64_t mdl_span(const MDL *header)
{
    return ((uint64_t)header->ByteOffset + header->ByteCount + PAGE_BYTES - 1) / PAGE_BYTES;
}

static NTSTATUS check_mdl_header(const struct physical_memory *memory, const MDL *mdl, MDL *header)
{
    if (!mdl || !physical_read_driver(memory, header, mdl, sizeof(*header)))
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

/* Pages that nobody has been given are not the driver's to map (PHYS-079, PHYS-082). */
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

/* The pages the MDL names, checked. */
static NTSTATUS snapshot(const struct physical_memory *memory, struct iommu_mdl *mapped)
{
    struct page_number *list;

    _Static_assert(sizeof(PFN_NUMBER) == sizeof(*list), "a PFN entry is 64 bits wide (PHYS-058)");
    mapped->backing.pages = mdl_span(&mapped->header);
    list = util_alloc(mapped->backing.pages * sizeof(*list));
    if (!list)
        return STATUS_INSUFFICIENT_RESOURCES;
    if (!physical_read_driver(memory, list, MmGetMdlPfnArray(mapped->mdl),
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
    physical_untrack(tracked);
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
    if (!physical_track(&mapped->tracked, adapter->memory, adapter, &iommu_mdl_class,
                        mapped->backing.pages * PAGE_BYTES, 0)) {
        physical_backing_unmap(adapter->domain, &mapped->backing);
        util_free(mapped->backing.list);
        return STATUS_INSUFFICIENT_RESOURCES;
    }
    return STATUS_SUCCESS;
}

NTSTATUS physical_map_mdl_to_iommu(struct physical_adapter *adapter, DXGKARGCB_MAPMDLTOIOMMU *args)
{
    struct iommu_mdl *mapped;
    NTSTATUS status;

    if (!args)
        return physical_refuse("PHYS-015", "NULL argument to DxgkCbMapMdlToIoMmu");
    args->hMemoryHandle = NULL;
    if (!physical_may_acquire(adapter))
        return STATUS_INVALID_DEVICE_STATE;
    if (!physical_may_use_legacy(adapter))
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
    args->hMemoryHandle = physical_handle(&mapped->tracked);
    return STATUS_SUCCESS;
}

/* PHYS-082: header and pages, as far as they are still there. */
static bool snapshot_holds(const struct iommu_mdl *mapped)
{
    const struct physical_memory *memory = mapped->tracked.memory;
    PFN_NUMBER some[64];
    MDL now;

    if (!physical_read_driver(memory, &now, mapped->mdl, sizeof(now)) ||
        now.ByteCount != mapped->header.ByteCount || now.ByteOffset != mapped->header.ByteOffset)
        return false;
    for (uint64_t i = 0; i < mapped->backing.pages; i += 64) {
        uint64_t count = mapped->backing.pages - i < 64 ? mapped->backing.pages - i : 64;

        if (!physical_read_driver(memory, some, &MmGetMdlPfnArray(mapped->mdl)[i],
                                  count * sizeof(*some)) ||
            memcmp(some, &mapped->backing.list[i], count * sizeof(*some)) != 0)
            return false;
    }
    return true;
}

void physical_unmap_mdl_from_iommu(struct physical_adapter *adapter,
                                   const DXGKARGCB_UNMAPMDLFROMIOMMU *args)
{
    struct physical_tracked *tracked;

    if (!args) {
        physical_refuse("PHYS-015", "NULL argument to DxgkCbUnmapMdlFromIoMmu");
        return;
    }
    tracked = physical_find(adapter->memory, adapter, PHYSICAL_IOMMU_MDL,
                            (uintptr_t)args->hMemoryHandle, "PHYS-017");
    if (!tracked)
        return;
    if (!snapshot_holds(CONTAINER(tracked, struct iommu_mdl, tracked)))
        VIOLATION("PHYS-082", "the MDL or its page list changed while it was mapped");
    iommu_mdl_free(tracked);
}
