/* SPDX-License-Identifier: MIT */
/* Allocating and freeing memory in segments, and questions about them. Lock held. */
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
struct vidmm_space;

/* Allocate `pages` pages: in one run if `contiguous`, else in as few runs as possible.
 * STATUS_NO_MEMORY: no room (evict and retry). Operations built earlier may still access memory
 * that has been freed. Operations built later run after them; before the CPU writes there, wait for
 * the ticket of a flush. */
NTSTATUS segment_take(struct vidmm_segment *segment, uint64_t pages, uint64_t align_bytes,
                      bool contiguous, bool from_end, struct vidmm_run **runs, uint32_t *run_count);
/* The same of one run that lies in pages [low, high); high 0: up to the end. */
NTSTATUS segment_take_within(struct vidmm_segment *segment, uint64_t pages, uint64_t align_bytes,
                             uint64_t low, uint64_t high, bool from_end, struct vidmm_run **run);
void segment_give(struct vidmm *vidmm, const struct vidmm_run *runs, uint32_t run_count);
/* `pages`, rounded up to the segment's own page size. */
uint64_t segment_pages(const struct vidmm_segment *segment, uint64_t pages);
/* Allocate one contiguous, pinned range for the host's own use (page tables). Evicts if necessary,
 * but only on the worker (or while there is no worker); other threads get STATUS_NO_MEMORY.
 * STATUS_RETRY: see paging_worker.h. Freed by segment_give_pinned. */
NTSTATUS segment_take_pinned(struct vidmm *vidmm, UINT segment, uint64_t pages,
                             uint64_t align_bytes, struct vidmm_run *run);
void segment_give_pinned(struct vidmm *vidmm, const struct vidmm_run *run);
/* The same for a page table of the space, which may itself be evicted. No other table of that space
 * is evicted for it. */
NTSTATUS segment_take_table(struct vidmm *vidmm, UINT segment, uint64_t pages, uint64_t align_bytes,
                            const struct vidmm_space *space, struct vidmm_run *run);
/* The same in free pages beside [hole, hole + hole_pages); nothing is evicted. */
NTSTATUS segment_take_table_beside(struct vidmm *vidmm, UINT segment, uint64_t pages,
                                   uint64_t align_bytes, uint64_t hole, uint64_t hole_pages,
                                   struct vidmm_run *run);
void segment_give_table(struct vidmm *vidmm, const struct vidmm_run *run);
/* Page tables that could be evicted stay from now on. */
void segment_pin_table(struct vidmm *vidmm, const struct vidmm_run *run);
/* Host address of a place in a CpuVisible memory segment; the addresses of one segment are
 * contiguous. NULL: the CPU cannot access it. */
void *segment_cpu(const struct vidmm *vidmm, UINT segment, struct segment_addr at);

/* May `bytes` more be mapped through this aperture (SEG-033, SEG-035)? */
bool segment_aperture_commits(const struct vidmm *vidmm, const struct vidmm_segment *segment,
                              uint64_t bytes);
/* The bits of `set` (bit n: segment n + 1) that name no segment of the adapter. */
static inline UINT segment_set_unknown(const struct vidmm *vidmm, UINT set)
{
    return vidmm->segment_count >= 32 ? 0 : set & ~((1u << vidmm->segment_count) - 1);
}

/* The number that system memory has inside the memory manager: one more than there are segments
 * (SEG-063). Drivers of adapters with GPU virtual addresses put it into segment sets, too. 0: it
 * has none. */
UINT segment_implicit(const struct vidmm *vidmm);

/* The budget group to which residency in the segment counts (SEG-067, SEG-068); id
 * 0: system memory. */
D3DKMT_MEMORY_SEGMENT_GROUP segment_group(const struct vidmm *vidmm, UINT id);
/* The size from which budgets of the group are computed; 0: the group has no limit. */
uint64_t segment_group_bytes(const struct vidmm *vidmm, D3DKMT_MEMORY_SEGMENT_GROUP group);

/* The segments to try for an allocation, best first: the preferred ones in order, then the
 * rest of its set by ascending id (RES-051). Returns their number. Bit n of `down`: search
 * order[n] from its end. */
unsigned segment_order(const struct vidmm_allocation *allocation, UINT order[VIDMM_MAX_SEGMENTS],
                       UINT *down);

#endif
