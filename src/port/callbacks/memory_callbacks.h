/* SPDX-License-Identifier: MIT */
/* The memory callbacks that name an adapter, as a part of DXGKRNL_INTERFACE: contiguous memory,
 * pages, MDLs, frame buffer save. */
#ifndef DXGK_PORT_MEMORY_CALLBACKS_H
#define DXGK_PORT_MEMORY_CALLBACKS_H

#include <ntddk.h>
#include <dispmprt.h>

void port_memory_callbacks_fill(DXGKRNL_INTERFACE *interface);

#endif
