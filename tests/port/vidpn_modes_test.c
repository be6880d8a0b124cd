/* SPDX-License-Identifier: MIT */
/* Modes of the mode sets of a VidPN: made, added, walked, released; their ids. */
#include "port/support/vidpn.h"

#include <string.h>

#define OK(call) CHECK((call) == STATUS_SUCCESS)

#define BAD_SOURCE STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE_MODE
#define BAD_TARGET STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET_MODE
#define HAS_IT     STATUS_GRAPHICS_MODE_ALREADY_IN_MODESET
#define CLASH      STATUS_GRAPHICS_MODE_ID_MUST_BE_UNIQUE
#define FOREIGN    STATUS_GRAPHICS_RESOURCES_NOT_RELATED
#define EMPTY      STATUS_GRAPHICS_DATASET_IS_EMPTY
#define AT_END     STATUS_GRAPHICS_NO_MORE_ELEMENTS_IN_DATASET

typedef D3DKMDT_VIDPN_SOURCE_MODE source_mode;
typedef D3DKMDT_VIDPN_TARGET_MODE target_mode;

static SIZE_T sources_in(const struct hands *h, D3DKMDT_HVIDPNSOURCEMODESET set)
{
    SIZE_T n = 77;

    OK(h->s->pfnGetNumModes(set, &n));
    return n;
}

static SIZE_T targets_in(const struct hands *h, D3DKMDT_HVIDPNTARGETMODESET set)
{
    SIZE_T n = 77;

    OK(h->g->pfnGetNumModes(set, &n));
    return n;
}

static void nothing_left(struct probe *p)
{
    CHECK(probe_rule(p, "VIDPN-015") == 0);
}

/* ---- counts and walks ---- */

TEST_WITH(vidpn, source_modes_are_walked, .after = nothing_left)
{
    const D3DKMDT_HVIDPNSOURCEMODESET set = vidpn_new_source_set(h, 0);
    static const UINT widths[] = {800, 640, 1024};
    const source_mode *mode = (void *)(uintptr_t)0x1234, *next;
    unsigned walked = 0;

    CHECK_RULE("VIDPN-064", h->s->pfnAcquireFirstModeInfo(set, &mode) == EMPTY && mode == NULL);
    for (unsigned i = 0; i < 3; i++) {
        CHECK_RULE("VIDPN-062", sources_in(h, set) == i);
        CHECK_RULE("VIDPN-071", h->s->pfnAddMode(set, vidpn_source_mode(h, set, widths[i], 480)) ==
                                        STATUS_SUCCESS &&
                                    sources_in(h, set) == i + 1);
    }
    OK(h->s->pfnAcquireFirstModeInfo(set, &mode));
    for (; mode; mode = next) {
        CHECK_RULE("VIDPN-064", mode->Format.Graphics.PrimSurfSize.cx == widths[walked]);
        next = (void *)(uintptr_t)0x1234;
        CHECK_RULE("VIDPN-064", h->s->pfnAcquireNextModeInfo(set, mode, &next) ==
                                        (++walked == 3 ? AT_END : STATUS_SUCCESS) &&
                                    (next == NULL) == (walked == 3));
        OK(h->s->pfnReleaseModeInfo(set, mode));
        if (next) {
            const source_mode *none;

            CHECK_RULE("VIDPN-064",
                       h->s->pfnAcquireNextModeInfo(set, mode, &none) == BAD_SOURCE && !none);
        }
    }
    CHECK_RULE("VIDPN-063", walked == 3);
    OK(h->v->pfnReleaseSourceModeSet(h->vidpn, set));
    (void)p;
}

