/* SPDX-License-Identifier: MIT */
/* Inside the IOMMU. The theory of operation is in iommu.c. */
#ifndef DXGK_IOMMU_PRIVATE_H
#define DXGK_IOMMU_PRIVATE_H

#include "iommu/io_table.h"
#include "iommu/iommu.h"

#include "util/extent.h"

enum {
    TLB_ENTRIES = 1024,     /* of 4 KiB */
    TLB_LARGE_ENTRIES = 64, /* of 2 MiB; a leaf of 1 GiB is kept in such pieces */
    RING_RANGES = 1024,     /* each also keeps a place for itself in the tree */
    RECENT_RANGES = 64,
    MAX_RESERVED = 16
};

struct tlb_entry {
    uint64_t tag; /* logical page (or piece of 2 MiB) + 1 */
    uint64_t frame;
    uint64_t rights;
};

/* `used` has a bit for each place that holds a translation, so that a flush costs what there is. */
struct iommu_tlb {
    uint64_t used[TLB_ENTRIES / 64], used_large;
    struct tlb_entry page[TLB_ENTRIES], large[TLB_LARGE_ENTRIES];
};

_Static_assert(TLB_LARGE_ENTRIES == 64, "they have one word of bits");

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
    struct logical_range reserved[MAX_RESERVED];
    size_t reserved_count;

    /* iommu_translate.c */
    struct iommu_tlb *tlb;
    struct logical_range recent[RECENT_RANGES]; /* unmapped last */
    unsigned recent_next;
    unsigned lose_flushes;
};

/* ---- logical addresses (iommu_place.c) ---- */

/* Pages 1 .. pages - 1 are there to be taken. False: out of memory, or none. */
bool iommu_place_init(struct iommu_domain *domain, uint64_t pages);
void iommu_place_finish(struct iommu_domain *domain);
bool iommu_place_take(struct iommu_domain *domain, uint64_t count, uint64_t *start);
/* Exactly this range; freed ranges in the way come back first. */
bool iommu_place_take_fixed(struct iommu_domain *domain, uint64_t start, uint64_t count);
/* Back at once, of a range that the device never saw. */
void iommu_place_untake(struct iommu_domain *domain, uint64_t start, uint64_t count);
/* Back as late as possible (IOMMU-033). Never fails. */
void iommu_place_give(struct iommu_domain *domain, uint64_t start, uint64_t count);
bool iommu_place_validate(const struct iommu_domain *domain);

/* ---- translation (iommu_translate.c) ---- */

bool iommu_tlb_init(struct iommu_domain *domain);
void iommu_tlb_finish(struct iommu_domain *domain);
/* Remember that the range was unmapped, for iommu_refusal. */
void iommu_note_unmapped(struct iommu_domain *domain, uint64_t start, uint64_t count);

#endif
