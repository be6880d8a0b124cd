/* SPDX-License-Identifier: MIT */
/* The tables a driver reports: segments, page-table levels, nodes, children. */
#include <string.h>

#include "port/port_private.h"

#define REFUSE(rule, ...)                          \
    do {                                           \
        VIOLATION(rule, __VA_ARGS__);              \
        return STATUS_DEVICE_CONFIGURATION_ERROR;  \
    } while (0)

/* Larger than any driver's structure: a driver that steps by its own sizeof is found out (CAPS-074). */
#define SEGMENT_STRIDE ((UINT)sizeof(DXGK_SEGMENTDESCRIPTOR4) + 32u)
#define MAX_SEGMENTS 31u

/* CAPS-072 to CAPS-074: asked twice, for the count and for the table. */
NTSTATUS port_query_segments(struct port_adapter *adapter)
{
    DXGK_QUERYSEGMENTIN4 in = {.PhysicalAdapterIndex = 0};
    DXGK_QUERYSEGMENTOUT4 *out = &adapter->segments;
    UINT count;
    NTSTATUS status;

    if (adapter->driver->table.Version < DXGKDDI_INTERFACE_VERSION_WDDM2_0) {
        NOTE("SEG-004", "drivers below WDDM 2.0 are not run by this host yet");
        return STATUS_NOT_SUPPORTED;
    }
    memset(out, 0, sizeof(*out));
    status = port_query(adapter, DXGKQAITYPE_QUERYSEGMENT4, &in, sizeof(in), out, sizeof(*out));
    if (!NT_SUCCESS(status))
        return status;
    count = out->NbSegment;
    if (count > MAX_SEGMENTS || (count == 0 && !adapter->ddi.compute_only))
        REFUSE("CAPS-073", "the driver reports %u segments", count);
    adapter->segment_table = util_zalloc(count + 1, SEGMENT_STRIDE);
    if (!adapter->segment_table)
        return STATUS_NO_MEMORY;
    {
        DXGKARG_QUERYADAPTERINFO args;
        DXGK_QUERYSEGMENTIN4 copy = in;

        memset(out, 0, sizeof(*out));
        out->NbSegment = count;
        out->pSegmentDescriptor = adapter->segment_table;
        out->SegmentDescriptorStride = SEGMENT_STRIDE;
        memset(&args, 0, sizeof(args));
        args.Type = DXGKQAITYPE_QUERYSEGMENT4;
        args.pInputData = &copy;
        args.InputDataSize = sizeof(copy);
        args.pOutputData = out;
        args.OutputDataSize = sizeof(*out);
        status = ddi_query_adapter_info(&adapter->ddi, &args);
    }
    if (!NT_SUCCESS(status))
        return status;
    if (out->NbSegment != count)
        REFUSE("CAPS-073", "the driver reported %u segments first and %u then", count, out->NbSegment);
    if (out->pSegmentDescriptor != adapter->segment_table || out->SegmentDescriptorStride != SEGMENT_STRIDE)
        REFUSE("CAPS-074", "the driver changed pSegmentDescriptor or SegmentDescriptorStride");
    for (UINT i = 0; i < count; i++)
        for (UINT byte = sizeof(DXGK_SEGMENTDESCRIPTOR4); byte < SEGMENT_STRIDE; byte++)
            if (adapter->segment_table[i * SEGMENT_STRIDE + byte])
                REFUSE("CAPS-074", "the driver stepped by another distance than SegmentDescriptorStride %u", SEGMENT_STRIDE);
    if (out->PagingBufferSegmentId > count)
        REFUSE("CAPS-075", "PagingBufferSegmentId %u is above the %u segments", out->PagingBufferSegmentId, count);
    if (out->PagingBufferSegmentId) {
        const DXGK_SEGMENTDESCRIPTOR4 *d =
            (const void *)(adapter->segment_table + (out->PagingBufferSegmentId - 1) * SEGMENT_STRIDE);

        if (!d->Flags.Aperture)
            REFUSE("CAPS-075", "PagingBufferSegmentId %u is no aperture segment", out->PagingBufferSegmentId);
    }
    if (out->PagingBufferSize == 0)
        REFUSE("CAPS-077", "PagingBufferSize is 0");
    adapter->segment_count = count;
    return STATUS_SUCCESS;
}

