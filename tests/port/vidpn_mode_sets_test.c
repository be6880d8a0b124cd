/* SPDX-License-Identifier: MIT */
/* Mode sets of a VidPN as a whole: acquired, released, created, assigned. */
#include "port/support/vidpn.h"

#include <string.h>

#define OK(call) CHECK((call) == STATUS_SUCCESS)

#define NO_SOURCE   STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE
#define NO_TARGET   STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET
#define BAD_SOURCES STATUS_GRAPHICS_INVALID_VIDPN_SOURCEMODESET
#define BAD_TARGETS STATUS_GRAPHICS_INVALID_VIDPN_TARGETMODESET
#define UNRELATED   STATUS_GRAPHICS_RESOURCES_NOT_RELATED
#define MUST_REMAIN STATUS_GRAPHICS_PINNED_MODE_MUST_REMAIN_IN_SET

typedef D3DKMDT_HVIDPNSOURCEMODESET source_set;
typedef D3DKMDT_HVIDPNTARGETMODESET target_set;

static SIZE_T source_modes(const struct hands *h, source_set set)
{
    SIZE_T n = 77;

    OK(h->s->pfnGetNumModes(set, &n));
    return n;
}

static SIZE_T target_modes(const struct hands *h, target_set set)
{
    SIZE_T n = 77;

    OK(h->g->pfnGetNumModes(set, &n));
    return n;
}

static target_set filled_target_set(const struct hands *h, UINT target, UINT width, UINT height)
{
    target_set set = vidpn_new_target_set(h, target);

    OK(h->g->pfnAddMode(set, vidpn_target_mode(h, set, width, height)));
    return set;
}

/* ---- acquisition ---- */

/* A second source and a second output without a monitor, and a child that is no output. */
static void has_more(struct probe *p)
{
    display.sources = 2;
    display.outputs = 3;
    display.connected[1] = false;
    p->child[2].ChildDeviceType = TypeOther;
    p->child[2].ChildUid = 0x200;
    p->child[2].ChildCapabilities.HpdAwareness = HpdAwarenessAlwaysConnected;
}

static const D3DKMDT_VIDPN_SOURCE_MODE *junk_mode(void)
{
    return (void *)(uintptr_t)0x1234;
}

TEST_WITH(vidpn, sets_are_acquired, .prepare = has_more)
{
    const DXGK_VIDPNSOURCEMODESET_INTERFACE *s = NULL;
    const DXGK_VIDPNTARGETMODESET_INTERFACE *g = NULL;
    const D3DKMDT_VIDPN_SOURCE_MODE *mode = junk_mode();
    source_set set = NULL;
    target_set other = NULL;

    CHECK_RULE("VIDPN-022", h->v->pfnAcquireSourceModeSet(h->vidpn, 1, &set, &s) == STATUS_SUCCESS &&
                                set && set != h->source && s == h->s);
    CHECK_RULE("VIDPN-023", source_modes(h, set) == 0 &&
                                h->s->pfnAcquirePinnedModeInfo(set, &mode) == STATUS_SUCCESS &&
                                !mode);
    OK(h->v->pfnReleaseSourceModeSet(h->vidpn, set));
    CHECK_RULE("VIDPN-022",
               h->v->pfnAcquireSourceModeSet(h->vidpn, 2, &set, &s) == NO_SOURCE && !set && !s);
    CHECK_RULE("VIDPN-035", h->v->pfnAcquireTargetModeSet(h->vidpn, DISPLAY_CHILD + 1, &other,
                                                          &g) == STATUS_SUCCESS &&
                                other && other != h->target && target_modes(h, other) == 0);
    OK(h->v->pfnReleaseTargetModeSet(h->vidpn, other));
    CHECK_RULE("VIDPN-035",
               h->v->pfnAcquireTargetModeSet(h->vidpn, 0x200, &other, &g) == NO_TARGET && !other &&
                   !g);
    CHECK_RULE("VIDPN-035",
               h->v->pfnAcquireTargetModeSet(h->vidpn, DISPLAY_CHILD + 2, &other, &g) == NO_TARGET);
    (void)p;
}

