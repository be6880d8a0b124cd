/* SPDX-License-Identifier: MIT */
/* The three questions that a driver is asked about a VidPN, each of which sees a VidPN of its own
 * (VIDPN-126 to VIDPN-146), and the capabilities of a committed one. */
#ifndef DXGK_MODES_ENUMERATE_H
#define DXGK_MODES_ENUMERATE_H

#include <stdbool.h>

#include <ntddk.h>
#include <dispmprt.h>

struct modes;
struct vidpn;

/* DxgkDdiIsSupportedVidPn. STATUS_GRAPHICS_INVALID_VIDPN: it is not; STATUS_NO_MEMORY: the host has
 * no memory to ask, or had none while the driver looked. */
NTSTATUS modes_ask_supported(struct modes *modes, struct vidpn *vidpn);

/* The pivot of an enumeration; `type` D3DKMDT_EPT_NOPIVOT: none. */
struct modes_pivot {
    D3DKMDT_ENUMCOFUNCMODALITY_PIVOT_TYPE type;
    UINT source, target;
};

/* DxgkDdiEnumVidPnCofuncModality on a copy, which takes the place of *vidpn if the driver succeeds
 * and every set of the topology has a mode. An error leaves *vidpn as it is; STATUS_NO_MEMORY may
 * be the host's own. */
NTSTATUS modes_enumerate(struct modes *modes, struct vidpn **vidpn, const struct modes_pivot *pivot);

/* DxgkDdiQueryVidPnHWCapability for each path from the source (VIDPN-200). */
void modes_ask_capabilities(struct modes *modes, struct vidpn *vidpn, UINT source);

#endif
