/* SPDX-License-Identifier: MIT */
/* DxgkCbAllocateContiguousMemory and DxgkCbFreeContiguousMemory: place, size, content and end of a block. */
#include "port/support/memory_scene.h"

/* ---- what a block is ---- */

TEST_WITH(memory, a_block_is_consecutive_and_mapped, &memory_physical)
{
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY block = make_block(p, MIB);
    char *bytes = block.pMemory;
    uint64_t first = page_of(bytes);
    KIRQL level;

    CHECK_RULE("PHYS-043", block.hMemoryHandle != NULL && bytes != NULL);
    for (uint64_t i = 0; i < MIB / PAGE; i++)
        bytes[i * PAGE + 5] = (char)(i * 7);
    KeRaiseIrql(DISPATCH_LEVEL, &level); /* nonpaged */
    for (uint64_t i = 0; i < MIB / PAGE; i++)
        CHECK_RULE("PHYS-043", page_of(bytes + i * PAGE) == first + i &&
                                   device_byte(p, first + i, 5) == (char)(i * 7) &&
                                   bytes[i * PAGE + 5] == (char)(i * 7));
    KeLowerIrql(level);
    CHECK_RULE("PHYS-043", probe_reports(p, VERIFY_WARNING) == 0);
    CHECK(IS(free_block(p, block.hMemoryHandle), STATUS_SUCCESS));
}

TEST_WITH(memory, sizes_become_whole_pages, &memory_physical)
{
    static const struct {
        SIZE_T bytes;
        uint64_t pages;
    } sizes[] = {{1, 1}, {100, 1}, {4095, 1}, {4096, 1}, {4097, 2}, {8192, 2}, {8193, 3}};
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY block = ask_block(0);

    CHECK_RULE("PHYS-044/a", IS(take_block(p, &block), STATUS_INVALID_PARAMETER) &&
                                 probe_rule(p, "PHYS-044") == 1 && block.pMemory == NULL);
    for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        uint64_t before = ram_free_pages(p->ram);

        block = make_block(p, sizes[i].bytes);
        CHECK_RULE("PHYS-044/b", ram_free_pages(p->ram) == before - sizes[i].pages);
        CHECK_RULE("PHYS-045/a", (uintptr_t)block.pMemory % PAGE == 0);
        CHECK_RULE("PHYS-045/b", MmGetPhysicalAddress(block.pMemory).QuadPart % 4096 == 0);
        CHECK(IS(free_block(p, block.hMemoryHandle), STATUS_SUCCESS));
        CHECK_RULE("PHYS-044/b", ram_free_pages(p->ram) == before);
    }
    CHECK_RULE("PHYS-044/b", probe_rule(p, "PHYS-044") == 1);
}

TEST_WITH(memory, bytes_behind_a_block_are_not_the_drivers, &memory_physical)
{
    static const struct {
        SIZE_T bytes, at;
        bool behind;
    } writes[] = {{100, 99, false},    {100, 100, true},   {100, 4095, true}, {4096, 4095, false},
                  {4097, 4096, false}, {4097, 4097, true}, {4097, 8191, true}};
    uint64_t reports = 0;

    for (unsigned i = 0; i < sizeof(writes) / sizeof(writes[0]); i++) {
        DXGKARGCB_ALLOCATECONTIGUOUSMEMORY block = make_block(p, writes[i].bytes);

        ((char *)block.pMemory)[writes[i].at] ^= 1;
        CHECK_RULE("PHYS-046", probe_rule(p, "PHYS-046") == reports);
        CHECK(IS(free_block(p, block.hMemoryHandle), STATUS_SUCCESS));
        reports += writes[i].behind;
        CHECK_RULE("PHYS-046", probe_rule(p, "PHYS-046") == reports);
    }
}

TEST_WITH(memory, content_is_not_zero, &memory_physical)
{
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY block = make_block(p, 3 * PAGE);
    const char *bytes = block.pMemory;

    for (unsigned i = 0; i < 3 * PAGE; i++)
        CHECK_RULE("PHYS-052", bytes[i] != 0);
    CHECK(IS(free_block(p, block.hMemoryHandle), STATUS_SUCCESS));
}

