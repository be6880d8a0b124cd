/* SPDX-License-Identifier: MIT */
/* The engine: a thread that takes packets from a queue, executes them through their page tables, and reports them. */
#include "compute.h"

/* ---- memory as the engine sees it ---- */

static PVOID MapPhysical(ULONGLONG Address, SIZE_T Bytes)
{
    PHYSICAL_ADDRESS physical;

    physical.QuadPart = (LONGLONG)Address;
    return MmMapIoSpace(physical, Bytes, MmCached);
}

static ULONGLONG ReadEntry(ULONGLONG Table, ULONGLONG Index)
{
    const ULONGLONG *entry = (const ULONGLONG *)MapPhysical(Table + Index * 8, 8);
    ULONGLONG value = 0;

    if (entry) {
        value = *entry;
        MmUnmapIoSpace((PVOID)(ULONG_PTR)entry, 8);
    }
    return value;
}

/* The leaf entry; 0: nothing is mapped there. */
static ULONGLONG Walk(const COMPUTE_CONTEXT *Context, ULONGLONG Address)
{
    const ULONGLONG page = Address >> PAGE_SHIFT;
    const ULONGLONG in_root = page >> ComputeHabits.IndexBits;
    ULONGLONG entry;

    if (!Context->Root || in_root >= Context->RootEntries)
        return 0;
    entry = ReadEntry(Context->Root, in_root);
    if (!(entry & COMPUTE_ENTRY_VALID))
        return 0;
    return ReadEntry(entry & COMPUTE_ENTRY_ADDRESS, page & ((1ull << ComputeHabits.IndexBits) - 1));
}

/* Part of one page, to or from a buffer. */
static BOOLEAN AccessPart(const COMPUTE_CONTEXT *Context, ULONGLONG Address, PUCHAR Buffer,
                          UINT Bytes, BOOLEAN Write)
{
    const ULONGLONG entry = Walk(Context, Address);
    PUCHAR memory;

    if (!(entry & COMPUTE_ENTRY_VALID) || (Write && (entry & COMPUTE_ENTRY_READ_ONLY)))
        return FALSE;
    if (entry & COMPUTE_ENTRY_ZERO) {
        if (!Write)
            RtlZeroMemory(Buffer, Bytes);
        return TRUE;
    }
    memory = (PUCHAR)MapPhysical((entry & COMPUTE_ENTRY_ADDRESS) + (Address & (PAGE_SIZE - 1)),
                                 Bytes);
    if (!memory)
        return FALSE;
    if (Write)
        RtlCopyMemory(memory, Buffer, Bytes);
    else
        RtlCopyMemory(Buffer, memory, Bytes);
    MmUnmapIoSpace(memory, Bytes);
    return TRUE;
}

static BOOLEAN Access(const COMPUTE_CONTEXT *Context, ULONGLONG Address, PVOID Buffer, UINT Bytes,
                      BOOLEAN Write)
{
    for (UINT done = 0, part; done < Bytes; done += part) {
        part = PAGE_SIZE - (UINT)((Address + done) & (PAGE_SIZE - 1));
        if (part > Bytes - done)
            part = Bytes - done;
        if (!AccessPart(Context, Address + done, (PUCHAR)Buffer + done, part, Write))
            return FALSE;
    }
    return TRUE;
}

/* ---- commands ---- */

static BOOLEAN Piece(const COMPUTE_CONTEXT *Context, const struct compute_command *Command,
                     UINT Offset, UINT Bytes)
{
    PUINT words = Context->Adapter->Words, sums = Context->Adapter->Sums;

    if (Command->op == COMPUTE_OP_FILL) {
        for (UINT i = 0; i < Bytes / 4; i++)
            words[i] = Command->value;
    } else if (!Access(Context, Command->src + Offset, words, Bytes, FALSE)) {
        return FALSE;
    }
    if (Command->op == COMPUTE_OP_ADD) {
        if (!Access(Context, Command->dst + Offset, sums, Bytes, FALSE))
            return FALSE;
        for (UINT i = 0; i < Bytes / 4; i++)
            words[i] += sums[i];
    }
    return Access(Context, Command->dst + Offset, words, Bytes, TRUE);
}

