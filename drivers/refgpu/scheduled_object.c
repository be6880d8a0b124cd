/* SPDX-License-Identifier: MIT */
/* Contexts and queues of the hardware-scheduled node. */
#include "driver.h"

/* ---- contexts ---- */

static BOOLEAN NTAPI take_context_slot(PVOID argument)
{
    struct refgpu_context *context = argument;
    struct refgpu_scheduled *s = &context->device->adapter->scheduled;

    for (ULONG i = 0; i < REFGPU_SCHED_CONTEXTS; i++) {
        if (s->context[i])
            continue;
        RtlZeroMemory(&s->contexts[i], sizeof s->contexts[i]);
        s->context[i] = context;
        context->schedule.slot = i;
        context->schedule.on = TRUE;
        break;
    }
    return TRUE;
}

NTSTATUS refgpu_scheduled_add(struct refgpu_context *context)
{
    struct refgpu_adapter *adapter = context->device->adapter;
    struct refgpu_context_descriptor *d;
    NTSTATUS status = refgpu_synchronize(adapter, take_context_slot, context);

    if (!NT_SUCCESS(status))
        return status;
    if (!context->schedule.on)
        return STATUS_INSUFFICIENT_RESOURCES;
    d = &adapter->scheduled.contexts[context->schedule.slot];
    d->band = REFGPU_BAND_NORMAL;
    if (context->system)
        refgpu_scheduled_first(d);
    d->process = context->device->process ? context->device->process->id : 0;
    d->id = context->id;
    d->save = context->save;
    d->tag = (ULONG_PTR)context;
    KeMemoryBarrier();
    d->flags = REFGPU_CONTEXT_VALID;
    refgpu_scheduled_command(adapter, REFGPU_SCHED_COMMAND_CONTEXT, context->schedule.slot);
    return STATUS_SUCCESS;
}

static BOOLEAN NTAPI give_context_slot(PVOID argument)
{
    struct refgpu_context *context = argument;
    struct refgpu_scheduled *s = &context->device->adapter->scheduled;
    const ULONG slot = context->schedule.slot;

    s->contexts[slot].flags = 0;
    refgpu_scheduled_command(context->device->adapter, REFGPU_SCHED_COMMAND_CONTEXT, slot);
    s->context[slot] = NULL;
    context->schedule.on = FALSE;
    return TRUE;
}

void refgpu_scheduled_remove(struct refgpu_context *context)
{
    if (context->schedule.on)
        (void)refgpu_synchronize(context->device->adapter, give_context_slot, context);
}

void refgpu_scheduled_tell(struct refgpu_context *context)
{
    struct refgpu_adapter *adapter = context->device->adapter;

    if (!context->schedule.on)
        return;
    adapter->scheduled.contexts[context->schedule.slot].root = context->root;
    refgpu_scheduled_command(adapter, REFGPU_SCHED_COMMAND_CONTEXT, context->schedule.slot);
}

NTSTATUS NTAPI RefGpuCreateHwContext(IN_CONST_HANDLE hDevice,
                                     INOUT_PDXGKARG_CREATEHWCONTEXT pCreateContext)
{
    DXGKARG_CREATECONTEXT args;
    NTSTATUS status;

    if (pCreateContext->NodeOrdinal != REFGPU_NODE_SCHEDULED)
        return STATUS_INVALID_PARAMETER;
    RtlZeroMemory(&args, sizeof args);
    args.hContext = pCreateContext->hHwContext;
    args.NodeOrdinal = pCreateContext->NodeOrdinal;
    args.EngineAffinity = pCreateContext->EngineAffinity;
    args.Flags.VirtualAddressing = 1;
    args.Flags.HwQueueSupported = 1;
    args.pPrivateDriverData = pCreateContext->pPrivateDriverData;
    args.PrivateDriverDataSize = pCreateContext->PrivateDriverDataSize;
    status = RefGpuCreateContext(hDevice, &args);
    if (NT_SUCCESS(status))
        pCreateContext->hHwContext = args.hContext;
    return status;
}

NTSTATUS NTAPI RefGpuDestroyHwContext(IN_CONST_HANDLE hHwContext)
{
    return RefGpuDestroyContext(hHwContext);
}

/* ---- queues ---- */

