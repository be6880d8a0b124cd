/* SPDX-License-Identifier: MIT */
#include "port/support/display.h"
#include "port/record/machine.h"
#include "port/running/post.h"
#include "port/support/probe_driver.h"

#include <string.h>

struct display_answers display;
struct display_record display_seen;

/* ---- default answers ---- */

D3DKMDT_VIDPN_SOURCE_MODE display_source_mode(UINT width, UINT height)
{
    return (D3DKMDT_VIDPN_SOURCE_MODE){
        .Type = D3DKMDT_RMT_GRAPHICS,
        .Format.Graphics = {.PrimSurfSize = {width, height},
                            .VisibleRegionSize = {width, height},
                            .Stride = width * 4,
                            .PixelFormat = D3DDDIFMT_A8R8G8B8,
                            .ColorBasis = D3DKMDT_CB_SCRGB,
                            .PixelValueAccessMode = D3DKMDT_PVAM_DIRECT}};
}

D3DKMDT_VIDPN_TARGET_MODE display_target_mode(UINT width, UINT height)
{
    const D3DDDI_RATIONAL open = {D3DKMDT_FREQUENCY_NOTSPECIFIED, D3DKMDT_FREQUENCY_NOTSPECIFIED};
    D3DKMDT_VIDPN_TARGET_MODE mode = {
        .VideoSignalInfo = {.VideoStandard = D3DKMDT_VSS_OTHER,
                            .TotalSize = {width, height},
                            .ActiveSize = {width, height},
                            .VSyncFreq = open,
                            .HSyncFreq = open,
                            .PixelRate = D3DKMDT_FREQUENCY_NOTSPECIFIED,
                            .ScanLineOrdering = D3DDDI_VSSLO_PROGRESSIVE}};

    mode.WireFormatAndPreference.Rgb = D3DKMDT_BITS_PER_COMPONENT_08;
    mode.WireFormatAndPreference.Preference = D3DKMDT_MP_NOTPREFERRED;
    return mode;
}

static void default_answers(struct probe *p)
{
    static const enum probe_ddi entries[] = {
        PROBE_QueryChildRelations,          PROBE_QueryChildStatus,
        PROBE_QueryDeviceDescriptor,        PROBE_IsSupportedVidPn,
        PROBE_RecommendFunctionalVidPn,     PROBE_EnumVidPnCofuncModality,
        PROBE_SetVidPnSourceVisibility,     PROBE_CommitVidPn,
        PROBE_UpdateActiveVidPnPresentPath, PROBE_RecommendMonitorModes,
        PROBE_QueryVidPnHWCapability,       PROBE_StopDeviceAndReleasePostDisplayOwnership,
        PROBE_SystemDisplayEnable,          PROBE_SystemDisplayWrite,
        PROBE_SetPointerPosition,           PROBE_SetPointerShape};

    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
        probe_set_entry(p, entries[i], true);
    memset(&p->caps, 0, sizeof(p->caps));
    p->caps.WDDMVersion = DXGKDDI_WDDMv1_2;
    p->caps.HighestAcceptableAddress.QuadPart = -1;
    p->caps.SupportNonVGA = p->caps.SupportSmoothRotation = TRUE;
    memset(&display, 0, sizeof(display));
    memset(&display_seen, 0, sizeof(display_seen));
    display.outputs = display.sources = 1;
    for (unsigned i = 0; i < 4; i++)
        display.connected[i] = true;
    display.source_mode[0] = display_source_mode(1024, 768);
    display.source_mode[1] = display_source_mode(800, 600);
    display.source_mode[2] = display_source_mode(640, 480);
    display.source_modes = 3;
    display.target_mode[0] = display_target_mode(1024, 768);
    display.target_mode[0].WireFormatAndPreference.Preference = D3DKMDT_MP_PREFERRED;
    display.target_modes = 1;
    display.scaling.Identity = display.scaling.Centered = display.scaling.Stretched = 1;
    display.rotation.Identity = display.rotation.Rotate90 = display.rotation.Rotate180 =
        display.rotation.Rotate270 = display.rotation.Offset0 = 1;
    display.supported = TRUE;
}

