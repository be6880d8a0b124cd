/* SPDX-License-Identifier: MIT */
/*
 * A packet's life in events, as Windows writes it:
 *
 *     queued        QueuePacket Start, 178; of a wait 244, of a signal 245
 *     its turn      SelectContext 23, AttemptPreemption 22, QueuePacket 179
 *     submitted     DmaPacket Start 175
 *     interrupt     DmaPacket 177
 *     DPC           DmaPacket Stop 176, QueuePacket Stop 180
 *
 * A wait for several objects takes a number of the queue, and has its events, for each of them.
 */
#include "vidsch/dxgkrnl_events.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/dma_buffer.h"
#include "vidsch/node.h"
#include "vidsch/packet.h"
#include "vidsch/paging.h"
#include "vidsch/scheduler.h"
#include "vidsch/sync_object.h"
#include "vidsch/sync_op.h"

#include <string.h>

enum queue_packet_type { QUEUE_RENDER = 0, QUEUE_WAIT = 4, QUEUE_SIGNAL = 5, QUEUE_PAGING = 8 };
enum dma_packet_type { DMA_RENDER = 0, DMA_PAGING = 1, DMA_PREEMPTION = 3 };
enum quantum_status { QUANTUM_READY = 0, QUANTUM_RUNNING = 1, QUANTUM_EXPIRED = 2 };

/* The handle of a packet has 12 bits of its context's number, and 20 of its own in the queue. */
#define PACKET_BITS 20u

/* ---- handles ---- */

static uint64_t handle(const struct vidsch *vidsch, enum wintrace_object object, uint64_t number)
{
    return wintrace_handle(object, vidsch->ddi->handles.adapter, number);
}

uint64_t vidsch_adapter_handle(const struct vidsch *vidsch)
{
    return handle(vidsch, WINTRACE_ADAPTER, vidsch->ddi->handles.adapter);
}

uint64_t vidsch_context_handle(const struct vidsch_context *context)
{
    return handle(context->device->vidsch, WINTRACE_CONTEXT,
                  ddi_handle_number(context->mm.host_handle));
}

uint64_t vidsch_node_context_handle(const struct vidsch_node *node)
{
    return handle(node->vidsch, WINTRACE_NODE_CONTEXT, (uint64_t)node->ordinal + 1);
}

/* Of a packet of the queue, or of the part of it for its n-th object. */
static uint64_t packet_handle(const struct packet *packet, uint32_t n)
{
    const struct vidsch_context *context = packet->context;
    uint64_t number = (uint64_t)ddi_handle_number(context->mm.host_handle) << PACKET_BITS;

    return handle(context->device->vidsch, WINTRACE_PACKET,
                  number | ((packet->sequence + n) & ((1u << PACKET_BITS) - 1)));
}

uint64_t vidsch_sync_handle(const struct vidsch_sync *sync)
{
    return handle(sync->vidsch, WINTRACE_SYNC, sync->number);
}

/* Where the commands are; 0: at an address of the client's. */
static uint64_t buffer_handle(const struct packet *packet)
{
    const struct vidsch *vidsch = packet->context->device->vidsch;

    if (packet->kind == PACKET_PAGING)
        return handle(vidsch, WINTRACE_PAGING_BUFFER, packet->paging->public.number);
    return packet->kind == PACKET_RENDER
               ? handle(vidsch, WINTRACE_DMA_BUFFER, packet->buffer->number)
               : 0;
}

/* ---- queues ---- */

/* How many numbers of its queue the packet takes. */
static uint32_t numbers(const struct packet *packet)
{
    return packet->kind == PACKET_WAIT ? packet->op->count : 1;
}

static enum queue_packet_type queue_type(const struct packet *packet)
{
    static const enum queue_packet_type types[] = {
        [PACKET_RENDER] = QUEUE_RENDER, [PACKET_VIRTUAL] = QUEUE_RENDER,
        [PACKET_HW] = QUEUE_RENDER,     [PACKET_LEAVE] = QUEUE_RENDER,
        [PACKET_PAGING] = QUEUE_PAGING, [PACKET_UPDATE] = QUEUE_PAGING,
        [PACKET_WAIT] = QUEUE_WAIT,     [PACKET_SIGNAL] = QUEUE_SIGNAL};

    return types[packet->kind];
}

static void queued_wait(const struct packet *packet)
{
    for (uint32_t i = 0; i < packet->op->count; i++)
        wintrace_emit(WINTRACE_QUEUE_WAIT, vidsch_context_handle(packet->context),
                      packet->sequence + i, 0, vidsch_sync_handle(packet->op->entries[i].sync),
                      packet->op->entries[i].value, packet_handle(packet, i));
}

