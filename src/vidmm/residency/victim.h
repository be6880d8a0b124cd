/* SPDX-License-Identifier: MIT */
/* Who may lose memory: the orders that eviction follows. Lock held, builder's fiber. */
#ifndef DXGK_VIDMM_VICTIM_H
#define DXGK_VIDMM_VICTIM_H

#include <stdbool.h>

#include <ntddk.h>

struct paging_turn;
struct vidmm_allocation;
struct vidmm_device;

/* STATUS_SUCCESS if no GPU work of a client can use it now; else STATUS_RETRY, with a process to
 * suspend if that helps. */
NTSTATUS victim_need_idle(struct paging_turn *turn, struct vidmm_allocation *allocation);
/* The allocation's place, references or priority changed: keep it in the orders that eviction
 * follows. Never fails. */
void victim_update(struct vidmm_allocation *allocation);

/* No GPU work of the device is unfinished, or it is kept from running. */
bool victim_device_idle(struct vidmm_device *device);
/* No client's GPU work can touch it, and nothing else holds it where it is. `own`: the list of the
 * device that memory is sought for does not protect it. */
bool victim_movable(const struct paging_turn *turn, const struct vidmm_allocation *allocation,
                    bool own);

#endif