static enum ram_cache cache_of_page(struct probe *p, uint64_t page)
{
    return ram_page_cache(p->ram, (struct page_number){page});
}

TEST_WITH(memory, cache_types_are_three, &memory_physical)
{
    static const enum ram_cache expected[] = {RAM_NON_CACHED, RAM_CACHED, RAM_WRITE_COMBINED};
    static const int others[] = {-1, 3, 4, 300};

    for (int type = 0; type < 3; type++) {
        DXGKARGCB_ALLOCATECONTIGUOUSMEMORY block = ask_block(10);
        DXGKARGCB_ALLOCATEPAGESFORMDL pages = ask_pages(PAGE);

        block.CacheType = pages.CacheType = (DXGK_MEMORY_CACHING_TYPE)type;
        CHECK_RULE("PHYS-024/a", IS(take_block(p, &block), STATUS_SUCCESS) &&
                                     cache_of_page(p, page_of(block.pMemory)) == expected[type]);
        CHECK_RULE("PHYS-024/a", IS(take_pages(p, &pages), STATUS_SUCCESS) &&
                                     cache_of_page(p, pfn(&pages, 0)) == expected[type]);
        CHECK(IS(free_block(p, block.hMemoryHandle), STATUS_SUCCESS));
        CHECK(IS(free_pages(p, pages.hMemoryHandle), STATUS_SUCCESS));
    }
    for (unsigned i = 0; i < 4; i++) {
        DXGKARGCB_ALLOCATECONTIGUOUSMEMORY block = ask_block(10);
        DXGKARGCB_ALLOCATEPAGESFORMDL pages = ask_pages(PAGE);

        block.CacheType = pages.CacheType = (DXGK_MEMORY_CACHING_TYPE)others[i];
        CHECK_RULE("PHYS-024/b", IS(take_block(p, &block), STATUS_INVALID_PARAMETER));
        CHECK_RULE("PHYS-024/b", IS(take_pages(p, &pages), STATUS_INVALID_PARAMETER));
    }
}

/* ---- where it lies ---- */

static NTSTATUS try_between(struct probe *p, SIZE_T bytes, uint64_t low, uint64_t high)
{
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY block = ask_block(bytes);

    block.LowestAcceptableAddress = at_byte(low);
    block.HighestAcceptableAddress = at_byte(high);
    return try_block(p, &block);
}

TEST_WITH(memory, both_bounds_are_allowed_addresses, &memory_physical)
{
    static const SIZE_T sizes[] = {1, 100, 4096, 5 * 4096, 5 * 4096 + 1};
    uint64_t low = free_frames(p, 8, 1, 0) * PAGE;

    for (unsigned i = 0; i < 5; i++) {
        DXGKARGCB_ALLOCATECONTIGUOUSMEMORY block = ask_block(sizes[i]);
        uint64_t high = low + sizes[i] - 1;

        block.LowestAcceptableAddress = at_byte(low);
        block.HighestAcceptableAddress = at_byte(high);
        CHECK_RULE("PHYS-047/ab", IS(take_block(p, &block), STATUS_SUCCESS) &&
                                      page_of(block.pMemory) * PAGE == low);
        CHECK(IS(free_block(p, block.hMemoryHandle), STATUS_SUCCESS));
        CHECK_RULE("PHYS-047/a",
                   low == high || IS(try_between(p, sizes[i], low + 1, high), STATUS_NO_MEMORY));
        CHECK_RULE("PHYS-047/b",
                   low == high || IS(try_between(p, sizes[i], low, high - 1), STATUS_NO_MEMORY));
    }
    CHECK_RULE("PHYS-047/ab", IS(try_between(p, 1, low - 1, low), STATUS_SUCCESS) &&
                                  probe_reports(p, VERIFY_WARNING) == 0);
}

