/* SPDX-License-Identifier: MIT */
/* Physically contiguous memory: runs of frames, accessed through the direct view. */
#include <stdio.h>
#include <string.h>

#include "nt/base/export.h"
#include "nt/base/faults.h"
#include "nt/base/resource.h"
#include "nt/base/state.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "nt/mm/address_query.h"
#include "ram/ram.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/hash.h"
#include "util/list.h"
#include "verify/verify.h"

#define BAD_POOL_CALLER  0xC2u
#define CONTIGUOUS_FRESH 0xCEu

struct nt_contiguous {
    struct nt_resource resource;
    uint8_t *address;
    uint64_t bytes, pages;
    struct page_number first;
    MEMORY_CACHING_TYPE cache;
};

const struct nt_component nt_contiguous_component = NT_MAP_COMPONENT(contiguous);

struct wanted {
    SIZE_T bytes;
    PHYSICAL_ADDRESS low, high, boundary;
    MEMORY_CACHING_TYPE cache;
};

static bool cache_known(MEMORY_CACHING_TYPE cache)
{
    return cache >= MmNonCached && cache < MmMaximumCacheType;
}

static struct nt_contiguous *take(const struct wanted *wanted)
{
    struct nt *nt = nt_state();
    struct nt_contiguous *block = util_zalloc(1, sizeof(*block));
    struct ram_request request = {
        .pages = BYTES_TO_PAGES(wanted->bytes),
        .low = {(uint64_t)wanted->low.QuadPart},
        .high = {(uint64_t)wanted->high.QuadPart},
        .boundary_bytes = (uint64_t)wanted->boundary.QuadPart,
        .owner = RAM_CONTIGUOUS,
        .cache = nt_address_cache_type(wanted->cache),
    };

    if (!block)
        return NULL;
    if (!ram_take_contiguous(nt->ram, &request, &block->first)) {
        util_free(block);
        return NULL;
    }
    block->bytes = wanted->bytes;
    block->pages = request.pages;
    block->cache = wanted->cache;
    block->address = ram_direct(nt->ram, page_phys(block->first));
    if (!hash_put(nt->contiguous, (uintptr_t)block->address, block)) {
        ram_give_contiguous(nt->ram, block->first, block->pages);
        util_free(block);
        return NULL;
    }
    return block;
}

static void describe(const struct nt_resource *resource, char *text, size_t bytes);
static void reclaim(struct nt_resource *resource);

static const struct nt_resource_class contiguous_class = {
    .rule = "NT-027",
    .noun = "contiguous memory block",
    .describe = describe,
    .reclaim = reclaim,
};

static PVOID allocate(const struct wanted *wanted, const char *routine, const void *caller)
{
    struct nt_contiguous *block;
    uint64_t boundary = (uint64_t)wanted->boundary.QuadPart;

    nt_level(NT_DISPATCH, "NT-132", NT_NO_CODE, routine);
    if (wanted->bytes == 0 || !cache_known(wanted->cache) ||
        (boundary != 0 && !is_power_of_two(boundary))) {
        VIOLATION("NT-132", "%s of %llu bytes, cache type %d, boundary %#llx", routine,
                  (unsigned long long)wanted->bytes, (int)wanted->cache,
                  (unsigned long long)boundary);
        return NULL;
    }
    if (wanted->bytes > ram_bytes(nt_state()->ram) || (boundary != 0 && boundary < PAGE_SIZE) ||
        nt_faults_due())
        return NULL;
    block = take(wanted);
    if (!block)
        return NULL;
    memset(block->address, CONTIGUOUS_FRESH, wanted->bytes < PAGE_SIZE ? wanted->bytes : PAGE_SIZE);
    nt_resource_track(&block->resource, &contiguous_class, caller);
    return block->address;
}

NT_EXPORT PVOID NTAPI MmAllocateContiguousMemory(SIZE_T NumberOfBytes,
                                                 PHYSICAL_ADDRESS HighestAcceptableAddress)
{
    struct wanted wanted = {
        .bytes = NumberOfBytes, .high = HighestAcceptableAddress, .cache = MmCached};

    NT_ENTER();
    return allocate(&wanted, __func__, NT_CALLER());
}

NT_EXPORT PVOID NTAPI MmAllocateContiguousMemorySpecifyCache(
    SIZE_T NumberOfBytes, PHYSICAL_ADDRESS LowestAcceptableAddress,
    PHYSICAL_ADDRESS HighestAcceptableAddress, PHYSICAL_ADDRESS BoundaryAddressMultiple,
    MEMORY_CACHING_TYPE CacheType)
{
    struct wanted wanted = {NumberOfBytes, LowestAcceptableAddress, HighestAcceptableAddress,
                            BoundaryAddressMultiple, CacheType};

    NT_ENTER();
    return allocate(&wanted, __func__, NT_CALLER());
}

