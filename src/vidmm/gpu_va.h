/* SPDX-License-Identifier: MIT */
/* What gpu_va.c offers to the other files of vidmm. */
#ifndef DXGK_VIDMM_GPU_VA_H
#define DXGK_VIDMM_GPU_VA_H

#include "vidmm/address_space.h"

/* DxgkCbMapContextAllocation: as a client's map, but over nothing that exists, and at once in
 * force. Lock not held. */
struct va_context_map {
    struct vidmm_process *process;
    struct vidmm_allocation *allocation;
    const DXGKARGCB_MAPCONTEXTALLOCATION *args;
    D3DGPU_VIRTUAL_ADDRESS address; /* out */
};
NTSTATUS va_map_context_allocation(struct va_context_map *map);

#endif
