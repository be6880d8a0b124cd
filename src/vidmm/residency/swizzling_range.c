/* SPDX-License-Identifier: MIT */
/*
 * A range stays with its allocation after the lock, until the allocation leaves its segment or
 * another one needs the range, so that the next lock need not ask the driver.
 */
#include "vidmm/residency/swizzling_range.h"
#include "bus/device.h"
#include "ddi/ddi.h"
#include "nt/base/status_name.h"
#include "sim/machine.h"
#include "util/address.h"
#include "verify/refusal.h"
#include "verify/verify.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/segment/segment_table.h"

#define UNAVAILABLE STATUS_GRAPHICS_UNSWIZZLING_APERTURE_UNAVAILABLE
#define UNSUPPORTED STATUS_GRAPHICS_UNSWIZZLING_APERTURE_UNSUPPORTED

static void release(struct vidmm *vidmm, UINT id)
{
    struct swizzling_range *range = &vidmm->old.range[id];
    const DXGKARG_RELEASESWIZZLINGRANGE args = {.hAllocation = range->allocation->driver_handle,
                                                .PrivateDriverData = range->private_data,
                                                .RangeId = id};
    NTSTATUS status = ddi_release_swizzling_range(vidmm->ddi, &args);

    if (!NT_SUCCESS(status) && !sim_current->stopped && !vidmm->lost)
        VIOLATION("ALLOC-133", "DxgkDdiReleaseSwizzlingRange of range %u returned %s", id,
                  nt_status_text(status).text);
    if (range->allocation->view.range.number == id + 1)
        range->allocation->view.range = (struct view_range){.number = 0};
    range->allocation = NULL;
}

void swizzling_range_release(struct vidmm_allocation *allocation)
{
    if (allocation->view.range.number)
        release(allocation->vidmm, allocation->view.range.number - 1);
}

/* Release one that no lock looks through. */
static bool release_another(struct vidmm *vidmm)
{
    for (UINT id = 0; id < vidmm->config.swizzling_ranges; id++) {
        const struct vidmm_allocation *owner = vidmm->old.range[id].allocation;

        if (owner && !owner->view.through_range) {
            release(vidmm, id);
            return true;
        }
    }
    return false;
}

static UINT free_range(const struct vidmm *vidmm)
{
    UINT id = 0;

    while (id < vidmm->config.swizzling_ranges && vidmm->old.range[id].allocation)
        id++;
    return id;
}

/* What the driver has set. */
static bool check(struct vidmm_allocation *allocation, const DXGKARG_ACQUIRESWIZZLINGRANGE *args,
                  bool other_size)
{
    struct view_range *range = &allocation->view.range;
    const uint64_t address = (uint64_t)args->CPUTranslatedAddress.QuadPart;
    uint64_t offset;

    if (args->RangeSize != allocation->bytes && !other_size)
        VIOLATION("ALLOC-130",
                  "DxgkDdiAcquireSwizzlingRange changed RangeSize from 0x%llx to 0x%llx",
                  (unsigned long long)allocation->bytes, (unsigned long long)args->RangeSize);
    if (address % PAGE_BYTES ||
        !segment_bar_of(allocation->vidmm->config.device, address, allocation->pages << PAGE_BITS,
                        &range->bar, &offset)) {
        VIOLATION("ALLOC-130",
                  "CPUTranslatedAddress 0x%llx of a swizzling range, for 0x%llx bytes, is in no "
                  "memory resource, or at no page",
                  (unsigned long long)address, (unsigned long long)allocation->bytes);
        return false;
    }
    range->page = offset >> PAGE_BITS;
    return true;
}

static NTSTATUS ask(struct vidmm_allocation *allocation, UINT id, UINT private_data, bool other_size)
{
    struct vidmm *vidmm = allocation->vidmm;
    DXGKARG_ACQUIRESWIZZLINGRANGE args = {.hAllocation = allocation->driver_handle,
                                          .PrivateDriverData = private_data,
                                          .RangeId = id,
                                          .SegmentId = allocation->segment,
                                          .RangeSize = allocation->bytes};
    NTSTATUS status = ddi_acquire_swizzling_range(vidmm->ddi, &args);

    if (!NT_SUCCESS(status)) {
        if (ddi_driver_failed(vidmm->ddi, status) && status != UNAVAILABLE && status != UNSUPPORTED)
            VIOLATION("ALLOC-132", "DxgkDdiAcquireSwizzlingRange returned %s",
                      nt_status_text(status).text);
        return status;
    }
    vidmm->old.range[id] = (struct swizzling_range){allocation, private_data};
    allocation->view.range.number = id + 1;
    if (check(allocation, &args, other_size))
        return STATUS_SUCCESS;
    release(vidmm, id);
    return UNSUPPORTED;
}

/* Locks that look through the one it has keep it until there is another. */
NTSTATUS swizzling_range_acquire(struct vidmm_allocation *allocation, UINT private_data,
                                 bool other_size, struct view_range *before)
{
    struct vidmm *vidmm = allocation->vidmm;
    const UINT own = allocation->view.range.number;
    NTSTATUS status = UNAVAILABLE;

    vidmm_assert_locked(vidmm);
    *before = allocation->view.range;
    if (own && vidmm->old.range[own - 1].private_data == private_data)
        return STATUS_SUCCESS;
    if (!allocation->view.through_range) {
        swizzling_range_release(allocation);
        *before = allocation->view.range;
    }
    if (!vidmm->config.swizzling_ranges || !ddi_has(vidmm->ddi, DxgkDdiAcquireSwizzlingRange) ||
        !ddi_has(vidmm->ddi, DxgkDdiReleaseSwizzlingRange))
        return refuse(UNSUPPORTED, "ALLOC-131", "the adapter has no swizzling ranges");
    for (bool more = true; status == UNAVAILABLE && more;) {
        const UINT id = free_range(vidmm);

        if (id < vidmm->config.swizzling_ranges)
            status = ask(allocation, id, private_data, other_size);
        more = status == UNAVAILABLE && release_another(vidmm); /* ALLOC-131 */
    }
    if (NT_SUCCESS(status))
        return status;
    allocation->view.range = *before;
    return refuse(status, "ALLOC-131", "no swizzling range was acquired: %s",
                  nt_status_text(status).text);
}

void swizzling_range_settle(struct vidmm_allocation *allocation, const struct view_range *before,
                            bool taken)
{
    const UINT now = allocation->view.range.number;

    if (before->number == now)
        return;
    if (!taken) {
        swizzling_range_release(allocation);
        allocation->view.range = *before;
    } else if (before->number) {
        release(allocation->vidmm, before->number - 1);
    }
}
