/* SPDX-License-Identifier: MIT */
/* Aperture segments: what is mapped, and what is behind a range that is not. */
#include "support/mm_requests.h"
#include "support/mm_rig.h"

#include "sim/machine.h"
#include "sim/point.h"

#define OK(call) CHECK(NT_SUCCESS(call))

#define PHYSICAL 0x8000u /* AccessedPhysically */

TEST_WITH(mm, only_what_is_accessed_physically_is_mapped)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE virtual_only = mm_make(c, MM_SET_APERTURE, 4, 0x2000);

    OK(mm_resident(c, virtual_only));
    CHECK_RULE("SEG-064", mm_op_count(rig, DXGK_OPERATION_MAP_APERTURE_SEGMENT2) == 0 &&
                              mm_allocation(c, virtual_only)->segment == 0);
    CHECK_RULE("PAGE-055", mm_op_count(rig, DXGK_OPERATION_MAP_APERTURE_SEGMENT2) ==
                               0); /* MapApertureCpuVisible alone */
}
TEST_ALSO(mm, only_what_is_accessed_physically_is_mapped, isolated, options->iommu = IOMMU_ISOLATION)

/* An allocation of four pages, resident in the aperture. */
static const struct vidmm_allocation *map_four(struct mm_rig *rig)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_APERTURE, 4, PHYSICAL);

    OK(mm_resident(c, h));
    return mm_allocation(c, h);
}

TEST_WITH(mm, an_aperture_map_moves_no_content)
{
    map_four(rig);
    CHECK_RULE("PAGE-052", mm_op_count(rig, DXGK_OPERATION_MAP_APERTURE_SEGMENT2) == 1 &&
                               mm_op_count(rig, DXGK_OPERATION_MAP_APERTURE_SEGMENT) == 0);
    CHECK_RULE("SEG-043", mm_op_count(rig, DXGK_OPERATION_VIRTUAL_TRANSFER) +
                                  mm_op_count(rig, DXGK_OPERATION_VIRTUAL_FILL) ==
                              0);
    CHECK_RULE(
        "PAGE-040",
        mm_op_count(rig, DXGK_OPERATION_FILL) + mm_op_count(rig, DXGK_OPERATION_VIRTUAL_FILL) == 0);
}
TEST_ALSO(mm, an_aperture_map_moves_no_content, isolated, options->iommu = IOMMU_ISOLATION)

TEST_WITH(mm, an_aperture_map_says_what_it_maps)
{
    const struct vidmm_allocation *a = map_four(rig);
    const struct mm_op *op = mm_op_at(rig, DXGK_OPERATION_MAP_APERTURE_SEGMENT2, 0);
    const __typeof__(op->args.MapApertureSegment2) *map = &op->args.MapApertureSegment2;

    CHECK_RULE("PAGE-045", map->hDevice == rig->client[0].device->driver_handle &&
                               map->hAllocation == a->driver_handle);
    CHECK_RULE("SEG-065", map->SegmentId == MM_APERTURE &&
                              map->OffsetInPages == a->aperture.first && map->NumberOfPages == 4);
    CHECK_RULE("PAGE-046", map->Flags.Value == 0); /* write-combined */
    CHECK_RULE("PAGE-054", map->CpuVisibleAddress == NULL);
}
TEST_ALSO(mm, an_aperture_map_says_what_it_maps, isolated, options->iommu = IOMMU_ISOLATION)

TEST_WITH(mm, the_gpu_sees_the_pages_of_an_aperture_map)
{
    const struct vidmm_allocation *a = map_four(rig);
    const struct mm_op *op = mm_op_at(rig, DXGK_OPERATION_MAP_APERTURE_SEGMENT2, 0);
    const __typeof__(op->args.MapApertureSegment2) *map = &op->args.MapApertureSegment2;
    bool remap = rig->options.iommu == IOMMU_REMAP;

    CHECK(map->Adl.PageCount == 4 && map->AdlOffset == 0);
    if (remap)
        CHECK_RULE("PAGE-053", map->Adl.Flags.Contiguous);
    CHECK_RULE("PAGE-053", op->pages[3] == a->logical[3].value);
    CHECK_RULE("PAGE-044", mm_gpu_memory(rig, MM_APERTURE, (a->aperture.first + 2) << PAGE_BITS) ==
                               mm_page(rig, a, 2));
}
TEST_ALSO(mm, the_gpu_sees_the_pages_of_an_aperture_map, isolated, options->iommu = IOMMU_ISOLATION)

