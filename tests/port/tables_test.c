/* SPDX-License-Identifier: MIT */
/* What a driver reports in tables: segments, page-table levels, nodes, power components, precision. */
#include "port/support/admission.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))

/* ---- segments ---- */

static UINT second_answer;

static void another_count(struct probe *p, struct probe_call *call)
{
    (void)p;
    if (call->query_type == DXGKQAITYPE_QUERYSEGMENT4 &&
        ((DXGK_QUERYSEGMENTOUT4 *)call->query.pOutputData)->pSegmentDescriptor)
        ((DXGK_QUERYSEGMENTOUT4 *)call->query.pOutputData)->NbSegment = second_answer;
}

static void write_more_in_the_first(struct probe *p, struct probe_call *call)
{
    DXGK_QUERYSEGMENTOUT4 *out = call->query.pOutputData;

    (void)p;
    if (call->query_type == DXGKQAITYPE_QUERYSEGMENT4 && !out->pSegmentDescriptor)
        out->PagingBufferSegmentId = 77;
}

static void step_by_sizeof(struct probe *p, struct probe_call *call)
{
    DXGK_QUERYSEGMENTOUT4 *out = call->query.pOutputData;

    if (call->query_type == DXGKQAITYPE_QUERYSEGMENT4 && out->pSegmentDescriptor) {
        memset(out->pSegmentDescriptor, 0, 2 * out->SegmentDescriptorStride);
        memcpy(out->pSegmentDescriptor, p->segment, 2 * sizeof(p->segment[0]));
    }
}

static DXGK_QUERYSEGMENTOUT4 seen[2];

static void record_table(struct probe *p, struct probe_call *call)
{
    if (call->query_type == DXGKQAITYPE_QUERYSEGMENT4)
        seen[probe_queries(p, DXGKQAITYPE_QUERYSEGMENT4) - 1] = *(DXGK_QUERYSEGMENTOUT4 *)
                                                                     call->query.pOutputData;
}

static void many_segments(struct probe *p, UINT count)
{
    for (UINT i = 2; i < count; i++) {
        p->segment[i] = p->segment[0];
        p->segment[i].BaseAddress.QuadPart = (LONGLONG)i << 40;
        p->segment[i].Flags.CpuVisible = 0;
    }
    p->segments = count;
}

static void levels_in_system_memory(struct probe *p)
{
    for (unsigned i = 0; i < 8; i++)
        p->level[i].PageTableSegmentId = p->level[i].PagingProcessPageTableSegmentId = 0;
}

TEST(segment_table)
{
    struct probe *p = probe_create(NULL);

    p->before[PROBE_QueryAdapterInfo] = record_table;
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE("CAPS-071", probe_queries(p, DXGKQAITYPE_QUERYSEGMENT4) == 2 &&
                               probe_queries(p, DXGKQAITYPE_QUERYSEGMENT3) == 0 &&
                               probe_queries(p, DXGKQAITYPE_QUERYSEGMENT) == 0);
    CHECK_RULE("CAPS-072", !seen[0].pSegmentDescriptor && seen[0].NbSegment == 0 &&
                               seen[1].pSegmentDescriptor && seen[1].NbSegment == 2);
    CHECK_RULE("CAPS-074", seen[1].SegmentDescriptorStride == sizeof(DXGK_SEGMENTDESCRIPTOR4));
    probe_destroy(p);
    p = probe_create(&(struct probe_options){.strict = true});
    p->before[PROBE_QueryAdapterInfo] = record_table;
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE("CAPS-074", seen[1].SegmentDescriptorStride > sizeof(DXGK_SEGMENTDESCRIPTOR4));
    probe_destroy(p);
    p = probe_create(&(struct probe_options){.strict = true});
    p->after[PROBE_QueryAdapterInfo] = step_by_sizeof;
    CHECK_RULE("CAPS-074", IS(probe_start(p), STATUS_DEVICE_CONFIGURATION_ERROR) &&
                               admission_reported(p, "CAPS-074", VERIFY_ERROR, true));
    probe_destroy(p);
    ACCEPTED("CAPS-074", p->after[PROBE_QueryAdapterInfo] = step_by_sizeof); /* as on Windows */

    ACCEPTED("CAPS-072", p->after[PROBE_QueryAdapterInfo] = write_more_in_the_first);
    second_answer = 3;
    EXPECTED("CAPS-073/a", "CAPS-073", p->after[PROBE_QueryAdapterInfo] = another_count);
    second_answer = 1;
    EXPECTED("CAPS-073/a", "CAPS-073", p->after[PROBE_QueryAdapterInfo] = another_count);
    ACCEPTED("CAPS-073/b", many_segments(p, 31));
    REFUSED("CAPS-073/b", "CAPS-073", many_segments(p, 32));
    REFUSED("CAPS-073/c", "CAPS-073", p->segments = 0);
    ACCEPTED("CAPS-073/c", probe_make_compute_only(p), p->segments = 0, p->paging_segment = 0,
             levels_in_system_memory(p));
}

