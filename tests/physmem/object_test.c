/* SPDX-License-Identifier: MIT */
/* Physical memory objects: creation by type, opening and closing, destruction. */
#include "physmem/physical_fixture.h"

static NTSTATUS open_object(struct physical_adapter *adapter, HANDLE object, HANDLE *opened)
{
    DXGKARGCB_OPEN_PHYSICAL_MEMORY_OBJECT args = {
        .hPhysicalMemoryObject = object, .hAdapter = adapter, .hAdapterMemoryObject = (HANDLE)0x5A};
    NTSTATUS status = physical_object_open(f.memory, adapter, &args);

    CHECK((status == STATUS_SUCCESS) == (args.hAdapterMemoryObject != NULL));
    *opened = args.hAdapterMemoryObject;
    return status;
}

static void close_object(HANDLE opened)
{
    DXGKARGCB_CLOSE_PHYSICAL_MEMORY_OBJECT args = {.hAdapterMemoryObject = opened};

    physical_object_close(f.memory, &args);
}

static HANDLE make_unopened(DXGK_PHYSICAL_MEMORY_TYPE type, uint64_t size)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = object_args(type, size);

    CHECK(create(&args) == STATUS_SUCCESS);
    return args.hPhysicalMemoryObject;
}

static bool bug_checked(uint64_t subcode)
{
    const struct verify_bugcheck *state = verify_bugcheck_state(f.verify);

    return state->happened && state->code == SYSMM_FATAL && state->parameter[0] == subcode;
}

TEST_WITH(isolated, objects_of_all_types_come_and_go)
{
    for (int type = 0; type < 4; type++) {
        DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = object_args((DXGK_PHYSICAL_MEMORY_TYPE)type,
                                                                   8192);

        CHECK_RULE("PHYS-113/a", create(&args) == STATUS_SUCCESS);
        CHECK_RULE("PHYS-110", args.hPhysicalMemoryObject != NULL);
        CHECK_RULE("PHYS-111/b", args.hAdapterMemoryObject == NULL);
        destroy(args.hPhysicalMemoryObject, NULL);
        CHECK_RULE("PHYS-137/a", back_to_start() && violations() == 0);
        args = make_object((DXGK_PHYSICAL_MEMORY_TYPE)type, 8192);
        CHECK_RULE("PHYS-111/a", args.hAdapterMemoryObject != NULL);
        CHECK_RULE("PHYS-173/a", iommu_domain_mapped_pages(f.domain) == 0);
        destroy_both(&args);
        CHECK_RULE("PHYS-138/a", back_to_start() && violations() == 0);
    }
}

TEST_WITH(isolated, unknown_types_and_empty_objects_are_refused)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = object_args(DXGK_PHYSICAL_MEMORY_TYPE_MDL, 4096);

    args.Type = (DXGK_PHYSICAL_MEMORY_TYPE)4;
    CHECK_RULE("PHYS-113/b", create(&args) == STATUS_INVALID_PARAMETER && reports("PHYS-113") == 1);
    args.Type = (DXGK_PHYSICAL_MEMORY_TYPE)99;
    args.hPhysicalMemoryObject = (HANDLE)0x5A;
    args.hAdapterMemoryObject = (HANDLE)0x5A;
    CHECK_RULE("PHYS-113/b", create(&args) == STATUS_INVALID_PARAMETER && reports("PHYS-113") == 2 &&
                                 !verify_bugcheck_state(f.verify)->happened);
    CHECK_RULE("PHYS-018", args.hPhysicalMemoryObject == NULL && args.hAdapterMemoryObject == NULL);
    for (int type = 0; type < 4; type++) {
        args = object_args((DXGK_PHYSICAL_MEMORY_TYPE)type, 0);
        CHECK_RULE("PHYS-115/a", create(&args) == STATUS_INVALID_PARAMETER);
        args = object_args((DXGK_PHYSICAL_MEMORY_TYPE)type, 4096);
        args.CacheType = (DXGK_MEMORY_CACHING_TYPE)3;
        CHECK_RULE("PHYS-024/b", create(&args) == STATUS_INVALID_PARAMETER);
    }
}

