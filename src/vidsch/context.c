/* SPDX-License-Identifier: MIT */
/* Contexts: creation with all checks of the client's request and the driver's answer, the sizes
 * promised to the client, priorities, and destruction. */
#include <stdio.h>

#include "vidsch/context.h"
#include "nt/base/status_name.h"
#include "sim/fault.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/mutex.h"
#include "sim/sim_assert.h"
#include "verify/refusal.h"
#include "vidmm/context/context.h"
#include "vidsch/change.h"
#include "vidsch/client.h"
#include "vidsch/client_block.h"
#include "vidsch/companion.h"
#include "vidsch/device.h"
#include "vidsch/device_loss.h"
#include "vidsch/device_wait.h"
#include "vidsch/dma_buffer.h"
#include "vidsch/doorbell.h"
#include "vidsch/dxgkrnl_objects.h"
#include "vidsch/history.h"
#include "vidsch/hw_context.h"
#include "vidsch/hw_log.h"
#include "vidsch/hw_suspend.h"
#include "vidsch/node.h"
#include "vidsch/null_context.h"
#include "vidsch/priority.h"
#include "vidsch/process.h"
#include "vidsch/ready.h"
#include "vidsch/recovery.h"
#include "vidsch/scheduler.h"
#include "vidsch/signal.h"

#define NO_PATCHING_LIST \
    16u /* RES-033: elements of the allocation list of a driver that patches nothing */

static bool owns_queues(const struct vidsch_context_request *request)
{
    return request->hardware || request->flags.HwQueueSupported;
}

static NTSTATUS check_hardware(const struct vidsch *vidsch,
                               const struct vidsch_context_request *request)
{
    return vidsch->node[request->node].hw.on
               ? STATUS_SUCCESS
               : refuse(STATUS_NOT_SUPPORTED, "KMT-170", "node %u is not hardware-scheduled",
                        request->node);
}

/* Check the client's request before the driver is called. */
static NTSTATUS check_request(const struct vidsch *vidsch,
                              const struct vidsch_context_request *request)
{
    if (request->node >= vidsch->config.nodes)
        return refuse(STATUS_INVALID_PARAMETER, "PATCH-022", "node %u, the adapter has %u",
                      request->node, vidsch->config.nodes);
    if (request->engine_affinity > 1)
        return refuse(STATUS_INVALID_PARAMETER, "PATCH-024",
                      "EngineAffinity 0x%x, a node has one engine", request->engine_affinity);
    if (request->hardware && !NT_SUCCESS(check_hardware(vidsch, request)))
        return STATUS_NOT_SUPPORTED;
    if (request->virtual_addressing != vidsch->node[request->node].info.virtual_addressing)
        return refuse(STATUS_INVALID_PARAMETER, "SUBMIT-011",
                      "a context of %s addresses on node %u, which takes %s ones",
                      request->virtual_addressing ? "GPU virtual" : "physical", request->node,
                      request->virtual_addressing ? "physical" : "GPU virtual");
    if (request->flags.Reserved || request->flags.NoKmdAccess)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-149", "reserved bits in Flags 0x%x",
                      request->flags.Value);
    if (request->flags.HwQueueSupported && !request->virtual_addressing)
        return refuse(STATUS_INVALID_PARAMETER, NULL,
                      "HwQueueSupported for a context of physical addresses");
    return request->flags.HwQueueSupported ? check_hardware(vidsch, request) : STATUS_SUCCESS;
}

