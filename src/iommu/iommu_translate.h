/* SPDX-License-Identifier: MIT */
/* What the devices of a domain have cached of its translations, and what was unmapped last. */
#ifndef DXGK_IOMMU_IOMMU_TRANSLATE_H
#define DXGK_IOMMU_IOMMU_TRANSLATE_H

#include <stdbool.h>
#include <stdint.h>

struct iommu_domain;

enum {
    IOMMU_TLB_ENTRIES = 1024,     /* of 4 KiB */
    IOMMU_TLB_LARGE_ENTRIES = 64, /* of 2 MiB; a leaf of 1 GiB is kept in such pieces */
};

struct iommu_tlb_entry {
    uint64_t tag; /* logical page (or piece of 2 MiB) + 1 */
    uint64_t frame;
    uint64_t rights;
};

/* `used` has a bit for each place that holds a translation, so that a flush costs what there is. */
struct iommu_tlb {
    uint64_t used[IOMMU_TLB_ENTRIES / 64], used_large;
    struct iommu_tlb_entry page[IOMMU_TLB_ENTRIES], large[IOMMU_TLB_LARGE_ENTRIES];
};

_Static_assert(IOMMU_TLB_LARGE_ENTRIES == 64, "they have one word of bits");

bool iommu_tlb_init(struct iommu_domain *domain);
void iommu_tlb_finish(struct iommu_domain *domain);
/* Remember that the range was unmapped, for iommu_refusal. */
void iommu_tlb_note_unmapped(struct iommu_domain *domain, uint64_t start, uint64_t count);

#endif