static BOOLEAN NTAPI take_queue_slot(PVOID argument)
{
    struct refgpu_queue *queue = argument;
    struct refgpu_context_schedule *of = &queue->context->schedule;
    struct refgpu_scheduled *s = &queue->context->device->adapter->scheduled;
    ULONG part = 0;

    for (ULONG i = 0; i < REFGPU_SCHED_QUEUES; i++) {
        if (s->queue[i])
            continue;
        RtlZeroMemory(&s->queues[i], sizeof s->queues[i]);
        s->queue[i] = queue;
        queue->slot = i;
        queue->placed = TRUE;
        break;
    }
    while (part < REFGPU_SAVE_QUEUES_COUNT && (of->save_used & 1ull << part))
        part++;
    if (queue->placed && queue->context->save && part < REFGPU_SAVE_QUEUES_COUNT) {
        of->save_used |= 1ull << part;
        queue->save_offset = REFGPU_SAVE_QUEUES + part * REFGPU_SAVE_QUEUE_BYTES;
    } /* else it is preempted between commands only */
    return TRUE;
}

static BOOLEAN NTAPI give_queue_slot(PVOID argument)
{
    struct refgpu_queue *queue = argument;
    struct refgpu_adapter *adapter = queue->context->device->adapter;
    const ULONG part = (queue->save_offset - REFGPU_SAVE_QUEUES) / REFGPU_SAVE_QUEUE_BYTES;

    adapter->scheduled.queues[queue->slot].flags = 0;
    refgpu_scheduled_command(adapter, REFGPU_SCHED_COMMAND_QUEUE, queue->slot);
    adapter->scheduled.queue[queue->slot] = NULL;
    if (queue->save_offset)
        queue->context->schedule.save_used &= ~(1ull << part);
    return TRUE;
}

static NTSTATUS make_ring(struct refgpu_adapter *adapter, struct refgpu_queue *queue)
{
    PKMUTEX lock = &adapter->scheduled.memory_lock;
    NTSTATUS status;

    (void)KeWaitForSingleObject(lock, Executive, KernelMode, FALSE, NULL);
    status = refgpu_dma_contiguous(adapter, REFGPU_QUEUE_ENTRIES * REFGPU_QUEUE_ENTRY_BYTES,
                                   &queue->ring);
    (void)KeReleaseMutex(lock, FALSE);
    queue->entries = queue->ring.cpu;
    return status;
}

static void free_queue(struct refgpu_adapter *adapter, struct refgpu_queue *queue)
{
    PKMUTEX lock = &adapter->scheduled.memory_lock;

    (void)KeWaitForSingleObject(lock, Executive, KernelMode, FALSE, NULL);
    refgpu_dma_free(adapter, &queue->ring);
    (void)KeReleaseMutex(lock, FALSE);
    refgpu_free(queue);
}

static void describe(const struct refgpu_queue *queue, const DXGKARG_CREATEHWQUEUE *args)
{
    struct refgpu_adapter *adapter = queue->context->device->adapter;
    struct refgpu_queue_descriptor *d = &adapter->scheduled.queues[queue->slot];

    d->context = queue->context->schedule.slot;
    d->ring = refgpu_dma_page(&queue->ring, 0);
    d->entries = REFGPU_QUEUE_ENTRIES;
    d->save_offset = queue->save_offset;
    d->fence = args->HwQueueProgressFenceGPUVirtualAddress;
    KeMemoryBarrier();
    d->flags = REFGPU_QUEUE_VALID;
    refgpu_scheduled_command(adapter, REFGPU_SCHED_COMMAND_QUEUE, queue->slot);
}

NTSTATUS NTAPI RefGpuCreateHwQueue(IN_CONST_HANDLE hHwContext,
                                   INOUT_PDXGKARG_CREATEHWQUEUE pCreateHwQueue)
{
    struct refgpu_context *context = (struct refgpu_context *)hHwContext;
    struct refgpu_adapter *adapter = context->device->adapter;
    struct refgpu_queue *queue;
    NTSTATUS status;

    if (!context->schedule.on)
        return STATUS_INVALID_PARAMETER;
    queue = refgpu_allocate(sizeof *queue);
    if (!queue)
        return STATUS_NO_MEMORY;
    queue->context = context;
    queue->dxgk_queue = pCreateHwQueue->hHwQueue;
    status = make_ring(adapter, queue);
    if (NT_SUCCESS(status))
        status = refgpu_synchronize(adapter, take_queue_slot, queue);
    if (NT_SUCCESS(status) && !queue->placed)
        status = STATUS_INSUFFICIENT_RESOURCES;
    if (!NT_SUCCESS(status)) {
        free_queue(adapter, queue);
        return status;
    }
    describe(queue, pCreateHwQueue);
    pCreateHwQueue->hHwQueue = queue;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI RefGpuDestroyHwQueue(IN_CONST_HANDLE hHwQueue)
{
    struct refgpu_queue *queue = (struct refgpu_queue *)hHwQueue;
    struct refgpu_adapter *adapter = queue->context->device->adapter;

    (void)refgpu_synchronize(adapter, give_queue_slot, queue);
    free_queue(adapter, queue);
    return STATUS_SUCCESS;
}
