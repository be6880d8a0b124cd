/* SPDX-License-Identifier: MIT */
/* Events of clients that a driver signals: DxgkCbSignalEvent. For kmt, which makes them. */
#ifndef DXGK_PORT_CPU_EVENT_H
#define DXGK_PORT_CPU_EVENT_H

#include <ntddk.h>
#include <dispmprt.h>

struct port_adapter;
struct port_cpu_event;

/* An event of a client that the driver signals (KMT-353): the driver is told of it with its own
 * handle of the device. The event object is the caller's to keep. STATUS_NOT_SUPPORTED: the driver
 * has no such entry; else what it returned. */
NTSTATUS port_cpu_event_create(struct port_adapter *adapter, HANDLE driver_device, void *event,
                               struct port_cpu_event **out);
void port_cpu_event_destroy(struct port_cpu_event *event); /* NULL: nothing */
void port_cpu_event_fill(DXGKRNL_INTERFACE *interface);

#endif
