/* SPDX-License-Identifier: MIT */
#include "vidmm/space/va_update_check.h"
#include "util/address.h"
#include "util/checked.h"
#include "util/span_tree.h"
#include "verify/refusal.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/process_record.h"
#include "vidmm/space/address_space.h"
#include "vidmm/space/gpu_mmu.h"
#include "vidmm/space/va_bind.h"
#include "vidmm/space/va_outlook.h"
#include "vidmm/space/va_range.h"

typedef D3DDDI_UPDATEGPUVIRTUALADDRESS_OPERATION update_operation;
typedef D3DDDIGPUVIRTUALADDRESS_PROTECTION_TYPE protection_type;

static bool aligned(uint64_t value)
{
    return value % PAGE_BYTES == 0;
}

/* MAP and MAP_PROTECT have the same members in the same places. */
static bool maps(const update_operation *operation)
{
    return operation->OperationType == D3DDDI_UPDATEGPUVIRTUALADDRESS_MAP ||
           operation->OperationType == D3DDDI_UPDATEGPUVIRTUALADDRESS_MAP_PROTECT;
}

uint64_t va_update_window(const update_operation *operation)
{
    const uint64_t bytes = operation->Map.AllocationSizeInBytes;

    return (bytes ? bytes : operation->Map.SizeInBytes) >> PAGE_BITS;
}

/* Find the reservation of a range of addresses; it must be *known if that is not NULL (GPUVA-124,
 * GPUVA-125). */
static NTSTATUS find_reservation(const struct vidmm_space *space, UINT index, const char *what,
                                 uint64_t address, uint64_t bytes, struct va_range **known)
{
    struct va_range *range;
    uint64_t end;

    if (bytes == 0 || !aligned(address) || !aligned(bytes) || ckd_add(&end, address, bytes))
        return refuse(STATUS_INVALID_PARAMETER, "GPUVA-126",
                      "operation %u: 0x%llx bytes at 0x%llx are no whole pages", index,
                      (unsigned long long)bytes, (unsigned long long)address);
    range = range_at(space, address >> PAGE_BITS);
    if (!range || range->kind != RANGE_RESERVATION || range->no_commit ||
        end >> PAGE_BITS > span_end(&range->span))
        return refuse(STATUS_INVALID_PARAMETER, "GPUVA-125",
                      "operation %u: 0x%llx bytes at 0x%llx are not in a reservation with Zero or "
                      "NoAccess pages",
                      index, (unsigned long long)bytes, (unsigned long long)address);
    if (*known && *known != range)
        return refuse(STATUS_INVALID_PARAMETER, "GPUVA-124",
                      "operation %u: its %s at 0x%llx is in another reservation than those before",
                      index, what, (unsigned long long)address);
    *known = range;
    return STATUS_SUCCESS;
}

static NTSTATUS check_window(const update_operation *operation, UINT index)
{
    const uint64_t bytes = operation->Map.AllocationSizeInBytes, size = operation->Map.SizeInBytes;

    if (!aligned(operation->Map.AllocationOffsetInBytes) || !aligned(bytes))
        return refuse(STATUS_INVALID_PARAMETER, "GPUVA-126",
                      "operation %u: 0x%llx bytes of the allocation from 0x%llx on are no whole "
                      "pages",
                      index, (unsigned long long)bytes,
                      (unsigned long long)operation->Map.AllocationOffsetInBytes);
    if (bytes && size % bytes) /* also of a window that is larger */
        return refuse(STATUS_INVALID_PARAMETER, "GPUVA-127",
                      "operation %u: AllocationSizeInBytes 0x%llx does not divide 0x%llx", index,
                      (unsigned long long)bytes, (unsigned long long)size);
    return STATUS_SUCCESS;
}

static uint64_t driver_protection_of(const update_operation *operation, const struct va_range *range)
{
    return operation->OperationType == D3DDDI_UPDATEGPUVIRTUALADDRESS_MAP_PROTECT
               ? operation->MapProtect.DriverProtection
               : range->driver_protection;
}

