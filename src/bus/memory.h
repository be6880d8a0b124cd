/* SPDX-License-Identifier: MIT */
/* Device memory behind memory BARs. */
#ifndef DXGK_BUS_MEMORY_H
#define DXGK_BUS_MEMORY_H

struct bus_device;

/* The memory file behind a memory BAR and the page of it at offset 0, for views of device memory
 * (ram_view_point_file). */
int bus_device_memory_file(const struct bus_device *device, unsigned bar);
/* Host bytes of a memory BAR. */
void *bus_device_memory(const struct bus_device *device, unsigned bar);

#endif
