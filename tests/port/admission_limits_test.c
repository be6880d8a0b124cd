/* SPDX-License-Identifier: MIT */
/* Both sides of what is demanded of a driver at its start: features, entries, isolation, tables of segments and components. */
#include "port/record/cause.h"
#include "port/support/admission.h"

#include <string.h>

#define IS(status, wanted)   ((NTSTATUS)(status) == (wanted))
#define ONE_ENTRY_LESS(name) probe_set_entry(p, PROBE_##name, false)

/* EXPECTED, REFUSED and ACCEPTED, where what is checked is no clause of the rule. */
#define FOUND(reported, ...)                                                      \
    for (unsigned strict = 0; strict < 2; strict++) {                             \
        p = probe_create(&(struct probe_options){.strict = strict != 0});         \
        __VA_ARGS__;                                                              \
        CHECK(admission_expected(p, (NTSTATUS)probe_start(p), reported,           \
                                 strict ? ADMISSION_STRICT : ADMISSION_DEFAULT)); \
        probe_destroy(p);                                                         \
    }
#define TURNED_DOWN(reported, ...)                                     \
    do {                                                               \
        p = probe_create(NULL);                                        \
        __VA_ARGS__;                                                   \
        CHECK(IS(probe_start(p), STATUS_DEVICE_CONFIGURATION_ERROR) && \
              admission_reported(p, reported, VERIFY_ERROR, true));    \
        probe_destroy(p);                                              \
    } while (0)
#define TAKEN(...)                                                                  \
    do {                                                                            \
        p = probe_create(NULL);                                                     \
        __VA_ARGS__;                                                                \
        CHECK(NT_SUCCESS(probe_start(p)) && probe_reports(p, VERIFY_WARNING) == 0); \
        probe_destroy(p);                                                           \
    } while (0)

/* ---- features that caps need ---- */

static void grant_flips(struct probe *p, struct probe_call *call)
{
    NTSTATUS status;

    (void)call;
    CHECK(probe_feature_enabled(p, DXGK_FEATURE_HWFLIPQUEUE, &status));
}

TEST(hardware_flips_need_their_feature)
{
    const struct probe_options options = {.port = {.features = 1u << DXGK_FEATURE_HWFLIPQUEUE}};
    struct probe *p;

    ACCEPTED("CAPS-045", p->caps.MaxHwQueuedFlips = 1);
    REPORTED("CAPS-045", "CAPS-045", VERIFY_ERROR, p->caps.MaxHwQueuedFlips = 2);
    p = probe_create(&options);
    p->caps.MaxHwQueuedFlips = 2;
    p->after[PROBE_StartDevice] = grant_flips;
    CHECK_RULE("CAPS-045", NT_SUCCESS(probe_start(p)) && probe_rule(p, "CAPS-045") == 0);
    probe_destroy(p);
}

/* ---- entries ---- */

TEST(virtual_addressing_needs_its_entries)
{
    struct probe *p;

    REFUSED("GPUVA-004", "GPUVA-004", ONE_ENTRY_LESS(CreateProcess));
    REFUSED("GPUVA-004", "GPUVA-004", ONE_ENTRY_LESS(DestroyProcess));
    REFUSED("GPUVA-004", "GPUVA-004", ONE_ENTRY_LESS(SetRootPageTable));
    REFUSED("GPUVA-004", "GPUVA-004", ONE_ENTRY_LESS(SubmitCommandVirtual));
}

static void two_levels(struct probe *p)
{
    p->mmu.PageTableLevelCount = 2;
    p->mmu.VirtualAddressBitCount = 30;
    p->level[1].PageTableIndexBitCount = p->level[1].PageTableSizeInBytes = 0;
}

TEST(two_levels_need_the_size_of_the_root)
{
    struct probe *p;

    REFUSED("GPUVA-004", "GPUVA-004", two_levels(p), ONE_ENTRY_LESS(GetRootPageTableSize));
    ACCEPTED("GPUVA-004", ONE_ENTRY_LESS(GetRootPageTableSize)); /* more levels */
}

/* ---- addressing models ---- */

TEST(models_of_the_physical_adapter)
{
    struct probe *p;

    REFUSED("CAPS-096", "CAPS-096", p->caps.MemoryManagementCaps.IoMmuSupported = 1);
    p = probe_create(NULL);
    p->caps.MemoryManagementCaps.IoMmuSupported = 0;
    p->physical.Flags.IoMmuSupported = 1;
    CHECK_RULE("CAPS-096", NT_SUCCESS(probe_start(p)) && probe_rule(p, "CAPS-096") == 1 &&
                               probe_said(p, "CAPS-096", "that MemoryManagementCaps lacks"));
    probe_destroy(p);
}

