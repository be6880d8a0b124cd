/* SPDX-License-Identifier: MIT */
/* MmMapIoSpace for BARs (through the bus) and for locked RAM. */
#include "bus/bus.h"
#include "bus/window.h"
#include "nt/base/export.h"
#include "nt/base/faults.h"
#include "nt/base/nt_report.h"
#include "nt/base/resource.h"
#include "nt/base/state.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "nt/mm/address_query.h"
#include "nt/mm/retired_view.h"
#include "ram/ram.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/checked.h"
#include "util/hash.h"
#include "util/list.h"
#include "verify/verify.h"

struct nt_io_space {
    struct nt_resource resource;
    uint8_t *address;
    uint64_t physical, bytes;
    MEMORY_CACHING_TYPE cache;
    void *view; /* view of RAM */
    uint64_t pages;
};

const struct nt_component nt_io_space_component = NT_MAP_COMPONENT(io_spaces);

static struct nt_io_space *find(const void *address)
{
    return address ? hash_get(nt_state()->io_spaces, (uintptr_t)address) : NULL;
}

/* Whether another mapping of a part of the range has another cache type. The list of mappings of
 * device memory is short, and mapping is rare. */
static bool cache_conflicts(uint64_t physical, uint64_t bytes, MEMORY_CACHING_TYPE *cache)
{
    uint32_t cursor = 0;
    uint64_t key;
    void *value;

    while (hash_next(nt_state()->io_spaces, &cursor, &key, &value)) {
        const struct nt_io_space *space = value;

        if (ranges_overlap(space->physical, space->bytes, physical, bytes) &&
            space->cache != *cache) {
            *cache = space->cache;
            return true;
        }
    }
    return false;
}

/* RAM must be locked or allocated, so that it cannot get another owner while it is mapped. */
static bool ram_is_held(uint64_t physical, uint64_t bytes)
{
    struct ram *ram = nt_state()->ram;
    struct page_number page = phys_page((struct phys_addr){physical});
    struct page_number last = phys_page((struct phys_addr){physical + bytes - 1});

    for (; page.value <= last.value; page.value++) {
        if (ram_page_owner(ram, page) == RAM_FREE)
            return false;
    }
    return true;
}

static bool map_ram(struct nt_io_space *space)
{
    struct ram *ram = nt_state()->ram;
    struct page_number first = phys_page((struct phys_addr){space->physical});
    uint64_t offset = space->physical % PAGE_BYTES;

    space->pages = align_up(offset + space->bytes, PAGE_BYTES) / PAGE_BYTES;
    space->view = ram_view_reserve(ram, space->pages);
    if (!space->view)
        return false;
    for (uint64_t i = 0; i < space->pages; i++) {
        struct page_number page = {first.value + i};

        if (!ram_view_point(ram, space->view, i, &page, 1, true)) {
            ram_view_release(ram, space->view, space->pages);
            return false;
        }
    }
    space->address = (uint8_t *)space->view + offset;
    return true;
}

static void unmap(struct nt_io_space *space)
{
    if (space->view)
        ram_view_release(nt_state()->ram, space->view, space->pages);
    else
        bus_unmap(nt_state()->bus, space->address);
}

static struct nt_io_space *create(uint64_t physical, uint64_t bytes, MEMORY_CACHING_TYPE cache)
{
    struct nt *nt = nt_state();
    struct nt_io_space *space = util_zalloc(1, sizeof(*space));

    if (!space)
        return NULL;
    space->physical = physical;
    space->bytes = bytes;
    space->cache = cache;
    if (bus_claims(nt->bus, (struct phys_addr){physical}, bytes))
        space->address = bus_map(nt->bus, (struct phys_addr){physical}, bytes);
    else
        map_ram(space);
    if (!space->address) {
        util_free(space);
        return NULL;
    }
    bus_set_cache(nt->bus, space->address, nt_address_cache_type(cache));
    if (!hash_put(nt->io_spaces, (uintptr_t)space->address, space)) {
        unmap(space);
        util_free(space);
        return NULL;
    }
    return space;
}

static void destroy(struct nt_io_space *space)
{
    nt_resource_untrack(&space->resource);
    hash_remove(nt_state()->io_spaces, (uintptr_t)space->address);
    unmap(space);
    util_free(space);
}

