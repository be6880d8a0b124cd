/* SPDX-License-Identifier: MIT */
/* Patch: each member of DXGKARG_PATCH against what Render and BuildPagingBuffer left, then the patching itself. */
#include "seeds.h"

/* ---- where the DMA buffer is ---- */

/* The device, at the address given, reads what the CPU reads through the pointer given. */
static BOOLEAN shows_bytes(struct seeds_adapter *adapter, const DXGKARG_PATCH *args, ULONG offset,
                           ULONGLONG *seen, ULONGLONG *wanted)
{
    const ULONGLONG address = seeds_device_address(
        args->DmaBufferSegmentId, (ULONGLONG)args->DmaBufferPhysicalAddress.QuadPart + offset);

    *seen = 0;
    RtlCopyMemory(wanted, (const UCHAR *)args->pDmaBuffer + offset, sizeof(*wanted));
    return seeds_peek(adapter, SEEDS_PEEK_READ, 0, address, seen) && *seen == *wanted;
}

static void check_bytes(struct seeds_adapter *adapter, enum seeds_probe probe,
                        const DXGKARG_PATCH *args, ULONG offset)
{
    ULONGLONG seen = 0, wanted = 0;
    const BOOLEAN good = shows_bytes(adapter, args, offset, &seen, &wanted);

    seeds_check(adapter, probe, good, "at 0x%x + 0x%x the device reads 0x%x, the CPU 0x%x",
                (ULONGLONG)args->DmaBufferPhysicalAddress.QuadPart, offset, seen, wanted);
}

/* The first and the last bytes of the portion. */
static void check_address(struct seeds_adapter *adapter, enum seeds_probe probe,
                          const DXGKARG_PATCH *args)
{
    const ULONG start = args->DmaBufferSubmissionStartOffset;
    const ULONG end = args->DmaBufferSubmissionEndOffset;

    if (end > args->DmaBufferSize || end < start || end - start < 8)
        return;
    check_bytes(adapter, probe, args, start);
    check_bytes(adapter, probe, args, end - 8);
}

static void check_buffer(struct seeds_adapter *adapter, const struct seeds_buffer *buffer,
                         const DXGKARG_PATCH *args)
{
    const UINT segment = adapter->config & SEEDS_CONFIG_APERTURE ? SEEDS_SEGMENT_APERTURE : 0;

    seeds_check(adapter, segment ? SEEDS_PATCH_SEGMENT : SEEDS_PATCH_SEGMENT_ZERO,
                args->DmaBufferSegmentId == segment, "DmaBufferSegmentId is %d, asked for was %d",
                args->DmaBufferSegmentId, segment, 0, 0);
    check_address(adapter, SEEDS_PATCH_ADDRESS, args);
    seeds_check(adapter, SEEDS_PATCH_POINTER, args->pDmaBuffer == buffer->start,
                "pDmaBuffer is 0x%x, Render got 0x%x", (ULONG_PTR)args->pDmaBuffer,
                (ULONG_PTR)buffer->start, 0, 0);
    seeds_check(adapter, SEEDS_PATCH_SIZE, args->DmaBufferSize == buffer->capacity,
                "DmaBufferSize is 0x%x, Render got 0x%x", args->DmaBufferSize, buffer->capacity, 0,
                0);
}

/* ---- private data ---- */

