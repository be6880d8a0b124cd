/* SPDX-License-Identifier: MIT */
/* Paths that are added to a topology and removed from it. */
#include "modes/support/scope_rig.h"
#include "modes/vidpn.h"

#include <string.h>

#define OK(call) CHECK((call) == STATUS_SUCCESS)

#define T(n)         (DISPLAY_CHILD + (n))
#define NO_SOURCE    STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE
#define NO_TARGET    STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET
#define BAD_PATH     STATUS_GRAPHICS_INVALID_VIDPN_PRESENT_PATH
#define NO_PATH      STATUS_GRAPHICS_PATH_NOT_IN_TOPOLOGY
#define BAD_TOPOLOGY STATUS_GRAPHICS_INVALID_VIDPN_TOPOLOGY

typedef D3DKMDT_VIDPN_PRESENT_PATH present_path;

static void nothing_left(struct scope_rig *rig)
{
    CHECK(probe_rule(rig->p, "VIDPN-015") == 0);
}

/* ---- addition ---- */

static void added_is_taken_over(struct scope_rig *rig)
{
    CHECK_RULE("VIDPN-056", probe_rule(rig->p, "VIDPN-015") == 0);
}

TEST_WITH(scope, path_is_added, .after = added_is_taken_over)
{
    present_path *path = scope_path(h, 1, T(4));

    CHECK_RULE("VIDPN-056", h->t->pfnAddPath(NULL, path) == BAD_TOPOLOGY && scope_paths(h) == 0);
    CHECK_RULE("VIDPN-056",
               h->t->pfnAddPath(h->topology, path) == STATUS_SUCCESS && scope_paths(h) == 1);
    CHECK_RULE("VIDPN-056", h->t->pfnReleasePathInfo(h->topology, path) == BAD_PATH &&
                                h->t->pfnAddPath(h->topology, path) == BAD_PATH);
    (void)rig;
}

TEST_WITH(scope, who_may_not_add, .after = nothing_left)
{
    present_path *path = scope_path(h, 0, T(0));

    rig->scope.access = MODES_SETS | MODES_SUPPORT | MODES_PIN;
    CHECK_RULE("VIDPN-056",
               h->t->pfnAddPath(h->topology, path) == STATUS_ACCESS_DENIED && scope_paths(h) == 0);
    rig->scope.access = MODES_PATHS;
    CHECK_RULE("VIDPN-056", h->t->pfnAddPath(h->topology, path) == STATUS_SUCCESS);
    rig->scope.access = MODES_SETS | MODES_SUPPORT | MODES_PIN;
    CHECK_RULE("VIDPN-060", h->t->pfnRemovePath(h->topology, 0, T(0)) == STATUS_ACCESS_DENIED &&
                                scope_paths(h) == 1);
}

TEST_WITH(scope, sources_are_cloned_and_targets_are_not, .after = nothing_left)
{
    OK(scope_add(h, 0, T(0)));
    CHECK_RULE("VIDPN-004", scope_add(h, 0, T(1)) == STATUS_SUCCESS && scope_paths(h) == 2);
    CHECK_RULE("VIDPN-004", scope_add(h, 1, T(1)) == BAD_TOPOLOGY && scope_paths(h) == 2);
    (void)rig;
}

TEST_WITH(scope, paths_that_are_refused, .after = nothing_left)
{
    present_path *acquired, local = vidpn_new_path(0, T(1), 0);
    const present_path *first;

    CHECK_RULE("VIDPN-057", scope_add(h, RIG_SOURCES, T(0)) == NO_SOURCE &&
                                scope_add(h, RIG_SOURCES - 1, T(RIG_TARGETS)) == NO_TARGET &&
                                scope_add(h, D3DDDI_ID_UNINITIALIZED, T(0)) == NO_SOURCE);
    OK(scope_add(h, 0, T(0)));
    CHECK_RULE("VIDPN-057", scope_add(h, 0, T(0)) == STATUS_GRAPHICS_PATH_ALREADY_IN_TOPOLOGY &&
                                scope_add(h, 1, T(0)) == BAD_TOPOLOGY);
    OK(h->t->pfnAcquireFirstPathInfo(h->topology, &first));
    acquired = (present_path *)first;
    CHECK_RULE("VIDPN-057", h->t->pfnAddPath(h->topology, &local) == BAD_PATH &&
                                h->t->pfnAddPath(h->topology, acquired) == BAD_PATH &&
                                h->t->pfnAddPath(h->topology, NULL) == BAD_PATH &&
                                scope_paths(h) == 1);
    OK(h->t->pfnReleasePathInfo(h->topology, first));
    (void)rig;
}

