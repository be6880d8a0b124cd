/* SPDX-License-Identifier: MIT */
/*
 * Work items, and the system worker threads that run them at PASSIVE_LEVEL in the system process.
 *
 * Workers are created as needed: up to one per processor whenever none is idle; more only when
 * items are queued and every worker is waiting, since then the workers may wait for those items
 * (NT-102).
 */
#include <stdio.h>

#include "nt/ex/work_item.h"
#include "nt/base/active.h"
#include "nt/base/export.h"
#include "nt/base/faults.h"
#include "nt/base/image.h"
#include "nt/base/kthread.h"
#include "nt/base/memory.h"
#include "nt/base/nt_report.h"
#include "nt/base/state.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "nt/ke/wait.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/order.h"
#include "sim/point.h"
#include "sim/sim_assert.h"
#include "sim/thread.h"
#include "sim/wait.h"
#include "util/alloc.h"
#include "util/hash.h"
#include "util/list.h"
#include "verify/verify.h"

struct ex_work {
    struct nt_active active;
    struct nt_work work;
    PWORKER_THREAD_ROUTINE routine;
    PVOID context;
};

struct worker {
    struct list link;
    struct sim_thread *thread;
};

struct nt_workers {
    struct list queue; /* struct nt_work */
    struct list all;
    struct sim_waitq idle_queue;
    unsigned threads, idle;
};

/* The way from the queue to a worker takes a while, so that items which queue themselves again use
 * up virtual time about as fast as real time (NT-202). */
#define DISPATCH_NS 1000u

/* ---- workers ---- */

/* The item leaves the queue before its routine starts, which may queue it again or free it. */
static void run(struct nt_work *work)
{
    sim_assert_passive();
    list_remove(&work->link);
    work->queued = false;
    sim_order_restart();
    sim_order_take(work);
    work->run(work);
}

static void worker_main(void *arg)
{
    struct nt_workers *workers = arg;

    for (;;) {
        while (list_empty(&workers->queue))
            sim_waitq_wait(&workers->idle_queue, SIM_FOREVER);
        sim_stall(DISPATCH_NS);
        if (!list_empty(&workers->queue))
            run(CONTAINER(workers->queue.next, struct nt_work, link));
    }
}

static void add_worker(struct nt_workers *workers)
{
    struct nt_faults faults = nt_faults_off();
    struct worker *worker = util_zalloc(1, sizeof(*worker));
    char name[32];

    if (worker) {
        snprintf(name, sizeof(name), "worker %u", workers->threads + 1);
        worker->thread = sim_thread_create(name, SIM_THREAD_KERNEL, worker_main, workers);
        if (worker->thread) {
            sim_thread_release(worker->thread); /* it never ends */
            list_push_back(&workers->all, &worker->link);
            workers->threads++;
        } else {
            util_free(worker);
        }
    }
    nt_faults_on(faults);
}

static bool all_wait(const struct nt_workers *workers)
{
    LIST_FOR(node, &workers->all) {
        const struct worker *worker = CONTAINER(node, struct worker, link);
        const struct _KTHREAD *thread = *sim_thread_local(worker->thread);

        if (!thread || thread->wait->count == 0)
            return false;
    }
    return true;
}

/* Called when an item was queued, and when a thread is about to wait. */
static void balance(void)
{
    struct nt_workers *workers = nt_state()->workers;

    if (list_empty(&workers->queue) || sim_waitq_wake(&workers->idle_queue, 1) != 0)
        return;
    if (workers->threads < sim_current->processors) {
        add_worker(workers);
    } else if (all_wait(workers)) {
        WARNING("NT-102",
                "%u work item(s) wait, and so do all %u worker threads: does one depend "
                "on another?",
                1u, workers->threads);
        add_worker(workers);
    }
}

void nt_work_queue(struct nt_work *work)
{
    work->queued = true;
    sim_order_release(work);
    work->image = nt_image_current();
    list_push_back(&nt_state()->workers->queue, &work->link);
    balance();
}

/* ---- routines that run ---- */

/* It is on a worker's stack, and goes with it. */
static void forget(struct nt_resource *resource)
{
    (void)resource;
}

