/* SPDX-License-Identifier: MIT */
/* What a driver says of its displays: DXGK_DRIVERCAPS, and what extends it (DISP-011, DISP-159 to
 * DISP-167). */
#ifndef DXGK_PORT_DISPLAY_CAPS_H
#define DXGK_PORT_DISPLAY_CAPS_H

#include <ntddk.h>

struct port_adapter;

/* Of a display-only driver, which is asked about nothing else. */
NTSTATUS port_display_caps_query(struct port_adapter *adapter);
/* Of a full driver with sources, whose DXGK_DRIVERCAPS is known. */
NTSTATUS port_display_caps_check(struct port_adapter *adapter);

#endif
