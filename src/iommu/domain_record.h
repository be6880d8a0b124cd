/* SPDX-License-Identifier: MIT */
/* The record of a domain: the tables, the logical addresses that are free, and what its devices
 * have cached. Others see it as iommu.h has it. */
#ifndef DXGK_IOMMU_DOMAIN_RECORD_H
#define DXGK_IOMMU_DOMAIN_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "iommu/io_table.h"
#include "iommu/iommu.h"
#include "util/extent.h"

enum {
    IOMMU_RING_RANGES = 1024, /* each also keeps a place for itself in the tree */
    IOMMU_RECENT_RANGES = 64,
    IOMMU_MAX_RESERVED = 16,
};

struct logical_range {
    uint64_t start, size;
};

struct iommu_domain {
    struct ram *ram;
    enum iommu_mode mode;
    bool placing; /* refuses chosen addresses */
    struct io_tables tables;
    uint64_t map_count;
    unsigned attached;
    bool attached_since; /* iommu_domain_isolate */

    /* REMAP (iommu_place.c) */
    uint64_t highest_page;
    bool reuse_early;
    struct extent_tree logical; /* free */
    struct logical_range *ring; /* unmapped, and kept from being used again */
    unsigned ring_first, ring_count;
    struct logical_range reserved[IOMMU_MAX_RESERVED];
    size_t reserved_count;

    /* iommu_translate.c */
    struct iommu_tlb *tlb;
    struct logical_range recent[IOMMU_RECENT_RANGES]; /* unmapped last */
    unsigned recent_next;
    unsigned lose_flushes;
};

#endif
