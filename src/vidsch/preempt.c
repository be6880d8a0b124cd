/* SPDX-License-Identifier: MIT */
/*
 * Preemption of one node. A request takes an id from the counter of requests (PREEMPT-011); until
 * it is answered nothing is submitted to the node (PREEMPT-012). The answer splits the ring:
 * packets up to LastCompletedFenceId are completed, the others return to where they came from. Of
 * these, paging packets are submitted first and with their old ids, render packets with new ones.
 */
#include "vidsch/preempt.h"
#include "ddi/routine.h"
#include "nt/base/status_name.h"
#include "sim/event.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/sim_assert.h"
#include "vidsch/change.h"
#include "vidsch/context.h"
#include "vidsch/dxgkrnl_events.h"
#include "vidsch/engine_check.h"
#include "vidsch/kick.h"
#include "vidsch/life.h"
#include "vidsch/node.h"
#include "vidsch/packet.h"
#include "vidsch/queue.h"
#include "vidsch/recovery.h"
#include "vidsch/retire.h"
#include "vidsch/scheduler.h"
#include "vidsch/vidsch_assert.h"
#include "vidsch/vidsch_bugcheck.h"

#include <string.h>

#define PATIENCE_NS 20000000ull  /* PREEMPT-039, with vidsch_policy.patient */
#define LONG_NS     200000000ull /* PREEMPT-040 */

static void answer_is_late(struct sim_event *event)
{
    struct vidsch_node *node = CONTAINER(event, struct node_event, event)->node;
    struct vidsch *vidsch = node->vidsch;

    if (!node->preempting || node->stopped || vidsch->recovery.resetting)
        return;
    if ((node->preempt_answered && !node->preempt_unnotified) || vidsch_node_is_exempt(node) ||
        vidsch->config.tdr.debug_mode == TDR_DEBUG_IGNORE_TIMEOUTS) {
        node->preempt_unnotified = node->preempt_answered;
        sim_event_arm(event, sim_now() + vidsch_tdr_delay(vidsch));
        return;
    }
    vidsch_engine_check_unanswered(node);
    vidsch_recovery_want_engine(node, RECOVER_TIMEOUT); /* PREEMPT-041 */
}

static void quantum_is_over(struct sim_event *event)
{
    vidsch_kick_node(CONTAINER(event, struct node_event, event)->node);
}

void vidsch_preempt_init(struct vidsch_node *node)
{
    node->deadline = (struct node_event){.event.fire = answer_is_late, .node = node};
    node->quantum = (struct node_event){.event.fire = quantum_is_over, .node = node};
}

void vidsch_preempt_request(struct vidsch_node *node, enum preempt_reason reason)
{
    struct vidsch *vidsch = node->vidsch;
    DXGKARG_PREEMPTCOMMAND args = {.NodeOrdinal = node->ordinal};
    NTSTATUS status;

    sim_assert_passive();
    node->preempting = reason;
    node->preempt_answered = node->preempt_unnotified = false;
    node->preempt_id = args.PreemptionFenceId = vidsch_node_next_preempt_id(node);
    node->preempt_past = (struct preempt_past){
        .reason = reason, .id = node->preempt_id, .asked_at = sim_now()};
    vidsch->statistics.preemptions++;
    trace_instant(node->track, "preempt", "id", node->preempt_id, NULL, 0);
    vidsch_tell_request(node);
    vidsch_life_event(vidsch, node, JOURNAL_PREEMPT, node->preempt_id, reason, 0);
    if (vidsch->config.tdr.level != TDR_LEVEL_OFF && reason != PREEMPT_DEPENDENT)
        sim_event_arm(&node->deadline.event, sim_now() + vidsch_tdr_delay(vidsch));
    status = ddi_preempt_command(vidsch->ddi, &args); /* the answer may come inside (PREEMPT-014) */
    if (ddi_driver_failed(vidsch->ddi, status))
        verify_fatal("SUBMIT-037", VIDEO_SCHEDULER_INTERNAL_ERROR, SCHEDULER_SUBMIT_FAILED,
                     (uint32_t)status, args.PreemptionFenceId, node->ordinal,
                     "DxgkDdiPreemptCommand answered %s", nt_status_text(status).text);
}