static void check_private(struct seeds_adapter *adapter, const struct seeds_buffer *buffer,
                          const DXGKARG_PATCH *args)
{
    ULONG mark[2] = {0, 0};

    if (buffer->private_bytes == 0) {
        seeds_check(adapter, SEEDS_PATCH_PRIVATE_NONE,
                    !args->pDmaBufferPrivateData && args->DmaBufferPrivateDataSize == 0,
                    "private data at 0x%x, %d bytes", (ULONG_PTR)args->pDmaBufferPrivateData,
                    args->DmaBufferPrivateDataSize, 0, 0);
        return;
    }
    seeds_check(adapter, SEEDS_PATCH_PRIVATE_POINTER,
                args->pDmaBufferPrivateData == buffer->private_start,
                "private data at 0x%x, Render got 0x%x", (ULONG_PTR)args->pDmaBufferPrivateData,
                (ULONG_PTR)buffer->private_start, 0, 0);
    seeds_check(adapter, SEEDS_PATCH_PRIVATE_SIZE,
                args->DmaBufferPrivateDataSize == buffer->private_bytes,
                "private data of %d bytes, Render got %d", args->DmaBufferPrivateDataSize,
                buffer->private_bytes, 0, 0);
    seeds_check(adapter, SEEDS_PATCH_PRIVATE_START,
                args->DmaBufferPrivateDataSubmissionStartOffset == 0, "private start is %d",
                args->DmaBufferPrivateDataSubmissionStartOffset, 0, 0, 0);
    seeds_check(adapter, SEEDS_PATCH_PRIVATE_END,
                args->DmaBufferPrivateDataSubmissionEndOffset == buffer->private_used,
                "private end is %d, Render used %d", args->DmaBufferPrivateDataSubmissionEndOffset,
                buffer->private_used, 0, 0);
    if (args->pDmaBufferPrivateData && buffer->private_bytes >= 8)
        RtlCopyMemory(mark, args->pDmaBufferPrivateData, sizeof(mark));
    if (buffer->private_bytes >= 8)
        seeds_check(adapter, SEEDS_PATCH_PRIVATE_CONTENT,
                    mark[0] == SEEDS_MAGIC && mark[1] == buffer->generation,
                    "the block holds 0x%x 0x%x, Render wrote 0x%x 0x%x", mark[0], mark[1],
                    SEEDS_MAGIC, buffer->generation);
}

/* ---- the portion ---- */

/* The portion that was patched with this start; NULL: none. */
static struct seeds_portion *known_portion(struct seeds_buffer *buffer, ULONG start)
{
    for (ULONG i = 0; i < buffer->portions; i++)
        if (buffer->portion[i].start == start)
            return &buffer->portion[i];
    return NULL;
}

static void check_again(struct seeds_adapter *adapter, struct seeds_portion *portion,
                        const DXGKARG_PATCH *args)
{
    seeds_check(adapter, SEEDS_AGAIN_WINDOW,
                args->PatchLocationListSubmissionStart == portion->first &&
                    args->DmaBufferSubmissionEndOffset == portion->end,
                "portion 0x%x to 0x%x, elements from %d; before it ended at 0x%x", portion->start,
                args->DmaBufferSubmissionEndOffset, args->PatchLocationListSubmissionStart,
                portion->end);
    seeds_check(adapter, SEEDS_AGAIN_FENCE, args->SubmissionFenceId != portion->fence,
                "fence %d, before it was %d", args->SubmissionFenceId, portion->fence, 0, 0);
    if (portion->start > 0)
        seeds_check(adapter, SEEDS_AGAIN_LATER, TRUE, "portion 0x%x to 0x%x", portion->start,
                    portion->end, 0, 0);
    portion->fence = args->SubmissionFenceId;
}

/* It goes on where the last one ended. */
static void check_next(struct seeds_adapter *adapter, struct seeds_buffer *buffer,
                       const DXGKARG_PATCH *args)
{
    const ULONG start = args->DmaBufferSubmissionStartOffset;
    const ULONG first = args->PatchLocationListSubmissionStart;

    seeds_check(adapter, SEEDS_PATCH_START, start == buffer->next_start,
                "the portion starts at 0x%x, the last one ended at 0x%x", start, buffer->next_start,
                0, 0);
    seeds_check(adapter, SEEDS_PATCH_FIRST_INDEX, first == buffer->next_location,
                "the elements start at %d, those of the last one ended at %d", first,
                buffer->next_location, 0, 0);
    if (start > 0)
        seeds_check(adapter, SEEDS_PATCH_SPLIT,
                    (first > 0 || adapter->config & SEEDS_CONFIG_KEEP) && start % SEEDS_COMMAND == 0,
                    "portion 0x%x to 0x%x of 0x%x, elements from %d", start,
                    args->DmaBufferSubmissionEndOffset, buffer->used, first);
    if (buffer->portions < SEEDS_LOCATIONS) {
        struct seeds_portion *portion = &buffer->portion[buffer->portions++];

        portion->start = start;
        portion->end = args->DmaBufferSubmissionEndOffset;
        portion->first = first;
        portion->fence = args->SubmissionFenceId;
        RtlCopyMemory(portion->slot, buffer->slot, sizeof(portion->slot));
    }
    buffer->next_start = args->DmaBufferSubmissionEndOffset;
    buffer->next_location = first + args->PatchLocationListSubmissionLength;
}

