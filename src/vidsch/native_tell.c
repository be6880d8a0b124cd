/* SPDX-License-Identifier: MIT */
/* What the driver is told of native fences, by the worker, and what it notifies. */
#include "nt/base/status_name.h"
#include "sim/fault.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/sim_assert.h"
#include "vidsch/change.h"
#include "vidsch/hw_retire.h"
#include "vidsch/native_fence.h"
#include "vidsch/node.h"
#include "vidsch/process.h"
#include "vidsch/scheduler.h"
#include "vidsch/signal.h"
#include "vidsch/vidsch_assert.h"
#include "vidsch/vidsch_bugcheck.h"

#include "ddi/entries_fence.h"

#include <dxgk_wddm3_2.h>

#define BATCH 16u

struct batch {
    UINT count;
    struct vidsch_native *native[BATCH];
    HANDLE handle[BATCH];
    UINT64 value[BATCH];
};

static void put(struct batch *batch, struct vidsch_native *native, uint64_t value)
{
    batch->native[batch->count] = native;
    batch->handle[batch->count] = native->driver_handle;
    batch->value[batch->count++] = value;
    native->busy = true;
    native->sync->references++;
}

/* Their references go, and whoever waits to end one goes on. */
static void finish(struct vidsch *vidsch, struct batch *batch)
{
    for (UINT i = 0; i < batch->count; i++)
        batch->native[i]->busy = false;
    for (UINT i = 0; i < batch->count; i++)
        vidsch_sync_release(batch->native[i]->sync);
    vidsch_change_announce(&vidsch->change);
}

static void report(const struct vidsch *vidsch, const char *entry, NTSTATUS status)
{
    if (ddi_driver_failed(vidsch->ddi, status) && status != STATUS_NO_MEMORY)
        VIOLATION("SUBMIT-150", "%s answered %s", entry, nt_status_text(status).text);
}

/* The structure of 3.1 has no CPU address of MonitoredValue, so the host writes it, too, before. */
static void update(struct vidsch *vidsch, struct batch *batch)
{
    DXGKARG_UPDATEMONITOREDVALUES args = {.NativeFenceArray = batch->handle,
                                          .UpdatedValueArray = batch->value,
                                          .UpdatedValueCount = batch->count};

    for (UINT i = 0; i < batch->count; i++)
        *vidmm_fence_memory_kernel(batch->native[i]->memory) = batch->value[i];
    if (ddi_has(vidsch->ddi, DxgkDdiUpdateMonitoredValues))
        report(vidsch, "DxgkDdiUpdateMonitoredValues",
               ddi_update_monitored_values(vidsch->ddi, &args));
    for (UINT i = 0; i < batch->count; i++)
        vidsch_signal_changed(batch->native[i]->sync);
}

static void notify(struct vidsch *vidsch, struct batch *batch)
{
    const DXGKARG_NOTIFYCURRENTVALUEUPDATES args = {.NativeFenceArray = batch->handle,
                                                    .UpdatedValueCount = batch->count};

    if (ddi_has(vidsch->ddi, DxgkDdiNotifyCurrentValueUpdates))
        report(vidsch, "DxgkDdiNotifyCurrentValueUpdates",
               ddi_notify_current_value_updates(vidsch->ddi, &args));
}

static bool may_call(const struct vidsch *vidsch)
{
    return !vidsch->recovery.resetting && !vidsch->suspension.all && !sim_current->stopped;
}

/* Those whose CurrentValue the CPU has written; the others stay on the list. */
static void tell_written(struct vidsch *vidsch)
{
    struct batch batch = {0};

    LIST_FOR_SAFE(link, next, &vidsch->syncs.native_due) {
        struct vidsch_native *native = CONTAINER(link, struct vidsch_native, due_link);

        if (!native->written || batch.count == BATCH)
            continue;
        native->written = false;
        list_remove(link); /* it may be written again at once, and is behind the others then */
        list_push_back(&vidsch->syncs.native_due, link);
        put(&batch, native, 0);
    }
    if (!batch.count)
        return;
    notify(vidsch, &batch);
    finish(vidsch, &batch);
}

