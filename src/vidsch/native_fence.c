/* SPDX-License-Identifier: MIT */
#include "vidsch/native_fence.h"
#include "nt/base/status_name.h"
#include "sim/machine.h"
#include "sim/sim_assert.h"
#include "vidmm/process.h"
#include "vidsch/change.h"
#include "vidsch/kick.h"
#include "vidsch/scheduler.h"
#include "vidsch/sync_op.h"

#include "ddi/entries_fence.h"

/* An entry that has reached its value is not waited for, though others of its operation are. */
uint64_t vidsch_native_value(const struct vidsch_sync *sync)
{
    const uint64_t current = vidsch_sync_current(sync);
    uint64_t least = 0;

    LIST_FOR(link, &sync->waiters) {
        const struct sync_entry *entry = CONTAINER(link, struct sync_entry, link);

        if (entry->value > current && (least == 0 || entry->value < least))
            least = entry->value;
    }
    return least - 1; /* nobody waits: NATIVE_NOBODY */
}

static void is_due(struct vidsch_native *native)
{
    struct vidsch *vidsch = native->sync->vidsch;

    if (list_empty(&native->due_link))
        list_push_back(&vidsch->syncs.native_due, &native->due_link);
    vidsch_kick_worker(vidsch);
}

void vidsch_native_waiters_changed(struct vidsch_sync *sync)
{
    struct vidsch_native *native = sync->native;

    if (native && native->begun && vidsch_native_value(sync) != native->told)
        is_due(native);
}

void vidsch_native_written(struct vidsch_sync *sync)
{
    struct vidsch_native *native = sync->native;

    if (!native || !native->begun)
        return;
    native->written = true;
    is_due(native);
}

/* ---- the end ---- */

void vidsch_native_free(struct vidsch_native *native)
{
    struct vidsch *vidsch = native->sync->vidsch;

    (void)ddi_handle_remove(&vidsch->ddi->handles, native->host_handle, DDI_HANDLE_NATIVE_FENCE);
    for (unsigned i = 0; i < 2; i++)
        vidmm_fence_slot_destroy(vidmm_paging_process(vidsch->vidmm), &native->cmp[i]);
    if (native->memory)
        vidmm_fence_memory_release(native->memory);
    util_free(native);
}

void vidsch_native_end(struct vidsch_sync *sync)
{
    struct vidsch_native *native = sync->native;
    struct vidsch *vidsch = sync->vidsch;
    NTSTATUS status;

    sim_assert_passive();
    if (!native)
        return;
    list_remove(&native->due_link);
    list_remove(&native->signaled_link);
    if (native->begun) {
        native->begun = false;
        while (native->busy && !sim_current->stopped)
            vidsch_change_wait(vidsch, SIM_FOREVER);
        status = ddi_destroy_native_fence(vidsch->ddi, native->driver_handle);
        if (ddi_driver_failed(vidsch->ddi, status))
            VIOLATION("SUBMIT-149", "DxgkDdiDestroyNativeFence answered %s",
                      nt_status_text(status).text);
    }
    list_remove(&native->signaled_link); /* it was notified in the meantime */
    sync->native = NULL;
    sync->watched = &vidsch->syncs.watched; /* for what is still queued */
    if (!list_empty(&sync->watch_link)) {
        list_remove(&sync->watch_link);
        list_push_back(sync->watched, &sync->watch_link);
    }
    vidsch_native_free(native);
}
