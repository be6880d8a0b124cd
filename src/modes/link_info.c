/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "modes/link_info.h"
#include "ddi/entries_display.h"
#include "modes/modes.h"
#include "modes/monitor.h"
#include "modes/panel.h"
#include "nt/base/status_name.h"
#include "verify/verify.h"

void link_info_ask(struct modes *modes, struct monitor *monitor)
{
    const UINT id = monitor->target->id;
    DXGKARG_UPDATEMONITORLINKINFO args;
    NTSTATUS status;

    memset(&monitor->link, 0, sizeof(monitor->link));
    if (monitor->target->panel) {
        monitor->link = monitor->target->panel->link;
        return;
    }
    if (modes->version < DXGKDDI_INTERFACE_VERSION_WDDM2_1 ||
        !ddi_has(modes->ddi, DxgkDdiUpdateMonitorLinkInfo))
        return;
    memset(&args, 0, sizeof(args));
    args.VideoPresentTargetId = id;
    status = ddi_update_monitor_link_info(modes->ddi, &args);
    if (!NT_SUCCESS(status)) {
        if (!modes->ddi->gone)
            WARNING("DISP-112", "DxgkDdiUpdateMonitorLinkInfo returned %s for target 0x%x",
                    nt_status_text(status).text, id);
        return;
    }
    if (modes->version >= DXGKDDI_INTERFACE_VERSION_WDDM2_6 &&
        args.MonitorLinkInfo.Capabilities.TargetIndependentPrimary) {
        VIOLATION("DISP-113", "TargetIndependentPrimary is set for target 0x%x", id);
        args.MonitorLinkInfo.Capabilities.TargetIndependentPrimary = 0;
    }
    monitor->link = args.MonitorLinkInfo;
}
