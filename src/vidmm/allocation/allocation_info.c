/* SPDX-License-Identifier: MIT */
/*
 * What a driver returned from DxgkDdiCreateAllocation for one allocation: it is checked by the
 * ALLOC rules, then stored. From interface version 2.0 on the flags have the layout of WDDM 2.x,
 * before that the layout of 1.x, of which only the members that both layouts share are kept
 * (ALLOC-045).
 */
#include <inttypes.h>

#include "vidmm/allocation/allocation_info.h"
#include "ram/ram.h"
#include "util/address.h"
#include "util/checked.h"
#include "verify/refusal.h"
#include "verify/verify.h"
#include "vidmm/allocation/shared_backing.h"
#include "vidmm/record/allocation_record.h"
#include "vidmm/record/segment_record.h"
#include "vidmm/segment/segment.h"

#define LARGE_PAGE    65536u
#define HISTORY_FLAGS 0x4005u /* HistoryBuffer, Cached, CpuVisible (ALLOC-057) */

/* Report a breach with which the host cannot go on. */
#define BREACH(rule, ...)                  \
    do {                                   \
        verify_refusal(rule, __VA_ARGS__); \
        return STATUS_INVALID_PARAMETER;   \
    } while (0)

/* Report a finding; if it does not refuse the allocation, the code that follows says what is
 * assumed instead. */
#define FINDING(rule, ...)                     \
    do {                                       \
        if (verify_finding(rule, __VA_ARGS__)) \
            return STATUS_INVALID_PARAMETER;   \
    } while (0)
/* The same for a clause that is only expected while others of the rule are refused. */
#define EXPECTED(rule, ...)                     \
    do {                                        \
        if (verify_expected(rule, __VA_ARGS__)) \
            return STATUS_INVALID_PARAMETER;    \
    } while (0)

static bool is_2x(const struct vidmm *vidmm)
{
    return vidmm->config.wddm_version >= DXGKDDI_INTERFACE_VERSION_WDDM2_0;
}

/* ---- flags ---- */

/* The bits that are defined for this driver's interface version. */
static UINT known_flags(const struct vidmm *vidmm)
{
    UINT version = vidmm->config.wddm_version;
    UINT known = 0x3FF;

    if (!is_2x(vidmm))
        return known | 0x3C00 | (version >= DXGKDDI_INTERFACE_VERSION_WDDM1_3 ? 0x4000 : 0);
    known |= 0x7C000;
    if (version >= DXGKDDI_INTERFACE_VERSION_WDDM2_1)
        known |= 0x400;
    if (version >= DXGKDDI_INTERFACE_VERSION_WDDM2_9)
        known |= 0x2000;
    return known;
}

static NTSTATUS check_cpu_flags(DXGK_ALLOCATIONINFOFLAGS_WDDM2_0 *f)
{
    if (f->PermanentSysMem && !f->CpuVisible) {
        FINDING("ALLOC-047", "PermanentSysMem without CpuVisible");
        f->PermanentSysMem = 0;
    }
    if (f->Cached && !f->CpuVisible) {
        FINDING("ALLOC-048", "Cached without CpuVisible");
        f->Cached = 0;
    }
    if (f->Protected && (f->PermanentSysMem || f->ExistingSysMem || f->ExistingKernelSysMem)) {
        FINDING("ALLOC-049", "Protected together with a system memory flag (flags 0x%08X)",
                f->Value);
        f->Protected = 0;
    }
    if (f->PermanentSysMem + f->ExistingSysMem + f->ExistingKernelSysMem > 1) {
        FINDING(
            "ALLOC-050",
            "more than one of PermanentSysMem, ExistingSysMem, ExistingKernelSysMem (flags 0x%08X)",
            f->Value);
        f->PermanentSysMem = 0; /* the memory that was given */
        f->ExistingKernelSysMem = f->ExistingKernelSysMem && !f->ExistingSysMem;
    }
    return STATUS_SUCCESS;
}

