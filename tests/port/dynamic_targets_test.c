/* SPDX-License-Identifier: MIT */
/* Targets that come and go: docks, daisy chains, joined targets. */
#include "modes/monitor.h"
#include "port/support/connections.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define FIRST              DISPLAY_CHILD
#define DP                 D3DKMDT_VOT_DISPLAYPORT_EXTERNAL

static void begin(struct probe *p, void (*body)(struct probe *p))
{
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    probe_end(p, body);
}

static struct probe *with_sources(UINT outputs, UINT sources)
{
    struct probe *p = connections_create(NULL);

    display.outputs = outputs;
    display.sources = sources;
    for (UINT i = 0; i < 4; i++)
        display.connected[i] = false;
    return p;
}

static void hang(UINT from, UINT fresh)
{
    connections_queue(change_target(from, CONNECTION_TARGET_CONNECTED, fresh, DP));
}

static void join(UINT part, UINT whole, D3DKMDT_VIDEO_OUTPUT_TECHNOLOGY technology)
{
    connections_queue(change_target(part, CONNECTION_TARGET_JOINED, whole, technology));
}

static void plug(UINT target)
{
    connections_queue(change_monitor(target, CONNECTION_MONITOR_CONNECTED));
}

static bool lit(const struct probe *p, UINT target)
{
    return vidpn_path_to(display_modes(p)->active, target) != NULL;
}

/* ---- chains ---- */

static void chain(struct probe *p)
{
    UINT calls;

    hang(FIRST, 2);
    hang(2, 3);
    plug(2);
    plug(3);
    CHECK(IS(connections_indicate(p), STATUS_SUCCESS));
    CHECK_RULE("DISP-096", connections_target(p, 2) && connections_target(p, 3) &&
                               connections_target(p, 2)->above == connections_target(p, FIRST) &&
                               lit(p, 2) && lit(p, 3) && probe_rule(p, "DISP-093") == 0);
    CHECK(display_modes(p)->active->paths == 2 && display_seen.visible[0] &&
          display_seen.visible[1]);
    calls = connection_seen.timings;
    connections_tell(p, change_monitor(2, CONNECTION_TARGET_DISCONNECTED));
    CHECK_RULE("DISP-096", !connections_target(p, 2) && !connections_target(p, 3) &&
                               connections_target(p, FIRST) &&
                               connection_seen.timings == calls + 1 &&
                               connection_seen.timing[calls].vidpn_paths == 0 &&
                               connections_path(calls, 2)->Input.VidPnPathUpdates == 3 &&
                               connections_path(calls, 3)->Input.VidPnPathUpdates == 3);
    CHECK(!display_seen.visible[0] && !display_seen.visible[1]);
    connections_tell(p, change_monitor(3, CONNECTION_MONITOR_CONNECTED));
    CHECK_RULE("DISP-093", probe_rule(p, "DISP-093") == 1);
    /* the same again, in a place that is free again */
    hang(FIRST, 7);
    plug(7);
    CHECK(IS(connections_indicate(p), STATUS_SUCCESS));
    CHECK_RULE("DISP-096", connections_target(p, 7) && lit(p, 7));
    CHECK(probe_count(p, PROBE_CommitVidPn) == 0);
}

TEST(a_daisy_chain)
{
    begin(with_sources(1, 2), chain);
}

/* The driver supports nothing without it: the target stays until its path is gone. */
static void needed(struct probe *p)
{
    hang(FIRST, 2);
    plug(2);
    plug(FIRST);
    CHECK(IS(connections_indicate(p), STATUS_SUCCESS) && lit(p, 2) && lit(p, FIRST));
    connection.timing_status = STATUS_UNSUCCESSFUL;
    connections_tell(p, change_monitor(2, CONNECTION_TARGET_DISCONNECTED));
    connection.timing_status = STATUS_SUCCESS;
    connections_tell(p, change_monitor(FIRST, CONNECTION_MONITOR_DISCONNECTED));
    CHECK_RULE("DISP-096",
               !connections_target(p, 2) && !lit(p, FIRST) && display_modes(p)->active->paths == 0);
}

