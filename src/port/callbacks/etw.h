/* SPDX-License-Identifier: MIT */
/* Tracing of the drivers' own events: DxgkCbLogEtwEvent, and turning it on and off. */
#ifndef DXGK_PORT_ETW_H
#define DXGK_PORT_ETW_H

#include <stdbool.h>

#include <ntddk.h>
#include <dispmprt.h>

struct port;
struct port_adapter;

/* On or off (LIFE-107); also told to adapters that start later. At first as the machine's trace
 * is. */
void port_set_etw(struct port *port, bool enable, UCHAR level);
/* Tell an adapter that starts. */
void port_etw_tell(struct port_adapter *adapter);
void port_etw_fill(DXGKRNL_INTERFACE *interface);

#endif
