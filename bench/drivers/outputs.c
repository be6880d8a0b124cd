/* SPDX-License-Identifier: MIT */
/*
 * A display-only driver without hardware for the benchmark: sixteen outputs at most, of which
 * the device "null" says how many have a monitor; as many sources, two modes each, and pictures that
 * are copied into pool memory.
 *
 * A commit of the smaller mode makes a thousand rounds of VidPN calls, so that the time of one is what
 * its commits take longer than those of the other, by a thousand.
 */
#include <ntddk.h>
#include <dispmprt.h>

#define MOST   16u
#define EDID   1024u /* bytes of an output in BAR 2 */
#define WIDTH  1920u
#define HEIGHT 1080u
#define ROUNDS 1000u
#define TAG    0x7475626Fu

static const D3DKMDT_2DREGION size[] = {{1920, 1080}, {1280, 720}};

static struct {
    DXGKRNL_INTERFACE dxgk;
    DXGK_DISPLAY_INFORMATION post;
    const volatile UCHAR *edid; /* mapped */
    ULONG outputs;
    UCHAR *pixels[MOST];
    D3DKMDT_2DREGION mode[MOST];
} d;

/* ---- the adapter ---- */

static NTSTATUS NTAPI add_device(PDEVICE_OBJECT pdo, PVOID *context)
{
    UNREFERENCED_PARAMETER(pdo);
    *context = &d;
    return STATUS_SUCCESS;
}

/* Those whose EDID begins as one does. */
static NTSTATUS count_outputs(void)
{
    const CM_PARTIAL_RESOURCE_LIST *list;
    DXGK_DEVICE_INFO info;
    ULONG found = 0;
    NTSTATUS status;

    RtlZeroMemory(&info, sizeof(info));
    status = d.dxgk.DxgkCbGetDeviceInformation(d.dxgk.DeviceHandle, &info);
    if (!NT_SUCCESS(status))
        return status;
    list = &info.TranslatedResourceList->List[0].PartialResourceList;
    for (ULONG i = 0; i < list->Count && !d.edid; i++)
        if (list->PartialDescriptors[i].Type == CmResourceTypeMemory && found++ == 1)
            d.edid = MmMapIoSpaceEx(list->PartialDescriptors[i].u.Memory.Start, MOST * EDID,
                                    PAGE_READWRITE | PAGE_NOCACHE);
    if (!d.edid)
        return STATUS_DEVICE_CONFIGURATION_ERROR;
    for (d.outputs = 0; d.outputs < MOST && d.edid[d.outputs * EDID + 1] == 0xFF;)
        d.outputs++;
    return d.outputs ? STATUS_SUCCESS : STATUS_DEVICE_CONFIGURATION_ERROR;
}

static NTSTATUS NTAPI start_device(PVOID context, PDXGK_START_INFO info, PDXGKRNL_INTERFACE dxgk,
                                   PULONG sources, PULONG children)
{
    NTSTATUS status;

    UNREFERENCED_PARAMETER(context);
    UNREFERENCED_PARAMETER(info);
    d.dxgk = *dxgk;
    status = d.dxgk.DxgkCbAcquirePostDisplayOwnership(d.dxgk.DeviceHandle, &d.post);
    if (NT_SUCCESS(status))
        status = count_outputs();
    for (ULONG i = 0; NT_SUCCESS(status) && i < d.outputs; i++) {
        d.pixels[i] = ExAllocatePoolWithTag(NonPagedPoolNx, WIDTH * HEIGHT * 4, TAG);
        if (!d.pixels[i])
            status = STATUS_NO_MEMORY;
    }
    *sources = *children = d.outputs;
    return status;
}

