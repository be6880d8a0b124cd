/* SPDX-License-Identifier: MIT */
/* I/O work items, which keep their driver loaded while they are queued. */
#include "nt/base/export.h"
#include "nt/base/faults.h"
#include "nt/base/resource.h"
#include "nt/base/state.h"
#include "nt/ex/work_item.h"
#include "nt/io/device_object.h"
#include "nt/ke/enter.h"
#include "nt/ke/level.h"
#include "util/alloc.h"
#include "util/hash.h"
#include "util/list.h"
#include "verify/verify.h"

struct io_work {
    struct nt_resource resource;
    struct nt_work work;
    PDEVICE_OBJECT device;
    PIO_WORKITEM_ROUTINE routine;
    PVOID context;
};

const struct nt_component nt_io_work_item_component = NT_MAP_COMPONENT(work_items);

static void dispose(struct io_work *work)
{
    list_remove(&work->work.link);
    hash_remove(nt_state()->work_items, (uintptr_t)work);
    nt_resource_untrack(&work->resource);
    util_free(work);
}

/* The routine may queue the item again, or free it. */
static void run_routine(struct nt_work *item)
{
    struct io_work *work = CONTAINER(item, struct io_work, work);
    PIO_WORKITEM_ROUTINE routine = work->routine;
    PDEVICE_OBJECT device = work->device;
    PVOID context = work->context;
    struct nt_work_call call;

    nt_work_call_begin(&call, item->image, (const void *)(uintptr_t)routine);
    routine(device, context);
    nt_work_call_end(&call);
}

static bool is_queued(const struct nt_resource *resource)
{
    return CONTAINER(resource, struct io_work, resource)->work.queued;
}

static void reclaim(struct nt_resource *resource)
{
    dispose(CONTAINER(resource, struct io_work, resource));
}

static const struct nt_resource_class item_class = {
    .rule = "NT-099",
    .noun = "I/O work item",
    .busy = is_queued,
    .reclaim = reclaim,
};

NT_EXPORT PIO_WORKITEM NTAPI IoAllocateWorkItem(PDEVICE_OBJECT DeviceObject)
{
    struct nt *nt;
    struct io_work *work;

    NT_ENTER();
    nt = nt_state();
    nt_level(NT_DISPATCH, "NT-098", NT_NO_CODE, __func__);
    if (!nt_device_object_known(DeviceObject)) {
        VIOLATION("NT-100", "%s with a pointer that is no device object", __func__);
        return NULL;
    }
    if (nt_faults_due())
        return NULL;
    work = util_zalloc(1, sizeof(*work));
    if (!work || !hash_put(nt->work_items, (uintptr_t)work, work)) {
        util_free(work);
        return NULL;
    }
    work->device = DeviceObject;
    work->work.run = run_routine;
    list_init(&work->work.link);
    nt_resource_track(&work->resource, &item_class, NT_CALLER());
    return (PIO_WORKITEM)(void *)work;
}

static struct io_work *check_item(PIO_WORKITEM item, const char *routine)
{
    struct io_work *work = item ? hash_get(nt_state()->work_items, (uintptr_t)item) : NULL;

    if (!work)
        VIOLATION("NT-005", "%s of something that IoAllocateWorkItem did not return", routine);
    return work;
}

NT_EXPORT VOID NTAPI IoQueueWorkItem(PIO_WORKITEM IoWorkItem, PIO_WORKITEM_ROUTINE WorkerRoutine,
                                     WORK_QUEUE_TYPE QueueType, PVOID Context)
{
    struct io_work *work;

    NT_ENTER();
    nt_level(NT_DISPATCH, "NT-098", NT_NO_CODE, __func__);
    work = check_item(IoWorkItem, __func__);
    if (!work)
        return;
    if (work->work.queued) {
        VIOLATION("NT-099", "%s of an item that is queued already", __func__);
        return;
    }
    if (!WorkerRoutine) {
        VIOLATION("NT-098", "%s without a routine", __func__);
        return;
    }
    if (QueueType != DelayedWorkQueue)
        NOTE("NT-098", "%s on queue %d; drivers use DelayedWorkQueue", __func__, (int)QueueType);
    work->routine = WorkerRoutine;
    work->context = Context;
    nt_work_queue(&work->work);
}

NT_EXPORT VOID NTAPI IoFreeWorkItem(PIO_WORKITEM IoWorkItem)
{
    struct io_work *work;

    NT_ENTER();
    nt_level(NT_DISPATCH, "NT-098", NT_NO_CODE, __func__);
    work = check_item(IoWorkItem, __func__);
    if (!work)
        return;
    if (work->work.queued)
        VIOLATION("NT-099", "%s of an item that is queued", __func__);
    else
        dispose(work);
}
