/* SPDX-License-Identifier: MIT */
/* DxgkCbAllocatePagesForMdl and DxgkCbFreePagesFromMdl: which pages, in what order, with what content, and their end. */
#include "port/support/memory_scene.h"

static const struct probe_options unscattered = {.port = {.iommu = IOMMU_OFF}};

static void *map_pages(const DXGKARGCB_ALLOCATEPAGESFORMDL *pages)
{
    void *view = MmMapLockedPagesSpecifyCache(pages->pMdl, KernelMode, MmCached, NULL, FALSE,
                                              NormalPagePriority);

    CHECK(view != NULL);
    return view;
}

/* ---- what comes back ---- */

TEST_WITH(memory, an_mdl_names_distinct_pages, &memory_isolated)
{
    uint64_t before = ram_free_pages(p->ram);
    DXGKARGCB_ALLOCATEPAGESFORMDL pages = ask_pages(64 * 1024);
    KIRQL level;

    CHECK_RULE("PHYS-056/a", IS(take_pages(p, &pages), STATUS_SUCCESS) &&
                                 pages.hMemoryHandle != NULL && pages.hMemoryHandle != NONE);
    CHECK_RULE("PHYS-056/a", ram_free_pages(p->ram) == before - 16);
    for (unsigned i = 0; i < 16; i++)
        for (unsigned k = 0; k < i; k++)
            CHECK_RULE("PHYS-056/a", pfn(&pages, i) != pfn(&pages, k));
    CHECK_RULE("PHYS-056/b", !(pages.pMdl->MdlFlags & MDL_MAPPED_TO_SYSTEM_VA) &&
                                 pages.pMdl->MappedSystemVa == NULL);
    KeRaiseIrql(DISPATCH_LEVEL, &level);
    for (unsigned i = 0; i < 16; i++)
        CHECK_RULE("PHYS-056/a", device_reaches(p, pfn(&pages, i)));
    KeLowerIrql(level);
    CHECK(IS(free_pages(p, pages.hMemoryHandle), STATUS_SUCCESS));
}

/* Each page of the array is that page of what a processor and the device see. */
TEST_WITH(memory, the_array_lists_what_is_mapped, &memory_isolated)
{
    DXGKARGCB_ALLOCATEPAGESFORMDL pages = make_pages(p, 3 * PAGE, DXGK_MEMORY_CACHING_TYPE_CACHED);
    PMDL part = IoAllocateMdl(NULL, 2 * 4096, FALSE, FALSE, NULL);
    char *view = map_pages(&pages), *system, *partial;

    CHECK_RULE("PHYS-057/a",
               (char *)MmGetMdlPfnArray(pages.pMdl) == (char *)pages.pMdl + sizeof(MDL) &&
                   ADDRESS_AND_SIZE_TO_SPAN_PAGES(MmGetMdlVirtualAddress(pages.pMdl),
                                                  MmGetMdlByteCount(pages.pMdl)) == 3);
    CHECK_RULE("PHYS-001", PAGE_SIZE == 4096 && PAGE_SHIFT == 12);
    for (unsigned i = 0; i < 3; i++) {
        view[i * PAGE_SIZE + 77] = (char)('a' + i);
        CHECK_RULE("PHYS-057/b", device_byte(p, pfn(&pages, i), 77) == (char)('a' + i));
        CHECK_RULE("PHYS-001", MmGetPhysicalAddress(view + i * PAGE_SIZE).QuadPart ==
                                   (LONGLONG)(pfn(&pages, i) << PAGE_SHIFT));
    }
    MmUnmapLockedPages(view, pages.pMdl);
    system = MmGetSystemAddressForMdlSafe(pages.pMdl, NormalPagePriority);
    CHECK_RULE("PHYS-057/c", system != NULL && system[77] == 'a' && system[2 * PAGE + 77] == 'c');
    CHECK(part != NULL);
    IoBuildPartialMdl(pages.pMdl, part, (char *)MmGetMdlVirtualAddress(pages.pMdl) + PAGE, 4096);
    CHECK_RULE("PHYS-057/d", MmGetMdlPfnArray(part)[0] == pfn(&pages, 1));
    partial = MmGetSystemAddressForMdlSafe(part, NormalPagePriority);
    CHECK_RULE("PHYS-057/d", partial != NULL && partial[77] == 'b');
    IoFreeMdl(part);
    CHECK_RULE("PHYS-057/bc", probe_reports(p, VERIFY_WARNING) == 0);
    CHECK(IS(free_pages(p, pages.hMemoryHandle), STATUS_SUCCESS));
}

