/* SPDX-License-Identifier: MIT */
/* Context allocations in use: committing them, and updating them by the GPU. Overview in
 * context_allocation.c. */
#include "ddi/ddi.h"
#include "ddi/guarded.h"
#include "ddi/handle.h"
#include "nt/base/status_name.h"
#include "ram/ram.h"
#include "sim/fault.h"
#include "sim/mutex.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/list.h"
#include "verify/verify.h"
#include "vidmm/content/backing.h"
#include "vidmm/content/content_mdl.h"
#include "vidmm/context/context_allocation.h"
#include "vidmm/paging/driver_run.h"
#include "vidmm/paging/paging.h"
#include "vidmm/paging/paging_worker.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/device_record.h"
#include "vidmm/record/dxgkrnl_events.h"
#include "vidmm/record/of_adapter.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/segment_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/record/vidmm_run.h"
#include "vidmm/record/vidmm_scheduler.h"
#include "vidmm/residency/placement.h"
#include "vidmm/residency/victim.h"
#include "vidmm/space/scratch.h"

/* ---- committing ---- */

/* The runs to map in the paging process: for an allocation in an aperture, its system pages. */
static NTSTATUS runs_of(struct vidmm_allocation *allocation, struct vidmm_run **made,
                        const struct vidmm_run **runs, uint32_t *count)
{
    NTSTATUS status = STATUS_SUCCESS;

    *made = NULL;
    if (allocation->segment == 0 ||
        !segment_is_aperture(&allocation->vidmm->segment[allocation->segment])) {
        *runs = allocation->runs;
        *count = allocation->run_count;
        return status;
    }
    status = backing_runs(allocation, made, count);
    *runs = *made;
    return status;
}

static NTSTATUS map_in_scratch(struct vidmm_allocation *allocation, struct gpu_va *va)
{
    const struct vidmm_run *runs;
    struct vidmm_run *made;
    uint32_t count;
    NTSTATUS status;

    if (allocation->pages > scratch_limit(allocation->vidmm))
        return STATUS_NO_MEMORY; /* CTXA-058 */
    status = runs_of(allocation, &made, &runs, &count);
    if (!NT_SUCCESS(status))
        return status;
    status = scratch_map_allocation(allocation->vidmm, allocation, 0, runs, count, false, va);
    util_free(made);
    return status;
}

/* A CPU address that is valid as long as the allocation exists (CTXA-040). */
static NTSTATUS make_view(struct context_allocation *item)
{
    struct vidmm_allocation *allocation = item->allocation;
    struct ram *ram = item->vidmm->config.ram;
    uint64_t pages = align_up(item->size, PAGE_BYTES) >> PAGE_BITS;

    if (!item->cpu_view || item->view || !allocation->backing)
        return STATUS_SUCCESS;
    item->view = ram_view_reserve(ram, pages);
    if (item->view && ram_view_point(ram, item->view, 0, allocation->backing, pages, true))
        return STATUS_SUCCESS;
    if (item->view)
        ram_view_release(ram, item->view, pages);
    item->view = NULL;
    return STATUS_INSUFFICIENT_RESOURCES;
}

static NTSTATUS build_init(struct context_allocation *item)
{
    struct vidmm_allocation *allocation = item->allocation;
    struct vidmm *vidmm = item->vidmm;
    DXGKARG_BUILDPAGINGBUFFER op = {.Operation = DXGK_OPERATION_INIT_CONTEXT_RESOURCE};
    struct mdl_block *mdl = NULL;
    struct gpu_va va = {0};
    NTSTATUS status = STATUS_SUCCESS;

    op.InitContextResource.hAllocation = item->handle; /* CTXA-038 */
    op.InitContextResource.Destination.SegmentId = allocation->segment;
    op.InitContextResource.Destination.VirtualAddress = item->view;
    if (allocation->segment == 0) {
        mdl = content_mdl_create(allocation);
        if (!mdl)
            return STATUS_INSUFFICIENT_RESOURCES;
        op.InitContextResource.Destination.pMdl = content_mdl(mdl);
    } else {
        op.InitContextResource.Destination.SegmentAddress.QuadPart = (LONGLONG)segment_physical(
            &vidmm->segment[allocation->segment], segment_page_addr(allocation->runs[0].first));
    }
    if (item->map_for_init)
        status = map_in_scratch(allocation, &va);
    op.InitContextResource.Destination.GpuVirtualAddress = va.value;
    if (NT_SUCCESS(status))
        status = paging_build(vidmm, &op, &(struct paging_subject){.allocation = allocation});
    if (va.value)
        scratch_release(vidmm, va, allocation->pages);
    if (mdl)
        content_mdl_defer_free(vidmm, mdl);
    return status;
}

