/* SPDX-License-Identifier: MIT */
/*
 * Bringing an allocation to a place and taking it away. Lock held, builder's fiber; operations are
 * appended, the caller flushes.
 */
#ifndef DXGK_VIDMM_PLACEMENT_H
#define DXGK_VIDMM_PLACEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

struct paging_turn;
struct vidmm;
struct vidmm_allocation;

/* Bring in, evicting others as needed. On failure it is where it was. */
NTSTATUS placement_bring_in(struct paging_turn *turn, struct vidmm *vidmm,
                            struct vidmm_allocation *allocation);
NTSTATUS placement_move_out(struct paging_turn *turn, struct vidmm *vidmm,
                            struct vidmm_allocation *allocation, bool keep_content);
/* Bring in to that segment of its set (system memory: the aperture), whatever it takes. */
NTSTATUS placement_put(struct paging_turn *turn, struct vidmm_allocation *allocation, UINT segment);
/* The allocation goes for good: entries, aperture range and space (operations are appended); pages
 * are unmapped when the GPU is done, and stay the allocation's. Never fails: if the driver or
 * scheduler refuses, the adapter is lost. */
void placement_drop(struct vidmm_allocation *allocation);
/* The same after a reset: it loses its place, entries are left to a rebuild. */
void placement_purge(struct vidmm_allocation *allocation);

#endif
