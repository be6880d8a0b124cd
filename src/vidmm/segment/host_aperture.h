/* SPDX-License-Identifier: MIT */
/*
 * CPU host apertures: a window of a memory BAR whose pages the driver points at pages of a memory
 * segment that is not CpuVisible as a whole (ALLOC-135 to ALLOC-138, SEG-056 to SEG-058). Lock
 * held.
 */
#ifndef DXGK_VIDMM_HOST_APERTURE_H
#define DXGK_VIDMM_HOST_APERTURE_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

#include "vidmm/record/host_mapping.h"

struct vidmm;
struct vidmm_run;
struct vidmm_segment;

/* Keep a range of the segment's window, large enough for a page table of so many pages (4 KiB), for
 * page tables alone, one at a time, so that locks cannot be in their way. False: there is no such
 * range. */
bool host_aperture_keep(struct vidmm_segment *segment, uint64_t pages);

/* What is to be shown: the first `pages` pages (4 KiB) of the runs, all of which are in one
 * segment. */
struct host_view {
    HANDLE allocation; /* hAllocation */
    const struct vidmm_run *runs;
    uint32_t run_count;
    uint64_t pages;
    bool table; /* a page table: contiguous, in the range that is kept */
};

/* The CPU reaches the segment's memory, directly or through its window. */
bool host_aperture_reaches(const struct vidmm_segment *segment);
/* STATUS_NO_MEMORY: the window is full (for a page table: of locks, before a range was kept), or
 * the driver refused. */
NTSTATUS host_aperture_map(struct vidmm *vidmm, const struct host_view *view,
                           struct host_mapping *mapping);
/* Does nothing for an empty mapping, which it becomes. */
void host_aperture_unmap(struct vidmm *vidmm, struct host_mapping *mapping);
/* The page of the BAR, counted in 4 KiB from the window's start, behind page `page` of what is
 * shown. */
uint64_t host_aperture_page(const struct vidmm *vidmm, const struct host_mapping *mapping,
                            uint64_t page);
/* Host address of the start of a contiguous mapping. */
void *host_aperture_cpu(const struct vidmm *vidmm, const struct host_mapping *mapping);

#endif
