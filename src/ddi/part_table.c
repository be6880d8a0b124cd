/* SPDX-License-Identifier: MIT */
/*
 * What the structures of DDIs point to. Every pointer that the host sets is here, but for these:
 *
 *  - handles, which no driver follows;
 *  - what the entries of submission and paging point to (DXGKARG_RENDER, _PATCH, _SUBMITCOMMAND,
 *    _SUBMITCOMMANDVIRTUAL, _CANCELCOMMAND, _BUILDPAGINGBUFFER): DMA buffers are memory of the
 *    machine; private data, lists, page table entries and pages of ADLs live longer than a call,
 *    and have zones of their own (guarded.h); commands and the list that comes
 *    in with them are the client's memory (PATCH-061);
 *  - MDLs of paging operations, which drivers keep until the GPU is done;
 *  - DXGKARG_SETALLOCATIONBACKINGSTORE.pBackingStore: the memory itself is meant, and is kept;
 *  - DXGKARG_CREATEDEVICE.pInfo is in a union with Flags: only a driver without contexts gets it;
 *  - QUERY_INTERFACE.InterfaceSpecificData is a value;
 *  - DXGK_ALLOCATIONINFO.pAllocationUsageHint, NbOfBanks' table and the like are set by the driver,
 *    and are its own memory;
 *  - what DxgkDdiStartDevice and DriverEntry get stays apart from all other memory after them, to
 *    see who uses it then (port/start.c, port/driver.c).
 */
#include "ddi/part.h"

#include <ntddk.h>
#include <dispmprt.h>
#include <dxgk_wddm3_2.h>

#define POINTER(type, member) .pointer = offsetof(type, member)
#define COUNTED_BY(type, member, bytes_each)                                              \
    .count = offsetof(type, member), .counted = (unsigned)sizeof(((type *)NULL)->member), \
    .each = (bytes_each)
#define NO_MORE      \
    {                \
        .what = NULL \
    }

/* ---- DXGKARG_QUERYADAPTERINFO ---- */

typedef DXGKARG_QUERYADAPTERINFO query_info;

static bool is_answer_of(const void *structure, DXGK_QUERYADAPTERINFOTYPE type, size_t bytes)
{
    const query_info *args = structure;

    return args->Type == type && args->OutputDataSize >= bytes;
}

static bool is_segments(const void *structure)
{
    return is_answer_of(structure, DXGKQAITYPE_QUERYSEGMENT, sizeof(DXGK_QUERYSEGMENTOUT));
}

static bool is_segments_3(const void *structure)
{
    return is_answer_of(structure, DXGKQAITYPE_QUERYSEGMENT3, sizeof(DXGK_QUERYSEGMENTOUT3));
}

static bool is_segments_4(const void *structure)
{
    return is_answer_of(structure, DXGKQAITYPE_QUERYSEGMENT4, sizeof(DXGK_QUERYSEGMENTOUT4));
}

static bool is_reserved_ranges(const void *structure)
{
    return is_answer_of(structure, DXGKQAITYPE_HARDWARERESERVEDRANGES,
                        sizeof(DXGK_HARDWARERESERVEDRANGES));
}

static bool is_memory_state(const void *structure)
{
    const query_info *args = structure;

    return args->Type == DXGKQAITYPE_SEGMENTMEMORYSTATE &&
           args->InputDataSize >= sizeof(DXGK_QUERYSEGMENTMEMORYSTATE);
}

static bool is_other_input(const void *structure)
{
    return !is_memory_state(structure);
}

static size_t input_bytes(const void *structure)
{
    return ((const query_info *)structure)->InputDataSize;
}

static size_t output_bytes(const void *structure)
{
    return ((const query_info *)structure)->OutputDataSize;
}

