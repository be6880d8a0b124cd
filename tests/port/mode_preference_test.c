/* SPDX-License-Identifier: MIT */
/* Choices between modes, scalings and rotations that differ in one thing. */
#include "port/support/full_display.h"
#include "port/support/vidpn.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define INTERLACED         D3DDDI_VSSLO_INTERLACED_UPPERFIELDFIRST

/* What a driver is told of its path at the last commit. */
static D3DKMDT_VIDPN_PRESENT_PATH committed;

static void note_path(struct probe *p, const DXGKARG_COMMITVIDPN *args,
                      const DXGK_VIDPN_INTERFACE *v)
{
    const DXGK_VIDPNTOPOLOGY_INTERFACE *topology;
    const D3DKMDT_VIDPN_PRESENT_PATH *path = NULL;
    D3DKMDT_HVIDPNTOPOLOGY handle;

    (void)p;
    CHECK(IS(v->pfnGetTopology(args->hFunctionalVidPn, &handle, &topology), STATUS_SUCCESS));
    (void)topology->pfnAcquireFirstPathInfo(handle, &path);
    if (!path)
        return;
    committed = *path;
    CHECK(IS(topology->pfnReleasePathInfo(handle, path), STATUS_SUCCESS));
}

static struct probe *choosing(void)
{
    struct probe *p = display_create(NULL);

    memset(&committed, 0, sizeof(committed));
    display.in_commit = note_path;
    return p;
}

static void run(struct probe *p, void (*body)(struct probe *p))
{
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    probe_end(p, body);
}

static const D3DKMDT_VIDPN_PRESENT_PATH_TRANSFORMATION *shown(void)
{
    return &committed.ContentTransformation;
}

static const D3DKMDT_VIDEO_SIGNAL_INFO *signal_of(const struct probe *p)
{
    const struct vidpn *vidpn = display_modes(p)->active;

    return &mode_set_pinned(*vidpn_target_set(vidpn, DISPLAY_CHILD))->target.VideoSignalInfo;
}

/* ---- rotations ---- */

static UINT missing; /* quarters */

static void all_but_one(struct probe *p)
{
    for (UINT quarters = 1; quarters <= 3; quarters++)
        CHECK_RULE("VIDPN-117",
                   IS(display_ask_mode(p, 0, 1024, 768, quarters),
                      quarters == missing
                          ? STATUS_GRAPHICS_PATH_CONTENT_GEOMETRY_TRANSFORMATION_NOT_SUPPORTED
                          : STATUS_SUCCESS));
    CHECK_RULE("VIDPN-117", probe_count(p, PROBE_UpdateActiveVidPnPresentPath) == 2);
}

TEST(each_rotation_has_a_flag_of_its_own)
{
    for (missing = 1; missing <= 3; missing++) {
        struct probe *p = choosing();

        display.rotation.Rotate90 = missing != 1;
        display.rotation.Rotate180 = missing != 2;
        display.rotation.Rotate270 = missing != 3;
        run(p, all_but_one);
    }
}

static NTSTATUS rotated;

static void answer_update(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->answered = true;
    call->result = (uint32_t)rotated;
}

static void rotate(struct probe *p)
{
    rotated = STATUS_UNSUCCESSFUL;
    CHECK(IS(display_ask_mode(p, 0, 1024, 768, 1), STATUS_UNSUCCESSFUL));
    CHECK_RULE("VIDPN-195", probe_rule(p, "VIDPN-195") == 0);
    rotated = STATUS_GRAPHICS_PATH_NOT_IN_TOPOLOGY;
    CHECK(IS(display_ask_mode(p, 0, 1024, 768, 1), STATUS_GRAPHICS_PATH_NOT_IN_TOPOLOGY));
    CHECK_RULE("VIDPN-195", probe_rule(p, "VIDPN-195") == 1);
}

TEST(a_path_that_the_driver_does_not_know)
{
    struct probe *p = choosing();

    p->before[PROBE_UpdateActiveVidPnPresentPath] = answer_update;
    run(p, rotate);
}

/* ---- what paths support ---- */

