/* SPDX-License-Identifier: MIT */
/* WDDM 1.x: an allocation that locks with Discard have given further instances (renaming.c). */
#ifndef DXGK_VIDMM_RENAMING_RECORD_H
#define DXGK_VIDMM_RENAMING_RECORD_H

#include <ntddk.h>
#include <stdint.h>

#include "util/list.h"

/* All instances of one allocation. It ends with the last of them. */
struct vidmm_renaming {
    struct list instances; /* vidmm_open.instance_link, in order of creation: first the original */
    UINT count;
    uint64_t newest; /* number that the latest lock with Discard has given out */
    uint64_t used;   /* highest number of an instance that a submission uses */
    uint64_t walk;   /* the same while a submission is checked */
};

#endif