static NTSTATUS check_levels(struct port_adapter *adapter)
{
    const DXGK_GPUMMUCAPS *mmu = &adapter->mmu;
    UINT bits = 12;

    for (UINT i = 0; i < mmu->PageTableLevelCount; i++) {
        const DXGK_PAGE_TABLE_LEVEL_DESC *l = &adapter->level[i];
        bool resizable = mmu->PageTableLevelCount == 2 && i == 1;

        if (!resizable && (!l->PageTableIndexBitCount || !l->PageTableSizeInBytes))
            REFUSE("CAPS-092", "level %u: %u index bits, %llu bytes", i, l->PageTableIndexBitCount, (unsigned long long)l->PageTableSizeInBytes);
        if (l->PageTableSizeInBytes % PAGE_BYTES ||
            (l->PageTableSizeInBytes > PAGE_BYTES && (l->PageTableSegmentId == 0 || l->PagingProcessPageTableSegmentId == 0)))
            REFUSE("CAPS-092", "level %u: %llu bytes in segment %u (paging process: %u)", i, (unsigned long long)l->PageTableSizeInBytes,
                   l->PageTableSegmentId, l->PagingProcessPageTableSegmentId);
        if (l->PageTableSegmentId > adapter->segment_count || l->PagingProcessPageTableSegmentId > adapter->segment_count)
            REFUSE("CAPS-093", "level %u names segment %u or %u of %u", i, l->PageTableSegmentId, l->PagingProcessPageTableSegmentId,
                   adapter->segment_count);
        bits += l->PageTableIndexBitCount;
    }
    if (mmu->VirtualAddressBitCount > 63)
        REFUSE("CAPS-093", "VirtualAddressBitCount is %u", mmu->VirtualAddressBitCount);
    if (mmu->PageTableLevelCount > 2 ? bits < mmu->VirtualAddressBitCount
                                     : mmu->VirtualAddressBitCount <= 12 + adapter->level[0].PageTableIndexBitCount)
        REFUSE("CAPS-093", "VirtualAddressBitCount is %u, but the levels translate %u bits", mmu->VirtualAddressBitCount, bits);
    if (adapter->caps.InternalGpuVirtualAddressRangeEnd > 1ull << mmu->VirtualAddressBitCount)
        REFUSE("CAPS-040", "InternalGpuVirtualAddressRangeEnd 0x%llx is beyond %u bits",
               (unsigned long long)adapter->caps.InternalGpuVirtualAddressRangeEnd, mmu->VirtualAddressBitCount);
    return STATUS_SUCCESS;
}

NTSTATUS port_query_mmu(struct port_adapter *adapter)
{
    DXGK_QUERYGPUMMUCAPSIN in = {.PhysicalAdapterIndex = 0};
    NTSTATUS status;

    if (!adapter->gpu_mmu)
        return STATUS_SUCCESS;
    memset(&adapter->mmu, 0, sizeof(adapter->mmu));
    status = port_query(adapter, DXGKQAITYPE_GPUMMUCAPS, &in, sizeof(in), &adapter->mmu, sizeof(adapter->mmu));
    if (!NT_SUCCESS(status))
        return status;
    if (adapter->mmu.PageTableLevelCount < DXGK_MIN_PAGE_TABLE_LEVEL_COUNT || adapter->mmu.PageTableLevelCount > DXGK_MAX_PAGE_TABLE_LEVEL_COUNT)
        REFUSE("CAPS-085", "PageTableLevelCount is %u", adapter->mmu.PageTableLevelCount);
    if (adapter->mmu.PageTableLevelCount == 2 && !ddi_has(&adapter->ddi, DxgkDdiGetRootPageTableSize))
        REFUSE("GPUVA-004", "two page-table levels need DxgkDdiGetRootPageTableSize");
    for (UINT i = 0; i < adapter->mmu.PageTableLevelCount; i++) {
        DXGK_QUERYPAGETABLELEVELDESCIN level = {.LevelIndex = (WORD)i, .PhysicalAdapterIndex = 0};

        memset(&adapter->level[i], 0, sizeof(adapter->level[i]));
        status = port_query(adapter, DXGKQAITYPE_PAGETABLELEVELDESC, &level, sizeof(level), &adapter->level[i], sizeof(adapter->level[i]));
        if (!NT_SUCCESS(status))
            return status;
    }
    return check_levels(adapter);
}

