/* SPDX-License-Identifier: MIT */
/* The device \\Device\\DxgKrnl, through which a Windows image finds the routines that register it.
 * For port.c. */
#ifndef DXGK_PORT_REGISTRATION_DEVICE_H
#define DXGK_PORT_REGISTRATION_DEVICE_H

#include <stdbool.h>

struct port;

/* False: out of memory. */
bool port_registration_device_init(struct port *port);
void port_registration_device_finish(struct port *port);

#endif
