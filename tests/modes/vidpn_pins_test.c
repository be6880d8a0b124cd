/* SPDX-License-Identifier: MIT */
/* Pinned modes, and what makes a VidPN functional; sets of another VidPN; the pivot. */
#include "modes/support/scope_rig.h"
#include "modes/vidpn.h"

#define OK(call) CHECK((call) == STATUS_SUCCESS)

#define T(n)        (DISPLAY_CHILD + (n))
#define BAD_SOURCES STATUS_GRAPHICS_INVALID_VIDPN_SOURCEMODESET
#define BAD_TARGETS STATUS_GRAPHICS_INVALID_VIDPN_TARGETMODESET
#define MUST_REMAIN STATUS_GRAPHICS_PINNED_MODE_MUST_REMAIN_IN_SET
#define UNRELATED   STATUS_GRAPHICS_RESOURCES_NOT_RELATED

typedef D3DKMDT_HVIDPNSOURCEMODESET source_set;
typedef D3DKMDT_HVIDPNTARGETMODESET target_set;

static void nothing_left(struct scope_rig *rig)
{
    CHECK(probe_rule(rig->p, "VIDPN-015") == 0);
}

/* Id of the pinned mode; 0: none is. */
static UINT pinned_source(const struct hands *h, source_set set)
{
    const D3DKMDT_VIDPN_SOURCE_MODE *mode;
    UINT id;

    OK(h->s->pfnAcquirePinnedModeInfo(set, &mode));
    id = mode ? mode->Id : 0;
    if (mode)
        OK(h->s->pfnReleaseModeInfo(set, mode));
    return id;
}

static UINT pinned_target(const struct hands *h, target_set set)
{
    const D3DKMDT_VIDPN_TARGET_MODE *mode;
    UINT id;

    OK(h->g->pfnAcquirePinnedModeInfo(set, &mode));
    id = mode ? mode->Id : 0;
    if (mode)
        OK(h->g->pfnReleaseModeInfo(set, mode));
    return id;
}

TEST_WITH(scope, source_modes_are_pinned, .after = nothing_left)
{
    const source_set set = vidpn_filled_source_set(h, 0, 800, 600);
    D3DKMDT_VIDPN_SOURCE_MODE *mode = vidpn_source_mode(h, set, 640, 480);

    mode->Id = 101;
    OK(h->s->pfnAddMode(set, mode));
    CHECK_RULE("VIDPN-077",
               h->s->pfnPinMode(set, 2) == STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE_MODE &&
                   h->s->pfnPinMode(set, 0) == STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE_MODE &&
                   pinned_source(h, set) == 0);
    CHECK_RULE("VIDPN-077", h->s->pfnPinMode(NULL, 1) == BAD_SOURCES &&
                                h->s->pfnPinMode((source_set)h->target, 1) == BAD_SOURCES);
    CHECK_RULE("VIDPN-077",
               h->s->pfnPinMode(set, 101) == STATUS_SUCCESS && pinned_source(h, set) == 101);
    CHECK_RULE("VIDPN-078/b",
               h->s->pfnPinMode(set, 1) == STATUS_SUCCESS && pinned_source(h, set) == 1);
    rig->scope.access &= ~(unsigned)MODES_PIN;
    CHECK_RULE("VIDPN-078/a", h->s->pfnPinMode(set, 101) == STATUS_ACCESS_DENIED &&
                                  pinned_source(h, set) == 1 &&
                                  probe_rule(rig->p, "VIDPN-078") == 1);
    OK(h->v->pfnReleaseSourceModeSet(h->vidpn, set));
}