TEST_WITH(vidpn, target_modes_are_walked, .after = nothing_left)
{
    const D3DKMDT_HVIDPNTARGETMODESET set = vidpn_new_target_set(h, DISPLAY_CHILD);
    static const UINT widths[] = {800, 640};
    const target_mode *first = (void *)(uintptr_t)0x1234, *second, *end = first;

    CHECK_RULE("VIDPN-088", h->g->pfnAcquireFirstModeInfo(set, &first) == EMPTY && first == NULL);
    for (unsigned i = 0; i < 2; i++) {
        CHECK_RULE("VIDPN-087", targets_in(h, set) == i);
        CHECK_RULE("VIDPN-091", h->g->pfnAddMode(set, vidpn_target_mode(h, set, widths[i], 480)) ==
                                        STATUS_SUCCESS &&
                                    targets_in(h, set) == i + 1);
    }
    CHECK_RULE("VIDPN-087", targets_in(h, set) == 2);
    CHECK_RULE("VIDPN-088",
               h->g->pfnAcquireFirstModeInfo(set, &first) == STATUS_SUCCESS &&
                   h->g->pfnAcquireNextModeInfo(set, first, &second) == STATUS_SUCCESS &&
                   first->VideoSignalInfo.TotalSize.cx == 800 &&
                   second->VideoSignalInfo.TotalSize.cx == 640 &&
                   h->g->pfnAcquireNextModeInfo(set, second, &end) == AT_END && end == NULL);
    CHECK_RULE("VIDPN-093", h->g->pfnReleaseModeInfo(set, first) == STATUS_SUCCESS &&
                                h->g->pfnReleaseModeInfo(set, first) == BAD_TARGET);
    CHECK_RULE("VIDPN-064", h->g->pfnAcquireNextModeInfo(set, first, &end) == BAD_TARGET && !end);
    OK(h->g->pfnReleaseModeInfo(set, second));
    OK(h->v->pfnReleaseTargetModeSet(h->vidpn, set));
    (void)p;
}

/* Of a set to which nothing was added, and of a structure of another set. */
TEST_WITH(vidpn, walks_need_a_mode_of_the_set, .after = nothing_left)
{
    const D3DKMDT_HVIDPNSOURCEMODESET set = vidpn_filled_source_set(h, 0, 800, 600),
                                      other = vidpn_filled_source_set(h, 0, 800, 600);
    const source_mode *mode, *next = (void *)(uintptr_t)0x1234;
    source_mode *fresh = vidpn_source_mode(h, other, 640, 480), local;

    OK(h->s->pfnAcquireFirstModeInfo(set, &mode));
    local = *mode;
    CHECK_RULE("VIDPN-064", h->s->pfnAcquireNextModeInfo(other, mode, &next) == BAD_SOURCE &&
                                !next &&
                                h->s->pfnAcquireNextModeInfo(other, fresh, &next) == BAD_SOURCE &&
                                h->s->pfnAcquireNextModeInfo(set, &local, &next) == BAD_SOURCE &&
                                h->s->pfnAcquireNextModeInfo(set, NULL, &next) == BAD_SOURCE);
    CHECK_RULE("VIDPN-079", h->s->pfnReleaseModeInfo(other, mode) == BAD_SOURCE &&
                                h->s->pfnReleaseModeInfo(set, &local) == BAD_SOURCE &&
                                h->s->pfnReleaseModeInfo(set, NULL) == BAD_SOURCE);
    CHECK_RULE("VIDPN-079", h->s->pfnReleaseModeInfo(set, mode) == STATUS_SUCCESS &&
                                h->s->pfnReleaseModeInfo(set, mode) == BAD_SOURCE);
    OK(h->s->pfnReleaseModeInfo(other, fresh));
    OK(h->v->pfnReleaseSourceModeSet(h->vidpn, set));
    OK(h->v->pfnReleaseSourceModeSet(h->vidpn, other));
    (void)p;
}

