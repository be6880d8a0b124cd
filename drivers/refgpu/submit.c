/* SPDX-License-Identifier: MIT */
/*
 * Rings. A packet becomes one ring entry. A packet that was interrupted by a preemption is known by
 * its fence; when the host submits it again, the entry continues where the engine stopped.
 */
#include "driver.h"

NTSTATUS refgpu_synchronize(struct refgpu_adapter *adapter, PKSYNCHRONIZE_ROUTINE routine,
                            PVOID context)
{
    BOOLEAN result = FALSE;

    return adapter->dxgk.DxgkCbSynchronizeExecution(adapter->dxgk.DeviceHandle, routine, context, 0,
                                                    &result);
}

ULONG refgpu_completed(const struct refgpu_node *node, ULONG hardware)
{
    const ULONG fence = refgpu_later(hardware, node->completed) ? hardware : node->completed;

    if (node->reject_fence && refgpu_later(node->reject_fence, fence) &&
        !refgpu_later(node->reject_after, fence))
        return node->reject_fence;
    return fence;
}

/* ---- submission ---- */

struct packet {
    struct refgpu_context *context; /* NULL: the null context */
    struct refgpu_private *data;    /* NULL: none */
    ULONGLONG address;
    ULONG bytes, fence;
    DXGK_SUBMITCOMMANDFLAGS flags;
};

/* Resume an interrupted packet: a paging packet keeps its fence, others are recognized by their
 * private data. */
static void resume(const struct packet *p, const struct refgpu_node *node,
                   struct refgpu_ring_entry *entry)
{
    struct refgpu_context *context = p->context;
    ULONG before;

    if (!context || !context->stop_fence || !p->flags.Resubmission || !entry->bytes)
        return;
    before = p->flags.Paging || !p->data || p->data->magic != REFGPU_UMD_MAGIC ? p->fence
                                                                               : p->data->fence;
    if (before != context->stop_fence)
        return;
    if (node->index == REFGPU_NODE_COPY && entry->save)
        entry->flags |= REFGPU_ENTRY_RESUME;
    else
        entry->start = context->stop_offset;
    context->stop_fence = 0;
}

static NTSTATUS submit(struct refgpu_node *node, const struct packet *p)
{
    struct refgpu_ring_entry *slot = &node->entries[node->tail];
    struct refgpu_ring_entry entry;
    const ULONG next = (node->tail + 1u) & (REFGPU_RING_ENTRIES - 1u);

    RtlZeroMemory(&entry, sizeof entry);
    entry.address = p->address;
    entry.bytes = p->bytes;
    entry.fence = p->fence;
    entry.flags = REFGPU_ENTRY_INTERRUPT;
    if (p->context) {
        entry.context = p->context->id;
        entry.root = p->context->root;
        entry.save = p->context->save;
        if (p->context->system || p->flags.Paging)
            entry.flags |= REFGPU_ENTRY_PRIVILEGED;
    }
    if (node->index == REFGPU_NODE_2D)
        entry.root = entry.save = 0;
    if (p->flags.NullRendering || p->flags.ContextSwitch)
        entry.bytes = 0;
    resume(p, node, &entry);
    if (p->data) {
        p->data->magic = REFGPU_UMD_MAGIC;
        p->data->fence = p->fence;
    }
    node->slot_context[node->tail] = p->context;
    node->slot_fence[node->tail] = p->fence;
    *slot = entry;
    node->tail = next;
    if (refgpu_later(p->fence, node->last_submitted) || !node->last_submitted)
        node->last_submitted = p->fence;
    node->submitted++;
    KeMemoryBarrier();
    refgpu_write_register(node->adapter, REFGPU_REG_ENGINE(node->index, REFGPU_ENG_TAIL), next);
    return STATUS_SUCCESS;
}

static struct refgpu_private *private_part(PVOID data, UINT bytes)
{
    if (!data || bytes < REFGPU_PRIVATE_OFFSET + sizeof(struct refgpu_private))
        return NULL;
    return (struct refgpu_private *)(PVOID)((PUCHAR)data + REFGPU_PRIVATE_OFFSET);
}

NTSTATUS NTAPI RefGpuSubmitCommand(IN_CONST_HANDLE hAdapter,
                                   IN_CONST_PDXGKARG_SUBMITCOMMAND pSubmitCommand)
{
    struct refgpu_adapter *adapter = hAdapter;
    const DXGKARG_SUBMITCOMMAND *args = pSubmitCommand;
    struct packet p;

    if (args->NodeOrdinal >= REFGPU_NODES)
        return STATUS_INVALID_PARAMETER;
    p.context = args->hContext;
    p.data = args->Flags.ContextSwitch
                 ? NULL
                 : private_part(args->pDmaBufferPrivateData, args->DmaBufferPrivateDataSize);
    p.address = (ULONGLONG)args->DmaBufferPhysicalAddress.QuadPart +
                args->DmaBufferSubmissionStartOffset;
    p.bytes = args->DmaBufferSubmissionEndOffset - args->DmaBufferSubmissionStartOffset;
    p.fence = args->SubmissionFenceId;
    p.flags = args->Flags;
    return submit(&adapter->node[args->NodeOrdinal], &p);
}

