/* SPDX-License-Identifier: MIT */
#include "bus/patches.h"
#include "bus/device_record.h"

const struct dxgk_patch_format *bus_device_patch_format(const struct bus_device *device)
{
    return device->patch_format;
}
