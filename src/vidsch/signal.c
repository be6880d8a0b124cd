/* SPDX-License-Identifier: MIT */
/*
 * Waits and signals as they happen. An operation (struct sync_op) names objects and values; a
 * packet of a context's queue, or a waiting thread, refers to it. A wait that is not satisfied
 * is in the waiter list of each of its objects; whenever an object changes, its waiters are
 * tried in order of arrival (KMT-389), each for all of its objects at once (KMT-387).
 *
 * The GPU writes monitored fences without notifying the host. Fences with waiters are therefore on
 * a list of their process (`watched`; shared ones on a list of the adapter), and are read again
 * whenever a packet of the process (of any process) is retired (SUBMIT-136) or the driver notifies
 * that a fence was signaled (SUBMIT-083).
 */
#include "vidsch/signal.h"
#include "sim/irql.h"
#include "sim/sim_assert.h"
#include "sim/wait.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/dxgkrnl_events.h"
#include "vidsch/native_fence.h"
#include "vidsch/process.h"
#include "vidsch/queue.h"
#include "vidsch/scheduler.h"
#include "vidsch/sync_object.h"
#include "vidsch/sync_op.h"
#include "vidsch/sync_view.h"
#include "vidsch/vidsch_assert.h"

void vidsch_signal_end_wait(struct vidsch *vidsch, struct sync_op *op, NTSTATUS status)
{
    sim_assert_irql(SIM_IRQL_DISPATCH);
    vidsch_sync_op_unregister(op);
    list_remove(&op->link);
    op->done = true;
    op->status = status;
    if (op->thread) {
        sim_unblock(op->thread, 0);
        return;
    }
    op->notify(op->notify_context, status);
    vidsch_sync_op_release(vidsch, op);
}

void vidsch_signal_changed(struct vidsch_sync *sync)
{
    struct vidsch *vidsch = sync->vidsch;

    sim_assert_irql(SIM_IRQL_DISPATCH);
    LIST_FOR_SAFE(link, next, &sync->waiters) {
        struct sync_op *op = CONTAINER(link, struct sync_entry, link)->op;

        if (!vidsch_sync_op_try(op))
            continue;
        if (op->kind == OP_WAIT_CPU) {
            vidsch_signal_end_wait(vidsch, op, STATUS_SUCCESS);
        } else {
            vidsch_sync_op_unregister(op);
            vidsch_tell_unwait(op->context);
            vidsch_queue_schedule(op->context);
        }
    }
    vidsch_queue_run(vidsch);
}

void vidsch_signal_reread_list(struct list *all)
{
    struct list watched, *link;

    list_take_all(all, &watched);
    while ((link = list_pop_front(&watched)) != NULL) {
        struct vidsch_sync *sync = CONTAINER(link, struct vidsch_sync, watch_link);

        list_push_back(all, link);
        vidsch_signal_changed(sync);
    }
}

void vidsch_signal_reread(struct vidsch *vidsch, struct vidsch_process *process)
{
    sim_assert_irql(SIM_IRQL_DISPATCH);
    if (!list_empty(&process->watched))
        vidsch_signal_reread_list(&process->watched);
    if (!list_empty(&vidsch->syncs.watched))
        vidsch_signal_reread_list(&vidsch->syncs.watched);
}

static void write_fence(struct vidsch_sync *sync, uint64_t value)
{
    if (sync->type == D3DDDI_MONITORED_FENCE) {
        *sync->fence = value;
        vidsch_native_written(sync);
    } else {
        sync->value = value;
    }
    vidsch_signal_changed(sync);
}

static void signal_mutex(struct vidsch_sync *sync, const struct vidsch_context *context)
{
    if (sync->count != 0 || (sync->owner && sync->owner != context)) {
        verify_client_error("KMT-388", "a context signalled a mutex that it does not own");
        return;
    }
    list_remove(&sync->owner_link);
    sync->owner = NULL;
    sync->count = 1;
    vidsch_signal_changed(sync);
}