/* Check the driver's answer, and mend what it can do without. */
static NTSTATUS check_answer(struct vidsch_context *context)
{
    struct vidsch *vidsch = context->device->vidsch;
    DXGK_CONTEXTINFO *info = &context->info;
    const UINT no_aperture = info->DmaBufferSegmentSet & ~vidsch->config.aperture_segment_set;
    bool refused = false;

    if (info->Reserved)
        VIOLATION("PATCH-047", "DXGK_CONTEXTINFO.Reserved is 0x%x", info->Reserved);
    if (info->Caps.Reserved)
        VIOLATION("PATCH-049", "DXGK_CONTEXTINFO.Caps is 0x%x", info->Caps.Value);
    if (info->Caps.UseIoMmu && !context->node->info.metadata.IoMmuSupported) {
        refused |= verify_finding("PATCH-049", "UseIoMmu is set, but node %u has no IoMmuSupported",
                                  context->node->ordinal);
        info->Caps.UseIoMmu = 0;
    }
    if (context->mm.virtual_addressing && info->PagingCompanionNodeId >= vidsch->config.nodes) {
        refused |= verify_finding("GPUVA-138", "PagingCompanionNodeId %u, but there are %u nodes",
                                  (unsigned)info->PagingCompanionNodeId, vidsch->config.nodes);
        info->PagingCompanionNodeId = vidsch->config.paging_node;
    }
    if (context->has_lists && info->DmaBufferSize == 0) {
        /* of a system context nobody asks: paging buffers have a size of their own */
        refused |= verify_finding("PATCH-036", "DmaBufferSize is 0 on a context that renders");
        info->DmaBufferSize = PAGE_BYTES;
    }
    if (no_aperture) {
        refused |= verify_finding(
            "PATCH-038", "DmaBufferSegmentSet 0x%x names segment %u, which is no aperture segment",
            info->DmaBufferSegmentSet, 1u + (unsigned)__builtin_ctz(no_aperture));
        info->DmaBufferSegmentSet &= ~no_aperture;
    }
    if (context->mm.virtual_addressing && !context->device->system && info->DmaBufferSize &&
        !info->DmaBufferSegmentSet && !no_aperture)
        refused |= verify_finding("PATCH-161",
                                  "DmaBufferSize is %u with DmaBufferSegmentSet 0 on a context of "
                                  "GPU virtual addresses",
                                  info->DmaBufferSize);
    return refused ? STATUS_INVALID_PARAMETER : STATUS_SUCCESS;
}

static uint32_t whole_pages(uint32_t bytes)
{
    uint64_t rounded = align_up(bytes, PAGE_BYTES);

    return rounded > UINT32_MAX ? bytes : (uint32_t)rounded;
}

static NTSTATUS make_lists(struct vidsch_context *context)
{
    struct vidsch *vidsch = context->device->vidsch;
    const DXGK_CONTEXTINFO *info = &context->info;

    context->promise.command_bytes = whole_pages(info->DmaBufferSize);
    context->promise.allocation_count = info->Caps.NoPatchingRequired ? NO_PATCHING_LIST
                                                                      : info->AllocationListSize;
    context->promise.patch_count = info->Caps.NoPatchingRequired ? 0 : info->PatchLocationListSize;
    if (!vidsch_client_block_create(vidsch, &context->promise.commands,
                                    context->promise.command_bytes) ||
        !vidsch_client_block_create(vidsch, &context->promise.allocations,
                                    context->promise.allocation_count *
                                        sizeof(D3DDDI_ALLOCATIONLIST)) ||
        !vidsch_client_block_create(vidsch, &context->promise.patches,
                                    context->promise.patch_count * sizeof(D3DDDI_PATCHLOCATIONLIST)))
        return refuse(STATUS_NO_MEMORY, NULL,
                      "there is no memory for a command buffer of 0x%x bytes and lists of %u "
                      "allocations and %u patch locations, as DxgkDdiCreateContext answered",
                      info->DmaBufferSize, context->promise.allocation_count,
                      context->promise.patch_count);
    context->reserve = vidsch_dma_buffer_get(context);
    return context->reserve ? STATUS_SUCCESS : STATUS_NO_MEMORY;
}

void vidsch_context_lists(const struct vidsch_context *context, struct vidsch_client_lists *lists)
{
    *lists = (struct vidsch_client_lists){
        .command_buffer = context->promise.commands.view,
        .command_bytes = context->promise.command_bytes,
        .allocations = context->promise.allocations.view,
        .allocation_count = context->promise.allocation_count,
        .patches = context->promise.patches.view,
        .patch_count = context->promise.patch_count,
    };
}

void vidsch_context_free(struct vidsch_context *context)
{
    struct vidsch *vidsch = context->device->vidsch;

    if (context->reserve)
        vidsch_dma_buffer_put(context->reserve);
    vidsch_dma_buffer_free_pool(context);
    vidsch_companion_destroy(vidsch, context->paging);
    vidsch_client_block_destroy(vidsch, &context->promise.commands);
    vidsch_client_block_destroy(vidsch, &context->promise.allocations);
    vidsch_client_block_destroy(vidsch, &context->promise.patches);
    (void)ddi_handle_remove(&vidsch->ddi->handles, context->mm.host_handle, context->kind);
    vidsch_hw_context_free(context);
    vidsch_hw_queue_free(context);
    vidsch_priority_end(context);
    if (context->node) {
        vidsch_ready_release(context);
        vidsch_null_context_forget(context->node, context);
    }
    list_remove(&context->link);
    list_remove(&context->run_link);
    list_remove(&context->advance_link);
    util_free(context);
}

