/* SPDX-License-Identifier: MIT */
/* Packets to the engines and their reports back. What the interrupt routine reads is changed under its lock only. */
#include "seeds.h"

static NTSTATUS synchronize(struct seeds_adapter *adapter, PKSYNCHRONIZE_ROUTINE routine,
                            PVOID context)
{
    BOOLEAN result = FALSE;

    return adapter->dxgk.DxgkCbSynchronizeExecution(adapter->dxgk.DeviceHandle, routine, context, 0,
                                                    &result);
}

struct packet {
    struct seeds_adapter *adapter;
    ULONGLONG address, root;
    ULONG node, bytes, flags, fence;
};

static void engine_write(const struct packet *p, ULONG reg, ULONG value)
{
    seeds_write(p->adapter, SEEDS_REG_ENGINE(p->node, reg), value);
}

static BOOLEAN NTAPI submit(PVOID context)
{
    const struct packet *p = (const struct packet *)context;

    p->adapter->node[p->node].submitted = p->fence;
    engine_write(p, SEEDS_ENG_DMA_LO, (ULONG)p->address);
    engine_write(p, SEEDS_ENG_DMA_HI, (ULONG)(p->address >> 32));
    engine_write(p, SEEDS_ENG_ROOT_LO, (ULONG)p->root);
    engine_write(p, SEEDS_ENG_ROOT_HI, (ULONG)(p->root >> 32));
    engine_write(p, SEEDS_ENG_BYTES, p->bytes);
    engine_write(p, SEEDS_ENG_FLAGS, p->flags);
    engine_write(p, SEEDS_ENG_SUBMIT, p->fence);
    return TRUE;
}

static ULONG node_of(const struct seeds_adapter *adapter, const DXGKARG_SUBMITCOMMAND *args)
{
    return adapter->config & SEEDS_CONFIG_MULTI ? args->NodeOrdinal : 0;
}

static void check_paging_owner(struct seeds_adapter *adapter, const DXGKARG_SUBMITCOMMAND *args)
{
    if (!args->Flags.Paging)
        return;
    if (adapter->expect_power == SEEDS_POWER_GOES)
        seeds_check(adapter, SEEDS_SUBMIT_POWER, !args->hContext, "the handle is 0x%x",
                    (ULONG_PTR)args->hContext, 0, 0, 0);
    if (!(adapter->config & SEEDS_CONFIG_MULTI))
        seeds_check(adapter, SEEDS_SUBMIT_NO_DEVICE, !args->hDevice, "the handle is 0x%x",
                    (ULONG_PTR)args->hDevice, 0, 0, 0);
}

NTSTATUS NTAPI SeedsSubmitCommand(IN_CONST_HANDLE hAdapter,
                                  IN_CONST_PDXGKARG_SUBMITCOMMAND pSubmitCommand)
{
    struct seeds_adapter *adapter = (struct seeds_adapter *)hAdapter;
    const DXGKARG_SUBMITCOMMAND *args = pSubmitCommand;
    const BOOLEAN alone = seeds_enter_class(adapter);
    struct packet p;
    NTSTATUS status;

    seeds_check(adapter, SEEDS_PATCH_NO_OVERLAP, alone, "%d routines of the class are inside",
                (ULONG)adapter->in_class, 0, 0, 0);
    seeds_check(adapter, SEEDS_SUBMIT_IRQL, KeGetCurrentIrql() == DISPATCH_LEVEL, "IRQL %d",
                KeGetCurrentIrql(), 0, 0, 0);
    if (!args->Flags.ContextSwitch)
        seeds_check_submit(adapter, args);
    check_paging_owner(adapter, args);
    RtlZeroMemory(&p, sizeof(p));
    p.adapter = adapter;
    p.node = node_of(adapter, args);
    p.address = seeds_device_address(args->DmaBufferSegmentId,
                                     (ULONGLONG)args->DmaBufferPhysicalAddress.QuadPart) +
                args->DmaBufferSubmissionStartOffset;
    p.bytes = args->DmaBufferSubmissionEndOffset - args->DmaBufferSubmissionStartOffset;
    p.fence = args->SubmissionFenceId;
    if (args->Flags.NullRendering || args->Flags.ContextSwitch)
        p.bytes = 0; /* only its fence */
    status = p.node < SEEDS_ENGINES ? synchronize(adapter, submit, &p) : STATUS_INVALID_PARAMETER;
    seeds_leave_class(adapter);
    return status;
}

