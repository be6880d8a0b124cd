/* SPDX-License-Identifier: MIT */
/* CPU mappings of physical memory objects. */
#include "physmem/physical_fixture.h"

static struct nt_process *const process_a = (struct nt_process *)0x1000; /* only compared */
static struct nt_process *const process_b = (struct nt_process *)0x2000;

TEST_WITH(physical, offsets_and_sizes_come_back_as_mapped)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT mdl = make_object(DXGK_PHYSICAL_MEMORY_TYPE_MDL,
                                                              4 * 4096);
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT section = make_object(DXGK_PHYSICAL_MEMORY_TYPE_SECTION,
                                                                  MIB);
    struct view view = map(mdl.hPhysicalMemoryObject, 0x1010, 0x20);

    CHECK_RULE("PHYS-146", view.args.Offset == 0x10 && view.args.Size == 0x1000);
    CHECK_RULE("PHYS-147/a", (uintptr_t)view.args.pMappedAddress % 4096 == 0);
    unmap(&view);
    view = map(mdl.hPhysicalMemoryObject, 0xFFF, 2);
    CHECK_RULE("PHYS-147/a", view.args.Offset == 0xFFF && view.args.Size == 0x2000);
    unmap(&view);
    view = map(section.hPhysicalMemoryObject, 0x13010, 8);
    CHECK_RULE("PHYS-147/b", view.args.Offset == 0x3010 && view.args.Size == 0x4000);
    unmap(&view);
    CHECK_RULE("PHYS-156", violations() == 0);
}

TEST_WITH(physical, the_wanted_byte_is_behind_the_offset)
{
    for (int type = 0; type < 3; type++) {
        DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = make_object((DXGK_PHYSICAL_MEMORY_TYPE)type,
                                                                   40 * 4096);
        struct view whole = map(args.hPhysicalMemoryObject, 0, 40 * 4096);
        struct view part = map(args.hPhysicalMemoryObject, 0x12345, 3);

        whole.data[0x12345] = 'x';
        CHECK_RULE("PHYS-145", *part.data == 'x');
        *part.data = 'y';
        CHECK_RULE("PHYS-153", whole.data[0x12345] == 'y');
        unmap(&whole);
        CHECK_RULE("PHYS-153", *part.data == 'y' && traps(whole.data, false));
        unmap(&part);
        destroy_both(&args);
    }
    CHECK(violations() == 0);
}

TEST_WITH(physical, ranges_outside_the_object_are_refused)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = make_object(DXGK_PHYSICAL_MEMORY_TYPE_MDL, 8192);
    static const struct {
        uint64_t offset, size;
    } bad[] = {{0, 0}, {8192, 1}, {0, 8193}, {ALL_ONES, 2}, {4096, ALL_ONES}};
    struct view view;

    for (unsigned i = 0; i < 5; i++) {
        CHECK_RULE("PHYS-148/b", map_status(args.hPhysicalMemoryObject, bad[i].offset, bad[i].size,
                                            DXGK_ACCESS_MODE_KERNEL_MODE, NULL,
                                            &view) == STATUS_INVALID_PARAMETER);
        CHECK_RULE("PHYS-018", view.args.Offset == bad[i].offset && view.args.Size == bad[i].size);
    }
    CHECK_RULE("PHYS-148/b", reports("PHYS-148") == 5);
    CHECK_RULE("PHYS-149/b", map_status(args.hPhysicalMemoryObject, 0, 1, (DXGK_ACCESS_MODE)2, NULL,
                                        &view) == STATUS_INVALID_PARAMETER);
}

TEST_WITH(physical, mappings_have_the_cache_attribute_of_the_object)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = object_args(DXGK_PHYSICAL_MEMORY_TYPE_MDL, 4096);
    struct view view;

    args.CacheType = DXGK_MEMORY_CACHING_TYPE_WRITE_COMBINED;
    CHECK(create(&args) == STATUS_SUCCESS);
    view = map(args.hPhysicalMemoryObject, 0, 4096);
    CHECK_RULE("PHYS-151", ram_page_cache(f.ram, (struct page_number){physical_of(view.data) /
                                                                      4096}) == RAM_WRITE_COMBINED);
    CHECK_RULE("PHYS-117/a",
               ram_page_cache(f.ram, (struct page_number){physical_of(view.data) / 4096}) ==
                   RAM_WRITE_COMBINED);
    unmap(&view);
}