TEST_WITH(isolated, only_the_part_of_the_type_is_read)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = object_args(DXGK_PHYSICAL_MEMORY_TYPE_IO_SPACE,
                                                               4096);
    PHYSICAL_ADDRESS base = args.IOSpace.BaseAddress;

    memset(&args.Mdl, 0xFF, sizeof(args.Mdl));
    args.IOSpace.BaseAddress = base;
    CHECK_RULE("PHYS-114", create(&args) == STATUS_SUCCESS);
    args = object_args(DXGK_PHYSICAL_MEMORY_TYPE_CONTIGUOUS_MEMORY, 4096);
    args.Mdl.Flags = 0xFFFFFFFF; /* behind the members of ContiguousMemory */
    CHECK_RULE("PHYS-114", create(&args) == STATUS_SUCCESS);
}

TEST_WITH(isolated, sizes_are_rounded_but_not_for_io_space)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = make_object(DXGK_PHYSICAL_MEMORY_TYPE_MDL, 5000);

    CHECK_RULE("PHYS-115/b", make_adl(args.hAdapterMemoryObject, 0, 8192, ADL_ANY)->PageCount == 2);
    args = object_args(DXGK_PHYSICAL_MEMORY_TYPE_IO_SPACE, 5000);
    CHECK_RULE("PHYS-115/c", create(&args) == STATUS_INVALID_PARAMETER);
    args = object_args(DXGK_PHYSICAL_MEMORY_TYPE_CONTIGUOUS_MEMORY, ALL_ONES);
    CHECK(create(&args) == STATUS_NO_MEMORY);
    args = object_args(DXGK_PHYSICAL_MEMORY_TYPE_MDL, ALL_ONES);
    CHECK(create(&args) == STATUS_INVALID_PARAMETER);
    args = object_args(DXGK_PHYSICAL_MEMORY_TYPE_SECTION, ALL_ONES);
    CHECK(create(&args) == STATUS_SECTION_TOO_BIG);
}

TEST_WITH(isolated, mdl_objects_obey_the_rules_of_mdl_pages)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = object_args(DXGK_PHYSICAL_MEMORY_TYPE_MDL,
                                                               8 * 4096);
    DXGK_ADL *adl;

    args.hAdapter = (HANDLE)1;
    args.Mdl.LowAddress = address(16 * MIB);
    args.Mdl.HighAddress = address(17 * MIB - 1);
    CHECK(create(&args) == STATUS_SUCCESS);
    adl = make_adl(args.hAdapterMemoryObject, 0, 8 * 4096, ADL_ANY);
    for (unsigned i = 0; i < 8; i++) {
        char *bytes = device_bytes(adl->Pages[i]);

        CHECK_RULE("PHYS-118/b", adl->Pages[i] / 256 == 16);
        CHECK_RULE("PHYS-118/c", bytes[0] == 0 && bytes[4095] == 0);
    }
    args = object_args(DXGK_PHYSICAL_MEMORY_TYPE_MDL, 4096);
    args.Mdl.SkipBytes = address(100);
    CHECK_RULE("PHYS-118/a", create(&args) == STATUS_INVALID_PARAMETER && reports("PHYS-062") == 1);
    args = object_args(DXGK_PHYSICAL_MEMORY_TYPE_MDL, 4096);
    args.Mdl.Flags = 0x200;
    CHECK_RULE("PHYS-118/a", create(&args) == STATUS_INVALID_PARAMETER);
    args.Mdl.Flags = MM_ALLOCATE_AND_HOT_REMOVE;
    CHECK_RULE("PHYS-119/b", create(&args) == STATUS_INVALID_PARAMETER);
    args = object_args(DXGK_PHYSICAL_MEMORY_TYPE_MDL, 0xFFFFF001);
    CHECK_RULE("PHYS-118/a", create(&args) == STATUS_INVALID_PARAMETER);
    args = object_args(DXGK_PHYSICAL_MEMORY_TYPE_MDL, FIXTURE_BYTES);
    CHECK_RULE("PHYS-119/a",
               create(&args) == STATUS_NO_MEMORY && ram_free_pages(f.ram) == f.free_pages - 8);
}

