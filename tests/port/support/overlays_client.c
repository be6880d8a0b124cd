/* SPDX-License-Identifier: MIT */
/* The client's side of overlays.h. */
#include "port/support/overlays.h"
#include "support/test.h"

#include <string.h>

static const RECT screen = {0, 0, 1024, 768};

struct plane_wish overlays_of(UINT layer)
{
    return (struct plane_wish){.layer = layer,
                               .enabled = true,
                               .primary = layer % 3,
                               .target = screen,
                               .interval = D3DDDI_FLIPINTERVAL_ONE};
}

struct plane_wish overlays_without(UINT layer)
{
    struct plane_wish wish = overlays_of(layer);

    wish.enabled = false;
    return wish;
}

/* ---- looks ---- */

static D3DKMT_MULTIPLANE_OVERLAY_ATTRIBUTES look_1(const struct plane_wish *wish)
{
    D3DKMT_MULTIPLANE_OVERLAY_ATTRIBUTES look;

    memset(&look, 0, sizeof(look));
    look.SrcRect = screen;
    look.DstRect = look.ClipRect = wish->target;
    look.Rotation = D3DDDI_ROTATION_IDENTITY;
    look.Blend = (D3DKMT_MULTIPLANE_OVERLAY_BLEND)wish->blend;
    look.StretchQuality = DXGKMT_MULTIPLANE_OVERLAY_STRETCH_QUALITY_HIGH;
    return look;
}

static D3DKMT_MULTIPLANE_OVERLAY_ATTRIBUTES2 look_2(const struct plane_wish *wish)
{
    D3DKMT_MULTIPLANE_OVERLAY_ATTRIBUTES2 look;

    memset(&look, 0, sizeof(look));
    look.SrcRect = screen;
    look.DstRect = look.ClipRect = wish->target;
    look.Rotation = D3DDDI_ROTATION_IDENTITY;
    look.Blend = (D3DKMT_MULTIPLANE_OVERLAY_BLEND)wish->blend;
    look.StretchQuality = DXGKMT_MULTIPLANE_OVERLAY_STRETCH_QUALITY_HIGH;
    return look;
}

static D3DKMT_MULTIPLANE_OVERLAY_ATTRIBUTES3 look_3(const struct plane_wish *wish)
{
    static RECT dirty[2] = {{0, 0, 8, 8}, {8, 8, 16, 16}};
    D3DKMT_MULTIPLANE_OVERLAY_ATTRIBUTES3 look;

    memset(&look, 0, sizeof(look));
    look.SrcRect = screen;
    look.DstRect = look.ClipRect = wish->target;
    look.Rotation = D3DDDI_ROTATION_IDENTITY;
    look.Blend = (D3DKMT_MULTIPLANE_OVERLAY_BLEND)wish->blend;
    look.StretchQuality = DXGKMT_MULTIPLANE_OVERLAY_STRETCH_QUALITY_HIGH;
    look.DirtyRectCount = overlays_extras ? 2 : 0;
    look.pDirtyRects = overlays_extras ? dirty : NULL;
    return look;
}

/* ---- D3DKMTCheckMultiPlaneOverlaySupport ---- */

static NTSTATUS ask_1(UINT count, const struct plane_wish *wish, BOOL *supported, UINT *info)
{
    D3DKMT_CHECK_MULTIPLANE_OVERLAY_PLANE plane[PLANES + 1];
    D3DKMT_CHECKMULTIPLANEOVERLAYSUPPORT args = {
        .hDevice = flips.gpu.device, .PlaneCount = count, .pOverlayPlanes = plane, .Supported = 7};
    NTSTATUS status;

    memset(plane, 0, sizeof(plane));
    for (UINT i = 0; i < count; i++) {
        plane[i].hResource = flips.primary[wish[i].primary];
        plane[i].PlaneAttributes = look_1(&wish[i]);
    }
    status = D3DKMTCheckMultiPlaneOverlaySupport(&args);
    *supported = args.Supported;
    *info = args.ReturnInfo.Value;
    return status;
}

static NTSTATUS ask_2(UINT count, const struct plane_wish *wish, BOOL *supported, UINT *info)
{
    D3DKMT_CHECK_MULTIPLANE_OVERLAY_PLANE2 plane[PLANES + 1];
    D3DKMT_CHECKMULTIPLANEOVERLAYSUPPORT2 args = {.hAdapter = flips.gpu.adapter,
                                                  .hDevice = flips.gpu.device,
                                                  .PlaneCount = count,
                                                  .pOverlayPlanes = plane,
                                                  .Supported = 7};
    NTSTATUS status;

    memset(plane, 0, sizeof(plane));
    for (UINT i = 0; i < count; i++) {
        plane[i].LayerIndex = wish[i].layer;
        plane[i].hResource = flips.primary[wish[i].primary];
        plane[i].PlaneAttributes = look_2(&wish[i]);
    }
    status = D3DKMTCheckMultiPlaneOverlaySupport2(&args);
    *supported = args.Supported;
    *info = args.ReturnInfo.Value;
    return status;
}

static NTSTATUS ask_3(UINT count, const struct plane_wish *wish, BOOL *supported, UINT *info)
{
    D3DKMT_MULTIPLANE_OVERLAY_ATTRIBUTES3 look[PLANES + 1];
    D3DKMT_CHECK_MULTIPLANE_OVERLAY_PLANE3 plane[PLANES + 1], *list[PLANES + 1];
    D3DKMT_CHECKMULTIPLANEOVERLAYSUPPORT3 args = {.hAdapter = flips.gpu.adapter,
                                                  .hDevice = flips.gpu.device,
                                                  .PlaneCount = count,
                                                  .ppOverlayPlanes = list,
                                                  .Supported = 7};
    NTSTATUS status;

    memset(plane, 0, sizeof(plane));
    for (UINT i = 0; i < count; i++) {
        list[i] = &plane[i];
        look[i] = look_3(&wish[i]);
        plane[i].LayerIndex = wish[i].layer;
        plane[i].hResource = flips.primary[wish[i].primary];
        plane[i].pPlaneAttributes = &look[i];
    }
    status = D3DKMTCheckMultiPlaneOverlaySupport3(&args);
    *supported = args.Supported;
    *info = args.ReturnInfo.Value;
    return status;
}

