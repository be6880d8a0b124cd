/* SPDX-License-Identifier: MIT */
/*
 * The worker sleeps only when no node is kicked. A turn submits at most one packet to each kicked
 * node, and keeps the node kicked as long as that succeeds, so no node starves another.
 */
#include "vidsch/worker.h"
#include "sim/machine.h"
#include "sim/wait.h"
#include "vidmm/residency/residency.h"
#include "vidsch/adapter_reset.h"
#include "vidsch/cancel.h"
#include "vidsch/change.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/dispatch.h"
#include "vidsch/doorbell.h"
#include "vidsch/dxgkrnl_events.h"
#include "vidsch/history.h"
#include "vidsch/hw_log.h"
#include "vidsch/hw_submit.h"
#include "vidsch/native_fence.h"
#include "vidsch/node.h"
#include "vidsch/packet.h"
#include "vidsch/portion.h"
#include "vidsch/preempt.h"
#include "vidsch/ready.h"
#include "vidsch/scheduler.h"
#include "vidsch/screen_hold.h"
#include "vidsch/sync_object.h"
#include "vidsch/timeout.h"

static bool node_closed(const struct vidsch_node *node)
{
    return node->vidsch->recovery.resetting || vidsch_submits_nothing(node->vidsch) ||
           node->stopped || node->preempting || node->count >= node->depth;
}

/* While clients are held: the keeper, if it must run before its memory may move. */
static struct vidsch_context *must_run(const struct vidsch_node *node)
{
    const struct vidsch_context *keeper = node->vidsch->keeper.context;

    if (!keeper || keeper->node != node || keeper->state != CONTEXT_READY ||
        !vidsch_portion_is_kept_for(CONTAINER(keeper->queue.next, struct packet, link)))
        return NULL;
    return (struct vidsch_context *)keeper;
}

static struct vidsch_context *first_ready(const struct vidsch_node *node)
{
    struct vidsch_context *context;
    uint32_t level;

    if (!level_highest(node->ready_mask, &level))
        return NULL;
    context = vidsch_ready_first(node, level);
    if (context->device->system)
        return context;
    if (node->vidsch->suspension.clients)
        return must_run(node);
    if (!node->unbroken || context == node->unbroken)
        return context;
    return node->unbroken->state == CONTEXT_READY ? (struct vidsch_context *)node->unbroken : NULL;
}

/* Is all memory resident that the head packet needs (RES-010, SUBMIT-024)? If not, the context is
 * parked until vidmm reports that it is (yields). What a companion works on is kept in place by the
 * batch whose entries it copies, and the list of the device may be waiting for that to end. */
static bool resident(struct vidsch_context *context)
{
    struct vidsch_device *device = context->device;
    struct packet *packet = CONTAINER(context->queue.next, struct packet, link);

    if (context->is_companion)
        return true;
    device->awaiting_residency = true; /* a report that comes while we ask clears it */
    if (packet->portion
            ? vidsch_portion_ready(packet)
            : vidmm_device_prepare(device->mm,
                                   context->hw_queue ? &context->hw_queue->parent->mm : &context->mm,
                                   packet->ticket)) {
        device->awaiting_residency = false;
        vidsch_ready_unpark(device);
        return true;
    }
    if (device->awaiting_residency && context->state == CONTEXT_READY) {
        vidsch_ready_remove(context);
        context->state = CONTEXT_PARKED;
        vidsch_tell_status(context, STATUS_CONTEXT_HELD);
        list_push_back(&device->parked, &context->run_link);
    }
    return false;
}

/* Take the next packet for the node off its queue. NULL: there is none, or the node accepts
 * none. */
static struct packet *pick(struct vidsch_node *node)
{
    struct vidsch_context *context;
    struct packet *packet;

