/* SPDX-License-Identifier: MIT */
/*
 * The window of a segment is one extent tree of free pages. A mapping takes pages of it, in one
 * range where it can, and tells the driver; the pages are free again when the driver has unmapped
 * them. The pages of one mapping need not be next to each other, except those of a page table,
 * which the driver writes through them. An update of page tables cannot wait for a client that
 * unlocks, so a range is kept for these: as long as the largest table that there has been.
 */
#include "vidmm/segment/host_aperture.h"
#include "bus/memory.h"
#include "ddi/ddi.h"
#include "nt/base/status_name.h"
#include "sim/machine.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/extent.h"
#include "verify/refusal.h"
#include "verify/verify.h"
#include "vidmm/record/segment_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/record/vidmm_run.h"

/* Pages of 4 KiB in one page of the segment. */
static uint64_t unit_of(const struct vidmm_segment *segment)
{
    return segment->page_bytes >> PAGE_BITS;
}

bool host_aperture_reaches(const struct vidmm_segment *segment)
{
    return segment_cpu_visible(segment) || segment->flags.SupportsCpuHostAperture;
}

/* ---- pages of the window ---- */

static bool take_one(struct vidmm_segment *segment, uint64_t pages, uint32_t *window)
{
    const struct extent_request request = {.size = pages};
    uint64_t start;

    if (!extent_take(&segment->window_free, &request, &start))
        return false;
    for (uint64_t i = 0; i < pages; i++)
        window[i] = (uint32_t)(start + i);
    return true;
}

bool host_aperture_keep(struct vidmm_segment *segment, uint64_t pages)
{
    const uint64_t unit = unit_of(segment), had = segment->window_kept.count;
    const struct extent_request request = {.size = align_up(pages, unit) / unit};
    uint64_t first;

    if (had >= request.size)
        return true;
    if (had) /* the new one may be where it was */
        extent_give(&segment->window_free, segment->window_kept.first, had);
    segment->window_kept.count = 0;
    if (extent_take(&segment->window_free, &request, &first)) {
        segment->window_kept.first = first;
        segment->window_kept.count = request.size;
        return true;
    }
    if (had && extent_take_fixed(&segment->window_free, segment->window_kept.first, had))
        segment->window_kept.count = had;
    return false;
}

static bool take_kept(struct vidmm_segment *segment, const struct host_view *view,
                      struct host_mapping *mapping)
{
    if (!host_aperture_keep(segment, view->pages))
        return false;
    mapping->one_range = true;
    mapping->kept = true;
    for (uint64_t i = 0; i < mapping->count; i++)
        mapping->window[i] = (uint32_t)(segment->window_kept.first + i);
    return true;
}

/* As it was taken, so this cannot fail. */
static void give(struct vidmm_segment *segment, const struct host_mapping *mapping, uint64_t count)
{
    if (mapping->kept)
        return;
    if (mapping->one_range)
        extent_give(&segment->window_free, mapping->window[0], count);
    for (uint64_t i = 0; !mapping->one_range && i < count; i++)
        extent_give(&segment->window_free, mapping->window[i], 1);
}

static bool take(struct vidmm_segment *segment, const struct host_view *view,
                 struct host_mapping *mapping)
{
    uint64_t count = 0;

    mapping->kept = false;
    if (view->table)
        return take_kept(segment, view, mapping);
    mapping->one_range = take_one(segment, mapping->count, mapping->window);
    if (mapping->one_range)
        return true;
    if (segment->window_free.free_units < mapping->count)
        return false;
    while (count < mapping->count && take_one(segment, 1, mapping->window + count))
        count++;
    if (count == mapping->count)
        return true;
    give(segment, mapping, count);
    return false;
}

/* ---- mapping ---- */

/* Page numbers in the segment, of its own page size (ALLOC-136). */
static void number_pages(const struct vidmm_segment *segment, const struct host_view *view,
                         UINT64 *number, uint64_t count)
{
    const uint64_t unit = unit_of(segment);
    uint64_t done = 0;

    for (uint32_t i = 0; i < view->run_count && done < count; i++)
        for (uint64_t page = 0; page < view->runs[i].pages && done < count; page += unit)
            number[done++] = (view->runs[i].first + page) / unit;
}