TEST(a_target_whose_path_cannot_go)
{
    begin(with_sources(1, 2), needed);
}

static void last_of_a_chain(struct probe *p)
{
    hang(FIRST, 2);
    hang(2, 3);
    plug(2);
    plug(3);
    CHECK(IS(connections_indicate(p), STATUS_SUCCESS));
    connections_tell(p, change_monitor(3, CONNECTION_TARGET_DISCONNECTED));
    CHECK_RULE("DISP-096", connections_target(p, 2) && !connections_target(p, 3) && lit(p, 2));
}

TEST(the_end_of_a_chain)
{
    begin(with_sources(1, 2), last_of_a_chain);
}

/* ---- joined ---- */

static void joined(struct probe *p)
{
    plug(FIRST);
    CHECK(IS(connections_indicate(p), STATUS_SUCCESS) && lit(p, FIRST));
    join(FIRST, 9, DP);
    join(FIRST + 1, 9, DP);
    plug(9);
    CHECK(IS(connections_indicate(p), STATUS_SUCCESS));
    CHECK_RULE("DISP-096",
               connections_target(p, 9) && lit(p, 9) && probe_rule(p, "DISP-096") == 0 &&
                   connections_target(p, FIRST)->joined == connections_target(p, 9) &&
                   connections_target(p, FIRST + 1)->joined == connections_target(p, 9));
    CHECK_RULE("DISP-097", connections_target(p, FIRST) && !lit(p, FIRST));
    connections_tell(p, change_monitor(FIRST, CONNECTION_MONITOR_CONNECTED));
    CHECK_RULE("DISP-093", probe_rule(p, "DISP-093") == 1 && !lit(p, FIRST) && lit(p, 9));
    connections_tell(p, change_monitor(9, CONNECTION_TARGET_DISCONNECTED));
    CHECK_RULE("DISP-096", !connections_target(p, 9) && !connections_target(p, FIRST)->joined);
    plug(FIRST);
    CHECK(IS(connections_indicate(p), STATUS_SUCCESS));
    CHECK_RULE("DISP-097", lit(p, FIRST));
}

TEST(targets_that_are_joined)
{
    begin(with_sources(2, 2), joined);
}

static void part_that_leaves(struct probe *p)
{
    hang(FIRST, 2);
    hang(FIRST, 3);
    CHECK(IS(connections_indicate(p), STATUS_SUCCESS));
    join(2, 9, DP);
    join(3, 9, DP);
    plug(9);
    CHECK(IS(connections_indicate(p), STATUS_SUCCESS) && lit(p, 9));
    connections_tell(p, change_monitor(2, CONNECTION_TARGET_DISCONNECTED));
    CHECK_RULE("DISP-096", !connections_target(p, 2) && !connections_target(p, 9) &&
                               connections_target(p, 3) && !connections_target(p, 3)->joined &&
                               display_modes(p)->active->paths == 0);
}

TEST(a_part_that_leaves)
{
    begin(with_sources(1, 1), part_that_leaves);
}

static void badly_joined(struct probe *p)
{
    join(FIRST, 9, DP);
    join(FIRST + 1, 9, D3DKMDT_VOT_HDMI);
    CHECK(IS(connections_indicate(p), STATUS_SUCCESS));
    CHECK_RULE("DISP-096", probe_rule(p, "DISP-096") == 1 && connections_target(p, 9) &&
                               !connections_target(p, FIRST + 1)->joined);
    join(FIRST + 1, 9, DP);
    CHECK(IS(connections_indicate(p), STATUS_SUCCESS));
    CHECK_RULE("DISP-096",
               probe_rule(p, "DISP-096") == 2 && !connections_target(p, FIRST + 1)->joined);
    join(FIRST, 10, DP);
    CHECK(IS(connections_indicate(p), STATUS_SUCCESS));
    CHECK_RULE("DISP-093", probe_rule(p, "DISP-093") == 1 && !connections_target(p, 10));
}

