/* SPDX-License-Identifier: MIT */
/*
 * What DxgkDdiBuildPagingBuffer of the probe was asked for, in order, and the calls of a client that lead to it.
 *
 *     paged_watch(p);                          before the start
 *     mark = paged.count; ... paged_count(DXGK_OPERATION_VIRTUAL_FILL, mark)
 *
 * Operations are copied when they are built; what they point to is not, but for the first entry of a page table and the first
 * page of an MDL.
 */
#ifndef DXGK_TESTS_PORT_PAGED_H
#define DXGK_TESTS_PORT_PAGED_H

#include "port/support/client.h"

#define PAGED_MIB  (1ull << 20)
#define PAGED_PAGE 4096ull

struct paged_op {
    DXGKARG_BUILDPAGINGBUFFER args; /* as passed */
    uint64_t order;                 /* of the call */
    uint64_t time;
    DXGK_PTE entry;  /* of UPDATE_PAGE_TABLE: the first */
    PFN_NUMBER page; /* of the MDL of a transfer or of an aperture mapping: the first */
    ULONG mdl_bytes;
};

#define PAGED_MAX 8192u

/* Of the adapter of the latest paged_watch. */
extern struct paged_record {
    struct paged_op op[PAGED_MAX];
    unsigned count;
    HANDLE system_process, process; /* the driver's; of the latest client */
    HANDLE system_context;
    HANDLE allocation; /* the driver's, the latest */
    /* for allocations that are created from now on; 0: as the probe answers */
    UINT segments, flags, preferred, eviction;
} paged;

void paged_watch(struct probe *p);

/* Operations of one kind from `from` on, and the n-th of them; NULL: there is none. */
unsigned paged_count(DXGK_BUILDPAGINGBUFFER_OPERATION kind, unsigned from);
const struct paged_op *paged_nth(DXGK_BUILDPAGINGBUFFER_OPERATION kind, unsigned from, unsigned n);
/* Index of the first operation from `from` on for which it is true; paged.count: none. */
unsigned paged_where(bool (*is)(const struct paged_op *op), unsigned from);

/* Virtual transfers or fills of one allocation of the driver. */
unsigned paged_moves(HANDLE allocation, DXGK_MEMORY_TRANSFER_DIRECTION direction, unsigned from);

/* ---- a client of WDDM 2.x ---- */

NTSTATUS paged_create(const struct probe_gpu *g, uint64_t bytes, D3DKMT_HANDLE *allocation);
/* The status of the call; *fence: the value, 0 if it has none. */
NTSTATUS paged_make_resident(const struct probe_gpu *g, D3DKMT_HANDLE allocation, uint64_t *fence);
NTSTATUS paged_evict(const struct probe_gpu *g, D3DKMT_HANDLE allocation);
NTSTATUS paged_wait(const struct probe_gpu *g, uint64_t fence);
/* Map pages at an address; 0: it failed. Returns when it is done. */
D3DGPU_VIRTUAL_ADDRESS paged_map(const struct probe_gpu *g, D3DKMT_HANDLE allocation, uint64_t base,
                                 uint64_t first_page, uint64_t pages);
NTSTATUS paged_unmap(const struct probe_gpu *g, D3DGPU_VIRTUAL_ADDRESS base, uint64_t bytes);
void *paged_lock(const struct probe_gpu *g, D3DKMT_HANDLE allocation); /* NULL: refused */
NTSTATUS paged_unlock(const struct probe_gpu *g, D3DKMT_HANDLE allocation);
D3DKMT_ALLOCATIONRESIDENCYSTATUS paged_residency(const struct probe_gpu *g,
                                                 D3DKMT_HANDLE allocation);

#endif
