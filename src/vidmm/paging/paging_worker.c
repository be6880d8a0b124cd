/* SPDX-License-Identifier: MIT */
/*
 * The two fibers that do all paging.
 *
 * The worker runs one job at a time. It takes the queue that has waited longest, but among queues
 * of the same device the one with the highest priority first (RES-036). It flushes when no job is
 * left to run, so that operations of several jobs share a buffer, and when a job must wait: jobs
 * that keep evicting each other's memory must not delay operations already built. A job that
 * returns STATUS_RETRY parks its queue until something changes (paging_poke) or, if the job set
 * paging_turn.retry_at, until PARK_NS have passed; jobs of other queues continue. If the job asked
 * for a process to be suspended, the worker does that (without the lock), runs the job again, and
 * resumes the process after that run.
 *
 * The retire fiber waits for tickets in order and runs the callbacks deferred to them. Then,
 * without the lock, it reports to the scheduler: fence values of queues, devices whose residency
 * list has become complete, and devices in error.
 */
#include "verify/refusal.h"
#include "vidmm/paging/paging_worker.h"
#include "util/alloc.h"
#include "util/list.h"
#include "vidmm/paging/paging.h"
#include "vidmm/record/device_record.h"
#include "vidmm/record/dxgkrnl_events.h"
#include "vidmm/record/paging_record.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/record/vidmm_scheduler.h"

#include "sim/machine.h"
#include "sim/mutex.h"
#include "sim/sim_assert.h"
#include "sim/thread.h"
#include "sim/wait.h"

#define PARK_NS 10000000u /* how long a job waits before it may take memory from running devices */

struct paging_worker {
    struct vidmm *vidmm;
    struct sim_thread *builder, *retirer;
    struct sim_waitq build_work, retire_work, ended;
    struct list queues; /* paging_queue.link: those with jobs to run */
    uint32_t parked;    /* how many of them are */
    int highest;        /* no queue in the list has a higher priority */
    struct vidmm_process *suspended[PAGING_MOST_SUSPENDED];
    unsigned suspended_count;
    struct paging_turn *turn; /* of the running job; NULL: none is running */
    bool poked, news, stop, builder_ended, retirer_ended;
};

/* ---- queues and jobs ---- */

void paging_queue_drain(struct paging_queue *queue)
{
    while (queue->pending) {
        sim_mutex_unlock(&queue->vidmm->lock);
        if (queue->pending)
            sim_waitq_wait(&queue->idle, SIM_FOREVER);
        sim_mutex_lock(&queue->vidmm->lock);
    }
}

void paging_poke(struct vidmm *vidmm)
{
    struct paging_worker *worker = vidmm->worker;

    if (!worker)
        return;
    worker->poked = true;
    sim_waitq_wake(&worker->build_work, 1);
}

void paging_tell(struct vidmm *vidmm)
{
    struct paging_worker *worker = vidmm->worker;

    if (!worker)
        return;
    worker->news = true;
    sim_waitq_wake(&worker->retire_work, 1);
}

static void job_done(struct vidmm *vidmm, struct paging_deferred *deferred)
{
    struct paging_job *job = CONTAINER(deferred, struct paging_job, done);
    struct paging_queue *queue = job->queue;
    bool heap = job->heap;

    if (vidmm->lost && NT_SUCCESS(job->status))
        job->status = STATUS_DEVICE_REMOVED;
    if (queue->client && job->value) {
        struct vidmm_paging_queue *client = CONTAINER(queue, struct vidmm_paging_queue, base);

        if (job->value > client->done)
            client->done = job->value;
        if (client->done > client->told && list_empty(&client->tell_link))
            list_push_back(&vidmm->tell, &client->tell_link);
        paging_tell(vidmm);
    }
    vidmm_tell_job_done(job);
    if (job->release)
        job->release(vidmm, job->arg, job->status);
    if (heap)
        util_free(job);
    if (--queue->pending == 0)
        sim_waitq_wake(&queue->idle, UINT32_MAX);
}

static void add_queue(struct paging_worker *worker, struct paging_queue *queue)
{
    if (list_empty(&worker->queues) || queue->priority > worker->highest)
        worker->highest = queue->priority;
    list_push_back(&worker->queues, &queue->link);
}

