/* SPDX-License-Identifier: MIT */
/*
 * The hardware completes the packets of a node in order, so the completion of fence N retires every
 * packet up to N from the front of the ring (SUBMIT-042): O(1) a packet. Runs in the DPC, from
 * vidsch_notify_dpc (SUBMIT-047), or on the threads that recover a node.
 */
#include "vidsch/retire.h"
#include "sim/irql.h"
#include "sim/sim_assert.h"
#include "vidmm/reset.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/dma_buffer.h"
#include "vidsch/dxgkrnl_events.h"
#include "vidsch/history.h"
#include "vidsch/kick.h"
#include "vidsch/life.h"
#include "vidsch/node.h"
#include "vidsch/packet.h"
#include "vidsch/process.h"
#include "vidsch/scheduler.h"
#include "vidsch/signal.h"

static void completed(struct vidsch_node *node, uint32_t fence)
{
    node->last_completed = fence;
    node->barren_preemptions = node->barren_resets = 0;
    if (fence_after(fence, node->reported))
        node->reported = fence;
}

/* Retire the oldest packet: carry out the signals behind it, read again the fences that it may have
 * written, and free it. */
static void retire_oldest(struct vidsch_node *node)
{
    struct packet *packet = vidsch_node_pop(node);
    struct vidsch_context *context = packet->context;
    struct vidsch_device *device = context->device;
    struct list *link;

    completed(node, packet->fence);
    node->vidsch->statistics.fences_signaled++;
    if (packet->kind == PACKET_RENDER && vidsch_compares_now(node->vidsch))
        vidsch_patch_unchanged(packet->buffer, packet->fence, "after DxgkDdiSubmitCommand");
    if (packet->kind == PACKET_RENDER)
        vidsch_history_note(packet);
    node->vidsch->recovery.barren = 0;
    device->in_flight--;
    if (context->last_in_flight == packet)
        context->last_in_flight = NULL;
    vidsch_tell_left_node(packet, false);
    vidsch_tell_ended(packet);
    vidsch_life_ended(packet);
    if (!context->last_in_flight && context->state == CONTEXT_IDLE)
        vidsch_tell_status(context, STATUS_CONTEXT_IDLE);
    vidsch_signal_reread(node->vidsch, device->process); /* SUBMIT-136 */
    while ((link = list_pop_front(&packet->after)) != NULL) {
        struct packet *signal = CONTAINER(link, struct packet, link);

        vidsch_signal_reached(signal->op, context);
        vidsch_packet_finish(signal);
    }
    vidsch_packet_finish(packet);
}

void vidsch_retire_failed(struct vidsch_node *node)
{
    struct packet *packet = vidsch_node_pop(node);
    struct vidsch_context *context = packet->context;

    sim_assert_irql(SIM_IRQL_DISPATCH);
    if (fence_after(packet->fence, node->reported))
        vidsch_tell_aborted(packet);
    else
        vidsch_tell_left_node(packet, false);
    vidsch_life_fails(packet, packet->refused ? JOURNAL_REFUSED : JOURNAL_ABORTED);
    completed(node, packet->fence);
    context->device->in_flight--;
    if (context->last_in_flight == packet)
        context->last_in_flight = NULL;
    vidsch_packet_drop_signals(packet);
    if (packet->paging)
        vidmm_tables_lost(node->vidsch->vidmm);
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
    sim_assert_irql(SIM_IRQL_DISPATCH);
    while (node->count && !fence_after(node_in_flight(node, 0)->fence, fence)) {
        if (node_in_flight(node, 0)->refused)
            vidsch_retire_failed(node);
        else
            retire_oldest(node);
    }
    vidsch_retire_refused(node);
    vidsch_kick_node(node);
}