static void nothing_left(struct probe *p)
{
    CHECK(probe_rule(p, "VIDPN-015") == 0);
}

TEST_WITH(vidpn, sets_are_counted, .after = nothing_left)
{
    source_set set;
    target_set other;

    OK(h->v->pfnAcquireSourceModeSet(h->vidpn, 0, &set, &h->s));
    CHECK_RULE("VIDPN-024", set == h->source);
    CHECK_RULE("VIDPN-024", h->v->pfnReleaseSourceModeSet(h->vidpn, set) == STATUS_SUCCESS &&
                                h->v->pfnReleaseSourceModeSet(h->vidpn, set) == STATUS_SUCCESS &&
                                h->v->pfnReleaseSourceModeSet(h->vidpn, set) == BAD_SOURCES);
    h->source = NULL;
    OK(h->v->pfnAcquireTargetModeSet(h->vidpn, DISPLAY_CHILD, &other, &h->g));
    CHECK_RULE("VIDPN-036", other == h->target &&
                                h->v->pfnReleaseTargetModeSet(h->vidpn, other) == STATUS_SUCCESS &&
                                h->v->pfnReleaseTargetModeSet(h->vidpn, other) == STATUS_SUCCESS &&
                                h->v->pfnReleaseTargetModeSet(h->vidpn, other) == BAD_TARGETS);
    h->target = NULL;
    (void)p;
}

/* The mode goes with its set: it is told once. */
static void told_once(struct probe *p)
{
    CHECK_RULE("VIDPN-038", probe_rule(p, "VIDPN-038") == 1 && probe_rule(p, "VIDPN-015") == 0 &&
                                probe_record(p, "VIDPN-038")->severity == VERIFY_ERROR);
}

TEST_WITH(vidpn, modes_go_before_their_set, .after = told_once)
{
    source_set set = vidpn_filled_source_set(h, 0, 800, 600);
    const D3DKMDT_VIDPN_SOURCE_MODE *mode;

    OK(h->s->pfnAcquireFirstModeInfo(set, &mode));
    OK(h->v->pfnReleaseSourceModeSet(h->vidpn, set));
    CHECK_RULE("VIDPN-038",
               probe_rule(p, "VIDPN-038") == 1 && mode->Format.Graphics.PrimSurfSize.cx == 800);
}

/* Not the last reference: nothing is told. */
TEST_WITH(vidpn, modes_hold_on_to_other_references, .after = nothing_left)
{
    const D3DKMDT_VIDPN_SOURCE_MODE *mode;
    source_set set;

    OK(h->v->pfnAssignSourceModeSet(h->vidpn, 0, vidpn_filled_source_set(h, 0, 800, 600)));
    OK(h->v->pfnReleaseSourceModeSet(h->vidpn, h->source));
    OK(h->v->pfnAcquireSourceModeSet(h->vidpn, 0, &h->source, &h->s));
    OK(h->v->pfnAcquireSourceModeSet(h->vidpn, 0, &set, &h->s));
    OK(h->s->pfnAcquireFirstModeInfo(set, &mode));
    OK(h->v->pfnReleaseSourceModeSet(h->vidpn, set));
    CHECK_RULE("VIDPN-038", probe_rule(p, "VIDPN-038") == 0);
    OK(h->s->pfnReleaseModeInfo(h->source, mode));
}

/* ---- new sets ---- */

static void sets_leave_nothing(struct probe *p)
{
    CHECK_RULE("VIDPN-025", probe_rule(p, "VIDPN-015") == 0);
    CHECK_RULE("VIDPN-037", probe_rule(p, "VIDPN-015") == 0);
}