NTSTATUS context_allocation_commit(struct paging_turn *turn, struct context_allocation *item)
{
    NTSTATUS status = STATUS_SUCCESS;

    paging_assert_builder(item->vidmm);
    if (item->committed)
        return status;
    if (!item->allocation->resident)
        status = placement_bring_in(turn, item->vidmm, item->allocation);
    if (!NT_SUCCESS(status))
        return status;
    if (!item->pinned) {
        item->allocation->pins++;
        item->pinned = true;
        victim_update(item->allocation);
    }
    status = make_view(item);
    if (NT_SUCCESS(status) && !item->initialised)
        status = build_init(item);
    if (!NT_SUCCESS(status))
        return status;
    item->initialised = true;
    item->restore = false;
    /* it may have been destroyed while the lock was dropped, and counted then */
    if (!item->committed)
        item->vidmm->contexts.uncommitted--;
    item->committed = true;
    return STATUS_SUCCESS;
}

static NTSTATUS prepare_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    const struct vidmm_context *context = arg;

    LIST_FOR(node, &vidmm->contexts.all) {
        struct context_allocation *item = CONTAINER(node, struct context_allocation, link);
        NTSTATUS status = context_allocation_belongs(item, context)
                              ? context_allocation_commit(turn, item)
                              : STATUS_SUCCESS;

        if (!NT_SUCCESS(status))
            return status;
    }
    return STATUS_SUCCESS;
}

bool context_allocations_ready(const struct vidmm_context *context)
{
    const struct vidmm *vidmm = context->device->process->vidmm;

    if (vidmm->contexts.uncommitted == 0)
        return true;
    LIST_FOR(node, &vidmm->contexts.all) {
        const struct context_allocation *item = CONTAINER(node, struct context_allocation, link);

        if (!item->committed && context_allocation_belongs(item, context))
            return false;
    }
    return true;
}

NTSTATUS vidmm_context_prepare(struct vidmm_context *context)
{
    struct vidmm *vidmm = context->device->process->vidmm;

    if (context_allocations_ready(context))
        return STATUS_SUCCESS;
    return vidmm_status(paging_run(vidmm, prepare_job, context));
}

NTSTATUS context_allocations_leave(struct vidmm *vidmm, context_allocation_moves moves,
                                   const void *arg)
{
    NTSTATUS status = STATUS_SUCCESS;

    LIST_FOR(node, &vidmm->contexts.all) {
        const struct context_allocation *item = CONTAINER(node, struct context_allocation, link);
        struct vidmm_device *device;

        if (!item->committed || !moves(item->allocation, arg))
            continue;
        device = item->context ? item->context->device
                               : context_allocation_device(vidmm, item->device);
        if (device)
            status = vidmm->scheduler->context_leave(device, item->context);
        if (!NT_SUCCESS(status))
            break;
    }
    return status;
}

void context_allocations_lost(struct vidmm *vidmm)
{
    LIST_FOR(node, &vidmm->contexts.all) {
        struct context_allocation *item = CONTAINER(node, struct context_allocation, link);

        if (!item->committed)
            continue;
        item->committed = false;
        item->restore = true;
        vidmm->contexts.uncommitted++;
        if (item->allocation->content == CONTENT_NONE)
            item->initialised = false; /* CTXA-068; content in system memory was not lost */
        item->pinned = false;
        item->allocation->pins--;
    }
}

void context_allocations_restore(struct paging_turn *turn, struct vidmm *vidmm)
{
    LIST_FOR(node, &vidmm->contexts.all) {
        struct context_allocation *item = CONTAINER(node, struct context_allocation, link);

        if (item->restore)
            (void)context_allocation_commit(
                turn, item); /* on failure it is committed before the next submission */
    }
}

/* ---- updates ---- */

struct update_call {
    struct driver_run run;
    struct context_allocation *item; /* held by context_allocation_use */
    struct ddi_guarded data;
    UINT bytes;
};

static void update_release(struct driver_run *run)
{
    struct update_call *call = CONTAINER(run, struct update_call, run);

    context_allocation_unuse(call->item);
    ddi_guarded_finish(&call->data);
    util_free(call);
}

static NTSTATUS update_job(struct vidmm *vidmm, struct paging_turn *turn, struct driver_run *run)
{
    const struct update_call *call = CONTAINER(run, struct update_call, run);
    struct context_allocation *item = call->item;
    DXGKARG_BUILDPAGINGBUFFER op = {.Operation = DXGK_OPERATION_UPDATE_CONTEXT_ALLOCATION};
    struct gpu_va va;
    NTSTATUS status;

    if (!item->handle)
        return STATUS_INVALID_PARAMETER; /* destroyed meanwhile */
    if (item->allocation->pages > scratch_limit(vidmm))
        return STATUS_NO_MEMORY;
    status = context_allocation_commit(turn, item);
    if (NT_SUCCESS(status))
        status = map_in_scratch(item->allocation, &va);
    if (!NT_SUCCESS(status))
        return status;
    op.UpdateContextAllocation.ContextAllocation = va.value;
    op.UpdateContextAllocation.ContextAllocationSize = item->size;
    op.UpdateContextAllocation.pDriverPrivateData = call->data.data;
    op.UpdateContextAllocation.DriverPrivateDataSize = call->bytes;
    status = paging_build(vidmm, &op, &(struct paging_subject){.allocation = item->allocation});
    ddi_guarded_check(&call->data, "DxgkDdiBuildPagingBuffer");
    scratch_release(vidmm, va, item->allocation->pages);
    return status;
}

