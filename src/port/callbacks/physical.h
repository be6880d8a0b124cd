/* SPDX-License-Identifier: MIT */
/* Physical memory of the machine's drivers: creates the physical memory services and connects them
 * to the kernel services and the bus. */
#ifndef DXGK_PORT_PHYSICAL_H
#define DXGK_PORT_PHYSICAL_H

#include <stdint.h>

struct physical_memory;
struct port;

/* NULL: out of memory. */
struct physical_memory *port_physical_create(struct port *port);
/* A mapping of memory or of a device ends: its addresses are remembered, so that a later use of
 * them can be reported. `what`: NULL, or what was mapped. */
void port_physical_view_ends(struct port *port, const void *base, uint64_t bytes, const char *what);

#endif
