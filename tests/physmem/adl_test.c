/* SPDX-License-Identifier: MIT */
/* ADLs: forms by flags and mode, what the device reaches through them, their life. */
#include "physmem/physical_fixture.h"

enum { TYPES = 4 };

static const DXGK_PHYSICAL_MEMORY_TYPE types[TYPES] = {
    DXGK_PHYSICAL_MEMORY_TYPE_MDL, DXGK_PHYSICAL_MEMORY_TYPE_CONTIGUOUS_MEMORY,
    DXGK_PHYSICAL_MEMORY_TYPE_SECTION, DXGK_PHYSICAL_MEMORY_TYPE_IO_SPACE};

/* The table of the companion, for one mode. */
static void check_forms(bool logical)
{
    for (unsigned i = 0; i < TYPES; i++) {
        DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = make_object(types[i], 5 * 4096);
        bool contiguous = types[i] == DXGK_PHYSICAL_MEMORY_TYPE_CONTIGUOUS_MEMORY ||
                          types[i] == DXGK_PHYSICAL_MEMORY_TYPE_IO_SPACE;
        HANDLE opened = args.hAdapterMemoryObject;
        DXGK_ADL *adl = make_adl(opened, 0, 5 * 4096, ADL_ANY);

        CHECK_RULE("PHYS-163", adl->PageCount == 5);
        CHECK_RULE("PHYS-169", adl->Flags.Value == 0);
        if (contiguous || logical)
            for (unsigned k = 0; k < 5; k++)
                CHECK_RULE("PHYS-169", adl->Pages[k] == adl->Pages[0] + k);
        free_adl(opened, adl);

        adl = make_adl(opened, 0, 5 * 4096, ADL_PREFER);
        CHECK_RULE("PHYS-168/ab",
                   adl->Flags.Value ==
                       (contiguous || logical)); /* scattered ones never happen to be consecutive */
        free_adl(opened, adl);

        if (contiguous) {
            adl = make_adl(opened, 0, 5 * 4096, ADL_REQUIRE);
            CHECK_RULE("PHYS-167/a", adl->Flags.Value == 1);
            free_adl(opened, adl);
            adl = make_adl(opened, 0, 5 * 4096, ADL_REQUIRE | ADL_PREFER);
            CHECK_RULE("PHYS-170", adl->Flags.Contiguous == 1);
            free_adl(opened, adl);
        } else {
            CHECK_RULE("PHYS-167/b", adl_status(opened, 0, 5 * 4096, ADL_REQUIRE, NULL) ==
                                         STATUS_INVALID_PARAMETER);
            CHECK_RULE("PHYS-170", adl_status(opened, 0, 5 * 4096, ADL_REQUIRE | ADL_PREFER,
                                              NULL) == STATUS_INVALID_PARAMETER);
        }
        destroy_both(&args);
    }
    CHECK(back_to_start() && reports("PHYS-167") == 4 && violations() == 4);
}

TEST_WITH(physical, forms_in_physical_mode)
{
    check_forms(false);
}

TEST_WITH(isolated, forms_in_isolated_mode)
{
    check_forms(false);
}

TEST_WITH(logical, forms_in_logical_mode)
{
    check_forms(true);
}

TEST_WITH(isolated, consecutive_pages_may_be_told_as_such)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args;

    physical_memory_set_scatter(f.memory, false);
    args = make_object(DXGK_PHYSICAL_MEMORY_TYPE_MDL, 5 * 4096);
    CHECK_RULE("PHYS-168/b",
               make_adl(args.hAdapterMemoryObject, 0, 5 * 4096, ADL_PREFER)->Flags.Contiguous);
    CHECK_RULE("PHYS-169",
               !make_adl(args.hAdapterMemoryObject, 0, 5 * 4096, ADL_ANY)->Flags.Contiguous);
}

TEST_WITH(isolated, both_forms_list_the_same_pages)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = make_object(
        DXGK_PHYSICAL_MEMORY_TYPE_CONTIGUOUS_MEMORY, 6 * 4096);
    DXGK_ADL *run = make_adl(args.hAdapterMemoryObject, 8192, 3 * 4096, ADL_REQUIRE);
    DXGK_ADL *list = make_adl(args.hAdapterMemoryObject, 8192, 3 * 4096, ADL_ANY);
    struct view view = map(args.hPhysicalMemoryObject, 8192, 3 * 4096);

    for (unsigned i = 0; i < 3; i++) {
        CHECK_RULE("PHYS-164/ab", list->Pages[i] == run->BasePageNumber + i);
        CHECK_RULE("PHYS-165", list->Pages[i] * 4096 == physical_of(view.data + i * 4096));
    }
    CHECK_RULE("PHYS-166", sizeof(list->Pages[0]) == 8);
    unmap(&view);
}

