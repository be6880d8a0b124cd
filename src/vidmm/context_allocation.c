/* SPDX-License-Identifier: MIT */
/*
 * Context allocations (CTXA series): memory that a driver asks for on behalf of one context, or of
 * all contexts of a device.
 *
 *   created      record and allocation (placed like any other, but in nobody's residency list)
 *   committed    pinned, resident, INIT_CONTEXT_RESOURCE built: before the first packet of a
 *                context that runs with it. From then on it stays where it is: it is resident
 *                whenever its context may run (CTXA-030, CTXA-031)
 *   destroyed    handle dead at once; memory and addresses go when the GPU work queued so far is
 *                done (CTXA-064)
 *
 * What a driver has not destroyed when DxgkDdiDestroyContext (DxgkDdiDestroyDevice) returns is a
 * leak: reported, then freed.
 */
#include "vidmm/context_allocation.h"

#include <string.h>

#define TEST_PATTERN     0xCACACACAu /* CTXA-036: the driver must not rely on zeroes */
#define LARGE_PAGE_BYTES 65536u

/* ---- arguments ---- */

static bool flags_allowed(UINT version, UINT flags)
{
    /* ExistingSysMem, ExistingKernelSysMem, Overlay, Capture, HistoryBuffer */
    const UINT nonsense = 0x10 | 0x20 | 0x100 | 0x200 | 0x4000;
    UINT known = 0xF | 0x40 | 0x80;

    if (version >= DXGKDDI_INTERFACE_VERSION_WDDM2_0)
        /* AccessedPhysically .. CpuVisibleOnDemand */
        known |= 0x8000 | 0x10000 | 0x20000 | 0x40000;
    else
        known |= 0x800 | 0x1000 | 0x2000; /* SynchronousPaging, LinkMirrored, LinkInstanced */
    if (version >= DXGKDDI_INTERFACE_VERSION_WDDM2_9)
        known |= 0x2000; /* MapApertureCpuVisible */
    if ((flags & nonsense) || (flags & ~known))
        return false;
    if ((flags & 0x8) && (flags & 0x2)) /* Protected, PermanentSysMem */
        return false;
    if ((flags & 0x4) && !(flags & 0x1)) /* Cached without CpuVisible */
        return false;
    return !(flags & 0x10000) || (flags & 0x8000); /* GPUVA-241 */
}

static UINT preferred_id(const DXGK_SEGMENTPREFERENCE *preference, unsigned place)
{
    const UINT ids[5] = {preference->SegmentId0, preference->SegmentId1, preference->SegmentId2,
                         preference->SegmentId3, preference->SegmentId4};

    return ids[place];
}

/* CTXA-018 to CTXA-022. */
static bool placement_allowed(const struct vidmm *vidmm,
                              const DXGKARGCB_CREATECONTEXTALLOCATION *args)
{
    UINT all = (UINT)(((uint64_t)1 << vidmm->segment_count) - 1);

    if (args->Size == 0 || (args->Alignment != 0 && !is_power_of_two(args->Alignment)))
        return false;
    if (args->SupportedSegmentSet == 0 || (args->SupportedSegmentSet & ~all) ||
        (args->EvictionSegmentSet & ~all))
        return false;
    for (UINT id = 1; id <= vidmm->segment_count; id++) {
        const struct vidmm_segment *segment = &vidmm->segment[id];
        UINT bit = (UINT)1 << (id - 1);

        if ((args->EvictionSegmentSet & bit) && !segment_is_aperture(segment))
            return false;
        if ((args->SupportedSegmentSet & bit) && segment->page_bytes == LARGE_PAGE_BYTES &&
            args->Alignment % LARGE_PAGE_BYTES != 0)
            return false;
    }
    for (unsigned i = 0; i < 5; i++) {
        UINT id = preferred_id(&args->PreferredSegment, i);

        if (id > vidmm->segment_count || (id != 0 && !(args->SupportedSegmentSet >> (id - 1) & 1)))
            return false;
    }
    return true;
}

static NTSTATUS check(const struct vidmm *vidmm, const DXGKARGCB_CREATECONTEXTALLOCATION *args)
{
    UINT version = vidmm->config.wddm_version;
    UINT known = version >= DXGKDDI_INTERFACE_VERSION_WDDM2_0 ? 3 : 1;

    if (args->ContextAllocationFlags.Value & ~known)
        return STATUS_INVALID_PARAMETER; /* CTXA-014 */
    if (version >= DXGKDDI_INTERFACE_VERSION_WDDM2_0 && args->PhysicalAdapterIndex != 0)
        return STATUS_INVALID_PARAMETER;
    if (!flags_allowed(version, args->Flags.Value))
        return STATUS_INVALID_PARAMETER; /* CTXA-024 */
    if (!placement_allowed(vidmm, args)) {
        VIOLATION("CTXA-022",
                  "context allocation of %llu bytes: alignment 0x%x, segments 0x%x, eviction 0x%x",
                  (unsigned long long)args->Size, args->Alignment, args->SupportedSegmentSet,
                  args->EvictionSegmentSet);
        return STATUS_INVALID_PARAMETER;
    }
    if (args->ContextAllocationFlags.MapGpuVirtualAddress && !vidmm->config.gpu_mmu)
        return STATUS_NOT_SUPPORTED; /* CTXA-015 */
    return STATUS_SUCCESS;
}

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