/* A new mode is none to go on from, even where its generated Id is that of a mode of the set. */
TEST_WITH(vidpn, walks_need_an_acquired_mode, .after = nothing_left)
{
    const D3DKMDT_HVIDPNSOURCEMODESET set = vidpn_new_source_set(h, 0);
    source_mode *fresh = vidpn_source_mode(h, set, 640, 480),
                *added = vidpn_source_mode(h, set, 800, 600);
    const source_mode *next;

    added->Id = fresh->Id;
    OK(h->s->pfnAddMode(set, added));
    CHECK_RULE("VIDPN-064", h->s->pfnAcquireNextModeInfo(set, fresh, &next) == BAD_SOURCE && !next);
    OK(h->s->pfnReleaseModeInfo(set, fresh));
    OK(h->v->pfnReleaseSourceModeSet(h->vidpn, set));
    (void)p;
}

TEST_WITH(vidpn, target_structures_are_of_their_set, .after = nothing_left)
{
    const D3DKMDT_HVIDPNTARGETMODESET set = vidpn_new_target_set(h, DISPLAY_CHILD),
                                      other = vidpn_new_target_set(h, DISPLAY_CHILD);
    target_mode *mode = vidpn_target_mode(h, set, 800, 600), local = *mode;

    CHECK_RULE("VIDPN-093", h->g->pfnReleaseModeInfo(other, mode) == BAD_TARGET &&
                                h->g->pfnReleaseModeInfo(set, &local) == BAD_TARGET);
    CHECK_RULE("VIDPN-074", h->g->pfnAddMode(other, mode) == FOREIGN &&
                                h->g->pfnAddMode(set, &local) == BAD_TARGET);
    CHECK_RULE("VIDPN-091", h->g->pfnAddMode(set, mode) == STATUS_SUCCESS &&
                                h->g->pfnReleaseModeInfo(set, mode) == BAD_TARGET);
    OK(h->v->pfnReleaseTargetModeSet(h->vidpn, set));
    OK(h->v->pfnReleaseTargetModeSet(h->vidpn, other));
    (void)p;
}

/* ---- the pinned mode ---- */

static void is_pinned(struct probe *p, struct hands *h)
{
    const source_mode *mode = NULL;
    const target_mode *other = NULL;

    CHECK_RULE("VIDPN-065", h->s->pfnAcquirePinnedModeInfo(h->source, &mode) == STATUS_SUCCESS &&
                                mode && mode->Format.Graphics.PrimSurfSize.cx == 1024);
    CHECK_RULE("VIDPN-089", h->g->pfnAcquirePinnedModeInfo(h->target, &other) == STATUS_SUCCESS &&
                                other && other->VideoSignalInfo.TotalSize.cx == 1024);
    CHECK_RULE("VIDPN-065", h->s->pfnReleaseModeInfo(h->source, mode) == STATUS_SUCCESS);
    CHECK_RULE("VIDPN-089", h->g->pfnReleaseModeInfo(h->target, other) == STATUS_SUCCESS);
    (void)p;
}

TEST_WITH(vidpn, no_pinned_mode, .in_commit = is_pinned, .after = nothing_left)
{
    const source_mode *mode = (void *)(uintptr_t)0x1234;
    const target_mode *other = (void *)(uintptr_t)0x1234;
    NTSTATUS status = h->s->pfnAcquirePinnedModeInfo(h->source, &mode);

    CHECK_RULE("VIDPN-065", status == STATUS_SUCCESS && mode == NULL);
    CHECK_RULE("VIDPN-066/a", status == 0 && mode == NULL);
    status = h->g->pfnAcquirePinnedModeInfo(h->target, &other);
    CHECK_RULE("VIDPN-089", status == STATUS_SUCCESS && other == NULL);
    CHECK_RULE("VIDPN-066/a", status == 0 && other == NULL);
    (void)p;
}

TEST_WITH(vidpn, no_pinned_mode_is_told, .in_commit = is_pinned, .after = nothing_left,
          .tell_unpinned = true)
{
    const source_mode *mode = (void *)(uintptr_t)0x1234;
    const target_mode *other = (void *)(uintptr_t)0x1234;

    CHECK_RULE("VIDPN-066/b",
               h->s->pfnAcquirePinnedModeInfo(h->source, &mode) == 0x401E0307 && mode == NULL);
    CHECK_RULE("VIDPN-066/b",
               h->g->pfnAcquirePinnedModeInfo(h->target, &other) == 0x401E0307 && other == NULL);
    (void)p;
}

