/* SPDX-License-Identifier: MIT */
/*
 * Each node has a ready list per level, and a mask of those that are not empty: finding the context
 * of highest priority is O(1), and moving it to the end of its list after each packet gives the
 * round robin of SUBMIT-019.
 */
#include "vidsch/ready.h"
#include "sim/irql.h"
#include "sim/sim_assert.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/kick.h"
#include "vidsch/node.h"
#include "vidsch/process.h"

void vidsch_ready_add(struct vidsch_context *context)
{
    struct vidsch_device *device = context->device;
    struct vidsch_node *node = context->node;

    sim_assert_irql(SIM_IRQL_DISPATCH);
    if (device->awaiting_residency || device->process->suspended) {
        context->state = CONTEXT_PARKED;
        list_push_back(&device->parked, &context->run_link);
        return;
    }
    context->state = CONTEXT_READY;
    list_push_back(&node->ready[context->level], &context->run_link);
    node->ready_mask |= 1u << context->level;
    vidsch_kick_node(node);
}

void vidsch_ready_remove(struct vidsch_context *context)
{
    struct vidsch_node *node = context->node;

    sim_assert_irql(SIM_IRQL_DISPATCH);
    list_remove(&context->run_link);
    if (list_empty(&node->ready[context->level]))
        node->ready_mask &= ~(1u << context->level);
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
