/* SPDX-License-Identifier: MIT */
/*
 * System pages of allocations: frames, and their mapping for the device.
 *
 * Order (IOMMU-069): frames are allocated, then mapped for the device, then passed to the driver.
 * To free them, wait until the GPU is done, unmap them (which flushes the IOTLB), and only then
 * free the frames. backing_defer_unmap defers this second half. Its record takes over the arrays,
 * so that the allocation can be mapped again meanwhile.
 */
#include <string.h>

#include "vidmm/content/backing.h"
#include "iommu/iommu.h"
#include "ram/ram.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/list.h"
#include "vidmm/paging/paging.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/record/vidmm_run.h"

static void fill_frames(const struct vidmm_allocation *allocation, UINT pattern)
{
    for (uint64_t i = 0; i < allocation->pages; i++) {
        uint32_t *words = ram_direct(allocation->vidmm->config.ram,
                                     page_phys(allocation->backing[i]));

        for (size_t w = 0; w < PAGE_BYTES / sizeof(*words); w++)
            words[w] = pattern;
    }
}

NTSTATUS backing_take(struct vidmm_allocation *allocation)
{
    struct ram *ram = allocation->vidmm->config.ram;
    struct ram_request request = {
        .pages = allocation->pages,
        .owner = RAM_ALLOCATION,
        .cache = allocation->flags.Cached ? RAM_CACHED : RAM_WRITE_COMBINED,
        .zero = allocation->content == CONTENT_NONE && allocation->fill_pattern == 0,
    };
    struct page_number *backing;

    if (!allocation->backing) {
        backing = util_alloc(allocation->pages * sizeof(*backing));
        if (!backing)
            return STATUS_INSUFFICIENT_RESOURCES;
        if (!ram_take_pages(ram, &request, backing)) {
            util_free(backing);
            return STATUS_INSUFFICIENT_RESOURCES;
        }
        allocation->backing = backing;
        if (allocation->content == CONTENT_NONE && allocation->fill_pattern)
            fill_frames(allocation, allocation->fill_pattern);
    } else if (allocation->content == CONTENT_NONE && !backing_stays(allocation)) {
        fill_frames(allocation, allocation->fill_pattern); /* they were kept without content */
    }
    if (allocation->content == CONTENT_NONE)
        allocation->content = CONTENT_SYSTEM;
    return STATUS_SUCCESS;
}

NTSTATUS backing_map(struct vidmm_allocation *allocation)
{
    struct logical_page *logical;

    vidmm_assert_locked(allocation->vidmm);
    if (allocation->logical)
        return STATUS_SUCCESS;
    logical = util_alloc(allocation->pages * sizeof(*logical));
    if (!logical)
        return STATUS_INSUFFICIENT_RESOURCES;
    if (!iommu_map(allocation->vidmm->config.domain, allocation->backing, allocation->pages,
                   IOMMU_READ | IOMMU_WRITE, logical)) {
        util_free(logical);
        return STATUS_INSUFFICIENT_RESOURCES;
    }
    allocation->logical = logical;
    return STATUS_SUCCESS;
}

void backing_unmap_now(struct vidmm_allocation *allocation)
{
    if (!allocation->logical)
        return;
    iommu_unmap(allocation->vidmm->config.domain, allocation->logical, allocation->pages);
    util_free(allocation->logical);
    allocation->logical = NULL;
}

NTSTATUS backing_runs(const struct vidmm_allocation *allocation, struct vidmm_run **out,
                      uint32_t *out_count)
{
    const struct logical_page *logical = allocation->logical;
    uint32_t count = 1;
    struct vidmm_run *runs;

    for (uint64_t i = 1; i < allocation->pages; i++)
        count += logical[i].value != logical[i - 1].value + 1;
    runs = util_alloc(count * sizeof(*runs));
    if (!runs)
        return STATUS_INSUFFICIENT_RESOURCES;
    count = 0;
    for (uint64_t i = 0; i < allocation->pages; i++) {
        if (i && logical[i].value == logical[i - 1].value + 1)
            runs[count - 1].pages++;
        else
            runs[count++] = (struct vidmm_run){.segment = 0, .first = logical[i].value, .pages = 1};
    }
    *out = runs;
    *out_count = count;
    return STATUS_SUCCESS;
}

void backing_give(struct vidmm *vidmm, struct page_number *backing, uint64_t pages, bool borrowed)
{
    if (!backing)
        return;
    if (borrowed) {
        for (uint64_t i = 0; i < pages; i++)
            ram_unlock_page(vidmm->config.ram, backing[i]);
    } else {
        ram_give_pages(vidmm->config.ram, backing, pages);
    }
    util_free(backing);
}

static void release_now(struct vidmm *vidmm, struct paging_deferred *deferred)
{
    struct backing_release *release = CONTAINER(deferred, struct backing_release, deferred);

    if (release->logical) {
        iommu_unmap(vidmm->config.domain, release->logical, release->pages);
        util_free(release->logical);
    }
    backing_give(vidmm, release->backing, release->pages, release->borrowed);
    if (release->view)
        ram_view_release(vidmm->config.ram, release->view, release->pages);
    if (release->heap)
        util_free(release);
}

void backing_defer_unmap(struct vidmm_allocation *allocation, struct backing_release *release,
                         bool frames)
{
    *release = (struct backing_release){
        .deferred.fn = release_now,
        .pages = allocation->pages,
        .logical = allocation->logical,
        .backing = frames ? allocation->backing : NULL,
        .borrowed = allocation->borrowed,
        .view = allocation->aperture.view,
        .heap = release != &allocation->final,
    };
    allocation->logical = NULL;
    allocation->aperture.view = NULL;
    if (frames)
        allocation->backing = NULL;
    paging_defer(allocation->vidmm, &release->deferred);
}
