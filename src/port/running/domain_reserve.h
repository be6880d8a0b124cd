/* SPDX-License-Identifier: MIT */
/* Memory that is mapped in the device's domain from the start: hardware reserved ranges, and
 * segments made of system memory. For the adapter's start. */
#ifndef DXGK_PORT_DOMAIN_RESERVE_H
#define DXGK_PORT_DOMAIN_RESERVE_H

#include <ntddk.h>

struct port_adapter;

NTSTATUS port_domain_reserve(struct port_adapter *adapter);
NTSTATUS port_domain_reserve_segments(struct port_adapter *adapter);

#endif
