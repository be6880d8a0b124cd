/* SPDX-License-Identifier: MIT */
#include "vidsch/packet.h"
#include "sim/irql.h"
#include "sim/sim_assert.h"
#include "vidsch/change.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/device_wait.h"
#include "vidsch/dma_buffer.h"
#include "vidsch/dxgkrnl_events.h"
#include "vidsch/life.h"
#include "vidsch/paging.h"
#include "vidsch/portion.h"
#include "vidsch/scheduler.h"
#include "vidsch/screen_hold.h"
#include "vidsch/sync_op.h"
#include "vidsch/update.h"

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

void vidsch_packet_number(struct packet *packet)
{
    struct vidsch_context *context = packet->context;
    struct vidsch_device *device = context->device;

    packet->ticket = ++device->last_ticket;
    list_push_back(&device->outstanding, &packet->device_link);
    context->work++;
    packet->flow = ++device->vidsch->next_flow;
    if (context->work == 1)
        trace_begin(context->track, "busy", "ticket", packet->ticket);
    trace_flow_start(context->track, "packet", packet->flow);
}

void vidsch_packet_free(struct vidsch *vidsch, struct packet *packet)
{
    if (packet->op)
        vidsch_sync_op_release(vidsch, packet->op);
    vidsch_portion_free(packet);
    vidsch_screen_forget(packet);
    if (packet->kind == PACKET_UPDATE)
        packet->update->end(packet);
    if (packet->kind == PACKET_HW)
        util_free(packet->hw);
    if (packet->buffer)
        vidsch_dma_buffer_put(packet->buffer);
    if (!packet->paging)
        slab_give(&vidsch->packets, packet);
}

void vidsch_packet_finish(struct packet *packet)
{
    struct vidsch_context *context = packet->context;
    struct vidsch_device *device = context->device;
    struct vidsch *vidsch = device->vidsch;

    sim_assert_irql(SIM_IRQL_DISPATCH);
    vidsch_tell_ended(packet);
    vidsch_life_ended(packet);
    list_remove(&packet->device_link);
    context->pending--;
    device->pending--;
    if (packet_is_work(packet) && --context->work == 0)
        trace_end(context->track, "busy");
    if (packet->kind == PACKET_LEAVE)
        context->leaving = false;
    if (packet->paging)
        vidsch_paging_retired(vidsch, packet->paging);
    vidsch_packet_free(vidsch, packet);
    vidsch_device_wake_awaited(context);
    vidsch_change_announce(&vidsch->change);
}

void vidsch_packet_drop_signals(struct packet *packet)
{
    struct list *link;

    while ((link = list_pop_front(&packet->after)) != NULL) {
        struct packet *signal = CONTAINER(link, struct packet, link);

        vidsch_life_fails(signal, JOURNAL_CANCELED);
        vidsch_packet_finish(signal);
    }
}