#if SEEDS_2_0
NTSTATUS NTAPI SeedsSubmitCommandVirtual(IN_CONST_HANDLE hAdapter,
                                         IN_CONST_PDXGKARG_SUBMITCOMMANDVIRTUAL pSubmitCommandVirtual)
{
    const DXGKARG_SUBMITCOMMANDVIRTUAL *args = pSubmitCommandVirtual;
    const struct seeds_context *context = (const struct seeds_context *)args->hContext;
    struct packet p;

    RtlZeroMemory(&p, sizeof(p));
    p.adapter = (struct seeds_adapter *)hAdapter;
    if (args->Flags.Paging)
        seeds_check(p.adapter,
                    p.adapter->expect_power == SEEDS_POWER_GOES ? SEEDS_VIRTUAL_POWER
                                                                : SEEDS_VIRTUAL_CONTEXT,
                    context && context == p.adapter->system_context,
                    "the handle is 0x%x, the system context 0x%x", (ULONG_PTR)args->hContext,
                    (ULONG_PTR)p.adapter->system_context, 0, 0);
    p.node = args->NodeOrdinal;
    p.address = args->DmaBufferVirtualAddress;
    p.root = context ? context->root : 0;
    p.bytes = args->Flags.NullRendering || args->Flags.ContextSwitch ? 0 : args->DmaBufferSize;
    p.flags = SEEDS_PACKET_VIRTUAL;
    p.fence = args->SubmissionFenceId;
    return synchronize(p.adapter, submit, &p);
}
#endif

/* What runs ends, what is behind it is dropped; then the interrupt comes. */
static BOOLEAN NTAPI preempt(PVOID context)
{
    const struct packet *p = (const struct packet *)context;

    p->adapter->node[p->node].preemption = p->fence;
    engine_write(p, SEEDS_ENG_PREEMPT, 1);
    return TRUE;
}

NTSTATUS NTAPI SeedsPreemptCommand(IN_CONST_HANDLE hAdapter,
                                   IN_CONST_PDXGKARG_PREEMPTCOMMAND pPreemptCommand)
{
    struct seeds_adapter *adapter = (struct seeds_adapter *)hAdapter;
    const BOOLEAN alone = seeds_enter_class(adapter);
    struct packet p;
    NTSTATUS status;

    seeds_check(adapter, SEEDS_PATCH_NO_OVERLAP, alone, "%d routines of the class are inside",
                (ULONG)adapter->in_class, 0, 0, 0);
    RtlZeroMemory(&p, sizeof(p));
    p.adapter = adapter;
    p.node = pPreemptCommand->NodeOrdinal;
    p.fence = pPreemptCommand->PreemptionFenceId;
    status = p.node < SEEDS_ENGINES ? synchronize(adapter, preempt, &p) : STATUS_INVALID_PARAMETER;
    seeds_leave_class(adapter);
    return status;
}

/* ---- interrupts ---- */

static void notify(struct seeds_adapter *adapter, DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    adapter->dxgk.DxgkCbNotifyInterrupt(adapter->dxgk.DeviceHandle, data);
}

static void report_completed(struct seeds_adapter *adapter, ULONG index, ULONG fence)
{
    struct seeds_node *node = &adapter->node[index];
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

    if (fence == 0 || !seeds_later(fence, node->completed))
        return;
    node->completed = fence;
    RtlZeroMemory(&data, sizeof(data));
    data.InterruptType = DXGK_INTERRUPT_DMA_COMPLETED;
    data.DmaCompleted.SubmissionFenceId = fence;
    data.DmaCompleted.NodeOrdinal = index;
    notify(adapter, &data);
}

static void report_faulted(struct seeds_adapter *adapter, ULONG index, ULONG fence)
{
    struct seeds_node *node = &adapter->node[index];
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

    if (!seeds_later(fence, node->completed))
        return;
    node->completed = node->faulted = fence;
    RtlZeroMemory(&data, sizeof(data));
    data.InterruptType = DXGK_INTERRUPT_DMA_FAULTED;
    data.DmaFaulted.FaultedFenceId = fence;
    data.DmaFaulted.Status = STATUS_ILLEGAL_INSTRUCTION;
    data.DmaFaulted.NodeOrdinal = index;
    notify(adapter, &data);
}

static void report_preempted(struct seeds_adapter *adapter, ULONG index)
{
    struct seeds_node *node = &adapter->node[index];
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

    if (node->preemption == 0)
        return;
    RtlZeroMemory(&data, sizeof(data));
    data.InterruptType = DXGK_INTERRUPT_DMA_PREEMPTED;
    data.DmaPreempted.PreemptionFenceId = node->preemption;
    data.DmaPreempted.LastCompletedFenceId = node->completed;
    data.DmaPreempted.NodeOrdinal = index;
    node->preemption = 0;
    notify(adapter, &data);
}

static void report(struct seeds_adapter *adapter, ULONG index, ULONG causes)
{
    if (causes & SEEDS_IRQ_FAULT)
        report_faulted(adapter, index,
                       seeds_read(adapter, SEEDS_REG_ENGINE(index, SEEDS_ENG_FAULT_FENCE)));
    if (causes & SEEDS_IRQ_FENCE)
        report_completed(adapter, index,
                         seeds_read(adapter, SEEDS_REG_ENGINE(index, SEEDS_ENG_COMPLETED)));
    if (causes & SEEDS_IRQ_PREEMPTED)
        report_preempted(adapter, index);
}

