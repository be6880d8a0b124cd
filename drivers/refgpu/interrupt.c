/* SPDX-License-Identifier: MIT */
/*
 * The ISR acknowledges all causes with one register read, then reads the fence block in memory:
 * whatever completes after the acknowledgement raises a new cause, so nothing is lost, and a cause
 * may turn out to be handled already.
 */
#include "driver.h"

static void notify(struct refgpu_adapter *adapter, DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    adapter->dxgk.DxgkCbNotifyInterrupt(adapter->dxgk.DeviceHandle, data);
}

/* Report a completion that was not reported yet. */
static BOOLEAN report_completed(struct refgpu_node *node)
{
    const ULONG completed = node->fence->completed;
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

    if (!refgpu_later(completed, node->completed))
        return FALSE;
    node->completed = completed;
    data.InterruptType = DXGK_INTERRUPT_DMA_COMPLETED;
    data.DmaCompleted.SubmissionFenceId = completed;
    data.DmaCompleted.NodeOrdinal = node->index;
    data.DmaCompleted.EngineOrdinal = 0;
    data.Flags.Value = 0;
    notify(node->adapter, &data);
    return TRUE;
}

BOOLEAN NTAPI refgpu_report_progress(PVOID context)
{
    struct refgpu_node *node = context;

    if (node->adapter->registers && report_completed(node))
        (void)node->adapter->dxgk.DxgkCbQueueDpc(node->adapter->dxgk.DeviceHandle);
    return TRUE;
}

static struct refgpu_context *context_of(const struct refgpu_node *node, ULONG fence)
{
    for (ULONG i = 0; i < REFGPU_RING_ENTRIES; i++) {
        if (node->slot_fence[i] == fence)
            return node->slot_context[i];
    }
    return NULL;
}

static ULONG engine_read(const struct refgpu_node *node, ULONG reg)
{
    return refgpu_read(node->adapter, REFGPU_REG_ENGINE(node->index, reg));
}

static void report_preempted(struct refgpu_node *node)
{
    const ULONG stopped = engine_read(node, REFGPU_ENG_STOP_FENCE);
    struct refgpu_context *context = stopped ? context_of(node, stopped) : NULL;
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

    if (!node->preempt_fence || engine_read(node, REFGPU_ENG_PREEMPTED) != node->preempt_fence)
        return;
    if (context) {
        context->stop_fence = stopped;
        context->stop_offset = engine_read(node, REFGPU_ENG_STOP_OFFSET);
    }
    RtlZeroMemory(&data, sizeof data);
    data.InterruptType = DXGK_INTERRUPT_DMA_PREEMPTED;
    data.DmaPreempted.PreemptionFenceId = node->preempt_fence;
    data.DmaPreempted.LastCompletedFenceId = refgpu_completed(node, node->fence->completed);
    data.DmaPreempted.NodeOrdinal = node->index;
    node->completed = data.DmaPreempted.LastCompletedFenceId;
    node->preempt_fence = 0;
    notify(node->adapter, &data);
}

/*
 * A page fault, or an access that the bus refused. The engine has halted, and is reset at the
 * host's request. A bus fault does not come from the GPU's own tables: its address is a bus
 * address, as the kind field of the error code says.
 */
static void report_page_fault(struct refgpu_node *node, BOOLEAN bus)
{
    const ULONG info = engine_read(node, REFGPU_ENG_FAULT_INFO);
    const ULONG fence = engine_read(node, REFGPU_ENG_FAULT_FENCE);
    const struct refgpu_context *context = fence ? context_of(node, fence) : NULL;
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;
    ULONG flags = DXGK_PAGE_FAULT_ENGINE_RESET_REQUIRED;

    node->faults++;
    RtlZeroMemory(&data, sizeof data);
    data.InterruptType = DXGK_INTERRUPT_DMA_PAGE_FAULTED;
    if (info & REFGPU_FAULT_WRITE)
        flags |= DXGK_PAGE_FAULT_WRITE;
    if (fence && refgpu_later(fence, node->completed)) {
        data.DmaPageFaulted.FaultedFenceId = fence;
        node->completed = fence;
    } else { /* the ring or the fence block itself: no packet caused it */
        flags |= DXGK_PAGE_FAULT_FENCE_INVALID;
    }
    data.DmaPageFaulted.PageFaultFlags = (DXGK_PAGE_FAULT_FLAGS)flags;
    data.DmaPageFaulted.FaultedPipelineStage = DXGK_RENDER_PIPELINE_STAGE_UNKNOWN;
    data.DmaPageFaulted.NodeOrdinal = node->index;
    data.DmaPageFaulted.PageTableLevel = REFGPU_FAULT_LEVEL(info);
    if (bus) {
        data.DmaPageFaulted.FaultedVirtualAddress = D3DGPU_NULL;
        data.DmaPageFaulted.FaultErrorCode.IsDeviceSpecificCodeReservedBit = 1;
        data.DmaPageFaulted.FaultErrorCode.DeviceSpecificCode = info & 0x7FFFFFFFu;
    } else {
        data.DmaPageFaulted.FaultedVirtualAddress =
            engine_read(node, REFGPU_ENG_FAULT_ADDR_LO) |
            (ULONGLONG)engine_read(node, REFGPU_ENG_FAULT_ADDR_HI) << 32;
        data.DmaPageFaulted.FaultErrorCode.GeneralErrorCode = DXGK_GENERAL_ERROR_PAGE_FAULT;
    }
    if (context && context->device->process)
        data.DmaPageFaulted.FaultedProcessHandle = context->device->process->dxgk_process;
    notify(node->adapter, &data);
}

