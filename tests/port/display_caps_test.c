/* SPDX-License-Identifier: MIT */
/* What a display-only driver is asked at the start, in which order, and what its answers mean. */
#include "port/support/display.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))

static const struct probe_options strict = {.strict = true};

/* ---- what is asked ---- */

TEST(a_display_only_driver_is_asked_about_displays_alone)
{
    const struct probe_options windows_8 = {.strict = true,
                                            .version = DXGKDDI_INTERFACE_VERSION_WIN8};
    struct probe *p = display_create(&strict);
    const struct probe_call *caps, *extension;

    for (unsigned type = 0; type < 64; type++)
        if (type != DXGKQAITYPE_DRIVERCAPS)
            p->query_status[type] = STATUS_NOT_SUPPORTED;
    CHECK_RULE("DISP-011", IS(probe_start(p), STATUS_SUCCESS) && display_seen.visible[0]);
    CHECK_RULE("DISP-011", probe_count(p, PROBE_QueryAdapterInfo) == 2 &&
                               probe_queries(p, DXGKQAITYPE_DRIVERCAPS) == 1);
    caps = probe_query(p, DXGKQAITYPE_DRIVERCAPS, 0);
    extension = probe_query(p, DXGKQAITYPE_DISPLAY_DRIVERCAPS_EXTENSION, 0);
    CHECK_RULE("DISP-166/b", extension && extension->order > caps->order &&
                                 extension->query.OutputDataSize == 4 &&
                                 extension == probe_nth(p, PROBE_QueryAdapterInfo, 1));
    CHECK_RULE("DISP-167/a", display_modes(p) != NULL);
    CHECK_RULE("DISP-011", probe_count(p, PROBE_GetNodeMetadata) == 0 &&
                               probe_count(p, PROBE_CreateDevice) == 0 &&
                               probe_count(p, PROBE_CreateProcess) == 0);
    display_end(p);

    p = display_create(&windows_8);
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("DISP-011", probe_count(p, PROBE_QueryAdapterInfo) == 1 &&
                               probe_queries(p, DXGKQAITYPE_DRIVERCAPS) == 1);
    CHECK_RULE("DISP-166/c", probe_queries(p, DXGKQAITYPE_DISPLAY_DRIVERCAPS_EXTENSION) == 0);
    display_end(p);
}

static void fail_caps(struct probe *p)
{
    p->query_status[DXGKQAITYPE_DRIVERCAPS] = STATUS_NOT_SUPPORTED;
}

TEST(power_components_come_last)
{
    struct probe *p = display_create(&strict);

    probe_use_components(p, 1);
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("DISP-011", probe_count(p, PROBE_QueryAdapterInfo) == 4 &&
                               probe_nth(p, PROBE_QueryAdapterInfo, 1)->query_type ==
                                   DXGKQAITYPE_DISPLAY_DRIVERCAPS_EXTENSION &&
                               probe_nth(p, PROBE_QueryAdapterInfo, 2)->query_type ==
                                   DXGKQAITYPE_NUMPOWERCOMPONENTS &&
                               probe_nth(p, PROBE_QueryAdapterInfo, 3)->query_type ==
                                   DXGKQAITYPE_POWERCOMPONENTINFO);
    display_end(p);

    p = display_create(NULL);
    fail_caps(p);
    CHECK_RULE("DISP-011", IS(probe_start(p), STATUS_NOT_SUPPORTED));
    probe_destroy(p);
}

static UINT extension_bits, extension_given;

static void answer_extension(struct probe *p, struct probe_call *call)
{
    const DXGKARG_QUERYADAPTERINFO *q = (const DXGKARG_QUERYADAPTERINFO *)(uintptr_t)call->arg[1];

    (void)p;
    if (q->Type != DXGKQAITYPE_DISPLAY_DRIVERCAPS_EXTENSION)
        return;
    extension_given = *(UINT *)q->pOutputData;
    *(UINT *)q->pOutputData = extension_bits;
    call->answered = true;
    call->result = STATUS_SUCCESS;
}