TEST(paging_buffer)
{
    struct probe *p;

    ACCEPTED("CAPS-075/a", p->paging_segment = 2);
    SOFTENED("CAPS-075/b", "CAPS-075", p->paging_segment = 1);
    REFUSED("CAPS-075/c", "CAPS-075", p->paging_segment = 3);
    EXPECTED("CAPS-077/a", "CAPS-077", p->paging_bytes = 0);
}

TEST(segment_flags_and_sizes)
{
    struct probe *p;

    REFUSED("CAPS-078", "SEG-013", p->segment[1].Flags.Agp = 1);
    EXPECTED("CAPS-079/a", "SEG-054", probe_set_entry(p, PROBE_MapCpuHostAperture, true),
             probe_set_entry(p, PROBE_UnmapCpuHostAperture, true),
             p->segment[0].Flags.SupportsCpuHostAperture = 1);
    EXPECTED("CAPS-079/b", "SEG-055", p->segment[0].Flags.SupportsCachedCpuHostAperture = 1);
    EXPECTED("CAPS-079/c", "SEG-053", p->segment[0].Flags.ReservedSysMem = 1);
    REPORTED("CAPS-079/d", "SEG-046", VERIFY_WARNING, p->segment[0].Flags.CacheCoherent = 1);
    REPORTED("CAPS-079/e", "SEG-051", VERIFY_ERROR,
             p->segment[0].Flags.PreservedDuringHibernate = 1);
    EXPECTED("CAPS-080", "SEG-030", many_segments(p, 3), p->segment[2].Size = 0);
    EXPECTED("CAPS-080", "SEG-030", p->segment[0].Size += 1);
}

static UINT asked_segment[4];
static unsigned asked_count;
static DXGK_QUERYSEGMENTMEMORYSTATE asked;
static bool same_array;

static void record_memory_state(struct probe *p, struct probe_call *call)
{
    (void)p;
    if (call->query_type != DXGKQAITYPE_SEGMENTMEMORYSTATE)
        return;
    asked = *(DXGK_QUERYSEGMENTMEMORYSTATE *)call->query.pInputData;
    asked_segment[asked_count++] = asked.DriverSegmentId;
    same_array = asked.pMemoryRanges == call->query.pOutputData &&
                 call->query.OutputDataSize ==
                     asked.NumInvalidMemoryRanges * sizeof(DXGK_MEMORYRANGE);
}

TEST(bad_memory)
{
    struct probe *p = probe_create(NULL);

    p->segment[0].NumInvalidMemoryRanges = 2;
    p->before[PROBE_QueryAdapterInfo] = record_memory_state;
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE("CAPS-082", asked_count == 1 && asked_segment[0] == 1);
    CHECK_RULE("CAPS-083/a", asked.NumInvalidMemoryRanges == 2 && same_array);
    probe_destroy(p);
    EXPECTED("CAPS-083/d", "CAPS-083", p->segment[0].NumInvalidMemoryRanges = 1,
             p->bad_range[0].SegmentOffset = 16u << 20);
    EXPECTED("CAPS-083/c", "CAPS-083", p->segment[0].NumInvalidMemoryRanges = 1,
             p->bad_range[0].SizeInBytes = 100);
    EXPECTED("CAPS-083/b", "CAPS-083", p->segment[0].NumInvalidMemoryRanges = 2,
             p->bad_range[1] = p->bad_range[0]);
}

