/* SPDX-License-Identifier: MIT */
/* Page tables, and paging operations with GPU virtual addresses. */
#include "seeds.h"

/* ---- context allocations ---- */

#if DXGKDDI_INTERFACE_VERSION >= DXGKDDI_INTERFACE_VERSION_WIN8

struct seeds_init *seeds_context_allocation(struct seeds_adapter *adapter, HANDLE allocation)
{
    struct seeds_init *init;

    for (ULONG i = 0; i < SEEDS_INITS; i++)
        if (adapter->init[i].allocation == allocation)
            return &adapter->init[i];
    init = &adapter->init[adapter->inits++ % SEEDS_INITS];
    RtlZeroMemory(init, sizeof(*init));
    init->allocation = allocation;
    return init;
}

/* Page i is filled with (hAllocation << 8 | i), so that a view of it says which page it shows. */
static NTSTATUS init_context(struct seeds_adapter *adapter, DXGKARG_BUILDPAGINGBUFFER *args,
                             struct seeds_emitter *emitter)
{
    struct seeds_init *init = seeds_context_allocation(adapter,
                                                       args->InitContextResource.hAllocation);

    init->times++;
    init->segment = args->InitContextResource.Destination.SegmentId;
    init->address = (ULONGLONG)args->InitContextResource.Destination.SegmentAddress.QuadPart;
    init->cpu = args->InitContextResource.Destination.VirtualAddress;
#if SEEDS_2_0
    init->gpu_address = args->InitContextResource.Destination.GpuVirtualAddress;
#endif
    for (ULONG i = args->MultipassOffset; init->gpu_address && i < init->pages; i++) {
        struct seeds_command *c = seeds_emit(emitter, SEEDS_OP_FILL,
                                             init->gpu_address + i * PAGE_SIZE, PAGE_SIZE);

        if (!c) {
            init->times--;
            args->MultipassOffset = i;
            return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
        }
        c->pattern = (ULONG)(ULONG_PTR)init->allocation << 8 | i;
    }
    return STATUS_SUCCESS;
}

#endif

#if SEEDS_2_0

static NTSTATUS update_context(struct seeds_adapter *adapter, DXGKARG_BUILDPAGINGBUFFER *args,
                               struct seeds_emitter *emitter)
{
    struct seeds_update update;
    struct seeds_command *c;

    adapter->update_calls++;
    adapter->update_bytes = args->UpdateContextAllocation.DriverPrivateDataSize;
    adapter->update_size = args->UpdateContextAllocation.ContextAllocationSize;
    adapter->update_word = 0;
    if (adapter->update_bytes < sizeof(update))
        return STATUS_SUCCESS;
    RtlCopyMemory(&update, args->UpdateContextAllocation.pDriverPrivateData, sizeof(update));
    adapter->update_word = update.value;
    c = seeds_emit(emitter, SEEDS_OP_WRITE,
                   args->UpdateContextAllocation.ContextAllocation + update.offset, 8);
    if (!c)
        return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
    c->src = update.value;
    return STATUS_SUCCESS;
}

/* ---- page tables ---- */

static ULONGLONG entry_of(const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update, ULONG index)
{
    const DXGK_PTE *pte = &update->pPageTableEntries[update->Flags.Repeat ? 0 : index];
    ULONGLONG address = (ULONGLONG)pte->PageAddress << PAGE_SHIFT, entry = SEEDS_PTE_VALID;
    ULONG segment = (ULONG)pte->Segment;

    if (!pte->Valid)
        return 0;
    if (pte->Zero)
        return SEEDS_PTE_VALID | SEEDS_PTE_ZERO;
    if (pte->ReadOnly)
        entry |= SEEDS_PTE_READONLY;
    if (pte->NoExecute)
        entry |= SEEDS_PTE_NOEXEC;
    if (segment == 0)
        return entry | SEEDS_PTE_BUS | (address & SEEDS_PTE_ADDRESS);
    return entry | ((segment == SEEDS_SEGMENT_VRAM ? SEEDS_VRAM : SEEDS_APERTURE) + address);
}

