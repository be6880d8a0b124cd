/* SPDX-License-Identifier: MIT */
/* Logical addresses of a domain, given out and taken back (REMAP). */
#ifndef DXGK_IOMMU_IOMMU_PLACE_H
#define DXGK_IOMMU_IOMMU_PLACE_H

#include <stdbool.h>
#include <stdint.h>

struct iommu_domain;

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

#endif
