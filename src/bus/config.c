/* SPDX-License-Identifier: MIT */
/*
 * PCI configuration space: 256 bytes and, for each, the bits that a write changes. A type 0 header;
 * bus/capabilities.c has the capabilities.
 *
 * BAR registers answer the sizing protocol (write ones, read back the size), but the window does
 * not move: addresses are the bus's to give. A 64-bit BAR takes the register after its own too,
 * when that one is unused.
 */
#include <string.h>

#include "bus/capabilities.h"
#include "bus/config.h"
#include "bus/device_record.h"
#include "bus/reset.h"

enum {
    CONFIG_VENDOR = 0x00,
    CONFIG_DEVICE = 0x02,
    CONFIG_COMMAND = 0x04,
    CONFIG_REVISION = 0x08,
    CONFIG_CLASS = 0x09,
    CONFIG_CACHE_LINE = 0x0C,
    CONFIG_LATENCY = 0x0D,
    CONFIG_BAR = 0x10,
    CONFIG_SUBSYSTEM_VENDOR = 0x2C,
    CONFIG_SUBSYSTEM = 0x2E,
    CONFIG_INTERRUPT_LINE = 0x3C,
    CONFIG_INTERRUPT_PIN = 0x3D,
};

#define COMMAND_PORTS    0x0001u
#define COMMAND_MEMORY   0x0002u
#define COMMAND_MASTER   0x0004u
#define COMMAND_WRITABLE 0x0547u /* I/O, memory, master, parity, SERR, interrupt disable */
#define BAR_PORTS        0x1u
#define BAR_64_BIT       0x4u
#define BAR_PREFETCHABLE 0x8u
#define CONTROL_RESET    0x8000u /* of device control: start a function-level reset */

static void init_bars(struct bus_device *device)
{
    for (unsigned i = 0; i < DXGK_DEVICE_BARS; i++) {
        const struct bus_bar *bar = &device->bar[i];
        bool room = i + 1 < DXGK_DEVICE_BARS && device->bar[i + 1].kind == DXGK_BAR_NONE;
        uint64_t size_bits = ~(bar->bytes - 1);
        uint64_t value = bar->address.value;

        if (bar->kind == DXGK_BAR_NONE)
            continue;
        if (bar->kind == DXGK_BAR_PORTS) {
            bus_config_put(device->config, CONFIG_BAR + 4 * i, bar->port | BAR_PORTS, 4);
            bus_config_put(device->config_mask, CONFIG_BAR + 4 * i, size_bits, 4);
            device->config[CONFIG_COMMAND] |= COMMAND_PORTS;
            continue;
        }
        if (bar->kind == DXGK_BAR_MEMORY)
            value |= BAR_PREFETCHABLE;
        if (room)
            value |= BAR_64_BIT;
        bus_config_put(device->config, CONFIG_BAR + 4 * i, value, room ? 8 : 4);
        bus_config_put(device->config_mask, CONFIG_BAR + 4 * i, size_bits, room ? 8 : 4);
    }
}

bool bus_config_init(struct bus_device *device, struct bus_refusal *refusal)
{
    const struct dxgk_device_description *description = &device->description;
    uint8_t *config = device->config;
    uint8_t *mask = device->config_mask;

    bus_config_put(config, CONFIG_VENDOR, description->vendor, 2);
    bus_config_put(config, CONFIG_DEVICE, description->device, 2);
    bus_config_put(config, CONFIG_COMMAND, COMMAND_MEMORY | COMMAND_MASTER, 2);
    bus_config_put(mask, CONFIG_COMMAND, COMMAND_WRITABLE, 2);
    bus_config_put(config, CONFIG_REVISION, description->revision, 1);
    bus_config_put(config, CONFIG_CLASS, description->class_code, 3);
    bus_config_put(mask, CONFIG_CACHE_LINE, 0xFF, 1);
    bus_config_put(mask, CONFIG_LATENCY, 0xFF, 1);
    bus_config_put(config, CONFIG_SUBSYSTEM_VENDOR, description->subsystem_vendor, 2);
    bus_config_put(config, CONFIG_SUBSYSTEM, description->subsystem, 2);
    bus_config_put(mask, CONFIG_INTERRUPT_LINE, 0xFF, 1);
    bus_config_put(config, CONFIG_INTERRUPT_PIN, 1, 1);
    init_bars(device);
    if (description->fixed_ports)
        config[CONFIG_COMMAND] |= COMMAND_PORTS;
    return bus_capabilities_init(device, refusal);
}

bool bus_config_decodes_memory(const struct bus_device *device)
{
    return device->config[CONFIG_COMMAND] & COMMAND_MEMORY;
}

bool bus_config_decodes_ports(const struct bus_device *device)
{
    return device->config[CONFIG_COMMAND] & COMMAND_PORTS;
}

bool bus_config_is_master(const struct bus_device *device)
{
    return device->config[CONFIG_COMMAND] & COMMAND_MASTER;
}

static uint32_t bytes_inside(uint32_t offset, uint32_t bytes)
{
    if (offset >= BUS_CONFIG_BYTES)
        return 0;
    return bytes < BUS_CONFIG_BYTES - offset ? bytes : BUS_CONFIG_BYTES - offset;
}

uint32_t bus_config_read(struct bus_device *device, uint32_t offset, void *to, uint32_t bytes)
{
    uint32_t inside = bytes_inside(offset, bytes);

    memset(to, 0xFF, bytes);
    if (!device->unplugged && inside > 0)
        memcpy(to, device->config + offset, inside);
    return inside;
}

uint32_t bus_config_write(struct bus_device *device, uint32_t offset, const void *from,
                          uint32_t bytes)
{
    uint32_t inside = bytes_inside(offset, bytes);
    const uint8_t *value = from;
    uint32_t control = 0;

    if (device->unplugged)
        return inside;
    for (uint32_t i = 0; i < inside; i++) {
        uint8_t mask = device->config_mask[offset + i];
        uint8_t kept = device->config[offset + i] & (uint8_t)~mask;

        device->config[offset + i] = (uint8_t)(kept | (value[i] & mask));
        if (device->reset_control && offset + i == device->reset_control + 1)
            control = (uint32_t)value[i] << 8;
    }
    if (control & CONTROL_RESET)
        bus_device_reset(device);
    return inside;
}

bool bus_config_writable(const struct bus_device *device, uint32_t offset, uint32_t bytes)
{
    uint32_t inside = bytes_inside(offset, bytes);

    for (uint32_t i = 0; i < inside; i++) {
        if (device->config_mask[offset + i] == 0)
            return false;
    }
    return true;
}
