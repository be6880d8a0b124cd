/* SPDX-License-Identifier: MIT */
/* What the scheduled engine says in its interrupts, suspension of contexts, and resets. */
#include "driver.h"

static ULONG engine_read(const struct refgpu_adapter *adapter, ULONG reg)
{
    return refgpu_read((struct refgpu_adapter *)(ULONG_PTR)adapter,
                       REFGPU_REG_ENGINE(REFGPU_ENGINE_SCHEDULED, reg));
}

static void notify(struct refgpu_adapter *adapter, DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    adapter->dxgk.DxgkCbNotifyInterrupt(adapter->dxgk.DeviceHandle, data);
}

/* ---- interrupts ---- */

/* Progress fences, or fences that clients' commands wrote. */
static void report_signal(struct refgpu_adapter *adapter)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

    RtlZeroMemory(&data, sizeof data);
    data.InterruptType = DXGK_INTERRUPT_MONITORED_FENCE_SIGNALED;
    data.MonitoredFenceSignaled.NodeOrdinal = REFGPU_NODE_SCHEDULED;
    notify(adapter, &data);
}

static void report_suspended(struct refgpu_adapter *adapter)
{
    struct refgpu_scheduled *s = &adapter->scheduled;
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

    for (ULONG i = 0; i < REFGPU_SCHED_CONTEXTS; i++) {
        struct refgpu_context *context = s->context[i];
        volatile struct refgpu_context_descriptor *d = &s->contexts[i];

        if (!context || !context->schedule.suspend_fence ||
            d->suspended != context->schedule.suspend_fence)
            continue;
        RtlZeroMemory(&data, sizeof data);
        data.InterruptType = DXGK_INTERRUPT_SUSPEND_CONTEXT_COMPLETED;
        data.SuspendContextCompleted.hContext = context->dxgk_context;
        data.SuspendContextCompleted.ContextSuspendFence = context->schedule.suspend_fence;
        context->schedule.suspend_fence = 0;
        notify(adapter, &data);
    }
}

/* Whatever it is, the engine has halted, and is reset at the host's request. Hardware queues have no
 * other way to say that a command is malformed. */
static void report_fault(struct refgpu_adapter *adapter)
{
    struct refgpu_scheduled *s = &adapter->scheduled;
    const ULONG info = engine_read(adapter, REFGPU_ENG_FAULT_INFO);
    const ULONG running = refgpu_read(adapter, REFGPU_REG_SCHED_RUNNING);
    const struct refgpu_queue *queue = NULL;
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;
    ULONG flags = DXGK_PAGE_FAULT_ENGINE_RESET_REQUIRED;

    s->faults++;
    if (running & REFGPU_SCHED_QUEUE_VALID)
        queue = s->queue[running & (REFGPU_SCHED_QUEUES - 1u)];
    RtlZeroMemory(&data, sizeof data);
    data.InterruptType = DXGK_INTERRUPT_HWQUEUE_PAGE_FAULTED;
    if (info & REFGPU_FAULT_WRITE)
        flags |= DXGK_PAGE_FAULT_WRITE;
    if (queue) {
        data.HwQueuePageFaulted.FaultedFenceId = queue->entries[s->queues[queue->slot].head].value;
        data.HwQueuePageFaulted.FaultedHwQueue = queue->dxgk_queue;
    } else { /* the tables: nobody's command caused it */
        flags |= DXGK_PAGE_FAULT_FENCE_INVALID;
    }
    data.HwQueuePageFaulted.PageFaultFlags = (DXGK_PAGE_FAULT_FLAGS)flags;
    data.HwQueuePageFaulted.FaultedPipelineStage = DXGK_RENDER_PIPELINE_STAGE_UNKNOWN;
    data.HwQueuePageFaulted.NodeOrdinal = REFGPU_NODE_SCHEDULED;
    data.HwQueuePageFaulted.PageTableLevel = REFGPU_FAULT_LEVEL(info);
    if (REFGPU_FAULT_KIND(info) == REFGPU_FAULT_PAGE) {
        data.HwQueuePageFaulted.FaultedVirtualAddress =
            engine_read(adapter, REFGPU_ENG_FAULT_ADDR_LO) |
            (ULONGLONG)engine_read(adapter, REFGPU_ENG_FAULT_ADDR_HI) << 32;
        data.HwQueuePageFaulted.FaultErrorCode.GeneralErrorCode = DXGK_GENERAL_ERROR_PAGE_FAULT;
    } else {
        data.HwQueuePageFaulted.FaultErrorCode.IsDeviceSpecificCodeReservedBit = 1;
        data.HwQueuePageFaulted.FaultErrorCode.DeviceSpecificCode = info & 0x7FFFFFFFu;
    }
    notify(adapter, &data);
}

