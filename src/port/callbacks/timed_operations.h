/* SPDX-License-Identifier: MIT */
/* The timed operation interface of DxgkCbQueryServices. For services.c. */
#ifndef DXGK_PORT_TIMED_OPERATIONS_H
#define DXGK_PORT_TIMED_OPERATIONS_H

#include <ntddk.h>
#include <dispmprt.h>

struct port_adapter;

void port_timed_operations_fill(DXGK_TIMED_OPERATION_INTERFACE *interface);
void port_timed_operations_forget(struct port_adapter *adapter);

#endif
