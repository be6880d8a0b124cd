/* SPDX-License-Identifier: MIT */
/*
 * Context allocations (CTXA rules): memory that a driver requests for one context, or for all
 * contexts of a device.
 *
 *   created      record and allocation exist (placed like any other, but on no residency list)
 *   committed    resident, pinned, and INIT_CONTEXT_RESOURCE was built: before the first packet of
 *                a context that uses it. From then on it is not moved: it is resident whenever its
 *                context may run (CTXA-030, CTXA-031)
 *   destroyed    The handle is invalid at once. The addresses are freed when the GPU work queued so
 *                far is done, immediately if it is done already (CTXA-064). The memory is freed
 *                after the entries that pointed to it are invalidated
 *
 * What a driver has not destroyed when DxgkDdiDestroyContext (DxgkDdiDestroyDevice) returns is a
 * leak: it is reported, then freed.
 */
#include "vidmm/context/context_allocation.h"
#include "ddi/ddi.h"
#include "ddi/handle.h"
#include "nt/base/current.h"
#include "ram/ram.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/hash.h"
#include "util/list.h"
#include "verify/verify.h"
#include "vidmm/allocation/internal_allocation.h"
#include "vidmm/paging/driver_run.h"
#include "vidmm/paging/follow.h"
#include "vidmm/paging/paging_worker.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/device_record.h"
#include "vidmm/record/follow_record.h"
#include "vidmm/record/paging_record.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/segment_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/space/address_space.h"
#include "vidmm/space/gpu_mmu.h"
#include "vidmm/space/va_range.h"

#include "sim/machine.h"
#include "sim/mutex.h"
#include "vidmm/record/of_adapter.h"

#define CONTEXT_PATTERN 0xCACACACAu /* CTXA-036: the driver must not rely on zeroes */

/* ---- owners ---- */

struct vidmm_device *context_allocation_device(struct vidmm *vidmm, HANDLE handle)
{
    void *owner = ddi_handle_lookup(&vidmm->ddi->handles, handle, DDI_HANDLE_DEVICE);

    LIST_FOR(node, &vidmm->devices) {
        struct vidmm_device *device = CONTAINER(node, struct vidmm_device, link);

        if (owner && (device->owner == owner || device == owner))
            return device;
    }
    return NULL;
}

static struct vidmm_process *current_process(struct vidmm *vidmm)
{
    struct nt_process *nt = nt_process_current();

    LIST_FOR(node, &vidmm->processes) {
        struct vidmm_process *process = CONTAINER(node, struct vidmm_process, link);

        if (process->nt == nt)
            return process;
    }
    return NULL;
}

static bool context_closed(const struct vidmm *vidmm, const struct vidmm_context *context)
{
    return hash_get(&vidmm->contexts.closing, (uint64_t)(uintptr_t)context) != NULL;
}

/* CTXA-006, CTXA-010 to CTXA-012. */
static NTSTATUS own_by_context(struct vidmm *vidmm, const DXGKARGCB_CREATECONTEXTALLOCATION *args,
                               const struct vidmm_device *device, struct context_allocation *item)
{
    const struct ddi_handles *handles = &vidmm->ddi->handles;
    struct vidmm_context *context = ddi_handle_lookup(handles, args->hContext, DDI_HANDLE_CONTEXT);

    if (!context) {
        VIOLATION("CTXA-010", "hContext is %s, not that of a context, without SharedAcrossContexts",
                  ddi_handle_describe(handles, args->hContext).text);
        return STATUS_INVALID_PARAMETER;
    }
    if (context->system) {
        VIOLATION("CTXA-011", "hContext is the handle of a system context");
        return STATUS_INVALID_PARAMETER;
    }
    if (context->device != device) {
        VIOLATION("CTXA-010", "hContext is the handle of a context of another device than hDevice");
        return STATUS_INVALID_PARAMETER;
    }
    if (context_closed(vidmm, context)) {
        VIOLATION("CTXA-012", "DxgkDdiDestroyContext of the context has begun");
        return STATUS_INVALID_DEVICE_REQUEST;
    }
    item->context = context;
    item->process = device->process;
    return STATUS_SUCCESS;
}