TEST_WITH(memory, byte_counts_are_whole_pages, &memory_physical)
{
    static const SIZE_T sizes[] = {1, 4095, 4096, 4097, 5000, 8192, 8193};
    static const ULONG counts[] = {4096, 4096, 4096, 8192, 8192, 8192, 12288};

    for (unsigned i = 0; i < 7; i++) {
        uint64_t before = ram_free_pages(p->ram);
        DXGKARGCB_ALLOCATEPAGESFORMDL pages = make_pages(p, sizes[i],
                                                         DXGK_MEMORY_CACHING_TYPE_CACHED);

        CHECK_RULE("PHYS-058/a", sizeof(*MmGetMdlPfnArray(pages.pMdl)) == sizeof(void *));
        CHECK_RULE("PHYS-058/b", MmGetMdlByteOffset(pages.pMdl) == 0 &&
                                     MmGetMdlByteCount(pages.pMdl) == counts[i] &&
                                     ram_free_pages(p->ram) == before - counts[i] / PAGE);
        CHECK(IS(free_pages(p, pages.hMemoryHandle), STATUS_SUCCESS));
    }
}

/* ---- order ---- */

TEST_WITH(memory, no_page_follows_its_neighbor, &memory_physical)
{
    for (uint64_t count = 2; count < 40; count++) {
        DXGKARGCB_ALLOCATEPAGESFORMDL pages = make_pages(p, count * PAGE,
                                                         DXGK_MEMORY_CACHING_TYPE_CACHED);

        for (uint64_t i = 1; i < count; i++) {
            CHECK_RULE("PHYS-059/a", pfn(&pages, i) != pfn(&pages, i - 1) + 1);
            CHECK_RULE("PHYS-059/a", count <= 3 || pfn(&pages, i) + 1 != pfn(&pages, i - 1));
        }
        CHECK(IS(free_pages(p, pages.hMemoryHandle), STATUS_SUCCESS));
    }
}

TEST_WITH(memory, order_can_be_left_alone, &unscattered)
{
    DXGKARGCB_ALLOCATEPAGESFORMDL pages;

    physical_memory_set_scatter(port_physical_memory(p->port), false);
    CHECK(free_frames(p, 64, 1, 0) > 0);
    pages = make_pages(p, 8 * PAGE, DXGK_MEMORY_CACHING_TYPE_CACHED);
    for (unsigned i = 1; i < 8; i++)
        CHECK_RULE("PHYS-059/b", pfn(&pages, i) == pfn(&pages, 0) + i);
    CHECK(IS(free_pages(p, pages.hMemoryHandle), STATUS_SUCCESS));
}

/* ---- windows ---- */

static NTSTATUS try_window(struct probe *p, SIZE_T bytes, uint64_t low, uint64_t high, uint64_t skip)
{
    DXGKARGCB_ALLOCATEPAGESFORMDL pages = ask_pages(bytes);

    pages.LowAddress = at_byte(low);
    pages.HighAddress = at_byte(high);
    pages.SkipBytes = at_byte(skip);
    return try_pages(p, &pages);
}

