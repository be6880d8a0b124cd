/* SPDX-License-Identifier: MIT */
/*
 * Modes. The outputs neither scale nor rotate, so a source is as large as the signals it is shown in.
 * A set with a pinned mode is settled, and so is that of the pivot; all others are made anew at each
 * enumeration.
 */
#include "driver.h"

/* A VidPN in work. */
struct vidpn {
    struct refgpu_adapter *adapter;
    D3DKMDT_HVIDPN handle;
    const DXGK_VIDPN_INTERFACE *table;
    D3DKMDT_HVIDPNTOPOLOGY paths;
    const DXGK_VIDPNTOPOLOGY_INTERFACE *topology;
};

static NTSTATUS open(struct refgpu_adapter *adapter, D3DKMDT_HVIDPN handle, struct vidpn *v)
{
    NTSTATUS status = adapter->dxgk.DxgkCbQueryVidPnInterface(
        handle, DXGK_VIDPN_INTERFACE_VERSION_V1, &v->table);

    v->adapter = adapter;
    v->handle = handle;
    return NT_SUCCESS(status) ? v->table->pfnGetTopology(handle, &v->paths, &v->topology) : status;
}

/* ---- what is pinned ---- */

/* 0, 0: nothing */
static NTSTATUS pinned_size(const struct vidpn *v, UINT source, D3DKMDT_2DREGION *size)
{
    const DXGK_VIDPNSOURCEMODESET_INTERFACE *set;
    const D3DKMDT_VIDPN_SOURCE_MODE *mode = NULL;
    D3DKMDT_HVIDPNSOURCEMODESET modes;
    NTSTATUS status = v->table->pfnAcquireSourceModeSet(v->handle, source, &modes, &set);

    size->cx = size->cy = 0;
    if (!NT_SUCCESS(status))
        return status;
    status = set->pfnAcquirePinnedModeInfo(modes, &mode);
    if (mode) {
        *size = mode->Format.Graphics.PrimSurfSize;
        (void)set->pfnReleaseModeInfo(modes, mode);
    }
    (void)v->table->pfnReleaseSourceModeSet(v->handle, modes);
    return NT_SUCCESS(status) ? STATUS_SUCCESS : status;
}

/* ActiveSize 0, 0: nothing */
static NTSTATUS pinned_signal(const struct vidpn *v, UINT target, D3DKMDT_VIDEO_SIGNAL_INFO *signal)
{
    const DXGK_VIDPNTARGETMODESET_INTERFACE *set;
    const D3DKMDT_VIDPN_TARGET_MODE *mode = NULL;
    D3DKMDT_HVIDPNTARGETMODESET modes;
    NTSTATUS status = v->table->pfnAcquireTargetModeSet(v->handle, target, &modes, &set);

    RtlZeroMemory(signal, sizeof *signal);
    if (!NT_SUCCESS(status))
        return status;
    status = set->pfnAcquirePinnedModeInfo(modes, &mode);
    if (mode) {
        *signal = mode->VideoSignalInfo;
        (void)set->pfnReleaseModeInfo(modes, mode);
    }
    (void)v->table->pfnReleaseTargetModeSet(v->handle, modes);
    return NT_SUCCESS(status) ? STATUS_SUCCESS : status;
}

/* ---- paths ---- */

/* What is to be done with a path; a failure ends the walk. */
typedef NTSTATUS (*path_function)(const struct vidpn *v, const D3DKMDT_VIDPN_PRESENT_PATH *path,
                                  PVOID context);

static NTSTATUS each_path(const struct vidpn *v, path_function function, PVOID context)
{
    const D3DKMDT_VIDPN_PRESENT_PATH *path = NULL, *next;
    NTSTATUS status = v->topology->pfnAcquireFirstPathInfo(v->paths, &path);

    while (NT_SUCCESS(status) && path) {
        status = function(v, path, context);
        next = NULL;
        if (NT_SUCCESS(status)) /* at the end a success code, and no path */
            status = v->topology->pfnAcquireNextPathInfo(v->paths, path, &next);
        (void)v->topology->pfnReleasePathInfo(v->paths, path);
        path = next;
    }
    return NT_SUCCESS(status) ? STATUS_SUCCESS : status;
}

