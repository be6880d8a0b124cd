/* SPDX-License-Identifier: MIT */
/*
 * What a device model may ask of the host: time, interrupts, memory, marks in the trace; timers are
 * in timers.c, DMA is in dma.c. Outside of a machine, as on a thread of the model's own, nothing of
 * it has an effect.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "bus/services.h"
#include "bus/bus_record.h"
#include "bus/device_record.h"
#include "bus/dma.h"
#include "bus/memory.h"
#include "bus/timers.h"
#include "sim/interrupt.h"
#include "sim/machine.h"
#include "trace/trace.h"

static bool outside(void)
{
    return !sim_current;
}

static uint64_t service_now(void *host)
{
    (void)host;
    return outside() ? 0 : sim_now();
}

static bool service_dma_read(void *host, uint64_t logical, void *to, size_t bytes)
{
    if (!outside())
        return bus_dma_read(host, logical, to, bytes);
    memset(to, 0xFF, bytes);
    return false;
}

static bool service_dma_write(void *host, uint64_t logical, const void *from, size_t bytes)
{
    return !outside() && bus_dma_write(host, logical, from, bytes);
}

static void *service_dma_window(void *host, uint64_t logical, enum dxgk_dma_access access,
                                size_t bytes, size_t *run)
{
    return outside() ? NULL : bus_dma_window(host, logical, access, bytes, run);
}

static bool service_dma_pasid(void *host, uint32_t pasid, uint64_t address,
                              enum dxgk_dma_access access, void *bytes, size_t count)
{
    return !outside() && bus_dma_pasid(host, pasid, address, access, bytes, count);
}

/* A message is a write to the bus: a device that is cut off from it cannot interrupt. */
static void service_interrupt(void *host, uint32_t message)
{
    struct bus_device *device = host;

    if (outside() || device->unplugged || !device->iommu.domain ||
        message >= device->description.messages)
        return;
    device->interrupts++;
    if (trace_current)
        trace_instant(device->track, "interrupt", "message", message, NULL, 0);
    sim_interrupt_raise(&device->interrupt[message]);
}

static void service_timer_arm(void *host, unsigned timer, uint64_t delay)
{
    if (!outside())
        bus_timers_arm(host, timer, delay);
}

static void service_timer_disarm(void *host, unsigned timer)
{
    if (!outside())
        bus_timers_disarm(host, timer);
}

static void *service_memory(void *host, unsigned bar)
{
    return outside() ? NULL : bus_device_memory(host, bar);
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

/* Of this version of the interface, or an older one. */
static void take_mmu(struct bus_device *device, const struct dxgk_device_mmu *mmu)
{
    uint32_t bytes = offsetof(struct dxgk_table_format, inverted);

    if (!mmu || mmu->size < offsetof(struct dxgk_device_mmu, format_size))
        return;
    if (mmu->size >= sizeof(*mmu))
        bytes = mmu->format_size;
    if (bytes > sizeof(device->table_format))
        bytes = sizeof(device->table_format);
    device->mmu = mmu;
    memset(&device->table_format, 0, sizeof(device->table_format));
    if (mmu->format)
        memcpy(&device->table_format, mmu->format, bytes);
}

static bool service_mmu(void *host, const struct dxgk_device_mmu *mmu)
{
    struct bus_device *device = host;

    take_mmu(device, mmu);
    return device->bus->check_translations;
}

static void service_stale_translation(void *host, const struct dxgk_stale_translation *stale)
{
    struct bus_device *device = host;

    if (!outside() && device->on_stale)
        device->on_stale(device->stale_context, stale);
}

static void service_root_in_use(void *host, unsigned node, uint32_t fence, uint64_t root)
{
    struct bus_device *device = host;

    if (!outside() && device->on_root)
        device->on_root(device->root_context, node, fence, root);
}

static void service_outputs(void *host, const struct dxgk_device_outputs *outputs)
{
    struct bus_device *device = host;

    if (outputs && outputs->count && outputs->monitor)
        device->outputs = outputs;
}

static void service_patches(void *host, const struct dxgk_patch_format *format)
{
    struct bus_device *device = host;

    device->patch_format = format;
}

static void service_work(void *host, const struct dxgk_device_work *work)
{
    struct bus_device *device = host;

    if (!outside() && device->on_work)
        device->on_work(device->work_context, work);
}

const struct dxgk_device_services bus_services = {
    .size = sizeof(bus_services),
    .now = service_now,
    .dma_read = service_dma_read,
    .dma_write = service_dma_write,
    .dma_window = service_dma_window,
    .interrupt = service_interrupt,
    .timer_arm = service_timer_arm,
    .timer_disarm = service_timer_disarm,
    .memory = service_memory,
    .trace = service_trace,
    .trace_begin = service_trace_begin,
    .trace_end = service_trace_end,
    .dma_source = service_dma_source,
    .dma_pasid = service_dma_pasid,
    .mmu = service_mmu,
    .stale_translation = service_stale_translation,
    .root_in_use = service_root_in_use,
    .patches = service_patches,
    .work = service_work,
    .outputs = service_outputs,
};
