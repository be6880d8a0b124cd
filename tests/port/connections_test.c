/* SPDX-License-Identifier: MIT */
/* The connection change model: who uses it, detection, the queue, and monitors that it brings. */
#include "modes/monitor.h"
#include "port/running/post.h"
#include "port/support/connections.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define FIRST              DISPLAY_CHILD
#define SECOND             (DISPLAY_CHILD + 1)

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

static size_t count_of(enum connection_control type)
{
    size_t count = 0;

    for (UINT i = 0; i < connection_seen.controls; i++)
        count += connection_seen.control[i].Type == type;
    return count;
}

/* ---- who uses it ---- */

TEST(a_driver_with_all_three_entries)
{
    struct probe *p = connections_create(NULL);

    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("DISP-083/a", probe_count(p, PROBE_QueryChildStatus) == 0 &&
                                 probe_rule(p, "DISP-083") == 0 &&
                                 connections_target(p, FIRST)->monitor != NULL);
    CHECK_RULE("VIDPN-211", probe_count(p, PROBE_CommitVidPn) == 0 && connection_seen.timings == 1 &&
                                probe_nth(p, PROBE_SetTimingsFromVidPn, 0)->irql == PASSIVE_LEVEL);
    CHECK_RULE("DISP-085", count_of(CONNECTION_ENABLE) == 1 && connection_seen.controls == 1 &&
                               probe_nth(p, PROBE_DisplayDetectControl, 0)->irql == PASSIVE_LEVEL &&
                               probe_nth(p, PROBE_QueryChildRelations, 0)->order <
                                   probe_nth(p, PROBE_DisplayDetectControl, 0)->order);
    CHECK(display_seen.failure == 0 && display_seen.visible[0]);
    (void)probe_stop(p);
    CHECK_RULE("DISP-085", count_of(CONNECTION_DISABLE) == 1 && connection_seen.controls == 2 &&
                               probe_nth(p, PROBE_DisplayDetectControl, 1)->order <
                                   probe_nth(p, PROBE_StopDevice, 0)->order);
    probe_destroy(p);
}

TEST(the_same_in_strict_mode)
{
    const struct probe_options strict = {.strict = true};
    struct probe *p = connections_create(&strict);

    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("DISP-083/a", display_seen.visible[0] && connection_seen.timings == 1 &&
                                 probe_count(p, PROBE_CommitVidPn) == 0);
    display_end(p);
}

static void keeps_the_old_model(enum probe_ddi missing, const char *name)
{
    struct probe *p = connections_create(NULL);

    probe_set_entry(p, missing, false);
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("DISP-083/b", probe_rule(p, "DISP-083") == 1 && probe_said(p, "DISP-083", name) &&
                                 probe_count(p, PROBE_QueryChildStatus) == 1 &&
                                 display_seen.commits == 1 && connection_seen.timings == 0 &&
                                 connection_seen.controls == 0);
    display_end(p);
}

TEST(a_driver_with_two_of_them)
{
    struct probe *p;

    keeps_the_old_model(PROBE_QueryConnectionChange, "DxgkDdiQueryConnectionChange");
    keeps_the_old_model(PROBE_DisplayDetectControl, "DxgkDdiDisplayDetectControl");
    keeps_the_old_model(PROBE_SetTimingsFromVidPn, "DxgkDdiSetTimingsFromVidPn");

    p = full_display_create(NULL);
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("DISP-084", probe_count(p, PROBE_QueryChildStatus) == 1 &&
                               display_seen.commits == 1 && probe_rule(p, "DISP-083") == 0);
    display_end(p);
}

TEST(a_driver_of_an_older_version)
{
    const struct probe_options older = {.version = DXGKDDI_INTERFACE_VERSION_WDDM2_1};
    struct probe *p = connections_create(&older);

    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("DISP-083/b", probe_count(p, PROBE_QueryChildStatus) == 1 &&
                                 display_seen.commits == 1 && probe_rule(p, "DISP-083") == 0);
    display_end(p);
}

static void indicate_the_old_way(struct probe *p)
{
    DXGK_CHILD_STATUS status = {.Type = StatusConnection, .ChildUid = FIRST};

    CHECK_RULE("DISP-083/a",
               IS(p->state[0].dxgk.DxgkCbIndicateChildStatus(p->state[0].dxgk.DeviceHandle, &status),
                  STATUS_NOT_SUPPORTED) &&
                   probe_rule(p, "DISP-083") == 1);
    CHECK(connections_target(p, FIRST)->monitor != NULL);
}

TEST(the_old_callback_is_not_for_it)
{
    begin(connections_create(NULL), indicate_the_old_way);
}

