/* SPDX-License-Identifier: MIT */
/* The adapter's interrupts and its DPC: connecting, and delivery to the driver. Their callbacks are
 * in interrupt_callbacks.c. */
#ifndef DXGK_PORT_INTERRUPTS_H
#define DXGK_PORT_INTERRUPTS_H

#include <stdbool.h>

struct port_adapter;

void port_interrupts_init(struct port_adapter *adapter);
void port_interrupts_connect(struct port_adapter *adapter);
void port_interrupts_disconnect(struct port_adapter *adapter);
/* true: keep interrupts and DPCs from the driver. false: deliver them again, first those that came
 * meanwhile. */
void port_interrupts_hold(struct port_adapter *adapter, bool hold);

#endif
