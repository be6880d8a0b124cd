/* SPDX-License-Identifier: MIT */
/*
 * Lock2 and Unlock2: one view per allocation, from its first lock to its last unlock, at an address
 * that stays while the content moves (ALLOC-120).
 *
 *   content in                         the view shows
 *   backing pages, aperture            the frames
 *   CpuVisible memory segment          the pages of the memory BAR, contiguous or scattered
 *   any other memory segment           nothing can: the allocation moves to system memory first,
 *                                      and stays out of such segments until it is unlocked
 *   PermanentSysMem, client memory     always the frames
 *
 * Moving under a lock. The copy is made by the GPU while the client may go on storing through the
 * view. So before the copy is built a fingerprint of every page is taken (cpu_access_leave), and
 * when the copy is done, in one step that no client can get into, pages that differ from their
 * fingerprint are copied once more and the view is re-pointed (cpu_access_placed).
 */
#include <string.h>

#include "vidmm/cpu_access.h"
#include "bus/bus.h"
#include "ram/ram.h"
#include "sim/sim.h"
#include "util/address.h"
#include "util/alloc.h"
#include "vidmm/allocation_record.h"
#include "vidmm/backing.h"
#include "vidmm/device_record.h"
#include "vidmm/eviction.h"
#include "vidmm/open_record.h"
#include "vidmm/paging.h"
#include "vidmm/paging_worker.h"
#include "vidmm/placement.h"
#include "vidmm/process_record.h"
#include "vidmm/run.h"
#include "vidmm/segment.h"
#include "vidmm/segment_record.h"
#include "vidmm/vidmm_record.h"

#define MAX_LOCKS 65535u /* KMT-269 */

/* ---- questions ---- */

/* The CPU sees the system pages wherever the content is. */
static bool shows_backing(const struct vidmm_allocation *allocation)
{
    return allocation->flags.PermanentSysMem || allocation->borrowed;
}

bool cpu_access_follows(const struct vidmm_allocation *allocation)
{
    return allocation->view && !shows_backing(allocation);
}

bool cpu_access_forbids(const struct vidmm_allocation *allocation,
                        const struct vidmm_segment *segment)
{
    if (!allocation->lock_count || shows_backing(allocation))
        return false;
    return !allocation->cpu_visible || allocation->flags.Cached || !segment_cpu_visible(segment);
}

static bool in_memory_segment(const struct vidmm_allocation *allocation)
{
    return allocation->runs && allocation->segment &&
           !segment_is_aperture(&allocation->vidmm->segment[allocation->segment]);
}

/* ---- views ---- */

static bool point_run(struct vidmm_allocation *allocation, uint64_t page,
                      const struct vidmm_segment *segment, uint64_t first, uint64_t count)
{
    struct vidmm *vidmm = allocation->vidmm;
    struct ram_view_source source = {
        .file = -1, .page = (segment->cpu.value >> PAGE_BITS) + first, .writable = true};

    if (segment->in_ram)
        return ram_view_point_run(vidmm->config.ram, allocation->view, page, &source, count);
    return ram_view_point_file(vidmm->config.ram, allocation->view, page,
                               bus_device_memory_file(vidmm->config.device, segment->bar),
                               (segment->bar_offset >> PAGE_BITS) + first, count, true);
}

static bool point_at_segment(struct vidmm_allocation *allocation)
{
    struct vidmm *vidmm = allocation->vidmm;
    uint64_t left = allocation->pages; /* the place may be larger (pitch, 64 KB pages) */
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

static bool point(struct vidmm_allocation *allocation)
{
    if (in_memory_segment(allocation) && !shows_backing(allocation))
        return point_at_segment(allocation);
    return ram_view_point(allocation->vidmm->config.ram, allocation->view, 0, allocation->backing,
                          allocation->pages, true);
}

static void drop_view(struct vidmm_allocation *allocation)
{
    if (allocation->view)
        ram_view_release(allocation->vidmm->config.ram, allocation->view, allocation->pages);
    allocation->view = NULL;
    util_free(allocation->cpu_private);
    allocation->cpu_private = NULL;
}

static NTSTATUS make_view(struct vidmm_allocation *allocation)
{
    allocation->view = ram_view_reserve(allocation->vidmm->config.ram, allocation->pages);
    if (!allocation->view)
        return STATUS_NO_MEMORY;
    if (point(allocation))
        return STATUS_SUCCESS;
    drop_view(allocation);
    return STATUS_NO_MEMORY;
}

/* ---- moving under a lock ---- */

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
    return (uint8_t *)allocation->view + (page << PAGE_BITS);
}

