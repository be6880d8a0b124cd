/* SPDX-License-Identifier: MIT */
/* Drivers of WDDM 1.x, by interface version or by what they claim: their segment queries, banks, paging node. */
#include "port/support/admission.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))

static struct probe *probe_of(UINT version)
{
    const struct probe_options options = {.version = version};
    struct probe *p = probe_create(&options);

    probe_make_1x(p);
    return p;
}

static struct probe *vista(void)
{
    return probe_of(DXGKDDI_INTERFACE_VERSION_WIN7);
}

static struct probe *blue(void)
{
    return probe_of(DXGKDDI_INTERFACE_VERSION_WDDM1_3);
}

/* The macros of admission.h for such a driver. */
#define REFUSED_1X(shown, reported, driver, ...)                                   \
    do {                                                                           \
        p = driver;                                                                \
        __VA_ARGS__;                                                               \
        CHECK_RULE(shown, IS(probe_start(p), STATUS_DEVICE_CONFIGURATION_ERROR) && \
                              probe_rule(p, reported) == 1 &&                      \
                              probe_count(p, PROBE_StopDevice) == 1 &&             \
                              probe_count(p, PROBE_RemoveDevice) == 1);            \
        probe_destroy(p);                                                          \
    } while (0)
#define EXPECTED_1X(shown, reported, driver, ...)                                      \
    do {                                                                               \
        p = driver;                                                                    \
        __VA_ARGS__;                                                                   \
        CHECK_RULE(shown, NT_SUCCESS(probe_start(p)) &&                                \
                              admission_reported(p, reported, VERIFY_WARNING, false)); \
        probe_destroy(p);                                                              \
        p = driver;                                                                    \
        CHECK(verify_set_severity(p->log, reported, VERIFY_ERROR));                    \
        __VA_ARGS__;                                                                   \
        CHECK_RULE(shown, IS(probe_start(p), STATUS_DEVICE_CONFIGURATION_ERROR) &&     \
                              admission_reported(p, reported, VERIFY_ERROR, true));    \
        probe_destroy(p);                                                              \
    } while (0)
#define STARTED_1X(shown, reported, times, driver, ...)                                       \
    do {                                                                                      \
        p = driver;                                                                           \
        __VA_ARGS__;                                                                          \
        CHECK_RULE(shown, NT_SUCCESS(probe_start(p)) && probe_rule(p, reported) == (times) && \
                              probe_reports(p, VERIFY_ERROR) == (times));                     \
        probe_destroy(p);                                                                     \
    } while (0)

/* ---- which query ---- */

TEST(each_version_has_its_query)
{
    static const struct {
        UINT version;
        DXGK_QUERYADAPTERINFOTYPE type;
        UINT in, out;
        const char *rule;
    } at[] = {
        {DXGKDDI_INTERFACE_VERSION_VISTA, DXGKQAITYPE_QUERYSEGMENT, sizeof(DXGK_QUERYSEGMENTIN),
         sizeof(DXGK_QUERYSEGMENTOUT), "SEG-002"},
        {DXGKDDI_INTERFACE_VERSION_WIN7, DXGKQAITYPE_QUERYSEGMENT, sizeof(DXGK_QUERYSEGMENTIN),
         sizeof(DXGK_QUERYSEGMENTOUT), "SEG-002"},
        {DXGKDDI_INTERFACE_VERSION_WIN8, DXGKQAITYPE_QUERYSEGMENT3, sizeof(DXGK_QUERYSEGMENTIN),
         sizeof(DXGK_QUERYSEGMENTOUT3), "SEG-003"},
        {DXGKDDI_INTERFACE_VERSION_WDDM1_3, DXGKQAITYPE_QUERYSEGMENT3, sizeof(DXGK_QUERYSEGMENTIN),
         sizeof(DXGK_QUERYSEGMENTOUT3), "SEG-003"},
        {DXGKDDI_INTERFACE_VERSION_WDDM2_0, DXGKQAITYPE_QUERYSEGMENT4, sizeof(DXGK_QUERYSEGMENTIN4),
         sizeof(DXGK_QUERYSEGMENTOUT4), "SEG-004"},
    };
    static const DXGK_QUERYADAPTERINFOTYPE all[] = {
        DXGKQAITYPE_QUERYSEGMENT, DXGKQAITYPE_QUERYSEGMENT3, DXGKQAITYPE_QUERYSEGMENT4};

    for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
        struct probe *p = probe_of(at[i].version);
        const struct probe_call *call;

        CHECK(NT_SUCCESS(probe_start(p)));
        for (size_t t = 0; t < sizeof(all) / sizeof(all[0]); t++)
            CHECK_RULE("CAPS-071", probe_queries(p, all[t]) == (all[t] == at[i].type ? 2u : 0u));
        CHECK_RULE("SEG-005", probe_queries(p, (DXGK_QUERYADAPTERINFOTYPE)3) == 0 &&
                                  probe_queries(p, (DXGK_QUERYADAPTERINFOTYPE)4) == 0);
        for (size_t n = 0; n < 2; n++) {
            call = probe_query(p, at[i].type, n);
            CHECK(call->irql == PASSIVE_LEVEL);
            CHECK_RULE(at[i].rule, call->query.InputDataSize == at[i].in &&
                                       call->query.OutputDataSize == at[i].out);
            CHECK_RULE("SEG-001", call->irql == PASSIVE_LEVEL &&
                                      call->arg[0] == (uintptr_t)p->state[0].context);
        }
        probe_destroy(p);
    }
}

