/* SPDX-License-Identifier: MIT */
/*
 * What the files of this folder share: DMA adapters as IoGetDmaAdapter made them, and the memory
 * that they opened to the device.
 *
 *   adapter     what the driver has a DMA_ADAPTER of: an address width, and a table of operations
 *    +- common buffer   contiguous frames, open to the device from AllocateCommonBuffer on
 *    +- channel         map registers of AllocateAdapterChannel: a token, and transfers under it
 *    +- transfer        pages of an MDL that are open to the device for a while
 *
 * Both kinds of memory have a mapping, which is in the domain of the device, whatever its mode.
 */
#ifndef DXGK_NT_DMA_RECORD_H
#define DXGK_NT_DMA_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>

#include "nt/base/resource.h"
#include "util/address.h"
#include "util/hash.h"
#include "util/list.h"

struct bus_device;
struct iommu_domain;

struct nt_dma {
    struct hash_map adapters; /* DMA_ADAPTER -> struct nt_dma_adapter */
    struct hash_map buffers;  /* virtual address -> struct nt_common_buffer */
    struct hash_map lists;    /* SCATTER_GATHER_LIST -> struct nt_dma_transfer */
    struct hash_map channels; /* MapRegisterBase -> struct nt_dma_channel */
    struct list mappings;     /* struct nt_dma_mapping */
};

struct nt_dma_adapter {
    DMA_ADAPTER header; /* the driver's; first */
    DMA_OPERATIONS operations;
    struct nt_resource resource;
    struct bus_device *device; /* NULL: made without a device object */
    ULONG version;             /* of the DEVICE_DESCRIPTION */
    unsigned bits;             /* address width that the driver claims, 1..64 */
    bool scatter_gather;
    ULONG map_registers;            /* most for one transfer */
    uint32_t buffers, transfers;    /* held through this adapter */
    struct nt_dma_channel *channel; /* the one that owns the adapter; NULL: none */
    struct list waiting;            /* struct nt_dma_channel by link */
    uint32_t channels;              /* all of them: owning, waiting, registers kept */
};

/* Frames that the device may reach: one run, or (list) several. */
struct nt_dma_mapping {
    struct list link;               /* in nt_dma.mappings; while it exists */
    struct bus_device *device;      /* NULL: none */
    struct iommu_domain *domain;    /* where it is entered; NULL: nowhere, logical = physical */
    const struct page_number *list; /* NULL: one run from `first` */
    struct page_number first;
    uint64_t pages;
    struct logical_page *logical; /* of a list, by page */
    struct logical_page logical_first;
};

/* The adapter behind a driver's pointer; NULL, which is reported: there is none. */
struct nt_dma_adapter *nt_dma_adapter_find(const DMA_ADAPTER *adapter, const char *routine);
/* The same for a routine that only version 3 of the table has. */
struct nt_dma_adapter *nt_dma_adapter_find_v3(const DMA_ADAPTER *adapter, const char *routine);
/* Highest address that the adapter's device can put on the bus, as its driver says. */
uint64_t nt_dma_reach(const struct nt_dma_adapter *adapter);

#endif
