/* SPDX-License-Identifier: MIT */
/* DxgkCbAllocatePagesForMdl and DxgkCbFreePagesFromMdl: the pages and the MDL are the host's. The
 * driver must not change the MDL, which is compared with the host's own list of pages at the
 * end. */
#include "physmem/physical_services.h"

#include "physmem/physical_backing.h"
#include "physmem/physical_gate.h"
#include "physmem/physical_host_mdl.h"
#include "physmem/physical_pages.h"
#include "physmem/physical_record.h"
#include "physmem/physical_refuse.h"
#include "physmem/physical_tracked.h"
#include "ram/ram.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/list.h"
#include "verify/verify.h"

struct mdl_pages {
    struct physical_tracked tracked;
    struct physical_backing backing;
    MDL *mdl;
};

static enum ram_cache mdl_pages_cache(const struct physical_tracked *tracked)
{
    const struct mdl_pages *pages = CONTAINER(tracked, const struct mdl_pages, tracked);

    return ram_page_cache(tracked->memory->ram, physical_backing_page(&pages->backing, 0));
}

static void mdl_pages_free(struct physical_tracked *tracked)
{
    struct mdl_pages *pages = CONTAINER(tracked, struct mdl_pages, tracked);

    if (!physical_host_mdl_unchanged(pages->mdl, &pages->backing))
        VIOLATION("PHYS-077", "the MDL of %llu bytes was changed by the driver",
                  (unsigned long long)tracked->bytes);
    physical_backing_unmap(tracked->adapter->domain, &pages->backing);
    physical_host_mdl_destroy(tracked->memory, pages->mdl);
    physical_backing_give(tracked->memory, &pages->backing);
    physical_tracked_remove(tracked);
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
    NTSTATUS status = physical_pages_take_mdl(memory, &limits, (enum ram_cache)args->CacheType,
                                              RAM_MDL_PAGES, &pages->backing);

    if (status != STATUS_SUCCESS)
        return status;
    pages->mdl = physical_host_mdl_create(memory, &pages->backing);
    if (!pages->mdl)
        goto no_mdl;
    if (!physical_backing_map(adapter->domain, &pages->backing))
        goto no_mapping;
    if (physical_tracked_enter(&pages->tracked, memory, adapter, &mdl_pages_class,
                               pages->backing.pages * PAGE_BYTES, 0))
        return STATUS_SUCCESS;
    physical_backing_unmap(adapter->domain, &pages->backing);
no_mapping:
    physical_host_mdl_destroy(memory, pages->mdl);
no_mdl:
    physical_backing_give(memory, &pages->backing);
    return STATUS_INSUFFICIENT_RESOURCES;
}

NTSTATUS physical_mdl_allocate(struct physical_adapter *adapter, DXGKARGCB_ALLOCATEPAGESFORMDL *args)
{
    struct mdl_pages *pages;
    NTSTATUS status;

    if (!args)
        return physical_refuse("PHYS-015", "NULL argument to DxgkCbAllocatePagesForMdl");
    args->hMemoryHandle = NULL;
    args->pMdl = NULL;
    if (!physical_gate_acquire(adapter))
        return STATUS_INVALID_DEVICE_STATE;
    if (!physical_gate_legacy(adapter))
        return STATUS_NOT_SUPPORTED;
    status = physical_pages_check_cache(args->CacheType);
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
    args->hMemoryHandle = physical_tracked_handle(&pages->tracked);
    args->pMdl = pages->mdl;
    return STATUS_SUCCESS;
}

NTSTATUS physical_mdl_free(struct physical_adapter *adapter, const DXGKARGCB_FREEPAGESFROMMDL *args)
{
    struct physical_tracked *tracked;

    if (!args)
        return physical_refuse("PHYS-015", "NULL argument to DxgkCbFreePagesFromMdl");
    tracked = physical_tracked_find(adapter->memory, adapter, PHYSICAL_MDL_PAGES,
                                    (uintptr_t)args->hMemoryHandle, "PHYS-017");
    if (!tracked)
        return STATUS_INVALID_HANDLE;
    mdl_pages_free(tracked);
    return STATUS_SUCCESS;
}
