/* SPDX-License-Identifier: MIT */
/* Nodes: creation, fence ids, the ring of packets in flight, and what the trace shows of it. */
#include <stdio.h>

#include "vidsch/node.h"
#include "sim/event.h"
#include "sim/machine.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/packet.h"
#include "vidsch/ready.h"
#include "vidsch/scheduler.h"

static uint32_t depth_of(const struct vidsch_config *config)
{
    uint32_t depth = config->required_dma_queue_entry ? config->required_dma_queue_entry
                                                      : 2; /* LIFE-053 */

    if (config->caps.HwQueuePacketCap && config->caps.HwQueuePacketCap < depth) /* SUBMIT-016 */
        depth = config->caps.HwQueuePacketCap;
    return depth < VIDSCH_MAX_DEPTH ? depth : VIDSCH_MAX_DEPTH;
}

void vidsch_node_name(const struct vidsch_node *node, char *text, size_t bytes)
{
    char name[32] = "";
    size_t length = 0;

    while (length < 31 && node->info.metadata.FriendlyName[length]) {
        WCHAR c = node->info.metadata.FriendlyName[length];

        name[length++] = (char)(c >= 32 && c < 127 ? c : '?');
    }
    name[length] = '\0';
    snprintf(text, bytes, "%s%snode %u", name, length ? ", " : "", node->ordinal);
}

static void node_track(struct vidsch_node *node)
{
    char name[48];

    if (!trace_current)
        return;
    vidsch_node_name(node, name, sizeof(name));
    node->track = trace_track_create("nodes", name);
}

bool vidsch_node_init(struct vidsch *vidsch, uint32_t ordinal)
{
    struct vidsch_node *node = &vidsch->node[ordinal];
    uint32_t slots = 1;

    node->vidsch = vidsch;
    node->ordinal = ordinal;
    node->info = vidsch->config.node[ordinal];
    node->next_fence = node->next_preempt_id = 1; /* SUBMIT-039, PREEMPT-011 */
    node->depth = depth_of(&vidsch->config);
    while (slots < node->depth)
        slots *= 2;
    node->ring_mask = slots - 1;
    for (uint32_t i = 0; i < VIDSCH_LEVELS; i++)
        list_init(&node->ready[i]);
    list_init(&node->resubmit);
    node->ring = util_zalloc(slots, sizeof(struct packet *));
    node->submitted_at = util_zalloc(slots, sizeof(*node->submitted_at));
    node_track(node);
    return node->ring && node->submitted_at;
}

void vidsch_node_cancel_events(struct vidsch_node *node)
{
    sim_event_cancel(&node->deadline.event);
    sim_event_cancel(&node->quantum.event);
    sim_event_cancel(&node->watch.event);
    sim_event_cancel(&node->hw.watch);
}

void vidsch_node_finish(struct vidsch_node *node)
{
    if (node->vidsch)
        vidsch_node_cancel_events(node);
    util_free(node->ring);
    util_free(node->submitted_at);
}

/* 0 is skipped. */
static uint32_t count_up(uint32_t *counter)
{
    uint32_t value = *counter;

    *counter = value == UINT32_MAX ? 1 : value + 1;
    return value;
}

uint32_t vidsch_node_next_fence(struct vidsch_node *node)
{
    return count_up(&node->next_fence);
}

uint32_t vidsch_node_next_preempt_id(struct vidsch_node *node)
{
    return count_up(node->vidsch->config.policy.shared_ids ? &node->next_fence
                                                           : &node->next_preempt_id);
}

/* ---- in flight ---- */

static void trace_span_begin(struct vidsch_node *node)
{
    const struct packet *packet;

    if (!trace_current || node->span_open || node->count == 0)
        return;
    packet = node_in_flight(node, 0);
    node->span_open = true;
    trace_begin(node->track, packet->kind == PACKET_PAGING ? "paging" : "render", "fence",
                packet->fence);
    trace_more("context", ddi_handle_number(packet->context->mm.host_handle), "packet",
               packet->flow);
}

static void trace_span_end(struct vidsch_node *node, const struct packet *packet)
{
    if (!node->span_open)
        return;
    node->span_open = false;
    trace_flow_finish(node->track, "packet", packet->flow);
    trace_end(node->track, packet->kind == PACKET_PAGING ? "paging" : "render");
}

void vidsch_node_push(struct vidsch_node *node, struct packet *packet)
{
    uint32_t slot = (node->head + node->count) & node->ring_mask;

    node->ring[slot] = packet;
    node->submitted_at[slot] = sim_now();
    packet->context->last_in_flight = packet;
    if (node->count++ == 0) {
        node->oldest_since = sim_now();
        trace_span_begin(node);
        vidsch_node_watch(node);
    }
}

struct packet *vidsch_node_pop(struct vidsch_node *node)
{
    struct packet *packet = node_in_flight(node, 0);

    vidsch_ready_charge(packet->context, sim_now() - node->oldest_since);
    trace_span_end(node, packet);
    node->head = (node->head + 1) & node->ring_mask;
    node->count--;
    node->oldest_since = sim_now(); /* TDR-004: each completion restarts the watch */
    trace_span_begin(node);
    return packet;
}

uint32_t vidsch_node_take_all(struct vidsch_node *node, struct packet **packets)
{
    uint32_t count = node->count;

    for (uint32_t i = 0; i < count; i++)
        packets[i] = vidsch_node_pop(node);
    return count;
}

/* ---- the watch ---- */

bool vidsch_node_is_exempt(const struct vidsch_node *node)
{
    const struct vidsch_context *context;

    if (node->count == 0)
        return false;
    context = node_in_flight(node, 0)->context;
    return context->device->flags.DisableGpuTimeout || context->flags.DisableGpuTimeout;
}

/* The timer is not moved at each completion: when it fires, the worker checks for how long the
 * oldest packet has been the oldest. */
void vidsch_node_watch(struct vidsch_node *node)
{
    if (node->vidsch->config.tdr.level != TDR_LEVEL_OFF && !sim_event_pending(&node->watch.event))
        sim_event_arm(&node->watch.event, node->oldest_since + vidsch_tdr_delay(node->vidsch));
}