void paging_job_post(struct paging_queue *queue, struct paging_job *job)
{
    struct paging_worker *worker = queue->vidmm->worker;

    job->queue = queue;
    job->done.fn = job_done;
    job->status = STATUS_PENDING;
    job->serial = ++queue->vidmm->serials.jobs;
    job->sequence = ++queue->posted;
    if (!job->kind)
        job->kind = JOB_DEFERRED_COMMAND;
    job->taken = false;
    vidmm_tell_job_queued(job);
    queue->pending++;
    list_push_back(&queue->jobs, &job->link);
    if (list_empty(&queue->link))
        add_queue(worker, queue);
    sim_waitq_wake(&worker->build_work, 1);
}

NTSTATUS paging_queue_post(struct vidmm_paging_queue *queue, const struct paging_work *work,
                           uint64_t *fence)
{
    struct paging_job *job = util_zalloc(1, sizeof(*job));

    if (!job)
        return STATUS_NO_MEMORY;
    job->heap = true;
    job->fn = work->fn;
    job->release = work->release;
    job->arg = work->arg;
    job->kind = work->kind;
    job->about = work->about;
    job->value = ++queue->assigned;
    if (fence)
        *fence = job->value;
    paging_job_post(&queue->base, job);
    return STATUS_SUCCESS;
}

NTSTATUS paging_post(struct paging_queue *queue, paging_job_fn fn, paging_release_fn release,
                     void *arg)
{
    struct paging_job *job = util_zalloc(1, sizeof(*job));

    if (!job)
        return STATUS_NO_MEMORY;
    job->heap = true;
    job->fn = fn;
    job->release = release;
    job->arg = arg;
    paging_job_post(queue, job);
    return STATUS_SUCCESS;
}

/* ---- running a job and waiting for it ---- */

bool paging_may_build(const struct vidmm *vidmm)
{
    return !vidmm->worker || vidmm->worker->builder == sim_current->thread;
}

void paging_assert_builder(const struct vidmm *vidmm)
{
    vidmm_assert_locked(vidmm);
    sim_assert(paging_may_build(vidmm) || vidmm->reset);
}

struct paging_turn *paging_turn_of_caller(const struct vidmm *vidmm, struct paging_turn *own)
{
    return vidmm->worker && vidmm->worker->turn ? vidmm->worker->turn : own;
}

NTSTATUS paging_run(struct vidmm *vidmm, paging_job_fn fn, void *arg)
{
    NTSTATUS status;

    if (paging_may_build(vidmm)) {
        bool nested = vidmm->lock.owner == sim_current->thread;
        struct paging_turn turn = paging_turn_begin(NULL);

        if (!nested)
            sim_mutex_lock(&vidmm->lock);
        status = fn(vidmm, paging_turn_of_caller(vidmm, &turn), arg);
        if (!nested) {
            NTSTATUS settled = paging_settle(vidmm);

            if (NT_SUCCESS(status))
                status = settled;
            sim_mutex_unlock(&vidmm->lock);
        }
        return status;
    }

    struct paging_queue queue;
    struct paging_job job = {.fn = fn, .arg = arg, .refusal = refusal_current};

    sim_mutex_lock(&vidmm->lock);
    paging_queue_init(&queue, vidmm, NULL, 2);
    paging_job_post(&queue, &job);
    paging_queue_drain(&queue);
    sim_mutex_unlock(&vidmm->lock);
    return job.status;
}

/* ---- the worker ---- */

/* The next queue to serve: the one that has waited longest, or a queue of the same device
 * with higher priority. */
static struct paging_queue *pick(struct paging_worker *worker)
{
    struct paging_queue *best = NULL;

    if (worker->vidmm->reset)
        return NULL;
    LIST_FOR(node, &worker->queues) {
        struct paging_queue *queue = CONTAINER(node, struct paging_queue, link);

        if (queue->parked)
            continue;
        if (!best ||
            (queue->device && queue->device == best->device && queue->priority > best->priority))
            best = queue;
        if (!best->device || best->priority >= worker->highest)
            break; /* there is no better one */
    }
    return best;
}

static void unpark(struct paging_worker *worker, bool all)
{
    uint64_t now = sim_now();

    if (!worker->parked)
        return;
    LIST_FOR(node, &worker->queues) {
        struct paging_queue *queue = CONTAINER(node, struct paging_queue, link);

        if (!queue->parked)
            continue;
        if (queue->deadline <= now)
            queue->impatient = true;
        if (all || queue->deadline <= now) {
            queue->parked = false;
            worker->parked--;
        }
    }
}

static uint64_t next_deadline(const struct paging_worker *worker)
{
    uint64_t deadline = SIM_FOREVER;

    LIST_FOR(node, &worker->queues) {
        const struct paging_queue *queue = CONTAINER(node, struct paging_queue, link);

        if (queue->parked && queue->deadline < deadline)
            deadline = queue->deadline;
    }
    return deadline;
}

