/* SPDX-License-Identifier: MIT */
#include "vidsch/hw_retire.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/sim_assert.h"
#include "vidsch/change.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/device_wait.h"
#include "vidsch/doorbell.h"
#include "vidsch/kick.h"
#include "vidsch/life.h"
#include "vidsch/marks.h"
#include "vidsch/node.h"
#include "vidsch/packet.h"
#include "vidsch/process.h"
#include "vidsch/scheduler.h"
#include "vidsch/signal.h"
#include "vidsch/sync_object.h"

bool vidsch_hw_in_flight(const struct vidsch_hw_context *hw)
{
    LIST_FOR(link, &hw->queues)
        if (!list_empty(&CONTAINER(link, struct vidsch_hw_queue, link)->in_flight) ||
            vidsch_doorbell_pending(CONTAINER(link, struct vidsch_hw_queue, link)))
            return true;
    return false;
}

/* The oldest packet of the queue leaves the hardware. */
static struct packet *take(struct vidsch_hw_queue *hw)
{
    struct packet *packet = CONTAINER(list_pop_front(&hw->in_flight), struct packet, link);
    struct vidsch_context *queue = packet->context;

    sim_assert_irql(SIM_IRQL_DISPATCH);
    hw->oldest_since = sim_now();
    queue->node->hw.count--;
    queue->device->in_flight--;
    if (queue->last_in_flight == packet)
        queue->last_in_flight = NULL;
    return packet;
}

static void retire_oldest(struct vidsch_hw_queue *hw)
{
    struct packet *packet = take(hw);
    struct vidsch_context *queue = packet->context;
    struct vidsch *vidsch = queue->device->vidsch;
    struct list *link;

    vidsch->statistics.fences_signaled++;
    vidsch->recovery.barren = 0;
    queue->node->barren_resets = 0;
    trace_flow_finish(queue->track, "packet", packet->flow);
    vidsch_signal_reread(vidsch, queue->device->process); /* SUBMIT-136 */
    while ((link = list_pop_front(&packet->after)) != NULL) {
        struct packet *signal = CONTAINER(link, struct packet, link);

        vidsch_signal_reached(signal->op, queue);
        vidsch_packet_finish(signal);
    }
    vidsch_packet_finish(packet);
}

/* Whoever writes the progress fence, the client's commands or the driver, writes the ids of
 * commands in their order. */
static void check_progress(struct vidsch_hw_queue *hw)
{
    const uint64_t now = vidsch_sync_current(hw->progress), before = hw->seen;
    const uint32_t number = ddi_handle_number(hw->queue->mm.host_handle);

    hw->seen = now;
    if (now > before)
        hw->moved_at = sim_now();
    if (now > before && hw->parent->hw->state == HW_SUSPENDED)
        VIOLATION(
            "PREEMPT-044",
            "the progress fence of hardware queue %u on node %u rose from %llu to %llu although "
            "its context is suspended",
            number, hw->queue->node->ordinal, (unsigned long long)before, (unsigned long long)now);
    if (now < before)
        WARNING("SUBMIT-117",
                "the progress fence of hardware queue %u on node %u went back from %llu to %llu",
                number, hw->queue->node->ordinal, (unsigned long long)before,
                (unsigned long long)now);
    else if (hw->flags.UserModeSubmission && now > before && now > vidsch_doorbell_queued(hw))
        verify_client_error("SUBMIT-125",
                            "the progress fence of hardware queue %u on node %u holds %llu, but the "
                            "client has told %llu as the last value queued",
                            number, hw->queue->node->ordinal, (unsigned long long)now,
                            (unsigned long long)vidsch_doorbell_queued(hw));
    else if (!hw->flags.UserModeSubmission && now > before && now > hw->given_id)
        WARNING("SUBMIT-117",
                "the progress fence of hardware queue %u on node %u holds %llu, but the last command "
                "given to the driver has the id %llu",
                number, hw->queue->node->ordinal, (unsigned long long)now,
                (unsigned long long)hw->given_id);
}

static void retire_queue(struct vidsch_hw_queue *hw)
{
    check_progress(hw);
    while (!list_empty(&hw->in_flight) &&
           CONTAINER(hw->in_flight.next, struct packet, link)->hw->id <=
               vidsch_sync_current(hw->progress))
        retire_oldest(hw);
    if (vidsch_marks_look(hw))
        vidsch_device_wake(hw->queue->device);
}

void vidsch_hw_check_progress(const struct vidsch_hw_context *hw)
{
    LIST_FOR(link, &hw->queues)
        check_progress(CONTAINER(link, struct vidsch_hw_queue, link));
}

void vidsch_hw_retire_context(struct vidsch_hw_context *hw)
{
    LIST_FOR(link, &hw->queues)
        retire_queue(CONTAINER(link, struct vidsch_hw_queue, link));
    vidsch_kick_node(hw->context->node);
}

void vidsch_hw_retire_node(struct vidsch_node *node)
{
    LIST_FOR(link, &node->hw.contexts)
        vidsch_hw_retire_context(CONTAINER(link, struct vidsch_hw_context, node_link));
    vidsch_change_announce(&node->vidsch->change); /* for doorbells */
}

void vidsch_hw_fail_context(struct vidsch_hw_context *hw)
{
    LIST_FOR(link, &hw->queues) {
        struct vidsch_hw_queue *queue = CONTAINER(link, struct vidsch_hw_queue, link);

        queue->given_up = true;
        while (!list_empty(&queue->in_flight)) {
            struct packet *packet = take(queue);

            vidsch_life_fails(packet, JOURNAL_ABORTED);
            vidsch_packet_drop_signals(packet);
            vidsch_packet_finish(packet);
        }
    }
    vidsch_kick_node(hw->context->node);
}

void vidsch_hw_fail_node(struct vidsch_node *node)
{
    LIST_FOR(link, &node->hw.contexts)
        vidsch_hw_fail_context(CONTAINER(link, struct vidsch_hw_context, node_link));
}
