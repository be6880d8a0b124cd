/* SPDX-License-Identifier: MIT */
/*
 * What a driver holds of physical memory, as a list: for reports and tests. A "holding" is one
 * acquisition that the driver must release: a block, an MDL's pages, an object, an ADL or a
 * mapping, known by a handle or an address.
 */
#ifndef DXGK_PHYSMEM_PHYSICAL_HOLDING_H
#define DXGK_PHYSMEM_PHYSICAL_HOLDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ram/ram.h"

struct physical_memory;
struct physical_adapter;

enum physical_kind {
    PHYSICAL_CONTIGUOUS = 1,
    PHYSICAL_MDL_PAGES,
    PHYSICAL_IOMMU_MDL,
    PHYSICAL_OBJECT,
    PHYSICAL_ADAPTER_OBJECT,
    PHYSICAL_ADL,
    PHYSICAL_MAPPING,
    PHYSICAL_PIN,
    PHYSICAL_SAVE_MAPPING,
};

struct physical_holding {
    enum physical_kind kind;
    uint64_t bytes;
    uint64_t order;   /* increases with each acquisition in the machine */
    uint64_t context; /* objects: the driver's Context */
    uintptr_t caller;
    bool has_cache; /* false for the driver's own pages and for adapter objects */
    enum ram_cache cache;
};
/* List what the driver holds through an adapter (NULL: through no adapter), in order of acquisition
 * (PHYS-021). Writes at most `capacity` entries; returns how many there are. */
size_t physical_holdings(const struct physical_memory *memory,
                         const struct physical_adapter *adapter, struct physical_holding *list,
                         size_t capacity);
const char *physical_kind_name(enum physical_kind kind);

#endif
