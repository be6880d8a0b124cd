/* SPDX-License-Identifier: MIT */
/*
 * Backing stores shared with the driver (ShareBackingStoreWithKmd; PHYS-182 to PHYS-187).
 *
 * When the allocation is created, the driver gets one kernel address for all its pages, which it
 * may use until DxgkDdiDestroyAllocation. So the pages are allocated at creation, and are kept
 * until the record is freed, even when the content is given up (offers, resets; backing_stays).
 * Such an allocation is in system memory only, so its content never moves, and the client, the
 * driver and the GPU access the same frames.
 */
#include "vidmm/allocation/shared_backing.h"
#include "ddi/ddi.h"
#include "ram/ram.h"
#include "verify/verify.h"
#include "vidmm/content/backing.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/resource_record.h"
#include "vidmm/record/segment_record.h"
#include "vidmm/record/vidmm_record.h"

#define BREACH(rule, ...)                \
    do {                                 \
        VIOLATION(rule, __VA_ARGS__);    \
        return STATUS_INVALID_PARAMETER; \
    } while (0)

static bool wanted(const struct vidmm_allocation *allocation)
{
    return (DXGK_ALLOCATIONINFOFLAGS2){.Value = allocation->flags2}.ShareBackingStoreWithKmd;
}

NTSTATUS shared_backing_check(const struct vidmm_allocation *allocation)
{
    const struct vidmm *vidmm = allocation->vidmm;

    if (!wanted(allocation))
        return STATUS_SUCCESS;
    if (!ddi_feature_granted(vidmm->ddi, DXGK_FEATURE_SHARE_BACKING_STORE_WITH_KMD)) {
        VIOLATION("PHYS-182", "ShareBackingStoreWithKmd, but the driver was not told that the "
                              "feature is enabled");
        /* ALLOC-069: a driver without the entry point cannot have been told */
        return ddi_has(vidmm->ddi, DxgkDdiSetAllocationBackingStore) ? STATUS_INVALID_PARAMETER
                                                                     : STATUS_NOT_SUPPORTED;
    }
    if (!allocation->resource || !allocation->resource->shared)
        BREACH("PHYS-184", "ShareBackingStoreWithKmd for an allocation that is not shared");
    if (allocation->flags.ExistingSysMem || allocation->flags.ExistingKernelSysMem)
        BREACH("PHYS-184", "ShareBackingStoreWithKmd over existing system memory (flags 0x%08X)",
               allocation->flags.Value);
    for (UINT id = 1; id <= vidmm->segment_count; id++)
        if ((allocation->segments.supported & segment_bit(id)) &&
            !segment_is_aperture(&vidmm->segment[id]))
            BREACH("PHYS-184",
                   "ShareBackingStoreWithKmd with memory segment %u in the supported set", id);
    return STATUS_SUCCESS;
}

NTSTATUS shared_backing_give(struct vidmm_allocation *allocation)
{
    struct ram *ram = allocation->vidmm->config.ram;
    DXGKARG_SETALLOCATIONBACKINGSTORE args = {.hDriverAllocation = allocation->driver_handle};
    NTSTATUS status;

    if (!wanted(allocation))
        return STATUS_SUCCESS;
    status = backing_take(allocation);
    if (!NT_SUCCESS(status))
        return vidmm_status(status);
    allocation->kernel_view = ram_view_reserve(ram, allocation->pages);
    if (!allocation->kernel_view || !ram_view_point(ram, allocation->kernel_view, 0,
                                                    allocation->backing, allocation->pages, true))
        return vidmm_host_is_full(); /* kernel_view is released with the record */
    args.pBackingStore = allocation->kernel_view;
    return ddi_set_allocation_backing_store(allocation->vidmm->ddi, &args);
}

void shared_backing_end(struct vidmm_allocation *allocation)
{
    if (allocation->kernel_view)
        ram_view_release(allocation->vidmm->config.ram, allocation->kernel_view, allocation->pages);
    allocation->kernel_view = NULL;
}
