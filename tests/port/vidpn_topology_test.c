/* SPDX-License-Identifier: MIT */
/* Reading a topology: counts, the walk, paths by their ends, and what paths support. */
#include "port/support/vidpn.h"

#include <string.h>

#define OK(call) CHECK((call) == STATUS_SUCCESS)

#define CHILD(n)    (DISPLAY_CHILD + (n))
#define NO_SOURCE   STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE
#define NO_TARGET   STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET
#define NOT_LIVE    STATUS_GRAPHICS_INVALID_VIDPN_PRESENT_PATH
#define NO_PATH     STATUS_GRAPHICS_PATH_NOT_IN_TOPOLOGY
#define LONE_SOURCE STATUS_GRAPHICS_SOURCE_NOT_IN_TOPOLOGY
#define LONE_TARGET STATUS_GRAPHICS_TARGET_NOT_IN_TOPOLOGY

typedef D3DKMDT_VIDPN_PRESENT_PATH present_path;

/* Three sources and outputs, with monitors on the first two: paths (0,100) and (1,101). */
static void has_two_paths(struct probe *p)
{
    (void)p;
    display.sources = display.outputs = 3;
    display.connected[2] = false;
}

/* ---- counts and ids ---- */

TEST_WITH(vidpn, paths_are_counted, .prepare = has_two_paths)
{
    SIZE_T n = 77;

    CHECK_RULE("VIDPN-039", h->t->pfnGetNumPaths(h->topology, &n) == STATUS_SUCCESS && n == 2);
    for (UINT source = 0; source < 2; source++) {
        n = 77;
        CHECK_RULE("VIDPN-040",
                   h->t->pfnGetNumPathsFromSource(h->topology, source, &n) == STATUS_SUCCESS &&
                       n == 1);
    }
    n = 77;
    CHECK_RULE("VIDPN-041",
               h->t->pfnGetNumPathsFromSource(h->topology, 2, &n) == LONE_SOURCE && n == 0);
    n = 77;
    CHECK_RULE("VIDPN-041",
               h->t->pfnGetNumPathsFromSource(h->topology, 3, &n) == NO_SOURCE && n == 0);
    CHECK_RULE("VIDPN-041",
               h->t->pfnGetNumPathsFromSource(h->topology, D3DDDI_ID_ALL, &n) == NO_SOURCE);
    (void)p;
}

static void has_no_path(struct probe *p, struct hands *h)
{
    const present_path *path = (void *)(uintptr_t)0x1234;
    SIZE_T n = 77;

    CHECK_RULE("VIDPN-039", h->t->pfnGetNumPaths(h->topology, &n) == STATUS_SUCCESS && n == 0);
    n = 77;
    CHECK_RULE("VIDPN-041",
               h->t->pfnGetNumPathsFromSource(h->topology, 0, &n) == LONE_SOURCE && n == 0);
    CHECK_RULE("VIDPN-049", h->t->pfnAcquireFirstPathInfo(h->topology, &path) ==
                                    STATUS_GRAPHICS_DATASET_IS_EMPTY &&
                                path == NULL && NT_SUCCESS(STATUS_GRAPHICS_DATASET_IS_EMPTY));
    CHECK_RULE("VIDPN-012", path == NULL);
    /* the last source loses its path; it is told after the stop that nothing is held (VIDPN-015) */
    (void)p;
}

TEST_WITH(vidpn, empty_topology, .at_end = has_no_path)
{
    (void)p;
    (void)h;
}

TEST_WITH(vidpn, targets_of_sources, .prepare = has_two_paths)
{
    UINT id = 77;

    for (UINT source = 0; source < 2; source++)
        CHECK_RULE("VIDPN-042", h->t->pfnEnumPathTargetsFromSource(h->topology, source, 0, &id) ==
                                        STATUS_SUCCESS &&
                                    id == CHILD(source));
    CHECK_RULE("VIDPN-043", h->t->pfnEnumPathTargetsFromSource(h->topology, 1, 1, &id) ==
                                    STATUS_GRAPHICS_NO_MORE_ELEMENTS_IN_DATASET &&
                                id == D3DDDI_ID_UNINITIALIZED && probe_rule(p, "VIDPN-043") == 1 &&
                                probe_record(p, "VIDPN-043")->severity == VERIFY_WARNING);
    id = 77;
    CHECK_RULE("VIDPN-043",
               h->t->pfnEnumPathTargetsFromSource(h->topology, 2, 0, &id) == LONE_SOURCE &&
                   id == D3DDDI_ID_UNINITIALIZED && probe_rule(p, "VIDPN-043") == 1);
    id = 77;
    CHECK_RULE("VIDPN-042",
               h->t->pfnEnumPathTargetsFromSource(h->topology, 3, 0, &id) == NO_SOURCE &&
                   id == D3DDDI_ID_UNINITIALIZED);
}

