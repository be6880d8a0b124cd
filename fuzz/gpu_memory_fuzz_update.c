/* SPDX-License-Identifier: MIT */
/* D3DKMTUpdateGpuVirtualAddress: batches that map, unmap and copy within reservations. */
#include "gpu_memory_fuzz.h"

typedef D3DDDI_UPDATEGPUVIRTUALADDRESS_OPERATION operation;

enum { MOST = 4 };

static struct fuzz_range *some_reservation(void)
{
    struct fuzz_process *me = fuzz_me();
    const unsigned first = fuzz_byte();

    for (unsigned i = 0; i < me->ranges; i++)
        if (me->range[(first + i) % me->ranges].reservation)
            return &me->range[(first + i) % me->ranges];
    return NULL;
}

/* Pages of the range, sometimes beyond its end. */
static void choose_span(const struct fuzz_range *range, uint64_t *first, uint64_t *pages)
{
    const unsigned how = fuzz_byte();

    *first = range->first + fuzz_byte() % range->pages;
    *pages = fuzz_byte() % 40 + ((how & 63) != 63);
    if (*first + *pages > range->first + range->pages && how & 192)
        *pages = range->first + range->pages - *first;
}

static void choose(operation *op, const struct fuzz_range *target, const struct fuzz_range *source,
                   unsigned number)
{
    const unsigned how = fuzz_byte();
    struct fuzz_allocation *a = NULL;
    uint64_t first, pages, from, ignored;

    memset(op, 0, sizeof(*op));
    op->OperationType = (D3DDDI_UPDATEGPUVIRTUALADDRESS_OPERATION_TYPE)(how % 4);
    choose_span(target, &first, &pages);
    if (op->OperationType == D3DDDI_UPDATEGPUVIRTUALADDRESS_COPY) {
        choose_span(source, &from, &ignored);
        op->Copy.SourceAddress = from * PAGE;
        op->Copy.DestAddress = first * PAGE;
        op->Copy.SizeInBytes = pages * PAGE;
        return;
    }
    op->Map.BaseAddress = first * PAGE;
    op->Map.SizeInBytes = pages * PAGE;
    if (op->OperationType == D3DDDI_UPDATEGPUVIRTUALADDRESS_UNMAP) {
        op->Unmap.Protection.Zero = how >> 2 & 1;
        op->Unmap.Protection.NoAccess = !op->Unmap.Protection.Zero || (how & 0xF0) == 0xF0;
        return;
    }
    a = fuzz_some_allocation(number);
    if (!a)
        return;
    op->Map.hAllocation = a->open[fuzz_my_number()][number].handle;
    op->Map.AllocationOffsetInBytes = fuzz_byte() % a->pages * PAGE;
    if (how & 8)
        op->Map.AllocationSizeInBytes = (fuzz_byte() % 4) * PAGE;
    if (op->OperationType == D3DDDI_UPDATEGPUVIRTUALADDRESS_MAP_PROTECT) {
        op->MapProtect.Protection.Write = how >> 4 & 1;
        op->MapProtect.Protection.Execute = how >> 5 & 1;
        op->MapProtect.DriverProtection = how & 64 ? D3DGPU_UNIQUE_DRIVER_PROTECTION | (how >> 7)
                                                   : 0;
    }
}

/* ---- what the model says of it ---- */

static bool inside(const struct fuzz_range *range, uint64_t address, uint64_t bytes)
{
    return bytes && address / PAGE >= range->first &&
           address / PAGE + bytes / PAGE <= range->first + range->pages;
}

static struct fuzz_allocation *allocation_of(D3DKMT_HANDLE handle)
{
    for (unsigned i = 0; handle && i < ALLOCATIONS; i++)
        for (unsigned k = 0; k < DEVICES; k++)
            if (fuzz_run->allocation[i].live &&
                fuzz_run->allocation[i].open[fuzz_my_number()][k].handle == handle)
                return &fuzz_run->allocation[i];
    return NULL;
}

