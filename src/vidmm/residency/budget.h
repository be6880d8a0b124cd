/* SPDX-License-Identifier: MIT */
/*
 * Budgets: how much of a memory segment group a process may have on its residency lists (RES-041,
 * RES-042), and whether the list of one device fits the segments at all. To decide this before
 * anything is moved, each list entry is charged to a segment (budget_charge). These are only
 * counters: everything is O(segments), or O(opens of one allocation).
 */
#ifndef DXGK_VIDMM_BUDGET_H
#define DXGK_VIDMM_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>
#include <d3dkmthk.h>

#include "util/list.h"

struct vidmm;
struct vidmm_allocation;
struct vidmm_device;
struct vidmm_open;
struct vidmm_process;

NTSTATUS vidmm_query_video_memory(struct vidmm *vidmm, struct vidmm_process *process,
                                  D3DKMT_QUERYVIDEOMEMORYINFO *info);

/* RES-044. */
NTSTATUS vidmm_set_reservation(struct vidmm_process *process, D3DKMT_MEMORY_SEGMENT_GROUP group,
                               uint64_t bytes);

/* Somebody who wants to know when budgets, or what is charged to them, may have changed. `changed`
 * is called with the lock held, and does not wait. */
struct vidmm_budget_watch {
    struct list link;
    void (*changed)(struct vidmm_budget_watch *watch);
};
void vidmm_budget_watch(struct vidmm *vidmm, struct vidmm_budget_watch *watch);
void vidmm_budget_unwatch(struct vidmm_budget_watch *watch);
/* By how many bytes the process exceeds its budget now. */
uint64_t vidmm_over_budget(const struct vidmm_process *process);
/* A number that grows with each submission of the device. */
uint64_t vidmm_device_work(struct vidmm_device *device);

/* ---- lock held ---- */

/* Pages of a segment that the list of one device may use; id 0: system memory that
 * only page tables map. */
uint64_t budget_capacity(const struct vidmm *vidmm, UINT id);
/* The same beside the page tables of the device's own process, which must be there, too. */
uint64_t budget_capacity_of(const struct vidmm_device *device, UINT id);
/* `open` is about to be put on its device's list: charge it to a segment. STATUS_NO_MEMORY: it does
 * not fit, or the process would exceed its budget and `over_budget` is false. */
NTSTATUS budget_charge(struct vidmm_open *open, bool over_budget);
void budget_uncharge(struct vidmm_open *open);
/* Whatever fits: as it was before. */
void budget_charge_to(struct vidmm_open *open, UINT charge);
/* Is it charged, if at all, to a segment where its allocation may be? */
bool budget_charge_holds(const struct vidmm_open *open);
/* Does the list fit the segment to which it is charged beside what is off the list, and work of the
 * device queued before may still use (RES-026)? O(opens of the device). */
bool budget_fits_beside_used(const struct vidmm_open *open);
/* Charge it to the first segment of its set that it fits, but not to `segment`. */
void budget_charge_elsewhere(struct vidmm_open *open, UINT segment);
/* The allocation was placed: charge the list entries for it to the segment where it is. */
void budget_placed(struct vidmm_allocation *allocation);
/* True if the lists of all devices that list it would still fit with the
 * allocation in that segment. */
bool budget_allows(const struct vidmm_allocation *allocation, UINT segment);
/* True if the device's list would fit with it in another segment of its set. */
bool budget_fits_elsewhere(const struct vidmm_open *open, UINT segment);
/* By how many bytes the process would exceed its budget if the allocations of `list` that are not
 * charged yet were charged, too; at least 1 (RES-015). */
uint64_t budget_excess(struct vidmm_device *device, const D3DKMT_HANDLE *list, UINT count);
/* By how many bytes the process exceeds its budget now. */
uint64_t budget_over(const struct vidmm_process *process);
uint64_t budget_of(const struct vidmm_process *process, D3DKMT_MEMORY_SEGMENT_GROUP group);

#endif
