/* SPDX-License-Identifier: MIT */
/* Did the driver do anything for a FLUSH_TLB? While page tables are checked. Lock held. */
#ifndef DXGK_VIDMM_FLUSH_EFFECT_H
#define DXGK_VIDMM_FLUSH_EFFECT_H

#include <stdint.h>

struct vidmm_space;

struct flush_effect {
    uint64_t bytes;   /* that were written to paging buffers */
    uint64_t touches; /* register accesses that reached the device */
};

/* Before the operation is built. */
struct flush_effect flush_effect_before(const struct vidmm_space *space);
/* After it: a warning (GPUVA-262) if there were no more of either. */
void flush_effect_check(const struct vidmm_space *space, const struct flush_effect *before,
                        uint64_t number, uint64_t first, uint64_t count);

#endif
