/* SPDX-License-Identifier: MIT */
/*
 * A packet that has been the oldest on its node for TdrDelay may hang, or its interrupt may be
 * lost. The driver is asked for the current fence; if that does not help, it is asked to preempt
 * the node.
 */
#include "vidsch/timeout.h"
#include "sim/event.h"
#include "sim/machine.h"
#include "verify/verify.h"
#include "vidsch/change.h"
#include "vidsch/engine_check.h"
#include "vidsch/kick.h"
#include "vidsch/node.h"
#include "vidsch/preempt.h"
#include "vidsch/recovery.h"
#include "vidsch/scheduler.h"
#include "vidsch/vidsch_assert.h"

static void watch_fires(struct sim_event *event)
{
    struct vidsch_node *node = CONTAINER(event, struct node_event, event)->node;

    node->watch_due = true;
    vidsch_kick_node(node);
}

void vidsch_timeout_init(struct vidsch_node *node)
{
    node->watch = (struct node_event){.event.fire = watch_fires, .node = node};
}

/* SUBMIT-090, TDR-005: an interrupt that was lost is made up for in this call. */
static void ask_for_fence(struct vidsch_node *node)
{
    DXGKARG_QUERYCURRENTFENCE args = {.NodeOrdinal = node->ordinal};

    if (!ddi_has(node->vidsch->ddi, DxgkDdiQueryCurrentFence))
        return;
    if (NT_SUCCESS(ddi_query_current_fence(node->vidsch->ddi, &args)) && args.CurrentFence &&
        fence_after(args.CurrentFence, node->reported))
        VIOLATION("SUBMIT-091",
                  "DxgkDdiQueryCurrentFence answered fence %u for node %u, but the last one that "
                  "DxgkCbNotifyInterrupt was told is %u",
                  args.CurrentFence, node->ordinal, node->reported);
}

void vidsch_timeout_check(struct vidsch_node *node)
{
    struct vidsch *vidsch = node->vidsch;
    uint64_t delay = vidsch_tdr_delay(vidsch);
    uint32_t reported;

    vidsch_assert_worker(vidsch);
    node->watch_due = false;
    if (node->count == 0 || node->stopped || vidsch->recovery.resetting)
        return;
    if (sim_now() < node->oldest_since + delay) {
        vidsch_node_watch(node);
        return;
    }
    if (node->preempting)
        return; /* the answer has a deadline of its own */
    if (vidsch_node_is_exempt(node) || vidsch->config.tdr.debug_mode == TDR_DEBUG_IGNORE_TIMEOUTS) {
        sim_event_arm(&node->watch.event, sim_now() + delay);
        return;
    }
    reported = node->reported;
    vidsch->worker.busy_node = node;
    ask_for_fence(node);
    if (reported != node->reported || node->count == 0) {
        sim_event_arm(&node->watch.event, sim_now() + delay);
    } else if (!node->stopped && !vidsch->recovery.resetting) {
        vidsch_engine_check_overdue(node);
        sim_event_arm(&node->watch.event, sim_now() + delay);
        if (vidsch->config.tdr.enable_preemption && vidsch->config.caps.PreemptionAware &&
            !node_is_barren(node))
            vidsch_preempt_request(node, PREEMPT_TIMEOUT);
        else
            vidsch_recovery_want_engine(node, RECOVER_TIMEOUT); /* PREEMPT-003, PREEMPT-046 */
    }
    vidsch->worker.busy_node = NULL;
    vidsch_change_announce(&vidsch->change);
}
