/* SPDX-License-Identifier: MIT */
/* The segment table of a driver below WDDM 2.0, converted to the descriptors of WDDM 2.0 that the
 * host uses. For segments.c. */
#ifndef DXGK_PORT_SEGMENTS_1X_H
#define DXGK_PORT_SEGMENTS_1X_H

#include <ntddk.h>

struct port_adapter;

NTSTATUS port_segments_1x_query(struct port_adapter *adapter);

#endif
