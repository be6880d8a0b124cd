/* SPDX-License-Identifier: MIT */
/* Tracing of drivers' own events: DxgkCbLogEtwEvent, and turning it on and off. */
#ifndef DXGK_PORT_ETW_H
#define DXGK_PORT_ETW_H

#include <stdbool.h>

#include <ntddk.h>
#include <dispmprt.h>

struct port;
struct port_adapter;

/* Turn the drivers' events on or off (LIFE-107), also for adapters that start later. Initially as
 * for the machine's trace. */
void port_set_etw(struct port *port, bool enable, UCHAR level);
/* Tell the driver of a starting adapter whether events are on. */
void port_etw_tell(struct port_adapter *adapter);
void port_etw_fill(DXGKRNL_INTERFACE *interface);

#endif
