/* SPDX-License-Identifier: MIT */
/* Driver callbacks that need vidmm's lock, or paging: see driver_run.h. */
#include "vidmm/paging/driver_run.h"
#include "sim/machine.h"
#include "sim/mutex.h"
#include "sim/wait.h"
#include "util/list.h"
#include "vidmm/paging/paging_worker.h"
#include "vidmm/record/vidmm_record.h"

/* ---- the lock ---- */

bool driver_lock(struct vidmm *vidmm)
{
    struct driver_waiter waiter = {.thread = sim_current->thread};

    if (sim_mutex_try(&vidmm->lock))
        return true;
    if (vidmm->driver.out)
        return false;
    list_push_back(&vidmm->driver.waiters, &waiter.link);
    sim_mutex_lock(&vidmm->lock); /* vidmm_let_driver_out may end the wait without the lock */
    list_remove(&waiter.link);
    return vidmm->lock.owner == sim_current->thread;
}

void vidmm_let_driver_out(struct vidmm *vidmm, bool out)
{
    vidmm->driver.out = out;
    sim_waitq_wake(&vidmm->driver.wait, UINT32_MAX);
    if (!out)
        return;
    LIST_FOR(node, &vidmm->driver.waiters)
        (void)sim_unblock(CONTAINER(node, struct driver_waiter, link)->thread, 0);
}

/* ---- a job ---- */

void driver_run_init(struct driver_run *run, driver_run_fn fn,
                     void (*release)(struct driver_run *run))
{
    *run = (struct driver_run){.fn = fn, .release = release, .users = 1};
}

void driver_run_put(struct driver_run *run)
{
    if (--run->users == 0)
        run->release(run);
}

static NTSTATUS run_job(struct vidmm *vidmm, struct paging_turn *turn, void *arg)
{
    struct driver_run *run = arg;

    return run->left ? STATUS_DEVICE_REMOVED : run->fn(vidmm, turn, run);
}

static void job_over(struct vidmm *vidmm, void *arg, NTSTATUS status)
{
    struct driver_run *run = arg;

    (void)status;
    run->over = true;
    sim_waitq_wake(&vidmm->driver.wait, UINT32_MAX);
    driver_run_put(run);
}

NTSTATUS driver_run_wait(struct vidmm *vidmm, struct driver_run *run)
{
    if (paging_may_build(vidmm))
        return paging_run(vidmm, run_job, run);
    if (!driver_lock(vidmm)) {
        run->left = true;
        return STATUS_DEVICE_REMOVED;
    }
    run->job = (struct paging_job){.fn = run_job, .release = job_over, .arg = run};
    run->users++;
    paging_job_post(&vidmm->driver.runs, &run->job);
    sim_mutex_unlock(&vidmm->lock);
    while (!run->over && !vidmm->driver.out)
        sim_waitq_wait(&vidmm->driver.wait, SIM_FOREVER);
    run->left = !run->over;
    return run->job.status == STATUS_PENDING ? STATUS_DEVICE_REMOVED : run->job.status;
}