void vidsch_context_abandon(struct vidsch_context *context)
{
    vidmm_context_finish(&context->mm);
    vidsch_context_free(context);
}

static struct vidsch_context *alloc(struct vidsch_device *device, struct vidsch_node *node,
                                    bool is_virtual, bool system, enum ddi_handle kind)
{
    struct vidsch_context *context = util_zalloc(1, sizeof(*context));
    HANDLE handle;

    if (!context)
        return NULL;
    context->device = device;
    context->node = node;
    context->kind = kind;
    context->level = system ? VIDSCH_PAGING_LEVEL : vidsch_priority_level(context);
    list_init(&context->link);
    list_init(&context->queue);
    list_init(&context->run_link);
    list_init(&context->advance_link);
    list_init(&context->free_buffers);
    list_init(&context->mutexes);
    sim_mutex_init(&context->render_lock);
    handle = ddi_handle_create(&device->vidsch->ddi->handles, kind, &context->mm);
    if (!handle) {
        vidsch_context_free(context);
        return NULL;
    }
    vidmm_context_init(&context->mm, device->mm, is_virtual, system);
    context->mm.adapter = device->vidsch->ddi;
    context->mm.host_handle = handle;
    if (trace_current) {
        char name[48];

        if (system)
            snprintf(name, sizeof(name), "system context");
        else
            snprintf(name, sizeof(name), "%s %u (process %u)",
                     kind == DDI_HANDLE_CONTEXT ? "context" : "hardware queue",
                     ddi_handle_number(handle), device->process->id);
        context->track = trace_track_create("contexts", name);
    }
    return context;
}

static struct vidsch_context *context_alloc(struct vidsch_device *device, struct vidsch_node *node,
                                            bool is_virtual, bool system)
{
    return alloc(device, node, is_virtual, system, DDI_HANDLE_CONTEXT);
}

struct vidsch_context *vidsch_context_alloc(struct vidsch_device *device, struct vidsch_node *node,
                                            enum ddi_handle kind)
{
    return alloc(device, node, false, false, kind);
}

static void destroy_driver_side(struct vidsch_context *context)
{
    struct vidsch *vidsch = context->device->vidsch;
    struct refusal refusal; /* of no concern to a call that fails for another reason */
    NTSTATUS status;

    refusal_begin(&refusal);
    vidmm_context_detach(&context->mm);
    if (context->hw_queue) {
        vidsch_hw_queue_destroy(context);
    } else if (context->hw && context->hw->own_entries) {
        vidsch_hw_context_destroy(context);
    } else if (!sim_current->stopped && vidsch->config.caps.MultiEngineAware && !context->hosts_own) {
        status = ddi_destroy_context(vidsch->ddi, context->mm.driver_handle);
        if (ddi_driver_failed(vidsch->ddi, status))
            VIOLATION("PATCH-053", "DxgkDdiDestroyContext answered %s", nt_status_text(status).text);
    }
    if (context->hw)
        vidsch_hw_log_read(context->node); /* entries may name it */
    vidmm_context_finish(&context->mm);
    refusal_drop(&refusal);
}

/* A driver without contexts is not called. The handle of the device serves as that of each of its
 * contexts (PATCH-019, KMT-147), and the driver's answer for the device as that for the buffers of
 * its contexts (PATCH-009). */
static void take_from_device(struct vidsch_context *context)
{
    const DXGK_DEVICEINFO *info = &context->device->info;

    context->mm.driver_handle = context->device->driver_handle;
    context->info = (DXGK_CONTEXTINFO){
        .DmaBufferSize = info->DmaBufferSize,
        .DmaBufferSegmentSet = info->DmaBufferSegmentSet,
        .DmaBufferPrivateDataSize = info->DmaBufferPrivateDataSize,
        .AllocationListSize = info->AllocationListSize,
        .PatchLocationListSize = info->PatchLocationListSize,
    };
}