static bool coherent_aperture(const struct vidmm *vidmm)
{
    return vidmm->aperture && vidmm->segment[vidmm->aperture].flags.CacheCoherent;
}

static NTSTATUS check_flags_2x(const struct vidmm *vidmm, DXGK_ALLOCATIONINFOFLAGS_WDDM2_0 *f)
{
    if (f->ExplicitResidencyNotification && !f->AccessedPhysically) {
        FINDING("ALLOC-059", "ExplicitResidencyNotification without AccessedPhysically");
        f->ExplicitResidencyNotification = 0;
    }
    if (f->MapApertureCpuVisible && !vidmm->config.caps.MapAperture2Supported) {
        FINDING("ALLOC-061", "MapApertureCpuVisible without the MapAperture2Supported cap");
        f->MapApertureCpuVisible = 0;
    }
    if (f->HardwareProtected || f->CreateInVpr) {
        FINDING("ALLOC-062", "protected content (flags 0x%08X)", f->Value);
        f->HardwareProtected = f->CreateInVpr = 0;
    }
    return STATUS_SUCCESS;
}

/* Flags that WDDM 2.x does not have, and that the host does not keep. */
static NTSTATUS check_flags_1x(DXGK_ALLOCATIONINFOFLAGS f, bool primary)
{
    if (f.UseAlternateVA && !primary)
        FINDING("ALLOC-053", "UseAlternateVA");
    if (f.LinkMirrored && f.LinkInstanced)
        FINDING("ALLOC-056", "LinkMirrored together with LinkInstanced");
    return STATUS_SUCCESS;
}

static NTSTATUS check_special_flags(const struct vidmm *vidmm, DXGK_ALLOCATIONINFOFLAGS_WDDM2_0 *f)
{
    if (f->Overlay) {
        FINDING("ALLOC-054", "Overlay");
        f->Overlay = 0;
    }
    if (f->HistoryBuffer &&
        (f->Value & ~HISTORY_FLAGS || !f->CpuVisible || (coherent_aperture(vidmm) && !f->Cached))) {
        FINDING("ALLOC-057", "HistoryBuffer with flags 0x%08X", f->Value);
        f->Value &= HISTORY_FLAGS;
        f->CpuVisible = 1;
    }
    return STATUS_SUCCESS;
}

/* PRES-075: what is scanned out lies where the host puts it. */
static NTSTATUS check_primary_flags(DXGK_ALLOCATIONINFOFLAGS_WDDM2_0 *f)
{
    if (f->PermanentSysMem || f->Cached || f->Protected || f->ExistingSysMem ||
        f->ExistingKernelSysMem) {
        FINDING("PRES-075", "a primary with flags 0x%08X", f->Value);
        f->PermanentSysMem = f->Cached = f->Protected = 0;
        f->ExistingSysMem = f->ExistingKernelSysMem = 0;
    }
    return STATUS_SUCCESS;
}

