/* SPDX-License-Identifier: MIT */
/* Requests that the host only passes on to the driver: for interfaces, and I/O requests (LIFE-131,
 * LIFE-132). */
#ifndef DXGK_PORT_QUERY_INTERFACE_H
#define DXGK_PORT_QUERY_INTERFACE_H

#include <ntddk.h>
#include <dispmprt.h>

struct port_adapter;

/* Ask the driver for an interface: `interface` has Size and Version preset and room for Size bytes,
 * all of which are set on success. STATUS_NOT_SUPPORTED: the driver has no such interface, or its
 * answer breaks the rule. The caller returns the interface by its InterfaceDereference. */
NTSTATUS port_adapter_query_interface(struct port_adapter *adapter, const GUID *type,
                                      PINTERFACE interface);
/* The same for one of its children. */
NTSTATUS port_child_query_interface(struct port_adapter *adapter, ULONG uid, const GUID *type,
                                    PINTERFACE interface);
/* Send the driver a request of the video port kind. STATUS_NOT_SUPPORTED: it has no such entry. */
NTSTATUS port_adapter_dispatch_io(struct port_adapter *adapter, ULONG source,
                                  PVIDEO_REQUEST_PACKET packet);

#endif
