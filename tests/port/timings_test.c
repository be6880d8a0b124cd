/* SPDX-License-Identifier: MIT */
/* DxgkDdiSetTimingsFromVidPn: what it is told, and what it answers. */
#include "modes/monitor.h"
#include "modes/timings.h"
#include "port/support/connections.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define FIRST              DISPLAY_CHILD
#define SECOND             (DISPLAY_CHILD + 1)

enum { UNMODIFIED, ADDED, MODIFIED, REMOVED };

static struct probe *two_outputs(void)
{
    struct probe *p = connections_create(NULL);

    display.outputs = display.sources = 2;
    return p;
}

static void begin(struct probe *p, void (*body)(struct probe *p))
{
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    probe_end(p, body);
}

static UINT update_of(UINT call, UINT target)
{
    const DXGK_SET_TIMING_PATH_INFO *path = connections_path(call, target);

    return path ? path->Input.VidPnPathUpdates : 99;
}

/* The element of the last call. */
static const DXGK_SET_TIMING_PATH_INFO *now(UINT target)
{
    return connections_path(connection_seen.timings - 1, target);
}

/* ---- what it is told ---- */

static void of_two(struct probe *p)
{
    const struct connection_timing *t = &connection_seen.timing[0];

    CHECK_RULE("VIDPN-212", connection_seen.timings == 1 && t->paths == 2 && t->flags == 0 &&
                                t->vidpn_paths == 2 && t->clean);
    CHECK_RULE("VIDPN-213", t->path[0].VidPnTargetId == FIRST && t->path[1].VidPnTargetId == SECOND);
    CHECK_RULE("VIDPN-214", update_of(0, FIRST) == ADDED && update_of(0, SECOND) == ADDED);
    CHECK_RULE("VIDPN-215", t->path[0].Input.Active && t->path[1].Input.Active);
    CHECK_RULE("VIDPN-216",
               !t->path[0].Input.IgnoreConnectivity && !t->path[0].Input.PreserveInherited);
    CHECK_RULE("VIDPN-219", (t->path[0].InputFlags >> 5) == 0);
    CHECK_RULE("VIDPN-217", t->path[0].SelectedWireFormat.Rgb == D3DKMDT_BITS_PER_COMPONENT_08 &&
                                (t->path[0].SelectedWireFormat.Value & ~3u) ==
                                    (D3DKMDT_BITS_PER_COMPONENT_08 << 2) &&
                                (int)t->path[0].OutputWireColorSpace == 0);

    CHECK(NT_SUCCESS(display_ask_mode(p, 1, 800, 600, 0)));
    CHECK_RULE("VIDPN-214", connection_seen.timings == 2 && connection_seen.timing[1].paths == 2 &&
                                update_of(1, FIRST) == UNMODIFIED &&
                                update_of(1, SECOND) == MODIFIED);
    connections_tell(p, change_monitor(FIRST, CONNECTION_MONITOR_DISCONNECTED));
    CHECK_RULE("VIDPN-214", connection_seen.timings == 3 && connection_seen.timing[2].paths == 2 &&
                                connection_seen.timing[2].vidpn_paths == 1 &&
                                update_of(2, FIRST) == REMOVED &&
                                update_of(2, SECOND) == UNMODIFIED);
    CHECK_RULE("VIDPN-213", connection_seen.timing[2].path[1].VidPnTargetId == FIRST);
    connections_tell(p, change_monitor(FIRST, CONNECTION_MONITOR_CONNECTED));
    CHECK_RULE("VIDPN-214", update_of(3, FIRST) == ADDED && connection_seen.timing[3].paths == 2);
    CHECK(probe_count(p, PROBE_CommitVidPn) == 0);
}

TEST(paths_that_change)
{
    begin(two_outputs(), of_two);
}

