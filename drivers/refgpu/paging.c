/* SPDX-License-Identifier: MIT */
/*
 * BuildPagingBuffer: one paging operation becomes commands of the copy engine. If an operation does
 * not fit into the rest of the buffer, MultipassOffset counts what was written: page-table entries,
 * aperture pages, pages of a transfer, ranges.
 */
#include "driver.h"

uint32_t *refgpu_emit(struct refgpu_emitter *emitter, ULONG opcode, ULONG flags, ULONG dwords)
{
    uint32_t *at = emitter->at;

    if (!at || dwords > emitter->room)
        return NULL;
    at[0] = REFGPU_CMD(opcode, flags, dwords);
    emitter->at += dwords;
    emitter->room -= dwords;
    return at;
}

static NTSTATUS emit_copy(struct refgpu_emitter *emitter, ULONG flags, ULONGLONG dst, ULONGLONG src,
                          ULONGLONG bytes)
{
    uint32_t *c = refgpu_emit(emitter, REFGPU_OP_COPY, flags, 7);

    if (!c)
        return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
    refgpu_put64(c + 1, dst);
    refgpu_put64(c + 3, src);
    refgpu_put64(c + 5, bytes);
    return STATUS_SUCCESS;
}

static NTSTATUS emit_fill(struct refgpu_emitter *emitter, ULONG flags, ULONGLONG dst,
                          ULONGLONG bytes, ULONG pattern)
{
    uint32_t *c = refgpu_emit(emitter, REFGPU_OP_FILL, flags, 6);

    if (!c)
        return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
    refgpu_put64(c + 1, dst);
    refgpu_put64(c + 3, bytes);
    c[5] = pattern;
    return STATUS_SUCCESS;
}

static NTSTATUS emit_write64(struct refgpu_emitter *emitter, ULONGLONG dst, ULONGLONG value)
{
    uint32_t *c = refgpu_emit(emitter, REFGPU_OP_WRITE, REFGPU_WRITE_64, 5);

    if (!c)
        return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
    refgpu_put64(c + 1, dst);
    refgpu_put64(c + 3, value);
    return STATUS_SUCCESS;
}

/* ---- physical transfers: sides are a segment address or locked pages ---- */

struct side {
    const MDL *mdl; /* NULL: `address` */
    ULONGLONG address;
    ULONG first; /* first page in the MDL */
};

static struct side make_side(ULONG segment, LARGE_INTEGER address, const MDL *mdl, ULONG offset,
                             ULONG mdl_offset)
{
    struct side side = {.mdl = NULL, .address = (ULONGLONG)address.QuadPart + offset, .first = 0};

    if (segment == 0) {
        side.mdl = mdl;
        side.first = mdl_offset;
    }
    return side;
}

/* Device address of page `page` of the transfer. */
static ULONGLONG side_page(const struct side *side, ULONG page)
{
    if (!side->mdl)
        return side->address + ((ULONGLONG)page << PAGE_SHIFT);
    return REFGPU_BUS_BASE +
           ((ULONGLONG)MmGetMdlPfnArray(side->mdl)[side->first + page] << PAGE_SHIFT);
}

static NTSTATUS build_transfer(DXGKARG_BUILDPAGINGBUFFER *args, struct refgpu_emitter *emitter)
{
    const ULONG flags = REFGPU_FLAG_DST_DEVICE | REFGPU_FLAG_SRC_DEVICE;
    const ULONGLONG bytes = args->Transfer.TransferSize;
    const struct side src = make_side(
        args->Transfer.Source.SegmentId, args->Transfer.Source.SegmentAddress,
        args->Transfer.Source.pMdl, args->Transfer.TransferOffset, args->Transfer.MdlOffset);
    const struct side dst = make_side(
        args->Transfer.Destination.SegmentId, args->Transfer.Destination.SegmentAddress,
        args->Transfer.Destination.pMdl, args->Transfer.TransferOffset, args->Transfer.MdlOffset);
    const ULONG pages = (ULONG)((bytes + PAGE_SIZE - 1u) >> PAGE_SHIFT);

    for (ULONG done = args->MultipassOffset; done < pages;) {
        const ULONGLONG from = side_page(&src, done), to = side_page(&dst, done);
        ULONG run = 1;
        ULONGLONG length;

        while (done + run < pages &&
               side_page(&src, done + run) == from + ((ULONGLONG)run << PAGE_SHIFT) &&
               side_page(&dst, done + run) == to + ((ULONGLONG)run << PAGE_SHIFT))
            run++;
        length = (ULONGLONG)run << PAGE_SHIFT;
        if (length > bytes - ((ULONGLONG)done << PAGE_SHIFT))
            length = bytes - ((ULONGLONG)done << PAGE_SHIFT);
        if (!NT_SUCCESS(emit_copy(emitter, flags, to, from, length))) {
            args->MultipassOffset = done;
            return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
        }
        done += run;
    }
    return STATUS_SUCCESS;
}

