/* SPDX-License-Identifier: MIT */
/*
 * The connection change model of WDDM 2.2: the driver queues what changes of targets, monitors and
 * links, says that there is something, and is asked for one change after the other (DISP-083 to
 * DISP-100). Called by the display worker.
 */
#ifndef DXGK_MODES_CONNECTIONS_H
#define DXGK_MODES_CONNECTIONS_H

#include <stdbool.h>

#include <ntddk.h>
#include <dispmprt.h>

struct modes;
struct modes_target;

#define CONNECTIONS_MAX_DYNAMIC 64u /* DISP-097 */

/* DXGK_CONNECTION_STATUS, DXGK_DISPLAYDETECTCONTROLTYPE: the headers have them for C++ alone. */
enum connection_status {
    CONNECTION_UNINITIALIZED = 0,
    CONNECTION_TARGET_DISCONNECTED = 4,
    CONNECTION_TARGET_CONNECTED = 5,
    CONNECTION_TARGET_JOINED = 6,
    CONNECTION_MONITOR_DISCONNECTED = 8,
    CONNECTION_MONITOR_UNKNOWN = 9,
    CONNECTION_MONITOR_CONNECTED = 10,
    CONNECTION_LINK_STARTED = 12,
    CONNECTION_LINK_FAILED = 13,
    CONNECTION_LINK_SUCCEEDED = 14,
};

enum connection_control {
    CONNECTION_POLL_ONE = 1,
    CONNECTION_POLL_ALL = 2,
    CONNECTION_ENABLE = 3,
    CONNECTION_DISABLE = 4,
};

/* Can only an analog link be driven blindly (DISP-095)? */
bool connections_analog(D3DKMDT_VIDEO_OUTPUT_TECHNOLOGY technology);

/* Hot plug detection on, and what the driver has to say at once; or off (DISP-085). */
void connections_enable(struct modes *modes);
void connections_disable(struct modes *modes);
/* The driver is to look; what it finds comes later. Nothing while detection is off (DISP-087). */
void connections_poll_all(struct modes *modes, bool non_destructive_only);
NTSTATUS connections_poll_one(struct modes *modes, UINT target, bool non_destructive_only);
/* Take all changes that the driver has queued (DISP-088). Monitors and paths follow by
 * modes_update. */
void connections_drain(struct modes *modes);

/* What SetTimingsFromVidPn has said of a target (VIDPN-221). */
void connections_told(struct modes *modes, struct modes_target *target,
                      const DXGK_CONNECTION_CHANGE *state);
/* After a commit: sources whose links are still being configured stand still (DISP-098). */
void connections_hold(const struct modes *modes);
/* Those whose links have become ready go on, but for those that were just shown (by source). */
void connections_resume(struct modes *modes, const bool *shown);
/* A target that has left, with all that was on it: its place is free. */
void connections_free(struct modes *modes, struct modes_target *target);

#endif
