/* SPDX-License-Identifier: MIT */
/* Features as in WDDM 3.2: versions, and interfaces on both sides. For the adapter's start, and for
 * services.c. */
#ifndef DXGK_PORT_FEATURE_INTERFACE_H
#define DXGK_PORT_FEATURE_INTERFACE_H

#include <ntddk.h>
#include <dispmprt.h>
#include <dxgk_wddm3_2.h>

struct port_adapter;

/* `begin` is called before StartDevice, since the driver may ask for features inside it; `end`
 * after StopDevice. */
NTSTATUS port_feature_interface_begin(struct port_adapter *adapter);
void port_feature_interface_end(struct port_adapter *adapter);
void port_feature_interface_fill(DXGK_FEATURE_INTERFACE *interface);

#endif
