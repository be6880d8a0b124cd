/* SPDX-License-Identifier: MIT */
/* The driver's description of the nodes. */
#ifndef DXGK_PORT_NODES_H
#define DXGK_PORT_NODES_H

#include <ntddk.h>

struct port_adapter;

NTSTATUS port_nodes_query(struct port_adapter *adapter);

#endif
