/* SPDX-License-Identifier: MIT */
#include "vidmm/allocation/describe.h"
#include "ddi/ddi.h"
#include "util/alloc.h"
#include "verify/refusal.h"
#include "vidmm/allocation/scanout.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/vidmm_record.h"

/* PRES-086 */
static NTSTATUS ask(struct vidmm_allocation *allocation, DXGKARG_DESCRIBEALLOCATION *described)
{
    struct ddi_adapter *ddi = allocation->vidmm->ddi;
    NTSTATUS status;

    *described = (DXGKARG_DESCRIBEALLOCATION){.hAllocation = allocation->driver_handle};
    if (!ddi_has(ddi, DxgkDdiDescribeAllocation))
        return STATUS_NOT_SUPPORTED;
    status = ddi_describe_allocation(ddi, described);
    if (!NT_SUCCESS(status) || allocation->client_data.described)
        return status;
    allocation->client_data.described = util_alloc(sizeof(*described));
    if (allocation->client_data.described)
        *allocation->client_data.described = *described;
    return status;
}

NTSTATUS vidmm_describe(struct vidmm_device *device, D3DKMT_HANDLE handle,
                        DXGKARG_DESCRIBEALLOCATION *described)
{
    struct vidmm_allocation *allocation = vidmm_scanout_get(device, handle);
    NTSTATUS status = STATUS_SUCCESS;

    if (!allocation)
        return refuse(STATUS_INVALID_PARAMETER, "KMT-026",
                      "handle 0x%x is no allocation of the device", handle);
    if (allocation->client_data.described)
        *described = *allocation->client_data.described;
    else
        status = ask(allocation, described);
    vidmm_scanout_release(allocation);
    return status;
}