static NTSTATUS own_by_device(struct vidmm *vidmm, const DXGKARGCB_CREATECONTEXTALLOCATION *args,
                              const struct vidmm_device *device, struct context_allocation *item)
{
    if (args->hContext) {
        VIOLATION("CTXA-008", "hContext is %s, and must be NULL with SharedAcrossContexts",
                  ddi_handle_describe(&vidmm->ddi->handles, args->hContext).text);
        return STATUS_INVALID_PARAMETER;
    }
    if (!device && !ddi_inside(DDI_DxgkDdiCreateDevice)) {
        VIOLATION("CTXA-012", "DxgkDdiDestroyDevice of the device has begun");
        return STATUS_INVALID_DEVICE_REQUEST;
    }
    /* Inside DxgkDdiCreateDevice vidmm does not know the device yet; its process
     * is the current one. */
    item->process = device ? device->process : current_process(vidmm);
    if (!item->process || item->process == vidmm->paging_process) {
        VIOLATION("CTXA-011", "hDevice is the handle of the system's device");
        return STATUS_INVALID_PARAMETER;
    }
    return STATUS_SUCCESS;
}

/* Find the context or device that will own it (CTXA-006 to CTXA-012). */
static NTSTATUS find_owner(struct vidmm *vidmm, const DXGKARGCB_CREATECONTEXTALLOCATION *args,
                           struct context_allocation *item)
{
    const struct vidmm_device *device = context_allocation_device(vidmm, args->hDevice);

    item->device = args->hDevice;
    if (!ddi_handle_lookup(&vidmm->ddi->handles, args->hDevice, DDI_HANDLE_DEVICE)) {
        VIOLATION("CTXA-010", "hDevice is %s, not that of a device of the adapter",
                  ddi_handle_describe(&vidmm->ddi->handles, args->hDevice).text);
        return STATUS_INVALID_PARAMETER;
    }
    return args->ContextAllocationFlags.SharedAcrossContexts
               ? own_by_device(vidmm, args, device, item)
               : own_by_context(vidmm, args, device, item);
}

bool context_allocation_belongs(const struct context_allocation *item,
                                const struct vidmm_context *context)
{
    if (item->context)
        return item->context == context;
    return context_allocation_device(item->vidmm, item->device) == context->device;
}

/* ---- callbacks that must not be made here ---- */

bool context_allocation_inside_paging(const char *rule)
{
    static const enum ddi_entry needed[] = {
        DDI_DxgkDdiBuildPagingBuffer, DDI_DxgkDdiPatch, DDI_DxgkDdiSubmitCommand,
        DDI_DxgkDdiSubmitCommandVirtual, DDI_DxgkDdiPreemptCommand};

    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
        if (ddi_inside(needed[i])) {
            VIOLATION(rule, "context allocation callback inside %s",
                      ddi_entry_info(needed[i])->name);
            return true;
        }
    }
    return false;
}

bool context_allocation_blocked(const struct vidmm *vidmm)
{
    return !paging_may_build(vidmm) && (ddi_is_alone(vidmm->ddi) || vidmm->ddi->asleep);
}

void context_allocation_tell_blocked(const char *rule, const struct vidmm *vidmm)
{
    const struct ddi_frame *ddi = ddi_current_ddi();

    if (ddi_is_alone(vidmm->ddi))
        VIOLATION(rule,
                  "the paging it needs cannot run while %s has the driver for itself and holds the "
                  "scheduler",
                  ddi ? ddi->name : "this thread");
    else
        VIOLATION(rule, "the paging it needs cannot run while the adapter is not in D0");
}

/* ---- by handle ---- */

struct context_allocation *context_allocation_find(struct ddi_adapter *adapter, HANDLE handle)
{
    return ddi_handle_lookup(&adapter->handles, handle, DDI_HANDLE_CONTEXT_ALLOCATION);
}

