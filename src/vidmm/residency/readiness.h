/* SPDX-License-Identifier: MIT */
/* Readiness: when an allocation may be used, and which devices wait for that. Lock held. */
#ifndef DXGK_VIDMM_READINESS_H
#define DXGK_VIDMM_READINESS_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

struct paging_turn;
struct vidmm_allocation;
struct vidmm_device;
struct vidmm_open;

/* How long a device whose list has become complete is protected from eviction
 * until it runs (ns). */
#define GRANT_NS 50000000u

/* The allocation of a list entry is not ready any more: nothing of its device runs meanwhile. */
void readiness_missing(struct vidmm_open *open);
/* It has just been listed, or reclaimed, and is not ready: what its device queued before may run,
 * since it cannot use it; what is queued from now on waits for it. */
void readiness_joining(struct vidmm_open *open);
/* It is ready, or not listed any more. If more of what the device has queued can run now, that is
 * reported to the scheduler. */
void readiness_not_missing(struct vidmm_open *open);
/* May work of the device with this ticket run, as far as its list goes? */
bool readiness_allows(const struct vidmm_device *device, uint64_t ticket);

/* The allocation has a place and its content is being copied there: write its page-table entries;
 * it becomes ready when the GPU is done. On failure no entry points there. */
NTSTATUS readiness_arrive(struct vidmm_allocation *allocation);
/* The allocation must not be used any more, so it is missing for the devices that list it. The
 * caller writes the entries. `turn`: the job that evicts it; NULL: it is destroyed or lost. */
void readiness_end(const struct paging_turn *turn, struct vidmm_allocation *allocation);

/* Bring back the page tables of the device's process that were evicted (table_residency.h); once
 * that has completed, its devices whose lists are complete can run. Builder's fiber. */
NTSTATUS readiness_return_tables(struct vidmm_device *device);

/* Have the scheduler told that the device can run; it is protected from eviction
 * until it has run. */
void readiness_tell(struct vidmm_device *device);

#endif