TEST(target_ids_of_24_bits)
{
    const struct probe_options strict = {.strict = true};
    struct probe *p = connections_create(&strict);

    p->child[0].ChildDeviceType = TypeVideoOutput;
    p->child[0].ChildUid = 0x1000000;
    p->child[0].ChildCapabilities.HpdAwareness = HpdAwarenessInterruptible;
    p->child[0].ChildCapabilities.Type.VideoOutput.InterfaceTechnology = D3DKMDT_VOT_HDMI;
    p->child[0].ChildCapabilities.Type.VideoOutput.MonitorOrientationAwareness = D3DKMDT_MOA_NONE;
    CHECK_RULE("DISP-026", IS(probe_start(p), STATUS_DEVICE_CONFIGURATION_ERROR) &&
                               probe_rule(p, "DISP-026") == 1);
    probe_destroy(p);
}

/* ---- detection ---- */

TEST(detection_that_fails)
{
    struct probe *p = connections_create(NULL);

    connection.enable_status = STATUS_UNSUCCESSFUL;
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("DISP-086", probe_rule(p, "DISP-086") == 1 && connection_seen.timings == 0 &&
                               connection_seen.queries == 0);
    (void)probe_stop(p);
    CHECK(connection_seen.controls == 1);
    probe_destroy(p);
}

static NTSTATUS poll_all(struct modes *modes, void *arg)
{
    connections_poll_all(modes, *(const bool *)arg);
    return STATUS_SUCCESS;
}

static NTSTATUS poll_one(struct modes *modes, void *arg)
{
    return connections_poll_one(modes, *(const UINT *)arg, true);
}

static void poll(struct probe *p)
{
    bool careful = true;
    UINT target = SECOND;
    const DXGKARG_DISPLAYDETECTCONTROL *last = &connection_seen.control[1];

    CHECK(IS(display_do(display_modes(p), poll_all, &careful), STATUS_SUCCESS));
    CHECK_RULE("DISP-087", connection_seen.controls == 2 && last->Type == CONNECTION_POLL_ALL &&
                               last->NonDestructiveOnly && !last->Reserved);
    careful = false;
    connection.poll_status = STATUS_UNSUCCESSFUL;
    CHECK(IS(display_do(display_modes(p), poll_all, &careful), STATUS_SUCCESS));
    CHECK_RULE("DISP-086", probe_rule(p, "DISP-086") == 0);
    CHECK_RULE("DISP-087", !last[1].NonDestructiveOnly);
    CHECK(IS(display_do(display_modes(p), poll_one, &target), STATUS_SUCCESS));
    CHECK_RULE("DISP-087", last[2].Type == CONNECTION_POLL_ONE && last[2].TargetId == SECOND);
    target = 0x555;
    CHECK_RULE("DISP-087", IS(display_do(display_modes(p), poll_one, &target),
                              STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET) &&
                               connection_seen.controls == 4);
}

TEST(polls)
{
    begin(two_outputs(), poll);
}

static void poll_in_vain(struct probe *p)
{
    bool careful = true;

    CHECK(IS(display_do(display_modes(p), poll_all, &careful), STATUS_SUCCESS));
    CHECK_RULE("DISP-087", connection_seen.controls == 1);
}

TEST(no_polls_without_detection)
{
    struct probe *p = connections_create(NULL);

    connection.enable_status = STATUS_UNSUCCESSFUL;
    begin(p, poll_in_vain);
}

/* ---- the queue ---- */

static void drain(struct probe *p)
{
    const UINT before = connection_seen.queries;
    const size_t arrivals = probe_count(p, PROBE_QueryDeviceDescriptor);

    CHECK(before == 3); /* two monitors, and the end */
    connections_queue(change_monitor(FIRST, CONNECTION_MONITOR_DISCONNECTED));
    connections_queue(change_monitor(SECOND, CONNECTION_MONITOR_DISCONNECTED));
    connections_queue(change_monitor(FIRST, CONNECTION_MONITOR_CONNECTED));
    CHECK_RULE("DISP-088",
               IS(p->state[0].dxgk.DxgkCbIndicateConnectorChange(p->state[0].dxgk.DeviceHandle),
                  STATUS_SUCCESS) &&
                   connection_seen.queries == before);
    probe_sleep(1000000);
    CHECK_RULE("DISP-088",
               connection_seen.queries == before + 4 && connection_seen.given == 5 &&
                   probe_nth(p, PROBE_QueryConnectionChange, before)->irql == PASSIVE_LEVEL);
    CHECK_RULE("DISP-090", connections_target(p, FIRST)->monitor &&
                               !connections_target(p, SECOND)->monitor &&
                               probe_count(p, PROBE_QueryDeviceDescriptor) > arrivals);
    CHECK_RULE("DISP-091", connection_seen.zeroed);
    CHECK_RULE("DISP-092", probe_rule(p, "DISP-092") == 0);
}

