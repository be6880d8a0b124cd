/* SPDX-License-Identifier: MIT */
/* What isolation needs to know of the driver: how much of a frame buffer must be saved, and which
 * memory the device uses without having got it from the host. Asked at the first start of an
 * adapter only: the answers stay as long as its domain does. */
#ifndef DXGK_PORT_RESERVED_RANGES_H
#define DXGK_PORT_RESERVED_RANGES_H

#include <stdbool.h>

#include <ntddk.h>

struct port_adapter;

/* Not asked yet, and the driver supports isolation. */
bool port_reserved_ranges_due(const struct port_adapter *adapter);
NTSTATUS port_reserved_ranges_query(struct port_adapter *adapter);
void port_reserved_ranges_forget(struct port_adapter *adapter);

#endif
