/* SPDX-License-Identifier: MIT */
/*
 * Software queues. Each context has one, first in first out (SUBMIT-014, SUBMIT-017). What its head
 * is decides its state:
 *
 *   nothing            IDLE
 *   GPU packet         READY: on the ready list of its node, at its level, where the worker takes it
 *   wait               satisfied: taken off at once; else BLOCKED, and the objects know of it
 *   signal             carried out at once if nothing of the context is on the node; else hung behind
 *                      the youngest packet in flight (packet->after), where it is carried out when that
 *                      packet is retired. So signals never hold up the packets behind them, and still
 *                      nothing overtakes.
 *
 * A signal can satisfy waits of other contexts, whose signals satisfy further ones. That chain is
 * walked with a list (vidsch->advance) instead of recursion.
 *
 * Ready lists are one per level with a mask of the nonempty ones: taking the context of highest
 * priority is O(1), and moving it to the end of its list after each packet is the round robin of
 * SUBMIT-019.
 */
#include "vidsch/vidsch_private.h"

struct packet *vidsch_packet_create(struct vidsch_context *context, enum packet_kind kind)
{
    struct vidsch *vidsch = context->device->vidsch;
    struct packet *packet = slab_take(&vidsch->packets);

    if (!packet)
        return NULL;
    *packet = (struct packet){.context = context, .kind = (uint8_t)kind};
    list_init(&packet->link);
    list_init(&packet->after);
    list_init(&packet->device_link);
    return packet;
}

void vidsch_packet_free(struct vidsch *vidsch, struct packet *packet)
{
    if (packet->op)
        vidsch_op_release(vidsch, packet->op);
    vidsch_portion_free(packet);
    if (packet->buffer)
        vidsch_dma_buffer_put(packet->buffer);
    if (!packet->paging)
        slab_give(&vidsch->packets, packet);
}

void vidsch_changed(struct vidsch *vidsch)
{
    if (vidsch->changed_waiters)
        sim_waitq_wake(&vidsch->changed, UINT32_MAX);
}

bool vidsch_wait_changed(struct vidsch *vidsch, uint64_t deadline)
{
    enum sim_wake why;

    vidsch->changed_waiters++;
    why = sim_waitq_wait(&vidsch->changed, deadline);
    vidsch->changed_waiters--;
    return why != SIM_TIMED_OUT;
}

bool vidsch_ticket_done(const struct vidsch_device *device, uint64_t ticket)
{
    /* The list is in order of tickets, so its head is the oldest that is not done. */
    return list_empty(&device->outstanding) ||
           CONTAINER(device->outstanding.next, struct packet, device_link)->ticket > ticket;
}

void vidsch_device_wake(struct vidsch_device *device)
{
    device->awaited_ticket = UINT64_MAX; /* who goes on waiting sets it again */
    sim_waitq_wake(&device->changed, UINT32_MAX);
}

/* Whether the end of a packet may be what somebody waits for: waking them for each would cost two
 * switches a packet. */
static bool is_awaited(const struct vidsch_context *context)
{
    const struct vidsch_device *device = context->device;

    return device->pending == 0 || context->pending == 0 ||
           (device->awaited_ticket != UINT64_MAX &&
            vidsch_ticket_done(device, device->awaited_ticket));
}

void vidsch_packet_finish(struct packet *packet)
{
    struct vidsch_context *context = packet->context;
    struct vidsch_device *device = context->device;
    struct vidsch *vidsch = device->vidsch;

    list_remove(&packet->device_link);
    context->pending--;
    device->pending--;
    if (packet_is_work(packet) && --context->work == 0)
        trace_end(context->track, "busy");
    if (packet->paging)
        vidsch_paging_retired(vidsch, packet->paging);
    vidsch_packet_free(vidsch, packet);
    if (!list_empty(&device->changed.waiters) && is_awaited(context))
        vidsch_device_wake(device);
    vidsch_changed(vidsch);
}

/* Signals behind a packet that failed: never carried out. */
void vidsch_drop_after(struct packet *packet)
{
    struct list *link;

    while ((link = list_pop_front(&packet->after)) != NULL)
        vidsch_packet_finish(CONTAINER(link, struct packet, link));
}

