/* SPDX-License-Identifier: MIT */
/*
 * Client commands for node 0. They arrive in client memory, which is not trusted: the client may
 * change or unmap it at any time. Each command is copied once into a local buffer, checked there,
 * and written to the DMA buffer, with room for the addresses. An address operand takes two patch
 * locations, one per dword (SlotId 0 low, 1 high); DriverId has the part of the offset that does
 * not fit AllocationOffset.
 */
#include "driver.h"

#include <dxgk_seh.h>

#define MAX_OPERANDS 2u

struct operand {
    ULONG dword; /* position of the low half in the command */
    BOOLEAN write;
    ULONGLONG bytes; /* bytes that the command accesses from there on */
    ULONG alignment;
};

struct command {
    ULONG words[REFGPU_RENDER_MAX_COMMAND_DWORDS];
    ULONG opcode, flags, dwords;
    struct operand operand[MAX_OPERANDS];
    ULONG operands;
};

/* ---- from the client ---- */

/* Copy the command at `from`; `left` bytes remain in the client's buffer, which may change at any
 * time, so each word is read once. */
static NTSTATUS copy_command(const UCHAR *from, ULONG left, struct command *c)
{
    if (left < sizeof(ULONG))
        return STATUS_INVALID_PARAMETER;
    ProbeForRead(from, left, sizeof(ULONG));
    RtlCopyMemory(&c->words[0], from, sizeof(ULONG));
    c->opcode = REFGPU_CMD_OPCODE(c->words[0]);
    c->flags = REFGPU_CMD_FLAGS(c->words[0]);
    c->dwords = REFGPU_CMD_DWORDS(c->words[0]);
    if (!c->dwords || c->dwords > REFGPU_RENDER_MAX_COMMAND_DWORDS ||
        c->dwords * sizeof(ULONG) > left)
        return STATUS_INVALID_PARAMETER;
    RtlCopyMemory(&c->words[1], from + sizeof(ULONG), (c->dwords - 1u) * sizeof(ULONG));
    return STATUS_SUCCESS;
}

/* Inaccessible client memory raises an exception; the caller must hold nothing that would have to
 * be released. gcc for Windows has no structured exceptions: there such memory stops the system. */
static NTSTATUS take_command(const UCHAR *from, ULONG left, struct command *c)
{
#if DXGK_HAS_SEH
    volatile NTSTATUS status = STATUS_INVALID_USER_BUFFER;

    DXGK_TRY
    {
        status = copy_command(from, left, c);
    }
    DXGK_EXCEPT(EXCEPTION_EXECUTE_HANDLER)
    {
        status = STATUS_INVALID_USER_BUFFER;
    }
    return status;
#else
    return copy_command(from, left, c);
#endif
}

/* ---- checks ---- */

static void operand(struct command *c, ULONG dword, BOOLEAN write, ULONGLONG bytes, ULONG alignment)
{
    struct operand *o = &c->operand[c->operands++];

    o->dword = dword;
    o->write = write;
    o->bytes = bytes;
    o->alignment = alignment;
}

static ULONGLONG rectangle_bytes(ULONG pitch, ULONGLONG row, ULONG rows)
{
    return (ULONGLONG)pitch * (rows - 1u) + row;
}

static BOOLEAN size_ok(ULONG width, ULONG height, ULONG widest, ULONG highest)
{
    return width && height && width <= widest && height <= highest;
}

/* A rectangle operand at `dword`, followed by its pitch. FALSE: invalid pitch. */
static BOOLEAN rectangle(struct command *c, ULONG dword, BOOLEAN write, ULONGLONG row, ULONG rows,
                         ULONG alignment)
{
    const ULONG pitch = c->words[dword + 2u];

    if (pitch < row || pitch % alignment)
        return FALSE;
    operand(c, dword, write, rectangle_bytes(pitch, row, rows), alignment);
    return TRUE;
}

static BOOLEAN check_filter(struct command *c)
{
    const ULONG width = c->words[7], height = c->words[8];

    return size_ok(width, height, REFGPU_MAX_PIXELS, REFGPU_MAX_PIXELS) &&
           (c->opcode != REFGPU_OP_BLEND || c->words[9] <= 255u) &&
           rectangle(c, 1, TRUE, (ULONGLONG)width * 4u, height, 4) &&
           rectangle(c, 4, FALSE, (ULONGLONG)width * 4u, height, 4);
}

static BOOLEAN check_scale(struct command *c)
{
    return size_ok(c->words[4], c->words[5], REFGPU_MAX_PIXELS, REFGPU_MAX_PIXELS) &&
           size_ok(c->words[9], c->words[10], REFGPU_MAX_PIXELS, REFGPU_MAX_PIXELS) &&
           rectangle(c, 1, TRUE, (ULONGLONG)c->words[4] * 4u, c->words[5], 4) &&
           rectangle(c, 6, FALSE, (ULONGLONG)c->words[9] * 4u, c->words[10], 4);
}

