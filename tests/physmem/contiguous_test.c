/* SPDX-License-Identifier: MIT */
/* DxgkCbAllocateContiguousMemory and DxgkCbFreeContiguousMemory. */
#include "physmem/physical_fixture.h"

static DXGKARGCB_ALLOCATECONTIGUOUSMEMORY ask(uint64_t bytes)
{
    return (DXGKARGCB_ALLOCATECONTIGUOUSMEMORY){
        .NumberOfBytes = bytes,
        .HighestAcceptableAddress = address(ALL_ONES),
        .CacheType = DXGK_MEMORY_CACHING_TYPE_CACHED,
        .hMemoryHandle = (HANDLE)0x5A,
        .pMemory = (void *)0x5A,
    };
}

static NTSTATUS take(DXGKARGCB_ALLOCATECONTIGUOUSMEMORY *args)
{
    return physical_contiguous_allocate(f.adapter, args);
}

static NTSTATUS give(HANDLE handle)
{
    DXGKARGCB_FREECONTIGUOUSMEMORY args = {.hMemoryHandle = handle};

    return physical_contiguous_free(f.adapter, &args);
}

static DXGKARGCB_ALLOCATECONTIGUOUSMEMORY make(uint64_t bytes)
{
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY args = ask(bytes);

    CHECK(take(&args) == STATUS_SUCCESS);
    return args;
}

static uint64_t pages_taken(void)
{
    return f.free_pages - ram_free_pages(f.ram);
}

TEST_WITH(physical, a_block_is_mapped_and_physically_consecutive)
{
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY args = make(MIB);
    char *bytes = args.pMemory;
    uint64_t first = physical_of(bytes);

    CHECK(args.hMemoryHandle != NULL);
    for (uint64_t i = 0; i < MIB; i += PAGE_BYTES) {
        bytes[i] = (char)(i >> 12);
        CHECK_RULE("PHYS-043", physical_of(bytes + i) == first + i);
    }
    CHECK_RULE("PHYS-001",
               *(char *)ram_direct(f.ram, (struct phys_addr){(first / 4096 + 7) << 12}) == 7);
    CHECK(give(args.hMemoryHandle) == STATUS_SUCCESS && back_to_start());
}