static void queued_signal(const struct packet *packet)
{
    const uint32_t count = packet->op->count < D3DDDI_MAX_OBJECT_SIGNALED
                               ? packet->op->count
                               : D3DDDI_MAX_OBJECT_SIGNALED;
    uint64_t value[5 + 2 * D3DDDI_MAX_OBJECT_SIGNALED] = {vidsch_context_handle(packet->context),
                                                          packet->sequence, 0, count};

    for (uint32_t i = 0; i < count; i++) {
        value[4 + i] = vidsch_sync_handle(packet->op->entries[i].sync);
        value[4 + count + i] = packet->op->entries[i].value;
    }
    value[4 + 2 * count] = packet_handle(packet, 0);
    wintrace_record(WINTRACE_QUEUE_SIGNAL, value, 5 + 2 * (size_t)count);
}

static void queued_work(const struct packet *packet)
{
    const bool render = packet->kind == PACKET_RENDER;
    uint64_t bytes = 0;

    if (render)
        bytes = packet->end - packet->start;
    else if (packet->kind == PACKET_VIRTUAL)
        bytes = packet->bytes;
    wintrace_emit(WINTRACE_QUEUE_START, vidsch_context_handle(packet->context), queue_type(packet),
                  packet->sequence, bytes, render ? packet->buffer->allocation_count : 0,
                  render ? packet->patch_count : 0, 0, buffer_handle(packet),
                  packet_handle(packet, 0), 0);
}

void vidsch_tell_queued(struct packet *packet)
{
    if (!wintrace_on())
        return;
    packet->sequence = packet->context->sequence + 1;
    packet->context->sequence += numbers(packet);
    if (packet->kind == PACKET_WAIT)
        queued_wait(packet);
    else if (packet->kind == PACKET_SIGNAL)
        queued_signal(packet);
    else
        queued_work(packet);
}

void vidsch_tell_taken(const struct packet *packet)
{
    if (!wintrace_on())
        return;
    for (uint32_t i = 0; i < numbers(packet); i++)
        wintrace_emit(WINTRACE_QUEUE_TAKEN, vidsch_context_handle(packet->context),
                      queue_type(packet), packet->sequence + i);
}

static void ended(struct packet *packet, bool timed_out)
{
    if (packet->told_ended)
        return;
    packet->told_ended = true;
    for (uint32_t i = 0; i < numbers(packet); i++)
        wintrace_emit(WINTRACE_QUEUE_STOP, vidsch_context_handle(packet->context),
                      queue_type(packet), packet->sequence + i, 0, timed_out,
                      packet_handle(packet, i));
}

void vidsch_tell_ended(struct packet *packet)
{
    if (wintrace_on())
        ended(packet, false);
}

void vidsch_tell_unwait(const struct vidsch_context *context)
{
    const struct packet *packet;

    if (!wintrace_on() || list_empty(&context->queue))
        return;
    packet = CONTAINER(context->queue.next, struct packet, link);
    wintrace_emit(WINTRACE_UNWAIT, packet_handle(packet, 0), vidsch_context_handle(context));
}

void vidsch_tell_status(const struct vidsch_context *context, enum context_status status)
{
    if (wintrace_on())
        wintrace_emit(WINTRACE_UPDATE_CONTEXT_STATUS, vidsch_context_handle(context), status, 0);
}

/* Bit n: a context of client priority n - 7 is ready, whatever the class of its process; bit 15:
 * paging is. */
static uint32_t priorities_ready(const struct vidsch_node *node)
{
    uint32_t bits = 0;

    for (uint32_t level = 0; level < VIDSCH_LEVELS; level++)
        if (level_is_set(node->ready_mask, level))
            bits |= 1u << (level == VIDSCH_PAGING_LEVEL ? VIDSCH_PRIORITIES
                                                        : level % VIDSCH_PRIORITIES);
    return bits;
}

void vidsch_tell_selected(const struct vidsch_node *node, const struct vidsch_context *context)
{
    const struct vidsch *vidsch = node->vidsch;
    uint64_t ready = 0, open = 0;
    uint32_t level;

    if (!wintrace_on())
        return;
    for (uint32_t i = 0; i < vidsch->config.nodes; i++) {
        const struct vidsch_node *other = &vidsch->node[i];

        ready |= (uint64_t)(level_highest(other->ready_mask, &level)) << i;
        open |= (uint64_t)(!other->stopped && !other->preempting && other->count < other->depth)
                << i;
    }
    wintrace_emit(WINTRACE_SELECT_CONTEXT, vidsch_adapter_handle(vidsch),
                  vidsch_context_handle(context), node->ordinal, priorities_ready(node), ready,
                  open);
}

void vidsch_tell_attempt(const struct vidsch_context *context, enum preemption_attempt result)
{
    if (wintrace_on())
        wintrace_emit(WINTRACE_ATTEMPT_PREEMPTION, vidsch_context_handle(context), result);
}