TEST(no_rotation_is_identity_with_its_offset)
{
    struct probe *p = choosing();

    memset(&display.rotation, 0, sizeof(display.rotation));
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("VIDPN-116", shown()->RotationSupport.Identity && shown()->RotationSupport.Offset0 &&
                                !shown()->RotationSupport.Rotate90);
    display_end(p);
}

static bool newest; /* the driver is of WDDM 1.1 */

static void ask_for_later_scalings(struct probe *p)
{
    struct modes_wish wish = {.given = true,
                              .size = {800, 500},
                              .frequency = {60, 1},
                              .rotation = D3DKMDT_VPPR_IDENTITY,
                              .scaling = D3DKMDT_VPPS_ASPECTRATIOCENTEREDMAX};

    for (unsigned i = 0; i < 2; i++) { /* also as the host's own choice */
        CHECK(IS(display_set_mode(display_modes(p), &wish), STATUS_SUCCESS));
        CHECK_RULE("VIDPN-113/a", shown()->Scaling == (newest ? D3DKMDT_VPPS_ASPECTRATIOCENTEREDMAX
                                                              : D3DKMDT_VPPS_STRETCHED));
        wish.scaling = D3DKMDT_VPPS_UNINITIALIZED;
        wish.size = (D3DKMDT_2DREGION){640, 500};
    }
    CHECK_RULE("VIDPN-113/a", !shown()->ScalingSupport.AspectRatioCenteredMax == !newest &&
                                  !shown()->ScalingSupport.Custom == !newest &&
                                  shown()->ScalingSupport.Stretched);
}

TEST(scalings_that_older_drivers_do_not_have)
{
    static const UINT versions[] = {DXGKDDI_INTERFACE_VERSION_VISTA,
                                    DXGKDDI_INTERFACE_VERSION_VISTA_SP1,
                                    DXGKDDI_INTERFACE_VERSION_WIN7};

    for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
        const struct probe_options options = {.version = versions[i]};
        struct probe *p = full_display_create(&options);

        probe_make_1x(p);
        newest = i == 2;
        display.in_commit = note_path;
        display.source_mode[1] = display_source_mode(800, 500);
        display.source_mode[2] = display_source_mode(640, 500);
        display.scaling.AspectRatioCenteredMax = display.scaling.Custom = 1;
        run(p, ask_for_later_scalings);
    }
}

TEST(of_equal_size_nothing_is_cleared)
{
    struct probe *p = choosing();

    display.scaling.AspectRatioCenteredMax = 1;
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("VIDPN-113/b", shown()->Scaling == D3DKMDT_VPPS_IDENTITY &&
                                  shown()->ScalingSupport.AspectRatioCenteredMax);
    display_end(p);
}

/* ---- scalings ---- */

/* Of a signal that follows it the size is that of the source, whatever that is. */
static void ask_for_following(struct probe *p)
{
    struct modes_wish wish = {.given = true,
                              .size = {800, 600},
                              .rotation = D3DKMDT_VPPR_IDENTITY,
                              .scaling = D3DKMDT_VPPS_CENTERED};

    CHECK(display_seen.commit[0].size.cx == 800);
    CHECK_RULE("VIDPN-112", shown()->Scaling == D3DKMDT_VPPS_IDENTITY);
    CHECK_RULE("VIDPN-115", shown()->Scaling == D3DKMDT_VPPS_IDENTITY);
    CHECK(IS(display_set_mode(display_modes(p), &wish), STATUS_SUCCESS));
    CHECK_RULE("VIDPN-115", shown()->Scaling == D3DKMDT_VPPS_CENTERED);
    wish.scaling = D3DKMDT_VPPS_STRETCHED;
    CHECK(IS(display_set_mode(display_modes(p), &wish), STATUS_SUCCESS));
    CHECK_RULE("VIDPN-115", shown()->Scaling == D3DKMDT_VPPS_STRETCHED);
    wish.scaling = D3DKMDT_VPPS_IDENTITY;
    CHECK(IS(display_set_mode(display_modes(p), &wish), STATUS_SUCCESS));
    CHECK_RULE("VIDPN-112", shown()->Scaling == D3DKMDT_VPPS_IDENTITY);
}

