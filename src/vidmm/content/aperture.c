/* SPDX-License-Identifier: MIT */
/*
 * Aperture segments: an address range that the driver maps to system pages. While an allocation is
 * resident there, its range is mapped to the allocation's pages; otherwise to the dummy page. The
 * dummy page is accessible and filled with a pattern, so that a stray GPU write is detected at the
 * next unmap (PAGE-049).
 */
#include <inttypes.h>

#include "vidmm/content/aperture.h"
#include "ddi/guarded.h"
#include "iommu/iommu.h"
#include "ram/ram.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/list.h"
#include "verify/verify.h"
#include "vidmm/content/content_mdl.h"
#include "vidmm/paging/paging.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/device_record.h"
#include "vidmm/record/dxgkrnl_events.h"
#include "vidmm/record/open_record.h"
#include "vidmm/record/vidmm_record.h"

#define DUMMY_PATTERN 0xD0A1D0A1u

/* ---- the dummy page ---- */

static void fill_dummy(struct vidmm *vidmm)
{
    uint32_t *words = ram_direct(vidmm->config.ram, page_phys(vidmm->dummy.frame));

    for (size_t i = 0; i < PAGE_BYTES / sizeof(*words); i++)
        words[i] = DUMMY_PATTERN;
}

static void check_dummy(struct vidmm *vidmm)
{
    const uint32_t *words = ram_direct(vidmm->config.ram, page_phys(vidmm->dummy.frame));

    for (size_t i = 0; i < PAGE_BYTES / sizeof(*words); i++) {
        if (words[i] == DUMMY_PATTERN)
            continue;
        VIOLATION("PAGE-049",
                  "the GPU wrote through an unmapped aperture range: 0x%08" PRIx32
                  " at byte %zu of the dummy page",
                  words[i], i * sizeof(*words));
        fill_dummy(vidmm);
        return;
    }
}

NTSTATUS aperture_dummy_create(struct vidmm *vidmm)
{
    const struct ram_request request = {.pages = 1, .owner = RAM_HOST, .cache = RAM_CACHED};

    if (!ram_take_contiguous(vidmm->config.ram, &request, &vidmm->dummy.frame))
        return STATUS_NO_MEMORY;
    if (!iommu_map_run(vidmm->config.domain, vidmm->dummy.frame, 1, IOMMU_READ | IOMMU_WRITE,
                       &vidmm->dummy.page)) {
        ram_give_contiguous(vidmm->config.ram, vidmm->dummy.frame, 1);
        return STATUS_NO_MEMORY;
    }
    vidmm->dummy.exists = true;
    fill_dummy(vidmm);
    return STATUS_SUCCESS;
}

void aperture_dummy_destroy(struct vidmm *vidmm)
{
    if (!vidmm->dummy.exists)
        return;
    check_dummy(vidmm);
    iommu_unmap_run(vidmm->config.domain, vidmm->dummy.page, 1);
    ram_give_contiguous(vidmm->config.ram, vidmm->dummy.frame, 1);
    vidmm->dummy.exists = false;
}

/* ---- mapping ---- */

/* PAGE-045: if the allocation is shared, the device that opened it first. */
static HANDLE owner_of(const struct vidmm_allocation *allocation)
{
    if (list_empty(&allocation->opens))
        return NULL;
    return CONTAINER(allocation->opens.next, struct vidmm_open, link)->device->driver_handle;
}

static DXGK_MAPAPERTUREFLAGS map_flags(const struct vidmm_allocation *allocation, UINT segment)
{
    DXGK_MAPAPERTUREFLAGS flags = {0};

    flags.CacheCoherent = allocation->flags.Cached &&
                          allocation->vidmm->segment[segment].flags.CacheCoherent; /* PAGE-046 */
    return flags;
}

/* IOMMU-090: map the pages in kernel address space for the driver. */
static NTSTATUS make_view(struct vidmm_allocation *allocation)
{
    struct ram *ram = allocation->vidmm->config.ram;
    void *view;

    if (!allocation->flags.MapApertureCpuVisible || allocation->aperture.view)
        return STATUS_SUCCESS;
    view = ram_view_reserve(ram, allocation->pages);
    if (!view)
        return STATUS_INSUFFICIENT_RESOURCES;
    if (!ram_view_point(ram, view, 0, allocation->backing, allocation->pages, true)) {
        ram_view_release(ram, view, allocation->pages);
        return STATUS_INSUFFICIENT_RESOURCES;
    }
    allocation->aperture.view = view;
    return STATUS_SUCCESS;
}

static bool consecutive(const struct logical_page *pages, uint64_t count)
{
    for (uint64_t i = 1; i < count; i++)
        if (pages[i].value != pages[i - 1].value + 1)
            return false;
    return true;
}

