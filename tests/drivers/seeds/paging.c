/* SPDX-License-Identifier: MIT */
/* BuildPagingBuffer for physical addresses, and the probes of Patch for paging buffers. mmu.c has the virtual operations. */
#include "seeds.h"

struct seeds_command *seeds_emit(struct seeds_emitter *emitter, ULONG op, ULONGLONG dst, ULONG bytes)
{
    struct seeds_command *c = emitter->at;

    if (!c || emitter->room == 0)
        return NULL;
    emitter->at++;
    emitter->room--;
    RtlZeroMemory(c, sizeof(*c));
    c->op = op;
    c->dst = dst;
    c->bytes = bytes;
    return c;
}

/* Device address of page `page` of one side of a transfer. */
static ULONGLONG page_address(UINT segment, LONGLONG address, const MDL *mdl, ULONG page)
{
    if (segment != 0)
        return (ULONGLONG)address + ((ULONGLONG)page << PAGE_SHIFT);
    return SEEDS_BUS | (ULONGLONG)MmGetMdlPfnArray((MDL *)mdl)[page] << PAGE_SHIFT;
}

/* A page is one command. MultipassOffset counts the pages for which the buffers before had room. */
static NTSTATUS transfer(DXGKARG_BUILDPAGINGBUFFER *args, struct seeds_emitter *emitter)
{
    const ULONGLONG bytes = args->Transfer.TransferSize;
    const ULONG first = args->Transfer.TransferOffset >> PAGE_SHIFT;
    const ULONG pages = (ULONG)((bytes + PAGE_SIZE - 1) >> PAGE_SHIFT);
    const UINT from = args->Transfer.Source.SegmentId, to = args->Transfer.Destination.SegmentId;

    for (ULONG page = args->MultipassOffset; page < pages; page++) {
        const ULONGLONG left = bytes - ((ULONGLONG)page << PAGE_SHIFT);
        struct seeds_command *c = seeds_emit(
            emitter, SEEDS_OP_COPY,
            page_address(to, args->Transfer.Destination.SegmentAddress.QuadPart,
                         args->Transfer.Destination.pMdl,
                         page + (to != 0 ? first : args->Transfer.MdlOffset)),
            left < PAGE_SIZE ? (ULONG)left : PAGE_SIZE);

        if (!c) {
            args->MultipassOffset = page;
            return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
        }
        c->src = page_address(from, args->Transfer.Source.SegmentAddress.QuadPart,
                              args->Transfer.Source.pMdl,
                              page + (from != 0 ? first : args->Transfer.MdlOffset));
    }
    return STATUS_SUCCESS;
}

static NTSTATUS fill(const DXGKARG_BUILDPAGINGBUFFER *args, struct seeds_emitter *emitter)
{
    struct seeds_command *c = seeds_emit(emitter, SEEDS_OP_FILL,
                                         (ULONGLONG)args->Fill.Destination.SegmentAddress.QuadPart,
                                         (ULONG)args->Fill.FillSize);

    if (!c)
        return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
    c->pattern = args->Fill.FillPattern;
    return STATUS_SUCCESS;
}

/* ---- the aperture ---- */

static NTSTATUS map_aperture(DXGKARG_BUILDPAGINGBUFFER *args, struct seeds_emitter *emitter)
{
    for (ULONG page = args->MultipassOffset; page < args->MapApertureSegment.NumberOfPages; page++) {
        struct seeds_command *c = seeds_emit(
            emitter, SEEDS_OP_MAP, args->MapApertureSegment.OffsetInPages + page, PAGE_SIZE);

        if (!c) {
            args->MultipassOffset = page;
            return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
        }
        c->src = page_address(0, 0, args->MapApertureSegment.pMdl,
                              args->MapApertureSegment.MdlOffset + page) &
                 ~SEEDS_BUS;
    }
    return STATUS_SUCCESS;
}