    if (node_closed(node))
        return NULL;
    vidsch_ready_expire(node);
    if (!list_empty(&node->resubmit)) {
        packet = CONTAINER(list_pop_front(&node->resubmit), struct packet, link);
        vidsch_tell_selected(node, packet->context);
        vidsch_tell_taken(packet);
        packet->context->device->in_flight++;
        return packet;
    }
    while ((context = first_ready(node)) != NULL) {
        if (!context->device->system) {
            if (node->vidsch->recovery.restoring)
                return NULL;
            if (vidsch_screen_holds(context) || !resident(context))
                continue;
            if (node_closed(node))
                return NULL;
            if (context != first_ready(node))
                continue;
            if (vidsch_preempt_comes_first(node, context->level))
                return NULL;
        }
        packet = CONTAINER(context->queue.next, struct packet, link);
        vidsch_tell_selected(node, context);
        vidsch_tell_no_attempt(node, context);
        vidsch_tell_taken(packet);
        list_remove(&packet->link);
        vidsch_portion_taken(packet);
        vidsch_ready_take(context);
        vidsch_ready_hold(context);
        context->state = CONTEXT_SUBMITTING;
        context->device->in_flight++;
        return packet;
    }
    return NULL;
}

/* The same of a hardware queue. */
static struct packet *pick_hw(struct vidsch_node *node)
{
    struct vidsch_context *queue;
    struct packet *packet;

    while ((queue = vidsch_hw_first_ready(node)) != NULL) {
        if (!queue->device->system && (!resident(queue) || queue != vidsch_hw_first_ready(node)))
            continue;
        packet = CONTAINER(queue->queue.next, struct packet, link);
        vidsch_tell_taken(packet);
        list_remove(&packet->link);
        vidsch_ready_remove(queue);
        queue->state = CONTEXT_SUBMITTING;
        queue->device->in_flight++;
        return packet;
    }
    return NULL;
}

/* Submit at most one packet. False: the node has nothing to do for now. */
static bool serve(struct vidsch_node *node)
{
    struct packet *packet;

    if (node->watch_due)
        vidsch_timeout_check(node);
    if (node->hw.on) {
        if (node->hw.watch_due)
            vidsch_hw_watch_check(node);
        if (node->hw.rest_due)
            vidsch_doorbells_rest(node);
        if (node->hw.log_full)
            vidsch_hw_log_swap(node);
        vidsch_hw_go_on(node);
    }
    packet = pick(node);
    if (!packet && node->hw.on)
        packet = pick_hw(node);
    if (packet) {
        vidsch_dispatch(node, packet);
        return true;
    }
    vidsch_preempt_consider(node);
    return false;
}

static void turn(struct vidsch *vidsch)
{
    uint64_t kicked = vidsch->worker.kicked;

    vidsch->worker.kicked = 0;
    while (kicked) {
        uint32_t ordinal = (uint32_t)__builtin_ctzll(kicked);

        kicked &= kicked - 1;
        if (serve(&vidsch->node[ordinal]))
            vidsch->worker.kicked |= 1ull << ordinal;
    }
}

void vidsch_worker_main(void *arg)
{
    struct vidsch *vidsch = arg;
    bool more;

    while (!vidsch->worker.end) {
        if (!list_empty(&vidsch->syncs.dead))
            vidsch_sync_reap(vidsch);
        more = vidsch_native_tell(vidsch);
        if (vidsch->recovery.restore_hangs)
            vidsch_adapter_reset_failed(vidsch);
        if (!list_empty(&vidsch->worker.lost)) {
            struct vidsch_device *device = CONTAINER(list_pop_front(&vidsch->worker.lost),
                                                     struct vidsch_device, lost_link);

            vidsch_cancel_device(device);
            continue;
        }
        if (vidsch->worker.kicked) {
            turn(vidsch);
            vidsch_debug_check(vidsch);
            continue;
        }
        if (vidsch_history_log(vidsch) || more)
            continue;
        vidsch->worker.idle = true;
        sim_waitq_wait(&vidsch->worker.wait, SIM_FOREVER);
        vidsch->worker.idle = false;
    }
    vidsch->worker.ended = true;
    vidsch_change_announce(&vidsch->change);
}
