/* SPDX-License-Identifier: MIT */
/*
 * Preemption of one node. A request takes an id from the node's counter (PREEMPT-011); until its
 * answer nothing is submitted there (PREEMPT-012). The answer splits the ring: packets up to
 * LastCompletedFenceId are completed, the others go back to where they came from, paging packets to
 * be given first and with their ids, render packets with new ones.
 */
#include "vidsch/vidsch_private.h"

/* Whether the oldest packet on the node is exempt from timeouts (TDR-006, TDR-007). */
static bool oldest_is_exempt(const struct vidsch_node *node)
{
    const struct vidsch_context *context;

    if (node->count == 0)
        return false;
    context = node_in_flight(node, 0)->context;
    return context->device->flags.DisableGpuTimeout || context->flags.DisableGpuTimeout;
}

static void answer_is_late(struct sim_event *event)
{
    struct vidsch_node *node = CONTAINER(event, struct node_event, event)->node;
    struct vidsch *vidsch = node->vidsch;

    if (!node->preempting || node->preempt_answered || node->stopped || vidsch->resetting)
        return;
    if (oldest_is_exempt(node) || vidsch->config.tdr.debug_mode == 1) {
        sim_event_arm(event, sim_now() + vidsch_tdr_delay(vidsch));
        return;
    }
    vidsch_want_engine_reset(node, RECOVER_TIMEOUT); /* PREEMPT-041 */
}

static void quantum_is_over(struct sim_event *event)
{
    vidsch_kick(CONTAINER(event, struct node_event, event)->node);
}

static void watch_fires(struct sim_event *event)
{
    struct vidsch_node *node = CONTAINER(event, struct node_event, event)->node;

    node->watch_due = true;
    vidsch_kick(node);
}

void vidsch_node_events_init(struct vidsch_node *node)
{
    node->deadline = (struct node_event){.event.fire = answer_is_late, .node = node};
    node->quantum = (struct node_event){.event.fire = quantum_is_over, .node = node};
    node->watch = (struct node_event){.event.fire = watch_fires, .node = node};
}

void vidsch_node_events_cancel(struct vidsch_node *node)
{
    sim_event_cancel(&node->deadline.event);
    sim_event_cancel(&node->quantum.event);
    sim_event_cancel(&node->watch.event);
}

NTSTATUS vidsch_preempt(struct vidsch_node *node, enum preempt_reason reason)
{
    struct vidsch *vidsch = node->vidsch;
    DXGKARG_PREEMPTCOMMAND args = {.NodeOrdinal = node->ordinal};
    NTSTATUS status;

    node->preempting = reason;
    node->preempt_answered = false;
    node->preempt_since = sim_now();
    node->preempt_id = args.PreemptionFenceId = vidsch_next_fence(node);
    vidsch->statistics.preemptions++;
    trace_instant(node->track, "preempt", "id", node->preempt_id, NULL, 0);
    if (vidsch->config.tdr.level != 0 && reason != PREEMPT_DEPENDENT)
        sim_event_arm(&node->deadline.event, sim_now() + vidsch_tdr_delay(vidsch));
    status = ddi_preempt_command(vidsch->ddi, &args); /* the answer may come inside (PREEMPT-014) */
    if (!NT_SUCCESS(status))
        verify_fatal("SUBMIT-037", 0x119, 0x2, (uint32_t)status, args.PreemptionFenceId,
                     node->ordinal, "DxgkDdiPreemptCommand answered 0x%08x", (unsigned)status);
    return status;
}

/* The node is as if nobody had asked; a late answer to the request is dropped (TDR-044). */
void vidsch_preempt_close(struct vidsch_node *node)
{
    if (!node->preempting)
        return;
    node->closed_preempt_id = node->preempt_id;
    node->preempting = PREEMPT_NONE;
    node->preempt_answered = false;
    sim_event_cancel(&node->deadline.event);
}

void vidsch_preempt_answered(struct vidsch_node *node, uint32_t last_completed)
{
    struct packet *packets[VIDSCH_MAX_DEPTH];
    uint32_t count;

    if (!node->preempting)
        return;
    vidsch_retire_through(node, last_completed); /* PREEMPT-017 */
    count = vidsch_ring_take(node, packets);
    node->preempting = PREEMPT_NONE;
    node->preempt_answered = false;
    sim_event_cancel(&node->deadline.event);
    trace_instant(node->track, "preempted", "packets", count, NULL, 0);
    vidsch_queue_return(node, packets, count);
    vidsch_changed(node->vidsch);
}

static bool is_on_node(const struct vidsch_node *node, const struct vidsch_context *context)
{
    for (uint32_t i = 0; i < node->count; i++)
        if (node_in_flight(node, i)->context == context)
            return true;
    return false;
}

