/* SPDX-License-Identifier: MIT */
/*
 * Creating allocations.
 *
 *   records and copies of private data    everything that can fail for lack of memory
 *   DxgkDdiCreateAllocation               its outputs are checked before they are used
 *   client handles                        created now, since the driver may look them up in the
 *                                         next calls (ALLOC-097)
 *   DxgkDdiSetAllocationBackingStore      if requested: passes the kernel address of the pages
 *   DxgkDdiOpenAllocation (Create)        device-specific handles; may change private data
 *   lists, outputs                        cannot fail
 *
 * After a failure all earlier steps are undone, those of the driver by DxgkDdiCloseAllocation and
 * DxgkDdiDestroyAllocation. The lock is taken only for the last step: before that, no other thread
 * knows the records.
 */
#include <string.h>

#include "vidmm/allocation/allocation.h"
#include "ddi/client_handle.h"
#include "ddi/ddi.h"
#include "nt/base/kprocess.h"
#include "ram/ram.h"
#include "sim/machine.h"
#include "sim/mutex.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/handle.h"
#include "util/list.h"
#include "verify/refusal.h"
#include "verify/verify.h"
#include "vidmm/allocation/allocation_info.h"
#include "vidmm/allocation/internal_allocation.h"
#include "vidmm/allocation/shared_backing.h"
#include "vidmm/content/backing.h"
#include "vidmm/paging/paging.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/device_record.h"
#include "vidmm/record/open_record.h"
#include "vidmm/record/dxgkrnl_objects.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/resource_record.h"
#include "vidmm/record/segment_record.h"
#include "vidmm/residency/open_place.h"
#include "vidmm/residency/placement.h"
#include "vidmm/segment/segment.h"
#include "vidmm/space/va_mapping.h"

#define ALLOCATION_PATTERN 0xC5C5C5C5u /* initial content where zeroes are not guaranteed */

void allocation_free(struct vidmm_allocation *allocation)
{
    shared_backing_end(allocation);
    backing_give(allocation->vidmm, allocation->backing, allocation->pages, allocation->borrowed);
    allocation->backing = NULL;
    if (!list_empty(&allocation->link)) /* its creation was not given up */
        vidmm_tell_allocation(allocation, ALLOCATION_ENDS);
    list_remove(&allocation->link);
    list_remove(&allocation->resource_link);
    list_remove(&allocation->victim.leave_link);
    list_remove(&allocation->victim.demoted_link);
    allocation_record_end(allocation);
}

static void *copy_of(const void *data, UINT bytes)
{
    void *copy = util_alloc(bytes);

    if (copy)
        memcpy(copy, data, bytes);
    return copy;
}

/* ---- one request ---- */

struct creation {
    struct vidmm_device *device;
    struct vidmm *vidmm;
    struct vidmm_create_request *request;
    struct vidmm_resource *resource; /* NULL: the allocations belong to no resource */
    struct vidmm_resource_open *resource_open;
    bool new_resource;
    HANDLE driver_resource;   /* hResource, as the driver set it */
    void *resource_private;   /* copy for the driver; later owned by the resource */
    struct vidmm_open **open; /* request->count elements */
    DXGK_ALLOCATIONINFO *info;
    DXGK_OPENALLOCATIONINFO *open_info;
    HANDLE *handle; /* buffer for the lists passed to Close and Destroy */
};

static void record_free(struct vidmm_open *open)
{
    struct vidmm_allocation *allocation = open ? open->allocation : NULL;

    open_record_free(open);
    if (allocation)
        allocation_free(allocation);
}

static void new_resource_free(struct creation *c)
{
    if (!c->new_resource)
        return;
    if (c->resource_open) {
        if (c->resource_open->handle)
            handle_remove(c->device->process->handles, c->resource_open->handle,
                          DDI_CLIENT_RESOURCE);
        util_free(c->resource_open);
    }
    util_free(c->resource);
}

/* Free what has not been added to any list. */
static void creation_undo(struct creation *c)
{
    for (UINT i = 0; c->open && i < c->request->count; i++)
        record_free(c->open[i]);
    new_resource_free(c);
    util_free(c->resource_private);
}

static void creation_finish(struct creation *c)
{
    util_free(c->open);
    util_free(c->info);
    util_free(c->open_info);
    util_free(c->handle);
}