/* ---- is it possible? ---- */

static BOOLEAN is_plain(const D3DKMDT_VIDPN_PRESENT_PATH_TRANSFORMATION *t)
{
    return (t->Scaling == D3DKMDT_VPPS_IDENTITY || t->Scaling == D3DKMDT_VPPS_UNPINNED ||
            t->Scaling == D3DKMDT_VPPS_NOTSPECIFIED || t->Scaling == D3DKMDT_VPPS_UNINITIALIZED) &&
           (t->Rotation == D3DKMDT_VPPR_IDENTITY || t->Rotation == D3DKMDT_VPPR_UNPINNED ||
            t->Rotation == D3DKMDT_VPPR_NOTSPECIFIED || t->Rotation == D3DKMDT_VPPR_UNINITIALIZED);
}

static NTSTATUS judge(const struct vidpn *v, const D3DKMDT_VIDPN_PRESENT_PATH *path, PVOID context)
{
    const ULONG outputs = v->adapter->display.outputs;
    BOOLEAN *supported = context;
    D3DKMDT_VIDEO_SIGNAL_INFO signal;
    D3DKMDT_2DREGION size;
    NTSTATUS status;

    if (path->VidPnSourceId >= outputs || path->VidPnTargetId >= outputs ||
        !is_plain(&path->ContentTransformation)) {
        *supported = FALSE;
        return STATUS_SUCCESS;
    }
    status = pinned_size(v, path->VidPnSourceId, &size);
    if (NT_SUCCESS(status))
        status = pinned_signal(v, path->VidPnTargetId, &signal);
    if (!NT_SUCCESS(status) || !signal.ActiveSize.cx)
        return status;
    if (!refgpu_signal_possible(&signal) ||
        (size.cx && (size.cx != signal.ActiveSize.cx || size.cy != signal.ActiveSize.cy)))
        *supported = FALSE;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI RefGpuIsSupportedVidPn(IN_CONST_HANDLE hAdapter,
                                      INOUT_PDXGKARG_ISSUPPORTEDVIDPN pIsSupportedVidPn)
{
    BOOLEAN supported = TRUE; /* showing nothing is always possible */
    struct vidpn v;
    NTSTATUS status = STATUS_SUCCESS;

    pIsSupportedVidPn->IsVidPnSupported = FALSE;
    if (pIsSupportedVidPn->hDesiredVidPn) {
        status = open(hAdapter, pIsSupportedVidPn->hDesiredVidPn, &v);
        if (NT_SUCCESS(status))
            status = each_path(&v, judge, &supported);
    }
    if (NT_SUCCESS(status))
        pIsSupportedVidPn->IsVidPnSupported = supported;
    return status;
}

NTSTATUS NTAPI RefGpuRecommendFunctionalVidPn(
    IN_CONST_HANDLE hAdapter,
    IN_CONST_PDXGKARG_RECOMMENDFUNCTIONALVIDPN_CONST pRecommendFunctionalVidPn)
{
    (void)hAdapter;
    (void)pRecommendFunctionalVidPn;
    return STATUS_GRAPHICS_NO_RECOMMENDED_FUNCTIONAL_VIDPN;
}

/* ---- what goes together ---- */

/* A structure that a set has refused is still the driver's. A mode that the set has already is no
 * failure. */
static NTSTATUS add_source_mode(const DXGK_VIDPNSOURCEMODESET_INTERFACE *set,
                                D3DKMDT_HVIDPNSOURCEMODESET modes, const D3DKMDT_2DREGION *size)
{
    D3DKMDT_VIDPN_SOURCE_MODE *mode;
    D3DKMDT_GRAPHICS_RENDERING_FORMAT *graphics;
    NTSTATUS status = set->pfnCreateNewModeInfo(modes, &mode);

    if (!NT_SUCCESS(status))
        return status;
    mode->Type = D3DKMDT_RMT_GRAPHICS;
    graphics = &mode->Format.Graphics;
    graphics->PrimSurfSize = graphics->VisibleRegionSize = *size;
    graphics->Stride = refgpu_pitch(size->cx, 4u);
    graphics->PixelFormat = D3DDDIFMT_A8R8G8B8;
    graphics->ColorBasis = D3DKMDT_CB_SCRGB;
    graphics->PixelValueAccessMode = D3DKMDT_PVAM_DIRECT;
    status = set->pfnAddMode(modes, mode);
    if (!NT_SUCCESS(status))
        (void)set->pfnReleaseModeInfo(modes, mode);
    return status == STATUS_GRAPHICS_MODE_ALREADY_IN_MODESET ? STATUS_SUCCESS : status;
}

static NTSTATUS make_source_modes(const struct vidpn *v, UINT source)
{
    const struct refgpu_display *d = &v->adapter->display;
    const DXGK_VIDPNSOURCEMODESET_INTERFACE *set;
    D3DKMDT_HVIDPNSOURCEMODESET modes;
    NTSTATUS status = v->table->pfnCreateNewSourceModeSet(v->handle, source, &modes, &set);

    if (!NT_SUCCESS(status))
        return status;
    for (ULONG i = 0; NT_SUCCESS(status) && i < d->modes; i++)
        status = add_source_mode(set, modes, &d->mode[i].signal.ActiveSize);
    if (NT_SUCCESS(status))
        return v->table->pfnAssignSourceModeSet(v->handle, source, modes);
    (void)v->table->pfnReleaseSourceModeSet(v->handle, modes);
    return status;
}

static NTSTATUS add_target_mode(const DXGK_VIDPNTARGETMODESET_INTERFACE *set,
                                D3DKMDT_HVIDPNTARGETMODESET modes, const struct refgpu_mode *from)
{
    D3DKMDT_VIDPN_TARGET_MODE *mode;
    NTSTATUS status = set->pfnCreateNewModeInfo(modes, &mode);

    if (!NT_SUCCESS(status))
        return status;
    mode->VideoSignalInfo = from->signal;
    mode->WireFormatAndPreference.Rgb = D3DKMDT_BITS_PER_COMPONENT_08;
    mode->WireFormatAndPreference.Preference = from->preference;
    status = set->pfnAddMode(modes, mode);
    if (!NT_SUCCESS(status))
        (void)set->pfnReleaseModeInfo(modes, mode);
    return status == STATUS_GRAPHICS_MODE_ALREADY_IN_MODESET ? STATUS_SUCCESS : status;
}

static NTSTATUS make_target_modes(const struct vidpn *v, UINT target)
{
    const struct refgpu_display *d = &v->adapter->display;
    const DXGK_VIDPNTARGETMODESET_INTERFACE *set;
    D3DKMDT_HVIDPNTARGETMODESET modes;
    NTSTATUS status = v->table->pfnCreateNewTargetModeSet(v->handle, target, &modes, &set);

    if (!NT_SUCCESS(status))
        return status;
    for (ULONG i = 0; NT_SUCCESS(status) && i < d->modes; i++)
        status = add_target_mode(set, modes, &d->mode[i]);
    if (NT_SUCCESS(status))
        return v->table->pfnAssignTargetModeSet(v->handle, target, modes);
    (void)v->table->pfnReleaseTargetModeSet(v->handle, modes);
    return status;
}

/* What is pinned on one side of a path decides the other. */
static NTSTATUS enumerate(const struct vidpn *v, const D3DKMDT_VIDPN_PRESENT_PATH *path,
                          PVOID context)
{
    const DXGKARG_ENUMVIDPNCOFUNCMODALITY *args = context;
    const UINT source = path->VidPnSourceId, target = path->VidPnTargetId;
    const BOOLEAN source_open = args->EnumPivotType != D3DKMDT_EPT_VIDPNSOURCE ||
                                args->EnumPivot.VidPnSourceId != source;
    const BOOLEAN target_open = args->EnumPivotType != D3DKMDT_EPT_VIDPNTARGET ||
                                args->EnumPivot.VidPnTargetId != target;
    D3DKMDT_VIDPN_PRESENT_PATH copy = *path; /* the structure is for reading */
    D3DKMDT_VIDEO_SIGNAL_INFO signal;
    D3DKMDT_2DREGION size;
    NTSTATUS status;

    if (target >= v->adapter->display.outputs)
        return STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET;
    status = pinned_size(v, source, &size);
    if (NT_SUCCESS(status))
        status = pinned_signal(v, target, &signal);
    if (NT_SUCCESS(status) && !size.cx && source_open) {
        status = refgpu_modes_of(v->adapter, target, signal.ActiveSize.cx, signal.ActiveSize.cy);
        if (NT_SUCCESS(status))
            status = make_source_modes(v, source);
    }
    if (NT_SUCCESS(status) && !signal.ActiveSize.cx && target_open) {
        status = refgpu_modes_of(v->adapter, target, size.cx, size.cy);
        if (NT_SUCCESS(status))
            status = make_target_modes(v, target);
    }
    if (!NT_SUCCESS(status))
        return status;
    RtlZeroMemory(&copy.ContentTransformation.ScalingSupport,
                  sizeof copy.ContentTransformation.ScalingSupport);
    RtlZeroMemory(&copy.ContentTransformation.RotationSupport,
                  sizeof copy.ContentTransformation.RotationSupport);
    copy.ContentTransformation.ScalingSupport.Identity = 1;
    copy.ContentTransformation.RotationSupport.Identity = 1;
    copy.ContentTransformation.RotationSupport.Offset0 = 1;
    return v->topology->pfnUpdatePathSupportInfo(v->paths, &copy);
}

NTSTATUS NTAPI RefGpuEnumVidPnCofuncModality(
    IN_CONST_HANDLE hAdapter, IN_CONST_PDXGKARG_ENUMVIDPNCOFUNCMODALITY_CONST pEnumCofuncModality)
{
    DXGKARG_ENUMVIDPNCOFUNCMODALITY args = *pEnumCofuncModality;
    struct vidpn v;
    NTSTATUS status = open(hAdapter, args.hConstrainingVidPn, &v);

    return NT_SUCCESS(status) ? each_path(&v, enumerate, &args) : status;
}

/* ---- commit ---- */

struct commit {
    UINT source; /* D3DDDI_ID_ALL: all */
    struct refgpu_path path[REFGPU_OUTPUTS];
};

static BOOLEAN is_affected(const struct commit *commit, UINT source)
{
    return commit->source == D3DDDI_ID_ALL || commit->source == source;
}

static NTSTATUS plan(const struct vidpn *v, const D3DKMDT_VIDPN_PRESENT_PATH *path, PVOID context)
{
    struct commit *commit = context;
    D3DKMDT_VIDEO_SIGNAL_INFO signal;
    D3DKMDT_2DREGION size;
    NTSTATUS status;

    if (!is_affected(commit, path->VidPnSourceId))
        return STATUS_SUCCESS;
    if (path->VidPnTargetId >= v->adapter->display.outputs ||
        path->VidPnSourceId >= v->adapter->display.outputs ||
        !is_plain(&path->ContentTransformation))
        return STATUS_GRAPHICS_INVALID_VIDPN_TOPOLOGY;
    status = pinned_size(v, path->VidPnSourceId, &size);
    if (NT_SUCCESS(status))
        status = pinned_signal(v, path->VidPnTargetId, &signal);
    if (!NT_SUCCESS(status) || !size.cx || !signal.ActiveSize.cx)
        return status; /* a path without a mode is dark */
    if (!refgpu_signal_possible(&signal) || size.cx != signal.ActiveSize.cx ||
        size.cy != signal.ActiveSize.cy)
        return STATUS_GRAPHICS_VIDPN_MODALITY_NOT_SUPPORTED;
    status = refgpu_gamma_take(v->adapter, path->VidPnTargetId, &path->GammaRamp);
    if (!NT_SUCCESS(status))
        return status;
    commit->path[path->VidPnTargetId].lit = TRUE;
    commit->path[path->VidPnTargetId].source = path->VidPnSourceId;
    refgpu_signal_path(&signal, &commit->path[path->VidPnTargetId]);
    return STATUS_SUCCESS;
}

/* First all is looked at, then the registers are written, so a refusal leaves what is shown. */
NTSTATUS NTAPI RefGpuCommitVidPn(IN_CONST_HANDLE hAdapter,
                                 IN_CONST_PDXGKARG_COMMITVIDPN_CONST pCommitVidPn)
{
    struct refgpu_adapter *adapter = hAdapter;
    struct refgpu_display *d = &adapter->display;
    struct commit commit;
    struct vidpn v;
    NTSTATUS status = open(adapter, pCommitVidPn->hFunctionalVidPn, &v);

    if (!NT_SUCCESS(status))
        return status;
    RtlZeroMemory(&commit, sizeof commit);
    commit.source = pCommitVidPn->AffectedVidPnSourceId;
    status = each_path(&v, plan, &commit);
    if (!NT_SUCCESS(status) || pCommitVidPn->Flags.PathPoweredOff)
        return status; /* displays that are off are committed again when they are turned on */
    for (ULONG i = 0; i < d->outputs; i++)
        if (commit.path[i].lit || (d->path[i].lit && is_affected(&commit, d->path[i].source))) {
            refgpu_output_light(adapter, i, &commit.path[i]);
            if (commit.path[i].lit)
                refgpu_gamma_load(adapter, i);
        } else if (!d->path[i].lit && d->control[i]) {
            refgpu_output_light(adapter, i, &d->path[i]); /* the firmware's signal ends */
        }
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI RefGpuUpdateActiveVidPnPresentPath(
    IN_CONST_HANDLE hAdapter,
    IN_CONST_PDXGKARG_UPDATEACTIVEVIDPNPRESENTPATH_CONST pUpdateActiveVidPnPresentPath)
{
    const D3DKMDT_VIDPN_PRESENT_PATH *path = &pUpdateActiveVidPnPresentPath->VidPnPresentPathInfo;
    struct refgpu_adapter *adapter = hAdapter;
    NTSTATUS status;

    if (path->VidPnTargetId >= adapter->display.outputs ||
        !adapter->display.path[path->VidPnTargetId].lit ||
        adapter->display.path[path->VidPnTargetId].source != path->VidPnSourceId)
        return STATUS_GRAPHICS_PATH_NOT_IN_TOPOLOGY;
    if (!is_plain(&path->ContentTransformation))
        return STATUS_GRAPHICS_VIDPN_MODALITY_NOT_SUPPORTED;
    status = refgpu_gamma_take(adapter, path->VidPnTargetId, &path->GammaRamp);
    if (NT_SUCCESS(status))
        refgpu_gamma_load(adapter, path->VidPnTargetId);
    return status;
}

NTSTATUS NTAPI RefGpuQueryVidPnHWCapability(IN_CONST_HANDLE i_hAdapter,
                                            INOUT_PDXGKARG_QUERYVIDPNHWCAPABILITY io_pVidPnHWCaps)
{
    (void)i_hAdapter;
    RtlZeroMemory(&io_pVidPnHWCaps->VidPnHWCaps, sizeof io_pVidPnHWCaps->VidPnHWCaps);
    return STATUS_SUCCESS; /* nothing is done by this driver or its processor */
}
