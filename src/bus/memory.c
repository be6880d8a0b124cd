/* SPDX-License-Identifier: MIT */
/* Device memory: one sparse memory file a piece, mapped once. */
#include "bus/memory.h"
#include "bus/device_record.h"

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
