/* SPDX-License-Identifier: MIT */
/* Windows: BAR bytes mapped for the kernel, register access through them, and questions about the
 * addresses. */
#ifndef DXGK_BUS_WINDOW_H
#define DXGK_BUS_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ram/ram.h"

struct bus;
struct bus_device;

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
/* Is the address in the part of the address space where register mappings stand, mapped at present
 * or not? Memory of any kind is never there, so that an access for which bus_register_read returns
 * false and this true goes nowhere. */
bool bus_register_space(const struct bus *bus, const volatile void *address);
/* The same of all mappings, also those of memory BARs. */
bool bus_window_space(const struct bus *bus, const volatile void *address);
/* "BAR 2 of refgpu at 0x1000"; false: the address is in no BAR. */
bool bus_describe(const struct bus *bus, struct phys_addr address, char *text, size_t bytes);

/* The windows of a bus, at its beginning and end. */
bool bus_window_init(struct bus *bus);
void bus_window_finish(struct bus *bus);
/* Drop every mapping of a device that goes away. */
void bus_window_forget(struct bus_device *device);

#endif