static NTSTATUS check_map(const struct vidmm_process *process, const update_operation *operation,
                          UINT index)
{
    const bool protects = operation->OperationType == D3DDDI_UPDATEGPUVIRTUALADDRESS_MAP_PROTECT;
    const uint64_t offset = operation->Map.AllocationOffsetInBytes >> PAGE_BITS;
    const protection_type protection = {.Value = protects ? operation->MapProtect.Protection.Value
                                                          : 0};
    const struct vidmm_allocation *allocation;
    NTSTATUS status = check_window(operation, index);

    if (!NT_SUCCESS(status))
        return status;
    if (protection.Zero || protection.NoAccess || protection.SystemUseOnly || protection.Reserved)
        return refuse(STATUS_INVALID_PARAMETER, "GPUVA-132",
                      "operation %u: Protection 0x%llx of a mapping", index,
                      (unsigned long long)protection.Value);
    allocation = va_find_allocation(process, operation->Map.hAllocation);
    if (!allocation)
        return refuse(STATUS_INVALID_PARAMETER, "GPUVA-128",
                      "operation %u: handle 0x%x is no allocation of the process", index,
                      operation->Map.hAllocation);
    if (!range_inside(offset, va_update_window(operation), allocation->pages))
        return refuse(STATUS_INVALID_PARAMETER, "GPUVA-128",
                      "operation %u: %llu pages from page %llu on, the allocation has %llu", index,
                      (unsigned long long)va_update_window(operation), (unsigned long long)offset,
                      (unsigned long long)allocation->pages);
    return STATUS_SUCCESS;
}

static NTSTATUS check_unmap(const struct vidmm_space *space, const update_operation *operation,
                            UINT index)
{
    protection_type others = operation->Unmap.Protection;
    const bool zero = others.Zero, no_access = others.NoAccess;

    others.Zero = others.NoAccess = 0;
    if (zero == no_access || others.Value)
        return refuse(STATUS_INVALID_PARAMETER, "GPUVA-132",
                      "operation %u: Protection 0x%llx, an unmap has one of Zero and NoAccess",
                      index, (unsigned long long)operation->Unmap.Protection.Value);
    if (zero && !space->mmu->geometry.caps.ZeroInPteSupported)
        return refuse(STATUS_NOT_SUPPORTED, "GPUVA-090",
                      "operation %u: the page tables of the driver have no Zero bit", index);
    return STATUS_SUCCESS;
}

static NTSTATUS check_copy(const struct vidmm_space *space, const update_operation *operation,
                           UINT index, struct va_update_ranges *ranges)
{
    NTSTATUS status = find_reservation(space, index, "source", operation->Copy.SourceAddress,
                                       operation->Copy.SizeInBytes, &ranges->source);

    return NT_SUCCESS(status)
               ? find_reservation(space, index, "destination", operation->Copy.DestAddress,
                                  operation->Copy.SizeInBytes, &ranges->target)
               : status;
}

static NTSTATUS check_one(const struct vidmm_process *process, const update_operation *operation,
                          UINT index, struct va_update_ranges *ranges)
{
    const struct vidmm_space *space = process->space;
    NTSTATUS status;

    if (operation->OperationType == D3DDDI_UPDATEGPUVIRTUALADDRESS_COPY)
        return check_copy(space, operation, index, ranges);
    if (!maps(operation) && operation->OperationType != D3DDDI_UPDATEGPUVIRTUALADDRESS_UNMAP)
        return refuse(STATUS_INVALID_PARAMETER, "GPUVA-132", "operation %u: OperationType %d",
                      index, (int)operation->OperationType);
    /* BaseAddress and SizeInBytes are the first members of each. */
    status = find_reservation(space, index, "range", operation->Map.BaseAddress,
                              operation->Map.SizeInBytes, &ranges->target);
    if (!NT_SUCCESS(status))
        return status;
    return maps(operation) ? check_map(process, operation, index)
                           : check_unmap(space, operation, index);
}

/* ---- unique driver protections ---- */

/* Can one protection stand against another? Without a unique one nothing does. */
static bool protections_matter(const struct vidmm_process *process,
                               const update_operation *operations, UINT count,
                               const struct va_range *target)
{
    for (UINT i = 0; i < count; i++) {
        const struct vidmm_allocation *allocation;

        if (!maps(&operations[i]))
            continue;
        if (driver_protection_of(&operations[i], target) & D3DGPU_UNIQUE_DRIVER_PROTECTION)
            return true;
        allocation = va_find_allocation(process, operations[i].Map.hAllocation);
        if (va_has_unique_protection(allocation))
            return true;
    }
    return false;
}

