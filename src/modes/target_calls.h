/* SPDX-License-Identifier: MIT */
/* What a client asks of a signal: SetTargetContentType, ControlModeBehavior. Called by the display
 * worker. */
#ifndef DXGK_MODES_TARGET_CALLS_H
#define DXGK_MODES_TARGET_CALLS_H

#include <ntddk.h>
#include <dispmprt.h>

struct modes;

/* What kind of pictures a lit target shows (DISP-118). */
NTSTATUS target_set_content(struct modes *modes, UINT target,
                            D3DKMDT_VIDPN_PRESENT_PATH_CONTENT content);
/* Ask for a behavior of modes; what was granted comes back, and modes are chosen anew if something
 * was (DISP-120, DISP-121). */
NTSTATUS target_control_behavior(struct modes *modes, DXGKARG_CONTROLMODEBEHAVIOR *args);

#endif
