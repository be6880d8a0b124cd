/* SPDX-License-Identifier: MIT */
#include "bus/outputs.h"

#include <string.h>

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

enum dxgk_scanout_state bus_device_scanout(struct bus_device *device, unsigned output,
                                           struct dxgk_scanout *scanout)
{
    enum dxgk_scanout_state state;

    memset(scanout, 0, sizeof(*scanout));
    if (device->unplugged)
        return DXGK_SCANOUT_OFF;
    if (output >= bus_device_outputs(device) || !device->outputs->scanout)
        return DXGK_SCANOUT_FIRMWARE;
    state = bus_model_scanout(device, output, scanout);
    return state == DXGK_SCANOUT_ON && !scanout->pixels ? DXGK_SCANOUT_OFF : state;
}