TEST_WITH(memory, impossible_bounds, &memory_physical)
{
    uint64_t low = free_frames(p, 8, 1, 0) * PAGE, end = ram_bytes(p->ram);
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY block = ask_block(PAGE);

    CHECK_RULE("PHYS-048/a", IS(try_between(p, 1, low, low), STATUS_SUCCESS) &&
                                 IS(try_between(p, 1, low, low - 1), STATUS_INVALID_PARAMETER) &&
                                 probe_rule(p, "PHYS-048") == 1);
    CHECK_RULE("PHYS-048/b",
               IS(try_between(p, 2 * PAGE, low, low + PAGE - 1), STATUS_NO_MEMORY) &&
                   IS(try_between(p, ram_bytes(p->ram), 0, UINT64_MAX), STATUS_NO_MEMORY) &&
                   IS(try_between(p, UINT64_MAX, 0, UINT64_MAX), STATUS_NO_MEMORY) &&
                   probe_reports(p, VERIFY_WARNING) == 1);
    CHECK_RULE("PHYS-048/c", IS(try_block(p, &block), STATUS_SUCCESS) &&
                                 IS(try_between(p, PAGE, end - 2 * PAGE, end + MIB),
                                    ram_free_run(p->ram, (struct page_number){end / PAGE - 2})
                                        ? STATUS_SUCCESS
                                        : STATUS_NO_MEMORY) &&
                                 IS(try_between(p, PAGE, end, UINT64_MAX), STATUS_NO_MEMORY) &&
                                 probe_reports(p, VERIFY_WARNING) == 1);
    /* Frame 0 stays the host's. */
    CHECK_RULE("PHYS-004", IS(try_between(p, 1, 0, PAGE - 1), STATUS_NO_MEMORY));
}

static NTSTATUS try_multiple(struct probe *p, SIZE_T bytes, uint64_t multiple)
{
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY block = ask_block(bytes);

    block.BoundaryAddressMultiple = at_byte(multiple);
    return try_block(p, &block);
}

TEST_WITH(memory, multiples_are_powers_of_two, &memory_physical)
{
    static const uint64_t bad[] = {3, 0x18000, 4095, 4097, (1ull << 40) + 1, UINT64_MAX};

    CHECK_RULE("PHYS-049/a", IS(try_multiple(p, 1, 0), STATUS_SUCCESS) &&
                                 IS(try_multiple(p, 100 * PAGE, 0), STATUS_SUCCESS));
    for (unsigned bit = 0; bit < 63; bit++)
        CHECK_RULE("PHYS-049/b", IS(try_multiple(p, 1, 1ull << bit), STATUS_SUCCESS));
    CHECK(probe_reports(p, VERIFY_WARNING) == 0);
    for (unsigned i = 0; i < 6; i++)
        CHECK_RULE("PHYS-049/c", IS(try_multiple(p, 1, bad[i]), STATUS_INVALID_PARAMETER) &&
                                     probe_rule(p, "PHYS-049") == i + 1);
}

TEST_WITH(memory, a_block_stays_between_multiples, &memory_physical)
{
    uint64_t line = (free_frames(p, 2, MIB / PAGE, 1) + 1) * PAGE;
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY block = ask_block(2 * PAGE);
    static const uint64_t crossed[] = {2 * PAGE, 64 * 1024, MIB};
    HANDLE taken[12];

    block.LowestAcceptableAddress = at_byte(line - PAGE);
    block.HighestAcceptableAddress = at_byte(line + PAGE - 1);
    CHECK_RULE("PHYS-050", IS(try_block(p, &block), STATUS_SUCCESS)); /* there is room */
    for (unsigned i = 0; i < 3; i++) {
        block.BoundaryAddressMultiple = at_byte(crossed[i]);
        CHECK_RULE("PHYS-050", IS(try_block(p, &block), STATUS_NO_MEMORY));
    }
    block.LowestAcceptableAddress = at_byte(line); /* beginning and ending at one is no crossing */
    block.NumberOfBytes = PAGE;
    block.BoundaryAddressMultiple = at_byte(PAGE);
    CHECK_RULE("PHYS-050", IS(try_block(p, &block), STATUS_SUCCESS));
    for (unsigned i = 0; i < 12; i++) {
        uint64_t first;

        block = ask_block(768 * 1024);
        block.BoundaryAddressMultiple = at_byte(MIB);
        CHECK(IS(take_block(p, &block), STATUS_SUCCESS));
        first = page_of(block.pMemory) * PAGE;
        CHECK_RULE("PHYS-050", first / MIB == (first + 768 * 1024 - 1) / MIB);
        taken[i] = block.hMemoryHandle;
    }
    for (unsigned i = 0; i < 12; i++)
        CHECK(IS(free_block(p, taken[i]), STATUS_SUCCESS));
}