NTSTATUS overlays_check(UINT count, const struct plane_wish *wish, BOOL *supported, UINT *info)
{
    return overlays_client_form == 1   ? ask_1(count, wish, supported, info)
           : overlays_client_form == 2 ? ask_2(count, wish, supported, info)
                                       : ask_3(count, wish, supported, info);
}

/* ---- D3DKMTPresentMultiPlaneOverlay ---- */

static NTSTATUS present_1(UINT count, const struct plane_wish *wish)
{
    D3DKMT_MULTIPLANE_OVERLAY plane[PLANES + 1];
    D3DKMT_PRESENT_MULTIPLANE_OVERLAY args;

    memset(plane, 0, sizeof(plane));
    memset(&args, 0, sizeof(args));
    for (UINT i = 0; i < count; i++) {
        plane[i].LayerIndex = wish[i].layer;
        plane[i].Enabled = wish[i].enabled;
        plane[i].hAllocation = wish[i].enabled ? flips.primary[wish[i].primary] : 0;
        plane[i].PlaneAttributes = look_1(&wish[i]);
    }
    args.hContext = flips.gpu.context;
    args.FlipInterval = wish[0].interval;
    args.PresentPlaneCount = count;
    args.pPresentPlanes = plane;
    args.Flags.DurationValid = overlays_duration != 0;
    args.Flags.FlipRestart = overlays_restart;
    args.Duration = overlays_duration;
    return D3DKMTPresentMultiPlaneOverlay(&args);
}

static NTSTATUS present_2(UINT count, const struct plane_wish *wish)
{
    D3DKMT_MULTIPLANE_OVERLAY2 plane[PLANES + 1];
    D3DKMT_PRESENT_MULTIPLANE_OVERLAY2 args;

    memset(plane, 0, sizeof(plane));
    memset(&args, 0, sizeof(args));
    for (UINT i = 0; i < count; i++) {
        plane[i].LayerIndex = wish[i].layer;
        plane[i].Enabled = wish[i].enabled;
        plane[i].hAllocation = wish[i].enabled ? flips.primary[wish[i].primary] : 0;
        plane[i].PlaneAttributes = look_2(&wish[i]);
    }
    args.hAdapter = flips.gpu.adapter;
    args.hContext = flips.gpu.context;
    args.FlipInterval = wish[0].interval;
    args.PresentPlaneCount = count;
    args.pPresentPlanes = plane;
    args.Flags.DurationValid = overlays_duration != 0;
    args.Flags.FlipRestart = overlays_restart;
    args.Duration = overlays_duration;
    return D3DKMTPresentMultiPlaneOverlay2(&args);
}

static void add_extras(D3DKMT_PRESENT_MULTIPLANE_OVERLAY3 *args)
{
    static D3DKMT_MULTIPLANE_OVERLAY_POST_COMPOSITION composition = {.SrcRect = {0, 0, 1024, 768},
                                                                     .DstRect = {0, 0, 1024, 768}};
    static const UINT metadata[4] = {1, 2, 3, 4};

    args->pPostComposition = &composition;
    args->Flags.HDRMetaDataValid = 1;
    args->HDRMetaDataSize = sizeof(metadata);
    args->pHDRMetaData = metadata;
}

static NTSTATUS present_3(UINT count, const struct plane_wish *wish)
{
    static UINT private_data[2] = {0x70726976, 0};
    D3DKMT_MULTIPLANE_OVERLAY_ATTRIBUTES3 look[PLANES + 1];
    D3DKMT_MULTIPLANE_OVERLAY3 plane[PLANES + 1], *list[PLANES + 1];
    D3DKMT_PRESENT_MULTIPLANE_OVERLAY3 args;

    memset(plane, 0, sizeof(plane));
    memset(&args, 0, sizeof(args));
    for (UINT i = 0; i < count; i++) {
        list[i] = &plane[i];
        look[i] = look_3(&wish[i]);
        plane[i].LayerIndex = wish[i].layer;
        plane[i].InputFlags.Enabled = wish[i].enabled;
        plane[i].FlipInterval = wish[i].interval;
        plane[i].AllocationCount = wish[i].enabled;
        plane[i].pAllocationList = &flips.primary[wish[i].primary];
        plane[i].pPlaneAttributes = &look[i];
        plane[i].DriverPrivateDataSize = overlays_extras ? sizeof(private_data) : 0;
        plane[i].pDriverPrivateData = private_data;
    }
    args.hAdapter = flips.gpu.adapter;
    args.ContextCount = 1;
    args.pContextList = &flips.gpu.context;
    args.PresentPlaneCount = count;
    args.ppPresentPlanes = list;
    args.Flags.DurationValid = overlays_duration != 0;
    args.Flags.FlipRestart = overlays_restart;
    args.Duration = overlays_duration;
    if (overlays_extras)
        add_extras(&args);
    return D3DKMTPresentMultiPlaneOverlay3(&args);
}

NTSTATUS overlays_present(UINT count, const struct plane_wish *wish)
{
    return overlays_client_form == 1   ? present_1(count, wish)
           : overlays_client_form == 2 ? present_2(count, wish)
                                       : present_3(count, wish);
}