/* What the pages of the operation map then. */
static NTSTATUS foresee(struct va_outlook *outlook, const update_operation *operation,
                        struct vidmm_allocation *allocation, const struct va_update_ranges *ranges)
{
    const uint64_t end = (operation->Map.BaseAddress + operation->Map.SizeInBytes) >> PAGE_BITS;
    struct va_piece values = {.state = allocation ? ENTRY_PAGES : ENTRY_INVALID,
                              .allocation = allocation};
    NTSTATUS status = STATUS_SUCCESS;

    if (operation->OperationType == D3DDDI_UPDATEGPUVIRTUALADDRESS_COPY)
        return va_outlook_copy(outlook, operation->Copy.DestAddress >> PAGE_BITS,
                               operation->Copy.SizeInBytes >> PAGE_BITS, ranges->source,
                               operation->Copy.SourceAddress >> PAGE_BITS);
    values.span.first = operation->Map.BaseAddress >> PAGE_BITS;
    values.span.pages = operation->Map.SizeInBytes >> PAGE_BITS;
    if (allocation) {
        values.span.pages = va_update_window(operation);
        values.offset = operation->Map.AllocationOffsetInBytes >> PAGE_BITS;
        values.driver_protection = driver_protection_of(operation, ranges->target);
    }
    for (; values.span.first < end && NT_SUCCESS(status); values.span.first += values.span.pages)
        status = va_outlook_map(outlook, &values);
    return status;
}

static NTSTATUS check_protection(const struct va_outlook *outlook, const update_operation *operation,
                                 UINT index, const struct vidmm_allocation *allocation,
                                 const struct va_range *target)
{
    const uint64_t protection = driver_protection_of(operation, target);

    if (!va_outlook_conflict(outlook, allocation,
                             operation->Map.AllocationOffsetInBytes >> PAGE_BITS,
                             va_update_window(operation), protection))
        return STATUS_SUCCESS;
    return refuse(STATUS_INVALID_PARAMETER, "GPUVA-101",
                  "operation %u: DriverProtection 0x%llx, another mapping of these pages has a "
                  "different unique one",
                  index, (unsigned long long)protection);
}

static struct vidmm_allocation *mapped_by(const struct vidmm_process *process,
                                          const update_operation *operation)
{
    return maps(operation) ? va_find_allocation(process, operation->Map.hAllocation) : NULL;
}

/* What is queued already. */
static NTSTATUS look(struct va_outlook *outlook, const struct vidmm_process *process,
                     const update_operation *operations, UINT count)
{
    NTSTATUS status = STATUS_SUCCESS;

    for (UINT i = 0; i < count && NT_SUCCESS(status); i++) {
        const struct vidmm_allocation *allocation = mapped_by(process, &operations[i]);

        if (allocation)
            status = va_outlook_look_at(outlook, allocation);
    }
    return NT_SUCCESS(status) ? va_outlook_start(outlook) : status;
}

/* Each mapping is compared with what there is when its turn comes. */
static NTSTATUS check_protections(const struct vidmm_process *process,
                                  const update_operation *operations, UINT count,
                                  const struct va_update_ranges *ranges)
{
    struct va_outlook outlook;
    NTSTATUS status;

    va_outlook_begin(&outlook, process->space);
    status = look(&outlook, process, operations, count);
    for (UINT i = 0; i < count && NT_SUCCESS(status); i++) {
        struct vidmm_allocation *allocation = mapped_by(process, &operations[i]);

        if (allocation)
            status = check_protection(&outlook, &operations[i], i, allocation, ranges->target);
        if (NT_SUCCESS(status))
            status = foresee(&outlook, &operations[i], allocation, ranges);
    }
    va_outlook_end(&outlook);
    return status;
}

NTSTATUS va_update_check(const struct vidmm_process *process, const update_operation *operations,
                         UINT count, struct va_update_ranges *ranges)
{
    NTSTATUS status = STATUS_SUCCESS;

    *ranges = (struct va_update_ranges){NULL, NULL};
    for (UINT i = 0; i < count && NT_SUCCESS(status); i++)
        status = check_one(process, &operations[i], i, ranges);
    if (NT_SUCCESS(status) && protections_matter(process, operations, count, ranges->target))
        status = check_protections(process, operations, count, ranges);
    return status;
}