TEST_WITH(vidpn, sources_of_targets, .prepare = has_two_paths)
{
    UINT id = 77;

    for (UINT i = 0; i < 2; i++)
        CHECK_RULE("VIDPN-044",
                   h->t->pfnGetPathSourceFromTarget(h->topology, CHILD(i), &id) == STATUS_SUCCESS &&
                       id == i);
    CHECK_RULE("VIDPN-045",
               h->t->pfnGetPathSourceFromTarget(h->topology, CHILD(2), &id) == LONE_TARGET &&
                   id == D3DDDI_ID_UNINITIALIZED);
    id = 77;
    CHECK_RULE("VIDPN-045",
               h->t->pfnGetPathSourceFromTarget(h->topology, CHILD(3), &id) == NO_TARGET &&
                   id == D3DDDI_ID_UNINITIALIZED);
    (void)p;
}

/* ---- structures ---- */

TEST_WITH(vidpn, path_of_a_pair, .prepare = has_two_paths)
{
    const present_path *path;

    for (UINT i = 0; i < 2; i++) {
        CHECK_RULE("VIDPN-046",
                   h->t->pfnAcquirePathInfo(h->topology, i, CHILD(i), &path) == STATUS_SUCCESS &&
                       path && path->VidPnSourceId == i && path->VidPnTargetId == CHILD(i));
        CHECK_RULE("VIDPN-053", h->t->pfnReleasePathInfo(h->topology, path) == STATUS_SUCCESS);
    }
    CHECK_RULE("VIDPN-047",
               h->t->pfnAcquirePathInfo(h->topology, 0, CHILD(1), &path) == NO_PATH && !path &&
                   h->t->pfnAcquirePathInfo(h->topology, 1, CHILD(0), &path) == NO_PATH &&
                   h->t->pfnAcquirePathInfo(h->topology, 2, CHILD(2), &path) == NO_PATH);
    CHECK_RULE("VIDPN-047",
               h->t->pfnAcquirePathInfo(h->topology, 3, CHILD(0), &path) == NO_SOURCE &&
                   h->t->pfnAcquirePathInfo(h->topology, 0, CHILD(3), &path) == NO_TARGET);
    (void)p;
}

TEST_WITH(vidpn, walk, .prepare = has_two_paths)
{
    const present_path *first, *second, *end = (void *)(uintptr_t)0x1234;

    OK(h->t->pfnAcquireFirstPathInfo(h->topology, &first));
    CHECK_RULE("VIDPN-048",
               h->t->pfnAcquireNextPathInfo(h->topology, first, &second) == STATUS_SUCCESS &&
                   first != second && first->VidPnTargetId == CHILD(0) &&
                   second->VidPnTargetId == CHILD(1));
    CHECK_RULE("VIDPN-050", first->ImportanceOrdinal < second->ImportanceOrdinal);
    CHECK_RULE("VIDPN-049", h->t->pfnAcquireNextPathInfo(h->topology, second, &end) ==
                                    STATUS_GRAPHICS_NO_MORE_ELEMENTS_IN_DATASET &&
                                end == NULL &&
                                NT_SUCCESS(STATUS_GRAPHICS_NO_MORE_ELEMENTS_IN_DATASET));
    /* after its use it may go; before, it is none to go on from */
    OK(h->t->pfnReleasePathInfo(h->topology, second));
    OK(h->t->pfnReleasePathInfo(h->topology, first));
    CHECK_RULE("VIDPN-048",
               h->t->pfnAcquireNextPathInfo(h->topology, first, &second) == NOT_LIVE && !second);
    (void)p;
}

