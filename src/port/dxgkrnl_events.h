/* SPDX-License-Identifier: MIT */
/* Adapters as events of Microsoft-Windows-DxgKrnl (wintrace/emit.h): when one starts and stops, and
 * all that there is on each. Nothing happens unless the machine records them. */
#ifndef DXGK_PORT_DXGKRNL_EVENTS_H
#define DXGK_PORT_DXGKRNL_EVENTS_H

struct port;
struct port_adapter;

void port_tell_start(const struct port_adapter *adapter);
void port_tell_stop(const struct port_adapter *adapter);
/* The adapters that run, with their segments, nodes, devices, contexts and allocations. Needs no
 * simulated thread. */
void port_tell_all(struct port *port);

#endif
