/* SPDX-License-Identifier: MIT */
/* DxgkCbIndicateChildStatus. */
#ifndef DXGK_PORT_CHILD_CALLBACKS_H
#define DXGK_PORT_CHILD_CALLBACKS_H

#include <ntddk.h>
#include <dispmprt.h>

void port_child_callbacks_fill(DXGKRNL_INTERFACE *interface);

#endif