static bool inside(const char *ddi)
{
    const char *name = ddi_current_name();

    return name && strcmp(name, ddi) == 0;
}

static bool context_closed(const struct paging_process *shared, const struct vidmm_context *context)
{
    return hash_get(&shared->closing, (uint64_t)(uintptr_t)context) != NULL;
}

/* Whose it becomes (CTXA-006 to CTXA-012). */
static NTSTATUS find_owner(struct vidmm *vidmm, const DXGKARGCB_CREATECONTEXTALLOCATION *args,
                           struct context_allocation *item)
{
    struct vidmm_device *device = context_allocation_device(vidmm, args->hDevice);
    struct vidmm_context *context = ddi_handle_lookup(&vidmm->ddi->handles, args->hContext,
                                                      DDI_HANDLE_CONTEXT);
    bool shared = args->ContextAllocationFlags.SharedAcrossContexts;

    item->device = args->hDevice;
    if (!ddi_handle_lookup(&vidmm->ddi->handles, args->hDevice, DDI_HANDLE_DEVICE))
        return STATUS_INVALID_PARAMETER;
    if (!shared) {
        if (!context || context->device != device || context->system)
            return STATUS_INVALID_PARAMETER;
        item->context = context;
        item->process = device->process;
        return context_closed(vidmm->scratch, context) ? STATUS_INVALID_DEVICE_REQUEST
                                                       : STATUS_SUCCESS;
    }
    if (args->hContext)
        return STATUS_INVALID_PARAMETER;
    if (!device && !inside("DxgkDdiCreateDevice"))
        return STATUS_INVALID_DEVICE_REQUEST; /* its end has begun */
    /* Inside DxgkDdiCreateDevice the device is not ours to know yet; its process is the
     * caller's. */
    item->process = device ? device->process : current_process(vidmm);
    return !item->process || item->process == vidmm->paging_process ? STATUS_INVALID_PARAMETER
                                                                    : STATUS_SUCCESS;
}

bool context_allocation_belongs(const struct context_allocation *item,
                                const struct vidmm_context *context)
{
    if (item->context)
        return item->context == context;
    return context_allocation_device(item->vidmm, item->device) == context->device;
}

bool context_allocation_inside_paging(const char *rule)
{
    static const char *const needed[] = {"DxgkDdiBuildPagingBuffer", "DxgkDdiPatch",
                                         "DxgkDdiSubmitCommand", "DxgkDdiSubmitCommandVirtual",
                                         "DxgkDdiPreemptCommand"};

    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
        if (inside(needed[i])) {
            VIOLATION(rule, "context allocation callback inside %s", needed[i]);
            return true;
        }
    }
    return false;
}

struct context_allocation *context_allocation_find(struct ddi_adapter *adapter, HANDLE handle)
{
    return ddi_handle_lookup(&adapter->handles, handle, DDI_HANDLE_CONTEXT_ALLOCATION);
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
        request.flags.Value &= 0x4F; /* the members that both layouts share (CTXA-023) */
    for (unsigned i = 0; i < 5; i++)
        request.preferred[i] = preferred_id(&args->PreferredSegment, i);
    for (UINT id = 1; id <= vidmm->segment_count; id++)
        if ((args->SupportedSegmentSet >> (id - 1) & 1) && !segment_is_aperture(&vidmm->segment[id]))
            aperture_only = false;
    item->cpu_view = aperture_only && args->Flags.CpuVisible && args->Flags.Protected;
    item->map_for_init = vidmm->config.gpu_mmu && args->ContextAllocationFlags.MapGpuVirtualAddress;
    item->size = args->Size;
    status = allocation_create_internal(vidmm, &request, &item->allocation);
    if (NT_SUCCESS(status))
        item->allocation->fill_pattern = TEST_PATTERN;
    return status;
}

/* Lock held. */
static NTSTATUS create(struct vidmm *vidmm, DXGKARGCB_CREATECONTEXTALLOCATION *args,
                       struct context_allocation *item)
{
    NTSTATUS status = find_owner(vidmm, args, item);

    if (!NT_SUCCESS(status)) {
        VIOLATION(status == STATUS_INVALID_DEVICE_REQUEST ? "CTXA-012" : "CTXA-010",
                  "hDevice %p, hContext %p do not fit together", args->hDevice, args->hContext);
        return status;
    }
    status = make_allocation(vidmm, args, item);
    if (!NT_SUCCESS(status))
        return status;
    item->handle = ddi_handle_create(&vidmm->ddi->handles, DDI_HANDLE_CONTEXT_ALLOCATION, item);
    if (!item->handle)
        return STATUS_INSUFFICIENT_RESOURCES;
    list_push_back(&vidmm->scratch->context_allocations, &item->link);
    if (item->context)
        list_push_back(&item->context->allocations, &item->owner_link);
    vidmm->scratch->uncommitted++;
    args->hAllocation = item->handle;
    return STATUS_SUCCESS;
}

