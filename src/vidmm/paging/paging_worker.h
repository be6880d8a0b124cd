/* SPDX-License-Identifier: MIT */
/*
 * Jobs: how paging operations get built on the worker's fiber, and how others wait for them.
 *
 * A client thread that needs paging posts a job (paging_queue_post), or has a job run and waits for
 * it (paging_run). So a thread inside the driver, or one that holds the same-process lock of a DDI,
 * never waits for the GPU scheduler class.
 *
 *   client call                   worker fiber                    retire fiber
 *   paging_queue_post(job) ---->  job(): builds operations
 *     fence value n               paging_flush -> ticket t  --->  paging_wait(t)
 *                                 next job ...                    deferred callbacks of t run
 *                                                                 (frames freed, scratch addresses
 *                                                                 freed, CPU mappings updated),
 *                                                                 fence n reported
 *
 * A job holds the lock during its whole run, so what it looked up stays valid. When it must wait
 * for client work on the GPU (say, a victim is still in use), a function that it called returns
 * STATUS_RETRY. The job then returns STATUS_RETRY at once, with all records consistent, and is run
 * again from its start when something has changed. So a job must be written such that a second run
 * continues the work of the first.
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
/* May the caller build operations? True on the worker's fiber, and while there is no worker. */
bool paging_may_build(const struct vidmm *vidmm);
/* At the entry of functions that append operations: the caller is the builder, or resets the
 * adapter, and holds the lock. */
void paging_assert_builder(const struct vidmm *vidmm);
/* Run jobs again that returned STATUS_RETRY: something changed. Any thread, with or
 * without the lock. */
void paging_poke(struct vidmm *vidmm);

/* Wait until all jobs of the queue are complete (lock held; dropped meanwhile). */
void paging_queue_drain(struct paging_queue *queue);
/* Queue a job that the caller owns until `release` has been called. Cannot fail. Lock held, or no
 * sim point passes meanwhile. */
void paging_job_post(struct paging_queue *queue, struct paging_job *job);
/* What a client's job consists of. */
struct paging_work {
    paging_job_fn fn;
    paging_release_fn release;
    void *arg;
    enum paging_job_kind kind;
    uint64_t about; /* as in struct paging_job */
};
/* Queue a job (lock held). Fails only for lack of host memory. `release` (may be NULL) is called
 * with the lock held and the job's status, once the job has run and its operations are done, or
 * when it is dropped because the adapter stops. *fence (fence may be NULL): the value that the
 * queue's progress function then gets. */
NTSTATUS paging_queue_post(struct vidmm_paging_queue *queue, const struct paging_work *work,
                           uint64_t *fence);
/* The same for a queue that is not a client's. */
NTSTATUS paging_post(struct paging_queue *queue, paging_job_fn fn, paging_release_fn release,
                     void *arg);
/* Lock NOT held: run fn on the worker, in a queue of its own, and wait until the operations it
 * built are done. On the worker's own fiber, or while there is no worker, fn is called directly.
 * Returns fn's status, or that of the wait (STATUS_DEVICE_REMOVED). */
NTSTATUS paging_run(struct vidmm *vidmm, paging_job_fn fn, void *arg);
/* The turn (paging_record.h) of the job that is running; `own` if none is. Only for code that
 * cannot get it as an argument: memory for page tables (segment_take_pinned), and a root table that
 * grows. The caller must be allowed to build. */
struct paging_turn *paging_turn_of_caller(const struct vidmm *vidmm, struct paging_turn *own);
/* Wake the retire fiber to report to the scheduler (vidmm->tell, tell_devices). */
void paging_tell(struct vidmm *vidmm);

#endif