/* With the element behind the last, which the queries for segments watch (CAPS-072, CAPS-074). */
static size_t segments_bytes(const void *structure)
{
    return ((size_t)((const DXGK_QUERYSEGMENTOUT *)structure)->NbSegment + 1) *
           sizeof(DXGK_SEGMENTDESCRIPTOR);
}

static size_t segments_3_bytes(const void *structure)
{
    return ((size_t)((const DXGK_QUERYSEGMENTOUT3 *)structure)->NbSegment + 1) *
           sizeof(DXGK_SEGMENTDESCRIPTOR3);
}

static size_t segments_4_bytes(const void *structure)
{
    const DXGK_QUERYSEGMENTOUT4 *out = structure;

    return ((size_t)out->NbSegment + 1) * out->SegmentDescriptorStride;
}

static const struct ddi_part segments[] = {
    {POINTER(DXGK_QUERYSEGMENTOUT, pSegmentDescriptor), .bytes = segments_bytes,
     .what = "the segment descriptors of DXGK_QUERYSEGMENTOUT", .way = DDI_PART_BACK},
    NO_MORE};
static const struct ddi_part segments_3[] = {
    {POINTER(DXGK_QUERYSEGMENTOUT3, pSegmentDescriptor), .bytes = segments_3_bytes,
     .what = "the segment descriptors of DXGK_QUERYSEGMENTOUT3", .way = DDI_PART_BACK},
    NO_MORE};
static const struct ddi_part segments_4[] = {
    {POINTER(DXGK_QUERYSEGMENTOUT4, pSegmentDescriptor), .bytes = segments_4_bytes,
     .what = "the segment descriptors of DXGK_QUERYSEGMENTOUT4", .way = DDI_PART_BACK, .told = true},
    NO_MORE};
static const struct ddi_part reserved_ranges[] = {
    {POINTER(DXGK_HARDWARERESERVEDRANGES, pPhysicalRanges),
     COUNTED_BY(DXGK_HARDWARERESERVEDRANGES, NumRanges, sizeof(DXGK_PHYSICAL_MEMORY_RANGE)),
     .what = "the ranges of DXGK_HARDWARERESERVEDRANGES", .way = DDI_PART_BACK, .told = true},
    NO_MORE};
static const struct ddi_part memory_state[] = {
    {POINTER(DXGK_QUERYSEGMENTMEMORYSTATE, pMemoryRanges),
     COUNTED_BY(DXGK_QUERYSEGMENTMEMORYSTATE, NumInvalidMemoryRanges, sizeof(DXGK_MEMORYRANGE)),
     .what = "the memory ranges of DXGK_QUERYSEGMENTMEMORYSTATE", .way = DDI_PART_BACK},
    NO_MORE};

#define OUTPUT                                                                           \
    POINTER(query_info, pOutputData), .bytes = output_bytes,                             \
                                      .what = "pOutputData of DXGKARG_QUERYADAPTERINFO", \
                                      .rule = "CAPS-005", .way = DDI_PART_BACK
#define INPUT                                              \
    POINTER(query_info, pInputData), .bytes = input_bytes, \
                                     .what = "pInputData of DXGKARG_QUERYADAPTERINFO"

const struct ddi_part ddi_parts_query_adapter_info[] = {
    {OUTPUT, .applies = is_segments, .inner = segments},
    {OUTPUT, .applies = is_segments_3, .inner = segments_3},
    {OUTPUT, .applies = is_segments_4, .inner = segments_4},
    {OUTPUT, .applies = is_reserved_ranges, .inner = reserved_ranges},
    {OUTPUT}, /* after one of those, a second pointer to the same */
    {INPUT, .applies = is_memory_state, .inner = memory_state},
    {INPUT, .applies = is_other_input, .constant = "CAPS-007"},
    NO_MORE};

/* ---- the adapter's life ---- */

