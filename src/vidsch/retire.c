/* SPDX-License-Identifier: MIT */
/*
 * The end of packets. A node's packets in flight are a ring, oldest first; the hardware ends them
 * in that order, so a completion of fence N takes everything at or below N off the front
 * (SUBMIT-042): O(1) a packet. Runs at DPC time, from vidsch_notify_dpc (SUBMIT-047), or in the
 * threads that recover a node.
 */
#include "vidsch/vidsch_private.h"

static void span_begin(struct vidsch_node *node)
{
    const struct packet *packet;

    if (!trace_current || node->span_open || node->count == 0)
        return;
    packet = node_in_flight(node, 0);
    node->span_open = true;
    trace_begin(node->track, packet->kind == PACKET_PAGING ? "paging" : "render", "fence",
                packet->fence);
}

static void span_end(struct vidsch_node *node, const struct packet *packet)
{
    if (!node->span_open)
        return;
    node->span_open = false;
    trace_flow_finish(node->track, "packet", packet->flow);
    trace_end(node->track, packet->kind == PACKET_PAGING ? "paging" : "render");
}

void vidsch_ring_push(struct vidsch_node *node, struct packet *packet)
{
    node->ring[(node->head + node->count) & node->ring_mask] = packet;
    packet->context->last_in_flight = packet;
    vidsch_portion_in_flight(packet);
    if (node->count++ == 0) {
        node->oldest_since = sim_now();
        span_begin(node);
        vidsch_watch_start(node);
    }
}

static struct packet *ring_pop(struct vidsch_node *node)
{
    struct packet *packet = node_in_flight(node, 0);

    span_end(node, packet);
    node->head = (node->head + 1) & node->ring_mask;
    node->count--;
    node->oldest_since = sim_now(); /* TDR-004: each completion restarts the watch */
    span_begin(node);
    return packet;
}

static void completed(struct vidsch_node *node, uint32_t fence)
{
    node->last_completed = fence;
    if (fence_after(fence, node->reported))
        node->reported = fence;
}

/* The oldest packet is done: signals behind it, fences its process may have written, and its
 * memory. */
static void retire_oldest(struct vidsch_node *node)
{
    struct packet *packet = ring_pop(node);
    struct vidsch_context *context = packet->context;
    struct vidsch_device *device = context->device;
    struct list *link;

    completed(node, packet->fence);
    node->vidsch->statistics.fences_signaled++;
    device->in_flight--;
    if (context->last_in_flight == packet)
        context->last_in_flight = NULL;
    if (!list_empty(&device->process->watched))
        vidsch_process_reread(device->process); /* SUBMIT-136 */
    while ((link = list_pop_front(&packet->after)) != NULL) {
        struct packet *signal = CONTAINER(link, struct packet, link);

        vidsch_signal_reached(signal->op, context);
        vidsch_packet_finish(signal);
    }
    vidsch_packet_finish(packet);
}

void vidsch_retire_failed(struct vidsch_node *node)
{
    struct packet *packet = ring_pop(node);
    struct vidsch_context *context = packet->context;

    completed(node, packet->fence);
    context->device->in_flight--;
    if (context->last_in_flight == packet)
        context->last_in_flight = NULL;
    vidsch_drop_after(packet);
    vidsch_packet_finish(packet);
}

/* Packets that the driver refused count as completed once all before them are (SUBMIT-107). */
void vidsch_retire_refused(struct vidsch_node *node)
{
    while (node->count && node_in_flight(node, 0)->refused)
        vidsch_retire_failed(node);
}

void vidsch_retire_through(struct vidsch_node *node, uint32_t fence)
{
    while (node->count && !fence_after(node_in_flight(node, 0)->fence, fence)) {
        if (node_in_flight(node, 0)->refused)
            vidsch_retire_failed(node);
        else
            retire_oldest(node);
    }
    vidsch_retire_refused(node);
    vidsch_kick(node);
}

uint32_t vidsch_ring_take(struct vidsch_node *node, struct packet **packets)
{
    uint32_t count = node->count;

    for (uint32_t i = 0; i < count; i++)
        packets[i] = ring_pop(node);
    return count;
}