static void remember_page(struct seeds_adapter *adapter,
                          const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update, ULONG index,
                          ULONGLONG entry)
{
    struct seeds_page *page = &adapter->page[adapter->next_page++ % SEEDS_PAGES];

    page->va = update->FirstPteVirtualAddress + ((ULONGLONG)index << PAGE_SHIFT);
    page->protection = update->DriverProtection;
    page->entry = entry;
}

static void write_by_cpu(const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update)
{
    volatile ULONGLONG *table = (volatile ULONGLONG *)update->PageTableAddress.CpuVirtual;

    for (UINT i = 0; i < update->NumPageTableEntries; i++)
        table[update->StartIndex + i] = entry_of(update, i);
}

/* How many entries from `first` on go up by the same step. */
static ULONG run_length(const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update, ULONG first,
                        ULONGLONG *step)
{
    ULONG length = 1;

    *step = 0;
    if (update->Flags.Repeat)
        return update->NumPageTableEntries - first;
    if (first + 1 < update->NumPageTableEntries)
        *step = entry_of(update, first + 1) - entry_of(update, first);
    while (first + length < update->NumPageTableEntries &&
           entry_of(update, first + length) - entry_of(update, first + length - 1) == *step)
        length++;
    return length;
}

static NTSTATUS write_by_engine(DXGKARG_BUILDPAGINGBUFFER *args, struct seeds_emitter *emitter)
{
    const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update = &args->UpdatePageTable;
    const UINT segment = update->PageTableAddress.GpuPhysical.SegmentId;
    const ULONGLONG offset = update->PageTableAddress.GpuPhysical.SegmentOffset;
    const ULONGLONG table = segment == 0 ? SEEDS_BUS | offset : SEEDS_VRAM + offset;
    ULONG length;

    for (ULONG done = args->MultipassOffset; done < update->NumPageTableEntries; done += length) {
        struct seeds_command *c;
        ULONGLONG step;

        length = run_length(update, done, &step);
        c = seeds_emit(emitter, SEEDS_OP_SERIES, table + (update->StartIndex + done) * 8ull, length);
        if (!c) {
            args->MultipassOffset = done;
            return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
        }
        c->src = entry_of(update, done);
        c->pattern = (ULONG)step;
        c->reserved = (ULONG)(step >> 32);
    }
    return STATUS_SUCCESS;
}

static NTSTATUS update_table(struct seeds_adapter *adapter, DXGKARG_BUILDPAGINGBUFFER *args,
                             struct seeds_emitter *emitter)
{
    const DXGK_BUILDPAGINGBUFFER_UPDATEPAGETABLE *update = &args->UpdatePageTable;

    for (ULONG i = 0;
         update->PageTableLevel == 0 && !update->Flags.Repeat && i < update->NumPageTableEntries;
         i++)
        if (entry_of(update, i))
            remember_page(adapter, update, i, entry_of(update, i));
    if (update->UpdateMode != DXGK_PAGETABLEUPDATE_CPU_VIRTUAL)
        return write_by_engine(args, emitter);
    write_by_cpu(update);
    return STATUS_SUCCESS;
}

static NTSTATUS copy_entries(DXGKARG_BUILDPAGINGBUFFER *args, struct seeds_emitter *emitter)
{
    for (ULONG i = args->MultipassOffset; i < args->CopyPageTableEntries.NumRanges; i++) {
        const DXGK_BUILDPAGINGBUFFER_COPY_RANGE *range = &args->CopyPageTableEntries.pRanges[i];
        struct seeds_command *c = seeds_emit(
            emitter, SEEDS_OP_COPY, range->DstPageTableAddress + range->DstStartPteIndex * 8ull,
            range->NumPageTableEntries * 8);

        if (!c) {
            args->MultipassOffset = i;
            return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
        }
        c->src = range->SrcPageTableAddress + range->SrcStartPteIndex * 8ull;
    }
    return STATUS_SUCCESS;
}

