/* SPDX-License-Identifier: MIT */
/* Which modes the host chooses for the paths of a display-only driver, and in which steps. */
#include "port/support/display.h"
#include "support/test.h"

#include <string.h>

/* ---- what is noted of calls ---- */

static struct {
    char steps[256];                  /* S IsSupported, E Enum, C Commit, in their order */
    D3DKMDT_VIDPN_PRESENT_PATH first; /* as the first enumeration saw it */
    DXGK_ENUM_PIVOT pivot;
    D3DKMDT_ENUMCOFUNCMODALITY_PIVOT_TYPE type;
    unsigned paths[64];        /* of the n-th IsSupportedVidPn */
    unsigned pinned[64];       /* sources with a pinned mode */
    unsigned supports, target; /* of the pinned target mode: its rate at the last commit */
    D3DKMDT_VIDPN_TARGET_MODE signal;
    D3DKMDT_VIDPN_PRESENT_PATH path; /* at the last commit */
    D3DDDIFORMAT format;
    UINT stride;
    SIZE_T modes[8]; /* in the source set when the n-th enumeration began */
    unsigned enums;
} seen;

static void step(char what)
{
    const size_t at = strlen(seen.steps);

    if (at + 1 < sizeof(seen.steps))
        seen.steps[at] = what;
}

static const DXGK_VIDPNTOPOLOGY_INTERFACE *topology_of(const DXGK_VIDPN_INTERFACE *v,
                                                       D3DKMDT_HVIDPN vidpn,
                                                       D3DKMDT_HVIDPNTOPOLOGY *handle)
{
    const DXGK_VIDPNTOPOLOGY_INTERFACE *topology = NULL;

    CHECK(v->pfnGetTopology(vidpn, handle, &topology) == STATUS_SUCCESS);
    return topology;
}

static bool first_path(const DXGK_VIDPN_INTERFACE *v, D3DKMDT_HVIDPN vidpn,
                       D3DKMDT_VIDPN_PRESENT_PATH *out)
{
    const D3DKMDT_VIDPN_PRESENT_PATH *path = NULL;
    D3DKMDT_HVIDPNTOPOLOGY handle;
    const DXGK_VIDPNTOPOLOGY_INTERFACE *topology = topology_of(v, vidpn, &handle);

    (void)topology->pfnAcquireFirstPathInfo(handle, &path);
    if (!path)
        return false;
    *out = *path;
    CHECK(topology->pfnReleasePathInfo(handle, path) == STATUS_SUCCESS);
    return true;
}

/* False: none is pinned. */
static bool pinned_source(const DXGK_VIDPN_INTERFACE *v, D3DKMDT_HVIDPN vidpn, UINT source,
                          D3DKMDT_VIDPN_SOURCE_MODE *out, SIZE_T *count)
{
    const DXGK_VIDPNSOURCEMODESET_INTERFACE *modes;
    const D3DKMDT_VIDPN_SOURCE_MODE *mode = NULL;
    D3DKMDT_HVIDPNSOURCEMODESET set;
    bool is;

    CHECK(v->pfnAcquireSourceModeSet(vidpn, source, &set, &modes) == STATUS_SUCCESS);
    (void)modes->pfnAcquirePinnedModeInfo(set, &mode);
    is = mode != NULL;
    if (is)
        *out = *mode;
    if (is)
        CHECK(modes->pfnReleaseModeInfo(set, mode) == STATUS_SUCCESS);
    if (count)
        CHECK(modes->pfnGetNumModes(set, count) == STATUS_SUCCESS);
    CHECK(v->pfnReleaseSourceModeSet(vidpn, set) == STATUS_SUCCESS);
    return is;
}

static bool pinned_target(const DXGK_VIDPN_INTERFACE *v, D3DKMDT_HVIDPN vidpn, UINT target,
                          D3DKMDT_VIDPN_TARGET_MODE *out)
{
    const DXGK_VIDPNTARGETMODESET_INTERFACE *modes;
    const D3DKMDT_VIDPN_TARGET_MODE *mode = NULL;
    D3DKMDT_HVIDPNTARGETMODESET set;
    bool is;

    CHECK(v->pfnAcquireTargetModeSet(vidpn, target, &set, &modes) == STATUS_SUCCESS);
    (void)modes->pfnAcquirePinnedModeInfo(set, &mode);
    is = mode != NULL;
    if (is)
        *out = *mode;
    if (is)
        CHECK(modes->pfnReleaseModeInfo(set, mode) == STATUS_SUCCESS);
    CHECK(v->pfnReleaseTargetModeSet(vidpn, set) == STATUS_SUCCESS);
    return is;
}

