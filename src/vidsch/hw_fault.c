/* SPDX-License-Identifier: MIT */
#include "vidsch/hw_fault.h"
#include "sim/irql.h"
#include "sim/sim_assert.h"
#include "vidmm/process.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/device_loss.h"
#include "vidsch/hw_context.h"
#include "vidsch/hw_retire.h"
#include "vidsch/interrupt.h"
#include "vidsch/loss_report.h"
#include "vidsch/node.h"
#include "vidsch/packet.h"
#include "vidsch/process.h"
#include "vidsch/recovery.h"
#include "vidsch/scheduler.h"
#include "vidsch/vidsch_bugcheck.h"

#define RECOVERY                                                                      \
    (DXGK_PAGE_FAULT_ADAPTER_RESET_REQUIRED | DXGK_PAGE_FAULT_ENGINE_RESET_REQUIRED | \
     DXGK_PAGE_FAULT_FATAL_HARDWARE_ERROR)

static struct vidsch_context *find_queue(const struct vidsch *vidsch, HANDLE handle)
{
    struct vidmm_context *mm = ddi_handle_lookup(&vidsch->ddi->handles, handle, DDI_HANDLE_HW_QUEUE);

    return mm ? CONTAINER(mm, struct vidsch_context, mm) : NULL;
}

static bool is_in_flight(const struct vidsch_context *queue, uint64_t id)
{
    LIST_FOR(link, &queue->hw_queue->in_flight)
        if (CONTAINER(link, struct packet, link)->hw->id == id)
            return true;
    return false;
}

bool vidsch_hw_fault_notified(const struct vidsch_node *node,
                              const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    const unsigned flags = (unsigned)data->HwQueuePageFaulted.PageFaultFlags;
    const uint64_t id = data->HwQueuePageFaulted.FaultedFenceId;
    const struct vidsch_context *queue;

    if (flags & DXGK_PAGE_FAULT_FATAL_HARDWARE_ERROR) {
        verify_fatal("GPUVA-255", VIDEO_SCHEDULER_INTERNAL_ERROR, SCHEDULER_FATAL_PAGE_FAULT, id,
                     data->HwQueuePageFaulted.FaultedVirtualAddress, flags,
                     "the driver reported a fatal hardware error on node %u", node->ordinal);
        return false;
    }
    if (flags & DXGK_PAGE_FAULT_FENCE_INVALID) {
        if (flags & RECOVERY)
            return true;
        verify_fatal("GPUVA-253", VIDEO_SCHEDULER_INTERNAL_ERROR, SCHEDULER_BAD_PAGE_FAULT_FLAGS,
                     flags, id, node->ordinal,
                     "page fault without a fence: flags 0x%x, no reset is asked for", flags);
        return false;
    }
    queue = find_queue(node->vidsch, data->HwQueuePageFaulted.FaultedHwQueue);
    if (queue && queue->node == node && is_in_flight(queue, id))
        return true;
    VIOLATION("SUBMIT-084",
              "page fault of node %u with progress fence id %llu, not in flight, of %s",
              node->ordinal, (unsigned long long)id,
              queue ? "its FaultedHwQueue"
                    : ddi_handle_describe(&node->vidsch->ddi->handles,
                                          data->HwQueuePageFaulted.FaultedHwQueue)
                          .text);
    return false;
}

void vidsch_hw_fault_record(struct irq_record *r, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    r->culprit = data->HwQueuePageFaulted.FaultedHwQueue; /* a union with the others */
    r->page_fault_flags = data->HwQueuePageFaulted.PageFaultFlags;
    r->fault = (D3DKMT_DEVICEPAGEFAULT_STATE){
        .FaultedPrimitiveAPISequenceNumber =
            data->HwQueuePageFaulted.FaultedPrimitiveAPISequenceNumber,
        .FaultedPipelineStage = data->HwQueuePageFaulted.FaultedPipelineStage,
        .FaultedBindTableEntry = data->HwQueuePageFaulted.FaultedBindTableEntry,
        .PageFaultFlags = data->HwQueuePageFaulted.PageFaultFlags,
        .FaultErrorCode = data->HwQueuePageFaulted.FaultErrorCode,
        .FaultedVirtualAddress = data->HwQueuePageFaulted.FaultedVirtualAddress,
    };
}

static void lose(struct vidsch_device *device, const struct irq_record *r, const char *why)
{
    if (device->system)
        return;
    device->fault = r->fault;
    vidsch_device_lose(device, D3DKMT_DEVICEEXECUTION_ERROR_DMAPAGEFAULT, false, why);
}

static void lose_process(struct vidsch *vidsch, const struct irq_record *r, const char *why)
{
    const struct vidmm_process *mm = ddi_handle_lookup(&vidsch->ddi->handles, r->culprit,
                                                       DDI_HANDLE_PROCESS);

    if (!mm)
        VIOLATION("SUBMIT-085", "page fault with FaultedProcessHandle %s",
                  ddi_handle_describe(&vidsch->ddi->handles, r->culprit).text);
    LIST_FOR(link, &vidsch->devices) {
        struct vidsch_device *device = CONTAINER(link, struct vidsch_device, link);

        if (mm && device->process->mm == mm)
            lose(device, r, why);
    }
}

static void lose_context(struct vidsch *vidsch, const struct irq_record *r, const char *why)
{
    struct vidsch_hw_context *hw = vidsch_hw_context_find(vidsch, r->culprit);

    if (hw)
        lose(hw->context->device, r, why);
    else
        VIOLATION("SUBMIT-085", "page fault with FaultedHwContext %s",
                  ddi_handle_describe(&vidsch->ddi->handles, r->culprit).text);
}

void vidsch_hw_fault_dpc(struct vidsch_node *node, const struct irq_record *r)
{
    const unsigned flags = (unsigned)r->page_fault_flags;
    struct vidsch *vidsch = node->vidsch;
    struct vidsch_loss loss;
    bool paging = false;

    sim_assert_irql(SIM_IRQL_DISPATCH);
    vidsch_hw_retire_node(node);
    vidsch_loss_page_fault(&loss, node, NULL, r);
    if (!(flags & DXGK_PAGE_FAULT_FENCE_INVALID)) {
        struct vidsch_context *queue = find_queue(vidsch, r->culprit);

        paging = queue && queue->device->system;
        if (queue)
            lose(queue->device, r, loss.text);
    } else if (flags & DXGK_PAGE_FAULT_HW_CONTEXT_VALID) {
        lose_context(vidsch, r, loss.text);
    } else if (flags & DXGK_PAGE_FAULT_PROCESS_HANDLE_VALID) {
        lose_process(vidsch, r, loss.text);
    }
    if (paging || (flags & DXGK_PAGE_FAULT_ADAPTER_RESET_REQUIRED)) /* GPUVA-257 */
        vidsch_recovery_want_adapter(vidsch, RECOVER_PAGE_FAULT);
    else if (flags & DXGK_PAGE_FAULT_ENGINE_RESET_REQUIRED)
        vidsch_recovery_want_engine(node, RECOVER_PAGE_FAULT);
}