static const struct nt_resource_class running_class = {
    .rule = "NT-101",
    .noun = "work item whose routine still runs",
    .code = 0xCE,
    .busy = nt_resource_always_busy,
    .reclaim = forget,
};

void nt_work_call_begin(struct nt_work_call *call, struct nt_image *image, const void *routine)
{
    nt_callback_enter_work(&call->callback, image, "a work item");
    nt_resource_track(&call->resource, &running_class, routine);
}

void nt_work_call_end(struct nt_work_call *call)
{
    nt_resource_untrack(&call->resource);
    nt_callback_leave(&call->callback);
}

/* ---- executive work items: the driver's own memory ---- */

static void dispose(struct ex_work *work)
{
    list_remove(&work->work.link);
    nt_active_remove(&work->active, nt_state()->ex_work_items);
    util_free(work);
}

static void run_routine(struct nt_work *item)
{
    struct ex_work *work = CONTAINER(item, struct ex_work, work);
    PWORKER_THREAD_ROUTINE routine = work->routine;
    struct nt_image *image = item->image;
    PVOID context = work->context;
    struct nt_work_call call;

    dispose(work);
    nt_work_call_begin(&call, image, (const void *)(uintptr_t)routine);
    routine(context);
    nt_work_call_end(&call);
}

static void reclaim(struct nt_resource *resource)
{
    dispose(CONTAINER(resource, struct ex_work, active.resource));
}

static const struct nt_active_class ex_class = {
    .resource = {.rule = "NT-101", .noun = "queued work item", .code = 0xCE, .reclaim = reclaim},
    .noun = "a work item that is queued",
    .code = 0xC7,
};

NT_EXPORT VOID NTAPI ExQueueWorkItem(PWORK_QUEUE_ITEM WorkItem, WORK_QUEUE_TYPE QueueType)
{
    struct nt *nt;
    struct ex_work *work;
    struct nt_faults faults;

    NT_ENTER();
    nt = nt_state();
    nt_level(NT_DISPATCH, "NT-101", NT_NO_CODE, __func__);
    if (!WorkItem || nt_memory_of(WorkItem) == NT_MEMORY_FREED || !WorkItem->WorkerRoutine) {
        VIOLATION("NT-005", "%s of a work item that was never initialised", __func__);
        return;
    }
    if (nt_memory_of(WorkItem) == NT_MEMORY_PAGED)
        NT_VERIFIER("NT-101", 0x131, (uintptr_t)WorkItem, 0, 0, "%s of an item in paged pool",
                    __func__);
    if (QueueType == HyperCriticalWorkQueue)
        VIOLATION("NT-101", "%s on HyperCriticalWorkQueue, which is reserved", __func__);
    if (hash_get(nt->ex_work_items, (uintptr_t)WorkItem)) {
        VIOLATION("NT-099", "%s of an item that is queued already", __func__);
        return;
    }
    faults = nt_faults_off();
    work = util_zalloc(1, sizeof(*work));
    if (work && nt_active_add(&work->active, nt->ex_work_items, &ex_class, WorkItem, NT_CALLER())) {
        work->routine = WorkItem->WorkerRoutine;
        work->context = WorkItem->Parameter;
        work->work.run = run_routine;
        list_init(&work->work.link);
        nt_work_queue(&work->work);
    } else {
        util_free(work);
    }
    nt_faults_on(faults);
}

/* ---- the whole ---- */

static bool init(struct nt *nt)
{
    struct nt_workers *workers = util_zalloc(1, sizeof(*workers));

    if (!workers)
        return false;
    list_init(&workers->queue);
    list_init(&workers->all);
    sim_waitq_init(&workers->idle_queue);
    nt->workers = workers;
    nt_wait_before_block(balance);
    return true;
}

static void finish(struct nt *nt)
{
    struct list *node;

    if (!nt->workers)
        return;
    while ((node = list_pop_front(&nt->workers->all)) != NULL)
        util_free(CONTAINER(node, struct worker, link));
    util_free(nt->workers);
    nt->workers = NULL;
}

const struct nt_component nt_worker_component = {.init = init, .finish = finish};
const struct nt_component nt_work_item_component = NT_MAP_COMPONENT(ex_work_items);
