/* SPDX-License-Identifier: MIT */
/* Pages for an MDL, and MDLs of the driver mapped to the IOMMU. */
#include "physmem/physical_fixture.h"

static DXGKARGCB_ALLOCATEPAGESFORMDL ask(uint64_t bytes)
{
    return (DXGKARGCB_ALLOCATEPAGESFORMDL){
        .HighAddress = address(ALL_ONES),
        .TotalBytes = bytes,
        .CacheType = DXGK_MEMORY_CACHING_TYPE_CACHED,
        .hMemoryHandle = (HANDLE)0x5A,
        .pMdl = (PMDL)0x5A,
    };
}

static NTSTATUS take(DXGKARGCB_ALLOCATEPAGESFORMDL *args)
{
    NTSTATUS status = physical_mdl_allocate(f.adapter, args);

    if (status != STATUS_SUCCESS)
        CHECK_RULE("PHYS-018", args->hMemoryHandle == NULL && args->pMdl == NULL);
    return status;
}

static NTSTATUS give(HANDLE handle)
{
    DXGKARGCB_FREEPAGESFROMMDL args = {.hMemoryHandle = handle};

    return physical_mdl_free(f.adapter, &args);
}

static DXGKARGCB_ALLOCATEPAGESFORMDL make(uint64_t bytes)
{
    DXGKARGCB_ALLOCATEPAGESFORMDL args = ask(bytes);

    CHECK(take(&args) == STATUS_SUCCESS);
    return args;
}

static uint64_t pfn(const DXGKARGCB_ALLOCATEPAGESFORMDL *args, uint64_t i)
{
    return MmGetMdlPfnArray(args->pMdl)[i];
}

static char *bytes_of(uint64_t frame)
{
    return ram_direct(f.ram, (struct phys_addr){frame * PAGE_BYTES});
}

static NTSTATUS status_with_flags(ULONG flags)
{
    DXGKARGCB_ALLOCATEPAGESFORMDL args = ask(4096);
    NTSTATUS status;

    args.Flags = flags;
    status = take(&args);
    if (status == STATUS_SUCCESS)
        CHECK(give(args.hMemoryHandle) == STATUS_SUCCESS);
    return status;
}

TEST_WITH(physical, an_mdl_names_distinct_pages)
{
    DXGKARGCB_ALLOCATEPAGESFORMDL args = make(64 * 1024);

    CHECK_RULE("PHYS-057/a", (char *)MmGetMdlPfnArray(args.pMdl) == (char *)args.pMdl + sizeof(MDL));
    CHECK_RULE("PHYS-057/b", args.pMdl->MdlFlags & MDL_PAGES_LOCKED);
    CHECK_RULE("PHYS-056/b", !(args.pMdl->MdlFlags & MDL_MAPPED_TO_SYSTEM_VA) &&
                                 args.pMdl->MappedSystemVa == NULL);
    for (unsigned i = 0; i < 16; i++) {
        CHECK_RULE("PHYS-056/a",
                   ram_page_owner(f.ram, (struct page_number){pfn(&args, i)}) == RAM_MDL_PAGES);
        for (unsigned k = 0; k < i; k++)
            CHECK_RULE("PHYS-056/a", pfn(&args, i) != pfn(&args, k));
    }
    CHECK_RULE("PHYS-074/c", give(args.hMemoryHandle) == STATUS_SUCCESS && back_to_start());
}

TEST_WITH(physical, byte_count_is_rounded_and_entries_are_wide)
{
    DXGKARGCB_ALLOCATEPAGESFORMDL args = make(5000);

    CHECK_RULE("PHYS-058/a", sizeof(*MmGetMdlPfnArray(args.pMdl)) == 8);
    CHECK_RULE("PHYS-058/b", args.pMdl->ByteOffset == 0 && args.pMdl->ByteCount == 8192);
}

