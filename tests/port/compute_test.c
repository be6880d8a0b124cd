/* SPDX-License-Identifier: MIT */
/* Compute-only drivers: entries they must and must not have, caps they must and must not set, queries they must answer. */
#include "port/support/admission.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))

TEST(good_ones_start)
{
    struct probe *p;

    ACCEPTED("CAPS-100", probe_make_compute_only(p),
             p->node[0].EngineType = p->node[1].EngineType = DXGK_ENGINE_TYPE_OTHER,
             p->node[1].FriendlyName[0] = L'd');
    p = probe_create(NULL);
    probe_make_compute_only(p); /* no node is of type 3D */
    CHECK_RULE("SUBMIT-010", NT_SUCCESS(probe_start(p)) && probe_rule(p, "CAPS-099") == 0);
    probe_destroy(p);
    p = probe_create(NULL);
    probe_make_compute_only(p);
    CHECK(NT_SUCCESS(probe_start(p)));
    CHECK_RULE("CAPS-014", probe_queries(p, DXGKQAITYPE_DEVICE_TYPE_CAPS) == 0);
    CHECK(probe_stop(p) == 0);
    probe_destroy(p);
    for (unsigned i = 0; i < 2;
         i++) { /* with and without the entry that is both required and prohibited */
        p = probe_create(NULL);
        probe_make_compute_only(p);
        probe_set_entry(p, PROBE_QueryConnectionChange, i != 0);
        CHECK_RULE("LIFE-032", NT_SUCCESS(probe_start(p)) && probe_stop(p) == 0 &&
                                   probe_count(p, PROBE_QueryConnectionChange) == 0);
        probe_destroy(p);
    }
}

/* Start without (or with) one entry. */
static NTSTATUS start_with(enum probe_ddi ddi, bool present, bool physical, const char *rule,
                           bool *named)
{
    struct probe *p = probe_create(NULL);
    char name[64] = "";
    NTSTATUS status;

    probe_make_compute_only(p);
    if (physical) {
        p->caps.MemoryManagementCaps.VirtualAddressingSupported = 0;
        p->caps.MemoryManagementCaps.GpuMmuSupported = 0;
        p->physical.Flags.GpuMmuSupported = 0;
        p->node[1].GpuMmuSupported = FALSE;
    }
    if (ddi < PROBE_DDI_COUNT)
        probe_set_entry(p, ddi, present);
    status = probe_start(p);
    *named = false;
    if (rule) {
        static const char *const names[] = {
#define NAME(entry, arguments) "DxgkDdi" #entry,
            PROBE_DDIS(NAME)
#undef NAME
        };

        strcat(name, names[ddi]);
        strcat(name, " ");
        *named = probe_said(p, rule, name);
    }
    probe_destroy(p);
    return status;
}

TEST(each_required_entry)
{
    static const enum probe_ddi life[] = {PROBE_GetNodeMetadata,     PROBE_QueryChildRelations,
                                          PROBE_QueryChildStatus,    PROBE_QueryDeviceDescriptor,
                                          PROBE_SetStablePowerState, PROBE_SetVirtualMachineData};
    static const enum probe_ddi device[] = {
        PROBE_CreateDevice,   PROBE_DestroyDevice,    PROBE_CreateContext,
        PROBE_DestroyContext, PROBE_CreateAllocation, PROBE_DestroyAllocation,
        PROBE_OpenAllocation, PROBE_CloseAllocation,  PROBE_BuildPagingBuffer};
    static const enum probe_ddi optional[] = {PROBE_DescribeAllocation,
                                              PROBE_GetStandardAllocationDriverData};
    static const enum probe_ddi recovery[] = {PROBE_PreemptCommand, PROBE_ResetFromTimeout,
                                              PROBE_RestartFromTimeout, PROBE_CollectDbgInfo};
    static const enum probe_ddi engine[] = {PROBE_QueryDependentEngineGroup,
                                            PROBE_QueryEngineStatus, PROBE_ResetEngine,
                                            PROBE_CalibrateGpuClock, PROBE_FormatHistoryBuffer};
    bool named;

    for (unsigned i = 0; i < sizeof(life) / sizeof(life[0]); i++)
        CHECK_RULE("LIFE-026",
                   NT_SUCCESS(start_with(life[i], false, false, "LIFE-026", &named)) && named);
    for (unsigned i = 0; i < sizeof(device) / sizeof(device[0]); i++)
        CHECK_RULE("LIFE-027", IS(start_with(device[i], false, false, "LIFE-027", &named),
                                  STATUS_DEVICE_CONFIGURATION_ERROR) &&
                                   named);
    for (unsigned i = 0; i < sizeof(optional) / sizeof(optional[0]); i++)
        CHECK_RULE("LIFE-027",
                   NT_SUCCESS(start_with(optional[i], false, false, "LIFE-027", &named)) && named);
    for (unsigned i = 0; i < sizeof(recovery) / sizeof(recovery[0]); i++)
        CHECK_RULE("LIFE-028", IS(start_with(recovery[i], false, false, "LIFE-028", &named),
                                  STATUS_DEVICE_CONFIGURATION_ERROR) &&
                                   named);
    for (unsigned i = 0; i < sizeof(engine) / sizeof(engine[0]); i++)
        CHECK_RULE("LIFE-028",
                   NT_SUCCESS(start_with(engine[i], false, false, "LIFE-028", &named)) && named);
}

