/* SPDX-License-Identifier: MIT */
/* Both sides of limits that other tests only pass by, and MDLs and objects that a driver changed or left. */
#include "physmem/physical_fixture.h"

/* ---- MDLs ---- */

static NTSTATUS take_pages(DXGKARGCB_ALLOCATEPAGESFORMDL *args, uint64_t low, uint64_t high,
                           uint64_t skip, uint64_t bytes)
{
    *args = (DXGKARGCB_ALLOCATEPAGESFORMDL){.LowAddress = address(low),
                                            .HighAddress = address(high),
                                            .SkipBytes = address(skip),
                                            .TotalBytes = bytes,
                                            .CacheType = DXGK_MEMORY_CACHING_TYPE_CACHED};
    return physical_mdl_allocate(f.adapter, args);
}

static NTSTATUS give_pages(HANDLE handle)
{
    return physical_mdl_free(f.adapter, &(DXGKARGCB_FREEPAGESFROMMDL){.hMemoryHandle = handle});
}

/* The window does not come around to address 0 again. */
TEST_WITH(physical, skipping_ends_with_the_address_space)
{
    DXGKARGCB_ALLOCATEPAGESFORMDL args;

    CHECK_RULE("PHYS-064/a",
               take_pages(&args, 3 * PAGE_BYTES, 4 * PAGE_BYTES - 1,
                          UINT64_MAX - 2 * PAGE_BYTES + 1, 2 * PAGE_BYTES) == STATUS_NO_MEMORY);
    CHECK(take_pages(&args, 3 * PAGE_BYTES, 4 * PAGE_BYTES - 1, UINT64_MAX - 2 * PAGE_BYTES + 1,
                     PAGE_BYTES) == STATUS_SUCCESS);
    CHECK(MmGetMdlPfnArray(args.pMdl)[0] == 3 && give_pages(args.hMemoryHandle) == STATUS_SUCCESS);
    CHECK(ram_free_pages(f.ram) == f.free_pages);
}

/* Each of the older ways to memory, not only that of blocks. */
TEST_WITH(isolated, remapping_drivers_get_no_pages)
{
    DXGKARGCB_ALLOCATEPAGESFORMDL args;
    DXGKARGCB_MAPMDLTOIOMMU map = {.hMemoryHandle = (HANDLE)1};

    physical_adapter_set_legacy_refused(f.adapter, true);
    CHECK_RULE("IOMMU-093", take_pages(&args, 0, ALL_ONES, 0, PAGE_BYTES) == STATUS_NOT_SUPPORTED &&
                                reports("IOMMU-093") == 1 && args.pMdl == NULL);
    CHECK_RULE("IOMMU-093", physical_iommu_mdl_map(f.adapter, &map) == STATUS_NOT_SUPPORTED &&
                                reports("IOMMU-093") == 2 && map.hMemoryHandle == NULL);
    CHECK(ram_free_pages(f.ram) == f.free_pages);
}

TEST_WITH(isolated, an_mdl_needs_arguments)
{
    CHECK_RULE("PHYS-015/a", physical_iommu_mdl_map(f.adapter, NULL) == STATUS_INVALID_PARAMETER &&
                                 reports("PHYS-015") == 1);
}

static void change_offset(PMDL mdl)
{
    mdl->ByteOffset = 1;
}

static void change_count(PMDL mdl)
{
    mdl->ByteCount--;
}

static void change_start(PMDL mdl)
{
    mdl->StartVa = mdl;
}

static void change_last_page(PMDL mdl)
{
    MmGetMdlPfnArray(mdl)[3]++;
}

static void change_nothing(PMDL mdl)
{
    mdl->MdlFlags ^= MDL_MAPPED_TO_SYSTEM_VA; /* as mapping routines do */
}

static void (*const changes[])(PMDL mdl) = {change_nothing, change_offset, change_count,
                                            change_start, change_last_page};

TEST_WITH(physical, each_member_of_an_mdl_is_the_hosts)
{
    for (unsigned i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        DXGKARGCB_ALLOCATEPAGESFORMDL args;

        CHECK(take_pages(&args, 0, ALL_ONES, 0, 4 * PAGE_BYTES) == STATUS_SUCCESS);
        changes[i](args.pMdl);
        CHECK(give_pages(args.hMemoryHandle) == STATUS_SUCCESS);
        CHECK_RULE("PHYS-077/a", reports("PHYS-077") == i);
        CHECK_RULE("PHYS-077/b", ram_free_pages(f.ram) == f.free_pages);
    }
}

/* ---- frame buffer save ---- */

static NTSTATUS pin(UINT index, PMDL *mdl)
{
    DXGKARGCB_PINFRAMEBUFFERFORSAVE args = {.PhysicalAdapterIndex = index,
                                            .CommitSize = 4 * PAGE_BYTES};
    NTSTATUS status = physical_save_pin(f.adapter, &args);

    *mdl = args.pMdl;
    return status;
}

