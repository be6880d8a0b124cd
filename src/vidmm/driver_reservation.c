/* SPDX-License-Identifier: MIT */
/*
 * DxgkCbReserveGpuVirtualAddressRange: addresses a driver keeps for page tables of its own, taken
 * while DxgkDdiCreateProcess runs and kept until the process ends.
 */
#include "vidmm/address_space.h"

#include <string.h>

static bool aligned(uint64_t value, uint64_t unit)
{
    return value % unit == 0;
}

/* The process that DxgkDdiCreateProcess is running for, if the handle names it. */
static NTSTATUS process_in_creation(struct ddi_adapter *adapter, HANDLE handle,
                                    struct vidmm_process **out)
{
    struct vidmm_process *process = ddi_handle_lookup(&adapter->handles, handle, DDI_HANDLE_PROCESS);
    const char *inside = ddi_current_name();

    if (process && process->in_create_process) {
        *out = process;
        return STATUS_SUCCESS;
    }
    if (!inside || strcmp(inside, "DxgkDdiCreateProcess") != 0) {
        VIOLATION("GPUVA-045", "DxgkCbReserveGpuVirtualAddressRange outside DxgkDdiCreateProcess");
        return STATUS_INVALID_DEVICE_REQUEST;
    }
    VIOLATION("GPUVA-046", "hDxgkProcess is %s, not that of the process being created",
              ddi_handle_describe(&adapter->handles, handle).text);
    return STATUS_INVALID_PARAMETER;
}

static NTSTATUS reserve_for_driver(struct vidmm_space *space,
                                   DXGKARGCB_RESERVEGPUVIRTUALADDRESSRANGE *args)
{
    const struct table_geometry *geometry = &space->shared->geometry;
    uint64_t span = geometry->span << PAGE_BITS, align = args->Alignment ? args->Alignment : span;
    struct va_request request = {.pages = args->SizeInBytes >> PAGE_BITS,
                                 .base = args->BaseAddress >> PAGE_BITS};
    struct va_range *range;
    NTSTATUS status;

    if (args->SizeInBytes == 0 || !aligned(args->SizeInBytes, span) ||
        !aligned(args->BaseAddress, span) || !is_power_of_two(align) || !aligned(align, span) ||
        !aligned(args->BaseAddress, align))
        return STATUS_INVALID_PARAMETER;
    if (request.base != 0 && request.base < geometry->span)
        return STATUS_INVALID_PARAMETER;
    request.low = geometry->span;
    request.align = align >> PAGE_BITS;
    status = range_create(space, RANGE_DRIVER, &request, &range);
    if (!NT_SUCCESS(status))
        return status;
    range->user_mapping = args->AllowUserModeMapping;
    status = space_cover(space, span_end(&range->span));
    if (!NT_SUCCESS(status)) {
        range_discard(range);
        return status;
    }
    args->StartVirtualAddress = range->span.first << PAGE_BITS;
    return STATUS_SUCCESS;
}

NTSTATUS vidmm_cb_reserve_gpu_va(struct ddi_adapter *adapter,
                                 DXGKARGCB_RESERVEGPUVIRTUALADDRESSRANGE *args)
{
    struct vidmm *vidmm = adapter->vidmm;
    struct vidmm_process *process;
    NTSTATUS status;

    sim_mutex_lock(&vidmm->lock);
    status = process_in_creation(adapter, args->hDxgkProcess, &process);
    if (NT_SUCCESS(status))
        status = process->space ? reserve_for_driver(process->space, args) : STATUS_NOT_SUPPORTED;
    sim_mutex_unlock(&vidmm->lock);
    return vidmm_status(status);
}
