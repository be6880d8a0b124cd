/* SPDX-License-Identifier: MIT */
/*
 * I/O ports: 65,536 of them, a space of their own. Devices get theirs from 0x1000 on, above what a
 * PC has always used for itself, each range aligned to its size. Below it a device decodes the
 * fixed ones that it asks for.
 */
#include "bus/ports.h"
#include "bus/bus_record.h"
#include "bus/config.h"
#include "bus/device_record.h"
#include "bus/model_call.h"
#include "bus/timers.h"
#include "sim/point.h"
#include "util/address.h"
#include "util/checked.h"
#include "util/list.h"

#define PORTS 0x10000u

bool bus_ports_place(struct bus_device *device)
{
    uint32_t next = device->bus->next_port ? device->bus->next_port : BUS_FIXED_PORTS;

    for (unsigned i = 0; i < DXGK_DEVICE_BARS; i++) {
        struct bus_bar *bar = &device->bar[i];

        if (bar->kind != DXGK_BAR_PORTS)
            continue;
        bar->port = (uint32_t)align_up(next, bar->bytes);
        next = bar->port + (uint32_t)bar->bytes;
        if (next > PORTS)
            return false;
    }
    device->bus->next_port = next;
    return true;
}

uint32_t bus_device_port(const struct bus_device *device, unsigned bar)
{
    return device->bar[bar].port;
}

static bool is_fixed(const struct bus_device *device, uint32_t port, unsigned width)
{
    const struct dxgk_device_description *d = &device->description;

    return d->fixed_ports && port >= d->fixed_port &&
           range_inside(port - d->fixed_port, width, d->fixed_ports);
}

static uint32_t first_port(const struct bus_device *device, unsigned bar)
{
    return bar == DXGK_DEVICE_FIXED_PORTS ? device->description.fixed_port : device->bar[bar].port;
}

/* The BAR that holds them all. */
static struct bus_device *find(struct bus *bus, uint32_t port, unsigned width, unsigned *index)
{
    LIST_FOR(node, &bus->devices) {
        struct bus_device *device = CONTAINER(node, struct bus_device, link);

        if (is_fixed(device, port, width)) {
            *index = DXGK_DEVICE_FIXED_PORTS;
            return device;
        }
        for (unsigned i = 0; i < DXGK_DEVICE_BARS; i++) {
            const struct bus_bar *bar = &device->bar[i];

            if (bar->kind != DXGK_BAR_PORTS || port < bar->port ||
                !range_inside(port - bar->port, width, bar->bytes))
                continue;
            *index = i;
            return device;
        }
    }
    return NULL;
}

/* Which access of which device it is. */
static struct bus_device *decode(struct bus *bus, uint32_t port, unsigned width, unsigned *bar,
                                 uint32_t *offset)
{
    struct bus_device *device = find(bus, port, width, bar);

    if (device)
        *offset = port - first_port(device, *bar);
    return device;
}

static bool answers(const struct bus_device *device, uint32_t port, unsigned width, unsigned bar)
{
    return !device->unplugged && bus_config_decodes_ports(device) &&
           (width == 1 || width == 2 || width == 4) &&
           (bar == DXGK_DEVICE_FIXED_PORTS || port % width == 0);
}

bool bus_port_read(struct bus *bus, uint32_t port, unsigned width, uint32_t *value)
{
    uint32_t ones = width >= 4 ? UINT32_MAX : ((uint32_t)1 << (8 * width)) - 1;
    struct bus_device *device;
    uint32_t offset;
    unsigned bar;

    *value = ones;
    sim_point(); /* before the search: others run here, and may remove the device */
    device = decode(bus, port, width, &bar, &offset);
    if (!device)
        return false;
    bus_timers_retry(device);
    if (answers(device, port, width, bar))
        *value = ones & (uint32_t)bus_model_read(device, bar, offset, width);
    return true;
}

bool bus_port_write(struct bus *bus, uint32_t port, unsigned width, uint32_t value)
{
    uint32_t ones = width >= 4 ? UINT32_MAX : ((uint32_t)1 << (8 * width)) - 1;
    struct bus_device *device;
    uint32_t offset;
    unsigned bar;

    sim_point();
    device = decode(bus, port, width, &bar, &offset);
    if (!device)
        return false;
    bus_timers_retry(device);
    if (answers(device, port, width, bar))
        bus_model_write(device, bar, offset, width, value & ones);
    return true;
}
