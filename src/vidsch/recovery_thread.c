/* SPDX-License-Identifier: MIT */
/*
 * The recovery thread: it carries out engine and adapter resets, one at a time, while the worker
 * continues to serve the healthy nodes.
 */
#include "sim/machine.h"
#include "sim/wait.h"
#include "verify/refusal.h"
#include "verify/verify.h"
#include "vidsch/adapter_reset.h"
#include "vidsch/change.h"
#include "vidsch/engine_reset.h"
#include "vidsch/flip_loss.h"
#include "vidsch/node.h"
#include "vidsch/recovery.h"
#include "vidsch/scheduler.h"

void vidsch_recovery_main(void *arg)
{
    struct vidsch *vidsch = arg;

    while (!vidsch->recovery.end) {
        bool worked = false;

        if (vidsch->recovery.adapter_wanted) {
            vidsch_adapter_reset(vidsch, vidsch->recovery.adapter_cause);
            worked = true;
        }
        for (uint32_t i = 0; i < vidsch->config.nodes && !vidsch->recovery.adapter_wanted; i++) {
            if (vidsch->node[i].recover == RECOVER_NONE)
                continue;
            vidsch_engine_reset(&vidsch->node[i]);
            worked = true;
        }
        if (worked) {
            vidsch_change_announce(&vidsch->change);
            continue;
        }
        vidsch->recovery.idle = true;
        sim_waitq_wait(&vidsch->recovery.wait, SIM_FOREVER);
        vidsch->recovery.idle = false;
    }
    vidsch->recovery.ended = true;
    vidsch_change_announce(&vidsch->change);
}

static bool recovering(const struct vidsch *vidsch)
{
    if (vidsch_recovery_of_adapter(vidsch))
        return true;
    for (uint32_t i = 0; i < vidsch->config.nodes; i++)
        if (vidsch->node[i].recover != RECOVER_NONE)
            return true;
    return false;
}

static NTSTATUS wait_recovered(struct vidsch *vidsch)
{
    while (recovering(vidsch))
        vidsch_change_wait(vidsch, SIM_FOREVER);
    return STATUS_SUCCESS;
}

/* Paging that restores memory must not be stopped: the recovery thread waits for it. */
static NTSTATUS await_memory(struct vidsch *vidsch)
{
    while (vidsch->recovery.restoring)
        vidsch_change_wait(vidsch, SIM_FOREVER);
    return vidsch->quiescing ? refuse(STATUS_DEVICE_REMOVED, NULL, "the adapter is being stopped")
                             : STATUS_SUCCESS;
}

NTSTATUS vidsch_force_engine_reset(struct vidsch *vidsch, UINT node)
{
    NTSTATUS status;

    if (node >= vidsch->config.nodes)
        return refuse(STATUS_INVALID_PARAMETER, NULL, "node %u, the adapter has %u", node,
                      vidsch->config.nodes);
    status = await_memory(vidsch);
    if (!NT_SUCCESS(status))
        return status;
    vidsch_recovery_want_engine(&vidsch->node[node], RECOVER_FORCED);
    return wait_recovered(vidsch);
}

bool vidsch_flip_lost(struct vidsch *vidsch, UINT source)
{
    if (vidsch->config.tdr.level == TDR_LEVEL_OFF ||
        vidsch->config.tdr.debug_mode == TDR_DEBUG_IGNORE_TIMEOUTS)
        return false;
    if (vidsch->config.tdr.level == TDR_LEVEL_FATAL) {
        verify_fatal("TDR-008", VIDEO_TDR_FAILURE, 0, 0, 0, source,
                     "a flip of source %u timed out with TdrLevel 1", source);
        return true;
    }
    vidsch->recovery.source = source;
    vidsch_recovery_want_adapter(vidsch, RECOVER_FLIP);
    return true;
}

NTSTATUS vidsch_force_reset(struct vidsch *vidsch, bool whole_adapter)
{
    NTSTATUS status = await_memory(vidsch);

    if (!NT_SUCCESS(status))
        return status;
    if (whole_adapter) {
        vidsch_recovery_want_adapter(vidsch, RECOVER_FORCED);
    } else {
        for (uint32_t i = 0; i < vidsch->config.nodes; i++)
            if (vidsch->node[i].count)
                vidsch_recovery_want_engine(&vidsch->node[i], RECOVER_FORCED);
    }
    return wait_recovered(vidsch);
}