struct context_allocation *context_allocation_use(struct ddi_adapter *adapter, HANDLE handle)
{
    struct context_allocation *item = context_allocation_find(adapter, handle);

    if (item)
        item->users++;
    return item;
}

/* ---- creation ---- */

static NTSTATUS make_allocation(struct vidmm *vidmm, const DXGKARGCB_CREATECONTEXTALLOCATION *args,
                                struct context_allocation *item)
{
    struct allocation_request request = {.driver_handle = args->hDriverAllocation,
                                         .bytes = args->Size,
                                         .alignment = args->Alignment ? args->Alignment : PAGE_BYTES,
                                         .supported_set = args->SupportedSegmentSet,
                                         .eviction_set = args->EvictionSegmentSet};
    bool aperture_only = true;
    NTSTATUS status;

    request.flags.Value = args->Flags.Value;
    if (vidmm->config.wddm_version < DXGKDDI_INTERFACE_VERSION_WDDM2_0)
        request.flags.Value &= 0x4F; /* the bits that mean the same in both layouts (CTXA-023) */
    for (unsigned i = 0; i < 5; i++) {
        request.preferred[i] = context_allocation_preferred(args, i);
        request.preferred_down |= (args->PreferredSegment.Value >> (6 * i + 5) & 1)
                                  << i; /* ALLOC-037 */
    }
    for (UINT id = 1; id <= vidmm->segment_count; id++)
        if ((args->SupportedSegmentSet >> (id - 1) & 1) && !segment_is_aperture(&vidmm->segment[id]))
            aperture_only = false;
    item->cpu_view = aperture_only && args->Flags.CpuVisible && args->Flags.Protected;
    item->map_for_init = vidmm->config.gpu_mmu && args->ContextAllocationFlags.MapGpuVirtualAddress;
    item->size = args->Size;
    status = allocation_create_internal(vidmm, &request, &item->allocation);
    if (NT_SUCCESS(status))
        item->allocation->fill_pattern = CONTEXT_PATTERN;
    return status;
}

static void tell_no_memory(const DXGKARGCB_CREATECONTEXTALLOCATION *args, NTSTATUS status)
{
    NOTE("CTXA-028",
         status == STATUS_NO_MEMORY
             ? "a context allocation of %llu bytes fits into none of the segments 0x%x"
             : "no memory for the records of a context allocation of %llu bytes (segments 0x%x)",
         (unsigned long long)args->Size, args->SupportedSegmentSet);
}

/* Lock held. */
static NTSTATUS create(struct vidmm *vidmm, DXGKARGCB_CREATECONTEXTALLOCATION *args,
                       struct context_allocation *item)
{
    NTSTATUS status = find_owner(vidmm, args, item);

    if (!NT_SUCCESS(status))
        return status;
    status = make_allocation(vidmm, args, item);
    if (NT_SUCCESS(status)) {
        item->handle = ddi_handle_create(&vidmm->ddi->handles, DDI_HANDLE_CONTEXT_ALLOCATION, item);
        status = item->handle ? STATUS_SUCCESS : STATUS_INSUFFICIENT_RESOURCES;
    }
    if (!NT_SUCCESS(status)) {
        tell_no_memory(args, status);
        return status;
    }
    list_push_back(&vidmm->contexts.all, &item->link);
    if (item->context)
        list_push_back(&item->context->allocations, &item->owner_link);
    vidmm->contexts.uncommitted++;
    args->hAllocation = item->handle;
    return STATUS_SUCCESS;
}

/* ---- destruction ---- */

static void destroy_memory(struct context_allocation *item)
{
    if (item->allocation) {
        if (item->pinned)
            item->allocation->pins--;
        allocation_destroy_internal(item->allocation);
    }
    item->allocation = NULL;
}

static NTSTATUS destroy_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    (void)vidmm;
    (void)turn;
    destroy_memory(arg);
    return STATUS_SUCCESS;
}

