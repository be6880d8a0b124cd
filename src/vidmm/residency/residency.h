/* SPDX-License-Identifier: MIT */
/*
 * Residency lists: what must be there before a context of a device runs, and the
 * requests that change them.
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

/* Is the whole residency list of the device (and the context's own allocations) resident? True: the
 * packet may go now. False: paging was started; scheduler->device_resident is called when done.
 * O(1) when nothing is missing. */
bool vidmm_device_prepare(struct vidmm_device *device, struct vidmm_context *context);
/* ---- the list (lock held) ---- */

/* `open` goes: off the list, without waiting for anything. */
void residency_forget(struct vidmm_open *open);
/* On and off the list, which the caller has counted: residency_count from 0 to more, and back.
 * `leave`: evict when nothing uses it. */
void residency_add(struct vidmm_open *open);
void residency_remove(struct vidmm_open *open, bool leave);
/* Off the list, whatever its count: no GPU work may use it. */
void residency_unlist(struct vidmm_open *open);
/* What the device needs cannot be brought in: it is put in error (RES-040). */
void residency_fail_device(struct vidmm_device *device);
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

#endif