TEST(one_indication_drains_the_queue)
{
    begin(two_outputs(), drain);
}

static void in_dpc(struct probe *p, struct probe_call *call)
{
    (void)call;
    for (unsigned i = 0; i < 3; i++)
        CHECK_RULE("DISP-089/a",
                   IS(p->state[0].dxgk.DxgkCbIndicateConnectorChange(p->state[0].dxgk.DeviceHandle),
                      STATUS_SUCCESS));
}

static void from_a_dpc(struct probe *p)
{
    const UINT before = connection_seen.queries;

    p->after[PROBE_DpcRoutine] = in_dpc;
    connections_queue(change_monitor(FIRST, CONNECTION_MONITOR_DISCONNECTED));
    probe_device_cause(0, PROBE_CAUSE_TEST, 0);
    probe_sleep(10000000);
    CHECK(probe_count(p, PROBE_DpcRoutine) > 0);
    CHECK_RULE("DISP-089/a", connection_seen.queries == before + 2 &&
                                 !connections_target(p, FIRST)->monitor &&
                                 probe_rule(p, "DISP-089") == 0);
}

TEST(it_can_be_indicated_in_a_dpc)
{
    begin(connections_create(NULL), from_a_dpc);
}

static void without_the_model(struct probe *p)
{
    CHECK_RULE("DISP-089/a",
               IS(p->state[0].dxgk.DxgkCbIndicateConnectorChange(p->state[0].dxgk.DeviceHandle),
                  STATUS_NOT_SUPPORTED) &&
                   probe_rule(p, "DISP-089") == 1);
}

TEST(indications_of_other_drivers)
{
    begin(full_display_create(NULL), without_the_model);
}

TEST(an_old_host_does_not_have_it)
{
    const struct probe_options older = {
        .version = DXGKDDI_INTERFACE_VERSION_WIN8,
        .port = {.interface_version = DXGKDDI_INTERFACE_VERSION_WIN8}};
    struct probe *p = display_create(&older);

    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("DISP-089/b",
               p->state[0].dxgk.Size <= offsetof(DXGKRNL_INTERFACE, DxgkCbIndicateConnectorChange));
    display_end(p);
}

static void end_of_the_queue(struct probe *p)
{
    connection.query_status = STATUS_UNSUCCESSFUL;
    CHECK(IS(connections_indicate(p), STATUS_SUCCESS));
    CHECK_RULE("DISP-091", connection_seen.queries == 3 && probe_rule(p, "DISP-091") == 1);
    connection.query_status = 0;
    connection.endless = true;
    CHECK(IS(connections_indicate(p), STATUS_SUCCESS));
    CHECK_RULE("DISP-091", connection_seen.queries == 3 + 1024 && probe_rule(p, "DISP-091") == 2);
}

TEST(a_queue_without_an_end)
{
    begin(connections_create(NULL), end_of_the_queue);
}

static void ids(struct probe *p)
{
    const UINT timings = connection_seen.timings;

    connections_queue_as(change_monitor(FIRST, CONNECTION_MONITOR_DISCONNECTED), 7);
    connections_queue_as(change_monitor(FIRST, CONNECTION_MONITOR_CONNECTED), 7);
    CHECK(IS(connections_indicate(p), STATUS_SUCCESS));
    CHECK_RULE("DISP-092", probe_rule(p, "DISP-092") == 1 &&
                               !connections_target(p, FIRST)->monitor &&
                               connection_seen.timings == timings + 1);
    connections_queue_as(change_monitor(FIRST, CONNECTION_MONITOR_CONNECTED), 6);
    CHECK(IS(connections_indicate(p), STATUS_SUCCESS));
    CHECK_RULE("DISP-092", probe_rule(p, "DISP-092") == 2 && !connections_target(p, FIRST)->monitor);
    connections_queue_as(change_monitor(SECOND, CONNECTION_MONITOR_CONNECTED), 7);
    CHECK(IS(connections_indicate(p), STATUS_SUCCESS));
    CHECK_RULE("DISP-092", probe_rule(p, "DISP-092") == 3);
    connections_queue_as(change_monitor(FIRST, CONNECTION_MONITOR_CONNECTED), 8);
    CHECK(IS(connections_indicate(p), STATUS_SUCCESS));
    CHECK_RULE("DISP-092", probe_rule(p, "DISP-092") == 3 && connections_target(p, FIRST)->monitor);
}

TEST(ids_increase)
{
    begin(two_outputs(), ids);
}

/* ---- what changes ---- */

