/* SPDX-License-Identifier: MIT */
/* The configuration from which an adapter's memory manager is created, and its statistics. */
#ifndef DXGK_VIDMM_VIDMM_CONFIG_H
#define DXGK_VIDMM_VIDMM_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

struct bus_device;
struct ddi_adapter;
struct iommu_domain;
struct iommu_pasids;
struct ram;
struct vidmm_scheduler;

/* Part of a segment that must not be used (DXGKQAITYPE_SEGMENTMEMORYSTATE). */
struct vidmm_bad_range {
    UINT segment;
    DXGK_MEMORYRANGE range;
};

/* The end of a bank of a segment (DXGK_SEGMENTDESCRIPTOR3.pBankRangeTable): offset behind its last
 * byte. */
struct vidmm_bank {
    UINT segment;
    uint64_t end;
};

struct vidmm_config {
    struct ddi_adapter *ddi;
    struct ram *ram;
    struct bus_device *device;
    struct iommu_domain *domain; /* never NULL: IOMMU_OFF has one too */
    const struct vidmm_scheduler *scheduler;
    /* NULL unless the adapter shares process address spaces (IoMmu model) */
    struct iommu_pasids *pasids;
    DXGK_VIDMMCAPS caps;
    UINT wddm_version;              /* interface version of the driver */
    uint64_t aperture_commit_limit; /* DXGK_DRIVERCAPS.ApertureSegmentCommitLimit; 0: none */
    uint64_t internal_va_start,
        internal_va_end;            /* InternalGpuVirtualAddressRange; 0, 0: no restriction */
    DXGK_QUERYSEGMENTOUT4 segments; /* its descriptor array is read during the call only */
    UINT segment_count;
    const struct vidmm_bad_range *bad_range; /* read during the call only; may be NULL */
    UINT bad_range_count;
    const struct vidmm_bank *bank; /* read during the call only; by segment, then by end; or NULL */
    UINT bank_count;
    UINT swizzling_ranges; /* DXGK_DRIVERCAPS.NumberOfSwizzlingRanges; of WDDM 1.x */
    bool move_paging;      /* DXGK_PHYSICALADAPTERFLAGS.MovePagingSupported */
    /* GPUVA-058, GPUVA-062: as was decided before anybody saw Windows choose */
    bool sparse_addresses;
    bool chronicle; /* keep one (vidmm/record/chronicle.h) */
    bool gpu_mmu; /* the physical adapter uses the GpuMmu model */
    DXGK_GPUMMUCAPS mmu;
    DXGK_PAGE_TABLE_LEVEL_DESC level[DXGK_MAX_PAGE_TABLE_LEVEL_COUNT];
    uint64_t eviction_seed; /* 0: documented order only */
};

struct vidmm_statistics {
    uint64_t bytes_paged_in, bytes_paged_out, bytes_filled, paging_operations, paging_buffers,
        page_table_updates /* entries */;
    uint64_t evictions, allocations_live, allocations_created;
};

#endif
