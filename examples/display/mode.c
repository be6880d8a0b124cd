/* SPDX-License-Identifier: MIT */
/*
 * Step 1: modes. The host proposes a VidPN, a set of paths from sources to targets; the driver says
 * whether it is possible, fills in which modes go together with what is settled already, and in the
 * end programs what was chosen. The picture is neither scaled nor turned, so a source mode is a
 * target mode's size.
 */
#include "panel.h"

static NTSTATUS interface_of(const struct panel *panel, D3DKMDT_HVIDPN vidpn,
                             const DXGK_VIDPN_INTERFACE **table)
{
    return panel->dxgk.DxgkCbQueryVidPnInterface(vidpn, DXGK_VIDPN_INTERFACE_VERSION_V1, table);
}

NTSTATUS NTAPI panel_is_supported(HANDLE context, DXGKARG_ISSUPPORTEDVIDPN *args)
{
    const struct panel *panel = context;
    const DXGK_VIDPN_INTERFACE *vidpn;
    const DXGK_VIDPNTOPOLOGY_INTERFACE *topology;
    D3DKMDT_HVIDPNTOPOLOGY handle;
    SIZE_T paths = 0;
    NTSTATUS status;

    args->IsVidPnSupported = TRUE; /* showing nothing is always possible */
    if (!args->hDesiredVidPn)
        return STATUS_SUCCESS;
    status = interface_of(panel, args->hDesiredVidPn, &vidpn);
    if (NT_SUCCESS(status))
        status = vidpn->pfnGetTopology(args->hDesiredVidPn, &handle, &topology);
    if (NT_SUCCESS(status))
        status = topology->pfnGetNumPaths(handle, &paths);
    args->IsVidPnSupported = NT_SUCCESS(status) && paths <= 1;
    return status;
}

NTSTATUS NTAPI panel_recommend(HANDLE context, const DXGKARG_RECOMMENDFUNCTIONALVIDPN *const args)
{
    UNREFERENCED_PARAMETER(context);
    UNREFERENCED_PARAMETER(args);
    return STATUS_GRAPHICS_NO_RECOMMENDED_FUNCTIONAL_VIDPN;
}

/* ---- what is pinned ---- */

static NTSTATUS pinned_source(const DXGK_VIDPN_INTERFACE *vidpn, D3DKMDT_HVIDPN handle,
                              D3DKMDT_2DREGION *size)
{
    const DXGK_VIDPNSOURCEMODESET_INTERFACE *set;
    const D3DKMDT_VIDPN_SOURCE_MODE *mode = NULL;
    D3DKMDT_HVIDPNSOURCEMODESET modes;
    NTSTATUS status = vidpn->pfnAcquireSourceModeSet(handle, PANEL_SOURCE, &modes, &set);

    size->cx = size->cy = 0;
    if (!NT_SUCCESS(status))
        return status;
    status = set->pfnAcquirePinnedModeInfo(modes, &mode);
    if (mode) {
        *size = mode->Format.Graphics.PrimSurfSize;
        (void)set->pfnReleaseModeInfo(modes, mode);
    }
    (void)vidpn->pfnReleaseSourceModeSet(handle, modes);
    return NT_SUCCESS(status) ? STATUS_SUCCESS : status; /* there may be success codes */
}

static NTSTATUS pinned_target(const DXGK_VIDPN_INTERFACE *vidpn, D3DKMDT_HVIDPN handle,
                              D3DKMDT_2DREGION *size)
{
    const DXGK_VIDPNTARGETMODESET_INTERFACE *set;
    const D3DKMDT_VIDPN_TARGET_MODE *mode = NULL;
    D3DKMDT_HVIDPNTARGETMODESET modes;
    NTSTATUS status = vidpn->pfnAcquireTargetModeSet(handle, PANEL_TARGET, &modes, &set);

    size->cx = size->cy = 0;
    if (!NT_SUCCESS(status))
        return status;
    status = set->pfnAcquirePinnedModeInfo(modes, &mode);
    if (mode) {
        *size = mode->VideoSignalInfo.ActiveSize;
        (void)set->pfnReleaseModeInfo(modes, mode);
    }
    (void)vidpn->pfnReleaseTargetModeSet(handle, modes);
    return NT_SUCCESS(status) ? STATUS_SUCCESS : status;
}

/* ---- which modes there are ---- */

static BOOLEAN is_wanted(const D3DKMDT_VIDEO_SIGNAL_INFO *signal, const D3DKMDT_2DREGION *size)
{
    return !size->cx || (signal->ActiveSize.cx == size->cx && signal->ActiveSize.cy == size->cy);
}

