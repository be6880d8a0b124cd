/* SPDX-License-Identifier: MIT */
/* Demotion: an allocation is placed in a segment that it prefers less. Each memory segment has a
 * list of the allocations that would rather be there. Lock held. */
#ifndef DXGK_VIDMM_DEMOTION_H
#define DXGK_VIDMM_DEMOTION_H

struct vidmm_allocation;

/* The allocation was placed: if it prefers another segment, add it to that segment's list. */
void demotion_note(struct vidmm_allocation *allocation);

#endif