static void strangers(struct probe *p)
{
    const UINT timings = connection_seen.timings;

    connections_tell(p, change_monitor(0x777, CONNECTION_MONITOR_CONNECTED));
    CHECK_RULE("DISP-093", probe_rule(p, "DISP-093") == 1 && connection_seen.timings == timings);
    connections_tell(p, change_monitor(FIRST, (enum connection_status)3));
    CHECK_RULE("DISP-093", probe_rule(p, "DISP-093") == 2 && connection_seen.timings == timings);
    /* a child of the adapter cannot leave */
    connections_tell(p, change_monitor(FIRST, CONNECTION_TARGET_DISCONNECTED));
    CHECK_RULE("DISP-093", probe_rule(p, "DISP-093") == 3 && connection_seen.timings == timings &&
                               connections_target(p, FIRST)->monitor);
}

TEST(changes_of_no_target)
{
    begin(connections_create(NULL), strangers);
}

static void technologies(struct probe *p)
{
    DXGK_CONNECTION_CHANGE change = change_monitor(FIRST, CONNECTION_MONITOR_CONNECTED);

    connections_tell(p, change_monitor(FIRST, CONNECTION_MONITOR_DISCONNECTED));
    CHECK_RULE("DISP-094/a", !connections_target(p, FIRST)->monitor &&
                                 connection_seen.timing[1].vidpn_paths == 0);
    change.MonitorConnect.LinkTargetType = D3DKMDT_VOT_DISPLAYPORT_EXTERNAL;
    connections_tell(p, change);
    CHECK_RULE("DISP-094/a",
               connections_target(p, FIRST)->monitor &&
                   connections_target(p, FIRST)->technology == D3DKMDT_VOT_DISPLAYPORT_EXTERNAL &&
                   connection_seen.timing[2].vidpn_paths == 1);
    connections_tell(p, change_monitor(FIRST, CONNECTION_MONITOR_DISCONNECTED));
    change.MonitorConnect.LinkTargetType = D3DKMDT_VOT_INTERNAL;
    connections_tell(p, change);
    CHECK_RULE("DISP-094/b",
               !connections_target(p, FIRST)->monitor && probe_rule(p, "DISP-094") == 1);
    change.MonitorConnect.LinkTargetType = D3DKMDT_VOT_MIRACAST;
    connections_tell(p, change);
    CHECK_RULE("DISP-094/b",
               !connections_target(p, FIRST)->monitor && probe_rule(p, "DISP-094") == 2);
}

TEST(monitors_of_a_technology)
{
    begin(connections_create(NULL), technologies);
}

static void usb4(struct probe *p)
{
    connections_tell(p, change_monitor(FIRST, CONNECTION_MONITOR_DISCONNECTED));
    connection.usb4 = true;
    connections_tell(p, change_monitor(FIRST, CONNECTION_MONITOR_CONNECTED));
    CHECK_RULE("DISP-100", probe_rule(p, "DISP-100") == (p->user ? 0u : 1u) &&
                               connections_target(p, FIRST)->monitor);
}

static void answer_extension(struct probe *p, struct probe_call *call)
{
    (void)p;
    if (call->query_type != DXGKQAITYPE_DISPLAY_DRIVERCAPS_EXTENSION)
        return;
    ((DXGK_DISPLAY_DRIVERCAPS_EXTENSION *)call->query.pOutputData)->SupportUsb4Targets = 1;
    call->answered = true;
    call->result = STATUS_SUCCESS;
}

TEST(monitors_by_usb4)
{
    const struct probe_options newest = {.version = DXGKDDI_INTERFACE_VERSION_WDDM3_0};
    struct probe *p = connections_create(&newest);

    begin(p, usb4);
    p = connections_create(&newest);
    p->before[PROBE_QueryAdapterInfo] = answer_extension;
    p->user = p;
    begin(p, usb4);
}

/* ---- sleep ---- */

static void sleep_and_wake(struct probe *p)
{
    const UINT timings = connection_seen.timings;

    CHECK(
        IS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep), STATUS_SUCCESS));
    CHECK_RULE("DISP-085", count_of(CONNECTION_DISABLE) == 1);
    CHECK_RULE("VIDPN-222", connection_seen.timings == timings + 2 && !display_seen.visible[0] &&
                                connections_path(timings + 1, FIRST) &&
                                !connections_path(timings + 1, FIRST)->Input.Active &&
                                !connections_path(timings + 1, SECOND)->Input.Active);
    connections_queue(change_monitor(SECOND, CONNECTION_MONITOR_DISCONNECTED));
    CHECK(IS(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone), STATUS_SUCCESS));
    probe_sleep(10000000);
    CHECK_RULE("DISP-085", count_of(CONNECTION_ENABLE) == 2);
    CHECK(display_seen.visible[0] && !connections_target(p, SECOND)->monitor);
}

TEST(detection_around_sleep)
{
    begin(two_outputs(), sleep_and_wake);
}