TEST_WITH(physical, size_is_rounded_up_to_pages_and_zero_refused)
{
    static const struct {
        uint64_t bytes, pages;
    } sizes[] = {{1, 1}, {4096, 1}, {4097, 2}};
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY args = ask(0);

    CHECK_RULE("PHYS-044/a", take(&args) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("PHYS-018",
               args.pMemory == NULL && args.hMemoryHandle == NULL && args.NumberOfBytes == 0);
    for (unsigned i = 0; i < 3; i++) {
        args = make(sizes[i].bytes);
        CHECK_RULE("PHYS-044/b", pages_taken() == sizes[i].pages);
        CHECK(give(args.hMemoryHandle) == STATUS_SUCCESS);
    }
}

TEST_WITH(physical, a_block_starts_on_a_page)
{
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY args = make(100);

    CHECK_RULE("PHYS-045/ab",
               (uintptr_t)args.pMemory % 4096 == 0 && physical_of(args.pMemory) % 4096 == 0);
}

TEST_WITH(physical, writing_behind_the_block_is_seen_at_free)
{
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY good = make(100), bad = make(100);

    memset(good.pMemory, 1, 100);
    CHECK(give(good.hMemoryHandle) == STATUS_SUCCESS);
    CHECK_RULE("PHYS-046", reports("PHYS-046") == 0);
    ((char *)bad.pMemory)[100] = 1;
    CHECK(give(bad.hMemoryHandle) == STATUS_SUCCESS);
    CHECK_RULE("PHYS-046", reports("PHYS-046") == 1);
}

TEST_WITH(physical, bounds_are_inclusive_and_checked)
{
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY args = ask(8 * MIB);

    args.LowestAcceptableAddress = address(0x800000);
    args.HighestAcceptableAddress = address(0xFFFFFF);
    CHECK(take(&args) == STATUS_SUCCESS);
    CHECK_RULE("PHYS-047/a", physical_of(args.pMemory) == 0x800000);
    CHECK_RULE("PHYS-047/b", physical_of((char *)args.pMemory + 8 * MIB - 1) == 0xFFFFFF);
    args = ask(100);
    args.LowestAcceptableAddress = address(0x200000);
    args.HighestAcceptableAddress = address(0x200000 + 99);
    CHECK_RULE("PHYS-047/a", take(&args) == STATUS_SUCCESS && physical_of(args.pMemory) == 0x200000);
    CHECK(give(args.hMemoryHandle) == STATUS_SUCCESS);
    args.HighestAcceptableAddress = address(0x200000 + 98);
    CHECK_RULE("PHYS-047/b", take(&args) == STATUS_NO_MEMORY);
    args = ask(4096);
    args.LowestAcceptableAddress = address(0x2000);
    args.HighestAcceptableAddress = address(0x1FFF);
    CHECK_RULE("PHYS-048/a", take(&args) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("PHYS-006/a", reports("PHYS-048") == 1);
    args = ask(8192);
    args.LowestAcceptableAddress = address(0x300000);
    args.HighestAcceptableAddress = address(0x300FFF);
    CHECK_RULE("PHYS-048/b", take(&args) == STATUS_NO_MEMORY);
    CHECK_RULE("PHYS-006/c", violations() == 1);
    CHECK_RULE("PHYS-018", args.pMemory == NULL && args.hMemoryHandle == NULL);
    args = ask(4096);
    CHECK_RULE("PHYS-048/c", take(&args) == STATUS_SUCCESS);
    args = ask(4096);
    args.HighestAcceptableAddress = address(0);
    CHECK(take(&args) == STATUS_NO_MEMORY);
    args = ask(ALL_ONES);
    CHECK(take(&args) == STATUS_NO_MEMORY);
}

TEST_WITH(physical, boundaries_are_powers_of_two_and_not_crossed)
{
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY args = ask(100);

    args.BoundaryAddressMultiple = address(0x18000);
    CHECK_RULE("PHYS-049/c", take(&args) == STATUS_INVALID_PARAMETER);
    args.BoundaryAddressMultiple = address(0x10000);
    CHECK_RULE("PHYS-049/b", take(&args) == STATUS_SUCCESS);
    for (unsigned i = 0; i < 12; i++) {
        args = ask(768 * 1024);
        args.BoundaryAddressMultiple = address(MIB);
        CHECK(take(&args) == STATUS_SUCCESS);
        CHECK_RULE("PHYS-050", physical_of(args.pMemory) / MIB ==
                                   (physical_of(args.pMemory) + 768 * 1024 - 1) / MIB);
    }
    args = ask(64 * 1024 + 1);
    args.BoundaryAddressMultiple = address(64 * 1024);
    CHECK_RULE("PHYS-051", take(&args) == STATUS_INVALID_PARAMETER);
    args.NumberOfBytes = 64 * 1024;
    CHECK_RULE("PHYS-051", take(&args) == STATUS_SUCCESS);
    CHECK(physical_of(args.pMemory) % (64 * 1024) == 0);
    args = ask(100);
    args.BoundaryAddressMultiple = address(256);
    CHECK(take(&args) == STATUS_SUCCESS);
}

TEST_WITH(physical, content_is_not_zero)
{
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY args = make(3 * 4096);
    const char *bytes = args.pMemory;

    for (unsigned i = 0; i < 3; i++)
        CHECK_RULE("PHYS-052", bytes[i * 4096] != 0);
}

TEST_WITH(physical, cache_types_are_the_three)
{
    for (int type = 0; type < 3; type++) {
        DXGKARGCB_ALLOCATECONTIGUOUSMEMORY args = ask(10);
        static const enum ram_cache expected[] = {RAM_NON_CACHED, RAM_CACHED, RAM_WRITE_COMBINED};

        args.CacheType = (DXGK_MEMORY_CACHING_TYPE)type;
        CHECK(take(&args) == STATUS_SUCCESS);
        CHECK_RULE("PHYS-024/a",
                   ram_page_cache(f.ram, (struct page_number){physical_of(args.pMemory) / 4096}) ==
                       expected[type]);
    }
    for (int type = 3; type < 300; type += 250) {
        DXGKARGCB_ALLOCATECONTIGUOUSMEMORY args = ask(10);

        args.CacheType = (DXGK_MEMORY_CACHING_TYPE)type;
        CHECK_RULE("PHYS-024/b", take(&args) == STATUS_INVALID_PARAMETER);
    }
}

TEST_WITH(isolated, the_device_reaches_a_block_until_it_is_freed)
{
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY args = make(8192);
    uint64_t page = physical_of(args.pMemory) / 4096;

    CHECK_RULE("PHYS-053/a", device_reach(page) == page && device_reach(page + 1) == page + 1);
    CHECK(device_reach(page + 2) == 0);
    CHECK_RULE("PHYS-054/a", give(args.hMemoryHandle) == STATUS_SUCCESS);
    CHECK_RULE("PHYS-054/b", device_reach(page) == 0 && device_reach(page + 1) == 0);
    CHECK_RULE("PHYS-054/c", traps(args.pMemory, false));
    CHECK(back_to_start());
}

TEST_WITH(isolated, an_unguarded_block_stands_in_the_direct_view)
{
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY args;

    physical_memory_set_guard(f.memory, false);
    args = make(8192);
    CHECK(args.pMemory == ram_direct(f.ram, (struct phys_addr){physical_of(args.pMemory)}));
    physical_memory_set_guard(f.memory, true); /* what is there stays as it is */
    CHECK(give(args.hMemoryHandle) == STATUS_SUCCESS && back_to_start());
}

TEST_WITH(physical, isolation_later_keeps_what_was_allocated_before)
{
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY args = make(8192);
    uint64_t page = physical_of(args.pMemory) / 4096;

    CHECK(iommu_domain_isolate(f.domain));
    CHECK_RULE("IOMMU-041/b", device_reach(page + 1) == page + 1);
    CHECK(device_reach(page + 2) == 0);
}

TEST_WITH(isolated, wrong_handles_change_nothing)
{
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY args = make(8192);
    struct physical_adapter *other = fixture_adapter("adapter 2", f.domain);
    DXGKARGCB_FREECONTIGUOUSMEMORY free_args = {.hMemoryHandle = args.hMemoryHandle};
    DXGKARGCB_FREEPAGESFROMMDL wrong_kind = {.hMemoryHandle = args.hMemoryHandle};

    CHECK_RULE("PHYS-017/a",
               give(NULL) == STATUS_INVALID_HANDLE && give(args.pMemory) == STATUS_INVALID_HANDLE);
    CHECK_RULE("PHYS-017/c", physical_mdl_free(f.adapter, &wrong_kind) == STATUS_INVALID_HANDLE);
    CHECK_RULE("PHYS-017/d", physical_contiguous_free(other, &free_args) == STATUS_INVALID_HANDLE);
    CHECK_RULE("PHYS-006/b", reports("PHYS-017") == 4);
    CHECK_RULE("PHYS-017/abcd", pages_taken() == 2 && !traps(args.pMemory, true));
    CHECK(give(args.hMemoryHandle) == STATUS_SUCCESS);
    CHECK_RULE("PHYS-016/b", give(args.hMemoryHandle) == STATUS_INVALID_HANDLE);
    physical_adapter_destroy(other);
}

TEST_WITH(physical, handles_are_never_issued_again)
{
    uint64_t last = 0;

    for (unsigned i = 0; i < 10000; i++) {
        DXGKARGCB_ALLOCATECONTIGUOUSMEMORY args = make(1);

        CHECK_RULE("PHYS-016/a", (uintptr_t)args.hMemoryHandle > last); /* rising, so all distinct */
        last = (uintptr_t)args.hMemoryHandle;
        CHECK(give(args.hMemoryHandle) == STATUS_SUCCESS);
    }
}

TEST_WITH(physical, null_arguments_are_refused)
{
    CHECK_RULE("PHYS-015/a",
               physical_contiguous_allocate(f.adapter, NULL) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("PHYS-015/a", physical_contiguous_free(f.adapter, NULL) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("PHYS-015/a", reports("PHYS-015") == 2);
}

TEST_WITH(isolated, remapping_drivers_are_refused)
{
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY args = ask(10);

    physical_adapter_set_legacy_refused(f.adapter, true);
    CHECK_RULE("IOMMU-093", take(&args) == STATUS_NOT_SUPPORTED && reports("IOMMU-093") == 1);
}

TEST_WITH(logical, logical_mode_refuses)
{
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY args = ask(10);

    CHECK_RULE("IOMMU-094/bc", take(&args) == STATUS_NOT_SUPPORTED && reports("IOMMU-094") == 1 &&
                                   violations() == 0);
}

TEST_WITH(physical, a_stopped_adapter_may_free_only)
{
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY held = make(10), args = ask(10);

    physical_adapter_set_started(f.adapter, false);
    CHECK_RULE("PHYS-009/b", take(&args) == STATUS_INVALID_DEVICE_STATE);
    CHECK_RULE("LIFE-064/a", reports("LIFE-064") == 1);
    CHECK_RULE("PHYS-009/c", give(held.hMemoryHandle) == STATUS_SUCCESS);
}

TEST_WITH(isolated, every_failing_allocation_is_undone)
{
    unsigned failures = 0;

    for (uint64_t n = 1;; n++) {
        DXGKARGCB_ALLOCATECONTIGUOUSMEMORY args = ask(20000);
        NTSTATUS status;

        f.heap.fail_at = f.heap.requests + n;
        status = take(&args);
        f.heap.fail_at = 0;
        CHECK(physical_memory_validate(f.memory));
        if (status == STATUS_SUCCESS) {
            CHECK(give(args.hMemoryHandle) == STATUS_SUCCESS);
            break;
        }
        failures++;
        CHECK(status == STATUS_INSUFFICIENT_RESOURCES || status == STATUS_NO_MEMORY);
        CHECK_RULE("PHYS-018",
                   args.hMemoryHandle == NULL && args.pMemory == NULL && back_to_start());
    }
    CHECK(failures >= 2 && violations() == 0);
}
