/* SPDX-License-Identifier: MIT */
/* Whether the driver refuses to control interrupts that are always on (SUBMIT-070, SUBMIT-071). */
#ifndef DXGK_PORT_INTERRUPT_CONTROL_H
#define DXGK_PORT_INTERRUPT_CONTROL_H

struct port_adapter;

/* After StartDevice, in strict mode: one call. */
void port_interrupt_control_probe(struct port_adapter *adapter);

#endif