TEST_WITH(physical, views_of_sections_follow_their_protection)
{
    static const struct {
        ULONG protection;
        bool writable;
    } cases[] = {{PAGE_READONLY, false},
                 {PAGE_READWRITE, true},
                 {PAGE_EXECUTE, false},
                 {PAGE_WRITECOPY, true}};

    for (unsigned i = 0; i < 4; i++) {
        DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = object_args(
            DXGK_PHYSICAL_MEMORY_TYPE_SECTION, 8192);
        struct view view;

        args.Section.PageProtection = cases[i].protection;
        CHECK(create(&args) == STATUS_SUCCESS);
        view = map(args.hPhysicalMemoryObject, 0, 8192);
        CHECK_RULE("PHYS-152/ac",
                   !traps(view.data, false) && traps(view.data, true) == !cases[i].writable);
        unmap(&view);
    }
}

TEST_WITH(isolated, write_copy_views_keep_their_private_bytes)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = object_args(DXGK_PHYSICAL_MEMORY_TYPE_SECTION,
                                                               8192);
    struct view writer, other;
    DXGK_ADL *adl;

    args.hAdapter = (HANDLE)1;
    args.Section.PageProtection = PAGE_WRITECOPY;
    CHECK(create(&args) == STATUS_SUCCESS);
    writer = map(args.hPhysicalMemoryObject, 0, 8192);
    other = map(args.hPhysicalMemoryObject, 0, 8192);
    strcpy(writer.data, "private");
    CHECK_RULE("PHYS-152/b", *other.data == 0);
    adl = make_adl(args.hAdapterMemoryObject, 0, 8192, ADL_ANY); /* the pages move */
    strcpy(device_bytes(adl->Pages[0]), "device 1");
    strcpy(device_bytes(adl->Pages[1]), "device 2");
    CHECK_RULE("PHYS-152/b",
               strcmp(writer.data, "private") == 0 && strcmp(other.data, "device 1") == 0);
    CHECK(strcmp(writer.data + 4096, "device 2") == 0);
    free_adl(args.hAdapterMemoryObject, adl);
    CHECK_RULE("PHYS-152/b",
               strcmp(writer.data, "private") == 0 && strcmp(other.data, "device 1") == 0);
    unmap(&writer);
    unmap(&other);
}

TEST_WITH(physical, io_space_is_for_the_kernel_only)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = make_object(DXGK_PHYSICAL_MEMORY_TYPE_IO_SPACE,
                                                               4 * 4096);
    struct view view;

    CHECK_RULE("PHYS-150",
               map_status(args.hPhysicalMemoryObject, 0, 4096, DXGK_ACCESS_MODE_USER_MODE,
                          process_a, &view) == STATUS_INVALID_PARAMETER);
    view = map(args.hPhysicalMemoryObject, 0x1004, 4);
    CHECK_RULE("PHYS-150", view.args.pMappedAddress == f.io_memory && view.args.Offset == 4 &&
                               f.io_mapped == 1);
    unmap(&view);
    CHECK(f.io_mapped == 0);
}

/* The hook here has one address for all ranges: a second record would replace the first. */
TEST_WITH(physical, a_taken_address_is_refused)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = make_object(DXGK_PHYSICAL_MEMORY_TYPE_IO_SPACE,
                                                               4 * 4096);
    struct view first = map(args.hPhysicalMemoryObject, 0, 4096), second;

    CHECK_RULE("PHYS-153",
               map_status(args.hPhysicalMemoryObject, 0, 4096, DXGK_ACCESS_MODE_KERNEL_MODE, NULL,
                          &second) == STATUS_INSUFFICIENT_RESOURCES &&
                   physical_memory_validate(f.memory) && f.io_mapped == 1);
    unmap(&first);
    CHECK_RULE("PHYS-157/a", violations() == 0 && f.io_mapped == 0);
    destroy_both(&args);
    CHECK_RULE("PHYS-142/a", violations() == 0);
}

TEST_WITH(physical, unmapping_wants_the_base_and_the_mapped_size)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = make_object(DXGK_PHYSICAL_MEMORY_TYPE_MDL,
                                                               4 * 4096);
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT other = make_object(DXGK_PHYSICAL_MEMORY_TYPE_MDL, 4096);
    struct view view = map(args.hPhysicalMemoryObject, 0x10, 3 * 4096);
    struct view wrong = view;

    unmap_as(&view, (char *)view.args.pMappedAddress + 0x1000, view.args.Size, NULL);
    unmap_as(&view, view.data, view.args.Size, NULL);
    wrong.args.hPhysicalMemoryObject = other.hPhysicalMemoryObject;
    unmap(&wrong);
    CHECK_RULE("PHYS-157/a", reports("PHYS-157") == 3 && !traps(view.data, true));
    unmap_as(&view, view.args.pMappedAddress, 3 * 4096, NULL); /* as asked for, not as mapped */
    CHECK_RULE("PHYS-157/b", reports("PHYS-157") == 4 && traps(view.data, false));
    unmap(&view);
    CHECK_RULE("PHYS-157/a", reports("PHYS-157") == 5);
}

