/* SPDX-License-Identifier: MIT */
/* I/O ports: the BARs of ports get their numbers, and the kernel reaches them. */
#ifndef DXGK_BUS_PORTS_H
#define DXGK_BUS_PORTS_H

#include <stdbool.h>
#include <stdint.h>

#define BUS_FIXED_PORTS 0x1000u /* all below: ports at fixed numbers; from here on those of BARs */

struct bus;
struct bus_device;

/* First port of a BAR of ports. */
uint32_t bus_device_port(const struct bus_device *device, unsigned bar);
/* Port access of width 1, 2 or 4; a sim_point. As with registers, a device that is gone, does not
 * decode ports or is accessed across the natural alignment reads ones. False: no device has these
 * ports; *value is ones then, too. */
bool bus_port_read(struct bus *bus, uint32_t port, unsigned width, uint32_t *value);
bool bus_port_write(struct bus *bus, uint32_t port, unsigned width, uint32_t value);

/* Give BARs of ports their numbers; the others are left alone. False: none are left. */
bool bus_ports_place(struct bus_device *device);

#endif
