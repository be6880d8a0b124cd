/* SPDX-License-Identifier: MIT */
/*
 * DxgkCbReserveGpuVirtualAddressRange: a driver reserves addresses for its own page tables while
 * DxgkDdiCreateProcess runs; they are kept until the process ends. Each failure is explained:
 * mistakes of the driver as violations, lack of addresses or memory as notes.
 */
#include "ddi/ddi.h"
#include "ddi/handle.h"
#include "util/address.h"
#include "util/checked.h"
#include "util/span_tree.h"
#include "verify/verify.h"
#include "vidmm/paging/driver_run.h"
#include "vidmm/record/process_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/space/address_space.h"
#include "vidmm/space/gpu_mmu.h"
#include "vidmm/space/gpu_va.h"
#include "vidmm/space/root_table.h"
#include "vidmm/space/va_neighbour.h"
#include "vidmm/space/va_range.h"

#include "sim/mutex.h"
#include "vidmm/record/of_adapter.h"

typedef unsigned long long ull;

static bool aligned(uint64_t value, uint64_t unit)
{
    return value % unit == 0;
}

/* Find the process for which DxgkDdiCreateProcess is running; the handle must be its. */
static NTSTATUS process_in_creation(struct ddi_adapter *adapter, HANDLE handle,
                                    struct vidmm_process **out)
{
    struct vidmm_process *process = ddi_handle_lookup(&adapter->handles, handle, DDI_HANDLE_PROCESS);

    if (process && process->in_create_process) {
        *out = process;
        return STATUS_SUCCESS;
    }
    if (!ddi_inside(DDI_DxgkDdiCreateProcess)) {
        VIOLATION("GPUVA-045", "DxgkCbReserveGpuVirtualAddressRange outside DxgkDdiCreateProcess");
        return STATUS_INVALID_DEVICE_REQUEST;
    }
    VIOLATION("GPUVA-046", "hDxgkProcess is %s, not that of the process being created",
              ddi_handle_describe(&adapter->handles, handle).text);
    return STATUS_INVALID_PARAMETER;
}

/* GPUVA-048 to GPUVA-050. */
static bool arguments_good(const DXGKARGCB_RESERVEGPUVIRTUALADDRESSRANGE *args, uint64_t span)
{
    if (args->SizeInBytes == 0 || !aligned(args->SizeInBytes, span)) {
        VIOLATION("GPUVA-048", "SizeInBytes 0x%llx is no multiple of a leaf table's span, 0x%llx",
                  (ull)args->SizeInBytes, (ull)span);
        return false;
    }
    if (args->Alignment != 0 &&
        (!is_power_of_two(args->Alignment) || !aligned(args->Alignment, span))) {
        VIOLATION(
            "GPUVA-049",
            "Alignment 0x%x is no power of two that is a multiple of a leaf table's span, 0x%llx",
            args->Alignment, (ull)span);
        return false;
    }
    if (!aligned(args->BaseAddress, args->Alignment ? args->Alignment : span)) {
        VIOLATION("GPUVA-050", "BaseAddress 0x%llx is no multiple of 0x%llx",
                  (ull)args->BaseAddress, (ull)(args->Alignment ? args->Alignment : span));
        return false;
    }
    return true;
}

/* GPUVA-051. */
static bool base_good(const struct vidmm_space *space,
                      const DXGKARGCB_RESERVEGPUVIRTUALADDRESSRANGE *args)
{
    const struct table_geometry *geometry = &space->mmu->geometry;
    uint64_t low = geometry->span << PAGE_BITS;
    uint64_t end = (space->paging ? space->mmu->end : geometry->end) << PAGE_BITS;

    if (args->BaseAddress == 0 ||
        (args->BaseAddress >= low && range_inside(args->BaseAddress, args->SizeInBytes, end)))
        return true;
    VIOLATION("GPUVA-051",
              "0x%llx bytes at BaseAddress 0x%llx are outside the address space, which has room from "
              "0x%llx to 0x%llx",
              (ull)args->SizeInBytes, (ull)args->BaseAddress, (ull)low, (ull)end - 1);
    return false;
}

static void tell_why(const struct vidmm_space *space, const struct va_request *request,
                     NTSTATUS status)
{
    struct va_neighbour taken;

    if (status == STATUS_INVALID_PARAMETER &&
        va_neighbour_at(space, request->base, request->pages, &taken))
        NOTE("GPUVA-051", "0x%llx bytes at BaseAddress 0x%llx are not free: taken by %s",
             (ull)(request->pages << PAGE_BITS), (ull)(request->base << PAGE_BITS),
             va_neighbour_describe(&taken).text);
    else
        NOTE("GPUVA-051", "no %s for 0x%llx bytes aligned to 0x%llx",
             status == STATUS_NO_MEMORY ? "room in the address space" : "memory of the host",
             (ull)(request->pages << PAGE_BITS), (ull)(request->align << PAGE_BITS));
}

static NTSTATUS reserve_for_driver(struct vidmm_space *space,
                                   DXGKARGCB_RESERVEGPUVIRTUALADDRESSRANGE *args)
{
    uint64_t leaf = space->mmu->geometry.span, span = leaf << PAGE_BITS;
    struct va_request request = {.pages = args->SizeInBytes >> PAGE_BITS,
                                 .base = args->BaseAddress >> PAGE_BITS,
                                 .low = leaf};
    struct va_range *range;
    NTSTATUS status;

    if (!arguments_good(args, span) || !base_good(space, args))
        return STATUS_INVALID_PARAMETER;
    request.align = (args->Alignment ? args->Alignment : span) >> PAGE_BITS;
    status = range_create(space, RANGE_DRIVER, &request, &range);
    if (NT_SUCCESS(status)) {
        range->user_mapping = args->AllowUserModeMapping;
        status = root_cover(space, span_end(&range->span));
        if (!NT_SUCCESS(status))
            range_discard(range);
    }
    if (!NT_SUCCESS(status)) {
        tell_why(space, &request, status);
        return status;
    }
    args->StartVirtualAddress = range->span.first << PAGE_BITS;
    return STATUS_SUCCESS;
}

NTSTATUS vidmm_cb_reserve_gpu_va(struct ddi_adapter *adapter,
                                 DXGKARGCB_RESERVEGPUVIRTUALADDRESSRANGE *args)
{
    struct vidmm *vidmm = vidmm_of_adapter(adapter);
    struct vidmm_process *process;
    NTSTATUS status;

    if (!driver_lock(vidmm)) {
        NOTE("TDR-011", "the range is not reserved: a reset of the adapter came between");
        return STATUS_UNSUCCESSFUL;
    }
    status = process_in_creation(adapter, args->hDxgkProcess, &process);
    if (NT_SUCCESS(status) && !process->space) {
        NOTE("GPUVA-045", "the adapter has no GpuMmu, and the process no GPU address space");
        status = STATUS_NOT_SUPPORTED;
    } else if (NT_SUCCESS(status)) {
        status = reserve_for_driver(process->space, args);
    }
    sim_mutex_unlock(&vidmm->lock);
    return vidmm_status(status);
}
