/* SPDX-License-Identifier: MIT */
/*
 * What the driver notifies at DIRQL. DxgkCbNotifyInterrupt checks and records it, in a ring that
 * cannot overflow: until the DPC, a node reports at most a completion or a fault for each of its
 * `depth` packets, one preemption, and one record of each other kind. Nothing takes effect before
 * DxgkCbNotifyDpc walks the ring, in order (SUBMIT-059, SUBMIT-064).
 *
 * `node->reported` is the last completed id as notified; it runs ahead of `last_completed` until
 * the DPC.
 */
#include "vidsch/interrupt.h"
#include "sim/sim_assert.h"
#include "vidsch/dxgkrnl_events.h"
#include "vidsch/engine_check.h"
#include "vidsch/hw_context.h"
#include "vidsch/hw_fault.h"
#include "vidsch/hw_suspend.h"
#include "vidsch/life.h"
#include "vidsch/native_fence.h"
#include "vidsch/node.h"
#include "vidsch/packet.h"
#include "vidsch/scheduler.h"
#include "vidsch/vidsch_bugcheck.h"

#include <dxgk_wddm3_2.h>

#include <stdio.h>

bool vidsch_interrupt_init(struct vidsch *vidsch)
{
    uint32_t records = 1;

    while (records < vidsch->config.nodes * (VIDSCH_MAX_DEPTH + 8))
        records *= 2;
    vidsch->interrupts.mask = records - 1;
    vidsch->interrupts.records = util_zalloc(records, sizeof(*vidsch->interrupts.records));
    return vidsch->interrupts.records != NULL;
}

static bool has_fence(const struct vidsch_node *node, uint32_t fence)
{
    for (uint32_t i = 0; i < node->count; i++)
        if (node_in_flight(node, i)->fence == fence)
            return true;
    return false;
}

/* Where the fence is that is not where the driver says. */
static void explain(const struct vidsch_node *node, uint32_t fence, char *text, size_t bytes)
{
    const struct vidsch *vidsch = node->vidsch;

    for (uint32_t i = 0; i < vidsch->config.nodes; i++) {
        const struct vidsch_node *other = &vidsch->node[i];

        if (other != node && has_fence(other, fence) && fence_after(fence, other->reported) &&
            !has_fence(node, fence)) {
            snprintf(text, bytes, "a packet with that fence is in flight on node %u", i);
            return;
        }
    }
    snprintf(text, bytes, "%s",
             fence_after(fence, node->last_submitted) ? "that fence was never submitted to the node"
             : !fence_after(fence, node->reported)
                 ? "that fence, or a later one, was reported as completed before"
             : has_fence(node, fence)
                 ? "that packet was preempted"
                 : "no packet with that fence is in flight: it was preempted or "
                   "aborted");
}

static void invalid_fence(const char *rule, const struct vidsch_node *node, UINT fence,
                          const char *what)
{
    char why[96];

    explain(node, fence, why, sizeof(why));
    verify_fatal(rule, VIDEO_SCHEDULER_INTERNAL_ERROR, SCHEDULER_INVALID_FENCE, fence,
                 node->reported, node->last_submitted,
                 "%s with fence %u on node %u: completed %u, submitted %u; %s", what, fence,
                 node->ordinal, node->reported, node->last_submitted, why);
}

static void invalid_request(const struct vidsch_node *node, UINT id)
{
    char why[96];

    if (node->preempt_answered)
        snprintf(why, sizeof(why), "request %u was answered before", node->preempt_id);
    else if (node->preempting)
        snprintf(why, sizeof(why), "the request that is outstanding is %u", node->preempt_id);
    else
        snprintf(why, sizeof(why), "no request is outstanding");
    verify_fatal("PREEMPT-019", VIDEO_SCHEDULER_INTERNAL_ERROR, SCHEDULER_INVALID_FENCE, id,
                 node->reported, node->last_submitted,
                 "DMA_PREEMPTED with PreemptionFenceId %u on node %u: %s", id, node->ordinal, why);
}