NTSTATUS cpu_access_leave(struct vidmm_allocation *allocation)
{
    uint64_t *prints = util_alloc(allocation->pages * sizeof(*prints));

    if (!prints)
        return STATUS_INSUFFICIENT_RESOURCES;
    util_free(allocation->cpu_private);
    for (uint64_t i = 0; i < allocation->pages; i++)
        prints[i] = fingerprint(view_page(allocation, i));
    allocation->cpu_private = prints;
    return STATUS_SUCCESS;
}

/* Host address of a page at its present place. */
static void *place_page(const struct vidmm_allocation *allocation, uint64_t page)
{
    if (!in_memory_segment(allocation))
        return ram_direct(allocation->vidmm->config.ram, page_phys(allocation->backing[page]));
    for (uint32_t i = 0; i < allocation->run_count; i++) {
        if (page < allocation->runs[i].pages)
            return segment_cpu(allocation->vidmm, allocation->segment,
                               (allocation->runs[i].first + page) << PAGE_BITS);
        page -= allocation->runs[i].pages;
    }
    return NULL;
}

NTSTATUS cpu_access_placed(struct vidmm_allocation *allocation)
{
    const uint64_t *prints = allocation->cpu_private;

    if (!cpu_access_follows(allocation))
        return STATUS_SUCCESS;
    for (uint64_t i = 0; prints && i < allocation->pages; i++) {
        if (fingerprint(view_page(allocation, i)) != prints[i])
            memcpy(place_page(allocation, i), view_page(allocation, i), PAGE_BYTES);
    }
    util_free(allocation->cpu_private);
    allocation->cpu_private = NULL;
    if (point(allocation))
        return STATUS_SUCCESS;
    /* Half of it may show the new place: better none than a wrong one. The caller goes back, and
     * comes here again. */
    ram_view_unpoint(allocation->vidmm->config.ram, allocation->view, 0, allocation->pages);
    return STATUS_INSUFFICIENT_RESOURCES;
}

void cpu_access_destroyed(struct vidmm_allocation *allocation)
{
    drop_view(allocation);
    allocation->lock_count = 0;
}

/* ---- Lock2 ---- */

static NTSTATUS nothing(struct vidmm *vidmm, void *arg)
{
    (void)vidmm;
    (void)arg;
    return STATUS_SUCCESS;
}

/* Make it possible for the CPU to see it, on the worker: out of a segment that it cannot reach. */
static NTSTATUS expose(struct vidmm *vidmm, void *arg)
{
    struct vidmm_allocation *allocation = arg;
    NTSTATUS status;

    if (allocation->destroyed || !in_memory_segment(allocation) ||
        !cpu_access_forbids(allocation, &vidmm->segment[allocation->segment]))
        return STATUS_SUCCESS;
    status = eviction_need_idle(allocation);
    if (NT_SUCCESS(status))
        status = residency_move_out(vidmm, allocation, true);
    if (NT_SUCCESS(status) && allocation->device_references)
        status = residency_bring_in(vidmm, allocation);
    return status;
}

static NTSTATUS check_lock(const struct vidmm_open *open)
{
    const struct vidmm_allocation *allocation = open->allocation;

    if (open->device->lost || allocation->vidmm->lost)
        return STATUS_DEVICE_REMOVED;
    if (allocation->offer_in_force || allocation->creator != open->device->process->nt)
        return STATUS_INVALID_PARAMETER; /* ALLOC-119, RES-065 */
    if (allocation->lock_count >= MAX_LOCKS)
        return STATUS_GRAPHICS_TOO_MANY_REFERENCES;
    if (!allocation->cpu_visible && in_memory_segment(allocation) &&
        !(allocation->vidmm->aperture &&
          (allocation->supported_set & segment_bit(allocation->vidmm->aperture))))
        return STATUS_INVALID_PARAMETER; /* ALLOC-128 */
    return STATUS_SUCCESS;
}

/* The first lock. The count is 1 already, so placement knows; lock held, dropped while paging
 * settles. The caller holds the record. */
