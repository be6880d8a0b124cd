/* SPDX-License-Identifier: MIT */
/* The driver's segment table, and the parts of segments that must not be used. */
#ifndef DXGK_PORT_SEGMENTS_H
#define DXGK_PORT_SEGMENTS_H

#include <ntddk.h>

struct port_adapter;

NTSTATUS port_segments_query(struct port_adapter *adapter);
void port_segments_forget(struct port_adapter *adapter);

#endif
