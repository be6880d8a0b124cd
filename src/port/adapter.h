/* SPDX-License-Identifier: MIT */
/* An adapter's outermost life: added, restarted, removed. For the room that makes adapters. */
#ifndef DXGK_PORT_ADAPTER_H
#define DXGK_PORT_ADAPTER_H

#include <ntddk.h>

struct bus_device;
struct port_adapter;
struct port_driver;

NTSTATUS port_adapter_add(struct port_driver *driver, struct bus_device *device,
                          struct port_adapter **adapter);
/* Resource rebalance: StopDevice, then StartDevice with the same context (LIFE-173). On failure the
 * adapter is stopped and lost; it still has to be removed. Not while a client has it open:
 * STATUS_DEVICE_BUSY. */
NTSTATUS port_adapter_restart(struct port_adapter *adapter);
/* No new work, drain, end what clients have on it (port_on_stop), stop, remove. The record stays as
 * long as a client holds it (port_adapter_retain), and is lost. */
void port_adapter_remove(struct port_adapter *adapter);

#endif