TEST(a_signal_that_follows_its_source_is_not_scaled)
{
    static const D3DKMDT_2DREGION following[] = {
        {0, 0}, {D3DKMDT_DIMENSION_NOTSPECIFIED, D3DKMDT_DIMENSION_NOTSPECIFIED}};

    for (unsigned i = 0; i < 2; i++) {
        struct probe *p = choosing();

        display.source_mode[0] = display_source_mode(800, 600);
        display.source_modes = 1;
        display.target_mode[0].VideoSignalInfo.ActiveSize = following[i];
        run(p, ask_for_following);
    }
}

/* One dimension alone is not enough for identity. */
static void ask_for_half(struct probe *p)
{
    struct modes_wish wish = {.given = true,
                              .size = {1024, 600},
                              .rotation = D3DKMDT_VPPR_IDENTITY,
                              .scaling = D3DKMDT_VPPS_IDENTITY};

    CHECK(IS(display_set_mode(display_modes(p), &wish), STATUS_SUCCESS));
    CHECK_RULE("VIDPN-112", shown()->Scaling == D3DKMDT_VPPS_STRETCHED);
    wish.size = (D3DKMDT_2DREGION){800, 768};
    CHECK(IS(display_set_mode(display_modes(p), &wish), STATUS_SUCCESS));
    CHECK_RULE("VIDPN-112", shown()->Scaling == D3DKMDT_VPPS_STRETCHED);
    wish.size = (D3DKMDT_2DREGION){1024, 768};
    CHECK(IS(display_set_mode(display_modes(p), &wish), STATUS_SUCCESS));
    CHECK_RULE("VIDPN-112", shown()->Scaling == D3DKMDT_VPPS_IDENTITY);
}

TEST(identity_is_for_equal_sizes)
{
    struct probe *p = choosing();

    display.source_mode[1] = display_source_mode(1024, 600);
    display.source_mode[2] = display_source_mode(800, 768);
    run(p, ask_for_half);
}

static void ask_scaling(struct probe *p)
{
    struct modes_wish wish = {.given = true,
                              .size = {800, 600},
                              .rotation = D3DKMDT_VPPR_IDENTITY,
                              .scaling = D3DKMDT_VPPS_CENTERED};

    CHECK(IS(display_ask_mode(p, 0, 800, 600, 0), STATUS_SUCCESS));
    CHECK_RULE("VIDPN-115", shown()->Scaling == D3DKMDT_VPPS_STRETCHED);
    CHECK(IS(display_set_mode(display_modes(p), &wish), STATUS_SUCCESS));
    CHECK_RULE("VIDPN-115", shown()->Scaling == D3DKMDT_VPPS_CENTERED);
    wish.scaling = D3DKMDT_VPPS_ASPECTRATIOCENTEREDMAX; /* which is not supported */
    CHECK(IS(display_set_mode(display_modes(p), &wish), STATUS_SUCCESS));
    CHECK_RULE("VIDPN-115", shown()->Scaling == D3DKMDT_VPPS_STRETCHED);
}

TEST(a_client_may_ask_for_a_scaling)
{
    run(choosing(), ask_scaling);
}

/* ---- target modes ---- */

static D3DKMDT_VIDPN_TARGET_MODE rated(UINT hertz, UINT order)
{
    D3DKMDT_VIDPN_TARGET_MODE mode = full_target_mode(1024, 768, hertz);

    mode.VideoSignalInfo.AdditionalSignalInfo.ScanLineOrdering = order & 7;
    return mode;
}

TEST(progressive_before_a_nearer_rate)
{
    struct probe *p = choosing();

    display.target_mode[0] = rated(62, INTERLACED); /* the monitor has neither */
    display.target_mode[1] = rated(66, D3DDDI_VSSLO_PROGRESSIVE);
    display.target_modes = 2;
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("VIDPN-153", signal_of(p)->VSyncFreq.Numerator == 66);
    display_end(p);
}

TEST(an_interlaced_mode_is_no_progressive_one)
{
    struct probe *p = choosing();

    display.target_mode[0] = rated(60, INTERLACED);
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("VIDPN-154", probe_said(p, "VIDPN-153", "accepts"));
    display_end(p);
}

/* ---- source modes ---- */

