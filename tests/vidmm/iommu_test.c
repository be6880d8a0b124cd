/* SPDX-License-Identifier: MIT */
/* What the memory manager maps for the device, for how long, and which addresses it tells the driver. */
#include "support/mm_requests.h"
#include "support/mm_rig.h"

#include <stdlib.h>

#include "sim/fault.h"
#include "sim/point.h"

#define OK(call) CHECK(NT_SUCCESS(call))

#define CACHED      0x5u    /* CpuVisible, Cached */
#define CPU_VISIBLE 0x2000u /* MapApertureCpuVisible */
#define PHYSICAL    0x8000u /* AccessedPhysically */

static bool reaches(const struct mm_rig *rig, uint64_t page)
{
    struct phys_addr physical;

    return iommu_translate(rig->base.domain, (struct logical_addr){page << PAGE_BITS}, IOMMU_WRITE,
                           &physical);
}

static void in_each_isolating_mode(void (*body)(struct mm_rig *rig))
{
    struct mm_options o;

    mm_options_default(&o);
    o.iommu = IOMMU_REMAP;
    mm_run(&o, body);
    o.iommu = IOMMU_ISOLATION;
    mm_run(&o, body);
}

#define RIG_ARGUMENT_isolating  struct mm_rig *rig
#define RIG_RUN_isolating(body) in_each_isolating_mode(body)

/* ---- for how long ---- */

TEST_WITH(isolating, pages_are_mapped_while_the_device_may_use_them)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_BOTH, 8, 0);
    D3DKMT_HANDLE system = mm_make(c, MM_SET_APERTURE, 4, 0);
    const uint64_t mapped = iommu_domain_mapped_pages(rig->base.domain);
    uint64_t page, frame;

    OK(mm_resident(c, h));
    mm_write_content(rig, mm_allocation(c, h), 3);
    OK(mm_evict(c, h, 0));
    mm_idle(rig);
    CHECK_RULE("IOMMU-066/b",
               iommu_domain_mapped_pages(rig->base.domain) == mapped && rig->faults == 0);
    OK(mm_resident(c, h));
    CHECK_RULE("IOMMU-066/a", rig->faults == 0 && mm_check_content(rig, mm_allocation(c, h), 3) &&
                                  iommu_domain_mapped_pages(rig->base.domain) == mapped);

    /* Resident in the implicit system segment: as long as that, and until the GPU is done. */
    OK(mm_resident(c, system));
    page = mm_allocation(c, system)->logical[2].value;
    frame = mm_allocation(c, system)->backing[2].value;
    CHECK_RULE("IOMMU-066/d", reaches(rig, page));
    mm_submit(c);
    CHECK(mm_dispatch(c));
    OK(mm_evict(c, system, 0));
    sim_stall(1000000);
    CHECK_RULE("IOMMU-069/b",
               reaches(rig, page) &&
                   ram_page_owner(rig->base.ram, (struct page_number){frame}) == RAM_ALLOCATION);
    mm_finish(c);
    mm_idle(rig);
    CHECK_RULE("IOMMU-066/d", !reaches(rig, page) &&
                                  !iommu_page_mapped(rig->base.domain, (struct logical_page){page}));
    OK(mm_destroy(c, system, 2));
    mm_idle(rig);
    CHECK_RULE("IOMMU-069/c", mm_violations(rig, "PHYS-003") == 0 && rig->faults == 0);
}

/* A lost invalidation: the device goes on in a page that was given back (IOMMU-074). */
TEST_WITH(mm, a_missing_flush_shows)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE system = mm_make(c, MM_SET_APERTURE, 1, 0);
    struct phys_addr physical;
    uint64_t page;

    OK(mm_resident(c, system));
    page = mm_allocation(c, system)->logical[0].value;
    CHECK(reaches(rig, page));
    iommu_domain_lose_flushes(rig->base.domain, UINT32_MAX);
    OK(mm_evict(c, system, 0));
    OK(mm_destroy(c, system, 2));
    mm_idle(rig);
    CHECK_RULE("IOMMU-074/a",
               !iommu_page_mapped(rig->base.domain, (struct logical_page){page}) &&
                   iommu_translate(rig->base.domain, (struct logical_addr){page << PAGE_BITS},
                                   IOMMU_WRITE, &physical) &&
                   ram_page_iommu_maps(rig->base.ram, phys_page(physical)) == 0);
    iommu_domain_lose_flushes(rig->base.domain, 0);
}