/* ---- new modes ---- */

static bool is_new_source(const source_mode *mode, UINT id)
{
    source_mode want;

    memset(&want, 0, sizeof(want));
    want.Id = id;
    return memcmp(mode, &want, sizeof(want)) == 0;
}

static bool is_new_target(const target_mode *mode, UINT id)
{
    target_mode want;

    memset(&want, 0, sizeof(want));
    want.Id = id;
    return memcmp(mode, &want, sizeof(want)) == 0;
}

TEST_WITH(vidpn, new_modes_are_bare, .after = nothing_left)
{
    const D3DKMDT_HVIDPNSOURCEMODESET set = vidpn_new_source_set(h, 0);
    const D3DKMDT_HVIDPNTARGETMODESET other = vidpn_new_target_set(h, DISPLAY_CHILD);
    source_mode *mode[2];
    target_mode *targets[2];

    CHECK_RULE("VIDPN-067", h->s->pfnCreateNewModeInfo(set, &mode[0]) == STATUS_SUCCESS &&
                                h->s->pfnCreateNewModeInfo(set, &mode[1]) == STATUS_SUCCESS &&
                                mode[0]->Id != mode[1]->Id &&
                                mode[0]->Type == D3DKMDT_RMT_UNINITIALIZED);
    CHECK_RULE("VIDPN-068", is_new_source(mode[0], 1) && is_new_source(mode[1], 2));
    CHECK_RULE("VIDPN-090", h->g->pfnCreateNewModeInfo(other, &targets[0]) == STATUS_SUCCESS &&
                                targets[0]->Id != 0);
    CHECK_RULE("VIDPN-068", is_new_target(targets[0], 1));
    OK(h->s->pfnReleaseModeInfo(set, mode[1]));
    OK(h->s->pfnReleaseModeInfo(set, mode[0]));
    OK(h->g->pfnReleaseModeInfo(other, targets[0]));
    /* ids do not come again */
    OK(h->s->pfnCreateNewModeInfo(set, &mode[0]));
    OK(h->g->pfnCreateNewModeInfo(other, &targets[0]));
    CHECK_RULE("VIDPN-068", is_new_source(mode[0], 3) && is_new_target(targets[0], 2));
    OK(h->s->pfnReleaseModeInfo(set, mode[0]));
    OK(h->g->pfnReleaseModeInfo(other, targets[0]));
    OK(h->v->pfnReleaseSourceModeSet(h->vidpn, set));
    OK(h->v->pfnReleaseTargetModeSet(h->vidpn, other));
    (void)p;
}

static void leak_is_told(struct probe *p)
{
    CHECK_RULE("VIDPN-090", probe_said(p, "VIDPN-015", "pfnCreateNewModeInfo"));
}

TEST_WITH(vidpn, forgotten_mode, .after = leak_is_told)
{
    target_mode *mode;

    OK(h->g->pfnCreateNewModeInfo(h->target, &mode));
    h->target = NULL;
    (void)p;
}

/* ---- ids ---- */

static D3DKMDT_HVIDPNSOURCEMODESET owned_ids(const struct hands *h)
{
    const D3DKMDT_HVIDPNSOURCEMODESET set = vidpn_new_source_set(h, 0);
    source_mode *mode;

    for (UINT i = 0; i < 2; i++) {
        mode = vidpn_source_mode(h, set, i ? 1024 : 800, i ? 768 : 600);
        mode->Id = 100 + i;
        CHECK_RULE("VIDPN-069", h->s->pfnAddMode(set, mode) == STATUS_SUCCESS);
    }
    return set;
}

static unsigned rounds;