/* ---- members ---- */

#define WITH(wanted, change)                               \
    __extension__({                                        \
        present_path *m = scope_path(h, 1, T(9));          \
        NTSTATUS s;                                        \
                                                           \
        change;                                            \
        s = h->t->pfnAddPath(h->topology, m);              \
        if (s == STATUS_SUCCESS)                           \
            OK(h->t->pfnRemovePath(h->topology, 1, T(9))); \
        else                                               \
            OK(h->t->pfnReleasePathInfo(h->topology, m));  \
        s == (NTSTATUS)(wanted);                           \
    })

TEST_WITH(scope, ordinals_of_paths, .after = nothing_left)
{
    const NTSTATUS bad = STATUS_GRAPHICS_INVALID_PATH_IMPORTANCE_ORDINAL;
    present_path *path = scope_path(h, 0, T(0));

    path->ImportanceOrdinal = D3DKMDT_VPPI_TERTIARY;
    OK(h->t->pfnAddPath(h->topology, path));
#define ORDINAL(n) m->ImportanceOrdinal = (D3DKMDT_VIDPN_PRESENT_PATH_IMPORTANCE)(n)
    CHECK_RULE("VIDPN-058", WITH(bad, ORDINAL(3)) && WITH(bad, ORDINAL(256)) &&
                                WITH(bad, ORDINAL(-1)) && WITH(STATUS_SUCCESS, ORDINAL(255)) &&
                                WITH(STATUS_SUCCESS, ORDINAL(4)) &&
                                WITH(STATUS_SUCCESS, ORDINAL(0)));
    (void)rig;
}

TEST_WITH(scope, transformations_of_paths, .after = nothing_left)
{
    const NTSTATUS bad = STATUS_GRAPHICS_INVALID_PATH_CONTENT_GEOMETRY_TRANSFORMATION;

#define SCALING(n)  m->ContentTransformation.Scaling = (D3DKMDT_VIDPN_PRESENT_PATH_SCALING)(n)
#define ROTATION(n) m->ContentTransformation.Rotation = (D3DKMDT_VIDPN_PRESENT_PATH_ROTATION)(n)
    CHECK_RULE("VIDPN-058",
               WITH(bad, SCALING(0)) && WITH(bad, SCALING(6)) && WITH(bad, SCALING(253)) &&
                   WITH(bad, SCALING(256)) && WITH(STATUS_SUCCESS, SCALING(1)) &&
                   WITH(STATUS_SUCCESS, SCALING(5)) && WITH(STATUS_SUCCESS, SCALING(254)) &&
                   WITH(STATUS_SUCCESS, SCALING(255)));
    CHECK_RULE("VIDPN-058",
               WITH(bad, ROTATION(0)) && WITH(bad, ROTATION(17)) && WITH(bad, ROTATION(253)) &&
                   WITH(STATUS_SUCCESS, ROTATION(1)) && WITH(STATUS_SUCCESS, ROTATION(16)) &&
                   WITH(STATUS_SUCCESS, ROTATION(254)) && WITH(STATUS_SUCCESS, ROTATION(255)));
    (void)rig;
}

