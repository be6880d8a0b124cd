/* SPDX-License-Identifier: MIT */
/* The SEG rules that a start shows: the queries of WDDM 2.x, and DXGK_VIDMMCAPS as the memory manager sees it. */
#include "port/support/admission.h"
#include "sim/sim.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))

/* ---- the queries of WDDM 2.x ---- */

static DXGK_QUERYSEGMENTOUT4 seen[4];
static bool zeroed;

static void record_table(struct probe *p, struct probe_call *call)
{
    size_t n;

    if (call->query_type != DXGKQAITYPE_QUERYSEGMENT4)
        return;
    n = probe_queries(p, DXGKQAITYPE_QUERYSEGMENT4) - 1;
    seen[n & 3] = *(DXGK_QUERYSEGMENTOUT4 *)call->query.pOutputData;
    for (size_t i = 0; n == 1 && i < p->segments * seen[1].SegmentDescriptorStride; i++)
        zeroed = zeroed && ((const uint8_t *)seen[1].pSegmentDescriptor)[i] == 0;
}

TEST(one_pair_for_each_start)
{
    struct probe *p = probe_create(NULL);

    zeroed = true;
    p->before[PROBE_QueryAdapterInfo] = record_table;
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE("SEG-009", seen[0].NbSegment == 0 && seen[1].NbSegment == p->segments);
    CHECK_RULE("SEG-008", seen[1].pSegmentDescriptor && zeroed);
    CHECK_RULE("SEG-011", probe_queries(p, DXGKQAITYPE_QUERYSEGMENT4) == 2);
    for (size_t n = 0; n < 2; n++)
        CHECK_RULE(
            "SEG-011",
            *(const UINT *)(const void *)probe_query(p, DXGKQAITYPE_QUERYSEGMENT4, n)->query_input ==
                0);
    p->segment[0].Size /= 2; /* another table at the next start */
    CHECK(probe_run(p, probe_restart) == SIM_DONE);
    CHECK_RULE("SEG-021", probe_queries(p, DXGKQAITYPE_QUERYSEGMENT4) == 4 &&
                              seen[2].NbSegment == 0 && seen[3].NbSegment == p->segments);
    probe_destroy(p);
}