/* ---- the MMU ---- */

TEST(mmu_caps)
{
    struct probe *p = probe_create(NULL);

    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE("CAPS-084",
               probe_queries(p, DXGKQAITYPE_GPUMMUCAPS) == 1 &&
                   *(UINT *)(void *)probe_query(p, DXGKQAITYPE_GPUMMUCAPS, 0)->query_input == 0 &&
                   probe_query(p, DXGKQAITYPE_GPUMMUCAPS, 0)->query.InputDataSize ==
                       sizeof(DXGK_QUERYGPUMMUCAPSIN) &&
                   probe_query(p, DXGKQAITYPE_GPUMMUCAPS, 0)->query.OutputDataSize ==
                       sizeof(DXGK_GPUMMUCAPS));
    CHECK_RULE("CAPS-085/b", probe_count(p, PROBE_GetRootPageTableSize) == 0);
    CHECK_RULE("CAPS-091", probe_queries(p, DXGKQAITYPE_PAGETABLELEVELDESC) == 4);
    for (unsigned i = 0; i < 4; i++) {
        const DXGK_QUERYPAGETABLELEVELDESCIN *in =
            (const DXGK_QUERYPAGETABLELEVELDESCIN *)(const void *)probe_query(
                p, DXGKQAITYPE_PAGETABLELEVELDESC, i)
                ->query_input;

        CHECK_RULE("CAPS-091", in->LevelIndex == i && in->PhysicalAdapterIndex == 0);
    }
    probe_destroy(p);

    p = probe_create(NULL); /* no MMU, no question */
    p->caps.MemoryManagementCaps.VirtualAddressingSupported =
        p->caps.MemoryManagementCaps.GpuMmuSupported = 0;
    p->physical.Flags.GpuMmuSupported = 0;
    p->node[1].GpuMmuSupported = FALSE;
    CHECK_RULE("CAPS-084",
               NT_SUCCESS(probe_start(p)) && probe_queries(p, DXGKQAITYPE_GPUMMUCAPS) == 0);
    probe_destroy(p);

    REFUSED("CAPS-085/a", "CAPS-085", p->mmu.PageTableLevelCount = 1);
    REFUSED("CAPS-085/a", "CAPS-085", p->mmu.PageTableLevelCount = 7);
    EXPECTED("CAPS-086", "CAPS-086", p->mmu.LeafPageTableSizeFor64KPagesInBytes = 100);
    EXPECTED("CAPS-087", "GPUVA-023", p->mmu.PageTableUpdateMode = DXGK_PAGETABLEUPDATE_CPU_VIRTUAL);
}

static void two_levels(struct probe *p, UINT bits)
{
    p->mmu.PageTableLevelCount = 2;
    p->mmu.VirtualAddressBitCount = bits;
    p->level[1].PageTableIndexBitCount = 0;
    p->level[1].PageTableSizeInBytes = 0;
}

TEST(page_table_levels)
{
    struct probe *p;

    EXPECTED("CAPS-092/a", "GPUVA-017", p->level[0].PageTableSizeInBytes = 8192,
             p->level[0].PageTableSegmentId = 0);
    EXPECTED("CAPS-092/a", "GPUVA-017", p->level[0].PageTableSizeInBytes = 8192,
             p->level[0].PagingProcessPageTableSegmentId = 0);
    EXPECTED("CAPS-092/b", "CAPS-092", p->level[1].PageTableSizeInBytes = 6000);
    REFUSED("CAPS-092/c", "CAPS-092", p->level[0].PageTableSizeInBytes = 0);
    ACCEPTED("CAPS-092/c", two_levels(p, 30));
    ACCEPTED("CAPS-093/a", p->mmu.VirtualAddressBitCount = 48);
    EXPECTED("CAPS-093/a", "CAPS-093", p->mmu.VirtualAddressBitCount = 50);
    REFUSED("CAPS-093/c", "CAPS-093", p->mmu.VirtualAddressBitCount = 64);
    REFUSED("CAPS-093/b", "CAPS-093", two_levels(p, 21));
    REFUSED("CAPS-093/d", "CAPS-093", p->level[3].PageTableSegmentId = 2); /* an aperture */
    REFUSED("CAPS-093/d", "CAPS-093", p->level[3].PageTableSegmentId = 4);
    /* system memory by its number inside the memory manager */
    EXPECTED("CAPS-093/d", "CAPS-093", p->level[3].PageTableSegmentId = 3);
    EXPECTED("CAPS-093/d", "CAPS-093", p->level[3].PagingProcessPageTableSegmentId = 3);
}

