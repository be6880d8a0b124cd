/* SPDX-License-Identifier: MIT */
/* DXGK_DRIVERCAPS: what admits an adapter, what refuses it, and with which status. */
#include "port/support/admission.h"
#include "port/record/cause.h"
#include "sim/sim.h"
#include "sim/thread.h"

#include <string.h>

#define IS(status, wanted)   ((NTSTATUS)(status) == (wanted))
#define ONE_ENTRY_LESS(name) probe_set_entry(p, PROBE_##name, false)

/* ---- the query itself ---- */

static unsigned queries_inside, most_inside;

static void linger(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    if (++queries_inside > most_inside)
        most_inside = queries_inside;
    probe_sleep(1000000);
    queries_inside--;
}

static void query_from_outside(struct probe *p)
{
    DXGKARG_QUERYADAPTERINFO args;
    DXGK_DRIVERCAPS caps;

    memset(&args, 0, sizeof(args));
    args.Type = DXGKQAITYPE_DRIVERCAPS;
    args.pOutputData = &caps;
    args.OutputDataSize = sizeof(caps);
    (void)ddi_query_adapter_info(port_adapter_ddi(p->adapter[0]), &args);
}

static void two_queries(struct probe *p)
{
    struct sim_thread *a = probe_thread(p, probe_process(p, "a"), "a", query_from_outside);
    struct sim_thread *b = probe_thread(p, probe_process(p, "b"), "b", query_from_outside);

    while (!sim_thread_ended(a) || !sim_thread_ended(b))
        probe_sleep(1000000);
    sim_thread_release(a);
    sim_thread_release(b);
}

TEST(queries_are_reentrant_at_passive_level)
{
    struct probe *p = probe_create(NULL);

    CHECK(NT_SUCCESS(probe_start(p)));
    p->before[PROBE_QueryAdapterInfo] = linger;
    CHECK(probe_run(p, two_queries) == SIM_DONE);
    CHECK_RULE("CAPS-001", most_inside == 2);
    for (size_t i = 0; i < probe_count(p, PROBE_QueryAdapterInfo); i++)
        CHECK_RULE("CAPS-001", probe_nth(p, PROBE_QueryAdapterInfo, i)->irql == PASSIVE_LEVEL);
    for (size_t i = 0; i < probe_count(p, PROBE_QueryAdapterInfo); i++)
        CHECK_RULE("CAPS-008", probe_nth(p, PROBE_QueryAdapterInfo, i)->query.Flags.Value == 0);
    probe_destroy(p);
}

static UINT context_node;
static bool context_virtual;

static void note_context(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATECONTEXT *args = (const void *)call->arg[1];

    (void)p;
    context_node = args->NodeOrdinal;
    context_virtual = args->Flags.VirtualAddressing;
}

TEST(statuses_of_queries)
{
    struct probe *p;

    ACCEPTED("CAPS-003", p->query_status[DXGKQAITYPE_GPUVERSION] = STATUS_NOT_IMPLEMENTED);
    REPORTED("CAPS-003", "CAPS-003", VERIFY_WARNING,
             p->query_status[DXGKQAITYPE_GPUVERSION] = STATUS_UNSUCCESSFUL);
    ACCEPTED("CAPS-004", p->query_status[DXGKQAITYPE_GPUVERSION] = STATUS_INVALID_PARAMETER);
    p = probe_create(NULL);
    p->query_status[DXGKQAITYPE_DRIVERCAPS] = STATUS_INVALID_PARAMETER;
    CHECK_RULE("CAPS-004", IS(probe_start(p), STATUS_INVALID_PARAMETER) &&
                               probe_said(p, "CAPS-004", "STATUS_INVALID_PARAMETER"));
    CHECK_RULE("CAPS-002", probe_rule(p, "CAPS-003") == 0);
    probe_destroy(p);
    p = probe_create(NULL);
    p->query_status[DXGKQAITYPE_PHYSICALADAPTERCAPS] = STATUS_UNSUCCESSFUL;
    CHECK_RULE("CAPS-004",
               IS(probe_start(p), STATUS_UNSUCCESSFUL) &&
                   strstr(port_cause_text(p->port), "DxgkDdiQueryAdapterInfo("
                                                    "DXGKQAITYPE_PHYSICALADAPTERCAPS) returned "
                                                    "STATUS_UNSUCCESSFUL"));
    probe_destroy(p);
    /* Drivers of WDDM 2.0 were seen to run on Windows without it. */
    for (unsigned i = 0; i < 3; i++) {
        static const NTSTATUS unsupported[] = {STATUS_NOT_SUPPORTED, STATUS_NOT_IMPLEMENTED,
                                               STATUS_INVALID_PARAMETER};

        ACCEPTED("CAPS-095/c", p->query_status[DXGKQAITYPE_PHYSICALADAPTERCAPS] = unsupported[i]);
    }
    p = probe_create(NULL);
    p->query_status[DXGKQAITYPE_PHYSICALADAPTERCAPS] = STATUS_NOT_SUPPORTED;
    p->caps.MemoryManagementCaps.PagingNode = 1;
    p->before[PROBE_CreateContext] = note_context;
    CHECK_RULE("CAPS-095/c", NT_SUCCESS(probe_start(p)) && context_node == 1 && context_virtual);
    probe_destroy(p);
    ACCEPTED("CAPS-113", p->query_status[DXGKQAITYPE_WDDMDEVICECAPS] = STATUS_UNSUCCESSFUL,
             verify_set_severity(p->log, "CAPS-003", VERIFY_NOTE));
}