static bool good_map(const operation *op, const struct fuzz_range *target)
{
    const bool protects = op->OperationType == D3DDDI_UPDATEGPUVIRTUALADDRESS_MAP_PROTECT;
    const struct fuzz_allocation *a = allocation_of(op->Map.hAllocation);
    const uint64_t window = op->Map.AllocationSizeInBytes ? op->Map.AllocationSizeInBytes
                                                          : op->Map.SizeInBytes;

    return a && op->Map.SizeInBytes % window == 0 &&
           op->Map.AllocationOffsetInBytes + window <= a->pages * PAGE &&
           (fuzz_run->doubtful ||
            !fuzz_conflict((unsigned)(a - fuzz_run->allocation),
                           op->Map.AllocationOffsetInBytes / PAGE, window / PAGE,
                           protects ? op->MapProtect.DriverProtection : target->driver));
}

/* Several operations, and unique protections: whether they stand against each other depends on what
 * the others map by then (GPUVA-101, GPUVA-103). The host is believed. */
static bool is_doubtful(const operation *list, UINT count, const struct fuzz_range *target)
{
    bool unique = target->driver & D3DGPU_UNIQUE_DRIVER_PROTECTION;

    for (UINT i = 0; i < count; i++) {
        const struct fuzz_allocation *a = allocation_of(list[i].Map.hAllocation);

        unique = unique ||
                 (list[i].OperationType == D3DDDI_UPDATEGPUVIRTUALADDRESS_MAP_PROTECT &&
                  list[i].MapProtect.DriverProtection & D3DGPU_UNIQUE_DRIVER_PROTECTION) ||
                 (a && fuzz_conflict((unsigned)(a - fuzz_run->allocation), 0, a->pages, 0));
    }
    return count > 1 && unique;
}

static NTSTATUS expected_of(const operation *op, const struct fuzz_range *target,
                            const struct fuzz_range *source)
{
    bool good;

    if (op->OperationType == D3DDDI_UPDATEGPUVIRTUALADDRESS_COPY) {
        good = inside(target, op->Copy.DestAddress, op->Copy.SizeInBytes) &&
               inside(source, op->Copy.SourceAddress, op->Copy.SizeInBytes) && !source->no_commit;
        return good && !target->no_commit ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER;
    }
    if (target->no_commit || !inside(target, op->Map.BaseAddress, op->Map.SizeInBytes))
        return STATUS_INVALID_PARAMETER;
    if (op->OperationType != D3DDDI_UPDATEGPUVIRTUALADDRESS_UNMAP)
        return good_map(op, target) ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER;
    if (op->Unmap.Protection.Zero == op->Unmap.Protection.NoAccess)
        return STATUS_INVALID_PARAMETER;
    return op->Unmap.Protection.Zero && !fuzz_run->shape.zero ? STATUS_NOT_SUPPORTED
                                                              : STATUS_SUCCESS;
}

/* ---- the effect ---- */

static bool carry_map(const operation *op, struct fuzz_range *target)
{
    const bool protects = op->OperationType == D3DDDI_UPDATEGPUVIRTUALADDRESS_MAP_PROTECT;
    const struct fuzz_allocation *a = allocation_of(op->Map.hAllocation);
    const uint64_t window = op->Map.AllocationSizeInBytes ? op->Map.AllocationSizeInBytes
                                                          : op->Map.SizeInBytes;

    for (uint64_t at = 0; at < op->Map.SizeInBytes; at += window) {
        const struct fuzz_piece piece = {.first = (op->Map.BaseAddress + at) / PAGE,
                                         .pages = window / PAGE,
                                         .state = STATE_PAGES,
                                         .allocation = (unsigned)(a - fuzz_run->allocation),
                                         .offset = op->Map.AllocationOffsetInBytes / PAGE,
                                         .write = protects ? op->MapProtect.Protection.Write : true,
                                         .execute = protects && op->MapProtect.Protection.Execute,
                                         .driver = protects ? op->MapProtect.DriverProtection
                                                            : target->driver};

        if (!fuzz_paint(target, &piece))
            return false;
    }
    return true;
}

