/* SPDX-License-Identifier: MIT */
/* What a user asks of the topology: clones, extended displays, targets without a monitor. */
#include "port/support/vidpn.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define FIRST              DISPLAY_CHILD
#define SECOND             (DISPLAY_CHILD + 1)

static void begin(UINT outputs, UINT sources, void (*body)(struct probe *p))
{
    struct probe *p = display_create(NULL);

    display.outputs = outputs;
    display.sources = sources;
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    probe_end(p, body);
}

static const D3DKMDT_VIDPN_PRESENT_PATH *path_to(const struct probe *p, UINT target)
{
    return vidpn_path_to(display_modes(p)->active, target);
}

static bool has_mode(const struct probe *p, UINT target)
{
    return mode_set_pinned(*vidpn_target_set(display_modes(p)->active, target)) != NULL;
}

/* ---- clones ---- */

static void clone_and_extend(struct probe *p)
{
    struct modes *modes = display_modes(p);
    const UINT commits = display_seen.commits;
    const D3DKMDT_2DREGION *size;

    CHECK(path_to(p, SECOND)->VidPnSourceId == 1);
    CHECK(NT_SUCCESS(display_ask_mode(p, 0, 800, 600, 0)));
    CHECK_RULE("VIDPN-206/b", IS(display_arrange(modes, MODES_CLONE), STATUS_SUCCESS) &&
                                  modes->active->paths == 2 &&
                                  vidpn_paths_from(modes->active, 0) == 2);
    CHECK_RULE("VIDPN-206/b",
               has_mode(p, FIRST) && has_mode(p, SECOND) && display_seen.commits > commits + 1);
    size = &mode_set_pinned(*vidpn_source_set(modes->active, 0))->source.Format.Graphics.PrimSurfSize;
    CHECK_RULE("VIDPN-206/b", size->cx == 800 && size->cy == 600 && display_seen.visible[0] &&
                                  !display_seen.visible[1]);
    CHECK(IS(display_arrange(modes, MODES_EXTEND), STATUS_SUCCESS));
    CHECK_RULE("VIDPN-148/b", path_to(p, FIRST)->VidPnSourceId == 0 &&
                                  path_to(p, SECOND)->VidPnSourceId == 1 && display_seen.visible[1]);
}

TEST(clones_and_extended_displays)
{
    begin(2, 2, clone_and_extend);
}

static void clone_one(struct probe *p)
{
    const UINT commits = display_seen.commits;

    CHECK_RULE("VIDPN-206/a", IS(display_arrange(display_modes(p), MODES_CLONE),
                                 STATUS_GRAPHICS_VIDPN_TOPOLOGY_NOT_SUPPORTED) &&
                                  display_seen.commits == commits);
}

TEST(no_clone_of_one_display)
{
    begin(1, 1, clone_one);
}

static void no_clones(struct probe *p)
{
    const struct vidpn *before = display_modes(p)->active;
    const UINT commits = display_seen.commits;

    display.supported = FALSE;
    CHECK_RULE("VIDPN-206/a", IS(display_arrange(display_modes(p), MODES_CLONE),
                                 STATUS_GRAPHICS_VIDPN_TOPOLOGY_NOT_SUPPORTED) &&
                                  display_seen.commits == commits &&
                                  display_modes(p)->active == before &&
                                  path_to(p, SECOND)->VidPnSourceId == 1);
    display.supported = TRUE;
}

TEST(a_driver_that_has_no_clones)
{
    begin(2, 2, no_clones);
}

/* ---- forced targets ---- */

static void set_technology(struct probe *p, D3DKMDT_VIDEO_OUTPUT_TECHNOLOGY technology)
{
    p->child[0].ChildDeviceType = TypeVideoOutput;
    p->child[0].ChildUid = FIRST;
    p->child[0].ChildCapabilities.HpdAwareness = HpdAwarenessInterruptible;
    p->child[0].ChildCapabilities.Type.VideoOutput.InterfaceTechnology = technology;
    p->child[0].ChildCapabilities.Type.VideoOutput.MonitorOrientationAwareness = D3DKMDT_MOA_NONE;
    display.connected[0] = false;
}

static void force(struct probe *p)
{
    struct modes *modes = display_modes(p);

    CHECK(!path_to(p, FIRST));
    CHECK_RULE("VIDPN-207/a", IS(display_force(modes, FIRST, true), STATUS_SUCCESS) &&
                                  path_to(p, FIRST) && has_mode(p, FIRST) &&
                                  !modes_target(modes, FIRST)->monitor && display_seen.visible[0]);
    CHECK_RULE("VIDPN-207/a", display_seen.commits == 1 && display_seen.commit[0].target == FIRST);
    CHECK(IS(display_force(modes, FIRST, false), STATUS_SUCCESS));
    CHECK_RULE("VIDPN-207/a", !path_to(p, FIRST) && !display_seen.visible[0]);
    CHECK(IS(display_force(modes, FIRST, true), STATUS_SUCCESS));
    display_indicate(p, 0, true);
    CHECK_RULE("VIDPN-207/a", modes_target(modes, FIRST)->monitor && path_to(p, FIRST) &&
                                  !modes_target(modes, FIRST)->forced);
    display_indicate(p, 0, false);
    CHECK_RULE("VIDPN-207/a", !path_to(p, FIRST));
}

static void force_in_vain(struct probe *p)
{
    CHECK_RULE("VIDPN-207/b", IS(display_force(display_modes(p), FIRST, true),
                                 STATUS_GRAPHICS_MONITOR_NOT_CONNECTED) &&
                                  !path_to(p, FIRST) && display_seen.commits == 0);
    CHECK(IS(display_force(display_modes(p), 0x999, true),
             STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET));
}

TEST(targets_without_a_monitor)
{
    static const D3DKMDT_VIDEO_OUTPUT_TECHNOLOGY analog[] = {D3DKMDT_VOT_HD15, D3DKMDT_VOT_SVIDEO,
                                                             D3DKMDT_VOT_COMPOSITE_VIDEO,
                                                             D3DKMDT_VOT_COMPONENT_VIDEO};
    static const D3DKMDT_VIDEO_OUTPUT_TECHNOLOGY digital[] = {D3DKMDT_VOT_HDMI, D3DKMDT_VOT_DVI,
                                                              D3DKMDT_VOT_DISPLAYPORT_EXTERNAL};
    struct probe *p;

    for (unsigned i = 0; i < 4; i++) {
        p = display_create(NULL);
        set_technology(p, analog[i]);
        CHECK(IS(probe_start(p), STATUS_SUCCESS));
        probe_end(p, force);
    }
    for (unsigned i = 0; i < 3; i++) {
        p = display_create(NULL);
        set_technology(p, digital[i]);
        CHECK(IS(probe_start(p), STATUS_SUCCESS));
        probe_end(p, force_in_vain);
    }
}
