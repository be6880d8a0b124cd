/* SPDX-License-Identifier: MIT */
/* Frame buffer save: sections, pins of both versions, pointers. */
#include "physmem/physical_fixture.h"

static NTSTATUS pin1(UINT index, uint64_t bytes, PMDL *mdl)
{
    DXGKARGCB_PINFRAMEBUFFERFORSAVE args = {
        .PhysicalAdapterIndex = index, .CommitSize = bytes, .pMdl = (PMDL)0x5A};
    NTSTATUS status = physical_save_pin(f.adapter, &args);

    CHECK((status == STATUS_SUCCESS) == (args.pMdl != NULL));
    *mdl = args.pMdl;
    return status;
}

static NTSTATUS pin2(UINT index, uint64_t bytes, UINT flags, DXGK_ADL **adl)
{
    DXGKARGCB_PINFRAMEBUFFERFORSAVE2 args = {
        .PhysicalAdapterIndex = index, .CommitSize = bytes, .pAdl = (DXGK_ADL *)0x5A};
    NTSTATUS status;

    args.Flags.Value = flags;
    status = physical_save_pin2(f.adapter, &args);
    CHECK((status == STATUS_SUCCESS) == (args.pAdl != NULL));
    *adl = args.pAdl;
    return status;
}

static NTSTATUS unpin(UINT index)
{
    return physical_save_unpin(f.adapter,
                               &(DXGKARGCB_UNPINFRAMEBUFFERFORSAVE){.PhysicalAdapterIndex = index});
}

static NTSTATUS map_save(UINT index, uint64_t offset, uint64_t size,
                         DXGKARGCB_MAPFRAMEBUFFERPOINTER *args)
{
    NTSTATUS status;

    *args = (DXGKARGCB_MAPFRAMEBUFFERPOINTER){
        .PhysicalAdapterIndex = index, .Size = size, .Offset = offset, .pBaseAddress = (void *)0x5A};
    status = physical_save_map(f.adapter, args);
    CHECK((status == STATUS_SUCCESS) == (args->pBaseAddress != NULL));
    return status;
}

static NTSTATUS unmap_save(UINT index, void *base)
{
    DXGKARGCB_UNMAPFRAMEBUFFERPOINTER args = {.PhysicalAdapterIndex = index, .pBaseAddress = base};

    return physical_save_unmap(f.adapter, &args);
}

static void make_section(uint64_t bytes)
{
    CHECK(physical_save_create(f.adapter, 0, bytes) == STATUS_SUCCESS);
}

TEST_WITH(isolated, commit_is_charged_and_pages_are_not_taken)
{
    make_section(8 * MIB);
    CHECK_RULE("PHYS-090/ab", physical_memory_commit(f.memory) == 8 * MIB &&
                                  ram_free_pages(f.ram) == f.free_pages);
    CHECK_RULE("PHYS-087/a", physical_save_create(f.adapter, 1, 0) == STATUS_SUCCESS &&
                                 physical_memory_commit(f.memory) == 8 * MIB);
    CHECK_RULE("PHYS-088/b",
               physical_save_create(f.adapter, 1, 5000) == STATUS_DEVICE_CONFIGURATION_ERROR &&
                   reports("PHYS-088") == 1);
    physical_memory_set_commit_limit(f.memory, 12 * MIB);
    CHECK_RULE("PHYS-091", physical_save_create(f.adapter, 1, 8 * MIB) == STATUS_COMMITMENT_LIMIT);
}

TEST_WITH(isolated, a_pin_gives_an_mdl_the_device_can_write)
{
    PMDL mdl;

    make_section(2 * MIB);
    CHECK_RULE("PHYS-092/a", pin1(0, MIB, &mdl) == STATUS_SUCCESS && mdl->ByteCount == MIB);
    for (unsigned i = 0; i < 256; i++) {
        struct page_number page = {MmGetMdlPfnArray(mdl)[i]};

        CHECK_RULE("PHYS-092/bc",
                   device_reach(page.value) == page.value && ram_page_locks(f.ram, page) == 1);
    }
    CHECK_RULE("PHYS-100/a", unpin(0) == STATUS_SUCCESS && iommu_domain_mapped_pages(f.domain) == 0);
    CHECK_RULE("PHYS-100/c", unpin(0) == STATUS_INVALID_PARAMETER && reports("PHYS-100") == 1);
}