TEST(without_alpha_before_another_format)
{
    static const D3DDDIFORMAT formats[] = {D3DDDIFMT_R5G6B5, D3DDDIFMT_X8R8G8B8, D3DDDIFMT_A8R8G8B8};

    for (UINT best = 1; best <= 2; best++) {
        struct probe *p = full_display_create(NULL);

        for (UINT i = 0; i <= best; i++) {
            display.source_mode[i] = display_source_mode(1024, 768);
            display.source_mode[i].Format.Graphics.PixelFormat = formats[i];
        }
        display.source_modes = best + 1;
        CHECK(IS(probe_start(p), STATUS_SUCCESS));
        CHECK_RULE("VIDPN-152", full_seen.surface.Format == formats[best]);
        display_end(p);
    }
}

/* ---- answers of the driver ---- */

static UINT answer;

static void answer_support(struct probe *p, struct probe_call *call)
{
    (void)p;
    ((DXGKARG_ISSUPPORTEDVIDPN *)(uintptr_t)call->arg[1])->IsVidPnSupported = (BOOLEAN)answer;
}

TEST(any_answer_but_no_is_yes)
{
    for (answer = 1; answer <= 2; answer++) {
        struct probe *p = choosing();

        p->after[PROBE_IsSupportedVidPn] = answer_support;
        CHECK(IS(probe_start(p), STATUS_SUCCESS));
        CHECK_RULE("VIDPN-130/d",
                   display_seen.commits == 1 && (probe_rule(p, "VIDPN-130") != 0) == (answer != 1));
        display_end(p);
    }
}

static void fail_for_nothing(struct probe *p, struct probe_call *call)
{
    DXGKARG_ISSUPPORTEDVIDPN *args = (DXGKARG_ISSUPPORTEDVIDPN *)(uintptr_t)call->arg[1];

    (void)p;
    args->IsVidPnSupported = TRUE;
    call->result = (uint32_t)(args->hDesiredVidPn ? STATUS_SUCCESS : STATUS_UNSUCCESSFUL);
}

static struct probe *strict_but(const char *rule)
{
    struct probe *p = display_create(&(struct probe_options){.strict = true});

    verify_set_severity(p->log, rule, VERIFY_WARNING);
    return p;
}

TEST(a_failure_for_nothing_at_all)
{
    struct probe *p = strict_but("VIDPN-127");

    p->after[PROBE_IsSupportedVidPn] = fail_for_nothing;
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("VIDPN-127", probe_rule(p, "VIDPN-127") == 1);
    display_end(p);
}

static UINT enums;

static void one_more(struct probe *p, const DXGKARG_ENUMVIDPNCOFUNCMODALITY *args,
                     const DXGK_VIDPN_INTERFACE *v)
{
    (void)p;
    (void)args;
    (void)v;
    if (++enums == 5)
        display.source_modes = 3;
}

TEST(a_second_enumeration_with_one_mode_more)
{
    struct probe *p = display_create(&(struct probe_options){.strict = true});

    enums = 0;
    display.source_modes = 2;
    display.before_enum = one_more;
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("VIDPN-145", probe_said(p, "VIDPN-145", "source 0"));
    display_end(p);
}

/* ---- the pivot ---- */

static NTSTATUS to_pivot;

static void assign_to_target(struct probe *p, const DXGKARG_ENUMVIDPNCOFUNCMODALITY *args,
                             const DXGK_VIDPN_INTERFACE *v)
{
    const DXGK_VIDPNTARGETMODESET_INTERFACE *modes;
    D3DKMDT_VIDPN_TARGET_MODE *mode;
    D3DKMDT_HVIDPNTARGETMODESET set;
    UINT id;

    (void)p;
    if (args->EnumPivotType != D3DKMDT_EPT_VIDPNTARGET)
        return;
    CHECK(IS(v->pfnCreateNewTargetModeSet(args->hConstrainingVidPn, DISPLAY_CHILD, &set, &modes),
             STATUS_SUCCESS));
    CHECK(IS(modes->pfnCreateNewModeInfo(set, &mode), STATUS_SUCCESS));
    id = mode->Id;
    *mode = display_target_mode(640, 480);
    mode->Id = id;
    CHECK(IS(modes->pfnAddMode(set, mode), STATUS_SUCCESS));
    to_pivot = v->pfnAssignTargetModeSet(args->hConstrainingVidPn, DISPLAY_CHILD, set);
    CHECK(IS(v->pfnReleaseTargetModeSet(args->hConstrainingVidPn, set), STATUS_SUCCESS));
}

