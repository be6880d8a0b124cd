/* SPDX-License-Identifier: MIT */
/*
 * Making an allocation resident (giving it a place), and evicting it. Lock held, builder's fiber.
 * These functions append operations; the caller flushes.
 */
#ifndef DXGK_VIDMM_PLACEMENT_H
#define DXGK_VIDMM_PLACEMENT_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

struct paging_turn;
struct vidmm;
struct vidmm_allocation;

/* Make it resident, evicting others as needed. On failure it stays where it was. */
NTSTATUS placement_bring_in(struct paging_turn *turn, struct vidmm *vidmm,
                            struct vidmm_allocation *allocation);
NTSTATUS placement_move_out(struct paging_turn *turn, struct vidmm *vidmm,
                            struct vidmm_allocation *allocation, bool keep_content);
/* Make it resident in that segment of its set (an aperture: in system memory), whatever
 * has to be evicted. */
NTSTATUS placement_put(struct paging_turn *turn, struct vidmm_allocation *allocation, UINT segment);
/* The allocation is being destroyed: build operations that invalidate its entries and unmap its
 * aperture range, and free its place. Its pages are unmapped when the GPU is done, but remain the
 * allocation's. Cannot fail: if the driver or scheduler refuses, the adapter is lost. */
void placement_drop(struct vidmm_allocation *allocation);
/* The same after a reset: it loses its place; its entries are written when page
 * tables are rebuilt. */
void placement_purge(struct vidmm_allocation *allocation);

#endif
