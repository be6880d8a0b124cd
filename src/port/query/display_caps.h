/* SPDX-License-Identifier: MIT */
/* What a display-only driver says of itself: DXGK_DRIVERCAPS, and what extends it for displays
 * (DISP-011, DISP-159 to DISP-167). */
#ifndef DXGK_PORT_DISPLAY_CAPS_H
#define DXGK_PORT_DISPLAY_CAPS_H

#include <ntddk.h>

struct port_adapter;

NTSTATUS port_display_caps_query(struct port_adapter *adapter);

#endif
