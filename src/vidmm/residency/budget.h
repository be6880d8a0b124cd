/* SPDX-License-Identifier: MIT */
/*
 * Budgets: how much of a memory segment group a process may have on its residency lists (RES-041,
 * RES-042), and whether the list of one device fits the segments at all. Counters only; everything
 * is O(segments), or O(opens of one allocation).
 */
#ifndef DXGK_VIDMM_BUDGET_H
#define DXGK_VIDMM_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>
#include <d3dkmthk.h>

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

/* ---- lock held ---- */

/* Pages that one device's list may have in a segment; id 0: system memory behind page tables. */
uint64_t budget_capacity(const struct vidmm *vidmm, UINT id);
/* `open` is about to get on its device's list: charge it. STATUS_NO_MEMORY: does not fit, or the
 * process would be over its budget and that is not allowed. */
NTSTATUS budget_charge(struct vidmm_open *open, bool over_budget);
void budget_uncharge(struct vidmm_open *open);
/* Charge it to the first such segment. */
void budget_charge_elsewhere(struct vidmm_open *open, UINT segment);
/* It is somewhere now: those who list it are charged for that. */
void budget_placed(struct vidmm_allocation *allocation);
/* By the reckoning of the devices that list it, it may be in that segment: their lists still fit as
 * a whole. */
bool budget_allows(const struct vidmm_allocation *allocation, UINT segment);
/* By the same reckoning it could be in another segment of its set than this. */
bool budget_fits_elsewhere(const struct vidmm_open *open, UINT segment);
/* Bytes that the process would be over budget if these, which are not charged, were: at least 1
 * (RES-015). */
uint64_t budget_excess(struct vidmm_device *device, const D3DKMT_HANDLE *list, UINT count);
/* Bytes that the process is over budget now. */
uint64_t budget_over(const struct vidmm_process *process);
uint64_t budget_of(const struct vidmm_process *process, D3DKMT_MEMORY_SEGMENT_GROUP group);

#endif
