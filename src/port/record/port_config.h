/* SPDX-License-Identifier: MIT */
/* The configuration of a machine, as far as it concerns adapters and their drivers. For the room
 * that makes the machine. */
#ifndef DXGK_PORT_CONFIG_H
#define DXGK_PORT_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ntddk.h>
#include <dispmprt.h>
#include <dxgk_wddm3_2.h>

#include "iommu/iommu.h"
#include "port/record/answers.h"
#include "vidsch/vidsch.h"

/* Bits of IOMMUFlags; the first three also describe what is in force. */
enum port_iommu_flags {
    PORT_IOMMU_DOMAIN = 0x01,
    PORT_IOMMU_MAPPINGS = 0x02,
    PORT_IOMMU_ATTACHED = 0x04,
    PORT_IOMMU_BYPASS_CAP = 0x08,
    PORT_IOMMU_ALLOW_FAILURE = 0x10
};

/* Versions of a feature that the host supports; a feature that is not listed has version 1 only. */
struct port_feature_versions {
    DXGK_FEATURE_ID feature;
    UINT16 min, max;
};

#define PORT_MAX_FIRMWARE_TABLES 64u

/* A table of the simulated firmware, as drivers may read it. */
struct port_firmware_table {
    ULONG provider; /* 'ACPI', 'FIRM' or 'RSMB' */
    ULONG id;
    const void *data;
    ULONG bytes;
};

struct port_adapter;
struct screens_frame;

struct port_config {
    struct ram *ram;
    struct bus *bus;
    /* ISOLATION: an IOMMU, used as IOMMUFlags 0x7 say. REMAP: an IOMMU, and forced logical mode
     * (IOMMU-026). */
    enum iommu_mode iommu;
    bool iommu_present;     /* there is an IOMMU; implied by both modes */
    UINT iommu_flags;       /* the setting IOMMUFlags: PORT_IOMMU_*; no effect without an IOMMU */
    bool remapping_opt_out; /* drivers are installed without DmaRemappingCompatible (IOMMU-028) */
    /* Offer the IoMmu model, on a machine with an IOMMU (CAPS-062) */
    bool shared_address_space;
    bool dma_unjudged; /* accesses to RAM not held for the device are no violations (IOMMU-075) */
    UINT interface_version;        /* the host's; 0: the newest */
    UINT required_dma_queue_entry; /* 0: use 2 */
    bool raised_submit;            /* call SubmitCommandVirtual at DISPATCH_LEVEL (THREAD-042) */
    bool tell_unpinned;            /* STATUS_GRAPHICS_MODE_NOT_PINNED (VIDPN-066) */
    bool split_dma_buffers;        /* WDDM 1.x: cut at every split point (PATCH-132) */
    bool driver_fences;            /* the driver signals the paging fence (GPUVA-242) */
    bool test_prepatching;         /* what DxgkDdiRender wrote counts, if it is right (PATCH-141) */
    struct vidsch_tdr_settings tdr;
    struct vidsch_policy policy;
    UINT present_pitch;    /* bytes that lines of staging images are longer (PRES-200) */
    bool present_unpaced;  /* each change of a picture is presented at once (PRES-224) */
    bool chronicle;        /* of each adapter's memory (vidmm/record/chronicle.h) */
    bool journal;          /* of each adapter's submissions (vidsch/life.h) */
    bool sparse_addresses; /* GPUVA-058, GPUVA-062 */
    bool check_tables;     /* compare page tables with what was asked for */
    const struct dxgk_table_format *table_format; /* NULL: as the device model says */
    bool check_patches;                           /* what DxgkDdiPatch does */
    const struct dxgk_patch_format *patch_format; /* NULL: as the device model says */
    bool no_displays;                             /* display support is off (DISP-001) */
    bool sizes_of_host; /* DXGKRNL_INTERFACE.Size is that of the host, not the driver (LIFE-058) */
    NTSTATUS initialize_failure; /* DxgkInitialize fails with this; 0: it succeeds (LIFE-012) */
    /* Bit n: drivers may enable DXGK_FEATURE_ID n (LIFE-122). Sharing of backing stores needs no
     * permission (PHYS-183). */
    uint64_t features;
    bool experiments; /* experimental support of a feature is enough (LIFE-124) */
    /* Features as WDDM 3.2 has them: versions, and interfaces on both sides (LIFE-127). The tables
     * that drivers get stay those of interface_version. */
    bool wddm_3_2;
    /* Must outlive the machine; may be NULL */
    const struct port_feature_versions *feature_versions;
    size_t feature_version_count;
    const struct port_firmware_table *firmware; /* must outlive the machine; may be NULL */
    size_t firmware_tables;                     /* the first PORT_MAX_FIRMWARE_TABLES are used */
    uint64_t raised_limit_ns; /* limit of DPC, ISR, DDI at raised IRQL; 0: 500 ms (THREAD-067) */
    bool measure_interrupts;  /* report DPCs over 100 us and ISRs over 25 us (THREAD-067) */
    uint64_t unload_limit_ns; /* unload waits that long for running code; 0: 10 s (LIFE-178) */
    bool reset_device; /* call DxgkDdiResetDevice before a bug check stops the machine (LIFE-143) */
    /* Prints a message for the user ("adapter refused: ..."); may be NULL. */
    void (*log)(void *context, const char *line);
    void *log_context;
    /* Receives a line for each fault and each reset of an adapter, when it happens (TDR-083), with
     * log_context; may be NULL. */
    void (*loss)(void *context, const char *line);
    /* Called when a driver has registered, and with its answers when an adapter has started or was
     * refused, before they are discarded; may be NULL. */
    void (*observe)(void *context, const struct port_answers *answers);
    void *observe_context;
    /* Called when a frame is complete, at most at DISPATCH_LEVEL; may be NULL. */
    void (*frame)(void *context, struct port_adapter *adapter, const struct screens_frame *frame);
    void *frame_context;
};

#endif
