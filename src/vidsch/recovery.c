/* SPDX-License-Identifier: MIT */
/*
 * The recovery thread: engine and adapter resets, one at a time, beside the worker, which goes on
 * with the healthy nodes. Whoever finds a node hung or is told to reset it closes the node
 * (`stopped`) and wakes this thread.
 */
#include "vidsch/vidsch_private.h"

static void wake(struct vidsch *vidsch)
{
    if (vidsch->recovery_idle) {
        vidsch->recovery_idle = false;
        sim_waitq_wake(&vidsch->recovery_wait, 1);
    }
}

void vidsch_want_engine_reset(struct vidsch_node *node, enum recover_cause cause)
{
    if (node->recover != RECOVER_NONE || node->vidsch->resetting)
        return;
    node->stopped = true;
    node->recover = cause;
    wake(node->vidsch);
}

void vidsch_want_adapter_reset(struct vidsch *vidsch, enum recover_cause cause)
{
    if (vidsch->resetting || vidsch->adapter_reset_wanted)
        return;
    vidsch->adapter_reset_wanted = true;
    vidsch->adapter_cause = cause;
    for (uint32_t i = 0; i < vidsch->config.nodes; i++)
        vidsch->node[i].stopped = true;
    wake(vidsch);
}

bool vidsch_wait_worker(struct vidsch *vidsch, const struct vidsch_node *node)
{
    uint64_t deadline = sim_now() + vidsch->config.tdr.ddi_delay * VIDSCH_SECOND_NS;

    while (vidsch->busy_node && (!node || vidsch->busy_node == node))
        if (!vidsch_wait_changed(vidsch, deadline))
            return false;
    return true;
}

/* What the driver can say about itself, kept with the record of the recovery (TDR-066, TDR-069). */
void vidsch_collect_debug_info(struct vidsch *vidsch, UINT reason)
{
    DXGKARG_COLLECTDBGINFO_EXT extension;

    if (ddi_has(vidsch->ddi, DxgkDdiCollectDbgInfo) &&
        NT_SUCCESS(ddi_debug_report(vidsch->ddi, reason, &extension)))
        trace_instant(0, "debug report", "reason", reason, "bucketing key", extension.BucketingKey);
}

void vidsch_recovery_main(void *arg)
{
    struct vidsch *vidsch = arg;

    while (!vidsch->recovery_end) {
        bool worked = false;

        if (vidsch->adapter_reset_wanted) {
            vidsch_adapter_reset(vidsch);
            worked = true;
        }
        for (uint32_t i = 0; i < vidsch->config.nodes && !vidsch->adapter_reset_wanted; i++) {
            if (vidsch->node[i].recover == RECOVER_NONE)
                continue;
            vidsch_engine_reset(&vidsch->node[i]);
            worked = true;
        }
        if (worked) {
            vidsch->recoveries++;
            vidsch_changed(vidsch);
            continue;
        }
        vidsch->recovery_idle = true;
        sim_waitq_wait(&vidsch->recovery_wait, SIM_FOREVER);
        vidsch->recovery_idle = false;
    }
    vidsch->recovery_ended = true;
    vidsch_changed(vidsch);
}

static bool recovering(const struct vidsch *vidsch)
{
    if (vidsch->adapter_reset_wanted || vidsch->resetting || vidsch->restoring)
        return true;
    for (uint32_t i = 0; i < vidsch->config.nodes; i++)
        if (vidsch->node[i].recover != RECOVER_NONE)
            return true;
    return false;
}

static NTSTATUS wait_recovered(struct vidsch *vidsch)
{
    while (recovering(vidsch))
        vidsch_wait_changed(vidsch, SIM_FOREVER);
    return STATUS_SUCCESS;
}

NTSTATUS vidsch_force_engine_reset(struct vidsch *vidsch, UINT node)
{
    if (node >= vidsch->config.nodes)
        return STATUS_INVALID_PARAMETER;
    if (vidsch->quiescing)
        return STATUS_DEVICE_REMOVED;
    vidsch_want_engine_reset(&vidsch->node[node], RECOVER_FORCED);
    return wait_recovered(vidsch);
}

NTSTATUS vidsch_force_reset(struct vidsch *vidsch, bool whole_adapter)
{
    if (vidsch->quiescing)
        return STATUS_DEVICE_REMOVED;
    if (whole_adapter) {
        vidsch_want_adapter_reset(vidsch, RECOVER_FORCED);
    } else {
        for (uint32_t i = 0; i < vidsch->config.nodes; i++)
            if (vidsch->node[i].count)
                vidsch_want_engine_reset(&vidsch->node[i], RECOVER_FORCED);
    }
    return wait_recovered(vidsch);
}
