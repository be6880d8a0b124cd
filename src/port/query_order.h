/* SPDX-License-Identifier: MIT */
/* The queries of an adapter's start, in the order of LIFE-050 and LIFE-072. For start.c. */
#ifndef DXGK_PORT_QUERY_ORDER_H
#define DXGK_PORT_QUERY_ORDER_H

#include <ntddk.h>

struct port_adapter;

NTSTATUS port_query_order_before_start(struct port_adapter *adapter);
NTSTATUS port_query_order_after_start(struct port_adapter *adapter);

#endif
