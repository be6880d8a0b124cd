/* SPDX-License-Identifier: MIT */
/* Submission, interrupts, preemption, recovery. Fences and the engine's registers change under the interrupt lock alone. */
#include "npu.h"

static BOOLEAN Later(ULONG A, ULONG B)
{
    return (LONG)(A - B) > 0;
}

static NTSTATUS Synchronize(NPU_ADAPTER *Adapter, PKSYNCHRONIZE_ROUTINE Routine, PVOID Context)
{
    BOOLEAN result;

    return Adapter->Dxgk.DxgkCbSynchronizeExecution(Adapter->Dxgk.DeviceHandle, Routine, Context, 0,
                                                    &result);
}

/* ---- submission ---- */

typedef struct _NPU_PACKET {
    NPU_ADAPTER *Adapter;
    ULONGLONG Root, Address;
    ULONG Bytes, Flags, Fence;
} NPU_PACKET;

static BOOLEAN NTAPI Submit(PVOID Context)
{
    const NPU_PACKET *packet = (const NPU_PACKET *)Context;
    NPU_ADAPTER *adapter = packet->Adapter;

    NpuWrite64(adapter, NPU_REG_ROOT_LO, packet->Root);
    NpuWrite64(adapter, NPU_REG_DMA_LO, packet->Address);
    NpuWrite(adapter, NPU_REG_DMA_BYTES, packet->Bytes);
    NpuWrite(adapter, NPU_REG_DMA_FLAGS, packet->Flags);
    adapter->Submitted = packet->Fence;
    NpuWrite(adapter, NPU_REG_SUBMIT, packet->Fence);
    return TRUE;
}

/* Paging buffers at a bus address, where there are no page tables yet for them. */
NTSTATUS NTAPI NpuSubmitCommand(IN_CONST_HANDLE hAdapter,
                                IN_CONST_PDXGKARG_SUBMITCOMMAND pSubmitCommand)
{
    const NPU_CONTEXT *context = (const NPU_CONTEXT *)pSubmitCommand->hContext;
    NPU_PACKET packet;

    RtlZeroMemory(&packet, sizeof(packet));
    packet.Adapter = (NPU_ADAPTER *)hAdapter;
    packet.Root = context ? context->Root : 0;
    packet.Address = (ULONGLONG)pSubmitCommand->DmaBufferPhysicalAddress.QuadPart +
                     pSubmitCommand->DmaBufferSubmissionStartOffset;
    packet.Bytes = pSubmitCommand->DmaBufferSubmissionEndOffset -
                   pSubmitCommand->DmaBufferSubmissionStartOffset;
    packet.Flags = NPU_DMA_PRIVILEGED | NPU_DMA_PHYSICAL;
    packet.Fence = pSubmitCommand->SubmissionFenceId;
    return Synchronize(packet.Adapter, Submit, &packet);
}

/* A program's commands, or a paging buffer, at a virtual address. */
NTSTATUS NTAPI NpuSubmitCommandVirtual(IN_CONST_HANDLE hAdapter,
                                       IN_CONST_PDXGKARG_SUBMITCOMMANDVIRTUAL pSubmitCommandVirtual)
{
    const NPU_CONTEXT *context = (const NPU_CONTEXT *)pSubmitCommandVirtual->hContext;
    NPU_PACKET packet;

    RtlZeroMemory(&packet, sizeof(packet));
    packet.Adapter = (NPU_ADAPTER *)hAdapter;
    packet.Root = context->Root;
    packet.Address = pSubmitCommandVirtual->DmaBufferVirtualAddress;
    packet.Bytes = pSubmitCommandVirtual->DmaBufferSize;
    packet.Flags = context->System ? NPU_DMA_PRIVILEGED : 0;
    packet.Fence = pSubmitCommandVirtual->SubmissionFenceId;
    return Synchronize(packet.Adapter, Submit, &packet);
}

/* The engine cannot stop inside a packet: what is queued runs out, and then IDLE comes. */
static BOOLEAN NTAPI AskForPreemption(PVOID Context)
{
    NPU_ADAPTER *adapter = (NPU_ADAPTER *)Context;

    NpuWrite(adapter, NPU_REG_NOTIFY_IDLE, 1);
    return TRUE;
}

