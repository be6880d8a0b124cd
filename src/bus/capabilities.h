/* SPDX-License-Identifier: MIT */
/* The list of capabilities in the configuration space of a device. */
#ifndef DXGK_BUS_CAPABILITIES_H
#define DXGK_BUS_CAPABILITIES_H

#include <stdbool.h>
#include <stdint.h>

struct bus_device;
struct bus_refusal;

/* Writes the capabilities of a device that is being added, the pointer to the first of them, the
 * bit of the status register that says they exist, and device->reset_control. False: one of the
 * model's is invalid, or there is no room; *refusal says which. */
bool bus_capabilities_init(struct bus_device *device, struct bus_refusal *refusal);

/* Little-endian, as everything there. */
static inline void bus_config_put(uint8_t *space, uint32_t offset, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        space[offset + i] = (uint8_t)(value >> (8 * i));
}

#endif