static void note_enum(struct probe *p, const DXGKARG_ENUMVIDPNCOFUNCMODALITY *args,
                      const DXGK_VIDPN_INTERFACE *v)
{
    D3DKMDT_VIDPN_SOURCE_MODE mode;
    SIZE_T count = 0;

    (void)p;
    step('E');
    if (!seen.enums) {
        CHECK(first_path(v, args->hConstrainingVidPn, &seen.first));
        seen.pivot = args->EnumPivot;
        seen.type = args->EnumPivotType;
    }
    (void)pinned_source(v, args->hConstrainingVidPn, 0, &mode, &count);
    seen.modes[seen.enums++ % 8] = count;
}

static bool (*refuses)(const DXGK_VIDPN_INTERFACE *v, D3DKMDT_HVIDPN vidpn);
static NTSTATUS refusal_status;

static void note_support(struct probe *p, struct probe_call *call)
{
    DXGKARG_ISSUPPORTEDVIDPN *args = (DXGKARG_ISSUPPORTEDVIDPN *)(uintptr_t)call->arg[1];
    const DXGK_VIDPN_INTERFACE *v = display_interface(p, args->hDesiredVidPn);
    D3DKMDT_VIDPN_SOURCE_MODE mode;
    D3DKMDT_HVIDPNTOPOLOGY handle;
    SIZE_T paths = 0;
    unsigned pinned = 0;

    step('S');
    CHECK_RULE("VIDPN-126", call->irql == PASSIVE_LEVEL && v);
    CHECK_RULE("VIDPN-130/a", args->IsVidPnSupported == FALSE);
    (void)topology_of(v, args->hDesiredVidPn, &handle)->pfnGetNumPaths(handle, &paths);
    for (UINT source = 0; source < display.sources; source++)
        pinned += pinned_source(v, args->hDesiredVidPn, source, &mode, NULL);
    seen.paths[seen.supports % 64] = (unsigned)paths;
    seen.pinned[seen.supports++ % 64] = pinned;
    call->answered = true;
    call->result = STATUS_SUCCESS;
    args->IsVidPnSupported = TRUE;
    if (!refuses || !refuses(v, args->hDesiredVidPn))
        return;
    args->IsVidPnSupported = FALSE;
    call->result = (uint32_t)refusal_status;
}

static void note_commit(struct probe *p, const DXGKARG_COMMITVIDPN *args,
                        const DXGK_VIDPN_INTERFACE *v)
{
    D3DKMDT_VIDPN_SOURCE_MODE mode;

    (void)p;
    step('C');
    if (!first_path(v, args->hFunctionalVidPn, &seen.path))
        return;
    CHECK_RULE("VIDPN-169",
               pinned_source(v, args->hFunctionalVidPn, seen.path.VidPnSourceId, &mode, NULL) &&
                   pinned_target(v, args->hFunctionalVidPn, seen.path.VidPnTargetId, &seen.signal));
    CHECK_RULE("VIDPN-111", seen.path.ContentTransformation.Scaling >= D3DKMDT_VPPS_IDENTITY &&
                                seen.path.ContentTransformation.Scaling <= D3DKMDT_VPPS_CUSTOM &&
                                seen.path.ContentTransformation.Rotation >= D3DKMDT_VPPR_IDENTITY &&
                                seen.path.ContentTransformation.Rotation <= D3DKMDT_VPPR_ROTATE270);
    CHECK_RULE("VIDPN-125",
               seen.path.CopyProtection.CopyProtectionType == D3DKMDT_VPPMT_NOPROTECTION &&
                   seen.path.CopyProtection.APSTriggerBits == 0);
    seen.format = mode.Format.Graphics.PixelFormat;
    seen.stride = mode.Format.Graphics.Stride;
}

/* A driver that is watched. */
static struct probe *watched(UINT version)
{
    struct probe *p = display_create(&(struct probe_options){.version = version});

    memset(&seen, 0, sizeof(seen));
    refuses = NULL;
    refusal_status = STATUS_SUCCESS;
    p->after[PROBE_IsSupportedVidPn] = NULL;
    p->before[PROBE_IsSupportedVidPn] = note_support;
    display.before_enum = note_enum;
    display.in_commit = note_commit;
    return p;
}

static void run(struct probe *p, void (*body)(struct probe *p))
{
    CHECK(probe_start(p) == STATUS_SUCCESS);
    probe_end(p, body);
}

static bool last_size(UINT width, UINT height)
{
    const struct display_commit *last = &display_seen.commit[(display_seen.commits - 1) % 64];

    return display_seen.commits && last->size.cx == width && last->size.cy == height;
}

/* ---- the steps ---- */

