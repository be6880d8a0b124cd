/* SPDX-License-Identifier: MIT */
/*
 * The driver's answers while its adapter started. Only the files that query (query, admission)
 * write these structures; all others only read them.
 */
#ifndef DXGK_PORT_QUERIED_H
#define DXGK_PORT_QUERIED_H

#include "port/record/answers.h"
#include "vidmm/vidmm.h"
#include "vidsch/vidsch.h"

#define PORT_MAX_NODES    DXGK_MAX_ASYMETRICAL_PROCESSING_NODES
#define PORT_MAX_CHILDREN 64u

/* device_caps.c, driver_caps.c: caps of the whole device. */
struct port_caps {
    UINT model;                   /* port_model_version */
    DXGK_WDDMVERSION device_wddm; /* of WDDMDEVICECAPS; 0: no answer */
    uint64_t highest_visible;     /* physical address; 0: no answer */
    DXGK_IOMMU_CAPS iommu;
    DXGK_NATIVE_FENCE_CAPS native_fence;    /* all 0 without native fences */
    DXGK_USERMODESUBMISSION_CAPS user_mode; /* all 0 without submission from user mode */
    UINT paging_space_mb; /* DXGKQAITYPE_PAGINGPROCESSGPUVASIZE; 0: the host chooses */
    DXGK_DRIVERCAPS driver;
    DXGK_PHYSICALADAPTERCAPS physical;
    bool gpu_mmu;
    bool shared_address_space; /* IoMmu model in use */
};

/* segments.c, segments_1x.c */
struct port_segments {
    DXGK_QUERYSEGMENTOUT4 out;
    BYTE *table; /* of out.SegmentDescriptorStride */
    UINT count;
    struct vidmm_bad_range *bad_range;
    UINT bad_range_count;
    struct vidmm_bank *bank; /* of WDDM 1.x */
    UINT bank_count;
};

/* nodes.c; the count: driver_caps.c */
struct port_nodes {
    UINT count;
    struct vidsch_node_info node[PORT_MAX_NODES];
};

/* mmu.c; zeros without GpuMmu */
struct port_mmu {
    DXGK_GPUMMUCAPS caps;
    DXGK_PAGE_TABLE_LEVEL_DESC level[DXGK_MAX_PAGE_TABLE_LEVEL_COUNT];
};

/* description.c: for users and performance tools; zeros: no answer (CAPS-110) */
struct port_description {
    DXGK_GPUVERSION gpu_version;
    DXGK_ADAPTER_PERFDATACAPS perf_caps;
};

/* reserved_ranges.c: memory that the device uses although the host did not allocate it */
struct port_reserved {
    DXGK_PHYSICAL_MEMORY_RANGE *range;
    UINT32 count;
    bool asked;
};

struct modes_panel;

/* children.c */
struct port_children {
    DXGK_CHILD_DESCRIPTOR *child;
    BOOLEAN *connected;
    ULONG count;
    bool known;
    struct modes_panel *panel; /* integrated displays (integrated.c) */
    UINT panels;
    DXGK_CHILD_STATUS early[8]; /* that the driver has told before; the last ones (DISP-054) */
    ULONG told;
};

#endif