TEST_WITH(scope, contents_of_paths, .after = nothing_left)
{
    const NTSTATUS content = STATUS_GRAPHICS_INVALID_PATH_CONTENT_TYPE,
                   basis = STATUS_GRAPHICS_INVALID_COLORBASIS;

#define CONTENT(n) m->Content = (D3DKMDT_VIDPN_PRESENT_PATH_CONTENT)(n)
#define BASIS(n)   m->VidPnTargetColorBasis = (D3DKMDT_COLOR_BASIS)(n)
    CHECK_RULE("VIDPN-058", WITH(content, CONTENT(3)) && WITH(content, CONTENT(254)) &&
                                WITH(content, CONTENT(-1)) && WITH(STATUS_SUCCESS, CONTENT(0)) &&
                                WITH(STATUS_SUCCESS, CONTENT(2)) &&
                                WITH(STATUS_SUCCESS, CONTENT(255)));
    CHECK_RULE("VIDPN-058", WITH(basis, BASIS(6)) && WITH(basis, BASIS(-1)) &&
                                WITH(STATUS_SUCCESS, BASIS(0)) && WITH(STATUS_SUCCESS, BASIS(5)));
    (void)rig;
}

TEST_WITH(scope, protection_of_paths, .after = nothing_left)
{
    const NTSTATUS bad = STATUS_GRAPHICS_INVALID_COPYPROTECTION_TYPE;

#define PROTECTION(n) \
    m->CopyProtection.CopyProtectionType = (D3DKMDT_VIDPN_PRESENT_PATH_COPYPROTECTION_TYPE)(n)
    CHECK_RULE("VIDPN-058", WITH(bad, m->CopyProtection.APSTriggerBits = 4) &&
                                WITH(STATUS_SUCCESS, m->CopyProtection.APSTriggerBits = 3) &&
                                WITH(bad, PROTECTION(0)) && WITH(bad, PROTECTION(4)) &&
                                WITH(STATUS_SUCCESS, PROTECTION(1)) &&
                                WITH(STATUS_SUCCESS, PROTECTION(3)));
    (void)rig;
}

TEST_WITH(scope, gamma_of_paths, .after = nothing_left)
{
    const NTSTATUS bad = STATUS_GRAPHICS_INVALID_GAMMA_RAMP;
    D3DDDI_GAMMA_RAMP_RGB256x3x16 ramp;

#define GAMMA(type, bytes, data)                       \
    m->GammaRamp.Type = (D3DDDI_GAMMARAMP_TYPE)(type); \
    m->GammaRamp.DataSize = (bytes);                   \
    m->GammaRamp.Data.pRaw = (data)
    memset(&ramp, 0, sizeof(ramp));
    CHECK_RULE("VIDPN-058",
               WITH(bad, GAMMA(0, 0, NULL)) && WITH(bad, GAMMA(6, sizeof(ramp), &ramp)) &&
                   WITH(bad, GAMMA(2, sizeof(ramp), NULL)) && WITH(bad, GAMMA(2, 0, &ramp)) &&
                   WITH(STATUS_SUCCESS, GAMMA(1, 0, NULL)) &&
                   WITH(STATUS_SUCCESS, GAMMA(2, sizeof(ramp), &ramp)) &&
                   WITH(STATUS_SUCCESS, GAMMA(5, sizeof(ramp), &ramp)));
    (void)rig;
}

static UINT ordinal_of(const struct hands *h, UINT source, UINT target)
{
    const present_path *path;
    UINT ordinal;

    OK(h->t->pfnAcquirePathInfo(h->topology, source, target, &path));
    ordinal = (UINT)path->ImportanceOrdinal;
    OK(h->t->pfnReleasePathInfo(h->topology, path));
    return ordinal;
}

TEST_WITH(scope, lowest_free_ordinal, .after = nothing_left)
{
    present_path *path;

    OK(scope_add(h, 0, T(0)));
    OK(scope_add(h, 1, T(1)));
    CHECK_RULE("VIDPN-059", ordinal_of(h, 0, T(0)) == 1 && ordinal_of(h, 1, T(1)) == 2);
    path = scope_path(h, 0, T(2));
    path->ImportanceOrdinal = D3DKMDT_VPPI_QUATERNARY;
    OK(h->t->pfnAddPath(h->topology, path));
    OK(h->t->pfnRemovePath(h->topology, 0, T(0)));
    for (UINT i = 3; i <= 5; i++)
        OK(scope_add(h, 0, T(i)));
    CHECK_RULE("VIDPN-059", ordinal_of(h, 0, T(3)) == 1 && ordinal_of(h, 0, T(4)) == 3 &&
                                ordinal_of(h, 0, T(5)) == 5);
    for (UINT i = 6; i < 6 + 250; i++)
        OK(scope_add(h, 0, T(i)));
    CHECK_RULE("VIDPN-059",
               scope_paths(h) == 255 && ordinal_of(h, 0, T(255)) == 255 &&
                   scope_add(h, 0, T(256)) == STATUS_GRAPHICS_NO_AVAILABLE_IMPORTANCE_ORDINALS &&
                   scope_paths(h) == 255);
    (void)rig;
}

