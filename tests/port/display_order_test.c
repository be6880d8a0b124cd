/* SPDX-License-Identifier: MIT */
/* The order in which a driver with displays is asked at its start, and who asks it. */
#include "ddi/entries_display.h"
#include "modes/monitor.h"
#include "port/support/client.h"
#include "port/support/panels.h"
#include "sim/thread.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))

static const struct probe_options plain = {0};

static void add_child(struct probe *p, unsigned i, DXGK_CHILD_DEVICE_TYPE type, ULONG uid,
                      DXGK_CHILD_DEVICE_HPD_AWARENESS awareness)
{
    memset(&p->child[i], 0, sizeof(p->child[i]));
    p->child[i].ChildDeviceType = type;
    p->child[i].ChildUid = uid;
    p->child[i].ChildCapabilities.HpdAwareness = awareness;
    if (type != TypeVideoOutput)
        return;
    p->child[i].ChildCapabilities.Type.VideoOutput.InterfaceTechnology = D3DKMDT_VOT_HDMI;
    p->child[i].ChildCapabilities.Type.VideoOutput.MonitorOrientationAwareness = D3DKMDT_MOA_NONE;
}

/* As the n-th QueryChildStatus was called. */
static struct {
    unsigned calls;
    DXGK_CHILD_STATUS status[16];
    BOOLEAN quiet[16];
} statuses;

static void note_status(struct probe *p, struct probe_call *call)
{
    (void)p;
    statuses.status[statuses.calls % 16] = *(DXGK_CHILD_STATUS *)(uintptr_t)call->arg[1];
    statuses.quiet[statuses.calls++ % 16] = (BOOLEAN)call->arg[2];
}

/* An output that is always there, one that is not a child of displays, and two that tell. */
static struct probe *with_four(const struct probe_options *options)
{
    struct probe *p = display_create(options);

    memset(&statuses, 0, sizeof(statuses));
    p->before[PROBE_QueryChildStatus] = note_status;
    display.outputs = 4;
    display.sources = 3;
    add_child(p, 0, TypeVideoOutput, DISPLAY_CHILD, HpdAwarenessAlwaysConnected);
    add_child(p, 1, TypeVideoOutput, DISPLAY_CHILD + 1, HpdAwarenessInterruptible);
    add_child(p, 2, TypeOther, 9, HpdAwarenessInterruptible);
    add_child(p, 3, TypeVideoOutput, DISPLAY_CHILD + 3, HpdAwarenessPolled);
    return p;
}

TEST(each_child_that_can_change_is_asked_once)
{
    struct probe *p = with_four(&plain);
    static const ULONG uids[] = {DISPLAY_CHILD + 1, 9, DISPLAY_CHILD + 3};

    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("DISP-039", statuses.calls == 3);
    for (unsigned i = 0; i < 3; i++) {
        const DXGK_CHILD_STATUS wanted = {.Type = StatusConnection, .ChildUid = uids[i]};

        CHECK_RULE("DISP-039", statuses.status[i].ChildUid == uids[i]);
        CHECK_RULE("DISP-038", memcmp(&statuses.status[i], &wanted, sizeof(wanted)) == 0 &&
                                   statuses.quiet[i] <= 1);
        CHECK_RULE("DISP-041/a", statuses.quiet[i] == TRUE);
        CHECK_RULE("DISP-039", probe_nth(p, PROBE_QueryChildStatus, i)->left <=
                                   probe_nth(p, PROBE_EnumVidPnCofuncModality, 0)->order);
    }
    CHECK_RULE("DISP-039", display_modes(p)->target[0].monitor &&
                               display_modes(p)->target[1].monitor &&
                               display_modes(p)->target[2].monitor);
    display_end(p);
}

TEST(a_child_that_is_no_output_has_no_picture)
{
    struct probe *p = with_four(&plain);

    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("DISP-035", display_modes(p)->targets == 3 && display_seen.commits == 3);
    for (UINT i = 0; i < display_seen.commits; i++)
        CHECK_RULE("DISP-035", display_seen.commit[i].target != 9);
    /* its descriptor is the generic one: asked once, of its size, at its begin */
    for (size_t i = 0; i < probe_count(p, PROBE_QueryDeviceDescriptor); i++)
        CHECK_RULE("DISP-035",
                   (probe_nth(p, PROBE_QueryDeviceDescriptor, i)->arg[1] == 9) == (i == 0));
    display_end(p);

    p = with_four(&plain);
    p->child[2].ChildCapabilities.Type.Other.MustBeZero = 1;
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("DISP-035", probe_rule(p, "LIFE-078") == 1);
    display_end(p);
}

/* ---- answers ---- */

