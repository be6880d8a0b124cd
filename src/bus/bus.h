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
#include <stddef.h>
#include <stdint.h>

#include "dxgkhost/device.h"
#include "iommu/iommu.h"
#include "iommu/pasid.h"
#include "ram/ram.h"
#include "sim/interrupt.h"
#include "util/address.h"

struct bus;
struct bus_device;

/* For the machine that is entered. NULL: out of memory. */
struct bus *bus_create(struct ram *ram);
/* The bus of the machine that is entered; NULL: it has none. */
struct bus *bus_current(void);
void bus_destroy(struct bus *bus);
struct ram *bus_ram(struct bus *bus);

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
void bus_device_reset(struct bus_device *device);

const struct dxgk_device_description *bus_device_description(const struct bus_device *device);
/* Bus address of a BAR in the memory space; its size is in the description. */
struct phys_addr bus_device_bar(const struct bus_device *device, unsigned bar);
/* First port of a BAR of ports. */
uint32_t bus_device_port(const struct bus_device *device, unsigned bar);
/* The interrupt of one message, to connect. */
struct sim_interrupt *bus_device_interrupt(struct bus_device *device, uint32_t message);
/* 256 bytes of PCI configuration space; reads beyond give ones, writes to read-only bytes have no
 * effect. Return bytes done. */
uint32_t bus_config_read(struct bus_device *device, uint32_t offset, void *to, uint32_t bytes);
uint32_t bus_config_write(struct bus_device *device, uint32_t offset, const void *from,
                          uint32_t bytes);
/* Does every byte of the range (as far as it exists) hold a bit that a write changes? For LIFE-095.
 * */
bool bus_config_writable(const struct bus_device *device, uint32_t offset, uint32_t bytes);

/* DMA goes through this domain, and through no other any more; NULL: the device is cut off (every
 * access faults). A failed attach leaves it cut off. */
enum iommu_result bus_device_attach(struct bus_device *device, struct iommu_domain *domain);
/* The IOMMU's side of the device. Its requester number is its place on the bus, from 1. */
struct iommu_device *bus_device_iommu(struct bus_device *device);
/* The process address spaces that devices of this bus share. */
struct iommu_pasids *bus_pasids(struct bus *bus);
struct bus *bus_of_device(struct bus_device *device);
/* While quiet, each access to memory is reported, and carried out (IOMMU-059). */
void bus_device_set_quiet(struct bus_device *device, bool quiet);
/* Whether an access to RAM that no domain maps is reported where the IOMMU lets it pass: without
 * isolation, or by a stale translation (IOMMU-074, IOMMU-075). At first it is. */
void bus_device_set_judged(struct bus_device *device, bool judged);
/* Called for each page that was refused or is to be reported, after it was recorded. */
void bus_device_on_fault(struct bus_device *device,
                         void (*handler)(void *context, const struct iommu_fault *fault),
                         void *context);
uint64_t bus_device_faults(const struct bus_device *device);
uint64_t bus_device_interrupts(const struct bus_device *device);
/* Bytes moved by DMA, for the report. */
uint64_t bus_device_dma_bytes(const struct bus_device *device);
/* Surprise removal: reads give ones, writes vanish, DMA and interrupts cease. */
void bus_device_unplug(struct bus_device *device);

/* The memory file behind a memory BAR and the page of it at offset 0, for views of device memory
 * (ram_view_point_file). */
int bus_device_memory_file(const struct bus_device *device, unsigned bar);
/* Host bytes of a memory BAR. */
void *bus_device_memory(const struct bus_device *device, unsigned bar);

/* Map [address, address + bytes) of a BAR for the kernel; NULL: not inside one BAR, or out of
 * memory. The range need not be aligned. Every mapping has an address of its own, which leads
 * nowhere after bus_unmap and is not given out again soon (PHYS-194). */
void *bus_map(struct bus *bus, struct phys_addr address, uint64_t bytes);
/* `address` as bus_map returned it. False: no such mapping. */
bool bus_unmap(struct bus *bus, void *address);
/* What the mapping that bus_map returned is cached as; at first it is not. For questions only: the
 * host caches as it does. */
void bus_set_cache(struct bus *bus, const void *address, enum ram_cache cache);
/* Of the mapping that shows the byte; false: none does. */
bool bus_cache(const struct bus *bus, const volatile void *address, enum ram_cache *cache);
/* Is the physical address inside a BAR? */
bool bus_claims(const struct bus *bus, struct phys_addr address, uint64_t bytes);
/* Mappings that are still there, for leak checks. */
uint64_t bus_mappings(const struct bus *bus);

/* Physical address of a byte of a BAR by a kernel address: one in a register mapping, or in a
 * memory BAR, mapped or not. False: no address of the bus. */
bool bus_physical(const struct bus *bus, const volatile void *address, struct phys_addr *physical);

/* Register access through a mapped address; a sim_point. A device that is gone, does not decode
 * memory or is accessed across its natural alignment reads ones and ignores writes. False: the
 * bytes are not all inside one register mapping. */
bool bus_register_read(struct bus *bus, const volatile void *address, unsigned width,
                       uint64_t *value);
bool bus_register_write(struct bus *bus, volatile void *address, unsigned width, uint64_t value);
/* Port access of width 1, 2 or 4; a sim_point. As with registers, a device that is gone, does not
 * decode ports or is accessed across the natural alignment reads ones. False: no device has these
 * ports; *value is ones then, too. */
bool bus_port_read(struct bus *bus, uint32_t port, unsigned width, uint32_t *value);
bool bus_port_write(struct bus *bus, uint32_t port, unsigned width, uint32_t value);
/* Is the address in the part of the address space where register mappings stand, mapped at present
 * or not? Memory of any kind is never there, so that an access for which bus_register_read returns
 * false and this true goes nowhere. */
bool bus_register_space(const struct bus *bus, const volatile void *address);
/* The same of all mappings, also those of memory BARs. */
bool bus_window_space(const struct bus *bus, const volatile void *address);
/* "BAR 2 of refgpu at 0x1000"; false: the address is in no BAR. */
bool bus_describe(const struct bus *bus, struct phys_addr address, char *text, size_t bytes);

#endif