BOOLEAN NTAPI SeedsInterruptRoutine(IN_CONST_PVOID MiniportDeviceContext, IN_ULONG MessageNumber)
{
    struct seeds_adapter *adapter = (struct seeds_adapter *)MiniportDeviceContext;
    ULONG causes;

    UNREFERENCED_PARAMETER(MessageNumber);
    if (!adapter->registers)
        return FALSE;
    causes = seeds_read(adapter, SEEDS_REG_IRQ_STATUS);
    if (causes == 0 || causes == ~0u) /* all ones: the device is gone */
        return FALSE;
    for (ULONG i = 0; i < SEEDS_ENGINES; i++)
        report(adapter, i, causes >> (4 * i) & 0xF);
    adapter->dxgk.DxgkCbQueueDpc(adapter->dxgk.DeviceHandle);
    return TRUE;
}

VOID NTAPI SeedsDpcRoutine(IN_CONST_PVOID MiniportDeviceContext)
{
    struct seeds_adapter *adapter = (struct seeds_adapter *)MiniportDeviceContext;

    adapter->dxgk.DxgkCbNotifyDpc(adapter->dxgk.DeviceHandle);
}

NTSTATUS NTAPI SeedsQueryCurrentFence(IN_CONST_HANDLE hAdapter,
                                      INOUT_PDXGKARG_QUERYCURRENTFENCE pCurrentFence)
{
    const struct seeds_adapter *adapter = (const struct seeds_adapter *)hAdapter;

    if (pCurrentFence->NodeOrdinal >= SEEDS_ENGINES)
        return STATUS_INVALID_PARAMETER;
    pCurrentFence->CurrentFence = adapter->node[pCurrentFence->NodeOrdinal].completed;
    return STATUS_SUCCESS;
}

/* ---- recovery: what had not completed is given up ---- */

struct abort {
    struct seeds_adapter *adapter;
    ULONG nodes; /* a mask */
};

static BOOLEAN NTAPI abort_nodes(PVOID context)
{
    const struct abort *a = (const struct abort *)context;

    for (ULONG i = 0; i < SEEDS_ENGINES; i++) {
        struct seeds_node *node = &a->adapter->node[i];

        if (a->nodes >> i & 1) {
            node->completed = node->submitted;
            node->preemption = 0;
        }
    }
    seeds_hardware_start(a->adapter);
    return TRUE;
}

/* A reset of the device drops the packets of both engines, so they are one group. */
NTSTATUS NTAPI SeedsQueryDependentEngineGroup(
    IN_CONST_HANDLE hAdapter, INOUT_DXGKARG_QUERYDEPENDENTENGINEGROUP pQueryDependentEngineGroup)
{
    const struct seeds_adapter *adapter = (const struct seeds_adapter *)hAdapter;

    pQueryDependentEngineGroup->DependentNodeOrdinalMask = adapter->config & SEEDS_CONFIG_MULTI ? 3
                                                                                                : 1;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI SeedsQueryEngineStatus(IN_CONST_HANDLE hAdapter,
                                      INOUT_PDXGKARG_QUERYENGINESTATUS pQueryEngineStatus)
{
    UNREFERENCED_PARAMETER(hAdapter);
    pQueryEngineStatus->EngineStatus.Value = 0;
    pQueryEngineStatus->EngineStatus.Responsive = 1;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI SeedsResetEngine(IN_CONST_HANDLE hAdapter, INOUT_PDXGKARG_RESETENGINE pResetEngine)
{
    struct abort a;
    NTSTATUS status;

    a.adapter = (struct seeds_adapter *)hAdapter;
    a.nodes = 3;
    if (pResetEngine->NodeOrdinal >= SEEDS_ENGINES)
        return STATUS_INVALID_PARAMETER;
    status = synchronize(a.adapter, abort_nodes, &a);
    if (NT_SUCCESS(status))
        pResetEngine->LastAbortedFenceId = a.adapter->node[pResetEngine->NodeOrdinal].submitted;
    return status;
}

NTSTATUS NTAPI SeedsResetFromTimeout(IN_CONST_HANDLE hAdapter)
{
    struct abort a;

    a.adapter = (struct seeds_adapter *)hAdapter;
    a.nodes = 3;
    return synchronize(a.adapter, abort_nodes, &a);
}

NTSTATUS NTAPI SeedsRestartFromTimeout(IN_CONST_HANDLE hAdapter)
{
    seeds_hardware_start((struct seeds_adapter *)hAdapter);
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI SeedsCollectDbgInfo(IN_CONST_HANDLE hAdapter,
                                   IN_CONST_PDXGKARG_COLLECTDBGINFO pCollectDbgInfo)
{
    const struct seeds_adapter *adapter = (const struct seeds_adapter *)hAdapter;

    if (pCollectDbgInfo->BufferSize < sizeof(adapter->node))
        return STATUS_BUFFER_TOO_SMALL;
    RtlCopyMemory(pCollectDbgInfo->pBuffer, adapter->node, sizeof(adapter->node));
    return STATUS_SUCCESS;
}