/* The range points at the dummy page, which stays accessible. */
TEST_WITH(mm, an_unmapped_range_shows_the_dummy_page)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_APERTURE, 4, PHYSICAL);
    const struct vidmm_allocation *a = mm_allocation(c, h);
    const struct mm_op *op;
    uint64_t first;

    OK(mm_resident(c, h));
    op = mm_op_at(rig, DXGK_OPERATION_MAP_APERTURE_SEGMENT2, 0);
    mm_write_content(rig, a, 4);
    first = a->aperture.first;
    mm_mark(rig);
    rig->hold = true;
    OK(mm_evict(c, h, 0));
    sim_stall(1000000);
    CHECK_RULE("PAGE-050", iommu_page_mapped(rig->base.domain, (struct logical_page){op->pages[0]}));
    rig->hold = false;
    mm_release(rig);
    mm_idle(rig);
    CHECK_RULE("PAGE-050",
               !iommu_page_mapped(rig->base.domain, (struct logical_page){op->pages[0]}));
    op = mm_op_at(rig, DXGK_OPERATION_UNMAP_APERTURE_SEGMENT, 0);
    CHECK_RULE("PAGE-048", op->args.UnmapApertureSegment.SegmentId == MM_APERTURE &&
                               op->args.UnmapApertureSegment.OffsetInPages == first &&
                               op->args.UnmapApertureSegment.NumberOfPages == 4 &&
                               op->args.UnmapApertureSegment.hDevice == c->device->driver_handle &&
                               op->args.UnmapApertureSegment.hAllocation == a->driver_handle);
    CHECK_RULE("PAGE-048", mm_gpu_memory(rig, MM_APERTURE, first << PAGE_BITS) != NULL);
    CHECK_RULE("IOMMU-085", mm_gpu_memory(rig, MM_APERTURE, first << PAGE_BITS) ==
                                ram_direct(rig->base.ram, page_phys(rig->vidmm->dummy.frame)));
    CHECK(mm_check_content(rig, a, 4) && rig->faults == 0);
}
TEST_ALSO(mm, an_unmapped_range_shows_the_dummy_page, isolated, options->iommu = IOMMU_ISOLATION)

TEST_WITH(mm, a_stray_write_is_found_at_the_next_unmap)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_APERTURE, 4, PHYSICAL);
    uint64_t first;

    OK(mm_resident(c, h));
    first = mm_allocation(c, h)->aperture.first;
    OK(mm_evict(c, h, 0));
    mm_idle(rig);
    *mm_gpu_memory(rig, MM_APERTURE, (first << PAGE_BITS) + 100) ^= 1;
    OK(mm_resident(c, h));
    CHECK(mm_violations(rig, "PAGE-049") == 0);
    OK(mm_evict(c, h, 0));
    mm_idle(rig);
    CHECK_RULE("PAGE-049", mm_violations(rig, "PAGE-049") == 1);
    OK(mm_resident(c, h));
    OK(mm_evict(c, h, 0));
    mm_idle(rig);
    CHECK_RULE("PAGE-049", mm_violations(rig, "PAGE-049") == 1); /* the pattern was put back */
}
TEST_ALSO(mm, a_stray_write_is_found_at_the_next_unmap, isolated, options->iommu = IOMMU_ISOLATION)

TEST_WITH(mm, coherent_and_visible_mappings)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_APERTURE, 2,
                              PHYSICAL | 0x5 | 0x2000); /* Cached, MapApertureCpuVisible */
    const struct mm_op *op;
    uint8_t *view;

    OK(mm_resident(c, h));
    op = mm_op_at(rig, DXGK_OPERATION_MAP_APERTURE_SEGMENT2, 0);
    CHECK_RULE("PAGE-046", op->args.MapApertureSegment2.Flags.CacheCoherent == 1);
    CHECK_RULE("SEG-045", op->args.MapApertureSegment2.Flags.CacheCoherent == 1);
    view = op->args.MapApertureSegment2.CpuVisibleAddress;
    CHECK(view);
    mm_write_content(rig, mm_allocation(c, h), 6);
    CHECK_RULE("PAGE-054",
               memcmp(view + PAGE_BYTES, mm_page(rig, mm_allocation(c, h), 1), PAGE_BYTES) == 0);
    rig->hold = true;
    OK(mm_evict(c, h, 0));
    sim_stall(1000000);
    CHECK_RULE("PAGE-054", view[PAGE_BYTES] == mm_page(rig, mm_allocation(c, h),
                                                       1)[0]); /* valid until the unmap is done */
    rig->hold = false;
    mm_release(rig);
    mm_idle(rig);
    CHECK(!mm_allocation(c, h)->aperture.view);
}

