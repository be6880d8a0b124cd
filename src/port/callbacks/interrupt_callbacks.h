/* SPDX-License-Identifier: MIT */
/* The callbacks for interrupts and the DPC, as a part of DXGKRNL_INTERFACE. */
#ifndef DXGK_PORT_INTERRUPT_CALLBACKS_H
#define DXGK_PORT_INTERRUPT_CALLBACKS_H

#include <ntddk.h>
#include <dispmprt.h>

void port_interrupt_callbacks_fill(DXGKRNL_INTERFACE *interface);

#endif
