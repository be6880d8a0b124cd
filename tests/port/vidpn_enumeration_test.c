/* SPDX-License-Identifier: MIT */
/* DxgkDdiEnumVidPnCofuncModality: what a driver may do in it, and what strict mode asks. */
#include "port/support/display.h"
#include "support/test.h"

#include <string.h>

static struct {
    unsigned enums, supports, zeros, empties;
    DXGKARG_ENUMVIDPNCOFUNCMODALITY args[64];
    D3DKMDT_VIDPN_PRESENT_PATH_CONTENT content;
    NTSTATUS replaced; /* the set with a pinned mode */
    bool still_pinned;
    SIZE_T assigned;     /* modes of the set that was just assigned, once it is acquired again */
    SIZE_T before[64];   /* modes of the source at the beginning of each */
    unsigned skip;       /* calls that change nothing, from the second on */
    NTSTATUS to_pivot;   /* assigning the set of the pivot */
    bool change_support; /* of a pivot */
} seen;

static void count_modes(const DXGK_VIDPN_INTERFACE *v, D3DKMDT_HVIDPN vidpn, SIZE_T *count)
{
    const DXGK_VIDPNSOURCEMODESET_INTERFACE *modes;
    D3DKMDT_HVIDPNSOURCEMODESET set;

    CHECK(v->pfnAcquireSourceModeSet(vidpn, 0, &set, &modes) == STATUS_SUCCESS &&
          modes->pfnGetNumModes(set, count) == STATUS_SUCCESS &&
          v->pfnReleaseSourceModeSet(vidpn, set) == STATUS_SUCCESS);
}

static NTSTATUS assign_one(const DXGK_VIDPN_INTERFACE *v, D3DKMDT_HVIDPN vidpn, UINT width)
{
    const DXGK_VIDPNSOURCEMODESET_INTERFACE *modes;
    D3DKMDT_HVIDPNSOURCEMODESET set;
    D3DKMDT_VIDPN_SOURCE_MODE *mode;
    NTSTATUS status;
    UINT id;

    CHECK(v->pfnCreateNewSourceModeSet(vidpn, 0, &set, &modes) == STATUS_SUCCESS &&
          modes->pfnCreateNewModeInfo(set, &mode) == STATUS_SUCCESS);
    id = mode->Id;
    *mode = display_source_mode(width, 480);
    mode->Id = id;
    CHECK(modes->pfnAddMode(set, mode) == STATUS_SUCCESS);
    status = v->pfnAssignSourceModeSet(vidpn, 0, set);
    if (status == STATUS_ACCESS_DENIED) /* it goes with other refusals */
        CHECK(v->pfnReleaseSourceModeSet(vidpn, set) == STATUS_SUCCESS);
    return status;
}

static bool is_pinned(const DXGK_VIDPN_INTERFACE *v, D3DKMDT_HVIDPN vidpn)
{
    const DXGK_VIDPNSOURCEMODESET_INTERFACE *modes;
    const D3DKMDT_VIDPN_SOURCE_MODE *mode = NULL;
    D3DKMDT_HVIDPNSOURCEMODESET set;
    bool pinned;

    CHECK(v->pfnAcquireSourceModeSet(vidpn, 0, &set, &modes) == STATUS_SUCCESS);
    (void)modes->pfnAcquirePinnedModeInfo(set, &mode);
    pinned = mode && mode->Format.Graphics.PrimSurfSize.cx == 1024;
    if (mode)
        CHECK(modes->pfnReleaseModeInfo(set, mode) == STATUS_SUCCESS);
    CHECK(v->pfnReleaseSourceModeSet(vidpn, set) == STATUS_SUCCESS);
    return pinned;
}

static void change_content(const DXGK_VIDPN_INTERFACE *v, D3DKMDT_HVIDPN vidpn)
{
    const DXGK_VIDPNTOPOLOGY_INTERFACE *topology;
    const D3DKMDT_VIDPN_PRESENT_PATH *path;
    D3DKMDT_HVIDPNTOPOLOGY handle;
    D3DKMDT_VIDPN_PRESENT_PATH local;

    CHECK(v->pfnGetTopology(vidpn, &handle, &topology) == STATUS_SUCCESS &&
          topology->pfnAcquireFirstPathInfo(handle, &path) == STATUS_SUCCESS);
    local = *path;
    seen.content = path->Content;
    local.Content = D3DKMDT_VPPC_VIDEO;
    local.VidPnTargetColorBasis = D3DKMDT_CB_YPBPR;
    (void)topology->pfnUpdatePathSupportInfo(handle, &local);
    CHECK(topology->pfnReleasePathInfo(handle, path) == STATUS_SUCCESS);
}