/* ---- the driver's part ---- */

const DXGK_VIDPN_INTERFACE *display_interface(struct probe *p, D3DKMDT_HVIDPN vidpn)
{
    const DXGK_VIDPN_INTERFACE *interface = NULL;

    (void)p->state[0].dxgk.DxgkCbQueryVidPnInterface(vidpn, DXGK_VIDPN_INTERFACE_VERSION_V1,
                                                     &interface);
    return interface;
}

static void note(NTSTATUS status)
{
    if (!NT_SUCCESS(status))
        display_seen.failure = status;
}

static bool is_source_pinned(const DXGK_VIDPN_INTERFACE *v, D3DKMDT_HVIDPN vidpn, UINT source,
                             NTSTATUS *status)
{
    const DXGK_VIDPNSOURCEMODESET_INTERFACE *modes;
    const D3DKMDT_VIDPN_SOURCE_MODE *pinned = NULL;
    D3DKMDT_HVIDPNSOURCEMODESET set;

    note(*status = v->pfnAcquireSourceModeSet(vidpn, source, &set, &modes));
    if (!NT_SUCCESS(*status))
        return false;
    note(*status = modes->pfnAcquirePinnedModeInfo(set, &pinned));
    if (pinned)
        note(modes->pfnReleaseModeInfo(set, pinned));
    note(v->pfnReleaseSourceModeSet(vidpn, set));
    return pinned != NULL;
}

static NTSTATUS give_source_modes(const DXGK_VIDPN_INTERFACE *v, D3DKMDT_HVIDPN vidpn, UINT source)
{
    const DXGK_VIDPNSOURCEMODESET_INTERFACE *modes;
    D3DKMDT_HVIDPNSOURCEMODESET set;
    D3DKMDT_VIDPN_SOURCE_MODE *mode;
    NTSTATUS status, added;
    UINT id;

    if (is_source_pinned(v, vidpn, source, &status) || !NT_SUCCESS(status))
        return status;
    note(status = v->pfnCreateNewSourceModeSet(vidpn, source, &set, &modes));
    if (!NT_SUCCESS(status))
        return status;
    for (UINT i = 0; i < display.source_modes && NT_SUCCESS(status); i++) {
        note(status = modes->pfnCreateNewModeInfo(set, &mode));
        if (!NT_SUCCESS(status))
            break;
        id = mode->Id;
        *mode = display.source_mode[i];
        mode->Id = id;
        added = modes->pfnAddMode(set, mode);
        if (!NT_SUCCESS(added))
            note(modes->pfnReleaseModeInfo(set, mode));
        if (added == STATUS_NO_MEMORY)
            status = added;
    }
    if (NT_SUCCESS(status))
        note(v->pfnAssignSourceModeSet(vidpn, source, set)); /* the set goes in any case */
    else
        note(v->pfnReleaseSourceModeSet(vidpn, set));
    return status;
}

static bool is_target_pinned(const DXGK_VIDPN_INTERFACE *v, D3DKMDT_HVIDPN vidpn, UINT target,
                             NTSTATUS *status)
{
    const DXGK_VIDPNTARGETMODESET_INTERFACE *modes;
    const D3DKMDT_VIDPN_TARGET_MODE *pinned = NULL;
    D3DKMDT_HVIDPNTARGETMODESET set;

    note(*status = v->pfnAcquireTargetModeSet(vidpn, target, &set, &modes));
    if (!NT_SUCCESS(*status))
        return false;
    note(*status = modes->pfnAcquirePinnedModeInfo(set, &pinned));
    if (pinned)
        note(modes->pfnReleaseModeInfo(set, pinned));
    note(v->pfnReleaseTargetModeSet(vidpn, set));
    return pinned != NULL;
}

