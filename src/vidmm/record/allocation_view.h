/* SPDX-License-Identifier: MIT */
/* How the CPU sees an allocation while it is locked; part of its record (allocation_record.h). */
#ifndef DXGK_VIDMM_ALLOCATION_VIEW_H
#define DXGK_VIDMM_ALLOCATION_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

#include "vidmm/record/host_mapping.h"

/* Its swizzling range (WDDM 1.x): where the driver shows it to the CPU. */
struct view_range {
    UINT number; /* RangeId + 1; 0: it has none */
    unsigned bar;
    uint64_t page; /* of the BAR */
};

/* WDDM 1.x, the flag Swizzled: its content has an order of the GPU's in memory segments. */
struct allocation_order {
    bool swizzles; /* it has that flag */
    bool swizzled; /* the content is in that order now, wherever it is */
    bool passing;  /* on its way through a memory segment, only to be put in linear order */
};

/* The CPU mapping, from the first lock to the last unlock. */
struct allocation_view {
    bool elsewhere; /* a primary that the driver keeps for itself: no locks (PRES-079) */
    void *address;
    uint32_t lock_count;
    bool locking;       /* a thread is creating it */
    bool unmapped;      /* nothing is behind `address`: it could not be mapped after a move */
    bool lost;          /* a reset took what `address` showed; pages of its own are behind it */
    void *fingerprints; /* hash of each page while the GPU copies the content */
    struct host_mapping window;    /* of its memory segment's CPU host aperture */
    struct view_range range;       /* may stay after the last unlock */
    bool through_range;            /* `address` shows the range */
    uint32_t wants_range;          /* locks that are about to acquire one */
    struct allocation_order order; /* of the content */
    bool kept_out; /* of memory segments, until the last unlock: no range was left */
};

#endif
