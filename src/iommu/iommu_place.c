/* SPDX-License-Identifier: MIT */
/*
 * Logical addresses of a REMAP domain. Ranges come from an extent tree, lowest first, aligned to
 * their length rounded up to a power of two (IOMMU-031). Freed ranges wait in a ring before they
 * return to the tree, so that a stale device address faults for as long as possible instead of
 * reaching memory of another owner (IOMMU-033). The oldest range leaves the ring when the ring is
 * full, or when the tree cannot serve a request. The ring is part of the domain, so freeing never
 * needs memory.
 */
#include "iommu/iommu_place.h"
#include "iommu/domain_record.h"
#include "iommu/io_table.h"
#include "iommu/iommu.h"
#include "util/address.h"
#include "util/alloc.h"
#include "util/checked.h"
#include "util/extent.h"

bool iommu_place_init(struct iommu_domain *domain, uint64_t pages)
{
    if (pages > (uint64_t)1 << IO_FRAME_BITS)
        pages = (uint64_t)1 << IO_FRAME_BITS;
    domain->ring = util_zalloc(IOMMU_RING_RANGES, sizeof(*domain->ring));
    /* IOMMU-030: logical page 0 is never mapped. */
    if (!domain->ring || pages < 2 || !extent_give(&domain->logical, 1, pages - 1))
        return false;
    domain->highest_page = pages - 1;
    return true;
}

void iommu_domain_set_highest(struct iommu_domain *domain, struct logical_addr highest)
{
    uint64_t page = ((highest.value + 1) >> PAGE_BITS) - 1;

    if (highest.value != UINT64_MAX && highest.value >= PAGE_BYTES - 1 &&
        page < domain->highest_page)
        domain->highest_page = page;
}

void iommu_place_finish(struct iommu_domain *domain)
{
    extent_tree_finish(&domain->logical);
    util_free(domain->ring);
}

/* Return the oldest freed range to the tree. */
static bool release_oldest(struct iommu_domain *domain)
{
    struct logical_range *oldest = &domain->ring[domain->ring_first];

    if (domain->ring_count == 0 || !extent_give(&domain->logical, oldest->start, oldest->size))
        return false;
    domain->ring_first = (domain->ring_first + 1) % IOMMU_RING_RANGES;
    domain->ring_count--;
    return true;
}

bool iommu_place_take(struct iommu_domain *domain, uint64_t count, uint64_t *start)
{
    struct extent_request want = {.size = count};

    if (count == 0 || count > domain->highest_page)
        return false;
    want.align = power_of_two_at_least(count);
    want.high = domain->highest_page + 1;
    while (!extent_take(&domain->logical, &want, start))
        if (domain->logical.out_of_memory || !release_oldest(domain))
            return false;
    return true;
}

bool iommu_place_take_fixed(struct iommu_domain *domain, uint64_t start, uint64_t count)
{
    while (!extent_take_fixed(&domain->logical, start, count))
        if (domain->logical.out_of_memory || !release_oldest(domain))
            return false;
    return true;
}

void iommu_place_untake(struct iommu_domain *domain, uint64_t start, uint64_t count)
{
    extent_give(&domain->logical, start, count);
}

void iommu_place_give(struct iommu_domain *domain, uint64_t start, uint64_t count)
{
    while (domain->ring_count == IOMMU_RING_RANGES)
        if (!release_oldest(domain))
            return; /* unmapped in pieces, and out of memory: the range is lost to the domain */
    domain->ring[(domain->ring_first + domain->ring_count++) % IOMMU_RING_RANGES] =
        (struct logical_range){start, count};
    while (domain->reuse_early && release_oldest(domain))
        ;
}

bool iommu_place_validate(const struct iommu_domain *domain)
{
    return extent_tree_validate(&domain->logical) && domain->ring_count <= IOMMU_RING_RANGES;
}