static void report_log(struct refgpu_adapter *adapter)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

    RtlZeroMemory(&data, sizeof data);
    data.InterruptType = DXGK_INTERRUPT_SCHEDULING_LOG_INTERRUPT;
    data.SchedulingLogInterrupt.NodeOrdinal = REFGPU_NODE_SCHEDULED;
    notify(adapter, &data);
}

void refgpu_scheduled_serve(struct refgpu_adapter *adapter, ULONG causes)
{
    if (causes & (REFGPU_IRQ_SCHED_PROGRESS | REFGPU_IRQ_SCHED_SIGNAL))
        report_signal(adapter);
    if (causes & REFGPU_IRQ_SCHED_SUSPENDED)
        report_suspended(adapter);
    if (causes & REFGPU_IRQ_SCHED_LOG)
        report_log(adapter);
    if (causes & REFGPU_IRQ_SCHED_FAULT)
        report_fault(adapter);
}

/* ---- suspension ---- */

struct suspension {
    struct refgpu_context *context;
    ULONGLONG fence;
    NTSTATUS status;
};

static BOOLEAN NTAPI suspend(PVOID argument)
{
    struct suspension *request = argument;
    struct refgpu_context_schedule *of = &request->context->schedule;
    struct refgpu_adapter *adapter = request->context->device->adapter;
    struct refgpu_context_descriptor *d = &adapter->scheduled.contexts[of->slot];

    request->status = STATUS_SUCCESS;
    if (of->off && !of->suspend_fence)
        return TRUE; /* it is suspended already */
    of->off = TRUE;
    d->flags |= REFGPU_CONTEXT_SUSPENDED;
    if (!adapter->powered)
        return TRUE;
    request->status = STATUS_PENDING;
    of->suspend_fence = request->fence;
    d->suspend = request->fence;
    refgpu_scheduled_command(adapter, REFGPU_SCHED_COMMAND_SUSPEND, of->slot);
    return TRUE;
}

NTSTATUS NTAPI RefGpuSuspendContext(IN_CONST_HANDLE hAdapter,
                                    IN_CONST_PDXGKARG_SUSPENDCONTEXT pSuspendContext)
{
    struct suspension request = {.context = pSuspendContext->hContext,
                                 .fence = pSuspendContext->contextSuspendFence};
    NTSTATUS status;

    if (!request.context->schedule.on)
        return STATUS_INVALID_PARAMETER;
    status = refgpu_synchronize((struct refgpu_adapter *)hAdapter, suspend, &request);
    return NT_SUCCESS(status) ? request.status : status;
}

static BOOLEAN NTAPI resume(PVOID argument)
{
    struct refgpu_context *context = argument;
    struct refgpu_adapter *adapter = context->device->adapter;

    context->schedule.off = FALSE;
    context->schedule.suspend_fence = 0;
    adapter->scheduled.contexts[context->schedule.slot].flags &= ~REFGPU_CONTEXT_SUSPENDED;
    refgpu_scheduled_command(adapter, REFGPU_SCHED_COMMAND_RESUME, context->schedule.slot);
    return TRUE;
}

NTSTATUS NTAPI RefGpuResumeContext(IN_CONST_HANDLE hAdapter,
                                   IN_CONST_PDXGKARG_RESUMECONTEXT pResumeContext)
{
    struct refgpu_context *context = pResumeContext->hContext;

    if (!context->schedule.on)
        return STATUS_INVALID_PARAMETER;
    return refgpu_synchronize((struct refgpu_adapter *)hAdapter, resume, context);
}