/* The driver's own modes, in place of the default's. */
static void give_owned(struct probe *p, const DXGKARG_ENUMVIDPNCOFUNCMODALITY *args,
                       const DXGK_VIDPN_INTERFACE *v)
{
    const source_mode *mode;
    struct hands hands, *h = &hands;

    hands_take(h, args->hConstrainingVidPn, v);
    OK(h->s->pfnAcquirePinnedModeInfo(h->source, &mode));
    if (mode)
        OK(h->s->pfnReleaseModeInfo(h->source, mode));
    else
        OK(v->pfnAssignSourceModeSet(h->vidpn, 0, owned_ids(h)));
    hands_give_back(h);
    rounds++;
    (void)p;
}

static void owned_is_pinned(struct probe *p, const DXGKARG_COMMITVIDPN *args,
                            const DXGK_VIDPN_INTERFACE *v)
{
    const source_mode *mode;
    struct hands h;

    if (display_seen.commits > 1)
        return;
    hands_take(&h, args->hFunctionalVidPn, v);
    OK(h.s->pfnAcquirePinnedModeInfo(h.source, &mode));
    CHECK_RULE("VIDPN-069",
               mode && mode->Id == 101 && mode->Format.Graphics.PrimSurfSize.cx == 1024);
    OK(h.s->pfnReleaseModeInfo(h.source, mode));
    hands_give_back(&h);
    (void)p;
}

TEST(own_ids_are_kept)
{
    struct probe *p = display_create(NULL);

    rounds = 0;
    display.after_enum = give_owned;
    display.in_commit = owned_is_pinned;
    OK(probe_start(p));
    CHECK(rounds == 3 && display_seen.commits == 1);
    CHECK_RULE("VIDPN-070", probe_rule(p, "VIDPN-070") == 0);
    display_end(p);
}

TEST_WITH(vidpn, ids_are_unique, .after = nothing_left)
{
    const D3DKMDT_HVIDPNSOURCEMODESET set = owned_ids(h), mixed = vidpn_new_source_set(h, 0);
    source_mode *mode = vidpn_source_mode(h, set, 640, 480);

    mode->Id = 101;
    CHECK_RULE("VIDPN-070", h->s->pfnAddMode(set, mode) == CLASH && sources_in(h, set) == 2);
    CHECK_RULE("VIDPN-069", mode->Id == 101);
    mode->Id = 102;
    CHECK_RULE("VIDPN-070",
               h->s->pfnAddMode(set, mode) == STATUS_SUCCESS && probe_rule(p, "VIDPN-070") == 0);
    /* a generated one among them is a warning, the first time */
    OK(h->s->pfnAddMode(set, vidpn_source_mode(h, set, 320, 200)));
    CHECK_RULE("VIDPN-070", probe_rule(p, "VIDPN-070") == 1 &&
                                probe_record(p, "VIDPN-070")->severity == VERIFY_WARNING);
    OK(h->s->pfnAddMode(set, vidpn_source_mode(h, set, 320, 240)));
    CHECK_RULE("VIDPN-070", probe_rule(p, "VIDPN-070") == 1);
    /* the other way round */
    OK(h->s->pfnAddMode(mixed, vidpn_source_mode(h, mixed, 320, 200)));
    mode = vidpn_source_mode(h, mixed, 640, 480);
    mode->Id = 1;
    CHECK_RULE("VIDPN-070", h->s->pfnAddMode(mixed, mode) == CLASH);
    mode->Id = 50;
    OK(h->s->pfnAddMode(mixed, mode));
    CHECK_RULE("VIDPN-070", probe_rule(p, "VIDPN-070") == 2);
    OK(h->v->pfnReleaseSourceModeSet(h->vidpn, set));
    OK(h->v->pfnReleaseSourceModeSet(h->vidpn, mixed));
}

