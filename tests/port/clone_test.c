/* SPDX-License-Identifier: MIT */
/* A source that two monitors show, as a driver has proposed it. */
#include "port/running/acpi.h"
#include "port/support/vidpn.h"
#include "support/test.h"

#include <string.h>

#define OK(call) CHECK((call) == STATUS_SUCCESS)

/* in the proposal */
static D3DKMDT_VIDPN_PRESENT_PATH_SCALING proposed_scaling;
static D3DKMDT_VIDPN_PRESENT_PATH_SCALING_SUPPORT claimed;
/* of the paths to the first and to the second output */
static D3DKMDT_VIDPN_PRESENT_PATH_ROTATION_SUPPORT offsets[2];
static bool own_offsets;

static void add_path(const struct hands *h, UINT target)
{
    D3DKMDT_HVIDPNTARGETMODESET set = vidpn_new_target_set(h, target);
    D3DKMDT_VIDPN_TARGET_MODE *mode = vidpn_target_mode(h, set, 1024, 768);
    const UINT id = mode->Id;
    D3DKMDT_VIDPN_PRESENT_PATH *path;

    OK(h->t->pfnCreateNewPathInfo(h->topology, &path));
    path->VidPnSourceId = 0;
    path->VidPnTargetId = target;
    path->ContentTransformation.Scaling = proposed_scaling;
    path->ContentTransformation.ScalingSupport = claimed;
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
    mode = vidpn_source_mode(&h, set, 800, 600);
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

/* What each path supports, instead of the default. */
static void give_offsets(struct probe *p, const DXGKARG_ENUMVIDPNCOFUNCMODALITY *args,
                         const DXGK_VIDPN_INTERFACE *v)
{
    const DXGK_VIDPNTOPOLOGY_INTERFACE *topology;
    D3DKMDT_HVIDPNTOPOLOGY handle;

    (void)p;
    if (!own_offsets)
        return;
    OK(v->pfnGetTopology(args->hConstrainingVidPn, &handle, &topology));
    for (UINT i = 0; i < 2; i++) {
        const D3DKMDT_VIDPN_PRESENT_PATH *path;
        D3DKMDT_VIDPN_PRESENT_PATH copy;

        if (!NT_SUCCESS(topology->pfnAcquirePathInfo(handle, 0, DISPLAY_CHILD + i, &path)))
            continue;
        copy = *path;
        copy.ContentTransformation.RotationSupport = offsets[i];
        OK(topology->pfnUpdatePathSupportInfo(handle, &copy));
        OK(topology->pfnReleasePathInfo(handle, path));
    }
}

static struct probe *make(const struct probe_options *options)
{
    struct probe *p = display_create(options);

    proposed_scaling = D3DKMDT_VPPS_CENTERED;
    memset(&claimed, 0, sizeof(claimed));
    own_offsets = false;
    probe_set_entry(p, PROBE_NotifyAcpiEvent, true);
    p->after[PROBE_NotifyAcpiEvent] = answer_event;
    p->before[PROBE_RecommendFunctionalVidPn] = recommend;
    display.outputs = display.sources = 2;
    display.after_enum = give_offsets;
    return p;
}

static void press_key(struct probe *p)
{
    OK(port_adapter_notify_acpi(p->adapter[0], DxgkAcpiEvent, ACPI_NOTIFY_CYCLE_DISPLAY_HOTKEY, 0));
}

static bool shows_clone(struct probe *p)
{
    const struct vidpn *vidpn = display_modes(p)->active;

    return vidpn_paths_from(vidpn, 0) == 2 && vidpn_paths_from(vidpn, 1) == 0 &&
           display_seen.visible[0] && !display_seen.visible[1];
}

/* ---- monitors that leave ---- */

static bool keeps(struct probe *p, UINT target, UINT ordinal)
{
    const struct vidpn *vidpn = display_modes(p)->active;

    return vidpn->paths == 1 && vidpn->path[0].VidPnTargetId == target &&
           (UINT)vidpn->path[0].ImportanceOrdinal == ordinal &&
           mode_set_pinned(*vidpn_source_set(vidpn, 0))->source.Format.Graphics.PrimSurfSize.cx ==
               800 &&
           display_seen.visible[0];
}

static void second_leaves(struct probe *p)
{
    size_t enums, hides;

    press_key(p);
    CHECK(shows_clone(p));
    enums = probe_count(p, PROBE_EnumVidPnCofuncModality);
    hides = probe_count(p, PROBE_SetVidPnSourceVisibility);
    display_indicate(p, 1, false);
    CHECK_RULE("VIDPN-203/a", keeps(p, DISPLAY_CHILD, 1) &&
                                  probe_count(p, PROBE_EnumVidPnCofuncModality) == enums &&
                                  probe_count(p, PROBE_SetVidPnSourceVisibility) == hides + 2);
}

TEST(the_less_important_one_leaves)
{
    struct probe *p = make(NULL);

    OK(probe_start(p));
    probe_end(p, second_leaves);
}

static void first_leaves(struct probe *p)
{
    size_t enums;

    press_key(p);
    CHECK(shows_clone(p));
    enums = probe_count(p, PROBE_EnumVidPnCofuncModality);
    display_indicate(p, 0, false);
    CHECK_RULE("VIDPN-203/b", keeps(p, DISPLAY_CHILD + 1, 2) &&
                                  probe_count(p, PROBE_EnumVidPnCofuncModality) == enums + 1);
}

TEST(the_most_important_one_leaves)
{
    struct probe *p = make(NULL);

    OK(probe_start(p));
    probe_end(p, first_leaves);
}

/* ---- what paths support ---- */

static void set_claims(bool aspect, bool custom, bool stretched)
{
    memset(&claimed, 0, sizeof(claimed));
    claimed.AspectRatioCenteredMax = aspect;
    claimed.Custom = custom;
    claimed.Stretched = stretched;
}

static void proposes_open_scaling(struct probe *p)
{
    const bool told = claimed.AspectRatioCenteredMax || claimed.Custom;

    press_key(p);
    CHECK_RULE("VIDPN-114", probe_rule(p, "VIDPN-114") == (told ? 2 : 0) && /* paths */
                                (!told || probe_record(p, "VIDPN-114")->severity == VERIFY_ERROR) &&
                                probe_rule(p, "VIDPN-163") == 1 && !shows_clone(p));
}

/* Of a driver that supports the one, the other, both or none of the scalings of WDDM 1.1. */
TEST(a_scaling_that_is_left_open)
{
    for (unsigned claims = 0; claims < 4; claims++) {
        struct probe *p = make(NULL);

        proposed_scaling = D3DKMDT_VPPS_NOTSPECIFIED;
        set_claims(claims & 1, claims & 2, true);
        OK(probe_start(p));
        probe_end(p, proposes_open_scaling);
    }
}

static void proposes_a_scaling(struct probe *p)
{
    press_key(p);
    CHECK_RULE("VIDPN-114", probe_rule(p, "VIDPN-114") == 0 && shows_clone(p));
}

TEST(a_scaling_that_is_named)
{
    struct probe *p = make(NULL);

    set_claims(true, true, true);
    OK(probe_start(p));
    probe_end(p, proposes_a_scaling);
}

/* Both paths, which are enumerated when a client changes the mode. */
static void changes_mode(struct probe *p)
{
    press_key(p);
    CHECK(shows_clone(p));
    own_offsets = true;
    OK(display_ask_mode(p, 0, 640, 480, 0));
    own_offsets = false;
}

static uint64_t breaches(UINT version)
{
    const struct probe_options options = {.version = version};
    struct probe *p = make(&options);
    uint64_t told;

    OK(probe_start(p));
    CHECK(probe_run(p, changes_mode) == SIM_DONE);
    told = probe_rule(p, "VIDPN-118");
    CHECK(!told || probe_record(p, "VIDPN-118")->severity == VERIFY_ERROR);
    display_end(p);
    return told;
}

static void set_offsets(UINT primary, UINT secondary)
{
    for (UINT i = 0; i < 2; i++) {
        const UINT bits = i ? secondary : primary;

        memset(&offsets[i], 0, sizeof(offsets[i]));
        offsets[i].Identity = 1;
        offsets[i].Offset0 = bits & 1;
        offsets[i].Offset90 = bits >> 1 & 1;
        offsets[i].Offset180 = bits >> 2 & 1;
        offsets[i].Offset270 = bits >> 3 & 1;
    }
}

TEST(offsets_of_paths)
{
    set_offsets(1, 1);
    CHECK_RULE("VIDPN-118", breaches(0) == 0);
    set_offsets(1, 8); /* any will do on the second */
    CHECK_RULE("VIDPN-118", breaches(0) == 0);
    set_offsets(2, 1);
    CHECK_RULE("VIDPN-118", breaches(0) > 0);
    set_offsets(5, 1);
    CHECK_RULE("VIDPN-118", breaches(0) > 0);
    set_offsets(0, 1);
    CHECK_RULE("VIDPN-118", breaches(0) > 0);
    set_offsets(1, 0);
    CHECK_RULE("VIDPN-118", breaches(0) > 0);
    set_offsets(2, 0); /* which brought them */
    CHECK_RULE("VIDPN-118", breaches(DXGKDDI_INTERFACE_VERSION_WIN8) == 0);
    set_offsets(0, 0); /* nor has WDDM 1.3 itself, as virtio-win's stdvga is */
    CHECK_RULE("VIDPN-118", breaches(DXGKDDI_INTERFACE_VERSION_WDDM1_3) == 0);
    CHECK_RULE("VIDPN-118",
               breaches(DXGKDDI_INTERFACE_VERSION_WDDM1_3_PATH_INDEPENDENT_ROTATION) > 0);
}

/* ---- stop ---- */

TEST(a_stop_that_hands_the_picture_on_changes_nothing)
{
    struct probe *p = make(NULL);
    UINT commits;

    OK(probe_start(p));
    commits = display_seen.commits;
    CHECK(probe_stop(p) == 0);
    CHECK_RULE("VIDPN-191/a",
               display_seen.commits == commits && display_seen.visible[0] &&
                   probe_count(p, PROBE_StopDeviceAndReleasePostDisplayOwnership) == 1);
    probe_destroy(p);
}
