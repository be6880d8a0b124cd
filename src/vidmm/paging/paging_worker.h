/* SPDX-License-Identifier: MIT */
/*
 * Jobs: how work that builds paging operations gets to the worker, and who waits for it.
 *
 * A client thread that needs entries written posts a job (paging_queue_post) or has one run for it
 * (paging_run). So a thread inside the driver, or one that holds the same-process lock of a DDI,
 * never waits for the GPU scheduler class.
 *
 *   client call                   worker fiber                    retire fiber
 *   paging_queue_post(job) ---->  job(): builds operations
 *     fence value n               paging_flush -> ticket t  --->  paging_wait(t)
 *                                 next job ...                    deferred actions of t run
 *                                                                 (frames given back, scratch
 *                                                                 reused, views re-pointed),
 *                                                                 fence n told
 *
 * A job runs with the lock held and never loses it, so what it looked up stays valid. When it
 * cannot go on before client work of the GPU has finished (a victim is still in use), a function it
 * called returns STATUS_RETRY; the job returns that at once, leaving everything consistent, and is
 * run again from its start when something changed. Jobs are therefore written so that a second run
 * continues what the first began.
 */
#ifndef DXGK_VIDMM_PAGING_WORKER_H
#define DXGK_VIDMM_PAGING_WORKER_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

#include "vidmm/record/paging_record.h"

NTSTATUS paging_worker_start(struct vidmm *vidmm);
void paging_worker_stop(struct vidmm *vidmm);
/* Runs on the worker's fiber, or there is no worker: building is allowed. */
bool paging_may_build(const struct vidmm *vidmm);
/* At the entry of what appends operations: the worker, or who resets the adapter, with the lock. */
void paging_assert_builder(const struct vidmm *vidmm);
/* Something that a job returned STATUS_RETRY for may have changed. Any thread, lock held or not. */
void paging_poke(struct vidmm *vidmm);

/* Wait until its jobs are complete (lock held; dropped meanwhile). */
void paging_queue_drain(struct paging_queue *queue);
/* Queue a job whose memory is the caller's until `release` was called; never fails. Lock held, or
 * no sim point passes meanwhile. */
void paging_job_post(struct paging_queue *queue, struct paging_job *job);
/* Queue a job (lock held). `release` (may be NULL) is called with the lock held once the job has
 * run and its operations are done, or when it was dropped because the adapter stopped; it gets the
 * job's status. Fails only for lack of host memory. fence (may be NULL): the value told to the
 * queue's progress function then. */
NTSTATUS paging_queue_post(struct vidmm_paging_queue *queue, paging_job_fn fn,
                           paging_release_fn release, void *arg, uint64_t *fence);
/* The same for a queue of the host's own. */
NTSTATUS paging_post(struct paging_queue *queue, paging_job_fn fn, paging_release_fn release,
                     void *arg);
/* Lock NOT held: have fn run on the worker, behind nothing, and wait until what it built is done.
 * On the worker's own fiber, or while there is none, it runs at once. The status is fn's, or that
 * of the wait (STATUS_DEVICE_REMOVED). */
NTSTATUS paging_run(struct vidmm *vidmm, paging_job_fn fn, void *arg);
/* For the one place below eviction that needs it, memory for page tables (segment_take_pinned), and
 * for a root table that grows: the turn of the job that the caller runs in; `own` if it runs in
 * none. The caller may build. */
struct paging_turn *paging_turn_of_caller(const struct vidmm *vidmm, struct paging_turn *own);
/* The retire fiber has something to tell the scheduler (vidmm->tell, tell_devices). */
void paging_tell(struct vidmm *vidmm);

#endif