static NTSTATUS new_resource(struct creation *c)
{
    struct vidmm_resource *resource = util_zalloc(1, sizeof(*resource));
    struct vidmm_resource_open *open = util_zalloc(1, sizeof(*open));

    c->new_resource = true;
    c->resource = resource;
    c->resource_open = open;
    if (!resource || !open)
        return STATUS_NO_MEMORY;
    resource->vidmm = c->vidmm;
    resource->shared = c->request->flags.CreateShared;
    resource->read_only = c->request->flags.ReadOnly;
    list_init(&resource->allocations);
    list_init(&resource->opens);
    open->resource = resource;
    open->device = c->device;
    list_init(&open->opens);
    list_init(&open->link);
    list_init(&open->device_link);
    open->handle = handle_create(c->device->process->handles, DDI_CLIENT_RESOURCE, open);
    return open->handle ? STATUS_SUCCESS : STATUS_NO_MEMORY;
}

static NTSTATUS find_resource(struct creation *c)
{
    const struct vidmm_create_request *request = c->request;
    struct vidmm_resource_open *open;

    if (request->resource == 0)
        return STATUS_SUCCESS;
    open = handle_lookup(c->device->process->handles, request->resource, DDI_CLIENT_RESOURCE);
    if (!open || open->device != c->device || list_empty(&open->device_link))
        return refuse(STATUS_INVALID_HANDLE, "KMT-191", "handle 0x%x is no resource of this device",
                      request->resource);
    if (open->resource->shared)
        return refuse(STATUS_INVALID_PARAMETER, "ALLOC-014",
                      "resource 0x%x is shared: it cannot grow", request->resource);
    c->resource_open = open;
    c->resource = open->resource;
    return STATUS_SUCCESS;
}

static NTSTATUS check_request(const struct vidmm_device *device,
                              const struct vidmm_create_request *request)
{
    D3DKMT_CREATEALLOCATIONFLAGS f = request->flags;

    if ((f.CreateShared && !f.CreateResource) || (f.NtSecuritySharing && !f.CreateShared))
        return refuse(STATUS_INVALID_PARAMETER, "ALLOC-018",
                      "CreateShared %u, CreateResource %u, NtSecuritySharing %u", f.CreateShared,
                      f.CreateResource, f.NtSecuritySharing);
    if (f.CreateResource ? request->resource != 0 : request->count == 0)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-192",
                      "CreateResource %u, resource 0x%x, %u allocations", f.CreateResource,
                      request->resource, request->count);
    if (device->lost || device->process->vidmm->lost)
        return refuse(STATUS_DEVICE_REMOVED, NULL, "the device or the adapter is lost");
    return STATUS_SUCCESS;
}

static NTSTATUS new_record(struct creation *c, UINT i)
{
    const struct vidmm_create_item *item = &c->request->item[i];
    struct vidmm_allocation *allocation = allocation_record_new(c->vidmm);
    struct vidmm_open *open = allocation ? open_record_new(c->device, allocation) : NULL;

    c->open[i] = open;
    if (!open) {
        util_free(allocation);
        return STATUS_NO_MEMORY;
    }
    open->resource_open = c->resource_open;
    open->read_only = c->request->flags.ReadOnly;
    allocation->resource = c->resource;
    allocation->creator = c->device->process->nt;
    allocation->read_only = c->request->flags.ReadOnly;
    allocation->primary = item->info->Flags.Primary;
    allocation->source = item->info->VidPnSourceId;
    if (c->request->flags.AllowNotZeroed)
        allocation->fill_pattern = ALLOCATION_PATTERN; /* KMT-216 */
    if (item->private_bytes) {
        allocation->client_data.at = copy_of(item->private_data, item->private_bytes);
        if (!allocation->client_data.at)
            return STATUS_NO_MEMORY;
        allocation->client_data.size = item->private_bytes;
    }
    c->info[i].pPrivateDriverData = allocation->client_data.at;
    c->info[i].PrivateDriverDataSize = allocation->client_data.size;
    return STATUS_SUCCESS;
}