/* A malformed command: the packet is lost, the engine continues after it. */
static void report_command_error(struct refgpu_node *node)
{
    const ULONG fence = engine_read(node, REFGPU_ENG_FAULT_FENCE);
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

    node->faults++;
    RtlZeroMemory(&data, sizeof data);
    if (fence && refgpu_later(fence, node->completed)) {
        data.InterruptType = DXGK_INTERRUPT_DMA_FAULTED;
        data.DmaFaulted.FaultedFenceId = fence;
        data.DmaFaulted.Status = STATUS_ILLEGAL_INSTRUCTION;
        data.DmaFaulted.NodeOrdinal = node->index;
        node->completed = fence;
        notify(node->adapter, &data);
    }
    refgpu_write_register(node->adapter, REFGPU_REG_ENGINE(node->index, REFGPU_ENG_CONTROL),
                          REFGPU_ENG_CONTROL_ENABLE | REFGPU_ENG_CONTROL_SKIP);
}

static void report_signal(struct refgpu_node *node)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

    RtlZeroMemory(&data, sizeof data);
    data.InterruptType = DXGK_INTERRUPT_MONITORED_FENCE_SIGNALED;
    data.MonitoredFenceSignaled.NodeOrdinal = node->index;
    notify(node->adapter, &data);
}

static void serve(struct refgpu_node *node, ULONG causes)
{
    const ULONG e = node->index;

    if (causes & REFGPU_IRQ_SIGNAL(e))
        report_signal(node);
    /* Report completions before whatever stopped the engine: the host expects events in this
     * order. */
    (void)report_completed(node);
    if (causes & (REFGPU_IRQ_PAGE_FAULT(e) | REFGPU_IRQ_BUS_FAULT(e)))
        report_page_fault(node, (causes & REFGPU_IRQ_BUS_FAULT(e)) != 0);
    if (causes & REFGPU_IRQ_COMMAND(e))
        report_command_error(node);
    if (causes & REFGPU_IRQ_PREEMPTED(e))
        report_preempted(node);
}

BOOLEAN NTAPI RefGpuInterruptRoutine(IN_CONST_PVOID MiniportDeviceContext, IN_ULONG MessageNumber)
{
    struct refgpu_adapter *adapter = (struct refgpu_adapter *)MiniportDeviceContext;
    ULONG causes;

    (void)MessageNumber;
    if (!adapter->registers || !adapter->powered)
        return FALSE;
    causes = refgpu_read(adapter, REFGPU_REG_IRQ_ACK);
    if (!causes || causes == ~0u)
        return FALSE;
    adapter->interrupts++;
    for (ULONG e = 0; e < REFGPU_NODES; e++) {
        if (causes & (REFGPU_IRQ_FENCE(e) | REFGPU_IRQ_PREEMPTED(e) | REFGPU_IRQ_PAGE_FAULT(e) |
                      REFGPU_IRQ_BUS_FAULT(e) | REFGPU_IRQ_COMMAND(e) | REFGPU_IRQ_SIGNAL(e)))
            serve(&adapter->node[e], causes);
    }
    if (causes & REFGPU_IRQ_SCHED_ALL)
        refgpu_scheduled_serve(adapter, causes);
    if (causes & REFGPU_IRQ_DISPLAY_ALL)
        refgpu_display_serve(adapter, causes);
    if (causes & ~(REFGPU_IRQ_FENCE(0) | REFGPU_IRQ_FENCE(1) | REFGPU_IRQ_SCHED_PROGRESS |
                   REFGPU_IRQ_DISPLAY_ALL))
        adapter->log_wanted = 1;
    (void)adapter->dxgk.DxgkCbQueueDpc(adapter->dxgk.DeviceHandle);
    return TRUE;
}

void NTAPI RefGpuDpcRoutine(IN_CONST_PVOID MiniportDeviceContext)
{
    struct refgpu_adapter *adapter = (struct refgpu_adapter *)MiniportDeviceContext;

    adapter->dxgk.DxgkCbNotifyDpc(adapter->dxgk.DeviceHandle);
    if (adapter->display.plugged)
        refgpu_display_dpc(adapter);
    if (adapter->log_wanted) {
        adapter->log_wanted = 0;
        (void)KeSetEvent(&adapter->log_wake, IO_NO_INCREMENT, FALSE);
    }
}
