/* SPDX-License-Identifier: MIT */
/* Placing all allocations of a device's list again. */
#ifndef DXGK_VIDMM_REPACK_H
#define DXGK_VIDMM_REPACK_H

#include <ntddk.h>

struct paging_turn;
struct vidmm_allocation;
struct vidmm_device;

/* Make an allocation of the device's list resident, as placement_bring_in. The list fits the
 * segments by its charges (budget.h); if it does not fit because of fragmentation, the whole list
 * is evicted and placed again. */
NTSTATUS repack_bring_in(struct paging_turn *turn, struct vidmm_device *device,
                         struct vidmm_allocation *allocation);

#endif