TEST_WITH(vidpn, new_sets_are_apart, .after = sets_leave_nothing)
{
    source_set set = vidpn_new_source_set(h, 0);
    target_set other = vidpn_new_target_set(h, DISPLAY_CHILD);

    CHECK_RULE("VIDPN-025", set != h->source && source_modes(h, set) == 0);
    CHECK_RULE("VIDPN-037", other != h->target && target_modes(h, other) == 0);
    OK(h->s->pfnAddMode(set, vidpn_source_mode(h, set, 800, 600)));
    OK(h->g->pfnAddMode(other, vidpn_target_mode(h, other, 800, 600)));
    CHECK_RULE("VIDPN-025", source_modes(h, set) == 1 && source_modes(h, h->source) == 0);
    CHECK_RULE("VIDPN-037", target_modes(h, other) == 1 && target_modes(h, h->target) == 0);
    CHECK_RULE("VIDPN-025", h->v->pfnReleaseSourceModeSet(h->vidpn, set) == STATUS_SUCCESS &&
                                h->v->pfnReleaseSourceModeSet(h->vidpn, set) == BAD_SOURCES);
    CHECK_RULE("VIDPN-037",
               h->v->pfnAssignTargetModeSet(h->vidpn, DISPLAY_CHILD, other) == STATUS_SUCCESS);
    (void)p;
}

TEST_WITH(vidpn, new_sets_need_ids, .prepare = has_more, .after = nothing_left)
{
    const DXGK_VIDPNSOURCEMODESET_INTERFACE *s;
    const DXGK_VIDPNTARGETMODESET_INTERFACE *g;
    source_set set, many[50];
    target_set other;

    CHECK_RULE("VIDPN-026",
               h->v->pfnCreateNewSourceModeSet(h->vidpn, 2, &set, &s) == NO_SOURCE && !set && !s);
    CHECK_RULE("VIDPN-026",
               h->v->pfnCreateNewTargetModeSet(h->vidpn, 77, &other, &g) == NO_TARGET && !other &&
                   !g && h->v->pfnCreateNewTargetModeSet(h->vidpn, 0x200, &other, &g) == NO_TARGET);
    for (unsigned i = 0; i < 50; i++)
        many[i] = vidpn_new_source_set(h, i % 2);
    for (unsigned i = 0; i < 50; i++)
        CHECK_RULE("VIDPN-026", h->v->pfnReleaseSourceModeSet(h->vidpn, many[i]) == STATUS_SUCCESS);
    (void)p;
}

/* ---- assignment ---- */

TEST_WITH(vidpn, sets_are_assigned, .after = nothing_left)
{
    source_set set = vidpn_filled_source_set(h, 0, 800, 600), now;
    target_set other = filled_target_set(h, DISPLAY_CHILD, 800, 600), then;
    const D3DKMDT_VIDPN_SOURCE_MODE *mode;

    CHECK_RULE("VIDPN-027", h->v->pfnAssignSourceModeSet(h->vidpn, 0, set) == STATUS_SUCCESS &&
                                h->v->pfnReleaseSourceModeSet(h->vidpn, set) == BAD_SOURCES);
    OK(h->v->pfnAcquireSourceModeSet(h->vidpn, 0, &now, &h->s));
    OK(h->s->pfnAcquireFirstModeInfo(now, &mode));
    CHECK_RULE("VIDPN-027",
               source_modes(h, now) == 1 && mode->Format.Graphics.PrimSurfSize.cx == 800);
    /* the old one can still be read by who has it */
    CHECK_RULE("VIDPN-027", source_modes(h, h->source) == 0);
    OK(h->s->pfnReleaseModeInfo(now, mode));
    OK(h->v->pfnReleaseSourceModeSet(h->vidpn, now));
    CHECK_RULE("VIDPN-028",
               h->v->pfnAssignTargetModeSet(h->vidpn, DISPLAY_CHILD, other) == STATUS_SUCCESS &&
                   h->v->pfnReleaseTargetModeSet(h->vidpn, other) == BAD_TARGETS);
    OK(h->v->pfnAcquireTargetModeSet(h->vidpn, DISPLAY_CHILD, &then, &h->g));
    CHECK_RULE("VIDPN-028", target_modes(h, then) == 1 && target_modes(h, h->target) == 0);
    OK(h->v->pfnReleaseTargetModeSet(h->vidpn, then));
    (void)p;
}

