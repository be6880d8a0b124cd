/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "bus/memory.h"
#include "ddi/client_handle.h"
#include "ram/ram.h"
#include "sim/mutex.h"
#include "util/address.h"
#include "util/handle.h"
#include "verify/refusal.h"
#include "vidmm/allocation/allocation.h"
#include "vidmm/paging/follow.h"
#include "vidmm/paging/paging_worker.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/device_record.h"
#include "vidmm/record/open_record.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/resource_record.h"
#include "vidmm/record/segment_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/record/vidmm_run.h"
#include "vidmm/record/vidmm_scheduler.h"
#include "vidmm/residency/open_place.h"
#include "vidmm/residency/placement.h"
#include "vidmm/allocation/scanout.h"
#include "vidmm/residency/victim.h"
#include "vidmm/segment/segment.h"

/* ---- references ---- */

struct vidmm_allocation *vidmm_scanout_get(struct vidmm_device *device, D3DKMT_HANDLE handle)
{
    struct vidmm *vidmm = device->process->vidmm;
    struct vidmm_allocation *allocation = NULL;
    struct vidmm_open *open;

    sim_mutex_lock(&vidmm->lock);
    open = open_find(device, handle);
    if (open)
        allocation = vidmm_open_hold(open);
    sim_mutex_unlock(&vidmm->lock);
    return allocation;
}

struct vidmm_allocation *vidmm_scanout_get_first(struct vidmm_device *device, D3DKMT_HANDLE handle)
{
    struct vidmm *vidmm = device->process->vidmm;
    struct vidmm_allocation *allocation = NULL;
    const struct vidmm_resource_open *resource = handle_lookup(device->process->handles, handle,
                                                               DDI_CLIENT_RESOURCE);

    if (!resource)
        return vidmm_scanout_get(device, handle);
    sim_mutex_lock(&vidmm->lock);
    if (resource->device == device && !list_empty(&resource->opens))
        allocation = vidmm_open_hold(
            CONTAINER(resource->opens.next, struct vidmm_open, resource_link));
    sim_mutex_unlock(&vidmm->lock);
    if (!allocation)
        (void)refuse(STATUS_INVALID_PARAMETER, "KMT-026",
                     "resource 0x%x has no allocation of this device", handle);
    return allocation;
}

void vidmm_scanout_release(struct vidmm_allocation *allocation)
{
    struct vidmm *vidmm = allocation->vidmm;

    sim_mutex_lock(&vidmm->lock);
    vidmm_hold_end(allocation);
    sim_mutex_unlock(&vidmm->lock);
}

bool vidmm_scanout_fits(const struct vidmm_allocation *allocation, UINT source)
{
    return allocation->segments.primary &&
           (allocation->segments.source == source || allocation->segments.source == D3DDDI_ID_ANY);
}

HANDLE vidmm_scanout_handle(const struct vidmm_allocation *allocation)
{
    return allocation->driver_handle;
}

HANDLE vidmm_scanout_open_handle(struct vidmm_device *device, D3DKMT_HANDLE handle)
{
    const struct vidmm_open *open = open_find(device, handle);

    return open ? open->driver_handle : NULL;
}

bool vidmm_scanout_cpu_visible(const struct vidmm_allocation *allocation)
{
    return allocation->flags.CpuVisible;
}

uint64_t vidmm_scanout_bytes(const struct vidmm_allocation *allocation)
{
    return allocation->bytes;
}

/* ---- where it is ---- */

struct placing {
    struct vidmm_allocation *allocation;
    struct vidmm_scanout *where;
    bool pins;
};

static void tell_place(const struct vidmm_allocation *allocation, struct vidmm_scanout *where)
{
    const struct vidmm_segment *segment = &allocation->vidmm->segment[allocation->segment];
    const uint64_t page = segment_is_aperture(segment) ? allocation->aperture.first
                                                       : allocation->runs[0].first;

    *where = (struct vidmm_scanout){.allocation = allocation->driver_handle,
                                    .segment = allocation->segment,
                                    .address = segment_physical(segment, segment_page_addr(page))};
}

