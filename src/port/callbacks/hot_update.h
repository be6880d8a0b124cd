/* SPDX-License-Identifier: MIT */
/* DxgkCbSaveMemoryForHotUpdate. */
#ifndef DXGK_PORT_HOT_UPDATE_H
#define DXGK_PORT_HOT_UPDATE_H

#include <ntddk.h>
#include <dispmprt.h>

void port_hot_update_fill(DXGKRNL_INTERFACE *interface);

#endif
