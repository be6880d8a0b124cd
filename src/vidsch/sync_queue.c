/* SPDX-License-Identifier: MIT */
/*
 * Waits and signals as they happen. An operation (struct sync_op) names objects and values; a
 * packet of a context's queue, or a waiting thread, refers to it. A wait that is not satisfied
 * stands in the waiter list of each of its objects; whenever an object changes, its waiters are
 * tried in order of arrival (KMT-389), each for all of its objects at once (KMT-387).
 *
 * The GPU writes monitored fences behind our back. Fences that somebody waits for are therefore on
 * the list of their process (`watched`), and are read again whenever a packet of the process is
 * retired (SUBMIT-136) or the driver says so (SUBMIT-083).
 */
#include "vidsch/vidsch_private.h"

struct sync_op *vidsch_op_create(struct vidsch *vidsch, enum sync_op_kind kind,
                                 struct vidsch_sync *const *list, const UINT64 *values, UINT count)
{
    struct sync_op *op = slab_take(&vidsch->ops);

    if (!op)
        return NULL;
    *op = (struct sync_op){.kind = kind, .count = count, .references = 1, .remaining = 1};
    list_init(&op->link);
    op->entries = op->inline_entries;
    if (count > SYNC_INLINE_ENTRIES) {
        op->entries = util_zalloc(count, sizeof(*op->entries));
        if (!op->entries) {
            slab_give(&vidsch->ops, op);
            return NULL;
        }
    }
    op->at_submission = count > 0;
    for (UINT i = 0; i < count; i++) {
        op->entries[i] = (struct sync_entry){
            .sync = list[i], .op = op, .value = values ? values[i] : 0};
        list_init(&op->entries[i].link);
        list[i]->references++;
        if (!list[i]->flags.TopOfPipeline)
            op->at_submission = false;
    }
    return op;
}

void vidsch_op_release(struct vidsch *vidsch, struct sync_op *op)
{
    if (--op->references)
        return;
    vidsch_wait_unregister(op);
    list_remove(&op->link);
    if (op->kind == OP_SIGNAL && !op->done && op->notify)
        op->notify(op->notify_context, STATUS_DEVICE_REMOVED); /* KMT-376 */
    for (uint32_t i = 0; i < op->count; i++)
        vidsch_sync_release(op->entries[i].sync);
    if (op->entries != op->inline_entries)
        util_free(op->entries);
    slab_give(&vidsch->ops, op);
}

/* The object itself goes later, at PASSIVE_LEVEL: its memory is vidmm's. */
void vidsch_sync_release(struct vidsch_sync *sync)
{
    if (--sync->references)
        return;
    list_push_back(&sync->vidsch->dead_syncs, &sync->link);
    vidsch_worker_wake(sync->vidsch);
}

void vidsch_syncs_reap(struct vidsch *vidsch)
{
    struct list *link;

    while ((link = list_pop_front(&vidsch->dead_syncs)) != NULL) {
        struct vidsch_sync *sync = CONTAINER(link, struct vidsch_sync, link);

        if (sync->type == D3DDDI_MONITORED_FENCE && sync->process->mm)
            vidmm_fence_slot_destroy(sync->process->mm, &sync->slot);
        list_remove(&sync->owner_link);
        vidsch_process_put(vidsch, sync->process);
        util_free(sync);
    }
}

uint64_t vidsch_sync_current(const struct vidsch_sync *sync)
{
    return sync->type == D3DDDI_MONITORED_FENCE ? *sync->slot.kernel : sync->value;
}

static bool satisfied(const struct sync_entry *entry)
{
    const struct vidsch_sync *sync = entry->sync;

    if (sync->type == D3DDDI_SEMAPHORE || sync->type == D3DDDI_SYNCHRONIZATION_MUTEX)
        return sync->count > 0;
    return vidsch_sync_current(sync) >= entry->value;
}

static void take(const struct sync_entry *entry, struct vidsch_context *context)
{
    struct vidsch_sync *sync = entry->sync;

    if (sync->type == D3DDDI_SEMAPHORE) {
        sync->count--;
    } else if (sync->type == D3DDDI_SYNCHRONIZATION_MUTEX) {
        sync->count = 0;
        sync->owner = context;
        list_push_back(&context->mutexes, &sync->owner_link);
    }
}

bool vidsch_wait_try(struct sync_op *op)
{
    uint32_t reached = 0;

    for (uint32_t i = 0; i < op->count; i++)
        reached += satisfied(&op->entries[i]);
    if (op->any ? reached == 0 : reached < op->count)
        return false;
    for (uint32_t i = 0; i < op->count; i++)
        take(&op->entries[i], op->context);
    op->done = true;
    return true;
}