static NTSTATUS unpin(UINT index)
{
    return physical_save_unpin(f.adapter,
                               &(DXGKARGCB_UNPINFRAMEBUFFERFORSAVE){.PhysicalAdapterIndex = index});
}

TEST_WITH(isolated, the_mdl_of_a_pin_is_the_hosts)
{
    PMDL mdl;

    CHECK(physical_save_create(f.adapter, 0, MIB) == STATUS_SUCCESS);
    for (unsigned i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        CHECK(pin(0, &mdl) == STATUS_SUCCESS);
        changes[i](mdl);
        CHECK(unpin(0) == STATUS_SUCCESS);
        CHECK(reports("PHYS-077") == i);
        CHECK(iommu_domain_mapped_pages(f.domain) == 0 && ram_free_pages(f.ram) == f.free_pages);
    }
    CHECK(strstr(verify_record_at(f.verify, 0)->seen, "the MDL of a frame buffer pin was changed"));
}

/* An area of the second adapter alone: the first has none. */
TEST_WITH(isolated, areas_go_by_their_index)
{
    PMDL mdl;

    CHECK(physical_save_create(f.adapter, 1, MIB) == STATUS_SUCCESS);
    CHECK_RULE("PHYS-094/a",
               pin(0, &mdl) == STATUS_INVALID_PARAMETER && mdl == NULL && reports("PHYS-094") == 1);
    CHECK_RULE("PHYS-094/a", pin(2, &mdl) == STATUS_INVALID_PARAMETER && reports("PHYS-094") == 2);
    CHECK(pin(1, &mdl) == STATUS_SUCCESS && mdl != NULL);
    CHECK(unpin(0) == STATUS_INVALID_PARAMETER && unpin(1) == STATUS_SUCCESS);
}

/* A pointer goes back to the area that it came from. */
TEST_WITH(isolated, pointers_go_by_their_area)
{
    DXGKARGCB_MAPFRAMEBUFFERPOINTER map = {.Size = 2 * PAGE_BYTES, .Offset = PAGE_BYTES};
    DXGKARGCB_UNMAPFRAMEBUFFERPOINTER unmap = {.PhysicalAdapterIndex = 1};

    CHECK(physical_save_create(f.adapter, 0, MIB) == STATUS_SUCCESS &&
          physical_save_create(f.adapter, 1, MIB) == STATUS_SUCCESS);
    CHECK(physical_save_map(f.adapter, &map) == STATUS_SUCCESS && map.pBaseAddress != NULL);
    unmap.pBaseAddress = map.pBaseAddress;
    CHECK_RULE("PHYS-107/c", physical_save_unmap(f.adapter, &unmap) == STATUS_INVALID_PARAMETER &&
                                 reports("PHYS-107") == 1);
    unmap.PhysicalAdapterIndex = 2;
    CHECK_RULE("PHYS-094/a", physical_save_unmap(f.adapter, &unmap) == STATUS_INVALID_PARAMETER &&
                                 reports("PHYS-094") == 1);
    unmap.PhysicalAdapterIndex = 0;
    CHECK(physical_save_unmap(f.adapter, &unmap) == STATUS_SUCCESS);
    CHECK_RULE("PHYS-107/a", physical_save_unmap(f.adapter, &unmap) == STATUS_INVALID_PARAMETER &&
                                 reports("PHYS-107") == 2);
    /* to the end, and a page further */
    map.Offset = MIB - 2 * PAGE_BYTES;
    CHECK(physical_save_map(f.adapter, &map) == STATUS_SUCCESS);
    unmap.pBaseAddress = map.pBaseAddress;
    CHECK(physical_save_unmap(f.adapter, &unmap) == STATUS_SUCCESS);
    map.Offset = MIB - PAGE_BYTES;
    CHECK_RULE("PHYS-105/a", physical_save_map(f.adapter, &map) == STATUS_INVALID_PARAMETER &&
                                 map.pBaseAddress == NULL && reports("PHYS-105") == 1);
}

/* ---- ADLs ---- */

/* Ranges of the device can be larger than any list, and than the count of pages. */
TEST_WITH(isolated, lists_have_a_limit)
{
    const uint64_t most = (uint64_t)1 << 32, listed = (uint64_t)1 << 24;
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = object_args(DXGK_PHYSICAL_MEMORY_TYPE_IO_SPACE,
                                                               most * PAGE_BYTES);
    HANDLE opened;
    DXGK_ADL *adl;

    args.hAdapter = (HANDLE)1;
    args.IOSpace.BaseAddress = address((uint64_t)1 << 45);
    CHECK(create(&args) == STATUS_SUCCESS);
    opened = args.hAdapterMemoryObject;
    CHECK(adl_status(opened, 0, most * PAGE_BYTES, ADL_REQUIRE, NULL) ==
          STATUS_INSUFFICIENT_RESOURCES);
    CHECK(adl_status(opened, 0, (listed + 1) * PAGE_BYTES, ADL_ANY, NULL) ==
          STATUS_INSUFFICIENT_RESOURCES);
    CHECK(iommu_domain_mapped_pages(f.domain) == 0);
    adl = make_adl(opened, PAGE_BYTES, PAGE_BYTES * 16, ADL_ANY);
    CHECK(adl->Pages[15] == ((uint64_t)1 << 33) + 16);
    free_adl(opened, adl);
    destroy_both(&args);
    CHECK(violations() == 0);
}