TEST_WITH(vidpn, walk_begins_with_what_is_acquired, .prepare = has_two_paths)
{
    const present_path *path, *next;
    present_path *fresh, local;

    OK(h->t->pfnAcquirePathInfo(h->topology, 0, CHILD(0), &path));
    OK(h->t->pfnCreateNewPathInfo(h->topology, &fresh));
    local = *path;
    CHECK_RULE("VIDPN-050",
               h->t->pfnAcquireNextPathInfo(h->topology, &local, &next) == NOT_LIVE &&
                   h->t->pfnAcquireNextPathInfo(h->topology, fresh, &next) == NOT_LIVE &&
                   h->t->pfnAcquireNextPathInfo(h->topology, NULL, &next) == NOT_LIVE);
    CHECK_RULE("VIDPN-050",
               h->t->pfnAcquireNextPathInfo(h->topology, path, &next) == STATUS_SUCCESS);
    OK(h->t->pfnReleasePathInfo(h->topology, next));
    OK(h->t->pfnReleasePathInfo(h->topology, fresh));
    OK(h->t->pfnReleasePathInfo(h->topology, path));
    (void)p;
}

TEST_WITH(vidpn, paths_are_released_once)
{
    const present_path *path;
    present_path local;

    OK(h->t->pfnAcquireFirstPathInfo(h->topology, &path));
    CHECK_RULE("VIDPN-053", h->t->pfnReleasePathInfo(h->topology, path) == STATUS_SUCCESS &&
                                h->t->pfnReleasePathInfo(h->topology, path) == NOT_LIVE);
    memset(&local, 0, sizeof(local));
    CHECK_RULE("VIDPN-053", h->t->pfnReleasePathInfo(h->topology, &local) == NOT_LIVE &&
                                h->t->pfnReleasePathInfo(h->topology, NULL) == NOT_LIVE);
    (void)p;
}

/* A structure of a set is none of the topology. */
TEST_WITH(vidpn, modes_are_no_paths)
{
    D3DKMDT_HVIDPNSOURCEMODESET set = vidpn_new_source_set(h, 0);
    D3DKMDT_VIDPN_SOURCE_MODE *mode = vidpn_source_mode(h, set, 640, 480);

    CHECK_RULE("VIDPN-053",
               h->t->pfnReleasePathInfo(h->topology, (const present_path *)mode) == NOT_LIVE);
    OK(h->s->pfnReleaseModeInfo(set, mode));
    OK(h->v->pfnReleaseSourceModeSet(h->vidpn, set));
    (void)p;
}

static void nothing_left(struct probe *p)
{
    CHECK_RULE("VIDPN-021", probe_rule(p, "VIDPN-015") == 0);
    CHECK_RULE("VIDPN-054", probe_rule(p, "VIDPN-015") == 0);
}

TEST_WITH(vidpn, topology_needs_no_release, .after = nothing_left)
{
    D3DKMDT_HVIDPNTOPOLOGY topology[3];
    present_path *path;

    for (unsigned i = 0; i < 3; i++) {
        h->t = NULL;
        CHECK_RULE("VIDPN-021",
                   h->v->pfnGetTopology(h->vidpn, &topology[i], &h->t) == STATUS_SUCCESS &&
                       topology[i] && h->t);
    }
    CHECK_RULE("VIDPN-054",
               h->t->pfnCreateNewPathInfo(h->topology, &path) == STATUS_SUCCESS && path);
    CHECK_RULE("VIDPN-054", h->t->pfnReleasePathInfo(h->topology, path) == STATUS_SUCCESS);
    (void)p;
}

TEST_WITH(vidpn, new_path)
{
    present_path *path, want;

    OK(h->t->pfnCreateNewPathInfo(h->topology, &path));
    memset(&want, 0, sizeof(want));
    want.VidPnSourceId = want.VidPnTargetId = D3DDDI_ID_UNINITIALIZED;
    want.ContentTransformation.Scaling = D3DKMDT_VPPS_UNPINNED;
    want.ContentTransformation.Rotation = D3DKMDT_VPPR_UNPINNED;
    want.GammaRamp.Type = D3DDDI_GAMMARAMP_DEFAULT;
    want.CopyProtection.CopyProtectionType = D3DKMDT_VPPMT_NOPROTECTION;
    want.CopyProtection.CopyProtectionSupport.NoProtection = 1;
    CHECK_RULE("VIDPN-055", memcmp(path, &want, sizeof(want)) == 0);
    OK(h->t->pfnReleasePathInfo(h->topology, path));
    (void)p;
}