/* Of an invalid VidPN, id or handle the set stays the driver's. */
TEST_WITH(vidpn, refused_sets_stay, .prepare = has_more, .after = nothing_left)
{
    source_set set = vidpn_filled_source_set(h, 0, 800, 600);
    target_set other = filled_target_set(h, DISPLAY_CHILD, 800, 600);

    CHECK_RULE("VIDPN-027",
               h->v->pfnAssignSourceModeSet(NULL, 0, set) == STATUS_GRAPHICS_INVALID_VIDPN &&
                   h->v->pfnAssignSourceModeSet(h->vidpn, 2, set) == NO_SOURCE &&
                   h->v->pfnAssignSourceModeSet(h->vidpn, 0, NULL) == BAD_SOURCES &&
                   h->v->pfnAssignSourceModeSet(h->vidpn, 0, (source_set)other) == BAD_SOURCES);
    CHECK_RULE("VIDPN-028",
               h->v->pfnAssignTargetModeSet(NULL, DISPLAY_CHILD, other) ==
                       STATUS_GRAPHICS_INVALID_VIDPN &&
                   h->v->pfnAssignTargetModeSet(h->vidpn, 0x200, other) == NO_TARGET &&
                   h->v->pfnAssignTargetModeSet(h->vidpn, DISPLAY_CHILD, NULL) == BAD_TARGETS);
    CHECK_RULE("VIDPN-029", h->v->pfnReleaseSourceModeSet(h->vidpn, set) == STATUS_SUCCESS &&
                                h->v->pfnReleaseTargetModeSet(h->vidpn, other) == STATUS_SUCCESS);
    (void)p;
}

/* Of others it is gone. */
TEST_WITH(vidpn, refused_sets_go, .prepare = has_more, .after = nothing_left)
{
    source_set empty = vidpn_new_source_set(h, 0), foreign = vidpn_filled_source_set(h, 1, 800, 600);
    target_set bare = vidpn_new_target_set(h, DISPLAY_CHILD),
               alien = filled_target_set(h, DISPLAY_CHILD + 1, 800, 600);

    CHECK_RULE("VIDPN-030",
               h->v->pfnAssignSourceModeSet(h->vidpn, 0, empty) == BAD_SOURCES &&
                   h->v->pfnAssignTargetModeSet(h->vidpn, DISPLAY_CHILD, bare) == BAD_TARGETS);
    CHECK_RULE("VIDPN-030", h->v->pfnAssignSourceModeSet(h->vidpn, 0, foreign) ==
                                    STATUS_GRAPHICS_RESOURCES_NOT_RELATED &&
                                h->v->pfnAssignTargetModeSet(h->vidpn, DISPLAY_CHILD, alien) ==
                                    STATUS_GRAPHICS_RESOURCES_NOT_RELATED);
    CHECK_RULE("VIDPN-029", h->v->pfnReleaseSourceModeSet(h->vidpn, empty) == BAD_SOURCES &&
                                h->v->pfnReleaseSourceModeSet(h->vidpn, foreign) == BAD_SOURCES &&
                                h->v->pfnReleaseTargetModeSet(h->vidpn, bare) == BAD_TARGETS &&
                                h->v->pfnReleaseTargetModeSet(h->vidpn, alien) == BAD_TARGETS);
    (void)p;
}

TEST_WITH(vidpn, acquired_sets_are_not_assigned, .after = nothing_left)
{
    OK(h->v->pfnAssignSourceModeSet(h->vidpn, 0, vidpn_filled_source_set(h, 0, 800, 600)));
    OK(h->v->pfnReleaseSourceModeSet(h->vidpn, h->source));
    OK(h->v->pfnAcquireSourceModeSet(h->vidpn, 0, &h->source, &h->s));
    CHECK_RULE("VIDPN-031",
               h->v->pfnAssignSourceModeSet(h->vidpn, 0, h->source) == BAD_SOURCES &&
                   h->v->pfnAssignTargetModeSet(h->vidpn, DISPLAY_CHILD, h->target) == BAD_TARGETS);
    CHECK_RULE("VIDPN-031", h->v->pfnReleaseSourceModeSet(h->vidpn, h->source) == STATUS_SUCCESS &&
                                h->v->pfnReleaseSourceModeSet(h->vidpn, h->source) == BAD_SOURCES);
    h->source = NULL;
    (void)p;
}

