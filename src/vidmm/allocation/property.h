/* SPDX-License-Identifier: MIT */
/* Changing where an allocation may be, while it lives (ALLOC-108 to ALLOC-111). */
#ifndef DXGK_VIDMM_PROPERTY_H
#define DXGK_VIDMM_PROPERTY_H

#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>
#include <d3dkmthk.h>

struct vidmm_paging_queue;

/* Applies the selected properties. STATUS_PENDING: the allocation has to move, and has when the
 * queue's progress function gets *fence. STATUS_NO_MEMORY: there is no room where it would have to
 * be, and nothing has changed. */
NTSTATUS vidmm_update_property(struct vidmm_paging_queue *queue,
                               const D3DDDI_UPDATEALLOCPROPERTY *args, uint64_t *fence);

#endif
