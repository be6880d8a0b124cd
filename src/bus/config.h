/* SPDX-License-Identifier: MIT */
/* PCI configuration space of a device, and what its command register lets the device do. */
#ifndef DXGK_BUS_CONFIG_H
#define DXGK_BUS_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

struct bus_device;
struct bus_refusal;

/* 256 bytes of PCI configuration space; reads beyond give ones, writes to read-only bytes have no
 * effect. Return bytes done. */
uint32_t bus_config_read(struct bus_device *device, uint32_t offset, void *to, uint32_t bytes);
uint32_t bus_config_write(struct bus_device *device, uint32_t offset, const void *from,
                          uint32_t bytes);
/* Does every byte of the range (as far as it exists) hold a bit that a write changes? For
 * LIFE-095. */
bool bus_config_writable(const struct bus_device *device, uint32_t offset, uint32_t bytes);

/* Of a device that is being added; its BARs are placed. False: its capabilities are invalid, or
 * there is no room for all; *refusal says which. */
bool bus_config_init(struct bus_device *device, struct bus_refusal *refusal);
bool bus_config_decodes_memory(const struct bus_device *device);
bool bus_config_decodes_ports(const struct bus_device *device);
bool bus_config_is_master(const struct bus_device *device);

#endif