/* The node a notification is about; NULL if it is dropped. */
static struct vidsch_node *node_of(struct vidsch *vidsch, UINT ordinal, UINT engine,
                                   const char *what)
{
    struct vidsch_node *node;

    if (ordinal >= vidsch->config.nodes || engine != 0) {
        verify_fatal("SUBMIT-045", VIDEO_SCHEDULER_INTERNAL_ERROR, SCHEDULER_INVALID_FENCE, ordinal,
                     engine, 0, "%s names node %u, engine %u", what, ordinal, engine);
        return NULL;
    }
    node = &vidsch->node[ordinal];
    if (vidsch_hw_is_closed(node, what))
        return NULL;
    if (vidsch->recovery.silent)
        VIOLATION("TDR-046",
                  "%s for node %u between DxgkDdiResetFromTimeout and DxgkDdiRestartFromTimeout",
                  what, ordinal);
    if (node->ignoring || vidsch->recovery.resetting)
        return NULL; /* TDR-022 */
    if (node->after_reset && !node->hw.on) {
        VIOLATION("TDR-024", "%s for node %u between its reset and the next submission", what,
                  ordinal);
        return NULL;
    }
    return node;
}

static struct irq_record *record(struct vidsch *vidsch, DXGK_INTERRUPT_TYPE type,
                                 const struct vidsch_node *node)
{
    struct irq_record *r;

    if (vidsch->interrupts.head - vidsch->interrupts.tail > vidsch->interrupts.mask)
        return NULL; /* cannot happen, see above */
    r = &vidsch->interrupts.records[vidsch->interrupts.head++ & vidsch->interrupts.mask];
    r->type = type;
    r->node = node->ordinal;
    r->generation = node->generation;
    return r;
}

/* Is this the id of a packet in flight that was not yet reported as completed? */
static bool is_in_flight(const struct vidsch_node *node, uint32_t fence)
{
    if (node->preempt_answered || !fence_after(fence, node->reported))
        return false; /* PREEMPT-020: preempted packets are not in flight */
    for (uint32_t i = 0; i < node->count; i++)
        if (node_in_flight(node, i)->fence == fence)
            return true;
    return false;
}

static void dma_completed(struct vidsch *vidsch, UINT fence, UINT ordinal, UINT engine)
{
    struct vidsch_node *node = node_of(vidsch, ordinal, engine, "DMA_COMPLETED");
    struct irq_record *r;

    if (!node)
        return;
    if (fence == node->reported && fence != 0) {
        VIOLATION("SUBMIT-044", "fence %u of node %u was reported before", fence, ordinal);
        return;
    }
    if (!is_in_flight(node, fence)) {
        invalid_fence(node->preempt_answered ? "PREEMPT-020" : "SUBMIT-043", node, fence,
                      "DMA_COMPLETED");
        return;
    }
    vidsch_engine_check_completed(node, fence, "DMA_COMPLETED");
    vidsch_tell_reported(node, node->reported, fence, DXGK_INTERRUPT_DMA_COMPLETED, NULL);
    vidsch_life_reported(node, node->reported, fence, DXGK_INTERRUPT_DMA_COMPLETED, STATUS_SUCCESS);
    node->reported = fence;
    r = record(vidsch, DXGK_INTERRUPT_DMA_COMPLETED, node);
    if (r)
        r->fence = fence;
}

static void dma_preempted(struct vidsch *vidsch, UINT preemption, UINT completed, UINT ordinal,
                          UINT engine)
{
    struct vidsch_node *node = node_of(vidsch, ordinal, engine, "DMA_PREEMPTED");
    struct irq_record *r;

    if (!node)
        return;
    if (!node->preempting && preemption == node->closed_preempt_id && preemption != 0)
        return; /* TDR-044: late answer to a request that a reset closed */
    if (!node->preempting || node->preempt_answered || preemption != node->preempt_id) {
        invalid_request(node, preemption);
        return;
    }
    if (completed != node->reported && !is_in_flight(node, completed)) {
        invalid_fence("PREEMPT-018", node, completed, "DMA_PREEMPTED, LastCompletedFenceId,");
        return;
    }
    vidsch_engine_check_completed(node, completed, "DMA_PREEMPTED");
    vidsch_tell_reported(node, node->reported, completed, DXGK_INTERRUPT_DMA_COMPLETED, NULL);
    vidsch_tell_preempted(node, completed);
    vidsch_life_reported(node, node->reported, completed, DXGK_INTERRUPT_DMA_PREEMPTED,
                         STATUS_SUCCESS);
    node->reported = completed;
    node->preempt_answered = true;
    r = record(vidsch, DXGK_INTERRUPT_DMA_PREEMPTED, node);
    if (r)
        r->fence = completed;
}

