/* SPDX-License-Identifier: MIT */
/*
 * Presents: commands for copies and fills of clients, and what may be flipped to. In a physical
 * context an operand has two patch locations, as those of Render have; in a virtual one it is the
 * address at which the allocation is mapped.
 */
#include "driver.h"

struct surface {
    ULONG index; /* in the list */
    const struct refgpu_allocation_data *data;
    ULONGLONG address; /* virtual, or the last known; 0: none is known */
};

struct presenting {
    DXGKARG_PRESENT *args;
    const UCHAR *start; /* of the buffer */
    BOOLEAN virtual_addressing;
    struct surface source, destination;
};

/* ---- surfaces ---- */

static NTSTATUS take_surface(const struct presenting *p, ULONG index, struct surface *surface)
{
    const struct refgpu_open *open;

    surface->index = index;
    if (p->virtual_addressing) {
        const DXGK_PRESENTALLOCATIONINFO *info = &p->args->pAllocationInfo[index];

        open = info->hDeviceSpecificAllocation;
        surface->address = info->AllocationVirtualAddress;
    } else {
        const DXGK_ALLOCATIONLIST *element = &p->args->pAllocationList[index];

        open = element->hDeviceSpecificAllocation;
        surface->address = element->SegmentId ? (ULONGLONG)element->PhysicalAddress.QuadPart : 0;
    }
    surface->data = open ? &open->allocation->data : NULL;
    if (!open || !surface->data->width || !surface->data->height ||
        surface->data->pitch < surface->data->width * refgpu_pixel_bytes(surface->data) ||
        surface->data->bytes < (ULONGLONG)surface->data->pitch * surface->data->height)
        return STATUS_INVALID_HANDLE;
    return p->virtual_addressing || (surface->data->flags & REFGPU_ALLOCATION_PHYSICAL)
               ? STATUS_SUCCESS
               : STATUS_INVALID_HANDLE;
}

static ULONGLONG offset_of(const struct surface *surface, LONG x, LONG y)
{
    return (ULONGLONG)y * surface->data->pitch + (ULONGLONG)x * refgpu_pixel_bytes(surface->data);
}

static RECT whole(const struct surface *surface)
{
    RECT r = {0, 0, (LONG)surface->data->width, (LONG)surface->data->height};

    return r;
}

static RECT common(RECT a, RECT b)
{
    if (a.left < b.left)
        a.left = b.left;
    if (a.top < b.top)
        a.top = b.top;
    if (a.right > b.right)
        a.right = b.right;
    if (a.bottom > b.bottom)
        a.bottom = b.bottom;
    return a;
}

static BOOLEAN is_empty(const RECT *r)
{
    return r->left >= r->right || r->top >= r->bottom;
}

static RECT moved(RECT r, LONG x, LONG y)
{
    r.left += x;
    r.right += x;
    r.top += y;
    r.bottom += y;
    return r;
}

/* ---- commands ---- */

static void put_patch(DXGKARG_PRESENT *args, ULONG index, ULONG half, ULONGLONG offset, ULONG patch)
{
    D3DDDI_PATCHLOCATIONLIST *location = args->pPatchLocationListOut++;

    RtlZeroMemory(location, sizeof *location);
    location->AllocationIndex = index;
    location->SlotId = half & 1u;
    location->DriverId = (ULONG)(offset >> 32);
    location->AllocationOffset = (ULONG)offset;
    location->PatchOffset = patch;
    args->PatchLocationListOutSize--;
}

static void put_address(const struct presenting *p, ULONG *at, const struct surface *surface,
                        ULONGLONG offset)
{
    const ULONGLONG address = surface->address ? surface->address + offset : 0;

    at[0] = (ULONG)address;
    at[1] = (ULONG)(address >> 32);
    for (ULONG half = 0; !p->virtual_addressing && half < 2u; half++)
        put_patch(p->args, surface->index, half, offset,
                  (ULONG)((const UCHAR *)(at + half) - p->start));
}

/* Room for a command with its addresses; NULL: there is none. */
static ULONG *reserve(const struct presenting *p, ULONG opcode, ULONG dwords, ULONG addresses)
{
    DXGKARG_PRESENT *args = p->args;
    ULONG *at = args->pDmaBuffer;

    if (args->DmaSize < dwords * sizeof(ULONG) ||
        (!p->virtual_addressing && args->PatchLocationListOutSize < 2u * addresses))
        return NULL;
    at[0] = REFGPU_CMD(opcode, 0, dwords);
    args->pDmaBuffer = at + dwords;
    args->DmaSize -= dwords * (UINT)sizeof(ULONG);
    return at;
}

/* FALSE, here and below: the buffer is full. */
static BOOLEAN fill(const struct presenting *p, const RECT *sub)
{
    const struct surface *to = &p->destination;
    const RECT r = common(*sub, whole(to));
    ULONG *at;

    if (is_empty(&r))
        return TRUE;
    at = reserve(p, REFGPU_OP_FILL_RECT, 7, 1);
    if (!at)
        return FALSE;
    put_address(p, at + 1, to, offset_of(to, r.left, r.top));
    at[3] = to->data->pitch;
    at[4] = (ULONG)(r.right - r.left);
    at[5] = (ULONG)(r.bottom - r.top);
    at[6] = p->args->Color;
    return TRUE;
}

