/* SPDX-License-Identifier: MIT */
/* Allocations that had to be content with a less preferred segment (RES-055). Lock held. */
#ifndef DXGK_VIDMM_PROMOTION_H
#define DXGK_VIDMM_PROMOTION_H

#include <stdbool.h>
#include <stdint.h>

struct vidmm;
struct vidmm_allocation;

/* Move something to the segment it prefers, if space has appeared there. False: nothing to do. */
bool promotion_step(struct vidmm *vidmm);

#endif
