/* SPDX-License-Identifier: MIT */
/* The debug report interface of DxgkCbQueryServices. For services.c. */
#ifndef DXGK_PORT_DEBUG_REPORTS_H
#define DXGK_PORT_DEBUG_REPORTS_H

#include <ntddk.h>
#include <dispmprt.h>

struct port_adapter;

void port_debug_reports_fill(DXGK_DEBUG_REPORT_INTERFACE *interface);
void port_debug_reports_forget(struct port_adapter *adapter);

#endif