/* ---- which operation, which addresses ---- */

TEST_WITH(mm, the_cap_decides_the_operation, options->iommu = IOMMU_ISOLATION)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_APERTURE, 2, PHYSICAL);
    const bool old = rig->options.old_map;

    OK(mm_resident(c, h));
    OK(mm_evict(c, h, 0));
    mm_idle(rig);
    CHECK_RULE("IOMMU-086/abc", mm_op_count(rig, DXGK_OPERATION_MAP_APERTURE_SEGMENT2) == !old &&
                                    mm_op_count(rig, DXGK_OPERATION_MAP_APERTURE_SEGMENT) == old &&
                                    mm_op_count(rig, DXGK_OPERATION_UNMAP_APERTURE_SEGMENT) == 1 &&
                                    DXGK_OPERATION_MAP_APERTURE_SEGMENT2 == 17 &&
                                    DXGK_OPERATION_MAP_APERTURE_SEGMENT == 5);
}
TEST_ALSO(mm, the_cap_decides_the_operation, old_map, options->iommu = IOMMU_ISOLATION,
          options->old_map = true)

static const void *given_list;
static bool list_is_array;

/* Leave no two free frames side by side; what was taken for it. */
static struct page_number *scatter(struct mm_rig *rig, uint64_t *count)
{
    struct ram_request all = {
        .pages = ram_free_pages(rig->base.ram), .owner = RAM_HOST, .cache = RAM_CACHED};
    struct page_number *frames = malloc(all.pages * sizeof(*frames));

    CHECK(frames && ram_take_pages(rig->base.ram, &all, frames));
    for (uint64_t i = 0; i < 1000; i++)
        ram_give_contiguous(rig->base.ram, frames[all.pages - 1 - 2 * i], 1);
    *count = all.pages;
    return frames;
}

static void unscatter(struct mm_rig *rig, struct page_number *frames, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (count - 1 - i >= 2000 || (count - 1 - i) % 2)
            ram_give_contiguous(rig->base.ram, frames[i], 1);
    free(frames);
}

static NTSTATUS keep_list(struct mm_rig *rig, DXGKARG_BUILDPAGINGBUFFER *args)
{
    (void)rig;
    if (args->Operation == DXGK_OPERATION_MAP_APERTURE_SEGMENT2) {
        list_is_array = !args->MapApertureSegment2.Adl.Flags.Contiguous;
        given_list = list_is_array ? args->MapApertureSegment2.Adl.Pages : NULL;
    }
    return STATUS_PENDING;
}

