/* SPDX-License-Identifier: MIT */
/*
 * Common buffers: contiguous memory that a device and its driver use together for a long time
 * (NT-188, NT-189). The device has it at a logical address: where an IOMMU translates, one that the
 * IOMMU's domain chose; else that of the memory itself.
 */
#include <stdio.h>
#include <string.h>

#include "iommu/iommu.h"
#include "nt/base/export.h"
#include "nt/base/faults.h"
#include "nt/base/state.h"
#include "nt/dma/dma_mapping.h"
#include "nt/dma/dma_members.h"
#include "nt/dma/dma_record.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "nt/mm/address_query.h"
#include "ram/ram.h"
#include "util/alloc.h"
#include "verify/verify.h"

#define FRESH            0xCD /* what the driver finds: it must not rely on zeros */
#define LARGE_PAGE_FLAG  0x1u /* of WithBounds: in large pages */
#define LARGE_PAGE_BYTES ((uint64_t)2 << 20)

struct nt_common_buffer {
    struct nt_resource resource;
    struct nt_dma_adapter *adapter;
    struct nt_dma_mapping mapping;
    uint8_t *address;
    ULONG bytes;
    bool cached;
};

/* What is asked for; the bounds are of logical addresses, inclusive. */
struct wanted {
    ULONG bytes;
    uint64_t low, high, align;
    bool cached;
};

static void give(struct nt_common_buffer *buffer)
{
    ram_give_contiguous(nt_state()->ram, buffer->mapping.first, buffer->mapping.pages);
}

static uint64_t logical_of(const struct nt_common_buffer *buffer)
{
    return buffer->mapping.logical_first.value << PAGE_BITS;
}

static void destroy(struct nt_common_buffer *buffer)
{
    hash_remove(&nt_state()->dma->buffers, (uintptr_t)buffer->address);
    nt_dma_unmap(&buffer->mapping);
    give(buffer);
    buffer->adapter->buffers--;
    util_free(buffer);
}

static void describe(const struct nt_resource *resource, char *text, size_t bytes)
{
    const struct nt_common_buffer *buffer = CONTAINER(resource, struct nt_common_buffer, resource);

    snprintf(text, bytes, " of %u bytes at logical address 0x%llx", buffer->bytes,
             (unsigned long long)logical_of(buffer));
}

static void reclaim(struct nt_resource *resource)
{
    destroy(CONTAINER(resource, struct nt_common_buffer, resource));
}

static const struct nt_resource_class buffer_class = {
    .rule = "NT-189",
    .noun = "common buffer",
    .describe = describe,
    .reclaim = reclaim,
};

/* ---- allocation ---- */

static bool translates(const struct nt_dma_adapter *adapter)
{
    const struct iommu_domain *domain = nt_dma_domain(adapter->device);

    return domain && iommu_domain_mode(domain) == IOMMU_REMAP;
}

static bool take(struct nt_common_buffer *buffer, const struct wanted *wanted)
{
    const bool anywhere = translates(buffer->adapter);
    struct ram_request request = {
        .pages = buffer->mapping.pages,
        .low = {anywhere ? 0 : wanted->low},
        .high = {anywhere ? 0 : wanted->high},
        .align_bytes = wanted->align,
        .owner = RAM_CONTIGUOUS,
        .cache = nt_address_cache_type(wanted->cached ? MmCached : MmNonCached),
    };

    return ram_take_contiguous(nt_state()->ram, &request, &buffer->mapping.first);
}

/* The frames, where the device can reach them. On failure there are none. */
static bool furnish(struct nt_common_buffer *buffer, const struct wanted *wanted)
{
    uint64_t last;

    if (!take(buffer, wanted))
        return false;
    if (!nt_dma_map(&buffer->mapping, buffer->adapter->device)) {
        give(buffer);
        return false;
    }
    last = logical_of(buffer) + buffer->mapping.pages * PAGE_BYTES - 1;
    if (logical_of(buffer) >= wanted->low && last <= wanted->high)
        return true;
    nt_dma_unmap(&buffer->mapping);
    give(buffer);
    return false;
}

static struct nt_common_buffer *create(struct nt_dma_adapter *adapter, const struct wanted *wanted)
{
    struct nt_common_buffer *buffer = util_zalloc(1, sizeof(*buffer));

    if (!buffer)
        return NULL;
    buffer->adapter = adapter;
    buffer->bytes = wanted->bytes;
    buffer->cached = wanted->cached;
    buffer->mapping.pages = BYTES_TO_PAGES((uint64_t)wanted->bytes);
    if (!furnish(buffer, wanted)) {
        util_free(buffer);
        return NULL;
    }
    buffer->address = ram_direct(nt_state()->ram, page_phys(buffer->mapping.first));
    if (hash_put(&nt_state()->dma->buffers, (uintptr_t)buffer->address, buffer))
        return buffer;
    nt_dma_unmap(&buffer->mapping);
    give(buffer);
    util_free(buffer);
    return NULL;
}

static PVOID allocate(struct nt_dma_adapter *adapter, struct wanted *wanted, PHYSICAL_ADDRESS *out,
                      const char *routine, const void *caller)
{
    struct nt_common_buffer *buffer = NULL;

    if (wanted->bytes == 0 || !out) {
        VIOLATION("NT-188", "%s of %u bytes with LogicalAddress %s", routine, wanted->bytes,
                  out ? "given" : "NULL");
        return NULL;
    }
    if (wanted->high > nt_dma_reach(adapter))
        wanted->high = nt_dma_reach(adapter);
    if (wanted->low <= wanted->high && !nt_faults_due())
        buffer = create(adapter, wanted);
    if (!buffer) {
        NOTE("NT-188",
             "%s returns NULL: no %u contiguous bytes for the device between logical addresses "
             "0x%llx and 0x%llx (%u address bits)",
             routine, wanted->bytes, (unsigned long long)wanted->low,
             (unsigned long long)wanted->high, adapter->bits);
        return NULL;
    }
    memset(buffer->address, FRESH, buffer->bytes < PAGE_BYTES ? buffer->bytes : PAGE_BYTES);
    adapter->buffers++;
    nt_resource_track(&buffer->resource, &buffer_class, caller);
    out->QuadPart = (LONGLONG)logical_of(buffer);
    return buffer->address;
}