/* Check the client's private data of the packet. */
static NTSTATUS check_private(const DXGKARG_SUBMITCOMMANDVIRTUAL *args)
{
    struct refgpu_submit_data data;

    if (!args->DmaBufferUmdPrivateDataSize)
        return STATUS_SUCCESS;
    if (args->DmaBufferUmdPrivateDataSize < sizeof data || !args->pDmaBufferPrivateData)
        return STATUS_INVALID_PARAMETER;
    RtlCopyMemory(&data, args->pDmaBufferPrivateData, sizeof data);
    if (data.magic != REFGPU_UMD_MAGIC || data.flags) /* REJECT is the only flag */
        return STATUS_INVALID_PARAMETER;
    return STATUS_SUCCESS;
}

static void reject(struct refgpu_node *node, ULONG fence)
{
    if (node->reject_fence != node->last_submitted || !node->reject_fence)
        node->reject_after = node->last_submitted;
    node->reject_fence = fence;
    node->last_submitted = fence;
}

NTSTATUS NTAPI RefGpuSubmitCommandVirtual(
    IN_CONST_HANDLE hAdapter, IN_CONST_PDXGKARG_SUBMITCOMMANDVIRTUAL pSubmitCommandVirtual)
{
    struct refgpu_adapter *adapter = hAdapter;
    const DXGKARG_SUBMITCOMMANDVIRTUAL *args = pSubmitCommandVirtual;
    struct refgpu_node *node;
    struct packet p;

    if (args->NodeOrdinal != REFGPU_NODE_COPY)
        return STATUS_INVALID_PARAMETER;
    node = &adapter->node[args->NodeOrdinal];
    p.context = args->hContext;
    if (!args->Flags.Resubmission &&
        ((args->DmaBufferVirtualAddress & 3u) || (args->DmaBufferSize & 3u) ||
         !NT_SUCCESS(check_private(args)) ||
         (p.context && args->DmaBufferSize && !p.context->root_known))) {
        reject(node, args->SubmissionFenceId);
        return STATUS_INVALID_PARAMETER;
    }
    p.data = args->Flags.ContextSwitch
                 ? NULL
                 : private_part(args->pDmaBufferPrivateData, args->DmaBufferPrivateDataSize);
    p.address = args->DmaBufferVirtualAddress;
    p.bytes = args->DmaBufferSize;
    p.fence = args->SubmissionFenceId;
    p.flags = args->Flags;
    return submit(node, &p);
}

/* ---- preemption and cancellation ---- */

struct preemption {
    struct refgpu_node *node;
    ULONG fence;
};

static BOOLEAN NTAPI note_preemption(PVOID context)
{
    const struct preemption *request = context;

    request->node->preempt_fence = request->fence;
    return TRUE;
}

NTSTATUS NTAPI RefGpuPreemptCommand(IN_CONST_HANDLE hAdapter,
                                    IN_CONST_PDXGKARG_PREEMPTCOMMAND pPreemptCommand)
{
    struct refgpu_adapter *adapter = hAdapter;
    struct preemption request;
    NTSTATUS status;

    if (pPreemptCommand->NodeOrdinal >= REFGPU_NODES)
        return STATUS_INVALID_PARAMETER;
    request.node = &adapter->node[pPreemptCommand->NodeOrdinal];
    request.fence = pPreemptCommand->PreemptionFenceId;
    status = refgpu_synchronize(adapter, note_preemption, &request);
    if (!NT_SUCCESS(status))
        return status;
    /* An idle engine answers, too, so the report always comes from the ISR. */
    refgpu_write_register(adapter, REFGPU_REG_ENGINE(request.node->index, REFGPU_ENG_PREEMPT),
                          request.fence);
    return STATUS_SUCCESS;
}

/* The miniport keeps nothing about packets that never reached a ring. */
NTSTATUS NTAPI RefGpuCancelCommand(IN_CONST_HANDLE hAdapter,
                                   IN_CONST_PDXGKARG_CANCELCOMMAND pCancelCommand)
{
    struct refgpu_context *context = pCancelCommand->hContext;

    (void)hAdapter;
    if (context)
        context->stop_fence = 0;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI RefGpuQueryCurrentFence(IN_CONST_HANDLE hAdapter,
                                       INOUT_PDXGKARG_QUERYCURRENTFENCE pCurrentFence)
{
    struct refgpu_adapter *adapter = hAdapter;
    struct refgpu_node *node;
    NTSTATUS status;

    if (pCurrentFence->NodeOrdinal >= REFGPU_NODES || pCurrentFence->EngineOrdinal)
        return STATUS_INVALID_PARAMETER;
    node = &adapter->node[pCurrentFence->NodeOrdinal];
    status = refgpu_synchronize(adapter, refgpu_report_progress, node);
    if (NT_SUCCESS(status))
        pCurrentFence->CurrentFence = refgpu_completed(node, node->completed);
    return status;
}