/* Suspend the process that the job asked for; the lock is dropped meanwhile. False: the scheduler
 * failed, or too many are suspended. */
static bool suspend_process(struct paging_worker *worker, struct vidmm_process *process)
{
    struct vidmm *vidmm = worker->vidmm;
    NTSTATUS status;

    if (worker->suspended_count == sizeof(worker->suspended) / sizeof(worker->suspended[0]))
        return false;
    process->holds++;
    sim_mutex_unlock(&vidmm->lock);
    status = vidmm->scheduler->process_suspend(process);
    sim_mutex_lock(&vidmm->lock);
    worker->suspended[worker->suspended_count++] = process;
    process->suspended = NT_SUCCESS(status);
    return NT_SUCCESS(status);
}

static void resume_processes(struct paging_worker *worker)
{
    struct vidmm *vidmm = worker->vidmm;

    while (worker->suspended_count) {
        struct vidmm_process *process = worker->suspended[--worker->suspended_count];
        bool suspended = process->suspended;

        process->suspended = false;
        sim_mutex_unlock(&vidmm->lock);
        if (suspended)
            vidmm->scheduler->process_resume(process);
        if (--process->holds == 0)
            sim_waitq_wake(&process->idle, UINT32_MAX);
        sim_mutex_lock(&vidmm->lock);
    }
}

/* Run the first job of a queue. Lock held; dropped only to suspend and resume processes. */
static void run_first(struct paging_worker *worker, struct paging_queue *queue)
{
    struct vidmm *vidmm = worker->vidmm;
    struct paging_job *job = CONTAINER(queue->jobs.next, struct paging_job, link);
    struct paging_turn turn;
    NTSTATUS status;

    vidmm_tell_job_taken(job);
    refusal_current = job->refusal;
    for (;;) {
        turn = paging_turn_begin(queue->device);
        turn.impatient = queue->impatient;
        worker->poked = false;
        worker->turn = &turn;
        if (vidmm->reset)
            status = STATUS_RETRY; /* a reset began while the lock was dropped */
        else
            status = vidmm->lost && queue->client
                         ? STATUS_DEVICE_REMOVED
                         : job->fn(vidmm, &turn, job->arg); /* host jobs clean up anyway */
        worker->turn = NULL;
        if (status != STATUS_RETRY || !turn.suspend || !suspend_process(worker, turn.suspend))
            break;
    }
    refusal_current = NULL;
    if (status == STATUS_RETRY && !worker->poked) {
        queue->parked = true;
        worker->parked++;
        queue->deadline = turn.retry_at == SIM_FOREVER ? SIM_FOREVER : sim_now() + PARK_NS;
    }
    /* Others may wait for operations already built while this job keeps retrying. */
    if (status == STATUS_RETRY)
        paging_flush(vidmm, NULL);
    if (status != STATUS_RETRY) {
        queue->impatient = false;
        list_remove(&job->link);
        list_remove(&queue->link);
        if (!list_empty(&queue->jobs))
            add_queue(worker, queue);
        job->status = status;
        paging_defer(vidmm, &job->done);
    }
    resume_processes(worker);
}

static bool idle_step(struct vidmm *vidmm)
{
    struct paging_turn turn = paging_turn_begin(NULL);

    return vidmm->idle_work->step(vidmm, &turn);
}

static void drop_jobs(struct paging_worker *worker)
{
    struct list *node;

    while ((node = list_pop_front(&worker->queues)) != NULL) {
        struct paging_queue *queue = CONTAINER(node, struct paging_queue, link);
        struct list *job;

        while ((job = list_pop_front(&queue->jobs)) != NULL) {
            CONTAINER(job, struct paging_job, link)->status = STATUS_DEVICE_REMOVED;
            paging_defer(worker->vidmm, &CONTAINER(job, struct paging_job, link)->done);
        }
    }
}

static void builder_main(void *arg)
{
    struct paging_worker *worker = arg;
    struct vidmm *vidmm = worker->vidmm;

    sim_mutex_lock(&vidmm->lock);
    for (;;) {
        struct paging_queue *queue;

        unpark(worker, worker->poked);
        worker->poked = false;
        queue = worker->stop ? NULL : pick(worker);
        if (queue) {
            run_first(worker, queue);
            continue;
        }
        if (!worker->stop && !vidmm->reset && idle_step(vidmm))
            continue;
        if (vidmm->buffer || !list_empty(&vidmm->deferred))
            paging_flush(vidmm, NULL);
        if (worker->stop)
            break;
        sim_mutex_unlock(&vidmm->lock);
        if (!worker->poked && !worker->stop && !pick(worker) &&
            (vidmm->reset || !vidmm->idle_work->waiting(vidmm)))
            sim_waitq_wait(&worker->build_work, next_deadline(worker));
        sim_mutex_lock(&vidmm->lock);
    }
    drop_jobs(worker);
    worker->builder_ended = true;
    paging_tell(vidmm);
    sim_waitq_wake(&worker->ended, UINT32_MAX);
    sim_mutex_unlock(&vidmm->lock);
}

