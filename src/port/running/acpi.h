/* SPDX-License-Identifier: MIT */
/* What firmware tells a driver of: keys, docks, lids, mains power. For host and tests. */
#ifndef DXGK_PORT_ACPI_H
#define DXGK_PORT_ACPI_H

#include <stdbool.h>

#include <ntddk.h>
#include <dispmprt.h>

struct port_adapter;

/* An event for an adapter with outputs, and what its driver then asks for (DISP-154 to DISP-156).
 * STATUS_NOT_SUPPORTED: the driver has no such entry, or the adapter no outputs. */
NTSTATUS port_adapter_notify_acpi(struct port_adapter *adapter, DXGK_EVENT_TYPE type, ULONG event,
                                  ULONG argument);
/* The machine changed to battery or to mains power (LIFE-135). */
NTSTATUS port_adapter_notify_mains(struct port_adapter *adapter, bool mains);

#endif