void vidsch_queue_push(struct packet *packet)
{
    struct vidsch_context *context = packet->context;
    struct vidsch_device *device = context->device;

    if (packet_is_work(packet)) {
        packet->ticket = ++device->last_ticket;
        list_push_back(&device->outstanding, &packet->device_link);
        context->work++;
        packet->flow = ++device->vidsch->next_flow;
        if (context->work == 1)
            trace_begin(context->track, "busy", "ticket", packet->ticket);
        trace_flow_start(context->track, "packet", packet->flow);
    }
    context->pending++;
    device->pending++;
    list_push_back(&context->queue, &packet->link);
    if (context->state == CONTEXT_IDLE)
        vidsch_queue_advance(context);
}

void vidsch_kick(struct vidsch_node *node)
{
    node->vidsch->kick |= 1ull << node->ordinal;
    vidsch_worker_wake(node->vidsch);
}

void vidsch_context_ready(struct vidsch_context *context)
{
    struct vidsch_device *device = context->device;
    struct vidsch_node *node = context->node;

    if (device->awaiting_residency || device->process->suspended) {
        context->state = CONTEXT_PARKED;
        list_push_back(&device->parked, &context->run_link);
        return;
    }
    context->state = CONTEXT_READY;
    list_push_back(&node->ready[context->level], &context->run_link);
    node->ready_mask |= 1u << context->level;
    vidsch_kick(node);
}

/* Off the ready list or the parked list; the caller sets the new state. */
void vidsch_context_unready(struct vidsch_context *context)
{
    struct vidsch_node *node = context->node;

    list_remove(&context->run_link);
    if (list_empty(&node->ready[context->level]))
        node->ready_mask &= ~(1u << context->level);
}

void vidsch_device_unpark(struct vidsch_device *device)
{
    struct list parked;

    if (device->awaiting_residency || device->process->suspended || list_empty(&device->parked))
        return;
    list_take_all(&device->parked, &parked);
    while (!list_empty(&parked))
        vidsch_context_ready(CONTAINER(list_pop_front(&parked), struct vidsch_context, run_link));
}

/* The head of one context is looked at until it is something that takes time. */
static void advance_one(struct vidsch_context *context)
{
    while (context->state == CONTEXT_IDLE || context->state == CONTEXT_BLOCKED) {
        struct packet *packet;

        if (list_empty(&context->queue)) {
            context->state = CONTEXT_IDLE;
            return;
        }
        packet = CONTAINER(context->queue.next, struct packet, link);
        if (packet_is_work(packet)) {
            vidsch_context_ready(context);
            return;
        }
        if (packet->kind == PACKET_WAIT) {
            if (!packet->op->done && !vidsch_wait_try(packet->op)) {
                context->state = CONTEXT_BLOCKED;
                vidsch_wait_register(packet->op);
                return;
            }
            trace_instant(context->track, "wait satisfied", NULL, 0, NULL, 0);
            list_remove(&packet->link);
            vidsch_packet_finish(packet);
            continue;
        }
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
        list_push_back(&context->device->vidsch->advance, &context->advance_link);
}

void vidsch_queue_run(struct vidsch *vidsch)
{
    struct list *link;

    if (vidsch->advancing)
        return;
    vidsch->advancing = true;
    while ((link = list_pop_front(&vidsch->advance)) != NULL)
        advance_one(CONTAINER(link, struct vidsch_context, advance_link));
    vidsch->advancing = false;
}

void vidsch_queue_advance(struct vidsch_context *context)
{
    vidsch_queue_schedule(context);
    vidsch_queue_run(context->device->vidsch);
}

/* One preempted packet, to the head of the queue it came from, with the signals that hang behind it
 * (PREEMPT-023). */
static void return_render(struct packet *packet)
{
    struct vidsch_context *context = packet->context;

    context->last_in_flight = NULL;
    vidsch_portion_put_back(packet);
    if (context->state == CONTEXT_LOST) {
        vidsch_drop_after(packet);
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
        vidsch_context_ready(context);
}

void vidsch_queue_return(struct vidsch_node *node, struct packet *const *packets, uint32_t count)
{
    for (uint32_t i = count; i-- > 0;) {
        struct packet *packet = packets[i];

        packet->context->device->in_flight--;
        packet->resubmission = true;
        if (packet->kind == PACKET_PAGING) {
            packet->context->last_in_flight = NULL;
            list_push_front(&node->resubmit,
                            &packet->link); /* PREEMPT-021, PAGE-024: first, in order, ids kept */
        } else {
            return_render(packet);
        }
    }
    vidsch_kick(node);
}