static void dma_faulted(struct vidsch *vidsch, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    struct vidsch_node *node = node_of(vidsch, data->DmaFaulted.NodeOrdinal,
                                       data->DmaFaulted.EngineOrdinal, "DMA_FAULTED");
    struct irq_record *r;

    if (!node)
        return;
    if (!is_in_flight(node, data->DmaFaulted.FaultedFenceId)) {
        invalid_fence("SUBMIT-043", node, data->DmaFaulted.FaultedFenceId, "DMA_FAULTED");
        return;
    }
    vidsch_tell_reported(node, node->reported, data->DmaFaulted.FaultedFenceId,
                         DXGK_INTERRUPT_DMA_FAULTED, NULL);
    vidsch_life_reported(node, node->reported, data->DmaFaulted.FaultedFenceId,
                         DXGK_INTERRUPT_DMA_FAULTED, data->DmaFaulted.Status);
    node->reported = data->DmaFaulted.FaultedFenceId;
    r = record(vidsch, DXGK_INTERRUPT_DMA_FAULTED, node);
    if (r) {
        r->fence = data->DmaFaulted.FaultedFenceId;
        r->status = data->DmaFaulted.Status;
    }
}

#define FAULT_RECOVERY                                                                \
    (DXGK_PAGE_FAULT_ADAPTER_RESET_REQUIRED | DXGK_PAGE_FAULT_ENGINE_RESET_REQUIRED | \
     DXGK_PAGE_FAULT_FATAL_HARDWARE_ERROR)

/* NULL: the driver does not know (GPUVA-249). */
static void check_faulted_process(const struct vidsch_node *node, HANDLE process)
{
    const struct ddi_handles *handles = &node->vidsch->ddi->handles;

    if (process && !ddi_handle_lookup(handles, process, DDI_HANDLE_PROCESS))
        VIOLATION(
            "GPUVA-249",
            "page fault of node %u with FaultedProcessHandle %s, not hDxgkProcess of a process",
            node->ordinal, ddi_handle_describe(handles, process).text);
}