#if SEEDS_2_9
static NTSTATUS map_aperture2(DXGKARG_BUILDPAGINGBUFFER *args, struct seeds_emitter *emitter)
{
    const DXGK_ADL *adl = &args->MapApertureSegment2.Adl;

    for (ULONG page = args->MultipassOffset; page < args->MapApertureSegment2.NumberOfPages;
         page++) {
        const ULONG i = args->MapApertureSegment2.AdlOffset + page;
        struct seeds_command *c = seeds_emit(
            emitter, SEEDS_OP_MAP, args->MapApertureSegment2.OffsetInPages + page, PAGE_SIZE);

        if (!c) {
            args->MultipassOffset = page;
            return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
        }
        c->src = (ULONGLONG)(adl->Flags.Contiguous ? adl->BasePageNumber + i : adl->Pages[i])
                 << PAGE_SHIFT;
    }
    return STATUS_SUCCESS;
}
#endif

/* They become invisible again: a late access goes to a page that belongs to nobody. */
static NTSTATUS unmap_aperture(const DXGKARG_BUILDPAGINGBUFFER *args, struct seeds_emitter *emitter)
{
    struct seeds_command *c = seeds_emit(
        emitter, SEEDS_OP_HIDE, args->UnmapApertureSegment.OffsetInPages,
        (ULONG)(args->UnmapApertureSegment.NumberOfPages << PAGE_SHIFT));

    if (!c)
        return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
    c->src = (ULONGLONG)args->UnmapApertureSegment.DummyPage.QuadPart;
    return STATUS_SUCCESS;
}

static NTSTATUS build(struct seeds_adapter *adapter, DXGKARG_BUILDPAGINGBUFFER *args,
                      struct seeds_emitter *emitter)
{
    switch (args->Operation) {
    case DXGK_OPERATION_TRANSFER:
        return transfer(args, emitter);
    case DXGK_OPERATION_FILL:
        return fill(args, emitter);
    case DXGK_OPERATION_MAP_APERTURE_SEGMENT:
        return map_aperture(args, emitter);
#if SEEDS_2_9
    case DXGK_OPERATION_MAP_APERTURE_SEGMENT2:
        return map_aperture2(args, emitter);
#endif
    case DXGK_OPERATION_UNMAP_APERTURE_SEGMENT:
        return unmap_aperture(args, emitter);
    case DXGK_OPERATION_DISCARD_CONTENT: /* nothing is kept about content, and nothing cached */
    case DXGK_OPERATION_READ_PHYSICAL:
    case DXGK_OPERATION_WRITE_PHYSICAL:
        return STATUS_SUCCESS;
    default:
        return seeds_build_virtual(adapter, args, emitter);
    }
}

/* ---- what was built, for Patch ---- */

static void remember(struct seeds_adapter *adapter, const DXGKARG_BUILDPAGINGBUFFER *args,
                     PUCHAR from, PUCHAR private_from)
{
    struct seeds_build *entry = &adapter->build[adapter->next_build++ % SEEDS_BUILDS];

    entry->from = from;
    entry->to = (PUCHAR)args->pDmaBuffer;
    entry->private_from = private_from;
    entry->private_to = (PUCHAR)args->pDmaBufferPrivateData;
}

static void check_system_context(struct seeds_adapter *adapter,
                                 const DXGKARG_BUILDPAGINGBUFFER *args)
{
    if (!(adapter->config & SEEDS_CONFIG_MULTI) || !args->pDmaBuffer)
        return; /* no paging buffer: the first page tables are written before there is a context */
    seeds_check(adapter,
                adapter->expect_power == SEEDS_POWER_GOES ? SEEDS_PAGING_BUILT_POWER
                                                          : SEEDS_PAGING_BUILT_FOR,
                args->hSystemContext && args->hSystemContext == adapter->system_context,
                "hSystemContext is 0x%x, the system context 0x%x", (ULONG_PTR)args->hSystemContext,
                (ULONG_PTR)adapter->system_context, 0, 0);
}

