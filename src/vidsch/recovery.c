/* SPDX-License-Identifier: MIT */
/* Requests for recovery: the code that finds a node hung, or is asked to reset it, closes the node
 * (`stopped`) and wakes the recovery thread. */
#include "vidsch/recovery.h"
#include "sim/sim_assert.h"
#include "vidsch/change.h"
#include "vidsch/kick.h"
#include "vidsch/life.h"
#include "vidsch/node.h"
#include "vidsch/scheduler.h"
#include "vidsch/vidsch_assert.h"

#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/wait.h"

static void wake(struct vidsch *vidsch)
{
    if (vidsch->recovery.idle) {
        vidsch->recovery.idle = false;
        sim_waitq_wake(&vidsch->recovery.wait, 1);
    }
}

/* The recovery thread waits for paging while memory is restored, and cannot reset anything; the
 * worker can say so. */
static void refuse_to_restore(struct vidsch *vidsch)
{
    if (!vidsch->recovery.restoring)
        return;
    vidsch->recovery.restore_hangs = true;
    vidsch_kick_worker(vidsch);
}

void vidsch_recovery_want_engine(struct vidsch_node *node, enum recover_cause cause)
{
    if (node->recover != RECOVER_NONE || node->vidsch->recovery.resetting)
        return;
    node->stopped = true;
    node->recover = cause;
    vidsch_life_event(node->vidsch, node, JOURNAL_RECOVERY, cause, 0, 0);
    wake(node->vidsch);
    refuse_to_restore(node->vidsch);
}

void vidsch_recovery_want_adapter(struct vidsch *vidsch, enum recover_cause cause)
{
    sim_assert_irql(SIM_IRQL_DISPATCH);
    if (vidsch->recovery.resetting || vidsch->recovery.adapter_wanted)
        return;
    vidsch->recovery.adapter_wanted = true;
    vidsch->recovery.adapter_cause = cause;
    for (uint32_t i = 0; i < vidsch->config.nodes; i++)
        vidsch->node[i].stopped = true;
    wake(vidsch);
    refuse_to_restore(vidsch);
}

bool vidsch_recovery_of_adapter(const struct vidsch *vidsch)
{
    return vidsch->recovery.resetting || vidsch->recovery.restoring ||
           vidsch->recovery.adapter_wanted;
}

void vidsch_recovery_await_adapter(struct vidsch *vidsch)
{
    sim_assert_passive();
    while (vidsch_recovery_of_adapter(vidsch))
        vidsch_change_wait(vidsch, SIM_FOREVER);
}

bool vidsch_recovery_wait_worker(struct vidsch *vidsch, const struct vidsch_node *node)
{
    uint64_t deadline = sim_now() + vidsch->config.tdr.ddi_delay * VIDSCH_SECOND_NS;

    vidsch_assert_recovery(vidsch);
    while (vidsch->worker.busy_node && (!node || vidsch->worker.busy_node == node))
        if (!vidsch_change_wait(vidsch, deadline))
            return false;
    return true;
}

void vidsch_recovery_collect(struct vidsch *vidsch, UINT reason)
{
    DXGKARG_COLLECTDBGINFO_EXT extension;

    vidsch_assert_recovery(vidsch);
    if (ddi_has(vidsch->ddi, DxgkDdiCollectDbgInfo) &&
        NT_SUCCESS(ddi_debug_report(vidsch->ddi, reason, &extension)))
        trace_instant(0, "debug report", "reason", reason, "bucketing key", extension.BucketingKey);
}