static NTSTATUS read_flags(struct vidmm_allocation *allocation, const DXGK_ALLOCATIONINFO *info)
{
    const struct vidmm *vidmm = allocation->vidmm;
    DXGK_ALLOCATIONINFOFLAGS_WDDM2_0 f = info->FlagsWddm2;
    UINT unknown = f.Value & ~known_flags(vidmm);
    NTSTATUS status;

    if (unknown)
        VIOLATION("ALLOC-064", "reserved allocation flag bits 0x%08X", unknown);
    f.Value &= ~unknown;
    status = allocation->segments.primary ? check_primary_flags(&f) : STATUS_SUCCESS;
    if (NT_SUCCESS(status))
        status = check_cpu_flags(&f);
    if (NT_SUCCESS(status))
        status = check_special_flags(vidmm, &f);
    if (!NT_SUCCESS(status))
        return status;
    if (is_2x(vidmm)) {
        status = check_flags_2x(vidmm, &f);
    } else {
        status = check_flags_1x((DXGK_ALLOCATIONINFOFLAGS){.Value = f.Value},
                                allocation->segments.primary);
        allocation->arrival.alone = (DXGK_ALLOCATIONINFOFLAGS){.Value = f.Value}.SynchronousPaging;
        allocation->view.order.swizzles = (DXGK_ALLOCATIONINFOFLAGS){.Value = f.Value}.Swizzled;
        f.Value &= 0x437F; /* bits that mean the same in both layouts */
    }
    allocation->flags = f;
    allocation->accessed_physically = f.AccessedPhysically || !is_2x(vidmm) ||
                                      !vidmm->config.gpu_mmu /* RES-032, RES-056 */ ||
                                      allocation->segments.primary;
    allocation->view.elsewhere = allocation->segments.primary && !is_2x(vidmm) &&
                                 info->Flags.UseAlternateVA;
    allocation->cpu_visible = f.CpuVisible || f.CpuVisibleOnDemand ||
                              (allocation->segments.primary && !allocation->view.elsewhere);
    return status;
}

/* ---- size and segments ---- */

static NTSTATUS read_size(struct vidmm_allocation *allocation, const DXGK_ALLOCATIONINFO *info)
{
    uint64_t bytes;
    uint64_t pitch;

    if (info->Size == 0 || ckd_align_up(&bytes, info->Size, LARGE_PAGE) || bytes >> 62)
        BREACH("ALLOC-027", "Size is 0x%" PRIx64, (uint64_t)info->Size);
    allocation->alignment = info->Alignment > PAGE_BYTES ? info->Alignment : PAGE_BYTES;
    if (info->Alignment && !is_power_of_two(info->Alignment)) {
        EXPECTED("ALLOC-027", "Alignment is 0x%X, no power of two", info->Alignment);
        allocation->alignment = (uint64_t)1 << (64 - __builtin_clzll(allocation->alignment - 1));
    }
    pitch = info->PitchAlignedSize;
    if (pitch && (pitch < info->Size || ckd_align_up(&bytes, pitch, LARGE_PAGE))) {
        FINDING("ALLOC-033", "PitchAlignedSize is 0x%" PRIx64 ", Size 0x%" PRIx64, pitch,
                (uint64_t)info->Size);
        pitch = 0;
    }
    allocation->bytes = info->Size;
    allocation->pages = align_up(info->Size, PAGE_BYTES) >> PAGE_BITS;
    allocation->pitch_pages = align_up(pitch, PAGE_BYTES) >> PAGE_BITS;
    return STATUS_SUCCESS;
}

static NTSTATUS read_preferred(struct vidmm_allocation *allocation, const DXGK_ALLOCATIONINFO *info)
{
    const struct vidmm *vidmm = allocation->vidmm;

    for (unsigned i = 0; i < 5; i++) {
        UINT entry = info->PreferredSegment.Value >> (6 * i);
        UINT id = entry & 31;

        if (id && id == segment_implicit(vidmm))
            id = vidmm->aperture; /* told of the set (read_set) */
        if (id &&
            (id > vidmm->segment_count || !(allocation->segments.supported & segment_bit(id)))) {
            FINDING("ALLOC-035", "PreferredSegment names segment %u, the supported set is 0x%X", id,
                    allocation->segments.supported);
            continue;
        }
        allocation->segments.preferred[i] = id;
        if (entry & 32)
            allocation->segments.preferred_down |= 1u << i;
    }
    return STATUS_SUCCESS;
}

/* ALLOC-042; segments of WDDM 2.x have no banks. */
static void read_banks(struct vidmm_allocation *allocation, const DXGK_ALLOCATIONINFO *info)
{
    for (unsigned i = 0; i < 4 && !is_2x(allocation->vidmm); i++) {
        const UINT entry = info->HintedBank.Value >> (8 * i);

        allocation->segments.bank[i] = entry & 127;
        allocation->segments.bank_down |= (entry >> 7 & 1) << i;
    }
}

