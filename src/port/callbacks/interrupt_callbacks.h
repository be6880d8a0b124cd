/* SPDX-License-Identifier: MIT */
/* The callbacks about interrupts and the deferred call, as a part of DXGKRNL_INTERFACE. */
#ifndef DXGK_PORT_INTERRUPT_CALLBACKS_H
#define DXGK_PORT_INTERRUPT_CALLBACKS_H

#include <ntddk.h>
#include <dispmprt.h>

void port_interrupt_callbacks_fill(DXGKRNL_INTERFACE *interface);

#endif