/* ---- removal ---- */

TEST_WITH(scope, path_is_removed, .after = nothing_left)
{
    OK(scope_add(h, 0, T(0)));
    CHECK_RULE("VIDPN-060", h->t->pfnRemovePath(NULL, 0, T(0)) == BAD_TOPOLOGY &&
                                h->t->pfnRemovePath(h->topology, RIG_SOURCES, T(0)) == NO_SOURCE &&
                                h->t->pfnRemovePath(h->topology, 0, T(RIG_TARGETS)) == NO_TARGET &&
                                scope_paths(h) == 1);
    CHECK_RULE("VIDPN-061", h->t->pfnRemovePath(h->topology, 1, T(0)) == NO_PATH &&
                                h->t->pfnRemovePath(h->topology, 0, T(1)) == NO_PATH &&
                                scope_paths(h) == 1);
    CHECK_RULE("VIDPN-060",
               h->t->pfnRemovePath(h->topology, 0, T(0)) == STATUS_SUCCESS && scope_paths(h) == 0);
    CHECK_RULE("VIDPN-061", h->t->pfnRemovePath(h->topology, 0, T(0)) == NO_PATH);
    (void)rig;
}

static void fill(const struct hands *h, UINT target)
{
    const D3DKMDT_HVIDPNTARGETMODESET set = vidpn_new_target_set(h, target);

    OK(h->g->pfnAddMode(set, vidpn_target_mode(h, set, 800, 600)));
    OK(h->g->pfnPinMode(set, 1));
    OK(h->v->pfnAssignTargetModeSet(h->vidpn, target, set));
}

static SIZE_T target_modes(const struct hands *h, UINT target, bool *pinned)
{
    const D3DKMDT_VIDPN_TARGET_MODE *mode;
    const DXGK_VIDPNTARGETMODESET_INTERFACE *g;
    D3DKMDT_HVIDPNTARGETMODESET set;
    SIZE_T n;

    OK(h->v->pfnAcquireTargetModeSet(h->vidpn, target, &set, &g));
    OK(g->pfnGetNumModes(set, &n));
    OK(g->pfnAcquirePinnedModeInfo(set, &mode));
    *pinned = mode != NULL;
    if (mode)
        OK(g->pfnReleaseModeInfo(set, mode));
    OK(h->v->pfnReleaseTargetModeSet(h->vidpn, set));
    return n;
}

static SIZE_T source_modes(const struct hands *h, UINT source, bool *pinned)
{
    const D3DKMDT_VIDPN_SOURCE_MODE *mode;
    const DXGK_VIDPNSOURCEMODESET_INTERFACE *s;
    D3DKMDT_HVIDPNSOURCEMODESET set;
    SIZE_T n;

    OK(h->v->pfnAcquireSourceModeSet(h->vidpn, source, &set, &s));
    OK(s->pfnGetNumModes(set, &n));
    OK(s->pfnAcquirePinnedModeInfo(set, &mode));
    *pinned = mode != NULL;
    if (mode)
        OK(s->pfnReleaseModeInfo(set, mode));
    OK(h->v->pfnReleaseSourceModeSet(h->vidpn, set));
    return n;
}