/* ---- isolation ---- */

static struct probe *requiring(enum probe_ddi missing)
{
    const struct probe_options options = {.port = {.iommu_present = true}};
    struct probe *p = probe_create(&options);

    p->caps.MemoryManagementCaps.IoMmuSecureModeRequired = 1;
    p->iommu.IommuIsolationRequired = 1;
    probe_set_entry(p, missing, false);
    return p;
}

TEST(required_isolation)
{
    static const enum probe_ddi entry[] = {PROBE_BeginExclusiveAccess, PROBE_EndExclusiveAccess};
    struct probe *p;

    for (unsigned i = 0; i < 2; i++) {
        p = requiring(entry[i]);
        CHECK_RULE("LIFE-035", IS(probe_start(p), STATUS_DEVICE_CONFIGURATION_ERROR) &&
                                   admission_reported(p, "LIFE-035", VERIFY_ERROR, true));
        probe_destroy(p);
    }
    p = requiring(PROBE_Unload);
    CHECK(NT_SUCCESS(probe_start(p)) && port_adapter_dma_mode(p->adapter[0]) == IOMMU_ISOLATION);
    probe_destroy(p);
}

/* A driver that does not know the queries of isolation has nothing to save, and nothing reserved. */
TEST(queries_of_isolation_that_are_not_offered)
{
    static const NTSTATUS not_offered[] = {STATUS_NOT_SUPPORTED, STATUS_NOT_IMPLEMENTED,
                                           STATUS_INVALID_PARAMETER};
    struct probe *p;

    for (unsigned i = 0; i < 3; i++) {
        EXPECTED("CAPS-064", "CAPS-064",
                 p->query_status[DXGKQAITYPE_FRAMEBUFFERSAVESIZE] = not_offered[i]);
        EXPECTED("CAPS-064", "CAPS-064",
                 p->query_status[DXGKQAITYPE_HARDWARERESERVEDRANGES] = not_offered[i]);
    }
    p = probe_create(NULL);
    p->query_status[DXGKQAITYPE_FRAMEBUFFERSAVESIZE] = STATUS_UNSUCCESSFUL;
    CHECK_RULE("CAPS-064", IS(probe_start(p), STATUS_UNSUCCESSFUL) &&
                               strstr(port_cause_text(p->port), "DxgkDdiQueryAdapterInfo(") &&
                               strstr(port_cause_text(p->port),
                                      "FRAMEBUFFERSAVESIZE) returned STATUS_UNSUCCESSFUL"));
    probe_destroy(p);
}

/* ---- reserved ranges ---- */

static void one_range(struct probe *p)
{
    p->reserved_ranges = 1;
    p->reserved[0].BaseAddress.QuadPart = 1ll << 40;
    p->reserved[0].NumberOfBytes.QuadPart = 4096;
}

static void answer_elsewhere(struct probe *p, struct probe_call *call)
{
    static DXGK_PHYSICAL_MEMORY_RANGE own[1];
    DXGK_HARDWARERESERVEDRANGES *out = call->query.pOutputData;

    (void)p;
    if (call->query_type == DXGKQAITYPE_HARDWARERESERVEDRANGES && out->pPhysicalRanges)
        out->pPhysicalRanges = own;
}

static void many_ranges(struct probe *p, struct probe_call *call)
{
    if (call->query_type == DXGKQAITYPE_HARDWARERESERVEDRANGES)
        ((DXGK_HARDWARERESERVEDRANGES *)call->query.pOutputData)->NumRanges = *(UINT32 *)p->user;
}

static void fail_second(struct probe *p, struct probe_call *call)
{
    if (call->query_type == DXGKQAITYPE_HARDWARERESERVEDRANGES)
        p->query_status[DXGKQAITYPE_HARDWARERESERVEDRANGES] = STATUS_NOT_SUPPORTED;
}