void vidsch_tell_no_attempt(const struct vidsch_node *node, const struct vidsch_context *context)
{
    enum preemption_attempt result = ATTEMPT_IDLE;

    if (!wintrace_on())
        return;
    for (uint32_t i = 0; i < node->count && result != ATTEMPT_OWN_RUNS; i++) {
        const struct vidsch_context *other = node_in_flight(node, i)->context;

        if (other == context)
            result = ATTEMPT_OWN_RUNS;
        else if (other->level > context->level)
            result = ATTEMPT_HIGHER_RUNS;
        else if (result == ATTEMPT_IDLE)
            result = ATTEMPT_EQUAL_RUNS;
    }
    vidsch_tell_attempt(context, node->preempting ? ATTEMPT_PENDING : result);
}

static enum quantum_status quantum_of(const struct vidsch_context *context)
{
    if (context->node->holder[context->level] != context)
        return QUANTUM_READY;
    return context->quantum_left ? QUANTUM_RUNNING : QUANTUM_EXPIRED;
}

void vidsch_tell_running_time(const struct vidsch_context *context, uint64_t ns)
{
    if (wintrace_on())
        wintrace_emit(WINTRACE_UPDATE_CONTEXT_RUNNING_TIME, vidsch_context_handle(context),
                      ns / 100, context->quantum_left / 100, 0, quantum_of(context), 0);
}

/* ---- nodes ---- */

static enum dma_packet_type dma_type(const struct packet *packet)
{
    return packet->kind == PACKET_PAGING ? DMA_PAGING : DMA_RENDER;
}

void vidsch_tell_submitted(const struct packet *packet)
{
    uint64_t context;

    if (!wintrace_on())
        return;
    context = vidsch_context_handle(packet->context);
    wintrace_emit(WINTRACE_DMA_START, context, packet->kind == PACKET_PAGING ? context : 0,
                  dma_type(packet), packet->fence, packet->sequence, buffer_handle(packet),
                  quantum_of(packet->context));
}

static void reported(const struct packet *packet, DXGK_INTERRUPT_TYPE type,
                     const DXGKARGCB_NOTIFY_INTERRUPT_DATA *fault)
{
    wintrace_emit(WINTRACE_DMA_REPORTED, vidsch_context_handle(packet->context), dma_type(packet),
                  packet->fence, packet->sequence, (uint64_t)type, quantum_of(packet->context),
                  fault ? fault->DmaPageFaulted.FaultedVirtualAddress : 0,
                  fault ? (uint64_t)fault->DmaPageFaulted.PageFaultFlags : 0, 0);
}

void vidsch_tell_reported(const struct vidsch_node *node, uint32_t reported_before, uint32_t fence,
                          DXGK_INTERRUPT_TYPE type, const DXGKARGCB_NOTIFY_INTERRUPT_DATA *fault)
{
    if (!wintrace_on())
        return;
    for (uint32_t i = 0; i < node->count; i++) {
        const struct packet *packet = node_in_flight(node, i);

        if (!fence_after(packet->fence, reported_before) || fence_after(packet->fence, fence))
            continue;
        if (packet->fence == fence)
            reported(packet, type, fault);
        else
            reported(packet, DXGK_INTERRUPT_DMA_COMPLETED, NULL);
    }
}

void vidsch_tell_preempted(const struct vidsch_node *node, uint32_t completed)
{
    if (!wintrace_on())
        return;
    for (uint32_t i = 0; i < node->count; i++)
        if (fence_after(node_in_flight(node, i)->fence, completed))
            reported(node_in_flight(node, i), DXGK_INTERRUPT_DMA_PREEMPTED, NULL);
    wintrace_emit(WINTRACE_DMA_REPORTED, vidsch_node_context_handle(node), DMA_PREEMPTION,
                  node->preempt_id, 0, DXGK_INTERRUPT_DMA_COMPLETED, QUANTUM_READY, 0, 0, 0);
}

void vidsch_tell_left_node(const struct packet *packet, bool preempted)
{
    if (wintrace_on())
        wintrace_emit(WINTRACE_DMA_STOP, vidsch_context_handle(packet->context), dma_type(packet),
                      packet->fence, packet->sequence, preempted);
}

void vidsch_tell_aborted(struct packet *packet)
{
    if (!wintrace_on())
        return;
    ended(packet, true);
    vidsch_tell_left_node(packet, false);
}

void vidsch_tell_request(const struct vidsch_node *node)
{
    if (!wintrace_on())
        return;
    for (uint32_t i = 0; i < node->count; i++)
        vidsch_tell_status(node_in_flight(node, i)->context, STATUS_CONTEXT_PREEMPTING);
    wintrace_emit(WINTRACE_DMA_START, vidsch_node_context_handle(node), 0, DMA_PREEMPTION,
                  node->preempt_id, 0, 0, QUANTUM_READY);
}

void vidsch_tell_request_ended(const struct vidsch_node *node)
{
    if (wintrace_on())
        wintrace_emit(WINTRACE_DMA_STOP, vidsch_node_context_handle(node), DMA_PREEMPTION,
                      node->preempt_id, 0, 0);
}
