/* SPDX-License-Identifier: MIT */
/* Physical memory of the machine's drivers: the services of vidmm, with what they ask of the kernel
 * and the bus. */
#ifndef DXGK_PORT_PHYSICAL_H
#define DXGK_PORT_PHYSICAL_H

#include <stdint.h>

struct physical_memory;
struct port;

/* NULL: out of memory. */
struct physical_memory *port_physical_create(struct port *port);
/* A mapping of memory or of a device ends: its addresses are remembered, for the report of a late
 * use. `what`: NULL, or what it showed. */
void port_physical_view_ends(struct port *port, const void *base, uint64_t bytes, const char *what);

#endif
