/* SPDX-License-Identifier: MIT */
/* VidPNs that the driver proposes (VIDPN-159 to VIDPN-163). Called by the display worker. */
#ifndef DXGK_MODES_RECOMMEND_H
#define DXGK_MODES_RECOMMEND_H

#include <ntddk.h>
#include <dispmprt.h>

struct modes;

/* Ask the driver for one, and commit it. A proposal that cannot be used is dropped, and the host
 * chooses; without one, all stays as it is. */
NTSTATUS modes_recommend(struct modes *modes, DXGK_RECOMMENDFUNCTIONALVIDPN_REASON reason);

#endif
