/* SPDX-License-Identifier: MIT */
#include "vidsch/device_wait.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/sim_assert.h"
#include "sim/wait.h"
#include "vidsch/client.h"
#include "vidsch/context.h"
#include "vidsch/device.h"
#include "vidsch/marks.h"
#include "vidsch/packet.h"
#include "vidsch/scheduler.h"

bool vidsch_device_ticket_done(const struct vidsch_device *device, uint64_t ticket)
{
    /* The list is in order of tickets, so its head is the oldest that is not done. */
    return (list_empty(&device->outstanding) ||
            CONTAINER(device->outstanding.next, struct packet, device_link)->ticket > ticket) &&
           vidsch_marks_reached(device, ticket);
}

NTSTATUS vidsch_device_wait_ticket(struct vidsch_device *device, uint64_t ticket)
{
    sim_assert_passive();
    while (!vidsch_device_ticket_done(device, ticket)) {
        if (sim_current->stopped)
            return STATUS_DEVICE_REMOVED;
        if (device->nudged) {
            device->nudged = false;
            return STATUS_RETRY;
        }
        if (device->awaited_ticket > ticket)
            device->awaited_ticket = ticket;
        sim_waitq_wait(&device->changed, SIM_FOREVER);
    }
    return STATUS_SUCCESS;
}

void vidsch_device_nudge(struct vidsch_device *device)
{
    device->nudged = true;
    sim_waitq_wake(&device->changed, UINT32_MAX);
}

void vidsch_device_wake(struct vidsch_device *device)
{
    device->awaited_ticket = UINT64_MAX; /* threads that still wait set it again */
    sim_waitq_wake(&device->changed, UINT32_MAX);
}

/* May a thread wait for what has just ended? Waking the waiters at each packet would cost two fiber
 * switches a packet. */
static bool is_awaited(const struct vidsch_context *context)
{
    const struct vidsch_device *device = context->device;

    return device->pending == 0 || context->pending == 0 ||
           (device->awaited_ticket != UINT64_MAX &&
            vidsch_device_ticket_done(device, device->awaited_ticket));
}

void vidsch_device_wake_awaited(const struct vidsch_context *context)
{
    if (!list_empty(&context->device->changed.waiters) && is_awaited(context))
        vidsch_device_wake(context->device);
}

static bool busy(const struct vidsch_device *device, const struct vidsch_context *context)
{
    const struct vidsch_context *held = device->vidsch->worker.busy_context;

    if (device->cleaning)
        return true;
    if (context)
        return context->pending || context->buffers_free != context->buffers || held == context;
    return device->pending || (held && held->device == device);
}

void vidsch_device_drain(struct vidsch_device *device, const struct vidsch_context *context)
{
    sim_assert_passive();
    while (busy(device, context) && !sim_current->stopped)
        sim_waitq_wait(&device->changed, SIM_FOREVER);
}

NTSTATUS vidsch_device_wait_idle(struct vidsch_device *device)
{
    sim_assert_passive();
    while (device->pending && !sim_current->stopped)
        sim_waitq_wait(&device->changed, SIM_FOREVER);
    return STATUS_SUCCESS;
}
