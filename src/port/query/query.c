/* SPDX-License-Identifier: MIT */
/* A query by DxgkDdiQueryAdapterInfo, and the failures that are documented. What the driver writes
 * outside of the answer, or to the input, is seen where it is lent (ddi/part_table.c). */
#include <string.h>

#include "port/query/query.h"
#include "ddi/ddi.h"
#include "nt/base/status_name.h"
#include "port/record/adapter_record.h"
#include "sim/sim_assert.h"
#include "util/array.h"

#include <dxgk_wddm3_2.h>

#define LARGEST_ANSWER 4096u

#define NAME(type) [type] = #type
static const char *const names[] = {
    NAME(DXGKQAITYPE_DRIVERCAPS),
    NAME(DXGKQAITYPE_QUERYSEGMENT),
    NAME(DXGKQAITYPE_QUERYSEGMENT3),
    NAME(DXGKQAITYPE_NUMPOWERCOMPONENTS),
    NAME(DXGKQAITYPE_POWERCOMPONENTINFO),
    NAME(DXGKQAITYPE_HISTORYBUFFERPRECISION),
    NAME(DXGKQAITYPE_QUERYSEGMENT4),
    NAME(DXGKQAITYPE_SEGMENTMEMORYSTATE),
    NAME(DXGKQAITYPE_GPUMMUCAPS),
    NAME(DXGKQAITYPE_PAGETABLELEVELDESC),
    NAME(DXGKQAITYPE_PHYSICALADAPTERCAPS),
    NAME(DXGKQAITYPE_INTEGRATED_DISPLAY_DESCRIPTOR),
    NAME(DXGKQAITYPE_QUERYCOLORIMETRYOVERRIDES),
    NAME(DXGKQAITYPE_INTEGRATED_DISPLAY_DESCRIPTOR2),
    NAME(DXGKQAITYPE_FRAMEBUFFERSAVESIZE),
    NAME(DXGKQAITYPE_HARDWARERESERVEDRANGES),
    NAME(DXGKQAITYPE_NODEPERFDATA),
    NAME(DXGKQAITYPE_ADAPTERPERFDATA),
    NAME(DXGKQAITYPE_ADAPTERPERFDATA_CAPS),
    NAME(DXGKQAITYPE_GPUVERSION),
    NAME(DXGKQAITYPE_DEVICE_TYPE_CAPS),
    NAME(DXGKQAITYPE_WDDMDEVICECAPS),
    NAME(DXGKQAITYPE_PHYSICAL_MEMORY_CAPS),
    NAME(DXGKQAITYPE_IOMMU_CAPS),
    NAME(DXGKQAITYPE_DIRTYBITTRACKINGCAPS),
    NAME(DXGKQAITYPE_DIRTYBITTRACKINGSEGMENTCAPS),
    NAME(DXGKQAITYPE_PAGINGPROCESSGPUVASIZE),
};
#undef NAME

const char *port_query_name(DXGK_QUERYADAPTERINFOTYPE type)
{
    return (size_t)type < ARRAY_COUNT(names) && names[type] ? names[type] : "another type";
}

bool port_query_not_offered(NTSTATUS status)
{
    return status == STATUS_NOT_SUPPORTED || status == STATUS_NOT_IMPLEMENTED ||
           status == STATUS_INVALID_PARAMETER;
}

/* Failures that are documented (CAPS-002, CAPS-003), or that did not come from the driver. */
static bool expected_failure(NTSTATUS status)
{
    return status == STATUS_NOT_SUPPORTED || status == STATUS_NOT_IMPLEMENTED ||
           status == STATUS_INVALID_PARAMETER || status == STATUS_NO_MEMORY ||
           status == STATUS_GRAPHICS_DRIVER_MISMATCH || status == STATUS_DEVICE_REMOVED;
}

NTSTATUS port_query(struct port_adapter *adapter, DXGK_QUERYADAPTERINFOTYPE type, const void *input,
                    UINT input_bytes, void *output, UINT output_bytes)
{
    DXGKARG_QUERYADAPTERINFO args;
    /* Not on the heap: a failed allocation would look like a failure of the driver. */
    _Alignas(16) uint8_t buffer[LARGEST_ANSWER];
    NTSTATUS status;

    sim_assert_passive();
    if (output_bytes > LARGEST_ANSWER)
        return STATUS_INVALID_PARAMETER;
    memcpy(buffer, output, output_bytes); /* zeros, except for the second call of a pair */
    memset(&args, 0, sizeof(args));
    args.Type = type;
    args.pInputData = input_bytes ? (void *)(uintptr_t)input : NULL;
    args.InputDataSize = input_bytes;
    args.pOutputData = buffer;
    args.OutputDataSize = output_bytes;
    status = ddi_query_adapter_info(&adapter->ddi, &args);
    if (NT_SUCCESS(status))
        memcpy(output, buffer, output_bytes);
    else
        adapter->ddi.failed_detail = port_query_name(type);
    if (!NT_SUCCESS(status) && !expected_failure(status))
        WARNING("CAPS-003", "%s failed with %s", port_query_name(type), nt_status_text(status).text);
    return status;
}