/* A device writes through the list, the CPU reads, and the other way round. */
static void check_bytes_in_order(void)
{
    for (unsigned i = 0; i < 3; i++) {
        DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = make_object(types[i], 6 * 4096);
        struct view view = map(args.hPhysicalMemoryObject, 4096, 4 * 4096);

        for (unsigned k = 0; k < 4; k++)
            view.data[k * 4096] = (char)('a' + k);
        for (UINT32 flags = 0; flags <= ADL_PREFER; flags += ADL_PREFER) {
            DXGK_ADL *adl = make_adl(args.hAdapterMemoryObject, 4096, 4 * 4096, flags);

            for (unsigned k = 0; k < 4; k++) {
                CHECK_RULE("PHYS-160", *device_bytes(adl_page(adl, k)) == view.data[k * 4096]);
                CHECK_RULE("IOMMU-032", *device_bytes(adl_page(adl, k)) == view.data[k * 4096]);
                device_bytes(adl_page(adl, k))[1] = (char)(flags + k);
                CHECK_RULE("PHYS-145", view.data[k * 4096 + 1] == (char)(flags + k));
            }
            free_adl(args.hAdapterMemoryObject, adl);
        }
        CHECK_RULE("PHYS-179/a", view.data[0] == 'a' && view.data[3 * 4096 + 1] == ADL_PREFER + 3);
        unmap(&view);
        destroy_both(&args);
    }
    CHECK_RULE("IOMMU-096/a", back_to_start() && violations() == 0);
}

TEST_WITH(physical, bytes_in_order_in_physical_mode)
{
    check_bytes_in_order();
}

TEST_WITH(isolated, bytes_in_order_in_isolated_mode)
{
    check_bytes_in_order();
}

TEST_WITH(logical, bytes_in_order_in_logical_mode)
{
    check_bytes_in_order();
}

TEST_WITH(isolated, only_the_pages_of_the_adl_are_reachable)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = make_object(
        DXGK_PHYSICAL_MEMORY_TYPE_CONTIGUOUS_MEMORY, 8 * 4096);
    DXGK_ADL *adl = make_adl(args.hAdapterMemoryObject, 2 * 4096, 2 * 4096, ADL_REQUIRE);
    uint64_t base = adl->BasePageNumber - 2;

    for (uint64_t i = 0; i < 8; i++)
        CHECK_RULE("PHYS-173/c", device_reach(base + i) == (i == 2 || i == 3 ? base + i : 0));
    free_adl(args.hAdapterMemoryObject, adl);
    CHECK_RULE("PHYS-180/a", device_reach(base + 2) == 0 && device_reach(base + 3) == 0);
}

