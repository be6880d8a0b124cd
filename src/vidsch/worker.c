/* SPDX-License-Identifier: MIT */
/*
 * The worker: the one thread that gives packets to the driver. Who has something for a node kicks
 * it (a bit in vidsch->kick); the worker sleeps only when no bit is set, so a burst of packets or
 * completions costs one wake-up. Each turn gives one packet to each kicked node, and leaves the bit
 * set while that succeeds, so no node starves another.
 */
#include "vidsch/vidsch_private.h"

void vidsch_worker_wake(struct vidsch *vidsch)
{
    if (vidsch->worker_idle) {
        vidsch->worker_idle = false;
        sim_waitq_wake(&vidsch->worker_wait, 1);
    }
}

static bool node_closed(const struct vidsch_node *node)
{
    return node->vidsch->resetting || node->vidsch->suspended || node->stopped ||
           node->preempting || node->count >= node->depth;
}

/* While clients are held back: the context whose memory stays in place until it is through. */
static struct vidsch_context *let_out(const struct vidsch_node *node)
{
    const struct vidsch_context *keeper = node->vidsch->keeper;

    if (!keeper || keeper->node != node || keeper->state != CONTEXT_READY ||
        !vidsch_portion_is_kept_for(CONTAINER(keeper->queue.next, struct packet, link)))
        return NULL;
    return (struct vidsch_context *)keeper;
}

static struct vidsch_context *first_ready(const struct vidsch_node *node)
{
    struct vidsch_context *context;
    uint32_t level;

    if (node->ready_mask == 0)
        return NULL;
    level = 31u - (uint32_t)__builtin_clz(node->ready_mask);
    context = CONTAINER(node->ready[level].next, struct vidsch_context, run_link);
    if (context->device->system)
        return context;
    if (node->vidsch->clients_held)
        return let_out(node);
    if (!node->unbroken || context == node->unbroken)
        return context;
    return node->unbroken->state == CONTEXT_READY ? (struct vidsch_context *)node->unbroken : NULL;
}

/* Is everything there that the context needs (RES-010, SUBMIT-024)? If not it is parked until vidmm
 * reports it. May yield. */
static bool resident(struct vidsch_context *context)
{
    struct vidsch_device *device = context->device;
    struct packet *packet = CONTAINER(context->queue.next, struct packet, link);

    device->awaiting_residency = true; /* a report that comes while we ask clears it */
    if (packet->portion ? vidsch_portion_ready(packet)
                        : vidmm_device_prepare(device->mm, &context->mm)) {
        device->awaiting_residency = false;
        vidsch_device_unpark(device);
        return true;
    }
    if (device->awaiting_residency && context->state == CONTEXT_READY) {
        vidsch_context_unready(context);
        context->state = CONTEXT_PARKED;
        list_push_back(&device->parked, &context->run_link);
    }
    return false;
}

/* The next packet for the node, off its queue; NULL if there is none or the node takes none. */
static struct packet *pick(struct vidsch_node *node)
{
    struct vidsch_context *context;
    struct packet *packet;

    if (node_closed(node))
        return NULL;
    if (!list_empty(&node->resubmit)) {
        packet = CONTAINER(list_pop_front(&node->resubmit), struct packet, link);
        packet->context->device->in_flight++;
        return packet;
    }
    while ((context = first_ready(node)) != NULL) {
        if (!context->device->system) {
            if (node->vidsch->restoring)
                return NULL;
            if (!resident(context))
                continue;
            if (node_closed(node))
                return NULL;
            if (context != first_ready(node))
                continue;
        }
        packet = CONTAINER(context->queue.next, struct packet, link);
        list_remove(&packet->link);
        vidsch_portion_taken(packet);
        vidsch_context_unready(context);
        context->state = CONTEXT_SUBMITTING;
        context->device->in_flight++;
        return packet;
    }
    return NULL;
}

/* One packet at most; false when the node has nothing to do for now. */
static bool serve(struct vidsch_node *node)
{
    struct packet *packet;

    if (node->watch_due)
        vidsch_watch_check(node);
    packet = pick(node);
    if (packet) {
        vidsch_dispatch(node, packet);
        return true;
    }
    vidsch_preempt_consider(node);
    return false;
}

static void turn(struct vidsch *vidsch)
{
    uint64_t kicked = vidsch->kick;

    vidsch->kick = 0;
    while (kicked) {
        uint32_t ordinal = (uint32_t)__builtin_ctzll(kicked);

        kicked &= kicked - 1;
        if (serve(&vidsch->node[ordinal]))
            vidsch->kick |= 1ull << ordinal;
    }
}

void vidsch_worker_main(void *arg)
{
    struct vidsch *vidsch = arg;

    while (!vidsch->worker_end) {
        if (!list_empty(&vidsch->dead_syncs))
            vidsch_syncs_reap(vidsch);
        if (!list_empty(&vidsch->lost)) {
            struct vidsch_device *device = CONTAINER(list_pop_front(&vidsch->lost),
                                                     struct vidsch_device, lost_link);

            vidsch_device_lost_work(device);
            continue;
        }
        if (vidsch->kick) {
            turn(vidsch);
            vidsch_debug_check(vidsch);
            continue;
        }
        vidsch->worker_idle = true;
        sim_waitq_wait(&vidsch->worker_wait, SIM_FOREVER);
        vidsch->worker_idle = false;
    }
    vidsch->worker_ended = true;
    vidsch_changed(vidsch);
}
