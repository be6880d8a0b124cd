/* SPDX-License-Identifier: MIT */
/* The driver's answers about its device before StartDevice (LIFE-050): version, and how the device
 * reaches memory. */
#ifndef DXGK_PORT_DEVICE_CAPS_H
#define DXGK_PORT_DEVICE_CAPS_H

struct port_adapter;

/* A failure of these queries has no consequence. */
void port_device_caps_query(struct port_adapter *adapter);

#endif