/* ---- physical adapter and nodes ---- */

static void another_handle(struct probe *p, struct probe_call *call)
{
    if (call->query_type == DXGKQAITYPE_PHYSICALADAPTERCAPS)
        ((DXGK_PHYSICALADAPTERCAPS *)call->query.pOutputData)->DxgkPhysicalAdapterHandle =
            p->state[0].context;
}

TEST(physical_adapter)
{
    struct probe *p;

    ACCEPTED("CAPS-094", p->physical.PagingNodeIndex = 0);
    REFUSED("CAPS-094", "CAPS-094", p->after[PROBE_QueryAdapterInfo] = another_handle);
    EXPECTED("CAPS-095/a", "CAPS-095", p->physical.NumExecutionNodes = 3);
    EXPECTED("CAPS-095/a", "CAPS-095", p->physical.NumExecutionNodes = 1);
    REFUSED("CAPS-095/b", "CAPS-069", p->physical.PagingNodeIndex = 2);
    REFUSED("CAPS-069", "CAPS-069", p->physical.PagingNodeIndex = 3);
    REFUSED("CAPS-096", "CAPS-096", p->physical.Flags.GpuMmuSupported = 0);
    p = probe_create(NULL); /* the flag without the cap: the model is not used */
    p->caps.MemoryManagementCaps.VirtualAddressingSupported =
        p->caps.MemoryManagementCaps.GpuMmuSupported = 0;
    CHECK_RULE("CAPS-096", NT_SUCCESS(probe_start(p)) && probe_rule(p, "CAPS-096") == 1 &&
                               !port_adapter_gpu_mmu(p->adapter[0]));
    probe_destroy(p);
}

static void fail_second(struct probe *p, struct probe_call *call)
{
    (void)p;
    if ((UINT)call->arg[1] == 1)
        call->result = (uint64_t)(uint32_t)STATUS_INVALID_PARAMETER;
}

static void always_succeed(struct probe *p, struct probe_call *call)
{
    if ((UINT)call->arg[1] == 2)
        *(DXGKARG_GETNODEMETADATA *)(uintptr_t)call->arg[2] = p->node[1];
    call->result = STATUS_SUCCESS;
}

static void both_models(struct probe *p, bool same_nodes)
{
    p->caps.MemoryManagementCaps.IoMmuSupported = 1;
    p->physical.Flags.IoMmuSupported = 1;
    p->node[same_nodes ? 1 : 0].IoMmuSupported = TRUE;
}

static bool node_was_zero;

static void look_for_zero(struct probe *p, struct probe_call *call)
{
    static const DXGKARG_GETNODEMETADATA zero;

    (void)p;
    node_was_zero &= memcmp((const void *)(uintptr_t)call->arg[2], &zero, sizeof(zero)) == 0;
}

