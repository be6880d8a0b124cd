/* SPDX-License-Identifier: MIT */
/* The callbacks that describe the device and access its configuration space, as a part of
 * DXGKRNL_INTERFACE. */
#ifndef DXGK_PORT_DEVICE_CALLBACKS_H
#define DXGK_PORT_DEVICE_CALLBACKS_H

#include <ntddk.h>
#include <dispmprt.h>

void port_device_callbacks_fill(DXGKRNL_INTERFACE *interface);

#endif
