/* SPDX-License-Identifier: MIT */
#include "screens/primary.h"
#include "modes/mode_check.h"
#include "util/alloc.h"
#include "verify/verify.h"
#include "vidmm/allocation/allocation.h"
#include "vidmm/allocation/destroy.h"
#include "vidmm/allocation/standard.h"

static const D3DDDICB_DESTROYALLOCATION2FLAGS at_once = {.AssumeNotInUse = 1,
                                                         .SynchronousDestroy = 1};

/* PRES-063, PRES-064: a resource of one allocation, with the private data that the driver made. */
static NTSTATUS create(struct primary *primary, const struct vidmm_standard_data *data)
{
    D3DDDI_ALLOCATIONINFO2 info = {.VidPnSourceId = primary->surface.VidPnSourceId,
                                   .Flags.Primary = 1};
    struct vidmm_create_item item = {
        .private_data = data->allocation, .private_bytes = data->allocation_bytes, .info = &info};
    struct vidmm_create_request request = {.flags = {.CreateResource = 1, .CreateShared = 1},
                                           .resource_private = data->resource,
                                           .resource_private_bytes = data->resource_bytes,
                                           .count = 1,
                                           .item = &item};
    NTSTATUS status = vidmm_allocation_create(primary->device, &request, &primary->resource);

    if (NT_SUCCESS(status))
        primary->allocation = vidmm_scanout_get(primary->device, info.hAllocation);
    return status;
}

/* ---- on devices of clients ---- */

struct primary_open {
    struct list link;
    struct vidmm_device *device;
    D3DKMT_HANDLE resource, allocation;
};

NTSTATUS primary_open(struct primary *primary, struct vidmm_device *device, D3DKMT_HANDLE *handle)
{
    struct vidmm_resource *resource;
    struct vidmm_open_item item;
    struct primary_open *open;
    NTSTATUS status;

    LIST_FOR(node, &primary->opens) {
        open = CONTAINER(node, struct primary_open, link);
        *handle = open->allocation;
        if (open->device == device)
            return STATUS_SUCCESS;
    }
    resource = vidmm_resource_get(primary->device, primary->resource);
    open = util_zalloc(1, sizeof(*open));
    status = resource && open
                 ? vidmm_resource_open(device, resource, false, &item, 1, &open->resource)
                 : STATUS_NO_MEMORY;
    if (resource)
        vidmm_resource_put(resource);
    if (!NT_SUCCESS(status)) {
        util_free(open);
        return status;
    }
    open->device = device;
    *handle = open->allocation = item.allocation;
    list_push_back(&primary->opens, &open->link);
    return status;
}

void primary_forget(struct primary *primary, const struct vidmm_device *device)
{
    LIST_FOR_SAFE(node, following, &primary->opens) {
        struct primary_open *open = CONTAINER(node, struct primary_open, link);

        if (open->device != device)
            continue;
        list_remove(node);
        util_free(open);
    }
}

static void close_all(struct primary *primary)
{
    const D3DDDICB_DESTROYALLOCATION2FLAGS later = {0};
    struct list *node;

    while ((node = list_pop_front(&primary->opens)) != NULL) {
        struct primary_open *open = CONTAINER(node, struct primary_open, link);

        (void)vidmm_allocation_destroy(open->device, open->resource, NULL, 0, later);
        util_free(open);
    }
}

/* ---- life ---- */

/* PRES-080 */
static void check_size(const struct primary *primary)
{
    const D3DKMDT_SHAREDPRIMARYSURFACEDATA *s = &primary->surface;
    const uint64_t least = (uint64_t)s->Width * s->Height * mode_pixel_bytes(s->Format);

    if (vidmm_scanout_bytes(primary->allocation) < least)
        VIOLATION("PRES-080", "the shared primary of source %u, %u x %u, has %llu bytes, not %llu",
                  s->VidPnSourceId, s->Width, s->Height,
                  (unsigned long long)vidmm_scanout_bytes(primary->allocation),
                  (unsigned long long)least);
}

NTSTATUS primary_create(struct vidmm_device *device,
                        const D3DKMDT_SHAREDPRIMARYSURFACEDATA *surface, struct primary **primary)
{
    struct primary *made = util_zalloc(1, sizeof(*made));
    struct vidmm_standard_data data;
    NTSTATUS status;

    *primary = NULL;
    if (!made)
        return STATUS_NO_MEMORY;
    list_init(&made->opens);
    made->device = device;
    made->surface = *surface;
    status = vidmm_standard_primary(device, surface, &data);
    if (NT_SUCCESS(status)) {
        status = create(made, &data);
        vidmm_standard_finish(&data);
    }
    if (NT_SUCCESS(status)) {
        check_size(made);
        status = vidmm_scanout_pin(made->allocation, &made->where);
    }
    if (NT_SUCCESS(status)) {
        *primary = made;
        return status;
    }
    if (made->allocation) {
        vidmm_scanout_release(made->allocation);
        (void)vidmm_allocation_destroy(device, made->resource, NULL, 0, at_once);
    }
    util_free(made);
    return status;
}

void primary_destroy(struct primary *primary)
{
    if (!primary)
        return;
    close_all(primary);
    vidmm_scanout_unpin(primary->allocation);
    vidmm_scanout_release(primary->allocation);
    (void)vidmm_allocation_destroy(primary->device, primary->resource, NULL, 0, at_once);
    util_free(primary);
}

NTSTATUS primary_return(struct primary *primary)
{
    return vidmm_scanout_place(primary->allocation, &primary->where);
}