TEST(the_target_of_a_pivot_stays)
{
    struct probe *p = strict_but("VIDPN-030");

    to_pivot = STATUS_SUCCESS;
    display.before_enum = assign_to_target;
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("VIDPN-135", IS(to_pivot, STATUS_ACCESS_DENIED));
    display_end(p);
}

/* ---- a set that has been replaced ---- */

static SIZE_T old_count, new_count;

static void replace_while_open(struct probe *p, const DXGKARG_ENUMVIDPNCOFUNCMODALITY *args,
                               const DXGK_VIDPN_INTERFACE *v)
{
    const D3DKMDT_HVIDPN vidpn = args->hConstrainingVidPn;
    const DXGK_VIDPNTARGETMODESET_INTERFACE *modes;
    D3DKMDT_HVIDPNTARGETMODESET old, set;
    D3DKMDT_VIDPN_TARGET_MODE *mode;
    UINT id;

    (void)p;
    if (++enums != 2)
        return;
    CHECK(IS(v->pfnAcquireTargetModeSet(vidpn, DISPLAY_CHILD, &old, &modes), STATUS_SUCCESS));
    CHECK(IS(v->pfnCreateNewTargetModeSet(vidpn, DISPLAY_CHILD, &set, &modes), STATUS_SUCCESS));
    CHECK(IS(modes->pfnCreateNewModeInfo(set, &mode), STATUS_SUCCESS));
    id = mode->Id;
    *mode = display_target_mode(1024, 768);
    mode->Id = id;
    CHECK(IS(modes->pfnAddMode(set, mode), STATUS_SUCCESS));
    CHECK(IS(v->pfnAssignTargetModeSet(vidpn, DISPLAY_CHILD, set), STATUS_SUCCESS));
    CHECK_RULE("VIDPN-144", IS(modes->pfnGetNumModes(old, &old_count), STATUS_SUCCESS));
    CHECK(IS(v->pfnReleaseTargetModeSet(vidpn, old), STATUS_SUCCESS));
    CHECK(IS(v->pfnAcquireTargetModeSet(vidpn, DISPLAY_CHILD, &set, &modes), STATUS_SUCCESS));
    CHECK(IS(modes->pfnGetNumModes(set, &new_count), STATUS_SUCCESS));
    CHECK(IS(v->pfnReleaseTargetModeSet(vidpn, set), STATUS_SUCCESS));
}

TEST(a_replaced_set_can_be_read)
{
    struct probe *p = display_create(NULL);

    enums = 0;
    old_count = new_count = 0;
    display.target_mode[1] = display_target_mode(800, 600);
    display.target_modes = 2;
    display.before_enum = replace_while_open;
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("VIDPN-144", old_count == 2 && new_count == 1);
    display_end(p);
}

/* ---- a commit without a path ---- */

static void turn_off(struct probe *p)
{
    const UINT commits = display_seen.commits;

    CHECK(full_seen.committed[commits - 1] != NULL);
    CHECK(IS(display_power(display_modes(p), DISPLAY_CHILD, false), STATUS_SUCCESS));
    CHECK(display_seen.commits == commits + 1);
    CHECK_RULE("VIDPN-174", full_seen.committed[commits] == NULL);
}

TEST(a_commit_without_a_path_names_no_primary)
{
    run(full_display_create(NULL), turn_off);
}

/* ---- the order of monitors ---- */

static void plug_in_the_other(struct probe *p)
{
    const D3DKMDT_VIDPN_PRESENT_PATH *path;

    display_indicate(p, 0, true);
    CHECK(IS(display_acpi(display_modes(p), DXGK_ACPI_CHANGE_DISPLAY_TOPOLOGY), STATUS_SUCCESS));
    path = vidpn_path_from(display_modes(p)->active, 0, 0);
    CHECK_RULE("VIDPN-120", path && path->VidPnTargetId == DISPLAY_CHILD + 1);
}

