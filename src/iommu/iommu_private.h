/* SPDX-License-Identifier: MIT */
/* Inside the IOMMU: iommu.c and iommu_table.c only. The theory of operation is in iommu.c. */
#ifndef DXGK_IOMMU_PRIVATE_H
#define DXGK_IOMMU_PRIVATE_H

#include "iommu/iommu.h"

#include "util/extent.h"

enum {
    TABLE_BITS = 9,
    TABLE_ENTRIES = 1 << TABLE_BITS,
    MAX_LEVELS = 5, /* 45 bits of page number */
    SPARE_TABLES = 64,
    TLB_ENTRIES = 1024,
    RING_RANGES = 4096,
};

#define RIGHTS_MASK ((uint64_t)3)
#define FRAME_SHIFT 2
#define FRAME_BITS  40
#define FRAME_MASK  ((((uint64_t)1 << FRAME_BITS) - 1) << FRAME_SHIFT)
#define COUNT_SHIFT (FRAME_SHIFT + FRAME_BITS)
#define COUNT_ONE   ((uint64_t)1 << COUNT_SHIFT)
#define COUNT_MAX   (((uint64_t)1 << (64 - COUNT_SHIFT)) - 1)

struct iommu_table {
    union {
        struct iommu_table *child[TABLE_ENTRIES];
        uint64_t leaf[TABLE_ENTRIES];
    };
    uint32_t used;
    struct iommu_table *next_spare;
};

struct tlb_entry {
    uint64_t tag; /* logical page + 1 */
    uint64_t frame;
    uint64_t rights;
};

struct freed_range {
    uint64_t start, size;
};

struct iommu_domain {
    struct ram *ram;
    enum iommu_mode mode;
    struct iommu_table *root;
    unsigned levels; /* of the tree; 0 while root is NULL */
    struct iommu_table *spare;
    unsigned spare_tables;
    uint64_t mapped_pages;
    uint64_t map_count;
    uint64_t highest_page; /* REMAP */
    bool reuse_early;
    struct extent_tree logical;
    struct freed_range *ring;
    unsigned ring_first, ring_count;
    struct tlb_entry *tlb;
};

static inline uint64_t entry_count(uint64_t entry)
{
    return entry >> COUNT_SHIFT;
}

static inline uint64_t entry_frame(uint64_t entry)
{
    return (entry & FRAME_MASK) >> FRAME_SHIFT;
}

static inline unsigned slot_at(uint64_t page, unsigned level)
{
    return (unsigned)(page >> (level * TABLE_BITS)) & (TABLE_ENTRIES - 1);
}

static inline bool in_ram(const struct iommu_domain *domain, uint64_t frame)
{
    return frame < ram_bytes(domain->ram) / PAGE_BYTES;
}

/* ---- IO page tables (iommu_table.c) ---- */

/* The leaf table of a page; NULL if nothing near it is mapped. */
struct iommu_table *iommu_table_leaf(const struct iommu_domain *domain, uint64_t page);
/* Map count pages from `page` on to `frames` (an array), or to `first`, first + 1, ... if that is
 * NULL. False: out of memory, or a page is taken; nothing changed. */
bool iommu_table_add(struct iommu_domain *domain, uint64_t page, const struct page_number *frames,
                     uint64_t first, uint64_t count, unsigned access);
void iommu_table_remove(struct iommu_domain *domain, uint64_t page, uint64_t count);
/* Take all mappings out of the books of the frames, and free the tables. */
void iommu_table_drop_all(struct iommu_domain *domain);
bool iommu_table_validate(const struct iommu_domain *domain, uint64_t *mapped);

#endif