NTSTATUS NTAPI NpuPreemptCommand(IN_CONST_HANDLE hAdapter,
                                 IN_CONST_PDXGKARG_PREEMPTCOMMAND pPreemptCommand)
{
    NPU_ADAPTER *adapter = (NPU_ADAPTER *)hAdapter;

    adapter->PreemptionFence = pPreemptCommand->PreemptionFenceId; /* none is asked for meanwhile */
    return Synchronize(adapter, AskForPreemption, adapter);
}

/* ---- interrupts ---- */

static VOID Notify(NPU_ADAPTER *Adapter, DXGKARGCB_NOTIFY_INTERRUPT_DATA *Data)
{
    Adapter->Dxgk.DxgkCbNotifyInterrupt(Adapter->Dxgk.DeviceHandle, Data);
}

static VOID ReportCompleted(NPU_ADAPTER *Adapter, ULONG Fence)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

    if (!Later(Fence, Adapter->Completed) || Later(Fence, Adapter->Submitted))
        return;
    InterlockedAdd(&Adapter->Packets, (LONG)(Fence - Adapter->Completed));
    Adapter->Completed = Fence;
    RtlZeroMemory(&data, sizeof(data));
    data.InterruptType = DXGK_INTERRUPT_DMA_COMPLETED;
    data.DmaCompleted.SubmissionFenceId = Fence;
    Notify(Adapter, &data);
}

/* The engine stands still until it is reset, which the host asks for. */
static VOID ReportFaulted(NPU_ADAPTER *Adapter)
{
    const ULONG fault = NpuRead(Adapter, NPU_REG_FAULT), kind = fault & 0xFF;
    const ULONG fence = NpuRead(Adapter, NPU_REG_FAULT_FENCE);
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;
    ULONG flags = DXGK_PAGE_FAULT_ENGINE_RESET_REQUIRED;

    ReportCompleted(Adapter, fence - 1); /* what was before it has run */
    Adapter->Completed = Adapter->FaultedFence = fence;
    RtlZeroMemory(&data, sizeof(data));
    data.InterruptType = DXGK_INTERRUPT_DMA_PAGE_FAULTED;
    if (kind == NPU_FAULT_WRITE)
        flags |= DXGK_PAGE_FAULT_WRITE;
    data.DmaPageFaulted.PageFaultFlags = (DXGK_PAGE_FAULT_FLAGS)flags;
    data.DmaPageFaulted.FaultedFenceId = fence;
    data.DmaPageFaulted.FaultedPipelineStage = DXGK_RENDER_PIPELINE_STAGE_UNKNOWN;
    data.DmaPageFaulted.PageTableLevel = fault >> 8 & 0xFF;
    data.DmaPageFaulted.FaultedVirtualAddress = NpuRead(Adapter, NPU_REG_FAULT_LO) |
                                                (ULONGLONG)NpuRead(Adapter, NPU_REG_FAULT_HI) << 32;
    if (kind == NPU_FAULT_COMMAND || kind == NPU_FAULT_BUS) { /* it is no address of a program */
        data.DmaPageFaulted.FaultedVirtualAddress = D3DGPU_NULL;
        data.DmaPageFaulted.FaultErrorCode.IsDeviceSpecificCodeReservedBit = 1;
        data.DmaPageFaulted.FaultErrorCode.DeviceSpecificCode = fault & 0x7FFFFFFF;
    } else {
        data.DmaPageFaulted.FaultErrorCode.GeneralErrorCode = DXGK_GENERAL_ERROR_PAGE_FAULT;
    }
    Notify(Adapter, &data);
}

static VOID ReportPreempted(NPU_ADAPTER *Adapter)
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

BOOLEAN NTAPI NpuInterruptRoutine(IN_CONST_PVOID MiniportDeviceContext, IN_ULONG MessageNumber)
{
    NPU_ADAPTER *adapter = (NPU_ADAPTER *)MiniportDeviceContext;
    ULONG causes;

    UNREFERENCED_PARAMETER(MessageNumber);
    if (!adapter->Registers)
        return FALSE;
    causes = NpuRead(adapter, NPU_REG_IRQ_STATUS);
    if (causes == 0 || causes == ~0u) /* all ones: the device is gone */
        return FALSE;
    ReportCompleted(adapter, adapter->Shared.Status->completed);
    if (causes & NPU_IRQ_FAULT)
        ReportFaulted(adapter);
    if (causes & NPU_IRQ_IDLE)
        ReportPreempted(adapter);
    adapter->Dxgk.DxgkCbQueueDpc(adapter->Dxgk.DeviceHandle);
    return TRUE;
}

