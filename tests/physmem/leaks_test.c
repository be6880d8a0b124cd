/* SPDX-License-Identifier: MIT */
/* What is held is known, reported when it should be gone, and reclaimed. */
#include "physmem/physical_fixture.h"

static const char *only_report(const char *rule)
{
    const char *seen = NULL;

    for (size_t i = 0; i < verify_records(f.verify); i++) {
        const struct verify_record *record = verify_record_at(f.verify, i);

        if (strcmp(record->rule, rule) != 0)
            continue;
        CHECK(!seen);
        seen = record->seen;
    }
    CHECK(seen);
    return seen;
}

static DXGKARGCB_ALLOCATEPAGESFORMDL make_pages(uint64_t bytes)
{
    DXGKARGCB_ALLOCATEPAGESFORMDL args = {.TotalBytes = bytes, .HighAddress = address(ALL_ONES)};

    CHECK(physical_mdl_allocate(f.adapter, &args) == STATUS_SUCCESS);
    return args;
}

TEST_WITH(isolated, holdings_are_listed_in_order_with_size_and_caller)
{
    DXGKARGCB_ALLOCATEPAGESFORMDL pages = make_pages(8192);
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY block = {.NumberOfBytes = 100,
                                                .HighestAcceptableAddress = address(ALL_ONES)};
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT object;
    DXGKARGCB_MAPMDLTOIOMMU mapped;
    struct physical_holding list[8];
    static const enum physical_kind kinds[] = {
        PHYSICAL_MDL_PAGES,      PHYSICAL_CONTIGUOUS, PHYSICAL_IOMMU_MDL, PHYSICAL_OBJECT,
        PHYSICAL_ADAPTER_OBJECT, PHYSICAL_ADL,        PHYSICAL_MAPPING};
    static const uint64_t bytes[] = {8192, 100, 8192, 12288, 12288, 4096, 12288};
    struct view view;
    DXGK_ADL *adl;

    CHECK(physical_contiguous_allocate(f.adapter, &block) == STATUS_SUCCESS);
    mapped = (DXGKARGCB_MAPMDLTOIOMMU){.pMdl = pages.pMdl};
    CHECK(physical_iommu_mdl_map(f.adapter, &mapped) == STATUS_SUCCESS);
    object = make_object(DXGK_PHYSICAL_MEMORY_TYPE_MDL, 12288);
    adl = make_adl(object.hAdapterMemoryObject, 0, 4096, ADL_ANY);
    view = map(object.hPhysicalMemoryObject, 0, 12288);
    CHECK_RULE("PHYS-021/a", physical_holdings(f.memory, f.adapter, list, 8) == 7);
    for (unsigned i = 0; i < 7; i++) {
        CHECK_RULE("PHYS-021/abc", list[i].kind == kinds[i] && list[i].bytes == bytes[i] &&
                                       list[i].caller == 0x1234);
        CHECK_RULE("PHYS-021/d", i == 0 || list[i].order > list[i - 1].order);
    }
    unmap(&view);
    free_adl(object.hAdapterMemoryObject, adl);
    destroy_both(&object);
    physical_iommu_mdl_unmap(f.adapter,
                             &(DXGKARGCB_UNMAPMDLFROMIOMMU){.hMemoryHandle = mapped.hMemoryHandle});
    CHECK(physical_contiguous_free(f.adapter, &(DXGKARGCB_FREECONTIGUOUSMEMORY){
                                                  .hMemoryHandle = block.hMemoryHandle}) == 0);
    CHECK(physical_mdl_free(
              f.adapter, &(DXGKARGCB_FREEPAGESFROMMDL){.hMemoryHandle = pages.hMemoryHandle}) == 0);
    CHECK_RULE("PHYS-021/e",
               physical_holdings(f.memory, f.adapter, list, 8) == 0 && violations() == 0);
}

TEST_WITH(isolated, a_forgotten_free_is_one_leak_and_usable_until_removal)
{
    DXGKARGCB_ALLOCATEPAGESFORMDL pages = make_pages(8192);

    physical_adapter_set_started(f.adapter, false);
    CHECK_RULE("PHYS-022/a",
               physical_adapter_report_leaks(f.adapter) == 1 && reports("PHYS-022") == 1);
    CHECK_RULE("PHYS-022/a", strstr(only_report("PHYS-022"), "pages for an MDL of 8192 bytes"));
    CHECK(strstr(only_report("PHYS-022"), "by driver!Start+0x42"));
    CHECK_RULE("PHYS-022/b", device_reach(MmGetMdlPfnArray(pages.pMdl)[0]) != 0);
    physical_adapter_destroy(f.adapter);
    f.adapter = NULL;
    CHECK_RULE("PHYS-022/c", back_to_start());
}