TEST_WITH(mm, aperture_mappings_carry_device_pages, options->iommu = IOMMU_REMAP)
{
    struct mm_client *c = &rig->client[0];
    const bool remap = rig->options.iommu == IOMMU_REMAP;
    struct page_number *frames;
    uint64_t count;
    D3DKMT_HANDLE h;
    const struct vidmm_allocation *a;
    const struct mm_op *op;

    frames = scatter(rig, &count);
    h = mm_make(c, MM_SET_APERTURE, 6, PHYSICAL);
    rig->on_build = keep_list;
    OK(mm_resident(c, h));
    rig->on_build = NULL;
    unscatter(rig, frames, count);
    a = mm_allocation(c, h);
    op = mm_op_at(rig, DXGK_OPERATION_MAP_APERTURE_SEGMENT2, 0);
    CHECK(op != NULL);
    CHECK_RULE("IOMMU-088/ab", list_is_array == !remap);
    CHECK_RULE("IOMMU-087/c", op->args.MapApertureSegment2.AdlOffset +
                                      op->args.MapApertureSegment2.NumberOfPages <=
                                  op->args.MapApertureSegment2.Adl.PageCount);
    mm_write_content(rig, a, 9);
    for (uint64_t k = 0; k < 6; k++) {
        uint64_t at = op->args.MapApertureSegment2.OffsetInPages + k;

        CHECK_RULE("IOMMU-087/ab",
                   op->pages[op->args.MapApertureSegment2.AdlOffset + k] == a->logical[k].value &&
                       mm_gpu_memory(rig, MM_APERTURE, at << PAGE_BITS) == mm_page(rig, a, k));
        CHECK_RULE("IOMMU-084/b", !remap || op->pages[k] != a->backing[k].value);
    }
    /* The list was on loan: what the host goes by is another. */
    if (list_is_array)
        CHECK_RULE("IOMMU-089/a", given_list != (const void *)a->logical);
    CHECK_RULE("IOMMU-089/b", mm_check_content(rig, a, 9) && rig->faults == 0);
}
TEST_ALSO(mm, aperture_mappings_carry_device_pages, without_iommu, options->iommu = IOMMU_REMAP,
          options->iommu = IOMMU_OFF)
TEST_ALSO(mm, aperture_mappings_carry_device_pages, isolated, options->iommu = IOMMU_REMAP,
          options->iommu = IOMMU_OFF, options->iommu = IOMMU_ISOLATION)

TEST_WITH(mm, the_driver_sees_what_it_asked_to_see)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE seen = mm_make(c, MM_SET_APERTURE, 2, PHYSICAL | CACHED | CPU_VISIBLE);
    D3DKMT_HANDLE plain = mm_make(c, MM_SET_APERTURE, 2, PHYSICAL);
    D3DKMT_HANDLE virtual_only = mm_make(c, MM_SET_APERTURE, 2, CACHED | CPU_VISIBLE);
    const struct mm_op *op;
    uint8_t *view;
    uint64_t first;

    OK(mm_resident(c, seen));
    op = mm_op_at(rig, DXGK_OPERATION_MAP_APERTURE_SEGMENT2, 0);
    view = op->args.MapApertureSegment2.CpuVisibleAddress;
    first = op->args.MapApertureSegment2.OffsetInPages;
    CHECK(view != NULL);
    view[PAGE_BYTES + 7] = 0x5A;
    CHECK_RULE("IOMMU-090/a", mm_gpu_memory(rig, MM_APERTURE, (first + 1) << PAGE_BITS)[7] == 0x5A);
    OK(mm_resident(c, plain));
    op = mm_op_at(rig, DXGK_OPERATION_MAP_APERTURE_SEGMENT2, 1);
    CHECK_RULE("IOMMU-090/c", op && op->args.MapApertureSegment2.CpuVisibleAddress == NULL);
    OK(mm_evict(c, seen, 0));
    mm_idle(rig);
    {
        uint8_t byte;

        CHECK_RULE("IOMMU-090/b", !sim_copy_checked(&byte, view, 1));
    }
    mm_mark(rig);
    OK(mm_resident(c, virtual_only));
    CHECK_RULE("IOMMU-092/b", mm_op_count(rig, DXGK_OPERATION_MAP_APERTURE_SEGMENT2) == 0 &&
                                  mm_allocation(c, virtual_only)->segment == 0);
    OK(mm_resident(c, seen));
    CHECK_RULE("IOMMU-092/a", mm_op_count(rig, DXGK_OPERATION_MAP_APERTURE_SEGMENT2) == 1);
}

TEST_WITH(mm, visibility_needs_the_cap, options->iommu = IOMMU_ISOLATION, options->old_map = true)
{
    struct mm_client *c = &rig->client[0];
    struct mm_private p = mm_private_default(MM_SET_APERTURE, PAGE_BYTES);
    NTSTATUS status = STATUS_SUCCESS;

    p.flags = PHYSICAL | CACHED | CPU_VISIBLE;
    CHECK_RULE("IOMMU-091", mm_create(c, p, &status) == 0 && status == STATUS_INVALID_PARAMETER &&
                                verify_count(rig->base.log, VERIFY_ERROR) == 1);
}

