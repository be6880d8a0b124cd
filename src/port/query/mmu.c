/* SPDX-License-Identifier: MIT */
/* The GPU's MMU: its caps and the description of each level of page tables (CAPS-084 to
 * CAPS-093). */
#include <string.h>

#include "port/query/mmu.h"
#include "ddi/ddi.h"
#include "port/query/query.h"
#include "port/record/adapter_record.h"
#include "port/record/port_refuse.h"
#include "util/checked.h"

#define MAX_VA_BITS 63u /* DXGK_MAX_GPU_VA_BIT_COUNT */

/* 0 is system memory. */
static bool is_memory_segment(const struct port_adapter *adapter, UINT id)
{
    return id == 0 ||
           (id <= adapter->segments.count && !port_segment(adapter, id - 1)->Flags.Aperture);
}

static NTSTATUS check_level(struct port_adapter *adapter, UINT index)
{
    DXGK_PAGE_TABLE_LEVEL_DESC *l = &adapter->mmu.level[index];
    bool resizable = adapter->mmu.caps.PageTableLevelCount == 2 && index == 1;

    if (!resizable && (!l->PageTableIndexBitCount || !l->PageTableSizeInBytes))
        PORT_REFUSE("CAPS-092", "level %u: %u index bits, %u bytes", index,
                    l->PageTableIndexBitCount, l->PageTableSizeInBytes);
    if (l->PageTableSizeInBytes % PAGE_BYTES) {
        PORT_EXPECTED(adapter, "CAPS-092", "level %u: tables of %u bytes are no whole pages", index,
                      l->PageTableSizeInBytes);
        l->PageTableSizeInBytes = (UINT)align_up(l->PageTableSizeInBytes, PAGE_BYTES);
    }
    return STATUS_SUCCESS;
}

/* CAPS-093: system memory by the number that it has inside the memory manager, one more than there
 * are segments (SEG-063). Published drivers name it so. */
static void read_implicit_segment(struct port_adapter *adapter, UINT level, UINT *segment,
                                  const char *member)
{
    if (*segment != adapter->segments.count + 1)
        return;
    PORT_EXPECTED(adapter, "CAPS-093", "level %u: %s is %u, which is taken for system memory (0)",
                  level, member, *segment);
    *segment = 0;
}

NTSTATUS port_mmu_check_segments(struct port_adapter *adapter)
{
    for (UINT i = 0; i < adapter->mmu.caps.PageTableLevelCount; i++) {
        DXGK_PAGE_TABLE_LEVEL_DESC *l = &adapter->mmu.level[i];

        read_implicit_segment(adapter, i, &l->PageTableSegmentId, "PageTableSegmentId");
        read_implicit_segment(adapter, i, &l->PagingProcessPageTableSegmentId,
                              "PagingProcessPageTableSegmentId");
        if (!is_memory_segment(adapter, l->PageTableSegmentId) ||
            !is_memory_segment(adapter, l->PagingProcessPageTableSegmentId))
            PORT_REFUSE("CAPS-093", "level %u: segment %u or %u is no memory segment", i,
                        l->PageTableSegmentId, l->PagingProcessPageTableSegmentId);
    }
    return STATUS_SUCCESS;
}