/* IOMMU-089: the driver may use the list only during the call, so it is overwritten afterwards. */
static NTSTATUS build_with_list(struct vidmm_allocation *allocation, DXGKARG_BUILDPAGINGBUFFER *op)
{
    const size_t bytes = allocation->pages * sizeof(DXGK_PAGE_NUMBER);
    struct ddi_guarded list;
    NTSTATUS status;

    _Static_assert(sizeof(DXGK_PAGE_NUMBER) == sizeof(struct logical_page),
                   "an array of one is an array of the other");
    if (!ddi_guarded_init(&list, bytes, "the pages of DXGK_ADL"))
        return STATUS_INSUFFICIENT_RESOURCES;
    memcpy(list.data, allocation->logical, bytes);
    op->MapApertureSegment2.Adl.Pages = (DXGK_PAGE_NUMBER *)(void *)list.data;
    status = paging_build(allocation->vidmm, op, &(struct paging_subject){.allocation = allocation});
    ddi_guarded_check(&list, "DxgkDdiBuildPagingBuffer");
    memset(list.data, 0xA5, bytes);
    ddi_guarded_finish(&list);
    return status;
}

static NTSTATUS map_with_adl(struct vidmm_allocation *allocation, UINT segment, uint64_t first)
{
    DXGKARG_BUILDPAGINGBUFFER op = {.Operation = DXGK_OPERATION_MAP_APERTURE_SEGMENT2};
    NTSTATUS status = make_view(allocation);

    if (!NT_SUCCESS(status))
        return status;
    op.MapApertureSegment2.hDevice = owner_of(allocation);
    op.MapApertureSegment2.hAllocation = allocation->driver_handle;
    op.MapApertureSegment2.SegmentId = segment;
    op.MapApertureSegment2.OffsetInPages = first;
    op.MapApertureSegment2.NumberOfPages = allocation->pages;
    op.MapApertureSegment2.Adl.PageCount = (UINT32)allocation->pages;
    op.MapApertureSegment2.Flags = map_flags(allocation, segment);
    op.MapApertureSegment2.CpuVisibleAddress = allocation->aperture.view;
    if (!consecutive(allocation->logical, allocation->pages))
        return build_with_list(allocation, &op);
    op.MapApertureSegment2.Adl.Flags.Contiguous = 1;
    op.MapApertureSegment2.Adl.BasePageNumber = allocation->logical[0].value;
    return paging_build(allocation->vidmm, &op, &(struct paging_subject){.allocation = allocation});
}

static NTSTATUS map_with_mdl(struct vidmm_allocation *allocation, UINT segment, uint64_t first)
{
    DXGKARG_BUILDPAGINGBUFFER op = {.Operation = DXGK_OPERATION_MAP_APERTURE_SEGMENT};
    struct mdl_block *block = content_mdl_create(allocation);
    NTSTATUS status;

    if (!block)
        return STATUS_INSUFFICIENT_RESOURCES;
    op.MapApertureSegment.hDevice = owner_of(allocation);
    op.MapApertureSegment.hAllocation = allocation->driver_handle;
    op.MapApertureSegment.SegmentId = segment;
    op.MapApertureSegment.OffsetInPages = first;
    op.MapApertureSegment.NumberOfPages = allocation->pages;
    op.MapApertureSegment.pMdl = content_mdl(block);
    op.MapApertureSegment.Flags = map_flags(allocation, segment);
    status = paging_build(allocation->vidmm, &op,
                          &(struct paging_subject){.allocation = allocation});
    content_mdl_defer_free(allocation->vidmm, block);
    return status;
}

NTSTATUS aperture_map(struct vidmm_allocation *allocation, UINT segment, uint64_t first)
{
    NTSTATUS status = allocation->vidmm->config.caps.MapAperture2Supported
                          ? map_with_adl(allocation, segment, first)
                          : map_with_mdl(allocation, segment, first);

    if (NT_SUCCESS(status))
        allocation->aperture.device = owner_of(allocation);
    return status;
}

NTSTATUS aperture_unmap(struct vidmm_allocation *allocation, UINT segment, uint64_t first)
{
    struct vidmm *vidmm = allocation->vidmm;
    DXGKARG_BUILDPAGINGBUFFER op = {.Operation = DXGK_OPERATION_UNMAP_APERTURE_SEGMENT};

    check_dummy(vidmm);
    op.UnmapApertureSegment.hDevice = allocation->aperture.device;
    op.UnmapApertureSegment.hAllocation = allocation->driver_handle;
    op.UnmapApertureSegment.SegmentId = segment;
    op.UnmapApertureSegment.OffsetInPages = first;
    op.UnmapApertureSegment.NumberOfPages = allocation->pages;
    op.UnmapApertureSegment.DummyPage.QuadPart = (int64_t)(vidmm->dummy.page.value << PAGE_BITS);
    return paging_build(vidmm, &op, &(struct paging_subject){.allocation = allocation});
}
