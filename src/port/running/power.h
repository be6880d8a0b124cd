/* SPDX-License-Identifier: MIT */
/* Device power, and other outside events of a started adapter: removal and profiling. For host, kmt
 * and tests. */
#ifndef DXGK_PORT_POWER_H
#define DXGK_PORT_POWER_H

#include <stdbool.h>

#include <ntddk.h>
#include <dispmprt.h>

struct port_adapter;

/* Change to another power state (LIFE-152 to LIFE-156), also with clients on the adapter: their
 * work waits, and their content of video memory is kept. For the present state, do nothing. On
 * STATUS_NO_MEMORY and similar the content could not be kept, and the state does not change. */
NTSTATUS port_adapter_set_power(struct port_adapter *adapter, DEVICE_POWER_STATE state,
                                POWER_ACTION action);
/* The machine sleeps, and may lose its power before it wakes: the driver is told of sleep, and what
 * does not survive hibernation moves out (RES-081). */
NTSTATUS port_adapter_hybrid_sleep(struct port_adapter *adapter, DEVICE_POWER_STATE state);
/* Power the adapter up if needed, and keep it in D0 until the release (LIFE-139). */
NTSTATUS port_adapter_power_hold(struct port_adapter *adapter);
void port_adapter_power_release(struct port_adapter *adapter);
/* Unplug the device while the machine runs (LIFE-147 to LIFE-151), also with clients on it. Without
 * the driver's support this is STATUS_NOT_SUPPORTED unless forced; if forced, no DDI of the adapter
 * is called any more. The adapter is removed as usual afterwards. */
NTSTATUS port_adapter_unplug(struct port_adapter *adapter, DXGK_SURPRISE_REMOVAL_TYPE type,
                             bool force);
/* Turn constant clocks on or off, for a profiler (LIFE-146). STATUS_NOT_SUPPORTED: the driver has
 * no such entry. */
NTSTATUS port_adapter_set_stable_power(struct port_adapter *adapter, bool enable);

/* ---- for the adapter's life ---- */
void port_power_init(struct port_adapter *adapter);
/* StartDevice has succeeded: the adapter is in D0 (LIFE-155). */
void port_power_started(struct port_adapter *adapter);
/* Before a stop: power up to D0; then, once clients are gone, turn constant clocks off
 * (LIFE-146). */
void port_power_up(struct port_adapter *adapter);
void port_power_stopping(struct port_adapter *adapter);

#endif
