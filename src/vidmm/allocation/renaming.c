/* SPDX-License-Identifier: MIT */
/*
 * Each instance is an allocation of its own, with one open on the device, that has the original's
 * driver handles and parameters. Whenever a lock gives one out, it gets the next number. An
 * instance is retired when a submission has used one with a higher number: nothing that the client
 * submits later may name it, so it can be reused as soon as the GPU is done. Before that, the
 * client may have it in a command buffer of which the host knows nothing.
 */
#include "vidmm/allocation/renaming.h"
#include "ddi/client_handle.h"
#include "nt/base/kprocess.h"
#include "sim/machine.h"
#include "sim/mutex.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/handle.h"
#include "util/list.h"
#include "verify/refusal.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/device_record.h"
#include "vidmm/record/dxgkrnl_objects.h"
#include "vidmm/record/open_record.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/renaming_record.h"
#include "vidmm/record/resource_record.h"
#include "vidmm/record/segment_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/residency/lock_wait.h"

static struct vidmm_open *instance_of(struct list *node)
{
    return CONTAINER(node, struct vidmm_open, instance_link);
}

bool vidmm_open_renames(const struct vidmm_open *open)
{
    const struct vidmm_allocation *allocation = open->allocation;

    return !(allocation->resource && allocation->resource->shared) && !allocation->borrowed &&
           !allocation->flags.Capture;
}

bool vidmm_open_retired(const struct vidmm_open *open)
{
    return open->renaming && open->instance < open->renaming->used;
}

NTSTATUS vidmm_instance_check(const struct vidmm_open *open)
{
    if (vidmm_open_retired(open))
        return refuse(STATUS_INVALID_PARAMETER, "ALLOC-119",
                      "handle 0x%x is of a retired instance: a newer one is in use", open->handle);
    if (open->renaming && open->instance != open->renaming->newest &&
        !open->allocation->vidmm->config.caps.OutOfOrderLock)
        return refuse(STATUS_INVALID_PARAMETER, "CAPS-057", /* SEG-077 */
                      "handle 0x%x is not of the newest instance of its allocation, and the driver "
                      "has not set OutOfOrderLock",
                      open->handle);
    return STATUS_SUCCESS;
}

/* ---- a new instance ---- */

static NTSTATUS renaming_begin(struct vidmm_open *open)
{
    struct vidmm_renaming *renaming;

    if (open->renaming)
        return STATUS_SUCCESS;
    renaming = util_zalloc(1, sizeof(*renaming));
    if (!renaming)
        return STATUS_NO_MEMORY;
    list_init(&renaming->instances);
    list_push_back(&renaming->instances, &open->instance_link);
    renaming->count = 1;
    renaming->newest = open->instance = 1;
    open->renaming = renaming;
    open->device->renames = true;
    return STATUS_SUCCESS;
}

static bool may_grow(const struct vidmm_open *open)
{
    const struct vidmm_allocation *allocation = open->allocation;
    const struct vidmm_device *device = open->device;
    const struct vidmm *vidmm = allocation->vidmm;
    uint64_t all = 0;

    if (allocation->instance.limit &&
        open->renaming->count >= allocation->instance.limit) /* ALLOC-043 */
        return false;
    for (UINT id = 1; id <= vidmm->segment_count; id++) {
        const struct vidmm_segment *segment = &vidmm->segment[id];

        all += (segment_is_aperture(segment) ? segment->commit_limit
                                             : segment->bytes - segment->bad_bytes) >>
               PAGE_BITS;
    }
    return !device->legacy || device->owned_pages + allocation->pages <= all; /* ALLOC-143 */
}

static void copy_parameters(struct vidmm_allocation *to, const struct vidmm_allocation *from)
{
    to->instance.further = true;
    to->driver_handle = from->driver_handle;
    to->resource = from->resource;
    to->bytes = from->bytes;
    to->pages = from->pages;
    to->pitch_pages = from->pitch_pages;
    to->alignment = from->alignment;
    to->segments = from->segments;
    to->segments.restricted = 0;
    to->flags = from->flags;
    to->priority = from->priority;
    to->fill_pattern = from->fill_pattern;
    to->accessed_physically = from->accessed_physically;
    to->cpu_visible = from->cpu_visible;
    to->creator = from->creator;
    to->read_only = from->read_only;
    to->instance.limit = from->instance.limit;
    to->arrival.alone = from->arrival.alone;
    to->view.order.swizzles = from->view.order.swizzles;
}

/* NULL: out of memory. */
static struct vidmm_open *instance_new(const struct vidmm_open *like)
{
    struct vidmm_device *device = like->device;
    struct vidmm *vidmm = like->allocation->vidmm;
    struct vidmm_allocation *allocation = allocation_record_new(vidmm);
    struct vidmm_open *open = allocation ? open_record_new(device, allocation) : NULL;