/* ---- over a pinned mode ---- */

static unsigned rounds;

/* In the last enumeration both modes are pinned. */
static void assign_over_pinned(struct probe *p, const DXGKARG_ENUMVIDPNCOFUNCMODALITY *args,
                               const DXGK_VIDPN_INTERFACE *v)
{
    const D3DKMDT_VIDPN_SOURCE_MODE *mode;
    const D3DKMDT_VIDPN_TARGET_MODE *other;
    struct hands hands, *h = &hands;
    source_set set;
    target_set targets;
    UINT id;

    hands_take(h, args->hConstrainingVidPn, v);
    OK(h->s->pfnAcquirePinnedModeInfo(h->source, &mode));
    OK(h->g->pfnAcquirePinnedModeInfo(h->target, &other));
    rounds++;
    if (mode && other) {
        CHECK(mode->Format.Graphics.PrimSurfSize.cx == 1024);
        CHECK_RULE("VIDPN-027",
                   v->pfnAssignSourceModeSet(h->vidpn, 0, vidpn_filled_source_set(h, 0, 800, 600)) ==
                       MUST_REMAIN);
        set = vidpn_filled_source_set(h, 0, 1024, 600);
        CHECK_RULE("VIDPN-029", v->pfnAssignSourceModeSet(h->vidpn, 0, set) == MUST_REMAIN &&
                                    v->pfnReleaseSourceModeSet(h->vidpn, set) == BAD_SOURCES);
        CHECK_RULE("VIDPN-028", v->pfnAssignTargetModeSet(
                                    h->vidpn, DISPLAY_CHILD,
                                    filled_target_set(h, DISPLAY_CHILD, 800, 600)) == MUST_REMAIN);
        targets = filled_target_set(h, DISPLAY_CHILD, 800, 600);
        OK(h->g->pfnAddMode(targets, vidpn_target_mode(h, targets, 1024, 768)));
        CHECK_RULE("VIDPN-028",
                   v->pfnAssignTargetModeSet(h->vidpn, DISPLAY_CHILD, targets) == STATUS_SUCCESS);
        /* the one of equal content is pinned, with its own id */
        set = vidpn_filled_source_set(h, 0, 640, 480);
        OK(h->s->pfnAddMode(set, vidpn_source_mode(h, set, 800, 600)));
        OK(h->s->pfnAddMode(set, vidpn_source_mode(h, set, 1024, 768)));
        OK(v->pfnAssignSourceModeSet(h->vidpn, 0, set));
        OK(h->s->pfnReleaseModeInfo(h->source, mode));
        OK(v->pfnReleaseSourceModeSet(h->vidpn, h->source));
        OK(v->pfnAcquireSourceModeSet(h->vidpn, 0, &h->source, &h->s));
        OK(h->s->pfnAcquirePinnedModeInfo(h->source, &mode));
        id = mode ? mode->Id : 0;
        CHECK_RULE("VIDPN-032", mode && mode->Format.Graphics.PrimSurfSize.cx == 1024 && id == 3);
    }
    if (mode)
        OK(h->s->pfnReleaseModeInfo(h->source, mode));
    if (other)
        OK(h->g->pfnReleaseModeInfo(h->target, other));
    hands_give_back(h);
    (void)p;
}

TEST(pinned_modes_stay)
{
    struct probe *p = display_create(NULL);

    rounds = 0;
    display.before_enum = assign_over_pinned;
    CHECK(probe_start(p) == STATUS_SUCCESS);
    CHECK(rounds == 3 && display_seen.commit[0].size.cx == 1024 && display_seen.failure == 0);
    CHECK(probe_rule(p, "VIDPN-015") == 0);
    display_end(p);
}

/* ---- two VidPNs at once ---- */

static struct hands outer;
static source_set outer_fresh;
static unsigned depth;

static NTSTATUS ask(struct probe *p, unsigned adapter)
{
    const struct modes_wish wish = {
        .given = true, .size = {640, 480}, .rotation = D3DKMDT_VPPR_IDENTITY};

    return display_set_mode(port_display_modes(p->adapter[adapter]), &wish);
}

