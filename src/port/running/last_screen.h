/* SPDX-License-Identifier: MIT */
/* The screen of a bug check (PRES-042 to PRES-052). */
#ifndef DXGK_PORT_LAST_SCREEN_H
#define DXGK_PORT_LAST_SCREEN_H

struct port_adapter;

/* The displays of the adapter start: if it is the POST device, and the option for such screens is
 * on, its driver is asked for one when the machine stops. */
void port_last_screen_begin(struct port_adapter *adapter);
void port_last_screen_end(struct port_adapter *adapter);

#endif
