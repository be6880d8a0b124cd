/* SPDX-License-Identifier: MIT */
/* Caps and entries of full drivers with displays, and what of their paths is kept. */
#include "port/record/machine.h"
#include "port/running/post.h"
#include "port/support/full_display.h"
#include "port/support/vidpn.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define OK(call)           CHECK((call) == STATUS_SUCCESS)

static const struct probe_options strict = {.strict = true};

TEST(all_caps_that_windows_names)
{
    struct probe *p = full_display_create(&strict);

    OK(probe_start(p));
    CHECK_RULE("DISP-159", p->caps.SupportNonVGA && p->caps.SupportSmoothRotation &&
                               p->caps.SupportPerEngineTDR && p->caps.SupportDirectFlip &&
                               p->caps.FlipCaps.FlipOnVSyncMmIo &&
                               p->caps.PresentationCaps.SupportKernelModeCommandBuffer &&
                               probe_rule(p, "DISP-160") == 0);
    display_end(p);
}

TEST(hardware_capabilities)
{
    struct probe *p = full_display_create(NULL);

    OK(probe_start(p));
    CHECK_RULE("DISP-014",
               probe_rule(p, "DISP-014") == 0 && probe_count(p, PROBE_QueryVidPnHWCapability) == 1);
    display_end(p);
    p = full_display_create(NULL);
    probe_set_entry(p, PROBE_QueryVidPnHWCapability, false);
    OK(probe_start(p));
    CHECK_RULE("DISP-014", probe_rule(p, "DISP-014") == 1 &&
                               probe_record(p, "DISP-014")->severity == VERIFY_WARNING &&
                               display_seen.visible[0]);
    display_end(p);
}

TEST(a_hybrid_gpu_with_outputs)
{
    struct probe *p = full_display_create(&strict);

    p->caps.HybridDiscrete = 1;
    CHECK_RULE("DISP-168", IS(probe_start(p), STATUS_DEVICE_CONFIGURATION_ERROR) &&
                               probe_said(p, "CAPS-038", "outputs"));
    probe_destroy(p);
}

/* ---- paths ---- */

static void support_protection(struct probe *p, const DXGKARG_ENUMVIDPNCOFUNCMODALITY *args,
                               const DXGK_VIDPN_INTERFACE *v)
{
    const DXGK_VIDPNTOPOLOGY_INTERFACE *t;
    const D3DKMDT_VIDPN_PRESENT_PATH *path;
    D3DKMDT_VIDPN_PRESENT_PATH copy;
    D3DKMDT_HVIDPNTOPOLOGY topology;

    (void)p;
    OK(v->pfnGetTopology(args->hConstrainingVidPn, &topology, &t));
    OK(t->pfnAcquireFirstPathInfo(topology, &path));
    copy = *path;
    copy.CopyProtection.CopyProtectionSupport.MacroVisionApsTrigger = 1;
    copy.CopyProtection.CopyProtectionType = D3DKMDT_VPPMT_MACROVISION_FULLSUPPORT;
    copy.CopyProtection.APSTriggerBits = 3;
    OK(t->pfnUpdatePathSupportInfo(topology, &copy));
    OK(t->pfnReleasePathInfo(topology, path));
}

TEST(copy_protection)
{
    const D3DKMDT_VIDPN_PRESENT_PATH_COPYPROTECTION *c;
    struct probe *p = full_display_create(NULL);

    display.after_enum = support_protection;
    OK(probe_start(p));
    c = &vidpn_path_to(display_modes(p)->active, DISPLAY_CHILD)->CopyProtection;
    CHECK_RULE("VIDPN-124", c->CopyProtectionSupport.MacroVisionApsTrigger &&
                                c->CopyProtectionSupport.NoProtection &&
                                !c->CopyProtectionSupport.MacroVisionFull &&
                                c->CopyProtectionType == D3DKMDT_VPPMT_NOPROTECTION &&
                                c->APSTriggerBits == 0);
    display_end(p);
}

static void change(struct probe *p)
{
    const HANDLE first = full_seen.primary;

    CHECK_RULE("VIDPN-173", first && full_seen.committed[0] == first);
    CHECK(NT_SUCCESS(display_ask_mode(p, 0, 800, 600, 0)));
    CHECK_RULE("VIDPN-173",
               full_seen.primary != first && full_seen.committed[1] == full_seen.primary);
}

TEST(the_primary_of_a_commit)
{
    struct probe *p = full_display_create(NULL);

    OK(probe_start(p));
    probe_end(p, change);
}

/* ---- entries ---- */