static void dma_page_faulted(struct vidsch *vidsch, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    unsigned flags = (unsigned)data->DmaPageFaulted.PageFaultFlags;
    UINT fence = data->DmaPageFaulted.FaultedFenceId;
    struct vidsch_node *node = node_of(vidsch, data->DmaPageFaulted.NodeOrdinal,
                                       data->DmaPageFaulted.EngineOrdinal, "DMA_PAGE_FAULTED");
    struct irq_record *r;

    if (!node)
        return;
    if (flags & DXGK_PAGE_FAULT_FATAL_HARDWARE_ERROR) {
        verify_fatal("GPUVA-255", VIDEO_SCHEDULER_INTERNAL_ERROR, SCHEDULER_FATAL_PAGE_FAULT, fence,
                     data->DmaPageFaulted.FaultedVirtualAddress, flags,
                     "the driver reported a fatal hardware error on node %u", node->ordinal);
        return;
    }
    if ((flags & DXGK_PAGE_FAULT_FENCE_INVALID) && (fence != 0 || !(flags & FAULT_RECOVERY))) {
        verify_fatal("GPUVA-253", VIDEO_SCHEDULER_INTERNAL_ERROR, SCHEDULER_BAD_PAGE_FAULT_FLAGS,
                     flags, fence, node->ordinal,
                     "page fault without a fence: flags 0x%x, fence %u", flags, fence);
        return;
    }
    check_faulted_process(node, data->DmaPageFaulted.FaultedProcessHandle);
    if (flags & DXGK_PAGE_FAULT_IOMMU)
        VIOLATION("GPUVA-250", "page fault of node %u with DXGK_PAGE_FAULT_IOMMU", node->ordinal);
    if (!(flags & DXGK_PAGE_FAULT_FENCE_INVALID)) {
        if (!is_in_flight(node, fence)) {
            invalid_fence("SUBMIT-043", node, fence, "DMA_PAGE_FAULTED");
            return;
        }
        vidsch_tell_reported(node, node->reported, fence, DXGK_INTERRUPT_DMA_PAGE_FAULTED, data);
        vidsch_life_reported(node, node->reported, fence, DXGK_INTERRUPT_DMA_PAGE_FAULTED,
                             STATUS_SUCCESS);
        node->reported = fence; /* SUBMIT-046 */
    } else if (node->timeout_noted) {
        return; /* a recovery is already due */
    } else {
        node->timeout_noted = true;
    }
    r = record(vidsch, DXGK_INTERRUPT_DMA_PAGE_FAULTED, node);
    if (!r)
        return;
    r->fence = fence;
    r->page_fault_flags = data->DmaPageFaulted.PageFaultFlags;
    r->fault = (D3DKMT_DEVICEPAGEFAULT_STATE){
        .FaultedPrimitiveAPISequenceNumber = data->DmaPageFaulted.FaultedPrimitiveAPISequenceNumber,
        .FaultedPipelineStage = data->DmaPageFaulted.FaultedPipelineStage,
        .FaultedBindTableEntry = data->DmaPageFaulted.FaultedBindTableEntry,
        .PageFaultFlags = data->DmaPageFaulted.PageFaultFlags,
        .FaultErrorCode = data->DmaPageFaulted.FaultErrorCode,
        .FaultedVirtualAddress = data->DmaPageFaulted.FaultedVirtualAddress,
    };
}

/* The interface version from which a driver may report the type, which is no vsync; 0: no such
 * type. */
static UINT type_since(DXGK_INTERRUPT_TYPE type)
{
    if (type < 1 || type > 20)
        return 0;
    if (type <= 4)
        return 1;
    if (type <= 7)
        return DXGKDDI_INTERFACE_VERSION_WIN8;
    if (type == 8)
        return DXGKDDI_INTERFACE_VERSION_WDDM1_3;
    if (type == 9)
        return DXGKDDI_INTERFACE_VERSION_WDDM2_0;
    if (type <= 14)
        return DXGKDDI_INTERFACE_VERSION_WDDM2_2;
    return type <= 17 ? DXGKDDI_INTERFACE_VERSION_WDDM2_4 : DXGKDDI_INTERFACE_VERSION_WDDM3_1;
}

static bool is_vsync(DXGK_INTERRUPT_TYPE type)
{
    return type == DXGK_INTERRUPT_CRTC_VSYNC || type == DXGK_INTERRUPT_DISPLAYONLY_VSYNC ||
           type == DXGK_INTERRUPT_CRTC_VSYNC_WITH_MULTIPLANE_OVERLAY ||
           type == DXGK_INTERRUPT_CRTC_VSYNC_WITH_MULTIPLANE_OVERLAY2 ||
           type == DXGK_INTERRUPT_CRTC_VSYNC_WITH_MULTIPLANE_OVERLAY3;
}

static void monitored_fence_signaled(struct vidsch *vidsch,
                                     const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    struct vidsch_node *node = node_of(vidsch, data->MonitoredFenceSignaled.NodeOrdinal,
                                       data->MonitoredFenceSignaled.EngineOrdinal,
                                       "MONITORED_FENCE_SIGNALED");

    if (!node)
        return;
    node->hw.unannounced = false;
    vidsch_life_hw_reported(node);
    if (!node->monitored_noted && record(vidsch, DXGK_INTERRUPT_MONITORED_FENCE_SIGNALED, node))
        node->monitored_noted = true;
}

static void context_suspended(struct vidsch *vidsch, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    struct vidsch_node *node = vidsch_hw_suspend_notified(
        vidsch, data->SuspendContextCompleted.hContext,
        data->SuspendContextCompleted.ContextSuspendFence);

    if (node && !node->hw.suspend_noted &&
        record(vidsch, DXGK_INTERRUPT_SUSPEND_CONTEXT_COMPLETED, node))
        node->hw.suspend_noted = true;
}

