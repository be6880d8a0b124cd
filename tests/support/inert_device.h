/* SPDX-License-Identifier: MIT */
/*
 * A device that does nothing by itself, for rigs that need one on their bus: registers that keep what is written to them, or
 * memory. A rig whose device does a little more has a model of its own with these functions where that does nothing.
 */
#ifndef DXGK_TESTS_INERT_DEVICE_H
#define DXGK_TESTS_INERT_DEVICE_H

#include "bus/bus_record.h"
#include "bus/device_record.h"
#include "dxgkhost/device.h"

struct dxgk_device_config;
struct dxgk_device_description;

#define INERT_DEVICE_REGISTERS 8192u
#define INERT_DEVICE_DMA_BITS  40u /* that it can put on the bus */

struct inert_device {
    const struct dxgk_device_services *services; /* for whoever masters the bus in its place */
    void *host;                                  /* their first argument */
    uint8_t registers[INERT_DEVICE_REGISTERS];
};

extern struct inert_device *inert_device; /* the one that was created last */

/* On the bus, with memory of that size as BAR 0; 0: with the registers. NULL: out of memory. */
struct bus_device *inert_device_add(struct bus *bus, uint64_t memory_bytes);

bool inert_device_configure(const struct dxgk_device_config *config,
                            struct dxgk_device_description *description, const char **error);
void *inert_device_create(const struct dxgk_device_config *config,
                          const struct dxgk_device_services *services, void *host);
void inert_device_destroy(void *device);
void inert_device_reset(void *device);
uint64_t inert_device_read(void *device, unsigned bar, uint64_t offset, unsigned width);
void inert_device_write(void *device, unsigned bar, uint64_t offset, unsigned width, uint64_t value);
void inert_device_timer(void *device, unsigned index);

#endif