/* Somebody waits at this level who has nothing on the node yet: the next packet of one who has comes
 * to its turn by itself. */
static bool newcomer_waits(const struct vidsch_node *node, uint32_t level)
{
    LIST_FOR(link, &node->ready[level])
        if (!is_on_node(node, CONTAINER(link, struct vidsch_context, run_link)))
            return true;
    return false;
}

/* The highest level, not below `least`, at which one waits. False: none. */
static bool newcomer_level(const struct vidsch_node *node, uint32_t least, uint32_t *level)
{
    for (uint32_t mask = node->ready_mask; mask; mask &= ~(1u << *level)) {
        *level = 31u - (uint32_t)__builtin_clz(mask);
        if (*level < least)
            return false;
        if (newcomer_waits(node, *level))
            return true;
    }
    return false;
}

/*
 * The worker found nothing it may submit to the node. Is something better waiting than what runs?
 * (PREEMPT-039, PREEMPT-040)
 *
 *   paging waits, node full of other work         now
 *   a higher level waits                          after one quantum of the running packet
 *   another context of the same level waits       after ten
 */
void vidsch_preempt_consider(struct vidsch_node *node)
{
    struct vidsch *vidsch = node->vidsch;
    const struct vidsch_context *running;
    enum preempt_reason reason = PREEMPT_PRIORITY;
    uint32_t level;
    uint64_t due;

    if (node->ready_mask == 0 || node->count < node->depth || node->preempting || node->stopped ||
        vidsch->resetting)
        return; /* PREEMPT-015: with nothing in flight there is nothing to preempt */
    if (!vidsch->config.tdr.enable_preemption || !vidsch->config.caps.PreemptionAware)
        return;
    running = node_in_flight(node, 0)->context;
    if (!newcomer_level(node, running->level, &level))
        return;
    due = node->oldest_since;
    if (level == VIDSCH_PAGING_LEVEL)
        reason = PREEMPT_PAGING;
    else
        due += VIDSCH_QUANTUM_NS * (level > running->level ? 1 : VIDSCH_LONG_QUANTA);
    if (sim_now() < due) {
        if (!sim_event_pending(&node->quantum.event) || node->quantum.event.due > due)
            sim_event_arm(&node->quantum.event, due);
        return;
    }
    vidsch->busy_node = node;
    vidsch_preempt(node, reason);
    vidsch->busy_node = NULL;
    vidsch_changed(vidsch);
}

/* ---- the watch (TDR-003 to TDR-005) ---- */

uint64_t vidsch_tdr_delay(const struct vidsch *vidsch)
{
    return vidsch->config.tdr.delay * VIDSCH_SECOND_NS;
}

/* The timer is not moved at each completion: when it fires it looks how long the oldest packet has
 * been the oldest. */
void vidsch_watch_start(struct vidsch_node *node)
{
    if (node->vidsch->config.tdr.level != 0 && !sim_event_pending(&node->watch.event))
        sim_event_arm(&node->watch.event, node->oldest_since + vidsch_tdr_delay(node->vidsch));
}

void vidsch_watch_check(struct vidsch_node *node)
{
    struct vidsch *vidsch = node->vidsch;
    uint64_t delay = vidsch_tdr_delay(vidsch);
    uint32_t reported;

    node->watch_due = false;
    if (node->count == 0 || node->stopped || vidsch->resetting)
        return;
    if (sim_now() < node->oldest_since + delay) {
        vidsch_watch_start(node);
        return;
    }
    if (node->preempting)
        return; /* the answer has its own limit */
    if (oldest_is_exempt(node) || vidsch->config.tdr.debug_mode == 1) {
        sim_event_arm(&node->watch.event, sim_now() + delay);
        return;
    }
    reported = node->reported;
    vidsch->busy_node = node;
    if (ddi_has(vidsch->ddi, DxgkDdiQueryCurrentFence)) { /* SUBMIT-090, TDR-005 */
        DXGKARG_QUERYCURRENTFENCE args = {.NodeOrdinal = node->ordinal};

        (void)ddi_query_current_fence(vidsch->ddi, &args);
    }
    if (reported != node->reported || node->count == 0) {
        sim_event_arm(&node->watch.event, sim_now() + delay);
    } else if (!node->stopped && !vidsch->resetting) {
        sim_event_arm(&node->watch.event, sim_now() + delay);
        if (vidsch->config.tdr.enable_preemption && vidsch->config.caps.PreemptionAware)
            vidsch_preempt(node, PREEMPT_TIMEOUT);
        else
            vidsch_want_engine_reset(node, RECOVER_TIMEOUT); /* PREEMPT-003 */
    }
    vidsch->busy_node = NULL;
    vidsch_changed(vidsch);
}