/* A driver that was built with later headers and follows WDDM 1.3. */
TEST(the_claim_decides)
{
    struct probe *p = probe_of(DXGKDDI_INTERFACE_VERSION_WDDM2_0);

    p->caps.WDDMVersion = DXGKDDI_WDDMv1_3;
    CHECK_RULE("CAPS-122", NT_SUCCESS(probe_start(p)) &&
                               probe_queries(p, DXGKQAITYPE_QUERYSEGMENT3) == 2 &&
                               probe_queries(p, DXGKQAITYPE_QUERYSEGMENT4) == 0 &&
                               probe_queries(p, DXGKQAITYPE_PHYSICALADAPTERCAPS) == 0);
    CHECK_RULE("CAPS-122", probe_query(p, DXGKQAITYPE_DRIVERCAPS, 0)->query.OutputDataSize == 576);
    CHECK_RULE("CAPS-122", !port_adapter_is_2x(p->adapter[0]));
    CHECK_RULE("CAPS-122", p->table.DxgkDdiCreateProcess && p->table.DxgkDdiSubmitCommandVirtual &&
                               !port_adapter_ddi(p->adapter[0])->table.DxgkDdiCreateProcess &&
                               port_adapter_ddi(p->adapter[0])->table.DxgkDdiGetNodeMetadata);
    probe_destroy(p);

    for (unsigned claims_8 = 0; claims_8 < 2; claims_8++) {
        p = probe_of(DXGKDDI_INTERFACE_VERSION_WDDM2_0);
        p->caps.WDDMVersion = claims_8 ? DXGKDDI_WDDMv1_2 : DXGKDDI_WDDMv1;
        CHECK_RULE("CAPS-122",
                   NT_SUCCESS(probe_start(p)) &&
                       probe_queries(p, DXGKQAITYPE_QUERYSEGMENT3) == (claims_8 ? 2 : 0) &&
                       probe_queries(p, DXGKQAITYPE_QUERYSEGMENT) == (claims_8 ? 0 : 2) &&
                       !port_adapter_ddi(p->adapter[0])->table.DxgkDdiGetNodeMetadata &&
                       !port_adapter_is_2x(p->adapter[0]));
        probe_destroy(p);
    }

    p = probe_of(DXGKDDI_INTERFACE_VERSION_WDDM2_0);
    p->caps.WDDMVersion = DXGKDDI_WDDMv2;
    CHECK_RULE("CAPS-122", NT_SUCCESS(probe_start(p)) &&
                               probe_queries(p, DXGKQAITYPE_QUERYSEGMENT4) == 2 &&
                               port_adapter_is_2x(p->adapter[0]));
    probe_destroy(p);
}

/* ---- the two calls ---- */

static DXGK_QUERYSEGMENTOUT seen[2];
static DXGK_QUERYSEGMENTIN given[2];
static bool zeroed;

static void record_query(struct probe *p, struct probe_call *call)
{
    size_t n;

    if (call->query_type != DXGKQAITYPE_QUERYSEGMENT)
        return;
    n = probe_queries(p, DXGKQAITYPE_QUERYSEGMENT) - 1;
    seen[n] = *(DXGK_QUERYSEGMENTOUT *)call->query.pOutputData;
    given[n] = *(DXGK_QUERYSEGMENTIN *)call->query.pInputData;
    for (size_t i = 0; n == 1 && i < p->segments * sizeof(DXGK_SEGMENTDESCRIPTOR); i++)
        zeroed = zeroed && ((const uint8_t *)seen[1].pSegmentDescriptor)[i] == 0;
}

static void write_more_in_the_first(struct probe *p, struct probe_call *call)
{
    DXGK_QUERYSEGMENTOUT *out = call->query.pOutputData;

    (void)p;
    if (call->query_type == DXGKQAITYPE_QUERYSEGMENT && !out->pSegmentDescriptor)
        out->PagingBufferSegmentId = 77;
}

static UINT second_answer;

static void another_count(struct probe *p, struct probe_call *call)
{
    DXGK_QUERYSEGMENTOUT *out = call->query.pOutputData;

    (void)p;
    if (call->query_type == DXGKQAITYPE_QUERYSEGMENT && out->pSegmentDescriptor)
        out->NbSegment = second_answer;
}

