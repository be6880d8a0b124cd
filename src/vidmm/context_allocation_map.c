/* SPDX-License-Identifier: MIT */
/*
 * DxgkCbMapContextAllocation: a context allocation in the address space of its process. The callback has no status, so
 * whatever makes it return 0 is told here: a mistake of the driver's as a violation, an outcome that the callback's page
 * names (the addresses are taken, the window has no room, no memory) as a note.
 */
#include "vidmm/context_allocation.h"
#include "vidmm/gpu_va.h"

typedef unsigned long long ull;

/* ---- arguments (CTXA-050) ---- */

static bool sizes_good(const struct context_allocation *item,
                       const DXGKARGCB_MAPCONTEXTALLOCATION *args)
{
    if (args->SizeInPages == 0) {
        VIOLATION("CTXA-050", "SizeInPages is 0");
        return false;
    }
    if (!range_inside(args->OffsetInPages, args->SizeInPages, item->allocation->pages)) {
        VIOLATION("CTXA-050",
                  "OffsetInPages %llu and SizeInPages %llu pass the end of the context allocation, "
                  "which has %llu pages",
                  (ull)args->OffsetInPages, (ull)args->SizeInPages, (ull)item->allocation->pages);
        return false;
    }
    return true;
}

static bool protection_good(D3DDDIGPUVIRTUALADDRESS_PROTECTION_TYPE protection)
{
    const char *what = protection.Zero            ? "Zero"
                       : protection.NoAccess      ? "NoAccess"
                       : protection.SystemUseOnly ? "SystemUseOnly"
                       : protection.Reserved      ? "a reserved bit"
                                                  : NULL;

    if (what)
        VIOLATION("CTXA-050", "Protection 0x%llx: a context allocation cannot be mapped with %s",
                  (ull)protection.Value, what);
    return !what;
}

static bool base_good(const struct vidmm_space *space, const DXGKARGCB_MAPCONTEXTALLOCATION *args)
{
    const struct table_geometry *geometry = &space->shared->geometry;
    uint64_t first = args->BaseAddress >> PAGE_BITS;

    if (args->BaseAddress % PAGE_BYTES != 0) {
        VIOLATION("CTXA-050", "BaseAddress 0x%llx is no multiple of 4096", (ull)args->BaseAddress);
        return false;
    }
    /* SizeInPages is that of an allocation at most: no overflow. GPUVA-058, GPUVA-061. */
    if (first < geometry->span || first + args->SizeInPages > geometry->end) {
        VIOLATION("CTXA-050",
                  "%llu pages at BaseAddress 0x%llx are outside the address space, which has room "
                  "from 0x%llx to 0x%llx",
                  (ull)args->SizeInPages, (ull)args->BaseAddress,
                  (ull)(geometry->span << PAGE_BITS), (ull)(geometry->end << PAGE_BITS) - 1);
        return false;
    }
    return true;
}

static bool window_good(const DXGKARGCB_MAPCONTEXTALLOCATION *args)
{
    const char *wrong = NULL;

    if (args->MinimumAddress % PAGE_BYTES != 0 || args->MaximumAddress % PAGE_BYTES != 0)
        wrong = "both must be multiples of 4096";
    else if (args->MaximumAddress != 0 && args->MaximumAddress <= args->MinimumAddress)
        wrong = "the first must be the lower";
    if (wrong)
        VIOLATION("CTXA-050", "MinimumAddress 0x%llx, MaximumAddress 0x%llx: %s",
                  (ull)args->MinimumAddress, (ull)args->MaximumAddress, wrong);
    return !wrong;
}

static bool arguments_good(const struct context_allocation *item,
                           const DXGKARGCB_MAPCONTEXTALLOCATION *args)
{
    if (!sizes_good(item, args) || !protection_good(args->Protection))
        return false;
    return args->BaseAddress != 0 ? base_good(item->process->space, args) : window_good(args);
}

/* Can it have addresses at all? */
static bool mappable(const struct context_allocation *item)
{
    const char *why = NULL;

    if (!item->process->space)
        why = "the adapter has no GpuMmu";
    else if (item->context && !item->context->virtual_addressing)
        why = "its context was created without virtual addressing";
    if (why)
        NOTE("CTXA-050", "the context allocation has no GPU virtual addresses: %s", why);
    return !why;
}

/* ---- outcomes ---- */

static void tell_no_room(const DXGKARGCB_MAPCONTEXTALLOCATION *args)
{
    NOTE("CTXA-047",
         "no room for %llu pages between MinimumAddress 0x%llx and MaximumAddress 0x%llx%s",
         (ull)args->SizeInPages, (ull)args->MinimumAddress, (ull)args->MaximumAddress,
         args->MaximumAddress == 0 ? " (no limit)" : "");
}

static void tell_why(const struct va_context_map *map, NTSTATUS status)
{
    const DXGKARGCB_MAPCONTEXTALLOCATION *args = map->args;

    if (map->taken.pages != 0)
        NOTE("CTXA-046", "%llu pages at BaseAddress 0x%llx are not free: taken by %s",
             (ull)args->SizeInPages, (ull)args->BaseAddress,
             va_neighbour_describe(&map->taken).text);
    else if (map->conflict)
        VIOLATION("CTXA-049",
                  "DriverProtection 0x%llx: pages %llu to %llu are mapped with another, unique one",
                  (ull)args->DriverProtection, (ull)args->OffsetInPages,
                  (ull)(args->OffsetInPages + args->SizeInPages - 1));
    else if (map->no_room)
        tell_no_room(args);
    else if (status == STATUS_INVALID_DEVICE_REQUEST)
        context_allocation_tell_blocked("CTXA-067", map->process->vidmm);
    else if (status == STATUS_NO_MEMORY)
        NOTE("CTXA-044", "no memory for the page tables of %llu pages", (ull)args->SizeInPages);
    else
        NOTE("CTXA-044", "the mapping failed with 0x%08x: the adapter is reset, stops or was lost",
             (unsigned)status);
}

D3DGPU_VIRTUAL_ADDRESS vidmm_cb_map_context_allocation(struct ddi_adapter *adapter,
                                                       const DXGKARGCB_MAPCONTEXTALLOCATION *args)
{
    struct vidmm *vidmm = adapter->vidmm;
    struct va_context_map map = {.args = args, .may_wait = !context_allocation_blocked(vidmm)};
    struct context_allocation *item;
    NTSTATUS status = STATUS_INVALID_PARAMETER;

    if (context_allocation_inside_paging("CTXA-067"))
        return 0;
    sim_mutex_lock(&vidmm->lock);
    item = context_allocation_use(adapter, args->hAllocation);
    sim_mutex_unlock(&vidmm->lock);
    if (!item) {
        VIOLATION("CTXA-045", "hAllocation is %s, not that of a context allocation of the adapter",
                  ddi_handle_describe(&adapter->handles, args->hAllocation).text);
        return 0;
    }
    if (mappable(item) && arguments_good(item, args)) {
        map.process = item->process;
        map.allocation = item->allocation;
        status = va_map_context_allocation(&map);
        if (!NT_SUCCESS(status))
            tell_why(&map, status);
    }
    sim_mutex_lock(&vidmm->lock);
    context_allocation_unuse(item);
    sim_mutex_unlock(&vidmm->lock);
    return NT_SUCCESS(status) ? map.address : 0;
}
