/* SPDX-License-Identifier: MIT */
/* The table of functions that a device model may call. */
#ifndef DXGK_BUS_SERVICES_H
#define DXGK_BUS_SERVICES_H

#include "dxgkhost/device.h"

extern const struct dxgk_device_services bus_services;

#endif
