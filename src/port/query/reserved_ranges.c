/* SPDX-License-Identifier: MIT */
/* FRAMEBUFFERSAVESIZE and HARDWARERESERVEDRANGES (CAPS-064, CAPS-118, CAPS-119). */
#include <string.h>

#include "port/query/reserved_ranges.h"
#include "nt/base/status_name.h"
#include "physmem/physical_services.h"
#include "port/query/query.h"
#include "port/record/adapter_info.h"
#include "port/record/adapter_record.h"
#include "port/record/port_refuse.h"
#include "util/alloc.h"

#define RESERVED_RANGES_CHANGED 0x2Fu /* first parameter of the bug check */
#define MAX_RESERVED_RANGES     4096u

/* CAPS-064: a driver that does not answer has nothing to save and nothing reserved. */
static NTSTATUS not_answered(struct port_adapter *adapter, DXGK_QUERYADAPTERINFOTYPE type,
                             NTSTATUS status)
{
    if (!port_query_not_offered(status))
        return status;
    PORT_FINDING(adapter, "CAPS-064", "%s failed with %s", port_query_name(type),
                 nt_status_text(status).text);
    return STATUS_SUCCESS;
}

static NTSTATUS query_save_area(struct port_adapter *adapter)
{
    UINT index = 0;
    DXGK_FRAMEBUFFERSAVEAREA area;
    NTSTATUS status;

    memset(&area, 0, sizeof(area));
    status = port_query(adapter, DXGKQAITYPE_FRAMEBUFFERSAVESIZE, &index, sizeof(index), &area,
                        sizeof(area));
    if (!NT_SUCCESS(status))
        return not_answered(adapter, DXGKQAITYPE_FRAMEBUFFERSAVESIZE, status);
    if (area.MaximumSize % PAGE_BYTES) {
        PORT_FINDING(adapter, "CAPS-118",
                     "the frame buffer save size 0x%llx is no multiple of a page",
                     (unsigned long long)area.MaximumSize);
        area.MaximumSize = align_up(area.MaximumSize, PAGE_BYTES);
    }
    return area.MaximumSize
               ? physical_save_create(port_adapter_physical(adapter), 0, area.MaximumSize)
               : STATUS_SUCCESS;
}

/* The second of two queries, for as many ranges as the first one named. */
static NTSTATUS query_ranges(struct port_adapter *adapter, DXGK_HARDWARERESERVEDRANGES *ranges)
{
    UINT index = 0;
    NTSTATUS status;

    ranges->pPhysicalRanges = adapter->reserved.range;
    status = port_query(adapter, DXGKQAITYPE_HARDWARERESERVEDRANGES, &index, sizeof(index), ranges,
                        sizeof(*ranges));
    if (!NT_SUCCESS(status)) {
        port_reserved_ranges_forget(adapter);
        return not_answered(adapter, DXGKQAITYPE_HARDWARERESERVEDRANGES, status);
    }
    if (ranges->NumRanges != adapter->reserved.count) {
        verify_fatal("IOMMU-078", VIDEO_MEMORY_MANAGEMENT_INTERNAL, RESERVED_RANGES_CHANGED,
                     adapter->reserved.count, ranges->NumRanges, 0,
                     "the driver reported %u hardware reserved ranges first and %u then",
                     (unsigned)adapter->reserved.count, (unsigned)ranges->NumRanges);
        return STATUS_DEVICE_CONFIGURATION_ERROR;
    }
    if (ranges->pPhysicalRanges != adapter->reserved.range)
        PORT_EXPECTED(adapter, "CAPS-119",
                      "the driver changed pPhysicalRanges of DXGK_HARDWARERESERVEDRANGES");
    return STATUS_SUCCESS;
}

/* Two queries: for the number of ranges, then for the ranges. */
static NTSTATUS query_reserved_ranges(struct port_adapter *adapter)
{
    UINT index = 0;
    DXGK_HARDWARERESERVEDRANGES ranges;
    NTSTATUS status;

    memset(&ranges, 0, sizeof(ranges));
    status = port_query(adapter, DXGKQAITYPE_HARDWARERESERVEDRANGES, &index, sizeof(index), &ranges,
                        sizeof(ranges));
    if (!NT_SUCCESS(status))
        return not_answered(adapter, DXGKQAITYPE_HARDWARERESERVEDRANGES, status);
    if (!ranges.NumRanges)
        return STATUS_SUCCESS;
    if (ranges.NumRanges > MAX_RESERVED_RANGES)
        PORT_REFUSE("CAPS-119", "the driver reports %u hardware reserved ranges",
                    (unsigned)ranges.NumRanges);
    adapter->reserved.range = util_zalloc(ranges.NumRanges, sizeof(*adapter->reserved.range));
    if (!adapter->reserved.range)
        return STATUS_NO_MEMORY;
    adapter->reserved.count = ranges.NumRanges;
    return query_ranges(adapter, &ranges);
}

bool port_reserved_ranges_due(const struct port_adapter *adapter)
{
    return adapter->caps.driver.MemoryManagementCaps.IoMmuSecureModeSupported &&
           port_model_version(adapter) >= DXGKDDI_INTERFACE_VERSION_WDDM2_4 &&
           !adapter->reserved.asked;
}

NTSTATUS port_reserved_ranges_query(struct port_adapter *adapter)
{
    NTSTATUS status;

    adapter->reserved.asked = true;
    status = query_save_area(adapter);
    return NT_SUCCESS(status) ? query_reserved_ranges(adapter) : status;
}

void port_reserved_ranges_forget(struct port_adapter *adapter)
{
    util_free(adapter->reserved.range);
    adapter->reserved.range = NULL;
    adapter->reserved.count = 0;
}