static NTSTATUS without(enum probe_ddi entry, const struct probe_options *options, bool *told)
{
    struct probe *p = full_display_create(options);
    NTSTATUS status;

    probe_set_entry(p, entry, false);
    status = probe_start(p);
    *told = probe_rule(p, "DISP-013") == 1 || probe_rule(p, "LIFE-074") == 1;
    if (NT_SUCCESS(status))
        display_end(p);
    else
        probe_destroy(p);
    return status;
}

TEST(entries_of_full_drivers)
{
    static const enum probe_ddi required[] = {
        PROBE_QueryChildRelations, PROBE_QueryChildStatus,        PROBE_QueryDeviceDescriptor,
        PROBE_IsSupportedVidPn,    PROBE_EnumVidPnCofuncModality, PROBE_SetVidPnSourceVisibility,
        PROBE_CommitVidPn};
    static const enum probe_ddi expected[] = {PROBE_RecommendFunctionalVidPn,
                                              PROBE_UpdateActiveVidPnPresentPath,
                                              PROBE_RecommendMonitorModes};
    struct probe *p;
    bool told;

    for (unsigned i = 0; i < 7; i++)
        CHECK_RULE("DISP-013/a",
                   IS(without(required[i], NULL, &told), STATUS_DEVICE_CONFIGURATION_ERROR) && told);
    for (unsigned i = 0; i < 3; i++) {
        CHECK_RULE("DISP-013/a", IS(without(expected[i], NULL, &told), STATUS_SUCCESS) && told);
        CHECK_RULE("DISP-013/a",
                   IS(without(expected[i], &strict, &told), STATUS_DEVICE_CONFIGURATION_ERROR) &&
                       told);
    }
    p = full_display_create(NULL);
    display.sources = display.outputs = 0;
    for (unsigned i = 0; i < 7; i++)
        probe_set_entry(p, required[i], false);
    CHECK_RULE("DISP-013/b", IS(probe_start(p), STATUS_SUCCESS) && probe_rule(p, "DISP-013") == 0);
    display_end(p);
}

/* ---- the picture of the firmware ---- */

static bool clears;

static void exchange(struct probe *p, struct probe_call *call)
{
    (void)p;
    ((DXGK_PRE_START_INFO *)(uintptr_t)call->arg[1])->SupportPreserveBootDisplay = p->user != NULL;
}

static void clear_screen(struct probe *p, struct probe_call *call)
{
    struct port_adapter *adapter = CONTAINER(p->port->adapter_list.next, struct port_adapter, link);

    (void)call;
    if (clears)
        ((uint8_t *)(uintptr_t)port_post_pixels(adapter))[100] ^= 0xFF;
}

static uint64_t changes(bool claims, bool clearing)
{
    const struct port_firmware_display lit = {
        .width = 800, .height = 600, .pitch = 3200, .format = D3DDDIFMT_X8R8G8B8};
    struct probe *p = full_display_create(NULL);
    uint64_t told;

    OK(port_post_configure(p->port, p->device[0], &lit));
    clears = clearing;
    p->user = claims ? p : NULL;
    probe_set_entry(p, PROBE_ExchangePreStartInfo, true);
    p->after[PROBE_ExchangePreStartInfo] = exchange;
    p->after[PROBE_StartDevice] = clear_screen;
    OK(probe_start(p));
    told = probe_rule(p, "PRES-040");
    display_end(p);
    return told;
}

TEST(the_picture_of_the_firmware)
{
    CHECK_RULE("PRES-040", changes(true, false) == 0);
    CHECK_RULE("PRES-040", changes(true, true) == 1);
    CHECK_RULE("PRES-040", changes(false, true) == 0);
}

static void fail_start(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->answered = true;
    call->result = (uint64_t)(uint32_t)STATUS_NO_MEMORY;
}

TEST(what_firmware_lit_outlives_a_start_that_failed)
{
    const struct port_firmware_display lit = {
        .width = 800, .height = 600, .pitch = 3328, .format = D3DDDIFMT_X8R8G8B8};
    DXGK_DISPLAY_INFORMATION info = {.Width = 0};
    struct probe *p = display_create(NULL);
    const uint8_t *pixels;

    OK(port_post_configure(p->port, p->device[0], &lit));
    p->before[PROBE_StartDevice] = fail_start;
    CHECK_RULE("PRES-026", IS(probe_start(p), STATUS_NO_MEMORY) && p->adapters == 0);
    pixels = port_post_left(p->port, &info);
    CHECK_RULE("PRES-026", pixels && info.Width == 800 && info.Height == 600 &&
                               info.Pitch == 3328 && (pixels[0] || pixels[1] || pixels[2]));
    probe_destroy(p);
}
