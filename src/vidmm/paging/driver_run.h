/* SPDX-License-Identifier: MIT */
/*
 * Driver callbacks that need vidmm's lock, or paging.
 *
 * An adapter reset waits until every thread has left the driver (TDR-011), and the worker waits for
 * the reset: when the paging engine hangs, the worker may be in the middle of a job and hold the
 * lock. To avoid a deadlock, a thread inside the driver stops waiting for the lock or the worker
 * once a reset has begun. What its job uses is therefore on the heap, and stays until the job is
 * over.
 */
#ifndef DXGK_VIDMM_DRIVER_RUN_H
#define DXGK_VIDMM_DRIVER_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

#include "util/list.h"
#include "vidmm/record/paging_record.h"

struct vidmm;

/* A thread that waits in driver_lock. */
struct driver_waiter {
    struct list link; /* vidmm->driver.waiters */
    struct sim_thread *thread;
};

/* Take the lock, on a thread inside the driver. False: not taken, because a reset began while
 * another thread held it. */
bool driver_lock(struct vidmm *vidmm);

struct driver_run;
/* Compare paging_job_fn. */
typedef NTSTATUS (*driver_run_fn)(struct vidmm *vidmm, struct paging_turn *turn,
                                  struct driver_run *run);

/* A job that a thread inside the driver waits for. Embedded in a structure on the heap. */
struct driver_run {
    struct paging_job job;
    driver_run_fn fn;
    void (*release)(
        /* called once, when caller and job are both done with it; with or without the lock */
        struct driver_run *run);
    uint32_t users; /* references: by the caller and by the job */
    bool left;      /* the caller has stopped waiting */
    bool over;
};

/* Initialize it, with the caller's reference. */
void driver_run_init(struct driver_run *run, driver_run_fn fn,
                     void (*release)(struct driver_run *run));
/*
 * Lock NOT held: run fn on the worker and wait until the operations it built are done, like
 * paging_run. When a reset begins, the wait ends and `left` is set. The result then depends on the
 * job:
 *
 *     not started   STATUS_DEVICE_REMOVED; fn will not be called
 *     running       STATUS_DEVICE_REMOVED; fn continues after the reset, and sees `left` at its end
 *     has run       fn's status; the operations it built may be lost
 */
NTSTATUS driver_run_wait(struct vidmm *vidmm, struct driver_run *run);
/* Drop the caller's reference. */
void driver_run_put(struct driver_run *run);

/* With `out` set, callbacks that wait for paging (or for a thread that does) return instead, so
 * that their threads leave the driver (CTXA-061). */
void vidmm_let_driver_out(struct vidmm *vidmm, bool out);

#endif
