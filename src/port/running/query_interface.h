/* SPDX-License-Identifier: MIT */
/* What others ask of a driver directly, with the host only passing it on: interfaces, and requests
 * by number (LIFE-131, LIFE-132). */
#ifndef DXGK_PORT_QUERY_INTERFACE_H
#define DXGK_PORT_QUERY_INTERFACE_H

#include <ntddk.h>
#include <dispmprt.h>

struct port_adapter;

/* Ask the driver for an interface: `interface` has Size and Version preset and room for Size bytes,
 * which are all set on success. STATUS_NOT_SUPPORTED: it has no such interface; an answer that
 * breaks the rule counts as that. The caller gives the interface back by its
 * InterfaceDereference. */
NTSTATUS port_adapter_query_interface(struct port_adapter *adapter, const GUID *type,
                                      PINTERFACE interface);
/* A request to the driver as a device of the video port had them. STATUS_NOT_SUPPORTED: no such
 * entry. */
NTSTATUS port_adapter_dispatch_io(struct port_adapter *adapter, ULONG source,
                                  PVIDEO_REQUEST_PACKET packet);

#endif