static void tell_failed_update(const struct vidmm *vidmm, const struct context_allocation *item,
                               NTSTATUS status)
{
    unsigned long long pages = item ? align_up(item->size, PAGE_BYTES) >> PAGE_BITS : 0;

    if (status == STATUS_DEVICE_REMOVED)
        NOTE("CTXA-061", "a reset of the adapter came between, or its stop");
    else if (status == STATUS_INVALID_PARAMETER && item && !item->handle)
        VIOLATION("CTXA-058", "the context allocation was destroyed meanwhile");
    else if (status == STATUS_NO_MEMORY && pages > scratch_limit(vidmm))
        NOTE("CTXA-058", "its %llu pages do not fit into the scratch area, which has room for %llu",
             pages, (unsigned long long)scratch_limit(vidmm));
    else if (vidmm_status(status) == STATUS_NO_MEMORY)
        NOTE("CTXA-058", "no memory to make a context allocation of %llu pages resident", pages);
    else
        NOTE("CTXA-054", "the update failed with %s", nt_status_text(status).text);
}

/* Copy the driver's private data. */
static NTSTATUS take_data(struct update_call *call, const DXGKARGCB_UPDATECONTEXTALLOCATION *args)
{
    call->bytes = args->PrivateDriverDataSize;
    if (call->bytes == 0)
        return STATUS_SUCCESS;
    if (!args->pPrivateDriverData) {
        VIOLATION("CTXA-058", "pPrivateDriverData is NULL, PrivateDriverDataSize %u", call->bytes);
        return STATUS_INVALID_PARAMETER;
    }
    if (!ddi_guarded_init(&call->data, call->bytes,
                          "the private data of DXGK_BUILDPAGINGBUFFER_UPDATECONTEXTALLOCATION")) {
        NOTE("CTXA-058", "no memory for a copy of %u bytes of private data", call->bytes);
        return STATUS_NO_MEMORY;
    }
    if (sim_copy_checked(call->data.data, args->pPrivateDriverData, call->bytes))
        return STATUS_SUCCESS;
    VIOLATION("CTXA-058", "%u bytes at pPrivateDriverData %p cannot be read", call->bytes,
              args->pPrivateDriverData);
    return STATUS_INVALID_PARAMETER;
}

static NTSTATUS update(struct update_call *call, const DXGKARGCB_UPDATECONTEXTALLOCATION *args)
{
    struct vidmm *vidmm = call->item->vidmm;
    NTSTATUS status;

    if (context_allocation_blocked(vidmm)) {
        context_allocation_tell_blocked("CTXA-060", vidmm);
        return STATUS_INVALID_DEVICE_REQUEST;
    }
    status = take_data(call, args);
    if (!NT_SUCCESS(status))
        return status;
    status = driver_run_wait(vidmm, &call->run);
    if (call->run.left)
        status = STATUS_DEVICE_REMOVED;
    if (!NT_SUCCESS(status))
        tell_failed_update(vidmm, call->item, status);
    return status == STATUS_DEVICE_REMOVED ? STATUS_UNSUCCESSFUL : vidmm_status(status);
}

NTSTATUS vidmm_cb_update_context_allocation(struct ddi_adapter *adapter,
                                            const DXGKARGCB_UPDATECONTEXTALLOCATION *args)
{
    struct vidmm *vidmm = vidmm_of_adapter(adapter);
    struct context_allocation *item;
    struct update_call *call;
    NTSTATUS status;

    if (context_allocation_inside_paging("CTXA-060"))
        return STATUS_INVALID_DEVICE_REQUEST;
    if (!vidmm->config.gpu_mmu) {
        NOTE("CTXA-058", "the adapter has no GpuMmu, by which an update would reach the allocation");
        return STATUS_NOT_SUPPORTED;
    }
    if (!driver_lock(vidmm)) {
        tell_failed_update(vidmm, NULL, STATUS_DEVICE_REMOVED);
        return STATUS_UNSUCCESSFUL;
    }
    item = context_allocation_use(adapter, args->hAllocation);
    sim_mutex_unlock(&vidmm->lock);
    if (!item) {
        VIOLATION("CTXA-058", "hAllocation is %s, not that of a context allocation of the adapter",
                  ddi_handle_describe(&adapter->handles, args->hAllocation).text);
        return STATUS_INVALID_PARAMETER;
    }
    call = util_zalloc(1, sizeof(*call));
    if (!call) {
        NOTE("CTXA-058", "no memory for the records of an update");
        context_allocation_unuse(item);
        return STATUS_NO_MEMORY;
    }
    driver_run_init(&call->run, update_job, update_release);
    call->item = item;
    status = update(call, args);
    driver_run_put(&call->run);
    return status;
}