static NTSTATUS give_target_modes(const DXGK_VIDPN_INTERFACE *v, D3DKMDT_HVIDPN vidpn, UINT target)
{
    const DXGK_VIDPNTARGETMODESET_INTERFACE *modes;
    D3DKMDT_HVIDPNTARGETMODESET set;
    D3DKMDT_VIDPN_TARGET_MODE *mode;
    NTSTATUS status, added;
    UINT id;

    if (is_target_pinned(v, vidpn, target, &status) || !NT_SUCCESS(status))
        return status;
    note(status = v->pfnCreateNewTargetModeSet(vidpn, target, &set, &modes));
    if (!NT_SUCCESS(status))
        return status;
    for (UINT i = 0; i < display.target_modes && NT_SUCCESS(status); i++) {
        note(status = modes->pfnCreateNewModeInfo(set, &mode));
        if (!NT_SUCCESS(status))
            break;
        id = mode->Id;
        *mode = display.target_mode[i];
        mode->Id = id;
        added = modes->pfnAddMode(set, mode);
        if (!NT_SUCCESS(added))
            note(modes->pfnReleaseModeInfo(set, mode));
        if (added == STATUS_NO_MEMORY)
            status = added;
    }
    if (NT_SUCCESS(status))
        note(v->pfnAssignTargetModeSet(vidpn, target, set)); /* the set goes in any case */
    else
        note(v->pfnReleaseTargetModeSet(vidpn, set));
    return status;
}

static NTSTATUS give_path_modes(const DXGKARG_ENUMVIDPNCOFUNCMODALITY *args,
                                const DXGK_VIDPN_INTERFACE *v,
                                const D3DKMDT_VIDPN_PRESENT_PATH *path)
{
    NTSTATUS status = STATUS_SUCCESS;

    if (args->EnumPivotType != D3DKMDT_EPT_VIDPNSOURCE ||
        args->EnumPivot.VidPnSourceId != path->VidPnSourceId)
        status = give_source_modes(v, args->hConstrainingVidPn, path->VidPnSourceId);
    if (NT_SUCCESS(status) && (args->EnumPivotType != D3DKMDT_EPT_VIDPNTARGET ||
                               args->EnumPivot.VidPnTargetId != path->VidPnTargetId))
        status = give_target_modes(v, args->hConstrainingVidPn, path->VidPnTargetId);
    return status;
}

static void enum_modality(struct probe *p, struct probe_call *call)
{
    const DXGKARG_ENUMVIDPNCOFUNCMODALITY *args =
        (const DXGKARG_ENUMVIDPNCOFUNCMODALITY *)(uintptr_t)call->arg[1];
    const D3DKMDT_HVIDPN vidpn = args->hConstrainingVidPn;
    const DXGK_VIDPN_INTERFACE *v = display_interface(p, vidpn);
    const DXGK_VIDPNTOPOLOGY_INTERFACE *topology;
    const D3DKMDT_VIDPN_PRESENT_PATH *path = NULL, *next;
    D3DKMDT_HVIDPNTOPOLOGY handle;
    D3DKMDT_VIDPN_PRESENT_PATH local;
    NTSTATUS status;

    call->answered = true;
    if (display.before_enum)
        display.before_enum(p, args, v);
    note(status = v->pfnGetTopology(vidpn, &handle, &topology));
    if (NT_SUCCESS(status))
        note(status = topology->pfnAcquireFirstPathInfo(handle, &path));
    while (path) {
        if (NT_SUCCESS(status))
            status = give_path_modes(args, v, path);
        local = *path;
        local.ContentTransformation.ScalingSupport = display.scaling;
        local.ContentTransformation.RotationSupport = display.rotation;
        note(topology->pfnUpdatePathSupportInfo(handle, &local));
        next = NULL;
        if (NT_SUCCESS(status))
            note(status = topology->pfnAcquireNextPathInfo(handle, path, &next));
        note(topology->pfnReleasePathInfo(handle, path));
        path = next;
    }
    call->result = (uint64_t)(NT_SUCCESS(status) ? STATUS_SUCCESS : status);
    if (display.after_enum)
        display.after_enum(p, args, v);
}

