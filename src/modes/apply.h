/* SPDX-License-Identifier: MIT */
/*
 * Choosing and committing in one: what a driver refuses in DxgkDdiCommitVidPn is remembered while
 * others are tried (VIDPN-184).
 */
#ifndef DXGK_MODES_APPLY_H
#define DXGK_MODES_APPLY_H

#include "modes/choose.h"
#include "modes/commit.h"

struct modes;
struct vidpn;

/* Choose what is not pinned in *vidpn, and commit that; the next choice if the driver refuses it.
 * *vidpn is the caller's no more. */
NTSTATUS modes_apply(struct modes *modes, struct vidpn *vidpn, const struct modes_wish *wish,
                     enum commit_how how);
/* The same for the best topology of the monitors that are there. */
NTSTATUS modes_apply_all(struct modes *modes, enum commit_how how);

#endif