static NTSTATUS ask_or_take(struct vidsch_context *context, DXGKARG_CREATECONTEXT *args)
{
    struct vidsch *vidsch = context->device->vidsch;
    NTSTATUS status;

    if (!vidsch->config.caps.MultiEngineAware) {
        take_from_device(context);
        return STATUS_SUCCESS;
    }
    if (context->hw && context->hw->own_entries)
        return vidsch_hw_context_create(context, args);
    args->hContext = context->mm.host_handle; /* PATCH-021 */
    args->EngineAffinity = 1;                 /* PATCH-023 */
    status = ddi_create_context(vidsch->ddi, context->device->driver_handle, args);
    if (NT_SUCCESS(status)) {
        context->mm.driver_handle = args->hContext;
        context->info = args->ContextInfo;
    }
    return status;
}

/* `args` has NodeOrdinal, Flags and private data. On success the driver has created the context,
 * and its answer is valid. */
static NTSTATUS create_driver_side(struct vidsch_context *context, DXGKARG_CREATECONTEXT *args)
{
    NTSTATUS status = ask_or_take(context, args);

    if (!NT_SUCCESS(status)) {
        vidmm_context_detach(&context->mm);
        vidmm_context_finish(&context->mm);
        return status;
    }
    status = check_answer(context);
    if (NT_SUCCESS(status) && context->has_lists)
        status = make_lists(context);
    if (NT_SUCCESS(status))
        status = vidmm_context_attach(&context->mm);
    if (!NT_SUCCESS(status))
        destroy_driver_side(context);
    else
        vidsch_priority_begin(context);
    return status;
}

/* A kernel copy of the client's private data (PATCH-031). */
static NTSTATUS copy_private(const struct vidsch_context_request *request, void **copy)
{
    *copy = NULL;
    if (request->private_bytes == 0)
        return STATUS_SUCCESS;
    *copy = util_alloc(request->private_bytes);
    if (!*copy)
        return STATUS_NO_MEMORY;
    if (request->private_data &&
        sim_copy_checked(*copy, request->private_data, request->private_bytes))
        return STATUS_SUCCESS;
    util_free(*copy);
    return refuse(STATUS_INVALID_PARAMETER, NULL, "private data of %u bytes at %p cannot be read",
                  request->private_bytes, request->private_data);
}

static bool begin_hardware(struct vidsch_context *context, bool own_entries)
{
    if (!vidsch_hw_context_begin(context, own_entries))
        return false;
    vidsch_hw_suspend_init(context->hw);
    return true;
}

NTSTATUS vidsch_context_create(struct vidsch_device *device,
                               const struct vidsch_context_request *request,
                               struct vidsch_context **out)
{
    struct vidsch *vidsch = device->vidsch;
    DXGKARG_CREATECONTEXT args = {0};
    struct vidsch_context *context;
    void *private_data = NULL; /* the driver may change what is in its arguments */
    NTSTATUS status;

    sim_assert_passive();
    vidsch_recovery_await_adapter(vidsch);
    status = vidsch_device_check(device, false);
    if (NT_SUCCESS(status))
        status = check_request(vidsch, request);
    if (NT_SUCCESS(status))
        status = copy_private(request, &private_data);
    if (!NT_SUCCESS(status))
        return status;
    context = context_alloc(device, &vidsch->node[request->node], request->virtual_addressing,
                            false);
    if (!context || (owns_queues(request) && !begin_hardware(context, request->hardware))) {
        if (context)
            vidsch_context_abandon(context);
        util_free(private_data);
        return STATUS_NO_MEMORY;
    }
    context->flags = request->flags;
    context->has_lists = !request->virtual_addressing && !request->flags.SynchronizationOnly;
    args.pPrivateDriverData = private_data;
    args.PrivateDriverDataSize = request->private_bytes;
    args.NodeOrdinal = request->node;
    args.Flags.VirtualAddressing = request->virtual_addressing;
    args.Flags.HwQueueSupported = request->flags.HwQueueSupported; /* PATCH-030 */
    status = create_driver_side(context, &args);
    util_free(private_data);
    if (!NT_SUCCESS(status)) {
        vidsch_context_free(context);
        return status;
    }
    list_push_back(&device->contexts, &context->link);
    vidsch_tell_context(context, OBJECT_BEGINS);
    if (device_is_lost(device))
        context->state = CONTEXT_LOST;
    *out = context;
    return STATUS_SUCCESS;
}

