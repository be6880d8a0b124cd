/* SPDX-License-Identifier: MIT */
/* Calls of a device model while the machine runs. One that has hung is not called any more: its
 * registers read as ones. */
#ifndef DXGK_BUS_MODEL_CALL_H
#define DXGK_BUS_MODEL_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bus/device_record.h"
#include "sim/callout.h"
#include "sim/order.h"

static inline uint64_t bus_model_read(struct bus_device *device, unsigned bar, uint64_t offset,
                                      unsigned width)
{
    struct sim_callout *before;
    uint64_t value;

    if (device->callout.hangs)
        return UINT64_MAX;
    device->touches++;
    before = sim_callout_enter(&device->callout, "read");
    value = device->model->read(device->state, bar, offset, width);
    sim_callout_leave(before);
    return value;
}

static inline void bus_model_write(struct bus_device *device, unsigned bar, uint64_t offset,
                                   unsigned width, uint64_t value)
{
    struct sim_callout *before;

    if (device->callout.hangs)
        return;
    device->touches++;
    sim_order_tell_device();
    before = sim_callout_enter(&device->callout, "write");
    device->model->write(device->state, bar, offset, width, value);
    sim_callout_leave(before);
}

static inline void bus_model_timer(struct bus_device *device, unsigned timer)
{
    struct sim_callout *before;

    if (device->callout.hangs)
        return;
    before = sim_callout_enter(&device->callout, "timer");
    device->model->timer(device->state, timer);
    sim_callout_leave(before);
}

static inline void bus_model_reset(struct bus_device *device)
{
    struct sim_callout *before;

    if (device->callout.hangs)
        return;
    before = sim_callout_enter(&device->callout, "reset");
    device->model->reset(device->state);
    sim_callout_leave(before);
}

static inline bool bus_model_monitor(struct bus_device *device, unsigned output,
                                     const uint8_t *edid, size_t bytes)
{
    struct sim_callout *before;
    bool taken;

    if (device->callout.hangs)
        return false;
    before = sim_callout_enter(&device->callout, "monitor");
    taken = device->outputs->monitor(device->state, output, edid, bytes);
    sim_callout_leave(before);
    return taken;
}

/* Also while the machine does not run. */
static inline enum dxgk_scanout_state bus_model_scanout(struct bus_device *device, unsigned output,
                                                        struct dxgk_scanout *scanout)
{
    struct sim_callout *before = NULL;
    enum dxgk_scanout_state state;

    if (device->callout.hangs)
        return DXGK_SCANOUT_OFF;
    if (sim_current)
        before = sim_callout_enter(&device->callout, "scanout");
    state = device->outputs->scanout(device->state, output, scanout);
    if (sim_current)
        sim_callout_leave(before);
    return state;
}

static inline bool bus_model_walk(struct bus_device *device, uint64_t root, uint64_t address,
                                  struct dxgk_walk *walk)
{
    struct sim_callout *before;
    bool known;

    if (device->callout.hangs || !device->mmu || !device->mmu->walk)
        return false;
    before = sim_callout_enter(&device->callout, "walk");
    known = device->mmu->walk(device->state, root, address, walk);
    sim_callout_leave(before);
    return known;
}

#endif