TEST(each_entry_of_scheduling)
{
    static const struct {
        enum probe_ddi ddi;
        const char *rule;
        bool refused;
    } entries[] = {
        {PROBE_PreemptCommand, "LIFE-028", true},
        {PROBE_QueryDependentEngineGroup, "LIFE-028", false},
        {PROBE_QueryEngineStatus, "LIFE-028", false},
        {PROBE_ResetEngine, "LIFE-028", false},
        {PROBE_ResetFromTimeout, "LIFE-028", true},
        {PROBE_RestartFromTimeout, "LIFE-028", true},
        {PROBE_CollectDbgInfo, "LIFE-028", true},
        {PROBE_GetNodeMetadata, "LIFE-026", false},
        {PROBE_InterruptRoutine, "LIFE-026", false},
        {PROBE_DpcRoutine, "LIFE-026", false},
    };
    static const enum probe_ddi absent[] = {PROBE_ControlInterrupt, PROBE_Present,
                                            PROBE_QueryCurrentFence};
    bool named;

    for (unsigned i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        NTSTATUS status = start_with(entries[i].ddi, false, false, entries[i].rule, &named);

        CHECK_RULE("SUBMIT-012",
                   named && (entries[i].refused ? IS(status, STATUS_DEVICE_CONFIGURATION_ERROR)
                                                : NT_SUCCESS(status)));
    }
    for (unsigned i = 0; i < sizeof(absent) / sizeof(absent[0]); i++)
        CHECK_RULE("SUBMIT-013",
                   NT_SUCCESS(start_with(absent[i], true, false, "LIFE-030", &named)) && named);
}

/* All that is missing is told in one start. */
TEST(findings_are_told_together)
{
    struct probe *p = probe_create(&(struct probe_options){.strict = true});

    probe_make_compute_only(p);
    probe_set_entry(p, PROBE_SetStablePowerState, false);
    probe_set_entry(p, PROBE_NotifyAcpiEvent, true);
    p->caps.SupportNonVGA = TRUE;
    p->caps.SupportSmoothRotation = TRUE;
    p->caps.SchedulingCaps.LowIrqlPreemptCommand = 0;
    p->segment[1].Size = 4097;
    CHECK_RULE("LIFE-003/a", IS(probe_start(p), STATUS_DEVICE_CONFIGURATION_ERROR) &&
                                 probe_said(p, "LIFE-026", "SetStablePowerState") &&
                                 probe_said(p, "LIFE-030", "NotifyAcpiEvent") &&
                                 probe_said(p, "CAPS-027", "SupportNonVGA") &&
                                 probe_said(p, "CAPS-027", "SupportSmoothRotation") &&
                                 probe_rule(p, "CAPS-052") == 1 &&
                                 probe_said(p, "SEG-030", "0x1001") &&
                                 !verify_bugcheck_state(p->log)->happened);
    probe_destroy(p);
}

