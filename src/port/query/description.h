/* SPDX-License-Identifier: MIT */
/* Optional answers about the adapter: precision of its history buffers, versions and ranges for
 * performance tools. */
#ifndef DXGK_PORT_DESCRIPTION_H
#define DXGK_PORT_DESCRIPTION_H

#include <ntddk.h>

struct port_adapter;

NTSTATUS port_description_query_history(struct port_adapter *adapter);
NTSTATUS port_description_query(struct port_adapter *adapter);

#endif
