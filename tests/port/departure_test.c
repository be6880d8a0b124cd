/* SPDX-License-Identifier: MIT */
/* Monitors that leave, and what is left without them. */
#include "port/support/display.h"
#include "sim/machine.h"
#include "support/test.h"

/* ---- what the driver supports alone ---- */

static UINT asked_paths; /* of the last VidPN that it was asked about */
static bool wants_small; /* a path alone has to be of 800 x 600 */

static D3DKMDT_2DREGION pinned_size(const DXGK_VIDPN_INTERFACE *v, D3DKMDT_HVIDPN vidpn, UINT source)
{
    const DXGK_VIDPNSOURCEMODESET_INTERFACE *modes;
    const D3DKMDT_VIDPN_SOURCE_MODE *mode = NULL;
    D3DKMDT_2DREGION size = {0, 0};
    D3DKMDT_HVIDPNSOURCEMODESET set;

    CHECK(v->pfnAcquireSourceModeSet(vidpn, source, &set, &modes) == STATUS_SUCCESS);
    (void)modes->pfnAcquirePinnedModeInfo(set, &mode);
    if (mode) {
        size = mode->Format.Graphics.PrimSurfSize;
        CHECK(modes->pfnReleaseModeInfo(set, mode) == STATUS_SUCCESS);
    }
    CHECK(v->pfnReleaseSourceModeSet(vidpn, set) == STATUS_SUCCESS);
    return size;
}

static void judge(struct probe *p, struct probe_call *call)
{
    DXGKARG_ISSUPPORTEDVIDPN *args = (DXGKARG_ISSUPPORTEDVIDPN *)(uintptr_t)call->arg[1];
    const DXGK_VIDPN_INTERFACE *v = display_interface(p, args->hDesiredVidPn);
    const DXGK_VIDPNTOPOLOGY_INTERFACE *topology;
    D3DKMDT_HVIDPNTOPOLOGY handle;
    D3DKMDT_2DREGION size;
    SIZE_T paths = 0;
    UINT source = 0;

    CHECK(v->pfnGetTopology(args->hDesiredVidPn, &handle, &topology) == STATUS_SUCCESS);
    CHECK(topology->pfnGetNumPaths(handle, &paths) == STATUS_SUCCESS);
    asked_paths = (UINT)paths;
    args->IsVidPnSupported = TRUE;
    if (paths != 1 || !wants_small)
        return;
    (void)topology->pfnGetPathSourceFromTarget(handle, DISPLAY_CHILD + 1, &source);
    size = pinned_size(v, args->hDesiredVidPn, source);
    args->IsVidPnSupported = !size.cx || size.cx == 800;
}

static struct probe *two_monitors(void)
{
    struct probe *p = display_create(NULL);

    display.outputs = display.sources = 2;
    p->after[PROBE_IsSupportedVidPn] = judge;
    return p;
}

static UINT width_of(const struct probe *p, UINT source)
{
    const union mode *mode = mode_set_pinned(*vidpn_source_set(display_modes(p)->active, source));

    return mode ? mode->source.Format.Graphics.PrimSurfSize.cx : 0;
}

static bool monitor_was_there; /* at the last commit */

static void note_monitor(struct probe *p, const DXGKARG_COMMITVIDPN *args,
                         const DXGK_VIDPN_INTERFACE *vidpn)
{
    (void)args;
    (void)vidpn;
    monitor_was_there = display_modes(p) && display_modes(p)->target[0].monitor;
}

/* What the second one shows stays as it is, whatever would be chosen for it now. */
static bool second_stays(const struct probe *p)
{
    const struct modes *modes = display_modes(p);

    return modes->active->paths == 1 && modes->active->path->VidPnTargetId == DISPLAY_CHILD + 1 &&
           width_of(p, modes->active->path->VidPnSourceId) == 1024 && !modes->target[0].monitor &&
           !display_seen.visible[0] && display_seen.visible[1];
}

