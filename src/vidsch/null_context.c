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
#include "vidsch/hw_suspend.h"
#include "vidsch/kick.h"
#include "vidsch/life.h"
#include "vidsch/node.h"
#include "vidsch/packet.h"
#include "vidsch/ringing.h"
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
    return !context->hw && context->node->current == context && context->state != CONTEXT_LOST;
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
    vidsch_life_queued(packet);
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

/* A context of a hardware-scheduled node that may be on the GPU. */
static struct vidsch_hw_context *still_active(const struct vidsch_device *device,
                                              const struct vidmm_context *only)
{
    LIST_FOR(link, &device->contexts) {
        const struct vidsch_context *context = CONTAINER(link, struct vidsch_context, link);

        if (context->hw && (!only || only == &context->mm) && context->state != CONTEXT_LOST &&
            (context->hw->active || context->hw->state == HW_SUSPENDING ||
             (context->hw->state == HW_RUNS && vidsch_ringing_may(context->hw))))
            return context->hw;
    }
    return NULL;
}

/* There DxgkDdiSuspendContext takes the part of the packet (PREEMPT-035): once acknowledged, the
 * memory of the context may move (PREEMPT-042). It is resumed by its next submission. */
static NTSTATUS suspend_hardware(const struct vidsch_device *device,
                                 const struct vidmm_context *only)
{
    struct vidsch_hw_context *hw;

    while ((hw = still_active(device, only)) != NULL && !sim_current->stopped) {
        const bool stopped = hw->context->node->stopped; /* until it is reset */

        if (hw->state == HW_RUNS && !stopped && !vidsch_hw_suspend(hw))
            return STATUS_SUCCESS; /* a driver without that entry */
        if (hw->state == HW_SUSPENDING || stopped)
            vidsch_change_wait(device->vidsch, SIM_FOREVER);
    }
    return sim_current->stopped ? STATUS_DEVICE_REMOVED : STATUS_SUCCESS;
}

NTSTATUS vidsch_null_context_enter(struct vidmm_device *mm, struct vidmm_context *only)
{
    struct vidsch_device *device = vidmm_device_owner(mm);
    NTSTATUS status = STATUS_SUCCESS;

    sim_assert_passive();
    status = suspend_hardware(device, only);
    if (!NT_SUCCESS(status) || !device->vidsch->config.caps.PreemptionAware) /* PREEMPT-036 */
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
