/* SPDX-License-Identifier: MIT */
/* DMA buffers and paging buffers that get a range of an aperture. */
#include "sim/machine.h"
#include "sim/mutex.h"
#include "support/mm_requests.h"
#include "support/mm_rig.h"
#include "support/mm_segments.h"

#define OK(call) CHECK(NT_SUCCESS(call))

#define PAGES 3u

static struct vidmm_aperture_range buffer(struct mm_rig *rig, uint64_t pages)
{
    const struct ram_request request = {.pages = pages, .owner = RAM_HOST};
    struct vidmm_aperture_range range = {.pages = pages};

    CHECK(ram_take_contiguous(rig->base.ram, &request, &range.frame));
    CHECK(iommu_map_run(rig->base.domain, range.frame, pages, IOMMU_READ | IOMMU_WRITE,
                        &range.logical));
    return range;
}

static void buffer_free(struct mm_rig *rig, const struct vidmm_aperture_range *range)
{
    iommu_unmap_run(rig->base.domain, range->logical, range->pages);
    ram_give_contiguous(rig->base.ram, range->frame, range->pages);
}

/* Bytes of the aperture that are mapped, and of all apertures together. */
static bool mapped(const struct mm_rig *rig, uint64_t before, uint64_t pages)
{
    return rig->vidmm->segment[MM_APERTURE].mapped_bytes == before + pages * PAGE_BYTES;
}

TEST_WITH(mm, a_buffer_gets_a_range_of_the_aperture)
{
    struct vidmm_aperture_range range = buffer(rig, PAGES);
    uint64_t before = rig->vidmm->segment[MM_APERTURE].mapped_bytes,
             pinned = rig->vidmm->segment[MM_APERTURE].pinned_bytes,
             all = rig->vidmm->aperture_mapped;
    const DXGKARG_BUILDPAGINGBUFFER *args;

    OK(vidmm_aperture_map(rig->vidmm, MM_SET_BOTH & MM_SET_APERTURE, &range));
    CHECK(range.place == MM_APERTURE && range.segment == MM_APERTURE);
    CHECK_RULE("SEG-033", mapped(rig, before, PAGES));
    CHECK(rig->vidmm->segment[MM_APERTURE].pinned_bytes == pinned + PAGES * PAGE_BYTES &&
          rig->vidmm->aperture_mapped == all + PAGES * PAGE_BYTES);
    CHECK(vidmm_aperture_address(rig->vidmm, &range) ==
          MM_APERTURE_BASE + (range.first << PAGE_BITS));
    sim_mutex_lock(&rig->vidmm->lock);
    CHECK(aperture_range_bytes(rig->vidmm) == PAGES * PAGE_BYTES);
    sim_mutex_unlock(&rig->vidmm->lock);
    CHECK(mm_op_count(rig, DXGK_OPERATION_MAP_APERTURE_SEGMENT2) == 1);
    args = &mm_op_at(rig, DXGK_OPERATION_MAP_APERTURE_SEGMENT2, 0)->args;
    CHECK_RULE("PAGE-044", args->MapApertureSegment2.SegmentId == MM_APERTURE &&
                               args->MapApertureSegment2.OffsetInPages == range.first &&
                               args->MapApertureSegment2.NumberOfPages == PAGES);
    CHECK(!args->MapApertureSegment2.hAllocation &&
          args->MapApertureSegment2.Adl.PageCount == PAGES &&
          args->MapApertureSegment2.Adl.Flags.Contiguous &&
          args->MapApertureSegment2.Adl.BasePageNumber == range.logical.value);
    CHECK(mm_gpu_memory(rig, MM_APERTURE, (range.first + 2) << PAGE_BITS) ==
          (uint8_t *)ram_direct(rig->base.ram, page_phys(range.frame)) + 2 * PAGE_BYTES);
    CHECK(vidmm_validate(rig->vidmm));
    mm_mark(rig);
    vidmm_aperture_unmap(rig->vidmm, &range);
    args = &mm_op_at(rig, DXGK_OPERATION_UNMAP_APERTURE_SEGMENT, 0)->args;
    CHECK_RULE("PAGE-048", args->UnmapApertureSegment.SegmentId == MM_APERTURE &&
                               args->UnmapApertureSegment.OffsetInPages == range.first &&
                               args->UnmapApertureSegment.NumberOfPages == PAGES);
    CHECK(args->UnmapApertureSegment.DummyPage.QuadPart ==
          (LONGLONG)(rig->vidmm->dummy.page.value << PAGE_BITS));
    CHECK(range.place == 0 && range.segment == 0 && mapped(rig, before, 0));
    CHECK(rig->vidmm->segment[MM_APERTURE].pinned_bytes == pinned &&
          rig->vidmm->aperture_mapped == all && list_empty(&rig->vidmm->aperture_ranges));
    vidmm_aperture_unmap(rig->vidmm, &range); /* does nothing */
    CHECK(mm_op_count(rig, DXGK_OPERATION_UNMAP_APERTURE_SEGMENT) == 1);
    buffer_free(rig, &range);
}

