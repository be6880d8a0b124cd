/* SPDX-License-Identifier: MIT */
#include "bus/outputs.h"

#include <string.h>

#include "bus/device_record.h"
#include "bus/model_call.h"

enum dxgk_scanout_state bus_device_scanout(struct bus_device *device, unsigned output,
                                           struct dxgk_scanout *scanout)
{
    enum dxgk_scanout_state state;

    memset(scanout, 0, sizeof(*scanout));
    if (device->unplugged)
        return DXGK_SCANOUT_OFF;
    if (!device->outputs || output >= device->outputs->count)
        return DXGK_SCANOUT_FIRMWARE;
    state = bus_model_scanout(device, output, scanout);
    return state == DXGK_SCANOUT_ON && !scanout->pixels ? DXGK_SCANOUT_OFF : state;
}

const char *bus_device_plug(struct bus_device *device, unsigned output,
                            const struct dxgk_device_monitor *monitor)
{
    if (device->unplugged)
        return "the device is gone";
    if (!device->outputs || !device->outputs->plug)
        return "the device model has no monitors that come and go";
    if (output >= device->outputs->count)
        return "the device has fewer outputs";
    return bus_model_plug(device, output, monitor);
}
