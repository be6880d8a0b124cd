/* SPDX-License-Identifier: MIT */
/* Render: a client's commands become a DMA buffer, and what goes in and comes out is kept, so that Patch can be held to it. */
#include "seeds.h"

struct seeds_buffer *seeds_find_buffer(struct seeds_adapter *adapter, const VOID *start)
{
    for (ULONG i = 0; i < SEEDS_BUFFERS; i++)
        if (adapter->buffer[i].start && adapter->buffer[i].start == start)
            return &adapter->buffer[i];
    return NULL;
}

/* All portions of the buffer were patched? Asked when it is used again, and when all is idle. */
static void check_covered(struct seeds_adapter *adapter, const struct seeds_buffer *buffer)
{
    if (!buffer->live || !buffer->patched)
        return;
    seeds_check(adapter, SEEDS_PATCH_LAST_END, buffer->next_start == buffer->used,
                "portions up to 0x%x of 0x%x bytes", buffer->next_start, buffer->used, 0, 0);
    seeds_check(adapter, SEEDS_PATCH_ALL_ELEMENTS, buffer->next_location == buffer->locations,
                "%d of %d patch locations were given", buffer->next_location, buffer->locations, 0,
                0);
}

void seeds_settle(struct seeds_adapter *adapter)
{
    for (ULONG i = 0; i < SEEDS_BUFFERS; i++) {
        struct seeds_buffer *buffer = &adapter->buffer[i];

        if (!buffer->start)
            continue;
        seeds_check(adapter, SEEDS_PATCH_KNOWN, !buffer->live || buffer->patched,
                    "buffer of generation %d was patched: %d", buffer->generation, buffer->patched,
                    0, 0);
        check_covered(adapter, buffer);
        buffer->live = FALSE;
    }
}

/* ---- entry: the buffer that came ---- */

static BOOLEAN is_zero(const UCHAR *bytes, ULONG count)
{
    while (count > 0 && *bytes == 0) {
        bytes++;
        count--;
    }
    return count == 0;
}

/* The first 8 bytes of a block hold the number of the Render that used it last. */
static void check_private(struct seeds_adapter *adapter, const struct seeds_buffer *buffer,
                          const DXGKARG_RENDER *args)
{
    const ULONG bytes = args->DmaBufferPrivateDataSize;
    ULONG kept[2];

    if (bytes < sizeof(kept))
        return;
    if (!buffer->start) {
        seeds_check(adapter, SEEDS_RENDER_PRIVATE_ZEROED,
                    is_zero((const UCHAR *)args->pDmaBufferPrivateData, bytes),
                    "%d bytes of a new block", bytes, 0, 0, 0);
        return;
    }
    RtlCopyMemory(kept, args->pDmaBufferPrivateData, sizeof(kept));
    seeds_check(adapter, SEEDS_RENDER_PRIVATE_KEPT,
                kept[0] == SEEDS_MAGIC && kept[1] == buffer->generation,
                "a block used again holds 0x%x 0x%x, not 0x%x 0x%x", kept[0], kept[1], SEEDS_MAGIC,
                buffer->generation);
}

static void check_entry(struct seeds_adapter *adapter, const struct seeds_buffer *buffer,
                        const DXGKARG_RENDER *args)
{
    seeds_check(adapter, SEEDS_RENDER_BUFFER_ALIGNED,
                ((ULONG_PTR)args->pDmaBuffer & (PAGE_SIZE - 1)) == 0, "pDmaBuffer is 0x%x",
                (ULONG_PTR)args->pDmaBuffer, 0, 0, 0);
    seeds_check(adapter, SEEDS_RENDER_CAPACITY, args->DmaSize >= SEEDS_DMA_BYTES,
                "DmaSize is 0x%x, promised were 0x%x", args->DmaSize, SEEDS_DMA_BYTES, 0, 0);
    seeds_check(adapter, SEEDS_RENDER_LIST_OUT, args->PatchLocationListOutSize >= SEEDS_LOCATIONS,
                "PatchLocationListOutSize is %d, promised were %d", args->PatchLocationListOutSize,
                SEEDS_LOCATIONS, 0, 0);
    seeds_check(adapter, SEEDS_RENDER_NOT_IN_FLIGHT,
                !buffer->live || (buffer->patched && buffer->next_start == buffer->used),
                "its portions were patched up to 0x%x of 0x%x", buffer->next_start, buffer->used, 0,
                0);
    check_private(adapter, buffer, args);
}

