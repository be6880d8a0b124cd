/* SPDX-License-Identifier: MIT */
/* Caps and entries of full drivers with displays, and what of their paths is kept. */
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
    CHECK_RULE("DISP-014", probe_rule(p, "DISP-014") == 0 &&
                               probe_count(p, PROBE_QueryVidPnHWCapability) == 1);
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
    CHECK_RULE("VIDPN-173", full_seen.primary != first &&
                                full_seen.committed[1] == full_seen.primary);
}

TEST(the_primary_of_a_commit)
{
    struct probe *p = full_display_create(NULL);

    OK(probe_start(p));
    probe_end(p, change);
}
