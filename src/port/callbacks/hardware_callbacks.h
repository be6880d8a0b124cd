/* SPDX-License-Identifier: MIT */
/* The callback of hardware scheduling: DxgkCbInvalidateHwContext. */
#ifndef DXGK_PORT_HARDWARE_CALLBACKS_H
#define DXGK_PORT_HARDWARE_CALLBACKS_H

#include <ntddk.h>
#include <dispmprt.h>

void port_hardware_callbacks_fill(DXGKRNL_INTERFACE *interface);

#endif
