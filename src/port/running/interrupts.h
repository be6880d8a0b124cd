/* SPDX-License-Identifier: MIT */
/* The adapter's interrupts and its deferred call, as the driver gets them. Callbacks about them:
 * interrupt_callbacks.c. */
#ifndef DXGK_PORT_INTERRUPTS_H
#define DXGK_PORT_INTERRUPTS_H

#include <stdbool.h>

struct port_adapter;

void port_interrupts_init(struct port_adapter *adapter);
void port_interrupts_connect(struct port_adapter *adapter);
void port_interrupts_disconnect(struct port_adapter *adapter);
/* Keep interrupts and deferred calls away from the driver; let them come, with those that came
 * meanwhile. */
void port_interrupts_hold(struct port_adapter *adapter, bool hold);

#endif