/* ---- aperture ---- */

static ULONGLONG adl_page(const DXGK_ADL *adl, ULONG page)
{
    return (ULONGLONG)(adl->Flags.Contiguous ? adl->BasePageNumber + page : adl->Pages[page])
           << PAGE_SHIFT;
}

static NTSTATUS emit_gart_fill(struct refgpu_emitter *emitter, ULONG first, ULONG count,
                               ULONGLONG entry, ULONGLONG step)
{
    uint32_t *c = refgpu_emit(emitter, REFGPU_OP_GART_FILL, 0, 7);

    if (!c)
        return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
    c[1] = first;
    c[2] = count;
    refgpu_put64(c + 3, entry);
    refgpu_put64(c + 5, step);
    return STATUS_SUCCESS;
}

static NTSTATUS build_map_aperture(struct refgpu_adapter *adapter, DXGKARG_BUILDPAGINGBUFFER *args,
                                   struct refgpu_emitter *emitter)
{
    const DXGK_ADL *adl = &args->MapApertureSegment2.Adl;
    const ULONG count = (ULONG)args->MapApertureSegment2.NumberOfPages;
    const ULONG first = (ULONG)args->MapApertureSegment2.OffsetInPages;
    struct refgpu_allocation *allocation = args->MapApertureSegment2.hAllocation;
    ULONGLONG bits = REFGPU_GART_VALID;

    if (args->MapApertureSegment2.SegmentId != REFGPU_SEGMENT_APERTURE)
        return STATUS_INVALID_PARAMETER;
    if (args->MapApertureSegment2.Flags.CacheCoherent)
        bits |= REFGPU_GART_SNOOP;
    if (adl->Flags.Contiguous) {
        const NTSTATUS status = emit_gart_fill(
            emitter, first, count, adl_page(adl, args->MapApertureSegment2.AdlOffset) | bits,
            PAGE_SIZE);

        if (!NT_SUCCESS(status))
            return status;
    }
    for (ULONG done = adl->Flags.Contiguous ? count : args->MultipassOffset; done < count;) {
        ULONG n = emitter->room > 3u ? (emitter->room - 3u) / 2u : 0u;
        uint32_t *c;

        if (n > count - done)
            n = count - done;
        if (n > (REFGPU_CMD_MAX_DWORDS - 3u) / 2u)
            n = (REFGPU_CMD_MAX_DWORDS - 3u) / 2u;
        c = n ? refgpu_emit(emitter, REFGPU_OP_GART_WRITE, 0, 3u + 2u * n) : NULL;
        if (!c) {
            args->MultipassOffset = done;
            return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
        }
        c[1] = first + done;
        c[2] = n;
        for (ULONG i = 0; i < n; i++)
            refgpu_put64(c + 3u + 2u * i,
                         adl_page(adl, args->MapApertureSegment2.AdlOffset + done + i) | bits);
        done += n;
    }
    if (allocation) {
        allocation->cpu = args->MapApertureSegment2.CpuVisibleAddress;
        allocation->segment = REFGPU_SEGMENT_APERTURE;
        allocation->offset = (ULONGLONG)first << PAGE_SHIFT;
    }
    (void)InterlockedIncrement64(&adapter->aperture_maps);
    return STATUS_SUCCESS;
}

