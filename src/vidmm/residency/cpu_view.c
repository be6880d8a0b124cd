/* SPDX-License-Identifier: MIT */
/*
 * The CPU mapping (view) of a locked allocation. Its address stays the same when the content moves
 * (ALLOC-120).
 *
 *   content in                         the view maps
 *   backing pages, aperture            the frames
 *   CpuVisible memory segment          the pages of the memory BAR, contiguous or scattered
 *   one with a CPU host aperture       pages of that window, from the first lock on; what is locked
 *                                      elsewhere does not move there
 *   any other memory segment           impossible: the allocation moves to system memory first,
 *                                      and stays out of such segments until it is unlocked
 *   PermanentSysMem, client memory     always the frames
 *
 * Moving a locked allocation. The GPU copies the content while the client may write through the
 * view. Therefore a hash of every page is computed before the copy is built (cpu_view_leave). When
 * the copy is done, pages whose hash has changed are copied again, and the view is mapped to the
 * new place (cpu_view_placed). No client can run during that step.
 */
#include <string.h>

#include "vidmm/residency/cpu_view.h"
#include "bus/memory.h"
#include "ram/ram.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/move.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/segment_record.h"
#include "vidmm/record/vidmm_run.h"
#include "vidmm/segment/host_aperture.h"
#include "vidmm/segment/segment.h"

/* ---- questions ---- */

bool cpu_view_shows_backing(const struct vidmm_allocation *allocation)
{
    return allocation->flags.PermanentSysMem || allocation->borrowed;
}

bool cpu_view_follows(const struct vidmm_allocation *allocation)
{
    return allocation->view.address && !cpu_view_shows_backing(allocation);
}

bool cpu_view_forbids(const struct vidmm_allocation *allocation, const struct vidmm_segment *segment)
{
    if (!allocation->view.lock_count || cpu_view_shows_backing(allocation))
        return false;
    if (!allocation->cpu_visible)
        return true;
    if (allocation->view.order.passing)
        return false;
    if (segment_cpu_visible(segment))
        return allocation->flags.Cached || allocation->view.kept_out ||
               (allocation->view.order.swizzles && !allocation->view.through_range &&
                !allocation->view.wants_range);
    return !allocation->view.window.window || allocation->segment != segment->id;
}

bool cpu_view_may_leave_memory(const struct vidmm_allocation *allocation)
{
    const struct vidmm *vidmm = allocation->vidmm;

    for (UINT id = 1; id <= vidmm->segment_count; id++)
        if (allocation->segments.supported & segment_bit(id) &&
            segment_is_aperture(&vidmm->segment[id]))
            return true;
    return false;
}

bool cpu_view_leaves_memory(const struct vidmm_allocation *allocation)
{
    return allocation->view.lock_count && !allocation->view.order.passing &&
           allocation->vidmm->config.wddm_version < DXGKDDI_INTERFACE_VERSION_WDDM2_0 &&
           cpu_view_may_leave_memory(allocation);
}

bool cpu_view_in_memory_segment(const struct vidmm_allocation *allocation)
{
    return allocation->runs && allocation->segment &&
           !segment_is_aperture(&allocation->vidmm->segment[allocation->segment]);
}

/* ---- the window ---- */

/* ALLOC-127: a cached mapping needs a window that says so. */
bool cpu_view_may_use_window(const struct vidmm_allocation *allocation)
{
    const struct vidmm_segment *segment = &allocation->vidmm->segment[allocation->segment];

    return cpu_view_in_memory_segment(allocation) && allocation->cpu_visible &&
           segment->flags.SupportsCpuHostAperture &&
           (!allocation->flags.Cached || segment->flags.SupportsCachedCpuHostAperture);
}

NTSTATUS cpu_view_open_window(struct vidmm_allocation *allocation)
{
    const struct host_view view = {.allocation = allocation->driver_handle,
                                   .runs = allocation->runs,
                                   .run_count = allocation->run_count,
                                   .pages = allocation->pages};

    return allocation->view.window.window
               ? STATUS_SUCCESS
               : host_aperture_map(allocation->vidmm, &view, &allocation->view.window);
}

