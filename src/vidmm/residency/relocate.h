/* SPDX-License-Identifier: MIT */
/* Moving an allocation within its segment. */
#ifndef DXGK_VIDMM_RELOCATE_H
#define DXGK_VIDMM_RELOCATE_H

#include <stdint.h>

#include <ntddk.h>

struct paging_turn;
struct vidmm_allocation;

/* Copy it to another place in its memory segment, outside pages [hole, hole + pages).
 * STATUS_NO_MEMORY: no room there. */
NTSTATUS relocate_in_segment(struct paging_turn *turn, struct vidmm_allocation *allocation,
                             uint64_t hole, uint64_t pages);

#endif
