/* SPDX-License-Identifier: MIT */
/* Client events that a driver signals: DxgkCbSignalEvent. For kmt, which creates them. */
#ifndef DXGK_PORT_CPU_EVENT_H
#define DXGK_PORT_CPU_EVENT_H

#include <ntddk.h>
#include <dispmprt.h>

struct port_adapter;
struct port_cpu_event;

/* Announce a client's event to the driver, which signals it later (KMT-353); `driver_device` is the
 * driver's handle of the device. The event object stays the caller's. STATUS_NOT_SUPPORTED: the
 * driver has no such entry; else the driver's status. */
NTSTATUS port_cpu_event_create(struct port_adapter *adapter, HANDLE driver_device, void *event,
                               struct port_cpu_event **out);
void port_cpu_event_destroy(struct port_cpu_event *event); /* `event` may be NULL */
void port_cpu_event_fill(DXGKRNL_INTERFACE *interface);

#endif