static NTSTATUS make_records(struct creation *c)
{
    const struct vidmm_create_request *request = c->request;
    NTSTATUS status = find_resource(c);

    if (NT_SUCCESS(status) && request->flags.CreateResource)
        status = new_resource(c);
    if (NT_SUCCESS(status) && request->resource_private_bytes) {
        c->resource_private = copy_of(request->resource_private, request->resource_private_bytes);
        if (!c->resource_private)
            status = STATUS_NO_MEMORY;
    }
    if (!NT_SUCCESS(status) || request->count == 0)
        return status;
    c->open = util_zalloc(request->count, sizeof(*c->open));
    c->info = util_zalloc(request->count, sizeof(*c->info));
    c->open_info = util_zalloc(request->count, sizeof(*c->open_info));
    c->handle = util_zalloc(request->count, sizeof(*c->handle));
    if (!c->open || !c->info || !c->open_info || !c->handle)
        return STATUS_NO_MEMORY;
    for (UINT i = 0; i < request->count && NT_SUCCESS(status); i++)
        status = new_record(c, i);
    return status;
}

/* ---- the driver ---- */

/* Undo DxgkDdiCreateAllocation for the allocations that have a driver handle. */
static void driver_destroy(struct creation *c)
{
    DXGKARG_DESTROYALLOCATION args = {.pAllocationList = c->handle};
    NTSTATUS status;

    for (UINT i = 0; i < c->request->count; i++)
        if (c->info[i].hAllocation)
            c->handle[args.NumAllocations++] = c->info[i].hAllocation;
    if (c->resource && !c->resource->driver_knows) {
        args.hResource = c->driver_resource;
        args.Flags.DestroyResource = 1; /* ALLOC-012 */
    }
    if (args.NumAllocations == 0 && !args.Flags.DestroyResource)
        return;
    status = ddi_destroy_allocation(c->vidmm->ddi, &args);
    if (ddi_driver_failed(c->vidmm->ddi, status))
        VIOLATION("ALLOC-084", "DxgkDdiDestroyAllocation returned 0x%08X", (unsigned)status);
}

static NTSTATUS driver_create(struct creation *c)
{
    DXGKARG_CREATEALLOCATION args = {
        .pPrivateDriverData = c->resource_private,
        .PrivateDriverDataSize = c->request->resource_private_bytes,
        .NumAllocations = c->request->count,
        .pAllocationInfo = c->info,
        .hResource = c->resource ? c->resource->driver_handle : NULL,
    };
    NTSTATUS status;

    args.Flags.Resource = c->resource != NULL;
    status = ddi_create_allocation(c->vidmm->ddi, &args);
    c->driver_resource = args.hResource;
    return status;
}

/* KMT-200, ALLOC-020: use the client's own memory as backing. */
static NTSTATUS borrow(struct vidmm_allocation *allocation, const void *memory)
{
    struct ram *ram = allocation->vidmm->config.ram;
    struct page_number *backing;

    if ((uintptr_t)memory % PAGE_BYTES || allocation->bytes % PAGE_BYTES)
        return refuse(STATUS_INVALID_PARAMETER, NULL,
                      "client memory at %p for %llu bytes: both have to be whole pages", memory,
                      (unsigned long long)allocation->bytes);
    backing = util_alloc(allocation->pages * sizeof(*backing));
    if (!backing)
        return STATUS_NO_MEMORY;
    for (uint64_t i = 0; i < allocation->pages; i++) {
        struct phys_addr address;

        if (!ram_physical(ram, (const uint8_t *)memory + (i << PAGE_BITS), &address)) {
            for (uint64_t locked = i; locked--;)
                ram_unlock_page(ram, backing[locked]);
            util_free(backing);
            return refuse(STATUS_INVALID_PARAMETER, NULL,
                          "page %llu of the client memory at %p is no RAM of the machine",
                          (unsigned long long)i, memory);
        }
        backing[i] = phys_page(address);
        ram_lock_page(ram, backing[i]);
    }
    allocation->backing = backing;
    allocation->borrowed = true;
    allocation->content = CONTENT_SYSTEM;
    return STATUS_SUCCESS;
}

/* The driver describes a heap without knowing what it wraps: that the memory exists already is the
 * host's to say, and the allocation must not reach beyond it (ALLOC-146). */
