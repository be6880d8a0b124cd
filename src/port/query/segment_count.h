/* SPDX-License-Identifier: MIT */
/* How many segments an adapter may have (CAPS-073). For both forms of the segment table. */
#ifndef DXGK_PORT_SEGMENT_COUNT_H
#define DXGK_PORT_SEGMENT_COUNT_H

#include <ntddk.h>

struct port_adapter;

NTSTATUS port_segment_count_check(const struct port_adapter *adapter, UINT count);

/* The number to go on with: the smaller one, if the two queries do not agree. */
UINT port_segment_count_agree(struct port_adapter *adapter, UINT first, UINT second);

#endif