static NTSTATUS check_eviction_set(struct vidmm_allocation *allocation, UINT set)
{
    const struct vidmm *vidmm = allocation->vidmm;
    UINT unknown = segment_set_unknown(vidmm, set);

    if (unknown) {
        FINDING("ALLOC-041", "EvictionSegmentSet 0x%X names segments that do not exist", set);
        set &= ~unknown;
    }
    for (UINT id = 1; id <= vidmm->segment_count; id++) {
        const struct vidmm_segment *segment = &vidmm->segment[id];

        if ((set & segment_bit(id)) &&
            (!segment_is_aperture(segment) || segment->flags.PitchAlignment)) {
            FINDING("ALLOC-041",
                    "EvictionSegmentSet names segment %u, which is no plain aperture segment", id);
            set &= ~segment_bit(id);
        }
    }
    allocation->segments.eviction = set;
    return STATUS_SUCCESS;
}

/* What the segments of the set require of the allocation. */
static NTSTATUS check_set(struct vidmm_allocation *allocation)
{
    const struct vidmm *vidmm = allocation->vidmm;
    bool aperture = false;
    bool large = false;
    UINT hidden = 0;

    for (UINT id = 1; id <= vidmm->segment_count; id++) {
        const struct vidmm_segment *segment = &vidmm->segment[id];

        if (!(allocation->segments.supported & segment_bit(id)))
            continue;
        if (segment_is_aperture(segment))
            aperture = true;
        else if (!segment_cpu_visible(segment))
            hidden = id;
        if (segment->page_bytes == LARGE_PAGE)
            large = true;
    }
    if (allocation->segments.primary && hidden && !vidmm->config.caps.NonCpuVisiblePrimary)
        FINDING("PRES-077", "a primary may lie in segment %u, which the CPU cannot see", hidden);
    else if (is_2x(vidmm) && allocation->cpu_visible && hidden && !aperture &&
             !allocation->segments.primary)
        FINDING(
            "ALLOC-065",
            "CPU-visible, but the CPU cannot see segment %u and no aperture segment is in the set",
            hidden);
    if (large) {
        if (allocation->alignment % LARGE_PAGE)
            VIOLATION("GPUVA-202", "Alignment 0x%" PRIx64 " with a Use64KBPages segment in the set",
                      allocation->alignment);
        allocation->alignment = align_up(allocation->alignment, LARGE_PAGE);
        allocation->pages = align_up(allocation->pages, LARGE_PAGE >> PAGE_BITS);
        allocation->pitch_pages = align_up(allocation->pitch_pages, LARGE_PAGE >> PAGE_BITS);
    }
    return STATUS_SUCCESS;
}

static uint64_t largest_place(const struct vidmm_allocation *allocation, UINT id)
{
    const struct vidmm *vidmm = allocation->vidmm;
    const struct vidmm_segment *segment = &vidmm->segment[id];

    if (!segment_is_aperture(segment))
        return (segment->bytes - segment->bad_bytes) >> PAGE_BITS;
    if (vidmm->config.gpu_mmu && !allocation->accessed_physically)
        return ram_bytes(vidmm->config.ram) >> PAGE_BITS; /* never mapped there */
    return (segment->commit_limit < vidmm->aperture_limit ? segment->commit_limit
                                                          : vidmm->aperture_limit) >>
           PAGE_BITS;
}

bool allocation_fits_somewhere(const struct vidmm_allocation *allocation)
{
    for (UINT id = 1; id <= allocation->vidmm->segment_count; id++) {
        const struct vidmm_segment *segment = &allocation->vidmm->segment[id];
        /* nothing lies in an aperture that only page tables reach */
        bool pitched = segment->flags.PitchAlignment &&
                       !(segment_is_aperture(segment) && allocation->vidmm->config.gpu_mmu &&
                         !allocation->accessed_physically);
        uint64_t pages = pitched ? allocation->pitch_pages : allocation->pages;

        if (!(allocation->segments.supported & segment_bit(id)) || (pitched && pages == 0))
            continue;
        if (pages <= largest_place(allocation, id))
            return true;
    }
    return false;
}

