/* SPDX-License-Identifier: MIT */
/*
 * What a monitor can show. The host has read its EDID, and knows the timings that standards give to
 * what stands there in short; so it is asked for them. Those that the output cannot make are left
 * out, and of those without frequencies it makes a signal of its own.
 */
#include "driver.h"

static void add(struct refgpu_display *d, const D3DKMDT_VIDEO_SIGNAL_INFO *signal,
                D3DKMDT_MODE_PREFERENCE preference)
{
    struct refgpu_mode *mode = &d->mode[d->modes];

    if (d->modes == REFGPU_MOST_MODES)
        return;
    RtlZeroMemory(mode, sizeof *mode); /* compared byte by byte by some */
    mode->signal = *signal;
    mode->preference = preference;
    d->modes++;
}

static void take(struct refgpu_display *d, const D3DKMDT_MONITOR_SOURCE_MODE *given, UINT width,
                 UINT height)
{
    D3DKMDT_VIDEO_SIGNAL_INFO signal = given->VideoSignalInfo;

    if (width && (signal.ActiveSize.cx != width || signal.ActiveSize.cy != height))
        return;
    if (signal.PixelRate == D3DKMDT_FREQUENCY_NOTSPECIFIED)
        refgpu_signal_make(signal.ActiveSize.cx, signal.ActiveSize.cy, &signal);
    if (refgpu_signal_possible(&signal))
        add(d, &signal, given->Preference);
}

static NTSTATUS read_set(struct refgpu_display *d, const DXGK_MONITORSOURCEMODESET_INTERFACE *set,
                         D3DKMDT_HMONITORSOURCEMODESET handle, UINT width, UINT height)
{
    const D3DKMDT_MONITOR_SOURCE_MODE *mode = NULL, *next;
    NTSTATUS status = set->pfnAcquireFirstModeInfo(handle, &mode);

    while (NT_SUCCESS(status) && mode) {
        take(d, mode, width, height);
        next = NULL; /* at the end a success code, and no mode */
        status = set->pfnAcquireNextModeInfo(handle, mode, &next);
        (void)set->pfnReleaseModeInfo(handle, mode);
        mode = next;
    }
    return status;
}

NTSTATUS refgpu_modes_of(struct refgpu_adapter *adapter, ULONG output, UINT width, UINT height)
{
    struct refgpu_display *d = &adapter->display;
    const DXGK_MONITORSOURCEMODESET_INTERFACE *set;
    const DXGK_MONITOR_INTERFACE *monitor;
    D3DKMDT_HMONITORSOURCEMODESET handle;
    D3DKMDT_VIDEO_SIGNAL_INFO signal;
    NTSTATUS status = adapter->dxgk.DxgkCbQueryMonitorInterface(
        adapter->dxgk.DeviceHandle, DXGK_MONITOR_INTERFACE_VERSION_V1, &monitor);

    d->modes = 0;
    if (NT_SUCCESS(status))
        status = monitor->pfnAcquireMonitorSourceModeSet(adapter->dxgk.DeviceHandle, output,
                                                         &handle, &set);
    if (NT_SUCCESS(status)) {
        status = read_set(d, set, handle, width, height);
        (void)monitor->pfnReleaseMonitorSourceModeSet(adapter->dxgk.DeviceHandle, handle);
    }
    if (status == STATUS_NO_MEMORY)
        return status;
    if (!d->modes) { /* no monitor, or one that shows nothing that is possible here */
        refgpu_signal_make(width ? width : 1024u, width ? height : 768u, &signal);
        add(d, &signal, D3DKMDT_MP_NOTPREFERRED);
    }
    return STATUS_SUCCESS;
}
