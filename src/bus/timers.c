/* SPDX-License-Identifier: MIT */
/* Timers of a device: events of the simulated time. */
#include "bus/timers.h"

#include <stdio.h>

#include "bus/device_record.h"
#include "bus/model_call.h"
#include "sim/event.h"
#include "sim/machine.h"
#include "util/list.h"

static void timer_describe(const struct sim_event *event, char *text, size_t bytes)
{
    const struct bus_timer *timer = CONTAINER(event, struct bus_timer, event);
    const struct bus_device *device = timer->device;

    snprintf(text, bytes, "timer %u of device model %s", (unsigned)(timer - device->timer),
             device->model->name);
}

static void timer_fire(struct sim_event *event)
{
    struct bus_timer *timer = CONTAINER(event, struct bus_timer, event);
    struct bus_device *device = timer->device;

    bus_timers_retry(device);
    bus_model_timer(device, (unsigned)(timer - device->timer));
}

void bus_timers_init(struct bus_device *device)
{
    for (unsigned i = 0; i < DXGK_DEVICE_TIMERS; i++) {
        device->timer[i].device = device;
        device->timer[i].event.fire = timer_fire;
        device->timer[i].event.describe = timer_describe;
    }
}

void bus_timers_cancel(struct bus_device *device)
{
    for (unsigned i = 0; i < DXGK_DEVICE_TIMERS; i++) {
        sim_event_cancel(&device->timer[i].event);
        device->timer[i].lost = false;
    }
    device->timers_lost = false;
}

static void arm(struct bus_timer *timer)
{
    timer->lost = !sim_event_arm(&timer->event, timer->due);
    if (timer->lost)
        timer->device->timers_lost = true;
}

void bus_timers_retry(struct bus_device *device)
{
    if (!device->timers_lost)
        return;
    device->timers_lost = false;
    for (unsigned i = 0; i < DXGK_DEVICE_TIMERS; i++) {
        if (device->timer[i].lost)
            arm(&device->timer[i]);
    }
}

void bus_timers_arm(struct bus_device *device, unsigned timer, uint64_t delay)
{
    if (timer >= DXGK_DEVICE_TIMERS || device->unplugged)
        return;
    device->timer[timer].due = sim_later(sim_now(), delay);
    arm(&device->timer[timer]);
}

void bus_timers_disarm(struct bus_device *device, unsigned timer)
{
    if (timer >= DXGK_DEVICE_TIMERS)
        return;
    sim_event_cancel(&device->timer[timer].event);
    device->timer[timer].lost = false;
}
