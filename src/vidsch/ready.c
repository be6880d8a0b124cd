/* SPDX-License-Identifier: MIT */
/*
 * Each node has a ready list per level, and a mask of those that are not empty: finding the context
 * of highest priority is O(1). Whoever becomes ready goes to the end of its list, but the holder of
 * the level to its front, so that service goes round, a quantum at a time, or a packet at a time
 * without holders (SUBMIT-019).
 */
#include "vidsch/ready.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/sim_assert.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/dxgkrnl_events.h"
#include "vidsch/kick.h"
#include "vidsch/node.h"
#include "vidsch/packet.h"
#include "vidsch/process.h"
#include "vidsch/scheduler.h"

#define QUANTUM_NS 5000000ull /* SUBMIT-019 */

void vidsch_ready_add(struct vidsch_context *context)
{
    struct vidsch_device *device = context->device;
    struct vidsch_node *node = context->node;

    sim_assert_irql(SIM_IRQL_DISPATCH);
    if (device->awaiting_residency || device->process->suspended) {
        context->state = CONTEXT_PARKED;
        vidsch_tell_status(context, STATUS_CONTEXT_HELD);
        list_push_back(&device->parked, &context->run_link);
        return;
    }
    context->state = CONTEXT_READY;
    vidsch_tell_status(context, STATUS_CONTEXT_READY);
    if (context->hw_queue) { /* the GPU chooses among those that were submitted */
        list_push_back(&node->hw.ready, &context->run_link);
        vidsch_kick_node(node);
        return;
    }
    if (node->holder[context->level] == context)
        list_push_front(&node->ready[context->level], &context->run_link);
    else
        list_push_back(&node->ready[context->level], &context->run_link);
    node->ready_mask[context->level / 64] |= 1ull << context->level % 64;
    vidsch_kick_node(node);
}

void vidsch_ready_remove(struct vidsch_context *context)
{
    struct vidsch_node *node = context->node;

    sim_assert_irql(SIM_IRQL_DISPATCH);
    list_remove(&context->run_link);
    if (list_empty(&node->ready[context->level]))
        level_clear(node->ready_mask, context->level);
}

static struct vidsch_context *context_of(const struct list *run_link)
{
    return CONTAINER(run_link, struct vidsch_context, run_link);
}

struct vidsch_context *vidsch_ready_first(const struct vidsch_node *node, uint32_t level)
{
    struct vidsch_context *first = context_of(node->ready[level].next);

    if (first->ahead || first->device->process->ahead == 0)
        return first;
    LIST_FOR(link, &node->ready[level])
        if (context_of(link)->ahead && context_of(link)->device->process == first->device->process)
            return context_of(link);
    return first;
}

void vidsch_ready_take(struct vidsch_context *context)
{
    struct vidsch_context *first = context_of(context->node->ready[context->level].next);

    if (context->ahead && !first->ahead && first->device->process == context->device->process) {
        list_remove(&first->run_link);
        list_push_front(&context->run_link, &first->run_link);
    }
    vidsch_ready_remove(context);
}

void vidsch_ready_hold(struct vidsch_context *context)
{
    struct vidsch_context **holder = &context->node->holder[context->level];

    if (*holder == context || context->node->vidsch->config.policy.round_robin)
        return;
    *holder = context;
    context->quantum_left = QUANTUM_NS;
}

void vidsch_ready_release(struct vidsch_context *context)
{
    if (context->node->holder[context->level] == context)
        context->node->holder[context->level] = NULL;
}

/* Its quantum is used up: the others of its level come first. */
static void rotate(struct vidsch_context *context)
{
    vidsch_ready_release(context);
    if (context->state != CONTEXT_READY)
        return;
    list_remove(&context->run_link);
    list_push_back(&context->node->ready[context->level], &context->run_link);
}

void vidsch_ready_charge(struct vidsch_context *context, uint64_t ns)
{
    if (context->node->holder[context->level] != context)
        return;
    if (ns < context->quantum_left)
        context->quantum_left -= ns;
    else
        context->quantum_left = 0;
    vidsch_tell_running_time(context, ns);
    if (context->quantum_left == 0)
        rotate(context);
}

void vidsch_ready_expire(struct vidsch_node *node)
{
    struct vidsch_context *running = node->count ? node_in_flight(node, 0)->context : NULL;

    if (running && node->holder[running->level] == running &&
        sim_now() - node->oldest_since >= running->quantum_left)
        rotate(running);
}

void vidsch_ready_unpark(struct vidsch_device *device)
{
    struct list parked;

    if (device->awaiting_residency || device->process->suspended || list_empty(&device->parked))
        return;
    list_take_all(&device->parked, &parked);
    while (!list_empty(&parked))
        vidsch_ready_add(CONTAINER(list_pop_front(&parked), struct vidsch_context, run_link));
}
