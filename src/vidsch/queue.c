/* SPDX-License-Identifier: MIT */
/*
 * Software queues. Each context has one, first in first out (SUBMIT-014, SUBMIT-017). The kind of
 * its head decides the state of the context:
 *
 *   nothing      IDLE
 *   GPU packet   READY: on the ready list of its node, at its level, where the worker takes it
 *   update       BLOCKED until the memory manager has carried it out (update.h)
 *   wait         satisfied: taken off at once; else BLOCKED, and registered with its objects
 *   signal       carried out at once if nothing of the context is on the node; else it waits behind
 *                the youngest packet in flight (packet->after), and is carried out when that packet
 *                is retired. So signals never hold up the packets behind them, and still take
 *                effect in order.
 *
 * A signal can satisfy waits of other contexts, whose signals satisfy further ones: queue.c and
 * signal.c call each other. That chain is walked with a list (vidsch->advance.contexts) instead of
 * recursion.
 */
#include "vidsch/queue.h"
#include "sim/irql.h"
#include "sim/sim_assert.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/dxgkrnl_events.h"
#include "vidsch/kick.h"
#include "vidsch/life.h"
#include "vidsch/node.h"
#include "vidsch/packet.h"
#include "vidsch/portion.h"
#include "vidsch/ready.h"
#include "vidsch/scheduler.h"
#include "vidsch/signal.h"
#include "vidsch/sync_op.h"
#include "vidsch/update.h"

void vidsch_queue_push(struct packet *packet)
{
    struct vidsch_context *context = packet->context;
    struct vidsch_device *device = context->device;

    sim_assert_passive();
    if (packet_is_work(packet))
        vidsch_packet_number(packet);
    context->pending++;
    device->pending++;
    vidsch_tell_queued(packet);
    vidsch_life_queued(packet);
    list_push_back(&context->queue, &packet->link);
    if (context->state == CONTEXT_IDLE)
        vidsch_queue_advance(context);
}

void vidsch_queue_push_first(struct packet *packet)
{
    struct vidsch_context *context = packet->context;

    sim_assert_passive();
    vidsch_packet_number(packet);
    context->pending++;
    context->device->pending++;
    vidsch_tell_queued(packet);
    vidsch_life_queued(packet);
    list_push_front(&context->queue, &packet->link);
    if (context->state == CONTEXT_IDLE || context->state == CONTEXT_BLOCKED)
        vidsch_queue_advance(context);
}

/* Process the queue of one context until it is empty, or its head is GPU work or an unsatisfied
 * wait. */
static void advance_one(struct vidsch_context *context)
{
    while (context->state == CONTEXT_IDLE || context->state == CONTEXT_BLOCKED) {
        struct packet *packet;

        if (list_empty(&context->queue)) {
            context->state = CONTEXT_IDLE;
            vidsch_tell_status(context, context->last_in_flight ? STATUS_CONTEXT_TAKEN
                                                                : STATUS_CONTEXT_IDLE);
            return;
        }
        packet = CONTAINER(context->queue.next, struct packet, link);
        if (packet_is_work(packet)) {
            vidsch_ready_add(context);
            return;
        }
        if (packet->kind == PACKET_WAIT) {
            if (!packet->op->done && !vidsch_sync_op_try(packet->op)) {
                if (context->state != CONTEXT_BLOCKED)
                    vidsch_tell_status(context, STATUS_CONTEXT_WAITS);
                context->state = CONTEXT_BLOCKED;
                vidsch_sync_op_register(packet->op);
                return;
            }
            trace_instant(context->track, "wait satisfied", NULL, 0, NULL, 0);
            vidsch_tell_taken(packet);
            list_remove(&packet->link);
            vidsch_packet_finish(packet);
            continue;
        }
        if (packet->kind == PACKET_UPDATE) {
            context->state = CONTEXT_BLOCKED;
            packet->update->reached(packet);
            return;
        }
        vidsch_tell_taken(packet);
        list_remove(&packet->link);
        if (context->last_in_flight && !packet->op->at_submission) {
            list_push_back(&context->last_in_flight->after, &packet->link);
            continue;
        }
        vidsch_signal_reached(packet->op, context);
        vidsch_packet_finish(packet);
    }
}

void vidsch_queue_schedule(struct vidsch_context *context)
{
    if (list_empty(&context->advance_link))
        list_push_back(&context->device->vidsch->advance.contexts, &context->advance_link);
}

void vidsch_queue_run(struct vidsch *vidsch)
{
    struct list *link;

    sim_assert_irql(SIM_IRQL_DISPATCH);
    if (vidsch->advance.running)
        return;
    vidsch->advance.running = true;
    while ((link = list_pop_front(&vidsch->advance.contexts)) != NULL)
        advance_one(CONTAINER(link, struct vidsch_context, advance_link));
    vidsch->advance.running = false;
}

void vidsch_queue_advance(struct vidsch_context *context)
{
    vidsch_queue_schedule(context);
    vidsch_queue_run(context->device->vidsch);
}

/* Return a preempted packet to the head of the queue that it came from, followed by the signals
 * that wait for it (PREEMPT-023). */
static void return_render(struct packet *packet)
{
    struct vidsch_context *context = packet->context;

    context->last_in_flight = NULL;
    vidsch_portion_put_back(packet);
    if (context->state == CONTEXT_LOST) {
        vidsch_life_fails(packet, JOURNAL_CANCELED);
        vidsch_packet_drop_signals(packet);
        vidsch_packet_finish(packet);
        return;
    }
    while (!list_empty(&packet->after)) {
        struct list *signal = packet->after.prev;

        list_remove(signal);
        list_push_front(&context->queue, signal);
    }
    list_push_front(&context->queue, &packet->link);
    if (context->state == CONTEXT_IDLE || context->state == CONTEXT_BLOCKED)
        vidsch_ready_add(context);
}

void vidsch_queue_return(struct vidsch_node *node, struct packet *const *packets, uint32_t count)
{
    sim_assert_irql(SIM_IRQL_DISPATCH);
    for (uint32_t i = 0; i < count; i++) {
        vidsch_tell_left_node(packets[i], true);
        vidsch_life_returned(packets[i], node->ignoring);
    }
    for (uint32_t i = count; i-- > 0;) {
        struct packet *packet = packets[i];

        packet->context->device->in_flight--;
        packet->resubmission = true;
        if (packet_comes_first(packet)) {
            packet->context->last_in_flight = NULL;
            /* These are submitted first, in order, with their old ids (PREEMPT-021, PAGE-024). */
            list_push_front(&node->resubmit, &packet->link);
        } else {
            return_render(packet);
        }
    }
    vidsch_kick_node(node);
}