static NTSTATUS first_lock(struct vidmm_allocation *allocation)
{
    struct vidmm *vidmm = allocation->vidmm;
    NTSTATUS status = STATUS_SUCCESS;
    bool forbidden = in_memory_segment(allocation) &&
                     cpu_access_forbids(allocation, &vidmm->segment[allocation->segment]);

    if (forbidden || allocation->arriving || !paging_ticket_done(vidmm, allocation->busy_ticket)) {
        /* A copy or a fill under way would undo what the CPU stores. Only paging work is waited
         * for, never a client's. */
        sim_mutex_unlock(&vidmm->lock);
        status = paging_run(vidmm, forbidden ? expose : nothing, allocation);
        sim_mutex_lock(&vidmm->lock);
    }
    if (allocation->destroyed || allocation->gone || allocation->lock_count == 0)
        return STATUS_INVALID_PARAMETER;
    if (NT_SUCCESS(status) && !in_memory_segment(allocation))
        status = backing_take(allocation);
    return vidmm_status(NT_SUCCESS(status) ? make_view(allocation) : status);
}

static NTSTATUS have_view(struct vidmm_allocation *allocation)
{
    struct vidmm *vidmm = allocation->vidmm;
    NTSTATUS status = STATUS_SUCCESS;

    while (NT_SUCCESS(status) && !allocation->view) {
        if (allocation->locking) {
            /* Another thread is making it. */
            sim_mutex_unlock(&vidmm->lock);
            status = paging_run(vidmm, nothing, NULL);
            sim_mutex_lock(&vidmm->lock);
            continue;
        }
        allocation->locking = true;
        status = first_lock(allocation);
        allocation->locking = false;
    }
    return status;
}

NTSTATUS vidmm_lock2(struct vidmm_device *device, D3DKMT_HANDLE handle, void **address)
{
    struct vidmm *vidmm = device->process->vidmm;
    struct vidmm_allocation *allocation;
    struct vidmm_open *open;
    NTSTATUS status;

    sim_mutex_lock(&vidmm->lock);
    open = open_find(device, handle);
    status = open ? check_lock(open) : STATUS_INVALID_PARAMETER;
    if (NT_SUCCESS(status)) {
        allocation = open->allocation;
        allocation->lock_count++;
        open->lock_count++;
        allocation_hold(allocation);
        status = have_view(allocation);
        open = open_find(device,
                         handle); /* it may have been destroyed meanwhile, which ended the lock */
        if (NT_SUCCESS(status)) {
            *address = allocation->view;
        } else if (open && open->allocation == allocation && open->lock_count) {
            open->lock_count--;
            allocation->lock_count--;
        }
        if (!allocation->gone)
            eviction_update(allocation);
        allocation_unhold(allocation);
    }
    sim_mutex_unlock(&vidmm->lock);
    return status;
}

/* ---- Unlock2 ---- */

/* The system copy of PermanentSysMem content is newer than the segment's: bring it in anew. */
static NTSTATUS push(struct vidmm *vidmm, void *arg)
{
    struct vidmm_allocation *allocation = arg;
    NTSTATUS status;

    if (allocation->destroyed || !in_memory_segment(allocation))
        return STATUS_SUCCESS;
    status = eviction_need_idle(allocation);
    if (!NT_SUCCESS(status))
        return status;
    allocation->system_copy = true;
    allocation->written = false;
    status = residency_move_out(vidmm, allocation, true);
    if (NT_SUCCESS(status) && allocation->device_references)
        status = residency_bring_in(vidmm, allocation);
    return status;
}

static void pushed(struct vidmm *vidmm, void *arg, NTSTATUS status)
{
    (void)vidmm;
    (void)status;
    allocation_unhold(arg);
}

/* ALLOC-047; no client waits for it. */
static NTSTATUS push_later(struct vidmm_allocation *allocation)
{
    struct vidmm *vidmm = allocation->vidmm;
    NTSTATUS status;

    if (!shows_backing(allocation) || !in_memory_segment(allocation))
        return STATUS_SUCCESS;
    status = paging_post(&vidmm->chores, push, pushed, allocation);
    if (NT_SUCCESS(status))
        allocation_hold(allocation);
    return status;
}

NTSTATUS vidmm_unlock2(struct vidmm_device *device, D3DKMT_HANDLE handle)
{
    struct vidmm *vidmm = device->process->vidmm;
    struct vidmm_open *open;
    NTSTATUS status = STATUS_INVALID_PARAMETER;

    sim_mutex_lock(&vidmm->lock);
    open = open_find(device, handle);
    if (open && open->lock_count) {
        struct vidmm_allocation *allocation = open->allocation;

        status = allocation->lock_count == 1 && !vidmm->lost ? push_later(allocation)
                                                             : STATUS_SUCCESS;
        if (NT_SUCCESS(status)) {
            open->lock_count--;
            if (--allocation->lock_count == 0)
                drop_view(allocation);
            eviction_update(allocation);
            paging_poke(vidmm);
        }
    }
    sim_mutex_unlock(&vidmm->lock);
    return status;
}