const struct ddi_part ddi_parts_query_device_descriptor[] = {
    {POINTER(DXGK_DEVICE_DESCRIPTOR, DescriptorBuffer),
     COUNTED_BY(DXGK_DEVICE_DESCRIPTOR, DescriptorLength, 1),
     .what = "the buffer of DXGK_DEVICE_DESCRIPTOR", .rule = "LIFE-081", .way = DDI_PART_BACK},
    NO_MORE};

const struct ddi_part ddi_parts_escape[] = {{POINTER(DXGKARG_ESCAPE, pPrivateDriverData),
                                             COUNTED_BY(DXGKARG_ESCAPE, PrivateDriverDataSize, 1),
                                             .what = "the private data of DXGKARG_ESCAPE",
                                             .way = DDI_PART_BACK},
                                            NO_MORE};

const struct ddi_part ddi_parts_query_interface[] = {
    {POINTER(QUERY_INTERFACE, InterfaceType), .each = sizeof(GUID),
     .what = "InterfaceType of QUERY_INTERFACE"},
    {POINTER(QUERY_INTERFACE, Interface), COUNTED_BY(QUERY_INTERFACE, Size, 1),
     .what = "Interface of QUERY_INTERFACE", .rule = "LIFE-131", .way = DDI_PART_BACK},
    NO_MORE};

const struct ddi_part ddi_parts_dispatch_io_request[] = {
    {POINTER(VIDEO_REQUEST_PACKET, StatusBlock), .each = sizeof(STATUS_BLOCK),
     .what = "StatusBlock of VIDEO_REQUEST_PACKET", .way = DDI_PART_BACK},
    {POINTER(VIDEO_REQUEST_PACKET, OutputBuffer),
     COUNTED_BY(VIDEO_REQUEST_PACKET, OutputBufferLength, 1),
     .what = "OutputBuffer of VIDEO_REQUEST_PACKET", .way = DDI_PART_BACK},
    {POINTER(VIDEO_REQUEST_PACKET, InputBuffer),
     COUNTED_BY(VIDEO_REQUEST_PACKET, InputBufferLength, 1),
     .what = "InputBuffer of VIDEO_REQUEST_PACKET"},
    NO_MORE};

const struct ddi_part ddi_parts_collect_dbg_info[] = {
    {POINTER(DXGKARG_COLLECTDBGINFO, pBuffer), COUNTED_BY(DXGKARG_COLLECTDBGINFO, BufferSize, 1),
     .what = "the buffer of DXGKARG_COLLECTDBGINFO", .rule = "LIFE-141", .way = DDI_PART_BACK},
    {POINTER(DXGKARG_COLLECTDBGINFO, pExtension), .each = sizeof(DXGKARG_COLLECTDBGINFO_EXT),
     .what = "DXGKARG_COLLECTDBGINFO_EXT", .way = DDI_PART_BACK},
    NO_MORE};

/* ---- processes, devices, contexts ---- */

/* The length is that without the end of the text. */
static size_t process_name_bytes(const void *structure)
{
    const DXGKARG_CREATEPROCESS *args = structure;

    return ((size_t)args->ProcessNameLength + 1) * sizeof(WCHAR);
}

const struct ddi_part ddi_parts_create_process[] = {
    {POINTER(DXGKARG_CREATEPROCESS, pPasid),
     COUNTED_BY(DXGKARG_CREATEPROCESS, NumPasid, sizeof(ULONG)),
     .what = "pPasid of DXGKARG_CREATEPROCESS"},
    {POINTER(DXGKARG_CREATEPROCESS, pProcessName), .bytes = process_name_bytes,
     .what = "pProcessName of DXGKARG_CREATEPROCESS"},
    NO_MORE};

const struct ddi_part ddi_parts_create_device_info[] = {
    {POINTER(DXGKARG_CREATEDEVICE, pInfo), .each = sizeof(DXGK_DEVICEINFO),
     .what = "DXGK_DEVICEINFO", .way = DDI_PART_BACK},
    NO_MORE};

