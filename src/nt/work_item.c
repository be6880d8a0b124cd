/* SPDX-License-Identifier: MIT */
/*
 * Work items, and the system worker threads that run them at PASSIVE_LEVEL in the system process.
 *
 * Workers are made when they are needed: up to one a processor whenever none is idle; beyond that
 * only when items are queued and every worker waits for something, since then the items may be what
 * they wait for (NT-102).
 */
#include <stdio.h>

#include "nt/nt_private.h"

struct nt_work {
    struct nt_active active; /* of a WORK_QUEUE_ITEM; an I/O work item uses only its resource */
    struct list link;        /* in the queue */
    bool io;
    bool queued;
    PDEVICE_OBJECT device;
    PIO_WORKITEM_ROUTINE io_routine;
    PWORKER_THREAD_ROUTINE routine;
    PVOID context;
    struct nt_image *image; /* who queued it */
};

struct worker {
    struct list link;
    struct sim_thread *thread;
};

struct nt_workers {
    struct list queue;
    struct list all;
    struct sim_waitq idle_queue;
    unsigned threads, idle;
};

bool nt_workers_init(struct nt *nt)
{
    struct nt_workers *workers = util_zalloc(1, sizeof(*workers));

    if (!workers)
        return false;
    list_init(&workers->queue);
    list_init(&workers->all);
    sim_waitq_init(&workers->idle_queue);
    nt->workers = workers;
    return true;
}

void nt_workers_finish(struct nt *nt)
{
    struct list *node;

    if (!nt->workers)
        return;
    while ((node = list_pop_front(&nt->workers->all)) != NULL)
        util_free(CONTAINER(node, struct worker, link));
    util_free(nt->workers);
    nt->workers = NULL;
}

/* ---- workers ---- */

static void dispose(struct nt_work *work)
{
    struct nt *nt = nt_state();

    list_remove(&work->link);
    if (work->io) {
        hash_remove(&nt->work_items, (uintptr_t)work);
        nt_resource_untrack(&work->active.resource);
    } else {
        nt_active_remove(&work->active, &nt->ex_work_items);
    }
    util_free(work);
}

/* The item is out of the queue before its routine starts, which may queue it again or free it. */
static void run(struct nt_work *work)
{
    struct nt_work copy = *work;
    struct nt_callback callback;

    list_remove(&work->link);
    work->queued = false;
    if (!work->io)
        dispose(work);
    nt_callback_enter(&callback, copy.image, "a work item");
    if (copy.io)
        copy.io_routine(copy.device, copy.context);
    else
        copy.routine(copy.context);
    nt_callback_leave(&callback);
}

static void worker_main(void *arg)
{
    struct nt_workers *workers = arg;

    for (;;) {
        while (list_empty(&workers->queue))
            sim_waitq_wait(&workers->idle_queue, SIM_FOREVER);
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

        if (!thread || thread->wait.count == 0)
            return false;
    }
    return true;
}

/* Called when an item was queued, and when a thread is about to wait. */
void nt_workers_balance(void)
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

static void enqueue(struct nt_work *work)
{
    work->queued = true;
    work->image = nt_image_current();
    list_push_back(&nt_state()->workers->queue, &work->link);
    nt_workers_balance();
}

static bool is_queued(const struct nt_resource *resource)
{
    return CONTAINER(resource, struct nt_work, active.resource)->queued;
}

static void reclaim(struct nt_resource *resource)
{
    dispose(CONTAINER(resource, struct nt_work, active.resource));
}

static const struct nt_active_class ex_class = {
    .resource = {.rule = "NT-101", .noun = "queued work item", .code = 0xCE, .reclaim = reclaim},
    .noun = "a work item that is queued",
    .code = 0xC7,
};

static const struct nt_resource_class io_class = {
    .rule = "NT-099",
    .noun = "I/O work item",
    .busy = is_queued,
    .reclaim = reclaim,
};

/* ---- I/O work items ---- */

NT_EXPORT PIO_WORKITEM NTAPI IoAllocateWorkItem(PDEVICE_OBJECT DeviceObject)
{
    struct nt *nt;
    struct nt_work *work;

    NT_ENTER();
    nt = nt_state();
    nt_level(NT_DISPATCH, "NT-098", NT_NO_CODE, __func__);
    if (!nt_device_object_known(DeviceObject)) {
        VIOLATION("NT-100", "%s with a pointer that is no device object", __func__);
        return NULL;
    }
    if (nt_resource_fails())
        return NULL;
    work = util_zalloc(1, sizeof(*work));
    if (!work || !hash_put(&nt->work_items, (uintptr_t)work, work)) {
        util_free(work);
        return NULL;
    }
    work->io = true;
    work->device = DeviceObject;
    list_init(&work->link);
    nt_resource_track(&work->active.resource, &io_class, NT_CALLER());
    return (PIO_WORKITEM)(void *)work;
}

static struct nt_work *check_item(PIO_WORKITEM item, const char *routine)
{
    struct nt_work *work = item ? hash_get(&nt_state()->work_items, (uintptr_t)item) : NULL;

    if (!work)
        VIOLATION("NT-005", "%s of something that IoAllocateWorkItem did not return", routine);
    return work;
}

NT_EXPORT VOID NTAPI IoQueueWorkItem(PIO_WORKITEM IoWorkItem, PIO_WORKITEM_ROUTINE WorkerRoutine,
                                     WORK_QUEUE_TYPE QueueType, PVOID Context)
{
    struct nt_work *work;

    NT_ENTER();
    nt_level(NT_DISPATCH, "NT-098", NT_NO_CODE, __func__);
    work = check_item(IoWorkItem, __func__);
    if (!work)
        return;
    if (work->queued) {
        VIOLATION("NT-099", "%s of an item that is queued already", __func__);
        return;
    }
    if (!WorkerRoutine) {
        VIOLATION("NT-098", "%s without a routine", __func__);
        return;
    }
    if (QueueType != DelayedWorkQueue)
        NOTE("NT-098", "%s on queue %d; drivers use DelayedWorkQueue", __func__, (int)QueueType);
    work->io_routine = WorkerRoutine;
    work->context = Context;
    enqueue(work);
}

NT_EXPORT VOID NTAPI IoFreeWorkItem(PIO_WORKITEM IoWorkItem)
{
    struct nt_work *work;

    NT_ENTER();
    nt_level(NT_DISPATCH, "NT-098", NT_NO_CODE, __func__);
    work = check_item(IoWorkItem, __func__);
    if (!work)
        return;
    if (work->queued)
        VIOLATION("NT-099", "%s of an item that is queued", __func__);
    else
        dispose(work);
}

/* ---- executive work items: the driver's own memory ---- */

NT_EXPORT VOID NTAPI ExQueueWorkItem(PWORK_QUEUE_ITEM WorkItem, WORK_QUEUE_TYPE QueueType)
{
    struct nt *nt;
    struct nt_work *work;
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
    if (hash_get(&nt->ex_work_items, (uintptr_t)WorkItem)) {
        VIOLATION("NT-099", "%s of an item that is queued already", __func__);
        return;
    }
    faults = nt_faults_off();
    work = util_zalloc(1, sizeof(*work));
    if (work && nt_active_add(&work->active, &nt->ex_work_items, &ex_class, WorkItem, NT_CALLER())) {
        work->routine = WorkItem->WorkerRoutine;
        work->context = WorkItem->Parameter;
        list_init(&work->link);
        enqueue(work);
    } else {
        util_free(work);
    }
    nt_faults_on(faults);
}
