/* SPDX-License-Identifier: MIT */
/* The segment table, and the parts of segments that must not be used. */
#include <string.h>

#include "port/query/segments.h"
#include "ddi/ddi.h"
#include "port/query/query.h"
#include "port/query/segment_count.h"
#include "port/query/segments_1x.h"
#include "port/record/adapter_record.h"
#include "port/record/port_refuse.h"
#include "util/alloc.h"
#include "util/checked.h"
#include "vidmm/record/vidmm_config.h"

/* CAPS-074: the distance of two descriptors. In strict mode it is larger than the structure of any
 * version, to catch a driver that steps by its own sizeof; such a driver runs on Windows, which
 * passes the size of the structure. */
static UINT segment_stride(void)
{
    const UINT bytes = (UINT)sizeof(DXGK_SEGMENTDESCRIPTOR4);

    return verify_current && verify_strict(verify_current) ? bytes + 32 : bytes;
}

#define MAX_BAD_RANGES 4096u

/* The first query: the number of segments (CAPS-072, CAPS-073). */
static NTSTATUS query_count(struct port_adapter *adapter, UINT *count)
{
    DXGK_QUERYSEGMENTIN4 in = {.PhysicalAdapterIndex = 0};
    DXGK_QUERYSEGMENTOUT4 out;
    NTSTATUS status;

    memset(&out, 0, sizeof(out));
    status = port_query(adapter, DXGKQAITYPE_QUERYSEGMENT4, &in, sizeof(in), &out, sizeof(out));
    if (!NT_SUCCESS(status))
        return status;
    *count = out.NbSegment;
    return port_segment_count_check(adapter, out.NbSegment);
}

/* Did the driver step by the distance that it was told? The element behind the last is a guard. */
static void check_stride(struct port_adapter *adapter, UINT count, UINT stride)
{
    for (UINT i = 0; i <= count; i++)
        for (UINT byte = i < count ? sizeof(DXGK_SEGMENTDESCRIPTOR4) : 0; byte < stride; byte++)
            if (adapter->segments.table[i * stride + byte]) {
                PORT_FINDING(
                    adapter, "CAPS-074",
                    "the driver stepped by another distance than SegmentDescriptorStride %u",
                    stride);
                return;
            }
}

static NTSTATUS query_table(struct port_adapter *adapter, UINT count)
{
    DXGK_QUERYSEGMENTIN4 in = {.PhysicalAdapterIndex = 0};
    DXGK_QUERYSEGMENTOUT4 *out = &adapter->segments.out;
    const UINT stride = segment_stride();
    NTSTATUS status;

    memset(out, 0, sizeof(*out));
    out->NbSegment = count;
    out->pSegmentDescriptor = adapter->segments.table;
    out->SegmentDescriptorStride = stride;
    status = port_query(adapter, DXGKQAITYPE_QUERYSEGMENT4, &in, sizeof(in), out, sizeof(*out));
    if (!NT_SUCCESS(status))
        return status;
    if (out->pSegmentDescriptor != adapter->segments.table ||
        out->SegmentDescriptorStride != stride) {
        PORT_FINDING(adapter, "CAPS-074",
                     "the driver changed pSegmentDescriptor or SegmentDescriptorStride");
        out->pSegmentDescriptor = adapter->segments.table;
        out->SegmentDescriptorStride = stride;
    }
    check_stride(adapter, count, stride);
    adapter->segments.count = port_segment_count_agree(adapter, count, out->NbSegment);
    return STATUS_SUCCESS;
}

/* Whether something may have to be written into a paging buffer, ever (CAPS-077). */
static bool pages_with_buffers(const struct port_adapter *adapter)
{
    return adapter->segments.count > 0 ||
           (adapter->caps.gpu_mmu &&
            adapter->mmu.caps.PageTableUpdateMode != DXGK_PAGETABLEUPDATE_CPU_VIRTUAL);
}