static NTSTATUS settle_heap(const struct creation *c, struct vidmm_allocation *allocation)
{
    uint64_t heap = c->request->heap_bytes;

    if (allocation->pages > heap >> PAGE_BITS) {
        verify_refusal("ALLOC-146", "an allocation of %llu pages for an existing heap of %llu",
                       (unsigned long long)allocation->pages,
                       (unsigned long long)(heap >> PAGE_BITS));
        return STATUS_INVALID_PARAMETER;
    }
    allocation->flags.ExistingSysMem = 1;
    return STATUS_SUCCESS;
}

/* ALLOC-147. Accepted, it is as any other: the CPU may see memory segments of this host. */
static NTSTATUS check_shared(const struct creation *c, const struct vidmm_allocation *allocation)
{
    const struct vidmm *vidmm = c->vidmm;
    UINT memory = 0;

    if (!c->request->flags.CreateShared || !allocation->flags.CpuVisible || allocation->primary ||
        vidmm->config.wddm_version < DXGKDDI_INTERFACE_VERSION_WDDM2_0)
        return STATUS_SUCCESS;
    for (UINT id = 1; id <= vidmm->segment_count; id++)
        if (!segment_is_aperture(&vidmm->segment[id]))
            memory |= segment_bit(id);
    memory &= allocation->segments.supported;
    if (memory &&
        verify_finding("ALLOC-147",
                       "a shared CpuVisible allocation with memory segment %u in its set 0x%x",
                       1u + (unsigned)__builtin_ctz(memory), allocation->segments.supported))
        return STATUS_INVALID_PARAMETER;
    return STATUS_SUCCESS;
}

static NTSTATUS read_outputs(struct creation *c)
{
    NTSTATUS status = STATUS_SUCCESS;

    for (UINT i = 0; i < c->request->count && NT_SUCCESS(status); i++) {
        const struct vidmm_create_item *item = &c->request->item[i];
        struct vidmm_allocation *allocation = c->open[i]->allocation;

        status = allocation_read_info(allocation, &c->info[i]);
        if (NT_SUCCESS(status) && c->request->heap_bytes)
            status = settle_heap(c, allocation);
        if (NT_SUCCESS(status))
            status = check_shared(c, allocation);
        if (NT_SUCCESS(status) && (item->system_memory != NULL) != allocation->flags.ExistingSysMem) {
            verify_client_error("KMT-201", "ExistingSysMem is %u, client memory was %sgiven",
                                allocation->flags.ExistingSysMem, item->system_memory ? "" : "not ");
            status = STATUS_INVALID_PARAMETER;
        }
        if (NT_SUCCESS(status) && item->system_memory)
            status = borrow(allocation, item->system_memory);
        if (item->info->Flags.OverridePriority)
            allocation->priority = item->info->Priority; /* KMT-204 */
    }
    return status;
}

static NTSTATUS make_handles(struct creation *c)
{
    for (UINT i = 0; i < c->request->count; i++) {
        c->open[i]->handle = handle_create(c->device->process->handles, DDI_CLIENT_ALLOCATION,
                                           c->open[i]);
        if (!c->open[i]->handle)
            return STATUS_NO_MEMORY;
    }
    return STATUS_SUCCESS;
}

static void driver_close(struct creation *c)
{
    DXGKARG_CLOSEALLOCATION args = {.pOpenHandleList = c->handle};
    NTSTATUS status;

    for (UINT i = 0; i < c->request->count; i++)
        if (c->open_info[i].hDeviceSpecificAllocation)
            c->handle[args.NumAllocations++] = c->open_info[i].hDeviceSpecificAllocation;
    if (args.NumAllocations == 0)
        return;
    status = ddi_close_allocation(c->vidmm->ddi, c->device->driver_handle, &args);
    if (ddi_driver_failed(c->vidmm->ddi, status))
        VIOLATION("ALLOC-084", "DxgkDdiCloseAllocation returned 0x%08X", (unsigned)status);
}