static void check_steps(struct probe *p)
{
    const D3DKMDT_VIDPN_PRESENT_PATH *path = &seen.first;
    const D3DKMDT_COLOR_COEFF_DYNAMIC_RANGES *ranges = &path->VidPnTargetColorCoeffDynamicRanges;
    D3DKMDT_VIDPN_PRESENT_PATH_COPYPROTECTION_SUPPORT only;

    (void)p;
    memset(&only, 0, sizeof(only));
    only.NoProtection = 1;
    CHECK_RULE("VIDPN-150", strcmp(seen.steps, "SEEESC") == 0);
    CHECK_RULE("VIDPN-131", seen.supports == 2 && seen.pinned[0] == 0 && seen.pinned[1] == 1);
    CHECK_RULE("VIDPN-170", seen.steps[strlen(seen.steps) - 2] == 'S' && seen.pinned[1] == 1);
    CHECK_RULE("VIDPN-108", path->ContentTransformation.Scaling == D3DKMDT_VPPS_UNPINNED);
    CHECK_RULE("VIDPN-109", path->ContentTransformation.Rotation == D3DKMDT_VPPR_UNPINNED);
    CHECK_RULE("VIDPN-110", path->ImportanceOrdinal == 1 &&
                                path->VisibleFromActiveTLOffset.cx == 0 &&
                                path->VisibleFromActiveTLOffset.cy == 0 &&
                                path->VisibleFromActiveBROffset.cx == 0 &&
                                path->VisibleFromActiveBROffset.cy == 0 &&
                                path->VidPnTargetColorBasis == D3DKMDT_CB_SCRGB &&
                                path->Content == D3DKMDT_VPPC_GRAPHICS);
    CHECK_RULE("VIDPN-110", ranges->FirstChannel == 8 && ranges->SecondChannel == 8 &&
                                ranges->ThirdChannel == 8 && ranges->FourthChannel == 8);
    CHECK_RULE("VIDPN-110",
               path->CopyProtection.CopyProtectionType == D3DKMDT_VPPMT_NOPROTECTION &&
                   path->CopyProtection.APSTriggerBits == 0 &&
                   memcmp(&path->CopyProtection.CopyProtectionSupport, &only, sizeof(only)) == 0);
    CHECK_RULE("VIDPN-110", path->GammaRamp.Type == D3DDDI_GAMMARAMP_DEFAULT &&
                                path->GammaRamp.DataSize == 0 && !path->GammaRamp.Data.pRgb256x3x16);
    CHECK_RULE("VIDPN-110", !path->ContentTransformation.ScalingSupport.Identity &&
                                !path->ContentTransformation.ScalingSupport.Centered &&
                                !path->ContentTransformation.RotationSupport.Identity &&
                                !path->ContentTransformation.RotationSupport.Rotate90);
    CHECK_RULE("VIDPN-136/a", seen.type == D3DKMDT_EPT_NOPIVOT &&
                                  seen.pivot.VidPnSourceId == D3DDDI_ID_UNINITIALIZED &&
                                  seen.pivot.VidPnTargetId == D3DDDI_ID_UNINITIALIZED);
    CHECK_RULE("VIDPN-133", probe_nth(p, PROBE_EnumVidPnCofuncModality, 0)->irql == PASSIVE_LEVEL &&
                                seen.modes[0] == 0 && seen.modes[1] == 3 && seen.modes[2] == 3);
    CHECK_RULE("VIDPN-128/b", seen.paths[0] == 1 && seen.paths[1] == 1);
    CHECK_RULE("VIDPN-115", seen.path.ContentTransformation.Scaling == D3DKMDT_VPPS_IDENTITY &&
                                seen.path.ContentTransformation.Rotation == D3DKMDT_VPPR_IDENTITY);
    CHECK(display_seen.failure == 0);
}

TEST(steps_of_a_start)
{
    run(watched(0), check_steps);
}

/* ---- the source mode ---- */

static void check_largest(struct probe *p)
{
    (void)p;
    CHECK_RULE("VIDPN-152", last_size(900, 700));
}

TEST(largest_within_what_is_wanted)
{
    struct probe *p = watched(0);

    display.source_mode[0] = display_source_mode(800, 600);
    display.source_mode[1] = display_source_mode(900, 700);
    display.source_mode[2] = display_source_mode(1000, 800); /* too high, and of the largest area */
    run(p, check_largest);
}

static void check_smallest(struct probe *p)
{
    (void)p;
    CHECK_RULE("VIDPN-152", last_size(1100, 800));
}

TEST(smallest_beyond_what_is_wanted)
{
    struct probe *p = watched(0);

    display.source_mode[0] = display_source_mode(1600, 1200);
    display.source_mode[1] = display_source_mode(1100, 800);
    display.source_mode[2] = display_source_mode(1280, 1024);
    run(p, check_smallest);
}

static void check_format(struct probe *p)
{
    (void)p;
    CHECK_RULE("VIDPN-152",
               last_size(1024, 768) && seen.format == D3DDDIFMT_A8R8G8B8 && seen.stride == 5000);
}