static bool zeroed;

static void look_at_output(struct probe *p, struct probe_call *call)
{
    (void)p;
    for (UINT i = 0;
         i < call->query.OutputDataSize && call->query_type != DXGKQAITYPE_QUERYSEGMENT4; i++)
        zeroed = zeroed && ((const uint8_t *)call->query.pOutputData)[i] == 0;
}

static void write_beyond(struct probe *p, struct probe_call *call)
{
    (void)p;
    if (call->query_type == DXGKQAITYPE_GPUMMUCAPS)
        ((uint8_t *)call->query.pOutputData)[call->query.OutputDataSize] = 1;
}

static void write_before(struct probe *p, struct probe_call *call)
{
    (void)p;
    if (call->query_type == DXGKQAITYPE_GPUMMUCAPS)
        ((uint8_t *)call->query.pOutputData)[-1] = 1;
}

static void write_input(struct probe *p, struct probe_call *call)
{
    (void)p;
    if (call->query_type == DXGKQAITYPE_GPUMMUCAPS)
        *(uint8_t *)call->query.pInputData ^= 1;
}

TEST(buffers_of_queries)
{
    struct probe *p = probe_create(NULL);
    const struct probe_call *caps;

    zeroed = true;
    p->before[PROBE_QueryAdapterInfo] = look_at_output;
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE("CAPS-005", zeroed && probe_rule(p, "CAPS-005") == 0);
    caps = probe_query(p, DXGKQAITYPE_DRIVERCAPS, 0);
    CHECK_RULE("CAPS-007", !caps->query.pInputData && caps->query.InputDataSize == 0);
    probe_destroy(p);
    REPORTED("CAPS-005", "CAPS-005", VERIFY_ERROR, p->after[PROBE_QueryAdapterInfo] = write_beyond);
    REPORTED("CAPS-005", "CAPS-005", VERIFY_ERROR, p->after[PROBE_QueryAdapterInfo] = write_before);
    REPORTED("CAPS-007", "CAPS-007", VERIFY_ERROR, p->after[PROBE_QueryAdapterInfo] = write_input);
}

/* ---- versions of structures, and which types exist at which version ---- */

