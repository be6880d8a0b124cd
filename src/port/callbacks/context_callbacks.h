/* SPDX-License-Identifier: MIT */
/* The callbacks for context allocations and GPU virtual address ranges, as a part of
 * DXGKRNL_INTERFACE. */
#ifndef DXGK_PORT_CONTEXT_CALLBACKS_H
#define DXGK_PORT_CONTEXT_CALLBACKS_H

#include <ntddk.h>
#include <dispmprt.h>

void port_context_callbacks_fill(DXGKRNL_INTERFACE *interface);

#endif