TEST(bits_of_newer_versions_are_ignored)
{
    static const struct {
        UINT version, good, newer;
    } versions[] = {
        {DXGKDDI_INTERFACE_VERSION_WDDM2_0, 0x80000003, 4},
        {DXGKDDI_INTERFACE_VERSION_WDDM2_2, 3, 4},
        {DXGKDDI_INTERFACE_VERSION_WDDM2_5, 0xF, 0x10},
        {DXGKDDI_INTERFACE_VERSION_WDDM2_7, 0x1F, 0x20},
        {DXGKDDI_INTERFACE_VERSION_WDDM2_9, 0x3F, 0x40},
        {DXGKDDI_INTERFACE_VERSION_WDDM3_0, 0x7F, 0x80},
        {DXGKDDI_INTERFACE_VERSION_WDDM2_9, 0x3F, 0x80000000},
    };

    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
        const struct probe_options options = {.version = versions[i].version};
        struct probe *p = display_create(&options);

        p->before[PROBE_QueryAdapterInfo] = answer_extension;
        extension_bits = versions[i].good;
        extension_given = 7;
        CHECK(IS(probe_start(p), STATUS_SUCCESS));
        CHECK_RULE("DISP-166/b", extension_given == 0); /* zeroed */
        CHECK_RULE("DISP-167/b", probe_rule(p, "DISP-167") == 0 &&
                                     p->adapter[0]->display.caps.Value == versions[i].good);
        display_end(p);

        p = display_create(&options);
        p->before[PROBE_QueryAdapterInfo] = answer_extension;
        extension_bits = versions[i].good | versions[i].newer;
        CHECK(IS(probe_start(p), STATUS_SUCCESS));
        CHECK_RULE("DISP-167/b", probe_rule(p, "DISP-167") == 1 &&
                                     probe_record(p, "DISP-167")->severity == VERIFY_WARNING &&
                                     p->adapter[0]->display.caps.Value == versions[i].good);
        display_end(p);
    }
}

/* ---- DXGK_DRIVERCAPS ---- */

TEST(wddm_1_2_is_the_least)
{
    static const UINT bad[] = {DXGKDDI_WDDMv1, DXGKDDI_WDDMv1 + 1};
    static const UINT good[] = {0, DXGKDDI_WDDMv1_2, DXGKDDI_WDDMv1_3, DXGKDDI_WDDMv2};
    struct probe *p = display_create(&strict);

    p->caps.WDDMVersion = (DXGK_WDDMVERSION)bad[0];
    CHECK_RULE("DISP-161", IS(probe_start(p), STATUS_DEVICE_CONFIGURATION_ERROR) &&
                               probe_rule(p, "DISP-161") == 1);
    probe_destroy(p);
    p = display_create(NULL);
    p->caps.WDDMVersion = (DXGK_WDDMVERSION)bad[0];
    CHECK_RULE("DISP-161", IS(probe_start(p), STATUS_SUCCESS) && probe_rule(p, "DISP-161") == 1);
    display_end(p);
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        p = display_create(&strict);
        p->caps.WDDMVersion = (DXGK_WDDMVERSION)good[i];
        CHECK_RULE("DISP-161", IS(probe_start(p), STATUS_SUCCESS) && probe_rule(p, "DISP-161") == 0);
        display_end(p);
    }
}

static void set_scheduling(DXGK_DRIVERCAPS *c)
{
    c->SchedulingCaps.MultiEngineAware = 1;
}

static void set_memory(DXGK_DRIVERCAPS *c)
{
    c->MemoryManagementCaps.VirtualAddressingSupported = 1;
}

static void set_preemption(DXGK_DRIVERCAPS *c)
{
    c->PreemptionCaps.GraphicsPreemptionGranularity = D3DKMDT_GRAPHICS_PREEMPTION_NONE;
    c->PreemptionCaps.ComputePreemptionGranularity = D3DKMDT_COMPUTE_PREEMPTION_DMA_BUFFER_BOUNDARY;
}

static void set_topology(DXGK_DRIVERCAPS *c)
{
    c->GpuEngineTopology.NbAsymetricProcessingNodes = 1;
}

static void set_slot(DXGK_DRIVERCAPS *c)
{
    c->MaxAllocationListSlotId = 1;
}

static void set_commit(DXGK_DRIVERCAPS *c)
{
    c->ApertureSegmentCommitLimit = 4096;
}

static void set_swizzling(DXGK_DRIVERCAPS *c)
{
    c->NumberOfSwizzlingRanges = 1;
}

static void set_flip(DXGK_DRIVERCAPS *c)
{
    c->FlipCaps.FlipOnVSyncMmIo = 1;
}

static void set_overlays(DXGK_DRIVERCAPS *c)
{
    c->MaxOverlays = 1;
}

static void set_engine_tdr(DXGK_DRIVERCAPS *c)
{
    c->SupportPerEngineTDR = 1;
}

static void set_direct_flip(DXGK_DRIVERCAPS *c)
{
    c->SupportDirectFlip = 1;
}