static void note_enum(struct probe *p, const DXGKARG_ENUMVIDPNCOFUNCMODALITY *args,
                      const DXGK_VIDPN_INTERFACE *v)
{
    (void)p;
    seen.args[seen.enums % 64] = *args;
    count_modes(v, args->hConstrainingVidPn, &seen.before[seen.enums % 64]);
    if (seen.enums == 0) {
        CHECK_RULE("VIDPN-144", assign_one(v, args->hConstrainingVidPn, 640) == STATUS_SUCCESS);
        count_modes(v, args->hConstrainingVidPn, &seen.assigned);
    } else if (seen.enums == 1) {
        seen.replaced = assign_one(v, args->hConstrainingVidPn, 640);
        seen.still_pinned = is_pinned(v, args->hConstrainingVidPn);
    }
    seen.enums++;
}

static void note_after(struct probe *p, const DXGKARG_ENUMVIDPNCOFUNCMODALITY *args,
                       const DXGK_VIDPN_INTERFACE *v)
{
    (void)p;
    change_content(v, args->hConstrainingVidPn);
}

static void check_walk(struct probe *p)
{
    const D3DKMDT_VIDPN_PRESENT_PATH *path = vidpn_path_to(display_modes(p)->active, DISPLAY_CHILD);

    CHECK_RULE("VIDPN-144", seen.assigned == 1 && seen.before[1] == 3);
    CHECK_RULE("VIDPN-138", seen.replaced == STATUS_GRAPHICS_PINNED_MODE_MUST_REMAIN_IN_SET &&
                                seen.still_pinned);
    CHECK_RULE("VIDPN-121", seen.content == D3DKMDT_VPPC_GRAPHICS &&
                                path->Content == D3DKMDT_VPPC_GRAPHICS &&
                                path->VidPnTargetColorBasis == D3DKMDT_CB_SCRGB);
}

static struct probe *watched(bool strict)
{
    struct probe *p = display_create(&(struct probe_options){.strict = strict});

    memset(&seen, 0, sizeof(seen));
    return p;
}

static void run(struct probe *p, void (*body)(struct probe *p))
{
    CHECK(probe_start(p) == STATUS_SUCCESS);
    probe_end(p, body);
}

TEST(what_a_driver_may_do)
{
    struct probe *p = watched(false);

    display.before_enum = note_enum;
    display.after_enum = note_after;
    run(p, check_walk);
}

/* The first call fills the sets, and the others leave them. */
static void fill_once(struct probe *p, struct probe_call *call)
{
    const DXGKARG_ENUMVIDPNCOFUNCMODALITY *args =
        (const DXGKARG_ENUMVIDPNCOFUNCMODALITY *)(uintptr_t)call->arg[1];

    count_modes(display_interface(p, args->hConstrainingVidPn), args->hConstrainingVidPn,
                &seen.before[seen.enums % 64]);
    if (seen.enums++ == 0)
        return;
    call->answered = true;
    call->result = STATUS_SUCCESS;
}

static probe_hook *enumerate;

static void fill_first(struct probe *p, struct probe_call *call)
{
    fill_once(p, call);
    if (!call->answered)
        enumerate(p, call);
}

static void check_kept(struct probe *p)
{
    CHECK_RULE("VIDPN-146", seen.enums == 3 && seen.before[0] == 0 && seen.before[1] == 3 &&
                                seen.before[2] == 3 && display_modes(p)->active->paths == 1);
}

TEST(sets_are_kept)
{
    struct probe *p = watched(false);

    enumerate = p->before[PROBE_EnumVidPnCofuncModality];
    p->before[PROBE_EnumVidPnCofuncModality] = fill_first;
    run(p, check_kept);
}

/* ---- strict mode ---- */

static void note_zero(struct probe *p, struct probe_call *call)
{
    DXGKARG_ISSUPPORTEDVIDPN *args = (DXGKARG_ISSUPPORTEDVIDPN *)(uintptr_t)call->arg[1];
    const DXGK_VIDPNTOPOLOGY_INTERFACE *topology;
    const DXGK_VIDPN_INTERFACE *v;
    D3DKMDT_HVIDPNTOPOLOGY handle;
    SIZE_T paths = 0;

    seen.supports++;
    args->IsVidPnSupported = display.supported;
    if (!args->hDesiredVidPn) {
        seen.zeros++;
        args->IsVidPnSupported = seen.change_support ? FALSE : TRUE;
        return;
    }
    v = display_interface(p, args->hDesiredVidPn);
    (void)v->pfnGetTopology(args->hDesiredVidPn, &handle, &topology);
    (void)topology->pfnGetNumPaths(handle, &paths);
    seen.empties += paths == 0;
}

static void only_note(struct probe *p, const DXGKARG_ENUMVIDPNCOFUNCMODALITY *args,
                      const DXGK_VIDPN_INTERFACE *v)
{
    (void)p;
    (void)v;
    seen.args[seen.enums++ % 64] = *args;
}

static bool is_pivot(unsigned n, D3DKMDT_ENUMCOFUNCMODALITY_PIVOT_TYPE type, UINT source,
                     UINT target)
{
    const DXGKARG_ENUMVIDPNCOFUNCMODALITY *args = &seen.args[n];

    return args->EnumPivotType == type && args->EnumPivot.VidPnSourceId == source &&
           args->EnumPivot.VidPnTargetId == target;
}

