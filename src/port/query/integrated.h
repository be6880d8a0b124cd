/* SPDX-License-Identifier: MIT */
/* Displays that are part of the device: each is described once, at the start (DISP-075 to
 * DISP-080). */
#ifndef DXGK_PORT_INTEGRATED_H
#define DXGK_PORT_INTEGRATED_H

#include <ntddk.h>

struct modes_panel;
struct port_adapter;

/* After the children are known. */
NTSTATUS port_integrated_query(struct port_adapter *adapter);
/* NULL: the driver has described none with this id. */
const struct modes_panel *port_integrated(const struct port_adapter *adapter, ULONG uid);
void port_integrated_forget(struct port_adapter *adapter);

#endif
