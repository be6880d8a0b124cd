/* SPDX-License-Identifier: MIT */
/* Work: from a client's commands to a DMA buffer, onto the engine, and back by an interrupt. Recovery when it hangs. */
#include "blitter.h"

static BOOLEAN Later(ULONG Fence, ULONG Than)
{
    return (LONG)(Fence - Than) > 0;
}

/* ---- Render and Patch ---- */

/* Does the operand lie in an allocation of the list that may be used like that? */
static BOOLEAN OperandIsGood(const DXGKARG_RENDER *Args, ULONGLONG Reference, ULONG Bytes,
                             BOOLEAN Write)
{
    const ULONG index = BLITTER_REF_INDEX(Reference);
    const ULONG offset = BLITTER_REF_OFFSET(Reference);
    const BLITTER_ALLOCATION *allocation;

    if (index >= Args->AllocationListSize)
        return FALSE;
    allocation = (const BLITTER_ALLOCATION *)Args->pAllocationList[index].hDeviceSpecificAllocation;
    if (!allocation || (Write && !Args->pAllocationList[index].WriteOperation))
        return FALSE;
    return Bytes <= allocation->Bytes && offset <= allocation->Bytes - Bytes;
}

static BOOLEAN CommandIsGood(const DXGKARG_RENDER *Args, const struct blitter_command *Command)
{
    if (Command->bytes == 0 || !OperandIsGood(Args, Command->dst, Command->bytes, TRUE))
        return FALSE;
    if (Command->op == BLITTER_OP_FILL)
        return ((Command->bytes | BLITTER_REF_OFFSET(Command->dst)) & 3) == 0;
    return Command->op == BLITTER_OP_COPY &&
           OperandIsGood(Args, Command->src, Command->bytes, FALSE);
}

/* Once: the client may change its buffer at any time. It may also have taken it away, which raises an exception. */
static NTSTATUS ReadClient(PVOID To, const VOID *From, SIZE_T Bytes)
{
#if DXGK_HAS_SEH
    DXGK_TRY
    {
        ProbeForRead((PVOID)(ULONG_PTR)From, Bytes, 1);
        RtlCopyMemory(To, From, Bytes);
    }
    DXGK_EXCEPT(EXCEPTION_EXECUTE_HANDLER)
    {
        return GetExceptionCode();
    }
#else
    RtlCopyMemory(To, From, Bytes); /* gcc for Windows has no way to survive a bad address */
#endif
    return STATUS_SUCCESS;
}

/* The 64 bits at `At` bytes from the start of the DMA buffer will become the address of the operand. */
static VOID AddPatchLocation(DXGKARG_RENDER *Args, ULONGLONG Reference, ULONG At)
{
    D3DDDI_PATCHLOCATIONLIST *location = Args->pPatchLocationListOut++;

    RtlZeroMemory(location, sizeof(*location));
    location->AllocationIndex = BLITTER_REF_INDEX(Reference);
    location->AllocationOffset = BLITTER_REF_OFFSET(Reference);
    location->PatchOffset = At;
    location->SplitOffset = At & ~(BLITTER_COMMAND - 1);
    Args->PatchLocationListOutSize--;
}