static void off_and_on(struct probe *p)
{
    const size_t powers = probe_count(p, PROBE_SetPowerState);

    CHECK(IS(display_power(display_modes(p), FIRST, false), STATUS_SUCCESS));
    CHECK_RULE("VIDPN-215", connection_seen.timings == 2 &&
                                connection_seen.timing[1].vidpn_paths == 1 &&
                                update_of(1, FIRST) == UNMODIFIED && !now(FIRST)->Input.Active);
    CHECK_RULE("VIDPN-222", !display_seen.visible[0] &&
                                probe_count(p, PROBE_SetPowerState) == powers + 1 &&
                                probe_nth(p, PROBE_SetPowerState, powers)->arg[1] == FIRST &&
                                probe_nth(p, PROBE_SetPowerState, powers)->arg[2] == PowerDeviceD3);
    CHECK(NT_SUCCESS(display_ask_mode(p, 0, 800, 600, 0))); /* while it is off */
    CHECK_RULE("VIDPN-215", connection_seen.timings == 3 && update_of(2, FIRST) == MODIFIED &&
                                !now(FIRST)->Input.Active);
    CHECK(IS(display_power(display_modes(p), FIRST, true), STATUS_SUCCESS));
    CHECK_RULE("VIDPN-215", connection_seen.timings == 4 && update_of(3, FIRST) == UNMODIFIED &&
                                now(FIRST)->Input.Active);
    CHECK_RULE("VIDPN-222",
               display_seen.visible[0] &&
                   probe_nth(p, PROBE_SetPowerState, powers + 1)->arg[2] == PowerDeviceD0);
}

TEST(a_display_that_is_turned_off)
{
    begin(connections_create(NULL), off_and_on);
}

static D3DKMDT_WIRE_FORMAT_AND_PREFERENCE wire(UINT rgb, UINT y444, UINT y422, UINT y420, UINT grey)
{
    D3DKMDT_WIRE_FORMAT_AND_PREFERENCE w = {.Value = 0};

    w.Rgb = rgb & 0x3F;
    w.YCbCr444 = y444 & 0x3F;
    w.YCbCr422 = y422 & 0x3F;
    w.YCbCr420 = y420 & 0x3F;
    w.Intensity = grey & 0x3F;
    return w;
}

static bool gives(D3DKMDT_WIRE_FORMAT_AND_PREFERENCE offered,
                  D3DKMDT_WIRE_FORMAT_AND_PREFERENCE wanted)
{
    struct probe *p = connections_create(NULL);
    bool same;

    offered.Preference = D3DKMDT_MP_PREFERRED;
    display.target_mode[0].WireFormatAndPreference = offered;
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    same = connection_seen.timing[0].path[0].SelectedWireFormat.Value == wanted.Value;
    display_end(p);
    return same;
}

TEST(the_wire_format)
{
    CHECK_RULE("VIDPN-218", gives(wire(0x3F, 0x3F, 0, 0, 0), wire(2, 0, 0, 0, 0)));
    CHECK_RULE("VIDPN-218", gives(wire(0x3D, 0x3F, 0, 0, 0), wire(1, 0, 0, 0, 0)));
    CHECK_RULE("VIDPN-218", gives(wire(0, 0x0C, 0x3F, 0, 0), wire(0, 4, 0, 0, 0)));
    CHECK_RULE("VIDPN-218", gives(wire(0, 0, 0x3E, 0x3F, 0), wire(0, 0, 2, 0, 0)));
    CHECK_RULE("VIDPN-218", gives(wire(0, 0, 0, 0x38, 0x3F), wire(0, 0, 0, 8, 0)));
    CHECK_RULE("VIDPN-218", gives(wire(0, 0, 0, 0, 0x30), wire(0, 0, 0, 0, 0x10)));
    CHECK_RULE("VIDPN-105", gives(wire(0x22, 0, 0, 0, 0x3F), wire(2, 0, 0, 0, 0)));
    CHECK(gives(wire(0, 0, 0, 0, 0), wire(2, 0, 0, 0, 0)));
}

/* ---- what it answers ---- */

