/* SPDX-License-Identifier: MIT */
/* Promotion: moving an allocation to the segment it prefers, when there is room again
 * (RES-055). Lock held. */
#ifndef DXGK_VIDMM_PROMOTION_H
#define DXGK_VIDMM_PROMOTION_H

#include <stdbool.h>
#include <stdint.h>

struct paging_turn;
struct vidmm;
struct vidmm_allocation;

/* Move one allocation, if room has appeared in the segment it prefers. False: there
 * was nothing to move. */
bool promotion_step(struct paging_turn *turn, struct vidmm *vidmm);

#endif