NTSTATUS NTAPI SeedsBuildPagingBuffer(IN_CONST_HANDLE hAdapter,
                                      IN_PDXGKARG_BUILDPAGINGBUFFER pBuildPagingBuffer)
{
    struct seeds_adapter *adapter = (struct seeds_adapter *)hAdapter;
    DXGKARG_BUILDPAGINGBUFFER *args = pBuildPagingBuffer;
    PUCHAR from = (PUCHAR)args->pDmaBuffer, private_from = (PUCHAR)args->pDmaBufferPrivateData;
    struct seeds_emitter emitter;
    NTSTATUS status;

    check_system_context(adapter, args);
    emitter.at = (struct seeds_command *)args->pDmaBuffer;
    emitter.room = args->DmaSize / SEEDS_COMMAND;
    status = build(adapter, args, &emitter);
    args->pDmaBuffer = emitter.at;
    if (!from || (PUCHAR)emitter.at == from)
        return status;
    if (private_from && args->DmaBufferPrivateDataSize >= 8 &&
        !(adapter->config & SEEDS_CONFIG_PRIVATE_STAYS))
        args->pDmaBufferPrivateData = private_from + 8; /* a part for each operation */
    remember(adapter, args, from, private_from);
    return status;
}

/* The bytes of this buffer that were built and not patched yet; what begins behind this submission is for the next ones, which may
 * be built already. FALSE: none. */
static BOOLEAN take_built(struct seeds_adapter *adapter, const DXGKARG_PATCH *args,
                          struct seeds_build *all)
{
    const UCHAR *start = (const UCHAR *)args->pDmaBuffer,
                *end = start + args->DmaBufferSubmissionEndOffset;

    RtlZeroMemory(all, sizeof(*all));
    for (ULONG i = 0; i < SEEDS_BUILDS; i++) {
        struct seeds_build *entry = &adapter->build[i];

        if (!entry->from || entry->from < start || entry->from >= end)
            continue;
        if (!all->from || entry->from < all->from) {
            all->from = entry->from;
            all->private_from = entry->private_from;
        }
        if (!all->to || entry->to > all->to) {
            all->to = entry->to;
            all->private_to = entry->private_to;
        }
        entry->from = NULL;
    }
    return all->from != NULL;
}

static void check_window(struct seeds_adapter *adapter, const DXGKARG_PATCH *args)
{
    PUCHAR start = (PUCHAR)args->pDmaBuffer, private_start = (PUCHAR)args->pDmaBufferPrivateData;
    struct seeds_build built;

    if (!take_built(adapter, args, &built))
        return; /* once more after preemption */
    seeds_check(adapter, SEEDS_PAGING_WINDOW,
                args->DmaBufferSubmissionStartOffset == (ULONG)(built.from - start) &&
                    args->DmaBufferSubmissionEndOffset == (ULONG)(built.to - start),
                "0x%x to 0x%x, built were 0x%x to 0x%x", args->DmaBufferSubmissionStartOffset,
                args->DmaBufferSubmissionEndOffset, (ULONG)(built.from - start),
                (ULONG)(built.to - start));
    if (!private_start)
        return;
    if (adapter->config & SEEDS_CONFIG_PRIVATE_STAYS) {
        seeds_check(
            adapter, SEEDS_PAGING_PRIVATE_WHOLE,
            args->DmaBufferPrivateDataSubmissionStartOffset == 0 &&
                args->DmaBufferPrivateDataSubmissionEndOffset == args->DmaBufferPrivateDataSize,
            "%d to %d of %d bytes", args->DmaBufferPrivateDataSubmissionStartOffset,
            args->DmaBufferPrivateDataSubmissionEndOffset, args->DmaBufferPrivateDataSize, 0);
        return;
    }
    seeds_check(adapter, SEEDS_PAGING_PRIVATE,
                args->DmaBufferPrivateDataSubmissionStartOffset ==
                        (ULONG)(built.private_from - private_start) &&
                    args->DmaBufferPrivateDataSubmissionEndOffset ==
                        (ULONG)(built.private_to - private_start),
                "%d to %d, built were %d to %d", args->DmaBufferPrivateDataSubmissionStartOffset,
                args->DmaBufferPrivateDataSubmissionEndOffset,
                (ULONG)(built.private_from - private_start),
                (ULONG)(built.private_to - private_start));
}

