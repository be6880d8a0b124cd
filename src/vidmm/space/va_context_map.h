/* SPDX-License-Identifier: MIT */
/* Mapping a context allocation in a GPU virtual address space, and reporting why it failed. */
#ifndef DXGK_VIDMM_VA_CONTEXT_MAP_H
#define DXGK_VIDMM_VA_CONTEXT_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

#include "vidmm/space/va_neighbour.h"

struct vidmm_allocation;
struct vidmm_process;

/* DxgkCbMapContextAllocation: like a client's map, but only over free addresses, and complete on
 * return. Lock held. */
struct va_context_map {
    struct vidmm_process *process;
    struct vidmm_allocation *allocation;
    const DXGKARGCB_MAPCONTEXTALLOCATION *args;
    D3DGPU_VIRTUAL_ADDRESS address; /* out */
    /* out, on failure */
    bool for_worker;           /* it needs paging: the same call in a job may succeed */
    bool conflict;             /* a mapping with a different unique driver protection exists */
    bool no_room;              /* no free addresses between the limits */
    struct va_neighbour taken; /* what is at BaseAddress; pages 0: nothing */
};
/* The arguments have been checked (context_allocation_map.c), except whether
 * BaseAddress is free. */
NTSTATUS va_map_context_allocation(struct va_context_map *map);
/* Undo it, freeing the addresses. Builder's fiber. */
void va_unmap_context_allocation(const struct va_context_map *map);

#endif