static BOOLEAN ExecuteCommand(const COMPUTE_CONTEXT *Context, const struct compute_command *Command)
{
    if (Command->op < COMPUTE_OP_FILL || Command->op > COMPUTE_OP_ADD || Command->bytes % 4 != 0)
        return FALSE;
    for (UINT done = 0, part; done < Command->bytes; done += part) {
        part = Command->bytes - done < PAGE_SIZE ? Command->bytes - done : PAGE_SIZE;
        if (!Piece(Context, Command, done, part))
            return FALSE;
    }
    return TRUE;
}

static BOOLEAN FetchCommand(const COMPUTE_PACKET *Packet, UINT Offset,
                            struct compute_command *Command)
{
    PVOID memory;

    if (!Packet->Paging)
        return Access(Packet->Context, Packet->Address + Offset, Command, sizeof(*Command), FALSE);
    memory = MapPhysical(Packet->Address + Offset, sizeof(*Command));
    if (!memory)
        return FALSE;
    RtlCopyMemory(Command, memory, sizeof(*Command));
    MmUnmapIoSpace(memory, sizeof(*Command));
    return TRUE;
}

static BOOLEAN Execute(const COMPUTE_PACKET *Packet)
{
    struct compute_command command;

    for (UINT done = 0; done < Packet->Bytes; done += sizeof(command))
        if (!FetchCommand(Packet, done, &command) || !ExecuteCommand(Packet->Context, &command))
            return FALSE;
    return TRUE;
}

/* ---- reports ---- */

typedef struct _REPORT {
    COMPUTE_ADAPTER *Adapter;
    DXGKARGCB_NOTIFY_INTERRUPT_DATA Data;
} REPORT;

static BOOLEAN NTAPI Notify(PVOID Context)
{
    REPORT *report = (REPORT *)Context;
    COMPUTE_ADAPTER *adapter = report->Adapter;

    if (report->Data.InterruptType == DXGK_INTERRUPT_DMA_COMPLETED)
        adapter->Completed = report->Data.DmaCompleted.SubmissionFenceId;
    else if (report->Data.InterruptType == DXGK_INTERRUPT_DMA_FAULTED)
        adapter->Completed = report->Data.DmaFaulted.FaultedFenceId;
    else
        report->Data.DmaPreempted.LastCompletedFenceId = adapter->Completed;
    adapter->Dxgk.DxgkCbNotifyInterrupt(adapter->Dxgk.DeviceHandle, &report->Data);
    adapter->Dxgk.DxgkCbQueueDpc(adapter->Dxgk.DeviceHandle);
    return TRUE;
}

static VOID Send(REPORT *Report)
{
    BOOLEAN result;

    Report->Adapter->Dxgk.DxgkCbSynchronizeExecution(Report->Adapter->Dxgk.DeviceHandle, Notify,
                                                     Report, 0, &result);
}

static VOID ReportPacket(COMPUTE_ADAPTER *Adapter, UINT Fence, BOOLEAN Good)
{
    REPORT report;

    RtlZeroMemory(&report, sizeof(report));
    report.Adapter = Adapter;
    if (Good) {
        report.Data.InterruptType = DXGK_INTERRUPT_DMA_COMPLETED;
        report.Data.DmaCompleted.SubmissionFenceId = Fence;
    } else {
        report.Data.InterruptType = DXGK_INTERRUPT_DMA_FAULTED;
        report.Data.DmaFaulted.FaultedFenceId = Fence;
        report.Data.DmaFaulted.Status = STATUS_ILLEGAL_INSTRUCTION;
    }
    Send(&report);
}

static VOID ReportPreempted(COMPUTE_ADAPTER *Adapter, UINT Fence)
{
    REPORT report;

    RtlZeroMemory(&report, sizeof(report));
    report.Adapter = Adapter;
    report.Data.InterruptType = DXGK_INTERRUPT_DMA_PREEMPTED;
    report.Data.DmaPreempted.PreemptionFenceId = Fence;
    Send(&report);
}

/* No interrupt line: reports come from the thread. */
BOOLEAN NTAPI ComputeInterruptRoutine(IN_CONST_PVOID MiniportDeviceContext, IN_ULONG MessageNumber)
{
    UNREFERENCED_PARAMETER(MiniportDeviceContext);
    UNREFERENCED_PARAMETER(MessageNumber);
    return FALSE;
}

