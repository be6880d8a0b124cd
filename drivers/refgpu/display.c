/* SPDX-License-Identifier: MIT */
/* The display engine as a whole: start and stop, interrupts, and the screen of who takes over. */
#include "driver.h"

#define HERTZ         60u
#define BLANK_COLUMNS 160u
#define BLANK_LINES   30u
#define SYSTEM_WIDTH  800u
#define SYSTEM_HEIGHT 600u

ULONG refgpu_output_read(struct refgpu_adapter *adapter, ULONG output, ULONG reg)
{
    return refgpu_read(adapter, REFGPU_REG_OUTPUT(output, reg));
}

void refgpu_output_write(struct refgpu_adapter *adapter, ULONG output, ULONG reg, ULONG value)
{
    refgpu_write_register(adapter, REFGPU_REG_OUTPUT(output, reg), value);
}

/* ---- signals ---- */

/* Pixels of a second, in thousands, to the nearest. */
static ULONGLONG clock_of(const D3DKMDT_VIDEO_SIGNAL_INFO *signal)
{
    return ((ULONGLONG)signal->PixelRate + 500u) / 1000u;
}

BOOLEAN refgpu_signal_possible(const D3DKMDT_VIDEO_SIGNAL_INFO *signal)
{
    const D3DKMDT_2DREGION *active = &signal->ActiveSize, *total = &signal->TotalSize;

    return signal->ScanLineOrdering == D3DDDI_VSSLO_PROGRESSIVE &&
           signal->PixelRate != D3DKMDT_FREQUENCY_NOTSPECIFIED && clock_of(signal) &&
           clock_of(signal) <= REFGPU_OUT_MOST_CLOCK && active->cx && active->cy &&
           active->cx <= REFGPU_OUT_MOST_SIDE && active->cy <= REFGPU_OUT_MOST_SIDE &&
           total->cx >= active->cx && total->cy > active->cy && total->cx <= 0xFFFFu &&
           total->cy <= 0xFFFFu &&
           clock_of(signal) * 1000u <= (ULONGLONG)total->cx * total->cy * REFGPU_OUT_MOST_HERTZ;
}

void refgpu_signal_path(const D3DKMDT_VIDEO_SIGNAL_INFO *signal, struct refgpu_path *path)
{
    path->width = signal->ActiveSize.cx;
    path->height = signal->ActiveSize.cy;
    path->total_width = signal->TotalSize.cx;
    path->total_height = signal->TotalSize.cy;
    path->clock = (ULONG)clock_of(signal);
}

void refgpu_signal_make(UINT width, UINT height, D3DKMDT_VIDEO_SIGNAL_INFO *signal)
{
    RtlZeroMemory(signal, sizeof *signal);
    signal->VideoStandard = D3DKMDT_VSS_OTHER;
    signal->ActiveSize.cx = width;
    signal->ActiveSize.cy = height;
    signal->TotalSize.cx = width + BLANK_COLUMNS;
    signal->TotalSize.cy = height + BLANK_LINES;
    signal->VSyncFreq.Numerator = HERTZ;
    signal->VSyncFreq.Denominator = 1;
    signal->HSyncFreq.Numerator = HERTZ * signal->TotalSize.cy;
    signal->HSyncFreq.Denominator = 1;
    signal->PixelRate = (SIZE_T)signal->HSyncFreq.Numerator * signal->TotalSize.cx;
    signal->ScanLineOrdering = D3DDDI_VSSLO_PROGRESSIVE;
}

void refgpu_output_control(struct refgpu_adapter *adapter, ULONG output, ULONG bits)
{
    adapter->display.control[output] = bits;
    refgpu_output_write(adapter, output, REFGPU_OUT_CONTROL, bits);
}

void refgpu_output_light(struct refgpu_adapter *adapter, ULONG output,
                         const struct refgpu_path *path)
{
    adapter->display.path[output] = *path;
    refgpu_output_control(adapter, output, 0);
    if (!path->lit)
        return;
    refgpu_output_write(adapter, output, REFGPU_OUT_SIZE, path->height << 16 | path->width);
    refgpu_output_write(adapter, output, REFGPU_OUT_TOTAL,
                        path->total_height << 16 | path->total_width);
    refgpu_output_write(adapter, output, REFGPU_OUT_CLOCK, path->clock);
    refgpu_output_control(adapter, output, REFGPU_OUT_CONTROL_ENABLE | REFGPU_OUT_CONTROL_BLANK);
}

void refgpu_output_show(struct refgpu_adapter *adapter, ULONG output)
{
    const struct refgpu_display *d = &adapter->display;

    if (!d->path[output].lit)
        return;
    if (d->visible[d->path[output].source])
        refgpu_output_control(adapter, output, d->control[output] & ~REFGPU_OUT_CONTROL_BLANK);
    else
        refgpu_output_control(adapter, output, d->control[output] | REFGPU_OUT_CONTROL_BLANK);
}

/* ---- start and stop ---- */

