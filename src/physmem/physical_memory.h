/* SPDX-License-Identifier: MIT */
/*
 * Physical memory services: the implementation of the memory callbacks of DXGKRNL_INTERFACE.
 *
 *   physical_memory     one a machine: handles, commit charge, and what belongs to no adapter
 *    +- adapter         one a logical adapter (physical_adapter.h): its IOMMU domain, and all that
 *                       its driver holds (physical_holding.h)
 *
 * This header is for the owner of the machine. The callbacks themselves are in physical_services.h.
 */
#ifndef DXGK_PHYSMEM_PHYSICAL_MEMORY_H
#define DXGK_PHYSMEM_PHYSICAL_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "physmem/physical_hooks.h"
#include "ram/ram.h"

struct nt_process;
struct physical_memory;

/* NULL: out of memory. */
struct physical_memory *physical_memory_create(struct ram *ram, const struct physical_hooks *hooks);
/* Frees all that is left, without reports. The adapters must be destroyed already. */
void physical_memory_destroy(struct physical_memory *memory);
/* Bytes backed by the paging file: how many are charged, and the limit (default: twice the RAM). */
uint64_t physical_memory_commit(const struct physical_memory *memory);
void physical_memory_set_commit_limit(struct physical_memory *memory, uint64_t bytes);
/* Hand out the pages of MDLs so that no page follows its lower neighbor (PHYS-059). Default:
 * true. */
void physical_memory_set_scatter(struct physical_memory *memory, bool scatter);
/* Give each contiguous block its own kernel view, which faults on an access after the free. Each
 * view costs two system calls and one of the mappings that a process may have. Default: true.
 * False: blocks use the direct view of RAM. */
void physical_memory_set_guard(struct physical_memory *memory, bool guard);
/* After DxgkDdiUnload: each object of the driver that belongs to no adapter (PHYS-144) is reported
 * and reclaimed. Returns how many. */
unsigned physical_memory_driver_unloaded(struct physical_memory *memory, const void *driver);
/* Mappings left by a client process that ends: each is removed and reported (PHYS-159). Returns how
 * many. */
unsigned physical_memory_process_ended(struct physical_memory *memory,
                                       const struct nt_process *process);
bool physical_memory_validate(const struct physical_memory *memory);

#endif
