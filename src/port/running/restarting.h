/* SPDX-License-Identifier: MIT */
/* A display-only driver that is started again after a lost present, and who wants something of it
 * meanwhile (PRES-258). */
#ifndef DXGK_PORT_RESTARTING_H
#define DXGK_PORT_RESTARTING_H

#include <stdbool.h>

struct port_adapter;

/* Calls of the driver wait from now on: neither clients nor changes of power reach one that is
 * stopped. False: the machine is stopped. */
bool port_restarting_begin(struct port_adapter *adapter);
void port_restarting_end(struct port_adapter *adapter);
/* Wait until it is over: the driver is about to run. */
void port_restarting_await(struct port_adapter *adapter);

#endif
