/* SPDX-License-Identifier: MIT */
/* The segment table of a driver below WDDM 2.0, turned into the descriptors of 2.0 that the host
 * works with. For segments.c. */
#ifndef DXGK_PORT_SEGMENTS_1X_H
#define DXGK_PORT_SEGMENTS_1X_H

#include <ntddk.h>

struct port_adapter;

NTSTATUS port_segments_1x_query(struct port_adapter *adapter);

#endif