TEST_WITH(memory, pages_lie_wholly_inside_the_window, &memory_physical)
{
    uint64_t first = free_frames(p, 64, 1, 0), low = first * PAGE, high = low + 64 * PAGE - 1;
    DXGKARGCB_ALLOCATEPAGESFORMDL pages = ask_pages(64 * PAGE);

    pages.LowAddress = at_byte(low);
    pages.HighAddress = at_byte(high);
    CHECK_RULE("PHYS-060/ab", IS(take_pages(p, &pages), STATUS_SUCCESS));
    for (unsigned i = 0; i < 64; i++)
        CHECK_RULE("PHYS-060/ab", pfn(&pages, i) >= first && pfn(&pages, i) < first + 64);
    CHECK(IS(free_pages(p, pages.hMemoryHandle), STATUS_SUCCESS));
    CHECK_RULE("PHYS-060/a", IS(try_window(p, 64 * PAGE, low + 1, high, 0), STATUS_NO_MEMORY) &&
                                 IS(try_window(p, 63 * PAGE, low + 1, high, 0), STATUS_SUCCESS));
    CHECK_RULE("PHYS-060/b", IS(try_window(p, 64 * PAGE, low, high - 1, 0), STATUS_NO_MEMORY) &&
                                 IS(try_window(p, 63 * PAGE, low, high - 1, 0), STATUS_SUCCESS));
    CHECK_RULE("PHYS-060/b", IS(try_window(p, PAGE, low, low + PAGE - 1, 0), STATUS_SUCCESS) &&
                                 IS(try_window(p, PAGE, low, low + PAGE - 2, 0), STATUS_NO_MEMORY));
    CHECK(probe_reports(p, VERIFY_WARNING) == 0);
    CHECK_RULE("PHYS-060/c", IS(try_window(p, PAGE, low, low - 1, 0), STATUS_INVALID_PARAMETER) &&
                                 probe_rule(p, "PHYS-060") == 1 &&
                                 IS(try_window(p, PAGE, low, low, 0), STATUS_NO_MEMORY) &&
                                 probe_rule(p, "PHYS-060") == 1);
    /* Without SkipBytes, and where a window begins above RAM, there is no other. */
    CHECK_RULE("PHYS-064/b", IS(try_window(p, 65 * PAGE, low, high, 0), STATUS_NO_MEMORY));
    CHECK_RULE("PHYS-064/a",
               IS(try_window(p, PAGE, ram_bytes(p->ram), UINT64_MAX, PAGE), STATUS_NO_MEMORY));
}

TEST_WITH(memory, all_zero_limits_are_none, &memory_physical)
{
    DXGKARGCB_ALLOCATEPAGESFORMDL pages = {.TotalBytes = 4096};

    CHECK_RULE("PHYS-061/a", IS(try_pages(p, &pages), STATUS_SUCCESS));
    CHECK_RULE("PHYS-061/b", probe_rule(p, "PHYS-061") == 1 &&
                                 probe_record(p, "PHYS-061")->severity == VERIFY_NOTE);
    pages.SkipBytes = at_byte(ram_bytes(p->ram));
    CHECK_RULE("PHYS-061/a", IS(try_pages(p, &pages), STATUS_NO_MEMORY)); /* [0, 0] as it is */
    pages.SkipBytes = at_byte(0);
    pages.HighAddress = at_byte(1);
    CHECK_RULE("PHYS-061/a", IS(try_pages(p, &pages), STATUS_NO_MEMORY));
    CHECK_RULE("PHYS-061/b", probe_rule(p, "PHYS-061") == 1);
}

TEST_WITH(memory, steps_are_whole_pages, &memory_physical)
{
    static const uint64_t steps[] = {1, 100, 4095, 4097, 8191};
    static const uint64_t good[] = {0, 4096, 8192, 12288, 1ull << 40};
    uint64_t low = free_frames(p, 8, 1, 0) * PAGE;

    for (unsigned i = 0; i < 5; i++) {
        CHECK_RULE("PHYS-062", IS(try_window(p, PAGE, low, low + PAGE - 1, steps[i]),
                                  STATUS_INVALID_PARAMETER) &&
                                   probe_rule(p, "PHYS-062") == i + 1);
        CHECK_RULE("PHYS-062",
                   IS(try_window(p, PAGE, low, low + PAGE - 1, good[i]), STATUS_SUCCESS));
    }
}

/* Windows of two pages, of which each begins four pages above the last. */
TEST_WITH(memory, windows_move_up_by_the_step, &memory_physical)
{
    uint64_t first = free_frames(p, 16, 1, 0), low = first * PAGE;
    DXGKARGCB_ALLOCATEPAGESFORMDL pages = ask_pages(7 * PAGE);
    unsigned in[4] = {0};

    pages.LowAddress = at_byte(low);
    pages.HighAddress = at_byte(low + 2 * PAGE - 1);
    pages.SkipBytes = at_byte(4 * PAGE);
    CHECK_RULE("PHYS-063", IS(take_pages(p, &pages), STATUS_SUCCESS));
    for (unsigned i = 0; i < 7; i++) {
        CHECK_RULE("PHYS-063", (pfn(&pages, i) - first) % 4 < 2 && pfn(&pages, i) < first + 16);
        in[(pfn(&pages, i) - first) / 4]++;
    }
    CHECK_RULE("PHYS-063", in[0] == 2 && in[1] == 2 && in[2] == 2 && in[3] == 1);
    CHECK(IS(free_pages(p, pages.hMemoryHandle), STATUS_SUCCESS));
    /* Up to the last window that begins in RAM, and not in one that would be below the first. */
    CHECK_RULE(
        "PHYS-064/a",
        IS(try_window(p, PAGE, low, low + PAGE - 1, ram_bytes(p->ram) - low), STATUS_SUCCESS) &&
            IS(try_window(p, 2 * PAGE, low, low + PAGE - 1, ram_bytes(p->ram) - low),
               STATUS_NO_MEMORY));
    CHECK_RULE("PHYS-064/a", IS(try_window(p, 2 * PAGE, low, low + PAGE - 1, PAGE), STATUS_SUCCESS));
}