void vidsch_preempt_unanswered(struct vidsch_node *node)
{
    uint64_t delay = vidsch_tdr_delay(node->vidsch), now = sim_now();

    if (!node->preempting || node->preempt_answered || node->count ||
        now - node->preempt_past.asked_at < delay)
        return;
    if (now - node->oldest_since < delay / 2)
        return;
    ddi_blame(node->vidsch->ddi, "DxgkDdiPreemptCommand");
    WARNING("PREEMPT-048",
            "preemption of node %u (id %u) was asked for %.3f ms ago, and its last packet, "
            "fence %u, was completed %.3f ms ago, but DXGK_INTERRUPT_DMA_PREEMPTED was not "
            "reported",
            node->ordinal, node->preempt_id, (double)(now - node->preempt_past.asked_at) / 1e6,
            node->last_completed, (double)(now - node->oldest_since) / 1e6);
}

void vidsch_preempt_close(struct vidsch_node *node)
{
    if (!node->preempting)
        return;
    vidsch_tell_request_ended(node);
    vidsch_life_event(node->vidsch, node, JOURNAL_PREEMPT_CLOSED, node->preempt_id, 0, 0);
    node->closed_preempt_id = node->preempt_id;
    node->preempting = PREEMPT_NONE;
    node->preempt_answered = false;
    sim_event_cancel(&node->deadline.event);
}

static void tell_stuck(const struct vidsch_node *node, const struct packet *packet)
{
    const struct preempted_packet *preempted = &packet->context->preempted;

    WARNING("PREEMPT-047",
            "fence %u of node %u had the engine, was preempted %u times in %.3f ms, and has not "
            "ended: is it begun anew at each resubmission?",
            packet->fence, node->ordinal, preempted->times,
            (double)(sim_now() - preempted->since) / 1e6);
}

/* The oldest packet in flight had the engine, and gives way. */
static void count_barren(struct vidsch_node *node)
{
    const struct packet *packet = node_in_flight(node, 0);
    struct preempted_packet *preempted = &packet->context->preempted;

    if (node->barren_preemptions++ == 0)
        node->barren_since = sim_now();
    if (preempted->ticket != packet->ticket)
        *preempted = (struct preempted_packet){.ticket = packet->ticket, .since = sim_now()};
    if (++preempted->times == VIDSCH_STUCK && !vidsch_node_is_exempt(node))
        tell_stuck(node, packet);
}

void vidsch_preempt_answered(struct vidsch_node *node, uint32_t last_completed)
{
    struct packet *packets[VIDSCH_MAX_DEPTH];
    uint32_t count;

    sim_assert_irql(SIM_IRQL_DISPATCH);
    if (!node->preempting)
        return;
    vidsch_retire_through(node, last_completed); /* PREEMPT-017 */
    if (node->count)
        count_barren(node);
    count = vidsch_node_take_all(node, packets);
    node->preempt_past.answered = true;
    node->preempt_past.answered_at = sim_now();
    node->preempting = PREEMPT_NONE;
    node->preempt_answered = false;
    sim_event_cancel(&node->deadline.event);
    trace_instant(node->track, "preempted", "packets", count, NULL, 0);
    vidsch_life_event(node->vidsch, node, JOURNAL_PREEMPTED, node->preempt_id, last_completed,
                      count);
    vidsch_queue_return(node, packets, count);
    vidsch_tell_request_ended(node);
    vidsch_change_announce(&node->vidsch->change);
}

static bool is_on_node(const struct vidsch_node *node, const struct vidsch_context *context)
{
    for (uint32_t i = 0; i < node->count; i++)
        if (node_in_flight(node, i)->context == context)
            return true;
    return false;
}

/* A newcomer is a ready context that has nothing on the node yet. Other contexts are no reason to
 * preempt: their next packet gets its turn when one of their packets ends. NULL: there is none. */
static const struct vidsch_context *newcomer_at(const struct vidsch_node *node, uint32_t level)
{
    LIST_FOR(link, &node->ready[level]) {
        const struct vidsch_context *context = CONTAINER(link, struct vidsch_context, run_link);

        if (!is_on_node(node, context))
            return context;
    }
    return NULL;
}

