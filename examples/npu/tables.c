/* SPDX-License-Identifier: MIT */
/*
 * Page tables, and the paging buffers that fill, copy, write tables and drop translations.
 *
 * Who writes tables is chosen by the registry (adapter.c): the CPU at once; or the engine, by commands whose addresses are virtual ones
 * of the system's own address space, or those of the bus.
 */
#include "npu.h"

#define NPU_PIECE 0x1000000u /* longest piece of an operation that is one command */

VOID NTAPI NpuSetRootPageTable(IN_CONST_HANDLE hAdapter,
                               IN_CONST_PDXGKARG_SETROOTPAGETABLE pSetPageTable)
{
    NPU_CONTEXT *context = (NPU_CONTEXT *)pSetPageTable->hContext;

    UNREFERENCED_PARAMETER(hAdapter);
    context->Root = pSetPageTable->Address.SegmentOffset;
}

SIZE_T NTAPI NpuGetRootPageTableSize(IN_CONST_HANDLE hAdapter,
                                     INOUT_PDXGKARG_GETROOTPAGETABLESIZE pArgs)
{
    UNREFERENCED_PARAMETER(hAdapter);
    pArgs->NumberOfPte = 1u << NPU_LEVEL_BITS;
    return PAGE_SIZE;
}

/* ---- commands ---- */

/* Room for one more; NULL: the host calls again with another buffer, from MultipassOffset on. */
static struct npu_command *Next(DXGKARG_BUILDPAGINGBUFFER *Args, UINT Op)
{
    struct npu_command *command = (struct npu_command *)Args->pDmaBuffer;

    if (!command || Args->DmaSize < sizeof(*command))
        return NULL;
    Args->pDmaBuffer = command + 1;
    Args->DmaSize -= (UINT)sizeof(*command);
    RtlZeroMemory(command, sizeof(*command));
    command->op = Op;
    return command;
}

/* A long operation is several commands; MultipassOffset counts those that earlier buffers have. */
static NTSTATUS Move(DXGKARG_BUILDPAGINGBUFFER *Args, UINT Op, ULONGLONG Dst, ULONGLONG Src,
                     ULONGLONG Bytes, UINT Value)
{
    for (ULONGLONG done = (ULONGLONG)Args->MultipassOffset * NPU_PIECE; done < Bytes;
         done += NPU_PIECE) {
        struct npu_command *command = Next(Args, Op);

        if (!command)
            return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
        command->count = Bytes - done < NPU_PIECE ? (UINT)(Bytes - done) : NPU_PIECE;
        command->dst = Dst + done;
        command->a = Src + done;
        command->value = Value;
        Args->MultipassOffset++;
    }
    return STATUS_SUCCESS;
}

/* ---- entries ---- */

/* Whatever the level: where the page or the next table lies, which is in system memory in any case. */
static ULONGLONG Entry(const DXGK_PTE *Pte)
{
    if (!Pte->Valid)
        return 0;
    if (Pte->Zero)
        return NPU_ENTRY_VALID | NPU_ENTRY_ZERO;
    return Pte->PageAddress << PAGE_SHIFT | NPU_ENTRY_VALID |
           (Pte->ReadOnly ? NPU_ENTRY_READ_ONLY : 0);
}

static const DXGK_PTE *At(const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *Update, UINT Index)
{
    return &Update->pPageTableEntries[Update->Flags.Repeat ? 0 : Index];
}

static NTSTATUS WriteByCpu(const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *Update)
{
    volatile ULONGLONG *table = (volatile ULONGLONG *)Update->PageTableAddress.CpuVirtual;

    for (UINT i = 0; i < Update->NumPageTableEntries; i++)
        table[Update->StartIndex + i] = Entry(At(Update, i));
    return STATUS_SUCCESS;
}

/* How many entries from First on grow by the same step. */
static UINT RunLength(const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *Update, UINT First,
                      ULONGLONG *Step)
{
    UINT length = 1;

    *Step = 0;
    while (First + length < Update->NumPageTableEntries) {
        const ULONGLONG step = Entry(At(Update, First + length)) -
                               Entry(At(Update, First + length - 1));

        if (length > 1 && step != *Step)
            break;
        *Step = step;
        length++;
    }
    return length;
}

static NTSTATUS WriteByEngine(DXGKARG_BUILDPAGINGBUFFER *Args)
{
    const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update = &Args->UpdatePageTable;
    const BOOLEAN physical = update->UpdateMode == DXGK_PAGETABLEUPDATE_GPU_PHYSICAL;
    const ULONGLONG table = physical ? update->PageTableAddress.GpuPhysical.SegmentOffset
                                     : update->PageTableAddress.GpuVirtual;

    while (Args->MultipassOffset < update->NumPageTableEntries) {
        const UINT first = Args->MultipassOffset;
        struct npu_command *command = Next(Args, NPU_OP_ENTRIES);
        ULONGLONG step;

        if (!command)
            return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
        command->count = RunLength(update, first, &step);
        command->dst = table + (ULONGLONG)(update->StartIndex + first) * sizeof(ULONGLONG);
        command->a = Entry(At(update, first));
        command->b = step;
        command->value = physical;
        Args->MultipassOffset += command->count;
    }
    return STATUS_SUCCESS;
}

static NTSTATUS Flush(DXGKARG_BUILDPAGINGBUFFER *Args)
{
    struct npu_command *command = Next(Args, NPU_OP_FLUSH);

    if (!command)
        return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
    command->a = Args->FlushTlb.RootPageTableAddress.SegmentOffset;
    command->dst = Args->FlushTlb.StartVirtualAddress;
    command->b = Args->FlushTlb.EndVirtualAddress;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI NpuBuildPagingBuffer(IN_CONST_HANDLE hAdapter,
                                    IN_PDXGKARG_BUILDPAGINGBUFFER pBuildPagingBuffer)
{
    DXGKARG_BUILDPAGINGBUFFER *args = pBuildPagingBuffer;

    UNREFERENCED_PARAMETER(hAdapter);
    switch (args->Operation) {
    case DXGK_OPERATION_UPDATE_PAGE_TABLE:
        return args->UpdatePageTable.UpdateMode == DXGK_PAGETABLEUPDATE_CPU_VIRTUAL
                   ? WriteByCpu(&args->UpdatePageTable)
                   : WriteByEngine(args);
    case DXGK_OPERATION_FLUSH_TLB:
        return Flush(args);
    case DXGK_OPERATION_VIRTUAL_FILL:
        return Move(args, NPU_OP_FILL, args->FillVirtual.DestinationVirtualAddress, 0,
                    args->FillVirtual.FillSizeInBytes, args->FillVirtual.FillPattern);
    case DXGK_OPERATION_VIRTUAL_TRANSFER:
        return Move(args, NPU_OP_COPY, args->TransferVirtual.DestinationVirtualAddress,
                    args->TransferVirtual.SourceVirtualAddress,
                    args->TransferVirtual.TransferSizeInBytes, 0);
    case DXGK_OPERATION_MAP_APERTURE_SEGMENT2: /* page tables show it */
    case DXGK_OPERATION_UNMAP_APERTURE_SEGMENT:
    case DXGK_OPERATION_NOTIFY_RESIDENCY:
    case DXGK_OPERATION_DISCARD_CONTENT:
        return STATUS_SUCCESS;
    default:
        return STATUS_NOT_SUPPORTED;
    }
}
