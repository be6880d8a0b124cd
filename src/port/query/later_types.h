/* SPDX-License-Identifier: MIT */
/* Queries of WDDM 3.2 (CAPS-120), by a host that has its features. */
#ifndef DXGK_PORT_LATER_TYPES_H
#define DXGK_PORT_LATER_TYPES_H

#include <ntddk.h>

struct port_adapter;

/* Whatever the driver answers, or does not: the adapter starts. */
NTSTATUS port_later_types_query(struct port_adapter *adapter);

#endif
