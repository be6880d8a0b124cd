/* SPDX-License-Identifier: MIT */
/*
 * Residency lists: the allocations that must be resident before a context of the device runs, and
 * the requests that change them.
 */
#ifndef DXGK_VIDMM_RESIDENCY_H
#define DXGK_VIDMM_RESIDENCY_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>
#include <d3dkmthk.h>

struct vidmm_context;
struct vidmm_device;
struct vidmm_open;
struct vidmm_paging_queue;

NTSTATUS vidmm_make_resident(struct vidmm_paging_queue *queue, const D3DKMT_HANDLE *list,
                             UINT count, D3DDDI_MAKERESIDENT_FLAGS flags, uint64_t *fence,
                             uint64_t *bytes_to_trim);
NTSTATUS vidmm_evict(struct vidmm_device *device, const D3DKMT_HANDLE *list, UINT count,
                     D3DDDI_EVICT_FLAGS flags, uint64_t *bytes_to_trim);

/* Is everything on the device's residency list resident that a packet with this ticket waits for
 * (readiness.h), and are the page tables there that the context (NULL: some context) uses? True:
 * the packet may be submitted now. False: paging was started, and scheduler->device_resident is
 * called when more can run. O(1). */
bool vidmm_device_prepare(struct vidmm_device *device, struct vidmm_context *context,
                          uint64_t ticket);
/* ---- the list (lock held) ---- */

/* `open` is being closed: take it off the list, without waiting for anything. */
void residency_forget(struct vidmm_open *open);
/* Put it on the list, or take it off, after the caller has changed residency_count from 0 or to 0.
 * `leave`: evict it as soon as nothing uses it. */
void residency_add(struct vidmm_open *open);
void residency_remove(struct vidmm_open *open, bool leave);
/* Take it off the list, whatever its count. No GPU work may use it. */
void residency_unlist(struct vidmm_open *open);
/* Put the device in error, because what it needs cannot be made resident (RES-040). */
void residency_fail_device(struct vidmm_device *device);
/* A job that makes allocations resident: create it (NULL: out of memory), add list entries (ready
 * ones are skipped), and post it. Posting takes ownership of the job: STATUS_PENDING with *fence,
 * STATUS_SUCCESS if there is nothing to do, or STATUS_NO_MEMORY. */
struct residency_job;
struct residency_job *residency_job_new(struct vidmm_device *device, UINT count);
void residency_job_add(struct residency_job *job, struct vidmm_open *open);
NTSTATUS residency_job_post(struct vidmm_paging_queue *queue, struct residency_job *job,
                            uint64_t *fence);
/* Start a job that makes resident what the device is missing. Lock held, or no sim point
 * passes meanwhile. */
void residency_prepare(struct vidmm_device *device);

#endif
