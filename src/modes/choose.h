/* SPDX-License-Identifier: MIT */
/*
 * A VidPN from a topology: the modes of its paths are enumerated, and one of each set is pinned,
 * path by path in the order of importance (VIDPN-148 to VIDPN-155). Each step works on a copy, so a
 * choice that leads nowhere is dropped, and the next one tried.
 */
#ifndef DXGK_MODES_CHOOSE_H
#define DXGK_MODES_CHOOSE_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <dispmprt.h>

struct modes;
struct modes_target;
struct vidpn;

/* What somebody wants of one source; `given` false: nothing. */
struct modes_wish {
    bool given;
    UINT source;
    D3DKMDT_2DREGION size;
    D3DDDIFORMAT format;       /* D3DDDIFMT_UNKNOWN: any */
    D3DDDI_RATIONAL frequency; /* 0, 0: any */
    bool exact;                /* the frequency is not one that is near */
    D3DKMDT_VIDPN_PRESENT_PATH_ROTATION rotation;
    D3DKMDT_VIDPN_PRESENT_PATH_SCALING scaling; /* D3DKMDT_VPPS_UNINITIALIZED: any */
};

/* As the driver's interface version has it (D3DDDI_VIDEO_SIGNAL_SCANLINE_ORDERING). */
UINT modes_scan_order(const struct modes *modes, const D3DKMDT_VIDEO_SIGNAL_INFO *signal);
/* Is a frequency wanted of this source? */
bool modes_wishes_rate(const struct modes_wish *wish, UINT source);

/* Pin modes and transformations of all paths of *vidpn that have none pinned. On failure *vidpn is
 * as it was. */
NTSTATUS modes_choose(struct modes *modes, struct vidpn **vidpn, const struct modes_wish *wish);

/* A VidPN with the best topology for the monitors that are there, with all chosen. It has no path
 * if there is no monitor, or the driver supports none (VIDPN-149). */
NTSTATUS modes_choose_all(struct modes *modes, struct vidpn **vidpn);
/* The paths that are tried first, with nothing pinned. NULL: out of memory. */
struct vidpn *modes_own_topology(struct modes *modes);
/* Does the path, whose modes are pinned, support this scaling? */
bool modes_scaling_fits(const struct vidpn *vidpn, const D3DKMDT_VIDPN_PRESENT_PATH *path,
                        D3DKMDT_VIDPN_PRESENT_PATH_SCALING scaling);
/* Do the rates differ by less than half a hertz, or is one not specified (VIDPN-154)? */
bool modes_rates_match(const D3DDDI_RATIONAL *a, const D3DDDI_RATIONAL *b);
/* Pixels a second, plus one. */
uint64_t modes_signal_load(const D3DKMDT_VIDEO_SIGNAL_INFO *signal);
/* Is the signal one that the monitor of the target takes (VIDPN-154)? */
bool modes_monitor_accepts(const struct modes *modes, const struct modes_target *target,
                           const D3DKMDT_VIDEO_SIGNAL_INFO *signal);

#endif