static void one_descriptor_too_many(struct probe *p, struct probe_call *call)
{
    DXGK_QUERYSEGMENTOUT *out = call->query.pOutputData;

    if (call->query_type == DXGKQAITYPE_QUERYSEGMENT && out->pSegmentDescriptor)
        out->pSegmentDescriptor[p->segments].Size = 4096;
}

static void fail_the_second(struct probe *p, struct probe_call *call)
{
    if (call->query_type == DXGKQAITYPE_QUERYSEGMENT &&
        probe_queries(p, DXGKQAITYPE_QUERYSEGMENT) == 2)
        call->result = (uint64_t)(uint32_t)STATUS_NO_MEMORY;
}

TEST(the_query_is_a_pair)
{
    static const DXGK_QUERYSEGMENTIN nothing;
    struct probe *p = vista();

    zeroed = true;
    p->before[PROBE_QueryAdapterInfo] = record_query;
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE("SEG-007", !seen[0].pSegmentDescriptor);
    CHECK_RULE("SEG-008", seen[1].pSegmentDescriptor && seen[1].NbSegment == p->segments && zeroed);
    CHECK_RULE("SEG-012", memcmp(&given[0], &nothing, sizeof(nothing)) == 0 &&
                              memcmp(&given[1], &nothing, sizeof(nothing)) == 0);
    probe_destroy(p);

    STARTED_1X("SEG-007", "CAPS-075", 0, vista(),
               p->after[PROBE_QueryAdapterInfo] = write_more_in_the_first);
    second_answer = 3;
    EXPECTED_1X("SEG-017", "CAPS-073", vista(), p->after[PROBE_QueryAdapterInfo] = another_count);
    second_answer = 1;
    EXPECTED_1X("SEG-017", "CAPS-073", vista(), p->after[PROBE_QueryAdapterInfo] = another_count);
    EXPECTED_1X("SEG-008", "CAPS-072", vista(),
                p->after[PROBE_QueryAdapterInfo] = one_descriptor_too_many);
    REFUSED_1X("SEG-020", "CAPS-073", vista(), p->segments = 0);
    REFUSED_1X("SEG-020", "CAPS-073", blue(), p->segments = 0);
}

TEST(a_failing_query_fails_the_start)
{
    static const DXGK_QUERYADAPTERINFOTYPE types[] = {
        DXGKQAITYPE_QUERYSEGMENT, DXGKQAITYPE_QUERYSEGMENT3, DXGKQAITYPE_QUERYSEGMENT4};
    static const UINT versions[] = {DXGKDDI_INTERFACE_VERSION_WIN7,
                                    DXGKDDI_INTERFACE_VERSION_WDDM1_3,
                                    DXGKDDI_INTERFACE_VERSION_WDDM2_0};
    struct probe *p;

    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        p = probe_of(versions[i]);
        p->query_status[types[i]] = STATUS_NO_MEMORY;
        CHECK_RULE("SEG-015", IS(probe_start(p), STATUS_NO_MEMORY) &&
                                  probe_count(p, PROBE_StopDevice) == 1 &&
                                  probe_count(p, PROBE_RemoveDevice) == 1);
        probe_destroy(p);
    }
    p = vista();
    p->after[PROBE_QueryAdapterInfo] = fail_the_second;
    CHECK_RULE("SEG-015", IS(probe_start(p), STATUS_NO_MEMORY) &&
                              probe_queries(p, DXGKQAITYPE_QUERYSEGMENT) == 2 &&
                              probe_count(p, PROBE_StopDevice) == 1);
    probe_destroy(p);
}

TEST(segments_are_asked_before_they_are_needed)
{
    static const UINT versions[] = {DXGKDDI_INTERFACE_VERSION_WIN7,
                                    DXGKDDI_INTERFACE_VERSION_WDDM2_9};
    static const enum probe_ddi later[] = {PROBE_CreateDevice, PROBE_CreateContext,
                                           PROBE_CreateAllocation, PROBE_BuildPagingBuffer,
                                           PROBE_CreateProcess};

    for (size_t i = 0; i < 2; i++) {
        const struct probe_options options = {.version = versions[i]};
        struct probe *p = i == 0 ? vista() : probe_create(&options);
        const struct probe_call *call;

        CHECK(NT_SUCCESS(probe_start(p)));
        call = probe_query(p, i == 0 ? DXGKQAITYPE_QUERYSEGMENT : DXGKQAITYPE_QUERYSEGMENT4, 1);
        CHECK_RULE("SEG-014", probe_query(p, DXGKQAITYPE_DRIVERCAPS, 0)->order < call->order &&
                                  probe_nth(p, PROBE_StartDevice, 0)->left <=
                                      probe_query(p, DXGKQAITYPE_DRIVERCAPS, 0)->order);
        for (size_t d = 0; d < sizeof(later) / sizeof(later[0]); d++)
            if (probe_count(p, later[d]))
                CHECK_RULE("SEG-014", probe_nth(p, later[d], 0)->order > call->order);
        probe_destroy(p);
    }
}