TEST_WITH(physical, user_mappings_belong_to_their_process)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = make_object(DXGK_PHYSICAL_MEMORY_TYPE_SECTION,
                                                               4096);
    struct view view, kernel = map(args.hPhysicalMemoryObject, 0, 4096);

    CHECK_RULE("PHYS-149/c",
               map_status(args.hPhysicalMemoryObject, 0, 4096, DXGK_ACCESS_MODE_USER_MODE,
                          process_a, &view) == STATUS_SUCCESS);
    strcpy(view.data, "user");
    unmap_as(&view, view.args.pMappedAddress, view.args.Size, process_b);
    CHECK_RULE("PHYS-158", reports("PHYS-158") == 1 && strcmp(view.data, "user") == 0);
    unmap_as(&view, view.args.pMappedAddress, view.args.Size, process_a);
    CHECK_RULE("PHYS-158", violations() == 1 && traps(view.data, false));
    CHECK_RULE("PHYS-153", strcmp(kernel.data, "user") == 0);
    unmap_as(&kernel, kernel.args.pMappedAddress, kernel.args.Size,
             process_b); /* any context will do */
    CHECK_RULE("PHYS-149/a", violations() == 1 && traps(kernel.data, false));
}

TEST_WITH(physical, a_process_that_ends_loses_its_mappings)
{
    DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = make_object(DXGK_PHYSICAL_MEMORY_TYPE_MDL, 4096);
    struct view a, b, own, kernel = map(args.hPhysicalMemoryObject, 0, 4096);

    strcpy(kernel.data, "data");
    CHECK(map_status(args.hPhysicalMemoryObject, 0, 4096, DXGK_ACCESS_MODE_KERNEL_MODE, process_a,
                     &own) == STATUS_SUCCESS); /* made in its context, but the system's */
    CHECK(map_status(args.hPhysicalMemoryObject, 0, 4096, DXGK_ACCESS_MODE_USER_MODE, process_a,
                     &a) == STATUS_SUCCESS);
    CHECK(map_status(args.hPhysicalMemoryObject, 0, 4096, DXGK_ACCESS_MODE_USER_MODE, process_b,
                     &b) == STATUS_SUCCESS);
    CHECK_RULE("PHYS-159",
               physical_memory_process_ended(f.memory, process_a) == 1 && reports("PHYS-159") == 1);
    CHECK_RULE("PHYS-159", traps(a.data, false) && strcmp(kernel.data, "data") == 0 &&
                               strcmp(b.data, "data") == 0);
    CHECK_RULE("PHYS-159", strcmp(own.data, "data") == 0);
    unmap_as(&a, a.args.pMappedAddress, a.args.Size, process_a);
    CHECK(reports("PHYS-157") == 1);
}

TEST_WITH(physical, every_failing_mapping_is_undone)
{
    for (int type = 0; type < 4; type++) {
        DXGKARGCB_CREATE_PHYSICAL_MEMORY_OBJECT args = make_object((DXGK_PHYSICAL_MEMORY_TYPE)type,
                                                                   6 * 4096);
        unsigned failures = 0;

        for (uint64_t n = 1;; n++) {
            struct view view;
            NTSTATUS status;

            f.heap.fail_at = f.heap.requests + n;
            status = map_status(args.hPhysicalMemoryObject, 4096, 5, DXGK_ACCESS_MODE_KERNEL_MODE,
                                NULL, &view);
            f.heap.fail_at = 0;
            CHECK(physical_memory_validate(f.memory));
            if (status == STATUS_SUCCESS) {
                unmap(&view);
                break;
            }
            failures++;
            CHECK(status == STATUS_INSUFFICIENT_RESOURCES);
            CHECK_RULE("PHYS-018",
                       view.args.Offset == 4096 && view.args.Size == 5 && f.io_mapped == 0);
        }
        CHECK(failures >= 2 && violations() == 0);
        destroy_both(&args);
    }
}
