/* SPDX-License-Identifier: MIT */
/* The configuration from which an adapter's memory manager is created, and its statistics. */
#ifndef DXGK_VIDMM_VIDMM_CONFIG_H
#define DXGK_VIDMM_VIDMM_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include <ntddk.h>
#include <d3dkmddi.h>

struct bus_device;
struct dxgk_table_format;
struct ddi_adapter;
struct iommu_domain;
struct iommu_pasids;
struct ram;
struct table_reader;
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
    UINT paging_space_mb; /* of the paging process, as the driver said; 0: the host chooses */
    bool driver_fences;   /* the driver signals the paging fence, if its version can (GPUVA-242) */
    /* Paging buffers go to a hardware queue, whose progress fence is the paging fence; and the
     * driver is asked for the command that writes it (SUBMIT-117). */
    bool hw_paging, hw_paging_signals;
    bool chronicle; /* keep one (vidmm/record/chronicle.h) */
    bool gpu_mmu;   /* the physical adapter uses the GpuMmu model */
    DXGK_GPUMMUCAPS mmu;
    DXGK_PAGE_TABLE_LEVEL_DESC level[DXGK_MAX_PAGE_TABLE_LEVEL_COUNT];
    uint64_t eviction_seed; /* 0: documented order only */
    /* Record what is asked of page tables, and compare them after each completed submission. */
    bool check_tables;
    const struct table_reader *table_reader; /* then: vidmm_create sets it */
    /* their format, which the embedder gives; NULL: as the device model says */
    const struct dxgk_table_format *table_format;
};

struct vidmm_statistics {
    uint64_t bytes_paged_in, bytes_paged_out, bytes_filled, paging_operations, paging_buffers,
        page_table_updates /* entries */;
    uint64_t build_calls /* of DxgkDdiBuildPagingBuffer */,
        bytes_built /* that these wrote, private data included */;
    uint64_t evictions, table_evictions, allocations_live, allocations_created;
};

#endif