static NTSTATUS check_paging_buffer(struct port_adapter *adapter)
{
    DXGK_QUERYSEGMENTOUT4 *out = &adapter->segments.out;
    UINT id = out->PagingBufferSegmentId;

    if (id > adapter->segments.count)
        PORT_REFUSE("CAPS-075", "PagingBufferSegmentId %u is above the %u segments", id,
                    adapter->segments.count);
    if (id && !port_segment(adapter, id - 1)->Flags.Aperture) {
        PORT_FINDING(adapter, "CAPS-075", "PagingBufferSegmentId %u is no aperture segment", id);
        out->PagingBufferSegmentId = 0;
    }
    if (out->PagingBufferSize == 0 && pages_with_buffers(adapter)) {
        PORT_FINDING(adapter, "CAPS-077", "PagingBufferSize is 0");
        out->PagingBufferSize = PAGE_BYTES;
    }
    return STATUS_SUCCESS;
}

static void check_flags(struct port_adapter *adapter)
{
    const struct ddi_adapter *d = &adapter->ddi;

    for (UINT i = 0; i < adapter->segments.count; i++) {
        DXGK_SEGMENTFLAGS *flags = &port_segment(adapter, i)->Flags;

        if (flags->SupportsCpuHostAperture &&
            (!ddi_has(d, DxgkDdiMapCpuHostAperture) || !ddi_has(d, DxgkDdiUnmapCpuHostAperture))) {
            PORT_FINDING(
                adapter, "LIFE-034",
                "segment %u: SupportsCpuHostAperture, but MapCpuHostAperture or UnmapCpuHostAperture is NULL",
                i + 1);
            flags->SupportsCpuHostAperture = flags->SupportsCachedCpuHostAperture = 0;
        }
        if (d->compute_only && (flags->UseBanking || flags->Agp)) {
            PORT_FINDING(adapter, "CAPS-081",
                         "segment %u: a compute-only driver reports linear segments only", i + 1);
            flags->UseBanking = 0;
        }
    }
}

/* ---- invalid memory ranges ---- */

/* CAPS-082, CAPS-083: queried only for segments that have such ranges. */
static NTSTATUS query_bad_ranges(struct port_adapter *adapter, UINT index, DXGK_MEMORYRANGE *ranges,
                                 UINT count)
{
    DXGK_QUERYSEGMENTMEMORYSTATE in;
    DXGKARG_QUERYADAPTERINFO args;

    memset(&in, 0, sizeof(in));
    in.DriverSegmentId = (WORD)(index + 1);
    in.NumInvalidMemoryRanges = count;
    in.pMemoryRanges = ranges;
    memset(&args, 0, sizeof(args));
    args.Type = DXGKQAITYPE_SEGMENTMEMORYSTATE;
    args.pInputData = &in;
    args.InputDataSize = sizeof(in);
    args.pOutputData = ranges;
    args.OutputDataSize = count * (UINT)sizeof(*ranges);
    return ddi_query_adapter_info(&adapter->ddi, &args);
}

/* Turn the range into whole pages inside the segment that no range before it has (CAPS-083). */
static void mend_bad_range(const DXGK_SEGMENTDESCRIPTOR4 *segment, uint64_t page,
                           DXGK_MEMORYRANGE *range, const struct vidmm_bad_range *before, UINT count)
{
    uint64_t start = align_down(range->SegmentOffset, page), end;

    if (ckd_add(&end, range->SegmentOffset, range->SizeInBytes) || end > segment->Size)
        end = segment->Size;
    end = align_up(end, page) > segment->Size ? align_down(segment->Size, page)
                                              : align_up(end, page);
    for (UINT i = 0; i < count && start < end; i++) {
        const uint64_t taken = before[i].range.SegmentOffset;
        const uint64_t taken_end = taken + before[i].range.SizeInBytes;

        if (taken_end <= start || taken >= end)
            continue;
        if (taken <= start)
            start = taken_end;
        else
            end = taken;
    }
    range->SegmentOffset = start;
    range->SizeInBytes = start < end ? end - start : 0;
}

