/* SPDX-License-Identifier: MIT */
/* Which memory the outputs show, and when: addresses, visibility, vertical syncs; and the pointer. */
#include "driver.h"

/* Any level. Pitch and format go with the address. */
void refgpu_output_address(struct refgpu_adapter *adapter, ULONG output, ULONGLONG address,
                           ULONG pitch, ULONG format, BOOLEAN at_once)
{
    refgpu_output_write(adapter, output, REFGPU_OUT_PITCH, pitch);
    refgpu_output_write(adapter, output, REFGPU_OUT_FORMAT, format);
    refgpu_output_write(adapter, output, REFGPU_OUT_ADDRESS_LO, (ULONG)address);
    refgpu_output_write(adapter, output, at_once ? REFGPU_OUT_NOW_HI : REFGPU_OUT_ADDRESS_HI,
                        (ULONG)(address >> 32));
}

/* At device level for flips, so nothing but registers and nonpaged memory. */
NTSTATUS NTAPI RefGpuSetVidPnSourceAddress(
    IN_CONST_HANDLE hAdapter, IN_CONST_PDXGKARG_SETVIDPNSOURCEADDRESS pSetVidPnSourceAddress)
{
    const DXGKARG_SETVIDPNSOURCEADDRESS *args = pSetVidPnSourceAddress;
    const struct refgpu_allocation *allocation = args->hAllocation;
    struct refgpu_adapter *adapter = hAdapter;
    struct refgpu_display *d = &adapter->display;

    if (args->VidPnSourceId >= d->outputs)
        return STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE;
    if (!allocation)
        return STATUS_SUCCESS; /* its primary is lost; another one follows */
    if (args->PrimarySegment != REFGPU_SEGMENT_VRAM ||
        !(allocation->data.flags & REFGPU_ALLOCATION_PRIMARY))
        return STATUS_INVALID_PARAMETER;
    for (ULONG i = 0; i < d->outputs; i++)
        if (d->path[i].lit && d->path[i].source == args->VidPnSourceId)
            refgpu_output_address(adapter, i, (ULONGLONG)args->PrimaryAddress.QuadPart,
                                  allocation->data.pitch, refgpu_scanned_format(&allocation->data),
                                  !args->Flags.FlipOnNextVSync);
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI RefGpuSetVidPnSourceVisibility(
    IN_CONST_HANDLE hAdapter, IN_CONST_PDXGKARG_SETVIDPNSOURCEVISIBILITY pSetVidPnSourceVisibility)
{
    const UINT source = pSetVidPnSourceVisibility->VidPnSourceId;
    struct refgpu_adapter *adapter = hAdapter;
    struct refgpu_display *d = &adapter->display;

    if (source >= d->outputs)
        return STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE;
    d->visible[source] = pSetVidPnSourceVisibility->Visible;
    for (ULONG i = 0; i < d->outputs; i++)
        if (d->path[i].lit && d->path[i].source == source)
            refgpu_output_show(adapter, i);
    return STATUS_SUCCESS;
}

/* ---- vertical syncs ---- */

NTSTATUS NTAPI RefGpuControlInterrupt(IN_CONST_HANDLE hAdapter,
                                      IN_CONST_DXGK_INTERRUPT_TYPE InterruptType,
                                      IN_BOOLEAN EnableInterrupt)
{
    struct refgpu_adapter *adapter = hAdapter;

    if (InterruptType != DXGK_INTERRUPT_CRTC_VSYNC)
        return STATUS_NOT_IMPLEMENTED;
    for (ULONG i = 0; i < adapter->display.outputs; i++)
        refgpu_output_write(adapter, i, REFGPU_OUT_INTERRUPT,
                            EnableInterrupt ? REFGPU_OUT_INTERRUPT_ALL : REFGPU_OUT_INTERRUPT_PLUG);
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI RefGpuGetScanLine(IN_CONST_HANDLE hAdapter, INOUT_PDXGKARG_GETSCANLINE pGetScanLine)
{
    struct refgpu_adapter *adapter = hAdapter;
    ULONG line;

    if (pGetScanLine->VidPnTargetId >= adapter->display.outputs)
        return STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET;
    line = refgpu_output_read(adapter, pGetScanLine->VidPnTargetId, REFGPU_OUT_LINE);
    pGetScanLine->InVerticalBlank = (line & REFGPU_OUT_LINE_BLANK) != 0;
    pGetScanLine->ScanLine = line & ~REFGPU_OUT_LINE_BLANK;
    return STATUS_SUCCESS;
}

/* ---- the pointer ---- */

static void set_pointer(struct refgpu_adapter *adapter, ULONG output, BOOLEAN visible)
{
    const struct refgpu_display *d = &adapter->display;
    const ULONG others = d->control[output] & ~REFGPU_OUT_CONTROL_POINTER;
    const ULONG control = visible ? others | REFGPU_OUT_CONTROL_POINTER : others;

    if (control != d->control[output])
        refgpu_output_control(adapter, output, control);
}

NTSTATUS NTAPI RefGpuSetPointerPosition(IN_CONST_HANDLE hAdapter,
                                        IN_CONST_PDXGKARG_SETPOINTERPOSITION pSetPointerPosition)
{
    const DXGKARG_SETPOINTERPOSITION *args = pSetPointerPosition;
    struct refgpu_adapter *adapter = hAdapter;
    struct refgpu_display *d = &adapter->display;

    for (ULONG i = 0; i < d->outputs; i++) {
        if (!d->path[i].lit || d->path[i].source != args->VidPnSourceId)
            continue;
        if (args->Flags.Visible)
            refgpu_output_write(adapter, i, REFGPU_OUT_POINTER_POSITION,
                                ((ULONG)args->Y & 0xFFFFu) << 16 | ((ULONG)args->X & 0xFFFFu));
        set_pointer(adapter, i, args->Flags.Visible != 0);
    }
    return STATUS_SUCCESS;
}

/* Into the pixels that are not shown, which are shown then. */
static void load_shape(struct refgpu_adapter *adapter, ULONG output,
                       const DXGKARG_SETPOINTERSHAPE *args)
{
    struct refgpu_display *d = &adapter->display;
    const ULONG next = d->shape[output] ^ 1u;
    const ULONG offset = (2u * output + next) * REFGPU_POINTER_BYTES;
    const ULONGLONG address = d->shapes + offset;

    RtlZeroMemory(d->shape_pixels + offset, REFGPU_POINTER_BYTES);
    for (UINT y = 0; y < args->Height; y++)
        RtlCopyMemory(d->shape_pixels + offset + y * REFGPU_POINTER_SIDE * 4u,
                      (const UCHAR *)args->pPixels + (SIZE_T)y * args->Pitch, args->Width * 4u);
    d->shape[output] = next;
    refgpu_output_write(adapter, output, REFGPU_OUT_POINTER_SHAPE_LO, (ULONG)address);
    refgpu_output_write(adapter, output, REFGPU_OUT_POINTER_SHAPE_HI, (ULONG)(address >> 32));
}

NTSTATUS NTAPI RefGpuSetPointerShape(IN_CONST_HANDLE hAdapter,
                                     IN_CONST_PDXGKARG_SETPOINTERSHAPE pSetPointerShape)
{
    const DXGKARG_SETPOINTERSHAPE *args = pSetPointerShape;
    struct refgpu_adapter *adapter = hAdapter;
    const struct refgpu_display *d = &adapter->display;

    if (!args->Flags.Color || args->Width > REFGPU_POINTER_SIDE ||
        args->Height > REFGPU_POINTER_SIDE)
        return STATUS_NOT_SUPPORTED;
    for (ULONG i = 0; i < d->outputs; i++)
        if (d->path[i].lit && d->path[i].source == args->VidPnSourceId)
            load_shape(adapter, i, args);
    return STATUS_SUCCESS;
}
