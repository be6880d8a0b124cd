/* SPDX-License-Identifier: MIT */
/* The frames of RAM that back a holding of any kind: freeing them, their initial content, and
 * mapping them for the device. */
#ifndef DXGK_PHYSMEM_PHYSICAL_BACKING_H
#define DXGK_PHYSMEM_PHYSICAL_BACKING_H

#include <stdbool.h>
#include <stdint.h>

#include "util/address.h"

struct iommu_domain;
struct physical_memory;

/* One run (if list is NULL) or a list. */
struct physical_backing {
    struct page_number first;
    struct page_number *list; /* owned */
    uint64_t pages;
};

static inline struct page_number physical_backing_page(const struct physical_backing *backing,
                                                       uint64_t index)
{
    return backing->list ? backing->list[index] : (struct page_number){backing->first.value + index};
}

void physical_backing_give(struct physical_memory *memory, struct physical_backing *backing);
/* Fill with the pattern for undefined content. */
void physical_backing_fill_undefined(struct physical_memory *memory,
                                     const struct physical_backing *backing);
/* Map for the device with read and write access (IOMMU-052). False: out of memory. */
bool physical_backing_map(struct iommu_domain *domain, const struct physical_backing *backing);
void physical_backing_unmap(struct iommu_domain *domain, const struct physical_backing *backing);

#endif
