/* SPDX-License-Identifier: MIT */
/* One query of DxgkDdiQueryAdapterInfo, the same way for every type. For the files that ask. */
#ifndef DXGK_PORT_QUERY_H
#define DXGK_PORT_QUERY_H

#include <ntddk.h>
#include <dispmprt.h>

struct port_adapter;

/* `output` comes zeroed, or with what the driver is to see in it; it is written on success only.
 * Answers outside the buffer and changed inputs are reported (CAPS-005, CAPS-007). */
NTSTATUS port_query(struct port_adapter *adapter, DXGK_QUERYADAPTERINFOTYPE type, const void *input,
                    UINT input_bytes, void *output, UINT output_bytes);

#endif
