/* SPDX-License-Identifier: MIT */
/* Device power, and what else befalls a started adapter from outside: removal, profiling, mains.
 * For host, kmt and tests. */
#ifndef DXGK_PORT_POWER_H
#define DXGK_PORT_POWER_H

#include <stdbool.h>

#include <ntddk.h>
#include <dispmprt.h>

struct port_adapter;

/* To another power state (LIFE-152 to LIFE-156), also with clients on the adapter: their work
 * waits, and what they have in video memory is safe. The present state: nothing happens.
 * STATUS_NO_MEMORY and the like: it could not be made safe, and the state stays. */
NTSTATUS port_adapter_set_power(struct port_adapter *adapter, DEVICE_POWER_STATE state,
                                POWER_ACTION action);
/* Power it up, if need be, and keep it so until the other (LIFE-139). */
NTSTATUS port_adapter_power_hold(struct port_adapter *adapter);
void port_adapter_power_release(struct port_adapter *adapter);
/* Pull the device out while the machine runs (LIFE-147 to LIFE-151), also with clients on it.
 * Without the driver's support it is STATUS_NOT_SUPPORTED, unless forced; then no DDI of the
 * adapter is called any more. It is removed as usual afterwards. */
NTSTATUS port_adapter_unplug(struct port_adapter *adapter, DXGK_SURPRISE_REMOVAL_TYPE type,
                             bool force);
/* A profiler asks for constant clocks, or gives them back (LIFE-146). STATUS_NOT_SUPPORTED: the
 * driver has no such entry. */
NTSTATUS port_adapter_set_stable_power(struct port_adapter *adapter, bool enable);
/* The machine went to battery or to mains (LIFE-135). */
NTSTATUS port_adapter_notify_mains(struct port_adapter *adapter, bool mains);

/* ---- for the adapter's life ---- */
void port_power_init(struct port_adapter *adapter);
/* StartDevice has succeeded: that is D0 (LIFE-155). */
void port_power_started(struct port_adapter *adapter);
/* Before a stop: in D0; and, once clients are gone, without constant clocks (LIFE-146). */
void port_power_up(struct port_adapter *adapter);
void port_power_stopping(struct port_adapter *adapter);

#endif