static ULONGLONG word64(const struct command *c, ULONG dword)
{
    return c->words[dword] | (ULONGLONG)c->words[dword + 1u] << 32;
}

static BOOLEAN check_operands(struct command *c)
{
    const ULONG word = c->flags & REFGPU_WRITE_64 ? 8u : 4u; /* WAIT_64 is the same bit */

    switch (c->opcode) {
    case REFGPU_OP_WRITE:
        operand(c, 1, TRUE, word, word);
        return TRUE;
    case REFGPU_OP_WAIT:
        operand(c, 1, FALSE, word, word);
        return TRUE;
    case REFGPU_OP_TIMESTAMP:
        operand(c, 1, TRUE, 8, 8);
        return TRUE;
    case REFGPU_OP_FILL:
        operand(c, 1, TRUE, word64(c, 3), 4);
        return c->words[3] % 4u == 0;
    case REFGPU_OP_FILL_RECT:
        return size_ok(c->words[4], c->words[5], REFGPU_MAX_PIXELS, REFGPU_MAX_PIXELS) &&
               rectangle(c, 1, TRUE, (ULONGLONG)c->words[4] * 4u, c->words[5], 4);
    case REFGPU_OP_COPY:
        operand(c, 1, TRUE, word64(c, 5), 1);
        operand(c, 3, FALSE, word64(c, 5), 1);
        return TRUE;
    case REFGPU_OP_COPY_RECT:
        return size_ok(c->words[7], c->words[8], REFGPU_MAX_ROW_BYTES, REFGPU_MAX_ROWS) &&
               rectangle(c, 1, TRUE, c->words[7], c->words[8], 1) &&
               rectangle(c, 4, FALSE, c->words[7], c->words[8], 1);
    case REFGPU_OP_SCALE:
        return check_scale(c);
    case REFGPU_OP_BLEND:
    case REFGPU_OP_CONVOLVE:
        return check_filter(c);
    case REFGPU_OP_RAW_ACCESS:
        if (!c->words[3] || c->words[3] > REFGPU_MAX_RAW_BYTES)
            return FALSE;
        if (!(c->flags & REFGPU_RAW_WRITE))
            operand(c, 5, TRUE, c->words[3], 1);
        return TRUE;
    default:
        return TRUE;
    }
}

/* Check that it is a command of this node with valid flags and length. */
static NTSTATUS check_shape(struct command *c)
{
    static const struct {
        UCHAR opcode, dwords, flags;
    } known[] = {
        {REFGPU_OP_NOP, 0, 0},
        {REFGPU_OP_WRITE, 5, REFGPU_WRITE_64 | REFGPU_WRITE_ADD | REFGPU_WRITE_INTERRUPT},
        {REFGPU_OP_WAIT, 5, REFGPU_WAIT_64 | REFGPU_WAIT_EQUAL},
        {REFGPU_OP_HANG, 1, REFGPU_HANG_PREEMPTIBLE},
        {REFGPU_OP_TIMESTAMP, 3, 0},
        {REFGPU_OP_DELAY, 2, 0},
        {REFGPU_OP_FILL, 6, 0},
        {REFGPU_OP_FILL_RECT, 7, 0},
        {REFGPU_OP_COPY, 7, 0},
        {REFGPU_OP_COPY_RECT, 9, 0},
        {REFGPU_OP_SCALE, 11, 0},
        {REFGPU_OP_BLEND, 10, REFGPU_BLEND_STRAIGHT},
        {REFGPU_OP_CONVOLVE, 14, REFGPU_CONVOLVE_KEEP_ALPHA},
        {REFGPU_OP_RAW_ACCESS, 8, REFGPU_RAW_WRITE},
    };

    for (ULONG i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i].opcode != c->opcode)
            continue;
        if ((known[i].dwords && known[i].dwords != c->dwords) || (c->flags & ~(ULONG)known[i].flags))
            return STATUS_INVALID_PARAMETER;
        c->operands = 0;
        return check_operands(c) ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER;
    }
    /* Paging commands exist, but clients may not use them. */
    return c->opcode >= REFGPU_OP_PTE_WRITE && c->opcode <= REFGPU_OP_TLB_FLUSH
               ? STATUS_PRIVILEGED_INSTRUCTION
               : STATUS_ILLEGAL_INSTRUCTION;
}

/* Check that the operand is inside an allocation of the list that may be used in this way. */
static NTSTATUS check_reference(const DXGKARG_RENDER *args, const struct command *c,
                                const struct operand *o)
{
    const ULONGLONG reference = word64(c, o->dword);
    const ULONG index = REFGPU_REF_INDEX(reference);
    const ULONGLONG offset = REFGPU_REF_OFFSET(reference);
    const DXGK_ALLOCATIONLIST *element;
    const struct refgpu_open *open;

    if (index >= args->AllocationListSize)
        return STATUS_INVALID_PARAMETER;
    element = &args->pAllocationList[index];
    open = element->hDeviceSpecificAllocation;
    if (!open || !(open->allocation->data.flags & REFGPU_ALLOCATION_PHYSICAL))
        return STATUS_INVALID_PARAMETER;
    if (o->write && (open->read_only || !element->WriteOperation))
        return STATUS_INVALID_PARAMETER;
    if (offset % o->alignment || o->bytes > open->allocation->data.bytes ||
        offset > open->allocation->data.bytes - o->bytes)
        return STATUS_INVALID_PARAMETER;
    return STATUS_SUCCESS;
}