NTSTATUS NTAPI BlitterRender(IN_CONST_HANDLE hContext, INOUT_PDXGKARG_RENDER pRender)
{
    const UCHAR *from = (const UCHAR *)pRender->pCommand;
    PUCHAR start = (PUCHAR)pRender->pDmaBuffer;
    ULONG offset = pRender->MultipassOffset;

    UNREFERENCED_PARAMETER(hContext);
    if (pRender->CommandLength % BLITTER_COMMAND != 0 || offset > pRender->CommandLength)
        return STATUS_INVALID_PARAMETER;
    for (; offset < pRender->CommandLength; offset += BLITTER_COMMAND) {
        struct blitter_command command;
        ULONG at = (ULONG)((PUCHAR)pRender->pDmaBuffer - start);
        NTSTATUS status;

        if (pRender->DmaSize < BLITTER_COMMAND || pRender->PatchLocationListOutSize < 2) {
            pRender->MultipassOffset = offset; /* go on from here with the next buffer */
            return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
        }
        status = ReadClient(&command, from + offset, sizeof(command));
        if (!NT_SUCCESS(status))
            return status;
        if (!CommandIsGood(pRender, &command))
            return STATUS_INVALID_PARAMETER;
        AddPatchLocation(pRender, command.dst, at + FIELD_OFFSET(struct blitter_command, dst));
        if (command.op == BLITTER_OP_COPY)
            AddPatchLocation(pRender, command.src, at + FIELD_OFFSET(struct blitter_command, src));
        RtlCopyMemory(pRender->pDmaBuffer, &command, sizeof(command));
        pRender->pDmaBuffer = (PUCHAR)pRender->pDmaBuffer + BLITTER_COMMAND;
        pRender->DmaSize -= BLITTER_COMMAND;
    }
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI BlitterPatch(IN_CONST_HANDLE hAdapter, IN_CONST_PDXGKARG_PATCH pPatch)
{
    const UINT first = pPatch->PatchLocationListSubmissionStart;

    UNREFERENCED_PARAMETER(hAdapter);
    for (UINT i = first; i < first + pPatch->PatchLocationListSubmissionLength; i++) {
        const D3DDDI_PATCHLOCATIONLIST *location = &pPatch->pPatchLocationList[i];
        const DXGK_ALLOCATIONLIST *element = &pPatch->pAllocationList[location->AllocationIndex];
        ULONGLONG address = ~0ull; /* faults */

        if (element->SegmentId != 0)
            address = (ULONGLONG)element->PhysicalAddress.QuadPart + location->AllocationOffset;
        RtlCopyMemory((PUCHAR)pPatch->pDmaBuffer + location->PatchOffset, &address, sizeof(address));
    }
    return STATUS_SUCCESS;
}

/* ---- submission and preemption: steps that the interrupt routine must not see half done ---- */

static NTSTATUS Synchronize(BLITTER_ADAPTER *Adapter, PKSYNCHRONIZE_ROUTINE Routine, PVOID Context)
{
    BOOLEAN result = FALSE;

    return Adapter->Dxgk.DxgkCbSynchronizeExecution(Adapter->Dxgk.DeviceHandle, Routine, Context, 0,
                                                    &result);
}

typedef struct _PACKET {
    BLITTER_ADAPTER *Adapter;
    ULONGLONG Address;
    ULONG Bytes, Fence;
} PACKET;

static BOOLEAN NTAPI Submit(PVOID Context)
{
    const PACKET *packet = (const PACKET *)Context;

    packet->Adapter->Submitted = packet->Fence;
    BlitterWrite(packet->Adapter, BLITTER_REG_DMA_LO, (ULONG)packet->Address);
    BlitterWrite(packet->Adapter, BLITTER_REG_DMA_HI, (ULONG)(packet->Address >> 32));
    BlitterWrite(packet->Adapter, BLITTER_REG_DMA_BYTES, packet->Bytes);
    BlitterWrite(packet->Adapter, BLITTER_REG_SUBMIT, packet->Fence);
    return TRUE;
}

NTSTATUS NTAPI BlitterSubmitCommand(IN_CONST_HANDLE hAdapter,
                                    IN_CONST_PDXGKARG_SUBMITCOMMAND pSubmitCommand)
{
    PACKET packet;

    if (pSubmitCommand->NodeOrdinal != 0)
        return STATUS_INVALID_PARAMETER;
    packet.Adapter = (BLITTER_ADAPTER *)hAdapter;
    packet.Address = (ULONGLONG)pSubmitCommand->DmaBufferPhysicalAddress.QuadPart +
                     pSubmitCommand->DmaBufferSubmissionStartOffset;
    packet.Bytes = pSubmitCommand->DmaBufferSubmissionEndOffset -
                   pSubmitCommand->DmaBufferSubmissionStartOffset;
    packet.Fence = pSubmitCommand->SubmissionFenceId;
    if (pSubmitCommand->Flags.NullRendering || pSubmitCommand->Flags.ContextSwitch)
        packet.Bytes = 0; /* only its fence */
    return Synchronize(packet.Adapter, Submit, &packet);
}

/* The engine cannot stop inside a packet: what is queued runs out, and then the report is made. */
static BOOLEAN NTAPI Preempt(PVOID Context)
{
    const PACKET *packet = (const PACKET *)Context;

    packet->Adapter->PreemptionFence = packet->Fence;
    BlitterWrite(packet->Adapter, BLITTER_REG_NOTIFY_IDLE, 1);
    return TRUE;
}

NTSTATUS NTAPI BlitterPreemptCommand(IN_CONST_HANDLE hAdapter,
                                     IN_CONST_PDXGKARG_PREEMPTCOMMAND pPreemptCommand)
{
    PACKET packet;

    if (pPreemptCommand->NodeOrdinal != 0)
        return STATUS_INVALID_PARAMETER;
    RtlZeroMemory(&packet, sizeof(packet));
    packet.Adapter = (BLITTER_ADAPTER *)hAdapter;
    packet.Fence = pPreemptCommand->PreemptionFenceId;
    return Synchronize(packet.Adapter, Preempt, &packet);
}

/* ---- interrupts ---- */

static VOID Notify(BLITTER_ADAPTER *Adapter, DXGKARGCB_NOTIFY_INTERRUPT_DATA *Data)
{
    Adapter->Dxgk.DxgkCbNotifyInterrupt(Adapter->Dxgk.DeviceHandle, Data);
}

static VOID ReportCompleted(BLITTER_ADAPTER *Adapter, ULONG Fence)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

    if (!Later(Fence, Adapter->Completed))
        return;
    Adapter->Completed = Fence;
    RtlZeroMemory(&data, sizeof(data));
    data.InterruptType = DXGK_INTERRUPT_DMA_COMPLETED;
    data.DmaCompleted.SubmissionFenceId = Fence;
    Notify(Adapter, &data);
}