TEST_WITH(vidpn, target_ids_are_unique, .after = nothing_left)
{
    const D3DKMDT_HVIDPNTARGETMODESET set = vidpn_new_target_set(h, DISPLAY_CHILD);
    target_mode *mode;

    OK(h->g->pfnAddMode(set, vidpn_target_mode(h, set, 640, 480)));
    mode = vidpn_target_mode(h, set, 800, 600);
    mode->Id = 1;
    CHECK_RULE("VIDPN-070", h->g->pfnAddMode(set, mode) == CLASH && targets_in(h, set) == 1);
    OK(h->g->pfnReleaseModeInfo(set, mode));
    OK(h->v->pfnReleaseTargetModeSet(h->vidpn, set));
    (void)p;
}

/* ---- refusals ---- */

TEST_WITH(vidpn, duplicates_are_refused, .after = nothing_left)
{
    const D3DKMDT_HVIDPNTARGETMODESET set = vidpn_new_target_set(h, DISPLAY_CHILD);
    unsigned added = 0, refused = 0;
    target_mode *mode;

    for (unsigned i = 0; i < 8; i++) {
        mode = vidpn_target_mode(h, set, 640, 480);
        mode->Preference = i % 2 ? D3DKMDT_MP_PREFERRED : D3DKMDT_MP_NOTPREFERRED;
        if (h->g->pfnAddMode(set, mode) == STATUS_SUCCESS) {
            added++;
            continue;
        }
        refused++;
        CHECK_RULE("VIDPN-072",
                   h->g->pfnAddMode(set, mode) == HAS_IT && HAS_IT == (NTSTATUS)0xC01E0314);
        CHECK_RULE("VIDPN-073/a", h->g->pfnReleaseModeInfo(set, mode) == STATUS_SUCCESS);
    }
    CHECK_RULE("VIDPN-072", added == 1 && refused == 7 && targets_in(h, set) == 1);
    OK(h->v->pfnReleaseTargetModeSet(h->vidpn, set));
    (void)p;
}

#define DIFFERS(change)                                                      \
    do {                                                                     \
        target_mode *m = vidpn_target_mode(h, set, 640, 480);                \
                                                                             \
        change;                                                              \
        CHECK_RULE("VIDPN-072", h->g->pfnAddMode(set, m) == STATUS_SUCCESS); \
        m = vidpn_target_mode(h, set, 640, 480);                             \
        change;                                                              \
        CHECK_RULE("VIDPN-072", h->g->pfnAddMode(set, m) == HAS_IT);         \
        OK(h->g->pfnReleaseModeInfo(set, m));                                \
    } while (0)

/* One other member is another mode. */
TEST_WITH(vidpn, every_member_of_a_target_mode_counts, .after = nothing_left)
{
    const D3DKMDT_HVIDPNTARGETMODESET set = vidpn_new_target_set(h, DISPLAY_CHILD);

    DIFFERS((void)m);
    DIFFERS(m->VideoSignalInfo.VideoStandard = D3DKMDT_VSS_VESA_DMT);
    DIFFERS(m->VideoSignalInfo.TotalSize.cx = 700);
    DIFFERS(m->VideoSignalInfo.TotalSize.cy = 500);
    DIFFERS(m->VideoSignalInfo.ActiveSize.cx = 600);
    DIFFERS(m->VideoSignalInfo.ActiveSize.cy = 400);
    DIFFERS(m->VideoSignalInfo.VSyncFreq = ((D3DDDI_RATIONAL){60, 1}));
    DIFFERS(m->VideoSignalInfo.VSyncFreq = ((D3DDDI_RATIONAL){120, 1}));
    DIFFERS(m->VideoSignalInfo.HSyncFreq = ((D3DDDI_RATIONAL){60000, 1}));
    DIFFERS(m->VideoSignalInfo.PixelRate = 100000);
    DIFFERS(m->VideoSignalInfo.AdditionalSignalInfo.ScanLineOrdering =
                D3DDDI_VSSLO_INTERLACED_UPPERFIELDFIRST);
    DIFFERS(m->WireFormatAndPreference.Rgb = 1);
    DIFFERS(m->WireFormatAndPreference.YCbCr420 = 2);
    CHECK_RULE("VIDPN-072", targets_in(h, set) == 13);
    OK(h->v->pfnReleaseTargetModeSet(h->vidpn, set));
    (void)p;
}

