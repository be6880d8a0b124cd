/* SPDX-License-Identifier: MIT */
/*
 * Driver callbacks that need vidmm's lock, or paging.
 *
 * A reset of the adapter waits until every thread has left the driver (TDR-011). The worker waits
 * for the reset: when the paging engine hangs, it may be in the middle of a job, and has the lock.
 * So a thread inside the driver waits for neither once a reset has begun, and all that its job uses
 * is on the heap, and stays until the job is over.
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
    struct list link; /* vidmm->driver_waiters */
    struct sim_thread *thread;
};

/* Take the lock, on a thread inside the driver. False: not taken, since a reset began while another
 * thread had it. */
bool driver_lock(struct vidmm *vidmm);

struct driver_run;
/* As paging_job_fn. */
typedef NTSTATUS (*driver_run_fn)(struct vidmm *vidmm, struct paging_turn *turn,
                                  struct driver_run *run);

/* A job that a thread inside the driver waits for; part of a block on the heap. */
struct driver_run {
    struct paging_job job;
    driver_run_fn fn;
    void (*release)(
        struct driver_run *run); /* once, when caller and job are done with it; lock held or not */
    uint32_t users;              /* the caller and the job */
    bool left;                   /* the caller waits no more */
    bool over;
};

/* Fill in, for one caller. */
void driver_run_init(struct driver_run *run, driver_run_fn fn,
                     void (*release)(struct driver_run *run));
/* Lock NOT held: have fn run on the worker and wait until what it built is done, as paging_run.
 * Once a reset has begun it waits no longer, and `left` is set:
 *
 *     not begun     STATUS_DEVICE_REMOVED; fn will not be called
 *     is running    STATUS_DEVICE_REMOVED; fn goes on after the reset, and sees `left` at its end
 *     has run       fn's status; what it built may be lost
 */
NTSTATUS driver_run_wait(struct vidmm *vidmm, struct driver_run *run);
/* The caller is done with it. */
void driver_run_put(struct driver_run *run);

/* While `out`, callbacks that wait for paging, or for somebody who waits for it, return instead, so
 * that their threads leave the driver (CTXA-061). */
void vidmm_let_driver_out(struct vidmm *vidmm, bool out);

#endif