/* ---- translation ---- */

static void put_patch(DXGKARG_RENDER *args, ULONG index, ULONG half, ULONGLONG offset, ULONG patch,
                      ULONG split)
{
    D3DDDI_PATCHLOCATIONLIST *location = args->pPatchLocationListOut++;

    RtlZeroMemory(location, sizeof *location);
    location->AllocationIndex = index;
    location->SlotId = half & 1u;
    location->DriverId = (ULONG)(offset >> 32);
    location->AllocationOffset = (ULONG)offset;
    location->PatchOffset = patch;
    location->SplitOffset = split;
    args->PatchLocationListOutSize--;
}

/* Write a checked command to the DMA buffer, `at` bytes from its start. */
static void write_command(DXGKARG_RENDER *args, const struct command *c, ULONG at)
{
    ULONG *out = args->pDmaBuffer;

    RtlCopyMemory(out, c->words, c->dwords * sizeof(ULONG));
    for (ULONG i = 0; i < c->operands; i++) {
        const ULONG dword = c->operand[i].dword;
        const ULONGLONG reference = word64(c, dword);
        const ULONG index = REFGPU_REF_INDEX(reference);
        const ULONGLONG offset = REFGPU_REF_OFFSET(reference);
        const DXGK_ALLOCATIONLIST *element = &args->pAllocationList[index];
        ULONGLONG address = 0;

        if (element->SegmentId) /* its last location, which may still be the current one */
            address = (ULONGLONG)element->PhysicalAddress.QuadPart + offset;
        out[dword] = (ULONG)address;
        out[dword + 1u] = (ULONG)(address >> 32);
        for (ULONG half = 0; half < 2u; half++)
            put_patch(args, index, half, offset, at + (dword + half) * (ULONG)sizeof(ULONG), at);
    }
    args->pDmaBuffer = out + c->dwords;
    args->DmaSize -= c->dwords * (UINT)sizeof(ULONG);
}

NTSTATUS NTAPI RefGpuRender(IN_CONST_HANDLE hContext, INOUT_PDXGKARG_RENDER pRender)
{
    const struct refgpu_context *context = hContext;
    const UCHAR *from = pRender->pCommand;
    const UCHAR *start = pRender->pDmaBuffer;
    ULONG offset = pRender->MultipassOffset;
    struct command c;
    NTSTATUS status = STATUS_SUCCESS;

    if (context->virtual_addressing || pRender->CommandLength % sizeof(ULONG) ||
        offset > pRender->CommandLength)
        return STATUS_INVALID_PARAMETER;
    while (NT_SUCCESS(status) && offset < pRender->CommandLength) {
        status = take_command(from + offset, pRender->CommandLength - offset, &c);
        if (NT_SUCCESS(status))
            status = check_shape(&c);
        for (ULONG i = 0; NT_SUCCESS(status) && i < c.operands; i++)
            status = check_reference(pRender, &c, &c.operand[i]);
        if (!NT_SUCCESS(status))
            break;
        if (pRender->DmaSize < c.dwords * sizeof(ULONG) ||
            pRender->PatchLocationListOutSize < 2u * c.operands) {
            pRender->MultipassOffset = offset;
            return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
        }
        write_command(pRender, &c, (ULONG)((const UCHAR *)pRender->pDmaBuffer - start));
        offset += c.dwords * (ULONG)sizeof(ULONG);
    }
    return status;
}

/* ---- Patch ---- */

NTSTATUS NTAPI RefGpuPatch(IN_CONST_HANDLE hAdapter, IN_CONST_PDXGKARG_PATCH pPatch)
{
    const ULONG first = pPatch->PatchLocationListSubmissionStart;
    UCHAR *buffer = pPatch->pDmaBuffer;

    (void)hAdapter;
    for (ULONG i = first; i < first + pPatch->PatchLocationListSubmissionLength; i++) {
        const D3DDDI_PATCHLOCATIONLIST *location = &pPatch->pPatchLocationList[i];
        const DXGK_ALLOCATIONLIST *element = &pPatch->pAllocationList[location->AllocationIndex];
        const ULONGLONG offset = location->AllocationOffset | (ULONGLONG)location->DriverId << 32;
        ULONGLONG address = ~0ull; /* an address that faults */
        ULONG half;

        if (element->hDeviceSpecificAllocation && element->SegmentId)
            address = (ULONGLONG)element->PhysicalAddress.QuadPart + offset;
        half = (ULONG)(location->SlotId ? address >> 32 : address);
        RtlCopyMemory(buffer + location->PatchOffset, &half, sizeof half);
    }
    return STATUS_SUCCESS;
}