TEST(nodes)
{
    const struct probe_options strict = {.strict = true};
    struct probe *p = probe_create(NULL);

    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE("CAPS-097/b", probe_count(p, PROBE_GetNodeMetadata) == 2 &&
                                 probe_nth(p, PROBE_GetNodeMetadata, 0)->irql == PASSIVE_LEVEL &&
                                 (UINT)probe_nth(p, PROBE_GetNodeMetadata, 0)->arg[1] == 0 &&
                                 (UINT)probe_nth(p, PROBE_GetNodeMetadata, 1)->arg[1] == 1);
    CHECK_RULE("SUBMIT-005", probe_count(p, PROBE_GetNodeMetadata) == 2 &&
                                 probe_nth(p, PROBE_GetNodeMetadata, 0)->irql == PASSIVE_LEVEL &&
                                 (UINT)probe_nth(p, PROBE_GetNodeMetadata, 0)->arg[1] == 0 &&
                                 (UINT)probe_nth(p, PROBE_GetNodeMetadata, 1)->arg[1] == 1);
    CHECK(!port_adapter_node_virtual(p->adapter[0], 0) &&
          port_adapter_node_virtual(p->adapter[0], 1));
    probe_destroy(p);

    EXPECTED("CAPS-097/c", "CAPS-097", p->after[PROBE_GetNodeMetadata] = fail_second);
    EXPECTED("SUBMIT-005", "CAPS-097", p->after[PROBE_GetNodeMetadata] = fail_second);
    p = probe_create(&strict);
    CHECK_RULE("CAPS-097/d",
               NT_SUCCESS(probe_start(p)) && probe_count(p, PROBE_GetNodeMetadata) == 3);
    CHECK_RULE("SUBMIT-006", (UINT)probe_nth(p, PROBE_GetNodeMetadata, 2)->arg[1] == 2 &&
                                 probe_rule(p, "CAPS-097") == 0);
    probe_destroy(p);
    p = probe_create(&strict);
    p->after[PROBE_GetNodeMetadata] = always_succeed;
    CHECK_RULE("CAPS-097/d",
               !NT_SUCCESS(probe_start(p)) && probe_said(p, "CAPS-097", "does not exist"));
    CHECK_RULE("SUBMIT-006", probe_rule(p, "CAPS-097") == 1);
    probe_destroy(p);
    p = probe_create(NULL);
    node_was_zero = true;
    p->before[PROBE_GetNodeMetadata] = look_for_zero;
    CHECK_RULE("SUBMIT-009", NT_SUCCESS(probe_start(p)) && node_was_zero);
    probe_destroy(p);

    REPORTED("CAPS-099", "CAPS-099", VERIFY_WARNING, p->node[1].EngineType = DXGK_ENGINE_TYPE_3D);
    REPORTED("CAPS-100", "CAPS-099", VERIFY_WARNING, p->node[1].EngineType = DXGK_ENGINE_TYPE_3D);
    EXPECTED("CAPS-100", "CAPS-100", p->node[1].EngineType = DXGK_ENGINE_TYPE_MAX);
    REPORTED("SUBMIT-010", "CAPS-099", VERIFY_WARNING, p->node[1].EngineType = DXGK_ENGINE_TYPE_3D);
    REPORTED("SUBMIT-010", "CAPS-099", VERIFY_NOTE, p->node[0].EngineType = DXGK_ENGINE_TYPE_COPY);
    ACCEPTED("SUBMIT-010", (void)0); /* one */
    REPORTED("SUBMIT-009", "CAPS-101", VERIFY_WARNING,
             p->node[1].EngineType = DXGK_ENGINE_TYPE_OTHER);
    REPORTED("SUBMIT-009", "CAPS-101", VERIFY_WARNING,
             p->node[1].EngineType = DXGK_ENGINE_TYPE_OTHER,
             memset(p->node[1].FriendlyName, 'x', sizeof(p->node[1].FriendlyName)));
    ACCEPTED("SUBMIT-009", p->node[1].EngineType = DXGK_ENGINE_TYPE_OTHER,
             p->node[1].FriendlyName[0] = 'x');
    REPORTED("CAPS-101/a", "CAPS-101", VERIFY_WARNING,
             p->node[1].EngineType = DXGK_ENGINE_TYPE_OTHER);
    REPORTED("CAPS-101/b", "CAPS-101", VERIFY_WARNING, p->node[1].FriendlyName[0] = 'x');
    REPORTED("CAPS-101/c", "CAPS-101", VERIFY_WARNING,
             p->node[1].EngineType = DXGK_ENGINE_TYPE_OTHER,
             memset(p->node[1].FriendlyName, 'x', sizeof(p->node[1].FriendlyName)));
    ACCEPTED("CAPS-101/a", p->node[1].EngineType = DXGK_ENGINE_TYPE_OTHER,
             p->node[1].FriendlyName[0] = 'x');
    REPORTED("LIFE-126", "LIFE-126", VERIFY_ERROR, p->node[1].Flags.ContextSchedulingSupported = 1);
    REPORTED("CAPS-061", "CAPS-061", VERIFY_WARNING, both_models(p, true));
    REPORTED("CAPS-062", "CAPS-061", VERIFY_WARNING, both_models(p, true));
    EXPECTED("CAPS-061", "CAPS-061", both_models(p, false));
}

