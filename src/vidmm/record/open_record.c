/* SPDX-License-Identifier: MIT */
#include "vidmm/record/open_record.h"
#include "ddi/client_handle.h"
#include "nt/base/kprocess.h"
#include "util/alloc.h"
#include "util/handle.h"
#include "util/list.h"
#include "verify/refusal.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/device_record.h"
#include "vidmm/record/follow_record.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/renaming_record.h"
#include "vidmm/record/vidmm_record.h"

struct vidmm_open *open_record_new(struct vidmm_device *device, struct vidmm_allocation *allocation)
{
    struct vidmm_open *open = util_zalloc(1, sizeof(*open));

    if (!open)
        return NULL;
    open->device = device;
    open->allocation = allocation;
    open->serial = ++allocation->vidmm->serials.opens;
    list_init(&open->link);
    list_init(&open->device_link);
    list_init(&open->resource_link);
    list_init(&open->residency_link);
    list_init(&open->missing_link);
    list_init(&open->dying_link);
    list_init(&open->instance_link);
    follow_init(&open->use);
    follow_init(&open->offer_after);
    return open;
}

struct vidmm_open *open_find(struct vidmm_device *device, D3DKMT_HANDLE handle)
{
    struct vidmm_open *open = handle_lookup(device->process->handles, handle,
                                            DDI_CLIENT_ALLOCATION);

    if (open && open->device == device && !list_empty(&open->device_link))
        return open;
    (void)refuse(STATUS_INVALID_PARAMETER, "KMT-026", "handle 0x%x is no allocation of this device",
                 handle);
    return NULL;
}

struct vidmm_open *open_find_queued(struct vidmm_device *device, D3DKMT_HANDLE handle)
{
    struct vidmm_open *open = open_find(device, handle);

    if (open)
        return open;
    LIST_FOR(node, &device->dying) {
        open = CONTAINER(node, struct vidmm_open, dying_link);
        if (open->handle == handle)
            return open;
    }
    return NULL;
}

void open_record_free(struct vidmm_open *open)
{
    if (open)
        open->device->owned_pages -= open->owned_pages;
    if (open && open->renaming && --open->renaming->count == 0)
        util_free(open->renaming);
    if (open && open->handle)
        handle_remove(open->device->process->handles, open->handle, DDI_CLIENT_ALLOCATION);
    util_free(open);
}