static void is_supported(struct probe *p, struct probe_call *call)
{
    (void)p;
    ((DXGKARG_ISSUPPORTEDVIDPN *)(uintptr_t)call->arg[1])->IsVidPnSupported = display.supported;
}

static NTSTATUS read_pinned(const DXGK_VIDPN_INTERFACE *v, const DXGKARG_COMMITVIDPN *args,
                            struct display_commit *commit)
{
    NTSTATUS status;
    const DXGK_VIDPNSOURCEMODESET_INTERFACE *modes;
    const D3DKMDT_VIDPN_SOURCE_MODE *pinned = NULL;
    D3DKMDT_HVIDPNSOURCEMODESET set;

    if (!NT_SUCCESS(v->pfnAcquireSourceModeSet(args->hFunctionalVidPn, args->AffectedVidPnSourceId,
                                               &set, &modes)))
        return STATUS_NO_MEMORY;
    note(status = modes->pfnAcquirePinnedModeInfo(set, &pinned));
    if (pinned) {
        commit->size = pinned->Format.Graphics.PrimSurfSize;
        note(modes->pfnReleaseModeInfo(set, pinned));
    }
    note(v->pfnReleaseSourceModeSet(args->hFunctionalVidPn, set));
    return status;
}

static NTSTATUS read_path(const DXGK_VIDPN_INTERFACE *v, const DXGKARG_COMMITVIDPN *args,
                          struct display_commit *commit)
{
    const DXGK_VIDPNTOPOLOGY_INTERFACE *topology;
    const D3DKMDT_VIDPN_PRESENT_PATH *path = NULL;
    D3DKMDT_HVIDPNTOPOLOGY handle;
    SIZE_T paths = 0;

    if (!NT_SUCCESS(v->pfnGetTopology(args->hFunctionalVidPn, &handle, &topology)))
        return STATUS_NO_MEMORY;
    note(topology->pfnGetNumPaths(handle, &paths));
    commit->paths = (UINT)paths;
    if (topology->pfnGetNumPathsFromSource(handle, args->AffectedVidPnSourceId, &paths) !=
        STATUS_SUCCESS)
        return STATUS_SUCCESS;
    note(topology->pfnEnumPathTargetsFromSource(handle, args->AffectedVidPnSourceId, 0,
                                                &commit->target));
    note(topology->pfnAcquirePathInfo(handle, args->AffectedVidPnSourceId, commit->target, &path));
    if (!path)
        return STATUS_NO_MEMORY;
    commit->scaling = path->ContentTransformation.Scaling;
    commit->rotation = path->ContentTransformation.Rotation;
    note(topology->pfnReleasePathInfo(handle, path));
    return STATUS_SUCCESS;
}

static void commit_vidpn(struct probe *p, struct probe_call *call)
{
    const DXGKARG_COMMITVIDPN *args = (const DXGKARG_COMMITVIDPN *)(uintptr_t)call->arg[1];
    const DXGK_VIDPN_INTERFACE *v = display_interface(p, args->hFunctionalVidPn);
    struct display_commit *commit = &display_seen.commit[display_seen.commits++ % 64];
    NTSTATUS status;

    memset(commit, 0, sizeof(*commit));
    commit->source = args->AffectedVidPnSourceId;
    commit->power = args->Flags.PathPowerTransition;
    if (display.in_commit)
        display.in_commit(p, args, v);
    status = read_pinned(v, args, commit);
    if (NT_SUCCESS(status))
        status = read_path(v, args, commit);
    if (NT_SUCCESS(status))
        return;
    call->answered = true;
    call->result = (uint64_t)status;
}