TEST_WITH(isolated, contiguous_objects_obey_the_rules_of_contiguous_memory)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = object_args(
        DXGK_PHYSICAL_MEMORY_TYPE_CONTIGUOUS_MEMORY, 768 * 1024);
    struct view view;

    args.ContiguousMemory.LowestAcceptableAddress = address(9 * MIB - 4096);
    args.ContiguousMemory.HighestAcceptableAddress = address(10 * MIB - 1);
    args.ContiguousMemory.BoundaryAddressMultiple = address(MIB);
    CHECK(create(&args) == STATUS_SUCCESS);
    view = map(args.hPhysicalMemoryObject, 0, 768 * 1024);
    CHECK_RULE("PHYS-120/b", physical_of(view.data) == 9 * MIB + 256 * 1024);
    CHECK_RULE("PHYS-120/ab",
               physical_of(view.data + 768 * 1024 - 1) == 10 * MIB - 1 && *view.data != 0);
    unmap(&view);
    args.ContiguousMemory.BoundaryAddressMultiple = address(3 * MIB);
    CHECK_RULE("PHYS-120/a", create(&args) == STATUS_INVALID_PARAMETER);
    args.ContiguousMemory.BoundaryAddressMultiple = address(MIB);
    CHECK_RULE("PHYS-120/a", create(&args) == STATUS_NO_MEMORY);
}

TEST_WITH(isolated, sections_charge_commit_and_take_pages_only_for_adls)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = make_object(DXGK_PHYSICAL_MEMORY_TYPE_SECTION,
                                                               16 * MIB);
    DXGK_ADL *adl;

    CHECK_RULE("PHYS-122/ab", physical_memory_commit(f.memory) == 16 * MIB &&
                                  ram_free_pages(f.ram) == f.free_pages);
    adl = make_adl(args.hAdapterMemoryObject, 0, 16 * MIB, ADL_ANY);
    CHECK_RULE("PHYS-122/b", ram_free_pages(f.ram) == f.free_pages - 4096);
    CHECK_RULE("PHYS-172/a", ram_page_locks(f.ram, (struct page_number){adl->Pages[7]}) == 1);
    free_adl(args.hAdapterMemoryObject, adl);
    destroy_both(&args);
    CHECK_RULE("PHYS-137/a", back_to_start());
}

TEST_WITH(isolated, sections_check_protection_and_attributes)
{
    static const ULONG good[] = {PAGE_READONLY, PAGE_READWRITE, PAGE_EXECUTE, PAGE_WRITECOPY};
    static const ULONG bad[] = {0, PAGE_READWRITE | 0x400, PAGE_READWRITE | PAGE_READONLY, 0x40};
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args;

    for (unsigned i = 0; i < 4; i++) {
        args = object_args(DXGK_PHYSICAL_MEMORY_TYPE_SECTION, 4096);
        args.Section.PageProtection = good[i];
        CHECK_RULE("PHYS-123/a", create(&args) == STATUS_SUCCESS);
        args = object_args(DXGK_PHYSICAL_MEMORY_TYPE_SECTION, 4096);
        args.Section.PageProtection = bad[i];
        CHECK_RULE("PHYS-123/b", create(&args) == STATUS_INVALID_PAGE_PROTECTION);
    }
    args = object_args(DXGK_PHYSICAL_MEMORY_TYPE_SECTION, 4096);
    args.Section.AllocationAttributes = SEC_COMMIT;
    CHECK_RULE("PHYS-124/a", create(&args) == STATUS_SUCCESS && reports("PHYS-124") == 0);
    args.Section.AllocationAttributes = SEC_COMMIT | 0x40000000; /* SEC_WRITECOMBINE */
    CHECK_RULE("PHYS-124/b", create(&args) == STATUS_SUCCESS && reports("PHYS-124") == 1);
    args.Section.AllocationAttributes = SEC_RESERVE;
    CHECK_RULE("PHYS-124/c", create(&args) == STATUS_INVALID_PARAMETER);
    args = object_args(DXGK_PHYSICAL_MEMORY_TYPE_SECTION, 4096);
    args.CacheType = DXGK_MEMORY_CACHING_TYPE_NON_CACHED;
    CHECK_RULE("PHYS-117/b", create(&args) == STATUS_INVALID_PARAMETER && reports("PHYS-117") == 1);
}

