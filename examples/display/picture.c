/* SPDX-License-Identifier: MIT */
/* Step 1: pictures. The rectangles that have changed are copied into video memory. */
#include "panel.h"

void panel_show(struct panel *panel, BOOLEAN on)
{
    panel->control = 0;
    panel_write(panel, PANEL_CONTROL, 0);
    if (!on)
        return;
    RtlZeroMemory(panel->memory, (SIZE_T)panel->mode.cx * 4 * panel->mode.cy);
    panel_write(panel, PANEL_SIZE, panel->mode.cy << 16 | panel->mode.cx);
    panel_write(panel, PANEL_PITCH, panel->mode.cx * 4);
    panel->control = PANEL_ON;
    panel_write(panel, PANEL_CONTROL, PANEL_ON);
}

static void copy(const struct panel *panel, const DXGKARG_PRESENT_DISPLAYONLY *args, const RECT *r)
{
    for (LONG y = r->top; y < r->bottom; y++)
        RtlCopyMemory(panel->memory + ((SIZE_T)y * panel->mode.cx + (SIZE_T)r->left) * 4,
                      (const UCHAR *)args->pSource + (SSIZE_T)y * args->Pitch + (SIZE_T)r->left * 4,
                      (SIZE_T)(r->right - r->left) * 4);
}

/* The picture already holds the result of the moves, so a move is a rectangle like any other. */
NTSTATUS NTAPI panel_present(HANDLE context, const DXGKARG_PRESENT_DISPLAYONLY *args)
{
    const struct panel *panel = context;

    if (args->VidPnSourceId != PANEL_SOURCE || args->BytesPerPixel != 4)
        return STATUS_INVALID_PARAMETER;
    if (!panel->visible || !panel->mode.cx)
        return STATUS_SUCCESS; /* nobody sees it; the first picture afterwards is a whole one */
    for (ULONG i = 0; i < args->NumMoves; i++)
        copy(panel, args, &args->pMoves[i].DestRect);
    for (ULONG i = 0; i < args->NumDirtyRects; i++)
        copy(panel, args, &args->pDirtyRect[i]);
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI panel_set_visibility(HANDLE context, const DXGKARG_SETVIDPNSOURCEVISIBILITY *args)
{
    struct panel *panel = context;

    if (args->VidPnSourceId != PANEL_SOURCE)
        return STATUS_INVALID_PARAMETER;
    panel->visible = args->Visible;
    if (!args->Visible)
        RtlZeroMemory(panel->memory, (SIZE_T)panel->mode.cx * 4 * panel->mode.cy);
    return STATUS_SUCCESS;
}

/* ---- the screen of a bug check: at any level, by the processor alone ---- */

NTSTATUS NTAPI panel_system_display_enable(PVOID context, D3DDDI_VIDEO_PRESENT_TARGET_ID target,
                                           PDXGKARG_SYSTEM_DISPLAY_ENABLE_FLAGS flags, UINT *width,
                                           UINT *height, D3DDDIFORMAT *format)
{
    struct panel *panel = context;

    UNREFERENCED_PARAMETER(target);
    UNREFERENCED_PARAMETER(flags);
    if (!panel->memory)
        return STATUS_UNSUCCESSFUL;
    if (!panel->mode.cx) {
        panel->mode.cx = panel->post.Width;
        panel->mode.cy = panel->post.Height;
    }
    panel_show(panel, TRUE);
    *width = panel->mode.cx;
    *height = panel->mode.cy;
    *format = D3DDDIFMT_X8R8G8B8;
    return STATUS_SUCCESS;
}

void NTAPI panel_system_display_write(PVOID context, PVOID source, UINT width, UINT height,
                                      UINT stride, UINT x, UINT y)
{
    const struct panel *panel = context;

    for (UINT line = 0; line < height && y + line < panel->mode.cy; line++)
        if (x + width <= panel->mode.cx)
            RtlCopyMemory(panel->memory + ((SIZE_T)(y + line) * panel->mode.cx + x) * 4,
                          (const UCHAR *)source + (SIZE_T)line * stride, (SIZE_T)width * 4);
}
