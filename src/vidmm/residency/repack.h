/* SPDX-License-Identifier: MIT */
/* Placing the whole list of a device anew. */
#ifndef DXGK_VIDMM_REPACK_H
#define DXGK_VIDMM_REPACK_H

#include <ntddk.h>

struct paging_turn;
struct vidmm_allocation;
struct vidmm_device;

/* placement_bring_in for the list of a device, which fits by the reckoning of budget.c:
 * where it does not because of how its members lie, all of them are placed anew. */
NTSTATUS repack_bring_in(struct paging_turn *turn, struct vidmm_device *device,
                         struct vidmm_allocation *allocation);

#endif