VOID NTAPI ComputeDpcRoutine(IN_CONST_PVOID MiniportDeviceContext)
{
    const COMPUTE_ADAPTER *adapter = (const COMPUTE_ADAPTER *)MiniportDeviceContext;

    adapter->Dxgk.DxgkCbNotifyDpc(adapter->Dxgk.DeviceHandle);
}

/* ---- the queue ---- */

static NTSTATUS Submit(COMPUTE_ADAPTER *Adapter, const COMPUTE_PACKET *Packet)
{
    NTSTATUS status = STATUS_INSUFFICIENT_RESOURCES;
    KIRQL irql;

    KeAcquireSpinLock(&Adapter->Lock, &irql);
    if (Adapter->Count < COMPUTE_QUEUE) {
        Adapter->Queue[(Adapter->First + Adapter->Count) % COMPUTE_QUEUE] = *Packet;
        Adapter->Count++;
        Adapter->Submitted = Packet->Fence;
        status = STATUS_SUCCESS;
    }
    KeReleaseSpinLock(&Adapter->Lock, irql);
    KeSetEvent(&Adapter->Wake, IO_NO_INCREMENT, FALSE);
    return status;
}

NTSTATUS NTAPI ComputeSubmitCommand(IN_CONST_HANDLE hAdapter,
                                    IN_CONST_PDXGKARG_SUBMITCOMMAND pSubmitCommand)
{
    COMPUTE_PACKET packet;

    RtlZeroMemory(&packet, sizeof(packet));
    packet.Context = (COMPUTE_CONTEXT *)pSubmitCommand->hContext;
    packet.Address = (ULONGLONG)pSubmitCommand->DmaBufferPhysicalAddress.QuadPart +
                     pSubmitCommand->DmaBufferSubmissionStartOffset;
    packet.Bytes = pSubmitCommand->DmaBufferSubmissionEndOffset -
                   pSubmitCommand->DmaBufferSubmissionStartOffset;
    packet.Fence = pSubmitCommand->SubmissionFenceId;
    packet.Paging = TRUE;
    return Submit((COMPUTE_ADAPTER *)hAdapter, &packet);
}

NTSTATUS NTAPI ComputeSubmitCommandVirtual(
    IN_CONST_HANDLE hAdapter, IN_CONST_PDXGKARG_SUBMITCOMMANDVIRTUAL pSubmitCommandVirtual)
{
    COMPUTE_PACKET packet;

    RtlZeroMemory(&packet, sizeof(packet));
    packet.Context = (COMPUTE_CONTEXT *)pSubmitCommandVirtual->hContext;
    packet.Address = pSubmitCommandVirtual->DmaBufferVirtualAddress;
    packet.Bytes = pSubmitCommandVirtual->DmaBufferSize;
    packet.Fence = pSubmitCommandVirtual->SubmissionFenceId;
    return Submit((COMPUTE_ADAPTER *)hAdapter, &packet);
}

/* The engine cannot stop inside a packet: what is queued runs out, and then the report is made. */
NTSTATUS NTAPI ComputePreemptCommand(IN_CONST_HANDLE hAdapter,
                                     IN_CONST_PDXGKARG_PREEMPTCOMMAND pPreemptCommand)
{
    COMPUTE_ADAPTER *adapter = (COMPUTE_ADAPTER *)hAdapter;
    KIRQL irql;

    KeAcquireSpinLock(&adapter->Lock, &irql);
    adapter->PreemptionFence = pPreemptCommand->PreemptionFenceId;
    KeReleaseSpinLock(&adapter->Lock, irql);
    KeSetEvent(&adapter->Wake, IO_NO_INCREMENT, FALSE);
    return STATUS_SUCCESS;
}

