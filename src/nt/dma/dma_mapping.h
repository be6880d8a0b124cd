/* SPDX-License-Identifier: MIT */
/*
 * Memory that DMA adapters open to devices, in the domain of the device. The room that gives
 * devices their domains says when one begins and ends, since a driver may have a buffer before and
 * after it.
 */
#ifndef DXGK_NT_DMA_MAPPING_H
#define DXGK_NT_DMA_MAPPING_H

#include <stdbool.h>

struct bus_device;
struct iommu_domain;
struct nt_dma_mapping;

/* The domain that the device is attached to; NULL: none, or no device. */
struct iommu_domain *nt_dma_domain(struct bus_device *device);
/* Enter the frames for reading and writing in the domain that the device has now (none: logical =
 * physical), and fill in the logical addresses; `logical` of a list must have room for them. False:
 * out of memory or of logical addresses; nothing changed. At DISPATCH_LEVEL or below. */
bool nt_dma_map(struct nt_dma_mapping *mapping, struct bus_device *device);
void nt_dma_unmap(struct nt_dma_mapping *mapping);

/* The device was attached to this domain: what was given to it before is entered where its driver
 * was told that it is (NT-188). */
void nt_dma_domain_begins(struct bus_device *device, struct iommu_domain *domain);
/* The domain is about to be cleared: nothing is entered in it any more. */
void nt_dma_domain_ends(struct iommu_domain *domain);

#endif
