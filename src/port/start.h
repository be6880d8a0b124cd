/* SPDX-License-Identifier: MIT */
/* StartDevice and StopDevice, with all steps around them. For adapter.c. */
#ifndef DXGK_PORT_START_H
#define DXGK_PORT_START_H

#include <ntddk.h>

struct port_adapter;

NTSTATUS port_start(struct port_adapter *adapter);
/* Destroy the managers, call StopDevice, and take back what the driver still holds. */
void port_stop(struct port_adapter *adapter);
/* Discard the driver's answers, for another start. */
void port_start_forget(struct port_adapter *adapter);

#endif