/* ---- size ---- */

TEST_WITH(memory, sizes_end_below_4_gib, &memory_physical)
{
    struct memory_state before = memory_now(p);
    DXGKARGCB_ALLOCATEPAGESFORMDL pages = ask_pages(0);

    CHECK_RULE("PHYS-065/b", IS(try_pages(p, &pages), STATUS_INVALID_PARAMETER) &&
                                 probe_rule(p, "PHYS-065") == 1);
    pages.TotalBytes = 0xFFFFF001;
    CHECK_RULE("PHYS-065/b", IS(try_pages(p, &pages), STATUS_INVALID_PARAMETER) &&
                                 probe_rule(p, "PHYS-065") == 2);
    pages.TotalBytes = 0x100000000;
    CHECK_RULE("PHYS-065/b", IS(try_pages(p, &pages), STATUS_INVALID_PARAMETER) &&
                                 probe_rule(p, "PHYS-065") == 3);
    pages.TotalBytes = 0xFFFFF000; /* allowed, but RAM is smaller */
    CHECK_RULE("PHYS-065/a",
               IS(try_pages(p, &pages), STATUS_NO_MEMORY) && probe_rule(p, "PHYS-065") == 3);
    CHECK_RULE("PHYS-066", memory_same(p, before));
}

/* With RAM for it. Most of it stays untouched. */
TEST(the_largest_request)
{
    const struct probe_options large = {.ram_bytes = 6ull << 30};
    struct probe *p = probe_started(&large);
    DXGKARGCB_ALLOCATEPAGESFORMDL pages = ask_pages(0xFFFFF000);

    pages.Flags = MM_DONT_ZERO_ALLOCATION;
    CHECK_RULE("PHYS-065/a", IS(take_pages(p, &pages), STATUS_SUCCESS) &&
                                 MmGetMdlByteCount(pages.pMdl) == 0xFFFFF000);
    CHECK(IS(free_pages(p, pages.hMemoryHandle), STATUS_SUCCESS));
    probe_destroy(p);
}

TEST_WITH(memory, all_pages_or_none, &memory_physical)
{
    uint64_t free_count = ram_free_pages(p->ram);
    struct memory_state before = memory_now(p);
    DXGKARGCB_ALLOCATEPAGESFORMDL pages = ask_pages((free_count + 1) * PAGE);

    CHECK_RULE("PHYS-066", IS(take_pages(p, &pages), STATUS_NO_MEMORY) && pages.pMdl == NULL &&
                               memory_same(p, before) && probe_reports(p, VERIFY_WARNING) == 0);
    pages = ask_pages(free_count * PAGE);
    CHECK_RULE("PHYS-066", IS(take_pages(p, &pages), STATUS_SUCCESS) &&
                               ram_free_pages(p->ram) == 0 &&
                               MmGetMdlByteCount(pages.pMdl) == free_count * PAGE);
    for (uint64_t i = 0; i < free_count; i++)
        CHECK_RULE("PHYS-004", pfn(&pages, i) != 0);
    CHECK(IS(free_pages(p, pages.hMemoryHandle), STATUS_SUCCESS));
    /* A window that holds some of them, but not all. */
    CHECK_RULE("PHYS-066", IS(try_window(p, 3 * PAGE, PAGE * free_frames(p, 4, 1, 0),
                                         PAGE * free_frames(p, 4, 1, 0) + 2 * PAGE - 1, 0),
                              STATUS_NO_MEMORY) &&
                               memory_same(p, before));
}

/* ---- flags ---- */

static NTSTATUS try_flags(struct probe *p, ULONG flags)
{
    DXGKARGCB_ALLOCATEPAGESFORMDL pages = ask_pages(PAGE);

    pages.Flags = flags;
    return try_pages(p, &pages);
}