/* While the driver enumerates for one adapter, it does so for another. */
static void enumerate_both(struct probe *p, const DXGKARG_ENUMVIDPNCOFUNCMODALITY *args,
                           const DXGK_VIDPN_INTERFACE *v)
{
    struct hands h;

    hands_take(&h, args->hConstrainingVidPn, v);
    switch (depth++) {
    case 0:
        outer = h;
        outer_fresh = vidpn_filled_source_set(&h, 0, 800, 600);
        OK(ask(p, 1));
        OK(v->pfnReleaseSourceModeSet(h.vidpn, outer_fresh));
        break;
    case 1:
        CHECK(h.vidpn != outer.vidpn);
        CHECK_RULE("VIDPN-024", v->pfnReleaseSourceModeSet(h.vidpn, outer.source) == UNRELATED &&
                                    v->pfnReleaseSourceModeSet(outer.vidpn, h.source) == UNRELATED);
        CHECK_RULE("VIDPN-036", v->pfnReleaseTargetModeSet(h.vidpn, outer.target) == UNRELATED &&
                                    v->pfnReleaseTargetModeSet(outer.vidpn, h.target) == UNRELATED);
        CHECK(v->pfnAssignSourceModeSet(h.vidpn, 0, outer_fresh) == UNRELATED);
        break;
    default:
        break;
    }
    hands_give_back(&h);
}

static void ask_first(struct probe *p)
{
    depth = 0;
    display.before_enum = enumerate_both;
    OK(ask(p, 0));
    CHECK(depth > 2 && probe_rule(p, "VIDPN-015") == 0);
}

TEST(sets_of_another_vidpn)
{
    const struct probe_options options = {.adapters = 2};

    display_run(&options, ask_first);
}

/* ---- multisampling ---- */

TEST_WITH(vidpn, multisampling_methods)
{
    D3DDDI_MULTISAMPLINGMETHOD methods[65];

    for (unsigned i = 0; i < 65; i++)
        methods[i] = (D3DDDI_MULTISAMPLINGMETHOD){.NumSamples = 2 + i, .NumQualityLevels = 1};
    CHECK_RULE("VIDPN-033",
               h->v->pfnAssignMultisamplingMethodSet(h->vidpn, 0, 2, methods) == STATUS_SUCCESS &&
                   probe_said(p, "VIDPN-033",
                              "source 0 has 2 multisampling methods: 2 samples of 1 "
                              "qualities, 3 samples of 1 qualities"));
    CHECK_RULE("VIDPN-033",
               h->v->pfnAssignMultisamplingMethodSet(NULL, 0, 2, methods) ==
                       STATUS_GRAPHICS_INVALID_VIDPN &&
                   h->v->pfnAssignMultisamplingMethodSet(h->vidpn, 1, 2, methods) == NO_SOURCE);
    CHECK_RULE("VIDPN-034",
               h->v->pfnAssignMultisamplingMethodSet(h->vidpn, 0, 0, NULL) == STATUS_SUCCESS &&
                   probe_said(p, "VIDPN-033", "source 0 has 0 multisampling methods"));
    CHECK_RULE("VIDPN-034",
               h->v->pfnAssignMultisamplingMethodSet(h->vidpn, 0, 64, methods) == STATUS_SUCCESS &&
                   h->v->pfnAssignMultisamplingMethodSet(h->vidpn, 0, 65, methods) ==
                       STATUS_INVALID_PARAMETER &&
                   h->v->pfnAssignMultisamplingMethodSet(h->vidpn, 0, 1, NULL) ==
                       STATUS_INVALID_PARAMETER &&
                   probe_rule(p, "VIDPN-034") == 0);
    methods[0].NumSamples = 0;
    methods[1].NumQualityLevels = 0;
    CHECK_RULE("VIDPN-034",
               h->v->pfnAssignMultisamplingMethodSet(h->vidpn, 0, 2, methods) == STATUS_SUCCESS &&
                   probe_rule(p, "VIDPN-034") == 2 &&
                   probe_record(p, "VIDPN-034")->severity == VERIFY_WARNING);
}
