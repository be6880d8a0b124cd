/* SPDX-License-Identifier: MIT */
/* Questions about segments that several files of vidmm ask. */
#ifndef DXGK_VIDMM_SEGMENT_H
#define DXGK_VIDMM_SEGMENT_H

#include "vidmm/vidmm_private.h"

static inline UINT segment_bit(UINT id)
{
    return 1u << (id - 1);
}

/* The CPU reaches every byte of it at a fixed address. */
static inline bool segment_cpu_visible(const struct vidmm_segment *segment)
{
    return !segment_is_aperture(segment) && segment->flags.CpuVisible;
}

/* The id, for id + 1, of bits that name no segment of the adapter. */
static inline UINT segment_set_unknown(const struct vidmm *vidmm, UINT set)
{
    return vidmm->segment_count >= 32 ? 0 : set & ~((1u << vidmm->segment_count) - 1);
}

/* Budget group that residency there counts for (SEG-067, SEG-068); id 0: system memory. */
D3DKMT_MEMORY_SEGMENT_GROUP segment_group(const struct vidmm *vidmm, UINT id);
/* Bytes that budgets of a group are computed from; 0: the group has no limit. */
uint64_t segment_group_bytes(const struct vidmm *vidmm, D3DKMT_MEMORY_SEGMENT_GROUP group);

/* Segments to try for an allocation, best first: preferred ones in order, then the rest of the set
 * by ascending id (RES-051). Returns how many; `down` bit n: search the n-th from its end. */
unsigned segment_order(const struct vidmm_allocation *allocation, UINT order[VIDMM_MAX_SEGMENTS],
                       UINT *down);

#endif
