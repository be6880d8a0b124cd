/* SPDX-License-Identifier: MIT */
/* Step 4: vertical blanks, for those who wait for them. */
#include "panel.h"

#if STEP >= 4
/* At device level. */
void panel_report_vsync(struct panel *panel)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

    RtlZeroMemory(&data, sizeof(data));
    data.InterruptType = DXGK_INTERRUPT_DISPLAYONLY_VSYNC;
    data.DisplayOnlyVsync.VidPnTargetId = PANEL_TARGET;
    panel->dxgk.DxgkCbNotifyInterrupt(panel->dxgk.DeviceHandle, &data);
}

NTSTATUS NTAPI panel_control_interrupt(HANDLE context, DXGK_INTERRUPT_TYPE type, BOOLEAN enable)
{
    const struct panel *panel = context;

    if (type != DXGK_INTERRUPT_CRTC_VSYNC) /* this is how it is asked for, whoever reports it */
        return STATUS_NOT_IMPLEMENTED;
    panel_write(panel, PANEL_IRQ_ENABLE, enable ? PANEL_PLUG | PANEL_VSYNC : PANEL_PLUG);
    return STATUS_SUCCESS;
}

NTSTATUS NTAPI panel_get_scan_line(HANDLE context, DXGKARG_GETSCANLINE *args)
{
    const struct panel *panel = context;

    args->ScanLine = panel_read(panel, PANEL_LINE);
    args->InVerticalBlank = args->ScanLine >= panel->mode.cy;
    return STATUS_SUCCESS;
}
#endif