void cpu_view_close_window(struct vidmm_allocation *allocation)
{
    host_aperture_unmap(allocation->vidmm, &allocation->view.window);
}

/* ---- views ---- */

static bool point_run(struct vidmm_allocation *allocation, uint64_t page,
                      const struct vidmm_segment *segment, uint64_t first, uint64_t count)
{
    struct vidmm *vidmm = allocation->vidmm;
    struct ram_view_source source = {
        .file = -1, .page = (segment->cpu.value >> PAGE_BITS) + first, .writable = true};

    if (segment->in_ram)
        return ram_view_point_run(vidmm->config.ram, allocation->view.address, page, &source, count);
    return ram_view_point_file(vidmm->config.ram, allocation->view.address, page,
                               bus_device_memory_file(vidmm->config.device, segment->bar),
                               (segment->bar_offset >> PAGE_BITS) + first, count, true);
}

static bool point_at_segment(struct vidmm_allocation *allocation)
{
    struct vidmm *vidmm = allocation->vidmm;
    uint64_t left = allocation->pages; /* the place may have more pages (pitch, 64 KB pages) */
    uint64_t page = 0;

    for (uint32_t i = 0; i < allocation->run_count && left; i++) {
        const struct vidmm_run *run = &allocation->runs[i];
        const struct vidmm_segment *segment = &vidmm->segment[run->segment];
        uint64_t count = run->pages < left ? run->pages : left;

        if (!point_run(allocation, page, segment, run->first, count))
            return false;
        page += count;
        left -= count;
    }
    return true;
}

static bool point_at_window(struct vidmm_allocation *allocation)
{
    struct vidmm *vidmm = allocation->vidmm;
    const struct host_mapping *window = &allocation->view.window;
    const struct vidmm_segment *segment = &vidmm->segment[window->segment];
    const uint64_t start = segment->bar_offset >> PAGE_BITS;
    const int file = bus_device_memory_file(vidmm->config.device, segment->bar);
    uint64_t run;

    for (uint64_t page = 0; page < allocation->pages; page += run) {
        const uint64_t first = host_aperture_page(vidmm, window, page);

        for (run = 1; page + run < allocation->pages &&
                      host_aperture_page(vidmm, window, page + run) == first + run;)
            run++;
        if (!ram_view_point_file(vidmm->config.ram, allocation->view.address, page, file,
                                 start + first, run, true))
            return false;
    }
    return true;
}

/* ALLOC-130 */
static bool point_at_range(struct vidmm_allocation *allocation)
{
    const struct vidmm_config *config = &allocation->vidmm->config;
    const struct view_range *range = &allocation->view.range;

    return ram_view_point_file(config->ram, allocation->view.address, 0,
                               bus_device_memory_file(config->device, range->bar), range->page,
                               allocation->pages, true);
}

static bool point(struct vidmm_allocation *allocation)
{
    if (allocation->vidmm->blank && cpu_view_in_memory_segment(allocation) &&
        !cpu_view_shows_backing(allocation)) /* TDR-048 */
        return ram_view_blank(allocation->vidmm->config.ram, allocation->view.address, 0,
                              allocation->pages);
    if (cpu_view_in_memory_segment(allocation) && allocation->view.through_range)
        return point_at_range(allocation);
    if (cpu_view_in_memory_segment(allocation) && allocation->view.window.window)
        return point_at_window(allocation);
    if (cpu_view_in_memory_segment(allocation) && !cpu_view_shows_backing(allocation))
        return point_at_segment(allocation);
    return ram_view_point(allocation->vidmm->config.ram, allocation->view.address, 0,
                          allocation->backing, allocation->pages, true);
}

static void drop_view(struct vidmm_allocation *allocation)
{
    if (allocation->view.address)
        ram_view_release(allocation->vidmm->config.ram, allocation->view.address, allocation->pages);
    allocation->view.address = NULL;
    allocation->view.unmapped = allocation->view.lost = false;
    util_free(allocation->view.fingerprints);
    allocation->view.fingerprints = NULL;
    allocation->view.through_range = allocation->view.kept_out = false;
    cpu_view_close_window(allocation);
}