TEST_WITH(physical, pages_do_not_follow_one_another)
{
    for (uint64_t count = 2; count < 40; count++) {
        DXGKARGCB_ALLOCATEPAGESFORMDL args = make(count * 4096);

        for (uint64_t i = 1; i < count; i++) {
            CHECK_RULE("PHYS-059/a", pfn(&args, i) != pfn(&args, i - 1) + 1);
            if (count > 3)
                CHECK_RULE("PHYS-059/a", pfn(&args, i) + 1 != pfn(&args, i - 1));
        }
    }
    physical_memory_set_scatter(f.memory, false);
    {
        DXGKARGCB_ALLOCATEPAGESFORMDL args = make(8 * 4096);

        CHECK_RULE("PHYS-059/b", pfn(&args, 7) == pfn(&args, 0) + 7);
    }
}

TEST_WITH(physical, pages_lie_inside_the_window)
{
    DXGKARGCB_ALLOCATEPAGESFORMDL args = ask(2 * MIB);

    args.LowAddress = address(16 * MIB);
    args.HighAddress = address(32 * MIB - 1);
    CHECK(take(&args) == STATUS_SUCCESS);
    for (unsigned i = 0; i < 512; i++)
        CHECK_RULE("PHYS-060/ab",
                   pfn(&args, i) >= 16 * MIB / 4096 && pfn(&args, i) < 32 * MIB / 4096);
    args = ask(4096);
    args.LowAddress = address(0x5001); /* no whole page up to 0x6FFE */
    args.HighAddress = address(0x6FFE);
    CHECK_RULE("PHYS-060/ab", take(&args) == STATUS_NO_MEMORY);
    args = ask(4096);
    args.LowAddress = address(0x5000);
    args.HighAddress = address(0x4FFF);
    CHECK_RULE("PHYS-060/c", take(&args) == STATUS_INVALID_PARAMETER && reports("PHYS-060") == 1);
    args = ask(3 * 4096);
    args.LowAddress = address(0x5000);
    args.HighAddress = address(0x6FFF);
    CHECK_RULE("PHYS-064/b", take(&args) == STATUS_NO_MEMORY);
}

TEST_WITH(physical, all_zero_limits_mean_anywhere)
{
    DXGKARGCB_ALLOCATEPAGESFORMDL args = {.TotalBytes = 4096,
                                          .CacheType = DXGK_MEMORY_CACHING_TYPE_CACHED};

    CHECK_RULE("PHYS-061/ab",
               take(&args) == STATUS_SUCCESS && reports("PHYS-061") == 1 && violations() == 0);
}

TEST_WITH(physical, skip_bytes_move_the_window)
{
    DXGKARGCB_ALLOCATEPAGESFORMDL args = ask(3 * MIB - 4096); /* page 0 is the host's */
    unsigned in_window[4] = {0};

    args.HighAddress = address(MIB - 1);
    args.SkipBytes = address(100);
    CHECK_RULE("PHYS-062", take(&args) == STATUS_INVALID_PARAMETER);
    args.SkipBytes = address(16 * MIB);
    CHECK(take(&args) == STATUS_SUCCESS);
    for (unsigned i = 0; i < 767; i++) {
        CHECK_RULE("PHYS-063", pfn(&args, i) * 4096 % (16 * MIB) < MIB);
        in_window[pfn(&args, i) * 4096 / (16 * MIB)]++;
    }
    CHECK_RULE("PHYS-063", in_window[0] == 255 && in_window[1] == 256 && in_window[2] == 256 &&
                               in_window[3] == 0);
    args = ask(2 * MIB); /* one more window is left, of 1 MiB */
    args.HighAddress = address(MIB - 1);
    args.SkipBytes = address(16 * MIB);
    CHECK_RULE("PHYS-064/a", take(&args) == STATUS_NO_MEMORY);
    args.TotalBytes = MIB;
    CHECK_RULE("PHYS-064/a", take(&args) == STATUS_SUCCESS);
    args = ask(8192);
    args.HighAddress = address(8191);
    args.SkipBytes = address(8192);
    CHECK_RULE("PHYS-062", take(&args) == STATUS_SUCCESS);
    args = ask(4096); /* windows smaller than a page never hold one */
    args.HighAddress = address(100);
    args.SkipBytes = address(4096);
    CHECK_RULE("PHYS-060/ab", take(&args) == STATUS_NO_MEMORY);
}

