/* SPDX-License-Identifier: MIT */
/* The built-in device without behaviour. */
#ifndef DXGK_BUS_NULL_DEVICE_H
#define DXGK_BUS_NULL_DEVICE_H

#include "dxgkhost/device.h"

/* What stands where a device model's file is expected, to get it. */
#define BUS_NULL_DEVICE "null"

extern const struct dxgk_device_model bus_null_device;

#endif
