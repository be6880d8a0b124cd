/* SPDX-License-Identifier: MIT */
/*
 * The bus: where a device model meets the machine. It loads the model, gives its BARs bus addresses
 * above RAM, carries its DMA through the IOMMU domain it is attached to, turns its messages into
 * sim interrupts, and maps its BARs for the CPU.
 *
 * A register BAR is mapped as pages without access: register routines (READ_REGISTER_ULONG, ...)
 * find the device by address (bus_register_read), and a plain load or store traps there. A memory
 * BAR is plain memory (its own memory file).
 */
#ifndef DXGK_BUS_H
#define DXGK_BUS_H

#include <stdbool.h>
#include <stdint.h>

struct bus;
struct bus_device;
struct iommu_pasids;
struct phys_addr;
struct ram;
struct ram_keep;

/* For the machine that is entered. NULL: out of memory. */
struct bus *bus_create(struct ram *ram);
/* The bus of the machine that is entered; NULL: it has none. */
struct bus *bus_current(void);
void bus_destroy(struct bus *bus);
struct ram *bus_ram(struct bus *bus);

/* The process address spaces that devices of this bus share. */
struct iommu_pasids *bus_pasids(struct bus *bus);
/* Is the physical address inside a BAR? */
bool bus_claims(const struct bus *bus, struct phys_addr address, uint64_t bytes);
/* Adds the memory of all devices to what is kept. False: out of memory. */
bool bus_keep(const struct bus *bus, struct ram_keep *keep);

#endif