/* ---- support ---- */

static present_path path_now(const struct hands *h, UINT source)
{
    const present_path *path;
    present_path copy;

    OK(h->t->pfnAcquirePathInfo(h->topology, source, CHILD(source), &path));
    copy = *path;
    OK(h->t->pfnReleasePathInfo(h->topology, path));
    return copy;
}

TEST_WITH(vidpn, support_is_updated, .prepare = has_two_paths)
{
    present_path local = path_now(h, 1), now;

    local.ContentTransformation.ScalingSupport.Centered = 1;
    local.ContentTransformation.RotationSupport.Rotate180 = 1;
    local.CopyProtection.CopyProtectionSupport.MacroVisionFull = 1;
    CHECK_RULE("VIDPN-051", h->t->pfnUpdatePathSupportInfo(h->topology, &local) == STATUS_SUCCESS);
    now = path_now(h, 1);
    CHECK_RULE("VIDPN-051", now.ContentTransformation.ScalingSupport.Centered &&
                                !now.ContentTransformation.ScalingSupport.Stretched &&
                                now.ContentTransformation.RotationSupport.Rotate180 &&
                                now.CopyProtection.CopyProtectionSupport.MacroVisionFull);
    now = path_now(h, 0);
    CHECK_RULE("VIDPN-051", !now.ContentTransformation.ScalingSupport.Centered);
    CHECK_RULE("VIDPN-051",
               h->t->pfnUpdatePathSupportInfo(h->topology, NULL) == STATUS_INVALID_PARAMETER &&
                   h->t->pfnUpdatePathSupportInfo(h->topology, (void *)(uintptr_t)8) ==
                       STATUS_INVALID_PARAMETER);
    CHECK_RULE("VIDPN-052", probe_rule(p, "VIDPN-052") == 0);
}

TEST_WITH(vidpn, support_is_all_that_is_taken, .prepare = has_two_paths)
{
    const present_path before = path_now(h, 0);
    present_path local = before, now;

    local.ContentTransformation.Scaling = D3DKMDT_VPPS_CENTERED;
    CHECK_RULE("VIDPN-052", h->t->pfnUpdatePathSupportInfo(h->topology, &local) == STATUS_SUCCESS &&
                                probe_rule(p, "VIDPN-052") == 1 &&
                                probe_record(p, "VIDPN-052")->severity == VERIFY_WARNING);
    local = before;
    local.ContentTransformation.Rotation = D3DKMDT_VPPR_ROTATE90;
    CHECK_RULE("VIDPN-052", h->t->pfnUpdatePathSupportInfo(h->topology, &local) == STATUS_SUCCESS &&
                                probe_rule(p, "VIDPN-052") == 2);
    local = before;
    local.ImportanceOrdinal = D3DKMDT_VPPI_DENARY;
    local.VidPnTargetColorBasis = D3DKMDT_CB_SRGB;
    local.Content = D3DKMDT_VPPC_VIDEO;
    local.CopyProtection.APSTriggerBits = 3;
    local.GammaRamp.Type = D3DDDI_GAMMARAMP_RGB256x3x16;
    local.VisibleFromActiveTLOffset.cx = 5;
    CHECK_RULE("VIDPN-052", h->t->pfnUpdatePathSupportInfo(h->topology, &local) == STATUS_SUCCESS &&
                                probe_rule(p, "VIDPN-052") == 2);
    now = path_now(h, 0);
    CHECK_RULE("VIDPN-052", memcmp(&now, &before, sizeof(now)) == 0);
    local.VidPnTargetId = CHILD(1);
    CHECK_RULE("VIDPN-052", h->t->pfnUpdatePathSupportInfo(h->topology, &local) == NO_PATH);
    local.VidPnTargetId = CHILD(3);
    CHECK_RULE("VIDPN-052", h->t->pfnUpdatePathSupportInfo(h->topology, &local) == NO_TARGET);
}