TEST(sizes_and_types_follow_the_version)
{
    static const struct {
        UINT version, caps, physical;
        UINT newest; /* type that may be asked */
    } at[] = {
        {DXGKDDI_INTERFACE_VERSION_VISTA, offsetof(DXGK_DRIVERCAPS, WDDMVersion), 0, 2},
        {DXGKDDI_INTERFACE_VERSION_WDDM1_3, 552, 0, 10},
        {DXGKDDI_INTERFACE_VERSION_WDDM2_0, 576, 24, 15},
        {DXGKDDI_INTERFACE_VERSION_WDDM2_4, 584, 24, 27},
        {DXGKDDI_INTERFACE_VERSION_WDDM2_6, 584, 24, 29},
        {DXGKDDI_INTERFACE_VERSION_WDDM2_9, sizeof(DXGK_DRIVERCAPS),
         sizeof(DXGK_PHYSICALADAPTERCAPS), 35},
        {DXGKDDI_INTERFACE_VERSION_WDDM3_1, sizeof(DXGK_DRIVERCAPS),
         sizeof(DXGK_PHYSICALADAPTERCAPS), 35},
    };

    for (unsigned i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
        const struct probe_options options = {.version = at[i].version};
        struct probe *p = probe_create(&options);

        p->caps.WDDMVersion = (DXGK_WDDMVERSION)0;
        p->device_wddm = (DXGK_WDDMVERSION)0;
        if (at[i].version < DXGKDDI_INTERFACE_VERSION_WDDM2_9)
            p->caps.MemoryManagementCaps.MapAperture2Supported = 0;
        (void)probe_start(p);
        CHECK_RULE("CAPS-006", (probe_query(p, DXGKQAITYPE_DRIVERCAPS, 0)->query.OutputDataSize &
                                ~7u) == (at[i].caps & ~7u));
        if (at[i].physical)
            CHECK_RULE("CAPS-006",
                       probe_query(p, DXGKQAITYPE_PHYSICALADAPTERCAPS, 0)->query.OutputDataSize ==
                           at[i].physical);
        for (size_t n = 0; n < probe_count(p, PROBE_QueryAdapterInfo); n++) {
            UINT type = (UINT)probe_nth(p, PROBE_QueryAdapterInfo, n)->query_type;

            CHECK_RULE("CAPS-011", type <= at[i].newest);
            CHECK_RULE("CAPS-009", type != 3 && type != 4 && type != 8 && type != 9);
            CHECK_RULE("CAPS-010", type != 36);
            CHECK_RULE("CAPS-012",
                       !(type >= 16 && type <= 20) && type != 23 && type != 31 && type != 33);
            CHECK_RULE("CAPS-114", type != 30);
            CHECK_RULE("CAPS-121", type != 37 && type != 38);
        }
        probe_destroy(p);
    }
}

static unsigned caps_asked;

static void change_mind(struct probe *p, struct probe_call *call)
{
    (void)p;
    if (call->query_type == DXGKQAITYPE_DRIVERCAPS && caps_asked++)
        ((DXGK_DRIVERCAPS *)call->query.pOutputData)->MaxAllocationListSlotId = 77;
}

TEST(caps_stay_what_they_were)
{
    struct probe *p = probe_create(NULL);

    caps_asked = 0;
    p->after[PROBE_QueryAdapterInfo] = change_mind;
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK(probe_run(p, query_from_outside) == SIM_DONE && caps_asked == 2);
    CHECK_RULE("CAPS-017", port_adapter_caps(p->adapter[0])->MaxAllocationListSlotId == 1);
    probe_destroy(p);
}

/* ---- members ---- */

TEST(reserved_bits_are_warned_of_and_ignored)
{
    struct probe *p;

    REPORTED("CAPS-019", "CAPS-019", VERIFY_WARNING, p->caps.SchedulingCaps.Value |= 1u << 31);
    REPORTED("CAPS-019", "CAPS-019", VERIFY_WARNING, p->caps.MemoryManagementCaps.Value |= 1u << 30);
    REPORTED("CAPS-019", "CAPS-019", VERIFY_WARNING, p->caps.MiscCaps.Value |= 1u << 20);
    REPORTED("CAPS-019", "CAPS-019", VERIFY_WARNING, p->caps.GpuEngineTopology.Reserved[5] = 1);
    REPORTED("CAPS-019", "CAPS-019", VERIFY_WARNING, p->caps.HwQueuedFlipCaps.Value = 1);
    p = probe_create(NULL);
    p->caps.SchedulingCaps.Value |= 1u << 11; /* NativeGpuFence: 3.1, this driver is a 2.9 one */
    CHECK_RULE("CAPS-019", NT_SUCCESS(probe_start(p)) && probe_rule(p, "CAPS-019") == 1 &&
                               port_adapter_caps(p->adapter[0])->SchedulingCaps.Value == 0x5);
    probe_destroy(p);
}