static unsigned mdls;

/* As a driver sees it, during the call. */
static NTSTATUS look_at_mdl(struct mm_rig *rig, DXGKARG_BUILDPAGINGBUFFER *args)
{
    const MDL *mdl = args->MapApertureSegment.pMdl;
    UINT pages = (UINT)args->MapApertureSegment.NumberOfPages;

    (void)rig;
    if (args->Operation == DXGK_OPERATION_MAP_APERTURE_SEGMENT) {
        mdls++;
        CHECK_RULE("PAGE-044", mdl->ByteCount == pages * PAGE_BYTES && mdl->ByteOffset == 0);
        CHECK(mdl->Size == (CSHORT)(sizeof(*mdl) + pages * sizeof(PFN_NUMBER)));
        CHECK((mdl->MdlFlags & MDL_PAGES_LOCKED) && !mdl->Next && !mdl->MappedSystemVa &&
              !mdl->StartVa);
    }
    return STATUS_PENDING;
}

TEST_WITH(mm, an_mdl_describes_all_pages, options->old_map = true)
{
    struct vidmm_aperture_range range = buffer(rig, PAGES);

    mdls = 0;
    rig->on_build = look_at_mdl;
    OK(vidmm_aperture_map(rig->vidmm, MM_SET_APERTURE, &range));
    OK(mm_resident(&rig->client[0], mm_make(&rig->client[0], MM_SET_APERTURE, 5, 0x8001)));
    CHECK(mdls == 2);
    rig->on_build = NULL;
    vidmm_aperture_unmap(rig->vidmm, &range);
    buffer_free(rig, &range);
}

TEST_WITH(mm, old_drivers_get_an_mdl_of_the_buffer, options->old_map = true)
{
    struct vidmm_aperture_range range = buffer(rig, PAGES);
    const struct mm_op *op;

    OK(vidmm_aperture_map(rig->vidmm, MM_SET_APERTURE, &range));
    op = mm_op_at(rig, DXGK_OPERATION_MAP_APERTURE_SEGMENT, 0);
    CHECK_RULE("PAGE-052", op && op->args.MapApertureSegment.SegmentId == MM_APERTURE &&
                               op->args.MapApertureSegment.OffsetInPages == range.first &&
                               op->args.MapApertureSegment.NumberOfPages == PAGES);
    for (unsigned i = 0; i < PAGES; i++)
        CHECK_RULE("PAGE-052", op->pages[i] == range.frame.value + i);
    vidmm_aperture_unmap(rig->vidmm, &range);
    buffer_free(rig, &range);
}

/* ---- where there is no room ---- */

static struct mm_options two_apertures(void)
{
    struct mm_options o = mm_plain_options();

    o.version = DXGKDDI_INTERFACE_VERSION_WDDM1_3;
    o.physical = true;
    o.segment[1] = mm_segment_aperture(64 * PAGE_BYTES);
    o.segment[1].CommitLimit = 4 * PAGE_BYTES;
    o.segment[2] = mm_segment_aperture(32 * PAGE_BYTES);
    o.segment[2].BaseAddress.QuadPart += 64 * PAGE_BYTES;
    o.segment_count = 3;
    return o;
}

TEST_WITH(mm, the_next_aperture_is_tried, *options = two_apertures())
{
    struct vidmm_aperture_range a = buffer(rig, 4), b = buffer(rig, 1), d = buffer(rig, 1);

    OK(vidmm_aperture_map(rig->vidmm, 6, &a)); /* as much as may be mapped there */
    OK(vidmm_aperture_map(rig->vidmm, 6, &b));
    CHECK_RULE("SEG-033", a.segment == 2 && b.segment == 3);
    CHECK_RULE("SEG-033", vidmm_aperture_map(rig->vidmm, 2, &d) == STATUS_NO_MEMORY);
    CHECK(d.place == 0 && d.segment == 0 && list_empty(&d.link));
    CHECK(vidmm_aperture_map(rig->vidmm, 0, &d) == STATUS_NO_MEMORY);
    vidmm_aperture_unmap(rig->vidmm, &a);
    OK(vidmm_aperture_map(rig->vidmm, 6, &d));
    CHECK(d.segment == 2 && vidmm_validate(rig->vidmm));
    vidmm_aperture_unmap(rig->vidmm, &d);
    vidmm_aperture_unmap(rig->vidmm, &b);
    buffer_free(rig, &a);
    buffer_free(rig, &b);
    buffer_free(rig, &d);
}

TEST_WITH(mm, a_range_that_does_not_fit_is_refused, *options = two_apertures())
{
    struct vidmm_aperture_range a = buffer(rig, 33);

    CHECK(vidmm_aperture_map(rig->vidmm, 4, &a) == STATUS_NO_MEMORY);
    CHECK(rig->vidmm->segment[3].mapped_bytes == 0 && rig->vidmm->aperture_mapped == 0);
    buffer_free(rig, &a);
}

