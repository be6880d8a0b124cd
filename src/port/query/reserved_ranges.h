/* SPDX-License-Identifier: MIT */
/* Queries for isolation: how much of a frame buffer must be saved, and which memory the device uses
 * although the host did not allocate it. Made only at the first start of an adapter, since the
 * answers live as long as its domain. */
#ifndef DXGK_PORT_RESERVED_RANGES_H
#define DXGK_PORT_RESERVED_RANGES_H

#include <stdbool.h>

#include <ntddk.h>

struct port_adapter;

/* Must the queries still be made, and does the driver support isolation? */
bool port_reserved_ranges_due(const struct port_adapter *adapter);
NTSTATUS port_reserved_ranges_query(struct port_adapter *adapter);
void port_reserved_ranges_forget(struct port_adapter *adapter);

#endif
