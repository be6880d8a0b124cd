/* SPDX-License-Identifier: MIT */
/* The host's own memory that is placed like an allocation: context allocations use it. */
#ifndef DXGK_VIDMM_INTERNAL_ALLOCATION_H
#define DXGK_VIDMM_INTERNAL_ALLOCATION_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

struct vidmm;
struct vidmm_allocation;

struct allocation_request {
    HANDLE driver_handle;
    uint64_t bytes, alignment;
    UINT supported_set, preferred[5], eviction_set, priority;
    UINT preferred_down; /* bit n: preferred[n] is searched from its end */
    DXGK_ALLOCATIONINFOFLAGS_WDDM2_0 flags;
};
/* It is not resident yet: increment `pins` and call placement_bring_in in a job. The only check is
 * that the size fits a segment of the set. */
NTSTATUS allocation_create_internal(struct vidmm *vidmm, const struct allocation_request *request,
                                    struct vidmm_allocation **allocation);
/* The GPU must no longer use it. Its mappings are freed (space_allocation_destroyed); pages and
 * record are freed when the operations built so far are done. Builder's fiber. */
void allocation_destroy_internal(struct vidmm_allocation *allocation);

#endif