PVOID NTAPI nt_dma_allocate_common_buffer(PDMA_ADAPTER DmaAdapter, ULONG Length,
                                          PPHYSICAL_ADDRESS LogicalAddress, BOOLEAN CacheEnabled)
{
    static const char routine[] = "AllocateCommonBuffer";
    struct wanted wanted = {.bytes = Length, .high = UINT64_MAX, .cached = true};
    struct nt_dma_adapter *adapter;

    NT_ENTER();
    (void)CacheEnabled; /* x64: always cached */
    adapter = nt_dma_adapter_find(DmaAdapter, routine);
    if (!adapter || !nt_level(NT_PASSIVE, "NT-188", NT_NO_CODE, routine))
        return NULL;
    return allocate(adapter, &wanted, LogicalAddress, routine, NT_CALLER());
}

PVOID NTAPI nt_dma_allocate_common_buffer_ex(PDMA_ADAPTER DmaAdapter,
                                             PPHYSICAL_ADDRESS MaximumAddress, ULONG Length,
                                             PPHYSICAL_ADDRESS LogicalAddress, BOOLEAN CacheEnabled,
                                             NODE_REQUIREMENT PreferredNode)
{
    static const char routine[] = "AllocateCommonBufferEx";
    struct wanted wanted = {.bytes = Length, .cached = CacheEnabled};
    struct nt_dma_adapter *adapter;

    NT_ENTER();
    (void)PreferredNode; /* there is one */
    wanted.high = MaximumAddress ? (uint64_t)MaximumAddress->QuadPart : UINT64_MAX;
    adapter = nt_dma_adapter_find_v3(DmaAdapter, routine);
    if (!adapter || !nt_level(NT_PASSIVE, "NT-188", NT_NO_CODE, routine))
        return NULL;
    return allocate(adapter, &wanted, LogicalAddress, routine, NT_CALLER());
}

PVOID NTAPI nt_dma_allocate_common_buffer_with_bounds(PDMA_ADAPTER DmaAdapter,
                                                      PPHYSICAL_ADDRESS MinimumAddress,
                                                      PPHYSICAL_ADDRESS MaximumAddress, ULONG Length,
                                                      ULONG Flags, MEMORY_CACHING_TYPE *CacheType,
                                                      NODE_REQUIREMENT PreferredNode,
                                                      PPHYSICAL_ADDRESS LogicalAddress)
{
    static const char routine[] = "AllocateCommonBufferWithBounds";
    struct wanted wanted = {.bytes = Length};
    struct nt_dma_adapter *adapter;

    NT_ENTER();
    (void)PreferredNode;
    wanted.low = MinimumAddress ? (uint64_t)MinimumAddress->QuadPart : 0;
    wanted.high = MaximumAddress ? (uint64_t)MaximumAddress->QuadPart : UINT64_MAX;
    wanted.align = Flags & LARGE_PAGE_FLAG ? LARGE_PAGE_BYTES : 0;
    wanted.cached = !CacheType || *CacheType == MmCached;
    adapter = nt_dma_adapter_find_v3(DmaAdapter, routine);
    if (!adapter || !nt_level(NT_PASSIVE, "NT-188", NT_NO_CODE, routine))
        return NULL;
    if ((Flags & ~LARGE_PAGE_FLAG) ||
        (CacheType && *CacheType != MmCached && *CacheType != MmNonCached)) {
        VIOLATION("NT-188",
                  "%s with flags 0x%x and cache type %d: known are flag 1, MmNonCached "
                  "and MmCached",
                  routine, Flags, CacheType ? (int)*CacheType : -1);
        return NULL;
    }
    return allocate(adapter, &wanted, LogicalAddress, routine, NT_CALLER());
}

/* ---- freeing ---- */

void NTAPI nt_dma_free_common_buffer(PDMA_ADAPTER DmaAdapter, ULONG Length,
                                     PHYSICAL_ADDRESS LogicalAddress, PVOID VirtualAddress,
                                     BOOLEAN CacheEnabled)
{
    static const char routine[] = "FreeCommonBuffer";
    struct nt_common_buffer *buffer;
    struct nt_dma_adapter *adapter;

    NT_ENTER();
    (void)CacheEnabled;
    adapter = nt_dma_adapter_find(DmaAdapter, routine);
    if (!adapter || !nt_level(NT_PASSIVE, "NT-189", NT_NO_CODE, routine))
        return;
    buffer = VirtualAddress ? hash_get(&nt_state()->dma->buffers, (uintptr_t)VirtualAddress) : NULL;
    if (!buffer) {
        VIOLATION("NT-189", "%s of %p, which is no start of a common buffer", routine,
                  VirtualAddress);
        return;
    }
    if (buffer->adapter != adapter)
        VIOLATION("NT-189", "%s of a buffer of another adapter object", routine);
    if (buffer->bytes != Length || logical_of(buffer) != (uint64_t)LogicalAddress.QuadPart)
        VIOLATION("NT-189",
                  "%s with %u bytes at logical address 0x%llx, allocated were %u at 0x%llx",
                  routine, Length, (unsigned long long)LogicalAddress.QuadPart, buffer->bytes,
                  (unsigned long long)logical_of(buffer));
    nt_resource_reclaim(&buffer->resource);
}
