/* SPDX-License-Identifier: MIT */
/*
 * Modes. The hardware has one: the frame buffer's. A source may be smaller, and stands in the middle;
 * and it may be turned. A VidPN with one path, or with none, is supported.
 */
#include "bootfb.h"

const D3DKMDT_2DREGION bootfb_size[] = {{1920, 1080}, {1600, 1200}, {1280, 1024}, {1280, 720},
                                        {1024, 768},  {800, 600},   {640, 480}};
const UINT bootfb_sizes = RTL_NUMBER_OF(bootfb_size);

static NTSTATUS interface_of(const struct bootfb *fb, D3DKMDT_HVIDPN vidpn,
                             const DXGK_VIDPN_INTERFACE **table)
{
    return fb->dxgk.DxgkCbQueryVidPnInterface(vidpn, DXGK_VIDPN_INTERFACE_VERSION_V1, table);
}

NTSTATUS NTAPI bootfb_is_supported_vidpn(HANDLE context, DXGKARG_ISSUPPORTEDVIDPN *args)
{
    const struct bootfb *fb = context;
    const DXGK_VIDPN_INTERFACE *vidpn;
    const DXGK_VIDPNTOPOLOGY_INTERFACE *topology;
    D3DKMDT_HVIDPNTOPOLOGY handle;
    SIZE_T paths = 0;
    NTSTATUS status;

    args->IsVidPnSupported = TRUE; /* showing nothing is always possible */
    if (!args->hDesiredVidPn)
        return STATUS_SUCCESS;
    status = interface_of(fb, args->hDesiredVidPn, &vidpn);
    if (NT_SUCCESS(status))
        status = vidpn->pfnGetTopology(args->hDesiredVidPn, &handle, &topology);
    if (NT_SUCCESS(status))
        status = topology->pfnGetNumPaths(handle, &paths);
    args->IsVidPnSupported = NT_SUCCESS(status) && paths <= 1;
    return status;
}

NTSTATUS NTAPI bootfb_recommend_functional_vidpn(HANDLE context,
                                                 const DXGKARG_RECOMMENDFUNCTIONALVIDPN *const args)
{
    UNREFERENCED_PARAMETER(context);
    UNREFERENCED_PARAMETER(args);
    return STATUS_GRAPHICS_NO_RECOMMENDED_FUNCTIONAL_VIDPN;
}

/* ---- what goes together ---- */

/* A structure that a set has refused is still the driver's. A mode that the set has already is no
 * failure. */
static NTSTATUS add_source_mode(const DXGK_VIDPNSOURCEMODESET_INTERFACE *set,
                                D3DKMDT_HVIDPNSOURCEMODESET handle, UINT width, UINT height)
{
    D3DKMDT_VIDPN_SOURCE_MODE *mode;
    NTSTATUS status = set->pfnCreateNewModeInfo(handle, &mode);

    if (!NT_SUCCESS(status))
        return status;
    mode->Type = D3DKMDT_RMT_GRAPHICS;
    mode->Format.Graphics.PrimSurfSize.cx = mode->Format.Graphics.VisibleRegionSize.cx = width;
    mode->Format.Graphics.PrimSurfSize.cy = mode->Format.Graphics.VisibleRegionSize.cy = height;
    mode->Format.Graphics.Stride = width * BOOTFB_BYTES;
    mode->Format.Graphics.PixelFormat = D3DDDIFMT_A8R8G8B8;
    mode->Format.Graphics.ColorBasis = D3DKMDT_CB_SCRGB;
    mode->Format.Graphics.PixelValueAccessMode = D3DKMDT_PVAM_DIRECT;
    status = set->pfnAddMode(handle, mode);
    if (!NT_SUCCESS(status))
        (void)set->pfnReleaseModeInfo(handle, mode);
    return status == STATUS_GRAPHICS_MODE_ALREADY_IN_MODESET ? STATUS_SUCCESS : status;
}