static void signal_entry(const struct sync_op *op, const struct sync_entry *entry,
                         struct vidsch_context *context)
{
    struct vidsch_sync *sync = entry->sync;

    switch (sync->type) {
    case D3DDDI_MONITORED_FENCE: /* KMT-383: a smaller value is not written */
        if (entry->value >= vidsch_sync_current(sync) || op->rewind)
            write_fence(sync, entry->value);
        break;
    case D3DDDI_FENCE: /* SUBMIT-133 */
        if (entry->value > sync->value)
            write_fence(sync, entry->value);
        break;
    case D3DDDI_SEMAPHORE:
        if (sync->count == sync->max_count) {
            verify_client_error("SUBMIT-134", "a semaphore was signalled beyond its maximum, %u",
                                sync->max_count);
            break;
        }
        sync->count++;
        vidsch_signal_changed(sync);
        break;
    case D3DDDI_SYNCHRONIZATION_MUTEX:
        signal_mutex(sync, context);
        break;
    default:
        if (sync->notify)
            sync->notify(sync->notify_context);
        break;
    }
}

void vidsch_signal_reached(struct sync_op *op, struct vidsch_context *context)
{
    sim_assert_irql(SIM_IRQL_DISPATCH);
    if (--op->remaining)
        return;
    op->done = true;
    trace_instant(context->track, "signal", "objects", op->count, NULL, 0);
    for (uint32_t i = 0; i < op->count; i++)
        signal_entry(op, &op->entries[i], context);
    if (op->notify)
        op->notify(op->notify_context, STATUS_SUCCESS);
}

static bool concerns(const struct sync_op *op, const struct vidsch_device *device)
{
    for (uint32_t i = 0; i < op->count; i++)
        if (op->entries[i].sync->device == device)
            return true;
    return false;
}

/* After a reset, set a fence that the device might have signaled to its maximum; else its waiters
 * would wait forever. */
static void jump(struct vidsch_sync *sync)
{
    bool narrow = sync->vidsch->config.caps.No64BitAtomics && !sync->flags.NoGPUAccess;

    sync->queued = narrow ? UINT32_MAX : UINT64_MAX; /* KMT-394 */
    write_fence(sync, sync->queued);
}

void vidsch_signal_device_lost(struct vidsch_device *device)
{
    struct vidsch *vidsch = device->vidsch;
    struct list waits, *link;

    vidsch_assert_worker(device->vidsch);
    list_take_all(&vidsch->syncs.cpu_waits, &waits);
    while ((link = list_pop_front(&waits)) != NULL) {
        struct sync_op *op = CONTAINER(link, struct sync_op, link);

        list_push_back(&vidsch->syncs.cpu_waits, link);
        if (concerns(op, device))
            vidsch_signal_end_wait(vidsch, op, STATUS_DEVICE_REMOVED); /* TDR-060 */
    }
    if (device->state != D3DKMT_DEVICEEXECUTION_RESET &&
        device->state != D3DKMT_DEVICEEXECUTION_HUNG)
        return;
    LIST_FOR(node, &device->syncs) { /* TDR-059 */
        struct vidsch_sync *sync = CONTAINER(node, struct vidsch_sync, link);

        if (sync->type == D3DDDI_MONITORED_FENCE && !sync->memory && !sync->flags.NoSignal &&
            !sync->flags.NoSignalMaxValueOnTdr)
            jump(sync); /* what has memory of its own has its flags in the views */
    }
    LIST_FOR(node, &device->views) {
        const struct vidsch_sync_view *view = CONTAINER(node, struct vidsch_sync_view, link);

        if (sync_view_jumps(view))
            jump(view->sync);
    }
}

void vidsch_signal_free_mutexes(struct vidsch_context *context)
{
    struct list *link;

    while ((link = list_pop_front(&context->mutexes)) != NULL) {
        struct vidsch_sync *sync = CONTAINER(link, struct vidsch_sync, owner_link);

        sync->owner = NULL;
        sync->count = 1;
        vidsch_signal_changed(sync);
    }
}