/* ---- the retire fiber ---- */

/* Lock not held. Only one fiber reports, so the values of each queue are reported in order. */
static void tell(struct vidmm *vidmm)
{
    struct list *node;

    while ((node = list_pop_front(&vidmm->tell)) != NULL) {
        struct vidmm_paging_queue *queue = CONTAINER(node, struct vidmm_paging_queue, tell_link);

        queue->telling = true;
        queue->told = queue->done;
        if (queue->progress)
            queue->progress(queue->context, queue->told);
        queue->telling = false;
        sim_waitq_wake(&queue->base.idle, UINT32_MAX);
    }
    while ((node = list_pop_front(&vidmm->tell_devices)) != NULL) {
        struct vidmm_device *device = CONTAINER(node, struct vidmm_device, tell_link);
        bool error = device->tell_error;
        bool resident = device->tell_resident;

        device->pins++;
        device->tell_error = device->tell_resident = false;
        if (error)
            vidmm->scheduler->device_error(device, D3DKMT_DEVICEEXECUTION_ERROR_OUTOFMEMORY);
        if (resident)
            vidmm->scheduler->device_resident(device);
        if (--device->pins == 0)
            sim_waitq_wake(&device->idle, UINT32_MAX);
    }
}

static void retirer_main(void *arg)
{
    struct paging_worker *worker = arg;
    struct vidmm *vidmm = worker->vidmm;

    sim_mutex_lock(&vidmm->lock);
    for (;;) {
        uint64_t ticket = 0;

        worker->news = false;
        if (!list_empty(&vidmm->retiring)) {
            ticket = CONTAINER(vidmm->retiring.next, struct paging_deferred, link)->ticket;
            /* On failure the adapter is lost, and so is whatever used the memory. */
            paging_wait_unlocked(vidmm, ticket);
            paging_retire(vidmm, ticket);
        } else if (worker->builder_ended) {
            break;
        }
        sim_mutex_unlock(&vidmm->lock);
        tell(vidmm);
        if (!worker->news && list_empty(&vidmm->retiring) && !worker->builder_ended)
            sim_waitq_wait(&worker->retire_work, SIM_FOREVER);
        sim_mutex_lock(&vidmm->lock);
    }
    worker->retirer_ended = true;
    sim_waitq_wake(&worker->ended, UINT32_MAX);
    sim_mutex_unlock(&vidmm->lock);
}

/* ---- life ---- */

NTSTATUS paging_worker_start(struct vidmm *vidmm)
{
    struct paging_worker *worker = util_zalloc(1, sizeof(*worker));

    if (!worker)
        return STATUS_NO_MEMORY;
    worker->vidmm = vidmm;
    list_init(&worker->queues);
    sim_waitq_init(&worker->build_work);
    sim_waitq_init(&worker->retire_work);
    sim_waitq_init(&worker->ended);
    worker->retirer = sim_thread_create("paging-retire", SIM_THREAD_KERNEL, retirer_main, worker);
    worker->builder = worker->retirer
                          ? sim_thread_create("paging", SIM_THREAD_KERNEL, builder_main, worker)
                          : NULL;
    vidmm->worker = worker;
    if (worker->builder)
        return STATUS_SUCCESS;
    worker->builder_ended = true;
    if (!worker->retirer)
        worker->retirer_ended = true;
    paging_worker_stop(vidmm);
    return STATUS_NO_MEMORY;
}

void paging_worker_stop(struct vidmm *vidmm)
{
    struct paging_worker *worker = vidmm->worker;

    if (!worker)
        return;
    worker->stop = true;
    paging_poke(vidmm);
    paging_tell(vidmm);
    while (!sim_current->stopped && (!worker->builder_ended || !worker->retirer_ended))
        sim_waitq_wait(&worker->ended, SIM_FOREVER);
    if (worker->builder)
        sim_thread_release(worker->builder);
    if (worker->retirer)
        sim_thread_release(worker->retirer);
    vidmm->worker = NULL;
    util_free(worker);
}