static void hw_queue_faulted(struct vidsch *vidsch, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    struct vidsch_node *node = node_of(vidsch, data->HwQueuePageFaulted.NodeOrdinal,
                                       data->HwQueuePageFaulted.EngineOrdinal,
                                       "HWQUEUE_PAGE_FAULTED");
    struct irq_record *r;

    if (!node || node->hw.fault_noted || !vidsch_hw_fault_notified(node, data))
        return;
    r = record(vidsch, DXGK_INTERRUPT_HWQUEUE_PAGE_FAULTED, node);
    if (!r)
        return;
    node->hw.fault_noted = true;
    vidsch_hw_fault_record(r, data);
}

static void log_written(struct vidsch *vidsch, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    struct vidsch_node *node = node_of(vidsch, data->SchedulingLogInterrupt.NodeOrdinal,
                                       data->SchedulingLogInterrupt.EngineOrdinal,
                                       "SCHEDULING_LOG_INTERRUPT");

    if (node && !node->hw.logs)
        VIOLATION("SUBMIT-086", "SCHEDULING_LOG_INTERRUPT for node %u, which has no scheduling log",
                  node->ordinal);
    else if (node && !node->hw.log_noted &&
             record(vidsch, DXGK_INTERRUPT_SCHEDULING_LOG_INTERRUPT, node))
        node->hw.log_noted = true;
}

/* False: it is of another type, or the adapter has no native fences. */
static bool native_fences_signaled(struct vidsch *vidsch,
                                   const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    struct vidsch_node *node;

    if (data->InterruptType != DXGK_INTERRUPT_NATIVE_FENCE_SIGNALED ||
        !vidsch->config.caps.NativeGpuFence)
        return false;
    node = node_of(vidsch, data->NativeFenceSignaled.NodeOrdinal,
                   data->NativeFenceSignaled.EngineOrdinal, "NATIVE_FENCE_SIGNALED");
    if (node && vidsch_native_notified(node, data) && !node->hw.native_noted &&
        record(vidsch, DXGK_INTERRUPT_NATIVE_FENCE_SIGNALED, node))
        node->hw.native_noted = true;
    return true;
}

static void no_object(DXGK_INTERRUPT_TYPE type)
{
    VIOLATION("SUBMIT-073", "interrupt type %d has no object on this adapter", (int)type);
}

static bool any_hardware(const struct vidsch *vidsch)
{
    for (uint32_t i = 0; i < vidsch->config.nodes; i++)
        if (vidsch->node[i].hw.on)
            return true;
    return false;
}

static void engine_hung(struct vidsch *vidsch, UINT ordinal, UINT engine)
{
    struct vidsch_node *node = node_of(vidsch, ordinal, engine, "GPU_ENGINE_TIMEOUT");

    if (node && !node->timeout_noted && record(vidsch, DXGK_INTERRUPT_GPU_ENGINE_TIMEOUT, node))
        node->timeout_noted = true;
}

/* To F1; the header calls it idle. */
static void engine_rests(struct vidsch *vidsch, UINT ordinal, UINT engine)
{
    struct vidsch_node *node = node_of(vidsch, ordinal, engine, "GPU_ENGINE_STATE_CHANGE");

    if (node && !node->hw.rest_noted && record(vidsch, DXGK_INTERRUPT_GPU_ENGINE_STATE_CHANGE, node))
        node->hw.rest_noted = true;
}

static void engine_changed(struct vidsch *vidsch, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    const unsigned state = (unsigned)data->EngineStateChange.NewState;

    if (state == DXGK_ENGINE_STATE_HUNG)
        engine_hung(vidsch, data->EngineStateChange.NodeOrdinal,
                    data->EngineStateChange.EngineOrdinal);
    else if (state == DXGK_ENGINE_STATE_IDLE)
        engine_rests(vidsch, data->EngineStateChange.NodeOrdinal,
                     data->EngineStateChange.EngineOrdinal);
    else if (state > DXGK_ENGINE_STATE_HUNG)
        VIOLATION("TDR-078", "GPU_ENGINE_STATE_CHANGE for node %u with NewState %u",
                  data->EngineStateChange.NodeOrdinal, state);
}