static void fail_second(struct probe *p, struct probe_call *call)
{
    note_status(p, call);
    call->answered = true;
    call->result = (uint64_t)(uint32_t)STATUS_UNSUCCESSFUL;
    ((DXGK_CHILD_STATUS *)(uintptr_t)call->arg[1])->HotPlug.Connected = TRUE;
}

static void change_type(struct probe *p, struct probe_call *call)
{
    (void)p;
    ((DXGK_CHILD_STATUS *)(uintptr_t)call->arg[1])->Type = StatusRotation;
    ((DXGK_CHILD_STATUS *)(uintptr_t)call->arg[1])->HotPlug.Connected = TRUE;
}

static void change_uid(struct probe *p, struct probe_call *call)
{
    (void)p;
    ((DXGK_CHILD_STATUS *)(uintptr_t)call->arg[1])->ChildUid++;
    ((DXGK_CHILD_STATUS *)(uintptr_t)call->arg[1])->HotPlug.Connected = TRUE;
}

static void sleep_long(struct probe *p)
{
    (void)p;
    probe_sleep(60 * PROBE_SECOND);
}

TEST(a_child_that_gives_no_status_stays_as_it_was)
{
    struct probe *p = display_create(NULL);

    memset(&statuses, 0, sizeof(statuses));
    p->before[PROBE_QueryChildStatus] = fail_second;
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK(probe_run(p, sleep_long) == SIM_DONE);
    CHECK_RULE("DISP-040", probe_rule(p, "DISP-040") == 1 && statuses.calls == 1 &&
                               probe_record(p, "DISP-040")->severity == VERIFY_WARNING &&
                               display_seen.commits == 0 && !display_modes(p)->target[0].monitor);
    display_end(p);

    for (unsigned i = 0; i < 2; i++) {
        p = display_create(NULL);
        p->after[PROBE_QueryChildStatus] = i ? change_uid : change_type;
        CHECK(IS(probe_start(p), STATUS_SUCCESS));
        CHECK_RULE("DISP-040", probe_rule(p, "DISP-040") == 1 &&
                                   probe_record(p, "DISP-040")->severity == VERIFY_ERROR &&
                                   display_seen.commits == 0 &&
                                   !display_modes(p)->target[0].monitor);
        display_end(p);
    }
}

static void fail_once_lit(struct probe *p)
{
    p->before[PROBE_QueryChildStatus] = fail_second;
    CHECK(NT_SUCCESS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep)));
    CHECK(NT_SUCCESS(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone)));
    CHECK_RULE("DISP-040", probe_rule(p, "DISP-040") == 1 && display_modes(p)->target[0].monitor);
}

TEST(a_monitor_stays_where_the_driver_says_nothing)
{
    display_run(NULL, fail_once_lit);
}

/* ---- the order of a start ---- */

static uint64_t begin_of(const struct probe *p, enum probe_ddi ddi)
{
    return probe_nth(p, ddi, 0)->order;
}

/* All calls of the first come before all calls of the second. */
static bool precedes(const struct probe *p, enum probe_ddi first, enum probe_ddi second)
{
    const size_t last = probe_count(p, first) - 1;

    return probe_nth(p, first, last)->left <= begin_of(p, second);
}

TEST(a_start_has_its_order)
{
    struct probe *p = with_four(&plain);
    const struct probe_call *descriptor;
    const ULONG order[] = {9, DISPLAY_CHILD, DISPLAY_CHILD + 1, DISPLAY_CHILD + 3};
    unsigned at = 0;

    probe_set_entry(p, PROBE_ControlEtwLogging, true);
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("DISP-170",
               precedes(p, PROBE_StartDevice, PROBE_QueryChildRelations) &&
                   precedes(p, PROBE_QueryChildRelations, PROBE_QueryAdapterInfo) &&
                   precedes(p, PROBE_QueryAdapterInfo, PROBE_QueryChildStatus) &&
                   precedes(p, PROBE_QueryChildStatus, PROBE_QueryDeviceDescriptor) &&
                   precedes(p, PROBE_QueryDeviceDescriptor, PROBE_EnumVidPnCofuncModality) &&
                   precedes(p, PROBE_RecommendMonitorModes, PROBE_EnumVidPnCofuncModality) &&
                   precedes(p, PROBE_CommitVidPn, PROBE_ControlEtwLogging));
    /* of the child that is no output, and of arrivals in table order */
    for (size_t i = 0; i < probe_count(p, PROBE_QueryDeviceDescriptor); i++) {
        descriptor = probe_nth(p, PROBE_QueryDeviceDescriptor, i);
        if (at + 1 < 4 && descriptor->arg[1] == order[at + 1])
            at++;
        CHECK_RULE("DISP-170", descriptor->arg[1] == order[at]);
    }
    CHECK_RULE("DISP-170", at == 3);
    display_end(p);
}

/* A panel, an output, a child that is none, and another output. */
static struct probe *full_with_four(void)
{
    struct probe *p = panels_create(DXGKDDI_INTERFACE_VERSION_WDDM2_4, 1, 3);

