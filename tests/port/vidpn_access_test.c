/* SPDX-License-Identifier: MIT */
/* What a DDI may do with its VidPN, and what it may not leave behind. */
#include "port/support/vidpn.h"

#include <string.h>

#define OK(call) CHECK((call) == STATUS_SUCCESS)

/* ---- changes ---- */

static void told(struct probe *p, const char *rule, uint64_t count)
{
    CHECK(probe_rule(p, rule) == count);
    CHECK(!count || probe_record(p, rule)->severity == VERIFY_ERROR);
}

/* Of a DDI that reads, each change is refused; a set that was made for nothing is no change. */
static void only_reads(struct probe *p, struct hands *h)
{
    const uint64_t before = probe_rule(p, "VIDPN-014"), pins = probe_rule(p, "VIDPN-078");
    D3DKMDT_HVIDPNSOURCEMODESET source = vidpn_filled_source_set(h, 0, 1024, 768);
    D3DKMDT_HVIDPNTARGETMODESET target = vidpn_new_target_set(h, DISPLAY_CHILD);
    const D3DKMDT_VIDPN_PRESENT_PATH *first;
    D3DKMDT_VIDPN_PRESENT_PATH *path, copy;

    CHECK_RULE("VIDPN-014", probe_rule(p, "VIDPN-014") == before);
    OK(h->g->pfnAddMode(target, vidpn_target_mode(h, target, 1024, 768)));
    CHECK_RULE(
        "VIDPN-014",
        h->v->pfnAssignSourceModeSet(h->vidpn, 0, source) == STATUS_ACCESS_DENIED &&
            h->v->pfnAssignTargetModeSet(h->vidpn, DISPLAY_CHILD, target) == STATUS_ACCESS_DENIED &&
            h->v->pfnAssignMultisamplingMethodSet(h->vidpn, 0, 0, NULL) == STATUS_ACCESS_DENIED);
    /* they are the driver's still */
    OK(h->v->pfnReleaseSourceModeSet(h->vidpn, source));
    OK(h->v->pfnReleaseTargetModeSet(h->vidpn, target));
    OK(h->t->pfnCreateNewPathInfo(h->topology, &path));
    CHECK_RULE("VIDPN-013", h->t->pfnAddPath(h->topology, path) == STATUS_ACCESS_DENIED);
    OK(h->t->pfnReleasePathInfo(h->topology, path));
    CHECK_RULE("VIDPN-013",
               h->t->pfnRemovePath(h->topology, 0, DISPLAY_CHILD) == STATUS_ACCESS_DENIED);
    OK(h->t->pfnAcquireFirstPathInfo(h->topology, &first));
    copy = *first;
    CHECK_RULE("VIDPN-013",
               h->t->pfnUpdatePathSupportInfo(h->topology, &copy) == STATUS_ACCESS_DENIED);
    OK(h->t->pfnReleasePathInfo(h->topology, first));
    CHECK_RULE("VIDPN-014", probe_rule(p, "VIDPN-014") == before + 6);
    CHECK_RULE("VIDPN-078/a", h->s->pfnPinMode(h->source, 1) == STATUS_ACCESS_DENIED &&
                                  h->g->pfnPinMode(h->target, 1) == STATUS_ACCESS_DENIED &&
                                  probe_rule(p, "VIDPN-078") == pins + 2);
}

/* Nor can an acquired set be added to, pinned or not. */
static void cannot_add(struct probe *p, struct hands *h, bool pinned)
{
    const uint64_t told_before = probe_rule(p, "VIDPN-076");
    D3DKMDT_VIDPN_SOURCE_MODE *mode = vidpn_source_mode(h, h->source, 320, 200);
    SIZE_T before, after;

    OK(h->s->pfnGetNumModes(h->source, &before));
    CHECK_RULE("VIDPN-076", h->s->pfnAddMode(h->source, mode) == STATUS_ACCESS_DENIED &&
                                probe_rule(p, "VIDPN-076") == told_before + 1);
    OK(h->s->pfnReleaseModeInfo(h->source, mode));
    OK(h->s->pfnGetNumModes(h->source, &after));
    CHECK_RULE("VIDPN-076", before == after && (before > 0) == pinned);
}

static unsigned asked;

