/* SPDX-License-Identifier: MIT */
/*
 * DxgkCbSaveMemoryForHotUpdate. The host never replaces a running driver, so it never calls
 * DxgkDdiSaveMemoryForHotUpdate, and every call of the callback comes at a wrong time. Its
 * arguments are checked all the same (PHYS-188 to PHYS-190).
 */
#include "port/callbacks/hot_update.h"
#include "port/callbacks/callback.h"
#include "port/record/boundary.h"
#include "sim/irql.h"
#include "util/alloc.h"
#include "verify/refusal.h"

#include <stdlib.h>

#define MOST_RANGES       65536u
#define RANGE_PAGE_BITS   40
#define RANGE_PAGE(desc)  ((desc) & (((uint64_t)1 << RANGE_PAGE_BITS) - 1))
#define RANGE_COUNT(desc) ((desc) >> RANGE_PAGE_BITS)

static int compare_ranges(const void *a, const void *b)
{
    uint64_t x = RANGE_PAGE(((const DXGK_KSR_MEMORY_RANGE *)a)->MemoryRangeDesc);
    uint64_t y = RANGE_PAGE(((const DXGK_KSR_MEMORY_RANGE *)b)->MemoryRangeDesc);

    return x < y ? -1 : x > y;
}

/* PHYS-189: sort the ranges by page; no range may overlap the next. */
static void check_overlaps(DXGK_KSR_MEMORY_RANGE *ranges, UINT count)
{
    qsort(ranges, count, sizeof(*ranges), compare_ranges);
    for (UINT i = 1; i < count; i++) {
        uint64_t before = ranges[i - 1].MemoryRangeDesc, now = ranges[i].MemoryRangeDesc;

        if (RANGE_COUNT(now) == 0 || RANGE_PAGE(before) + RANGE_COUNT(before) <= RANGE_PAGE(now))
            continue;
        VIOLATION("PHYS-189", "physical page 0x%llx is saved twice",
                  (unsigned long long)RANGE_PAGE(now));
        return;
    }
}

static NTSTATUS refuse_updates(void)
{
    return refuse(STATUS_NOT_SUPPORTED, "PHYS-190", "this host is not updated while it runs");
}

static NTSTATUS check_ranges(const DXGKARGCB_SAVEMEMORYFORHOTUPDATE *args)
{
    DXGK_KSR_MEMORY_RANGE *ranges;
    size_t bytes = args->NumDataMemoryRanges * sizeof(*ranges);

    if (args->NumDataMemoryRanges == 0 || args->NumDataMemoryRanges > MOST_RANGES)
        return refuse(STATUS_INVALID_PARAMETER, NULL, "%u memory ranges, 1 to %u are possible",
                      (unsigned)args->NumDataMemoryRanges, (unsigned)MOST_RANGES);
    ranges = util_alloc(bytes);
    if (!ranges)
        return STATUS_INSUFFICIENT_RESOURCES;
    if (!port_boundary_take_bytes(ranges, args->pDataMemoryRanges, bytes)) {
        util_free(ranges);
        return STATUS_INVALID_PARAMETER;
    }
    check_overlaps(ranges, args->NumDataMemoryRanges);
    util_free(ranges);
    return refuse_updates();
}

static NTSTATUS check(const DXGKARGCB_SAVEMEMORYFORHOTUPDATE *given)
{
    DXGKARGCB_SAVEMEMORYFORHOTUPDATE args;

    if (!PORT_TAKE(DXGKARGCB_SAVEMEMORYFORHOTUPDATE, &args, given))
        return STATUS_INVALID_PARAMETER;
    if ((args.pDataMemoryRanges != NULL) + (args.pDataMdl != NULL) + (args.pData != NULL) != 1) {
        VIOLATION("PHYS-188",
                  "not exactly one of pDataMemoryRanges, pDataMdl and pData says what to save");
        return STATUS_INVALID_PARAMETER;
    }
    return args.pDataMemoryRanges ? check_ranges(&args) : refuse_updates();
}

static NTSTATUS NTAPI save_memory_for_hot_update(IN_CONST_HANDLE hAdapter,
                                                 IN_CONST_PDXGKARGCB_SAVEMEMORYFORHOTUPDATE pArgs)
{
    struct port_callback cb;
    NTSTATUS status = port_callback_begin(&cb, hAdapter, "DxgkCbSaveMemoryForHotUpdate",
                                          PORT_CALLER, SIM_IRQL_PASSIVE, "THREAD-047", 0);

    if (!NT_SUCCESS(status))
        return status;
    status = check(pArgs);
    return port_callback_return(&cb, status);
}

void port_hot_update_fill(DXGKRNL_INTERFACE *interface)
{
    interface->DxgkCbSaveMemoryForHotUpdate = save_memory_for_hot_update;
}