static void check_strict(struct probe *p)
{
    (void)p;
    CHECK_RULE("VIDPN-128/a", seen.zeros == 1 && seen.empties == 1);
    CHECK_RULE("VIDPN-145", seen.enums == 3 + 2 + 4);
    CHECK_RULE("VIDPN-147",
               seen.enums == 9 && is_pivot(5, D3DKMDT_EPT_VIDPNSOURCE, 0, D3DDDI_ID_UNINITIALIZED));
    CHECK_RULE("VIDPN-136/b",
               is_pivot(5, D3DKMDT_EPT_VIDPNSOURCE, 0, D3DDDI_ID_UNINITIALIZED) &&
                   is_pivot(6, D3DKMDT_EPT_VIDPNTARGET, D3DDDI_ID_UNINITIALIZED, DISPLAY_CHILD));
    CHECK_RULE("VIDPN-135", is_pivot(7, D3DKMDT_EPT_SCALING, 0, DISPLAY_CHILD) &&
                                is_pivot(8, D3DKMDT_EPT_ROTATION, 0, DISPLAY_CHILD));
    CHECK(display_seen.commits == 1 && display_seen.failure == 0);
}

TEST(strict_start)
{
    struct probe *p = watched(true);

    p->after[PROBE_IsSupportedVidPn] = note_zero;
    display.before_enum = only_note;
    run(p, check_strict);
}

static void check_plain(struct probe *p)
{
    (void)p;
    CHECK_RULE("VIDPN-128/b", seen.zeros == 0 && seen.empties == 0);
    CHECK_RULE("VIDPN-147", seen.enums == 3);
}

TEST(plain_start)
{
    struct probe *p = watched(false);

    p->after[PROBE_IsSupportedVidPn] = note_zero;
    display.before_enum = only_note;
    run(p, check_plain);
}

/* Rules that are broken here, and not fatal. */
static struct probe *lenient(const char *rule)
{
    struct probe *p = watched(true);

    verify_set_severity(p->log, rule, VERIFY_WARNING);
    return p;
}

static void check_zero(struct probe *p)
{
    CHECK_RULE("VIDPN-127", probe_rule(p, "VIDPN-127") == 1);
}

TEST(nothing_is_not_supported)
{
    struct probe *p = lenient("VIDPN-127");

    seen.change_support = true;
    p->after[PROBE_IsSupportedVidPn] = note_zero;
    run(p, check_zero);
}

static D3DKMDT_ENUMCOFUNCMODALITY_PIVOT_TYPE broken;

static void break_pivot(struct probe *p, const DXGKARG_ENUMVIDPNCOFUNCMODALITY *args,
                        const DXGK_VIDPN_INTERFACE *v)
{
    (void)p;
    if (args->EnumPivotType == D3DKMDT_EPT_VIDPNSOURCE && broken == D3DKMDT_EPT_VIDPNSOURCE) {
        seen.to_pivot = assign_one(v, args->hConstrainingVidPn, 640);
        count_modes(v, args->hConstrainingVidPn, &seen.assigned);
    }
    display.scaling.Stretched = args->EnumPivotType != D3DKMDT_EPT_SCALING ||
                                broken != D3DKMDT_EPT_SCALING;
    display.rotation.Rotate90 = args->EnumPivotType != D3DKMDT_EPT_ROTATION ||
                                broken != D3DKMDT_EPT_ROTATION;
}

static void check_pivot(struct probe *p)
{
    CHECK_RULE("VIDPN-137", broken != D3DKMDT_EPT_VIDPNSOURCE ||
                                (seen.to_pivot == STATUS_ACCESS_DENIED && seen.assigned == 3));
    CHECK_RULE("VIDPN-135",
               probe_said(p, "VIDPN-137", "scaling") == (broken == D3DKMDT_EPT_SCALING) &&
                   probe_said(p, "VIDPN-137", "rotation") == (broken == D3DKMDT_EPT_ROTATION));
}

static void check_broken(D3DKMDT_ENUMCOFUNCMODALITY_PIVOT_TYPE type)
{
    struct probe *p = lenient("VIDPN-137");

    broken = type;
    verify_set_severity(p->log, "VIDPN-030", VERIFY_WARNING);
    display.before_enum = break_pivot;
    run(p, check_pivot);
}

TEST(a_pivot_is_changed)
{
    check_broken(D3DKMDT_EPT_VIDPNSOURCE);
    check_broken(D3DKMDT_EPT_SCALING);
    check_broken(D3DKMDT_EPT_ROTATION);
}

static void one_less(struct probe *p, const DXGKARG_ENUMVIDPNCOFUNCMODALITY *args,
                     const DXGK_VIDPN_INTERFACE *v)
{
    (void)p;
    (void)args;
    (void)v;
    if (++seen.enums == 5)
        display.source_modes = 2;
}

static void check_state(struct probe *p)
{
    CHECK_RULE("VIDPN-145", probe_said(p, "VIDPN-145", "source 0") && display_seen.commits == 1);
}

TEST(a_driver_with_a_state)
{
    struct probe *p = watched(true);

    display.before_enum = one_less;
    run(p, check_state);
}
