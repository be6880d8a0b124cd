/* SPDX-License-Identifier: MIT */
/*
 * Paging operations that move, fill and announce the content of an allocation. All
 * append operations (builder's fiber, lock held); none changes what the allocation's
 * record says about its place.
 */
#ifndef DXGK_VIDMM_CONTENT_H
#define DXGK_VIDMM_CONTENT_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

struct vidmm_allocation;
struct vidmm_run;

/* Fill its whole size at `runs` of a memory segment with its pattern. */
NTSTATUS content_fill(struct vidmm_allocation *allocation, const struct vidmm_run *runs,
                      uint32_t run_count);
/* Copy between `runs` of a memory segment and the backing pages, which the device must reach. */
NTSTATUS content_transfer(struct vidmm_allocation *allocation, const struct vidmm_run *runs,
                          uint32_t run_count, bool to_system);
/* Copy between two places in memory segments. */
NTSTATUS content_move(struct vidmm_allocation *allocation, const struct vidmm_run *from,
                      uint32_t from_count, const struct vidmm_run *to, uint32_t to_count);
/* It leaves its memory segment without a copy; the driver hears of it only on physical paging
 * (PAGE-042). */
NTSTATUS content_discard(struct vidmm_allocation *allocation, const struct vidmm_run *runs,
                         uint32_t run_count);
/* NOTIFY_RESIDENCY, for allocations that asked for it (GPUVA-239). `run` NULL: evicted. */
NTSTATUS content_notify(struct vidmm_allocation *allocation, const struct vidmm_run *run);

#endif