static void one_leaves(struct probe *p)
{
    const size_t asked = probe_count(p, PROBE_IsSupportedVidPn);
    const size_t powered = probe_count(p, PROBE_SetPowerState);
    const UINT commits = display_seen.commits;

    wants_small = false;
    display.in_commit = note_monitor;
    display_modes(p)->target[1].last = (D3DKMDT_2DREGION){640, 480};
    display_indicate(p, 0, false);
    CHECK_RULE("VIDPN-202/a", monitor_was_there && !display_modes(p)->target[0].monitor &&
                                  display_seen.commit[commits].source == 0 &&
                                  probe_count(p, PROBE_SetPowerState) == powered);
    CHECK_RULE("VIDPN-202/b", second_stays(p));
    CHECK_RULE("VIDPN-202/b", probe_count(p, PROBE_IsSupportedVidPn) == asked + 1 &&
                                  asked_paths == 1 && display_seen.commits == commits + 1);
    CHECK_RULE("VIDPN-202/b", probe_nth(p, PROBE_IsSupportedVidPn, asked)->order <
                                  probe_nth(p, PROBE_CommitVidPn, commits)->order);
}

TEST(the_rest_is_asked_about)
{
    struct probe *p = two_monitors();

    CHECK(probe_start(p) == STATUS_SUCCESS);
    probe_end(p, one_leaves);
}

static uint64_t failing; /* request for memory, counted from the departure */
static bool failed;

static void leaves_in_want_of_memory(struct probe *p)
{
    struct util_heap *heap = &p->sim->heap;

    display_modes(p)->target[1].last = (D3DKMDT_2DREGION){640, 480};
    heap->fail_at = heap->requests + failing;
    display_indicate(p, 0, false);
    probe_sleep(2 * PROBE_SECOND);
    heap->fail_at = 0;
    failed = heap->failures > 0;
    CHECK_RULE("VIDPN-202/b", second_stays(p) && probe_reports(p, VERIFY_WARNING) == 0);
}

/* The host tries again, and does what it would have done. */
TEST(it_leaves_while_memory_is_short)
{
    failed = true;
    wants_small = false;
    for (failing = 1; failed; failing++) {
        struct probe *p = display_create(NULL);

        display.outputs = display.sources = 2;
        CHECK(probe_start(p) == STATUS_SUCCESS);
        probe_end(p, leaves_in_want_of_memory);
    }
    CHECK(failing > 5);
}

static void dark_one_leaves(struct probe *p)
{
    const size_t asked = probe_count(p, PROBE_IsSupportedVidPn);
    const struct modes *modes = display_modes(p);
    const UINT commits = display_seen.commits;

    CHECK(modes->target[1].monitor && !vidpn_path_to(modes->active, DISPLAY_CHILD + 1));
    display_indicate(p, 1, false);
    CHECK_RULE("VIDPN-202/a", !modes->target[1].monitor && display_seen.commits == commits &&
                                  probe_count(p, PROBE_IsSupportedVidPn) == asked &&
                                  modes->active->paths == 1 && display_seen.visible[0]);
}

/* No source was left for it, so there is no path to go. */
TEST(one_that_shows_nothing_leaves)
{
    struct probe *p = display_create(NULL);

    display.outputs = 2;
    CHECK(probe_start(p) == STATUS_SUCCESS);
    probe_end(p, dark_one_leaves);
}

static void the_other_changes(struct probe *p)
{
    const struct modes *modes = display_modes(p);
    const D3DKMDT_VIDPN_PRESENT_PATH *path;

    wants_small = true;
    display_indicate(p, 0, false);
    CHECK_RULE("VIDPN-202/c", modes->active->paths == 1 && !modes->target[0].monitor);
    path = modes->active->path;
    CHECK_RULE("VIDPN-202/c",
               path->VidPnTargetId == DISPLAY_CHILD + 1 &&
                   mode_set_pinned(*vidpn_source_set(modes->active, path->VidPnSourceId))
                           ->source.Format.Graphics.PrimSurfSize.cx == 800 &&
                   display_seen.visible[path->VidPnSourceId] &&
                   !display_seen.visible[1 - path->VidPnSourceId]);
    wants_small = false;
}

TEST(the_rest_is_chosen_anew)
{
    struct probe *p = two_monitors();

    CHECK(probe_start(p) == STATUS_SUCCESS);
    probe_end(p, the_other_changes);
}