static void tell_monitored(struct vidsch *vidsch)
{
    struct batch batch = {0};

    LIST_FOR_SAFE(link, next, &vidsch->syncs.native_due) {
        struct vidsch_native *native = CONTAINER(link, struct vidsch_native, due_link);
        const uint64_t value = vidsch_native_value(native->sync);

        if (native->written || batch.count == BATCH)
            continue;
        list_remove(link);
        if (value == native->told)
            continue;
        native->told = value;
        put(&batch, native, value);
    }
    if (!batch.count)
        return;
    update(vidsch, &batch);
    finish(vidsch, &batch);
}

bool vidsch_native_tell(struct vidsch *vidsch)
{
    vidsch_assert_worker(vidsch);
    if (!list_empty(&vidsch->syncs.native_due) && may_call(vidsch)) {
        tell_written(vidsch);
        tell_monitored(vidsch);
    }
    return !list_empty(&vidsch->syncs.native_due) && may_call(vidsch);
}

/* ---- what the driver notifies ---- */

static bool note_signaled(struct vidsch_node *node, const HANDLE *array, UINT i)
{
    struct vidsch *vidsch = node->vidsch;
    struct vidsch_native *native;
    HANDLE handle;

    if (!sim_copy_checked(&handle, &array[i], sizeof(handle))) {
        VIOLATION("SUBMIT-151", "pSignaledNativeFenceArray cannot be read at element %u, %p", i,
                  (const void *)&array[i]);
        return false;
    }
    native = ddi_handle_lookup(&vidsch->ddi->handles, handle, DDI_HANDLE_NATIVE_FENCE);
    if (!native) {
        verify_fatal("SUBMIT-151", VIDEO_SCHEDULER_INTERNAL_ERROR, SCHEDULER_INVALID_FENCE,
                     (uint64_t)(uintptr_t)handle, i, node->ordinal,
                     "element %u of pSignaledNativeFenceArray is %s, not a live native fence", i,
                     ddi_handle_describe(&vidsch->ddi->handles, handle).text);
        return false;
    }
    if (list_empty(&native->signaled_link))
        list_push_back(&vidsch->syncs.native_signaled, &native->signaled_link);
    return true;
}

bool vidsch_native_notified(struct vidsch_node *node, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *data)
{
    const HANDLE *array = data->NativeFenceSignaled.pSignaledNativeFenceArray;

    if (!array) {
        node->hw.native_all = true;
        node->hw.native_legacy |= (data->Flags.Value &
                                   DXGK_NOTIFY_EVALUATE_LEGACY_MONITORED_FENCES) != 0;
        return true;
    }
    for (UINT i = 0; i < data->NativeFenceSignaled.SignaledNativeFenceCount; i++)
        if (!note_signaled(node, array, i))
            return false;
    return true;
}

static void read_all(struct vidsch *vidsch)
{
    vidsch_signal_reread_list(&vidsch->syncs.native_watched);
    LIST_FOR(link, &vidsch->syncs.native_watched)
        vidsch_native_waiters_changed(CONTAINER(link, struct vidsch_sync, watch_link));
}

static void read_monitored(struct vidsch *vidsch)
{
    LIST_FOR_SAFE(process, next, &vidsch->processes)
        vidsch_signal_reread(vidsch, CONTAINER(process, struct vidsch_process, link));
}

void vidsch_native_missed(struct vidsch *vidsch)
{
    read_all(vidsch);
    read_monitored(vidsch);
}

void vidsch_native_dpc(struct vidsch_node *node)
{
    struct vidsch *vidsch = node->vidsch;
    struct list *link;

    sim_assert_irql(SIM_IRQL_DISPATCH);
    while ((link = list_pop_front(&vidsch->syncs.native_signaled)) != NULL) {
        struct vidsch_sync *sync = CONTAINER(link, struct vidsch_native, signaled_link)->sync;

        vidsch_signal_changed(sync);
        vidsch_native_waiters_changed(sync);
    }
    if (node->hw.native_all)
        read_all(vidsch);
    if (node->hw.native_legacy) {
        vidsch_hw_retire_node(node);
        read_monitored(vidsch);
    }
    node->hw.native_all = node->hw.native_legacy = false;
}
