/* SPDX-License-Identifier: MIT */
/* The translated resource list: lent to the driver, read-only, from before StartDevice until after
 * StopDevice. */
#ifndef DXGK_PORT_RESOURCES_H
#define DXGK_PORT_RESOURCES_H

#include <ntddk.h>

struct port_adapter;

NTSTATUS port_resources_create(struct port_adapter *adapter);
void port_resources_revoke(struct port_adapter *adapter);

#endif
