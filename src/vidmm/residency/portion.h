/* SPDX-License-Identifier: MIT */
/* WDDM 1.x residency: what a portion of a DMA buffer needs in memory (RES-002, PATCH-116). A
 * portion is a part of a DMA buffer, cut such that its allocations fit in memory together; portions
 * are submitted one after another. For the scheduler. */
#ifndef DXGK_VIDMM_PORTION_H
#define DXGK_VIDMM_PORTION_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>
#include <d3dkmthk.h>

#include "util/list.h"

struct vidmm;
struct vidmm_device;

/* One element of a patch-location list. */
struct vidmm_need {
    D3DKMT_HANDLE allocation; /* 0: none */
    uint32_t split;           /* SplitOffset; not less than that of the previous element */
    bool write;               /* WriteOperation of its entry in the allocation list */
};

/* A portion of a DMA buffer: the elements from `need` on, as many as fit in memory
 * together. The owner zeroes it and sets the first group of members. The record must not
 * move until it is released. */
struct vidmm_portion {
    struct vidmm_device *device;
    const struct vidmm_need *need; /* its first element; must stay valid as long as the portion */
    uint32_t wanted;               /* how many elements it may have */
    uint32_t start;                /* its first byte in the DMA buffer: it cannot be cut there */
    bool fixed;                    /* the driver has seen it: it must not be cut any more */
    bool in_flight;                /* it was submitted: the GPU may use its memory */

    /* set by vidmm */
    uint32_t count; /* how many elements it has: once prepared, as many as fit */
    bool held;      /* it keeps its allocations on the residency list */
    /* it did not fit beside allocations that other portions keep (see `kept`) */
    bool waits_for_kept;
    struct list link;    /* device->portions while held */
    D3DKMT_HANDLE *kept; /* allocations bound by earlier portions, pinned until it has run */
    uint32_t kept_count;
};

/* True: everything that the portion needs is resident and ready, and `count` says how many elements
 * it has. False: a job was started; ask again after scheduler->device_resident. If not even what is
 * needed at its start fits, scheduler->device_error is called instead (PATCH-124). A device
 * prepares one portion at a time. On the scheduler's worker; passes no sim point. O(elements). */
bool vidmm_portion_prepare(struct vidmm_portion *portion);
/* Pin allocations that an earlier portion bound (which still holds them) until this portion is
 * released (PATCH-122). Takes ownership of `kept` (util_alloc). */
void vidmm_portion_keep(struct vidmm_portion *portion, D3DKMT_HANDLE *kept, uint32_t count);
/* It goes to the GPU, which writes to what its elements say (PATCH-076). On the scheduler's worker;
 * passes no sim point. */
void vidmm_portion_submitted(struct vidmm_portion *portion);
/* The portion was preempted and will be submitted again; a portion being prepared meanwhile is
 * planned anew. Any level up to DISPATCH. */
void vidmm_portion_returned(struct vidmm_portion *portion);
/* The portion has run, or never will. Any level up to DISPATCH; afterwards the
 * record may be freed. */
void vidmm_portion_release(struct vidmm_portion *portion);
/* Take off the residency lists of all devices what no portion holds. False: there was
 * nothing. Lock held. */
bool portion_unlist_all(struct vidmm *vidmm);

#endif
