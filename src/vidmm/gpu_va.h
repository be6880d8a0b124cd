/* SPDX-License-Identifier: MIT */
/* What gpu_va.c offers to the other files of vidmm. */
#ifndef DXGK_VIDMM_GPU_VA_H
#define DXGK_VIDMM_GPU_VA_H

#include "vidmm/address_space.h"

/* What lies in the first taken page of a range that was wanted. */
struct va_neighbour {
    enum range_kind kind;
    uint64_t first, pages; /* of the whole range */
    uint64_t bytes;        /* of the allocation mapped in that page; 0: none */
};
/* False: nothing there. Lock held. */
bool va_neighbour_at(const struct vidmm_space *space, uint64_t first, uint64_t pages,
                     struct va_neighbour *out);
/* "a reservation of the client, 0x40000000 to 0x4000ffff". */
struct va_neighbour_text {
    char text[128];
};
struct va_neighbour_text va_neighbour_describe(const struct va_neighbour *neighbour);

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