TEST_WITH(isolated, sections_want_kernel_handles_in_a_process)
{
    const struct nt_process *process = (const struct nt_process *)0x1000; /* only compared */
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = object_args(DXGK_PHYSICAL_MEMORY_TYPE_SECTION,
                                                               4096);
    OBJECT_ATTRIBUTES attributes = {.Length = sizeof(attributes)};

    CHECK_RULE("PHYS-125/a",
               physical_object_create(f.memory, NULL, &f, process, &args) == STATUS_SUCCESS &&
                   violations() == 0);
    args.Section.ObjectAttributes = &attributes;
    CHECK_RULE("PHYS-125/b",
               physical_object_create(f.memory, NULL, &f, NULL, &args) == STATUS_SUCCESS &&
                   violations() == 0);
    CHECK_RULE("PHYS-125/c",
               physical_object_create(f.memory, NULL, &f, process, &args) == STATUS_SUCCESS &&
                   reports("PHYS-125") == 1);
    attributes.Attributes = OBJ_KERNEL_HANDLE;
    CHECK_RULE("PHYS-125/c",
               physical_object_create(f.memory, NULL, &f, process, &args) == STATUS_SUCCESS &&
                   reports("PHYS-125") == 1);
}

TEST_WITH(isolated, sections_have_limits)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = object_args(DXGK_PHYSICAL_MEMORY_TYPE_SECTION,
                                                               (uint64_t)1 << 60);

    CHECK_RULE("PHYS-126/a", create(&args) == STATUS_SECTION_TOO_BIG);
    physical_memory_set_commit_limit(f.memory, 3 * MIB);
    args = object_args(DXGK_PHYSICAL_MEMORY_TYPE_SECTION, 3 * MIB + 1);
    CHECK_RULE("PHYS-126/b", create(&args) == STATUS_COMMITMENT_LIMIT);
    args = object_args(DXGK_PHYSICAL_MEMORY_TYPE_SECTION, 3 * MIB);
    CHECK_RULE("PHYS-126/b", create(&args) == STATUS_SUCCESS);
    args = object_args(DXGK_PHYSICAL_MEMORY_TYPE_SECTION, 4096);
    CHECK_RULE("PHYS-126/b", create(&args) == STATUS_COMMITMENT_LIMIT && violations() == 0);
}

TEST_WITH(isolated, io_ranges_are_aligned_and_away_from_ram)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = object_args(DXGK_PHYSICAL_MEMORY_TYPE_IO_SPACE,
                                                               4096);

    args.IOSpace.BaseAddress = address(0xE0000100u);
    CHECK_RULE("PHYS-128/a", create(&args) == STATUS_INVALID_PARAMETER && reports("PHYS-128") == 1);
    args.IOSpace.BaseAddress = address(FIXTURE_BYTES - 4096);
    CHECK_RULE("PHYS-129/b", create(&args) == STATUS_INVALID_PARAMETER && reports("PHYS-129") == 1);
    args.IOSpace.BaseAddress = address(FIXTURE_BYTES);
    CHECK_RULE("PHYS-129/c", create(&args) == STATUS_SUCCESS);
    args.Size = 8192;
    args.IOSpace.BaseAddress = address((uint64_t)0 - 4096);
    CHECK_RULE("PHYS-129/a", create(&args) == STATUS_INVALID_PARAMETER && reports("PHYS-129") == 2);
    CHECK_RULE("PHYS-128/b", ram_free_pages(f.ram) == f.free_pages);
}

TEST_WITH(isolated, each_handle_serves_its_own_side)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = make_object(DXGK_PHYSICAL_MEMORY_TYPE_MDL, 4096);
    struct view view;
    HANDLE opened;

    CHECK_RULE("PHYS-130/a", adl_status(args.hPhysicalMemoryObject, 0, 4096, ADL_ANY, NULL) ==
                                 STATUS_INVALID_HANDLE);
    CHECK_RULE("PHYS-130/b",
               map_status(args.hAdapterMemoryObject, 0, 4096, DXGK_ACCESS_MODE_KERNEL_MODE, NULL,
                          &view) == STATUS_INVALID_HANDLE);
    CHECK_RULE("PHYS-130/b",
               open_object(f.adapter, args.hAdapterMemoryObject, &opened) == STATUS_INVALID_HANDLE);
    CHECK_RULE("PHYS-130/ab", reports("PHYS-130") == 3);
    close_object(args.hPhysicalMemoryObject);
    destroy(args.hAdapterMemoryObject, NULL);
    CHECK_RULE("PHYS-130/ab", reports("PHYS-130") == 5 && ram_free_pages(f.ram) == f.free_pages - 1);
}

