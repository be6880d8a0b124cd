/* SPDX-License-Identifier: MIT */
/*
 * DxgkCbMapContextAllocation: mapping a context allocation in the address space of its process. The
 * callback returns no status, so the reason for a result of 0 is reported here: mistakes of the
 * driver as violations; failures that the callback's documentation mentions (the addresses are
 * taken, no room between the limits, no memory) as notes.
 */
#include "ddi/ddi.h"
#include "ddi/handle.h"
#include "sim/mutex.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/checked.h"
#include "util/list.h"
#include "verify/verify.h"
#include "vidmm/context/context_allocation.h"
#include "vidmm/paging/driver_run.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/of_adapter.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/space/address_space.h"
#include "vidmm/space/gpu_mmu.h"
#include "vidmm/space/va_context_map.h"
#include "vidmm/space/va_neighbour.h"

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
    const struct table_geometry *geometry = &space->mmu->geometry;
    uint64_t first = args->BaseAddress >> PAGE_BITS;

    if (args->BaseAddress % PAGE_BYTES != 0) {
        VIOLATION("CTXA-050", "BaseAddress 0x%llx is no multiple of 4096", (ull)args->BaseAddress);
        return false;
    }
    /* No overflow: SizeInPages is at most the size of an allocation. GPUVA-058, GPUVA-061. */
    if (first < geometry->first || first + args->SizeInPages > geometry->end) {
        VIOLATION("CTXA-050",
                  "%llu pages at BaseAddress 0x%llx are outside the address space, which has room "
                  "from 0x%llx to 0x%llx",
                  (ull)args->SizeInPages, (ull)args->BaseAddress,
                  (ull)(geometry->first << PAGE_BITS), (ull)(geometry->end << PAGE_BITS) - 1);
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

/* Can it have GPU virtual addresses at all? */
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

/* ---- reporting failures ---- */

static void tell_no_room(const DXGKARGCB_MAPCONTEXTALLOCATION *args)
{
    NOTE("CTXA-047",
         "no room for %llu pages between MinimumAddress 0x%llx and MaximumAddress 0x%llx%s",
         (ull)args->SizeInPages, (ull)args->MinimumAddress, (ull)args->MaximumAddress,
         args->MaximumAddress == 0 ? " (no limit)" : "");
}

static void tell_failed(NTSTATUS status)
{
    NOTE("CTXA-044", "the mapping failed with 0x%08x: the adapter is reset, stops or was lost",
         (unsigned)status);
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
        tell_failed(status);
}

/* ---- the callback ---- */

struct map_call {
    struct driver_run run;
    struct context_allocation *item; /* held by context_allocation_use */
    DXGKARGCB_MAPCONTEXTALLOCATION args;
    struct va_context_map map; /* map.args points to `args` */
};

static void map_release(struct driver_run *run)
{
    struct map_call *call = CONTAINER(run, struct map_call, run);

    context_allocation_unuse(call->item);
    util_free(call);
}

static NTSTATUS map_job(struct vidmm *vidmm, struct paging_turn *turn, struct driver_run *run)
{
    struct map_call *call = CONTAINER(run, struct map_call, run);
    NTSTATUS status = va_map_context_allocation(&call->map);

    (void)turn;
    (void)vidmm;
    if (NT_SUCCESS(status) && run->left)
        va_unmap_context_allocation(&call->map); /* the callback has returned 0 already */
    return status;
}

static NTSTATUS map(struct map_call *call, bool may_wait)
{
    struct vidmm *vidmm = call->item->vidmm;
    NTSTATUS status;

    if (!driver_lock(vidmm))
        return STATUS_DEVICE_REMOVED;
    status = va_map_context_allocation(&call->map);
    sim_mutex_unlock(&vidmm->lock);
    if (status != STATUS_NO_MEMORY || !call->map.for_worker)
        return vidmm_status(status);
    return may_wait ? vidmm_status(driver_run_wait(vidmm, &call->run))
                    : STATUS_INVALID_DEVICE_REQUEST;
}

static D3DGPU_VIRTUAL_ADDRESS map_item(struct context_allocation *item,
                                       const DXGKARGCB_MAPCONTEXTALLOCATION *args)
{
    bool may_wait = !context_allocation_blocked(item->vidmm);
    D3DGPU_VIRTUAL_ADDRESS address = 0;
    struct map_call *call;
    NTSTATUS status;

    if (!mappable(item) || !arguments_good(item, args)) {
        context_allocation_unuse(item);
        return 0;
    }
    call = util_zalloc(1, sizeof(*call));
    if (!call) {
        NOTE("CTXA-044", "no memory for the records of a mapping");
        context_allocation_unuse(item);
        return 0;
    }
    driver_run_init(&call->run, map_job, map_release);
    call->item = item;
    call->args = *args;
    call->map = (struct va_context_map){
        .process = item->process, .allocation = item->allocation, .args = &call->args};
    status = map(call, may_wait);
    if (NT_SUCCESS(status))
        address = call->map.address;
    else
        tell_why(&call->map, status);
    driver_run_put(&call->run);
    return address;
}

D3DGPU_VIRTUAL_ADDRESS vidmm_cb_map_context_allocation(struct ddi_adapter *adapter,
                                                       const DXGKARGCB_MAPCONTEXTALLOCATION *args)
{
    struct vidmm *vidmm = vidmm_of_adapter(adapter);
    struct context_allocation *item;

    if (context_allocation_inside_paging("CTXA-067"))
        return 0;
    if (!driver_lock(vidmm)) {
        tell_failed(STATUS_DEVICE_REMOVED);
        return 0;
    }
    item = context_allocation_use(adapter, args->hAllocation);
    sim_mutex_unlock(&vidmm->lock);
    if (item)
        return map_item(item, args);
    VIOLATION("CTXA-045", "hAllocation is %s, not that of a context allocation of the adapter",
              ddi_handle_describe(&adapter->handles, args->hAllocation).text);
    return 0;
}