TEST(each_prohibited_entry)
{
    static const enum probe_ddi display[] = {
        PROBE_AcquireSwizzlingRange,
        PROBE_CommitVidPn,
        PROBE_IsSupportedVidPn,
        PROBE_EnumVidPnCofuncModality,
        PROBE_CheckMultiPlaneOverlaySupport,
        PROBE_CheckMultiPlaneOverlaySupport2,
        PROBE_CheckMultiPlaneOverlaySupport3,
        PROBE_GetMultiPlaneOverlayCaps,
        PROBE_GetPostCompositionCaps,
        PROBE_PostMultiPlaneOverlayPresent,
        PROBE_CreateOverlay,
        PROBE_FlipOverlay,
        PROBE_DestroyOverlay,
        PROBE_GetScanLine,
        PROBE_DisplayDetectControl,
        PROBE_ControlModeBehavior,
    };
    static const enum probe_ddi other[] = {
        PROBE_Present,
        PROBE_QueryCurrentFence,
        PROBE_ControlInterrupt,
        PROBE_ControlInterrupt2,
        PROBE_NotifyAcpiEvent,
        PROBE_NotifyFocusPresent,
        PROBE_ExchangePreStartInfo,
        PROBE_ControlDiagnosticReporting,
        PROBE_CreatePeriodicFrameNotification,
        PROBE_DestroyPeriodicFrameNotification,
        PROBE_CreateProtectedSession,
        PROBE_DestroyProtectedSession,
    };
    bool named;

    for (unsigned i = 0; i < sizeof(display) / sizeof(display[0]); i++)
        CHECK_RULE("LIFE-029",
                   NT_SUCCESS(start_with(display[i], true, false, "LIFE-029", &named)) && named);
    for (unsigned i = 0; i < sizeof(other) / sizeof(other[0]); i++)
        CHECK_RULE("LIFE-030",
                   NT_SUCCESS(start_with(other[i], true, false, "LIFE-030", &named)) && named);
}

TEST(entries_of_the_addressing_mode)
{
    static const enum probe_ddi physical[] = {PROBE_Patch, PROBE_Render, PROBE_SubmitCommand};
    static const enum probe_ddi virtual[] = {PROBE_CreateProcess, PROBE_DestroyProcess,
                                             PROBE_SetRootPageTable, PROBE_SubmitCommandVirtual,
                                             PROBE_GetRootPageTableSize};
    bool named;

    for (unsigned i = 0; i < 3; i++) {
        CHECK_RULE("LIFE-033", IS(start_with(physical[i], false, true, "LIFE-033", &named),
                                  STATUS_DEVICE_CONFIGURATION_ERROR) &&
                                   named);
        CHECK_RULE("SUBMIT-013", named);
    }
    for (unsigned i = 0; i < 4; i++) {
        CHECK_RULE("LIFE-033", IS(start_with(virtual[i], false, false, "LIFE-033", &named),
                                  STATUS_DEVICE_CONFIGURATION_ERROR) &&
                                   named);
        CHECK_RULE("SUBMIT-013", named);
    }
    CHECK_RULE("LIFE-033",
               NT_SUCCESS(start_with(virtual[4], false, false, "LIFE-033", &named)) && named);
    CHECK_RULE("LIFE-033", NT_SUCCESS(start_with(PROBE_DDI_COUNT, false, true, NULL, &named)));
    for (unsigned i = 0; i < 5; i++)
        CHECK_RULE("LIFE-033", NT_SUCCESS(start_with(virtual[i], false, true, NULL, &named)));
}

TEST(old_entries_are_never_called)
{
    static const enum probe_ddi old[] = {
        PROBE_RenderKm,
        PROBE_RenderGdi,
        PROBE_ReleaseSwizzlingRange,
        PROBE_SetPalette,
        PROBE_SetPointerShape,
        PROBE_StopDeviceAndReleasePostDisplayOwnership,
        PROBE_SystemDisplayEnable,
        PROBE_SystemDisplayWrite,
        PROBE_StopCapture,
        PROBE_SetVidPnSourceAddress,
        PROBE_SetVidPnSourceVisibility,
        PROBE_SetPointerPosition,
        PROBE_SetTargetGamma,
        PROBE_SetTargetContentType,
        PROBE_SetTimingsFromVidPn,
    };
    struct probe *p = probe_create(NULL);
    size_t calls = 0;

    probe_make_compute_only(p);
    for (unsigned i = 0; i < sizeof(old) / sizeof(old[0]); i++)
        probe_set_entry(p, old[i], true);
    CHECK(NT_SUCCESS(probe_start(p)) && probe_stop(p) == 0);
    for (unsigned i = 0; i < sizeof(old) / sizeof(old[0]); i++)
        calls += probe_count(p, old[i]);
    CHECK_RULE("LIFE-031", calls == 0);
    CHECK_RULE("LIFE-145/a", probe_count(p, PROBE_SetVirtualMachineData) == 0 &&
                                 probe_count(p, PROBE_GetChildContainerId) == 0);
    probe_destroy(p);
}

/* ---- caps ---- */