static NTSTATUS check_bits(struct port_adapter *adapter)
{
    DXGK_GPUMMUCAPS *mmu = &adapter->mmu.caps;
    UINT bits = PAGE_BITS;

    for (UINT i = 0; i < mmu->PageTableLevelCount; i++)
        bits += adapter->mmu.level[i].PageTableIndexBitCount;
    if (mmu->VirtualAddressBitCount > MAX_VA_BITS)
        PORT_REFUSE("CAPS-093", "VirtualAddressBitCount is %u", mmu->VirtualAddressBitCount);
    if (mmu->PageTableLevelCount > 2 && bits < mmu->VirtualAddressBitCount) {
        PORT_EXPECTED(adapter, "CAPS-093",
                      "VirtualAddressBitCount is %u, but the levels translate %u bits",
                      mmu->VirtualAddressBitCount, bits);
        mmu->VirtualAddressBitCount = bits;
    } else if (mmu->PageTableLevelCount <= 2 &&
               mmu->VirtualAddressBitCount <=
                   PAGE_BITS + adapter->mmu.level[0].PageTableIndexBitCount) {
        PORT_REFUSE("CAPS-093", "VirtualAddressBitCount is %u, but the levels translate %u bits",
                    mmu->VirtualAddressBitCount, bits);
    }
    if (adapter->caps.driver.InternalGpuVirtualAddressRangeEnd >
        1ull << mmu->VirtualAddressBitCount) {
        PORT_FINDING(adapter, "CAPS-040",
                     "InternalGpuVirtualAddressRangeEnd 0x%llx is beyond %u bits",
                     (unsigned long long)adapter->caps.driver.InternalGpuVirtualAddressRangeEnd,
                     mmu->VirtualAddressBitCount);
        adapter->caps.driver.InternalGpuVirtualAddressRangeStart =
            adapter->caps.driver.InternalGpuVirtualAddressRangeEnd = 0;
    }
    return STATUS_SUCCESS;
}

static NTSTATUS query_caps(struct port_adapter *adapter)
{
    DXGK_QUERYGPUMMUCAPSIN in = {.PhysicalAdapterIndex = 0};
    NTSTATUS status = port_query(adapter, DXGKQAITYPE_GPUMMUCAPS, &in, sizeof(in),
                                 &adapter->mmu.caps, sizeof(adapter->mmu.caps));
    UINT levels = adapter->mmu.caps.PageTableLevelCount;

    if (!NT_SUCCESS(status))
        return status;
    if (levels < DXGK_MIN_PAGE_TABLE_LEVEL_COUNT || levels > DXGK_MAX_PAGE_TABLE_LEVEL_COUNT)
        PORT_REFUSE("CAPS-085", "PageTableLevelCount is %u", levels);
    if (adapter->mmu.caps.LeafPageTableSizeFor64KPagesInBytes % PAGE_BYTES) {
        PORT_FINDING(adapter, "CAPS-086", "LeafPageTableSizeFor64KPagesInBytes is %u",
                     adapter->mmu.caps.LeafPageTableSizeFor64KPagesInBytes);
        adapter->mmu.caps.LeafPageTableSizeFor64KPagesInBytes = (UINT)align_up(
            adapter->mmu.caps.LeafPageTableSizeFor64KPagesInBytes, PAGE_BYTES);
    }
    if (levels == 2 && !ddi_has(&adapter->ddi, DxgkDdiGetRootPageTableSize))
        PORT_REFUSE("GPUVA-004", "two page-table levels need DxgkDdiGetRootPageTableSize");
    return STATUS_SUCCESS;
}

NTSTATUS port_mmu_query(struct port_adapter *adapter)
{
    NTSTATUS status;

    memset(&adapter->mmu.caps, 0, sizeof(adapter->mmu.caps));
    memset(adapter->mmu.level, 0, sizeof(adapter->mmu.level));
    if (!adapter->caps.gpu_mmu)
        return STATUS_SUCCESS;
    status = query_caps(adapter);
    for (UINT i = 0; NT_SUCCESS(status) && i < adapter->mmu.caps.PageTableLevelCount; i++) {
        DXGK_QUERYPAGETABLELEVELDESCIN level = {.LevelIndex = (WORD)i, .PhysicalAdapterIndex = 0};

        status = port_query(adapter, DXGKQAITYPE_PAGETABLELEVELDESC, &level, sizeof(level),
                            &adapter->mmu.level[i], sizeof(adapter->mmu.level[i]));
    }
    for (UINT i = 0; NT_SUCCESS(status) && i < adapter->mmu.caps.PageTableLevelCount; i++)
        status = check_level(adapter, i);
    return NT_SUCCESS(status) ? check_bits(adapter) : status;
}
