/* SPDX-License-Identifier: MIT */
/* The record of the bus: what the files that implement it keep. Others see it as bus.h has it. */
#ifndef DXGK_BUS_BUS_RECORD_H
#define DXGK_BUS_BUS_RECORD_H

#include <stdint.h>

#include "iommu/pasid.h"
#include "util/extent.h"
#include "util/hash.h"
#include "util/list.h"
#include "util/span_tree.h"

/* Pages without access until a window stands there, and again after it. */
struct bus_arena {
    uint8_t *base;
    uint64_t pages;
    struct extent_tree free;
    uint64_t next; /* where the search starts, so that pages come back late */
};

struct bus {
    struct ram *ram;
    struct list devices;
    uint32_t requesters; /* numbers given out */
    struct iommu_pasids pasids;
    uint64_t next_address; /* where the next BAR may start */
    uint32_t next_port;    /* the same for ports; 0: at the beginning */
    struct bus_arena registers, memory;
    struct bus_mapping **register_map; /* the mapping that owns each page of `registers` */
    struct span_tree memory_windows;   /* by page of the host's address space */
    struct hash_map mappings;          /* by the address that bus_map returned */
    bool check_translations;           /* bus_check_translations */
    bool (*pool_holds)(uint64_t physical, uint64_t bytes); /* bus_on_pool */
};

#endif
