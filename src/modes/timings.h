/* SPDX-License-Identifier: MIT */
/* DxgkDdiSetTimingsFromVidPn, which a driver of the connection change model has in place of
 * CommitVidPn (VIDPN-211 to VIDPN-222). Called by the display worker. */
#ifndef DXGK_MODES_TIMINGS_H
#define DXGK_MODES_TIMINGS_H

#include <stdbool.h>

#include <ntddk.h>
#include <dispmprt.h>

struct modes;
struct vidpn;

enum timings_how {
    TIMINGS_CHANGE, /* of what the driver was told last */
    TIMINGS_REMOVE, /* the same; nothing is lit, so a failure is none (VIDPN-184) */
    TIMINGS_ANEW,   /* it has nothing any more (VIDPN-192) */
};

/* One call for all paths of the VidPN, those that are turned off, and those that are no more. Sets
 * modes->starved like a commit. */
NTSTATUS timings_set(struct modes *modes, const struct vidpn *vidpn, enum timings_how how);

/* The one wire format of those that a target mode has (VIDPN-218). */
D3DKMDT_WIRE_FORMAT_AND_PREFERENCE timings_wire_format(D3DKMDT_WIRE_FORMAT_AND_PREFERENCE offered);

#endif