TEST_WITH(scope, target_modes_are_pinned, .after = nothing_left)
{
    const target_set set = vidpn_new_target_set(h, T(0));

    OK(h->g->pfnAddMode(set, vidpn_target_mode(h, set, 800, 600)));
    OK(h->g->pfnAddMode(set, vidpn_target_mode(h, set, 640, 480)));
    CHECK_RULE("VIDPN-092",
               h->g->pfnPinMode(set, 3) == STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET_MODE &&
                   h->g->pfnPinMode(NULL, 1) == BAD_TARGETS && pinned_target(h, set) == 0);
    CHECK_RULE("VIDPN-092",
               h->g->pfnPinMode(set, 1) == STATUS_SUCCESS && pinned_target(h, set) == 1);
    CHECK_RULE("VIDPN-078/b",
               h->g->pfnPinMode(set, 2) == STATUS_SUCCESS && pinned_target(h, set) == 2);
    OK(h->v->pfnReleaseTargetModeSet(h->vidpn, set));
    (void)rig;
}

/* The Id is read after the mode was added, as a published driver does. */
TEST_WITH(scope, added_mode_is_pinned_by_its_id, .after = nothing_left)
{
    const source_set set = vidpn_new_source_set(h, 0);
    D3DKMDT_VIDPN_SOURCE_MODE *mode = vidpn_source_mode(h, set, 640, 480);

    OK(h->s->pfnAddMode(set, mode));
    CHECK(h->s->pfnPinMode(set, mode->Id) == STATUS_SUCCESS);
    OK(h->v->pfnAssignSourceModeSet(h->vidpn, 0, set));
    (void)rig;
}

/* ---- the whole ---- */

TEST_WITH(scope, functional, .after = nothing_left)
{
    source_set set = vidpn_filled_source_set(h, 0, 800, 600);
    target_set targets;

    CHECK_RULE("VIDPN-002", !vidpn_is_functional(rig->vidpn)); /* without a path */
    OK(scope_add(h, 0, T(0)));
    CHECK_RULE("VIDPN-002", !vidpn_is_functional(rig->vidpn));
    OK(h->s->pfnPinMode(set, 1));
    OK(h->v->pfnAssignSourceModeSet(h->vidpn, 0, set));
    CHECK_RULE("VIDPN-002", !vidpn_is_functional(rig->vidpn));
    for (UINT i = 0; i < 2; i++) {
        targets = vidpn_new_target_set(h, T(i));
        OK(h->g->pfnAddMode(targets, vidpn_target_mode(h, targets, 800, 600)));
        OK(h->g->pfnPinMode(targets, 1));
        OK(h->v->pfnAssignTargetModeSet(h->vidpn, T(i), targets));
    }
    CHECK_RULE("VIDPN-002", vidpn_is_functional(rig->vidpn));
    OK(scope_add(h, 1, T(1)));
    CHECK_RULE("VIDPN-002", !vidpn_is_functional(rig->vidpn)); /* source 1 has no mode */
}

/* ---- assignment ---- */

TEST_WITH(scope, pinned_in_both, .after = nothing_left)
{
    source_set old = vidpn_filled_source_set(h, 0, 1024, 768), set;

    OK(h->s->pfnPinMode(old, 1));
    OK(h->v->pfnAssignSourceModeSet(h->vidpn, 0, old));
    set = vidpn_filled_source_set(h, 0, 800, 600);
    OK(h->s->pfnAddMode(set, vidpn_source_mode(h, set, 1024, 768)));
    OK(h->s->pfnPinMode(set, 1));
    CHECK_RULE("VIDPN-032", h->v->pfnAssignSourceModeSet(h->vidpn, 0, set) == MUST_REMAIN);
    set = vidpn_filled_source_set(h, 0, 800, 600);
    OK(h->s->pfnAddMode(set, vidpn_source_mode(h, set, 1024, 768)));
    OK(h->s->pfnPinMode(set, 2));
    CHECK_RULE("VIDPN-032", h->v->pfnAssignSourceModeSet(h->vidpn, 0, set) == STATUS_SUCCESS);
    (void)rig;
}