/* A mode that a set has refused is still the driver's; one that it has already is no failure. */
static NTSTATUS add_source_mode(const DXGK_VIDPNSOURCEMODESET_INTERFACE *set,
                                D3DKMDT_HVIDPNSOURCEMODESET modes, const D3DKMDT_2DREGION *size)
{
    D3DKMDT_VIDPN_SOURCE_MODE *mode;
    NTSTATUS status = set->pfnCreateNewModeInfo(modes, &mode);

    if (!NT_SUCCESS(status))
        return status;
    mode->Type = D3DKMDT_RMT_GRAPHICS;
    mode->Format.Graphics.PrimSurfSize = mode->Format.Graphics.VisibleRegionSize = *size;
    mode->Format.Graphics.Stride = size->cx * 4;
    mode->Format.Graphics.PixelFormat = D3DDDIFMT_A8R8G8B8;
    mode->Format.Graphics.ColorBasis = D3DKMDT_CB_SCRGB;
    mode->Format.Graphics.PixelValueAccessMode = D3DKMDT_PVAM_DIRECT;
    status = set->pfnAddMode(modes, mode);
    if (!NT_SUCCESS(status))
        (void)set->pfnReleaseModeInfo(modes, mode);
    return status == STATUS_GRAPHICS_MODE_ALREADY_IN_MODESET ? STATUS_SUCCESS : status;
}

static NTSTATUS make_source_modes(const DXGK_VIDPN_INTERFACE *vidpn, D3DKMDT_HVIDPN handle,
                                  const D3DKMDT_VIDEO_SIGNAL_INFO *signals, UINT count,
                                  const D3DKMDT_2DREGION *wanted)
{
    const DXGK_VIDPNSOURCEMODESET_INTERFACE *set;
    D3DKMDT_HVIDPNSOURCEMODESET modes;
    NTSTATUS status = vidpn->pfnCreateNewSourceModeSet(handle, PANEL_SOURCE, &modes, &set);

    if (!NT_SUCCESS(status))
        return status;
    for (UINT i = 0; NT_SUCCESS(status) && i < count; i++)
        if (is_wanted(&signals[i], wanted))
            status = add_source_mode(set, modes, &signals[i].ActiveSize);
    if (NT_SUCCESS(status))
        return vidpn->pfnAssignSourceModeSet(handle, PANEL_SOURCE, modes);
    (void)vidpn->pfnReleaseSourceModeSet(handle, modes);
    return status;
}

static NTSTATUS add_target_mode(const DXGK_VIDPNTARGETMODESET_INTERFACE *set,
                                D3DKMDT_HVIDPNTARGETMODESET modes,
                                const D3DKMDT_VIDEO_SIGNAL_INFO *signal)
{
    D3DKMDT_VIDPN_TARGET_MODE *mode;
    NTSTATUS status = set->pfnCreateNewModeInfo(modes, &mode);

    if (!NT_SUCCESS(status))
        return status;
    mode->VideoSignalInfo = *signal;
    mode->WireFormatAndPreference.Rgb = D3DKMDT_BITS_PER_COMPONENT_08;
    mode->WireFormatAndPreference.Preference = D3DKMDT_MP_NOTPREFERRED;
    status = set->pfnAddMode(modes, mode);
    if (!NT_SUCCESS(status))
        (void)set->pfnReleaseModeInfo(modes, mode);
    return status == STATUS_GRAPHICS_MODE_ALREADY_IN_MODESET ? STATUS_SUCCESS : status;
}

static NTSTATUS make_target_modes(const DXGK_VIDPN_INTERFACE *vidpn, D3DKMDT_HVIDPN handle,
                                  const D3DKMDT_VIDEO_SIGNAL_INFO *signals, UINT count,
                                  const D3DKMDT_2DREGION *wanted)
{
    const DXGK_VIDPNTARGETMODESET_INTERFACE *set;
    D3DKMDT_HVIDPNTARGETMODESET modes;
    NTSTATUS status = vidpn->pfnCreateNewTargetModeSet(handle, PANEL_TARGET, &modes, &set);

    if (!NT_SUCCESS(status))
        return status;
    for (UINT i = 0; NT_SUCCESS(status) && i < count; i++)
        if (is_wanted(&signals[i], wanted))
            status = add_target_mode(set, modes, &signals[i]);
    if (NT_SUCCESS(status))
        return vidpn->pfnAssignTargetModeSet(handle, PANEL_TARGET, modes);
    (void)vidpn->pfnReleaseTargetModeSet(handle, modes);
    return status;
}

/* A set with a pinned mode is settled; so is that of the pivot. What is settled on one side decides
 * the other. */