TEST_WITH(isolated, a_second_version_pin_gives_an_adl)
{
    bool logical = iommu_domain_mode(f.domain) == IOMMU_REMAP;
    DXGKARGCB_MAPFRAMEBUFFERPOINTER view;
    DXGK_ADL *adl;

    make_section(MIB);
    CHECK_RULE("PHYS-099/c",
               pin2(0, 5 * 4096, 2, &adl) == STATUS_INVALID_PARAMETER && reports("PHYS-099") == 1);
    CHECK_RULE("PHYS-098/a", pin2(0, 5 * 4096, 0, &adl) == STATUS_SUCCESS && adl->PageCount == 5);
    CHECK_RULE("PHYS-099/b", !adl->Flags.Contiguous);
    for (unsigned i = 0; i < 5; i++)
        strcpy(device_bytes(adl_page(adl, i)), (char[]){(char)('a' + i), 0});
    CHECK_RULE("PHYS-100/b", unpin(0) == STATUS_SUCCESS && iommu_domain_mapped_pages(f.domain) == 0);
    CHECK(map_save(0, 0, 8 * 4096, &view) == STATUS_SUCCESS);
    for (unsigned i = 0; i < 5; i++)
        CHECK_RULE("PHYS-098/b", ((char *)view.pBaseAddress)[i * 4096] == (char)('a' + i));
    CHECK_RULE("PHYS-101/b", ((char *)view.pBaseAddress)[5 * 4096] == 0);
    CHECK_RULE("PHYS-099/a",
               pin2(0, 5 * 4096, 1, &adl) == STATUS_SUCCESS && adl->Flags.Contiguous == logical);
    for (unsigned i = 0; i < 5; i++)
        CHECK_RULE("PHYS-101/a", *device_bytes(adl_page(adl, i)) == (char)('a' + i));
}
TEST_ALSO(logical, a_second_version_pin_gives_an_adl, logical)