TEST_WITH(memory, each_flag_has_its_outcome, &memory_physical)
{
    static const struct {
        ULONG flag;
        NTSTATUS status;
    } flags[] = {{0x1, STATUS_SUCCESS},
                 {0x2, STATUS_SUCCESS},
                 {0x4, STATUS_SUCCESS},
                 {0x8, STATUS_SUCCESS},
                 {0x10, STATUS_SUCCESS},
                 {0x20, STATUS_SUCCESS},
                 {0x80, STATUS_SUCCESS},
                 {0x40, STATUS_INVALID_PARAMETER},
                 {0x100, STATUS_INVALID_PARAMETER}};
    static const ULONG ignored[] = {0x2, 0x8, 0x10, 0x80};

    CHECK_RULE("PHYS-067/a",
               MM_DONT_ZERO_ALLOCATION == 0x1 && MM_ALLOCATE_FROM_LOCAL_NODE_ONLY == 0x2 &&
                   MM_ALLOCATE_FULLY_REQUIRED == 0x4 && MM_ALLOCATE_NO_WAIT == 0x8 &&
                   MM_ALLOCATE_PREFER_CONTIGUOUS == 0x10 &&
                   MM_ALLOCATE_REQUIRE_CONTIGUOUS_CHUNKS == 0x20 &&
                   MM_ALLOCATE_FAST_LARGE_PAGES == 0x40 && MM_ALLOCATE_TRIM_IF_NECESSARY == 0x80 &&
                   MM_ALLOCATE_AND_HOT_REMOVE == 0x100);
    for (unsigned i = 0; i < 9; i++)
        CHECK_RULE("PHYS-067/a", IS(try_flags(p, flags[i].flag), flags[i].status));
    CHECK_RULE("PHYS-067/a", probe_rule(p, "PHYS-067") == 0);
    for (unsigned i = 0; i < 4; i++)
        CHECK_RULE("PHYS-073", IS(try_flags(p, ignored[i]), STATUS_SUCCESS) &&
                                   IS(try_flags(p, ignored[i] | 0x4), STATUS_SUCCESS));
    for (unsigned bit = 9; bit < 32; bit++)
        CHECK_RULE("PHYS-067/b", IS(try_flags(p, 1u << bit), STATUS_INVALID_PARAMETER) &&
                                     probe_rule(p, "PHYS-067") == bit - 8);
    CHECK_RULE("PHYS-068", probe_rule(p, "PHYS-068") == 1 &&
                               IS(try_flags(p, 0x104), STATUS_INVALID_PARAMETER) &&
                               probe_rule(p, "PHYS-068") == 2);
}

TEST_WITH(memory, ignored_flags_promise_nothing, &memory_physical)
{
    DXGKARGCB_ALLOCATEPAGESFORMDL pages = ask_pages(8 * PAGE);

    pages.Flags = MM_ALLOCATE_PREFER_CONTIGUOUS;
    CHECK_RULE("PHYS-073", IS(take_pages(p, &pages), STATUS_SUCCESS));
    for (unsigned i = 1; i < 8; i++)
        CHECK_RULE("PHYS-073", pfn(&pages, i) != pfn(&pages, i - 1) + 1);
    CHECK(IS(free_pages(p, pages.hMemoryHandle), STATUS_SUCCESS));
}

TEST_WITH(memory, content_is_zero_unless_declined, &memory_physical)
{
    uint64_t low = free_frames(p, 8, 1, 0) * PAGE; /* the same frames each time */
    DXGKARGCB_ALLOCATEPAGESFORMDL pages = ask_pages(8 * PAGE);
    char *view;

    pages.LowAddress = at_byte(low);
    pages.HighAddress = at_byte(low + 8 * PAGE - 1);
    for (unsigned round = 0; round < 3; round++) {
        pages.Flags = round == 1 ? MM_DONT_ZERO_ALLOCATION : 0;
        CHECK(IS(take_pages(p, &pages), STATUS_SUCCESS));
        view = map_pages(&pages);
        for (unsigned i = 0; i < 8 * PAGE; i++)
            if (round == 1)
                CHECK_RULE("PHYS-069/b", view[i] != 0 && view[i] != 0x77);
            else
                CHECK_RULE("PHYS-069/a", view[i] == 0);
        memset(view, 0x77, 8 * PAGE);
        MmUnmapLockedPages(view, pages.pMdl);
        CHECK(IS(free_pages(p, pages.hMemoryHandle), STATUS_SUCCESS));
    }
}

