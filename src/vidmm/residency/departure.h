/* SPDX-License-Identifier: MIT */
/* Departures: allocations that a client evicted, and that the paging worker moves out of their
 * segment when it has no job. */
#ifndef DXGK_VIDMM_DEPARTURE_H
#define DXGK_VIDMM_DEPARTURE_H

struct vidmm_allocation;

/* A use has ended: if the client has evicted the allocation and nothing else uses it, request that
 * it be moved out; and cancel that. Lock held. */
void departure_consider(struct vidmm_allocation *allocation);
void departure_cancel(struct vidmm_allocation *allocation);
/* The worker's background work: departures, then promotion. */
extern const struct paging_idle_work departure_idle_work;

#endif