static NTSTATUS driver_open(struct creation *c)
{
    DXGKARG_OPENALLOCATION args = {
        .NumAllocations = c->request->count,
        .pOpenAllocation = c->open_info,
        .pPrivateDriverData = c->resource_private,
        .PrivateDriverSize = c->request->resource_private_bytes,
    };
    NTSTATUS status;

    args.Flags.Create = 1;
    args.Flags.ReadOnly = c->request->flags.ReadOnly;
    for (UINT i = 0; i < c->request->count; i++) {
        c->open_info[i].hAllocation = c->open[i]->handle;
        c->open_info[i].pPrivateDriverData = c->open[i]->allocation->client_data.at;
        c->open_info[i].PrivateDriverDataSize = c->open[i]->allocation->client_data.size;
    }
    status = ddi_open_allocation(c->vidmm->ddi, c->device->driver_handle, &args);
    if (!NT_SUCCESS(status))
        return status;
    for (UINT i = 0; i < c->request->count; i++) {
        c->open[i]->driver_handle = c->open_info[i].hDeviceSpecificAllocation;
        if (c->open[i]->driver_handle)
            continue;
        verify_refusal("ALLOC-075", "hDeviceSpecificAllocation of element %u is NULL", i);
        driver_close(c);
        return STATUS_INVALID_PARAMETER;
    }
    return STATUS_SUCCESS;
}

/* Counted from here on, until the opens end: also if the creation fails later. */
static NTSTATUS charge_device(const struct creation *c)
{
    struct vidmm_device *device = c->device;
    uint64_t all = 0;

    for (UINT i = 0; i < c->request->count; i++) {
        c->open[i]->owned_pages = c->open[i]->allocation->pages;
        device->owned_pages += c->open[i]->owned_pages;
    }
    for (UINT id = 1; id <= c->vidmm->segment_count; id++) {
        const struct vidmm_segment *segment = &c->vidmm->segment[id];

        all += (segment_is_aperture(segment) ? segment->commit_limit
                                             : segment->bytes - segment->bad_bytes) >>
               PAGE_BITS;
    }
    return !device->legacy || device->owned_pages <= all
               ? STATUS_SUCCESS
               : refuse(STATUS_GRAPHICS_NO_VIDEO_MEMORY, "ALLOC-143",
                        "the device is one with LegacyMode; its allocations would have %llu pages, "
                        "and all segments together have %llu",
                        (unsigned long long)device->owned_pages, (unsigned long long)all);
}

static NTSTATUS create_with_driver(struct creation *c)
{
    NTSTATUS status = driver_create(c);

    if (!NT_SUCCESS(status))
        return status; /* ALLOC-009: returned unchanged */
    status = read_outputs(c);
    if (NT_SUCCESS(status))
        status = charge_device(c);
    if (NT_SUCCESS(status))
        status = make_handles(c);
    for (UINT i = 0; i < c->request->count && NT_SUCCESS(status); i++)
        status = shared_backing_give(c->open[i]->allocation);
    if (NT_SUCCESS(status))
        status = driver_open(c);
    if (!NT_SUCCESS(status))
        driver_destroy(c); /* ALLOC-010, ALLOC-012, PHYS-187 */
    return status;
}

/* ---- publishing ---- */

static void publish_resource(struct creation *c)
{
    struct vidmm_resource *resource = c->resource;

    if (!resource)
        return;
    if (c->new_resource) {
        list_push_back(&resource->opens, &c->resource_open->link);
        list_push_back(&c->device->resource_opens, &c->resource_open->device_link);
    }
    if (c->resource_private || c->new_resource) { /* ALLOC-015 */
        util_free(resource->private_data);
        resource->private_data = c->resource_private;
        resource->private_bytes = c->request->resource_private_bytes;
        c->resource_private = NULL;
    }
    if (c->request->count) {
        resource->driver_handle = c->driver_resource;
        resource->driver_knows = true;
    }
}

static void publish(struct creation *c)
{
    struct vidmm *vidmm = c->vidmm;

    publish_resource(c);
    for (UINT i = 0; i < c->request->count; i++) {
        struct vidmm_create_item *item = &c->request->item[i];
        struct vidmm_open *open = c->open[i];
        struct vidmm_allocation *allocation = open->allocation;

        allocation->number.of_client = ++vidmm->statistics.allocations_created;
        list_push_back(&vidmm->allocations, &allocation->link);
        list_push_back(&allocation->opens, &open->link);
        list_push_back(&c->device->opens, &open->device_link);
        if (c->resource) {
            list_push_back(&c->resource->allocations, &allocation->resource_link);
            list_push_back(&c->resource_open->opens, &open->resource_link);
        }
        if (item->private_bytes)
            memcpy(item->private_data, allocation->client_data.at,
                   item->private_bytes); /* ALLOC-076 */
        vidmm_tell_allocation(allocation, ALLOCATION_BEGINS);
        vidmm_tell_open(open, ALLOCATION_BEGINS);
        item->info->hAllocation = open->handle;
        item->info->GpuVirtualAddress = 0; /* KMT-205 */
    }
    vidmm->statistics.allocations_live += c->request->count;
}