static void retire(const struct nt_io_space *space, const char *routine, const void *caller)
{
    char what[96];

    if (space->view ||
        !bus_describe(nt_state()->bus, (struct phys_addr){space->physical}, what, sizeof(what)))
        snprintf(what, sizeof(what), "RAM at 0x%llx", (unsigned long long)space->physical);
    nt_retired_view_add(space->address, space->bytes, what, routine, caller);
}

static void reclaim(struct nt_resource *resource)
{
    destroy(CONTAINER(resource, struct nt_io_space, resource));
}

static const struct nt_resource_class io_space_class = {
    .rule = "NT-135",
    .noun = "mapping made by MmMapIoSpace",
    .reclaim = reclaim,
};

static PVOID map(PHYSICAL_ADDRESS address, SIZE_T bytes, MEMORY_CACHING_TYPE cache,
                 const char *routine, const void *caller)
{
    struct nt *nt = nt_state();
    uint64_t physical = (uint64_t)address.QuadPart;
    struct nt_io_space *space;
    bool device;

    nt_level(NT_DISPATCH, "NT-134", 0x73, routine);
    if (bytes == 0 || cache < MmNonCached || cache >= MmMaximumCacheType) {
        VIOLATION("NT-134", "%s of %llu bytes with cache type %d", routine,
                  (unsigned long long)bytes, (int)cache);
        return NULL;
    }
    device = bus_claims(nt->bus, (struct phys_addr){physical}, bytes);
    if (!device && !range_inside(physical, bytes, ram_bytes(nt->ram)))
        return NULL;
    if (!device && !ram_is_held(physical, bytes)) {
        NT_VERIFIER("NT-134", 0x83, physical, bytes, 0, "%s of RAM at %#llx that is not locked",
                    routine, (unsigned long long)physical);
        return NULL;
    }
    if (device && cache_conflicts(physical, bytes, &cache))
        VIOLATION("NT-136", "%s of %#llx with another cache type than a mapping that exists",
                  routine, (unsigned long long)physical);
    if (nt_faults_due())
        return NULL;
    space = create(physical, bytes, cache);
    if (!space)
        return NULL;
    nt_resource_track(&space->resource, &io_space_class, caller);
    return space->address;
}

NT_EXPORT PVOID NTAPI MmMapIoSpace(PHYSICAL_ADDRESS PhysicalAddress, SIZE_T NumberOfBytes,
                                   MEMORY_CACHING_TYPE CacheType)
{
    NT_ENTER();
    return map(PhysicalAddress, NumberOfBytes, CacheType, __func__, NT_CALLER());
}

NT_EXPORT PVOID NTAPI MmMapIoSpaceEx(PHYSICAL_ADDRESS PhysicalAddress, SIZE_T NumberOfBytes,
                                     ULONG Protect)
{
    const ULONG access_flags = PAGE_READONLY | PAGE_READWRITE | PAGE_EXECUTE | PAGE_EXECUTE_READ |
                               PAGE_EXECUTE_READWRITE;
    const ULONG cache_flags = PAGE_NOCACHE | PAGE_WRITECOMBINE;
    MEMORY_CACHING_TYPE cache = MmCached;

    NT_ENTER();
    if (!is_power_of_two(Protect & access_flags) || (Protect & cache_flags) == cache_flags ||
        Protect & ~(access_flags | cache_flags)) {
        VIOLATION("NT-134", "%s with protection %#x", __func__, Protect);
        return NULL;
    }
    if (Protect & PAGE_NOCACHE)
        cache = MmNonCached;
    else if (Protect & PAGE_WRITECOMBINE)
        cache = MmWriteCombined;
    return map(PhysicalAddress, NumberOfBytes, cache, __func__, NT_CALLER());
}

NT_EXPORT VOID NTAPI MmUnmapIoSpace(PVOID BaseAddress, SIZE_T NumberOfBytes)
{
    struct nt_io_space *space;

    NT_ENTER();
    nt_level(NT_DISPATCH, "NT-135", 0x7B, __func__);
    space = find(BaseAddress);
    if (!space) {
        VIOLATION("NT-135", "%s of an address that is not mapped", __func__);
        return;
    }
    if (space->bytes != NumberOfBytes)
        VIOLATION("NT-135", "%s with %llu bytes, mapped were %llu", __func__,
                  (unsigned long long)NumberOfBytes, (unsigned long long)space->bytes);
    retire(space, __func__, NT_CALLER());
    destroy(space);
}