/* Pixel by pixel; what is outside of the source is left out. */
static BOOLEAN copy(const struct presenting *p, const RECT *sub)
{
    const struct surface *from = &p->source, *to = &p->destination;
    const LONG x = p->args->DstRect.left - p->args->SrcRect.left;
    const LONG y = p->args->DstRect.top - p->args->SrcRect.top;
    const RECT r = common(common(*sub, whole(to)), moved(whole(from), x, y));
    ULONG *at;

    if (is_empty(&r))
        return TRUE;
    at = reserve(p, REFGPU_OP_COPY_RECT, 9, 2);
    if (!at)
        return FALSE;
    put_address(p, at + 1, to, offset_of(to, r.left, r.top));
    at[3] = to->data->pitch;
    put_address(p, at + 4, from, offset_of(from, r.left - x, r.top - y));
    at[6] = from->data->pitch;
    at[7] = (ULONG)(r.right - r.left) * refgpu_pixel_bytes(to->data);
    at[8] = (ULONG)(r.bottom - r.top);
    return TRUE;
}

/* The pixel of the source below an edge of the destination. */
static LONG source_at(LONG at, LONG to, LONG to_end, LONG from, LONG from_end, BOOLEAN up)
{
    const LONGLONG length = (LONGLONG)to_end - to;
    const LONGLONG scaled = ((LONGLONG)at - to) * ((LONGLONG)from_end - from);

    return (LONG)(from + (scaled + (up ? length - 1 : 0)) / length);
}

/* Each rectangle by itself: where it does not begin on a pixel of the source, the picture is as much
 * aside as is left of it. */
static BOOLEAN stretch(const struct presenting *p, const RECT *sub)
{
    const struct surface *from = &p->source, *to = &p->destination;
    const RECT *d = &p->args->DstRect, *s = &p->args->SrcRect;
    const RECT r = common(*sub, whole(to));
    RECT part;
    ULONG *at;

    if (is_empty(&r))
        return TRUE;
    part.left = source_at(r.left, d->left, d->right, s->left, s->right, FALSE);
    part.top = source_at(r.top, d->top, d->bottom, s->top, s->bottom, FALSE);
    part.right = source_at(r.right, d->left, d->right, s->left, s->right, TRUE);
    part.bottom = source_at(r.bottom, d->top, d->bottom, s->top, s->bottom, TRUE);
    part = common(part, whole(from));
    if (is_empty(&part))
        return TRUE;
    at = reserve(p, REFGPU_OP_SCALE, 11, 2);
    if (!at)
        return FALSE;
    put_address(p, at + 1, to, offset_of(to, r.left, r.top));
    at[3] = to->data->pitch;
    at[4] = (ULONG)(r.right - r.left);
    at[5] = (ULONG)(r.bottom - r.top);
    put_address(p, at + 6, from, offset_of(from, part.left, part.top));
    at[8] = from->data->pitch;
    at[9] = (ULONG)(part.right - part.left);
    at[10] = (ULONG)(part.bottom - part.top);
    return TRUE;
}

static BOOLEAN is_stretched(const DXGKARG_PRESENT *args)
{
    return args->DstRect.right - args->DstRect.left != args->SrcRect.right - args->SrcRect.left ||
           args->DstRect.bottom - args->DstRect.top != args->SrcRect.bottom - args->SrcRect.top;
}

static BOOLEAN write_one(const struct presenting *p, const RECT *sub)
{
    if (p->args->Flags.ColorFill)
        return fill(p, sub);
    return is_stretched(p->args) ? stretch(p, sub) : copy(p, sub);
}

/* ---- the entry ---- */

/* The engines know pixels of 32 bits, and copy all of the same size; no conversion, no keys. */
static NTSTATUS check_kind(const struct presenting *p)
{
    const DXGK_PRESENTFLAGS flags = p->args->Flags;
    const ULONG pixel = refgpu_pixel_bytes(p->destination.data);

    if (flags.SrcColorKey || flags.DstColorKey || flags.LinearToSrgb)
        return STATUS_GRAPHICS_CANNOTCOLORCONVERT;
    if (flags.ColorFill)
        return pixel == 4u ? STATUS_SUCCESS : STATUS_GRAPHICS_CANNOTCOLORCONVERT;
    return pixel == refgpu_pixel_bytes(p->source.data) && (pixel == 4u || !is_stretched(p->args))
               ? STATUS_SUCCESS
               : STATUS_GRAPHICS_CANNOTCOLORCONVERT;
}

/* A flip needs no commands: SetVidPnSourceAddress makes it. */
static NTSTATUS check_flip(const DXGKARG_PRESENT *args)
{
    const struct refgpu_open *source =
        args->pAllocationList[DXGK_PRESENT_SOURCE_INDEX].hDeviceSpecificAllocation;

    return source && (source->allocation->data.flags & REFGPU_ALLOCATION_PRIMARY)
               ? STATUS_SUCCESS
               : STATUS_INVALID_PARAMETER;
}

NTSTATUS NTAPI RefGpuPresent(IN_CONST_HANDLE hContext, INOUT_PDXGKARG_PRESENT pPresent)
{
    const struct refgpu_context *context = hContext;
    struct presenting p;
    NTSTATUS status;

    if (pPresent->Flags.Flip)
        return check_flip(pPresent);
    RtlZeroMemory(&p, sizeof p);
    p.args = pPresent;
    p.start = pPresent->pDmaBuffer;
    p.virtual_addressing = context->virtual_addressing;
    status = take_surface(&p, DXGK_PRESENT_DESTINATION_INDEX, &p.destination);
    if (NT_SUCCESS(status) && !pPresent->Flags.ColorFill)
        status = take_surface(&p, DXGK_PRESENT_SOURCE_INDEX, &p.source);
    if (NT_SUCCESS(status))
        status = check_kind(&p);
    if (!NT_SUCCESS(status))
        return status;
    while (pPresent->MultipassOffset < pPresent->SubRectCnt) {
        if (!write_one(&p, &pPresent->pDstSubRects[pPresent->MultipassOffset]))
            return STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
        pPresent->MultipassOffset++;
    }
    return STATUS_SUCCESS;
}