TEST_WITH(isolated, offsets_and_sizes_are_checked)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = make_object(DXGK_PHYSICAL_MEMORY_TYPE_MDL,
                                                               4 * 4096);
    HANDLE opened = args.hAdapterMemoryObject;

    CHECK_RULE("PHYS-161/a", adl_status(opened, 0x800, 4096, 0, NULL) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("PHYS-161/b", adl_status(opened, 0, 0x1800, 0, NULL) == STATUS_INVALID_PARAMETER &&
                                 reports("PHYS-161") == 2);
    CHECK_RULE("PHYS-162/a", adl_status(opened, 0, 0, 0, NULL) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("PHYS-162/b",
               adl_status(opened, 4 * 4096, 4096, 0, NULL) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("PHYS-162/b",
               adl_status(opened, 3 * 4096, 8192, 0, NULL) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("PHYS-162/c",
               adl_status(opened, (uint64_t)0 - 4096, 8192, 0, NULL) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("PHYS-162/b", reports("PHYS-162") == 4);
    CHECK_RULE("PHYS-171", adl_status(opened, 0, 4096, 4, NULL) == STATUS_INVALID_PARAMETER &&
                               reports("PHYS-171") == 1);
    CHECK_RULE("PHYS-162/b", adl_status(opened, 3 * 4096, 4096, 0, NULL) == STATUS_SUCCESS);
}

TEST_WITH(logical, memory_is_locked_once_for_each_adl)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = make_object(
        DXGK_PHYSICAL_MEMORY_TYPE_CONTIGUOUS_MEMORY, 4096);
    DXGK_ADL *a = make_adl(args.hAdapterMemoryObject, 0, 4096, ADL_ANY),
             *b = make_adl(args.hAdapterMemoryObject, 0, 4096, ADL_ANY);
    struct page_number page = {device_reach(a->Pages[0])};

    CHECK_RULE("PHYS-177/a", ram_page_locks(f.ram, page) == 2 && a->Pages[0] != b->Pages[0]);
    CHECK_RULE("PHYS-177/b", device_reach(b->Pages[0]) == page.value);
    free_adl(args.hAdapterMemoryObject, a);
    CHECK_RULE("PHYS-180/b", ram_page_locks(f.ram, page) == 1);
    CHECK_RULE("PHYS-177/c", device_reach(b->Pages[0]) == page.value);
    free_adl(args.hAdapterMemoryObject, b);
    CHECK_RULE("PHYS-172/a", ram_page_locks(f.ram, page) == 0);
}

/* Behind each list of RAM stand locked frames, and the host's own check of it stays silent. */
TEST_WITH(isolated, every_page_of_a_list_is_locked)
{
    static const DXGK_PHYSICAL_MEMORY_TYPE lockable[] = {DXGK_PHYSICAL_MEMORY_TYPE_MDL,
                                                         DXGK_PHYSICAL_MEMORY_TYPE_CONTIGUOUS_MEMORY,
                                                         DXGK_PHYSICAL_MEMORY_TYPE_SECTION};

    for (unsigned t = 0; t < 3; t++) {
        DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = make_object(lockable[t], 6 * 4096);
        DXGK_ADL *adl = make_adl(args.hAdapterMemoryObject, 4096, 4 * 4096, ADL_ANY);

        for (unsigned i = 0; i < 4; i++)
            CHECK_RULE("PHYS-175",
                       ram_page_locks(f.ram, (struct page_number){device_reach(adl_page(adl, i))}) >
                               0 &&
                           reports("PHYS-175") == 0);
        free_adl(args.hAdapterMemoryObject, adl);
        destroy_both(&args);
    }
}
TEST_ALSO(logical, every_page_of_a_list_is_locked, logical)

TEST_WITH(logical, a_retired_address_is_not_used_again)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = make_object(DXGK_PHYSICAL_MEMORY_TYPE_MDL, 4096);
    HANDLE opened = args.hAdapterMemoryObject;
    DXGK_ADL *last = NULL;
    uint64_t logical = 0;

    for (unsigned i = 0; i < 10000; i++) {
        DXGK_ADL *adl = make_adl(opened, 0, 4096, ADL_PREFER);

        CHECK_RULE("PHYS-016/c", adl > last);
        CHECK_RULE("IOMMU-033/a", adl->BasePageNumber != logical);
        logical = adl->BasePageNumber;
        last = adl;
        free_adl(opened, adl);
    }
    free_adl(opened, last);
    CHECK_RULE("PHYS-016/b", reports("PHYS-017") == 1);
}

TEST_WITH(isolated, writing_to_the_list_is_reported_and_not_believed)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = make_object(DXGK_PHYSICAL_MEMORY_TYPE_MDL,
                                                               4 * 4096);
    DXGK_ADL *adl = make_adl(args.hAdapterMemoryObject, 0, 4 * 4096, ADL_ANY);

    ((DXGK_PAGE_NUMBER *)(uintptr_t)adl->Pages)[2] = 12345;
    free_adl(args.hAdapterMemoryObject, adl);
    CHECK_RULE("PHYS-178/ab", reports("PHYS-178") == 1 && iommu_domain_mapped_pages(f.domain) == 0);
    adl = make_adl(args.hAdapterMemoryObject, 0, 4 * 4096, ADL_ANY);
    adl->PageCount = 1;
    free_adl(args.hAdapterMemoryObject, adl);
    adl = make_adl(args.hAdapterMemoryObject, 0, 4 * 4096, ADL_ANY);
    adl->Flags.Contiguous = 1;
    free_adl(args.hAdapterMemoryObject, adl);
    CHECK_RULE("PHYS-178/ab", reports("PHYS-178") == 3 && iommu_domain_mapped_pages(f.domain) == 0);
}

TEST_WITH(isolated, an_adl_is_freed_with_its_own_adapter_object)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT a = make_object(DXGK_PHYSICAL_MEMORY_TYPE_MDL, 4096);
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT b = make_object(DXGK_PHYSICAL_MEMORY_TYPE_MDL, 4096);
    DXGK_ADL *adl = make_adl(a.hAdapterMemoryObject, 0, 4096, ADL_ANY);

    free_adl(b.hAdapterMemoryObject, adl);
    CHECK_RULE("PHYS-180/c",
               reports("PHYS-180") == 1 && device_reach(adl->Pages[0]) == adl->Pages[0]);
    free_adl(a.hAdapterMemoryObject, adl);
    CHECK_RULE("PHYS-180/a", violations() == 1 && iommu_domain_mapped_pages(f.domain) == 0);
}