const struct ddi_part ddi_parts_create_context[] = {
    {POINTER(DXGKARG_CREATECONTEXT, pPrivateDriverData),
     COUNTED_BY(DXGKARG_CREATECONTEXT, PrivateDriverDataSize, 1),
     .what = "the private data of DXGKARG_CREATECONTEXT"},
    NO_MORE};

/* Not HwQueueProgressFenceCPUVirtualAddress: the memory itself is meant, and is kept. */
const struct ddi_part ddi_parts_create_hw_context[] = {
    {POINTER(DXGKARG_CREATEHWCONTEXT, pPrivateDriverData),
     COUNTED_BY(DXGKARG_CREATEHWCONTEXT, PrivateDriverDataSize, 1),
     .what = "the private data of DXGKARG_CREATEHWCONTEXT"},
    NO_MORE};

const struct ddi_part ddi_parts_create_hw_queue[] = {
    {POINTER(DXGKARG_CREATEHWQUEUE, pPrivateDriverData),
     COUNTED_BY(DXGKARG_CREATEHWQUEUE, PrivateDriverDataSize, 1),
     .what = "the private data of DXGKARG_CREATEHWQUEUE"},
    NO_MORE};

/* SUBMIT-116: valid during the call alone, unlike that of the other submissions. */
const struct ddi_part ddi_parts_submit_to_hw_queue[] = {
    {POINTER(DXGKARG_SUBMITCOMMANDTOHWQUEUE, pDmaBufferPrivateData),
     COUNTED_BY(DXGKARG_SUBMITCOMMANDTOHWQUEUE, DmaBufferPrivateDataSize, 1),
     .what = "the private data of DXGKARG_SUBMITCOMMANDTOHWQUEUE"},
    NO_MORE};

/* ---- native fences ---- */

/* Not CurrentValueCpuVa, an address of the client. */
const struct ddi_part ddi_parts_create_native_fence[] = {
    {POINTER(DXGKARG_CREATENATIVEFENCE, pPrivateDriverData),
     COUNTED_BY(DXGKARG_CREATENATIVEFENCE, PrivateDriverDataSize, 1),
     .what = "the private data of DXGKARG_CREATENATIVEFENCE", .way = DDI_PART_BACK},
    NO_MORE};

const struct ddi_part ddi_parts_monitored_values[] = {
    {POINTER(DXGKARG_UPDATEMONITOREDVALUES, NativeFenceArray),
     COUNTED_BY(DXGKARG_UPDATEMONITOREDVALUES, UpdatedValueCount, sizeof(HANDLE)),
     .what = "NativeFenceArray of DXGKARG_UPDATEMONITOREDVALUES"},
    {POINTER(DXGKARG_UPDATEMONITOREDVALUES, UpdatedValueArray),
     COUNTED_BY(DXGKARG_UPDATEMONITOREDVALUES, UpdatedValueCount, sizeof(UINT64)),
     .what = "UpdatedValueArray of DXGKARG_UPDATEMONITOREDVALUES"},
    NO_MORE};

const struct ddi_part ddi_parts_current_values[] = {
    {POINTER(DXGKARG_NOTIFYCURRENTVALUEUPDATES, NativeFenceArray),
     COUNTED_BY(DXGKARG_NOTIFYCURRENTVALUEUPDATES, UpdatedValueCount, sizeof(HANDLE)),
     .what = "NativeFenceArray of DXGKARG_NOTIFYCURRENTVALUEUPDATES"},
    NO_MORE};

const struct ddi_part ddi_parts_create_doorbell[] = {
    {POINTER(DXGKARG_CREATEDOORBELL, PrivateDriverData),
     COUNTED_BY(DXGKARG_CREATEDOORBELL, PrivateDriverDataSize, 1),
     .what = "the private data of DXGKARG_CREATEDOORBELL", .way = DDI_PART_BACK},
    NO_MORE};

/* ---- displays ---- */

