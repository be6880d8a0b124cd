/* SPDX-License-Identifier: MIT */
/* Device memory: one sparse memory file a piece, mapped once. */
#include "bus/memory.h"
#include "bus/bus_record.h"
#include "bus/config.h"
#include "bus/device_record.h"
#include "util/list.h"

int bus_device_memory_file(const struct bus_device *device, unsigned bar)
{
    if (bar == DXGK_DEVICE_BARS)
        return device->memory[bar].bytes ? device->memory[bar].file : -1;
    return bar < DXGK_DEVICE_BARS ? device->bar[bar].file : -1;
}

void *bus_device_memory(const struct bus_device *device, unsigned bar)
{
    if (bar == DXGK_DEVICE_BARS)
        return device->memory[bar].bytes;
    return bar < DXGK_DEVICE_BARS ? device->bar[bar].memory : NULL;
}

uint8_t *bus_peer_memory(const struct bus_device *requester, struct phys_addr address,
                         uint64_t *bytes)
{
    LIST_FOR(node, &requester->bus->devices) {
        const struct bus_device *device = CONTAINER(node, const struct bus_device, link);

        if ((device == requester && !device->description.own_memory) || device->unplugged ||
            !bus_config_decodes_memory(device))
            continue;
        for (unsigned i = 0; i < DXGK_DEVICE_BARS; i++) {
            const struct bus_bar *bar = &device->bar[i];
            const uint64_t offset = address.value - bar->address.value;

            if (bar->kind != DXGK_BAR_MEMORY || offset >= bar->bytes)
                continue;
            *bytes = bar->bytes - offset;
            return bar->memory + offset;
        }
    }
    return NULL;
}
