/* SPDX-License-Identifier: MIT */
#include "vidsch/sync_op.h"
#include "sim/irql.h"
#include "sim/sim_assert.h"
#include "vidsch/context.h"
#include "vidsch/native_fence.h"
#include "vidsch/process.h"
#include "vidsch/scheduler.h"
#include "vidsch/sync_object.h"

struct sync_op *vidsch_sync_op_create(struct vidsch *vidsch, enum sync_op_kind kind,
                                      struct vidsch_sync *const *list, const UINT64 *values,
                                      UINT count)
{
    struct sync_op *op = slab_take(&vidsch->syncs.ops);

    sim_assert_passive();
    if (!op)
        return NULL;
    *op = (struct sync_op){.kind = kind, .count = count, .references = 1, .remaining = 1};
    list_init(&op->link);
    op->entries = op->inline_entries;
    if (count > SYNC_INLINE_ENTRIES) {
        op->entries = util_zalloc(count, sizeof(*op->entries));
        if (!op->entries) {
            slab_give(&vidsch->syncs.ops, op);
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

void vidsch_sync_op_release(struct vidsch *vidsch, struct sync_op *op)
{
    sim_assert_irql(SIM_IRQL_DISPATCH);
    if (--op->references)
        return;
    vidsch_sync_op_unregister(op);
    list_remove(&op->link);
    if (op->kind == OP_SIGNAL && !op->done && op->notify)
        op->notify(op->notify_context, STATUS_DEVICE_REMOVED); /* KMT-376 */
    for (uint32_t i = 0; i < op->count; i++)
        vidsch_sync_release(op->entries[i].sync);
    if (op->entries != op->inline_entries)
        util_free(op->entries);
    slab_give(&vidsch->syncs.ops, op);
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

bool vidsch_sync_op_try(struct sync_op *op)
{
    uint32_t reached = 0;

    sim_assert_irql(SIM_IRQL_DISPATCH);
    for (uint32_t i = 0; i < op->count; i++)
        reached += satisfied(&op->entries[i]);
    if (op->any ? reached == 0 : reached < op->count)
        return false;
    for (uint32_t i = 0; i < op->count; i++)
        take(&op->entries[i], op->context);
    op->done = true;
    return true;
}

void vidsch_sync_op_register(struct sync_op *op)
{
    if (op->registered)
        return;
    op->registered = true;
    for (uint32_t i = 0; i < op->count; i++) {
        struct vidsch_sync *sync = op->entries[i].sync;

        list_push_back(&sync->waiters, &op->entries[i].link);
        if (sync->type == D3DDDI_MONITORED_FENCE && list_empty(&sync->watch_link))
            list_push_back(sync->watched, &sync->watch_link);
        vidsch_native_waiters_changed(sync);
    }
}

void vidsch_sync_op_unregister(struct sync_op *op)
{
    if (!op->registered)
        return;
    op->registered = false;
    for (uint32_t i = 0; i < op->count; i++) {
        struct vidsch_sync *sync = op->entries[i].sync;

        list_remove(&op->entries[i].link);
        if (list_empty(&sync->waiters))
            list_remove(&sync->watch_link);
        vidsch_native_waiters_changed(sync);
    }
}