TEST_WITH(scope, sets_of_another_vidpn, .after = nothing_left)
{
    struct scope_rig other;
    source_set set, fresh;
    target_set targets;

    scope_begin(&other, rig->p, rig->modes);
    set = other.hands.source;
    targets = other.hands.target;
    fresh = vidpn_filled_source_set(&other.hands, 0, 800, 600);
    CHECK(h->v->pfnReleaseSourceModeSet(h->vidpn, set) == UNRELATED &&
          h->v->pfnReleaseTargetModeSet(h->vidpn, targets) == UNRELATED &&
          h->v->pfnAssignSourceModeSet(h->vidpn, 0, fresh) == UNRELATED);
    OK(h->v->pfnReleaseSourceModeSet(other.hands.vidpn, fresh));
    scope_end(&other);
    CHECK(h->v->pfnReleaseSourceModeSet(h->vidpn, set) == BAD_SOURCES);
}

TEST_WITH(scope, pivot_stays, .after = nothing_left)
{
    const source_set set = vidpn_filled_source_set(h, 0, 800, 600);
    D3DKMDT_VIDPN_SOURCE_MODE *mode = vidpn_source_mode(h, h->source, 640, 480);

    rig->scope.pivot = *vidpn_source_set(rig->vidpn, 0);
    CHECK(h->v->pfnAssignSourceModeSet(h->vidpn, 0, set) == STATUS_ACCESS_DENIED &&
          probe_rule(rig->p, "VIDPN-030") == 1);
    CHECK(h->s->pfnAddMode(h->source, mode) == STATUS_ACCESS_DENIED &&
          probe_rule(rig->p, "VIDPN-076") == 1);
    OK(h->s->pfnReleaseModeInfo(h->source, mode));
    OK(h->v->pfnReleaseSourceModeSet(h->vidpn, set));
}

/* ---- modes of other drivers ---- */

TEST_WITH(scope, stereo_is_later, .after = nothing_left, .version = DXGKDDI_INTERFACE_VERSION_WIN7)
{
    D3DKMDT_VIDPN_SOURCE_MODE mode = display_source_mode(1024, 768);

    mode.Type = D3DKMDT_RMT_GRAPHICS_STEREO;
    CHECK(vidpn_try_source(h, &mode) == STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE_MODE);
    mode.Type = D3DKMDT_RMT_GRAPHICS_STEREO_ADVANCED_SCAN;
    CHECK(vidpn_try_source(h, &mode) == STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE_MODE);
    mode.Type = D3DKMDT_RMT_GRAPHICS;
    CHECK(vidpn_try_source(h, &mode) == STATUS_SUCCESS);
    (void)rig;
}

TEST_WITH(scope, formats_of_full_drivers, .after = nothing_left, .full = true)
{
    static const int formats[] = {D3DDDIFMT_R5G6B5, D3DDDIFMT_R8G8B8, D3DDDIFMT_A8R8G8B8,
                                  D3DDDIFMT_A2B10G10R10, D3DDDIFMT_A16B16G16R16F};
    D3DKMDT_VIDPN_SOURCE_MODE mode = display_source_mode(1024, 768);

    mode.Format.Graphics.Stride = 1024 * 8;
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        mode.Format.Graphics.PixelFormat = (D3DDDIFORMAT)formats[i];
        CHECK(vidpn_try_source(h, &mode) == STATUS_SUCCESS);
    }
    mode.Format.Graphics.PixelFormat = D3DDDIFMT_UNKNOWN;
    CHECK(vidpn_try_source(h, &mode) == STATUS_GRAPHICS_INVALID_PIXELFORMAT);
    mode.Format.Graphics.PixelFormat = D3DDDIFMT_P8;
    CHECK(vidpn_try_source(h, &mode) == STATUS_GRAPHICS_INVALID_PIXELVALUEACCESSMODE);
    mode.Format.Graphics.PixelValueAccessMode = (D3DKMDT_PIXEL_VALUE_ACCESS_MODE)4;
    CHECK(vidpn_try_source(h, &mode) == STATUS_GRAPHICS_INVALID_PIXELVALUEACCESSMODE);
    mode.Format.Graphics.PixelValueAccessMode = D3DKMDT_PVAM_SETTABLEPALETTE;
    CHECK(vidpn_try_source(h, &mode) == STATUS_SUCCESS);
    (void)rig;
}
