/* SPDX-License-Identifier: MIT */
/* What a machine is configured with, as far as it concerns adapters and their drivers. For the room
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

/* IOMMUFlags; the first three also tell what is in force. */
enum port_iommu_flags {
    PORT_IOMMU_DOMAIN = 0x01,
    PORT_IOMMU_MAPPINGS = 0x02,
    PORT_IOMMU_ATTACHED = 0x04,
    PORT_IOMMU_BYPASS_CAP = 0x08,
    PORT_IOMMU_ALLOW_FAILURE = 0x10
};

/* Versions of a feature that the host speaks; of one that is not listed, version 1 alone. */
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

struct port_config {
    struct ram *ram;
    struct bus *bus;
    /* ISOLATION: an IOMMU, used as flags 0x7 say. REMAP: an IOMMU, and forced logical mode
     * (IOMMU-026). */
    enum iommu_mode iommu;
    bool iommu_present; /* there is an IOMMU; implied by both */
    UINT iommu_flags;   /* the setting IOMMUFlags: PORT_IOMMU_*, without effect if there is none */
    bool remapping_opt_out; /* drivers are installed without DmaRemappingCompatible (IOMMU-028) */
    /* The IoMmu model is offered, on a machine with an IOMMU (CAPS-062) */
    bool shared_address_space;
    bool dma_unjudged;      /* accesses to RAM that nobody holds are no violations (IOMMU-075) */
    UINT interface_version; /* of the host; 0: the newest */
    UINT required_dma_queue_entry; /* 0: 2 */
    bool split_dma_buffers;        /* WDDM 1.x: at every split point (PATCH-132) */
    struct vidsch_tdr_settings tdr;
    NTSTATUS initialize_failure; /* DxgkInitialize fails with it; 0: it does not (LIFE-012) */
    /* Bit n: drivers may turn on DXGK_FEATURE_ID n (LIFE-122). Sharing of backing stores needs no
     * permission (PHYS-183). */
    uint64_t features;
    bool experiments; /* experimental support of a feature is enough (LIFE-124) */
    /* Features as WDDM 3.2 has them: versions, and interfaces on both sides (LIFE-127). The tables
     * that drivers get stay those of interface_version. */
    bool wddm_3_2;
    /* Read while the machine lives; or NULL */
    const struct port_feature_versions *feature_versions;
    size_t feature_version_count;
    const struct port_firmware_table *firmware; /* read while the machine lives; may be NULL */
    size_t firmware_tables;                     /* at most PORT_MAX_FIRMWARE_TABLES count */
    uint64_t raised_limit_ns; /* longest DPC, ISR or DDI at raised level; 0: 500 ms (THREAD-067) */
    bool measure_interrupts;  /* report DPCs over 100 us and ISRs over 25 us (THREAD-067) */
    uint64_t unload_limit_ns; /* how long an unloaded image may keep running; 0: 10 s (LIFE-178) */
    bool reset_device; /* DxgkDdiResetDevice before a bug check stops the machine (LIFE-143) */
    /* A line of news for a person ("adapter refused: ..."); may be NULL. */
    void (*log)(void *context, const char *line);
    void *log_context;
    /* Told what a driver registered, and what it answered when an adapter started (refused or not),
     * before that is forgotten; may be NULL. */
    void (*observe)(void *context, const struct port_answers *answers);
    void *observe_context;
};

#endif
