/* SPDX-License-Identifier: MIT */
/* Device memory behind memory BARs. */
#ifndef DXGK_BUS_MEMORY_H
#define DXGK_BUS_MEMORY_H

#include <stdint.h>

#include "util/address.h"

struct bus_device;

/* The memory file behind a memory BAR and the page of it at offset 0, for views of device memory
 * (ram_view_point_file). */
int bus_device_memory_file(const struct bus_device *device, unsigned bar);
/* Host bytes of a memory BAR. */
void *bus_device_memory(const struct bus_device *device, unsigned bar);
/* What answers to a device at an address of the bus where there is no RAM: a memory BAR of another
 * device (PHYS-174). `bytes`: from there to its end. NULL: nothing does. */
uint8_t *bus_peer_memory(const struct bus_device *requester, struct phys_addr address,
                         uint64_t *bytes);

#endif