TEST(format_of_the_source_mode)
{
    struct probe *p = watched(0);

    for (unsigned i = 0; i < 3; i++)
        display.source_mode[i] = display_source_mode(1024, 768);
    display.source_mode[0].Format.Graphics.PixelFormat = D3DDDIFMT_X8R8G8B8;
    display.source_mode[1].Format.Graphics.Stride = 5000;
    run(p, check_format);
}

/* ---- the target mode ---- */

/* With the pixels of 1024 x 768 at 60 Hz, VESA. */
static D3DKMDT_VIDPN_TARGET_MODE rated(UINT hertz)
{
    D3DKMDT_VIDPN_TARGET_MODE mode = display_target_mode(1024, 768);

    mode.VideoSignalInfo.TotalSize = (D3DKMDT_2DREGION){1344, 806};
    mode.VideoSignalInfo.VSyncFreq = (D3DDDI_RATIONAL){hertz, 1};
    mode.VideoSignalInfo.HSyncFreq = (D3DDDI_RATIONAL){hertz * 806, 1};
    mode.VideoSignalInfo.PixelRate = (SIZE_T)hertz * 806 * 1344;
    return mode;
}

/* Whose driver may give rates (PRES-195). */
static struct probe *rated_watched(void)
{
    struct probe *p = watched(0);

    probe_set_entry(p, PROBE_ControlInterrupt, true);
    probe_set_entry(p, PROBE_GetScanLine, true);
    return p;
}

static bool rate_is(UINT hertz)
{
    return seen.signal.VideoSignalInfo.VSyncFreq.Numerator == hertz;
}

static void check_60(struct probe *p)
{
    CHECK_RULE("VIDPN-153", rate_is(60) && probe_rule(p, "VIDPN-153") == 0);
}

/* The monitor takes 1024 x 768 at any rate. */
static void any_rate(struct probe *p, struct probe_call *call)
{
    const DXGKARG_RECOMMENDMONITORMODES *args = (const DXGKARG_RECOMMENDMONITORMODES *)(uintptr_t)
                                                    call->arg[1];
    const DXGK_MONITORSOURCEMODESET_INTERFACE *set = args->pMonitorSourceModeSetInterface;
    D3DKMDT_MONITOR_SOURCE_MODE *mode;

    (void)p;
    CHECK(set->pfnCreateNewModeInfo(args->hMonitorSourceModeSet, &mode) == STATUS_SUCCESS);
    mode->VideoSignalInfo = display_target_mode(1024, 768).VideoSignalInfo;
    mode->Origin = D3DKMDT_MCO_DRIVER;
    mode->Preference = D3DKMDT_MP_NOTPREFERRED;
    CHECK(set->pfnAddMode(args->hMonitorSourceModeSet, mode) == STATUS_SUCCESS);
}

TEST(nearest_rate)
{
    struct probe *p = rated_watched();

    p->before[PROBE_RecommendMonitorModes] = any_rate;
    display.target_mode[0] = rated(75);
    display.target_mode[1] = rated(60);
    display.target_mode[2] = rated(85);
    display.target_modes = 3;
    run(p, check_60);
}

static void check_wished_rate(struct probe *p)
{
    const struct modes_wish wish = {
        .given = true, .size = {800, 600}, .frequency = {85, 1}, .rotation = D3DKMDT_VPPR_IDENTITY};

    CHECK(display_set_mode(display_modes(p), &wish) == STATUS_SUCCESS);
    CHECK_RULE("VIDPN-153", rate_is(8510));
}

/* Two are near the wish; the nearer one to 60 Hz is not the nearer one to it. */
TEST(wished_rate)
{
    struct probe *p = rated_watched();

    p->before[PROBE_RecommendMonitorModes] = any_rate;
    display.target_mode[0] = rated(85);
    display.target_mode[0].VideoSignalInfo.VSyncFreq = (D3DDDI_RATIONAL){8460, 100};
    display.target_mode[1] = rated(60);
    display.target_mode[2] = rated(85);
    display.target_mode[2].VideoSignalInfo.VSyncFreq = (D3DDDI_RATIONAL){8510, 100};
    display.target_modes = 3;
    run(p, check_wished_rate);
}

static void check_matching(struct probe *p)
{
    CHECK_RULE("VIDPN-140", rate_is(60) && probe_reports(p, VERIFY_WARNING) == 0);
}

/* The preferred mode is none of the monitor's. */
TEST(a_mode_that_the_monitor_has)
{
    struct probe *p = rated_watched();

    display.target_mode[0] = rated(75);
    display.target_mode[0].WireFormatAndPreference.Preference = D3DKMDT_MP_PREFERRED;
    display.target_mode[1] = rated(60);
    display.target_modes = 2;
    run(p, check_matching);
}