static void set_visibility(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SETVIDPNSOURCEVISIBILITY *args =
        (const DXGKARG_SETVIDPNSOURCEVISIBILITY *)(uintptr_t)call->arg[1];

    (void)p;
    if (args->VidPnSourceId < 4)
        display_seen.visible[args->VidPnSourceId] = args->Visible != FALSE;
}

static NTSTATUS NTAPI present(const HANDLE adapter, const DXGKARG_PRESENT_DISPLAYONLY *args)
{
    (void)adapter;
    display_seen.presents++;
    display_seen.present = *args;
    if (args->NumDirtyRects)
        display_seen.dirty = args->pDirtyRect[0];
    return display.in_present ? display.in_present(probe, args) : display.present_status;
}

static void child_status(struct probe *p, struct probe_call *call)
{
    PDXGK_CHILD_STATUS status = (PDXGK_CHILD_STATUS)(uintptr_t)call->arg[1];

    (void)p;
    if (status->ChildUid >= DISPLAY_CHILD && status->ChildUid < DISPLAY_CHILD + 4)
        status->HotPlug.Connected = display.connected[status->ChildUid - DISPLAY_CHILD];
}

/* The description that StartDevice could have acquired, black as it must be. */
static void release_display(struct probe *p, struct probe_call *call)
{
    LIST_FOR(node, &p->port->adapter_list) {
        const struct port_adapter *adapter = CONTAINER(node, struct port_adapter, link);
        uint8_t *at = (uint8_t *)(uintptr_t)port_post_pixels(adapter);

        if ((uint64_t)(uintptr_t)adapter->ddi.context != call->arg[0])
            continue;
        if (at)
            memset(at, 0, adapter->post.bytes);
        *(DXGK_DISPLAY_INFORMATION *)(uintptr_t)call->arg[2] = adapter->post.info;
    }
}

/* ---- registration ---- */

static void fill_table(struct probe *p)
{
    KMDDOD_INITIALIZATION_DATA *t = &display.table;

    memset(t, 0, sizeof(*t));
    t->Version = p->table.Version;
#define SAME(name) t->name = p->table.name;
    SAME(DxgkDdiAddDevice)
    SAME(DxgkDdiStartDevice)
    SAME(DxgkDdiStopDevice)
    SAME(DxgkDdiRemoveDevice)
    SAME(DxgkDdiDispatchIoRequest)
    SAME(DxgkDdiInterruptRoutine)
    SAME(DxgkDdiDpcRoutine)
    SAME(DxgkDdiQueryChildRelations)
    SAME(DxgkDdiQueryChildStatus)
    SAME(DxgkDdiQueryDeviceDescriptor)
    SAME(DxgkDdiSetPowerState)
    SAME(DxgkDdiNotifyAcpiEvent)
    SAME(DxgkDdiResetDevice)
    SAME(DxgkDdiUnload)
    SAME(DxgkDdiQueryInterface)
    SAME(DxgkDdiControlEtwLogging)
    SAME(DxgkDdiQueryAdapterInfo)
    SAME(DxgkDdiSetPalette)
    SAME(DxgkDdiSetPointerPosition)
    SAME(DxgkDdiSetPointerShape)
    SAME(DxgkDdiEscape)
    SAME(DxgkDdiCollectDbgInfo)
    SAME(DxgkDdiIsSupportedVidPn)
    SAME(DxgkDdiRecommendFunctionalVidPn)
    SAME(DxgkDdiEnumVidPnCofuncModality)
    SAME(DxgkDdiSetVidPnSourceVisibility)
    SAME(DxgkDdiCommitVidPn)
    SAME(DxgkDdiUpdateActiveVidPnPresentPath)
    SAME(DxgkDdiRecommendMonitorModes)
    SAME(DxgkDdiGetScanLine)
    SAME(DxgkDdiQueryVidPnHWCapability)
    SAME(DxgkDdiStopDeviceAndReleasePostDisplayOwnership)
    SAME(DxgkDdiSystemDisplayEnable)
    SAME(DxgkDdiSystemDisplayWrite)
    SAME(DxgkDdiGetChildContainerId)
    SAME(DxgkDdiControlInterrupt)
    SAME(DxgkDdiSetPowerComponentFState)
    SAME(DxgkDdiPowerRuntimeControlRequest)
    SAME(DxgkDdiNotifySurpriseRemoval)
    SAME(DxgkDdiPowerRuntimeSetDeviceHandle)
#undef SAME
    t->DxgkDdiPresentDisplayOnly = present;
}