/* ---- power components, precision, descriptions ---- */

TEST(power_components)
{
    struct probe *p = probe_create(NULL);

    probe_use_components(p, 3);
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE("CAPS-104", probe_queries(p, DXGKQAITYPE_POWERCOMPONENTINFO) == 3);
    for (unsigned i = 0; i < 3; i++)
        CHECK_RULE(
            "CAPS-104",
            *(UINT *)(void *)probe_query(p, DXGKQAITYPE_POWERCOMPONENTINFO, i)->query_input == i);
    probe_destroy(p);

    p = probe_create(NULL);
    p->components = 1;
    CHECK_RULE("CAPS-107", NT_SUCCESS(probe_start(p)) && probe_rule(p, "CAPS-107") == 1 &&
                               probe_queries(p, DXGKQAITYPE_POWERCOMPONENTINFO) == 0);
    probe_destroy(p);
}

static void biosversion(struct probe *p, struct probe_call *call)
{
    (void)p;
    if (call->query_type == DXGKQAITYPE_GPUVERSION) {
        ((DXGK_GPUVERSION *)call->query.pOutputData)->BiosVersion[0] = 'B';
        call->result = STATUS_SUCCESS;
    } else if (call->query_type == DXGKQAITYPE_ADAPTERPERFDATA_CAPS) {
        ((DXGK_ADAPTER_PERFDATACAPS *)call->query.pOutputData)->MaxFanRPM = 4711;
        call->result = STATUS_SUCCESS;
    }
}

TEST(precision_and_descriptions)
{
    struct probe *p = probe_create(NULL);

    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE("CAPS-108/a",
               probe_query(p, DXGKQAITYPE_HISTORYBUFFERPRECISION, 0)->query.OutputDataSize ==
                   2 * sizeof(DXGKARG_HISTORYBUFFERPRECISION));
    CHECK_RULE("CAPS-110",
               probe_queries(p, DXGKQAITYPE_GPUVERSION) == 1 &&
                   probe_queries(p, DXGKQAITYPE_ADAPTERPERFDATA_CAPS) == 1); /* both failed */
    probe_destroy(p);
    for (unsigned i = 0; i < 3; i++) {
        static const UINT bits[] = {0, 32, 33};

        ACCEPTED("CAPS-108/b", p->history_bits = bits[i]);
    }
    EXPECTED("CAPS-108/b", "CAPS-108", p->history_bits = 16);
    EXPECTED("CAPS-108/b", "CAPS-108", p->history_bits = 65);
    p = probe_create(NULL);
    p->after[PROBE_QueryAdapterInfo] = biosversion;
    CHECK_RULE("CAPS-110", NT_SUCCESS(probe_start(p)) &&
                               port_adapter_gpu_version(p->adapter[0])->BiosVersion[0] == 'B' &&
                               port_adapter_perf_caps(p->adapter[0])->MaxFanRPM == 4711);
    probe_destroy(p);
    EXPECTED("CAPS-111/a", "CAPS-111", p->type.Detachable = 1);
    EXPECTED("CAPS-111/a", "CAPS-111", p->caps.MiscCaps.Detachable = 1);
    ACCEPTED("CAPS-111/a", p->type.Detachable = 1, p->type.Discrete = 1,
             p->caps.MiscCaps.Detachable = 1);
    p = probe_create(NULL);
    probe_make_compute_only(p);
    CHECK_RULE("CAPS-111/b",
               NT_SUCCESS(probe_start(p)) && probe_queries(p, DXGKQAITYPE_DEVICE_TYPE_CAPS) == 0);
    probe_destroy(p);
    ACCEPTED("CAPS-111/a", p->query_status[DXGKQAITYPE_DEVICE_TYPE_CAPS] = STATUS_NOT_SUPPORTED);
}