TEST_WITH(isolated, sizes_and_indices_are_checked)
{
    DXGK_ADL *adl;

    make_section(MIB);
    CHECK_RULE("PHYS-093/b", pin2(0, MIB + 4096, 0, &adl) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("PHYS-093/b",
               pin2(0, 100, 0, &adl) == STATUS_INVALID_PARAMETER && reports("PHYS-093") == 2);
    CHECK_RULE("PHYS-094/a", pin2(1, 4096, 0, &adl) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("PHYS-094/c",
               pin2(0, 0, 0, &adl) == STATUS_INVALID_PARAMETER && reports("PHYS-094") == 2);
    CHECK_RULE("PHYS-087/b", pin2(0, MIB, 0, &adl) == STATUS_SUCCESS);
    CHECK_RULE("PHYS-095",
               pin2(0, 4096, 0, &adl) == STATUS_INVALID_PARAMETER && reports("PHYS-095") == 1);
    CHECK(unpin(0) == STATUS_SUCCESS);
    CHECK_RULE("PHYS-095", pin2(0, 4096, 0, &adl) == STATUS_SUCCESS);
}

TEST_WITH(isolated, a_pin_that_finds_no_pages_leaves_nothing)
{
    DXGKARGCB_MAPFRAMEBUFFERPOINTER view;
    DXGK_ADL *adl;

    make_section(FIXTURE_BYTES + MIB);
    CHECK_RULE("PHYS-096/a",
               pin2(0, FIXTURE_BYTES + MIB, 0, &adl) == STATUS_NO_MEMORY && violations() == 0);
    CHECK_RULE("PHYS-096/a",
               ram_free_pages(f.ram) == f.free_pages && iommu_domain_mapped_pages(f.domain) == 0);
    CHECK_RULE("PHYS-096/b", map_save(0, FIXTURE_BYTES, 4096, &view) == STATUS_SUCCESS);
}

TEST_WITH(isolated, the_first_version_is_refused_to_remapping_drivers)
{
    DXGK_ADL *adl;
    PMDL mdl;

    make_section(MIB);
    physical_adapter_set_legacy_refused(f.adapter, true);
    CHECK_RULE("IOMMU-095/a", pin1(0, 4096, &mdl) == STATUS_NOT_SUPPORTED);
    CHECK_RULE("IOMMU-095/b",
               pin2(0, 4096, 0, &adl) == STATUS_SUCCESS && unpin(0) == STATUS_SUCCESS);
}

TEST_WITH(isolated, pointers_need_no_pin_and_start_on_64_kib)
{
    DXGKARGCB_MAPFRAMEBUFFERPOINTER view, other;
    PMDL mdl;

    make_section(MIB);
    CHECK_RULE("PHYS-104",
               map_save(0, 0x13000, 4096, &view) == STATUS_SUCCESS && view.Offset == 0x3000);
    CHECK_RULE("PHYS-102/b", iommu_domain_mapped_pages(f.domain) == 0);
    strcpy((char *)view.pBaseAddress + view.Offset, "saved");
    CHECK(pin1(0, MIB, &mdl) == STATUS_SUCCESS);
    CHECK_RULE("PHYS-102/a", strcmp(device_bytes(MmGetMdlPfnArray(mdl)[0x13]), "saved") == 0);
    CHECK_RULE("PHYS-105/a",
               map_save(0, MIB - 4096, 4096, &other) == STATUS_SUCCESS && other.Offset == 0xF000);
    CHECK_RULE("PHYS-105/c", strcmp((char *)view.pBaseAddress + view.Offset, "saved") == 0);
    CHECK_RULE("PHYS-105/a", map_save(0, MIB, 4096, &other) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("PHYS-105/b",
               map_save(0, (uint64_t)0 - 4096, 8192, &other) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("PHYS-103/a", map_save(0, 100, 4096, &other) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("PHYS-103/b",
               map_save(0, 0, 100, &other) == STATUS_INVALID_PARAMETER && other.Offset == 0);
    CHECK_RULE("PHYS-094/d", map_save(0, 0, 0, &other) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("PHYS-107/b",
               unmap_save(0, (char *)view.pBaseAddress + view.Offset) == STATUS_INVALID_PARAMETER);
    CHECK(physical_save_create(f.adapter, 1, MIB) == STATUS_SUCCESS); /* of another index */
    CHECK_RULE("PHYS-107/c", unmap_save(1, view.pBaseAddress) == STATUS_INVALID_PARAMETER &&
                                 reports("PHYS-107") == 2 &&
                                 strcmp((char *)view.pBaseAddress + view.Offset, "saved") == 0);
    CHECK_RULE("PHYS-107/a", unmap_save(0, view.pBaseAddress) == STATUS_SUCCESS);
    CHECK_RULE("PHYS-107/a", unmap_save(0, view.pBaseAddress) == STATUS_INVALID_PARAMETER &&
                                 traps(view.pBaseAddress, false));
}

TEST_WITH(isolated, pins_and_pointers_left_are_leaks)
{
    DXGKARGCB_MAPFRAMEBUFFERPOINTER view;
    DXGK_ADL *adl;

    make_section(MIB);
    CHECK_RULE("PHYS-109/b", physical_adapter_report_leaks(f.adapter) == 0);
    CHECK(pin2(0, 4096, 0, &adl) == STATUS_SUCCESS && map_save(0, 0, 4096, &view) == STATUS_SUCCESS);
    CHECK_RULE("PHYS-109/b",
               physical_adapter_report_leaks(f.adapter) == 2 && reports("PHYS-022") == 2);
}

TEST_WITH(isolated, null_arguments_are_refused)
{
    CHECK_RULE("PHYS-015/a", physical_save_pin(f.adapter, NULL) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("PHYS-015/a", physical_save_pin2(f.adapter, NULL) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("PHYS-015/a", physical_save_unpin(f.adapter, NULL) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("PHYS-015/a", physical_save_map(f.adapter, NULL) == STATUS_INVALID_PARAMETER);
    CHECK_RULE("PHYS-015/a", physical_save_unmap(f.adapter, NULL) == STATUS_INVALID_PARAMETER &&
                                 reports("PHYS-015") == 5);
}

TEST_WITH(isolated, every_failing_step_is_undone)
{
    unsigned failures = 0;

    for (uint64_t n = 1;; n++) {
        NTSTATUS status;

        f.heap.fail_at = f.heap.requests + n;
        status = physical_save_create(f.adapter, 0, MIB);
        f.heap.fail_at = 0;
        if (status == STATUS_SUCCESS)
            break;
        failures++;
        CHECK_RULE("PHYS-018", status == STATUS_INSUFFICIENT_RESOURCES && back_to_start());
    }
    for (uint64_t n = 1;; n++) {
        NTSTATUS status;
        PMDL mdl;

        f.heap.fail_at = f.heap.requests + n;
        status = pin1(0, 40 * 4096, &mdl);
        f.heap.fail_at = 0;
        CHECK(physical_memory_validate(f.memory));
        if (status == STATUS_SUCCESS)
            break;
        failures++;
        CHECK_RULE("PHYS-018", ram_free_pages(f.ram) == f.free_pages &&
                                   iommu_domain_mapped_pages(f.domain) == 0);
    }
    for (uint64_t n = 1;; n++) {
        DXGKARGCB_MAPFRAMEBUFFERPOINTER view;
        NTSTATUS status;

        f.heap.fail_at = f.heap.requests + n;
        status = map_save(0, 4096, 4096, &view);
        f.heap.fail_at = 0;
        if (status == STATUS_SUCCESS)
            break;
        failures++;
        CHECK_RULE("PHYS-106", status == STATUS_INSUFFICIENT_RESOURCES && violations() == 0);
    }
    CHECK(failures >= 10);
}
