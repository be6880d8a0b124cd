/* SPDX-License-Identifier: MIT */
#include "ddi/told.h"
#include "trace/trace.h"

#include <string.h>

#include <dispmprt.h>

/* Coordinates may be negative. */
#define PIXELS(value) ((uint64_t)(uint32_t)(value))

static void present_display_only(const DXGKARG_PRESENT_DISPLAYONLY *args)
{
    trace_more("source", args->VidPnSourceId, "rectangles", args->NumDirtyRects);
    trace_more("moves", args->NumMoves, "flags", args->Flags.Value);
    trace_more("pitch", PIXELS(args->Pitch), NULL, 0);
}

static void present(const DXGKARG_PRESENT *args)
{
    trace_more("flags", args->Flags.Value, "rectangles", args->SubRectCnt);
    trace_more("left", PIXELS(args->DstRect.left), "top", PIXELS(args->DstRect.top));
    trace_more("right", PIXELS(args->DstRect.right), "bottom", PIXELS(args->DstRect.bottom));
}

static void address(const DXGKARG_SETVIDPNSOURCEADDRESS *args)
{
    trace_more("source", args->VidPnSourceId, "flags", args->Flags.Value);
    trace_more("segment", args->PrimarySegment, "address", (uint64_t)args->PrimaryAddress.QuadPart);
}

static void pointer_shape(const DXGKARG_SETPOINTERSHAPE *args)
{
    trace_more("source", args->VidPnSourceId, "flags", args->Flags.Value);
    trace_more("width", args->Width, "height", args->Height);
}

static void pointer_position(const DXGKARG_SETPOINTERPOSITION *args)
{
    trace_more("source", args->VidPnSourceId, "flags", args->Flags.Value);
    trace_more("x", PIXELS(args->X), "y", PIXELS(args->Y));
}

static void path(const DXGKARG_UPDATEACTIVEVIDPNPRESENTPATH *args)
{
    trace_more("source", args->VidPnPresentPathInfo.VidPnSourceId, "target",
               args->VidPnPresentPathInfo.VidPnTargetId);
}

static void control_3(const DXGKARG_CONTROLINTERRUPT3 *args)
{
    trace_more("type", (uint64_t)args->InterruptType, "state", (uint64_t)args->CrtcVsyncState);
    trace_more("source", args->VidPnSourceId, NULL, 0);
}

static void control(const struct ddi_told_control *args)
{
    trace_more("type", args->type, "state", args->state);
}

static void system_screen(const struct ddi_told_screen *args)
{
    trace_more("target", args->target, "width", args->width);
    trace_more("lines", args->lines, "top", args->top);
}

/* Forms 1 and 2 begin alike. */
static void planes(const DXGKARG_SETVIDPNSOURCEADDRESSWITHMULTIPLANEOVERLAY *args)
{
    trace_more("source", args->VidPnSourceId, "flags", args->Flags.Value);
    trace_more("planes", args->PlaneCount, NULL, 0);
}

static void planes_3(const DXGKARG_SETVIDPNSOURCEADDRESSWITHMULTIPLANEOVERLAY3 *args)
{
    trace_more("source", args->VidPnSourceId, "flags", args->InputFlags.Value);
    trace_more("planes", args->PlaneCount, NULL, 0);
}

static void commit(const DXGKARG_COMMITVIDPN *args)
{
    UINT flags;

    memcpy(&flags, &args->Flags, sizeof(flags));
    trace_more("source", args->AffectedVidPnSourceId, "flags", flags);
}

static void visibility(const DXGKARG_SETVIDPNSOURCEVISIBILITY *args)
{
    trace_more("source", args->VidPnSourceId, "visible", args->Visible != FALSE);
}

static void palette(const DXGKARG_SETPALETTE *args)
{
    trace_more("source", args->VidPnSourceId, "first", args->FirstEntry);
    trace_more("entries", args->NumEntries, NULL, 0);
}

static void scan_line(const DXGKARG_GETSCANLINE *args)
{
    trace_more("target", args->VidPnTargetId, NULL, 0);
}

void ddi_told_arguments(enum ddi_entry entry, const void *args)
{
    switch ((int)entry) {
    case DDI_DxgkDdiPresentDisplayOnly:
        present_display_only(args);
        break;
    case DDI_DxgkDdiPresent:
        present(args);
        break;
    case DDI_DxgkDdiSetVidPnSourceAddress:
        address(args);
        break;
    case DDI_DxgkDdiSetVidPnSourceAddressWithMultiPlaneOverlay:
    case DDI_DxgkDdiSetVidPnSourceAddressWithMultiPlaneOverlay2:
        planes(args);
        break;
    case DDI_DxgkDdiSetVidPnSourceAddressWithMultiPlaneOverlay3:
        planes_3(args);
        break;
    case DDI_DxgkDdiSetVidPnSourceVisibility:
        visibility(args);
        break;
    case DDI_DxgkDdiCommitVidPn:
        commit(args);
        break;
    case DDI_DxgkDdiUpdateActiveVidPnPresentPath:
        path(args);
        break;
    case DDI_DxgkDdiSetPointerShape:
        pointer_shape(args);
        break;
    case DDI_DxgkDdiSetPointerPosition:
        pointer_position(args);
        break;
    case DDI_DxgkDdiSetPalette:
        palette(args);
        break;
    case DDI_DxgkDdiGetScanLine:
        scan_line(args);
        break;
    case DDI_DxgkDdiControlInterrupt:
    case DDI_DxgkDdiControlInterrupt2:
        control(args);
        break;
    case DDI_DxgkDdiControlInterrupt3:
        control_3(args);
        break;
    case DDI_DxgkDdiSystemDisplayEnable:
    case DDI_DxgkDdiSystemDisplayWrite:
        system_screen(args);
        break;
    default:
        break;
    }
}