NT_EXPORT PVOID NTAPI MmAllocateContiguousMemorySpecifyCacheNode(
    SIZE_T NumberOfBytes, PHYSICAL_ADDRESS LowestAcceptableAddress,
    PHYSICAL_ADDRESS HighestAcceptableAddress, PHYSICAL_ADDRESS BoundaryAddressMultiple,
    MEMORY_CACHING_TYPE CacheType, ULONG PreferredNode)
{
    struct wanted wanted = {NumberOfBytes, LowestAcceptableAddress, HighestAcceptableAddress,
                            BoundaryAddressMultiple, CacheType};

    NT_ENTER();
    (void)PreferredNode;
    return allocate(&wanted, __func__, NT_CALLER());
}

NT_EXPORT PVOID NTAPI MmAllocateContiguousNodeMemory(SIZE_T NumberOfBytes,
                                                     PHYSICAL_ADDRESS LowestAcceptableAddress,
                                                     PHYSICAL_ADDRESS HighestAcceptableAddress,
                                                     PHYSICAL_ADDRESS BoundaryAddressMultiple,
                                                     ULONG Protect, ULONG PreferredNode)
{
    struct wanted wanted = {NumberOfBytes, LowestAcceptableAddress, HighestAcceptableAddress,
                            BoundaryAddressMultiple,
                            Protect & PAGE_NOCACHE        ? MmNonCached
                            : Protect & PAGE_WRITECOMBINE ? MmWriteCombined
                                                          : MmCached};

    NT_ENTER();
    (void)PreferredNode;
    return allocate(&wanted, __func__, NT_CALLER());
}

/* ---- freeing ---- */

static void destroy(struct nt_contiguous *block)
{
    struct nt *nt = nt_state();

    nt_resource_untrack(&block->resource);
    hash_remove(nt->contiguous, (uintptr_t)block->address);
    ram_give_contiguous(nt->ram, block->first, block->pages);
    util_free(block);
}

static struct nt_contiguous *check_address(const void *address, const char *routine)
{
    struct nt_contiguous *block = address ? hash_get(nt_state()->contiguous, (uintptr_t)address)
                                          : NULL;
    struct phys_addr physical;

    nt_level(NT_DISPATCH, "NT-133", NT_NO_CODE, routine);
    if (!block && ram_physical(nt_state()->ram, address, &physical) &&
        ram_page_owner(nt_state()->ram, phys_page(physical)) == RAM_DRIVER_BLOCK)
        VIOLATION("PHYS-055", "%s of a block of DxgkCbAllocateContiguousMemory", routine);
    else if (!block)
        verify_fatal("NT-133", BAD_POOL_CALLER, 0x60, (uintptr_t)address, 0, 0,
                     "%s of an address that is no start of contiguous memory", routine);
    return block;
}

NT_EXPORT VOID NTAPI MmFreeContiguousMemory(PVOID BaseAddress)
{
    struct nt_contiguous *block;

    NT_ENTER();
    block = check_address(BaseAddress, __func__);
    if (block)
        destroy(block);
}

NT_EXPORT VOID NTAPI MmFreeContiguousMemorySpecifyCache(PVOID BaseAddress, SIZE_T NumberOfBytes,
                                                        MEMORY_CACHING_TYPE CacheType)
{
    struct nt_contiguous *block;

    NT_ENTER();
    block = check_address(BaseAddress, __func__);
    if (!block)
        return;
    if (block->bytes != NumberOfBytes || block->cache != CacheType)
        VIOLATION("NT-133", "%s with %llu bytes of cache type %d, allocated were %llu of type %d",
                  __func__, (unsigned long long)NumberOfBytes, (int)CacheType,
                  (unsigned long long)block->bytes, (int)block->cache);
    destroy(block);
}

NT_EXPORT PVOID NTAPI MmAllocateNonCachedMemory(SIZE_T NumberOfBytes)
{
    struct wanted wanted = {.bytes = NumberOfBytes, .cache = MmNonCached};

    NT_ENTER();
    return allocate(&wanted, __func__, NT_CALLER());
}

NT_EXPORT VOID NTAPI MmFreeNonCachedMemory(PVOID BaseAddress, SIZE_T NumberOfBytes)
{
    struct nt_contiguous *block;

    NT_ENTER();
    (void)NumberOfBytes;
    block = check_address(BaseAddress, __func__);
    if (block)
        destroy(block);
}

static void describe(const struct nt_resource *resource, char *text, size_t bytes)
{
    const struct nt_contiguous *block = CONTAINER(resource, struct nt_contiguous, resource);

    snprintf(text, bytes, " of %llu bytes", (unsigned long long)block->bytes);
}

static void reclaim(struct nt_resource *resource)
{
    destroy(CONTAINER(resource, struct nt_contiguous, resource));
}