static NTSTATUS NTAPI stop_device(PVOID context)
{
    UNREFERENCED_PARAMETER(context);
    for (ULONG i = 0; i < d.outputs; i++)
        ExFreePoolWithTag(d.pixels[i], TAG);
    MmUnmapIoSpace((PVOID)(ULONG_PTR)d.edid, MOST * EDID);
    d.edid = NULL;
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI nothing(PVOID context)
{
    UNREFERENCED_PARAMETER(context);
    return STATUS_SUCCESS;
}

static void NTAPI reset_device(PVOID context)
{
    UNREFERENCED_PARAMETER(context);
}

static void NTAPI unload(void)
{
}

static NTSTATUS NTAPI set_power_state(PVOID context, ULONG uid, DEVICE_POWER_STATE state,
                                      POWER_ACTION action)
{
    UNREFERENCED_PARAMETER(context);
    UNREFERENCED_PARAMETER(uid);
    UNREFERENCED_PARAMETER(state);
    UNREFERENCED_PARAMETER(action);
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI query_adapter_info(HANDLE context, const DXGKARG_QUERYADAPTERINFO *args)
{
    DXGK_DRIVERCAPS *caps = args->pOutputData;

    UNREFERENCED_PARAMETER(context);
    if (args->Type != DXGKQAITYPE_DRIVERCAPS)
        return STATUS_NOT_SUPPORTED;
    RtlZeroMemory(caps, sizeof(*caps));
    caps->WDDMVersion = DXGKDDI_WDDMv1_2;
    caps->HighestAcceptableAddress.QuadPart = -1;
    caps->SupportSmoothRotation = TRUE;
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI query_child_relations(PVOID context, PDXGK_CHILD_DESCRIPTOR children,
                                            ULONG bytes)
{
    UNREFERENCED_PARAMETER(context);
    UNREFERENCED_PARAMETER(bytes);
    for (ULONG i = 0; i < d.outputs; i++) {
        children[i].ChildDeviceType = TypeVideoOutput;
        children[i].ChildCapabilities.HpdAwareness = HpdAwarenessAlwaysConnected;
        children[i].ChildCapabilities.Type.VideoOutput.InterfaceTechnology = D3DKMDT_VOT_OTHER;
        children[i].ChildUid = i;
    }
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI query_child_status(PVOID context, PDXGK_CHILD_STATUS status,
                                         BOOLEAN non_destructive_only)
{
    UNREFERENCED_PARAMETER(context);
    UNREFERENCED_PARAMETER(non_destructive_only);
    status->HotPlug.Connected = TRUE;
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI query_device_descriptor(PVOID context, ULONG uid,
                                              PDXGK_DEVICE_DESCRIPTOR descriptor)
{
    const ULONG offset = descriptor->DescriptorOffset;

    UNREFERENCED_PARAMETER(context);
    if (offset > d.edid[uid * EDID + 126] * 128u)
        return STATUS_MONITOR_NO_MORE_DESCRIPTOR_DATA;
    for (ULONG i = 0; i < descriptor->DescriptorLength; i++)
        ((UCHAR *)descriptor->DescriptorBuffer)[i] = d.edid[uid * EDID + offset + i];
    return STATUS_SUCCESS;
}

/* ---- modes ---- */

static NTSTATUS NTAPI is_supported(HANDLE context, DXGKARG_ISSUPPORTEDVIDPN *args)
{
    UNREFERENCED_PARAMETER(context);
    args->IsVidPnSupported = TRUE;
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI recommend(HANDLE context, const DXGKARG_RECOMMENDFUNCTIONALVIDPN *const args)
{
    UNREFERENCED_PARAMETER(context);
    UNREFERENCED_PARAMETER(args);
    return STATUS_GRAPHICS_NO_RECOMMENDED_FUNCTIONAL_VIDPN;
}

/* Four calls of the interface, six with a pinned mode. */
static D3DKMDT_2DREGION pinned(const DXGK_VIDPN_INTERFACE *vidpn, D3DKMDT_HVIDPN handle, UINT source)
{
    const DXGK_VIDPNSOURCEMODESET_INTERFACE *set;
    const D3DKMDT_VIDPN_SOURCE_MODE *mode = NULL;
    D3DKMDT_HVIDPNSOURCEMODESET modes;
    D3DKMDT_2DREGION found = {0, 0};

    if (!NT_SUCCESS(vidpn->pfnAcquireSourceModeSet(handle, source, &modes, &set)))
        return found;
    (void)set->pfnAcquirePinnedModeInfo(modes, &mode);
    if (mode) {
        found = mode->Format.Graphics.PrimSurfSize;
        (void)set->pfnReleaseModeInfo(modes, mode);
    }
    (void)vidpn->pfnReleaseSourceModeSet(handle, modes);
    return found;
}

static NTSTATUS make_source_modes(const DXGK_VIDPN_INTERFACE *vidpn, D3DKMDT_HVIDPN handle,
                                  UINT source)
{
    const DXGK_VIDPNSOURCEMODESET_INTERFACE *set;
    D3DKMDT_HVIDPNSOURCEMODESET modes;
    D3DKMDT_VIDPN_SOURCE_MODE *mode;
    NTSTATUS status = vidpn->pfnCreateNewSourceModeSet(handle, source, &modes, &set);

    for (UINT i = 0; NT_SUCCESS(status) && i < 2; i++) {
        status = set->pfnCreateNewModeInfo(modes, &mode);
        if (!NT_SUCCESS(status))
            break;
        mode->Type = D3DKMDT_RMT_GRAPHICS;
        mode->Format.Graphics.PrimSurfSize = mode->Format.Graphics.VisibleRegionSize = size[i];
        mode->Format.Graphics.Stride = size[i].cx * 4;
        mode->Format.Graphics.PixelFormat = D3DDDIFMT_A8R8G8B8;
        mode->Format.Graphics.ColorBasis = D3DKMDT_CB_SCRGB;
        mode->Format.Graphics.PixelValueAccessMode = D3DKMDT_PVAM_DIRECT;
        status = set->pfnAddMode(modes, mode);
    }
    return NT_SUCCESS(status) ? vidpn->pfnAssignSourceModeSet(handle, source, modes) : status;
}

static NTSTATUS make_target_modes(const DXGK_VIDPN_INTERFACE *vidpn, D3DKMDT_HVIDPN handle,
                                  UINT target)
{
    const DXGK_VIDPNTARGETMODESET_INTERFACE *set;
    D3DKMDT_HVIDPNTARGETMODESET modes;
    D3DKMDT_VIDPN_TARGET_MODE *mode;
    NTSTATUS status = vidpn->pfnCreateNewTargetModeSet(handle, target, &modes, &set);

    for (UINT i = 0; NT_SUCCESS(status) && i < 2; i++) {
        D3DKMDT_VIDEO_SIGNAL_INFO *signal;

        status = set->pfnCreateNewModeInfo(modes, &mode);
        if (!NT_SUCCESS(status))
            break;
        signal = &mode->VideoSignalInfo;
        signal->VideoStandard = D3DKMDT_VSS_OTHER;
        signal->TotalSize = signal->ActiveSize = size[i];
        signal->VSyncFreq.Numerator = signal->VSyncFreq.Denominator = D3DKMDT_FREQUENCY_NOTSPECIFIED;
        signal->HSyncFreq = signal->VSyncFreq;
        signal->PixelRate = D3DKMDT_FREQUENCY_NOTSPECIFIED;
        signal->ScanLineOrdering = D3DDDI_VSSLO_PROGRESSIVE;
        mode->WireFormatAndPreference.Rgb = D3DKMDT_BITS_PER_COMPONENT_08;
        mode->WireFormatAndPreference.Preference = D3DKMDT_MP_NOTPREFERRED;
        status = set->pfnAddMode(modes, mode);
    }
    return NT_SUCCESS(status) ? vidpn->pfnAssignTargetModeSet(handle, target, modes) : status;
}

static BOOLEAN target_is_open(const DXGK_VIDPN_INTERFACE *vidpn, D3DKMDT_HVIDPN handle, UINT target)
{
    const DXGK_VIDPNTARGETMODESET_INTERFACE *set;
    const D3DKMDT_VIDPN_TARGET_MODE *mode = NULL;
    D3DKMDT_HVIDPNTARGETMODESET modes;

    if (!NT_SUCCESS(vidpn->pfnAcquireTargetModeSet(handle, target, &modes, &set)))
        return FALSE;
    (void)set->pfnAcquirePinnedModeInfo(modes, &mode);
    if (mode)
        (void)set->pfnReleaseModeInfo(modes, mode);
    (void)vidpn->pfnReleaseTargetModeSet(handle, modes);
    return mode == NULL;
}

static NTSTATUS NTAPI enumerate(HANDLE context, const DXGKARG_ENUMVIDPNCOFUNCMODALITY *const args)
{
    const DXGK_VIDPN_INTERFACE *vidpn;
    const DXGK_VIDPNTOPOLOGY_INTERFACE *topology = NULL;
    const D3DKMDT_VIDPN_PRESENT_PATH *path = NULL, *next;
    D3DKMDT_HVIDPN handle = args->hConstrainingVidPn;
    D3DKMDT_HVIDPNTOPOLOGY paths;
    NTSTATUS status = d.dxgk.DxgkCbQueryVidPnInterface(handle, DXGK_VIDPN_INTERFACE_VERSION_V1,
                                                       &vidpn);

    UNREFERENCED_PARAMETER(context);
    if (NT_SUCCESS(status))
        status = vidpn->pfnGetTopology(handle, &paths, &topology);
    if (NT_SUCCESS(status))
        status = topology->pfnAcquireFirstPathInfo(paths, &path);
    if (!NT_SUCCESS(status))
        return status;
    while (NT_SUCCESS(status) && path) {
        D3DKMDT_VIDPN_PRESENT_PATH copy = *path;

        if (!pinned(vidpn, handle, path->VidPnSourceId).cx)
            status = make_source_modes(vidpn, handle, path->VidPnSourceId);
        if (NT_SUCCESS(status) && target_is_open(vidpn, handle, path->VidPnTargetId))
            status = make_target_modes(vidpn, handle, path->VidPnTargetId);
        copy.ContentTransformation.ScalingSupport.Identity = 1;
        copy.ContentTransformation.ScalingSupport.Centered = 1;
        copy.ContentTransformation.RotationSupport.Identity = 1;
        copy.ContentTransformation.RotationSupport.Offset0 = 1;
        if (NT_SUCCESS(status))
            status = topology->pfnUpdatePathSupportInfo(paths, &copy);
        next = NULL;
        if (NT_SUCCESS(status))
            status = topology->pfnAcquireNextPathInfo(paths, path, &next);
        (void)topology->pfnReleasePathInfo(paths, path);
        path = next;
    }
    return NT_SUCCESS(status) ? STATUS_SUCCESS : status;
}

static NTSTATUS NTAPI commit(HANDLE context, const DXGKARG_COMMITVIDPN *const args)
{
    const DXGK_VIDPN_INTERFACE *vidpn;
    NTSTATUS status = d.dxgk.DxgkCbQueryVidPnInterface(args->hFunctionalVidPn,
                                                       DXGK_VIDPN_INTERFACE_VERSION_V1, &vidpn);

    UNREFERENCED_PARAMETER(context);
    for (UINT i = 0; NT_SUCCESS(status) && i < d.outputs; i++)
        if (args->AffectedVidPnSourceId == D3DDDI_ID_ALL || args->AffectedVidPnSourceId == i)
            d.mode[i] = pinned(vidpn, args->hFunctionalVidPn, i);
    if (NT_SUCCESS(status) && d.mode[0].cx == size[1].cx)
        for (UINT i = 0; i < ROUNDS; i++)
            (void)pinned(vidpn, args->hFunctionalVidPn, 0);
    return status;
}

static NTSTATUS NTAPI update_path(HANDLE context,
                                  const DXGKARG_UPDATEACTIVEVIDPNPRESENTPATH *const args)
{
    UNREFERENCED_PARAMETER(context);
    UNREFERENCED_PARAMETER(args);
    return STATUS_SUCCESS;
}

/* ---- pictures ---- */

static NTSTATUS NTAPI present(HANDLE context, const DXGKARG_PRESENT_DISPLAYONLY *args)
{
    const UINT source = args->VidPnSourceId;

    UNREFERENCED_PARAMETER(context);
    for (ULONG i = 0; i < args->NumDirtyRects; i++) {
        const RECT *r = &args->pDirtyRect[i];

        for (LONG y = r->top; y < r->bottom; y++)
            RtlCopyMemory(d.pixels[source] + ((SIZE_T)y * d.mode[source].cx + (SIZE_T)r->left) * 4,
                          (const UCHAR *)args->pSource + (SSIZE_T)y * args->Pitch +
                              (SIZE_T)r->left * 4,
                          (SIZE_T)(r->right - r->left) * 4);
    }
    return STATUS_SUCCESS;
}

static NTSTATUS NTAPI set_visibility(HANDLE context, const DXGKARG_SETVIDPNSOURCEVISIBILITY *args)
{
    UNREFERENCED_PARAMETER(context);
    UNREFERENCED_PARAMETER(args);
    return STATUS_SUCCESS;
}

DECLSPEC_EXPORT DRIVER_INITIALIZE DriverEntry;

NTSTATUS NTAPI DriverEntry(PDRIVER_OBJECT object, PUNICODE_STRING path)
{
    KMDDOD_INITIALIZATION_DATA table;

    RtlZeroMemory(&table, sizeof(table));
    table.Version = DXGKDDI_INTERFACE_VERSION;
    table.DxgkDdiAddDevice = add_device;
    table.DxgkDdiStartDevice = start_device;
    table.DxgkDdiStopDevice = stop_device;
    table.DxgkDdiRemoveDevice = nothing;
    table.DxgkDdiResetDevice = reset_device;
    table.DxgkDdiUnload = unload;
    table.DxgkDdiSetPowerState = set_power_state;
    table.DxgkDdiQueryAdapterInfo = query_adapter_info;
    table.DxgkDdiQueryChildRelations = query_child_relations;
    table.DxgkDdiQueryChildStatus = query_child_status;
    table.DxgkDdiQueryDeviceDescriptor = query_device_descriptor;
    table.DxgkDdiIsSupportedVidPn = is_supported;
    table.DxgkDdiRecommendFunctionalVidPn = recommend;
    table.DxgkDdiEnumVidPnCofuncModality = enumerate;
    table.DxgkDdiCommitVidPn = commit;
    table.DxgkDdiUpdateActiveVidPnPresentPath = update_path;
    table.DxgkDdiPresentDisplayOnly = present;
    table.DxgkDdiSetVidPnSourceVisibility = set_visibility;
    return DxgkInitializeDisplayOnlyDriver(object, path, &table);
}