static bool carry_copy(const operation *op, struct fuzz_range *target,
                       const struct fuzz_range *source)
{
    const uint64_t from = op->Copy.SourceAddress / PAGE, pages = op->Copy.SizeInBytes / PAGE;
    const struct fuzz_range before = *source;

    for (unsigned i = 0; i < before.count; i++) {
        struct fuzz_piece piece = before.piece[i];
        const uint64_t first = piece.first > from ? piece.first : from;
        const uint64_t end = piece.first + piece.pages < from + pages ? piece.first + piece.pages
                                                                      : from + pages;

        if (first >= end)
            continue;
        piece.offset += first - piece.first;
        piece.first = op->Copy.DestAddress / PAGE + (first - from);
        piece.pages = end - first;
        if (!fuzz_paint(target, &piece))
            return false;
    }
    return true;
}

static bool carry_out(const operation *op, struct fuzz_range *target,
                      const struct fuzz_range *source)
{
    const struct fuzz_piece piece = {.first = op->Map.BaseAddress / PAGE,
                                     .pages = op->Map.SizeInBytes / PAGE,
                                     .state = op->Unmap.Protection.Zero ? STATE_ZERO : STATE_INVALID,
                                     .driver = target->driver};

    switch (op->OperationType) {
    case D3DDDI_UPDATEGPUVIRTUALADDRESS_COPY:
        return carry_copy(op, target, source);
    case D3DDDI_UPDATEGPUVIRTUALADDRESS_UNMAP:
        return fuzz_paint(target, &piece);
    default:
        return carry_map(op, target);
    }
}

/* All of it on copies; false: there would be too many pieces. */
static bool try_all(const operation *list, UINT count, struct fuzz_range *target,
                    struct fuzz_range *source, NTSTATUS *expected)
{
    static struct fuzz_range t, s;
    struct fuzz_range *from = source == target ? &t : &s;

    t = *target;
    s = *source;
    for (UINT i = 0; i < count && NT_SUCCESS(*expected); i++)
        *expected = expected_of(&list[i], target, source);
    for (UINT i = 0; i < count && NT_SUCCESS(*expected); i++)
        if (!carry_out(&list[i], &t, from))
            return false;
    return true;
}

void fuzz_update(void)
{
    unsigned number;
    struct fuzz_device *d = fuzz_some_device(&number);
    struct fuzz_range *target = d ? some_reservation() : NULL, *source;
    operation list[MOST];
    D3DKMT_UPDATEGPUVIRTUALADDRESS args;
    const UINT count = fuzz_byte() % MOST + 1;
    NTSTATUS status, expected = STATUS_SUCCESS;

    if (!target)
        return;
    fuzz_drain();
    if (d->lost)
        return;
    source = fuzz_byte() & 1 ? some_reservation() : target;
    for (UINT i = 0; i < count; i++)
        choose(&list[i], target, source, number);
    fuzz_run->doubtful = is_doubtful(list, count, target);
    if (!try_all(list, count, target, source, &expected))
        return;
    memset(&args, 0, sizeof(args));
    args.hDevice = d->device;
    args.hContext = d->context;
    args.hFenceObject = d->fence;
    args.NumOperations = count;
    args.Operations = list;
    args.FenceValue = d->signals;
    status = D3DKMTUpdateGpuVirtualAddress(&args);
    for (UINT i = 0; i < count; i++)
        fuzz_trace("  operation %d: 0x%llx bytes at 0x%llx; 0x%x, 0x%llx, 0x%llx",
                   (int)list[i].OperationType, (unsigned long long)list[i].Map.SizeInBytes,
                   (unsigned long long)list[i].Map.BaseAddress, list[i].Map.hAllocation,
                   (unsigned long long)list[i].Map.AllocationOffsetInBytes,
                   (unsigned long long)list[i].Map.AllocationSizeInBytes);
    fuzz_trace("  device %u: 0x%x", number, (unsigned)status);
    fuzz_run->busy = true;
    if (!NT_SUCCESS(status)) {
        MUST(status == expected || fuzz_device_gone(d, status) ||
             (fuzz_run->doubtful && status == STATUS_INVALID_PARAMETER) ||
             (fuzz_shortage(status) && (NT_SUCCESS(expected) || fuzz_run->excused)));
        return;
    }
    MUST(NT_SUCCESS(expected));
    d->signals++;
    for (UINT i = 0; i < count; i++)
        MUST(carry_out(&list[i], target, source));
    fuzz_run->updating = true;
    if (fuzz_byte() & 3)
        fuzz_drain();
}
