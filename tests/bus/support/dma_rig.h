/* SPDX-License-Identifier: MIT */
/* A machine with nothing but RAM, an IOMMU domain and one device, whose bus mastering the caller does in its place. */
#ifndef DXGK_TESTS_BUS_DMA_RIG_H
#define DXGK_TESTS_BUS_DMA_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dxgkhost/device.h"
#include "iommu/iommu.h"

struct dma_rig {
    struct sim_machine *machine; /* entered */
    struct ram *ram;
    struct bus *bus;
    struct iommu_domain *domain;
    struct bus_device *device; /* attached */
    const struct dxgk_device_services *services;
    void *host; /* their first argument */
};

/* Logical addresses below 2^INERT_DEVICE_DMA_BITS and up to `highest`. False: out of memory; nothing is left. */
bool dma_rig_create(struct dma_rig *rig, enum iommu_mode mode, uint64_t ram_bytes, uint64_t highest);
/* Detaches the device, unmaps all and deletes the domain. False: it could not be deleted. */
bool dma_rig_destroy(struct dma_rig *rig);

static inline bool dma_rig_read(const struct dma_rig *rig, uint64_t address, void *to, size_t bytes)
{
    return rig->services->dma_read(rig->host, address, to, bytes);
}

static inline bool dma_rig_write(const struct dma_rig *rig, uint64_t address, const void *from,
                                 size_t bytes)
{
    return rig->services->dma_write(rig->host, address, from, bytes);
}

#endif