    add_child(p, 1, TypeVideoOutput, DISPLAY_CHILD + 1, HpdAwarenessInterruptible);
    add_child(p, 2, TypeOther, 9, HpdAwarenessInterruptible);
    add_child(p, 3, TypeVideoOutput, DISPLAY_CHILD + 3, HpdAwarenessPolled);
    probe_set_entry(p, PROBE_ControlEtwLogging, true);
    return p;
}

TEST(a_start_of_a_full_driver_has_its_order)
{
    struct probe *p = full_with_four();
    const struct probe_call *panel_query, *last, *system;
    const ULONG order[] = {9, DISPLAY_CHILD + 1, DISPLAY_CHILD + 3};
    unsigned at = 0;

    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    last = probe_query(p, DXGKQAITYPE_DISPLAY_DRIVERCAPS_EXTENSION, 0);
    panel_query = probe_query(p, DXGKQAITYPE_INTEGRATED_DISPLAY_DESCRIPTOR2, 0);
    system = probe_nth(p, PROBE_CreateProcess, 0);
    CHECK(last && panel_query && probe_count(p, PROBE_CreateDevice) == 2);
    CHECK_RULE("DISP-170",
               precedes(p, PROBE_StartDevice, PROBE_QueryChildRelations) &&
                   precedes(p, PROBE_QueryChildRelations, PROBE_QueryAdapterInfo) &&
                   last->left <= system->order &&
                   precedes(p, PROBE_CreateProcess, PROBE_CreateDevice) &&
                   precedes(p, PROBE_CreateDevice, PROBE_CreateContext) &&
                   begin_of(p, PROBE_CreateContext) < begin_of(p, PROBE_SetRootPageTable) &&
                   begin_of(p, PROBE_SetRootPageTable) < panel_query->order);
    CHECK_RULE("DISP-170",
               panel_query->left <= begin_of(p, PROBE_QueryChildStatus) &&
                   precedes(p, PROBE_QueryChildStatus, PROBE_QueryDeviceDescriptor) &&
                   precedes(p, PROBE_QueryDeviceDescriptor, PROBE_EnumVidPnCofuncModality) &&
                   precedes(p, PROBE_CommitVidPn, PROBE_ControlEtwLogging));
    for (size_t i = 0; i < probe_count(p, PROBE_QueryDeviceDescriptor); i++) {
        const struct probe_call *descriptor = probe_nth(p, PROBE_QueryDeviceDescriptor, i);

        at += at + 1 < 3 && descriptor->arg[1] == order[at + 1];
        CHECK_RULE("DISP-170", descriptor->arg[1] == order[at]);
    }
    CHECK_RULE("DISP-170", at == 2);
    display_end(p);
}

static struct probe_client *watcher;
static ULONG listed;

static void list_adapters(struct probe *p)
{
    D3DKMT_ENUMADAPTERS all = {0};

    (void)p;
    CHECK(IS(D3DKMTEnumAdapters(&all), STATUS_SUCCESS));
    listed = all.NumAdapters;
}

static void look_in_commit(struct probe *p, const DXGKARG_COMMITVIDPN *args,
                           const DXGK_VIDPN_INTERFACE *vidpn)
{
    (void)args;
    (void)vidpn;
    display.in_commit = NULL;
    listed = 99;
    watcher = probe_client_start(p, list_adapters);
    while (!watcher->done)
        probe_sleep(1000);
    CHECK_RULE("DISP-170", listed == 0);
    CHECK_RULE("KMT-044", listed == 0);
}

TEST(users_come_after_the_first_commit)
{
    for (unsigned full_driver = 0; full_driver < 2; full_driver++)
        for (unsigned monitor = 0; monitor < 2; monitor++) {
            struct probe *p = full_driver ? full_display_create(NULL) : display_create(NULL);

            watcher = NULL;
            probe_clients_begin(p);
            display.connected[0] = monitor;
            display.in_commit = look_in_commit;
            CHECK(IS(probe_start(p), STATUS_SUCCESS));
            CHECK(display_seen.commits == monitor && !watcher == !monitor);
            if (watcher)
                probe_client_end(p, watcher);
            probe_client_end(p, probe_client_run(p, list_adapters));
            CHECK_RULE("DISP-170", listed == 1);
            CHECK(probe_stop(p) == 0);
            probe_clients_end(p);
            probe_destroy(p);
        }
}

/* ---- one worker ---- */

static const enum probe_ddi display_ddis[] = {
    PROBE_QueryChildStatus,
    PROBE_QueryDeviceDescriptor,
    PROBE_RecommendMonitorModes,
    PROBE_IsSupportedVidPn,
    PROBE_EnumVidPnCofuncModality,
    PROBE_CommitVidPn,
    PROBE_GetChildContainerId,
    PROBE_SetVidPnSourceVisibility,
    PROBE_UpdateActiveVidPnPresentPath,
    PROBE_QueryVidPnHWCapability,
};