static NTSTATUS fill_sets(struct panel *panel, const DXGKARG_ENUMVIDPNCOFUNCMODALITY *args,
                          const DXGK_VIDPN_INTERFACE *vidpn)
{
    D3DKMDT_HVIDPN handle = args->hConstrainingVidPn;
    D3DKMDT_VIDEO_SIGNAL_INFO signals[PANEL_MOST_MODES];
    D3DKMDT_2DREGION source, target;
    UINT count;
    NTSTATUS status = panel_list_signals(panel, signals, &count);

    if (NT_SUCCESS(status))
        status = pinned_source(vidpn, handle, &source);
    if (NT_SUCCESS(status))
        status = pinned_target(vidpn, handle, &target);
    if (NT_SUCCESS(status) && !source.cx && args->EnumPivotType != D3DKMDT_EPT_VIDPNSOURCE)
        status = make_source_modes(vidpn, handle, signals, count, &target);
    if (NT_SUCCESS(status) && !target.cx && args->EnumPivotType != D3DKMDT_EPT_VIDPNTARGET)
        status = make_target_modes(vidpn, handle, signals, count, &source);
    return status;
}

/* The path's structure is for reading, so what it supports is told with a copy. */
static NTSTATUS tell_support(const DXGK_VIDPNTOPOLOGY_INTERFACE *topology,
                             D3DKMDT_HVIDPNTOPOLOGY handle, const D3DKMDT_VIDPN_PRESENT_PATH *path)
{
    D3DKMDT_VIDPN_PRESENT_PATH copy = *path;
    D3DKMDT_VIDPN_PRESENT_PATH_TRANSFORMATION *t = &copy.ContentTransformation;

    RtlZeroMemory(&t->ScalingSupport, sizeof(t->ScalingSupport));
    RtlZeroMemory(&t->RotationSupport, sizeof(t->RotationSupport));
    t->ScalingSupport.Identity = 1;
    t->RotationSupport.Identity = t->RotationSupport.Offset0 = 1;
    return topology->pfnUpdatePathSupportInfo(handle, &copy);
}

NTSTATUS NTAPI panel_enumerate(HANDLE context, const DXGKARG_ENUMVIDPNCOFUNCMODALITY *const args)
{
    struct panel *panel = context;
    const DXGK_VIDPN_INTERFACE *vidpn;
    const DXGK_VIDPNTOPOLOGY_INTERFACE *topology;
    const D3DKMDT_VIDPN_PRESENT_PATH *path = NULL;
    D3DKMDT_HVIDPNTOPOLOGY paths;
    NTSTATUS status = interface_of(panel, args->hConstrainingVidPn, &vidpn);

    if (NT_SUCCESS(status))
        status = vidpn->pfnGetTopology(args->hConstrainingVidPn, &paths, &topology);
    if (NT_SUCCESS(status))
        status = topology->pfnAcquireFirstPathInfo(paths, &path);
    if (!NT_SUCCESS(status) || !path)
        return NT_SUCCESS(status) ? STATUS_SUCCESS : status;
    status = fill_sets(panel, args, vidpn);
    if (NT_SUCCESS(status))
        status = tell_support(topology, paths, path);
    (void)topology->pfnReleasePathInfo(paths, path);
    return status;
}

/* ---- commit ---- */

NTSTATUS NTAPI panel_commit(HANDLE context, const DXGKARG_COMMITVIDPN *const args)
{
    struct panel *panel = context;
    const DXGK_VIDPN_INTERFACE *vidpn;
    D3DKMDT_2DREGION size;
    NTSTATUS status = interface_of(panel, args->hFunctionalVidPn, &vidpn);

    if (NT_SUCCESS(status))
        status = pinned_source(vidpn, args->hFunctionalVidPn, &size);
    if (!NT_SUCCESS(status))
        return status;
    if ((ULONGLONG)size.cx * 4 * size.cy > PANEL_POINTER_AT)
        return STATUS_GRAPHICS_VIDPN_MODALITY_NOT_SUPPORTED;
    panel->mode = size;
    panel_show(panel, size.cx != 0);
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI panel_update_path(HANDLE context,
                                 const DXGKARG_UPDATEACTIVEVIDPNPRESENTPATH *const args)
{
    const struct panel *panel = context;

    if (!panel->mode.cx)
        return STATUS_GRAPHICS_PATH_NOT_IN_TOPOLOGY;
    return args->VidPnPresentPathInfo.GammaRamp.Type == D3DDDI_GAMMARAMP_DEFAULT
               ? STATUS_SUCCESS
               : STATUS_GRAPHICS_GAMMA_RAMP_NOT_SUPPORTED;
}
