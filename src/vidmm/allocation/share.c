/* SPDX-License-Identifier: MIT */
/*
 * Shared resources: opening them on other devices, of the same or another process, and references
 * that keep them alive without an open. The allocations belong to the adapter; the driver destroys
 * them when the last open and the last reference are gone.
 */
#include <string.h>

#include "ddi/client_handle.h"
#include "ddi/ddi.h"
#include "nt/base/kprocess.h"
#include "sim/machine.h"
#include "sim/mutex.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/handle.h"
#include "util/list.h"
#include "verify/refusal.h"
#include "verify/verify.h"
#include "vidmm/allocation/allocation.h"
#include "vidmm/allocation/destroy.h"
#include "vidmm/allocation/offer.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/device_record.h"
#include "vidmm/record/dxgkrnl_objects.h"
#include "vidmm/record/open_record.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/resource_record.h"
#include "vidmm/record/vidmm_record.h"

struct vidmm_resource *vidmm_resource_get(struct vidmm_device *device, D3DKMT_HANDLE handle)
{
    struct vidmm_resource_open *open = handle_lookup(device->process->handles, handle,
                                                     DDI_CLIENT_RESOURCE);

    if (!open || open->device != device || list_empty(&open->device_link) || !open->resource->shared)
        return NULL;
    open->resource->references++;
    return open->resource;
}

void vidmm_resource_reference(struct vidmm_resource *resource)
{
    resource->references++;
}

void vidmm_resource_put(struct vidmm_resource *resource)
{
    if (--resource->references == 0 && list_empty(&resource->opens) && !sim_current->stopped)
        allocation_destroy_unopened(resource);
}

void vidmm_resource_on_end(struct vidmm_resource *resource, void (*end)(void *context),
                           void *context)
{
    resource->end = end;
    resource->end_context = context;
}

void *vidmm_resource_context(const struct nt_process *process, D3DKMT_HANDLE handle)
{
    const struct vidmm_resource_open *open = handle_lookup(&process->handles, handle,
                                                           DDI_CLIENT_RESOURCE);

    if (!open || list_empty(&open->device_link) || !open->resource->shared)
        return NULL;
    return open->resource->end_context;
}

bool vidmm_resource_held(const struct vidmm_resource *resource)
{
    LIST_FOR(node, &resource->opens)
        if (!list_empty(&CONTAINER(node, struct vidmm_resource_open, link)->device_link))
            return true;
    return resource->references != 0;
}

void vidmm_resource_query(const struct vidmm_resource *resource, struct vidmm_resource_info *info)
{
    *info = (struct vidmm_resource_info){.resource_private_bytes = resource->private_bytes,
                                         .resource_private = resource->private_data,
                                         .read_only = resource->read_only};
    LIST_FOR(node, &resource->allocations) {
        info->allocations++;
        info->private_bytes += align_up(
            CONTAINER(node, struct vidmm_allocation, resource_link)->client_data.size, 8);
    }
}

/* ---- opening ---- */

struct opening {
    struct vidmm_device *device;
    struct vidmm_resource *resource;
    struct vidmm_resource_open *resource_open;
    UINT count;
    struct vidmm_open **open;
    DXGK_OPENALLOCATIONINFO *info;
    void **data; /* copies of private data for the driver */
    void *resource_private;
    bool read_only;
};

static void *copy_of(const void *data, UINT bytes)
{
    void *copy = bytes ? util_alloc(bytes) : NULL;

    if (copy)
        memcpy(copy, data, bytes);
    return copy;
}

static void opening_finish(struct opening *o)
{
    for (UINT i = 0; o->data && i < o->count; i++)
        util_free(o->data[i]);
    util_free(o->data);
    util_free(o->info);
    util_free(o->open);
    util_free(o->resource_private);
}

static void opening_undo(struct opening *o)
{
    for (UINT i = 0; o->open && i < o->count; i++)
        open_record_free(o->open[i]);
    if (o->resource_open && o->resource_open->handle)
        handle_remove(o->device->process->handles, o->resource_open->handle, DDI_CLIENT_RESOURCE);
    util_free(o->resource_open);
}

static NTSTATUS make_open(struct opening *o, UINT i, struct vidmm_allocation *allocation)
{
    struct vidmm_open *open = open_record_new(o->device, allocation);

    o->open[i] = open;
    if (!open)
        return STATUS_NO_MEMORY;
    open->resource_open = o->resource_open;
    open->read_only = o->read_only || allocation->read_only;
    open->handle = handle_create(o->device->process->handles, DDI_CLIENT_ALLOCATION, open);
    o->data[i] = copy_of(allocation->client_data.at, allocation->client_data.size);
    o->info[i] = (DXGK_OPENALLOCATIONINFO){
        .hAllocation = open->handle,
        .pPrivateDriverData = o->data[i],
        .PrivateDriverDataSize = allocation->client_data.size,
    };
    if (!open->handle || (allocation->client_data.size && !o->data[i]))
        return STATUS_NO_MEMORY;
    return STATUS_SUCCESS;
}