static void supported(struct probe *p, struct probe_call *call)
{
    const D3DKMDT_HVIDPN vidpn =
        ((const DXGKARG_ISSUPPORTEDVIDPN *)(uintptr_t)call->arg[1])->hDesiredVidPn;
    struct hands h;

    if (asked++)
        return;
    hands_take(&h, vidpn, display_interface(p, vidpn));
    only_reads(p, &h);
    cannot_add(p, &h, false);
    hands_give_back(&h);
}

static void capability(struct probe *p, struct probe_call *call)
{
    const D3DKMDT_HVIDPN vidpn =
        ((const DXGKARG_QUERYVIDPNHWCAPABILITY *)(uintptr_t)call->arg[1])->hFunctionalVidPn;
    struct hands h;

    hands_take(&h, vidpn, display_interface(p, vidpn));
    only_reads(p, &h);
    hands_give_back(&h);
}

static void read_in_all(struct probe *p)
{
    asked = 0;
    p->before[PROBE_IsSupportedVidPn] = supported;
    p->before[PROBE_QueryVidPnHWCapability] = capability;
}

static void commit_reads(struct probe *p, struct hands *h)
{
    only_reads(p, h);
    cannot_add(p, h, true);
}

static void all_read(struct probe *p)
{
    CHECK(asked > 0 && probe_count(p, PROBE_QueryVidPnHWCapability) == 1);
    told(p, "VIDPN-014", 18);
    told(p, "VIDPN-078", 7); /* with the enumeration's */
    told(p, "VIDPN-015", 0);
}

TEST_WITH(vidpn, what_reads_cannot_change, .prepare = read_in_all, .in_commit = commit_reads,
          .after = all_read)
{
    CHECK_RULE("VIDPN-078/a", h->s->pfnPinMode(h->source, 1) == STATUS_ACCESS_DENIED);
    (void)p;
}

/* An enumeration changes sets and what paths support, and no path. */
TEST_WITH(vidpn, enumeration_changes_sets)
{
    D3DKMDT_HVIDPNTARGETMODESET target = vidpn_new_target_set(h, DISPLAY_CHILD);
    const D3DKMDT_VIDPN_PRESENT_PATH *first;
    D3DKMDT_VIDPN_PRESENT_PATH *path;

    OK(h->g->pfnAddMode(target, vidpn_target_mode(h, target, 1024, 768)));
    OK(h->t->pfnAcquireFirstPathInfo(h->topology, &first));
    CHECK_RULE("VIDPN-014",
               h->v->pfnAssignSourceModeSet(h->vidpn, 0, vidpn_filled_source_set(h, 0, 1024, 768)) ==
                       STATUS_SUCCESS &&
                   h->v->pfnAssignTargetModeSet(h->vidpn, DISPLAY_CHILD, target) == STATUS_SUCCESS &&
                   h->v->pfnAssignMultisamplingMethodSet(h->vidpn, 0, 0, NULL) == STATUS_SUCCESS &&
                   h->t->pfnUpdatePathSupportInfo(h->topology, first) == STATUS_SUCCESS &&
                   probe_rule(p, "VIDPN-014") == 0);
    OK(h->t->pfnReleasePathInfo(h->topology, first));
    OK(h->t->pfnCreateNewPathInfo(h->topology, &path));
    CHECK_RULE("VIDPN-014",
               h->t->pfnAddPath(h->topology, path) == STATUS_ACCESS_DENIED &&
                   h->t->pfnRemovePath(h->topology, 0, DISPLAY_CHILD) == STATUS_ACCESS_DENIED &&
                   probe_rule(p, "VIDPN-014") == 2);
    OK(h->t->pfnReleasePathInfo(h->topology, path));
}

/* ---- what is left ---- */