TEST(compute_only_has_one_form)
{
    struct probe *p = probe_create(NULL);

    probe_make_compute_only(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE("SEG-006", probe_queries(p, DXGKQAITYPE_QUERYSEGMENT4) == 2 &&
                              probe_queries(p, DXGKQAITYPE_QUERYSEGMENT) == 0 &&
                              probe_queries(p, DXGKQAITYPE_QUERYSEGMENT3) == 0 &&
                              probe_queries(p, (DXGK_QUERYADAPTERINFOTYPE)4) == 0);
    probe_destroy(p);
}

static DXGK_QUERYSEGMENTMEMORYSTATE asked;
static unsigned asked_count;

static void record_memory_state(struct probe *p, struct probe_call *call)
{
    (void)p;
    if (call->query_type != DXGKQAITYPE_SEGMENTMEMORYSTATE)
        return;
    asked = *(DXGK_QUERYSEGMENTMEMORYSTATE *)call->query.pInputData;
    asked_count++;
}

TEST(bad_ranges_are_asked_for)
{
    struct probe *p = probe_create(NULL);

    p->segment[0].NumInvalidMemoryRanges = 2;
    p->before[PROBE_QueryAdapterInfo] = record_memory_state;
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE("SEG-059", asked_count == 1 && asked.DriverSegmentId == 1 &&
                              asked.PhysicalAdapterIndex == 0 &&
                              asked.NumInvalidMemoryRanges == 2 && asked.pMemoryRanges);
    probe_destroy(p);
}

/* ---- DXGK_DRIVERCAPS ---- */

TEST(address_limit)
{
    const LONGLONG top = (64ll << 20) - 1; /* of the probe's RAM */
    const struct probe_options remap = {.port = {.iommu = IOMMU_REMAP}};
    struct probe *p;

    ACCEPTED("SEG-073", p->caps.HighestAcceptableAddress.QuadPart = top);
    DECLINED("SEG-073", p->caps.HighestAcceptableAddress.QuadPart = top - 1);
    p = probe_create(&remap);
    p->caps.HighestAcceptableAddress.QuadPart = top - 4096;
    CHECK_RULE("SEG-073", NT_SUCCESS(probe_start(p)));
    probe_destroy(p);
}

TEST(reserved_bits)
{
    struct probe *p;

    ACCEPTED("SEG-075", (void)p);
    REPORTED("SEG-076", "CAPS-058", VERIFY_ERROR,
             p->caps.MemoryManagementCaps.DedicatedPagingEngine = 1);
    REPORTED("SEG-076", "CAPS-058", VERIFY_ERROR,
             p->caps.MemoryManagementCaps.PagingEngineCanSwizzle = 1);
    REPORTED("SEG-076", "CAPS-019", VERIFY_WARNING, p->caps.MemoryManagementCaps.Value |= 1u << 30);
}

static void both_models(struct probe *p, bool same_nodes)
{
    p->caps.MemoryManagementCaps.IoMmuSupported = 1;
    p->physical.Flags.IoMmuSupported = 1;
    for (unsigned i = 0; i <= PROBE_MAX_NODES; i++)
        p->node[i].IoMmuSupported = same_nodes ? p->node[i].GpuMmuSupported
                                               : !p->node[i].GpuMmuSupported;
}

TEST(addressing_models)
{
    struct probe *p;

    EXPECTED("SEG-078", "CAPS-060", p->caps.MemoryManagementCaps.GpuMmuSupported = 0,
             p->physical.Flags.GpuMmuSupported = 0);
    EXPECTED("SEG-078", "CAPS-060", p->caps.MemoryManagementCaps.VirtualAddressingSupported = 0);
    REPORTED("SEG-079", "CAPS-061", VERIFY_WARNING, both_models(p, true));
    EXPECTED("SEG-079", "CAPS-061", both_models(p, false));
}

TEST(cross_adapter_resources)
{
    struct probe *p;

    EXPECTED("SEG-081", "CAPS-059", p->caps.MemoryManagementCaps.CrossAdapterResourceTexture = 1);
    EXPECTED("SEG-081", "CAPS-059", p->caps.MemoryManagementCaps.CrossAdapterResource = 1,
             p->caps.MemoryManagementCaps.CrossAdapterResourceScanout = 1);
    ACCEPTED("SEG-081", p->caps.MemoryManagementCaps.CrossAdapterResource = 1,
             p->caps.MemoryManagementCaps.CrossAdapterResourceTexture = 1,
             p->caps.MemoryManagementCaps.CrossAdapterResourceScanout = 1);
}

TEST(required_isolation)
{
    const struct probe_options off = {.version = DXGKDDI_INTERFACE_VERSION_WDDM2_7};
    struct probe *p = probe_create(&off);

    p->caps.MemoryManagementCaps.MapAperture2Supported = 0;
    p->caps.MemoryManagementCaps.IoMmuSecureModeRequired = 1;
    CHECK_RULE("SEG-082",
               IS(probe_start(p), STATUS_NOT_SUPPORTED) && probe_rule(p, "CAPS-066") == 1);
    probe_destroy(p);
}

TEST(compute_only_caps)
{
    struct probe *p;

    COMPUTE_EXPECTED("SEG-084", "CAPS-057", p->caps.MemoryManagementCaps.OutOfOrderLock = 1);
    COMPUTE_EXPECTED("SEG-084", "CAPS-058", p->caps.MemoryManagementCaps.DedicatedPagingEngine = 1);
    COMPUTE_EXPECTED("SEG-084", "CAPS-058", p->caps.MemoryManagementCaps.PagingEngineCanSwizzle = 1);
    COMPUTE_EXPECTED("SEG-084", "CAPS-058", p->caps.MemoryManagementCaps.SectionBackedPrimary = 1);
    COMPUTE_EXPECTED("SEG-084", "CAPS-058", p->caps.MemoryManagementCaps.ReplicateGdiContent = 1);
    COMPUTE_EXPECTED("SEG-084", "CAPS-058", p->caps.MemoryManagementCaps.NonCpuVisiblePrimary = 1);
    COMPUTE_EXPECTED("SEG-085", "CAPS-022", p->caps.MaxAllocationListSlotId = 1);
    COMPUTE_EXPECTED("SEG-085", "CAPS-023", p->caps.ApertureSegmentCommitLimit = 1);
    COMPUTE_EXPECTED("SEG-085", "CAPS-027", p->caps.NumberOfSwizzlingRanges = 1);
}

/* ---- memory of the driver's own as a segment ---- */

static void *own_memory;
static SIZE_T own_bytes;

static void take_memory(struct probe *p, struct probe_call *call)
{
    PHYSICAL_ADDRESS highest = {.QuadPart = -1};

    (void)call;
    own_memory = MmAllocateContiguousMemory(own_bytes, highest);
    CHECK(own_memory);
    p->segment[0].CpuTranslatedAddress = MmGetPhysicalAddress(own_memory);
}

static void give_memory(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    MmFreeContiguousMemory(own_memory);
}

static struct probe *integrated(SIZE_T bytes)
{
    struct probe *p = probe_create(NULL);

    own_bytes = bytes;
    p->segment[0].Size = 4u << 20;
    p->after[PROBE_StartDevice] = take_memory; /* after its default has set the BAR */
    p->after[PROBE_StopDevice] = give_memory;
    return p;
}

TEST(a_segment_may_be_taken_out_of_ram)
{
    struct probe *p = integrated(4u << 20);

    CHECK_RULE("SEG-028", NT_SUCCESS(probe_start(p)) && probe_rule(p, "SEG-028") == 0 &&
                              p->segment[0].CpuTranslatedAddress.QuadPart ==
                                  MmGetPhysicalAddress(own_memory).QuadPart);
    probe_destroy(p);
    p = integrated(2u << 20); /* half of it is somebody else's */
    CHECK_RULE("SEG-028", IS(probe_start(p), STATUS_DEVICE_CONFIGURATION_ERROR) &&
                              probe_rule(p, "SEG-028") == 1);
    probe_destroy(p);
}