/* Not pSource, the image, which lives until the present is complete (PRES-206). */
const struct ddi_part ddi_parts_present_display_only[] = {
    {POINTER(DXGKARG_PRESENT_DISPLAYONLY, pMoves),
     COUNTED_BY(DXGKARG_PRESENT_DISPLAYONLY, NumMoves, sizeof(D3DKMT_MOVE_RECT)),
     .what = "pMoves of DXGKARG_PRESENT_DISPLAYONLY"},
    {POINTER(DXGKARG_PRESENT_DISPLAYONLY, pDirtyRect),
     COUNTED_BY(DXGKARG_PRESENT_DISPLAYONLY, NumDirtyRects, sizeof(RECT)),
     .what = "pDirtyRect of DXGKARG_PRESENT_DISPLAYONLY"},
    NO_MORE};

/* PRES-236: a monochrome shape has two masks. */
static size_t shape_bytes(const void *structure)
{
    const DXGKARG_SETPOINTERSHAPE *args = structure;

    return (size_t)args->Pitch * args->Height * (args->Flags.Monochrome ? 2 : 1);
}

const struct ddi_part ddi_parts_set_pointer_shape[] = {
    {POINTER(DXGKARG_SETPOINTERSHAPE, pPixels), .bytes = shape_bytes,
     .what = "pPixels of DXGKARG_SETPOINTERSHAPE"},
    NO_MORE};

/* VIDPN-122: the ramp is there during the call alone. */
const struct ddi_part ddi_parts_update_path[] = {
    {POINTER(DXGKARG_UPDATEACTIVEVIDPNPRESENTPATH, VidPnPresentPathInfo.GammaRamp.Data.pRaw),
     COUNTED_BY(DXGKARG_UPDATEACTIVEVIDPNPRESENTPATH, VidPnPresentPathInfo.GammaRamp.DataSize, 1),
     .what = "the gamma ramp of DXGKARG_UPDATEACTIVEVIDPNPRESENTPATH"},
    NO_MORE};

const struct ddi_part ddi_parts_set_gamma[] = {
    {POINTER(DXGKARG_SETTARGETGAMMA, GammaRamp.Data.pRaw),
     COUNTED_BY(DXGKARG_SETTARGETGAMMA, GammaRamp.DataSize, 1),
     .what = "the gamma ramp of DXGKARG_SETTARGETGAMMA"},
    NO_MORE};

const struct ddi_part ddi_parts_set_palette[] = {
    {POINTER(DXGKARG_SETPALETTE, pLookupTable),
     COUNTED_BY(DXGKARG_SETPALETTE, NumEntries, sizeof(D3DKMDT_PALETTEDATA)),
     .what = "pLookupTable of DXGKARG_SETPALETTE"},
    NO_MORE};

const struct ddi_part ddi_parts_recommend_vidpn[] = {
    {POINTER(DXGKARG_RECOMMENDFUNCTIONALVIDPN, pPrivateDriverData),
     COUNTED_BY(DXGKARG_RECOMMENDFUNCTIONALVIDPN, PrivateDriverDataSize, 1),
     .what = "the private data of DXGKARG_RECOMMENDFUNCTIONALVIDPN"},
    NO_MORE};

/* VIDPN-213: the host passes an array of structures. */
const struct ddi_part ddi_parts_set_timings[] = {
    {POINTER(DXGKARG_SETTIMINGSFROMVIDPN, pResultsFlags), .each = sizeof(DXGK_SET_TIMING_RESULTS),
     .what = "pResultsFlags of DXGKARG_SETTIMINGSFROMVIDPN", .way = DDI_PART_BACK},
    {POINTER(DXGKARG_SETTIMINGSFROMVIDPN, pSetTimingPathInfo),
     COUNTED_BY(DXGKARG_SETTIMINGSFROMVIDPN, PathCount, sizeof(DXGK_SET_TIMING_PATH_INFO)),
     .what = "pSetTimingPathInfo of DXGKARG_SETTIMINGSFROMVIDPN", .way = DDI_PART_BACK},
    NO_MORE};

