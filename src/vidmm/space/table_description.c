/* SPDX-License-Identifier: MIT */
/* Checks of DXGK_GPUMMUCAPS and DXGK_PAGE_TABLE_LEVEL_DESC before they are used. */
#include "vidmm/space/table_description.h"
#include "util/address.h"
#include "verify/verify.h"
#include "vidmm/record/segment_record.h"
#include "vidmm/record/vidmm_record.h"
#include "vidmm/segment/host_aperture.h"

#define REFUSE(rule, ...)                         \
    do {                                          \
        verify_refusal(rule, __VA_ARGS__);        \
        return STATUS_DEVICE_CONFIGURATION_ERROR; \
    } while (0)

#define FINDING(rule, ...) (vidmm->refused |= verify_finding(rule, __VA_ARGS__))

static bool is_memory_segment(const struct vidmm *vidmm, UINT segment)
{
    return segment == 0 ||
           (segment <= vidmm->segment_count && !segment_is_aperture(&vidmm->segment[segment]));
}

static bool cpu_reaches(const struct vidmm *vidmm, UINT segment)
{
    return segment == 0 || host_aperture_reaches(&vidmm->segment[segment]);
}

static NTSTATUS check_level(struct vidmm *vidmm, unsigned level)
{
    DXGK_PAGE_TABLE_LEVEL_DESC *desc = &vidmm->config.level[level];
    bool resizable = vidmm->config.mmu.PageTableLevelCount == 2 && level == 1;
    UINT bytes = desc->PageTableSizeInBytes;

    if (desc->PageTableIndexBitCount > 30 || (desc->PageTableIndexBitCount == 0 && !resizable))
        REFUSE("GPUVA-014", "level %u: PageTableIndexBitCount %u", level,
               desc->PageTableIndexBitCount);
    if (bytes % PAGE_BYTES != 0 || (bytes == 0 && !resizable))
        REFUSE("GPUVA-015", "level %u: PageTableSizeInBytes %u", level, bytes);
    if (!is_memory_segment(vidmm, desc->PageTableSegmentId) ||
        !is_memory_segment(vidmm, desc->PagingProcessPageTableSegmentId))
        REFUSE("GPUVA-019", "level %u: segments %u and %u", level, desc->PageTableSegmentId,
               desc->PagingProcessPageTableSegmentId);
    if ((desc->PageTableSegmentId == 0 || desc->PagingProcessPageTableSegmentId == 0) &&
        bytes > PAGE_BYTES)
        FINDING("GPUVA-017", "level %u: tables of %u bytes in system memory", level, bytes);
    if (desc->PageTableAlignmentInBytes != 0 && !is_power_of_two(desc->PageTableAlignmentInBytes)) {
        FINDING("GPUVA-020", "level %u: PageTableAlignmentInBytes %u", level,
                desc->PageTableAlignmentInBytes);
        desc->PageTableAlignmentInBytes = 0;
    }
    if (!cpu_reaches(vidmm, desc->PagingProcessPageTableSegmentId))
        REFUSE("GPUVA-223", "level %u: the CPU does not reach segment %u", level,
               desc->PagingProcessPageTableSegmentId);
    return STATUS_SUCCESS;
}

static NTSTATUS check_bits(const struct vidmm *vidmm)
{
    const DXGK_GPUMMUCAPS *mmu = &vidmm->config.mmu;
    UINT bits = PAGE_BITS;

    for (unsigned level = 0; level < mmu->PageTableLevelCount; level++)
        bits += vidmm->config.level[level].PageTableIndexBitCount;
    if (mmu->VirtualAddressBitCount > DXGK_MAX_GPU_VA_BIT_COUNT)
        REFUSE("GPUVA-013", "VirtualAddressBitCount %u", mmu->VirtualAddressBitCount);
    if (mmu->PageTableLevelCount > 2 ? bits < mmu->VirtualAddressBitCount
                                     : mmu->VirtualAddressBitCount <=
                                           PAGE_BITS + vidmm->config.level[0].PageTableIndexBitCount)
        REFUSE("GPUVA-013", "VirtualAddressBitCount %u, the tables translate %u bits",
               mmu->VirtualAddressBitCount, bits);
    return STATUS_SUCCESS;
}

/* Leaf tables have the size of level 0 here, whatever their pages are: nothing depends on it. */
static void check_large_leaf(struct vidmm *vidmm)
{
    const DXGK_GPUMMUCAPS *mmu = &vidmm->config.mmu;
    const char *why = mmu->DualPteSupported ? "DualPteSupported is set" : NULL;

    for (UINT id = 1; id <= vidmm->segment_count && !why; id++)
        if (vidmm->segment[id].flags.Use64KBPages)
            why = "a segment sets Use64KBPages";
    if (why && mmu->LeafPageTableSizeFor64KPagesInBytes == 0)
        FINDING("GPUVA-021", "LeafPageTableSizeFor64KPagesInBytes is 0, but %s", why);
}

static NTSTATUS check_mode(struct vidmm *vidmm)
{
    const DXGK_GPUMMUCAPS *mmu = &vidmm->config.mmu;

    if ((UINT)mmu->PageTableUpdateMode > DXGK_PAGETABLEUPDATE_GPU_PHYSICAL)
        REFUSE("GPUVA-022", "PageTableUpdateMode %u", (UINT)mmu->PageTableUpdateMode);
    if (mmu->PageTableUpdateMode != DXGK_PAGETABLEUPDATE_CPU_VIRTUAL)
        return STATUS_SUCCESS;
    for (unsigned level = 1; level < mmu->PageTableLevelCount; level++)
        if (vidmm->config.level[level].PageTableSegmentId != 0)
            FINDING("GPUVA-023", "CPU_VIRTUAL updates, but tables of level %u are in segment %u",
                    level, vidmm->config.level[level].PageTableSegmentId);
    for (unsigned level = 0; level < mmu->PageTableLevelCount; level++)
        if (!cpu_reaches(vidmm, vidmm->config.level[level].PageTableSegmentId))
            REFUSE("GPUVA-024", "CPU_VIRTUAL updates, but the CPU does not reach segment %u",
                   vidmm->config.level[level].PageTableSegmentId);
    return STATUS_SUCCESS;
}

NTSTATUS table_description_check(struct vidmm *vidmm)
{
    UINT levels = vidmm->config.mmu.PageTableLevelCount;
    NTSTATUS status;

    if (levels < DXGK_MIN_PAGE_TABLE_LEVEL_COUNT || levels > DXGK_MAX_PAGE_TABLE_LEVEL_COUNT)
        REFUSE("GPUVA-010", "PageTableLevelCount %u", levels);
    for (unsigned level = 0; level < levels; level++) {
        status = check_level(vidmm, level);
        if (!NT_SUCCESS(status))
            return status;
    }
    status = check_bits(vidmm);
    if (NT_SUCCESS(status))
        status = check_mode(vidmm);
    if (NT_SUCCESS(status))
        check_large_leaf(vidmm);
    return NT_SUCCESS(status) && vidmm->refused ? STATUS_DEVICE_CONFIGURATION_ERROR : status;
}
