/* SPDX-License-Identifier: MIT */
/* The life of an adapter as the room that makes adapters drives it: add, restart, remove. */
#ifndef DXGK_PORT_ADAPTER_H
#define DXGK_PORT_ADAPTER_H

#include <ntddk.h>

struct bus_device;
struct port_adapter;
struct port_driver;

NTSTATUS port_adapter_add(struct port_driver *driver, struct bus_device *device,
                          struct port_adapter **adapter);
/* Resource rebalance: StopDevice, then StartDevice with the same context (LIFE-173). If that fails
 * the adapter is stopped and lost, and must still be removed. STATUS_DEVICE_BUSY: a client has it
 * open. */
NTSTATUS port_adapter_restart(struct port_adapter *adapter);
/* Refuse new work, wait for what is running, end what clients have on the adapter (port_on_stop),
 * stop and remove it. Its record stays, marked lost, as long as a client holds it
 * (port_adapter_retain). */
void port_adapter_remove(struct port_adapter *adapter);

#endif