TEST(members_that_must_be_zero)
{
    struct probe *p;

    COMPUTE_EXPECTED("CAPS-027", "CAPS-027", p->caps.MaxPointerWidth = 1);
    COMPUTE_EXPECTED("CAPS-027", "CAPS-027", p->caps.MaxPointerHeight = 1);
    COMPUTE_EXPECTED("CAPS-027", "CAPS-027", p->caps.PointerCaps.Color = 1);
    COMPUTE_EXPECTED("CAPS-027", "CAPS-027", p->caps.MaxOverlays = 1);
    COMPUTE_EXPECTED("CAPS-027", "CAPS-027", p->caps.ColorTransformCaps.Gamma_Dxgi1 = 1);
    COMPUTE_EXPECTED("CAPS-027", "CAPS-027",
                     p->caps.PresentationCaps.SupportKernelModeCommandBuffer = 1);
    COMPUTE_EXPECTED("CAPS-027", "CAPS-027", p->caps.MaxQueuedFlipOnVSync = 1);
    COMPUTE_EXPECTED("CAPS-027", "CAPS-027", p->caps.FlipCaps.FlipOnVSyncMmIo = 1);
    COMPUTE_EXPECTED("CAPS-027", "CAPS-027", p->caps.NumberOfSwizzlingRanges = 1);
    COMPUTE_EXPECTED("CAPS-027", "CAPS-027", p->caps.SupportNonVGA = TRUE);
    COMPUTE_EXPECTED("CAPS-027", "CAPS-027", p->caps.SupportSmoothRotation = TRUE);
    COMPUTE_EXPECTED("CAPS-027", "CAPS-027", p->caps.SupportDirectFlip = TRUE);
    COMPUTE_EXPECTED("CAPS-027", "CAPS-027", p->caps.SupportMultiPlaneOverlay = TRUE);
    COMPUTE_EXPECTED("CAPS-027", "CAPS-027", p->caps.MaxOverlayPlanes = 1);
    COMPUTE_EXPECTED("CAPS-027", "CAPS-027", p->caps.SupportMultiPlaneOverlayImmediateFlip = TRUE);
    COMPUTE_EXPECTED("CAPS-027", "CAPS-027", p->caps.CursorScaledWithMultiPlaneOverlayPlane0 = TRUE);
    COMPUTE_EXPECTED("CAPS-027", "CAPS-027", p->caps.HybridAcpiChainingRequired = TRUE);
    COMPUTE_EXPECTED("CAPS-027", "CAPS-027", p->caps.MaxQueuedMultiPlaneOverlayFlipVSync = 1);
    COMPUTE_EXPECTED("CAPS-027", "CAPS-027", p->caps.MiscCaps.SupportContextlessPresent = 1);
    COMPUTE_EXPECTED("CAPS-027", "CAPS-027", p->caps.MiscCaps.Detachable = 1);
}

TEST(compute_only_drivers_are_of_wddm_2_6_and_later)
{
    struct probe *p;

    COMPUTE_EXPECTED("CAPS-033", "CAPS-033",
                     p->caps.WDDMVersion = p->device_wddm = DXGKDDI_WDDMv2_5);
    ACCEPTED("CAPS-033", probe_make_compute_only(p),
             p->caps.WDDMVersion = p->device_wddm = DXGKDDI_WDDMv2_6);
}

TEST(compute_only_drivers_are_no_half_of_a_hybrid_system)
{
    struct probe *p;

    COMPUTE_EXPECTED("CAPS-038/c", "CAPS-038", p->caps.HybridDiscrete = TRUE);
    COMPUTE_EXPECTED("CAPS-038/d", "CAPS-038", p->caps.HybridIntegrated = TRUE);
}

TEST(compute_only_drivers_can_preempt_and_reset_an_engine)
{
    struct probe *p;

    COMPUTE_EXPECTED(
        "CAPS-035/d", "CAPS-035",
        p->caps.PreemptionCaps.ComputePreemptionGranularity = D3DKMDT_COMPUTE_PREEMPTION_NONE);
    COMPUTE_EXPECTED(
        "PREEMPT-004", "CAPS-035",
        p->caps.PreemptionCaps.ComputePreemptionGranularity = D3DKMDT_COMPUTE_PREEMPTION_NONE);
    COMPUTE_EXPECTED("TDR-017", "CAPS-036", p->caps.SupportPerEngineTDR = FALSE);
    COMPUTE_EXPECTED("CAPS-036", "CAPS-036", p->caps.SupportPerEngineTDR = FALSE);
    COMPUTE_EXPECTED("CAPS-048", "CAPS-048", p->caps.SchedulingCaps.PreemptionAware = 0);
    COMPUTE_EXPECTED("CAPS-052", "CAPS-052", p->caps.SchedulingCaps.LowIrqlPreemptCommand = 0);
}