static VOID ReportFaulted(BLITTER_ADAPTER *Adapter, ULONG Fence)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

    if (!Later(Fence, Adapter->Completed))
        return;
    ReportCompleted(Adapter, Fence - 1); /* what was before it has run */
    Adapter->Completed = Adapter->Faulted = Fence;
    RtlZeroMemory(&data, sizeof(data));
    data.InterruptType = DXGK_INTERRUPT_DMA_FAULTED;
    data.DmaFaulted.FaultedFenceId = Fence;
    data.DmaFaulted.Status = STATUS_ILLEGAL_INSTRUCTION;
    Notify(Adapter, &data);
}

static VOID ReportPreempted(BLITTER_ADAPTER *Adapter)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

    if (Adapter->PreemptionFence == 0)
        return;
    RtlZeroMemory(&data, sizeof(data));
    data.InterruptType = DXGK_INTERRUPT_DMA_PREEMPTED;
    data.DmaPreempted.PreemptionFenceId = Adapter->PreemptionFence;
    data.DmaPreempted.LastCompletedFenceId = Adapter->Completed;
    Adapter->PreemptionFence = 0;
    Notify(Adapter, &data);
}

BOOLEAN NTAPI BlitterInterruptRoutine(IN_CONST_PVOID MiniportDeviceContext, IN_ULONG MessageNumber)
{
    BLITTER_ADAPTER *adapter = (BLITTER_ADAPTER *)MiniportDeviceContext;
    ULONG causes;

    UNREFERENCED_PARAMETER(MessageNumber);
    if (!adapter->Registers)
        return FALSE;
    causes = BlitterRead(adapter, BLITTER_REG_IRQ_STATUS);
    if (causes == 0 || causes == ~0u) /* all ones: the device is gone */
        return FALSE;
    if (causes & BLITTER_IRQ_FAULT)
        ReportFaulted(adapter, BlitterRead(adapter, BLITTER_REG_FAULT_FENCE));
    ReportCompleted(adapter, BlitterRead(adapter, BLITTER_REG_COMPLETED));
    if (causes & BLITTER_IRQ_IDLE)
        ReportPreempted(adapter);
    adapter->Dxgk.DxgkCbQueueDpc(adapter->Dxgk.DeviceHandle);
    return TRUE;
}

