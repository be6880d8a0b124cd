/* SPDX-License-Identifier: MIT */
/* Devices of the bus: a model becomes one, and goes again. */
#ifndef DXGK_BUS_DEVICE_H
#define DXGK_BUS_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "dxgkhost/device.h"

struct bus;
struct bus_device;
struct sim_interrupt;

/* Why a device is not added. */
struct bus_refusal {
    char text[512];
    bool no_memory; /* that is why; else the model or its options are wrong */
};

/* Load a model from a shared object (or take one that is linked in), power it on. NULL: *refusal
 * says why. */
struct bus_device *bus_device_load(struct bus *bus, const char *path,
                                   const struct dxgk_device_config *config,
                                   struct bus_refusal *refusal);
struct bus_device *bus_device_add(struct bus *bus, const struct dxgk_device_model *model,
                                  const struct dxgk_device_config *config,
                                  struct bus_refusal *refusal);
void bus_device_remove(struct bus_device *device);

const struct dxgk_device_description *bus_device_description(const struct bus_device *device);
/* Bus address of a BAR in the memory space; its size is in the description. */
struct phys_addr bus_device_bar(const struct bus_device *device, unsigned bar);
/* The interrupt of one message, to connect. */
struct sim_interrupt *bus_device_interrupt(struct bus_device *device, uint32_t message);
/* Messages that arrived, for the report. */
uint64_t bus_device_interrupts(const struct bus_device *device);

#endif
