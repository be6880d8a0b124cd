/* SPDX-License-Identifier: MIT */
/* The firmware table interface of DxgkCbQueryServices. For services.c. */
#ifndef DXGK_PORT_FIRMWARE_H
#define DXGK_PORT_FIRMWARE_H

#include <ntddk.h>
#include <dispmprt.h>

void port_firmware_fill(DXGK_FIRMWARE_TABLE_INTERFACE *interface);

#endif