/* Two paths from one source: its modes stay until the last is gone. */
TEST_WITH(scope, sets_become_empty, .after = nothing_left)
{
    const D3DKMDT_HVIDPNSOURCEMODESET set = vidpn_filled_source_set(h, 0, 800, 600);
    bool pinned;

    OK(h->s->pfnPinMode(set, 1));
    OK(scope_add(h, 0, T(1)));
    OK(scope_add(h, 0, T(2)));
    OK(h->v->pfnAssignSourceModeSet(h->vidpn, 0, set));
    fill(h, T(1));
    fill(h, T(2));
    CHECK(source_modes(h, 0, &pinned) == 1 && pinned);
    OK(h->t->pfnRemovePath(h->topology, 0, T(1)));
    CHECK_RULE("VIDPN-061", target_modes(h, T(1), &pinned) == 0 && !pinned);
    CHECK_RULE("VIDPN-061", target_modes(h, T(2), &pinned) == 1 && pinned);
    CHECK_RULE("VIDPN-061", source_modes(h, 0, &pinned) == 1 && pinned);
    OK(h->t->pfnRemovePath(h->topology, 0, T(2)));
    CHECK_RULE("VIDPN-061", source_modes(h, 0, &pinned) == 0 && !pinned &&
                                target_modes(h, T(2), &pinned) == 0 && !pinned);
    CHECK_RULE("VIDPN-061",
               scope_add(h, 0, T(2)) == STATUS_SUCCESS && source_modes(h, 0, &pinned) == 0);
    (void)rig;
}

/* ---- walks over clones ---- */

TEST_WITH(scope, clones_are_counted_and_walked, .after = nothing_left)
{
    const present_path *path, *next;
    SIZE_T n;
    UINT id;

    OK(scope_add(h, 0, T(5)));
    OK(scope_add(h, 1, T(6)));
    OK(scope_add(h, 0, T(7)));
    CHECK(h->t->pfnGetNumPathsFromSource(h->topology, 0, &n) == STATUS_SUCCESS && n == 2);
    CHECK(h->t->pfnGetNumPathsFromSource(h->topology, 1, &n) == STATUS_SUCCESS && n == 1);
    CHECK(h->t->pfnEnumPathTargetsFromSource(h->topology, 0, 0, &id) == STATUS_SUCCESS &&
          id == T(5));
    CHECK(h->t->pfnEnumPathTargetsFromSource(h->topology, 0, 1, &id) == STATUS_SUCCESS &&
          id == T(7));
    CHECK(h->t->pfnEnumPathTargetsFromSource(h->topology, 0, 2, &id) ==
          STATUS_GRAPHICS_NO_MORE_ELEMENTS_IN_DATASET);
    CHECK(h->t->pfnGetPathSourceFromTarget(h->topology, T(6), &id) == STATUS_SUCCESS && id == 1);
    OK(h->t->pfnAcquirePathInfo(h->topology, 1, T(6), &path));
    OK(h->t->pfnRemovePath(h->topology, 1, T(6)));
    CHECK(h->t->pfnAcquireNextPathInfo(h->topology, path, &next) == NO_PATH && !next);
    OK(h->t->pfnReleasePathInfo(h->topology, path));
    (void)rig;
}

/* By ordinal, whatever the order of addition. */
TEST_WITH(scope, walk_goes_by_ordinal, .after = nothing_left)
{
    static const UINT ordinals[] = {7, 2, 255, 4};
    static const UINT order[] = {1, 3, 0, 2};
    const present_path *path, *next;

    for (UINT i = 0; i < 4; i++) {
        present_path *fresh = scope_path(h, i % 2, T(i));

        fresh->ImportanceOrdinal = (D3DKMDT_VIDPN_PRESENT_PATH_IMPORTANCE)ordinals[i];
        OK(h->t->pfnAddPath(h->topology, fresh));
    }
    OK(h->t->pfnAcquireFirstPathInfo(h->topology, &path));
    for (UINT i = 0; i < 4; i++) {
        CHECK(path && path->VidPnTargetId == T(order[i]));
        CHECK(NT_SUCCESS(h->t->pfnAcquireNextPathInfo(h->topology, path, &next)));
        OK(h->t->pfnReleasePathInfo(h->topology, path));
        path = next;
    }
    CHECK(!path);
    (void)rig;
}