static void check_list(struct seeds_adapter *adapter, const DXGKARG_RENDER *args)
{
    for (UINT i = 0; i < args->AllocationListSize; i++) {
        const DXGK_ALLOCATIONLIST *element = &args->pAllocationList[i];
        const LONGLONG address = element->PhysicalAddress.QuadPart;

        if (i == 0)
            seeds_check(adapter, SEEDS_RENDER_NULL_ELEMENT, !element->hDeviceSpecificAllocation,
                        "element 0 has handle 0x%x", (ULONG_PTR)element->hDeviceSpecificAllocation,
                        0, 0, 0);
        seeds_check(adapter, SEEDS_RENDER_LAST_PLACE,
                    element->SegmentId == 0 ? address == 0 : element->SegmentId <= 2 && address,
                    "element %d: segment %d, address 0x%x", i, element->SegmentId,
                    (ULONGLONG)address, 0);
    }
}

/* ---- translation ---- */

/* Does the operand lie in an allocation of the list that may be used like that? Element 0 is for operands that are none. */
static BOOLEAN operand_is_good(const DXGKARG_RENDER *args, ULONGLONG reference, ULONG bytes,
                               BOOLEAN write)
{
    const ULONG index = SEEDS_REF_INDEX(reference), offset = SEEDS_REF_OFFSET(reference);
    const struct seeds_allocation *allocation;

    if (index >= args->AllocationListSize)
        return FALSE;
    allocation =
        (const struct seeds_allocation *)args->pAllocationList[index].hDeviceSpecificAllocation;
    if (!allocation || (write && !args->pAllocationList[index].WriteOperation))
        return FALSE;
    return bytes <= allocation->data.bytes && offset <= allocation->data.bytes - bytes;
}

static BOOLEAN command_is_good(const DXGKARG_RENDER *args, const struct seeds_command *c)
{
    switch (c->op) {
    case SEEDS_OP_FILL:
        return operand_is_good(args, c->dst, c->bytes, TRUE);
    case SEEDS_OP_COPY:
        return operand_is_good(args, c->dst, c->bytes, TRUE) &&
               operand_is_good(args, c->src, c->bytes, FALSE);
    case SEEDS_OP_DELAY:
        return TRUE;
    default:
        return FALSE;
    }
}

/* Every command binds both slots anew, so that the buffer may be split before each. An operand that is none unbinds. With
 * SEEDS_CONFIG_KEEP a slot is left as it is as long as it is bound to the right allocation. */
static void add_location(struct seeds_buffer *buffer, DXGKARG_RENDER *args, ULONG slot,
                         ULONGLONG reference, ULONG at)
{
    D3DDDI_PATCHLOCATIONLIST *location = args->pPatchLocationListOut++;

    RtlZeroMemory(location, sizeof(*location));
    location->AllocationIndex = SEEDS_REF_INDEX(reference);
    location->SlotId = slot & 1;
    location->DriverId = buffer->generation << 8 | (buffer->locations & 0xFF);
    location->AllocationOffset = SEEDS_REF_OFFSET(reference);
    location->PatchOffset = at + (slot ? FIELD_OFFSET(struct seeds_command, src)
                                       : FIELD_OFFSET(struct seeds_command, dst));
    location->SplitOffset = at;
    args->PatchLocationListOutSize--;
    buffer->slot[slot & 1].element = location->AllocationIndex;
    buffer->location[buffer->locations++] = *location;
}

static void bind(const struct seeds_adapter *adapter, struct seeds_buffer *buffer,
                 DXGKARG_RENDER *args, ULONG slot, ULONGLONG reference, ULONG at)
{
    buffer->offset[at / SEEDS_COMMAND][slot] = SEEDS_REF_OFFSET(reference);
    if (!(adapter->config & SEEDS_CONFIG_KEEP) ||
        buffer->slot[slot].element != SEEDS_REF_INDEX(reference))
        add_location(buffer, args, slot, reference, at);
}

static void add_command(const struct seeds_adapter *adapter, struct seeds_buffer *buffer,
                        DXGKARG_RENDER *args, const struct seeds_command *c)
{
    const ULONG at = (ULONG)((PUCHAR)args->pDmaBuffer - buffer->start);

    bind(adapter, buffer, args, 0, c->op == SEEDS_OP_DELAY ? 0 : c->dst, at);
    bind(adapter, buffer, args, 1, c->op == SEEDS_OP_COPY ? c->src : 0, at);
    RtlCopyMemory(args->pDmaBuffer, c, sizeof(*c));
    args->pDmaBuffer = (PUCHAR)args->pDmaBuffer + SEEDS_COMMAND;
    args->DmaSize -= SEEDS_COMMAND;
}