TEST_WITH(physical, io_space_is_reached_through_an_adl)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = make_object(DXGK_PHYSICAL_MEMORY_TYPE_IO_SPACE,
                                                               4 * 4096);
    DXGK_ADL *adl = make_adl(args.hAdapterMemoryObject, 4096, 8192, ADL_REQUIRE);

    CHECK_RULE("PHYS-174/c", device_reach(adl->BasePageNumber) == 0xE0001 &&
                                 device_reach(adl->BasePageNumber + 1) == 0xE0002);
    if (iommu_domain_mode(f.domain) != IOMMU_REMAP)
        CHECK_RULE("PHYS-174/a", adl->BasePageNumber == 0xE0001);
    free_adl(args.hAdapterMemoryObject, adl);
}
TEST_ALSO(isolated, io_space_is_reached_through_an_adl, isolated)
TEST_ALSO(logical, io_space_is_reached_through_an_adl, logical)

TEST_WITH(physical, logical_space_runs_out_without_a_trace)
{
    struct iommu_domain *domain = iommu_domain_create(f.ram, IOMMU_REMAP,
                                                      (struct logical_addr){16 * PAGE_BYTES - 1});
    struct physical_adapter *adapter = fixture_adapter("adapter 2", domain);
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = object_args(
        DXGK_PHYSICAL_MEMORY_TYPE_CONTIGUOUS_MEMORY, 32 * 4096);
    DXGK_ADL *adl;

    args.ContiguousMemory.LowestAcceptableAddress = address(32 * MIB);
    CHECK(physical_object_create(f.memory, adapter, &f, NULL, &args) == STATUS_SUCCESS);
    CHECK_RULE("PHYS-176/b", adl_status(args.hAdapterMemoryObject, 0, 32 * 4096, ADL_ANY, NULL) ==
                                 STATUS_INSUFFICIENT_RESOURCES);
    CHECK_RULE("PHYS-176/c", ram_page_locks(f.ram, (struct page_number){32 * MIB / 4096}) == 0);
    CHECK_RULE("PHYS-006/d", violations() == 0);
    adl = make_adl(args.hAdapterMemoryObject, 0, 8 * 4096, ADL_ANY);
    for (unsigned i = 0; i < 8; i++) {
        CHECK_RULE("PHYS-121/ab",
                   adl->Pages[i] < 16 && device_reach_in(domain, adl->Pages[i]) >= 32 * MIB / 4096);
        CHECK_RULE("IOMMU-029/a", adl->Pages[i] < 16);
        CHECK_RULE("IOMMU-030/a", adl->Pages[i] != 0);
    }
    physical_adapter_destroy(adapter);
    iommu_domain_destroy(domain);
}

TEST_WITH(isolated, sections_that_cannot_become_resident_are_refused)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = make_object(DXGK_PHYSICAL_MEMORY_TYPE_SECTION,
                                                               FIXTURE_BYTES + 4096);
    HANDLE opened = args.hAdapterMemoryObject;

    CHECK_RULE("PHYS-176/a",
               adl_status(opened, 0, FIXTURE_BYTES + 4096, 0, NULL) == STATUS_NO_MEMORY);
    CHECK_RULE("PHYS-176/c",
               ram_free_pages(f.ram) == f.free_pages && iommu_domain_mapped_pages(f.domain) == 0);
    CHECK(adl_status(opened, 0, MIB, 0, NULL) == STATUS_SUCCESS);
}

