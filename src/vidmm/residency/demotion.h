/* SPDX-License-Identifier: MIT */
/* Demotion: an allocation is placed in a segment that it prefers less. Each memory segment has a
 * list of the allocations that would rather be there. Lock held. */
#ifndef DXGK_VIDMM_DEMOTION_H
#define DXGK_VIDMM_DEMOTION_H

struct vidmm_allocation;
struct vidmm_segment;

/* The allocation was placed: if it prefers another segment, add it to that segment's list. */
void demotion_note(struct vidmm_allocation *allocation);
/* The allocation was moved out of the segment, so that others could be moved together there. It
 * returns when there is room. */
void demotion_displaced(struct vidmm_allocation *allocation, struct vidmm_segment *segment);

#endif