static NTSTATUS build_unmap_aperture(struct refgpu_adapter *adapter,
                                     DXGKARG_BUILDPAGINGBUFFER *args, struct refgpu_emitter *emitter)
{
    const ULONGLONG dummy = (ULONGLONG)args->UnmapApertureSegment.DummyPage.QuadPart &
                            REFGPU_GART_ADDRESS_MASK;
    struct refgpu_allocation *allocation = args->UnmapApertureSegment.hAllocation;
    NTSTATUS status;

    if (args->UnmapApertureSegment.SegmentId != REFGPU_SEGMENT_APERTURE)
        return STATUS_INVALID_PARAMETER;
    status = emit_gart_fill(emitter, (ULONG)args->UnmapApertureSegment.OffsetInPages,
                            (ULONG)args->UnmapApertureSegment.NumberOfPages,
                            dummy | REFGPU_GART_VALID, 0);
    if (!NT_SUCCESS(status))
        return status;
    if (allocation) {
        allocation->cpu = NULL;
        allocation->segment = 0;
    }
    (void)InterlockedIncrement64(&adapter->aperture_unmaps);
    return STATUS_SUCCESS;
}

/* ---- the rest ---- */

static NTSTATUS build_flush_tlb(const DXGKARG_BUILDPAGINGBUFFER *args,
                                struct refgpu_emitter *emitter)
{
    uint32_t *c = refgpu_emit(emitter, REFGPU_OP_TLB_FLUSH, 0, 7);

    if (!c)
        return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
    refgpu_put64(c + 1, args->FlushTlb.RootPageTableAddress.SegmentOffset);
    refgpu_put64(c + 3, args->FlushTlb.StartVirtualAddress);
    refgpu_put64(c + 5, args->FlushTlb.EndVirtualAddress);
    return STATUS_SUCCESS;
}

/* Save areas start empty. They are one page long, so the first page is all of it. */
static NTSTATUS build_init_context(const DXGKARG_BUILDPAGINGBUFFER *args,
                                   struct refgpu_emitter *emitter)
{
    const ULONG segment = args->InitContextResource.Destination.SegmentId;
    struct side side;

    if (args->InitContextResource.Destination.GpuVirtualAddress)
        return emit_fill(emitter, 0, args->InitContextResource.Destination.GpuVirtualAddress,
                         REFGPU_SAVE_BYTES, 0);
    side = make_side(segment, args->InitContextResource.Destination.SegmentAddress,
                     args->InitContextResource.Destination.pMdl, 0, 0);
    return emit_fill(emitter, REFGPU_FLAG_DST_DEVICE, side_page(&side, 0), REFGPU_SAVE_BYTES, 0);
}

static NTSTATUS build_update_context(DXGKARG_BUILDPAGINGBUFFER *args, struct refgpu_emitter *emitter)
{
    struct refgpu_update update;

    if (args->UpdateContextAllocation.DriverPrivateDataSize < sizeof update)
        return STATUS_INVALID_PARAMETER;
    RtlCopyMemory(&update, args->UpdateContextAllocation.pDriverPrivateData, sizeof update);
    for (ULONG i = args->MultipassOffset; i < update.count; i++) {
        const NTSTATUS status = emit_write64(
            emitter, args->UpdateContextAllocation.ContextAllocation + update.offset + i * 8u,
            update.value[i]);

        if (!NT_SUCCESS(status)) {
            args->MultipassOffset = i;
            return status;
        }
    }
    return STATUS_SUCCESS;
}

static NTSTATUS build_copy_entries(DXGKARG_BUILDPAGINGBUFFER *args, struct refgpu_emitter *emitter)
{
    for (ULONG i = args->MultipassOffset; i < args->CopyPageTableEntries.NumRanges; i++) {
        const DXGK_BUILDPAGINGBUFFER_COPY_RANGE *range = &args->CopyPageTableEntries.pRanges[i];
        const NTSTATUS status = emit_copy(
            emitter, 0, range->DstPageTableAddress + range->DstStartPteIndex * 8ull,
            range->SrcPageTableAddress + range->SrcStartPteIndex * 8ull,
            range->NumPageTableEntries * 8ull);

        if (!NT_SUCCESS(status)) {
            args->MultipassOffset = i;
            return status;
        }
    }
    return STATUS_SUCCESS;
}

static NTSTATUS note_residency(struct refgpu_adapter *adapter, const DXGKARG_BUILDPAGINGBUFFER *args)
{
    struct refgpu_allocation *allocation = args->NotifyResidency.hAllocation;

    if (allocation) {
        allocation->resident = args->NotifyResidency.Resident != 0;
        allocation->segment = args->NotifyResidency.PhysicalAddress.SegmentId;
        allocation->offset = args->NotifyResidency.PhysicalAddress.SegmentOffset;
    }
    (void)InterlockedIncrement64(&adapter->residency_notes);
    return STATUS_SUCCESS;
}