/* ---- contiguous chunks ---- */

TEST_WITH(memory, a_chunk_is_one_run, &memory_physical)
{
    uint64_t first = free_frames(p, 16, 1, 0), low = first * PAGE;
    DXGKARGCB_ALLOCATEPAGESFORMDL pages = ask_pages(8 * PAGE), blocker[3];

    pages.Flags = MM_ALLOCATE_REQUIRE_CONTIGUOUS_CHUNKS;
    pages.LowAddress = at_byte(low);
    pages.HighAddress = at_byte(low + 16 * PAGE - 1);
    for (unsigned i = 0; i < 3; i++) { /* pages 0, 7 and 14 are taken: no run of 8 */
        blocker[i] = ask_pages(PAGE);
        blocker[i].LowAddress = at_byte(low + 7 * i * PAGE);
        blocker[i].HighAddress = at_byte(low + 7 * i * PAGE + PAGE - 1);
        CHECK(IS(take_pages(p, &blocker[i]), STATUS_SUCCESS));
    }
    CHECK_RULE("PHYS-070/b", IS(try_pages(p, &pages), STATUS_NO_MEMORY));
    CHECK(IS(free_pages(p, blocker[1].hMemoryHandle), STATUS_SUCCESS));
    CHECK_RULE("PHYS-070/a", IS(take_pages(p, &pages), STATUS_SUCCESS));
    for (unsigned i = 0; i < 8; i++)
        CHECK_RULE("PHYS-070/a", pfn(&pages, i) == pfn(&pages, 0) + i && pfn(&pages, i) > first &&
                                     pfn(&pages, i) < first + 14);
    CHECK(IS(free_pages(p, pages.hMemoryHandle), STATUS_SUCCESS));
    pages.HighAddress = at_byte(low + 9 * PAGE - 2); /* the run would end a byte above */
    CHECK_RULE("PHYS-070/b", IS(try_pages(p, &pages), STATUS_NO_MEMORY));
    pages.HighAddress = at_byte(low + 9 * PAGE - 1);
    CHECK_RULE("PHYS-070/a", IS(try_pages(p, &pages), STATUS_SUCCESS));
    CHECK(IS(free_pages(p, blocker[0].hMemoryHandle), STATUS_SUCCESS));
    CHECK(IS(free_pages(p, blocker[2].hMemoryHandle), STATUS_SUCCESS));
}

static NTSTATUS try_chunks(struct probe *p, ULONG flags, SIZE_T bytes, uint64_t chunk)
{
    DXGKARGCB_ALLOCATEPAGESFORMDL pages = ask_pages(bytes);

    pages.Flags = flags;
    pages.SkipBytes = at_byte(chunk);
    return try_pages(p, &pages);
}

TEST_WITH(memory, chunks_are_aligned_to_their_size, &memory_physical)
{
    static const ULONG flag = MM_ALLOCATE_REQUIRE_CONTIGUOUS_CHUNKS;
    DXGKARGCB_ALLOCATEPAGESFORMDL pages = ask_pages(256 * 1024);

    pages.Flags = flag;
    pages.SkipBytes = at_byte(64 * 1024);
    CHECK_RULE("PHYS-071/b", IS(take_pages(p, &pages), STATUS_SUCCESS));
    for (unsigned i = 0; i < 64; i++)
        CHECK_RULE("PHYS-071/b", pfn(&pages, i) == pfn(&pages, i & ~15u) + i % 16 &&
                                     pfn(&pages, i & ~15u) % 16 == 0);
    CHECK(IS(free_pages(p, pages.hMemoryHandle), STATUS_SUCCESS));
    CHECK_RULE("PHYS-071/a",
               IS(try_chunks(p, flag, 100 * 1024, 64 * 1024), STATUS_INVALID_PARAMETER) &&
                   IS(try_chunks(p, flag, 6 * PAGE, 3 * PAGE), STATUS_INVALID_PARAMETER) &&
                   IS(try_chunks(p, flag, 64 * 1024 + 1, 64 * 1024), STATUS_INVALID_PARAMETER) &&
                   probe_rule(p, "PHYS-071") == 3);
    CHECK_RULE("PHYS-071/b", IS(try_chunks(p, flag, PAGE, PAGE), STATUS_SUCCESS) &&
                                 IS(try_chunks(p, flag, 64 * 1024, 64 * 1024), STATUS_SUCCESS));
}