static NTSTATUS make_source_modes(const struct bootfb *fb, const DXGK_VIDPN_INTERFACE *vidpn,
                                  D3DKMDT_HVIDPN handle, UINT source)
{
    const DXGK_VIDPNSOURCEMODESET_INTERFACE *set;
    D3DKMDT_HVIDPNSOURCEMODESET modes;
    NTSTATUS status = vidpn->pfnCreateNewSourceModeSet(handle, source, &modes, &set);

    if (!NT_SUCCESS(status))
        return status;
    status = add_source_mode(set, modes, fb->post.Width, fb->post.Height);
    for (UINT i = 0; NT_SUCCESS(status) && i < bootfb_sizes; i++)
        if (bootfb_size[i].cx <= fb->post.Width && bootfb_size[i].cy <= fb->post.Height)
            status = add_source_mode(set, modes, bootfb_size[i].cx, bootfb_size[i].cy);
    if (!NT_SUCCESS(status)) {
        (void)vidpn->pfnReleaseSourceModeSet(handle, modes);
        return status;
    }
    return vidpn->pfnAssignSourceModeSet(handle, source, modes);
}

static NTSTATUS make_target_modes(const struct bootfb *fb, const DXGK_VIDPN_INTERFACE *vidpn,
                                  D3DKMDT_HVIDPN handle, UINT target)
{
    const DXGK_VIDPNTARGETMODESET_INTERFACE *set;
    D3DKMDT_HVIDPNTARGETMODESET modes;
    D3DKMDT_VIDPN_TARGET_MODE *mode;
    D3DKMDT_VIDEO_SIGNAL_INFO *signal;
    NTSTATUS status = vidpn->pfnCreateNewTargetModeSet(handle, target, &modes, &set);

    if (!NT_SUCCESS(status))
        return status;
    status = set->pfnCreateNewModeInfo(modes, &mode);
    if (NT_SUCCESS(status)) {
        signal = &mode->VideoSignalInfo;
        signal->VideoStandard = D3DKMDT_VSS_OTHER;
        signal->TotalSize.cx = signal->ActiveSize.cx = fb->post.Width;
        signal->TotalSize.cy = signal->ActiveSize.cy = fb->post.Height;
        /* A driver without VSync control leaves all three open. */
        signal->VSyncFreq.Numerator = signal->VSyncFreq.Denominator = D3DKMDT_FREQUENCY_NOTSPECIFIED;
        signal->HSyncFreq = signal->VSyncFreq;
        signal->PixelRate = D3DKMDT_FREQUENCY_NOTSPECIFIED;
        signal->ScanLineOrdering = D3DDDI_VSSLO_PROGRESSIVE;
        mode->WireFormatAndPreference.Rgb = D3DKMDT_BITS_PER_COMPONENT_08;
        mode->WireFormatAndPreference.Preference = D3DKMDT_MP_PREFERRED;
        status = set->pfnAddMode(modes, mode);
        if (!NT_SUCCESS(status))
            (void)set->pfnReleaseModeInfo(modes, mode);
    }
    if (!NT_SUCCESS(status)) {
        (void)vidpn->pfnReleaseTargetModeSet(handle, modes);
        return status;
    }
    return vidpn->pfnAssignTargetModeSet(handle, target, modes);
}

/* A set with a pinned mode is settled; so is that of the pivot. */
static BOOLEAN source_is_open(const DXGK_VIDPN_INTERFACE *vidpn,
                              const DXGKARG_ENUMVIDPNCOFUNCMODALITY *args, UINT source)
{
    D3DKMDT_HVIDPN handle = args->hConstrainingVidPn;
    const DXGK_VIDPNSOURCEMODESET_INTERFACE *set;
    const D3DKMDT_VIDPN_SOURCE_MODE *pinned = NULL;
    D3DKMDT_HVIDPNSOURCEMODESET modes;

    if (args->EnumPivotType == D3DKMDT_EPT_VIDPNSOURCE && args->EnumPivot.VidPnSourceId == source)
        return FALSE;
    if (!NT_SUCCESS(vidpn->pfnAcquireSourceModeSet(handle, source, &modes, &set)))
        return FALSE;
    (void)set->pfnAcquirePinnedModeInfo(modes, &pinned);
    if (pinned)
        (void)set->pfnReleaseModeInfo(modes, pinned);
    (void)vidpn->pfnReleaseSourceModeSet(handle, modes);
    return pinned == NULL;
}

