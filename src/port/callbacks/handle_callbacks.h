/* SPDX-License-Identifier: MIT */
/* The callbacks that look up handles, as a part of DXGKRNL_INTERFACE. */
#ifndef DXGK_PORT_HANDLE_CALLBACKS_H
#define DXGK_PORT_HANDLE_CALLBACKS_H

#include <ntddk.h>
#include <dispmprt.h>

void port_handle_callbacks_fill(DXGKRNL_INTERFACE *interface);

#endif
