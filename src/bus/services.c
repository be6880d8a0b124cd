/* SPDX-License-Identifier: MIT */
/*
 * What a device model may ask of the host: time, interrupts, memory, marks in the trace; timers are
 * in timers.c, DMA is in dma.c.
 */
#include <stdio.h>

#include "bus/services.h"
#include "bus/device_record.h"
#include "bus/dma.h"
#include "bus/memory.h"
#include "bus/timers.h"
#include "sim/interrupt.h"
#include "sim/machine.h"
#include "trace/trace.h"

static uint64_t service_now(void *host)
{
    (void)host;
    return sim_now();
}

/* A message is a write to the bus: a device that is cut off from it cannot interrupt. */
static void service_interrupt(void *host, uint32_t message)
{
    struct bus_device *device = host;

    if (device->unplugged || !device->iommu.domain || message >= device->description.messages)
        return;
    device->interrupts++;
    trace_instant(device->track, "interrupt", "message", message, NULL, 0);
    sim_interrupt_raise(&device->interrupt[message]);
}

static void service_timer_arm(void *host, unsigned timer, uint64_t delay)
{
    bus_timers_arm(host, timer, delay);
}

static void service_timer_disarm(void *host, unsigned timer)
{
    bus_timers_disarm(host, timer);
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
    .interrupt = service_interrupt,
    .timer_arm = service_timer_arm,
    .timer_disarm = service_timer_disarm,
    .memory = service_memory,
    .trace = service_trace,
    .trace_begin = service_trace_begin,
    .trace_end = service_trace_end,
    .dma_source = service_dma_source,
    .dma_pasid = bus_dma_pasid,
};
