/* SPDX-License-Identifier: MIT */
/* What the files about residency share. */
#ifndef DXGK_VIDMM_PLACEMENT_H
#define DXGK_VIDMM_PLACEMENT_H

#include "vidmm/vidmm_private.h"

/* How long a device that became complete keeps its memory if it does not run. */
#define GRANT_NS 50000000u

/* A list entry's allocation is (not) ready: counts in its device, which is told when nothing is
 * missing any more. */
void open_missing(struct vidmm_open *open);
void open_not_missing(struct vidmm_open *open);

/* readiness.c. The place is recorded and its content on the way: show it to the GPU; ready when
 * that is done. On failure no entry points there. */
NTSTATUS readiness_arrive(struct vidmm_allocation *allocation);
/* It is not to be used any more: missing again for those who list it. Entries are the caller's to
 * write. */
void readiness_end(struct vidmm_allocation *allocation);

/* `open` goes: off the list, without waiting for anything. */
void residency_forget(struct vidmm_open *open);
/* On and off the list, which the caller has counted: residency_count from 0 to more, and back. `leave`: evict when nothing uses it. */
void residency_add(struct vidmm_open *open);
void residency_remove(struct vidmm_open *open, bool leave);
/* Off the list, whatever its count: no GPU work may use it. */
void residency_unlist(struct vidmm_open *open);
/* What the device needs cannot be brought in: it is put in error (RES-040). */
void residency_fail_device(struct vidmm_device *device);
/* Have the scheduler told that what the device waits for is there; until it has run, it is spared
 * as a victim. */
void readiness_tell(struct vidmm_device *device);
/* portion.c, WDDM 1.x: what no portion needs leaves the residency lists of all devices. False: there
 * was nothing. */
bool portion_unlist_all(struct vidmm *vidmm);
/* aperture_range.c */
uint64_t aperture_range_bytes(const struct vidmm *vidmm);
/* The aperture points nowhere (reset, loss of power), and again as it was. */
void aperture_ranges_lost(struct vidmm *vidmm);
NTSTATUS aperture_ranges_restore(struct vidmm *vidmm);
/* An operation of a queue that brings in listed allocations which are not ready. The first gives
 * NULL when out of memory; the last uses the job up: STATUS_PENDING with *fence, STATUS_SUCCESS if
 * there was nothing to do, or STATUS_NO_MEMORY. */
struct residency_job;
struct residency_job *residency_job_new(struct vidmm_device *device, UINT count);
void residency_job_add(struct residency_job *job, struct vidmm_open *open);
NTSTATUS residency_job_post(struct vidmm_paging_queue *queue, struct residency_job *job,
                            uint64_t *fence);
/* Bring in what the device is missing. Lock held, or no sim point passes meanwhile. */
void residency_prepare(struct vidmm_device *device);

/* No GPU work of the device is unfinished, or it is kept from running. */
bool eviction_device_idle(struct vidmm_device *device);
/* No client's GPU work can touch it, and nothing else holds it where it is. `own`: the list of the
 * device that memory is sought for does not protect it. */
bool eviction_movable(const struct vidmm_allocation *allocation, bool own);
/* Have room for the newcomer in the reckoning of its device's list, by moving less important
 * members of the list to other segments. STATUS_NO_MEMORY: no (more) such. */
NTSTATUS eviction_make_way(const struct vidmm_allocation *newcomer, UINT segment);
/* Evict from a segment whatever may go. */
NTSTATUS eviction_clear(struct vidmm *vidmm, UINT segment);
/* repack.c: residency_bring_in for the list of a device, which fits by the reckoning of budget.c:
 * where it does not because of how its members lie, all of them are placed anew. */
NTSTATUS repack_bring_in(struct vidmm_device *device, struct vidmm_allocation *allocation);
/* compact.c: have a hole of that size by moving allocations out of it. STATUS_NO_MEMORY: there is
 * no such place. */
NTSTATUS compact(struct vidmm *vidmm, const struct room_request *room);

/* Bring in to that segment of its set (system memory: the aperture), whatever it takes. */
NTSTATUS residency_place(struct vidmm_allocation *allocation, UINT segment);
/* Copy it to another place in its memory segment, outside pages [hole, hole + pages).
 * STATUS_NO_MEMORY: no room there. */
NTSTATUS residency_relocate(struct vidmm_allocation *allocation, uint64_t hole, uint64_t pages);

/* promotion.c: it has a place; remember if there is a better one. */
void promotion_note(struct vidmm_allocation *allocation);
/* Move something to the segment it prefers, if space has appeared there. False: nothing to do. */
bool promotion_step(struct vidmm *vidmm);

/* Bytes can still be mapped through an aperture (SEG-033, SEG-035). */
bool aperture_commits(const struct vidmm *vidmm, const struct vidmm_segment *segment,
                      uint64_t bytes);

/* The allocation goes for good: entries, aperture range and space (operations are appended); pages
 * are unmapped when the GPU is done, and stay the allocation's. Never fails: if the driver or
 * scheduler refuses, the adapter is lost. */
void residency_drop(struct vidmm_allocation *allocation);
/* The same after a reset: it loses its place, entries are left to a rebuild. */
void residency_purge(struct vidmm_allocation *allocation);

#endif
