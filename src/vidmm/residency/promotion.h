/* SPDX-License-Identifier: MIT */
/* Allocations that had to be content with a less preferred segment (RES-055). Lock held. */
#ifndef DXGK_VIDMM_PROMOTION_H
#define DXGK_VIDMM_PROMOTION_H

#include <stdbool.h>
#include <stdint.h>

struct paging_turn;
struct vidmm;
struct vidmm_allocation;

/* Move something to the segment it prefers, if space has appeared there. False: nothing to do. */
bool promotion_step(struct paging_turn *turn, struct vidmm *vidmm);

#endif