NTSTATUS vidmm_allocation_create(struct vidmm_device *device, struct vidmm_create_request *request,
                                 D3DKMT_HANDLE *resource)
{
    struct creation c = {.device = device, .vidmm = device->process->vidmm, .request = request};
    NTSTATUS status = check_request(device, request);

    if (NT_SUCCESS(status))
        status = make_records(&c);
    if (NT_SUCCESS(status) && request->count)
        status = create_with_driver(&c);
    if (NT_SUCCESS(status)) {
        sim_mutex_lock(&c.vidmm->lock);
        publish(&c);
        sim_mutex_unlock(&c.vidmm->lock);
        if (resource)
            *resource = c.resource_open ? c.resource_open->handle : 0;
        util_free(c.resource_private);
    } else {
        creation_undo(&c);
    }
    creation_finish(&c);
    return status;
}

/* ---- internal allocations ---- */

NTSTATUS allocation_create_internal(struct vidmm *vidmm, const struct allocation_request *request,
                                    struct vidmm_allocation **out)
{
    struct vidmm_allocation *allocation = allocation_record_new(vidmm);

    if (!allocation)
        return STATUS_INSUFFICIENT_RESOURCES;
    allocation->internal = true;
    allocation->driver_handle = request->driver_handle;
    allocation->bytes = request->bytes;
    allocation->pages = align_up(request->bytes, PAGE_BYTES) >> PAGE_BITS;
    allocation->alignment = request->alignment > PAGE_BYTES ? request->alignment : PAGE_BYTES;
    allocation->segments.supported = request->supported_set;
    memcpy(allocation->segments.preferred, request->preferred,
           sizeof(allocation->segments.preferred));
    allocation->segments.preferred_down = request->preferred_down;
    allocation->segments.eviction = request->eviction_set;
    allocation->priority = request->priority;
    allocation->flags = request->flags;
    allocation->accessed_physically = request->flags.AccessedPhysically;
    allocation->cpu_visible = request->flags.CpuVisible;
    /* CTXA-036: the driver must not rely on zeroes */
    allocation->fill_pattern = ALLOCATION_PATTERN;
    for (UINT id = 1; id <= vidmm->segment_count; id++)
        if ((allocation->segments.supported & segment_bit(id)) &&
            vidmm->segment[id].page_bytes > PAGE_BYTES)
            allocation->pages = segment_pages(&vidmm->segment[id], allocation->pages);
    if (!allocation_fits_somewhere(allocation)) {
        allocation_free(allocation);
        return STATUS_NO_MEMORY;
    }
    list_push_back(&vidmm->allocations, &allocation->link);
    vidmm_tell_allocation(allocation, ALLOCATION_BEGINS);
    *out = allocation;
    return STATUS_SUCCESS;
}

static void internal_gone(struct vidmm *vidmm, struct paging_deferred *deferred)
{
    (void)vidmm;
    allocation_free(CONTAINER(deferred, struct vidmm_allocation, arrival.deferred));
}

void allocation_destroy_internal(struct vidmm_allocation *allocation)
{
    struct vidmm *vidmm = allocation->vidmm;

    allocation->destroyed = true;
    space_allocation_destroyed(vidmm, allocation);
    placement_drop(allocation);
    /* placement_drop has taken arrival.deferred off its list, so it can be used again. */
    allocation->arrival.deferred.fn = internal_gone;
    paging_defer(vidmm, &allocation->arrival.deferred);
}

/* ---- by handle ---- */

struct vidmm_open *vidmm_open_find_queued(struct vidmm_device *device, D3DKMT_HANDLE handle)
{
    return open_find_queued(device, handle);
}
