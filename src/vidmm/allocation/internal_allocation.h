/* SPDX-License-Identifier: MIT */
/* The host's own memory that is placed like an allocation: what context allocations are made of. */
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
    DXGK_ALLOCATIONINFOFLAGS_WDDM2_0 flags;
};
/* Not resident yet: raise `pins` and placement_bring_in in a job. Checks nothing but that the size
 * fits a segment of the set. */
NTSTATUS allocation_create_internal(struct vidmm *vidmm, const struct allocation_request *request,
                                    struct vidmm_allocation **allocation);
/* Builder's fiber. The GPU no longer uses it; mappings are freed (space_allocation_destroyed),
 * pages and the object go when operations built before are done. */
void allocation_destroy_internal(struct vidmm_allocation *allocation);

#endif
