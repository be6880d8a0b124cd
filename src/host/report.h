/* SPDX-License-Identifier: MIT */
/* What a machine counts for its reports. */
#ifndef DXGK_HOST_REPORT_H
#define DXGK_HOST_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

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
struct trace_sink;
struct verify_log;
struct verify_record;

struct dxgk_violation host_report_violation(const struct verify_record *record);
/* A picture of the trace with a mark for each of the first broken rules, as SVG. */
#define HOST_TIMELINE_MARKS 64u
bool host_report_timeline(const struct trace_sink *sink, const struct verify_log *log, FILE *out);
/* Add what the adapter counted to the totals. */
void host_report_count(struct host_totals *totals, struct port_adapter *adapter);

#endif