void display_outputs(struct probe *p)
{
    p->sources = display.sources;
    p->children = display.outputs;
    for (UINT i = 0; i < display.outputs && i < 4; i++)
        if (!p->child[i].ChildDeviceType) {
            p->child[i].ChildDeviceType = TypeVideoOutput;
            p->child[i].ChildUid = DISPLAY_CHILD + i;
            p->child[i].ChildCapabilities.HpdAwareness = HpdAwarenessInterruptible;
            p->child[i].ChildCapabilities.Type.VideoOutput.InterfaceTechnology = D3DKMDT_VOT_HDMI;
            p->child[i].ChildCapabilities.Type.VideoOutput.MonitorOrientationAwareness =
                D3DKMDT_MOA_NONE;
        }
}

static NTSTATUS display_entry(struct probe *p, PDRIVER_OBJECT object, PUNICODE_STRING path)
{
    if (!display.own_table)
        fill_table(p);
    display_outputs(p);
    if (display.in_entry)
        display.in_entry(p, object, path);
    return DxgkInitializeDisplayOnlyDriver(object, path, &display.table);
}

void display_prepare(struct probe *p)
{
    default_answers(p);
    p->before[PROBE_EnumVidPnCofuncModality] = enum_modality;
    p->after[PROBE_IsSupportedVidPn] = is_supported;
    p->before[PROBE_CommitVidPn] = commit_vidpn;
    p->before[PROBE_SetVidPnSourceVisibility] = set_visibility;
    p->after[PROBE_QueryChildStatus] = child_status;
    p->before[PROBE_StopDeviceAndReleasePostDisplayOwnership] = release_display;
}

struct probe *display_create(const struct probe_options *options)
{
    struct probe *p = probe_create(options);

    display_prepare(p);
    p->driver_entry = display_entry;
    return p;
}

void display_end(struct probe *p)
{
    (void)probe_stop(p);
    probe_destroy(p);
}

void display_run(const struct probe_options *options, void (*body)(struct probe *p))
{
    struct probe *p = display_create(options);

    CHECK(probe_start(p) == STATUS_SUCCESS);
    probe_end(p, body);
}

/* ---- what tests ask for ---- */

struct modes *display_modes(const struct probe *p)
{
    return port_display_modes(p->adapter[0]);
}

struct screens *display_screens(const struct probe *p)
{
    return port_display_screens(p->adapter[0]);
}

void display_indicate(struct probe *p, UINT output, bool connected)
{
    DXGK_CHILD_STATUS status = {.Type = StatusConnection, .ChildUid = DISPLAY_CHILD + output};

    status.HotPlug.Connected = connected;
    display.connected[output] = connected;
    (void)p->state[0].dxgk.DxgkCbIndicateChildStatus(p->state[0].dxgk.DeviceHandle, &status);
    (void)display_update(display_modes(p));
}

NTSTATUS display_ask_mode(struct probe *p, UINT source, UINT width, UINT height, UINT quarters)
{
    const struct modes_wish wish = {
        .given = true,
        .source = source,
        .size = {width, height},
        .rotation = (D3DKMDT_VIDPN_PRESENT_PATH_ROTATION)((UINT)D3DKMDT_VPPR_IDENTITY + quarters)};

    return display_set_mode(display_modes(p), &wish);
}