static bool is_of_displays(const struct probe_call *call)
{
    for (size_t i = 0; i < sizeof(display_ddis) / sizeof(display_ddis[0]); i++)
        if (call->ddi == display_ddis[i])
            return true;
    return false;
}

static void be_slow(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    probe_sleep(1000000);
}

static void note_monitor(struct probe *p, UINT output, bool connected)
{
    DXGK_CHILD_STATUS status = {.Type = StatusConnection, .ChildUid = DISPLAY_CHILD + output};

    status.HotPlug.Connected = connected;
    display.connected[output] = connected;
    CHECK(NT_SUCCESS(
        p->state[0].dxgk.DxgkCbIndicateChildStatus(p->state[0].dxgk.DeviceHandle, &status)));
}

static void turn_it(struct probe *p)
{
    (void)display_ask_mode(p, 0, 1024, 768, 1);
}

static void plug_two(struct probe *p)
{
    struct sim_thread *other;
    const struct probe_call *last = NULL;
    unsigned seen = 0;

    probe_forget(p);
    for (size_t i = 0; i < sizeof(display_ddis) / sizeof(display_ddis[0]); i++)
        if (display_ddis[i] != PROBE_EnumVidPnCofuncModality &&
            display_ddis[i] != PROBE_CommitVidPn &&
            display_ddis[i] != PROBE_SetVidPnSourceVisibility)
            p->before[display_ddis[i]] = be_slow;
    note_monitor(p, 1, true);
    note_monitor(p, 2, true);
    other = probe_thread(p, probe_process(p, "other"), "other", turn_it);
    probe_sleep(PROBE_SECOND);
    sim_thread_release(other);
    for (size_t i = 0; i < p->calls; i++) {
        const struct probe_call *call = p->call[i];

        if (!is_of_displays(call))
            continue;
        if (last)
            CHECK_RULE("DISP-172", call->thread == last->thread && call->order >= last->left);
        last = call;
        seen++;
    }
    CHECK_RULE("DISP-172", seen > 4 && display_modes(p)->target[1].monitor &&
                               display_modes(p)->target[2].monitor);
    CHECK_RULE("DISP-172", display_modes(p)->target[1].monitor->arrival <
                               display_modes(p)->target[2].monitor->arrival);
}

TEST(one_thread_asks_about_displays)
{
    struct probe *p = display_create(NULL);

    display.outputs = display.sources = 3;
    display.connected[1] = display.connected[2] = false;
    probe_set_entry(p, PROBE_GetChildContainerId, true);
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    probe_end(p, plug_two);
}

/* ---- two threads of the host, beside the worker ---- */

static ULONG asked_child;

static void ask_container(struct probe *p)
{
    DXGK_CHILD_CONTAINER_ID id = {0};

    (void)ddi_get_child_container_id(port_adapter_ddi(p->adapter[0]), DISPLAY_CHILD, &id);
}

static void ask_status(struct probe *p)
{
    DXGK_CHILD_STATUS status = {.Type = StatusConnection, .ChildUid = asked_child};

    (void)ddi_query_child_status(port_adapter_ddi(p->adapter[0]), &status, TRUE);
}

/* Do the calls of the two overlap? */
static bool overlap(struct probe *p, ULONG child)
{
    struct sim_thread *a, *b;
    const struct probe_call *x, *y;

    asked_child = child;
    probe_forget(p);
    a = probe_thread(p, probe_process(p, "a"), "a", ask_container);
    b = probe_thread(p, probe_process(p, "b"), "b", ask_status);
    while (!sim_thread_ended(a) || !sim_thread_ended(b))
        probe_sleep(1000000);
    sim_thread_release(a);
    sim_thread_release(b);
    x = probe_nth(p, PROBE_GetChildContainerId, 0);
    y = probe_nth(p, PROBE_QueryChildStatus, 0);
    return x->order < y->left && y->order < x->left;
}

static void ask_beside(struct probe *p)
{
    p->before[PROBE_GetChildContainerId] = p->before[PROBE_QueryChildStatus] = be_slow;
    CHECK_RULE("DISP-171", !overlap(p, DISPLAY_CHILD));
    CHECK_RULE("DISP-172", !overlap(p, DISPLAY_CHILD)); /* GetChildContainerId belongs to it */
    CHECK_RULE("DISP-171", overlap(p, DISPLAY_CHILD + 1));
}

TEST(one_call_at_a_time_is_about_a_child)
{
    struct probe *p = display_create(NULL);

    display.outputs = 2;
    probe_set_entry(p, PROBE_GetChildContainerId, true);
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    probe_end(p, ask_beside);
}