TEST_WITH(isolated, an_unattached_object_must_be_opened)
{
    HANDLE object = make_unopened(DXGK_PHYSICAL_MEMORY_TYPE_MDL, 4096), opened;

    CHECK_RULE("PHYS-131/a", adl_status(object, 0, 4096, ADL_ANY, NULL) == STATUS_INVALID_HANDLE);
    CHECK_RULE("PHYS-131/b", open_object(f.adapter, object, &opened) == STATUS_SUCCESS);
    CHECK_RULE("PHYS-131/b", adl_status(opened, 0, 4096, ADL_ANY, NULL) == STATUS_SUCCESS);
}

TEST_WITH(isolated, an_object_is_open_once)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = make_object(DXGK_PHYSICAL_MEMORY_TYPE_MDL, 4096);
    struct physical_adapter *other = fixture_adapter("adapter 2", f.domain);
    HANDLE opened;

    CHECK_RULE("PHYS-132/a", open_object(f.adapter, args.hPhysicalMemoryObject, &opened) ==
                                 STATUS_ALREADY_REGISTERED);
    CHECK_RULE("PHYS-133",
               open_object(other, args.hPhysicalMemoryObject, &opened) == STATUS_NOT_SUPPORTED);
    CHECK_RULE("PHYS-134/a",
               open_object(NULL, args.hPhysicalMemoryObject, &opened) == STATUS_INVALID_PARAMETER);
    close_object(args.hAdapterMemoryObject);
    CHECK_RULE("PHYS-134/c",
               open_object(other, args.hPhysicalMemoryObject, &opened) == STATUS_SUCCESS);
    close_object(opened);
    CHECK_RULE("PHYS-134/c",
               open_object(f.adapter, args.hPhysicalMemoryObject, &opened) == STATUS_SUCCESS);
    physical_adapter_destroy(other);
}

TEST_WITH(isolated, close_leaves_the_memory_alive)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = make_object(DXGK_PHYSICAL_MEMORY_TYPE_MDL, 4096);
    struct view view = map(args.hPhysicalMemoryObject, 0, 4096);

    strcpy(view.data, "alive");
    close_object(args.hAdapterMemoryObject);
    CHECK_RULE("PHYS-135/a", strcmp(view.data, "alive") == 0 && violations() == 0);
    CHECK_RULE("PHYS-135/b", adl_status(args.hAdapterMemoryObject, 0, 4096, ADL_ANY, NULL) ==
                                 STATUS_INVALID_HANDLE);
    destroy_both(&args);
    CHECK_RULE("PHYS-138/b", reports("PHYS-138") == 1 && strcmp(view.data, "alive") == 0);
    unmap(&view);
    destroy(args.hPhysicalMemoryObject, NULL);
    close_object(args.hAdapterMemoryObject);
    CHECK_RULE("PHYS-138/c", back_to_start() && reports("PHYS-130") == 2);
}

TEST_WITH(isolated, closing_over_an_adl_is_fatal_and_undone)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = make_object(DXGK_PHYSICAL_MEMORY_TYPE_MDL, 4096);
    DXGK_ADL *adl = make_adl(args.hAdapterMemoryObject, 0, 4096, ADL_ANY);

    close_object(args.hAdapterMemoryObject);
    CHECK_RULE("PHYS-136/a", bug_checked(7));
    CHECK_RULE("PHYS-005/b", device_reach(adl->Pages[0]) == adl->Pages[0]);
}