NTSTATUS cpu_view_make(struct vidmm_allocation *allocation)
{
    const bool lost = allocation->view.lost; /* others have its address */

    if (!lost)
        allocation->view.address = ram_view_reserve(allocation->vidmm->config.ram,
                                                    allocation->pages);
    if (allocation->view.address && point(allocation)) {
        allocation->view.lost = false;
        return STATUS_SUCCESS;
    }
    if (lost)
        cpu_view_lose(allocation);
    else
        drop_view(allocation); /* and the window that was opened for it */
    return vidmm_host_is_full();
}

/* ---- moving a locked allocation ---- */

static uint64_t fingerprint(const void *page)
{
    const uint64_t *words = page;
    uint64_t hash = 0;

    for (size_t i = 0; i < PAGE_BYTES / sizeof(*words); i++)
        hash = (hash ^ words[i]) * 0x9E3779B97F4A7C15u + i;
    return hash;
}

static uint8_t *view_page(const struct vidmm_allocation *allocation, uint64_t page)
{
    return (uint8_t *)allocation->view.address + (page << PAGE_BITS);
}

NTSTATUS cpu_view_leave(struct vidmm_allocation *allocation)
{
    uint64_t *prints;

    if (allocation->view.unmapped && !NT_SUCCESS(cpu_view_placed(allocation)))
        return STATUS_INSUFFICIENT_RESOURCES;
    prints = util_alloc(allocation->pages * sizeof(*prints));
    if (!prints)
        return STATUS_INSUFFICIENT_RESOURCES;
    util_free(allocation->view.fingerprints);
    for (uint64_t i = 0; i < allocation->pages; i++)
        prints[i] = fingerprint(view_page(allocation, i));
    allocation->view.fingerprints = prints;
    return STATUS_SUCCESS;
}

/* Host address of a page at its current place. */
static void *place_page(const struct vidmm_allocation *allocation, uint64_t page)
{
    if (!cpu_view_in_memory_segment(allocation))
        return ram_direct(allocation->vidmm->config.ram, page_phys(allocation->backing[page]));
    if (allocation->view.window.window || allocation->view.through_range)
        return view_page(allocation, page); /* it has not moved */
    for (uint32_t i = 0; i < allocation->run_count; i++) {
        if (page < allocation->runs[i].pages)
            return segment_cpu(allocation->vidmm, allocation->segment,
                               segment_page_addr(allocation->runs[i].first + page));
        page -= allocation->runs[i].pages;
    }
    return NULL;
}

NTSTATUS cpu_view_placed(struct vidmm_allocation *allocation)
{
    const uint64_t *prints = allocation->view.fingerprints;

    for (uint64_t i = 0; prints && i < allocation->pages; i++) {
        if (fingerprint(view_page(allocation, i)) != prints[i])
            move_bytes(place_page(allocation, i), view_page(allocation, i), PAGE_BYTES);
    }
    util_free(allocation->view.fingerprints);
    allocation->view.fingerprints = NULL;
    allocation->view.unmapped = !point(allocation);
    if (!allocation->view.unmapped) {
        allocation->view.lost = false;
        return STATUS_SUCCESS;
    }
    /* Part of the view may map the new place already. Mapping nothing is better than mapping the
     * wrong place; the caller returns to the old place and calls this again. */
    ram_view_unpoint(allocation->vidmm->config.ram, allocation->view.address, 0, allocation->pages);
    return STATUS_INSUFFICIENT_RESOURCES;
}

void cpu_view_blank(const struct vidmm_allocation *allocation)
{
    if (cpu_view_follows(allocation) && cpu_view_in_memory_segment(allocation))
        (void)ram_view_blank(allocation->vidmm->config.ram, allocation->view.address, 0,
                             allocation->pages);
}

void cpu_view_lose(struct vidmm_allocation *allocation)
{
    struct allocation_view *view = &allocation->view;

    if (!ram_view_blank(allocation->vidmm->config.ram, view->address, 0, allocation->pages)) {
        drop_view(allocation);
        return;
    }
    view->lost = true;
    view->unmapped = view->through_range = false;
    util_free(view->fingerprints);
    view->fingerprints = NULL;
    cpu_view_close_window(allocation);
}

void cpu_view_end(struct vidmm_allocation *allocation)
{
    drop_view(allocation);
}