static BOOLEAN target_is_open(const DXGK_VIDPN_INTERFACE *vidpn,
                              const DXGKARG_ENUMVIDPNCOFUNCMODALITY *args, UINT target)
{
    D3DKMDT_HVIDPN handle = args->hConstrainingVidPn;
    const DXGK_VIDPNTARGETMODESET_INTERFACE *set;
    const D3DKMDT_VIDPN_TARGET_MODE *pinned = NULL;
    D3DKMDT_HVIDPNTARGETMODESET modes;

    if (args->EnumPivotType == D3DKMDT_EPT_VIDPNTARGET && args->EnumPivot.VidPnTargetId == target)
        return FALSE;
    if (!NT_SUCCESS(vidpn->pfnAcquireTargetModeSet(handle, target, &modes, &set)))
        return FALSE;
    (void)set->pfnAcquirePinnedModeInfo(modes, &pinned);
    if (pinned)
        (void)set->pfnReleaseModeInfo(modes, pinned);
    (void)vidpn->pfnReleaseTargetModeSet(handle, modes);
    return pinned == NULL;
}

/* The path's structure is for reading, so what it supports is told with a copy. */
static NTSTATUS tell_support(const DXGK_VIDPNTOPOLOGY_INTERFACE *topology,
                             D3DKMDT_HVIDPNTOPOLOGY handle, const D3DKMDT_VIDPN_PRESENT_PATH *path)
{
    D3DKMDT_VIDPN_PRESENT_PATH copy = *path;
    D3DKMDT_VIDPN_PRESENT_PATH_TRANSFORMATION *t = &copy.ContentTransformation;

    RtlZeroMemory(&t->ScalingSupport, sizeof(t->ScalingSupport));
    RtlZeroMemory(&t->RotationSupport, sizeof(t->RotationSupport));
    t->ScalingSupport.Identity = t->ScalingSupport.Centered = 1;
    t->RotationSupport.Identity = t->RotationSupport.Rotate90 = t->RotationSupport.Rotate180 =
        t->RotationSupport.Rotate270 = t->RotationSupport.Offset0 = 1;
    return topology->pfnUpdatePathSupportInfo(handle, &copy);
}

NTSTATUS NTAPI bootfb_enum_vidpn_cofunc_modality(HANDLE context,
                                                 const DXGKARG_ENUMVIDPNCOFUNCMODALITY *const args)
{
    const struct bootfb *fb = context;
    D3DKMDT_HVIDPN handle = args->hConstrainingVidPn;
    const DXGK_VIDPN_INTERFACE *vidpn;
    const DXGK_VIDPNTOPOLOGY_INTERFACE *topology;
    const D3DKMDT_VIDPN_PRESENT_PATH *path = NULL, *next;
    D3DKMDT_HVIDPNTOPOLOGY paths;
    NTSTATUS status = interface_of(fb, handle, &vidpn);

    if (NT_SUCCESS(status))
        status = vidpn->pfnGetTopology(handle, &paths, &topology);
    if (NT_SUCCESS(status))
        status = topology->pfnAcquireFirstPathInfo(paths, &path);
    while (NT_SUCCESS(status) && path) {
        if (source_is_open(vidpn, args, path->VidPnSourceId))
            status = make_source_modes(fb, vidpn, handle, path->VidPnSourceId);
        if (NT_SUCCESS(status) && target_is_open(vidpn, args, path->VidPnTargetId))
            status = make_target_modes(fb, vidpn, handle, path->VidPnTargetId);
        if (NT_SUCCESS(status))
            status = tell_support(topology, paths, path);
        next = NULL;
        if (NT_SUCCESS(status)) /* at the end a success code, and no path */
            status = topology->pfnAcquireNextPathInfo(paths, path, &next);
        (void)topology->pfnReleasePathInfo(paths, path);
        path = next;
    }
    return NT_SUCCESS(status) ? STATUS_SUCCESS : status;
}

/* ---- commit ---- */