/* ---- allocations ---- */

static const struct ddi_part allocation_info[] = {
    {POINTER(DXGK_ALLOCATIONINFO, pPrivateDriverData),
     COUNTED_BY(DXGK_ALLOCATIONINFO, PrivateDriverDataSize, 1),
     .what = "the private data of DXGK_ALLOCATIONINFO", .way = DDI_PART_BACK},
    NO_MORE};

const struct ddi_part ddi_parts_create_allocation[] = {
    {POINTER(DXGKARG_CREATEALLOCATION, pPrivateDriverData),
     COUNTED_BY(DXGKARG_CREATEALLOCATION, PrivateDriverDataSize, 1),
     .what = "the resource's private data of DXGKARG_CREATEALLOCATION"},
    {POINTER(DXGKARG_CREATEALLOCATION, pAllocationInfo),
     COUNTED_BY(DXGKARG_CREATEALLOCATION, NumAllocations, sizeof(DXGK_ALLOCATIONINFO)),
     .inner = allocation_info, .what = "pAllocationInfo of DXGKARG_CREATEALLOCATION",
     .way = DDI_PART_BACK},
    NO_MORE};

const struct ddi_part ddi_parts_destroy_allocation[] = {
    {POINTER(DXGKARG_DESTROYALLOCATION, pAllocationList),
     COUNTED_BY(DXGKARG_DESTROYALLOCATION, NumAllocations, sizeof(HANDLE)),
     .what = "pAllocationList of DXGKARG_DESTROYALLOCATION"},
    NO_MORE};

/* ALLOC-076, ALLOC-077: who opens says what becomes of changes. */
static const struct ddi_part open_info[] = {
    {POINTER(DXGK_OPENALLOCATIONINFO, pPrivateDriverData),
     COUNTED_BY(DXGK_OPENALLOCATIONINFO, PrivateDriverDataSize, 1),
     .what = "the private data of DXGK_OPENALLOCATIONINFO", .way = DDI_PART_BACK},
    NO_MORE};

const struct ddi_part ddi_parts_open_allocation[] = {
    {POINTER(DXGKARG_OPENALLOCATION, pOpenAllocation),
     COUNTED_BY(DXGKARG_OPENALLOCATION, NumAllocations, sizeof(DXGK_OPENALLOCATIONINFO)),
     .inner = open_info, .what = "pOpenAllocation of DXGKARG_OPENALLOCATION", .way = DDI_PART_BACK},
    {POINTER(DXGKARG_OPENALLOCATION, pPrivateDriverData),
     COUNTED_BY(DXGKARG_OPENALLOCATION, PrivateDriverSize, 1),
     .what = "the resource's private data of DXGKARG_OPENALLOCATION", .constant = "ALLOC-073"},
    NO_MORE};

const struct ddi_part ddi_parts_close_allocation[] = {
    {POINTER(DXGKARG_CLOSEALLOCATION, pOpenHandleList),
     COUNTED_BY(DXGKARG_CLOSEALLOCATION, NumAllocations, sizeof(HANDLE)),
     .what = "pOpenHandleList of DXGKARG_CLOSEALLOCATION"},
    NO_MORE};

const struct ddi_part ddi_parts_map_cpu_host_aperture[] = {
    {POINTER(DXGKARG_MAPCPUHOSTAPERTURE, pCpuHostAperturePages),
     COUNTED_BY(DXGKARG_MAPCPUHOSTAPERTURE, NumberOfPages, sizeof(UINT32)),
     .what = "pCpuHostAperturePages of DXGKARG_MAPCPUHOSTAPERTURE"},
    {POINTER(DXGKARG_MAPCPUHOSTAPERTURE, pMemorySegmentPages),
     COUNTED_BY(DXGKARG_MAPCPUHOSTAPERTURE, NumberOfPages, sizeof(UINT64)),
     .what = "pMemorySegmentPages of DXGKARG_MAPCPUHOSTAPERTURE"},
    NO_MORE};

