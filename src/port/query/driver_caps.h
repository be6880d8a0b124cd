/* SPDX-License-Identifier: MIT */
/* DXGK_DRIVERCAPS and DXGK_PHYSICALADAPTERCAPS: the first queries after StartDevice, by which all
 * others are understood. */
#ifndef DXGK_PORT_DRIVER_CAPS_H
#define DXGK_PORT_DRIVER_CAPS_H

#include <ntddk.h>

struct port_adapter;

/* Asks, decides which driver model the driver follows (CAPS-122), and admits or refuses what it
 * says. */
NTSTATUS port_driver_caps_query(struct port_adapter *adapter);
NTSTATUS port_driver_caps_query_physical(struct port_adapter *adapter);

#endif