static NTSTATUS tell_driver(struct vidmm *vidmm, const struct host_view *view,
                            const struct host_mapping *mapping, UINT64 *number)
{
    const DXGKARG_MAPCPUHOSTAPERTURE args = {.hAllocation = view->allocation,
                                             .SegmentId = (WORD)mapping->segment,
                                             .NumberOfPages = mapping->count,
                                             .pCpuHostAperturePages = mapping->window,
                                             .pMemorySegmentPages = number};
    NTSTATUS status;

    number_pages(&vidmm->segment[mapping->segment], view, number, mapping->count);
    status = ddi_map_cpu_host_aperture(vidmm->ddi, &args);
    if (!NT_SUCCESS(status) && !sim_current->stopped && !vidmm->lost)
        VIOLATION("ALLOC-138", "DxgkDdiMapCpuHostAperture of %llu pages of segment %u returned %s",
                  (unsigned long long)mapping->count, mapping->segment, nt_status_text(status).text);
    /* as when the window is full: system memory does */
    return NT_SUCCESS(status) ? STATUS_SUCCESS : STATUS_NO_MEMORY;
}

NTSTATUS host_aperture_map(struct vidmm *vidmm, const struct host_view *view,
                           struct host_mapping *mapping)
{
    struct vidmm_segment *segment = &vidmm->segment[view->runs[0].segment];
    const uint64_t unit = unit_of(segment);
    UINT64 *number;
    NTSTATUS status = STATUS_NO_MEMORY;

    vidmm_assert_locked(vidmm);
    mapping->segment = segment->id;
    mapping->count = align_up(view->pages, unit) / unit;
    mapping->window = util_alloc(mapping->count * sizeof(*mapping->window));
    number = util_alloc(mapping->count * sizeof(*number));
    if (!mapping->window || !number)
        status = vidmm_host_is_full();
    else if (!take(segment, view, mapping))
        (void)refuse(status, "ALLOC-126",
                     "the CPU host aperture of segment %u has no room for %llu of its pages",
                     segment->id, (unsigned long long)mapping->count);
    else if (!NT_SUCCESS(status = tell_driver(vidmm, view, mapping, number)))
        give(segment, mapping, mapping->count);
    util_free(number);
    if (!NT_SUCCESS(status)) {
        util_free(mapping->window);
        mapping->window = NULL;
    }
    return status;
}

void host_aperture_unmap(struct vidmm *vidmm, struct host_mapping *mapping)
{
    const DXGKARG_UNMAPCPUHOSTAPERTURE args = {.NumberOfPages = mapping->count,
                                               .pCpuHostAperturePages = mapping->window,
                                               .SegmentId = (WORD)mapping->segment};
    NTSTATUS status;

    if (!mapping->window)
        return;
    vidmm_assert_locked(vidmm);
    status = ddi_unmap_cpu_host_aperture(vidmm->ddi, &args);
    if (NT_SUCCESS(status))
        give(&vidmm->segment[mapping->segment], mapping, mapping->count);
    else if (mapping->kept)
        vidmm->segment[mapping->segment].window_kept.count = 0; /* another will be */
    if (!NT_SUCCESS(status) && !sim_current->stopped && !vidmm->lost)
        VIOLATION("ALLOC-138",
                  "DxgkDdiUnmapCpuHostAperture of %llu pages of segment %u returned %s; they are "
                  "not used any more",
                  (unsigned long long)mapping->count, mapping->segment, nt_status_text(status).text);
    util_free(mapping->window);
    mapping->window = NULL;
}

/* ---- the CPU ---- */

uint64_t host_aperture_page(const struct vidmm *vidmm, const struct host_mapping *mapping,
                            uint64_t page)
{
    const uint64_t unit = unit_of(&vidmm->segment[mapping->segment]);

    return mapping->window[page / unit] * unit + page % unit;
}

void *host_aperture_cpu(const struct vidmm *vidmm, const struct host_mapping *mapping)
{
    const struct vidmm_segment *segment = &vidmm->segment[mapping->segment];
    uint8_t *bytes = vidmm->config.device ? bus_device_memory(vidmm->config.device, segment->bar)
                                          : NULL;

    return bytes
               ? bytes + segment->bar_offset + (host_aperture_page(vidmm, mapping, 0) << PAGE_BITS)
               : NULL;
}