TEST(answers_about_reserved_ranges)
{
    UINT32 most = 4096, more = 4097;
    struct probe *p;

    ACCEPTED("CAPS-119/a", one_range(p));
    FOUND("CAPS-119", one_range(p), p->after[PROBE_QueryAdapterInfo] = answer_elsewhere);
    EXPECTED("CAPS-064", "CAPS-064", one_range(p), p->after[PROBE_QueryAdapterInfo] = fail_second);
    TURNED_DOWN("CAPS-119", p->user = &more, p->after[PROBE_QueryAdapterInfo] = many_ranges);
    p = probe_create(NULL); /* what the first query announced is forgotten */
    one_range(p);
    p->after[PROBE_QueryAdapterInfo] = fail_second;
    CHECK(NT_SUCCESS(probe_start(p)) && probe_rule(p, "CAPS-064") == 1 &&
          probe_rule(p, "CAPS-119") == 0);
    probe_destroy(p);
    p = probe_create(NULL); /* as many as can be: they are empty */
    p->user = &most;
    p->after[PROBE_QueryAdapterInfo] = many_ranges;
    CHECK_RULE("CAPS-119/c", NT_SUCCESS(probe_start(p)) && probe_rule(p, "CAPS-119") > 0 &&
                                 !probe_said(p, "CAPS-119", "hardware reserved ranges"));
    probe_destroy(p);
}

/* ---- segments ---- */

static void move_table(struct probe *p, struct probe_call *call)
{
    static DXGK_SEGMENTDESCRIPTOR4 own[4];
    DXGK_QUERYSEGMENTOUT4 *out = call->query.pOutputData;

    (void)p;
    if (call->query_type == DXGKQAITYPE_QUERYSEGMENT4 && out->pSegmentDescriptor)
        out->pSegmentDescriptor = (BYTE *)own;
}

static void change_stride(struct probe *p, struct probe_call *call)
{
    DXGK_QUERYSEGMENTOUT4 *out = call->query.pOutputData;

    (void)p;
    if (call->query_type == DXGKQAITYPE_QUERYSEGMENT4 && out->pSegmentDescriptor)
        out->SegmentDescriptorStride++;
}

TEST(the_table_of_segments_is_the_hosts)
{
    struct probe *p;

    EXPECTED("CAPS-074", "CAPS-074", p->after[PROBE_QueryAdapterInfo] = move_table);
    EXPECTED("CAPS-074", "CAPS-074", p->after[PROBE_QueryAdapterInfo] = change_stride);
}

static UINT second_count;

static void change_count(struct probe *p, struct probe_call *call)
{
    DXGK_QUERYSEGMENTOUT4 *out = call->query.pOutputData;

    (void)p;
    if (call->query_type == DXGKQAITYPE_QUERYSEGMENT4 && out->pSegmentDescriptor)
        out->NbSegment = second_count;
}

TEST(the_number_of_segments_does_not_change)
{
    struct probe *p;

    second_count = 3;
    EXPECTED("CAPS-073/a", "CAPS-073", p->after[PROBE_QueryAdapterInfo] = change_count);
    second_count = 1;
    EXPECTED("CAPS-073/a", "CAPS-073", p->after[PROBE_QueryAdapterInfo] = change_count,
             p->paging_segment = 0, p->level[0].PageTableSegmentId = 1);
}

/* ---- power components ---- */

static void providers(struct probe *p, ULONG count)
{
    probe_use_components(p, 1);
    p->component[0].ProviderCount = count;
}

/* The second state uses as much power as the first. */
static void powers(struct probe *p, ULONG first, ULONG second)
{
    probe_use_components(p, 1);
    p->component[0].StateCount = 2;
    p->component[0].States[0].NominalPower = first;
    p->component[0].States[1].NominalPower = second;
}

static void as_first(struct probe *p, struct probe_call *call)
{
    if (call->query_type == DXGKQAITYPE_POWERCOMPONENTINFO)
        call->answered = true;
    (void)p;
}

TEST(numbers_of_power_components)
{
    struct probe *p;

    EXPECTED("CAPS-104", "CAPS-104", probe_use_components(p, 65));
    p = probe_create(NULL);
    probe_use_components(p, 64);
    p->before[PROBE_QueryAdapterInfo] = as_first; /* empty ones */
    CHECK(NT_SUCCESS(probe_start(p)) && probe_rule(p, "CAPS-104") == 0 &&
          probe_queries(p, DXGKQAITYPE_POWERCOMPONENTINFO) == 64);
    CHECK_RULE("CAPS-105/a", probe_rule(p, "CAPS-105") == 64);
    probe_destroy(p);
}

TEST(providers_and_powers)
{
    struct probe *p;

    TAKEN(providers(p, DXGK_MAX_POWER_COMPONENT_PROVIDERS));
    FOUND("CAPS-106", providers(p, DXGK_MAX_POWER_COMPONENT_PROVIDERS + 1));
    ACCEPTED("CAPS-105/e", powers(p, 50, 49));
    EXPECTED("CAPS-105/e", "CAPS-105", powers(p, 50, 50));
    TAKEN(powers(p, 50, DXGK_FSTATE_UNKNOWN_POWER));
    TAKEN(powers(p, DXGK_FSTATE_UNKNOWN_POWER, 50));
}