static void check_none_matches(struct probe *p)
{
    CHECK_RULE("VIDPN-140", rate_is(72) && probe_reports(p, VERIFY_ERROR) == 0);
    CHECK_RULE("VIDPN-153", rate_is(72) && probe_said(p, "VIDPN-153", "accepts"));
    CHECK_RULE("VIDPN-154", rate_is(72));
}

/* The monitor has no mode of these rates at this size. */
TEST(no_rate_that_the_monitor_has)
{
    struct probe *p = rated_watched();

    display.target_mode[0] = rated(90);
    display.target_mode[1] = rated(72);
    display.target_modes = 2;
    run(p, check_none_matches);
}

static void check_size_first(struct probe *p)
{
    (void)p;
    CHECK_RULE("VIDPN-153", seen.signal.VideoSignalInfo.ActiveSize.cx == 1024);
}

TEST(size_before_preference)
{
    struct probe *p = watched(0);

    display.target_mode[0] = display_target_mode(800, 600);
    display.target_mode[0].WireFormatAndPreference.Preference = D3DKMDT_MP_PREFERRED;
    display.target_mode[1] = display_target_mode(1024, 768);
    display.target_modes = 2;
    run(p, check_size_first);
}

static void check_preferred(struct probe *p)
{
    (void)p;
    CHECK_RULE("VIDPN-153", seen.signal.VideoSignalInfo.VideoStandard == D3DKMDT_VSS_VESA_DMT);
}

TEST(preference_among_those_of_a_size)
{
    struct probe *p = watched(0);

    display.target_mode[0] = display_target_mode(1024, 768);
    display.target_mode[1] = display_target_mode(1024, 768);
    display.target_mode[1].VideoSignalInfo.VideoStandard = D3DKMDT_VSS_VESA_DMT;
    display.target_mode[1].WireFormatAndPreference.Preference = D3DKMDT_MP_PREFERRED;
    display.target_modes = 2;
    run(p, check_preferred);
}

static void check_match_unspecified(struct probe *p)
{
    CHECK_RULE("VIDPN-154", display_seen.commits == 1 && last_size(1024, 768) &&
                                probe_rule(p, "VIDPN-153") == 0);
}

TEST(unspecified_rates_match)
{
    run(watched(0), check_match_unspecified);
}

static void check_close(struct probe *p)
{
    CHECK_RULE("VIDPN-154", (probe_rule(p, "VIDPN-153") != 0) == (*(const bool *)p->user));
}

static void close_rate(UINT numerator, bool told)
{
    struct probe *p = rated_watched();

    display.target_mode[0] = rated(60);
    display.target_mode[0].VideoSignalInfo.TotalSize = (D3DKMDT_2DREGION){1000 + 344, 806};
    display.target_mode[0].VideoSignalInfo.VSyncFreq = (D3DDDI_RATIONAL){numerator, 1000};
    display.target_mode[0].VideoSignalInfo.HSyncFreq = (D3DDDI_RATIONAL){numerator * 806, 1000};
    display.target_mode[0].VideoSignalInfo.PixelRate = (SIZE_T)numerator * 806 * 1344 / 1000;
    p->user = &told;
    run(p, check_close);
}

/* 1024 x 768 of VESA has 60.004 Hz. */
TEST(half_a_hertz)
{
    close_rate(60500, false);
    close_rate(60510, true);
}

/* ---- scaling and rotation ---- */

static void check_centred(struct probe *p)
{
    CHECK(display_ask_mode(p, 0, 800, 600, 0) == STATUS_SUCCESS);
    CHECK_RULE("VIDPN-115", last_size(800, 600) &&
                                seen.path.ContentTransformation.Scaling == D3DKMDT_VPPS_CENTERED);
    CHECK_RULE("VIDPN-112", seen.path.ContentTransformation.Scaling != D3DKMDT_VPPS_IDENTITY);
}

TEST(centred)
{
    struct probe *p = watched(0);

    memset(&display.scaling, 0, sizeof(display.scaling));
    display.scaling.Identity = display.scaling.Centered = 1;
    run(p, check_centred);
}

static void check_stretched(struct probe *p)
{
    CHECK(display_ask_mode(p, 0, 800, 600, 0) == STATUS_SUCCESS);
    CHECK_RULE("VIDPN-151/a", last_size(800, 600));
    CHECK_RULE("VIDPN-115", last_size(800, 600) &&
                                seen.path.ContentTransformation.Scaling == D3DKMDT_VPPS_STRETCHED);
}

TEST(stretched_before_centred)
{
    run(watched(0), check_stretched);
}

