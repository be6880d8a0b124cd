/* SPDX-License-Identifier: MIT */
#include "vidsch/ringing.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/device_loss.h"
#include "vidsch/doorbell.h"
#include "vidsch/process.h"
#include "vidsch/scheduler.h"

static bool can_suspend(const struct vidsch *vidsch)
{
    return ddi_has(vidsch->ddi, DxgkDdiSuspendContext);
}

/* ---- contexts ---- */

static bool is_connected(const struct vidsch_hw_queue *hw)
{
    return hw->doorbell && hw->doorbell->connected;
}

bool vidsch_ringing_wants(const struct vidsch_hw_context *hw)
{
    if (!hw->context->device->user_queues)
        return false;
    LIST_FOR(link, &hw->queues) {
        const struct vidsch_hw_queue *queue = CONTAINER(link, struct vidsch_hw_queue, link);

        if (!queue->given_up && (is_connected(queue) || vidsch_doorbell_pending(queue)))
            return true;
    }
    return false;
}

/* A doorbell that is disconnected may be connected while nobody looks. */
bool vidsch_ringing_may(const struct vidsch_hw_context *hw)
{
    const struct vidsch_device *device = hw->context->device;

    if (!device->user_queues)
        return false;
    if (!device_is_lost(device) && can_suspend(device->vidsch))
        LIST_FOR(link, &hw->queues) {
            const struct vidsch_hw_queue *queue = CONTAINER(link, struct vidsch_hw_queue, link);

            if (!queue->given_up && (queue->doorbell || queue->doorbell_begins))
                return true;
        }
    return vidsch_ringing_wants(hw);
}

bool vidsch_ringing_held(const struct vidsch_hw_context *hw)
{
    const struct vidsch_device *device = hw->context->device;
    const struct vidsch *vidsch = device->vidsch;

    return vidsch->suspension.all || vidsch->suspension.clients || vidsch->recovery.resetting ||
           vidsch->recovery.restoring || device->process->suspended || device_is_lost(device);
}

/* ---- devices ---- */

bool vidsch_ringing_device(const struct vidsch_device *device)
{
    if (device->user_queues)
        LIST_FOR(link, &device->contexts) {
            const struct vidsch_hw_context *hw = CONTAINER(link, struct vidsch_context, link)->hw;

            if (hw && vidsch_ringing_may(hw))
                return true;
        }
    return false;
}