TEST(targets_that_are_joined_badly)
{
    begin(with_sources(2, 2), badly_joined);
}

/* ---- how many ---- */

static void too_many(struct probe *p)
{
    hang(FIRST, FIRST);
    CHECK(IS(connections_indicate(p), STATUS_SUCCESS));
    CHECK_RULE("DISP-097", probe_rule(p, "DISP-097") == 1);
    for (UINT i = 0; i < 60; i++)
        hang(FIRST, 0x1000 + i);
    CHECK(IS(connections_indicate(p), STATUS_SUCCESS));
    for (UINT i = 60; i < 64; i++)
        hang(FIRST, 0x1000 + i);
    hang(FIRST, 0x1000);
    CHECK(IS(connections_indicate(p), STATUS_SUCCESS));
    CHECK_RULE("DISP-097", probe_rule(p, "DISP-097") == 2 && connections_target(p, 0x103F));
    hang(FIRST, 0x2000);
    CHECK(IS(connections_indicate(p), STATUS_SUCCESS));
    CHECK_RULE("DISP-097", probe_rule(p, "DISP-097") == 3 && !connections_target(p, 0x2000) &&
                               probe_said(p, "DISP-097", "64"));
    connections_tell(p, change_monitor(0x1000, CONNECTION_TARGET_DISCONNECTED));
    hang(FIRST, 0x2000);
    CHECK(IS(connections_indicate(p), STATUS_SUCCESS));
    CHECK_RULE("DISP-097", probe_rule(p, "DISP-097") == 3 && connections_target(p, 0x2000));
}

TEST(how_many_there_can_be)
{
    begin(with_sources(1, 1), too_many);
}

/* ---- analog ---- */

static void blindly(struct probe *p)
{
    DXGK_CONNECTION_CHANGE change = change_monitor(FIRST, CONNECTION_MONITOR_CONNECTED);
    struct modes *modes = display_modes(p);

    change.MonitorConnect.LinkTargetType = D3DKMDT_VOT_HD15;
    connections_tell(p, change);
    CHECK(lit(p, FIRST));
    connections_tell(p, change_monitor(FIRST, CONNECTION_MONITOR_UNKNOWN));
    CHECK_RULE("DISP-095/a", connections_target(p, FIRST)->unknown && !lit(p, FIRST) &&
                                 !connections_target(p, FIRST)->monitor &&
                                 probe_rule(p, "DISP-095") == 0);
    CHECK_RULE("DISP-095/a", IS(display_force(modes, FIRST, true), STATUS_SUCCESS) &&
                                 lit(p, FIRST) && !connections_target(p, FIRST)->monitor);
    CHECK_RULE("VIDPN-216",
               connections_path(connection_seen.timings - 1, FIRST)->Input.IgnoreConnectivity &&
                   connections_path(connection_seen.timings - 1, FIRST)->Input.Active);
    CHECK(display_seen.visible[0]);
    connections_tell(p, change);
    CHECK_RULE("VIDPN-216", connections_target(p, FIRST)->monitor && lit(p, FIRST) &&
                                !connections_target(p, FIRST)->forced);
    change.TargetId = FIRST + 1;
    change.MonitorConnect.LinkTargetType = D3DKMDT_VOT_HDMI;
    connections_tell(p, change);
    connections_tell(p, change_monitor(FIRST + 1, CONNECTION_MONITOR_UNKNOWN));
    CHECK_RULE("DISP-095/b", probe_rule(p, "DISP-095") == 1 &&
                                 connections_target(p, FIRST + 1)->monitor && lit(p, FIRST + 1));
}

TEST(analog_targets)
{
    begin(with_sources(2, 2), blindly);
}
