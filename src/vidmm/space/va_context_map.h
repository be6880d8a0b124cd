/* SPDX-License-Identifier: MIT */
/* GPU virtual addresses for a context allocation, and why there were none. */
#ifndef DXGK_VIDMM_VA_CONTEXT_MAP_H
#define DXGK_VIDMM_VA_CONTEXT_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

#include "vidmm/space/va_neighbour.h"

struct vidmm_allocation;
struct vidmm_process;

/* DxgkCbMapContextAllocation: as a client's map, but over nothing that exists, and at once in
 * force. Lock held. */
struct va_context_map {
    struct vidmm_process *process;
    struct vidmm_allocation *allocation;
    const DXGKARGCB_MAPCONTEXTALLOCATION *args;
    D3DGPU_VIRTUAL_ADDRESS address; /* out */
    /* out, on failure */
    bool for_worker;           /* it takes paging: the same call in a job may do it */
    bool conflict;             /* with another mapping's unique driver protection */
    bool no_room;              /* in the window */
    struct va_neighbour taken; /* at BaseAddress; pages 0: nothing */
};
/* The arguments are checked (context_allocation_map.c), but for BaseAddress being free. */
NTSTATUS va_map_context_allocation(struct va_context_map *map);
/* Undo it: its addresses are free. Builder's fiber. */
void va_unmap_context_allocation(const struct va_context_map *map);

#endif