/* ---- objects ---- */

/* What is attached to an adapter ends with it, not with the driver. */
TEST_WITH(isolated, objects_of_an_adapter_are_no_leaks_of_the_driver)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT attached = make_object(DXGK_PHYSICAL_MEMORY_TYPE_MDL,
                                                                   PAGE_BYTES);
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT loose = object_args(DXGK_PHYSICAL_MEMORY_TYPE_MDL,
                                                                PAGE_BYTES);

    CHECK(create(&loose) == STATUS_SUCCESS);
    CHECK_RULE("PHYS-144/b",
               physical_memory_driver_unloaded(f.memory, &f) == 1 && reports("PHYS-144") == 1);
    CHECK(ram_free_pages(f.ram) == f.free_pages - 1);
    destroy_both(&attached);
    CHECK(ram_free_pages(f.ram) == f.free_pages && reports("PHYS-144") == 1);
}

/* A size that wraps when it is rounded up makes no object of nothing. */
TEST_WITH(isolated, no_object_is_as_large_as_all)
{
    static const struct {
        DXGK_PHYSICAL_MEMORY_TYPE type;
        NTSTATUS status;
    } types[] = {
        {DXGK_PHYSICAL_MEMORY_TYPE_MDL, STATUS_INVALID_PARAMETER},
        {DXGK_PHYSICAL_MEMORY_TYPE_CONTIGUOUS_MEMORY, STATUS_NO_MEMORY},
        {DXGK_PHYSICAL_MEMORY_TYPE_SECTION, STATUS_SECTION_TOO_BIG},
        {DXGK_PHYSICAL_MEMORY_TYPE_IO_SPACE, STATUS_INVALID_PARAMETER},
    };

    for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = object_args(types[i].type, ALL_ONES);

        args.Mdl.HighAddress = types[i].type == DXGK_PHYSICAL_MEMORY_TYPE_MDL
                                   ? address(ALL_ONES)
                                   : args.Mdl.HighAddress;
        args.hAdapter = (HANDLE)1;
        if (create(&args) != types[i].status)
            fail_msg("type %u: 0x%08x", (unsigned)types[i].type, (unsigned)create(&args));
        CHECK(!args.hPhysicalMemoryObject && !args.hAdapterMemoryObject);
    }
    CHECK(ram_free_pages(f.ram) == f.free_pages && physical_memory_commit(f.memory) == 0);
}

/* ---- contiguous memory ---- */

static NTSTATUS block(uint64_t bytes, uint64_t low, uint64_t high, HANDLE *handle)
{
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY args = {.NumberOfBytes = bytes,
                                               .LowestAcceptableAddress = address(low),
                                               .HighestAcceptableAddress = address(high),
                                               .CacheType = DXGK_MEMORY_CACHING_TYPE_CACHED};
    NTSTATUS status = physical_contiguous_allocate(f.adapter, &args);

    *handle = args.hMemoryHandle;
    return status;
}

/* The bytes asked for end at the limit, whatever is left of their last page. */
TEST_WITH(physical, a_block_ends_at_its_limit)
{
    const uint64_t top = FIXTURE_BYTES - 1;
    HANDLE handle;

    for (uint64_t bytes = PAGE_BYTES - 1; bytes <= PAGE_BYTES + 1; bytes++) {
        const uint64_t low = 8 * MIB;

        CHECK(block(bytes, low, low + bytes - 1, &handle) == STATUS_SUCCESS);
        CHECK(physical_contiguous_free(f.adapter, &(DXGKARGCB_FREECONTIGUOUSMEMORY){
                                                      .hMemoryHandle = handle}) == STATUS_SUCCESS);
        CHECK(block(bytes, low, low + bytes - 2, &handle) == STATUS_NO_MEMORY);
    }
    CHECK(block(ALL_ONES, 0, ALL_ONES, &handle) == STATUS_NO_MEMORY);
    CHECK(block(FIXTURE_BYTES + 1, 0, ALL_ONES, &handle) == STATUS_NO_MEMORY);
    CHECK(block(PAGE_BYTES, top + 1 - PAGE_BYTES, ALL_ONES, &handle) == STATUS_SUCCESS);
    CHECK(physical_contiguous_free(f.adapter, &(DXGKARGCB_FREECONTIGUOUSMEMORY){
                                                  .hMemoryHandle = handle}) == STATUS_SUCCESS);
    CHECK(block(PAGE_BYTES, top + 1, ALL_ONES, &handle) == STATUS_NO_MEMORY);
}
