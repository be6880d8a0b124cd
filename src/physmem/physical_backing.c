/* SPDX-License-Identifier: MIT */
#include "physmem/physical_backing.h"

#include <string.h>

#include "iommu/iommu.h"
#include "physmem/physical_record.h"
#include "ram/ram.h"
#include "util/address.h"
#include "util/alloc.h"

#define FILL_PATTERN     0xA5 /* content of memory that is documented as undefined */
#define FILL_LIMIT_PAGES 256u /* per block, so that large ones stay cheap */

void physical_backing_give(struct physical_memory *memory, struct physical_backing *backing)
{
    if (backing->list)
        ram_give_pages(memory->ram, backing->list, backing->pages);
    else if (backing->pages > 0)
        ram_give_contiguous(memory->ram, backing->first, backing->pages);
    util_free(backing->list);
    *backing = (struct physical_backing){0};
}

void physical_backing_fill_undefined(struct physical_memory *memory,
                                     const struct physical_backing *backing)
{
    uint64_t pages = backing->pages < FILL_LIMIT_PAGES ? backing->pages : FILL_LIMIT_PAGES;

    /* This is most of the cost of allocating contiguous memory, so use one call where possible. */
    if (!backing->list)
        memset(ram_direct(memory->ram, page_phys(backing->first)), FILL_PATTERN, pages * PAGE_BYTES);
    for (uint64_t i = 0; i < pages && backing->list; i++)
        memset(ram_direct(memory->ram, page_phys(backing->list[i])), FILL_PATTERN, PAGE_BYTES);
}

bool physical_backing_map(struct iommu_domain *domain, const struct physical_backing *backing)
{
    if (backing->list)
        return iommu_map(domain, backing->list, backing->pages, IOMMU_READ | IOMMU_WRITE, NULL);
    return iommu_map_run(domain, backing->first, backing->pages, IOMMU_READ | IOMMU_WRITE, NULL);
}

void physical_backing_unmap(struct iommu_domain *domain, const struct physical_backing *backing)
{
    if (backing->list)
        iommu_unmap_identity(domain, backing->list, backing->pages);
    else
        iommu_unmap_run(domain, page_identity(backing->first), backing->pages);
}