TEST(address_limits)
{
    const LONGLONG top = (64ll << 20) - 1; /* of the probe's RAM */
    const struct probe_options remap = {.port = {.iommu = IOMMU_REMAP}};
    struct probe *p;

    ACCEPTED("CAPS-021/a", p->caps.HighestAcceptableAddress.QuadPart = top);
    ACCEPTED("IOMMU-023", p->caps.HighestAcceptableAddress.QuadPart = top);
    DECLINED("CAPS-021/a", p->caps.HighestAcceptableAddress.QuadPart = top - 1);
    DECLINED("CAPS-021/a", p->caps.HighestAcceptableAddress.QuadPart = top - 4096);
    DECLINED("IOMMU-023", p->caps.HighestAcceptableAddress.QuadPart = top - 1);
    p = probe_create(&remap);
    p->caps.HighestAcceptableAddress.QuadPart = top - 4096;
    CHECK_RULE("CAPS-021/b", NT_SUCCESS(probe_start(p)));
    probe_destroy(p);
}

TEST(interrupt_message)
{
    static const char *const two[] = {"messages=2", NULL};
    const struct probe_options options = {.device = two};
    struct probe *p;

    EXPECTED("CAPS-025/b", "CAPS-025", p->caps.InterruptMessageNumber = 1);
    for (ULONG message = 0; message <= 4; message++) {
        p = probe_create(&options);
        p->caps.InterruptMessageNumber = message;
        CHECK_RULE("CAPS-025/a",
                   NT_SUCCESS(probe_start(p)) &&
                       (message < 2 ? probe_rule(p, "CAPS-025") == 0
                                    : admission_reported(p, "CAPS-025", VERIFY_WARNING, false)));
        probe_destroy(p);
    }
}

TEST(display_members_have_no_effect)
{
    struct probe *p;

    ACCEPTED("CAPS-026", p->caps.MaxPointerWidth = 64, p->caps.MaxPointerHeight = 64,
             p->caps.PointerCaps.Color = 1, p->caps.MaxOverlays = 2,
             p->caps.GammaRampCaps.Value = 1, p->caps.MaxQueuedFlipOnVSync = 1);
    REPORTED("CAPS-030", "CAPS-030", VERIFY_WARNING, p->caps.FlipCaps.FlipOnVSyncMmIo = 0);
    REPORTED("CAPS-030", "CAPS-030", VERIFY_WARNING,
             p->caps.PresentationCaps.SupportKernelModeCommandBuffer = 0);
    REPORTED("CAPS-030", "CAPS-030", VERIFY_WARNING, p->caps.FlipCaps.FlipIndependent = 0);
    EXPECTED("CAPS-044", "CAPS-044", p->caps.MiscCaps.IndependentVidPnVSyncControl = 1);
    ACCEPTED("CAPS-044", p->caps.MiscCaps.IndependentVidPnVSyncControl = 1,
             probe_set_entry(p, PROBE_ControlInterrupt3, true));
    REPORTED("CAPS-045", "CAPS-045", VERIFY_ERROR, p->caps.MaxHwQueuedFlips = 4);
    ACCEPTED("CAPS-045", p->caps.MaxHwQueuedFlips = 1);
    ACCEPTED("CAPS-070", p->caps.MemoryManagementCaps.ParavirtualizationSupported = 1);
    EXPECTED("CAPS-038/a", "CAPS-038", p->caps.HybridDiscrete = TRUE);
    ACCEPTED("CAPS-038/a", p->caps.HybridDiscrete = TRUE,
             p->caps.MemoryManagementCaps.CrossAdapterResource = 1);
}

static void report_an_output(struct probe *p, struct probe_call *call)
{
    (void)p;
    *(ULONG *)(uintptr_t)call->arg[3] = 1;
}

/* A discrete GPU of a hybrid system draws, and another one shows. */
TEST(hybrid_gpus_have_no_outputs)
{
    for (BOOLEAN hybrid = 0; hybrid < 2; hybrid++) {
        const struct probe_options dark = {.port.no_displays = true};
        struct probe *p = probe_create(&dark);

        CHECK(verify_set_severity(p->log, "LIFE-069", VERIFY_WARNING));
        p->after[PROBE_StartDevice] = report_an_output;
        p->caps.HybridDiscrete = hybrid;
        p->caps.MemoryManagementCaps.CrossAdapterResource = 1;
        CHECK(NT_SUCCESS(probe_start(p)));
        CHECK_RULE("CAPS-038/b", probe_rule(p, "CAPS-038") == hybrid);
        probe_destroy(p);
    }
}

