/* SPDX-License-Identifier: MIT */
/* Taking and giving room in segments, and questions about them. Lock held. */
#ifndef DXGK_VIDMM_SEGMENT_H
#define DXGK_VIDMM_SEGMENT_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>
#include <d3dkmthk.h>

#include "vidmm/record/segment_record.h"
#include "vidmm/record/vidmm_record.h"

struct segment_addr;
struct vidmm;
struct vidmm_allocation;
struct vidmm_run;

/* Place `pages` pages: contiguous if asked, else as few runs as can be. STATUS_NO_MEMORY: no room
 * (evict and retry). Space given back may still be read or written by operations built earlier;
 * operations built later come after them, but who writes it with the CPU waits for the ticket of a
 * flush first. */
NTSTATUS segment_take(struct vidmm_segment *segment, uint64_t pages, uint64_t align_bytes,
                      bool contiguous, bool from_end, struct vidmm_run **runs, uint32_t *run_count);
void segment_give(struct vidmm *vidmm, const struct vidmm_run *runs, uint32_t run_count);
/* What `pages` take there: whole pages of the segment's own size. */
uint64_t segment_pages(const struct vidmm_segment *segment, uint64_t pages);
/* One contiguous range for the host's own use (page tables, pinned), evicting if it must and runs
 * on the worker (or while there is none); another thread gets STATUS_NO_MEMORY instead.
 * STATUS_RETRY as above. Given back by segment_give_pinned. */
NTSTATUS segment_take_pinned(struct vidmm *vidmm, UINT segment, uint64_t pages,
                             uint64_t align_bytes, struct vidmm_run *run);
void segment_give_pinned(struct vidmm *vidmm, const struct vidmm_run *run);
/* Host address of bytes of a CpuVisible memory segment; NULL: the CPU cannot reach it. Contiguous
 * over the segment. */
void *segment_cpu(const struct vidmm *vidmm, UINT segment, struct segment_addr at);

/* Bytes can still be mapped through an aperture (SEG-033, SEG-035). */
bool segment_aperture_commits(const struct vidmm *vidmm, const struct vidmm_segment *segment,
                              uint64_t bytes);
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