static NTSTATUS make_opens(struct opening *o)
{
    NTSTATUS status = STATUS_SUCCESS;
    UINT i = 0;

    o->resource_open = util_zalloc(1, sizeof(*o->resource_open));
    o->open = util_zalloc(o->count ? o->count : 1, sizeof(*o->open));
    o->info = util_zalloc(o->count ? o->count : 1, sizeof(*o->info));
    o->data = util_zalloc(o->count ? o->count : 1, sizeof(*o->data));
    o->resource_private = copy_of(o->resource->private_data, o->resource->private_bytes);
    if (!o->resource_open || !o->open || !o->info || !o->data ||
        (o->resource->private_bytes && !o->resource_private))
        return STATUS_NO_MEMORY;
    o->resource_open->resource = o->resource;
    o->resource_open->device = o->device;
    list_init(&o->resource_open->opens);
    list_init(&o->resource_open->link);
    list_init(&o->resource_open->device_link);
    o->resource_open->handle = handle_create(o->device->process->handles, DDI_CLIENT_RESOURCE,
                                             o->resource_open);
    if (!o->resource_open->handle)
        return STATUS_NO_MEMORY;
    LIST_FOR(node, &o->resource->allocations) {
        status = make_open(o, i++, CONTAINER(node, struct vidmm_allocation, resource_link));
        if (!NT_SUCCESS(status))
            break;
    }
    return status;
}

/* ALLOC-077: without Create, the driver must not change private data. */
static void check_private_data(const struct opening *o)
{
    for (UINT i = 0; i < o->count; i++) {
        const struct vidmm_allocation *allocation = o->open[i]->allocation;

        if (allocation->client_data.size &&
            memcmp(o->data[i], allocation->client_data.at, allocation->client_data.size) != 0)
            VIOLATION("ALLOC-077",
                      "private data of element %u was changed in an open without Create", i);
    }
}

static void driver_close(struct opening *o)
{
    struct vidmm *vidmm = o->device->process->vidmm;

    for (UINT i = 0; i < o->count; i++) {
        const DXGKARG_CLOSEALLOCATION args = {
            .NumAllocations = 1, .pOpenHandleList = &o->info[i].hDeviceSpecificAllocation};

        if (o->info[i].hDeviceSpecificAllocation &&
            ddi_driver_failed(vidmm->ddi,
                              ddi_close_allocation(vidmm->ddi, o->device->driver_handle, &args)))
            VIOLATION("ALLOC-084", "DxgkDdiCloseAllocation failed");
    }
}

static NTSTATUS driver_open(struct opening *o)
{
    DXGKARG_OPENALLOCATION args = {.NumAllocations = o->count,
                                   .pOpenAllocation = o->info,
                                   .pPrivateDriverData = o->resource_private,
                                   .PrivateDriverSize = o->resource->private_bytes};
    NTSTATUS status;

    args.Flags.ReadOnly = o->read_only || o->resource->read_only; /* ALLOC-078 */
    if (o->count == 0)
        return STATUS_SUCCESS;
    status = ddi_open_allocation(o->device->process->vidmm->ddi, o->device->driver_handle, &args);
    if (!NT_SUCCESS(status))
        return status;
    check_private_data(o);
    for (UINT i = 0; i < o->count; i++) {
        o->open[i]->driver_handle = o->info[i].hDeviceSpecificAllocation;
        if (o->open[i]->driver_handle)
            continue;
        verify_refusal("ALLOC-075", "hDeviceSpecificAllocation of element %u is NULL", i);
        driver_close(o);
        return STATUS_INVALID_PARAMETER;
    }
    return STATUS_SUCCESS;
}

static void publish(struct opening *o, struct vidmm_open_item *item)
{
    list_push_back(&o->resource->opens, &o->resource_open->link);
    list_push_back(&o->device->resource_opens, &o->resource_open->device_link);
    for (UINT i = 0; i < o->count; i++) {
        struct vidmm_open *open = o->open[i];

        list_push_back(&open->allocation->opens, &open->link);
        list_push_back(&o->device->opens, &open->device_link);
        list_push_back(&o->resource_open->opens, &open->resource_link);
        vidmm_tell_open(open, ALLOCATION_BEGINS);
        offer_opens_changed(open->allocation);
        item[i] = (struct vidmm_open_item){.allocation = open->handle,
                                           .private_data = open->allocation->client_data.at,
                                           .private_bytes = open->allocation->client_data.size};
    }
}

NTSTATUS vidmm_resource_open(struct vidmm_device *device, struct vidmm_resource *resource,
                             bool read_only, struct vidmm_open_item *item, UINT count,
                             D3DKMT_HANDLE *handle)
{
    struct vidmm *vidmm = device->process->vidmm;
    struct opening o = {
        .device = device, .resource = resource, .count = count, .read_only = read_only};
    struct vidmm_resource_info info;
    NTSTATUS status;

    vidmm_resource_query(resource, &info);
    if (info.allocations != count || resource->vidmm != vidmm)
        return refuse(STATUS_INVALID_PARAMETER, "ALLOC-081",
                      "%u elements for a resource of %u allocations%s", count, info.allocations,
                      resource->vidmm != vidmm ? ", of another adapter" : "");
    if (device->lost || vidmm->lost)
        return refuse(STATUS_DEVICE_REMOVED, NULL, "the device or the adapter is lost");
    status = make_opens(&o);
    if (NT_SUCCESS(status))
        status = driver_open(&o);
    if (NT_SUCCESS(status)) {
        sim_mutex_lock(&vidmm->lock);
        publish(&o, item);
        sim_mutex_unlock(&vidmm->lock);
        *handle = o.resource_open->handle;
    } else {
        opening_undo(&o);
    }
    opening_finish(&o);
    return status;
}