/* ---- what fails ---- */

TEST_WITH(mm, a_range_without_operations_is_given_back)
{
    struct vidmm_aperture_range range = buffer(rig, PAGES);
    uint64_t before = rig->vidmm->segment[MM_APERTURE].mapped_bytes,
             all = rig->vidmm->aperture_mapped;

    rig->get_status = STATUS_INSUFFICIENT_RESOURCES;
    CHECK(vidmm_aperture_map(rig->vidmm, MM_SET_APERTURE, &range) == STATUS_NO_MEMORY);
    rig->get_status = STATUS_SUCCESS;
    CHECK(range.place == 0 && range.segment == 0 && list_empty(&rig->vidmm->aperture_ranges));
    CHECK(mapped(rig, before, 0) && rig->vidmm->aperture_mapped == all);
    OK(vidmm_aperture_map(rig->vidmm, MM_SET_APERTURE, &range));
    vidmm_aperture_unmap(rig->vidmm, &range);
    buffer_free(rig, &range);
}

TEST_WITH(mm, mapping_a_range_survives_every_fault, options->old_map = true)
{
    struct util_heap *heap = &rig->base.sim->heap;
    struct vidmm_aperture_range range = buffer(rig, PAGES);
    NTSTATUS status = STATUS_NO_MEMORY;
    uint64_t before = rig->vidmm->segment[MM_APERTURE].mapped_bytes, nth;

    for (nth = 1; status == STATUS_NO_MEMORY; nth++) {
        CHECK(nth < 20);
        heap->fail_at = heap->requests + nth;
        status = vidmm_aperture_map(rig->vidmm, MM_SET_APERTURE, &range);
        heap->fail_at = 0;
        if (status == STATUS_NO_MEMORY)
            CHECK(range.place == 0 && range.segment == 0 && mapped(rig, before, 0) &&
                  list_empty(&rig->vidmm->aperture_ranges));
        CHECK(vidmm_validate(rig->vidmm));
    }
    CHECK(status == STATUS_SUCCESS && nth > 2);
    vidmm_aperture_unmap(rig->vidmm, &range);
    buffer_free(rig, &range);
}

/* ---- a reset ---- */

TEST_WITH(mm, ranges_are_mapped_again_after_a_reset)
{
    struct vidmm_aperture_range a = buffer(rig, PAGES), b = buffer(rig, 1);
    uint64_t first;

    OK(vidmm_aperture_map(rig->vidmm, MM_SET_APERTURE, &a));
    OK(vidmm_aperture_map(rig->vidmm, MM_SET_APERTURE, &b));
    first = a.first;
    vidmm_reset_cleanup(rig->vidmm);
    CHECK(a.segment == 0 && b.segment == 0 && a.place == MM_APERTURE && b.place == MM_APERTURE);
    mm_mark(rig);
    OK(vidmm_reset_restore(rig->vidmm));
    CHECK(a.segment == MM_APERTURE && b.segment == MM_APERTURE && a.first == first);
    CHECK(mm_op_count(rig, DXGK_OPERATION_MAP_APERTURE_SEGMENT2) == 2);
    vidmm_aperture_unmap(rig->vidmm, &a);
    vidmm_aperture_unmap(rig->vidmm, &b);
    buffer_free(rig, &a);
    buffer_free(rig, &b);
}

static uint32_t maps_left;

static NTSTATUS no_buffer_left(struct mm_rig *rig, DXGKARG_BUILDPAGINGBUFFER *args)
{
    if (args->Operation == DXGK_OPERATION_MAP_APERTURE_SEGMENT2 && maps_left-- == 0)
        rig->get_status = STATUS_INSUFFICIENT_RESOURCES;
    return rig->get_status ? STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER : STATUS_PENDING;
}

/* Where one cannot be mapped again, none is used, and their system addresses are. */
TEST_WITH(mm, ranges_that_cannot_be_mapped_again_are_not_used)
{
    struct vidmm_aperture_range a = buffer(rig, PAGES), b = buffer(rig, 1);

    OK(vidmm_aperture_map(rig->vidmm, MM_SET_APERTURE, &a));
    OK(vidmm_aperture_map(rig->vidmm, MM_SET_APERTURE, &b));
    vidmm_reset_cleanup(rig->vidmm);
    maps_left = 1;
    rig->on_build = no_buffer_left;
    CHECK(vidmm_reset_restore(rig->vidmm) == STATUS_INSUFFICIENT_RESOURCES);
    rig->on_build = NULL;
    rig->get_status = STATUS_SUCCESS;
    CHECK(a.segment == 0 && b.segment == 0 && a.place == MM_APERTURE);
    vidmm_aperture_unmap(rig->vidmm, &a);
    vidmm_aperture_unmap(rig->vidmm, &b);
    CHECK(list_empty(&rig->vidmm->aperture_ranges));
    buffer_free(rig, &a);
    buffer_free(rig, &b);
}
