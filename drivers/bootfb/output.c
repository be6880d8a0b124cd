/* SPDX-License-Identifier: MIT */
/* The one output. Nothing says what is connected to it, so a monitor is always assumed, and one that
 * tells nothing of itself. */
#include "bootfb.h"

NTSTATUS NTAPI bootfb_query_child_relations(PVOID context, PDXGK_CHILD_DESCRIPTOR children,
                                            ULONG bytes)
{
    UNREFERENCED_PARAMETER(context);
    if (bytes < 2 * sizeof(*children)) /* the last one stays zero */
        return STATUS_BUFFER_TOO_SMALL;
    children->ChildDeviceType = TypeVideoOutput;
    children->ChildCapabilities.HpdAwareness = HpdAwarenessAlwaysConnected;
    children->ChildCapabilities.Type.VideoOutput.InterfaceTechnology = D3DKMDT_VOT_OTHER;
    children->ChildCapabilities.Type.VideoOutput.MonitorOrientationAwareness = D3DKMDT_MOA_NONE;
    children->ChildUid = BOOTFB_TARGET;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI bootfb_query_child_status(PVOID context, PDXGK_CHILD_STATUS status,
                                         BOOLEAN non_destructive_only)
{
    UNREFERENCED_PARAMETER(context);
    UNREFERENCED_PARAMETER(non_destructive_only);
    if (status->Type != StatusConnection)
        return STATUS_NOT_SUPPORTED;
    status->HotPlug.Connected = TRUE;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI bootfb_query_device_descriptor(PVOID context, ULONG uid,
                                              PDXGK_DEVICE_DESCRIPTOR descriptor)
{
    UNREFERENCED_PARAMETER(context);
    UNREFERENCED_PARAMETER(uid);
    UNREFERENCED_PARAMETER(descriptor);
    return STATUS_GRAPHICS_CHILD_DESCRIPTOR_NOT_SUPPORTED;
}

/* The signal that the firmware has set up is the one that the monitor is known to show. */
NTSTATUS NTAPI bootfb_recommend_monitor_modes(HANDLE context,
                                              const DXGKARG_RECOMMENDMONITORMODES *const args)
{
    const struct bootfb *fb = context;
    const DXGK_MONITORSOURCEMODESET_INTERFACE *set = args->pMonitorSourceModeSetInterface;
    D3DKMDT_MONITOR_SOURCE_MODE *mode;
    D3DKMDT_VIDEO_SIGNAL_INFO *signal;
    NTSTATUS status = set->pfnCreateNewModeInfo(args->hMonitorSourceModeSet, &mode);

    if (!NT_SUCCESS(status))
        return status;
    signal = &mode->VideoSignalInfo;
    signal->VideoStandard = D3DKMDT_VSS_OTHER;
    signal->TotalSize.cx = signal->ActiveSize.cx = fb->post.Width;
    signal->TotalSize.cy = signal->ActiveSize.cy = fb->post.Height;
    signal->VSyncFreq.Numerator = signal->VSyncFreq.Denominator = D3DKMDT_FREQUENCY_NOTSPECIFIED;
    signal->HSyncFreq = signal->VSyncFreq;
    signal->PixelRate = D3DKMDT_FREQUENCY_NOTSPECIFIED;
    signal->ScanLineOrdering = D3DDDI_VSSLO_PROGRESSIVE;
    mode->ColorBasis = D3DKMDT_CB_SRGB;
    mode->ColorCoeffDynamicRanges.FirstChannel = mode->ColorCoeffDynamicRanges.SecondChannel =
        mode->ColorCoeffDynamicRanges.ThirdChannel = 8;
    mode->Origin = D3DKMDT_MCO_DRIVER;
    mode->Preference = D3DKMDT_MP_PREFERRED;
    status = set->pfnAddMode(args->hMonitorSourceModeSet, mode);
    if (!NT_SUCCESS(status)) { /* it is still the driver's; the monitor may have it already */
        (void)set->pfnReleaseModeInfo(args->hMonitorSourceModeSet, mode);
        if (status == STATUS_GRAPHICS_MODE_ALREADY_IN_MODESET)
            status = STATUS_SUCCESS;
    }
    return status;
}