TEST(claimed_versions)
{
    const struct probe_options wddm2_0 = {.version = DXGKDDI_INTERFACE_VERSION_WDDM2_0};
    const struct probe_options wddm1 = {.version = DXGKDDI_INTERFACE_VERSION_WIN7};
    struct probe *p;

    ACCEPTED("CAPS-032", p->caps.WDDMVersion = (DXGK_WDDMVERSION)0);
    EXPECTED("CAPS-032", "CAPS-032", p->caps.WDDMVersion = (DXGK_WDDMVERSION)0x9999);
    EXPECTED("CAPS-034", "CAPS-034", p->device_wddm = DXGKDDI_WDDMv2_6,
             p->caps.WDDMVersion = DXGKDDI_WDDMv2_7);
    EXPECTED("CAPS-029", "CAPS-029", p->caps.SupportPerEngineTDR = FALSE);
    EXPECTED("TDR-017", "CAPS-029", p->caps.SupportPerEngineTDR = FALSE);
    EXPECTED("CAPS-036", "CAPS-029", p->caps.SupportPerEngineTDR = FALSE);
    EXPECTED("CAPS-036", "CAPS-036", ONE_ENTRY_LESS(ResetEngine));
    EXPECTED("CAPS-036", "CAPS-036", ONE_ENTRY_LESS(QueryEngineStatus));
    EXPECTED("CAPS-036", "CAPS-036", ONE_ENTRY_LESS(QueryDependentEngineGroup));
    EXPECTED("CAPS-097/a", "CAPS-097", ONE_ENTRY_LESS(GetNodeMetadata));
    /* A driver of an older interface that claims 2.1. */
    p = probe_create(&wddm1);
    p->caps.WDDMVersion = DXGKDDI_WDDMv2_1;
    p->caps.SupportPerEngineTDR = FALSE;
    CHECK_RULE("CAPS-031", IS(probe_start(p), STATUS_DEVICE_CONFIGURATION_ERROR) &&
                               probe_said(p, "CAPS-031", "DxgkDdiGetNodeMetadata") &&
                               probe_said(p, "CAPS-031", "SupportPerEngineTDR"));
    probe_destroy(p);
    p = probe_create(&wddm2_0); /* the number alone turns nothing on */
    p->caps.WDDMVersion = DXGKDDI_WDDMv2_9;
    p->caps.MemoryManagementCaps.IoMmuSecureModeSupported = 0;
    p->caps.MemoryManagementCaps.MapAperture2Supported = 0;
    CHECK_RULE("CAPS-031",
               NT_SUCCESS(probe_start(p)) && probe_queries(p, DXGKQAITYPE_IOMMU_CAPS) == 0);
    probe_destroy(p);
}

/* What an older driver owes: by what it claims, else by what it was built with. */
static void owes(UINT built, DXGK_WDDMVERSION claimed, const char *reset, const char *metadata)
{
    const struct probe_options options = {.version = built};
    struct probe *p = probe_create(&options);

    probe_make_1x(p);
    p->caps.WDDMVersion = claimed;
    p->caps.SupportPerEngineTDR = FALSE;
    probe_set_entry(p, PROBE_GetNodeMetadata, false);
    (void)probe_start(p);
    CHECK_RULE("CAPS-029", probe_said(p, "CAPS-029", "SupportPerEngineTDR") ==
                               (reset && strcmp(reset, "CAPS-029") == 0));
    CHECK_RULE("TDR-017", (probe_rule(p, "CAPS-029") + probe_rule(p, "CAPS-031") != 0) ==
                              (reset != NULL || metadata != NULL));
    CHECK_RULE("CAPS-097/a", probe_said(p, "CAPS-097", "DxgkDdiGetNodeMetadata") ==
                                 (metadata && strcmp(metadata, "CAPS-097") == 0));
    CHECK_RULE("CAPS-031", probe_said(p, "CAPS-031", "SupportPerEngineTDR") ==
                                   (reset && strcmp(reset, "CAPS-031") == 0) &&
                               probe_said(p, "CAPS-031", "DxgkDdiGetNodeMetadata") ==
                                   (metadata && strcmp(metadata, "CAPS-031") == 0));
    probe_destroy(p);
}