TEST_WITH(isolated, section_content_survives_going_in_and_out)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = make_object(DXGK_PHYSICAL_MEMORY_TYPE_SECTION,
                                                               64 * 4096);
    HANDLE opened = args.hAdapterMemoryObject;
    struct view view = map(args.hPhysicalMemoryObject, 0, 64 * 4096);
    DXGK_ADL *half, *all;

    for (unsigned i = 0; i < 64 * 4096; i++)
        CHECK_RULE("PHYS-127", view.data[i] == 0);
    for (unsigned i = 0; i < 64; i++)
        view.data[i * 4096 + 9] = (char)i;
    half = make_adl(opened, 0, 32 * 4096, ADL_ANY);
    all = make_adl(opened, 0, 64 * 4096, ADL_ANY);
    for (unsigned i = 0; i < 32; i++)
        CHECK_RULE("PHYS-172/b", device_reach(half->Pages[i]) == device_reach(all->Pages[i]));
    for (unsigned i = 0; i < 64; i++) {
        CHECK(device_bytes(all->Pages[i])[9] == (char)i);
        device_bytes(all->Pages[i])[10] = 'd';
        view.data[i * 4096 + 11] = 'c';
    }
    free_adl(opened, all);
    CHECK(ram_free_pages(f.ram) == f.free_pages - 32 && physical_memory_validate(f.memory));
    for (unsigned i = 0; i < 32; i++)
        CHECK_RULE("PHYS-172/c", device_bytes(half->Pages[i])[11] == 'c' &&
                                     device_bytes(half->Pages[i])[9] == (char)i);
    free_adl(opened, half);
    for (unsigned i = 0; i < 64; i++)
        CHECK(view.data[i * 4096 + 9] == (char)i && view.data[i * 4096 + 10] == 'd' &&
              view.data[i * 4096 + 11] == 'c');
    unmap(&view);
    destroy_both(&args);
    CHECK(back_to_start() && violations() == 0);
}
TEST_ALSO(logical, section_content_survives_going_in_and_out, logical)

TEST_WITH(isolated, a_read_only_section_is_writable_for_the_device)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = object_args(DXGK_PHYSICAL_MEMORY_TYPE_SECTION,
                                                               4096);
    struct view view;
    DXGK_ADL *adl;

    args.hAdapter = (HANDLE)1;
    args.Section.PageProtection = PAGE_READONLY;
    CHECK(create(&args) == STATUS_SUCCESS);
    view = map(args.hPhysicalMemoryObject, 0, 4096);
    adl = make_adl(args.hAdapterMemoryObject, 0, 4096, ADL_ANY);
    strcpy(device_bytes(adl->Pages[0]), "device");
    CHECK_RULE("IOMMU-052", strcmp(view.data, "device") == 0 && traps(view.data, true));
}

TEST_WITH(isolated, every_failing_adl_is_undone)
{
    for (unsigned i = 0; i < TYPES; i++) {
        DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = make_object(types[i], 30 * 4096);
        uint64_t free_pages = ram_free_pages(f.ram);
        unsigned failures = 0;

        for (uint64_t n = 1;; n++) {
            NTSTATUS status;
            DXGK_ADL *adl;

            f.heap.fail_at = f.heap.requests + n;
            status = adl_status(args.hAdapterMemoryObject, 4096, 28 * 4096, ADL_ANY, &adl);
            f.heap.fail_at = 0;
            CHECK(physical_memory_validate(f.memory));
            if (status == STATUS_SUCCESS) {
                free_adl(args.hAdapterMemoryObject, adl);
                break;
            }
            failures++;
            CHECK(status == STATUS_INSUFFICIENT_RESOURCES || status == STATUS_NO_MEMORY);
            CHECK_RULE("PHYS-018", ram_free_pages(f.ram) == free_pages &&
                                       iommu_domain_mapped_pages(f.domain) == 0);
        }
        CHECK(failures >= 2 && violations() == 0);
        destroy_both(&args);
        CHECK_RULE("PHYS-176/c",
                   back_to_start()); /* no lock was left: locked pages would be quarantined */
    }
}
TEST_ALSO(logical, every_failing_adl_is_undone, logical)
