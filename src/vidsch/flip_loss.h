/* SPDX-License-Identifier: MIT */
/* Flips that no vertical sync completes, or whose mode is over, for the room that shows them. */
#ifndef DXGK_VIDSCH_FLIP_LOSS_H
#define DXGK_VIDSCH_FLIP_LOSS_H

#include <stdbool.h>

#include <ntddk.h>

struct vidsch;

/* A flip of the source is lost (PRES-256): reset the adapter soon. False: TdrLevel or TdrDebugMode
 * keeps it from being reset. */
bool vidsch_flip_lost(struct vidsch *vidsch, UINT source);
/* The mode of the source changes before the GPU has made all flips that it is to make: when their
 * turn comes, their packets end without being submitted, and their devices are in error
 * (PRES-338). */
void vidsch_flips_over(struct vidsch *vidsch, UINT source);

#endif