/* `before`: the ranges of the same segment that were taken before it. */
static void check_bad_range(struct port_adapter *adapter, UINT index, DXGK_MEMORYRANGE *range,
                            const struct vidmm_bad_range *before, UINT count)
{
    const DXGK_SEGMENTDESCRIPTOR4 *segment = port_segment(adapter, index);
    uint64_t page = segment->Flags.Use64KBPages && !segment->Flags.Aperture ? 65536u : PAGE_BYTES;
    bool good = true;

    if (range->SizeInBytes == 0 || (range->SegmentOffset | range->SizeInBytes) & (page - 1) ||
        !range_inside(range->SegmentOffset, range->SizeInBytes, segment->Size)) {
        PORT_EXPECTED(
            adapter, "CAPS-083",
            "segment %u: invalid memory range 0x%llx + 0x%llx is not in whole pages of the segment",
            index + 1, (unsigned long long)range->SegmentOffset,
            (unsigned long long)range->SizeInBytes);
        good = false;
    }
    for (UINT i = 0; i < count && good; i++)
        if (ranges_overlap(range->SegmentOffset, range->SizeInBytes, before[i].range.SegmentOffset,
                           before[i].range.SizeInBytes)) {
            PORT_EXPECTED(adapter, "CAPS-083", "segment %u: invalid memory ranges overlap at 0x%llx",
                          index + 1, (unsigned long long)range->SegmentOffset);
            good = false;
        }
    if (!good)
        mend_bad_range(segment, page, range, before, count);
}

static NTSTATUS take_bad_ranges(struct port_adapter *adapter, UINT index)
{
    struct port_segments *segments = &adapter->segments;
    const struct vidmm_bad_range *before = &segments->bad_range[segments->bad_range_count];
    UINT count = port_segment(adapter, index)->NumInvalidMemoryRanges, taken = 0;
    DXGK_MEMORYRANGE *ranges = util_zalloc(count, sizeof(*ranges));
    NTSTATUS status;

    if (!ranges)
        return STATUS_NO_MEMORY;
    status = query_bad_ranges(adapter, index, ranges, count);
    for (UINT i = 0; i < count && NT_SUCCESS(status); i++) {
        check_bad_range(adapter, index, &ranges[i], before, taken);
        if (ranges[i].SizeInBytes == 0)
            continue;
        segments->bad_range[segments->bad_range_count++] = (struct vidmm_bad_range){index + 1,
                                                                                    ranges[i]};
        taken++;
    }
    util_free(ranges);
    return status;
}

static NTSTATUS query_memory_state(struct port_adapter *adapter)
{
    uint64_t total = 0;

    for (UINT i = 0; i < adapter->segments.count; i++)
        total += port_segment(adapter, i)->NumInvalidMemoryRanges;
    if (total == 0)
        return STATUS_SUCCESS;
    if (total > MAX_BAD_RANGES)
        PORT_REFUSE("CAPS-083", "the segments have %llu invalid memory ranges",
                    (unsigned long long)total);
    adapter->segments.bad_range = util_zalloc(total, sizeof(*adapter->segments.bad_range));
    if (!adapter->segments.bad_range)
        return STATUS_NO_MEMORY;
    for (UINT i = 0; i < adapter->segments.count; i++) {
        NTSTATUS status = port_segment(adapter, i)->NumInvalidMemoryRanges
                              ? take_bad_ranges(adapter, i)
                              : STATUS_SUCCESS;

        if (!NT_SUCCESS(status))
            return status;
    }
    return STATUS_SUCCESS;
}

static NTSTATUS query_segments_2x(struct port_adapter *adapter)
{
    UINT count;
    NTSTATUS status = query_count(adapter, &count);

    if (!NT_SUCCESS(status))
        return status;
    adapter->segments.table = util_zalloc(count + 1, segment_stride());
    return adapter->segments.table ? query_table(adapter, count) : STATUS_NO_MEMORY;
}

/* SEG-002 to SEG-004, CAPS-071 */
NTSTATUS port_segments_query(struct port_adapter *adapter)
{
    NTSTATUS status = port_model_version(adapter) < DXGKDDI_INTERFACE_VERSION_WDDM2_0
                          ? port_segments_1x_query(adapter)
                          : query_segments_2x(adapter);

    if (NT_SUCCESS(status))
        status = check_paging_buffer(adapter);
    if (!NT_SUCCESS(status))
        return status;
    check_flags(adapter);
    return query_memory_state(adapter);
}

void port_segments_forget(struct port_adapter *adapter)
{
    struct port_segments *segments = &adapter->segments;

    util_free(segments->table);
    util_free(segments->bad_range);
    util_free(segments->bank);
    segments->table = NULL;
    segments->bank = NULL;
    segments->bank_count = 0;
    segments->bad_range = NULL;
    segments->bad_range_count = 0;
}