/* The submission has a command that changes the aperture: until it has run, its own buffer may not be there. */
static BOOLEAN maps_aperture(const DXGKARG_PATCH *args)
{
    for (ULONG at = args->DmaBufferSubmissionStartOffset; at < args->DmaBufferSubmissionEndOffset;
         at += SEEDS_COMMAND) {
        const struct seeds_command *c =
            (const struct seeds_command *)(PVOID)((PUCHAR)args->pDmaBuffer + at);

        if (c->op == SEEDS_OP_MAP)
            return TRUE;
    }
    return FALSE;
}

static void check_segment(struct seeds_adapter *adapter, const DXGKARG_PATCH *args)
{
    if (args->DmaBufferSegmentId)
        seeds_check(adapter, SEEDS_PAGING_SEGMENT,
                    adapter->config & SEEDS_CONFIG_PAGING_APERTURE &&
                        args->DmaBufferSegmentId == SEEDS_SEGMENT_APERTURE,
                    "DmaBufferSegmentId is %d", args->DmaBufferSegmentId, 0, 0, 0);
    else
        seeds_check(adapter, SEEDS_PAGING_SEGMENT_ZERO,
                    !(adapter->config & SEEDS_CONFIG_PAGING_APERTURE) || maps_aperture(args),
                    "DmaBufferSegmentId is 0, bytes 0x%x to 0x%x",
                    args->DmaBufferSubmissionStartOffset, args->DmaBufferSubmissionEndOffset, 0, 0);
}

void seeds_check_paging(struct seeds_adapter *adapter, const DXGKARG_PATCH *args)
{
    check_segment(adapter, args);
    seeds_check(adapter, SEEDS_PAGING_FLAGS, args->Flags.Value == 1, "Flags are 0x%x",
                args->Flags.Value, 0, 0, 0);
    seeds_check(adapter, SEEDS_PAGING_LISTS,
                !args->pAllocationList && args->AllocationListSize == 0 &&
                    !args->pPatchLocationList && args->PatchLocationListSize == 0 &&
                    args->PatchLocationListSubmissionStart == 0 &&
                    args->PatchLocationListSubmissionLength == 0,
                "lists of %d and %d elements, from %d, %d of them", args->AllocationListSize,
                args->PatchLocationListSize, args->PatchLocationListSubmissionStart,
                args->PatchLocationListSubmissionLength);
    if (adapter->expect_power == SEEDS_POWER_GOES)
        seeds_check(adapter, SEEDS_PAGING_POWER, !args->hContext, "the handle is 0x%x",
                    (ULONG_PTR)args->hContext, 0, 0, 0);
    else if (adapter->config & SEEDS_CONFIG_MULTI)
        seeds_check(adapter, SEEDS_PAGING_CONTEXT,
                    args->hContext ? args->hContext == adapter->system_context
                                   : adapter->expect_power == SEEDS_POWER_ANY,
                    "the handle is 0x%x, the system context 0x%x", (ULONG_PTR)args->hContext,
                    (ULONG_PTR)adapter->system_context, 0, 0);
    else
        seeds_check(adapter, SEEDS_PAGING_NO_DEVICE, !args->hDevice, "the handle is 0x%x",
                    (ULONG_PTR)args->hDevice, 0, 0, 0);
    seeds_check(adapter, SEEDS_PAGING_SIZE, args->DmaBufferSize >= SEEDS_PAGING_BYTES,
                "DmaBufferSize is 0x%x, asked for were 0x%x", args->DmaBufferSize,
                SEEDS_PAGING_BYTES, 0, 0);
    check_window(adapter, args);
}