void vidsch_wait_register(struct sync_op *op)
{
    if (op->registered)
        return;
    op->registered = true;
    for (uint32_t i = 0; i < op->count; i++) {
        struct vidsch_sync *sync = op->entries[i].sync;

        list_push_back(&sync->waiters, &op->entries[i].link);
        if (sync->type == D3DDDI_MONITORED_FENCE && list_empty(&sync->watch_link))
            list_push_back(&sync->process->watched, &sync->watch_link);
    }
}

void vidsch_wait_unregister(struct sync_op *op)
{
    if (!op->registered)
        return;
    op->registered = false;
    for (uint32_t i = 0; i < op->count; i++) {
        struct vidsch_sync *sync = op->entries[i].sync;

        list_remove(&op->entries[i].link);
        if (list_empty(&sync->waiters))
            list_remove(&sync->watch_link);
    }
}

void vidsch_cpu_wait_end(struct vidsch *vidsch, struct sync_op *op, NTSTATUS status)
{
    vidsch_wait_unregister(op);
    list_remove(&op->link);
    op->done = true;
    op->status = status;
    if (op->thread) {
        sim_unblock(op->thread, 0);
        return;
    }
    op->notify(op->notify_context, status);
    vidsch_op_release(vidsch, op);
}

void vidsch_sync_changed(struct vidsch_sync *sync)
{
    struct vidsch *vidsch = sync->vidsch;

    LIST_FOR_SAFE(link, next, &sync->waiters) {
        struct sync_op *op = CONTAINER(link, struct sync_entry, link)->op;

        if (!vidsch_wait_try(op))
            continue;
        if (op->kind == OP_WAIT_CPU) {
            vidsch_cpu_wait_end(vidsch, op, STATUS_SUCCESS);
        } else {
            vidsch_wait_unregister(op);
            vidsch_queue_schedule(op->context);
        }
    }
    vidsch_queue_run(vidsch);
}

void vidsch_process_reread(struct vidsch_process *process)
{
    struct list watched, *link;

    list_take_all(&process->watched, &watched);
    while ((link = list_pop_front(&watched)) != NULL) {
        struct vidsch_sync *sync = CONTAINER(link, struct vidsch_sync, watch_link);

        list_push_back(&process->watched, link);
        vidsch_sync_changed(sync);
    }
}

static void write_fence(struct vidsch_sync *sync, uint64_t value)
{
    if (sync->type == D3DDDI_MONITORED_FENCE)
        *sync->slot.kernel = value;
    else
        sync->value = value;
    vidsch_sync_changed(sync);
}

static void signal_mutex(struct vidsch_sync *sync, const struct vidsch_context *context)
{
    if (sync->count != 0 || (sync->owner && sync->owner != context)) {
        WARNING("KMT-388", "a context signalled a mutex that it does not own");
        return;
    }
    list_remove(&sync->owner_link);
    sync->owner = NULL;
    sync->count = 1;
    vidsch_sync_changed(sync);
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
            WARNING("SUBMIT-134", "a semaphore was signalled beyond %u", sync->max_count);
            break;
        }
        sync->count++;
        vidsch_sync_changed(sync);
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

/* A reset makes fences that the device could have signalled jump to the maximum, for its waiters
 * would wait for ever. */
static void jump(struct vidsch_sync *sync)
{
    bool narrow = sync->vidsch->config.caps.No64BitAtomics && !sync->flags.NoGPUAccess;

    if (sync->type != D3DDDI_MONITORED_FENCE || sync->flags.NoSignal ||
        sync->flags.NoSignalMaxValueOnTdr)
        return;
    sync->queued = narrow ? UINT32_MAX : UINT64_MAX; /* KMT-394 */
    write_fence(sync, sync->queued);
}

void vidsch_syncs_lost(struct vidsch_device *device)
{
    struct vidsch *vidsch = device->vidsch;
    struct list waits, *link;

    list_take_all(&vidsch->cpu_waits, &waits);
    while ((link = list_pop_front(&waits)) != NULL) {
        struct sync_op *op = CONTAINER(link, struct sync_op, link);

        list_push_back(&vidsch->cpu_waits, link);
        if (concerns(op, device))
            vidsch_cpu_wait_end(vidsch, op, STATUS_DEVICE_REMOVED); /* TDR-060 */
    }
    if (device->state != D3DKMT_DEVICEEXECUTION_RESET &&
        device->state != D3DKMT_DEVICEEXECUTION_HUNG)
        return;
    LIST_FOR(node, &device->syncs)
        jump(CONTAINER(node, struct vidsch_sync, link)); /* TDR-059 */
}

void vidsch_mutexes_free(struct vidsch_context *context)
{
    struct list *link;

    while ((link = list_pop_front(&context->mutexes)) != NULL) {
        struct vidsch_sync *sync = CONTAINER(link, struct vidsch_sync, owner_link);

        sync->owner = NULL;
        sync->count = 1;
        vidsch_sync_changed(sync);
    }
}