static void check_portion(struct seeds_adapter *adapter, struct seeds_buffer *buffer,
                          const DXGKARG_PATCH *args)
{
    const ULONG start = args->DmaBufferSubmissionStartOffset;
    const ULONG end = args->DmaBufferSubmissionEndOffset;
    struct seeds_portion *before = known_portion(buffer, start);

    seeds_check(adapter, SEEDS_PATCH_END, end >= start && end <= buffer->used,
                "portion 0x%x to 0x%x of 0x%x bytes in a buffer of 0x%x", start, end, buffer->used,
                buffer->capacity);
    if (before)
        check_again(adapter, before, args);
    else
        check_next(adapter, buffer, args);
    buffer->patched = TRUE;
}

static void check_rest(struct seeds_adapter *adapter, const struct seeds_buffer *buffer,
                       const DXGKARG_PATCH *args)
{
    struct seeds_node *node = &adapter->node[buffer->node];

    seeds_check(adapter,
                adapter->config & SEEDS_CONFIG_MULTI ? SEEDS_PATCH_CONTEXT : SEEDS_PATCH_DEVICE,
                args->hContext == buffer->owner, "the handle is 0x%x, the driver's own is 0x%x",
                (ULONG_PTR)args->hContext, (ULONG_PTR)buffer->owner, 0, 0);
    seeds_check(
        adapter, SEEDS_PATCH_FENCE,
        args->SubmissionFenceId &&
            (!node->last_patched || seeds_later(args->SubmissionFenceId, node->last_patched)),
        "fence %d on node %d, the last one was %d", args->SubmissionFenceId, buffer->node,
        node->last_patched, 0);
    node->last_patched = args->SubmissionFenceId;
    seeds_check(adapter, SEEDS_PATCH_FLAGS, args->Flags.Value == adapter->expect_flags,
                "Flags are 0x%x, expected are 0x%x", args->Flags.Value, adapter->expect_flags, 0, 0);
}

/* ---- the patching ---- */

static void patch(const DXGKARG_PATCH *args)
{
    const UINT first = args->PatchLocationListSubmissionStart;

    for (UINT i = first; i < first + args->PatchLocationListSubmissionLength; i++) {
        const D3DDDI_PATCHLOCATIONLIST *location = &args->pPatchLocationList[i];
        const DXGK_ALLOCATIONLIST *element = &args->pAllocationList[location->AllocationIndex];
        ULONGLONG address;

        if (!element->hDeviceSpecificAllocation)
            continue;
        address = seeds_device_address(element->SegmentId,
                                       (ULONGLONG)element->PhysicalAddress.QuadPart) +
                  location->AllocationOffset;
        RtlCopyMemory((PUCHAR)args->pDmaBuffer + location->PatchOffset, &address, sizeof(address));
    }
}

static ULONGLONG place_of(const DXGKARG_PATCH *args, ULONG element)
{
    const DXGK_ALLOCATIONLIST *e = &args->pAllocationList[element];

    return e->hDeviceSpecificAllocation
               ? seeds_device_address(e->SegmentId, (ULONGLONG)e->PhysicalAddress.QuadPart)
               : 0;
}

/* The slots that this portion takes over from the one before. */
static void check_slots(struct seeds_adapter *adapter, const struct seeds_portion *portion,
                        const DXGKARG_PATCH *args)
{
    for (ULONG s = 0; s < SEEDS_SLOTS; s++) {
        const struct seeds_slot *slot = &portion->slot[s];
        BOOLEAN anew = slot->element == 0;

        for (UINT i = 0; i < args->PatchLocationListSubmissionLength; i++) {
            const D3DDDI_PATCHLOCATIONLIST *location =
                &args->pPatchLocationList[args->PatchLocationListSubmissionStart + i];

            anew |= location->SlotId == s && location->SplitOffset == portion->start;
        }
        if (!anew)
            seeds_check(adapter, SEEDS_PATCH_SLOT_STAYS,
                        place_of(args, slot->element) == slot->address,
                        "slot %d: element %d is at 0x%x, before the split it was at 0x%x", s,
                        slot->element, place_of(args, slot->element), slot->address);
    }
}