#undef DIFFERS
#define DIFFERS(change)                                                      \
    do {                                                                     \
        source_mode *m = vidpn_source_mode(h, set, 640, 480);                \
                                                                             \
        change;                                                              \
        CHECK_RULE("VIDPN-072", h->s->pfnAddMode(set, m) == STATUS_SUCCESS); \
        m = vidpn_source_mode(h, set, 640, 480);                             \
        change;                                                              \
        CHECK_RULE("VIDPN-072", h->s->pfnAddMode(set, m) == HAS_IT);         \
        OK(h->s->pfnReleaseModeInfo(set, m));                                \
    } while (0)

TEST_WITH(vidpn, every_member_of_a_source_mode_counts, .after = nothing_left)
{
    const D3DKMDT_HVIDPNSOURCEMODESET set = vidpn_new_source_set(h, 0);

    DIFFERS((void)m);
    DIFFERS(m->Type = D3DKMDT_RMT_GRAPHICS_STEREO);
    DIFFERS(m->Format.Graphics.PrimSurfSize.cx = 641);
    DIFFERS(m->Format.Graphics.PrimSurfSize.cy = 481);
    DIFFERS(m->Format.Graphics.VisibleRegionSize.cx = 600);
    DIFFERS(m->Format.Graphics.VisibleRegionSize.cy = 400);
    DIFFERS(m->Format.Graphics.Stride = 4096);
    DIFFERS(m->Format.Graphics.PixelFormat = D3DDDIFMT_X8R8G8B8);
    DIFFERS(m->Format.Graphics.ColorBasis = D3DKMDT_CB_SRGB);
    CHECK_RULE("VIDPN-072", sources_in(h, set) == 9);
    OK(h->v->pfnReleaseSourceModeSet(h->vidpn, set));
    (void)p;
}

/* After any refusal the structure can be mended, and added. */
TEST_WITH(vidpn, refused_modes_can_be_mended, .after = nothing_left)
{
    const D3DKMDT_HVIDPNSOURCEMODESET set = vidpn_new_source_set(h, 0);
    source_mode *mode = vidpn_source_mode(h, set, 640, 480);

    mode->Format.Graphics.Stride = 0;
    CHECK_RULE("VIDPN-073/a", h->s->pfnAddMode(set, mode) == STATUS_GRAPHICS_INVALID_STRIDE &&
                                  mode->Format.Graphics.PrimSurfSize.cx == 640);
    mode->Format.Graphics.Stride = 2560;
    CHECK_RULE("VIDPN-073/a", h->s->pfnAddMode(set, mode) == STATUS_SUCCESS);
    OK(h->v->pfnReleaseSourceModeSet(h->vidpn, set));
    (void)p;
}

TEST_WITH(vidpn, foreign_modes_are_refused, .after = nothing_left)
{
    const D3DKMDT_HVIDPNSOURCEMODESET set = vidpn_filled_source_set(h, 0, 800, 600),
                                      other = vidpn_new_source_set(h, 0);
    const D3DKMDT_HVIDPNTARGETMODESET targets = vidpn_new_target_set(h, DISPLAY_CHILD);
    source_mode *fresh = vidpn_source_mode(h, other, 640, 480), local = *fresh;
    target_mode *of_targets = vidpn_target_mode(h, targets, 640, 480);
    const source_mode *acquired;

    OK(h->s->pfnAcquireFirstModeInfo(set, &acquired));
    CHECK_RULE("VIDPN-074", h->s->pfnAddMode(set, fresh) == FOREIGN &&
                                h->s->pfnAddMode(set, (source_mode *)of_targets) == FOREIGN);
    CHECK_RULE("VIDPN-074", h->s->pfnAddMode(set, &local) == BAD_SOURCE &&
                                h->s->pfnAddMode(set, NULL) == BAD_SOURCE &&
                                h->s->pfnAddMode(set, (source_mode *)acquired) == BAD_SOURCE &&
                                h->s->pfnAddMode(other, (source_mode *)acquired) == BAD_SOURCE &&
                                sources_in(h, set) == 1);
    OK(h->s->pfnReleaseModeInfo(set, acquired));
    OK(h->s->pfnReleaseModeInfo(other, fresh));
    CHECK_RULE("VIDPN-074", h->s->pfnAddMode(other, fresh) == BAD_SOURCE);
    OK(h->g->pfnReleaseModeInfo(targets, of_targets));
    OK(h->v->pfnReleaseSourceModeSet(h->vidpn, set));
    OK(h->v->pfnReleaseSourceModeSet(h->vidpn, other));
    OK(h->v->pfnReleaseTargetModeSet(h->vidpn, targets));
    (void)p;
}

