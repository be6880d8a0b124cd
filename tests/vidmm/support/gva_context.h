/* SPDX-License-Identifier: MIT */
/* A context of the rig's device as the scheduler would hold it, and the driver's calls for its
 * context allocations. */
#ifndef DXGK_TESTS_VIDMM_GVA_CONTEXT_H
#define DXGK_TESTS_VIDMM_GVA_CONTEXT_H

#include "gva_rig.h"

#include "vidmm/context/context_allocation.h"

#define GVA_CONTEXT_DRIVER_NAME ((HANDLE)(uintptr_t)0xD1CE) /* hDriverAllocation */

struct gva_context {
    HANDLE device; /* made by the first open, unless it is another context's already */
    struct vidmm_context context;
};

void gva_context_open(struct gva_rig *rig, struct gva_context *client, bool virtual_addressing);
void gva_context_attach(struct gva_context *client);
void gva_context_close(struct gva_rig *rig, struct gva_context *client);

/* 5000 bytes in video memory; the test changes what it wants to be otherwise. */
DXGKARGCB_CREATECONTEXTALLOCATION gva_context_request(const struct gva_context *client);
NTSTATUS gva_context_create(struct gva_rig *rig, DXGKARGCB_CREATECONTEXTALLOCATION *args);
/* And waits until the paging that follows is done. */
NTSTATUS gva_context_destroy(struct gva_rig *rig, HANDLE handle);
struct vidmm_allocation *gva_context_allocation(struct gva_rig *rig, HANDLE handle);
/* The address, with driver protection 0x77; 0: refused. */
D3DGPU_VIRTUAL_ADDRESS gva_context_map(struct gva_rig *rig, HANDLE handle, uint64_t base,
                                       uint64_t offset, uint64_t pages, uint64_t protection);

#endif
