/* SPDX-License-Identifier: MIT */
/* VidPNs and topologies that the driver proposes (VIDPN-159 to VIDPN-166). Called by the display
 * worker. */
#ifndef DXGK_MODES_RECOMMEND_H
#define DXGK_MODES_RECOMMEND_H

#include <ntddk.h>
#include <dispmprt.h>

struct modes;

/* Why it is asked; the data is that of a client. */
struct modes_reason {
    DXGK_RECOMMENDFUNCTIONALVIDPN_REASON reason;
    void *data;
    UINT bytes;
};

/* Ask the driver for one, and commit it. A proposal that cannot be used is dropped, and the host
 * chooses; without one, all stays as it is. */
NTSTATUS modes_recommend(struct modes *modes, const struct modes_reason *reason);
/* Ask a driver of WDDM 1.0 for the paths at the start, and choose modes for them. Success, too, if
 * it proposes none that can be used: the host chooses then. */
NTSTATUS modes_recommend_topology(struct modes *modes);

#endif