TEST_WITH(isolated, the_context_of_an_object_is_shown)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = object_args(DXGK_PHYSICAL_MEMORY_TYPE_MDL, 4096);
    struct physical_holding held;

    args.hAdapter = (HANDLE)1;
    args.Context = 0xDEADBEEF;
    CHECK(create(&args) == STATUS_SUCCESS);
    CHECK_RULE("PHYS-116/a",
               physical_holdings(f.memory, f.adapter, &held, 1) == 2 && held.context == 0xDEADBEEF);
    physical_adapter_report_leaks(f.adapter);
    CHECK_RULE("PHYS-116/b", strstr(only_report("PHYS-022"), "0xdeadbeef"));
    CHECK_RULE("PHYS-143/b", verify_bugcheck_state(f.verify)->parameter[0] == 6);
    CHECK_RULE("PHYS-143/b", verify_bugcheck_state(f.verify)->code == SYSMM_FATAL);
    CHECK_RULE("PHYS-143/d", strstr(only_report("PHYS-143"), "adapter memory object"));
}

TEST_WITH(isolated, adls_left_are_fatal_after_the_plain_leaks)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = make_object(DXGK_PHYSICAL_MEMORY_TYPE_MDL, 4096);

    make_adl(args.hAdapterMemoryObject, 0, 4096, ADL_ANY);
    make_pages(4096);
    CHECK_RULE("PHYS-143/a", physical_adapter_report_leaks(f.adapter) == 4);
    CHECK_RULE("PHYS-143/c",
               reports("PHYS-022") == 2 && verify_bugcheck_state(f.verify)->parameter[0] == 7);
    CHECK_RULE("PHYS-143/c", strcmp(verify_record_at(f.verify, verify_records(f.verify) - 1)->rule,
                                    "PHYS-143") == 0);
    CHECK_RULE("PHYS-143/d", strstr(only_report("PHYS-143"), "ADL of 4096 bytes"));
    CHECK_RULE("PHYS-143/d", strstr(only_report("PHYS-143"), "adapter memory object of 4096 bytes"));
}

TEST_WITH(isolated, an_object_without_adapter_outlives_it)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = object_args(DXGK_PHYSICAL_MEMORY_TYPE_MDL, 4096);
    DXGKARGCB_OPEN_PHYSICAL_MEMORY_OBJECT open_args;
    struct view view;

    CHECK(create(&args) == STATUS_SUCCESS);
    view = map(args.hPhysicalMemoryObject, 0, 4096);
    strcpy(view.data, "kept");
    CHECK_RULE("PHYS-144/a", physical_adapter_report_leaks(f.adapter) == 0);
    physical_adapter_destroy(f.adapter);
    f.adapter = fixture_adapter("adapter 1 again", f.domain);
    open_args = (DXGKARGCB_OPEN_PHYSICAL_MEMORY_OBJECT){
        .hPhysicalMemoryObject = args.hPhysicalMemoryObject};
    CHECK(physical_object_open(f.memory, f.adapter, &open_args) == STATUS_SUCCESS);
    CHECK_RULE(
        "PHYS-144/a",
        strcmp(device_bytes(make_adl(open_args.hAdapterMemoryObject, 0, 4096, ADL_ANY)->Pages[0]),
               "kept") == 0);
    physical_adapter_destroy(f.adapter);
    f.adapter = NULL;
    CHECK_RULE("PHYS-144/a", strcmp(view.data, "kept") == 0 && violations() == 0);
    CHECK_RULE("PHYS-144/b", physical_memory_driver_unloaded(f.memory, &view) == 0);
    CHECK_RULE("PHYS-144/b",
               physical_memory_driver_unloaded(f.memory, &f) == 1 && reports("PHYS-144") == 1);
    CHECK(back_to_start());
}

/* One of each thing, none freed: the end of the adapter must bring everything back, in whatever
 * order it finds it. */
TEST_WITH(physical, removal_reclaims_everything)
{
    DXGKARGCB_ALLOCATECONTIGUOUSMEMORY block = {.NumberOfBytes = 100,
                                                .HighestAcceptableAddress = address(ALL_ONES)};

    for (int type = 0; type < 4; type++) {
        DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = make_object((DXGK_PHYSICAL_MEMORY_TYPE)type,
                                                                   4 * 4096);

        map(args.hPhysicalMemoryObject, 0, 4096);
        make_adl(args.hAdapterMemoryObject, 0, 4096, ADL_ANY);
        make_adl(args.hAdapterMemoryObject, 0, 4 * 4096, ADL_PREFER);
    }
    if (iommu_domain_mode(f.domain) != IOMMU_REMAP) {
        CHECK(physical_contiguous_allocate(f.adapter, &block) == STATUS_SUCCESS);
        make_pages(5 * 4096);
    }
    CHECK(physical_save_create(f.adapter, 0, MIB) == STATUS_SUCCESS);
    CHECK(physical_save_pin2(f.adapter, &(DXGKARGCB_PINFRAMEBUFFERFORSAVE2){.CommitSize = 8192}) ==
          STATUS_SUCCESS);
    CHECK(physical_save_map(f.adapter, &(DXGKARGCB_MAPFRAMEBUFFERPOINTER){.Size = 8192}) ==
          STATUS_SUCCESS);
    CHECK(physical_memory_validate(f.memory));
    physical_adapter_destroy(f.adapter);
    f.adapter = NULL;
    CHECK_RULE("PHYS-022/c", back_to_start() && f.io_mapped == 0);
}
TEST_ALSO(isolated, removal_reclaims_everything, isolated)
TEST_ALSO(logical, removal_reclaims_everything, logical)