VOID NTAPI BlitterDpcRoutine(IN_CONST_PVOID MiniportDeviceContext)
{
    BLITTER_ADAPTER *adapter = (BLITTER_ADAPTER *)MiniportDeviceContext;

    adapter->Dxgk.DxgkCbNotifyDpc(adapter->Dxgk.DeviceHandle);
}

NTSTATUS NTAPI BlitterQueryCurrentFence(IN_CONST_HANDLE hAdapter,
                                        INOUT_PDXGKARG_QUERYCURRENTFENCE pCurrentFence)
{
    const BLITTER_ADAPTER *adapter = (const BLITTER_ADAPTER *)hAdapter;

    pCurrentFence->CurrentFence = adapter->Completed;
    return STATUS_SUCCESS;
}

/* ---- recovery ---- */

NTSTATUS NTAPI BlitterQueryDependentEngineGroup(
    IN_CONST_HANDLE hAdapter, INOUT_DXGKARG_QUERYDEPENDENTENGINEGROUP pQueryDependentEngineGroup)
{
    UNREFERENCED_PARAMETER(hAdapter);
    pQueryDependentEngineGroup->DependentNodeOrdinalMask = 1;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI BlitterQueryEngineStatus(IN_CONST_HANDLE hAdapter,
                                        INOUT_PDXGKARG_QUERYENGINESTATUS pQueryEngineStatus)
{
    const BLITTER_ADAPTER *adapter = (const BLITTER_ADAPTER *)hAdapter;

    pQueryEngineStatus->EngineStatus.Value = 0;
    pQueryEngineStatus->EngineStatus.Responsive = BlitterRead(adapter, BLITTER_REG_COMPLETED) ==
                                                  adapter->Submitted;
    return STATUS_SUCCESS;
}

/* What had not completed is given up: the host takes all up to the last submitted fence as done. */
static BOOLEAN NTAPI Abort(PVOID Context)
{
    BLITTER_ADAPTER *adapter = (BLITTER_ADAPTER *)Context;

    adapter->Completed = adapter->Submitted;
    adapter->PreemptionFence = 0;
    BlitterStartHardware(adapter);
    return TRUE;
}

NTSTATUS NTAPI BlitterResetEngine(IN_CONST_HANDLE hAdapter, INOUT_PDXGKARG_RESETENGINE pResetEngine)
{
    BLITTER_ADAPTER *adapter = (BLITTER_ADAPTER *)hAdapter;
    NTSTATUS status = Synchronize(adapter, Abort, adapter);

    if (NT_SUCCESS(status))
        pResetEngine->LastAbortedFenceId = adapter->Submitted;
    return status;
}

NTSTATUS NTAPI BlitterResetFromTimeout(IN_CONST_HANDLE hAdapter)
{
    return Synchronize((BLITTER_ADAPTER *)hAdapter, Abort, (PVOID)hAdapter);
}

NTSTATUS NTAPI BlitterRestartFromTimeout(IN_CONST_HANDLE hAdapter)
{
    BlitterStartHardware((BLITTER_ADAPTER *)hAdapter);
    return STATUS_SUCCESS;
}

/* For the report of a hang: what the driver knows, as it lies in memory. */
NTSTATUS NTAPI BlitterCollectDbgInfo(IN_CONST_HANDLE hAdapter,
                                     IN_CONST_PDXGKARG_COLLECTDBGINFO pCollectDbgInfo)
{
    const BLITTER_ADAPTER *adapter = (const BLITTER_ADAPTER *)hAdapter;
    ULONG known[4];

    if (pCollectDbgInfo->BufferSize < sizeof(known))
        return STATUS_BUFFER_TOO_SMALL;
    known[0] = BLITTER_ID;
    known[1] = adapter->Submitted;
    known[2] = adapter->Completed;
    known[3] = adapter->PreemptionFence;
    RtlCopyMemory(pCollectDbgInfo->pBuffer, known, sizeof(known));
    return STATUS_SUCCESS;
}
