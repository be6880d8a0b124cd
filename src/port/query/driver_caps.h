/* SPDX-License-Identifier: MIT */
/* DXGK_DRIVERCAPS and DXGK_PHYSICALADAPTERCAPS: the first queries after StartDevice, on which all
 * others depend. */
#ifndef DXGK_PORT_DRIVER_CAPS_H
#define DXGK_PORT_DRIVER_CAPS_H

#include <ntddk.h>

struct port_adapter;

/* Query DXGK_DRIVERCAPS, decide which driver model the driver follows (CAPS-122), and admit or
 * refuse it. */
NTSTATUS port_driver_caps_query(struct port_adapter *adapter);
NTSTATUS port_driver_caps_query_physical(struct port_adapter *adapter);

#endif
