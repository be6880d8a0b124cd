/* SPDX-License-Identifier: MIT */
/* The memory callbacks that name no adapter, or name it inside the structure: physical memory
 * objects and ADLs. A part of DXGKRNL_INTERFACE. */
#ifndef DXGK_PORT_OBJECT_CALLBACKS_H
#define DXGK_PORT_OBJECT_CALLBACKS_H

#include <ntddk.h>
#include <dispmprt.h>

void port_object_callbacks_fill(DXGKRNL_INTERFACE *interface);

#endif