/* ---- acquired sets ---- */

TEST_WITH(vidpn, acquired_sets_can_be_added_to, .after = nothing_left)
{
    CHECK_RULE("VIDPN-075", h->s->pfnAddMode(h->source, vidpn_source_mode(h, h->source, 640, 480)) ==
                                    STATUS_SUCCESS &&
                                sources_in(h, h->source) == 1);
    CHECK_RULE("VIDPN-075", h->g->pfnAddMode(h->target, vidpn_target_mode(h, h->target, 640, 480)) ==
                                    STATUS_SUCCESS &&
                                targets_in(h, h->target) == 1);
    CHECK_RULE("VIDPN-076", probe_rule(p, "VIDPN-076") == 2 &&
                                probe_record(p, "VIDPN-076")->severity == VERIFY_NOTE);
}

/* Where a mode is pinned, the set stays. */
static void add_to_pinned(struct probe *p, const DXGKARG_ENUMVIDPNCOFUNCMODALITY *args,
                          const DXGK_VIDPN_INTERFACE *v)
{
    const source_mode *pinned;
    source_mode *mode;
    struct hands hands, *h = &hands;

    hands_take(h, args->hConstrainingVidPn, v);
    OK(h->s->pfnAcquirePinnedModeInfo(h->source, &pinned));
    if (pinned) {
        rounds++;
        mode = vidpn_source_mode(h, h->source, 320, 200);
        CHECK_RULE("VIDPN-076", h->s->pfnAddMode(h->source, mode) == STATUS_ACCESS_DENIED &&
                                    probe_rule(p, "VIDPN-076") == rounds &&
                                    probe_record(p, "VIDPN-076")->severity == VERIFY_ERROR);
        OK(h->s->pfnReleaseModeInfo(h->source, mode));
        OK(h->s->pfnReleaseModeInfo(h->source, pinned));
    }
    hands_give_back(h);
}

TEST(pinned_sets_are_not_added_to)
{
    struct probe *p = display_create(NULL);

    rounds = 0;
    display.before_enum = add_to_pinned;
    OK(probe_start(p));
    CHECK(rounds == 2 && probe_rule(p, "VIDPN-015") == 0);
    display_end(p);
}

/* ---- what is kept ---- */

TEST_WITH(vidpn, source_modes_are_kept_as_added, .after = nothing_left)
{
    const D3DKMDT_HVIDPNSOURCEMODESET set = vidpn_new_source_set(h, 0);
    source_mode *mode = vidpn_source_mode(h, set, 640, 480), before;
    const source_mode *kept;

    mode->Format.Graphics.VisibleRegionSize.cx = 639;
    mode->Format.Graphics.Stride = 12345;
    mode->Format.Graphics.ColorBasis = D3DKMDT_CB_UNINITIALIZED;
    before = *mode;
    OK(h->s->pfnAddMode(set, mode));
    OK(h->s->pfnAcquireFirstModeInfo(set, &kept));
    CHECK_RULE("VIDPN-086", memcmp(kept, &before, sizeof(before)) == 0);
    OK(h->s->pfnReleaseModeInfo(set, kept));
    OK(h->v->pfnReleaseSourceModeSet(h->vidpn, set));
    (void)p;
}
