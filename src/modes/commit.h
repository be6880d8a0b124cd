/* SPDX-License-Identifier: MIT */
/*
 * Making a VidPN the active one: DxgkDdiCommitVidPn for each source that changes, and the
 * visibility of sources around it (VIDPN-167 to VIDPN-192). Called by the display worker.
 */
#ifndef DXGK_MODES_COMMIT_H
#define DXGK_MODES_COMMIT_H

#include <stdbool.h>

#include <ntddk.h>
#include <dispmprt.h>

struct modes;
struct vidpn;

/* How a commit is made. */
enum commit_how {
    COMMIT_CHANGE, /* sources that differ from the active VidPN; nothing if none does (VIDPN-158) */
    COMMIT_POWER,  /* a monitor is turned off or on: PathPowerTransition (VIDPN-175) */
    COMMIT_AGAIN,  /* of all sources with paths, after a reset: nothing is lit (VIDPN-192) */
    COMMIT_RESUME, /* the same after adapter D0, with PathPowerTransition */
};

/* The VidPN is the caller's no more. A failure leaves the old one in force, as far as the driver
 * lets it. */
NTSTATUS modes_commit(struct modes *modes, struct vidpn *vidpn, enum commit_how how);

/* The mode of a source whose display is off: it takes effect when that is turned on (VIDPN-178).
 * Nothing becomes active. */
NTSTATUS modes_commit_dark(struct modes *modes, struct vidpn *vidpn, UINT source);

/* DxgkDdiSetVidPnSourceVisibility, where it says something new (VIDPN-188). */
void modes_show(struct modes *modes, UINT source, bool visible);
/* DxgkDdiUpdateActiveVidPnPresentPath with another rotation (VIDPN-193 to VIDPN-197). */
NTSTATUS modes_rotate(struct modes *modes, UINT source, UINT target,
                      D3DKMDT_VIDPN_PRESENT_PATH_ROTATION rotation);

#endif