TEST_WITH(memory, there_are_no_large_pages, &memory_physical)
{
    static const ULONG fast = MM_ALLOCATE_FAST_LARGE_PAGES,
                       both = MM_ALLOCATE_FAST_LARGE_PAGES | MM_ALLOCATE_REQUIRE_CONTIGUOUS_CHUNKS;

    CHECK_RULE("PHYS-072/a", IS(try_chunks(p, fast, 2 * MIB, 2 * MIB), STATUS_INVALID_PARAMETER) &&
                                 IS(try_chunks(p, fast, PAGE, 0), STATUS_INVALID_PARAMETER));
    CHECK_RULE("PHYS-072/b", IS(try_chunks(p, both, PAGE, PAGE), STATUS_INVALID_PARAMETER) &&
                                 IS(try_chunks(p, both, PAGE, 0), STATUS_INVALID_PARAMETER) &&
                                 IS(try_chunks(p, both, 2 * MIB, MIB), STATUS_INVALID_PARAMETER) &&
                                 probe_rule(p, "PHYS-072") == 5);
    CHECK_RULE("PHYS-072/c", IS(try_chunks(p, both, 4 * MIB, 2 * MIB), STATUS_NO_MEMORY) &&
                                 IS(try_chunks(p, both, 4 * MIB, 4 * MIB), STATUS_NO_MEMORY) &&
                                 probe_rule(p, "PHYS-072") == 5);
}

/* ---- the end ---- */

TEST_WITH(memory, the_free_ends_everything, &memory_isolated)
{
    uint64_t before = ram_free_pages(p->ram), page[2];
    DXGKARGCB_ALLOCATEPAGESFORMDL pages = make_pages(p, 2 * PAGE, DXGK_MEMORY_CACHING_TYPE_CACHED);
    char *view = MmGetSystemAddressForMdlSafe(pages.pMdl, NormalPagePriority);

    page[0] = pfn(&pages, 0);
    page[1] = pfn(&pages, 1);
    CHECK(view != NULL && writable(view) && writable(view + PAGE) && device_reaches(p, page[1]));
    CHECK_RULE("PHYS-074/ab", IS(free_pages(p, pages.hMemoryHandle), STATUS_SUCCESS) &&
                                  probe_reports(p, VERIFY_WARNING) == 0);
    CHECK_RULE("PHYS-074/b", !readable(view) && !readable(view + PAGE));
    CHECK_RULE("PHYS-074/c", ram_free_pages(p->ram) == before && ram_validate(p->ram));
    CHECK_RULE("PHYS-074/a", !device_reaches(p, page[0]) && !device_reaches(p, page[1]));
}
TEST_ALSO(memory, the_free_ends_everything, physical, &memory_physical)

/* What the driver writes to the MDL is reported, and the host goes by what it knows. */
TEST_WITH(memory, a_changed_mdl_is_not_believed, &memory_isolated)
{
    DXGKARGCB_ALLOCATEPAGESFORMDL other = make_pages(p, PAGE, DXGK_MEMORY_CACHING_TYPE_CACHED);
    uint64_t before = ram_free_pages(p->ram);

    for (unsigned change = 0; change < 5; change++) {
        DXGKARGCB_ALLOCATEPAGESFORMDL pages = make_pages(p, 4 * PAGE,
                                                         DXGK_MEMORY_CACHING_TYPE_CACHED);
        uint64_t last = pfn(&pages, 3);

        if (change == 0)
            MmGetMdlPfnArray(pages.pMdl)[0] = pfn(&other, 0);
        else if (change == 1)
            MmGetMdlPfnArray(pages.pMdl)[3] = pfn(&other, 0);
        else if (change == 2)
            pages.pMdl->ByteCount = 4096;
        else if (change == 3)
            pages.pMdl->ByteOffset = 1;
        CHECK(IS(free_pages(p, pages.hMemoryHandle), STATUS_SUCCESS));
        CHECK_RULE("PHYS-077/a", probe_rule(p, "PHYS-077") == (change < 4 ? change + 1 : 4));
        CHECK_RULE("PHYS-077/b", ram_free_pages(p->ram) == before && !device_reaches(p, last) &&
                                     device_reaches(p, pfn(&other, 0)));
    }
    CHECK(IS(free_pages(p, other.hMemoryHandle), STATUS_SUCCESS));
}