TEST(what_each_version_owes)
{
    static const DXGK_WDDMVERSION none = (DXGK_WDDMVERSION)0;

    owes(DXGKDDI_INTERFACE_VERSION_WIN7, none, NULL, NULL);
    owes(DXGKDDI_INTERFACE_VERSION_WIN8, none, "CAPS-029", NULL);
    owes(DXGKDDI_INTERFACE_VERSION_WDDM1_3, none, "CAPS-029", "CAPS-097");
    owes(DXGKDDI_INTERFACE_VERSION_WIN7, DXGKDDI_WDDMv1, NULL, NULL);
    owes(DXGKDDI_INTERFACE_VERSION_WIN7, DXGKDDI_WDDMv1_2, "CAPS-031", NULL);
    owes(DXGKDDI_INTERFACE_VERSION_WIN7, DXGKDDI_WDDMv1_3, "CAPS-031", "CAPS-031");
    owes(DXGKDDI_INTERFACE_VERSION_WIN8, DXGKDDI_WDDMv1_3, "CAPS-029", "CAPS-031");
}

TEST(preemption_and_removal)
{
    struct probe *p;

    EXPECTED("CAPS-037/a", "CAPS-037", p->caps.SupportSurpriseRemoval = TRUE);
    EXPECTED("CAPS-037/b", "CAPS-037", p->caps.SupportSurpriseRemovalInHibernation = TRUE);
    ACCEPTED("CAPS-037/b", p->caps.SupportSurpriseRemovalInHibernation = TRUE,
             probe_set_entry(p, PROBE_NotifySurpriseRemoval, true));
    ACCEPTED("CAPS-037/a", p->caps.SupportSurpriseRemoval = TRUE,
             probe_set_entry(p, PROBE_NotifySurpriseRemoval, true));
    EXPECTED("LIFE-157/a", "LIFE-157", p->caps.SupportRuntimePowerManagement = TRUE,
             probe_set_entry(p, PROBE_PowerRuntimeControlRequest, true));
    EXPECTED("LIFE-157/b", "LIFE-157", p->caps.SupportRuntimePowerManagement = TRUE,
             probe_set_entry(p, PROBE_SetPowerComponentFState, true));
}

TEST(scheduling_dependencies)
{
    struct probe *p;

    REFUSED("CAPS-048", "CAPS-048", p->caps.SchedulingCaps.Value = 0x4);
    REFUSED("PREEMPT-001", "CAPS-048", p->caps.SchedulingCaps.Value = 0x4);
    ACCEPTED("PREEMPT-001", p->caps.SchedulingCaps.Value = 0x5);
    REFUSED("PREEMPT-002", "CAPS-048", p->caps.SchedulingCaps.Value = 0x4);
    REFUSED("PREEMPT-002", "CAPS-049", p->caps.SchedulingCaps.Value = 0x8);
    REFUSED("PREEMPT-002", "CAPS-049", p->caps.SchedulingCaps.Value = 0x9);
    p = probe_create(NULL);
    p->caps.SchedulingCaps.Value = 0x4;
    (void)probe_start(p);
    CHECK_RULE("PREEMPT-002", probe_said(p, "CAPS-048", "PreemptionAware") &&
                                  probe_said(p, "CAPS-048", "MultiEngineAware"));
    probe_destroy(p);
    REFUSED("CAPS-049", "CAPS-049", p->caps.SchedulingCaps.Value = 0x8);
    REFUSED("CAPS-049", "CAPS-049", p->caps.SchedulingCaps.Value = 0x9);
    ACCEPTED("CAPS-049", p->caps.SchedulingCaps.Value = 0xD);
    REFUSED("CAPS-050", "CAPS-050", p->caps.SchedulingCaps.Value = 0x10);
    EXPECTED("CAPS-050", "CAPS-050", p->caps.SchedulingCaps.Value = 0x11,
             ONE_ENTRY_LESS(CancelCommand));
    ACCEPTED("CAPS-050", p->caps.SchedulingCaps.Value = 0x11);
    ACCEPTED("CAPS-047", p->caps.SchedulingCaps.VSyncPowerSaveAware = 1);
    REFUSED("CAPS-055/a", "CAPS-055", p->caps.GpuEngineTopology.NbAsymetricProcessingNodes = 65,
            p->physical.NumExecutionNodes = 65);
    ACCEPTED("CAPS-055/a", p->caps.GpuEngineTopology.NbAsymetricProcessingNodes = 64,
             p->physical.NumExecutionNodes = 64);
    REFUSED("CAPS-056", "CAPS-056", p->caps.GpuEngineTopology.NbAsymetricProcessingNodes = 0,
            p->physical.NumExecutionNodes = 0);
}