/* ---- resets ---- */

/* Requests that the engine had not answered are void. */
static void void_suspensions(struct refgpu_adapter *adapter, BOOLEAN all)
{
    struct refgpu_scheduled *s = &adapter->scheduled;

    for (ULONG i = 0; i < REFGPU_SCHED_CONTEXTS; i++) {
        struct refgpu_context *context = s->context[i];

        if (!context || (!all && !context->schedule.suspend_fence))
            continue;
        context->schedule.suspend_fence = 0;
        context->schedule.off = FALSE;
        s->contexts[i].flags &= ~REFGPU_CONTEXT_SUSPENDED;
    }
}

void refgpu_scheduled_empty(struct refgpu_adapter *adapter)
{
    struct refgpu_scheduled *s = &adapter->scheduled;

    if (!s->on)
        return;
    void_suspensions(adapter, TRUE);
    for (ULONG i = 0; i < REFGPU_SCHED_CONTEXTS; i++)
        if (s->context[i]) /* an engine reset may have hit that of paging, which lives on */
            s->contexts[i].flags = REFGPU_CONTEXT_VALID;
    for (ULONG i = 0; i < REFGPU_SCHED_QUEUES; i++) {
        if (!s->queue[i])
            continue;
        s->queue[i]->tail = 0;
        s->queues[i].tail = s->queues[i].head = 0;
        s->queues[i].start = s->queues[i].state = 0;
    }
}

struct hw_reset {
    struct refgpu_adapter *adapter;
    HANDLE hit; /* the host's handle of the context that had the engine; NULL: none */
};

static BOOLEAN NTAPI reset_engine(PVOID argument)
{
    struct hw_reset *reset = argument;
    struct refgpu_adapter *adapter = reset->adapter;
    struct refgpu_scheduled *s = &adapter->scheduled;
    ULONG aborted;

    refgpu_write_register(adapter, REFGPU_REG_ENGINE(REFGPU_ENGINE_SCHEDULED, REFGPU_ENG_CONTROL),
                          REFGPU_ENG_CONTROL_RESET);
    aborted = refgpu_read(adapter, REFGPU_REG_SCHED_ABORTED);
    void_suspensions(adapter, FALSE);
    if (aborted & REFGPU_SCHED_QUEUE_VALID) {
        const struct refgpu_queue *queue = s->queue[aborted & (REFGPU_SCHED_QUEUES - 1u)];

        if (queue) { /* nothing of its context runs again */
            s->contexts[queue->context->schedule.slot].flags = 0;
            reset->hit = queue->context->dxgk_context;
        }
    }
    return TRUE;
}

NTSTATUS NTAPI RefGpuResetHwEngine(IN_CONST_HANDLE hAdapter,
                                   INOUT_PDXGKARG_RESETHWENGINE pResetHwEngine)
{
    struct hw_reset reset = {.adapter = hAdapter};
    DXGKARGCB_INVALIDATEHWCONTEXT hit;
    NTSTATUS status;

    if (pResetHwEngine->NodeOrdinal != REFGPU_NODE_SCHEDULED)
        return STATUS_INVALID_PARAMETER;
    status = refgpu_synchronize(reset.adapter, reset_engine, &reset);
    if (!NT_SUCCESS(status))
        return status;
    if (reset.hit) {
        RtlZeroMemory(&hit, sizeof hit);
        hit.hAdapter = reset.adapter->dxgk.DeviceHandle;
        hit.hHwContext = reset.hit;
        (void)reset.adapter->dxgk.DxgkCbInvalidateHwContext(&hit);
    }
    refgpu_log_drain(reset.adapter);
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI RefGpuResumeHwEngine(IN_CONST_HANDLE hAdapter,
                                    INOUT_PDXGKARG_RESUMEHWENGINE pResumeHwEngine)
{
    if (pResumeHwEngine->NodeOrdinal != REFGPU_NODE_SCHEDULED)
        return STATUS_INVALID_PARAMETER;
    refgpu_scheduled_program((struct refgpu_adapter *)hAdapter);
    return STATUS_SUCCESS;
}