static void forget(struct vidmm *vidmm, void *arg, NTSTATUS status)
{
    struct context_allocation *item = arg;

    (void)status;
    if (item->allocation) /* the adapter is lost: the job did not run */
        destroy_memory(item);
    if (item->view)
        ram_view_release(vidmm->config.ram, item->view,
                         align_up(item->size, PAGE_BYTES) >> PAGE_BITS);
    util_free(item);
}

/* Free all ranges that map it. They are its own (RANGE_CONTEXT), so nothing else
 * is mapped there. */
static void free_addresses(struct vidmm_allocation *allocation)
{
    while (!list_empty(&allocation->mappings)) {
        struct va_range *range =
            CONTAINER(allocation->mappings.next, struct va_piece, mapping)->range;
        struct vidmm_space *space = range->space;

        if (range_free(range))
            space_clean_later(space);
    }
}

/* Free it. GPU work must no longer use it; if a driver callback does, it is freed after that. */
static void destroy_now(struct context_allocation *item)
{
    struct vidmm *vidmm = item->vidmm;

    if (item->users) {
        item->doomed = true;
        return;
    }
    if (item->allocation)
        free_addresses(item->allocation);
    if (!item->allocation || paging_may_build(vidmm)) {
        destroy_memory(item);
        forget(vidmm, item, STATUS_SUCCESS);
        return;
    }
    item->job = (struct paging_job){.fn = destroy_job, .release = forget, .arg = item};
    paging_job_post(&vidmm->mmu->chores, &item->job);
}

static NTSTATUS nothing(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    (void)vidmm;
    (void)turn;
    (void)arg;
    return STATUS_SUCCESS;
}

static void late_over(struct vidmm *vidmm, void *arg, NTSTATUS status)
{
    (void)vidmm;
    (void)status;
    context_allocation_unuse(arg);
}

/* The lock is not available before the reset is over, so the worker does later what needs it. */
static void post_late(struct context_allocation *item, paging_job_fn fn)
{
    item->users++;
    item->late = (struct paging_job){.fn = fn, .release = late_over, .arg = item};
    paging_job_post(&item->vidmm->mmu->chores, &item->late);
}

void context_allocation_unuse(struct context_allocation *item)
{
    struct vidmm *vidmm = item->vidmm;

    if (--item->users > 0 || !item->doomed)
        return;
    if (vidmm->lock.owner == sim_current->thread) {
        destroy_now(item);
    } else if (driver_lock(vidmm)) {
        destroy_now(item);
        sim_mutex_unlock(&vidmm->lock);
    } else {
        post_late(item, nothing);
    }
}

static void followed(struct vidmm_device *device, struct vidmm_follow *follow)
{
    (void)device;
    destroy_now(CONTAINER(follow, struct context_allocation, follow));
}

/* Lock held. The handle becomes invalid now; the rest follows when the GPU work
 * queued so far is done. */
static void destroy(struct context_allocation *item)
{
    struct vidmm *vidmm = item->vidmm;
    struct vidmm_device *device = item->context ? item->context->device
                                                : context_allocation_device(vidmm, item->device);

    (void)ddi_handle_remove(&vidmm->ddi->handles, item->handle, DDI_HANDLE_CONTEXT_ALLOCATION);
    item->handle = NULL;
    if (!item->committed)
        vidmm->contexts.uncommitted--;
    item->committed = true; /* so that it is not committed any more */
    item->context = NULL;
    list_remove(&item->link);
    list_remove(&item->owner_link);
    if (device && item->pinned)
        follow_device(device, &item->follow, followed);
    else
        destroy_now(item);
}

void context_allocation_close(struct vidmm_context *context)
{
    struct vidmm *vidmm = context->device->process->vidmm;

    sim_mutex_lock(&vidmm->lock);
    /* If there is no memory for this mark, a late creation is not detected, which does no harm. */
    (void)hash_put(&vidmm->contexts.closing, (uint64_t)(uintptr_t)context, context);
    sim_mutex_unlock(&vidmm->lock);
}