/* What is to be done next: a packet, a preemption to report, or nothing. */
static BOOLEAN Next(COMPUTE_ADAPTER *Adapter, COMPUTE_PACKET *Packet, UINT *Preemption, UINT *Resets)
{
    BOOLEAN found;
    KIRQL irql;

    *Preemption = 0;
    KeAcquireSpinLock(&Adapter->Lock, &irql);
    found = Adapter->Count > 0;
    *Resets = Adapter->Resets;
    if (found) {
        *Packet = Adapter->Queue[Adapter->First];
        Adapter->First = (Adapter->First + 1) % COMPUTE_QUEUE;
        Adapter->Count--;
    } else {
        *Preemption = Adapter->PreemptionFence;
        Adapter->PreemptionFence = 0;
    }
    KeReleaseSpinLock(&Adapter->Lock, irql);
    return found;
}

static VOID Work(COMPUTE_ADAPTER *Adapter)
{
    COMPUTE_PACKET packet;
    UINT preemption, resets;

    while (Next(Adapter, &packet, &preemption, &resets)) {
        const BOOLEAN good = Execute(&packet);

        if (resets == Adapter->Resets)
            ReportPacket(Adapter, packet.Fence, good);
    }
    if (preemption)
        ReportPreempted(Adapter, preemption);
}

VOID NTAPI ComputeThread(PVOID StartContext)
{
    COMPUTE_ADAPTER *adapter = (COMPUTE_ADAPTER *)StartContext;
    BOOLEAN stop = FALSE;
    KIRQL irql;

    while (!stop) {
        KeWaitForSingleObject(&adapter->Wake, Executive, KernelMode, FALSE, NULL);
        Work(adapter);
        KeAcquireSpinLock(&adapter->Lock, &irql);
        stop = adapter->Stop;
        KeReleaseSpinLock(&adapter->Lock, irql);
    }
    PsTerminateSystemThread(STATUS_SUCCESS);
}

/* ---- recovery ---- */

NTSTATUS NTAPI ComputeQueryDependentEngineGroup(
    IN_CONST_HANDLE hAdapter, INOUT_DXGKARG_QUERYDEPENDENTENGINEGROUP pQueryDependentEngineGroup)
{
    UNREFERENCED_PARAMETER(hAdapter);
    pQueryDependentEngineGroup->DependentNodeOrdinalMask = 1;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI ComputeQueryEngineStatus(IN_CONST_HANDLE hAdapter,
                                        INOUT_PDXGKARG_QUERYENGINESTATUS pQueryEngineStatus)
{
    const COMPUTE_ADAPTER *adapter = (const COMPUTE_ADAPTER *)hAdapter;

    pQueryEngineStatus->EngineStatus.Value = 0;
    pQueryEngineStatus->EngineStatus.Responsive = adapter->Completed == adapter->Submitted;
    return STATUS_SUCCESS;
}

static VOID Forget(COMPUTE_ADAPTER *Adapter)
{
    KIRQL irql;

    KeAcquireSpinLock(&Adapter->Lock, &irql);
    Adapter->Count = Adapter->PreemptionFence = 0;
    Adapter->Resets++;
    Adapter->Completed = Adapter->Submitted;
    KeReleaseSpinLock(&Adapter->Lock, irql);
}

NTSTATUS NTAPI ComputeResetEngine(IN_CONST_HANDLE hAdapter, INOUT_PDXGKARG_RESETENGINE pResetEngine)
{
    COMPUTE_ADAPTER *adapter = (COMPUTE_ADAPTER *)hAdapter;

    Forget(adapter);
    pResetEngine->LastAbortedFenceId = adapter->Submitted;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI ComputeResetFromTimeout(IN_CONST_HANDLE hAdapter)
{
    Forget((COMPUTE_ADAPTER *)hAdapter);
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI ComputeRestartFromTimeout(IN_CONST_HANDLE hAdapter)
{
    UNREFERENCED_PARAMETER(hAdapter);
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI ComputeCollectDbgInfo(IN_CONST_HANDLE hAdapter,
                                     IN_CONST_PDXGKARG_COLLECTDBGINFO pCollectDbgInfo)
{
    const COMPUTE_ADAPTER *adapter = (const COMPUTE_ADAPTER *)hAdapter;

    if (pCollectDbgInfo->BufferSize < sizeof(adapter->Completed))
        return STATUS_BUFFER_TOO_SMALL;
    RtlCopyMemory(pCollectDbgInfo->pBuffer, &adapter->Completed, sizeof(adapter->Completed));
    return STATUS_SUCCESS;
}