TEST_WITH(memory, a_block_is_no_larger_than_its_multiple, &memory_physical)
{
    static const uint64_t multiples[] = {1, 256, PAGE, 64 * 1024};

    for (unsigned i = 0; i < 4; i++) {
        CHECK_RULE("PHYS-051",
                   IS(try_multiple(p, multiples[i] + 1, multiples[i]), STATUS_INVALID_PARAMETER) &&
                       probe_rule(p, "PHYS-051") == i + 1);
        CHECK_RULE("PHYS-051", IS(try_multiple(p, multiples[i], multiples[i]), STATUS_SUCCESS) &&
                                   probe_rule(p, "PHYS-051") == i + 1);
    }
}

/* ---- the device ---- */

static DXGKARGCB_ALLOCATECONTIGUOUSMEMORY early;

static void allocate_in_start(struct probe *p, struct probe_call *call)
{
    (void)call;
    early = make_block(p, 2 * PAGE);
    ((char *)early.pMemory)[PAGE] = 'e';
}

static void reach_blocks(struct probe *p)
{
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY block = make_block(p, 2 * PAGE);
    uint64_t page = page_of(block.pMemory), before = page_of(early.pMemory);
    uint64_t neighbor = page + 2;

    ((char *)block.pMemory)[PAGE] = 'b';
    CHECK_RULE("PHYS-053/a", device_byte(p, page + 1, 0) == 'b' && device_writes(p, page, 9, 'd') &&
                                 ((char *)block.pMemory)[9] == 'd');
    CHECK_RULE("PHYS-053/a", neighbor == before || !device_reaches(p, neighbor));
    CHECK_RULE("PHYS-053/b", device_byte(p, before + 1, 0) == 'e');
    CHECK(IS(free_block(p, early.hMemoryHandle), STATUS_SUCCESS));
    CHECK(IS(free_block(p, block.hMemoryHandle), STATUS_SUCCESS));
}

TEST(the_device_reaches_blocks_at_their_address)
{
    static const struct probe_options *const modes[] = {&memory_physical, &memory_isolated};

    for (unsigned i = 0; i < 2; i++) {
        struct probe *p = probe_create(modes[i]);

        p->after[PROBE_StartDevice] = allocate_in_start;
        CHECK(NT_SUCCESS(probe_start(p)));
        CHECK((memory_mode(p) == IOMMU_ISOLATION) == (i == 1));
        probe_end(p, reach_blocks);
    }
}

TEST_WITH(memory, a_freed_block_is_gone, &memory_isolated)
{
    uint64_t before = ram_free_pages(p->ram);
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY block = make_block(p, 3 * PAGE);
    uint64_t page = page_of(block.pMemory);

    CHECK(device_reaches(p, page) && device_reaches(p, page + 2) && writable(block.pMemory));
    CHECK_RULE("PHYS-054/a", IS(free_block(p, block.hMemoryHandle), STATUS_SUCCESS) &&
                                 ram_free_pages(p->ram) == before &&
                                 probe_reports(p, VERIFY_WARNING) == 0);
    for (unsigned i = 0; i < 3; i++) {
        CHECK_RULE("PHYS-054/b", !device_reaches(p, page + i));
        CHECK_RULE("PHYS-054/c", !readable((char *)block.pMemory + i * PAGE));
    }
}
TEST_ALSO(memory, a_freed_block_is_gone, physical, &memory_physical)

TEST_WITH(memory, unlocking_is_not_for_blocks, &memory_physical)
{
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY block = make_block(p, PAGE);
    PMDL mdl = IoAllocateMdl(block.pMemory, 4096, FALSE, FALSE, NULL);
    uint64_t page = page_of(block.pMemory);

    CHECK(mdl != NULL);
    MmUnlockPages(mdl);
    CHECK_RULE("PHYS-055/c",
               probe_reports(p, VERIFY_ERROR) == 1 &&
                   ram_page_owner(p->ram, (struct page_number){page}) == RAM_DRIVER_BLOCK &&
                   device_reaches(p, page) && writable(block.pMemory));
    IoFreeMdl(mdl);
    CHECK(IS(free_block(p, block.hMemoryHandle), STATUS_SUCCESS));
}