static NTSTATUS map(struct refgpu_adapter *adapter, ULONGLONG offset, ULONG bytes, PUCHAR *mapped)
{
    PHYSICAL_ADDRESS at;
    PVOID view = NULL;
    NTSTATUS status;

    at.QuadPart = adapter->vram_bus.QuadPart + (LONGLONG)offset;
    status = adapter->dxgk.DxgkCbMapMemory(adapter->dxgk.DeviceHandle, at, bytes, FALSE, FALSE,
                                           MmWriteCombined, &view);
    if (NT_SUCCESS(status))
        *mapped = view;
    return status;
}

NTSTATUS refgpu_display_start(struct refgpu_adapter *adapter)
{
    struct refgpu_display *d = &adapter->display;
    NTSTATUS status;

    RtlZeroMemory(d->path, sizeof d->path);
    RtlZeroMemory(d->visible, sizeof d->visible);
    RtlZeroMemory(d->control, sizeof d->control);
    RtlZeroMemory(d->shape, sizeof d->shape);
    RtlZeroMemory(&d->post, sizeof d->post);
    d->plugged = 0;
    if (!d->outputs)
        return STATUS_SUCCESS;
    if (adapter->vram_bytes <= REFGPU_SHAPES_BYTES)
        return STATUS_DEVICE_CONFIGURATION_ERROR;
    adapter->vram_bytes -= REFGPU_SHAPES_BYTES;
    d->shapes = adapter->vram_bytes;
    d->frame_bytes = adapter->vram_bytes < REFGPU_FRAME_BYTES ? (ULONG)adapter->vram_bytes
                                                              : REFGPU_FRAME_BYTES;
    status = map(adapter, d->shapes, REFGPU_SHAPES_BYTES, &d->shape_pixels);
    if (NT_SUCCESS(status))
        status = map(adapter, 0, d->frame_bytes, &d->frame);
    if (NT_SUCCESS(status))
        status = adapter->dxgk.DxgkCbAcquirePostDisplayOwnership(adapter->dxgk.DeviceHandle,
                                                                 &d->post);
    return status;
}

void refgpu_display_stop(struct refgpu_adapter *adapter)
{
    struct refgpu_display *d = &adapter->display;

    if (d->shape_pixels)
        (void)adapter->dxgk.DxgkCbUnmapMemory(adapter->dxgk.DeviceHandle, d->shape_pixels);
    if (d->frame)
        (void)adapter->dxgk.DxgkCbUnmapMemory(adapter->dxgk.DeviceHandle, d->frame);
    d->shape_pixels = d->frame = NULL;
}

/* A display that the firmware has lit keeps its signal, black, until a source is visible on it. */
void refgpu_display_program(struct refgpu_adapter *adapter)
{
    struct refgpu_display *d = &adapter->display;
    struct refgpu_path path;
    D3DKMDT_VIDEO_SIGNAL_INFO signal;

    RtlZeroMemory(&path, sizeof path);
    for (ULONG i = 0; i < d->outputs; i++) {
        d->path[i] = path;
        d->control[i] = 0;
        d->visible[i] = FALSE;
        refgpu_output_write(adapter, i, REFGPU_OUT_INTERRUPT, REFGPU_OUT_INTERRUPT_PLUG);
    }
    if (!d->outputs || !d->post.Width)
        return;
    refgpu_signal_make(d->post.Width, d->post.Height, &signal);
    refgpu_signal_path(&signal, &path);
    path.lit = TRUE;
    refgpu_output_light(adapter, 0, &path);
    d->path[0].lit = FALSE; /* it has no source */
}

/* ---- interrupts ---- */

static void report_vsync(struct refgpu_adapter *adapter, ULONG output)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

    RtlZeroMemory(&data, sizeof data);
    data.InterruptType = DXGK_INTERRUPT_CRTC_VSYNC;
    data.CrtcVsync.VidPnTargetId = output;
    /* segment 1 begins at 0, so this is also the address that the host gave */
    data.CrtcVsync.PhysicalAddress.QuadPart =
        (LONGLONG)(refgpu_output_read(adapter, output, REFGPU_OUT_NOW_LO) |
                   (ULONGLONG)refgpu_output_read(adapter, output, REFGPU_OUT_NOW_HI) << 32);
    adapter->dxgk.DxgkCbNotifyInterrupt(adapter->dxgk.DeviceHandle, &data);
}

void refgpu_display_serve(struct refgpu_adapter *adapter, ULONG causes)
{
    for (ULONG i = 0; i < adapter->display.outputs; i++) {
        if (causes & REFGPU_IRQ_VSYNC(i))
            report_vsync(adapter, i);
        if (causes & REFGPU_IRQ_PLUG(i))
            (void)InterlockedOr(&adapter->display.plugged, 1 << i);
    }
}

void refgpu_display_dpc(struct refgpu_adapter *adapter)
{
    const LONG plugged = InterlockedExchange(&adapter->display.plugged, 0);
    DXGK_CHILD_STATUS status;

    for (ULONG i = 0; i < adapter->display.outputs; i++) {
        if (!(plugged & (1 << i)))
            continue;
        RtlZeroMemory(&status, sizeof status);
        status.Type = StatusConnection;
        status.ChildUid = i;
        status.HotPlug.Connected = (refgpu_output_read(adapter, i, REFGPU_OUT_STATUS) &
                                    REFGPU_OUT_STATUS_CONNECTED) != 0;
        (void)adapter->dxgk.DxgkCbIndicateChildStatus(adapter->dxgk.DeviceHandle, &status);
    }
}

