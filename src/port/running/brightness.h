/* SPDX-License-Identifier: MIT */
/* The interfaces by which a driver's integrated panel is made brighter and darker (DISP-157,
 * DISP-158). They are asked for, checked and given back; nothing uses them yet. Called by the
 * display worker. */
#ifndef DXGK_PORT_BRIGHTNESS_H
#define DXGK_PORT_BRIGHTNESS_H

#include <ntddk.h>

struct port_adapter;

/* A panel has come, on this target; only the first is asked about. */
void port_brightness_begin(struct port_adapter *adapter, UINT target);
/* A panel has gone. */
void port_brightness_end(struct port_adapter *adapter, UINT target);

#endif