VOID NTAPI NpuDpcRoutine(IN_CONST_PVOID MiniportDeviceContext)
{
    NPU_ADAPTER *adapter = (NPU_ADAPTER *)MiniportDeviceContext;

    adapter->Dxgk.DxgkCbNotifyDpc(adapter->Dxgk.DeviceHandle);
}

/* ---- exclusive access: the host puts the device under another IOMMU domain ---- */

/* No packet is queued; the status page is the only memory that the engine knows. */
NTSTATUS NTAPI NpuBeginExclusiveAccess(IN_CONST_HANDLE hAdapter,
                                       IN_PDXGKARG_BEGINEXCLUSIVEACCESS pBeginExclusiveAccess)
{
    UNREFERENCED_PARAMETER(pBeginExclusiveAccess);
    NpuWrite((NPU_ADAPTER *)hAdapter, NPU_REG_RESET, 1);
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI NpuEndExclusiveAccess(IN_CONST_HANDLE hAdapter,
                                     IN_PDXGKARG_ENDEXCLUSIVEACCESS pEndExclusiveAccess)
{
    UNREFERENCED_PARAMETER(pEndExclusiveAccess);
    NpuStartHardware((NPU_ADAPTER *)hAdapter);
    return STATUS_SUCCESS;
}

/* ---- recovery ---- */

NTSTATUS NTAPI NpuQueryDependentEngineGroup(
    IN_CONST_HANDLE hAdapter, INOUT_DXGKARG_QUERYDEPENDENTENGINEGROUP pQueryDependentEngineGroup)
{
    UNREFERENCED_PARAMETER(hAdapter);
    pQueryDependentEngineGroup->DependentNodeOrdinalMask = 1;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI NpuQueryEngineStatus(IN_CONST_HANDLE hAdapter,
                                    INOUT_PDXGKARG_QUERYENGINESTATUS pQueryEngineStatus)
{
    const NPU_ADAPTER *adapter = (const NPU_ADAPTER *)hAdapter;

    pQueryEngineStatus->EngineStatus.Value = 0;
    pQueryEngineStatus->EngineStatus.Responsive = adapter->FaultedFence == 0 &&
                                                  adapter->Shared.Status->completed ==
                                                      adapter->Submitted;
    return STATUS_SUCCESS;
}

/* What had not completed is given up: the host takes all up to the last submitted fence as done. */
static BOOLEAN NTAPI Abort(PVOID Context)
{
    NPU_ADAPTER *adapter = (NPU_ADAPTER *)Context;

    adapter->Completed = adapter->Submitted;
    adapter->PreemptionFence = adapter->FaultedFence = 0;
    NpuStartHardware(adapter);
    return TRUE;
}

NTSTATUS NTAPI NpuResetEngine(IN_CONST_HANDLE hAdapter, INOUT_PDXGKARG_RESETENGINE pResetEngine)
{
    NPU_ADAPTER *adapter = (NPU_ADAPTER *)hAdapter;
    NTSTATUS status = Synchronize(adapter, Abort, adapter);

    if (NT_SUCCESS(status))
        pResetEngine->LastAbortedFenceId = adapter->Submitted;
    return status;
}

NTSTATUS NTAPI NpuResetFromTimeout(IN_CONST_HANDLE hAdapter)
{
    return Synchronize((NPU_ADAPTER *)hAdapter, Abort, (PVOID)hAdapter);
}

NTSTATUS NTAPI NpuRestartFromTimeout(IN_CONST_HANDLE hAdapter)
{
    NpuStartHardware((NPU_ADAPTER *)hAdapter);
    return STATUS_SUCCESS;
}

/* For the report of a hang: what the driver knows, as it lies in memory. */
NTSTATUS NTAPI NpuCollectDbgInfo(IN_CONST_HANDLE hAdapter,
                                 IN_CONST_PDXGKARG_COLLECTDBGINFO pCollectDbgInfo)
{
    const NPU_ADAPTER *adapter = (const NPU_ADAPTER *)hAdapter;
    ULONG known[4];

    if (pCollectDbgInfo->BufferSize < sizeof(known))
        return STATUS_BUFFER_TOO_SMALL;
    known[0] = NPU_ID;
    known[1] = adapter->Submitted;
    known[2] = adapter->Completed;
    known[3] = adapter->FaultedFence;
    RtlCopyMemory(pCollectDbgInfo->pBuffer, known, sizeof(known));
    return STATUS_SUCCESS;
}