static void fails(struct probe *p)
{
    const struct vidpn *before = display_modes(p)->active;

    connection.timing_status = STATUS_GRAPHICS_INVALID_VIDPN_TOPOLOGY;
    CHECK_RULE("VIDPN-221",
               IS(display_ask_mode(p, 0, 800, 600, 0), STATUS_GRAPHICS_INVALID_VIDPN_TOPOLOGY) &&
                   display_modes(p)->active == before && display_seen.visible[0]);
    connection.timing_status = STATUS_SUCCESS;
    CHECK(NT_SUCCESS(display_ask_mode(p, 0, 800, 600, 0)));
    CHECK_RULE("VIDPN-221", update_of(connection_seen.timings - 1, FIRST) == MODIFIED);

    connection.timing_status = STATUS_UNSUCCESSFUL;
    connections_tell(p, change_monitor(FIRST, CONNECTION_MONITOR_DISCONNECTED));
    CHECK_RULE("VIDPN-221", probe_rule(p, "VIDPN-184") == 1 &&
                                display_modes(p)->active->paths == 1 &&
                                !connections_target(p, FIRST)->monitor);
    connection.timing_status = STATUS_SUCCESS;
}

TEST(a_status_that_fails)
{
    begin(two_outputs(), fails);
}

static void ask_after_it(struct probe *p)
{
    const UINT queries = connection_seen.queries;

    connection.changes = true;
    CHECK(NT_SUCCESS(display_ask_mode(p, 0, 800, 600, 0)));
    probe_sleep(1000000);
    connection.changes = false;
    CHECK_RULE(
        "VIDPN-220",
        connection_seen.queries == queries + 1 &&
            connection_seen.timing[1].order <
                probe_nth(p, PROBE_QueryConnectionChange, connection_seen.queries - 1)->order);
    CHECK(NT_SUCCESS(display_ask_mode(p, 0, 1024, 768, 0)));
    probe_sleep(1000000);
    CHECK_RULE("VIDPN-220", connection_seen.queries == queries + 1);
}

TEST(changes_of_connections)
{
    begin(connections_create(NULL), ask_after_it);
}

static void wrong_state(DXGKARG_SETTIMINGSFROMVIDPN *args)
{
    args->pSetTimingPathInfo[0].TargetState.ConnectionChangeId = 0;
}

static void other_target(DXGKARG_SETTIMINGSFROMVIDPN *args)
{
    args->pSetTimingPathInfo[0].TargetState.ConnectionChangeId = 1000;
    args->pSetTimingPathInfo[0].TargetState.TargetId = 1;
}

static void states(struct probe *p)
{
    CHECK_RULE("VIDPN-221", probe_rule(p, "VIDPN-221") == 0);
    connection.in_timing = wrong_state;
    CHECK(NT_SUCCESS(display_ask_mode(p, 0, 800, 600, 0)));
    CHECK_RULE("VIDPN-221", probe_rule(p, "VIDPN-221") == 1);
    connection.in_timing = other_target;
    CHECK(NT_SUCCESS(display_ask_mode(p, 0, 1024, 768, 0)));
    CHECK_RULE("VIDPN-221", probe_rule(p, "VIDPN-221") == 2);
}

TEST(the_state_of_a_target)
{
    begin(connections_create(NULL), states);
}

/* ---- links ---- */

static void lower_modes(struct probe *p)
{
    static const UINT sizes[][2] = {{1024, 768}, {800, 600}, {640, 480}, {640, 400}, {512, 384}};

    (void)p;
    for (UINT i = 0; i < 5; i++) {
        display.source_mode[i] = display_source_mode(sizes[i][0], sizes[i][1]);
        display.target_mode[i] = full_target_mode(sizes[i][0], sizes[i][1], 60);
        display.target_mode[i].WireFormatAndPreference.Preference = i ? D3DKMDT_MP_NOTPREFERRED
                                                                      : D3DKMDT_MP_PREFERRED;
    }
    display.source_modes = display.target_modes = 5;
}

static bool is_size(UINT call, UINT width, UINT height)
{
    return connection_seen.timing[call].size.cx == width &&
           connection_seen.timing[call].size.cy == height;
}