static NTSTATUS build(struct refgpu_adapter *adapter, DXGKARG_BUILDPAGINGBUFFER *args,
                      struct refgpu_emitter *emitter)
{
    switch (args->Operation) {
    case DXGK_OPERATION_VIRTUAL_TRANSFER:
        return emit_copy(emitter, 0, args->TransferVirtual.DestinationVirtualAddress,
                         args->TransferVirtual.SourceVirtualAddress,
                         args->TransferVirtual.TransferSizeInBytes);
    case DXGK_OPERATION_VIRTUAL_FILL:
        return emit_fill(emitter, 0, args->FillVirtual.DestinationVirtualAddress,
                         args->FillVirtual.FillSizeInBytes, args->FillVirtual.FillPattern);
    case DXGK_OPERATION_UPDATE_PAGE_TABLE:
        return refgpu_build_update_page_table(args, emitter);
    case DXGK_OPERATION_FLUSH_TLB:
        return build_flush_tlb(args, emitter);
    case DXGK_OPERATION_TRANSFER:
        return build_transfer(args, emitter);
    case DXGK_OPERATION_FILL:
        return emit_fill(emitter, REFGPU_FLAG_DST_DEVICE,
                         (ULONGLONG)args->Fill.Destination.SegmentAddress.QuadPart,
                         args->Fill.FillSize, args->Fill.FillPattern);
    case DXGK_OPERATION_MAP_APERTURE_SEGMENT2:
        return build_map_aperture(adapter, args, emitter);
    case DXGK_OPERATION_UNMAP_APERTURE_SEGMENT:
        return build_unmap_aperture(adapter, args, emitter);
    case DXGK_OPERATION_INIT_CONTEXT_RESOURCE:
        return build_init_context(args, emitter);
    case DXGK_OPERATION_UPDATE_CONTEXT_ALLOCATION:
        return build_update_context(args, emitter);
    case DXGK_OPERATION_COPY_PAGE_TABLE_ENTRIES:
        return build_copy_entries(args, emitter);
    case DXGK_OPERATION_SIGNAL_MONITORED_FENCE:
        return emit_write64(emitter, args->SignalMonitoredFence.MonitoredFenceGpuVa,
                            args->SignalMonitoredFence.MonitoredFenceValue);
    case DXGK_OPERATION_NOTIFY_RESIDENCY:
        return note_residency(adapter, args);
    case DXGK_OPERATION_DISCARD_CONTENT: /* nothing depends on the content */
    case DXGK_OPERATION_READ_PHYSICAL:   /* there are no caches between the engines and memory */
    case DXGK_OPERATION_WRITE_PHYSICAL:
        return STATUS_SUCCESS;
    default:
        return STATUS_NOT_SUPPORTED;
    }
}

NTSTATUS NTAPI RefGpuBuildPagingBuffer(IN_CONST_HANDLE hAdapter,
                                       IN_PDXGKARG_BUILDPAGINGBUFFER pBuildPagingBuffer)
{
    struct refgpu_emitter emitter = {.at = pBuildPagingBuffer->pDmaBuffer,
                                     .room = pBuildPagingBuffer->DmaSize / (ULONG)sizeof(ULONG)};
    const NTSTATUS status = build((struct refgpu_adapter *)hAdapter, pBuildPagingBuffer, &emitter);

    pBuildPagingBuffer->pDmaBuffer = emitter.at;
    return status;
}

NTSTATUS NTAPI RefGpuSignalMonitoredFence(IN_CONST_HANDLE hContext,
                                          INOUT_PDXGKARG_SIGNALMONITOREDFENCE pSignalMonitoredFence)
{
    struct refgpu_emitter emitter = {.at = pSignalMonitoredFence->pDmaBuffer,
                                     .room = pSignalMonitoredFence->DmaSize / (ULONG)sizeof(ULONG)};
    const NTSTATUS status = emit_write64(&emitter, pSignalMonitoredFence->MonitoredFenceGpuVa,
                                         pSignalMonitoredFence->MonitoredFenceValue);

    (void)hContext;
    pSignalMonitoredFence->pDmaBuffer = emitter.at;
    return status;
}
