/* SPDX-License-Identifier: MIT */
/* Whose memory is taken when a segment is full. Lock held, builder's fiber. The rules in eviction.c. */
#ifndef DXGK_VIDMM_EVICTION_H
#define DXGK_VIDMM_EVICTION_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

struct room_request;
struct vidmm;
struct vidmm_allocation;
struct vidmm_device;

/* Make room by evicting; STATUS_NO_MEMORY when nothing more can go, STATUS_RETRY when it may later.
 * On success the caller tries again, and comes back if the hole does not suit. */
NTSTATUS residency_make_room(struct vidmm *vidmm, const struct room_request *room);
/* STATUS_SUCCESS if no GPU work of a client can use it now; else STATUS_RETRY, with a process to
 * suspend if that helps. */
NTSTATUS eviction_need_idle(struct vidmm_allocation *allocation);
/* The allocation's place, references or priority changed: keep it in the orders that eviction
 * follows. Never fails. */
void eviction_update(struct vidmm_allocation *allocation);

/* No GPU work of the device is unfinished, or it is kept from running. */
bool eviction_device_idle(struct vidmm_device *device);
/* No client's GPU work can touch it, and nothing else holds it where it is. `own`: the list of the
 * device that memory is sought for does not protect it. */
bool eviction_movable(const struct vidmm_allocation *allocation, bool own);
/* Have room for the newcomer in the reckoning of its device's list, by moving less important
 * members of the list to other segments. STATUS_NO_MEMORY: no (more) such. */
NTSTATUS eviction_make_way(const struct vidmm_allocation *newcomer, UINT segment);
/* Evict from a segment whatever may go. */
NTSTATUS eviction_clear(struct vidmm *vidmm, UINT segment);

#endif