/* ---- the end ---- */

static NTSTATUS destroy_job(struct vidmm *vidmm, void *arg)
{
    struct context_allocation *item = arg;

    (void)vidmm;
    if (item->pinned)
        item->allocation->pins--;
    item->pinned = false;
    if (item->allocation)
        allocation_destroy_internal(item->allocation);
    item->allocation = NULL;
    return STATUS_SUCCESS;
}

static void forget(struct vidmm *vidmm, void *arg, NTSTATUS status)
{
    struct context_allocation *item = arg;

    (void)status;
    if (item->allocation) /* the adapter is gone, the job was dropped */
        (void)destroy_job(vidmm, item);
    if (item->view)
        ram_view_release(vidmm->config.ram, item->view,
                         align_up(item->size, PAGE_BYTES) >> PAGE_BITS);
    util_free(item);
}

/* The GPU is done with it. */
static void destroy_now(struct context_allocation *item)
{
    struct vidmm *vidmm = item->vidmm;

    if (!item->allocation || paging_may_build(vidmm)) {
        (void)destroy_job(vidmm, item);
        forget(vidmm, item, STATUS_SUCCESS);
        return;
    }
    item->job = (struct paging_job){.fn = destroy_job, .release = forget, .arg = item};
    paging_job_post(&vidmm->scratch->chores, &item->job);
}

static void followed(struct vidmm_device *device, struct follow *follow)
{
    (void)device;
    destroy_now(CONTAINER(follow, struct context_allocation, follow));
}

/* Lock held. The handle dies now; the rest when GPU work queued so far is done. */
static void destroy(struct context_allocation *item)
{
    struct vidmm *vidmm = item->vidmm;
    struct vidmm_device *device = item->context ? item->context->device
                                                : context_allocation_device(vidmm, item->device);

    (void)ddi_handle_remove(&vidmm->ddi->handles, item->handle, DDI_HANDLE_CONTEXT_ALLOCATION);
    item->handle = NULL;
    if (!item->committed)
        vidmm->scratch->uncommitted--;
    item->committed = true; /* nothing is to be made of it any more */
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
    if (vidmm->scratch) /* without memory for the mark a late request is merely not noticed */
        (void)hash_put(&vidmm->scratch->closing, (uint64_t)(uintptr_t)context, context);
    sim_mutex_unlock(&vidmm->lock);
}

static void leaked(struct context_allocation *item)
{
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
    if (vidmm->scratch)
        (void)hash_remove(&vidmm->scratch->closing, (uint64_t)(uintptr_t)context);
    sim_mutex_unlock(&vidmm->lock);
}

void context_allocation_device_gone(struct vidmm *vidmm, HANDLE host_device)
{
    sim_mutex_lock(&vidmm->lock);
    if (vidmm->scratch) {
        LIST_FOR_SAFE(node, following, &vidmm->scratch->context_allocations) {
            struct context_allocation *item = CONTAINER(node, struct context_allocation, link);

            if (!item->context && item->device == host_device)
                leaked(item);
        }
    }
    sim_mutex_unlock(&vidmm->lock);
}

/* ---- callbacks ---- */

NTSTATUS vidmm_cb_create_context_allocation(struct ddi_adapter *adapter,
                                            DXGKARGCB_CREATECONTEXTALLOCATION *args)
{
    struct vidmm *vidmm = adapter->vidmm;
    struct context_allocation *item;
    NTSTATUS status;

    args->hAllocation = NULL;
    if (context_allocation_inside_paging("CTXA-067"))
        return STATUS_INVALID_DEVICE_REQUEST;
    status = check(vidmm, args);
    if (!NT_SUCCESS(status))
        return status;
    item = util_zalloc(1, sizeof(*item));
    if (!item)
        return STATUS_NO_MEMORY;
    item->vidmm = vidmm;
    list_init(&item->link);
    list_init(&item->owner_link);
    follow_init(&item->follow);
    sim_mutex_lock(&vidmm->lock);
    status = paging_process_get(vidmm) ? create(vidmm, args, item) : STATUS_INSUFFICIENT_RESOURCES;
    if (!NT_SUCCESS(status))
        destroy_now(item);
    sim_mutex_unlock(&vidmm->lock);
    return vidmm_status(status);
}

NTSTATUS vidmm_cb_destroy_context_allocation(struct ddi_adapter *adapter, HANDLE allocation)
{
    struct vidmm *vidmm = adapter->vidmm;
    struct context_allocation *item;

    if (context_allocation_inside_paging("CTXA-067"))
        return STATUS_INVALID_DEVICE_REQUEST;
    sim_mutex_lock(&vidmm->lock);
    item = context_allocation_find(adapter, allocation);
    if (item)
        destroy(item);
    sim_mutex_unlock(&vidmm->lock);
    if (item)
        return STATUS_SUCCESS;
    VIOLATION("CTXA-063", "%p is no context allocation of the adapter", allocation);
    return STATUS_INVALID_PARAMETER;
}
