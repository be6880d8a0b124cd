/* SPDX-License-Identifier: MIT */
/* A full check of the scheduler's invariants, for tests and debug builds. */
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/node.h"
#include "vidsch/packet.h"
#include "vidsch/paging.h"
#include "vidsch/scheduler.h"
#include "vidsch/sync_object.h"
#include "vidsch/sync_op.h"

#define REQUIRE(condition) \
    do {                   \
        if (!(condition))  \
            return false;  \
    } while (0)

static uint32_t length(const struct list *list)
{
    uint32_t count = 0;

    LIST_FOR(node, list)
        count++;
    return count;
}

static bool node_is_sound(const struct vidsch_node *node)
{
    REQUIRE(node->count <= node->depth && node->depth <= node->ring_mask + 1);
    REQUIRE(!fence_after(node->last_completed, node->reported) &&
            !fence_after(node->reported, node->last_submitted));
    REQUIRE(node->next_fence != 0);
    for (uint32_t i = 0; i < node->count; i++) {
        const struct packet *packet = node_in_flight(node, i);

        REQUIRE(packet_is_work(packet) && packet->context->node == node);
        REQUIRE(fence_after(packet->fence, node->last_completed) &&
                !fence_after(packet->fence, node->last_submitted));
        REQUIRE(i == 0 || fence_after(packet->fence, node_in_flight(node, i - 1)->fence));
        REQUIRE(list_empty(&packet->after) || packet->context->last_in_flight);
    }
    for (uint32_t level = 0; level < VIDSCH_LEVELS; level++) {
        const struct vidsch_context *holder = node->holder[level];

        REQUIRE(!holder ||
                (holder->node == node && holder->level == level && holder->quantum_left > 0));
        REQUIRE(!list_empty(&node->ready[level]) == level_is_set(node->ready_mask, level));
        LIST_FOR(link, &node->ready[level]) {
            const struct vidsch_context *context = CONTAINER(link, struct vidsch_context, run_link);

            REQUIRE(context->state == CONTEXT_READY && context->level == level &&
                    context->node == node);
            REQUIRE(!context->device->awaiting_residency || context->device->vidsch->worker.thread);
        }
    }
    LIST_FOR(link, &node->resubmit)
        REQUIRE(packet_comes_first(CONTAINER(link, struct packet, link)));
    return true;
}

static uint32_t in_flight_of(const struct vidsch_context *context, uint32_t *work)
{
    const struct vidsch_node *node = context->node;
    uint32_t count = 0;

    for (uint32_t i = 0; i < node->count; i++) {
        const struct packet *packet = node_in_flight(node, i);

        if (packet->context != context)
            continue;
        count += 1 + length(&packet->after);
        (*work)++;
    }
    LIST_FOR(link, &node->resubmit) {
        if (CONTAINER(link, struct packet, link)->context == context) {
            count++;
            (*work)++;
        }
    }
    if (!context->hw_queue)
        return count;
    LIST_FOR(link, &context->hw_queue->in_flight) {
        count += 1 + length(&CONTAINER(link, struct packet, link)->after);
        (*work)++;
    }
    return count;
}

static bool context_is_sound(const struct vidsch_context *context, uint32_t *work_of_device)
{
    bool held = context->device->vidsch->worker.busy_context == context;
    uint32_t work = 0;
    uint32_t pending = in_flight_of(context, &work);

    LIST_FOR(link, &context->queue) {
        const struct packet *packet = CONTAINER(link, struct packet, link);

        REQUIRE(packet->context == context);
        REQUIRE((packet->kind == PACKET_WAIT || packet->kind == PACKET_SIGNAL) ==
                (packet->op != NULL));
        pending++;
        work += packet_is_work(packet);
    }
    if (!held && context->state != CONTEXT_LOST) { /* else the worker may hold one of its packets */
        REQUIRE(pending == context->pending && work == context->work);
        REQUIRE(context->state != CONTEXT_SUBMITTING);
        REQUIRE((context->state == CONTEXT_IDLE) == list_empty(&context->queue));
    }
    if (context->state == CONTEXT_READY || context->state == CONTEXT_PARKED)
        REQUIRE(packet_is_work(CONTAINER(context->queue.next, struct packet, link)));
    if (context->state == CONTEXT_BLOCKED)
        REQUIRE(packet_blocks(CONTAINER(context->queue.next, struct packet, link)));
    REQUIRE(length(&context->free_buffers) == context->buffers_free &&
            context->buffers_free <= context->buffers);
    LIST_FOR(link, &context->mutexes)
        REQUIRE(CONTAINER(link, struct vidsch_sync, owner_link)->owner == context);
    *work_of_device += context->work;
    return true;
}

static bool sync_is_sound(const struct vidsch_sync *sync)
{
    uint32_t entries = 0;

    LIST_FOR(link, &sync->waiters) {
        const struct sync_entry *entry = CONTAINER(link, struct sync_entry, link);

        REQUIRE(entry->sync == sync && entry->op->registered);
        entries++;
    }
    REQUIRE(sync->references > entries || !sync->device);
    if (sync->type == D3DDDI_MONITORED_FENCE)
        REQUIRE(list_empty(&sync->waiters) == list_empty(&sync->watch_link));
    if (sync->type == D3DDDI_SEMAPHORE)
        REQUIRE(sync->count <= sync->max_count);
    if (sync->owner)
        REQUIRE(sync->type == D3DDDI_SYNCHRONIZATION_MUTEX && sync->count == 0);
    return true;
}

static bool device_is_sound(const struct vidsch_device *device)
{
    uint64_t ticket = 0;
    uint32_t work = 0;

    LIST_FOR(link, &device->contexts)
        REQUIRE(context_is_sound(CONTAINER(link, struct vidsch_context, link), &work));
    LIST_FOR(link, &device->outstanding) {
        const struct packet *packet = CONTAINER(link, struct packet, device_link);

        REQUIRE(packet->ticket <= device->last_ticket);
        REQUIRE(packet->ticket > ticket || (packet->portion && packet->ticket == ticket));
        ticket = packet->ticket;
    }
    REQUIRE(length(&device->outstanding) == work && work <= device->pending);
    REQUIRE(device->in_flight <= work);
    LIST_FOR(link, &device->parked)
        REQUIRE(CONTAINER(link, struct vidsch_context, run_link)->state == CONTEXT_PARKED);
    LIST_FOR(link, &device->syncs)
        REQUIRE(sync_is_sound(CONTAINER(link, struct vidsch_sync, link)));
    return true;
}

bool vidsch_validate_lists(struct vidsch *vidsch)
{
    for (uint32_t i = 0; i < vidsch->config.nodes; i++)
        REQUIRE(node_is_sound(&vidsch->node[i]));
    LIST_FOR(link, &vidsch->devices)
        REQUIRE(device_is_sound(CONTAINER(link, struct vidsch_device, link)));
    REQUIRE(list_empty(&vidsch->advance.contexts) && !vidsch->advance.running);
    REQUIRE(vidsch->paging.completed <= vidsch->paging.last);
    REQUIRE(length(&vidsch->paging.free) <= VIDSCH_PAGING_SLOTS);
    return true;
}

bool vidsch_validate(struct vidsch *vidsch)
{
    return vidsch_validate_lists(vidsch) && slab_validate(&vidsch->packets) &&
           slab_validate(&vidsch->syncs.ops) && hash_validate(&vidsch->driver_devices);
}