TEST_WITH(isolated, closing_after_the_adl_is_freed_is_fine)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = make_object(DXGK_PHYSICAL_MEMORY_TYPE_MDL, 4096);

    free_adl(args.hAdapterMemoryObject, make_adl(args.hAdapterMemoryObject, 0, 4096, ADL_ANY));
    close_object(args.hAdapterMemoryObject);
    CHECK_RULE("PHYS-136/b", violations() == 0 && !verify_bugcheck_state(f.verify)->happened);
}

TEST_WITH(isolated, destroying_under_an_adl_is_fatal_and_undone)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = make_object(DXGK_PHYSICAL_MEMORY_TYPE_MDL, 4096);
    DXGK_ADL *adl = make_adl(args.hAdapterMemoryObject, 0, 4096, ADL_ANY);

    destroy_both(&args);
    CHECK_RULE("PHYS-139", bug_checked(5) && device_reach(adl->Pages[0]) == adl->Pages[0]);
}

TEST_WITH(isolated, destroying_an_open_object_alone_is_fatal)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = make_object(DXGK_PHYSICAL_MEMORY_TYPE_MDL, 4096);

    destroy(args.hPhysicalMemoryObject, NULL);
    CHECK_RULE("PHYS-140", bug_checked(6) && ram_free_pages(f.ram) == f.free_pages - 1);
}

TEST_WITH(isolated, handles_that_do_not_belong_together_destroy_nothing)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT a = make_object(DXGK_PHYSICAL_MEMORY_TYPE_MDL, 4096);
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT b = make_object(DXGK_PHYSICAL_MEMORY_TYPE_MDL, 4096);

    destroy(a.hPhysicalMemoryObject, b.hAdapterMemoryObject);
    CHECK_RULE("PHYS-141", reports("PHYS-141") == 1 && ram_free_pages(f.ram) == f.free_pages - 2);
    destroy_both(&a);
    destroy_both(&b);
    CHECK_RULE("PHYS-141", back_to_start() && violations() == 1);
}

TEST_WITH(isolated, mappings_left_at_destroy_are_removed_and_reported)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = make_object(DXGK_PHYSICAL_MEMORY_TYPE_MDL, 8192);
    struct view first = map(args.hPhysicalMemoryObject, 0, 4096),
                second = map(args.hPhysicalMemoryObject, 0, 8192);

    destroy_both(&args);
    CHECK_RULE("PHYS-142/a",
               reports("PHYS-142") == 2 && traps(first.data, false) && traps(second.data, false));
    CHECK(back_to_start());
}

TEST_WITH(isolated, null_arguments_are_refused)
{
    CHECK_RULE("PHYS-015/a", physical_object_create(f.memory, f.adapter, &f, NULL, NULL) ==
                                 STATUS_INVALID_PARAMETER);
    CHECK_RULE("PHYS-015/a",
               physical_object_open(f.memory, f.adapter, NULL) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("PHYS-015/a", physical_object_map(f.memory, NULL, NULL) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("PHYS-015/a", physical_adl_allocate(f.memory, NULL) == STATUS_INVALID_PARAMETER);
    physical_object_destroy(f.memory, NULL);
    physical_object_close(f.memory, NULL);
    physical_object_unmap(f.memory, NULL, NULL);
    physical_adl_free(f.memory, NULL);
    CHECK_RULE("PHYS-015/ab", reports("PHYS-015") == 8);
}

TEST_WITH(isolated, every_failing_creation_is_undone)
{
    for (int type = 0; type < 4; type++) {
        unsigned failures = 0;

        for (uint64_t n = 1;; n++) {
            DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = object_args(
                (DXGK_PHYSICAL_MEMORY_TYPE)type, 30 * 4096);
            NTSTATUS status;

            args.hAdapter = (HANDLE)1;
            f.heap.fail_at = f.heap.requests + n;
            status = create(&args);
            f.heap.fail_at = 0;
            CHECK(physical_memory_validate(f.memory));
            if (status == STATUS_SUCCESS) {
                destroy_both(&args);
                break;
            }
            failures++;
            CHECK(status == STATUS_INSUFFICIENT_RESOURCES || status == STATUS_NO_MEMORY);
            CHECK_RULE("PHYS-018", !args.hPhysicalMemoryObject && !args.hAdapterMemoryObject &&
                                       back_to_start());
        }
        CHECK(failures >= 2 && violations() == 0);
    }
}
