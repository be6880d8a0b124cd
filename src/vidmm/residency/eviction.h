/* SPDX-License-Identifier: MIT */
/* Whose memory is taken when a segment is full. Lock held, builder's fiber. The rules
 * in eviction.c. */
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

/* Make room by evicting; STATUS_NO_MEMORY when nothing more can go, STATUS_RETRY when it may later.
 * On success the caller tries again, and comes back if the hole does not suit. */
NTSTATUS eviction_make_room(struct paging_turn *turn, struct vidmm *vidmm,
                            const struct room_request *room);
/* Make room for the newcomer in the reckoning of its device's list, by moving less important
 * members of the list to other segments. STATUS_NO_MEMORY: no (more) such. */
NTSTATUS eviction_make_way(struct paging_turn *turn, const struct vidmm_allocation *newcomer,
                           UINT segment);
/* Evict from a segment whatever may go. */
NTSTATUS eviction_clear(struct paging_turn *turn, struct vidmm *vidmm, UINT segment);

/* Both, for those who need room and are below: placement, page tables. */
extern const struct room_maker eviction_room_maker;

#endif
