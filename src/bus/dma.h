/* SPDX-License-Identifier: MIT */
/* Bus-master access of devices: the domain it goes through, what is recorded of it, and the
 * services of a model that carry it out. */
#ifndef DXGK_BUS_DMA_H
#define DXGK_BUS_DMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dxgkhost/device.h"
#include "iommu/iommu.h"

struct bus;
struct bus_device;

/* DMA goes through this domain, and through no other any more; NULL: the device is cut off (every
 * access faults). A failed attach leaves it cut off. */
enum iommu_result bus_device_attach(struct bus_device *device, struct iommu_domain *domain);
/* The IOMMU's side of the device. Its requester number is its place on the bus, from 1. */
struct iommu_device *bus_device_iommu(struct bus_device *device);
/* From now on each access to memory is reported with that cause, and carried out (IOMMU-059,
 * TDR-046); IOMMU_CAUSE_NONE: no longer. */
void bus_device_set_quiet(struct bus_device *device, enum iommu_cause why);
/* Whether an access to RAM that no domain maps is reported where the IOMMU lets it pass: without
 * isolation, or by a stale translation (IOMMU-074, IOMMU-075). At first it is. */
void bus_device_set_judged(struct bus_device *device, bool judged);
/* Drivers give their devices pool memory by its physical address, too, and only the kernel services
 * know the blocks. `holds` tells whether so many bytes, all in one page, are in a block of
 * nonpaged pool that a driver has. NULL, as at first: none are. */
void bus_on_pool(struct bus *bus, bool (*holds)(uint64_t physical, uint64_t bytes));
/* Called for each page that was refused or is to be reported, after it was recorded. */
void bus_device_on_fault(struct bus_device *device,
                         void (*handler)(void *context, const struct iommu_fault *fault),
                         void *context);
uint64_t bus_device_faults(const struct bus_device *device);
/* Bytes moved by DMA, for the report. */
uint64_t bus_device_dma_bytes(const struct bus_device *device);

/* ---- for the table of services; `host` is the device ---- */

bool bus_dma_read(void *host, uint64_t logical, void *to, size_t bytes);
bool bus_dma_write(void *host, uint64_t logical, const void *from, size_t bytes);
bool bus_dma_pasid(void *host, uint32_t pasid, uint64_t address, enum dxgk_dma_access access,
                   void *bytes, size_t count);
void *bus_dma_window(void *host, uint64_t logical, enum dxgk_dma_access access, size_t bytes,
                     size_t *run);

#endif
