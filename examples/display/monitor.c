/* SPDX-License-Identifier: MIT */
/* The connector: in step 1 a monitor is always assumed; from step 2 on the hardware says what is
 * there, and in step 3 the modes are the monitor's. */
#include "panel.h"

NTSTATUS NTAPI panel_query_child_relations(PVOID context, PDXGK_CHILD_DESCRIPTOR children,
                                           ULONG bytes)
{
    UNREFERENCED_PARAMETER(context);
    if (bytes < 2 * sizeof(*children)) /* the last one stays zero */
        return STATUS_BUFFER_TOO_SMALL;
    children->ChildDeviceType = TypeVideoOutput;
#if STEP >= 2
    children->ChildCapabilities.HpdAwareness = HpdAwarenessInterruptible;
#else
    children->ChildCapabilities.HpdAwareness = HpdAwarenessAlwaysConnected;
#endif
    children->ChildCapabilities.Type.VideoOutput.InterfaceTechnology = D3DKMDT_VOT_HDMI;
    children->ChildCapabilities.Type.VideoOutput.MonitorOrientationAwareness = D3DKMDT_MOA_NONE;
    children->ChildUid = PANEL_TARGET;
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI panel_query_child_status(PVOID context, PDXGK_CHILD_STATUS status,
                                        BOOLEAN non_destructive_only)
{
    const struct panel *panel = context;

    UNREFERENCED_PARAMETER(non_destructive_only);
    if (status->Type != StatusConnection)
        return STATUS_NOT_SUPPORTED;
    status->HotPlug.Connected = STEP < 2 || (panel_read(panel, PANEL_STATUS) & PANEL_CONNECTED);
    return STATUS_SUCCESS;
}

/* ---- step 2: the EDID, and who comes and goes ---- */

NTSTATUS NTAPI panel_query_device_descriptor(PVOID context, ULONG uid,
                                             PDXGK_DEVICE_DESCRIPTOR descriptor)
{
    const struct panel *panel = context;
    const ULONG bytes = STEP >= 2 ? panel_read(panel, PANEL_EDID_BYTES) : 0;
    const ULONG offset = descriptor->DescriptorOffset;
    UCHAR *to = descriptor->DescriptorBuffer;

    UNREFERENCED_PARAMETER(uid);
    if (!bytes)
        return STATUS_GRAPHICS_CHILD_DESCRIPTOR_NOT_SUPPORTED;
    if (offset >= bytes || descriptor->DescriptorLength > bytes - offset)
        return STATUS_MONITOR_NO_MORE_DESCRIPTOR_DATA;
    for (ULONG i = 0; i < descriptor->DescriptorLength; i++)
        to[i] = READ_REGISTER_UCHAR(panel->registers + PANEL_EDID + offset + i);
    return STATUS_SUCCESS;
}

#if STEP >= 2
/* At device level: only registers, and notes for the DPC. */
BOOLEAN NTAPI panel_interrupt(PVOID context, ULONG message)
{
    struct panel *panel = context;
    ULONG causes;

    UNREFERENCED_PARAMETER(message);
    if (!panel->registers)
        return FALSE;
    causes = panel_read(panel, PANEL_IRQ_STATUS);
    if (!causes)
        return FALSE;
    (void)InterlockedOr(&panel->causes, (LONG)causes);
#if STEP >= 4
    if (causes & PANEL_VSYNC)
        panel_report_vsync(panel);
#endif
    (void)panel->dxgk.DxgkCbQueueDpc(panel->dxgk.DeviceHandle);
    return TRUE;
}

void NTAPI panel_dpc(PVOID context)
{
    struct panel *panel = context;
    const LONG causes = InterlockedExchange(&panel->causes, 0);
    DXGK_CHILD_STATUS status;

    panel->dxgk.DxgkCbNotifyDpc(panel->dxgk.DeviceHandle);
    if (!(causes & (LONG)PANEL_PLUG))
        return;
    RtlZeroMemory(&status, sizeof(status));
    status.Type = StatusConnection;
    status.ChildUid = PANEL_TARGET;
    status.HotPlug.Connected = (panel_read(panel, PANEL_STATUS) & PANEL_CONNECTED) != 0;
    (void)panel->dxgk.DxgkCbIndicateChildStatus(panel->dxgk.DeviceHandle, &status);
}
#endif

/* ---- step 3: what it can show ---- */

/* The Panel has one rate. A driver that controls no vertical syncs leaves all rates open. */
static void make_signal(UINT width, UINT height, D3DKMDT_VIDEO_SIGNAL_INFO *signal)
{
    RtlZeroMemory(signal, sizeof(*signal));
    signal->VideoStandard = D3DKMDT_VSS_OTHER;
    signal->ActiveSize.cx = signal->TotalSize.cx = width;
    signal->ActiveSize.cy = height;
    signal->TotalSize.cy = height + PANEL_BLANK_LINES;
#if STEP >= 4
    signal->VSyncFreq.Numerator = PANEL_HERTZ;
    signal->VSyncFreq.Denominator = signal->HSyncFreq.Denominator = 1;
    signal->HSyncFreq.Numerator = PANEL_HERTZ * signal->TotalSize.cy;
    signal->PixelRate = (SIZE_T)signal->HSyncFreq.Numerator * width;
#else
    signal->VSyncFreq.Numerator = signal->VSyncFreq.Denominator = D3DKMDT_FREQUENCY_NOTSPECIFIED;
    signal->HSyncFreq = signal->VSyncFreq;
    signal->PixelRate = D3DKMDT_FREQUENCY_NOTSPECIFIED;
#endif
    signal->ScanLineOrdering = D3DDDI_VSSLO_PROGRESSIVE;
}

#if STEP >= 3
static BOOLEAN is_possible(const D3DKMDT_2DREGION *size)
{
    return size->cx && size->cy && size->cx <= 4096 && size->cy <= 4096 &&
           (ULONGLONG)size->cx * 4 * size->cy <= PANEL_POINTER_AT;
}

/* The host has read the EDID, and lists the signals that the monitor takes. */
static NTSTATUS ask_monitor(const struct panel *panel, D3DKMDT_VIDEO_SIGNAL_INFO *signals,
                            UINT *count)
{
    const DXGK_MONITORSOURCEMODESET_INTERFACE *set;
    const D3DKMDT_MONITOR_SOURCE_MODE *mode = NULL, *next;
    const DXGK_MONITOR_INTERFACE *monitor;
    D3DKMDT_HMONITORSOURCEMODESET modes;
    NTSTATUS status = panel->dxgk.DxgkCbQueryMonitorInterface(
        panel->dxgk.DeviceHandle, DXGK_MONITOR_INTERFACE_VERSION_V1, &monitor);

    if (NT_SUCCESS(status))
        status = monitor->pfnAcquireMonitorSourceModeSet(panel->dxgk.DeviceHandle, PANEL_TARGET,
                                                         &modes, &set);
    if (!NT_SUCCESS(status))
        return status;
    status = set->pfnAcquireFirstModeInfo(modes, &mode);
    while (NT_SUCCESS(status) && mode) {
        const D3DKMDT_2DREGION *size = &mode->VideoSignalInfo.ActiveSize;

        if (*count < PANEL_MOST_MODES && is_possible(size))
            make_signal(size->cx, size->cy, &signals[(*count)++]);
        next = NULL; /* at the end a success code, and no mode */
        status = set->pfnAcquireNextModeInfo(modes, mode, &next);
        (void)set->pfnReleaseModeInfo(modes, mode);
        mode = next;
    }
    (void)monitor->pfnReleaseMonitorSourceModeSet(panel->dxgk.DeviceHandle, modes);
    return status;
}
#endif

NTSTATUS panel_list_signals(struct panel *panel, D3DKMDT_VIDEO_SIGNAL_INFO *signals, UINT *count)
{
    *count = 0;
#if STEP >= 3
    if (ask_monitor(panel, signals, count) == STATUS_NO_MEMORY)
        return STATUS_NO_MEMORY;
#endif
    if (!*count) /* what the firmware has set is known to work */
        make_signal(panel->post.Width, panel->post.Height, &signals[(*count)++]);
    return STATUS_SUCCESS;
}