static void check_aspect(struct probe *p)
{
    CHECK(display_ask_mode(p, 0, 800, 500, 0) == STATUS_SUCCESS);
    CHECK_RULE("VIDPN-115", last_size(800, 500) && seen.path.ContentTransformation.Scaling ==
                                                       D3DKMDT_VPPS_ASPECTRATIOCENTEREDMAX);
    CHECK(display_ask_mode(p, 0, 800, 600, 0) == STATUS_SUCCESS);
    CHECK_RULE("VIDPN-113/b", last_size(800, 600) && seen.path.ContentTransformation.Scaling ==
                                                         D3DKMDT_VPPS_STRETCHED);
    CHECK_RULE("VIDPN-113/b",
               !seen.path.ContentTransformation.ScalingSupport.AspectRatioCenteredMax);
}

TEST(aspect_before_stretched)
{
    struct probe *p = watched(0);

    display.source_mode[2] = display_source_mode(800, 500);
    display.scaling.AspectRatioCenteredMax = 1;
    run(p, check_aspect);
}

static void check_none_fits(struct probe *p)
{
    const UINT before = display_seen.commits;

    CHECK_RULE("VIDPN-115", !NT_SUCCESS(display_ask_mode(p, 0, 1280, 1024, 0)) &&
                                display_seen.commits == before);
}

/* What is larger than the target is not centred. */
TEST(centred_only_what_fits)
{
    struct probe *p = watched(0);

    memset(&display.scaling, 0, sizeof(display.scaling));
    display.scaling.Identity = display.scaling.Centered = 1;
    display.source_mode[1] = display_source_mode(1280, 1024);
    run(p, check_none_fits);
}

static void no_support(struct probe *p)
{
    (void)p;
    memset(&display.scaling, 0, sizeof(display.scaling));
    memset(&display.rotation, 0, sizeof(display.rotation));
}

static void check_advisory(struct probe *p)
{
    CHECK_RULE("VIDPN-116", display_seen.commits == 1 && last_size(1024, 768) &&
                                probe_said(p, "VIDPN-116", "scaling") &&
                                probe_said(p, "VIDPN-116", "rotation") &&
                                probe_reports(p, VERIFY_WARNING) == 0);
}

TEST(no_support_reported)
{
    struct probe *p = watched(0);

    no_support(p);
    run(p, check_advisory);
}

static void check_rotation(struct probe *p)
{
    CHECK_RULE("VIDPN-117", display_ask_mode(p, 0, 1024, 768, 2) ==
                                STATUS_GRAPHICS_PATH_CONTENT_GEOMETRY_TRANSFORMATION_NOT_SUPPORTED);
    CHECK_RULE("VIDPN-117", probe_count(p, PROBE_UpdateActiveVidPnPresentPath) == 0 &&
                                display_seen.commits == 1);
}

TEST(rotation_without_its_flag)
{
    struct probe *p = watched(0);

    display.rotation.Rotate180 = 0;
    run(p, check_rotation);
}

/* ---- failures ---- */

static bool refuse_large(const DXGK_VIDPN_INTERFACE *v, D3DKMDT_HVIDPN vidpn)
{
    D3DKMDT_VIDPN_SOURCE_MODE mode;

    return pinned_source(v, vidpn, 0, &mode, NULL) && mode.Format.Graphics.PrimSurfSize.cx == 1024;
}

static void check_next(struct probe *p)
{
    CHECK_RULE("VIDPN-155", display_seen.commits == 1 && last_size(800, 600));
    CHECK_RULE("VIDPN-130/b", last_size(800, 600) && probe_reports(p, VERIFY_WARNING) == 0);
}

TEST(next_mode_after_a_refusal)
{
    struct probe *p = watched(0);

    refuses = refuse_large;
    refusal_status = STATUS_NO_MEMORY;
    run(p, check_next);
}

static bool refuse_all(const DXGK_VIDPN_INTERFACE *v, D3DKMDT_HVIDPN vidpn)
{
    (void)v;
    (void)vidpn;
    return true;
}

static void check_dark(struct probe *p)
{
    CHECK_RULE("VIDPN-132", seen.supports > 0 && seen.enums == 0);
    CHECK_RULE("VIDPN-149/b", display_seen.commits == 0 && probe_rule(p, "VIDPN-149") == 1);
    CHECK_RULE("VIDPN-129",
               display_seen.commits == 0 && seen.enums == 0 && probe_rule(p, "VIDPN-130") == 0);
}

TEST(nothing_is_supported)
{
    struct probe *p = watched(0);

    refuses = refuse_all;
    refusal_status = STATUS_GRAPHICS_INVALID_VIDPN_TOPOLOGY;
    run(p, check_dark);
}

static void check_odd_status(struct probe *p)
{
    CHECK_RULE("VIDPN-130/c",
               probe_said(p, "VIDPN-130", "STATUS_UNSUCCESSFUL") && display_seen.commits == 0);
}

