/* SPDX-License-Identifier: MIT */
/* Eviction: freeing memory in a full segment. Lock held, builder's fiber.
 * eviction.c has the rules. */
#ifndef DXGK_VIDMM_EVICTION_H
#define DXGK_VIDMM_EVICTION_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

struct paging_turn;
struct room_request;
struct vidmm;
struct vidmm_allocation;
struct vidmm_device;

/* Free memory by evicting. STATUS_NO_MEMORY: nothing more can be evicted; STATUS_RETRY:
 * not now, but perhaps later. On success the caller tries to allocate again, and calls
 * again if that fails. */
NTSTATUS eviction_make_room(struct paging_turn *turn, struct vidmm *vidmm,
                            const struct room_request *room);
/* Ensure that the newcomer (the allocation to be placed) can be charged to the segment, by moving
 * less important allocations of the same device's list to other segments. STATUS_NO_MEMORY: there
 * is none (left) to move. */
NTSTATUS eviction_make_way(struct paging_turn *turn, const struct vidmm_allocation *newcomer,
                           UINT segment);
/* Evict everything from a segment that may be evicted. */
NTSTATUS eviction_clear(struct paging_turn *turn, struct vidmm *vidmm, UINT segment);

/* The first two, for lower sub-rooms that need memory: placement, page tables. */
extern const struct room_maker eviction_room_maker;

#endif
