/* SPDX-License-Identifier: MIT */
#include "vidsch/ringing_hold.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/sim_assert.h"
#include "sim/wait.h"
#include "vidsch/change.h"
#include "vidsch/client.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/device_loss.h"
#include "vidsch/doorbell.h"
#include "vidsch/hw_submit.h"
#include "vidsch/hw_suspend.h"
#include "vidsch/kick.h"
#include "vidsch/marks.h"
#include "vidsch/node.h"
#include "vidsch/process.h"
#include "vidsch/ringing.h"
#include "vidsch/scheduler.h"

#define LOOK_NS 1000000u /* that it sleeps now is not announced */

static struct vidsch_hw_context *find_running(const struct vidsch *vidsch,
                                              const struct vidsch_process *process)
{
    for (uint32_t i = 0; i < vidsch->config.nodes; i++)
        LIST_FOR(link, &vidsch->node[i].hw.contexts) {
            struct vidsch_hw_context *hw = CONTAINER(link, struct vidsch_hw_context, node_link);

            if (hw->state != HW_SUSPENDED && vidsch_ringing_may(hw) &&
                (!process || hw->context->device->process == process))
                return hw;
        }
    return NULL;
}

/* A step on the way to its suspension. False: there is none to take, but to wait. */
static bool step(struct vidsch_hw_context *hw)
{
    const struct vidsch_node *node = hw->context->node;

    if (hw->state != HW_RUNS || node->stopped || node->vidsch->recovery.resetting ||
        device_is_lost(hw->context->device))
        return false;
    if (vidsch_hw_suspend(hw))
        return true;
    vidsch_hw_watch_begin(hw->context->node);
    return vidsch_doorbells_disconnect_context(hw);
}

bool vidsch_ringing_hold(struct vidsch *vidsch, const struct vidsch_process *process,
                         uint64_t deadline)
{
    struct vidsch_hw_context *hw;

    sim_assert_passive();
    while ((hw = find_running(vidsch, process)) != NULL && !sim_current->stopped)
        if (!step(hw) && !vidsch_change_wait(vidsch, deadline) && find_running(vidsch, process))
            return false;
    return true;
}

void vidsch_ringing_connects(struct vidsch_hw_context *hw)
{
    struct vidsch *vidsch = hw->context->node->vidsch;

    /* a sleeping adapter is held until the driver is called */
    while (vidsch_ringing_held(hw) && hw->state != HW_SUSPENDED && !vidsch->ddi->asleep &&
           !device_is_lost(hw->context->device) && !sim_current->stopped)
        if (!ddi_has(vidsch->ddi, DxgkDdiSuspendContext) || !step(hw))
            vidsch_change_wait(vidsch, sim_now() + LOOK_NS);
}

void vidsch_ringing_go_on(const struct vidsch_device *device)
{
    if (!device->user_queues)
        return;
    LIST_FOR(link, &device->contexts)
        if (CONTAINER(link, struct vidsch_context, link)->hw)
            vidsch_kick_node(CONTAINER(link, struct vidsch_context, link)->node);
    vidsch_change_announce(&device->vidsch->change);
}

void vidsch_ringing_watch(const struct vidsch_device *device)
{
    LIST_FOR(link, &device->contexts)
        if (CONTAINER(link, struct vidsch_context, link)->hw)
            vidsch_hw_watch_begin(CONTAINER(link, struct vidsch_context, link)->node);
}

void vidsch_device_wait_rung(struct vidsch_device *device)
{
    uint64_t ticket;

    sim_assert_passive();
    if (!vidsch_marks_make(device, &ticket))
        return;
    vidsch_ringing_watch(device);
    while (!vidsch_marks_reached(device, ticket) && !sim_current->stopped)
        sim_waitq_wait(&device->changed, SIM_FOREVER);
}