TEST(odd_status_of_support)
{
    struct probe *p = watched(0);

    refuses = refuse_all;
    refusal_status = STATUS_UNSUCCESSFUL;
    run(p, check_odd_status);
}

static void support_seven(struct probe *p, struct probe_call *call)
{
    (void)p;
    ((DXGKARG_ISSUPPORTEDVIDPN *)(uintptr_t)call->arg[1])->IsVidPnSupported = 7;
}

static void check_seven(struct probe *p)
{
    CHECK_RULE("VIDPN-130/d",
               display_seen.commits == 1 && probe_said(p, "VIDPN-130", "IsVidPnSupported is 7"));
}

TEST(odd_answer_of_support)
{
    struct probe *p = watched(0);

    p->before[PROBE_IsSupportedVidPn] = NULL;
    p->after[PROBE_IsSupportedVidPn] = support_seven;
    run(p, check_seven);
}

static bool only_1_to_101(const DXGK_VIDPN_INTERFACE *v, D3DKMDT_HVIDPN vidpn)
{
    D3DKMDT_VIDPN_PRESENT_PATH path;

    return first_path(v, vidpn, &path) && path.VidPnSourceId != 1;
}

static void check_other_source(struct probe *p)
{
    (void)p;
    CHECK_RULE("VIDPN-149/a", display_seen.commits == 1 && display_seen.commit[0].source == 1 &&
                                  display_seen.commit[0].target == DISPLAY_CHILD);
}

TEST(another_source)
{
    struct probe *p = watched(0);

    display.sources = 2;
    refuses = only_1_to_101;
    run(p, check_other_source);
}

static bool refuse_two(const DXGK_VIDPN_INTERFACE *v, D3DKMDT_HVIDPN vidpn)
{
    D3DKMDT_HVIDPNTOPOLOGY handle;
    SIZE_T paths = 0;

    (void)topology_of(v, vidpn, &handle)->pfnGetNumPaths(handle, &paths);
    return paths > 1;
}

static void check_one_of_two(struct probe *p)
{
    (void)p;
    CHECK_RULE("VIDPN-149/c", display_seen.commits == 1 && display_seen.commit[0].paths == 1 &&
                                  display_seen.commit[0].source == 0 &&
                                  display_seen.commit[0].target == DISPLAY_CHILD);
    CHECK_RULE("VIDPN-149/c", probe_rule(p, "VIDPN-149") == 0);
}

TEST(the_last_path_is_dropped)
{
    struct probe *p = watched(0);

    display.sources = display.outputs = 2;
    refuses = refuse_two;
    run(p, check_one_of_two);
}

/* ---- outcomes of Enum ---- */

static NTSTATUS enum_status;

static void fail_enum(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->result = (uint32_t)enum_status;
}

static void check_enum_fails(struct probe *p)
{
    CHECK_RULE("VIDPN-141", display_seen.commits == 0 && strchr(seen.steps, 'C') == NULL);
    CHECK_RULE("VIDPN-142",
               display_seen.commits == 0 && probe_said(p, "VIDPN-142", "STATUS_UNSUCCESSFUL"));
}

TEST(enumeration_fails)
{
    struct probe *p = watched(0);

    enum_status = STATUS_UNSUCCESSFUL;
    p->after[PROBE_EnumVidPnCofuncModality] = fail_enum;
    run(p, check_enum_fails);
}

static void check_enum_informs(struct probe *p)
{
    CHECK_RULE("VIDPN-142", display_seen.commits == 1 &&
                                probe_said(p, "VIDPN-142", "counts as success") &&
                                probe_reports(p, VERIFY_WARNING) == 0);
}

TEST(enumeration_informs)
{
    struct probe *p = watched(0);

    enum_status = STATUS_GRAPHICS_NO_MORE_ELEMENTS_IN_DATASET;
    p->after[PROBE_EnumVidPnCofuncModality] = fail_enum;
    run(p, check_enum_informs);
}

static void check_empty(struct probe *p)
{
    CHECK_RULE("VIDPN-143",
               display_seen.commits == 0 && probe_said(p, "VIDPN-143", "target 0x100 has no mode"));
}

TEST(a_set_stays_empty)
{
    struct probe *p = watched(0);

    display.target_modes = 0;
    run(p, check_empty);
}

static void check_empty_source(struct probe *p)
{
    CHECK_RULE("VIDPN-143",
               display_seen.commits == 0 && probe_said(p, "VIDPN-143", "source 0 has no mode"));
}

TEST(a_source_set_stays_empty)
{
    struct probe *p = watched(0);

    display.source_modes = 0;
    run(p, check_empty_source);
}

/* ---- several paths ---- */

