/* SPDX-License-Identifier: MIT */
/* The order of the queries (LIFE-050, LIFE-072): the part of an adapter's start in which the driver
 * answers. For start.c. */
#ifndef DXGK_PORT_QUERY_ORDER_H
#define DXGK_PORT_QUERY_ORDER_H

#include <ntddk.h>

struct port_adapter;

NTSTATUS port_query_order_before_start(struct port_adapter *adapter);
NTSTATUS port_query_order_after_start(struct port_adapter *adapter);

#endif
