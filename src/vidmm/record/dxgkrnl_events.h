/* SPDX-License-Identifier: MIT */
/*
 * What the memory manager does, as events of Microsoft-Windows-DxgKrnl (wintrace/emit.h). Each
 * function is called where that happens, and does nothing unless the machine records them.
 *
 * Segments are numbered as Windows' memory manager numbers them: system memory outside any segment
 * is one behind the driver's last.
 */
#ifndef DXGK_VIDMM_DXGKRNL_EVENTS_H
#define DXGK_VIDMM_DXGKRNL_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

#include "wintrace/emit.h"

struct paging_job;
struct paging_queue;
struct vidmm;
struct vidmm_allocation;
struct vidmm_device;
struct vidmm_open;
struct vidmm_process;
struct vidmm_run;

/* Handles of events. NULL gives 0. */
uint64_t vidmm_allocation_handle(const struct vidmm_allocation *allocation);
uint64_t vidmm_open_handle(const struct vidmm_open *open);
uint64_t vidmm_adapter_handle(const struct vidmm *vidmm);
uint64_t vidmm_device_handle(const struct vidmm_device *device);
uint64_t vidmm_queue_handle(const struct paging_queue *queue);

/* What a paging operation is about, as far as its arguments do not say so. */
struct paging_subject {
    const struct vidmm_allocation *allocation;    /* NULL: of none */
    const struct vidmm_process *process;          /* whose page tables it changes; or NULL */
    const struct vidmm_run *source, *destination; /* where virtual addresses begin; or NULL */
};

/* The driver has built the operation, or a part of it: then `more` of it follows. `subject` may be
 * NULL. */
void vidmm_tell_operation(const struct vidmm *vidmm, const DXGKARG_BUILDPAGINGBUFFER *op,
                          const struct paging_subject *subject, bool more);
/* The allocation has a place, or has left it for system memory. */
void vidmm_tell_placed(const struct vidmm_allocation *allocation);
void vidmm_tell_evicted(const struct vidmm_allocation *allocation);
/* The allocation leaves its place, or a place in system memory outside any segment. */
void vidmm_tell_leaving(const struct vidmm_allocation *allocation);
/* The device's residency list has the allocation `open->residency_count` times. */
void vidmm_tell_listed(const struct vidmm_open *open);
/* The job was queued; runs, perhaps again; and has ended with all it built. */
void vidmm_tell_job_queued(const struct paging_job *job);
void vidmm_tell_job_taken(struct paging_job *job);
void vidmm_tell_job_done(const struct paging_job *job);

#endif
