/* SPDX-License-Identifier: MIT */
/* A source of a full driver that two monitors show: which of them completes flips. */
#include "modes/vidpn.h"
#include "port/running/acpi.h"
#include "port/support/flips.h"
#include "port/support/vidpn.h"
#include "support/test.h"

#include <string.h>

#define OK(call) CHECK((call) == STATUS_SUCCESS)

static void add_path(const struct hands *h, UINT target)
{
    const D3DKMDT_VIDPN_TARGET_MODE timing = full_target_mode(1024, 768, 60);
    D3DKMDT_HVIDPNTARGETMODESET set = vidpn_new_target_set(h, target);
    D3DKMDT_VIDPN_TARGET_MODE *mode = vidpn_target_mode(h, set, 1024, 768);
    const UINT id = mode->Id;
    D3DKMDT_VIDPN_PRESENT_PATH *path;

    mode->VideoSignalInfo = timing.VideoSignalInfo;
    OK(h->t->pfnCreateNewPathInfo(h->topology, &path));
    path->VidPnSourceId = 0;
    path->VidPnTargetId = target;
    path->ContentTransformation.Scaling = D3DKMDT_VPPS_CENTERED;
    path->ContentTransformation.Rotation = D3DKMDT_VPPR_IDENTITY;
    path->VidPnTargetColorBasis = D3DKMDT_CB_SCRGB;
    path->Content = D3DKMDT_VPPC_GRAPHICS;
    OK(h->t->pfnAddPath(h->topology, path));
    OK(h->g->pfnAddMode(set, mode));
    OK(h->g->pfnPinMode(set, id));
    OK(h->v->pfnAssignTargetModeSet(h->vidpn, target, set));
}

static void recommend(struct probe *p, struct probe_call *call)
{
    const D3DKMDT_HVIDPN vidpn = ((const DXGKARG_RECOMMENDFUNCTIONALVIDPN *)(uintptr_t)call->arg[1])
                                     ->hRecommendedFunctionalVidPn;
    D3DKMDT_HVIDPNSOURCEMODESET set;
    D3DKMDT_VIDPN_SOURCE_MODE *mode;
    struct hands h;
    UINT id;

    call->answered = true;
    call->result = STATUS_SUCCESS;
    hands_take(&h, vidpn, display_interface(p, vidpn));
    add_path(&h, DISPLAY_CHILD);
    add_path(&h, DISPLAY_CHILD + 1);
    set = vidpn_new_source_set(&h, 0);
    mode = vidpn_source_mode(&h, set, 1024, 768);
    id = mode->Id;
    OK(h.s->pfnAddMode(set, mode));
    OK(h.s->pfnPinMode(set, id));
    OK(h.v->pfnAssignSourceModeSet(vidpn, 0, set));
    hands_give_back(&h);
}

static void answer_event(struct probe *p, struct probe_call *call)
{
    (void)p;
    *(ULONG *)(uintptr_t)call->arg[4] = DXGK_ACPI_CHANGE_DISPLAY_MODE;
}

static void second_target(struct probe *p)
{
    OK(port_adapter_notify_acpi(p->adapter[0], DxgkAcpiEvent, ACPI_NOTIFY_CYCLE_DISPLAY_HOTKEY, 0));
    CHECK(vidpn_paths_from(display_modes(p)->active, 0) == 2);
    flips_begin(p);
    OK(flips_own(D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE, 0));
    full_engine.target = DISPLAY_CHILD + 1;
    OK(flips_flip(flips.primary[1]));
    probe_sleep(40000000);
    CHECK_RULE("PRES-151", full_engine.reports >= 2 && flips_complete(p) == 0);
    CHECK_RULE("PRES-152", flips_complete(p) == 0 && probe_rule(p, "PRES-159") == 0);
    full_engine.target = DISPLAY_CHILD;
    probe_sleep(17000000);
    CHECK_RULE("PRES-151", flips_complete(p) == 1);
    CHECK_RULE("PRES-152", flips_complete(p) == 1);
    flips_end();
}

TEST(the_first_path_completes_flips)
{
    struct probe *p = flips_create(NULL);

    probe_set_entry(p, PROBE_NotifyAcpiEvent, true);
    p->after[PROBE_NotifyAcpiEvent] = answer_event;
    p->before[PROBE_RecommendFunctionalVidPn] = recommend;
    display.outputs = display.sources = 2;
    flips_run(p, second_target);
}