/* ---- banks ---- */

TEST(banks_are_hints)
{
    static SIZE_T good[2] = {1u << 20, 2u << 20}, falling[2] = {2u << 20, 1u << 20},
                  beyond[2] = {1u << 20, 1ull << 40};
    struct probe *p;

    /* Three banks, a table of two: the last one ends with the segment. */
    STARTED_1X("SEG-037", "SEG-038", 0, vista(), p->segment[0].Flags.UseBanking = 1, p->banks = 3,
               p->bank_table = good);
    STARTED_1X("SEG-037", "SEG-038", 0, blue(), p->segment[0].Flags.UseBanking = 1, p->banks = 1);
    STARTED_1X("SEG-037", "SEG-038", 0, vista(), p->banks = 3, p->bank_table = falling);
    STARTED_1X("SEG-038", "SEG-038", 1, vista(), p->segment[0].Flags.UseBanking = 1, p->banks = 3,
               p->bank_table = falling);
    STARTED_1X("SEG-038", "SEG-038", 1, blue(), p->segment[0].Flags.UseBanking = 1, p->banks = 3,
               p->bank_table = beyond);
    STARTED_1X("SEG-038", "SEG-038", 1, vista(), p->segment[0].Flags.UseBanking = 1, p->banks = 3);
    STARTED_1X("SEG-038", "SEG-038", 1, vista(), p->segment[0].Flags.UseBanking = 1);
    STARTED_1X("SEG-038", "SEG-038", 1, vista(), p->segment[0].Flags.UseBanking = 1, p->banks = 128,
               p->bank_table = good);
    STARTED_1X("SEG-038", "SEG-038", 1, blue(), p->segment[0].Flags.UseBanking = 1, p->banks = 0);
    STARTED_1X("SEG-038", "SEG-038", 1, vista(), p->segment[0].Flags.UseBanking = 1, p->banks = 2,
               p->bank_table = (SIZE_T *)(uintptr_t)0x1000);
    STARTED_1X("SEG-038", "SEG-038", 0, vista(), p->segment[1].Flags.UseBanking = 1, p->banks = 0);
}

/* ---- the paging node ---- */

static UINT paging_node;

static void record_system_context(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATECONTEXT *args = (DXGKARG_CREATECONTEXT *)(uintptr_t)call->arg[1];

    (void)p;
    if (args->Flags.SystemContext)
        paging_node = args->NodeOrdinal;
}

TEST(paging_has_its_node)
{
    struct probe *p = vista();

    p->before[PROBE_CreateContext] = record_system_context;
    p->caps.MemoryManagementCaps.PagingNode = 1;
    paging_node = 77;
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE("CAPS-068", paging_node == 1);
    CHECK_RULE("SEG-086", paging_node == 1);
    CHECK_RULE("PATCH-026", paging_node == 1);
    probe_destroy(p);

    p = probe_create(NULL); /* WDDM 2.x */
    p->before[PROBE_CreateContext] = record_system_context;
    p->caps.MemoryManagementCaps.PagingNode = 0;
    p->physical.PagingNodeIndex = 1;
    paging_node = 77;
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE("CAPS-068", paging_node == 1);
    CHECK_RULE("SEG-087", paging_node == 1);
    probe_destroy(p);

    REFUSED_1X("CAPS-069", "CAPS-069", blue(), p->caps.MemoryManagementCaps.PagingNode = 3);
}

/* ---- what is not in force ---- */

static char said[1024];
static unsigned lines;

static void listen(void *context, const char *line)
{
    (void)context;
    if (!strstr(line, "not in force"))
        return;
    lines++;
    strncpy(said, line, sizeof(said) - 1);
}

TEST(the_start_tells_what_is_not_in_force)
{
    static const UINT versions[] = {DXGKDDI_INTERFACE_VERSION_WDDM1_3,
                                    DXGKDDI_INTERFACE_VERSION_WDDM2_0};

    for (size_t i = 0; i < 2; i++) {
        const struct probe_options options = {.version = versions[i], .port = {.log = listen}};
        struct probe *p = probe_create(&options);

        lines = 0;
        if (i == 0)
            probe_make_1x(p);
        CHECK(NT_SUCCESS(probe_start(p)));
        CHECK(lines == (i == 0));
        CHECK(i > 0 || (strstr(said, "several linked adapters (PATCH-160)") &&
                        !strstr(said, "DxgkDdiRenderKm") && !strstr(said, "displays")));
        probe_destroy(p);
    }
}
