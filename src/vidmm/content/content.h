/* SPDX-License-Identifier: MIT */
/*
 * Paging operations that copy or fill the content of an allocation, or report where it is. All
 * append operations (builder's fiber, lock held); none changes the place in the allocation's
 * record.
 */
#ifndef DXGK_VIDMM_CONTENT_H
#define DXGK_VIDMM_CONTENT_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

struct vidmm_allocation;
struct vidmm_run;

/* Fill the whole allocation, at `runs` of a memory segment, with its pattern. */
NTSTATUS content_fill(struct vidmm_allocation *allocation, const struct vidmm_run *runs,
                      uint32_t run_count);
/* Copy between `runs` of a memory segment and the backing pages, which must be
 * mapped for the device. */
NTSTATUS content_transfer(struct vidmm_allocation *allocation, const struct vidmm_run *runs,
                          uint32_t run_count, bool to_system);
/* Copy between two places in memory segments. */
NTSTATUS content_move(struct vidmm_allocation *allocation, const struct vidmm_run *from,
                      uint32_t from_count, const struct vidmm_run *to, uint32_t to_count);
/* Report that the allocation leaves its memory segment without a copy. An operation exists only for
 * physical paging (PAGE-042). */
NTSTATUS content_discard(struct vidmm_allocation *allocation, const struct vidmm_run *runs,
                         uint32_t run_count);
/* NOTIFY_RESIDENCY, for allocations that requested it (GPUVA-239). `run` NULL: evicted. */
NTSTATUS content_notify(struct vidmm_allocation *allocation, const struct vidmm_run *run);

#endif
