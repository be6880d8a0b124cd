/* SPDX-License-Identifier: MIT */
/* Common buffers, for a device whose IOMMU is in each of its modes. */
#include "support/dma_rig.h"

/* ---- common buffers ---- */

static uint8_t *allocate(ULONG bytes, PHYSICAL_ADDRESS *logical)
{
    return ops->AllocateCommonBuffer(adapter, bytes, logical, TRUE);
}

static void check_shared(void)
{
    const uint64_t free_before = ram_free_pages(h.ram);
    PHYSICAL_ADDRESS logical, other;
    uint8_t *memory, *second, seen[8] = {0};

    get(description_of(2));
    memory = allocate(3 * PAGE_SIZE + 1, &logical);
    second = allocate(10, &other);
    CHECK_RULE("NT-188/a", memory && second && ram_free_pages(h.ram) == free_before - 5);
    CHECK_RULE("NT-188/a", memory[0] != 0 && (uintptr_t)memory % PAGE_SIZE == 0 &&
                               logical.QuadPart % PAGE_SIZE == 0);
    CHECK_RULE("NT-188/b", (logical.QuadPart == MmGetPhysicalAddress(memory).QuadPart) ==
                               (mode != IOMMU_REMAP));
    memcpy(memory + 3 * PAGE_SIZE - 4, "common!", 8);
    other.QuadPart = logical.QuadPart + 3 * PAGE_SIZE - 4;
    CHECK_RULE("NT-188/c", device_reads(other, seen, 8) && memcmp(seen, "common!", 8) == 0);
    memcpy(memory, "flushed", 8);
    KeFlushIoBuffers(NULL, FALSE, TRUE);
    KeMemoryBarrier();
    CHECK_RULE("NT-161", device_reads(logical, seen, 8) && memcmp(seen, "flushed", 8) == 0);
    CHECK_RULE("NT-188/c", device_writes(other, "written", 8) &&
                               memcmp(memory + 3 * PAGE_SIZE - 4, "written", 8) == 0);
    CHECK_RULE("IOMMU-075/b", faults == 0);
    ops->FreeCommonBuffer(adapter, 3 * PAGE_SIZE + 1, logical, memory, FALSE);
    device_reads(logical, seen, 8);
    CHECK_RULE("NT-189/a", faults == 1);
    other.QuadPart = 0;
    ops->FreeCommonBuffer(adapter, 10, other, second, TRUE);
    CHECK_RULE("NT-189/d", broken("NT-189")); /* another logical address */
    CHECK_RULE("NT-189/d", ram_free_pages(h.ram) == free_before);
    forget_reports();
    put();
    CHECK(errors() == 0 && nt_image_leak_check(h.image) == 0);
}

TEST(the_device_and_its_driver_share_a_common_buffer)
{
    in_each_mode(check_shared, true);
}

static void check_bounds(void)
{
    PHYSICAL_ADDRESS logical, low = physical(HALF), high = physical(HALF - 1);
    MEMORY_CACHING_TYPE cache = MmNonCached;
    struct page_number first;
    PVOID memory;

    get(description_of(3));
    memory = ops->AllocateCommonBufferEx(adapter, &high, 2 * PAGE_SIZE, &logical, FALSE, 0);
    CHECK_RULE("NT-188/d", memory && logical.QuadPart + 2 * PAGE_SIZE <= (LONGLONG)HALF);
    first.value = (uint64_t)MmGetPhysicalAddress(memory).QuadPart / PAGE_SIZE;
    CHECK_RULE("NT-188/e", ram_page_cache(h.ram, first) == RAM_NON_CACHED);
    ops->FreeCommonBuffer(adapter, 2 * PAGE_SIZE, logical, memory, FALSE);
    high.QuadPart = 2 * PAGE_SIZE - 1; /* page 0 is nobody's */
    CHECK_RULE("NT-188/d",
               !ops->AllocateCommonBufferEx(adapter, &high, 2 * PAGE_SIZE, &logical, TRUE, 0));
    CHECK_RULE("NT-188/d",
               ops->AllocateCommonBufferEx(adapter, &high, PAGE_SIZE, &logical, TRUE, 0) != NULL);
    CHECK_RULE("NT-188/d", logical.QuadPart == PAGE_SIZE && nt_image_leak_check(h.image) == 2);
    forget_reports();
    get(description_of(3));
    if (mode != IOMMU_REMAP) {
        memory = ops->AllocateCommonBufferWithBounds(adapter, &low, NULL, PAGE_SIZE, 0, NULL, 0,
                                                     &logical);
        CHECK_RULE("NT-188/d", memory && logical.QuadPart >= (LONGLONG)HALF);
        ops->FreeCommonBuffer(adapter, PAGE_SIZE, logical, memory, TRUE);
    }
    memory = ops->AllocateCommonBufferWithBounds(adapter, NULL, &low, PAGE_SIZE, 1, &cache, 0,
                                                 &logical);
    CHECK_RULE("NT-188/d", memory && MmGetPhysicalAddress(memory).QuadPart % (2 << 20) == 0);
    ops->FreeCommonBuffer(adapter, PAGE_SIZE, logical, memory, TRUE);
    CHECK(errors() == 0);
    low = physical(HALF);
    high = physical(HALF - 1);
    CHECK_RULE("NT-188/d", !ops->AllocateCommonBufferWithBounds(adapter, &low, &high, PAGE_SIZE, 0,
                                                                NULL, 0, &logical) &&
                               errors() == 0);
    CHECK_RULE("NT-188/f", !ops->AllocateCommonBufferWithBounds(adapter, NULL, NULL, PAGE_SIZE, 2,
                                                                NULL, 0, &logical));
    CHECK_RULE("NT-188/f", broken("NT-188"));
    forget_reports();
    cache = MmWriteCombined;
    CHECK_RULE("NT-188/f", !ops->AllocateCommonBufferWithBounds(adapter, NULL, NULL, PAGE_SIZE, 0,
                                                                &cache, 0, &logical));
    CHECK_RULE("NT-188/f", broken("NT-188"));
    forget_reports();
    put();
}

