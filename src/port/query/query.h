/* SPDX-License-Identifier: MIT */
/* A query by DxgkDdiQueryAdapterInfo, made in the same way for every type. For the files that
 * query. */
#ifndef DXGK_PORT_QUERY_H
#define DXGK_PORT_QUERY_H

#include <stdbool.h>

#include <ntddk.h>
#include <dispmprt.h>

struct port_adapter;

/* The caller zeroes `output`, or fills in what the driver is to see there; it is written on success
 * only. Writes outside the output buffer and changed inputs are reported (CAPS-005, CAPS-007). */
NTSTATUS port_query(struct port_adapter *adapter, DXGK_QUERYADAPTERINFOTYPE type, const void *input,
                    UINT input_bytes, void *output, UINT output_bytes);

/* Does a driver say with this status that it does not have the query? */
bool port_query_not_offered(NTSTATUS status);
/* "DXGKQAITYPE_DRIVERCAPS", for reports. */
const char *port_query_name(DXGK_QUERYADAPTERINFOTYPE type);

#endif