TEST_WITH(physical, sizes_have_a_limit_and_all_or_nothing)
{
    DXGKARGCB_ALLOCATEPAGESFORMDL args = ask(0);

    CHECK_RULE("PHYS-065/b", take(&args) == STATUS_INVALID_PARAMETER);
    args = ask(0xFFFFF001);
    CHECK_RULE("PHYS-065/b", take(&args) == STATUS_INVALID_PARAMETER);
    args = ask(0xFFFFF000);
    CHECK_RULE("PHYS-065/a", take(&args) == STATUS_NO_MEMORY); /* well-formed, but RAM is smaller */
    args = ask(FIXTURE_BYTES);
    CHECK_RULE("PHYS-066", take(&args) == STATUS_NO_MEMORY && back_to_start());
    args = ask(FIXTURE_BYTES - 4096);
    CHECK_RULE("PHYS-066", take(&args) == STATUS_SUCCESS && ram_free_pages(f.ram) == 0);
    CHECK_RULE("PHYS-004", args.pMdl->ByteCount / 4096 == f.free_pages);
    for (uint64_t i = 0; i < f.free_pages; i++)
        CHECK_RULE("PHYS-004", pfn(&args, i) != 0);
}

TEST_WITH(physical, flags_are_checked)
{
    static const ULONG harmless[] = {0, MM_DONT_ZERO_ALLOCATION, MM_ALLOCATE_FULLY_REQUIRED,
                                     MM_ALLOCATE_REQUIRE_CONTIGUOUS_CHUNKS};
    static const ULONG ignored[] = {MM_ALLOCATE_FROM_LOCAL_NODE_ONLY, MM_ALLOCATE_NO_WAIT,
                                    MM_ALLOCATE_PREFER_CONTIGUOUS, MM_ALLOCATE_TRIM_IF_NECESSARY};

    for (unsigned i = 0; i < 4; i++) {
        CHECK_RULE("PHYS-067/a", status_with_flags(harmless[i]) == STATUS_SUCCESS);
        CHECK_RULE("PHYS-073", status_with_flags(ignored[i]) == STATUS_SUCCESS);
    }
    CHECK_RULE("PHYS-067/b",
               status_with_flags(0x200) == STATUS_INVALID_PARAMETER && reports("PHYS-067") == 1);
    CHECK_RULE("PHYS-068",
               status_with_flags(MM_ALLOCATE_AND_HOT_REMOVE) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("PHYS-072/a",
               status_with_flags(MM_ALLOCATE_FAST_LARGE_PAGES) == STATUS_INVALID_PARAMETER);
}

TEST_WITH(physical, content_is_zero_unless_declined)
{
    DXGKARGCB_ALLOCATEPAGESFORMDL args = make(8 * 4096);

    for (unsigned i = 0; i < 8; i++)
        memset(bytes_of(pfn(&args, i)), 0x77, 4096);
    CHECK(give(args.hMemoryHandle) == STATUS_SUCCESS);
    args = ask(8 * 4096);
    args.Flags = MM_DONT_ZERO_ALLOCATION;
    CHECK(take(&args) == STATUS_SUCCESS);
    for (unsigned i = 0; i < 8; i++)
        CHECK_RULE("PHYS-069/b", *bytes_of(pfn(&args, i)) != 0 && *bytes_of(pfn(&args, i)) != 0x77);
    CHECK(give(args.hMemoryHandle) == STATUS_SUCCESS);
    args = make(8 * 4096);
    for (unsigned i = 0; i < 8 * 4096; i++)
        CHECK_RULE("PHYS-069/a", bytes_of(pfn(&args, i / 4096))[i % 4096] == 0);
}

TEST_WITH(physical, contiguous_chunks_are_runs)
{
    DXGKARGCB_ALLOCATEPAGESFORMDL args = ask(8 * 4096), blocker[64];

    args.Flags = MM_ALLOCATE_REQUIRE_CONTIGUOUS_CHUNKS;
    args.LowAddress = address(MIB);
    args.HighAddress = address(MIB + 16 * 4096 - 1);
    for (unsigned i = 0; i < 16; i += 7) { /* pages 0, 7, 14 of the window are taken: no run of 8 */
        blocker[i] = ask(4096);
        blocker[i].LowAddress = address(MIB + i * 4096);
        blocker[i].HighAddress = address(MIB + i * 4096 + 4095);
        CHECK(take(&blocker[i]) == STATUS_SUCCESS);
    }
    CHECK_RULE("PHYS-070/b", take(&args) == STATUS_NO_MEMORY);
    CHECK(give(blocker[7].hMemoryHandle) == STATUS_SUCCESS);
    CHECK_RULE("PHYS-070/a", take(&args) == STATUS_SUCCESS);
    for (unsigned i = 1; i < 8; i++)
        CHECK_RULE("PHYS-070/a",
                   pfn(&args, i) == pfn(&args, 0) + i && pfn(&args, 0) >= MIB / 4096 + 1);
}

TEST_WITH(physical, chunks_of_skip_bytes_are_aligned)
{
    DXGKARGCB_ALLOCATEPAGESFORMDL args = ask(256 * 1024);

    args.Flags = MM_ALLOCATE_REQUIRE_CONTIGUOUS_CHUNKS;
    args.SkipBytes = address(64 * 1024);
    CHECK(take(&args) == STATUS_SUCCESS);
    for (unsigned i = 0; i < 64; i++)
        CHECK_RULE("PHYS-071/b", pfn(&args, i) == pfn(&args, i & ~15u) + i % 16 &&
                                     pfn(&args, i & ~15u) % 16 == 0);
    args = ask(100 * 1024);
    args.Flags = MM_ALLOCATE_REQUIRE_CONTIGUOUS_CHUNKS;
    args.SkipBytes = address(64 * 1024);
    CHECK_RULE("PHYS-071/a", take(&args) == STATUS_INVALID_PARAMETER);
    args.SkipBytes = address(3 * 4096);
    args.TotalBytes = 6 * 4096;
    CHECK_RULE("PHYS-071/a", take(&args) == STATUS_INVALID_PARAMETER && reports("PHYS-071") == 2);
    args.Flags |= MM_ALLOCATE_FAST_LARGE_PAGES;
    args.SkipBytes = address(4096);
    args.TotalBytes = 4096;
    CHECK_RULE("PHYS-072/b", take(&args) == STATUS_INVALID_PARAMETER);
    args.SkipBytes = address(2 * MIB);
    args.TotalBytes = 4 * MIB;
    CHECK_RULE("PHYS-072/c", take(&args) == STATUS_NO_MEMORY);
    args.Flags = MM_ALLOCATE_FAST_LARGE_PAGES; /* without chunks */
    CHECK_RULE("PHYS-072/a", take(&args) == STATUS_INVALID_PARAMETER && reports("PHYS-072") == 2);
}

TEST_WITH(physical, mappings_left_at_free_are_dropped)
{
    DXGKARGCB_ALLOCATEPAGESFORMDL system = make(4096), user = make(4096);

    CHECK(give(system.hMemoryHandle) == STATUS_SUCCESS);
    CHECK_RULE("PHYS-074/b", f.mdl_unmaps == 1 && violations() == 0);
    f.mdl_was_user_mapped = true;
    CHECK(give(user.hMemoryHandle) == STATUS_SUCCESS);
    CHECK_RULE("PHYS-076", reports("PHYS-076") == 1 && f.mdl_unmaps == 2);
}

TEST_WITH(physical, a_changed_mdl_is_reported_and_not_believed)
{
    DXGKARGCB_ALLOCATEPAGESFORMDL args = make(4 * 4096), other = make(4096);

    MmGetMdlPfnArray(args.pMdl)[0] = pfn(&other, 0);
    CHECK(give(args.hMemoryHandle) == STATUS_SUCCESS);
    CHECK_RULE("PHYS-077/a", reports("PHYS-077") == 1);
    CHECK_RULE("PHYS-077/b", ram_free_pages(f.ram) == f.free_pages - 1);
    CHECK_RULE("PHYS-077/b",
               ram_page_owner(f.ram, (struct page_number){pfn(&other, 0)}) == RAM_MDL_PAGES);
}

TEST_WITH(isolated, the_device_reaches_the_pages_until_the_free)
{
    DXGKARGCB_ALLOCATEPAGESFORMDL args = make(4 * 4096);
    uint64_t last = pfn(&args, 3);

    for (unsigned i = 0; i < 4; i++)
        CHECK_RULE("IOMMU-001/b", device_reach(pfn(&args, i)) == pfn(&args, i));
    CHECK(iommu_domain_mapped_pages(f.domain) == 4);
    CHECK(give(args.hMemoryHandle) == STATUS_SUCCESS);
    CHECK_RULE("PHYS-074/a", device_reach(last) == 0);
}

TEST_WITH(isolated, every_failing_allocation_is_undone)
{
    unsigned failures = 0;

    for (uint64_t n = 1;; n++) {
        DXGKARGCB_ALLOCATEPAGESFORMDL args = ask(100 * 4096);
        NTSTATUS status;

        f.heap.fail_at = f.heap.requests + n;
        status = physical_mdl_allocate(f.adapter, &args);
        f.heap.fail_at = 0;
        if (status == STATUS_SUCCESS)
            break;
        failures++;
        CHECK(status == STATUS_INSUFFICIENT_RESOURCES || status == STATUS_NO_MEMORY);
        CHECK_RULE("PHYS-018", args.hMemoryHandle == NULL && args.pMdl == NULL && back_to_start());
    }
    CHECK(failures >= 4 && violations() == 0);
}

/* ---- the driver's own MDLs ---- */

struct driver_mdl {
    MDL mdl;
    PFN_NUMBER pages[4];
};

/* Give the driver this very frame, unless somebody has it. */
static void own_frame(uint64_t page)
{
    struct ram_request request = {.pages = 1,
                                  .low = {page * PAGE_BYTES},
                                  .high = {(page + 1) * PAGE_BYTES - 1},
                                  .owner = RAM_POOL};
    struct page_number first;

    if (ram_take_contiguous(f.ram, &request, &first))
        f.free_pages--;
}

static struct driver_mdl driver_mdl(uint64_t first, uint64_t count)
{
    struct driver_mdl mdl = {
        .mdl = {.MdlFlags = MDL_SOURCE_IS_NONPAGED_POOL, .ByteCount = (ULONG)(count * 4096)}};

    for (uint64_t i = 0; i < count; i++) {
        mdl.pages[i] = first + i;
        own_frame(first + i);
    }
    return mdl;
}

static NTSTATUS map_mdl(PMDL mdl, HANDLE *handle)
{
    DXGKARGCB_MAPMDLTOIOMMU args = {.pMdl = mdl, .hMemoryHandle = (HANDLE)0x5A};
    NTSTATUS status = physical_iommu_mdl_map(f.adapter, &args);

    CHECK((status == STATUS_SUCCESS) == (args.hMemoryHandle != NULL));
    *handle = args.hMemoryHandle;
    return status;
}

static void unmap_mdl(HANDLE handle)
{
    DXGKARGCB_UNMAPMDLFROMIOMMU args = {.hMemoryHandle = handle};

    physical_iommu_mdl_unmap(f.adapter, &args);
}

TEST_WITH(isolated, a_mapped_mdl_is_reachable_until_unmapped)
{
    struct driver_mdl mdl = driver_mdl(500, 3);
    HANDLE handle;

    CHECK_RULE("PHYS-078/a", device_reach(501) == 0);
    CHECK(map_mdl(&mdl.mdl, &handle) == STATUS_SUCCESS);
    CHECK_RULE("PHYS-078/a", device_reach(501) == 501 && ram_free_pages(f.ram) == f.free_pages);
    CHECK_RULE("PHYS-078/b", ram_page_locks(f.ram, (struct page_number){501}) == 0);
    unmap_mdl(handle);
    CHECK_RULE("PHYS-084", device_reach(501) == 0);
    unmap_mdl(handle);
    CHECK_RULE("PHYS-017/b", reports("PHYS-017") == 1);
}

TEST_WITH(isolated, mdls_that_hold_no_locked_pages_are_refused)
{
    struct driver_mdl mdl = driver_mdl(500, 1);
    HANDLE handle;

    CHECK_RULE("PHYS-079/a", map_mdl(NULL, &handle) == STATUS_INVALID_PARAMETER);
    mdl.mdl.MdlFlags = 0;
    CHECK_RULE("PHYS-079/b",
               map_mdl(&mdl.mdl, &handle) == STATUS_INVALID_PARAMETER && reports("PHYS-079") == 2);
    mdl.mdl.MdlFlags = MDL_PAGES_LOCKED;
    CHECK_RULE("PHYS-079/c", map_mdl(&mdl.mdl, &handle) == STATUS_SUCCESS);
    mdl.pages[0] = 501; /* nobody's */
    CHECK_RULE("PHYS-079/d",
               map_mdl(&mdl.mdl, &handle) == STATUS_INVALID_PARAMETER && reports("PHYS-079") == 3);
    mdl.pages[0] = FIXTURE_BYTES / 4096;
    CHECK_RULE("PHYS-080/c",
               map_mdl(&mdl.mdl, &handle) == STATUS_INVALID_PARAMETER && reports("PHYS-080") == 1);
}

TEST_WITH(isolated, bytes_over_a_page_border_map_both_pages)
{
    struct driver_mdl mdl = driver_mdl(500, 2), next = driver_mdl(600, 1);
    HANDLE handle;

    mdl.mdl.ByteOffset = 4095;
    mdl.mdl.ByteCount = 2;
    mdl.mdl.Next = &next.mdl;
    CHECK(map_mdl(&mdl.mdl, &handle) == STATUS_SUCCESS);
    CHECK_RULE("PHYS-080/a", device_reach(500) == 500 && device_reach(501) == 501);
    CHECK_RULE("PHYS-080/b", device_reach(600) == 0);
}

TEST_WITH(isolated, mappings_count_per_page)
{
    struct driver_mdl mdl = driver_mdl(500, 2);
    HANDLE first = NULL, second = NULL;

    CHECK(map_mdl(&mdl.mdl, &first) == STATUS_SUCCESS &&
          map_mdl(&mdl.mdl, &second) == STATUS_SUCCESS);
    CHECK_RULE("PHYS-081/a", first != second);
    unmap_mdl(first);
    CHECK_RULE("PHYS-081/a", device_reach(501) == 501);
    unmap_mdl(second);
    CHECK_RULE("PHYS-081/a", device_reach(501) == 0);
}

TEST_WITH(isolated, a_changed_page_list_is_reported_and_not_believed)
{
    struct driver_mdl mdl = driver_mdl(500, 1);
    HANDLE handle;

    CHECK(map_mdl(&mdl.mdl, &handle) == STATUS_SUCCESS);
    mdl.pages[0] = 700;
    unmap_mdl(handle);
    CHECK_RULE("PHYS-082/ab", reports("PHYS-082") == 1 && device_reach(500) == 0);
}

TEST_WITH(isolated, pages_released_under_a_mapping_are_not_reused)
{
    struct ram_request request = {.pages = 1, .owner = RAM_POOL};
    struct page_number page, other;
    struct driver_mdl mdl;
    HANDLE handle;

    CHECK(ram_take_contiguous(f.ram, &request, &page));
    mdl = driver_mdl(page.value, 1);
    CHECK(map_mdl(&mdl.mdl, &handle) == STATUS_SUCCESS);
    ram_give_contiguous(f.ram, page, 1);
    CHECK_RULE("PHYS-083/a", reports("PHYS-003") == 1);
    while (ram_take_contiguous(f.ram, &request, &other))
        CHECK_RULE("PHYS-083/b", other.value != page.value);
    CHECK_RULE("PHYS-083/b", ram_page_owner(f.ram, page) == RAM_QUARANTINED);
    unmap_mdl(handle);
    CHECK_RULE("PHYS-083/b", device_reach(page.value) == 0 && ram_free_pages(f.ram) == 1);
    CHECK_RULE("PHYS-083/b",
               ram_take_contiguous(f.ram, &request, &other) && other.value == page.value);
}

TEST_WITH(isolated, every_failing_mapping_is_undone)
{
    struct driver_mdl mdl = driver_mdl(500, 4);
    unsigned failures = 0;
    HANDLE handle;

    for (uint64_t n = 1;; n++) {
        NTSTATUS status;

        f.heap.fail_at = f.heap.requests + n;
        status = map_mdl(&mdl.mdl, &handle);
        f.heap.fail_at = 0;
        if (status == STATUS_SUCCESS)
            break;
        failures++;
        CHECK_RULE("PHYS-018", status == STATUS_INSUFFICIENT_RESOURCES && back_to_start());
    }
    CHECK(failures >= 3 && violations() == 0);
}
