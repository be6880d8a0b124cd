/* SPDX-License-Identifier: MIT */
/* Calls about one target, its link and its signal: UpdateMonitorLinkInfo, SetTargetContentType,
 * ControlModeBehavior. Called by the display worker. */
#ifndef DXGK_MODES_TARGET_CALLS_H
#define DXGK_MODES_TARGET_CALLS_H

#include <ntddk.h>
#include <dispmprt.h>

struct modes;
struct monitor;

/* What the link to the monitor can do, into monitor->link (DISP-112). */
void target_link_info(struct modes *modes, struct monitor *monitor);
/* What kind of pictures a lit target shows (DISP-118). */
NTSTATUS target_set_content(struct modes *modes, UINT target,
                            D3DKMDT_VIDPN_PRESENT_PATH_CONTENT content);
/* Ask for a behavior of modes; what was granted comes back, and modes are chosen anew if something
 * was (DISP-120, DISP-121). */
NTSTATUS target_control_behavior(struct modes *modes, DXGKARG_CONTROLMODEBEHAVIOR *args);

#endif
