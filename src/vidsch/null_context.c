/* SPDX-License-Identifier: MIT */
/* The packet belongs to the context that is left, so that the work of its device ends with it. */
#include "vidsch/null_context.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/sim_assert.h"
#include "sim/wait.h"
#include "vidmm/process.h"
#include "vidsch/change.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/dxgkrnl_events.h"
#include "vidsch/kick.h"
#include "vidsch/node.h"
#include "vidsch/packet.h"
#include "vidsch/scheduler.h"

void vidsch_null_context_note(struct vidsch_node *node, const struct packet *packet)
{
    const bool leaves = packet->kind == PACKET_LEAVE;

    node->current = leaves ? NULL : packet->context;
    node->current_paging = packet->kind == PACKET_PAGING;
}

void vidsch_null_context_forget(struct vidsch_node *node, const struct vidsch_context *context)
{
    if (!context || node->current == context)
        node->current = NULL;
}

static bool is_current(const struct vidsch_context *context)
{
    return context->node->current == context && context->state != CONTEXT_LOST;
}

static NTSTATUS leave(struct vidsch_context *context)
{
    struct vidsch_node *node = context->node;
    struct packet *packet = vidsch_packet_create(context, PACKET_LEAVE);

    if (!packet)
        return STATUS_NO_MEMORY;
    packet->leaves_paging = node->current_paging;
    context->leaving = true;
    vidsch_packet_number(packet);
    context->pending++;
    context->device->pending++;
    vidsch_tell_queued(packet);
    list_push_back(&node->resubmit, &packet->link);
    vidsch_kick_node(node);
    return STATUS_SUCCESS;
}

static bool is_leaving(const struct vidsch_device *device)
{
    LIST_FOR(link, &device->contexts)
        if (CONTAINER(link, struct vidsch_context, link)->leaving)
            return true;
    return false;
}

NTSTATUS vidsch_null_context_enter(struct vidmm_device *mm, struct vidmm_context *only)
{
    struct vidsch_device *device = vidmm_device_owner(mm);
    NTSTATUS status = STATUS_SUCCESS;

    sim_assert_passive();
    if (!device->vidsch->config.caps.PreemptionAware) /* PREEMPT-036 */
        return status;
    LIST_FOR(link, &device->contexts) {
        struct vidsch_context *context = CONTAINER(link, struct vidsch_context, link);

        if ((!only || only == &context->mm) && is_current(context) && NT_SUCCESS(status))
            status = leave(context);
    }
    while (is_leaving(device) && !sim_current->stopped)
        vidsch_change_wait(device->vidsch, SIM_FOREVER);
    return sim_current->stopped ? STATUS_DEVICE_REMOVED : status;
}