const struct ddi_part ddi_parts_unmap_cpu_host_aperture[] = {
    {POINTER(DXGKARG_UNMAPCPUHOSTAPERTURE, pCpuHostAperturePages),
     COUNTED_BY(DXGKARG_UNMAPCPUHOSTAPERTURE, NumberOfPages, sizeof(UINT32)),
     .what = "pCpuHostAperturePages of DXGKARG_UNMAPCPUHOSTAPERTURE"},
    NO_MORE};

static size_t surface_bytes(const void *structure)
{
    switch (((const DXGKARG_GETSTANDARDALLOCATIONDRIVERDATA *)structure)->StandardAllocationType) {
    case D3DKMDT_STANDARDALLOCATION_SHAREDPRIMARYSURFACE:
        return sizeof(D3DKMDT_SHAREDPRIMARYSURFACEDATA);
    case D3DKMDT_STANDARDALLOCATION_SHADOWSURFACE:
        return sizeof(D3DKMDT_SHADOWSURFACEDATA);
    case D3DKMDT_STANDARDALLOCATION_STAGINGSURFACE:
        return sizeof(D3DKMDT_STAGINGSURFACEDATA);
    case D3DKMDT_STANDARDALLOCATION_GDISURFACE:
        return sizeof(D3DKMDT_GDISURFACEDATA);
    case D3DKMDT_STANDARDALLOCATION_VGPU:
        return sizeof(D3DKMDT_VIRTUALGPUSURFACEDATA);
    default:
        return 0;
    }
}

/* Empty, source and destination (PATCH-098); with a DMA buffer at a GPU virtual address, those of
 * pAllocationInfo (PRES-115). */
static size_t present_list_bytes(const void *structure)
{
    const DXGKARG_PRESENT *args = structure;

    return 3 * (args->DmaBufferGpuVirtualAddress ? sizeof(DXGK_PRESENTALLOCATIONINFO)
                                                 : sizeof(DXGK_ALLOCATIONLIST));
}

/* Not pDstSubRects, which lives through all passes (PRES-104). */
const struct ddi_part ddi_parts_present[] = {{POINTER(DXGKARG_PRESENT, pAllocationList),
                                              .bytes = present_list_bytes,
                                              .what = "pAllocationList of DXGKARG_PRESENT"},
                                             {POINTER(DXGKARG_PRESENT, pPrivateDriverData),
                                              COUNTED_BY(DXGKARG_PRESENT, PrivateDriverDataSize, 1),
                                              .what = "pPrivateDriverData of DXGKARG_PRESENT"},
                                             NO_MORE};

typedef DXGKARG_GETSTANDARDALLOCATIONDRIVERDATA standard_data;

const struct ddi_part ddi_parts_standard_data[] = {
    {POINTER(standard_data, pCreateGdiSurfaceData), .bytes = surface_bytes,
     .what = "the surface's data of DXGKARG_GETSTANDARDALLOCATIONDRIVERDATA", .way = DDI_PART_BACK},
    {POINTER(standard_data, pAllocationPrivateDriverData),
     COUNTED_BY(standard_data, AllocationPrivateDriverDataSize, 1),
     .what = "the allocation's private data of DXGKARG_GETSTANDARDALLOCATIONDRIVERDATA",
     .way = DDI_PART_BACK},
    {POINTER(standard_data, pResourcePrivateDriverData),
     COUNTED_BY(standard_data, ResourcePrivateDriverDataSize, 1),
     .what = "the resource's private data of DXGKARG_GETSTANDARDALLOCATIONDRIVERDATA",
     .way = DDI_PART_BACK},
    NO_MORE};