TEST_WITH(mm, old_drivers_get_an_mdl, options->old_map = true, options->iommu = IOMMU_ISOLATION)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_APERTURE, 3, PHYSICAL);
    const struct mm_op *op;

    OK(mm_resident(c, h));
    CHECK_RULE("PAGE-052", mm_op_count(rig, DXGK_OPERATION_MAP_APERTURE_SEGMENT) == 1 &&
                               mm_op_count(rig, DXGK_OPERATION_MAP_APERTURE_SEGMENT2) == 0);
    op = mm_op_at(rig, DXGK_OPERATION_MAP_APERTURE_SEGMENT, 0);
    CHECK_RULE("PAGE-044", op->args.MapApertureSegment.NumberOfPages == 3 &&
                               op->args.MapApertureSegment.MdlOffset == 0 &&
                               op->pages[2] == mm_allocation(c, h)->backing[2].value);
    CHECK_RULE("PAGE-044",
               mm_gpu_memory(rig, MM_APERTURE, mm_allocation(c, h)->aperture.first << PAGE_BITS) ==
                   mm_page(rig, mm_allocation(c, h), 0));
}

/* Ranges never overlap, and none is left when the adapter stops (the rig checks the segment). */
TEST_WITH(mm, maps_are_balanced, options->aperture_bytes = 8 * MM_MB)
{
    struct mm_client *c = &rig->client[0];
    bool mapped[4096] = {false};
    D3DKMT_HANDLE h[20];

    for (unsigned i = 0; i < 20; i++)
        h[i] = mm_make(c, MM_SET_APERTURE, 1 + sim_random(200), PHYSICAL);
    for (unsigned step = 0; step < 200; step++) {
        D3DKMT_HANDLE one = h[sim_random(20)];

        if (mm_open(c, one)->residency_count)
            OK(mm_evict(c, one, sim_random(2)));
        else
            (void)mm_resident(c, one);
    }
    for (unsigned i = 0; i < 20; i++)
        OK(mm_destroy(c, h[i], 2));
    mm_idle(rig);
    for (uint32_t i = 0; i < rig->op_count; i++) {
        const DXGKARG_BUILDPAGINGBUFFER *a = &rig->ops[i].args;

        if (a->Operation == DXGK_OPERATION_MAP_APERTURE_SEGMENT2) {
            for (SIZE_T k = 0; k < a->MapApertureSegment2.NumberOfPages; k++) {
                CHECK_RULE("PAGE-051", !mapped[a->MapApertureSegment2.OffsetInPages + k]);
                mapped[a->MapApertureSegment2.OffsetInPages + k] = true;
            }
        } else if (a->Operation == DXGK_OPERATION_UNMAP_APERTURE_SEGMENT) {
            for (SIZE_T k = 0; k < a->UnmapApertureSegment.NumberOfPages; k++) {
                CHECK(mapped[a->UnmapApertureSegment.OffsetInPages + k]);
                mapped[a->UnmapApertureSegment.OffsetInPages + k] = false;
            }
        }
    }
    for (unsigned i = 0; i < 4096; i++)
        CHECK_RULE("PAGE-051", !mapped[i]);
}

TEST_WITH(mm, ranges_are_idle)
{
    struct mm_client *c = &rig->client[0];
    D3DKMT_HANDLE h = mm_make(c, MM_SET_APERTURE, 2, PHYSICAL);
    D3DKMT_HANDLE other = mm_make(c, MM_SET_APERTURE, 2, PHYSICAL);

    OK(mm_resident(c, h));
    mm_submit(c);
    CHECK(mm_dispatch(c));
    OK(mm_evict(c, h, 0));
    mm_mark(rig);
    OK(mm_resident(c, other)); /* other work goes on */
    CHECK_RULE("PAGE-047", mm_op_count(rig, DXGK_OPERATION_UNMAP_APERTURE_SEGMENT) == 0);
    mm_finish(c);
    mm_idle(rig);
    CHECK_RULE("PAGE-047", mm_op_count(rig, DXGK_OPERATION_UNMAP_APERTURE_SEGMENT) == 1);
}