/* ---- notifications ---- */

TEST_WITH(isolating, no_allocation_is_announced)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_BOTH, 4, 0),
                  system = mm_make(c, MM_SET_APERTURE, 4, PHYSICAL);

    mm_mark(rig);
    OK(mm_resident(c, h));
    OK(mm_resident(c, system));
    OK(mm_evict(c, h, 0));
    OK(mm_evict(c, system, 0));
    mm_idle(rig);
    CHECK(mm_op_count(rig, -1) > 0);
    /* None but the operations that have always been there: transfers, tables, apertures. */
    for (uint32_t i = 0; i < mm_op_count(rig, -1); i++)
        CHECK_RULE("IOMMU-097",
                   mm_op_at(rig, -1, i)->args.Operation <= DXGK_OPERATION_MAP_APERTURE_SEGMENT2);
    CHECK_RULE("IOMMU-097",
               mm_allocation(c, system)->segment == 0 && !mm_allocation(c, system)->logical);
}

/* ---- logical mode: no frame number in any argument ---- */

static bool frame_of_allocation(const struct mm_rig *rig, uint64_t page)
{
    return page < ram_bytes(rig->base.ram) / PAGE_BYTES &&
           ram_page_owner(rig->base.ram, (struct page_number){page}) == RAM_ALLOCATION;
}

/* RAM stands high, logical addresses low, so that one is not taken for the other. */
TEST_WITH(mm, no_frame_number_is_told_in_logical_mode, options->iommu = IOMMU_REMAP)
{
    const struct ram_request low = {.pages = 8192, .owner = RAM_HOST, .cache = RAM_CACHED};
    struct mm_client *c = &rig->client[0];
    struct page_number first;
    D3DKMT_HANDLE h[4];

    CHECK(ram_take_contiguous(rig->base.ram, &low, &first));
    mm_mark(rig);
    for (unsigned i = 0; i < 4; i++) {
        h[i] = mm_make(c, i & 1 ? MM_SET_BOTH : MM_SET_APERTURE, 5, i & 2 ? PHYSICAL : 0);
        OK(mm_resident(c, h[i]));
    }
    for (unsigned i = 0; i < 4; i++)
        OK(mm_evict(c, h[i], 0));
    mm_idle(rig);
    for (uint32_t i = 0; i < mm_op_count(rig, -1); i++) {
        const struct mm_op *op = mm_op_at(rig, -1, i);

        for (UINT k = 0; k < op->page_count; k++)
            CHECK_RULE("IOMMU-084/ac", !frame_of_allocation(rig, op->pages[k]));
        if (op->args.Operation == DXGK_OPERATION_UPDATE_PAGE_TABLE)
            for (UINT k = 0; k < op->args.UpdatePageTable.NumPageTableEntries; k++) {
                const DXGK_PTE *pte = &op->entries[op->args.UpdatePageTable.Flags.Repeat ? 0 : k];

                CHECK_RULE("IOMMU-084/ac", !pte->Valid || pte->Segment != 0 ||
                                               !frame_of_allocation(rig, pte->PageAddress));
            }
        if (op->args.Operation == DXGK_OPERATION_UNMAP_APERTURE_SEGMENT)
            CHECK_RULE(
                "IOMMU-084/ac",
                mm_gpu_memory(rig, 0, (uint64_t)op->args.UnmapApertureSegment.DummyPage.QuadPart) ==
                    ram_direct(rig->base.ram, page_phys(rig->vidmm->dummy.frame)));
    }
    for (unsigned i = 0; i < 4; i++)
        OK(mm_destroy(c, h[i], 2));
    mm_idle(rig);
    ram_give_contiguous(rig->base.ram, first, 8192);
}
