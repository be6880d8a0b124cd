/* SPDX-License-Identifier: MIT */
/* The callbacks for power components, as a part of DXGKRNL_INTERFACE. */
#ifndef DXGK_PORT_POWER_CALLBACKS_H
#define DXGK_PORT_POWER_CALLBACKS_H

#include <ntddk.h>
#include <dispmprt.h>

void port_power_callbacks_fill(DXGKRNL_INTERFACE *interface);

#endif
