/* SPDX-License-Identifier: MIT */
/* Allocations that leave their segment when the paging worker has no job. */
#ifndef DXGK_VIDMM_DEPARTURE_H
#define DXGK_VIDMM_DEPARTURE_H

struct vidmm_allocation;

/* The allocation is to leave; no longer. Lock held. */
void departure_add(struct vidmm_allocation *allocation);
void departure_cancel(struct vidmm_allocation *allocation);
/* What the worker does when it has no job: departures, then promotion. */
extern const struct paging_idle_work departure_idle_work;

#endif
