/* SPDX-License-Identifier: MIT */
/* StartDevice and StopDevice, with everything that belongs around them. For adapter.c. */
#ifndef DXGK_PORT_START_H
#define DXGK_PORT_START_H

#include <ntddk.h>

struct port_adapter;

NTSTATUS port_start(struct port_adapter *adapter);
/* Managers, StopDevice, and everything that goes with it. */
void port_stop(struct port_adapter *adapter);
/* Forget what the driver answered, for another start. */
void port_start_forget(struct port_adapter *adapter);

#endif