TEST(who_came_first_is_lit_first)
{
    struct probe *p = choosing();

    display.outputs = 2;
    display.connected[0] = false;
    run(p, plug_in_the_other);
}

/* ---- rates, and who controls vertical syncs ---- */

static const D3DDDI_RATIONAL open = {D3DKMDT_FREQUENCY_NOTSPECIFIED, D3DKMDT_FREQUENCY_NOTSPECIFIED};

static void leave_open(D3DKMDT_VIDPN_TARGET_MODE *mode, unsigned member)
{
    D3DKMDT_VIDEO_SIGNAL_INFO *s = &mode->VideoSignalInfo;

    if (member == 0)
        s->VSyncFreq = open;
    if (member == 1)
        s->HSyncFreq = open;
    if (member == 2)
        s->PixelRate = D3DKMDT_FREQUENCY_NOTSPECIFIED;
}

static void try_open_rates(struct probe *p, const DXGKARG_ENUMVIDPNCOFUNCMODALITY *args,
                           const DXGK_VIDPN_INTERFACE *v)
{
    D3DKMDT_VIDPN_TARGET_MODE mode;
    struct hands h;

    (void)p;
    if (enums++)
        return;
    hands_take(&h, args->hConstrainingVidPn, v);
    for (unsigned member = 0; member < 4; member++) {
        mode = full_target_mode(800, 600, 60);
        leave_open(&mode, member);
        CHECK_RULE("PRES-195/a",
                   IS(vidpn_try_target(&h, DISPLAY_CHILD, &mode),
                      member < 3 ? STATUS_GRAPHICS_INVALID_FREQUENCY : STATUS_SUCCESS));
    }
    hands_give_back(&h);
}

TEST(a_full_driver_gives_all_rates)
{
    struct probe *p = full_display_create(NULL);

    enums = 0;
    display.before_enum = try_open_rates;
    CHECK(IS(probe_start(p), STATUS_SUCCESS) && enums > 0);
    display_end(p);
}

TEST(a_driver_without_control_gives_no_rate)
{
    for (unsigned given = 0; given < 4; given++) {
        struct probe *p = choosing();

        display.target_mode[0] = full_target_mode(1024, 768, 60);
        for (unsigned member = 0; member < 3; member++)
            if (member != given)
                leave_open(&display.target_mode[0], member);
        CHECK(IS(probe_start(p), STATUS_SUCCESS));
        CHECK_RULE("PRES-195/b",
                   (probe_rule(p, "PRES-195") != 0) == (given < 3) && display_seen.commits == 1);
        display_end(p);
    }
}

/* ---- what a full driver indicates ---- */

static void unplug(struct probe *p)
{
    display_indicate(p, 0, false);
    CHECK_RULE("DISP-048", !display_modes(p)->target[0].monitor && !display_seen.visible[0]);
    display_indicate(p, 0, true);
    CHECK_RULE("DISP-048", display_modes(p)->target[0].monitor && display_seen.visible[0]);
}

TEST(a_full_driver_indicates_monitors)
{
    run(full_display_create(NULL), unplug);
}

/* ---- the primary of another format ---- */

static void other_format(struct probe *p)
{
    const struct modes_wish wish = {.given = true,
                                    .size = {1024, 768},
                                    .format = D3DDDIFMT_R5G6B5,
                                    .rotation = D3DKMDT_VPPR_IDENTITY,
                                    .frequency = {60, 1},
                                    .exact = true};

    CHECK(full_seen.created == 1 && full_seen.surface.Format == D3DDDIFMT_A8R8G8B8);
    CHECK(IS(display_set_mode(display_modes(p), &wish), STATUS_SUCCESS));
    CHECK_RULE("PRES-061/b",
               full_seen.created == 2 && full_seen.surface.Format == D3DDDIFMT_R5G6B5 &&
                   full_seen.committed[display_seen.commits - 1] == full_seen.primary);
}

TEST(another_format_is_another_primary)
{
    struct probe *p = full_display_create(NULL);

    display.source_mode[1] = display_source_mode(1024, 768);
    display.source_mode[1].Format.Graphics.PixelFormat = D3DDDIFMT_R5G6B5;
    run(p, other_format);
}
