/* SPDX-License-Identifier: MIT */
/* Offering and reclaiming allocations, setting their priorities, and querying residency. */
#ifndef DXGK_VIDMM_OFFER_H
#define DXGK_VIDMM_OFFER_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>
#include <d3dkmthk.h>

struct vidmm_allocation;
struct vidmm_device;
struct vidmm_open;
struct vidmm_paging_queue;

/* Each function takes resources or allocations; the other list is NULL. (The last three take one
 * resource with count 0, or a list.) Statuses are those of RES-062 to RES-074, ALLOC-142, KMT-278
 * and KMT-279; the caller checks the rest of the arguments. `results` (may be NULL): one per
 * element. vidmm_reclaim: STATUS_PENDING with *fence != 0, or STATUS_SUCCESS. */
NTSTATUS vidmm_offer(struct vidmm_device *device, const D3DKMT_HANDLE *resources,
                     const D3DKMT_HANDLE *list, UINT count, D3DKMT_OFFER_PRIORITY priority,
                     D3DKMT_OFFER_FLAGS flags);
NTSTATUS vidmm_reclaim(struct vidmm_paging_queue *queue, const D3DKMT_HANDLE *resources,
                       const D3DKMT_HANDLE *list, UINT count, D3DDDI_RECLAIM_RESULT *results,
                       uint64_t *fence);
/* The same without a queue: nothing is paged in before a submission needs it (RES-068). */
NTSTATUS vidmm_reclaim_later(struct vidmm_device *device, const D3DKMT_HANDLE *resources,
                             const D3DKMT_HANDLE *list, UINT count, D3DDDI_RECLAIM_RESULT *results);
NTSTATUS vidmm_set_priority(struct vidmm_device *device, D3DKMT_HANDLE resource,
                            const D3DKMT_HANDLE *list, UINT count, const UINT *priorities);
NTSTATUS vidmm_get_priority(struct vidmm_device *device, D3DKMT_HANDLE resource,
                            const D3DKMT_HANDLE *list, UINT count, UINT *priorities);
NTSTATUS vidmm_query_residency(struct vidmm_device *device, D3DKMT_HANDLE resource,
                               const D3DKMT_HANDLE *list, UINT count,
                               D3DKMT_ALLOCATIONRESIDENCYSTATUS *states);
/* `open` is being closed: its offer ends. Lock held. */
void offer_forget(struct vidmm_open *open);
/* An open was added to those of the allocation or removed: an offer takes effect only while all
 * that are left have made it (KMT-285). Lock held. */
void offer_opens_changed(struct vidmm_allocation *allocation);

#endif
