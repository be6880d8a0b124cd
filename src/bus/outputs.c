/* SPDX-License-Identifier: MIT */
#include "bus/outputs.h"
#include "bus/device_record.h"
#include "bus/model_call.h"

unsigned bus_device_outputs(const struct bus_device *device)
{
    return device->outputs ? device->outputs->count : 0;
}

bool bus_device_monitor(struct bus_device *device, unsigned output, const uint8_t *edid,
                        size_t bytes)
{
    return output < bus_device_outputs(device) && !device->unplugged &&
           bus_model_monitor(device, output, edid, bytes);
}
