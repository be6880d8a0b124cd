/* SPDX-License-Identifier: MIT */
/*
 * What a device model may ask of the host: time, interrupts, timers, memory, marks in the trace;
 * DMA is in dma.c.
 */
#include <stdio.h>

#include "bus/bus_private.h"
#include "sim/event.h"
#include "sim/interrupt.h"
#include "sim/machine.h"

static uint64_t service_now(void *host)
{
    (void)host;
    return sim_now();
}

/* A message is a write to the bus: a device that is cut off from it cannot interrupt. */
void bus_service_interrupt(void *host, uint32_t message)
{
    struct bus_device *device = host;

    if (device->unplugged || !device->iommu.domain || message >= device->description.messages)
        return;
    device->interrupts++;
    trace_instant(device->track, "interrupt", "message", message, NULL, 0);
    sim_interrupt_raise(&device->interrupt[message]);
}

static void timer_fire(struct sim_event *event)
{
    struct bus_timer *timer = CONTAINER(event, struct bus_timer, event);
    struct bus_device *device = timer->device;

    bus_timers_retry(device);
    device->model->timer(device->state, (unsigned)(timer - device->timer));
}

void bus_timers_init(struct bus_device *device)
{
    for (unsigned i = 0; i < DXGK_DEVICE_TIMERS; i++) {
        device->timer[i].device = device;
        device->timer[i].event.fire = timer_fire;
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

static void service_timer_arm(void *host, unsigned timer, uint64_t delay)
{
    struct bus_device *device = host;
    uint64_t now = sim_now();

    if (timer >= DXGK_DEVICE_TIMERS || device->unplugged)
        return;
    device->timer[timer].due = delay < SIM_FOREVER - now ? now + delay : SIM_FOREVER;
    arm(&device->timer[timer]);
}

static void service_timer_disarm(void *host, unsigned timer)
{
    struct bus_device *device = host;

    if (timer >= DXGK_DEVICE_TIMERS)
        return;
    sim_event_cancel(&device->timer[timer].event);
    device->timer[timer].lost = false;
}

static void *service_memory(void *host, unsigned bar)
{
    return bus_device_memory(host, bar);
}

static void service_trace(void *host, const char *name, uint64_t value)
{
    struct bus_device *device = host;

    trace_instant(device->track, name, "value", value, NULL, 0);
}

static trace_track engine_track(struct bus_device *device, unsigned engine)
{
    char name[64];

    if (engine >= BUS_ENGINES)
        return device->track;
    if (device->engine[engine] == 0) {
        snprintf(name, sizeof(name), "%s engine %u", device->model->name, engine);
        device->engine[engine] = trace_track_create("engines", trace_intern(name));
    }
    return device->engine[engine];
}

static void service_trace_begin(void *host, unsigned engine, const char *name, uint64_t value)
{
    if (trace_current)
        trace_begin(engine_track(host, engine), name, "value", value);
}

static void service_trace_end(void *host, unsigned engine, const char *name)
{
    if (trace_current)
        trace_end(engine_track(host, engine), name);
}

static void service_dma_source(void *host, unsigned engine, uint64_t command)
{
    struct bus_device *device = host;

    device->dma_engine = engine;
    device->dma_command = command;
}

const struct dxgk_device_services bus_services = {
    .size = sizeof(bus_services),
    .now = service_now,
    .dma_read = bus_dma_read,
    .dma_write = bus_dma_write,
    .dma_window = bus_dma_window,
    .interrupt = bus_service_interrupt,
    .timer_arm = service_timer_arm,
    .timer_disarm = service_timer_disarm,
    .memory = service_memory,
    .trace = service_trace,
    .trace_begin = service_trace_begin,
    .trace_end = service_trace_end,
    .dma_source = service_dma_source,
    .dma_pasid = bus_dma_pasid,
};