/* Of the GPU's own scheduler. */
static void notify_hardware(struct vidsch *vidsch, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    const bool hardware = any_hardware(vidsch);

    switch (data->InterruptType) {
    case DXGK_INTERRUPT_GPU_ENGINE_TIMEOUT:
        engine_hung(vidsch, data->GpuEngineTimeout.NodeOrdinal,
                    data->GpuEngineTimeout.EngineOrdinal);
        break;
    case DXGK_INTERRUPT_GPU_ENGINE_STATE_CHANGE:
        engine_changed(vidsch, data);
        break;
    case DXGK_INTERRUPT_SCHEDULING_LOG_INTERRUPT:
        if (hardware)
            log_written(vidsch, data);
        else
            no_object(data->InterruptType);
        break;
    case DXGK_INTERRUPT_SUSPEND_CONTEXT_COMPLETED:
        context_suspended(vidsch, data);
        break;
    case DXGK_INTERRUPT_HWQUEUE_PAGE_FAULTED:
        if (hardware)
            hw_queue_faulted(vidsch, data);
        else
            no_object(data->InterruptType);
        break;
    default: /* display: this adapter has none of them */
        if (!native_fences_signaled(vidsch, data))
            no_object(data->InterruptType);
        break;
    }
}

static UINT known_flags(DXGK_INTERRUPT_TYPE type)
{
    return type == DXGK_INTERRUPT_NATIVE_FENCE_SIGNALED
               ? DXGK_NOTIFY_EVALUATE_LEGACY_MONITORED_FENCES
               : 0;
}

void vidsch_notify_interrupt(struct vidsch *vidsch, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    DXGK_INTERRUPT_TYPE type = data->InterruptType;

    sim_assert_interrupt();
    vidsch->statistics.interrupts_notified++;
    if (is_vsync(type)) {
        if (!vidsch->config.displays)
            verify_fatal("SUBMIT-072", VIDEO_SCHEDULER_INTERNAL_ERROR, SCHEDULER_UNEXPECTED_VSYNC,
                         (uint64_t)type, 0, 0, "interrupt type %d on a render-only adapter",
                         (int)type);
        return;
    }
    if (type_since(type) == 0 || type_since(type) > vidsch->config.wddm_version) {
        VIOLATION("SUBMIT-074", "interrupt type %d from a driver of version 0x%x", (int)type,
                  vidsch->config.wddm_version);
        return;
    }
    if (data->Flags.Value & ~known_flags(type))
        WARNING("SUBMIT-058", "flags 0x%x with interrupt type %d", data->Flags.Value, (int)type);
    switch (type) {
    case DXGK_INTERRUPT_DMA_COMPLETED:
        dma_completed(vidsch, data->DmaCompleted.SubmissionFenceId, data->DmaCompleted.NodeOrdinal,
                      data->DmaCompleted.EngineOrdinal);
        break;
    case DXGK_INTERRUPT_DMA_PREEMPTED:
        dma_preempted(vidsch, data->DmaPreempted.PreemptionFenceId,
                      data->DmaPreempted.LastCompletedFenceId, data->DmaPreempted.NodeOrdinal,
                      data->DmaPreempted.EngineOrdinal);
        break;
    case DXGK_INTERRUPT_DMA_FAULTED:
        dma_faulted(vidsch, data);
        break;
    case DXGK_INTERRUPT_DMA_PAGE_FAULTED:
        dma_page_faulted(vidsch, data);
        break;
    case DXGK_INTERRUPT_MONITORED_FENCE_SIGNALED:
        monitored_fence_signaled(vidsch, data);
        break;
    default:
        notify_hardware(vidsch, data);
        break;
    }
}

void vidsch_note_bus_fault(struct vidsch *vidsch, const struct iommu_fault *fault)
{
    vidsch->interrupts.bus_fault = *fault;
    vidsch->interrupts.bus_fault_noted = true;
}
