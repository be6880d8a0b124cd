/* SPDX-License-Identifier: MIT */
/* Processes, contexts with their address spaces, allocations, page tables and paging buffers. */
#include "compute.h"

/* Longest piece of a paging operation that is one command. */
#define PIECE 0x1000000u

NTSTATUS NTAPI ComputeCreateProcess(IN_CONST_HANDLE hAdapter, INOUT_PDXGKARG_CREATEPROCESS pArgs)
{
    UNREFERENCED_PARAMETER(hAdapter);
    pArgs->hKmdProcess = ComputeAllocate(sizeof(ULONG));
    return pArgs->hKmdProcess ? STATUS_SUCCESS : STATUS_NO_MEMORY;
}

NTSTATUS NTAPI ComputeDestroyProcess(IN_CONST_HANDLE hAdapter, IN_CONST_HANDLE hKmdProcess)
{
    UNREFERENCED_PARAMETER(hAdapter);
    ExFreePoolWithTag((PVOID)hKmdProcess, COMPUTE_TAG);
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI ComputeCreateDevice(IN_CONST_HANDLE hAdapter,
                                   INOUT_PDXGKARG_CREATEDEVICE pCreateDevice)
{
    COMPUTE_CONTEXT *device = (COMPUTE_CONTEXT *)ComputeAllocate(sizeof(*device));

    if (!device)
        return STATUS_NO_MEMORY;
    device->Adapter = (COMPUTE_ADAPTER *)hAdapter;
    pCreateDevice->hDevice = device;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI ComputeDestroyDevice(IN_CONST_HANDLE hDevice)
{
    ExFreePoolWithTag((PVOID)hDevice, COMPUTE_TAG);
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI ComputeCreateContext(IN_CONST_HANDLE hDevice,
                                    INOUT_PDXGKARG_CREATECONTEXT pCreateContext)
{
    COMPUTE_CONTEXT *context = (COMPUTE_CONTEXT *)ComputeAllocate(sizeof(*context));

    if (!context)
        return STATUS_NO_MEMORY;
    context->Adapter = ((COMPUTE_CONTEXT *)hDevice)->Adapter;
    if (pCreateContext->Flags.SystemContext)
        pCreateContext->ContextInfo.DmaBufferSize = ComputeHabits.SystemContextBytes;
    else
        pCreateContext->ContextInfo.Caps.NoPatchingRequired = 1;
    pCreateContext->hContext = context;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI ComputeDestroyContext(IN_CONST_HANDLE hContext)
{
    ExFreePoolWithTag((PVOID)hContext, COMPUTE_TAG);
    return STATUS_SUCCESS;
}

VOID NTAPI ComputeSetRootPageTable(IN_CONST_HANDLE hAdapter,
                                   IN_CONST_PDXGKARG_SETROOTPAGETABLE pSetPageTable)
{
    COMPUTE_CONTEXT *context = (COMPUTE_CONTEXT *)pSetPageTable->hContext;

    UNREFERENCED_PARAMETER(hAdapter);
    context->Root = pSetPageTable->Address.SegmentOffset;
    context->RootEntries = pSetPageTable->NumEntries;
}

SIZE_T NTAPI ComputeGetRootPageTableSize(IN_CONST_HANDLE hAdapter,
                                         INOUT_PDXGKARG_GETROOTPAGETABLESIZE pArgs)
{
    UNREFERENCED_PARAMETER(hAdapter);
    pArgs->NumberOfPte = 1u << ComputeHabits.RootBits;
    return ComputeHabits.RootBytes;
}

/* ---- allocations ---- */

NTSTATUS NTAPI ComputeCreateAllocation(IN_CONST_HANDLE hAdapter,
                                       INOUT_PDXGKARG_CREATEALLOCATION pCreateAllocation)
{
    const struct compute_allocation_data *data;
    DXGK_ALLOCATIONINFO *info = pCreateAllocation->pAllocationInfo;

    UNREFERENCED_PARAMETER(hAdapter);
    if (pCreateAllocation->NumAllocations != 1 || info->PrivateDriverDataSize < sizeof(*data))
        return STATUS_INVALID_PARAMETER;
    data = (const struct compute_allocation_data *)info->pPrivateDriverData;
    if (data->bytes == 0)
        return STATUS_INVALID_PARAMETER;
    info->hAllocation = ComputeAllocate(sizeof(ULONG));
    if (!info->hAllocation)
        return STATUS_NO_MEMORY;
    info->Size = data->bytes;
    info->Alignment = 64;
    info->PitchAlignedSize = 0;
    info->SupportedReadSegmentSet = 1u << (ComputeHabits.SystemSegment - 1);
    info->SupportedWriteSegmentSet = info->SupportedReadSegmentSet;
    info->PreferredSegment.SegmentId0 = ComputeHabits.SystemSegment & 0x1F;
    info->AllocationPriority = D3DDDI_ALLOCATIONPRIORITY_NORMAL;
    info->FlagsWddm2.Value = 0;
    info->FlagsWddm2.CpuVisible = 1;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI ComputeDestroyAllocation(IN_CONST_HANDLE hAdapter,
                                        IN_CONST_PDXGKARG_DESTROYALLOCATION pDestroyAllocation)
{
    UNREFERENCED_PARAMETER(hAdapter);
    if (pDestroyAllocation->NumAllocations) /* one at a time */
        ExFreePoolWithTag(pDestroyAllocation->pAllocationList[0], COMPUTE_TAG);
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI ComputeDescribeAllocation(IN_CONST_HANDLE hAdapter,
                                         INOUT_PDXGKARG_DESCRIBEALLOCATION pDescribeAllocation)
{
    UNREFERENCED_PARAMETER(hAdapter);
    UNREFERENCED_PARAMETER(pDescribeAllocation);
    return STATUS_NOT_SUPPORTED;
}

NTSTATUS NTAPI ComputeGetStandardAllocationDriverData(
    IN_CONST_HANDLE hAdapter, INOUT_PDXGKARG_GETSTANDARDALLOCATIONDRIVERDATA pArgs)
{
    UNREFERENCED_PARAMETER(hAdapter);
    UNREFERENCED_PARAMETER(pArgs);
    return STATUS_NOT_SUPPORTED;
}

NTSTATUS NTAPI ComputeOpenAllocation(IN_CONST_HANDLE hDevice,
                                     IN_CONST_PDXGKARG_OPENALLOCATION pOpenAllocation)
{
    for (UINT i = 0; i < pOpenAllocation->NumAllocations; i++)
        pOpenAllocation->pOpenAllocation[i].hDeviceSpecificAllocation = (HANDLE)hDevice;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI ComputeCloseAllocation(IN_CONST_HANDLE hDevice,
                                      IN_CONST_PDXGKARG_CLOSEALLOCATION pCloseAllocation)
{
    UNREFERENCED_PARAMETER(hDevice);
    UNREFERENCED_PARAMETER(pCloseAllocation);
    return STATUS_SUCCESS;
}

/* ---- page tables and paging ---- */

/* Whatever the level: where the page or the next table lies, which is in system memory in any case. */
static ULONGLONG Entry(const DXGK_PTE *Pte)
{
    if (!Pte->Valid)
        return 0;
    if (Pte->Zero)
        return COMPUTE_ENTRY_VALID | COMPUTE_ENTRY_ZERO;
    return Pte->PageAddress << PAGE_SHIFT | COMPUTE_ENTRY_VALID |
           (Pte->ReadOnly ? COMPUTE_ENTRY_READ_ONLY : 0);
}

static NTSTATUS UpdatePageTable(const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *Update)
{
    volatile ULONGLONG *table = (volatile ULONGLONG *)Update->PageTableAddress.CpuVirtual;

    if (Update->UpdateMode != DXGK_PAGETABLEUPDATE_CPU_VIRTUAL)
        return STATUS_NOT_SUPPORTED;
    for (UINT i = 0; i < Update->NumPageTableEntries; i++)
        table[Update->StartIndex + i] = Entry(
            &Update->pPageTableEntries[Update->Flags.Repeat ? 0 : i]);
    return STATUS_SUCCESS;
}

/* A long operation is several commands; MultipassOffset counts those for which the buffers before had room. */
static NTSTATUS Emit(DXGKARG_BUILDPAGINGBUFFER *Args, ULONGLONG Dst, ULONGLONG Src, ULONGLONG Bytes,
                     UINT Op, UINT Value)
{
    struct compute_command *at = (struct compute_command *)Args->pDmaBuffer;
    UINT room = Args->DmaSize / sizeof(*at);

    for (ULONGLONG done = (ULONGLONG)Args->MultipassOffset * PIECE; done < Bytes; done += PIECE) {
        if (room == 0) {
            Args->MultipassOffset = (UINT)(done / PIECE);
            Args->pDmaBuffer = at;
            return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
        }
        at->op = Op;
        at->bytes = Bytes - done < PIECE ? (UINT)(Bytes - done) : PIECE;
        at->dst = Dst + done;
        at->src = Src + done;
        at->value = Value;
        at->zero = 0;
        at++;
        room--;
    }
    Args->pDmaBuffer = at;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI ComputeBuildPagingBuffer(IN_CONST_HANDLE hAdapter,
                                        IN_PDXGKARG_BUILDPAGINGBUFFER pBuildPagingBuffer)
{
    DXGKARG_BUILDPAGINGBUFFER *args = pBuildPagingBuffer;

    UNREFERENCED_PARAMETER(hAdapter);
    switch (args->Operation) {
    case DXGK_OPERATION_UPDATE_PAGE_TABLE:
        return UpdatePageTable(&args->UpdatePageTable);
    case DXGK_OPERATION_VIRTUAL_FILL:
        return Emit(args, args->FillVirtual.DestinationVirtualAddress, 0,
                    args->FillVirtual.FillSizeInBytes, COMPUTE_OP_FILL,
                    args->FillVirtual.FillPattern);
    case DXGK_OPERATION_VIRTUAL_TRANSFER:
        return Emit(args, args->TransferVirtual.DestinationVirtualAddress,
                    args->TransferVirtual.SourceVirtualAddress,
                    args->TransferVirtual.TransferSizeInBytes, COMPUTE_OP_COPY, 0);
    case DXGK_OPERATION_FLUSH_TLB: /* nothing is cached */
    case DXGK_OPERATION_NOTIFY_RESIDENCY:
    case DXGK_OPERATION_DISCARD_CONTENT:
        return STATUS_SUCCESS;
    default:
        return STATUS_NOT_SUPPORTED;
    }
}