static NTSTATUS read_mode(const DXGK_VIDPN_INTERFACE *vidpn, D3DKMDT_HVIDPN handle, UINT source,
                          D3DKMDT_2DREGION *size)
{
    const DXGK_VIDPNSOURCEMODESET_INTERFACE *set;
    const D3DKMDT_VIDPN_SOURCE_MODE *pinned = NULL;
    D3DKMDT_HVIDPNSOURCEMODESET modes;
    NTSTATUS status = vidpn->pfnAcquireSourceModeSet(handle, source, &modes, &set);

    size->cx = size->cy = 0;
    if (!NT_SUCCESS(status))
        return status;
    status = set->pfnAcquirePinnedModeInfo(modes, &pinned);
    if (pinned) {
        *size = pinned->Format.Graphics.PrimSurfSize;
        (void)set->pfnReleaseModeInfo(modes, pinned);
    }
    (void)vidpn->pfnReleaseSourceModeSet(handle, modes);
    return NT_SUCCESS(status) ? STATUS_SUCCESS : status;
}

static NTSTATUS read_rotation(const DXGK_VIDPN_INTERFACE *vidpn, D3DKMDT_HVIDPN handle, UINT source,
                              D3DKMDT_VIDPN_PRESENT_PATH_ROTATION *rotation)
{
    const DXGK_VIDPNTOPOLOGY_INTERFACE *topology;
    const D3DKMDT_VIDPN_PRESENT_PATH *path;
    D3DKMDT_HVIDPNTOPOLOGY paths;
    UINT target;
    NTSTATUS status = vidpn->pfnGetTopology(handle, &paths, &topology);

    if (NT_SUCCESS(status))
        status = topology->pfnEnumPathTargetsFromSource(paths, source, 0, &target);
    if (NT_SUCCESS(status))
        status = topology->pfnAcquirePathInfo(paths, source, target, &path);
    if (!NT_SUCCESS(status))
        return status;
    *rotation = path->ContentTransformation.Rotation;
    (void)topology->pfnReleasePathInfo(paths, path);
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI bootfb_commit_vidpn(HANDLE context, const DXGKARG_COMMITVIDPN *const args)
{
    struct bootfb *fb = context;
    const DXGK_VIDPN_INTERFACE *vidpn;
    D3DKMDT_VIDPN_PRESENT_PATH_ROTATION rotation = D3DKMDT_VPPR_IDENTITY;
    D3DKMDT_2DREGION size;
    NTSTATUS status = interface_of(fb, args->hFunctionalVidPn, &vidpn);

    if (NT_SUCCESS(status))
        status = read_mode(vidpn, args->hFunctionalVidPn, BOOTFB_SOURCE, &size);
    if (NT_SUCCESS(status) && size.cx)
        status = read_rotation(vidpn, args->hFunctionalVidPn, BOOTFB_SOURCE, &rotation);
    if (!NT_SUCCESS(status))
        return status;
    if (size.cx > fb->post.Width || size.cy > fb->post.Height)
        return STATUS_GRAPHICS_INVALID_VIDPN_TOPOLOGY;
    fb->mode = size;
    fb->rotation = rotation;
    bootfb_black(fb);
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI bootfb_update_active_vidpn_present_path(
    HANDLE context, const DXGKARG_UPDATEACTIVEVIDPNPRESENTPATH *const args)
{
    const D3DKMDT_VIDPN_PRESENT_PATH *path = &args->VidPnPresentPathInfo;
    struct bootfb *fb = context;

    if (path->VidPnSourceId != BOOTFB_SOURCE || path->VidPnTargetId != BOOTFB_TARGET || !fb->mode.cx)
        return STATUS_GRAPHICS_PATH_NOT_IN_TOPOLOGY;
    if (path->GammaRamp.Type != D3DDDI_GAMMARAMP_DEFAULT)
        return STATUS_GRAPHICS_GAMMA_RAMP_NOT_SUPPORTED;
    fb->rotation = path->ContentTransformation.Rotation;
    bootfb_black(fb);
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI bootfb_query_vidpn_hw_capability(HANDLE context, DXGKARG_QUERYVIDPNHWCAPABILITY *args)
{
    UNREFERENCED_PARAMETER(context);
    args->VidPnHWCaps.DriverRotation = 1; /* by the processor, pixel by pixel */
    return STATUS_SUCCESS;
}
