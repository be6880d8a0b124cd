/* SPDX-License-Identifier: MIT */
/* Pictures: the rectangles that have changed are copied into the frame buffer. */
#include "bootfb.h"

void bootfb_black(struct bootfb *fb)
{
    if (fb->pixels)
        RtlZeroMemory(fb->pixels, (SIZE_T)fb->post.Pitch * fb->post.Height);
}

/* Where pixel (x, y) of the picture, as its viewer sees it, is in the frame buffer: turned
 * counter-clockwise as the path says, and in the middle. */
static UCHAR *place(const struct bootfb *fb, LONG x, LONG y)
{
    const LONG width = (LONG)fb->mode.cx, height = (LONG)fb->mode.cy;
    const LONG left = ((LONG)fb->post.Width - width) / 2, top = ((LONG)fb->post.Height - height) / 2;
    LONG column = x, line = y;

    switch ((int)fb->rotation) {
    case D3DKMDT_VPPR_ROTATE90:
        column = y;
        line = height - 1 - x;
        break;
    case D3DKMDT_VPPR_ROTATE180:
        column = width - 1 - x;
        line = height - 1 - y;
        break;
    case D3DKMDT_VPPR_ROTATE270:
        column = width - 1 - y;
        line = x;
        break;
    default:
        break;
    }
    return fb->pixels + (SIZE_T)(top + line) * fb->post.Pitch +
           (SIZE_T)(left + column) * BOOTFB_BYTES;
}

static void copy(const struct bootfb *fb, const DXGKARG_PRESENT_DISPLAYONLY *args, const RECT *r)
{
    for (LONG y = r->top; y < r->bottom; y++) {
        const UCHAR *from = (const UCHAR *)args->pSource + (SSIZE_T)y * args->Pitch;

        if (fb->rotation == D3DKMDT_VPPR_IDENTITY) {
            RtlCopyMemory(place(fb, r->left, y), from + (SIZE_T)r->left * BOOTFB_BYTES,
                          (SIZE_T)(r->right - r->left) * BOOTFB_BYTES);
            continue;
        }
        for (LONG x = r->left; x < r->right; x++)
            RtlCopyMemory(place(fb, x, y), from + (SIZE_T)x * BOOTFB_BYTES, BOOTFB_BYTES);
    }
}

/* The picture already holds the result of the moves, so a move is a rectangle like any other. */
NTSTATUS NTAPI bootfb_present_display_only(HANDLE context, const DXGKARG_PRESENT_DISPLAYONLY *args)
{
    const struct bootfb *fb = context;

    if (args->VidPnSourceId != BOOTFB_SOURCE || args->BytesPerPixel != BOOTFB_BYTES)
        return STATUS_INVALID_PARAMETER;
    if (!fb->visible || !fb->mode.cx || !fb->pixels)
        return STATUS_SUCCESS; /* nobody sees it; the first picture afterwards is a whole one */
    for (ULONG i = 0; i < args->NumMoves; i++)
        copy(fb, args, &args->pMoves[i].DestRect);
    for (ULONG i = 0; i < args->NumDirtyRects; i++)
        copy(fb, args, &args->pDirtyRect[i]);
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI bootfb_set_vidpn_source_visibility(HANDLE context,
                                                  const DXGKARG_SETVIDPNSOURCEVISIBILITY *args)
{
    struct bootfb *fb = context;

    if (args->VidPnSourceId != BOOTFB_SOURCE)
        return STATUS_INVALID_PARAMETER;
    fb->visible = args->Visible;
    if (!args->Visible)
        bootfb_black(fb);
    return STATUS_SUCCESS;
}

/* ---- the screen of a bug check: any IRQL, nothing but the processor ---- */

NTSTATUS NTAPI bootfb_system_display_enable(PVOID context, D3DDDI_VIDEO_PRESENT_TARGET_ID target,
                                            PDXGKARG_SYSTEM_DISPLAY_ENABLE_FLAGS flags, UINT *width,
                                            UINT *height, D3DDDIFORMAT *format)
{
    struct bootfb *fb = context;

    UNREFERENCED_PARAMETER(target);
    UNREFERENCED_PARAMETER(flags);
    if (!fb->pixels)
        return STATUS_UNSUCCESSFUL;
    bootfb_black(fb);
    *width = fb->post.Width;
    *height = fb->post.Height;
    *format = fb->post.ColorFormat;
    return STATUS_SUCCESS;
}

void NTAPI bootfb_system_display_write(PVOID context, PVOID source, UINT width, UINT height,
                                       UINT stride, UINT x, UINT y)
{
    const struct bootfb *fb = context;

    for (UINT line = 0; line < height && y + line < fb->post.Height; line++)
        if (x + width <= fb->post.Width)
            RtlCopyMemory(fb->pixels + (SIZE_T)(y + line) * fb->post.Pitch +
                              (SIZE_T)x * BOOTFB_BYTES,
                          (UCHAR *)source + (SIZE_T)line * stride, (SIZE_T)width * BOOTFB_BYTES);
}