NTSTATUS port_query_nodes(struct port_adapter *adapter)
{
    UINT three_d = 0;

    if (adapter->driver->table.Version < DXGKDDI_INTERFACE_VERSION_WDDM1_3)
        return STATUS_SUCCESS;
    for (UINT i = 0; i < adapter->nodes; i++) {
        DXGKARG_GETNODEMETADATA *metadata = &adapter->node[i].metadata;
        bool terminated = false;
        NTSTATUS status;

        memset(metadata, 0, sizeof(*metadata));
        status = ddi_get_node_metadata(&adapter->ddi, i, metadata);
        if (!NT_SUCCESS(status))
            REFUSE("CAPS-097", "DxgkDdiGetNodeMetadata of node %u failed with 0x%08x", i, (unsigned)status);
        if ((UINT)metadata->EngineType >= DXGK_ENGINE_TYPE_MAX)
            REFUSE("CAPS-100", "node %u has engine type %d", i, (int)metadata->EngineType);
        for (UINT c = 0; c < sizeof(metadata->FriendlyName) / sizeof(metadata->FriendlyName[0]); c++)
            terminated |= metadata->FriendlyName[c] == 0;
        if (!terminated || (metadata->EngineType == DXGK_ENGINE_TYPE_OTHER) != (metadata->FriendlyName[0] != 0))
            REFUSE("CAPS-101", "the FriendlyName of node %u must be %s", i,
                   metadata->EngineType == DXGK_ENGINE_TYPE_OTHER ? "a terminated string" : "empty");
        three_d += metadata->EngineType == DXGK_ENGINE_TYPE_3D;
        /* CAPS-102: the metadata name the addressing mode of the node. */
        adapter->node[i].virtual_addressing = adapter->gpu_mmu && metadata->GpuMmuSupported;
    }
    if (three_d > 1)
        WARNING("CAPS-100", "%u nodes are of type 3D", three_d);
    if (adapter->driver->table.Version >= DXGKDDI_INTERFACE_VERSION_WDDM2_0 && adapter->caps.MemoryManagementCaps.GpuMmuSupported &&
        adapter->caps.MemoryManagementCaps.IoMmuSupported) {
        for (UINT i = 0; i < adapter->nodes; i++)
            if (adapter->node[i].metadata.GpuMmuSupported != adapter->node[i].metadata.IoMmuSupported)
                REFUSE("CAPS-061", "GpuMmu and IoMmu are given to different nodes (node %u)", i);
        NOTE("CAPS-061", "GpuMmu and IoMmu are both offered; GpuMmu is used");
    }
    return STATUS_SUCCESS;
}

NTSTATUS port_query_children(struct port_adapter *adapter, ULONG children)
{
    ULONG bytes = (children + 1) * (ULONG)sizeof(DXGK_CHILD_DESCRIPTOR);
    DXGK_CHILD_DESCRIPTOR *list;
    DXGK_CHILD_DESCRIPTOR zero;
    NTSTATUS status = STATUS_SUCCESS;

    if (!ddi_has(&adapter->ddi, DxgkDdiQueryChildRelations)) {
        if (children || adapter->ddi.compute_only)
            REFUSE("LIFE-074", "DxgkDdiQueryChildRelations is NULL");
        return STATUS_SUCCESS;
    }
    list = util_zalloc(1, bytes);
    if (!list)
        return STATUS_NO_MEMORY;
    memset(&zero, 0, sizeof(zero));
    status = ddi_query_child_relations(&adapter->ddi, list, bytes);
    if (NT_SUCCESS(status) && memcmp(&list[children], &zero, sizeof(zero)) != 0)
        VIOLATION("LIFE-076", "the terminating child descriptor was changed");
    for (ULONG i = 0; NT_SUCCESS(status) && i < children; i++) {
        if (list[i].ChildDeviceType != TypeOther) {
            VIOLATION("LIFE-079", "child %u is a video output; a render-only adapter has none", (unsigned)i);
            status = STATUS_DEVICE_CONFIGURATION_ERROR;
        }
    }
    util_free(list);
    return status;
}