static NTSTATUS one_command(struct seeds_emitter *emitter, ULONG op, ULONGLONG dst, ULONG bytes,
                            ULONGLONG src, ULONG pattern)
{
    struct seeds_command *c = seeds_emit(emitter, op, dst, bytes);

    if (!c)
        return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
    c->src = src;
    c->pattern = pattern;
    return STATUS_SUCCESS;
}

NTSTATUS seeds_build_virtual(struct seeds_adapter *adapter, DXGKARG_BUILDPAGINGBUFFER *args,
                             struct seeds_emitter *emitter)
{
    switch (args->Operation) {
    case DXGK_OPERATION_INIT_CONTEXT_RESOURCE:
        return init_context(adapter, args, emitter);
    case DXGK_OPERATION_UPDATE_CONTEXT_ALLOCATION:
        return update_context(adapter, args, emitter);
    case DXGK_OPERATION_UPDATE_PAGE_TABLE:
        return update_table(adapter, args, emitter);
    case DXGK_OPERATION_COPY_PAGE_TABLE_ENTRIES:
        return copy_entries(args, emitter);
    case DXGK_OPERATION_VIRTUAL_TRANSFER:
        return one_command(emitter, SEEDS_OP_COPY, args->TransferVirtual.DestinationVirtualAddress,
                           (ULONG)args->TransferVirtual.TransferSizeInBytes,
                           args->TransferVirtual.SourceVirtualAddress, 0);
    case DXGK_OPERATION_VIRTUAL_FILL:
        return one_command(emitter, SEEDS_OP_FILL, args->FillVirtual.DestinationVirtualAddress,
                           (ULONG)args->FillVirtual.FillSizeInBytes, 0,
                           args->FillVirtual.FillPattern);
#if SEEDS_2_9
    case DXGK_OPERATION_SIGNAL_MONITORED_FENCE:
        return one_command(emitter, SEEDS_OP_WRITE, args->SignalMonitoredFence.MonitoredFenceGpuVa,
                           8, args->SignalMonitoredFence.MonitoredFenceValue, 0);
#endif
    case DXGK_OPERATION_FLUSH_TLB: /* the device keeps no translations */
    case DXGK_OPERATION_NOTIFY_RESIDENCY:
        return STATUS_SUCCESS;
    default:
        return STATUS_NOT_SUPPORTED;
    }
}

/* ---- address spaces ---- */

void NTAPI SeedsSetRootPageTable(IN_CONST_HANDLE hAdapter,
                                 IN_CONST_PDXGKARG_SETROOTPAGETABLE pSetPageTable)
{
    struct seeds_context *context = (struct seeds_context *)pSetPageTable->hContext;

    UNREFERENCED_PARAMETER(hAdapter);
    context->root = pSetPageTable->Address.SegmentOffset |
                    (pSetPageTable->Address.SegmentId == 0 ? SEEDS_BUS : SEEDS_VRAM);
}

SIZE_T NTAPI SeedsGetRootPageTableSize(IN_CONST_HANDLE hAdapter,
                                       INOUT_PDXGKARG_GETROOTPAGETABLESIZE pArgs)
{
    UNREFERENCED_PARAMETER(hAdapter);
    pArgs->NumberOfPte = 1u << SEEDS_LEVEL_BITS;
    return SEEDS_TABLE_BYTES;
}

#else

NTSTATUS seeds_build_virtual(struct seeds_adapter *adapter, DXGKARG_BUILDPAGINGBUFFER *args,
                             struct seeds_emitter *emitter)
{
    if (args->Operation == DXGK_OPERATION_INIT_CONTEXT_RESOURCE)
        return init_context(adapter, args, emitter);
    return STATUS_NOT_SUPPORTED;
}

#endif
