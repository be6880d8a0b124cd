/* SPDX-License-Identifier: MIT */
/* The DPC: what was recorded at DIRQL takes effect, in order (SUBMIT-059, SUBMIT-064). */
#include "sim/irql.h"
#include "sim/sim_assert.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/device_loss.h"
#include "vidsch/hw_fault.h"
#include "vidsch/hw_log.h"
#include "vidsch/hw_retire.h"
#include "vidsch/hw_suspend.h"
#include "vidsch/interrupt.h"
#include "vidsch/kick.h"
#include "vidsch/life.h"
#include "vidsch/loss_report.h"
#include "vidsch/native_fence.h"
#include "vidsch/node.h"
#include "vidsch/packet.h"
#include "vidsch/preempt.h"
#include "vidsch/process.h"
#include "vidsch/recovery.h"
#include "vidsch/retire.h"
#include "vidsch/scheduler.h"
#include "vidsch/signal.h"
#include "vidsch/vidsch_bugcheck.h"

static void process_dma_faulted(struct vidsch_node *node, uint32_t fence, NTSTATUS status)
{
    struct vidsch_loss loss;
    struct vidsch_device *device;

    vidsch_retire_through(node, fence - 1);
    if (node->count == 0 || node_in_flight(node, 0)->fence != fence)
        return;
    device = node_in_flight(node, 0)->context->device;
    if (device->system) {
        verify_fatal("SUBMIT-076", VIDEO_SCHEDULER_INTERNAL_ERROR, SCHEDULER_PAGING_FAULTED, fence,
                     node->ordinal, 0, "paging packet %u of node %u faulted", fence, node->ordinal);
        return;
    }
    vidsch_loss_dma_fault(&loss, node, node_in_flight(node, 0), status);
    vidsch_device_lose(device, D3DKMT_DEVICEEXECUTION_ERROR_DMAFAULT, false, loss.text);
    vidsch_retire_failed(node);
    vidsch_retire_refused(node);
    vidsch_kick_node(node);
}

/* Of the oldest packet, which the driver named unless its flags say otherwise. */
static void report_page_fault(struct vidsch_loss *loss, struct vidsch_node *node,
                              const struct irq_record *r)
{
    vidsch_loss_page_fault(loss, node, node->count ? node_in_flight(node, 0) : NULL, r);
    if (node->vidsch->interrupts.bus_fault_noted) {
        node->vidsch->interrupts.bus_fault_noted = false;
        trace_instant(node->track, "bus fault", "address",
                      node->vidsch->interrupts.bus_fault.address.value, "access",
                      node->vidsch->interrupts.bus_fault.access);
    }
}

static void process_page_fault(struct vidsch_node *node, const struct irq_record *r)
{
    unsigned flags = (unsigned)r->page_fault_flags;
    struct vidsch_loss loss;
    bool paging = false;

    if (flags & DXGK_PAGE_FAULT_FENCE_INVALID) {
        report_page_fault(&loss, node, r);
    } else {
        struct vidsch_device *device;

        vidsch_retire_through(node, r->fence - 1);
        if (node->count == 0 || node_in_flight(node, 0)->fence != r->fence)
            return;
        report_page_fault(&loss, node, r);
        device = node_in_flight(node, 0)->context->device;
        paging = device->system;
        if (!paging) {
            device->fault = r->fault;
            vidsch_device_lose(device, D3DKMT_DEVICEEXECUTION_ERROR_DMAPAGEFAULT, false, loss.text);
        }
        vidsch_retire_failed(node);
        vidsch_retire_refused(node);
        vidsch_kick_node(node);
    }
    if (paging || (flags & DXGK_PAGE_FAULT_ADAPTER_RESET_REQUIRED)) /* GPUVA-257 */
        vidsch_recovery_want_adapter(node->vidsch, RECOVER_PAGE_FAULT);
    else if (flags & DXGK_PAGE_FAULT_ENGINE_RESET_REQUIRED)
        vidsch_recovery_want_engine(node, RECOVER_PAGE_FAULT);
}

static void process_record(struct vidsch *vidsch, const struct irq_record *r)
{
    struct vidsch_node *node = &vidsch->node[r->node];

    if (r->type == DXGK_INTERRUPT_SUSPEND_CONTEXT_COMPLETED)
        node->hw.suspend_noted = false;
    if (r->type == DXGK_INTERRUPT_HWQUEUE_PAGE_FAULTED)
        node->hw.fault_noted = false;
    if (r->type == DXGK_INTERRUPT_NATIVE_FENCE_SIGNALED)
        node->hw.native_noted = false;
    if (r->type == DXGK_INTERRUPT_SCHEDULING_LOG_INTERRUPT) { /* a reset leaves it as it is */
        node->hw.log_noted = false;
        vidsch_hw_log_read(node);
        return;
    }
    if (r->type == DXGK_INTERRUPT_GPU_ENGINE_STATE_CHANGE) {
        node->hw.rest_noted = false;
        node->hw.rest_due = true;
        node->hw.rests++;
        vidsch_kick_node(node);
        return;
    }
    if (r->generation != node->generation)
        return;
    switch (r->type) {
    case DXGK_INTERRUPT_DMA_COMPLETED:
        vidsch_retire_through(node, r->fence);
        break;
    case DXGK_INTERRUPT_DMA_PREEMPTED:
        vidsch_preempt_answered(node, r->fence);
        break;
    case DXGK_INTERRUPT_DMA_FAULTED:
        process_dma_faulted(node, r->fence, r->status);
        break;
    case DXGK_INTERRUPT_DMA_PAGE_FAULTED:
        process_page_fault(node, r);
        break;
    case DXGK_INTERRUPT_MONITORED_FENCE_SIGNALED: /* SUBMIT-083 */
        node->monitored_noted = false;
        vidsch_hw_retire_node(node);
        LIST_FOR_SAFE(link, next, &vidsch->processes)
            vidsch_signal_reread(vidsch, CONTAINER(link, struct vidsch_process, link));
        break;
    case DXGK_INTERRUPT_SUSPEND_CONTEXT_COMPLETED:
        vidsch_hw_suspend_dpc(node);
        break;
    case DXGK_INTERRUPT_HWQUEUE_PAGE_FAULTED:
        vidsch_hw_fault_dpc(node, r);
        break;
    case DXGK_INTERRUPT_NATIVE_FENCE_SIGNALED:
        vidsch_native_dpc(node);
        break;
    default: /* TDR-073 */
        vidsch_recovery_want_engine(node, RECOVER_DRIVER);
        break;
    }
}

void vidsch_notify_dpc(struct vidsch *vidsch)
{
    sim_assert_irql(SIM_IRQL_DISPATCH);
    vidsch->statistics.dpcs_notified++;
    vidsch_life_dpc(vidsch, true);
    while (vidsch->interrupts.tail != vidsch->interrupts.head) {
        struct irq_record r =
            vidsch->interrupts.records[vidsch->interrupts.tail++ & vidsch->interrupts.mask];

        process_record(vidsch, &r);
    }
    vidsch_life_dpc(vidsch, false);
    vidsch_debug_check(vidsch);
}