/* ---- who takes the screen over ---- */

static BOOLEAN is_connected(struct refgpu_adapter *adapter, ULONG output)
{
    return output < adapter->display.outputs && adapter->registers &&
           (refgpu_output_read(adapter, output, REFGPU_OUT_STATUS) & REFGPU_OUT_STATUS_CONNECTED);
}

static ULONG frame_pitch(UINT width)
{
    return (width * 4u + REFGPU_OUT_PITCH_UNIT - 1u) & ~(REFGPU_OUT_PITCH_UNIT - 1u);
}

/* A black frame at the beginning of VRAM, in the mode that is shown if it has room there. Any level. */
static void take_over(struct refgpu_adapter *adapter, ULONG output)
{
    struct refgpu_display *d = &adapter->display;
    struct refgpu_path path = d->path[output];
    D3DKMDT_VIDEO_SIGNAL_INFO signal;

    if (!path.lit || (ULONGLONG)frame_pitch(path.width) * path.height > d->frame_bytes) {
        refgpu_signal_make(SYSTEM_WIDTH, SYSTEM_HEIGHT, &signal);
        refgpu_signal_path(&signal, &path);
        path.lit = TRUE;
        refgpu_output_light(adapter, output, &path);
    }
    d->system_width = path.width;
    d->system_height = path.height;
    RtlZeroMemory(d->frame, (SIZE_T)frame_pitch(path.width) * path.height);
    refgpu_output_address(adapter, output, 0, frame_pitch(path.width), REFGPU_OUT_FORMAT_X8R8G8B8,
                          TRUE);
    for (ULONG i = 0; i < d->outputs; i++)
        refgpu_output_control(adapter, i, i == output ? REFGPU_OUT_CONTROL_ENABLE : 0);
}

NTSTATUS NTAPI RefGpuStopDeviceAndReleasePostDisplayOwnership(PVOID MiniportDeviceContext,
                                                              D3DDDI_VIDEO_PRESENT_TARGET_ID TargetId,
                                                              PDXGK_DISPLAY_INFORMATION DisplayInfo)
{
    struct refgpu_adapter *adapter = MiniportDeviceContext;
    const struct refgpu_display *d = &adapter->display;

    if (!adapter->started || !adapter->powered || !is_connected(adapter, TargetId))
        return STATUS_NOT_SUPPORTED;
    refgpu_engines_stop(adapter);
    take_over(adapter, TargetId);
    DisplayInfo->Width = d->system_width;
    DisplayInfo->Height = d->system_height;
    DisplayInfo->Pitch = frame_pitch(d->system_width);
    DisplayInfo->ColorFormat = D3DDDIFMT_X8R8G8B8;
    DisplayInfo->PhysicAddress = adapter->vram_bus;
    DisplayInfo->TargetId = TargetId;
    refgpu_stop(adapter);
    return STATUS_SUCCESS;
}

/* ---- a bug check: the machine has stopped, and this runs at any level ---- */

NTSTATUS NTAPI RefGpuSystemDisplayEnable(PVOID MiniportDeviceContext,
                                         D3DDDI_VIDEO_PRESENT_TARGET_ID TargetId,
                                         PDXGKARG_SYSTEM_DISPLAY_ENABLE_FLAGS Flags, UINT *Width,
                                         UINT *Height, D3DDDIFORMAT *ColorFormat)
{
    struct refgpu_adapter *adapter = MiniportDeviceContext;
    ULONG output = TargetId;

    (void)Flags;
    for (ULONG i = 0; !is_connected(adapter, output) && i < adapter->display.outputs; i++)
        output = i;
    if (!is_connected(adapter, output) || !adapter->display.frame)
        return STATUS_UNSUCCESSFUL;
    take_over(adapter, output);
    *Width = adapter->display.system_width;
    *Height = adapter->display.system_height;
    *ColorFormat = D3DDDIFMT_X8R8G8B8;
    return STATUS_SUCCESS;
}

void NTAPI RefGpuSystemDisplayWrite(PVOID MiniportDeviceContext, PVOID Source, UINT SourceWidth,
                                    UINT SourceHeight, UINT SourceStride, UINT PositionX,
                                    UINT PositionY)
{
    const struct refgpu_adapter *adapter = MiniportDeviceContext;
    const struct refgpu_display *d = &adapter->display;
    const ULONG pitch = frame_pitch(d->system_width);

    if (PositionX >= d->system_width)
        return;
    if (SourceWidth > d->system_width - PositionX)
        SourceWidth = d->system_width - PositionX;
    for (UINT y = 0; y < SourceHeight && PositionY + y < d->system_height; y++)
        RtlCopyMemory(d->frame + (SIZE_T)(PositionY + y) * pitch + (SIZE_T)PositionX * 4u,
                      (const UCHAR *)Source + (SIZE_T)y * SourceStride, (SIZE_T)SourceWidth * 4u);
}