static void check_two(struct probe *p)
{
    (void)p;
    CHECK_RULE("VIDPN-148/b", display_seen.commits == 2 && display_seen.commit[0].source == 0 &&
                                  display_seen.commit[0].target == DISPLAY_CHILD &&
                                  display_seen.commit[1].source == 1 &&
                                  display_seen.commit[1].target == DISPLAY_CHILD + 1);
    CHECK_RULE("VIDPN-168", display_seen.commits == 2 && display_seen.commit[0].source == 0 &&
                                display_seen.commit[1].source == 1 &&
                                display_seen.commit[0].paths == 2 &&
                                display_seen.commit[1].paths == 2);
    CHECK_RULE("VIDPN-190", display_seen.commit[0].paths == 2);
    CHECK_RULE("VIDPN-150", strcmp(seen.steps, "SEEEEESCC") == 0);
    CHECK_RULE("VIDPN-119", seen.path.ImportanceOrdinal == 1);
}

TEST(two_of_each)
{
    struct probe *p = watched(0);

    display.sources = display.outputs = 2;
    run(p, check_two);
}

static void check_more_monitors(struct probe *p)
{
    (void)p;
    CHECK_RULE("VIDPN-148/a", display_seen.commits == 1 && display_seen.commit[0].paths == 1 &&
                                  display_seen.commit[0].target == DISPLAY_CHILD);
}

TEST(more_monitors_than_sources)
{
    struct probe *p = watched(0);

    display.outputs = 2;
    run(p, check_more_monitors);
}

static void check_internal(struct probe *p)
{
    (void)p;
    CHECK_RULE("VIDPN-120",
               display_seen.commits == 2 && display_seen.commit[0].target == DISPLAY_CHILD + 1 &&
                   seen.path.VidPnTargetId == DISPLAY_CHILD + 1 && seen.path.ImportanceOrdinal == 1);
}

TEST(internal_panels_first)
{
    struct probe *p = watched(0);

    display.sources = display.outputs = 2;
    for (unsigned i = 0; i < 2; i++) {
        p->child[i].ChildDeviceType = TypeVideoOutput;
        p->child[i].ChildUid = DISPLAY_CHILD + i;
        p->child[i].ChildCapabilities.HpdAwareness = HpdAwarenessInterruptible;
        p->child[i].ChildCapabilities.Type.VideoOutput.InterfaceTechnology = i ? D3DKMDT_VOT_INTERNAL
                                                                               : D3DKMDT_VOT_HDMI;
        p->child[i].ChildCapabilities.Type.VideoOutput.MonitorOrientationAwareness = D3DKMDT_MOA_NONE;
    }
    run(p, check_internal);
}

static void check_backtracks(struct probe *p)
{
    (void)p;
    CHECK_RULE("VIDPN-155", display_seen.commits == 0 && seen.supports == 1 + 9);
}

/* 3 source modes, 3 target modes: all pairs are tried. */
static bool refuse_pinned(const DXGK_VIDPN_INTERFACE *v, D3DKMDT_HVIDPN vidpn)
{
    D3DKMDT_VIDPN_SOURCE_MODE mode;

    return pinned_source(v, vidpn, 0, &mode, NULL);
}

TEST(every_pair_is_tried)
{
    struct probe *p = rated_watched();

    display.target_mode[0] = rated(60);
    display.target_mode[1] = rated(70);
    display.target_mode[2] = rated(75);
    display.target_modes = 3;
    refuses = refuse_pinned;
    run(p, check_backtracks);
}

static void check_limit(struct probe *p)
{
    (void)p;
    CHECK_RULE("VIDPN-155", display_seen.commits == 0 && seen.supports == 1 + 32);
}

TEST(thirty_two_attempts)
{
    struct probe *p = rated_watched();

    for (unsigned i = 0; i < 8; i++)
        display.target_mode[i] = rated(60 + i);
    for (unsigned i = 0; i < 8; i++)
        display.source_mode[i] = display_source_mode(640 + 8 * i, 480);
    display.source_modes = display.target_modes = 8;
    refuses = refuse_pinned;
    run(p, check_limit);
}

static void check_limit_of_all(struct probe *p)
{
    (void)p;
    /* 512 attempts, and the questions for topologies that come before them */
    CHECK_RULE("VIDPN-155", seen.supports == 532 && display_seen.commits == 1);
}

/* Two paths: 32 attempts of the one for each of the other's would be 1,024; after 512 there are no more. */
TEST(attempts_of_all_paths_together)
{
    struct probe *p = rated_watched();

    display.sources = display.outputs = 2;
    for (unsigned i = 0; i < 8; i++)
        display.target_mode[i] = rated(60 + i);
    for (unsigned i = 0; i < 8; i++)
        display.source_mode[i] = display_source_mode(640 + 8 * i, 480);
    display.source_modes = display.target_modes = 8;
    refuses = refuse_pinned;
    run(p, check_limit_of_all);
}