/* Slots that are not bound anew have the address of the portion before. */
static void patch_keeping(struct seeds_adapter *adapter, struct seeds_buffer *buffer,
                          const DXGKARG_PATCH *args)
{
    struct seeds_portion *portion = known_portion(buffer, args->DmaBufferSubmissionStartOffset);
    const D3DDDI_PATCHLOCATIONLIST *next = args->pPatchLocationList +
                                           args->PatchLocationListSubmissionStart;
    const D3DDDI_PATCHLOCATIONLIST *end = next + args->PatchLocationListSubmissionLength;
    struct seeds_slot slot[SEEDS_SLOTS];

    if (!portion)
        return;
    check_slots(adapter, portion, args);
    RtlCopyMemory(slot, portion->slot, sizeof(slot));
    for (ULONG at = portion->start; at < portion->end; at += SEEDS_COMMAND) {
        struct seeds_command *c = (struct seeds_command *)(PVOID)((PUCHAR)args->pDmaBuffer + at);

        for (; next < end && next->SplitOffset == at; next++) {
            slot[next->SlotId & 1].element = next->AllocationIndex;
            slot[next->SlotId & 1].address = place_of(args, next->AllocationIndex);
        }
        c->dst = slot[0].address + buffer->offset[at / SEEDS_COMMAND][0];
        c->src = slot[1].address + buffer->offset[at / SEEDS_COMMAND][1];
    }
    RtlCopyMemory(buffer->slot, slot, sizeof(slot));
    portion = known_portion(buffer, portion->end);
    if (portion) /* it will be patched anew, too */
        RtlCopyMemory(portion->slot, slot, sizeof(slot));
}

static void remember(struct seeds_adapter *adapter, const DXGKARG_PATCH *args)
{
    struct seeds_patch *entry = &adapter->patch[adapter->next_patch++ % SEEDS_PATCHES];

    entry->args = *args;
    entry->sum = seeds_sum((const UCHAR *)args->pDmaBuffer + args->DmaBufferSubmissionStartOffset,
                           args->DmaBufferSubmissionEndOffset -
                               args->DmaBufferSubmissionStartOffset);
    entry->live = TRUE;
}

static void patch_render(struct seeds_adapter *adapter, const DXGKARG_PATCH *args)
{
    struct seeds_buffer *buffer = seeds_find_buffer(adapter, args->pDmaBuffer);

    if (!seeds_check(adapter, SEEDS_PATCH_KNOWN, buffer && buffer->live,
                     "pDmaBuffer 0x%x is that of a Render", (ULONG_PTR)args->pDmaBuffer, 0, 0, 0))
        return;
    check_buffer(adapter, buffer, args);
    check_private(adapter, buffer, args);
    check_rest(adapter, buffer, args);
    seeds_check_lists(adapter, buffer, args);
    check_portion(adapter, buffer, args);
    if (adapter->config & SEEDS_CONFIG_KEEP)
        patch_keeping(adapter, buffer, args);
    else
        patch(args);
}

NTSTATUS NTAPI SeedsPatch(IN_CONST_HANDLE hAdapter, IN_CONST_PDXGKARG_PATCH pPatch)
{
    struct seeds_adapter *adapter = (struct seeds_adapter *)hAdapter;
    const BOOLEAN alone = seeds_enter_class(adapter);

    seeds_check(adapter, SEEDS_PATCH_ADAPTER, adapter->self == hAdapter,
                "hAdapter is 0x%x, DeviceHandle 0x%x", (ULONG_PTR)hAdapter,
                (ULONG_PTR)adapter->dxgk.DeviceHandle, 0, 0);
    seeds_check(adapter, SEEDS_PATCH_NO_OVERLAP, alone, "%d routines of the class are inside",
                (ULONG)adapter->in_class, 0, 0, 0);
    seeds_check(adapter, SEEDS_PATCH_IRQL, KeGetCurrentIrql() == PASSIVE_LEVEL, "IRQL %d",
                KeGetCurrentIrql(), 0, 0, 0);
    seeds_check(adapter, SEEDS_PATCH_ENGINE_ORDINAL, pPatch->EngineOrdinal == 0,
                "EngineOrdinal is %d", pPatch->EngineOrdinal, 0, 0, 0);
    if (pPatch->Flags.Paging) {
        check_address(adapter, SEEDS_PAGING_PLACE, pPatch);
        seeds_check_paging(adapter, pPatch);
    } else {
        patch_render(adapter, pPatch);
    }
    remember(adapter, pPatch);
    seeds_leave_class(adapter);
    return adapter->config & SEEDS_CONFIG_FAIL_PATCH && !pPatch->Flags.Paging ? STATUS_NO_MEMORY
                                                                              : STATUS_SUCCESS;
}