static NTSTATUS destroy_late(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    struct context_allocation *item = arg;

    (void)vidmm;
    (void)turn;
    if (item->handle) /* else it was destroyed with its owner */
        destroy(item);
    return STATUS_SUCCESS;
}

static void leaked(struct context_allocation *item)
{
    if (!item->destroyed)
        VIOLATION("CTXA-066", "context allocation of %llu bytes was not destroyed",
                  (unsigned long long)item->size);
    destroy(item);
}

void context_allocation_finish_all(struct vidmm_context *context)
{
    struct vidmm *vidmm = context->device->process->vidmm;

    sim_mutex_lock(&vidmm->lock);
    while (!list_empty(&context->allocations))
        leaked(CONTAINER(context->allocations.next, struct context_allocation, owner_link));
    (void)hash_remove(&vidmm->contexts.closing, (uint64_t)(uintptr_t)context);
    sim_mutex_unlock(&vidmm->lock);
}

void context_allocation_device_gone(struct vidmm *vidmm, HANDLE host_device)
{
    sim_mutex_lock(&vidmm->lock);
    LIST_FOR_SAFE(node, following, &vidmm->contexts.all) {
        struct context_allocation *item = CONTAINER(node, struct context_allocation, link);

        if (!item->context && item->device == host_device)
            leaked(item);
    }
    sim_mutex_unlock(&vidmm->lock);
}

/* ---- callbacks ---- */

NTSTATUS vidmm_cb_create_context_allocation(struct ddi_adapter *adapter,
                                            DXGKARGCB_CREATECONTEXTALLOCATION *args)
{
    struct vidmm *vidmm = vidmm_of_adapter(adapter);
    struct context_allocation *item;
    NTSTATUS status;

    args->hAllocation = NULL;
    if (context_allocation_inside_paging("CTXA-067"))
        return STATUS_INVALID_DEVICE_REQUEST;
    status = context_allocation_check(vidmm, args);
    if (!NT_SUCCESS(status))
        return status;
    item = util_zalloc(1, sizeof(*item));
    if (!item) {
        tell_no_memory(args, STATUS_INSUFFICIENT_RESOURCES);
        return STATUS_NO_MEMORY;
    }
    item->vidmm = vidmm;
    list_init(&item->link);
    list_init(&item->owner_link);
    follow_init(&item->follow);
    if (!driver_lock(vidmm)) {
        NOTE("CTXA-028", "a reset of the adapter came between");
        util_free(item);
        return STATUS_UNSUCCESSFUL;
    }
    if (gpu_mmu_get(vidmm)) {
        status = create(vidmm, args, item);
    } else {
        status = STATUS_INSUFFICIENT_RESOURCES;
        tell_no_memory(args, status);
    }
    if (!NT_SUCCESS(status))
        destroy_now(item);
    sim_mutex_unlock(&vidmm->lock);
    return vidmm_status(status);
}

NTSTATUS vidmm_cb_destroy_context_allocation(struct ddi_adapter *adapter, HANDLE allocation)
{
    struct vidmm *vidmm = vidmm_of_adapter(adapter);
    struct context_allocation *item;
    bool locked;

    if (context_allocation_inside_paging("CTXA-067"))
        return STATUS_INVALID_DEVICE_REQUEST;
    locked = driver_lock(vidmm);
    item = context_allocation_find(adapter, allocation);
    if (item && locked) {
        destroy(item);
    } else if (item) {
        (void)ddi_handle_remove(&adapter->handles, allocation, DDI_HANDLE_CONTEXT_ALLOCATION);
        item->destroyed = true;
        post_late(item, destroy_late);
    }
    if (locked)
        sim_mutex_unlock(&vidmm->lock);
    if (item)
        return STATUS_SUCCESS;
    VIOLATION("CTXA-063", "hAllocation is %s, not that of a context allocation of the adapter",
              ddi_handle_describe(&adapter->handles, allocation).text);
    return STATUS_INVALID_PARAMETER;
}