static void fails_once(struct probe *p)
{
    const size_t enums = probe_count(p, PROBE_EnumVidPnCofuncModality);

    CHECK(is_size(0, 1024, 768));
    connections_tell(p, change_monitor(FIRST, CONNECTION_LINK_STARTED));
    CHECK_RULE("DISP-098", connections_target(p, FIRST)->stopped && connection_seen.timings == 1);
    connections_tell(p, change_monitor(FIRST, CONNECTION_LINK_FAILED));
    probe_sleep(1000000);
    CHECK_RULE("DISP-098", connection_seen.timings == 2 && is_size(1, 800, 600) &&
                               update_of(1, FIRST) == MODIFIED &&
                               probe_count(p, PROBE_EnumVidPnCofuncModality) > enums &&
                               probe_nth(p, PROBE_EnumVidPnCofuncModality, enums)->order <
                                   connection_seen.timing[1].order);
    connections_tell(p, change_monitor(FIRST, CONNECTION_LINK_SUCCEEDED));
    CHECK_RULE("DISP-099", connections_target(p, FIRST)->retries == 0 &&
                               probe_rule(p, "DISP-099") == 0 && connection_seen.timings == 2);
}

TEST(a_link_that_fails)
{
    struct probe *p = connections_create(NULL);

    lower_modes(p);
    begin(p, fails_once);
}

static void fails_always(struct probe *p)
{
    probe_sleep(10000000);
    CHECK_RULE("DISP-099", connection_seen.timings == 5 && is_size(0, 1024, 768) &&
                               is_size(1, 800, 600) && is_size(2, 640, 480) &&
                               is_size(3, 640, 400) && probe_rule(p, "DISP-099") == 1);
    CHECK_RULE("DISP-099",
               connection_seen.timing[4].vidpn_paths == 0 && update_of(4, FIRST) == REMOVED &&
                   display_modes(p)->active->paths == 0 && connections_target(p, FIRST)->monitor);
    /* another monitor is tried again */
    connection.link = 0;
    connections_tell(p, change_monitor(FIRST, CONNECTION_MONITOR_DISCONNECTED));
    connections_tell(p, change_monitor(FIRST, CONNECTION_MONITOR_CONNECTED));
    CHECK_RULE("DISP-099", connection_seen.timings == 6 && is_size(5, 1024, 768));
}

TEST(a_link_that_always_fails)
{
    struct probe *p = connections_create(NULL);

    lower_modes(p);
    connection.link = CONNECTION_LINK_FAILED;
    begin(p, fails_always);
}

static void told_twice(struct probe *p)
{
    connection.link = CONNECTION_LINK_FAILED;
    connection.queue_link = true;
    CHECK(NT_SUCCESS(display_ask_mode(p, 0, 640, 480, 0)));
    connection.link = 0;
    probe_sleep(10000000);
    CHECK_RULE("VIDPN-221", probe_rule(p, "VIDPN-221") == 0 && probe_rule(p, "DISP-092") == 0);
    CHECK_RULE("DISP-098",
               connection_seen.timings == 3 && is_size(1, 640, 480) && is_size(2, 640, 400));
    CHECK(IS(connections_indicate(p), STATUS_SUCCESS));
    probe_sleep(10000000);
    CHECK_RULE("VIDPN-221", connection_seen.timings == 3 && probe_rule(p, "DISP-092") == 0);
}

TEST(a_failure_that_the_queue_has_too)
{
    struct probe *p = connections_create(NULL);

    lower_modes(p);
    begin(p, told_twice);
}

static void stays_dark(struct probe *p)
{
    probe_sleep(10000000);
    CHECK(!vidpn_path_to(display_modes(p)->active, FIRST));
    connections_tell(p, change_monitor(SECOND, CONNECTION_MONITOR_CONNECTED));
    CHECK_RULE("DISP-099", vidpn_path_to(display_modes(p)->active, SECOND) &&
                               !vidpn_path_to(display_modes(p)->active, FIRST) &&
                               probe_rule(p, "DISP-099") == 1);
}

TEST(a_path_that_was_dropped)
{
    struct probe *p = two_outputs();

    lower_modes(p);
    display.connected[1] = false;
    connection.link = CONNECTION_LINK_FAILED;
    connection.link_target = FIRST;
    begin(p, stays_dark);
}