/* ---- SubmitCommand after it ---- */

static struct seeds_patch *last_patch(struct seeds_adapter *adapter,
                                      const DXGKARG_SUBMITCOMMAND *args)
{
    for (ULONG i = 0; i < SEEDS_PATCHES; i++) {
        struct seeds_patch *entry = &adapter->patch[(adapter->next_patch - 1 - i) % SEEDS_PATCHES];

        if (entry->live && entry->args.hContext == args->hContext &&
            entry->args.SubmissionFenceId == args->SubmissionFenceId)
            return entry;
    }
    return NULL;
}

void seeds_check_submit(struct seeds_adapter *adapter, const DXGKARG_SUBMITCOMMAND *args)
{
    struct seeds_patch *entry = last_patch(adapter, args);
    const DXGKARG_PATCH *p = entry ? &entry->args : NULL;

    seeds_check(adapter, SEEDS_PATCH_EVERY, entry != NULL, "fence %d was patched",
                args->SubmissionFenceId, 0, 0, 0);
    if (!p)
        return;
    entry->live = FALSE;
    seeds_check(adapter, SEEDS_SUBMIT_FENCE, p->SubmissionFenceId == args->SubmissionFenceId,
                "fence %d, Patch had %d", args->SubmissionFenceId, p->SubmissionFenceId, 0, 0);
    seeds_check(adapter, SEEDS_SUBMIT_WINDOW,
                p->DmaBufferSubmissionStartOffset == args->DmaBufferSubmissionStartOffset &&
                    p->DmaBufferSubmissionEndOffset == args->DmaBufferSubmissionEndOffset,
                "0x%x to 0x%x, Patch had 0x%x to 0x%x", args->DmaBufferSubmissionStartOffset,
                args->DmaBufferSubmissionEndOffset, p->DmaBufferSubmissionStartOffset,
                p->DmaBufferSubmissionEndOffset);
    seeds_check(adapter, SEEDS_SUBMIT_PLACE,
                p->DmaBufferSegmentId == args->DmaBufferSegmentId &&
                    p->DmaBufferPhysicalAddress.QuadPart == args->DmaBufferPhysicalAddress.QuadPart &&
                    p->DmaBufferSize == args->DmaBufferSize,
                "0x%x of segment %d, 0x%x bytes; Patch had 0x%x",
                (ULONGLONG)args->DmaBufferPhysicalAddress.QuadPart, args->DmaBufferSegmentId,
                args->DmaBufferSize, (ULONGLONG)p->DmaBufferPhysicalAddress.QuadPart);
    seeds_check(adapter, SEEDS_SUBMIT_PRIVATE,
                p->pDmaBufferPrivateData == args->pDmaBufferPrivateData &&
                    p->DmaBufferPrivateDataSize == args->DmaBufferPrivateDataSize &&
                    p->DmaBufferPrivateDataSubmissionStartOffset ==
                        args->DmaBufferPrivateDataSubmissionStartOffset &&
                    p->DmaBufferPrivateDataSubmissionEndOffset ==
                        args->DmaBufferPrivateDataSubmissionEndOffset,
                "%d to %d of %d bytes at 0x%x", args->DmaBufferPrivateDataSubmissionStartOffset,
                args->DmaBufferPrivateDataSubmissionEndOffset, args->DmaBufferPrivateDataSize,
                (ULONG_PTR)args->pDmaBufferPrivateData);
    seeds_check(adapter, SEEDS_SUBMIT_UNCHANGED,
                seeds_sum((const UCHAR *)p->pDmaBuffer + p->DmaBufferSubmissionStartOffset,
                          p->DmaBufferSubmissionEndOffset - p->DmaBufferSubmissionStartOffset) ==
                    entry->sum,
                "bytes 0x%x to 0x%x have the checksum 0x%x of Patch",
                p->DmaBufferSubmissionStartOffset, p->DmaBufferSubmissionEndOffset, entry->sum, 0);
}