#define LEAVES(name, times, text)                                                               \
    static void name##_told(struct probe *p)                                                    \
    {                                                                                           \
        CHECK_RULE("VIDPN-015",                                                                 \
                   probe_rule(p, "VIDPN-015") == (times) &&                                     \
                       (!(times) || (probe_said(p, "VIDPN-015", text) &&                        \
                                     probe_record(p, "VIDPN-015")->severity == VERIFY_ERROR))); \
    }                                                                                           \
    TEST_WITH(vidpn, name, .after = name##_told)

LEAVES(nothing_is_left, 0, "")
{
    (void)p;
    (void)h;
}

LEAVES(path_is_left, 1,
       "has left 1 path structure of DXGK_VIDPNTOPOLOGY_INTERFACE.pfnAcquireFirstPathInfo")
{
    const D3DKMDT_VIDPN_PRESENT_PATH *path;

    OK(h->t->pfnAcquireFirstPathInfo(h->topology, &path));
    (void)p;
}

LEAVES(paths_are_left, 1,
       "has left 2 path structures of DXGK_VIDPNTOPOLOGY_INTERFACE.pfnAcquirePathInfo")
{
    const D3DKMDT_VIDPN_PRESENT_PATH *path;

    OK(h->t->pfnAcquirePathInfo(h->topology, 0, DISPLAY_CHILD, &path));
    OK(h->t->pfnAcquirePathInfo(h->topology, 0, DISPLAY_CHILD, &path));
    (void)p;
}

LEAVES(new_path_is_left, 1,
       "1 path structure of DXGK_VIDPNTOPOLOGY_INTERFACE.pfnCreateNewPathInfo, neither")
{
    D3DKMDT_VIDPN_PRESENT_PATH *path;

    OK(h->t->pfnCreateNewPathInfo(h->topology, &path));
    (void)p;
}

LEAVES(set_is_left, 1,
       "1 reference to a source mode set of DXGK_VIDPN_INTERFACE.pfnAcquireSourceModeSet")
{
    h->source = NULL;
    (void)p;
}

LEAVES(set_is_left_twice, 1,
       "2 references to a target mode set of DXGK_VIDPN_INTERFACE.pfnAcquireTargetModeSet")
{
    OK(h->v->pfnAcquireTargetModeSet(h->vidpn, DISPLAY_CHILD, &h->target, &h->g));
    h->target = NULL;
    (void)p;
}

LEAVES(new_set_is_left, 1,
       "a source mode set of DXGK_VIDPN_INTERFACE.pfnCreateNewSourceModeSet, neither")
{
    (void)vidpn_filled_source_set(h, 0, 1024, 768);
    (void)p;
}

LEAVES(new_mode_is_left, 1,
       "1 target mode structure of DXGK_VIDPNTARGETMODESET_INTERFACE.pfnCreateNewModeInfo")
{
    D3DKMDT_VIDPN_TARGET_MODE *mode;
    D3DKMDT_HVIDPNTARGETMODESET set = vidpn_new_target_set(h, DISPLAY_CHILD);

    OK(h->g->pfnAddMode(set, vidpn_target_mode(h, set, 1024, 768)));
    OK(h->g->pfnCreateNewModeInfo(set, &mode));
    OK(h->v->pfnAssignTargetModeSet(h->vidpn, DISPLAY_CHILD, set));
    (void)p;
}

LEAVES(two_kinds_are_left, 2, "1 path structure of")
{
    const D3DKMDT_VIDPN_PRESENT_PATH *path;

    h->source = NULL;
    OK(h->t->pfnAcquireFirstPathInfo(h->topology, &path));
    (void)p;
}

/* A refused structure is the driver's still. */
LEAVES(refused_mode_is_left, 1, "source mode structure of")
{
    D3DKMDT_HVIDPNSOURCEMODESET set = vidpn_filled_source_set(h, 0, 1024, 768);

    CHECK_RULE("VIDPN-073/b", h->s->pfnAddMode(set, vidpn_source_mode(h, set, 1024, 768)) ==
                                  STATUS_GRAPHICS_MODE_ALREADY_IN_MODESET);
    OK(h->v->pfnAssignSourceModeSet(h->vidpn, 0, set));
    (void)p;
}

static void refused_is_told(struct probe *p)
{
    CHECK_RULE("VIDPN-073/b", probe_rule(p, "VIDPN-015") == 1);
}

TEST_WITH(vidpn, refused_modes_must_be_released, .after = refused_is_told)
{
    D3DKMDT_HVIDPNSOURCEMODESET set = vidpn_filled_source_set(h, 0, 1024, 768);
    D3DKMDT_VIDPN_SOURCE_MODE *mode = vidpn_source_mode(h, set, 1024, 768);

    CHECK(h->s->pfnAddMode(set, mode) == STATUS_GRAPHICS_MODE_ALREADY_IN_MODESET);
    CHECK_RULE("VIDPN-073/a", h->s->pfnReleaseModeInfo(set, mode) == STATUS_SUCCESS);
    mode = vidpn_source_mode(h, set, 1024, 768);
    CHECK(h->s->pfnAddMode(set, mode) == STATUS_GRAPHICS_MODE_ALREADY_IN_MODESET);
    OK(h->v->pfnAssignSourceModeSet(h->vidpn, 0, set));
    (void)p;
}

/* ---- structures ---- */

/* An acquired structure is a copy: what is written into it is told, and changes nothing. */
TEST_WITH(vidpn, acquired_structures_are_copies)
{
    const D3DKMDT_VIDPN_PRESENT_PATH *path;

    OK(h->t->pfnAcquireFirstPathInfo(h->topology, &path));
    ((D3DKMDT_VIDPN_PRESENT_PATH *)path)->ContentTransformation.Scaling = D3DKMDT_VPPS_CENTERED;
    CHECK_RULE("VIDPN-016", probe_rule(p, "VIDPN-016") == 0);
    OK(h->t->pfnReleasePathInfo(h->topology, path));
    CHECK_RULE("VIDPN-016", probe_rule(p, "VIDPN-016") == 1 &&
                                probe_record(p, "VIDPN-016")->severity == VERIFY_WARNING &&
                                probe_said(p, "VIDPN-016",
                                           "DXGK_VIDPNTOPOLOGY_INTERFACE.pfnAcquireFirstPathInfo"));
    OK(h->t->pfnAcquireFirstPathInfo(h->topology, &path));
    CHECK_RULE("VIDPN-016", path->ContentTransformation.Scaling == D3DKMDT_VPPS_UNPINNED);
    OK(h->t->pfnReleasePathInfo(h->topology, path));
    CHECK_RULE("VIDPN-016", probe_rule(p, "VIDPN-016") == 1);
}

static void mode_is_a_copy(struct probe *p, struct hands *h)
{
    const D3DKMDT_VIDPN_SOURCE_MODE *mode;

    OK(h->s->pfnAcquirePinnedModeInfo(h->source, &mode));
    ((D3DKMDT_VIDPN_SOURCE_MODE *)mode)->Format.Graphics.Stride = 1;
    OK(h->s->pfnReleaseModeInfo(h->source, mode));
    OK(h->s->pfnAcquirePinnedModeInfo(h->source, &mode));
    CHECK_RULE("VIDPN-016", mode->Format.Graphics.Stride == 4096 && probe_rule(p, "VIDPN-016") == 1);
    OK(h->s->pfnReleaseModeInfo(h->source, mode));
}

TEST_WITH(vidpn, pinned_modes_are_copies, .in_commit = mode_is_a_copy)
{
    (void)p;
    (void)h;
}

/* A new one is the driver's to fill in. */
TEST_WITH(vidpn, new_structures_are_written)
{
    D3DKMDT_HVIDPNSOURCEMODESET set = vidpn_new_source_set(h, 0);

    OK(h->s->pfnReleaseModeInfo(set, vidpn_source_mode(h, set, 1, 1)));
    OK(h->v->pfnReleaseSourceModeSet(h->vidpn, set));
    CHECK_RULE("VIDPN-016", probe_rule(p, "VIDPN-016") == 0);
}

static bool poisoned(const void *data, size_t bytes)
{
    const unsigned char *byte = data;

    for (size_t i = 0; i < bytes; i++)
        if (byte[i] != 0xDB)
            return false;
    return true;
}

TEST_WITH(vidpn, released_structures_are_poisoned)
{
    D3DKMDT_HVIDPNSOURCEMODESET set = vidpn_new_source_set(h, 0);
    const D3DKMDT_VIDPN_PRESENT_PATH *path, *again, *next;
    D3DKMDT_VIDPN_SOURCE_MODE *mode;

    OK(h->t->pfnAcquireFirstPathInfo(h->topology, &path));
    OK(h->t->pfnReleasePathInfo(h->topology, path));
    CHECK_RULE("VIDPN-017", poisoned(path, sizeof(*path)));
    CHECK_RULE("VIDPN-017", h->t->pfnAcquireNextPathInfo(h->topology, path, &next) ==
                                STATUS_GRAPHICS_INVALID_VIDPN_PRESENT_PATH);
    for (unsigned i = 0; i < 20; i++) {
        OK(h->t->pfnAcquireFirstPathInfo(h->topology, &again));
        CHECK_RULE("VIDPN-017", again != path);
        OK(h->t->pfnReleasePathInfo(h->topology, again));
    }
    mode = vidpn_source_mode(h, set, 640, 480);
    OK(h->s->pfnReleaseModeInfo(set, mode));
    CHECK_RULE("VIDPN-017", poisoned(mode, sizeof(*mode)) &&
                                h->s->pfnAddMode(set, mode) ==
                                    STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE_MODE);
    OK(h->v->pfnReleaseSourceModeSet(h->vidpn, set));
    (void)p;
}

/* A published driver reads the Id of a mode that it has added. */
TEST_WITH(vidpn, added_structures_stay_readable)
{
    D3DKMDT_HVIDPNSOURCEMODESET set = vidpn_new_source_set(h, 0);
    D3DKMDT_VIDPN_SOURCE_MODE *mode = vidpn_source_mode(h, set, 640, 480), before = *mode;

    OK(h->s->pfnAddMode(set, mode));
    CHECK_RULE("VIDPN-017", memcmp(mode, &before, sizeof(before)) == 0);
    CHECK_RULE("VIDPN-017",
               h->s->pfnAddMode(set, mode) == STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE_MODE &&
                   h->s->pfnReleaseModeInfo(set, mode) ==
                       STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE_MODE);
    for (unsigned i = 0; i < 20; i++) {
        D3DKMDT_VIDPN_SOURCE_MODE *other = vidpn_source_mode(h, set, 800, 600);

        CHECK_RULE("VIDPN-017", other != mode);
        OK(h->s->pfnReleaseModeInfo(set, other));
    }
    OK(h->v->pfnReleaseSourceModeSet(h->vidpn, set));
    (void)p;
}

/* ---- copies ---- */

static void copy_was_private(struct probe *p, struct hands *h)
{
    SIZE_T paths = 7, sources = 7, targets = 7;
    const D3DKMDT_VIDPN_SOURCE_MODE *mode;

    OK(h->t->pfnGetNumPaths(h->topology, &paths));
    OK(h->s->pfnGetNumModes(h->source, &sources));
    OK(h->g->pfnGetNumModes(h->target, &targets));
    OK(h->s->pfnAcquirePinnedModeInfo(h->source, &mode));
    CHECK_RULE("VIDPN-005", paths == 0 && sources == 0 && targets == 0 && mode == NULL);
    (void)p;
}

/* The VidPN of the stop is a new one, with no path. */
TEST_WITH(vidpn, new_vidpn_is_empty, .at_end = copy_was_private)
{
    SIZE_T sources = 7, targets = 7;

    OK(h->s->pfnGetNumModes(h->source, &sources));
    OK(h->g->pfnGetNumModes(h->target, &targets));
    CHECK_RULE("VIDPN-005", sources == 0 && targets == 0);
    (void)p;
}

/* ---- tables ---- */

static uint64_t written;

static void write_table(struct probe *p, const DXGKARG_ENUMVIDPNCOFUNCMODALITY *args,
                        const DXGK_VIDPN_INTERFACE *v)
{
    (void)p;
    (void)args;
    written = (uint64_t)(uintptr_t)&v->Version;
    *(volatile DXGK_VIDPN_INTERFACE_VERSION *)(uintptr_t)written = DXGK_VIDPN_INTERFACE_VERSION_V2;
}

static void ask_other_mode(struct probe *p)
{
    (void)display_ask_mode(p, 0, 640, 480, 0);
}

TEST(tables_cannot_be_written)
{
    struct probe *p = display_create(NULL);
    const struct verify_bugcheck *bug;

    OK(probe_start(p));
    display.before_enum = write_table;
    CHECK(probe_run(p, ask_other_mode) == SIM_STOPPED);
    bug = verify_bugcheck_state(p->log);
    CHECK_RULE("VIDPN-020", bug->happened && bug->code == 0x1E &&
                                bug->parameter[0] == (uint32_t)STATUS_ACCESS_VIOLATION &&
                                bug->parameter[2] == 1 && bug->parameter[3] == written);
    probe_destroy(p);
}
