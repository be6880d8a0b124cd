/* SPDX-License-Identifier: MIT */
/* WDDM 1.x: what a portion of a DMA buffer needs in memory (RES-002, PATCH-116). For the
 * scheduler. */
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
    uint32_t split;           /* SplitOffset; never less than that of the element before */
};

/* A portion of a DMA buffer: the elements from its first one on, as many as fit memory together.
 * Zeroed by its owner, who sets the first group. The record stays in place until it is released. */
struct vidmm_portion {
    struct vidmm_device *device;
    const struct vidmm_need *need; /* its first element; outlives the portion */
    uint32_t wanted;               /* elements that it may have */
    uint32_t start;                /* byte of the DMA buffer: a cut there would leave nothing */
    bool fixed;                    /* the driver knows it: no element may be left out any more */
    bool in_flight;                /* the GPU may use its memory */

    /* vidmm's */
    uint32_t count;      /* elements that it has: once prepared, all that fit */
    bool held;           /* its allocations are on the residency list for it */
    bool waits_for_kept; /* it did not fit beside what others keep in place */
    struct list link;    /* device->portions while held */
    D3DKMT_HANDLE *kept; /* bound before its start, and not to move until it has run */
    uint32_t kept_count;
};

/* Everything the portion needs is where the GPU can use it: true, and `count` says how far the
 * portion goes. False: that is being seen to; scheduler->device_resident tells when to ask again,
 * or scheduler->device_error that not even what is needed at its start fits (PATCH-124). One
 * portion of a device is prepared at a time. Scheduler's worker; makes no point. O(elements). */
bool vidmm_portion_prepare(struct vidmm_portion *portion);
/* Memory that an earlier portion bound stays where it is until this one is released (PATCH-122);
 * that portion is still held. Uses `kept` (util_alloc) up. */
void vidmm_portion_keep(struct vidmm_portion *portion, D3DKMT_HANDLE *kept, uint32_t count);
/* It is not with the GPU any more, but will be again: what was planned beside it is planned anew.
 * Any level up to DISPATCH. */
void vidmm_portion_returned(struct vidmm_portion *portion);
/* It has run, or never will. Any level up to DISPATCH; the record may go then. */
void vidmm_portion_release(struct vidmm_portion *portion);
/* What no portion needs leaves the residency lists of all devices. False: there was nothing. Lock
 * held. */
bool portion_unlist_all(struct vidmm *vidmm);

#endif
