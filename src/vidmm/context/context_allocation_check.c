/* SPDX-License-Identifier: MIT */
/* Checks of the arguments of DxgkCbCreateContextAllocation that do not depend on the owner. Each
 * failure is reported with its reason. */
#include "util/address.h"
#include "verify/verify.h"
#include "vidmm/context/context_allocation.h"
#include "vidmm/record/segment_record.h"
#include "vidmm/record/vidmm_record.h"

#define LARGE_PAGE_BYTES 65536u

/* ---- flags ---- */

/* The same bits have other names from WDDM 2.0 on. */
typedef DXGK_ALLOCATIONINFOFLAGS flags_1x;
typedef DXGK_ALLOCATIONINFOFLAGS_WDDM2_0 flags_2x;

static UINT known_flags(UINT version)
{
    flags_2x known = {.CpuVisible = 1,
                      .PermanentSysMem = 1,
                      .Cached = 1,
                      .Protected = 1,
                      .FromEndOfSegment = 1,
                      .DisableLargePageMapping = 1, /* 1.x: Swizzled */
                      .AccessedPhysically = 1,
                      .ExplicitResidencyNotification = 1,
                      .HardwareProtected = 1,
                      .CpuVisibleOnDemand = 1};
    const flags_1x known_1x = {.CpuVisible = 1,
                               .PermanentSysMem = 1,
                               .Cached = 1,
                               .Protected = 1,
                               .FromEndOfSegment = 1,
                               .Swizzled = 1,
                               .SynchronousPaging = 1,
                               .LinkMirrored = 1,
                               .LinkInstanced = 1};

    known.MapApertureCpuVisible = version >= DXGKDDI_INTERFACE_VERSION_WDDM2_9;
    return version >= DXGKDDI_INTERFACE_VERSION_WDDM2_0 ? known.Value : known_1x.Value;
}

static bool flags_good(UINT version, UINT flags)
{
    const flags_2x asked = {.Value = flags};
    UINT bad = flags & ~known_flags(version);

    if (bad)
        VIOLATION("CTXA-024", "Flags 0x%x: 0x%x mean nothing for a context allocation", flags, bad);
    else if (asked.Protected && asked.PermanentSysMem)
        VIOLATION("CTXA-024", "Flags 0x%x: Protected does not go with PermanentSysMem", flags);
    else if (asked.Cached && !asked.CpuVisible)
        VIOLATION("CTXA-024", "Flags 0x%x: Cached without CpuVisible", flags);
    else
        return !asked.ExplicitResidencyNotification || asked.AccessedPhysically ||
               !verify_finding(
                   "GPUVA-241",
                   "Flags 0x%x: ExplicitResidencyNotification without AccessedPhysically", flags);
    return false;
}

/* ---- size and segments (CTXA-018 to CTXA-022) ---- */

static bool size_good(const struct vidmm *vidmm, const DXGKARGCB_CREATECONTEXTALLOCATION *args)
{
    if (args->Size == 0) {
        VIOLATION("CTXA-018", "Size is 0");
        return false;
    }
    if (args->Alignment != 0 && !is_power_of_two(args->Alignment)) {
        VIOLATION("CTXA-018", "Alignment 0x%x is no power of two", args->Alignment);
        return false;
    }
    for (UINT id = 1; id <= vidmm->segment_count; id++)
        if ((args->SupportedSegmentSet >> (id - 1) & 1) &&
            vidmm->segment[id].page_bytes == LARGE_PAGE_BYTES &&
            args->Alignment % LARGE_PAGE_BYTES != 0) {
            VIOLATION("CTXA-018",
                      "Alignment 0x%x is no multiple of 64 KB, the page size of segment %u",
                      args->Alignment, id);
            return false;
        }
    return true;
}

static bool segments_good(const struct vidmm *vidmm, const DXGKARGCB_CREATECONTEXTALLOCATION *args)
{
    UINT all = (UINT)(((uint64_t)1 << vidmm->segment_count) - 1);
    UINT memory = 0;

    for (UINT id = 1; id <= vidmm->segment_count; id++)
        if (!segment_is_aperture(&vidmm->segment[id]))
            memory |= (UINT)1 << (id - 1);
    if (args->SupportedSegmentSet == 0 || (args->SupportedSegmentSet & ~all)) {
        VIOLATION("CTXA-022", "SupportedSegmentSet is 0x%x, the adapter's segments are 0x%x",
                  args->SupportedSegmentSet, all);
        return false;
    }
    if (args->EvictionSegmentSet & (memory | ~all)) {
        VIOLATION("CTXA-022", "EvictionSegmentSet is 0x%x, the adapter's aperture segments are 0x%x",
                  args->EvictionSegmentSet, all & ~memory);
        return false;
    }
    return true;
}

UINT context_allocation_preferred(const DXGKARGCB_CREATECONTEXTALLOCATION *args, unsigned place)
{
    const DXGK_SEGMENTPREFERENCE *preference = &args->PreferredSegment;
    const UINT ids[5] = {preference->SegmentId0, preference->SegmentId1, preference->SegmentId2,
                         preference->SegmentId3, preference->SegmentId4};

    return ids[place];
}

static bool preference_good(const struct vidmm *vidmm, const DXGKARGCB_CREATECONTEXTALLOCATION *args)
{
    for (unsigned i = 0; i < 5; i++) {
        UINT id = context_allocation_preferred(args, i);

        if (id <= vidmm->segment_count && (id == 0 || (args->SupportedSegmentSet >> (id - 1) & 1)))
            continue;
        VIOLATION("CTXA-022", "PreferredSegment.SegmentId%u is %u, not of SupportedSegmentSet 0x%x",
                  i, id, args->SupportedSegmentSet);
        return false;
    }
    return true;
}

/* ---- all ---- */

NTSTATUS context_allocation_check(const struct vidmm *vidmm,
                                  const DXGKARGCB_CREATECONTEXTALLOCATION *args)
{
    UINT version = vidmm->config.wddm_version;
    bool modern = version >= DXGKDDI_INTERFACE_VERSION_WDDM2_0;
    UINT reserved = args->ContextAllocationFlags.Value & ~(modern ? 3u : 1u);

    if (reserved) {
        VIOLATION("CTXA-014", "ContextAllocationFlags 0x%x: bits 0x%x are reserved",
                  args->ContextAllocationFlags.Value, reserved);
        return STATUS_INVALID_PARAMETER;
    }
    if (modern && args->PhysicalAdapterIndex != 0) {
        VIOLATION("CTXA-028",
                  "PhysicalAdapterIndex is %u, but the adapter is not linked: 0 is its only one",
                  args->PhysicalAdapterIndex);
        return STATUS_INVALID_PARAMETER;
    }
    if (!flags_good(version, args->Flags.Value) || !size_good(vidmm, args) ||
        !segments_good(vidmm, args) || !preference_good(vidmm, args))
        return STATUS_INVALID_PARAMETER;
    if (modern && args->ContextAllocationFlags.MapGpuVirtualAddress && !vidmm->config.gpu_mmu) {
        NOTE("CTXA-015", "MapGpuVirtualAddress on an adapter without GpuMmu");
        return STATUS_NOT_SUPPORTED;
    }
    return STATUS_SUCCESS;
}