/* ---- exit: what Patch will be held to ---- */

static void begin(struct seeds_adapter *adapter, struct seeds_buffer *buffer,
                  const DXGKARG_RENDER *args, HANDLE owner)
{
    RtlZeroMemory(buffer, sizeof(*buffer));
    buffer->start = (PUCHAR)args->pDmaBuffer;
    buffer->capacity = args->DmaSize;
    buffer->private_start = (PUCHAR)args->pDmaBufferPrivateData;
    buffer->private_bytes = args->DmaBufferPrivateDataSize;
    buffer->owner = owner;
    buffer->node = ((const struct seeds_context *)owner)->node;
    buffer->generation = ++adapter->generation;
}

static void finish(struct seeds_buffer *buffer, DXGKARG_RENDER *args)
{
    buffer->used = (ULONG)((PUCHAR)args->pDmaBuffer - buffer->start);
    buffer->allocations = args->AllocationListSize;
    RtlCopyMemory(buffer->allocation, args->pAllocationList,
                  args->AllocationListSize * sizeof(*args->pAllocationList));
    buffer->private_used = buffer->private_bytes; /* as long as the pointer is left alone */
    if (buffer->private_bytes >= 8) {
        ULONG mark[2];

        mark[0] = SEEDS_MAGIC;
        mark[1] = buffer->generation;
        RtlCopyMemory(buffer->private_start, mark, sizeof(mark));
    }
    if (buffer->private_bytes >= 24) { /* a part of the block, which the window must show */
        args->pDmaBufferPrivateData = buffer->private_start + 24;
        buffer->private_used = 24;
    }
    RtlZeroMemory(buffer->slot, sizeof(buffer->slot)); /* from now on as Patch sees them */
    buffer->live = TRUE;
}

static struct seeds_buffer *buffer_for(struct seeds_adapter *adapter, const VOID *start)
{
    struct seeds_buffer *buffer = seeds_find_buffer(adapter, start);

    for (ULONG i = 0; !buffer && i < SEEDS_BUFFERS; i++)
        if (!adapter->buffer[i].start)
            buffer = &adapter->buffer[i];
    return buffer;
}

NTSTATUS NTAPI SeedsRender(IN_CONST_HANDLE hContext, INOUT_PDXGKARG_RENDER pRender)
{
    struct seeds_adapter *adapter = ((struct seeds_context *)hContext)->adapter;
    struct seeds_buffer *buffer = buffer_for(adapter, pRender->pDmaBuffer);
    const UCHAR *from = (const UCHAR *)pRender->pCommand;
    ULONG offset = pRender->MultipassOffset;

    if (!buffer || pRender->AllocationListSize == 0 || pRender->AllocationListSize > SEEDS_LIST ||
        pRender->CommandLength % SEEDS_COMMAND != 0)
        return STATUS_INVALID_PARAMETER;
    check_entry(adapter, buffer, pRender);
    check_list(adapter, pRender);
    check_covered(adapter, buffer);
    begin(adapter, buffer, pRender, (HANDLE)hContext);
    seeds_check(adapter, SEEDS_RENDER_MULTIPASS,
                offset % SEEDS_COMMAND == 0 && offset <= pRender->CommandLength,
                "MultipassOffset 0x%x of 0x%x", offset, pRender->CommandLength, 0, 0);
    for (; offset < pRender->CommandLength; offset += SEEDS_COMMAND) {
        struct seeds_command c;

        if (pRender->DmaSize < SEEDS_COMMAND || buffer->locations + 2 > SEEDS_LOCATIONS ||
            pRender->PatchLocationListOutSize < 2 ||
            (PUCHAR)pRender->pDmaBuffer - buffer->start >= (LONG)SEEDS_DMA_BYTES) {
            pRender->MultipassOffset = offset; /* go on from here with the next buffer */
            finish(buffer, pRender);
            return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
        }
        RtlCopyMemory(&c, from + offset, sizeof(c));
        if (!command_is_good(pRender, &c)) {
            buffer->live = FALSE;
            return STATUS_INVALID_PARAMETER;
        }
        add_command(adapter, buffer, pRender, &c);
    }
    finish(buffer, pRender);
    return STATUS_SUCCESS;
}