static NTSTATUS read_set(struct vidmm_allocation *allocation, const DXGK_ALLOCATIONINFO *info)
{
    struct vidmm *vidmm = allocation->vidmm;
    UINT set = info->SupportedWriteSegmentSet; /* ALLOC-040 */
    UINT implicit;

    if (!is_2x(vidmm)) { /* ALLOC-039; a set that the driver leaves empty says nothing */
        set |= info->SupportedReadSegmentSet;
        allocation->segments.reads = info->SupportedReadSegmentSet ? info->SupportedReadSegmentSet
                                                                   : set;
        allocation->segments.writes = info->SupportedWriteSegmentSet
                                          ? info->SupportedWriteSegmentSet
                                          : set;
        vidmm->old.sets_differ |= allocation->segments.reads != allocation->segments.writes;
    }
    implicit = segment_implicit(vidmm);
    if (implicit && set & segment_bit(implicit)) {
        EXPECTED("ALLOC-027", "the supported set 0x%X names segment %u, taken for system memory",
                 set, implicit);
        set = (set & ~segment_bit(implicit)) | segment_bit(vidmm->aperture);
    }
    if (segment_set_unknown(vidmm, set))
        BREACH("ALLOC-027", "the supported set 0x%X names segments that do not exist", set);
    if (set == 0)
        BREACH("ALLOC-027", "the supported segment set is empty");
    if (is_2x(vidmm) && info->PhysicalAdapterIndex != 0)
        EXPECTED("ALLOC-027", "PhysicalAdapterIndex is %u", info->PhysicalAdapterIndex);
    allocation->segments.supported = set;
    return check_eviction_set(allocation, info->EvictionSegmentSet);
}

/* ---- the rest ---- */

static NTSTATUS read_rest(struct vidmm_allocation *allocation, const DXGK_ALLOCATIONINFO *info)
{
    const struct vidmm *vidmm = allocation->vidmm;

    read_banks(allocation, info);
    if (!is_2x(vidmm))
        allocation->instance.limit = info->MaximumRenamingListLength; /* ALLOC-043 */
    allocation->priority = info->AllocationPriority;
    if (allocation->priority == 0) {
        VIOLATION("ALLOC-071", "AllocationPriority is 0");
        allocation->priority = D3DDDI_ALLOCATIONPRIORITY_NORMAL;
    }
    if (vidmm->config.wddm_version >= DXGKDDI_INTERFACE_VERSION_WDDM3_0)
        allocation->flags2 = info->Flags2.Value;
    return shared_backing_check(allocation); /* ALLOC-067 */
}

NTSTATUS allocation_read_info(struct vidmm_allocation *allocation, const DXGK_ALLOCATIONINFO *info)
{
    NTSTATUS status;

    if (!info->hAllocation)
        BREACH("ALLOC-027", "hAllocation is NULL");
    allocation->driver_handle = info->hAllocation;
    status = read_size(allocation, info);
    if (NT_SUCCESS(status))
        status = read_set(allocation, info);
    if (NT_SUCCESS(status))
        status = read_flags(allocation, info);
    if (NT_SUCCESS(status))
        status = read_preferred(allocation, info);
    if (NT_SUCCESS(status))
        status = check_set(allocation);
    if (NT_SUCCESS(status))
        status = read_rest(allocation, info);
    if (NT_SUCCESS(status) && !allocation_fits_somewhere(allocation))
        status = refuse(STATUS_GRAPHICS_NO_VIDEO_MEMORY, "ALLOC-031",
                        "%llu bytes fit into none of the segments 0x%x that the driver names",
                        (unsigned long long)allocation->bytes, allocation->segments.supported);
    return status;
}