TEST(memory_caps)
{
    struct probe *p;

    REPORTED("CAPS-058", "CAPS-058", VERIFY_ERROR,
             p->caps.MemoryManagementCaps.DedicatedPagingEngine = 1);
    REPORTED("CAPS-058", "CAPS-058", VERIFY_ERROR,
             p->caps.MemoryManagementCaps.PagingEngineCanSwizzle = 1);
    EXPECTED("CAPS-060/a", "CAPS-060", p->caps.MemoryManagementCaps.GpuMmuSupported = 0,
             p->physical.Flags.GpuMmuSupported = 0);
    EXPECTED("CAPS-060/b", "CAPS-060", p->caps.MemoryManagementCaps.VirtualAddressingSupported = 0);
    p = probe_create(NULL);
    p->caps.MemoryManagementCaps.VirtualAddressingSupported = 0;
    p->caps.MemoryManagementCaps.GpuMmuSupported = 0;
    p->caps.MemoryManagementCaps.IoMmuSupported = 1;
    CHECK_RULE("CAPS-060/c", IS(probe_start(p), STATUS_NOT_SUPPORTED) &&
                                 admission_reported(p, "CAPS-060", VERIFY_WARNING, false) &&
                                 admission_reported(p, "CAPS-062", VERIFY_WARNING, true));
    probe_destroy(p);
    DECLINED("CAPS-062", p->caps.MemoryManagementCaps.GpuMmuSupported = 0,
             p->caps.MemoryManagementCaps.IoMmuSupported = 1);
    EXPECTED("CAPS-039", "CAPS-039", p->caps.MemoryManagementCaps.VirtualAddressingSupported = 0,
             p->caps.MemoryManagementCaps.GpuMmuSupported = 0, p->physical.Flags.GpuMmuSupported = 0,
             p->caps.InternalGpuVirtualAddressRangeEnd = 0x100000);
}

/* A further segment that the CPU reaches through a window. */
static void add_windowed_segment(struct probe *p)
{
    p->segment[2] = p->segment[0];
    p->segment[2].BaseAddress.QuadPart = 1ll << 40;
    p->segment[2].Flags.CpuVisible = 0;
    p->segment[2].Flags.SupportsCpuHostAperture = 1;
    p->segments = 3;
}

TEST(entries_that_caps_need)
{
    struct probe *p;

    REFUSED("TDR-018", "LIFE-023", ONE_ENTRY_LESS(ResetFromTimeout));
    REFUSED("TDR-018", "LIFE-023", ONE_ENTRY_LESS(RestartFromTimeout));
    REFUSED("LIFE-023", "LIFE-023", ONE_ENTRY_LESS(CreateContext));
    REFUSED("LIFE-023", "LIFE-023", ONE_ENTRY_LESS(DestroyContext));
    REFUSED("LIFE-023", "LIFE-023", ONE_ENTRY_LESS(BuildPagingBuffer));
    REFUSED("LIFE-023", "LIFE-023", ONE_ENTRY_LESS(Patch));
    REFUSED("LIFE-023", "LIFE-023", ONE_ENTRY_LESS(Render));
    REFUSED("LIFE-023", "LIFE-023", ONE_ENTRY_LESS(CollectDbgInfo));
    EXPECTED("LIFE-035", "LIFE-035", ONE_ENTRY_LESS(BeginExclusiveAccess));
    EXPECTED("LIFE-035", "LIFE-035", ONE_ENTRY_LESS(EndExclusiveAccess));
    EXPECTED("IOMMU-017/a", "LIFE-035", ONE_ENTRY_LESS(BeginExclusiveAccess));
    EXPECTED("IOMMU-017/b", "LIFE-035", ONE_ENTRY_LESS(EndExclusiveAccess));
    EXPECTED("LIFE-034", "LIFE-034", add_windowed_segment(p),
             probe_set_entry(p, PROBE_MapCpuHostAperture, true));
    EXPECTED("LIFE-034", "LIFE-034", add_windowed_segment(p),
             probe_set_entry(p, PROBE_UnmapCpuHostAperture, true));
}