    if (open)
        open->handle = handle_create(device->process->handles, DDI_CLIENT_ALLOCATION, open);
    if (!open || !open->handle) {
        open_record_free(open);
        if (allocation)
            allocation_record_end(allocation);
        return NULL;
    }
    copy_parameters(allocation, like->allocation);
    open->driver_handle = like->driver_handle;
    open->resource_open = like->resource_open;
    open->read_only = like->read_only;
    open->owned_pages = allocation->pages;
    device->owned_pages += open->owned_pages;
    open->renaming = like->renaming;
    open->renaming->count++;
    list_push_back(&open->renaming->instances, &open->instance_link);
    allocation->number.of_client = ++vidmm->statistics.allocations_created;
    vidmm->statistics.allocations_live++;
    list_push_back(&vidmm->allocations, &allocation->link);
    list_push_back(&allocation->opens, &open->link);
    list_push_back(&device->opens, &open->device_link);
    vidmm_tell_allocation(allocation, ALLOCATION_BEGINS);
    vidmm_tell_open(open, ALLOCATION_BEGINS);
    return open;
}

/* ---- which one ---- */

/* Neither locked nor offered, and nothing that the client submits from now on may expect its
 * content. */
static bool is_free(const struct vidmm_open *open, bool unreferenced)
{
    return (unreferenced || open->instance < open->renaming->used) &&
           open->allocation->view.lock_count == 0 && open->allocation->offer.count == 0;
}

/* The one that was given out first, of those that are busy or idle. NULL: there is none. */
static struct vidmm_open *oldest(const struct vidmm_renaming *renaming, bool unreferenced, bool busy)
{
    struct vidmm_open *found = NULL;

    LIST_FOR(node, &renaming->instances) {
        struct vidmm_open *open = instance_of(node);

        if (is_free(open, unreferenced) && lock_wait_is_busy(open->allocation) == busy &&
            (!found || open->instance < found->instance))
            found = open;
    }
    return found;
}

/* STATUS_RETRY: wait for *next, then look again. */
static NTSTATUS choose(struct vidmm_open *open, bool unreferenced, struct vidmm_open **next)
{
    NTSTATUS status = renaming_begin(open);

    if (!NT_SUCCESS(status))
        return status;
    *next = oldest(open->renaming, unreferenced, false);
    if (!*next && may_grow(open))
        *next = instance_new(open);
    if (*next)
        return STATUS_SUCCESS;
    *next = oldest(open->renaming, unreferenced, true);
    if (*next)
        return STATUS_RETRY;
    return refuse(STATUS_GRAPHICS_ALLOCATION_BUSY, "ALLOC-121",
                  "no further instance of allocation 0x%x beside its %u, and %s: submit, then lock "
                  "with NoExistingReference",
                  open->handle, open->renaming->count,
                  unreferenced ? "these are locked" : "the client may still refer to these");
}

NTSTATUS vidmm_rename(struct vidmm_device *device, D3DKMT_HANDLE *handle, bool unreferenced)
{
    struct vidmm *vidmm = device->process->vidmm;
    struct vidmm_open *next = NULL;
    NTSTATUS status;

    sim_mutex_lock(&vidmm->lock);
    for (;;) {
        struct vidmm_open *open = open_find(device, *handle);
        D3DKMT_HANDLE busy;

        status = open ? vidmm_instance_check(open) : STATUS_INVALID_PARAMETER;
        if (NT_SUCCESS(status) && (device->lost || vidmm->lost || sim_current->stopped))
            status = refuse(STATUS_DEVICE_REMOVED, NULL, "the device or the adapter is lost");
        if (NT_SUCCESS(status))
            status = choose(open, unreferenced, &next);
        if (status != STATUS_RETRY)
            break;
        busy = next->handle;
        sim_mutex_unlock(&vidmm->lock);
        (void)vidmm_lock_wait(device, busy, false, false);
        sim_mutex_lock(&vidmm->lock);
    }
    if (NT_SUCCESS(status)) {
        next->instance = ++next->renaming->newest;
        *handle = next->handle;
    }
    sim_mutex_unlock(&vidmm->lock);
    return status;
}

void vidmm_rename_undo(struct vidmm_device *device, D3DKMT_HANDLE instance)
{
    struct vidmm *vidmm = device->process->vidmm;
    struct vidmm_open *open;

    sim_mutex_lock(&vidmm->lock);
    open = open_find(device, instance);
    if (open && open->renaming) {
        open->instance = 0; /* free for the next lock that may reuse one */
        open->renaming->newest = 0;
        LIST_FOR(node, &open->renaming->instances)
            if (instance_of(node)->instance > open->renaming->newest)
                open->renaming->newest = instance_of(node)->instance;
    }
    sim_mutex_unlock(&vidmm->lock);
}

/* ---- submissions ---- */

bool vidmm_device_renames(const struct vidmm_device *device)
{
    return device->renames;
}

void vidmm_instance_begin(const struct vidmm_open *open)
{
    if (open->renaming)
        open->renaming->walk = open->renaming->used;
}

bool vidmm_instance_use(const struct vidmm_open *open)
{
    if (!open->renaming)
        return true;
    if (open->instance < open->renaming->walk)
        return false;
    open->renaming->walk = open->instance;
    return true;
}

void vidmm_instance_keep(const struct vidmm_open *open)
{
    if (open->renaming && open->instance > open->renaming->used)
        open->renaming->used = open->instance;
}