TEST(caps_of_renderers_are_ignored)
{
    static const struct {
        void (*set)(DXGK_DRIVERCAPS *caps);
        const char *name;
    } members[] = {
        {set_scheduling, "SchedulingCaps"},
        {set_memory, "MemoryManagementCaps"},
        {set_preemption, "PreemptionCaps"},
        {set_topology, "GpuEngineTopology"},
        {set_slot, "MaxAllocationListSlotId"},
        {set_commit, "ApertureSegmentCommitLimit"},
        {set_swizzling, "NumberOfSwizzlingRanges"},
        {set_flip, "FlipCaps"},
        {set_overlays, "MaxOverlays"},
        {set_engine_tdr, "SupportPerEngineTDR"},
        {set_direct_flip, "SupportDirectFlip"},
    };

    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        struct probe *p = display_create(&strict);

        members[i].set(&p->caps);
        CHECK_RULE("DISP-162",
                   IS(probe_start(p), STATUS_SUCCESS) && probe_rule(p, "DISP-162") == 1 &&
                       probe_reports(p, VERIFY_WARNING) == 1 &&
                       probe_record(p, "DISP-162")->severity == VERIFY_WARNING &&
                       probe_said(p, "DISP-162", members[i].name) && display_seen.visible[0]);
        display_end(p);
    }
}

TEST(pointer_caps_go_with_a_size)
{
    static const struct {
        UINT caps, width, height;
        bool told;
    } cases[] = {{0, 0, 0, false}, {2, 64, 64, false}, {2, 0, 64, true},
                 {2, 64, 0, true}, {0, 64, 64, true},  {1, 0, 0, true}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct probe *p = display_create(&strict);

        p->caps.PointerCaps.Value = cases[i].caps;
        p->caps.MaxPointerWidth = cases[i].width;
        p->caps.MaxPointerHeight = cases[i].height;
        CHECK_RULE("DISP-165", IS(probe_start(p), STATUS_SUCCESS) &&
                                   probe_rule(p, "DISP-165") == cases[i].told &&
                                   probe_reports(p, VERIFY_WARNING) == cases[i].told);
        CHECK_RULE("DISP-165", p->adapter[0]->caps.driver.PointerCaps.Value ==
                                   (cases[i].told ? 0 : cases[i].caps));
        display_end(p);
    }
}

/* ---- the kind of a driver ---- */

static const enum probe_ddi render_ddis[] = {
    PROBE_CreateDevice,    PROBE_CreateContext,        PROBE_CreateAllocation,
    PROBE_OpenAllocation,  PROBE_CreateProcess,        PROBE_BuildPagingBuffer,
    PROBE_GetNodeMetadata, PROBE_SubmitCommandVirtual, PROBE_SubmitCommand,
};

TEST(the_kind_is_that_of_the_registration)
{
    static const UINT claimed[] = {0, DXGKDDI_WDDMv1_2, DXGKDDI_WDDMv2};
    struct probe *p;

    for (size_t i = 0; i < sizeof(claimed) / sizeof(claimed[0]); i++) {
        p = display_create(&strict);
        p->caps.WDDMVersion = (DXGK_WDDMVERSION)claimed[i];
        CHECK(IS(probe_start(p), STATUS_SUCCESS));
        CHECK_RULE("DISP-002", port_adapter_display_only(p->adapter[0]));
        for (size_t k = 0; k < sizeof(render_ddis) / sizeof(render_ddis[0]); k++)
            CHECK_RULE("DISP-002", probe_count(p, render_ddis[k]) == 0);
        display_end(p);
    }
    p = probe_started(NULL);
    CHECK_RULE("DISP-002", !port_adapter_display_only(p->adapter[0]));
    probe_destroy(p);
}

/* ---- rotation ---- */

static void turn(struct probe *p)
{
    const bool smooth = p->user != NULL;
    const UINT commits = display_seen.commits;
    const size_t updates = probe_count(p, PROBE_UpdateActiveVidPnPresentPath);
    const size_t enums = probe_count(p, PROBE_EnumVidPnCofuncModality);

    CHECK(NT_SUCCESS(display_ask_mode(p, 0, 1024, 768, 1)));
    if (smooth)
        CHECK_RULE("DISP-163/a", probe_count(p, PROBE_UpdateActiveVidPnPresentPath) == updates + 1 &&
                                     display_seen.commits == commits &&
                                     probe_count(p, PROBE_EnumVidPnCofuncModality) == enums);
    else
        CHECK_RULE("DISP-163/b",
                   probe_count(p, PROBE_UpdateActiveVidPnPresentPath) == updates &&
                       display_seen.commits == commits + 1 &&
                       display_seen.commit[commits].rotation == D3DKMDT_VPPR_ROTATE90 &&
                       probe_count(p, PROBE_EnumVidPnCofuncModality) > enums);
}

TEST(a_path_is_turned_in_one_of_two_ways)
{
    for (unsigned smooth = 0; smooth < 2; smooth++) {
        struct probe *p = display_create(NULL);

        p->caps.SupportSmoothRotation = (BOOLEAN)smooth;
        p->user = smooth ? p : NULL;
        CHECK(IS(probe_start(p), STATUS_SUCCESS));
        probe_end(p, turn);
    }
}