NTSTATUS vidsch_context_create_system(struct vidsch *vidsch)
{
    struct vidsch_node *node = &vidsch->node[vidsch->config.paging_node];
    DXGKARG_CREATECONTEXT args = {.NodeOrdinal = node->ordinal};
    struct vidsch_context *context;
    NTSTATUS status;

    context = context_alloc(vidsch->system_device, node, node->info.virtual_addressing, true);
    if (!context)
        return STATUS_NO_MEMORY;
    args.Flags.SystemContext = 1;                                 /* PAGE-020 */
    args.Flags.VirtualAddressing = node->info.virtual_addressing; /* SUBMIT-106 */
    if (vidsch->config.hw_paging && !begin_hardware(context, false)) {
        vidsch_context_abandon(context);
        return STATUS_NO_MEMORY;
    }
    args.Flags.HwQueueSupported = context->hw != NULL;
    status = create_driver_side(context, &args);
    if (!NT_SUCCESS(status)) {
        vidsch_context_free(context);
        return status;
    }
    list_push_back(&vidsch->system_device->contexts, &context->link);
    vidsch_tell_context(context, OBJECT_BEGINS);
    vidsch->system_context = context;
    return STATUS_SUCCESS;
}

/* It runs in the privileged address space if the GPU writes page tables; if the CPU does, it is no
 * more than a queue (GPUVA-137, GPUVA-139, GPUVA-143). */
static NTSTATUS create_companion_side(struct vidsch_context *context)
{
    DXGKARG_CREATECONTEXT args = {.NodeOrdinal = context->node->ordinal};

    if (context->hosts_own)
        return STATUS_SUCCESS;
    context->mm.privileged = true;
    args.Flags.VirtualAddressing = 1;
    context->paging = vidsch_companion_create(context);
    if (context->paging)
        return create_driver_side(context, &args);
    vidmm_context_detach(&context->mm);
    vidmm_context_finish(&context->mm);
    return STATUS_NO_MEMORY;
}

NTSTATUS vidsch_context_create_companion(struct vidsch_context *owner, struct vidsch_context **out)
{
    struct vidsch_device *device = owner->device;
    const bool by_gpu = vidmm_updates_by_gpu(device->mm);
    struct vidsch_context *context = context_alloc(
        device, by_gpu ? vidsch_companion_node(owner) : owner->node, by_gpu, false);
    NTSTATUS status;

    if (!context)
        return STATUS_NO_MEMORY;
    context->is_companion = true;
    context->hosts_own = !by_gpu;
    status = create_companion_side(context);
    if (!NT_SUCCESS(status)) {
        vidsch_context_free(context);
        return status;
    }
    vidmm_updates_init(&context->updates, device->mm, by_gpu ? &context->mm : NULL);
    list_push_back(&device->contexts, &context->link);
    vidsch_tell_context(context, OBJECT_BEGINS);
    if (device_is_lost(device))
        context->state = CONTEXT_LOST;
    *out = context;
    return STATUS_SUCCESS;
}

void vidsch_context_destroy(struct vidsch_context *context)
{
    struct vidsch_device *device = context->device;

    sim_assert_passive();
    context->dying = true;
    if (context->companion)
        vidsch_context_destroy(context->companion);
    context->companion = NULL;
    while (context->hw && !list_empty(&context->hw->queues)) /* KMT-172 */
        vidsch_context_destroy(
            CONTAINER(context->hw->queues.next, struct vidsch_hw_queue, link)->queue);
    if (context->reserve) {
        struct dma_buffer *reserve = context->reserve;

        context->reserve = NULL;
        vidsch_dma_buffer_put(reserve);
    }
    if (context->hw_queue)
        vidsch_doorbell_finish(context->hw_queue);
    vidsch_device_drain(device, context); /* PATCH-052 */
    vidsch_history_forget(context);
    vidsch_priority_await_told(context);
    while (context->hw && context->hw->state == HW_SUSPENDING && !sim_current->stopped)
        vidsch_change_wait(device->vidsch, SIM_FOREVER);
    if (context->is_companion)
        vidmm_updates_finish(&context->updates);
    vidsch_signal_free_mutexes(context);
    if (context->hw)
        context->hw->leaving = true;
    destroy_driver_side(context);
    vidsch_tell_context(context, OBJECT_ENDS);
    vidsch_context_free(context);
}

struct vidsch_device *vidsch_context_device(const struct vidsch_context *context)
{
    return context->device;
}

HANDLE vidsch_context_driver_handle(const struct vidsch_context *context)
{
    return context->mm.driver_handle;
}

bool vidsch_context_owns_mutex(const struct vidsch_context *context)
{
    return !list_empty(&context->mutexes);
}
