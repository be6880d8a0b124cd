/* SPDX-License-Identifier: MIT */
/* What a machine counts for its reports. */
#ifndef DXGK_HOST_REPORT_H
#define DXGK_HOST_REPORT_H

#include <stdint.h>

#include "vidmm/record/vidmm_config.h"
#include "vidsch/vidsch.h"

struct port_adapter;

/* Of adapters that are gone. */
struct host_totals {
    struct vidmm_statistics mm;
    struct vidsch_statistics sch;
    uint64_t iommu_maps, ddi_calls;
};

struct dxgk_violation;
struct verify_record;

struct dxgk_violation host_report_violation(const struct verify_record *record);
/* Add what the adapter counted to the totals. */
void host_report_count(struct host_totals *totals, struct port_adapter *adapter);

#endif
