/* SPDX-License-Identifier: MIT */
/* DXGKRNL_INTERFACE: the callbacks that a driver is given. For StartDevice. */
#ifndef DXGK_PORT_INTERFACE_H
#define DXGK_PORT_INTERFACE_H

#include <ntddk.h>
#include <dispmprt.h>

struct port_adapter;

void port_interface_fill(struct port_adapter *adapter, DXGKRNL_INTERFACE *interface, UINT version);

#endif