TEST(compute_only_drivers_leave_old_scheduling_caps_alone)
{
    struct probe *p;

    COMPUTE_REFUSED("CAPS-046", "CAPS-046", p->caps.SchedulingCaps.MultiEngineAware = 0,
                    p->caps.SchedulingCaps.PreemptionAware = 0);
    COMPUTE_EXPECTED("CAPS-047", "CAPS-047", p->caps.SchedulingCaps.VSyncPowerSaveAware = 1);
    COMPUTE_EXPECTED("CAPS-049", "CAPS-049", p->caps.SchedulingCaps.NoDmaPatching = 1);
    COMPUTE_EXPECTED("PATCH-137", "CAPS-049", p->caps.SchedulingCaps.NoDmaPatching = 1);
    COMPUTE_EXPECTED("CAPS-054", "CAPS-054", p->caps.SchedulingCaps.HwQueuePacketCap = 1);
}

TEST(compute_only_drivers_leave_old_memory_caps_alone)
{
    struct probe *p;

    COMPUTE_EXPECTED("CAPS-022", "CAPS-022", p->caps.MaxAllocationListSlotId = 1);
    COMPUTE_EXPECTED("PATCH-137", "CAPS-022", p->caps.MaxAllocationListSlotId = 1);
    ACCEPTED("PATCH-137", probe_make_compute_only(p));
    COMPUTE_EXPECTED("CAPS-023", "CAPS-023", p->caps.ApertureSegmentCommitLimit = 1);
    COMPUTE_EXPECTED("CAPS-057", "CAPS-057", p->caps.MemoryManagementCaps.OutOfOrderLock = 1);
    COMPUTE_EXPECTED("CAPS-058", "CAPS-058", p->caps.MemoryManagementCaps.DedicatedPagingEngine = 1);
    COMPUTE_EXPECTED("CAPS-058", "CAPS-058", p->caps.MemoryManagementCaps.SectionBackedPrimary = 1);
    COMPUTE_EXPECTED("CAPS-058", "CAPS-058", p->caps.MemoryManagementCaps.ReplicateGdiContent = 1);
    COMPUTE_EXPECTED("CAPS-058", "CAPS-058", p->caps.MemoryManagementCaps.NonCpuVisiblePrimary = 1);
}

TEST(compute_only_drivers_have_linear_segments)
{
    struct probe *p;

    COMPUTE_EXPECTED("CAPS-081", "CAPS-081", p->segment[0].Flags.UseBanking = 1);
    ACCEPTED("CAPS-081", probe_make_compute_only(p), p->segments = 1); /* no aperture is needed */
}

/* ---- queries ---- */

TEST(queries_they_must_answer)
{
    static const DXGK_QUERYADAPTERINFOTYPE mandatory[] = {
        DXGKQAITYPE_DRIVERCAPS,
        DXGKQAITYPE_NUMPOWERCOMPONENTS,
        DXGKQAITYPE_HISTORYBUFFERPRECISION,
        DXGKQAITYPE_QUERYSEGMENT4,
        DXGKQAITYPE_GPUMMUCAPS,
        DXGKQAITYPE_PAGETABLELEVELDESC,
        DXGKQAITYPE_POWERCOMPONENTINFO,
        DXGKQAITYPE_SEGMENTMEMORYSTATE,
        DXGKQAITYPE_FRAMEBUFFERSAVESIZE,
        DXGKQAITYPE_HARDWARERESERVEDRANGES,
    };
    static const DXGK_QUERYADAPTERINFOTYPE optional[] = {
        DXGKQAITYPE_PHYSICALADAPTERCAPS, DXGKQAITYPE_GPUVERSION, DXGKQAITYPE_ADAPTERPERFDATA_CAPS};

    for (unsigned i = 0; i < sizeof(mandatory) / sizeof(mandatory[0]); i++) {
        struct probe *p = probe_create(NULL);

        probe_make_compute_only(p);
        probe_use_components(p, 1);
        p->segment[0].NumInvalidMemoryRanges = 1;
        p->query_status[mandatory[i]] = STATUS_NO_MEMORY;
        CHECK_RULE("CAPS-013", IS(probe_start(p), STATUS_NO_MEMORY));
        probe_destroy(p);
    }
    for (unsigned i = 0; i < sizeof(optional) / sizeof(optional[0]); i++) {
        struct probe *p = probe_create(NULL);

        probe_make_compute_only(p);
        p->query_status[optional[i]] = STATUS_NOT_SUPPORTED;
        if (i == 0)
            p->node[0].GpuMmuSupported = TRUE; /* the paging node is 0 then */
        CHECK_RULE("CAPS-014", NT_SUCCESS(probe_start(p)));
        if (i == 0)
            CHECK_RULE("CAPS-095/c", port_adapter_nodes(p->adapter[0]) == 2 &&
                                         port_adapter_gpu_mmu(p->adapter[0]));
        probe_destroy(p);
    }
}
