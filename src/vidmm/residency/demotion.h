/* SPDX-License-Identifier: MIT */
/* Allocations that had to be content with a less preferred segment: each memory segment lists those
 * that would rather be in it. Lock held. */
#ifndef DXGK_VIDMM_DEMOTION_H
#define DXGK_VIDMM_DEMOTION_H

struct vidmm_allocation;

/* It has a place; remember if there is a better one. */
void demotion_note(struct vidmm_allocation *allocation);

#endif