TEST(common_buffers_lie_within_their_bounds)
{
    in_each_mode(check_bounds, true);
}

static void allocate_high(void)
{
    PHYSICAL_ADDRESS logical = {.QuadPart = 0};

    CHECK_RULE("NT-188/f", !allocate(PAGE_SIZE, &logical) && broken("NT-188"));
    ops->FreeCommonBuffer(adapter, PAGE_SIZE, logical, &logical, TRUE);
    CHECK_RULE("NT-189/c", broken("NT-189"));
    forget_reports();
}

static void check_misuse(void)
{
    DMA_ADAPTER *first, *second;
    PHYSICAL_ADDRESS logical, another;
    uint8_t *memory;

    first = get(description_of(2));
    CHECK_RULE("NT-188/f", !allocate(0, &logical) && broken("NT-188"));
    forget_reports();
    CHECK_RULE("NT-188/f", !allocate(PAGE_SIZE, NULL) && broken("NT-188"));
    forget_reports();
    CHECK_RULE("NT-188/g", !allocate(128u << 20, &logical) && errors() == 0);
    in_dpc(allocate_high);
    CHECK_RULE("NT-192/j",
               !ops->AllocateCommonBufferEx(adapter, NULL, PAGE_SIZE, &logical, TRUE, 0) &&
                   broken("NT-192"));
    forget_reports();
    memory = allocate(PAGE_SIZE, &logical);
    ops->FreeCommonBuffer(adapter, PAGE_SIZE, logical, memory + 8, TRUE);
    CHECK_RULE("NT-189/f", broken("NT-189"));
    forget_reports();
    ops->PutDmaAdapter(adapter);
    CHECK_RULE("NT-187/e", broken("NT-187"));
    forget_reports();
    second = get(description_of(2));
    ops->FreeCommonBuffer(second, PAGE_SIZE, logical, memory, TRUE);
    CHECK_RULE("NT-189/e", broken("NT-189"));
    forget_reports();
    ops->FreeCommonBuffer(second, PAGE_SIZE, logical, memory, TRUE);
    CHECK_RULE("NT-189/f", broken("NT-189"));
    forget_reports();
    ops->PutDmaAdapter(first);
    memory = allocate(2 * PAGE_SIZE, &logical);
    ops->FreeCommonBuffer(second, PAGE_SIZE, logical, memory, TRUE); /* part of it: all the same */
    CHECK_RULE("NT-189/b", broken("NT-189"));
    forget_reports();
    memory = allocate(2 * PAGE_SIZE, &another);
    CHECK_RULE("NT-189/g",
               nt_image_leak_check(h.image) == 2 && broken("NT-189") && broken("NT-187"));
    forget_reports();
}

TEST(misuse_of_common_buffers_is_told)
{
    in_each_mode(check_misuse, true);
}

/* Made in AddDevice, before the device has a domain, and freed after that has ended. */
static void check_early(void)
{
    PHYSICAL_ADDRESS logical;
    uint8_t *memory, seen = 0;

    get(description_of(2));
    memory = allocate(2 * PAGE_SIZE, &logical);
    CHECK_RULE("NT-188/h", logical.QuadPart == MmGetPhysicalAddress(memory).QuadPart);
    begin_domain();
    memory[PAGE_SIZE] = 0x5A;
    logical.QuadPart += PAGE_SIZE;
    CHECK_RULE("NT-188/h", device_reads(logical, &seen, 1) && seen == 0x5A && faults == 0);
    logical.QuadPart -= PAGE_SIZE;
    end_domain();
    ops->FreeCommonBuffer(adapter, 2 * PAGE_SIZE, logical, memory, TRUE);
    put();
    CHECK(errors() == 0 && nt_image_leak_check(h.image) == 0);
}

TEST(buffers_may_be_older_and_younger_than_the_domain)
{
    in_each_mode(check_early, false);
}

static void check_blocked(void)
{
    PHYSICAL_ADDRESS logical;
    uint8_t *memory;

    get(description_of(2));
    memory = allocate(PAGE_SIZE, &logical);
    domain = iommu_domain_create(h.ram, IOMMU_REMAP, (struct logical_addr){2 * PAGE_SIZE - 1});
    CHECK(domain && bus_device_attach(device, domain) == IOMMU_DONE);
    nt_dma_domain_begins(device, domain);
    CHECK_RULE("NT-188/h", logical.QuadPart < 2 * PAGE_SIZE || broken("NT-188"));
    forget_reports();
    ops->FreeCommonBuffer(adapter, PAGE_SIZE, logical, memory, TRUE);
    put();
    CHECK(errors() == 0);
}

TEST(a_buffer_that_a_domain_cannot_have_is_told)
{
    in_each_mode(check_blocked, false);
}
