/* SPDX-License-Identifier: MIT */
/* A device is reset, or pulled out. */
#include "bus/reset.h"
#include "bus/device_record.h"
#include "bus/model_call.h"
#include "bus/timers.h"

void bus_device_reset(struct bus_device *device)
{
    if (device->unplugged)
        return;
    bus_timers_cancel(device);
    bus_model_reset(device);
}

void bus_device_unplug(struct bus_device *device,
                       void (*touched)(unsigned bar, uint64_t offset, bool write))
{
    device->unplugged = true;
    device->touched = touched;
    bus_timers_cancel(device);
}