static NTSTATUS place_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    const struct placing *placing = arg;
    struct vidmm_allocation *allocation = placing->allocation;
    NTSTATUS status = STATUS_SUCCESS;

    if (allocation->gone || allocation->destroyed)
        return refuse(STATUS_GRAPHICS_ALLOCATION_INVALID, NULL, "the primary has been destroyed");
    if (!allocation->resident)
        status = placement_bring_in(turn, vidmm, allocation);
    if (!NT_SUCCESS(status))
        return status;
    allocation->pins += placing->pins;
    victim_update(allocation);
    tell_place(allocation, placing->where);
    return status;
}

NTSTATUS vidmm_scanout_pin(struct vidmm_allocation *allocation, struct vidmm_scanout *where)
{
    struct placing placing = {allocation, where, true};

    return vidmm_status(paging_run(allocation->vidmm, place_job, &placing));
}

NTSTATUS vidmm_scanout_place(struct vidmm_allocation *allocation, struct vidmm_scanout *where)
{
    struct placing placing = {allocation, where, false};

    return vidmm_status(paging_run(allocation->vidmm, place_job, &placing));
}

void vidmm_scanout_unpin(struct vidmm_allocation *allocation)
{
    struct vidmm *vidmm = allocation->vidmm;

    sim_mutex_lock(&vidmm->lock);
    allocation->pins--;
    victim_update(allocation);
    paging_poke(vidmm);
    sim_mutex_unlock(&vidmm->lock);
}

/* ---- the work behind ---- */

void vidmm_scanout_leaves(struct vidmm_allocation *allocation, bool leaves)
{
    const struct vidmm *vidmm = allocation->vidmm;

    allocation->claims.leaves_screen = leaves;
    if (leaves)
        return;
    allocation->claims.departures++;
    vidmm->scheduler->screen_left(vidmm->ddi);
}

bool vidmm_open_leaves_screen(const struct vidmm_open *open, uint32_t *departure)
{
    *departure = open->allocation->claims.departures;
    return open->allocation->claims.leaves_screen;
}

/* ---- the work before ---- */

static void gpu_done(struct vidmm_device *device, struct vidmm_follow *follow)
{
    struct vidmm_scanout_wait *wait = CONTAINER(follow, struct vidmm_scanout_wait, follow);

    (void)device;
    wait->ready(wait->context);
}

void vidmm_scanout_after(struct vidmm_device *device, struct vidmm_scanout_wait *wait)
{
    struct vidmm *vidmm = device->process->vidmm;

    sim_mutex_lock(&vidmm->lock);
    follow_init(&wait->follow);
    follow_device(device, &wait->follow, gpu_done);
    sim_mutex_unlock(&vidmm->lock);
}

void vidmm_scanout_forget(struct vidmm_device *device, struct vidmm_scanout_wait *wait)
{
    struct vidmm *vidmm = device->process->vidmm;

    sim_mutex_lock(&vidmm->lock);
    if (follow_pending(&wait->follow))
        follow_cancel(&wait->follow);
    sim_mutex_unlock(&vidmm->lock);
}

/* ---- what it shows ---- */

/* NULL: the CPU does not reach that page. */
static const uint8_t *page_of(const struct vidmm_allocation *allocation, uint64_t page)
{
    const struct vidmm *vidmm = allocation->vidmm;
    const struct vidmm_segment *segment = &vidmm->segment[allocation->segment];

    if (!allocation->runs || segment_is_aperture(segment))
        return allocation->backing
                   ? ram_direct(vidmm->config.ram, page_phys(allocation->backing[page]))
                   : NULL;
    if (!segment_cpu_visible(segment))
        return NULL;
    page += allocation->runs[0].first;
    if (segment->in_ram)
        return ram_direct(vidmm->config.ram,
                          (struct phys_addr){segment->cpu.value + (page << PAGE_BITS)});
    return (const uint8_t *)bus_device_memory(vidmm->config.device, segment->bar) +
           segment->bar_offset + (page << PAGE_BITS);
}

const void *vidmm_scanout_start(const struct vidmm_allocation *allocation)
{
    return page_of(allocation, 0);
}

bool vidmm_scanout_read(struct vidmm_allocation *allocation, void *bytes, uint64_t count)
{
    uint8_t *to = bytes;

    if (count > allocation->bytes)
        return false;
    for (uint64_t page = 0; count; page++) {
        const uint64_t some = count < PAGE_BYTES ? count : PAGE_BYTES;
        const uint8_t *from = page_of(allocation, page);

        if (!from)
            return false;
        memcpy(to, from, some);
        to += some;
        count -= some;
    }
    return true;
}