/* The highest level, not below `least`, at which a newcomer waits that would be submitted next.
 * False: none does. Clients are no newcomers while only one of them may submit, or none. */
static bool newcomer_level(const struct vidsch_node *node, uint32_t least, uint32_t *level)
{
    const struct vidsch *vidsch = node->vidsch;
    bool paging_only = node->unbroken || vidsch->suspension.clients || vidsch->recovery.restoring;

    uint64_t mask[sizeof(node->ready_mask) / sizeof(node->ready_mask[0])];

    memcpy(mask, node->ready_mask, sizeof(mask));
    for (; level_highest(mask, level); level_clear(mask, *level)) {
        if (*level < least || (paging_only && *level != VIDSCH_PAGING_LEVEL))
            return false;
        if (newcomer_at(node, *level))
            return true;
    }
    return false;
}

static uint32_t highest_in_flight(const struct vidsch_node *node)
{
    uint32_t level = 0;

    for (uint32_t i = 0; i < node->count; i++)
        if (node_in_flight(node, i)->context->level > level)
            level = node_in_flight(node, i)->context->level;
    return level;
}

static bool may_preempt(const struct vidsch_node *node)
{
    const struct vidsch *vidsch = node->vidsch;

    /* PREEMPT-015: with nothing in flight there is nothing to preempt */
    return node->count > 0 && !node->preempting && !node->stopped && !vidsch->recovery.resetting &&
           vidsch->config.tdr.enable_preemption && vidsch->config.caps.PreemptionAware;
}

bool vidsch_preempt_comes_first(const struct vidsch_node *node, uint32_t level)
{
    return !node->vidsch->config.policy.patient && level != VIDSCH_PAGING_LEVEL &&
           may_preempt(node) && level > highest_in_flight(node) && !node_is_barren(node) &&
           !node->unbroken;
}

/* From when on the newcomer is a reason. */
static uint64_t due_time(const struct vidsch_node *node, uint32_t newcomer)
{
    const uint32_t running = node_in_flight(node, 0)->context->level;

    if (newcomer == VIDSCH_PAGING_LEVEL)
        return node->oldest_since;
    if (node->vidsch->config.policy.patient)
        return node->oldest_since + (newcomer > running ? PATIENCE_NS : LONG_NS);
    return newcomer > highest_in_flight(node) ? node->oldest_since : node->oldest_since + LONG_NS;
}

/*
 * Ask for preemption if more important work waits than what runs (PREEMPT-039, PREEMPT-040):
 *
 *   paging waits, node full of other work               now
 *   a higher level waits than all that is in flight     now, also while the node is not full
 *   another context waits, no lower than what runs      after LONG_NS of the running packet
 */
void vidsch_preempt_consider(struct vidsch_node *node)
{
    struct vidsch *vidsch = node->vidsch;
    uint32_t level;
    uint64_t due;

    vidsch_assert_worker(vidsch);
    if (!level_highest(node->ready_mask, &level) || !may_preempt(node) ||
        !newcomer_level(node, node_in_flight(node, 0)->context->level, &level))
        return;
    if (node->count < node->depth && !vidsch_preempt_comes_first(node, level))
        return;
    due = due_time(node, level);
    if (sim_now() < due) {
        if (!sim_event_pending(&node->quantum.event) || node->quantum.event.due > due)
            sim_event_arm(&node->quantum.event, due);
        return;
    }
    if (node_is_barren(node) && !vidsch_node_is_exempt(node) &&
        vidsch->config.tdr.level != TDR_LEVEL_OFF &&
        vidsch->config.tdr.debug_mode != TDR_DEBUG_IGNORE_TIMEOUTS) {
        vidsch_recovery_want_engine(node, RECOVER_TIMEOUT); /* PREEMPT-046 */
        return;
    }
    vidsch_tell_selected(node, newcomer_at(node, level));
    vidsch_tell_attempt(newcomer_at(node, level), ATTEMPT_ASKED);
    vidsch->worker.busy_node = node;
    vidsch_preempt_request(node, level == VIDSCH_PAGING_LEVEL ? PREEMPT_PAGING : PREEMPT_PRIORITY);
    vidsch->worker.busy_node = NULL;
    vidsch_change_announce(&vidsch->change);
}
