/* SPDX-License-Identifier: MIT */
/* Monitors that come and go: their objects, and the paths to them (VIDPN-201 to VIDPN-203). Called
 * by the display worker. */
#ifndef DXGK_MODES_UPDATE_H
#define DXGK_MODES_UPDATE_H

#include <ntddk.h>

struct modes;
struct modes_target;

/* Bring monitors and paths up to what the driver has said. STATUS_NO_MEMORY: some are still to be
 * seen to. */
NTSTATUS modes_update(struct modes *modes);
/* Monitors that have come alone: paths, and what is in their way, wait. */
NTSTATUS modes_meet_monitors(struct modes *modes);
/* A path to one more target. Success, too, if it stays dark, as no source is left for it. */
NTSTATUS modes_add_path(struct modes *modes, const struct modes_target *target);
/* Its path goes; it has one. */
NTSTATUS modes_remove_path(struct modes *modes, const struct modes_target *target);
/* At the start, before modes_update: monitors, and what the driver itself wants to be shown
 * (VIDPN-161, VIDPN-166). */
NTSTATUS modes_begin(struct modes *modes);

#endif
