/* SPDX-License-Identifier: MIT */
/* Events of firmware on an adapter with outputs, and what a driver asks for by their flags. */
#include "modes/monitor.h"
#include "port/running/acpi.h"
#include "port/support/display.h"
#include "support/test.h"

static ULONG flags, before_call;
static NTSTATUS answer;

static void answer_event(struct probe *p, struct probe_call *call)
{
    ULONG *out = (ULONG *)(uintptr_t)call->arg[4];

    (void)p;
    before_call = *out;
    *out = flags;
    call->answered = true;
    call->result = (uint64_t)answer;
}

static struct probe *make(void)
{
    struct probe *p = display_create(NULL);

    flags = 0;
    answer = STATUS_SUCCESS;
    probe_set_entry(p, PROBE_NotifyAcpiEvent, true);
    p->before[PROBE_NotifyAcpiEvent] = answer_event;
    display.outputs = display.sources = 2;
    return p;
}

static void polled_first(struct probe *p)
{
    for (UINT i = 0; i < 2; i++)
        p->child[i] = (DXGK_CHILD_DESCRIPTOR){
            .ChildDeviceType = TypeVideoOutput,
            .ChildUid = DISPLAY_CHILD + i,
            .ChildCapabilities = {
                .HpdAwareness = i ? HpdAwarenessInterruptible : HpdAwarenessPolled,
                .Type.VideoOutput = {.InterfaceTechnology = D3DKMDT_VOT_HDMI,
                                     .MonitorOrientationAwareness = D3DKMDT_MOA_NONE}}};
}

static void start(struct probe *p, void (*body)(struct probe *p))
{
    CHECK(probe_start(p) == STATUS_SUCCESS);
    probe_end(p, body);
}

/* ---- what the driver sees ---- */

static void each_event(struct probe *p)
{
    static const struct {
        DXGK_EVENT_TYPE type;
        ULONG event, argument;
    } events[] = {{DxgkAcpiEvent, ACPI_NOTIFY_CYCLE_DISPLAY_HOTKEY, 0},
                  {DxgkAcpiEvent, ACPI_NOTIFY_NEXT_DISPLAY_HOTKEY, 0},
                  {DxgkAcpiEvent, ACPI_NOTIFY_PREV_DISPLAY_HOTKEY, 0},
                  {DxgkAcpiEvent, ACPI_NOTIFY_DEVICE_HOTPLUG, 0},
                  {DxgkAcpiEvent, ACPI_NOTIFY_PANEL_SWITCH, 0},
                  {DxgkAcpiEvent, ACPI_NOTIFY_VIDEO_WAKEUP, 0},
                  {DxgkAcpiEvent, ACPI_NOTIFY_DOCK_EVENT, 0},
                  {DxgkDockingEvent, ACPI_NOTIFY_DOCK_EVENT, 0},
                  {DxgkPowerStateEvent, PO_CB_LID_SWITCH_STATE, 1},
                  {DxgkPowerStateEvent, PO_CB_LID_SWITCH_STATE, 0},
                  {DxgkPowerStateEvent, PO_CB_AC_STATUS, 1}};

    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        const struct probe_call *call;

        flags = 0;
        before_call = 99;
        CHECK(port_adapter_notify_acpi(p->adapter[0], events[i].type, events[i].event,
                                       events[i].argument) == STATUS_SUCCESS);
        call = probe_nth(p, PROBE_NotifyAcpiEvent, i);
        CHECK_RULE("DISP-154", call->arg[1] == (uint64_t)events[i].type &&
                                   call->arg[2] == events[i].event &&
                                   call->arg[3] == events[i].argument && call->irql == 0);
        CHECK_RULE("DISP-156/a", before_call == 0);
    }
    CHECK(port_adapter_notify_mains(p->adapter[0], false) == STATUS_SUCCESS);
    CHECK_RULE("DISP-154", probe_nth(p, PROBE_NotifyAcpiEvent, 11)->arg[2] == PO_CB_AC_STATUS &&
                               probe_nth(p, PROBE_NotifyAcpiEvent, 11)->arg[3] == 0);
}

TEST(events_reach_the_driver)
{
    start(make(), each_event);
}

static void no_outputs(struct probe *p)
{
    CHECK_RULE("DISP-154",
               port_adapter_notify_acpi(p->adapter[0], DxgkAcpiEvent, ACPI_NOTIFY_DOCK_EVENT, 0) ==
                       STATUS_NOT_SUPPORTED &&
                   probe_count(p, PROBE_NotifyAcpiEvent) == 0);
}

TEST(only_where_outputs_are)
{
    struct probe *p = probe_create(NULL);

    probe_set_entry(p, PROBE_NotifyAcpiEvent, true);
    start(p, no_outputs);
}

/* ---- polls ---- */

static void polls(struct probe *p)
{
    probe_sleep(60 * PROBE_SECOND);
    CHECK_RULE("DISP-042/a", probe_count(p, PROBE_QueryChildStatus) == 2);
    flags = DXGK_ACPI_POLL_DISPLAY_CHILDREN;
    display.connected[0] = false;
    CHECK(port_adapter_notify_acpi(p->adapter[0], DxgkAcpiEvent, ACPI_NOTIFY_DEVICE_HOTPLUG, 0) ==
          STATUS_SUCCESS);
    CHECK_RULE("DISP-155/a", probe_count(p, PROBE_QueryChildStatus) == 3 &&
                                 !display_modes(p)->target[0].monitor && !display_seen.visible[0] &&
                                 display_modes(p)->active->paths == 1);
    CHECK_RULE("DISP-041/a", probe_nth(p, PROBE_QueryChildStatus, 2)->arg[2] == TRUE);
    flags = 0; /* of the driver: after a dock event the host polls by itself */
    display.connected[0] = true;
    CHECK(port_adapter_notify_acpi(p->adapter[0], DxgkDockingEvent, ACPI_NOTIFY_DOCK_EVENT, 0) ==
          STATUS_SUCCESS);
    CHECK_RULE("DISP-042/c", probe_count(p, PROBE_QueryChildStatus) == 4 &&
                                 display_modes(p)->target[0].monitor && display_seen.visible[0]);
    flags = DXGK_ACPI_POLL_DISPLAY_CHILDREN;
    answer = STATUS_UNSUCCESSFUL;
    CHECK(port_adapter_notify_acpi(p->adapter[0], DxgkAcpiEvent, ACPI_NOTIFY_DEVICE_HOTPLUG, 0) ==
          STATUS_UNSUCCESSFUL);
    CHECK_RULE("DISP-155/a", probe_count(p, PROBE_QueryChildStatus) == 4);
}

TEST(flags_ask_for_a_poll)
{
    struct probe *p = make();

    polled_first(p);
    start(p, polls);
}

/* ---- lids and docks ---- */

static UINT told;
static bool tell_connected;

/* The driver tells of outputs from inside the event. */
static void tell_inside(struct probe *p, struct probe_call *call)
{
    answer_event(p, call);
    for (UINT i = 0; i < told; i++) {
        DXGK_CHILD_STATUS status = {.Type = StatusConnection, .ChildUid = DISPLAY_CHILD + i};
        const UINT commits = display_seen.commits;

        status.HotPlug.Connected = display.connected[i] = tell_connected;
        CHECK(p->state[0].dxgk.DxgkCbIndicateChildStatus(p->state[0].dxgk.DeviceHandle, &status) ==
              STATUS_SUCCESS);
        probe_sleep(1000000);
        CHECK_RULE("DISP-058", display_seen.commits == commits);
    }
}

static void lid(struct probe *p)
{
    told = 1;
    tell_connected = false;
    CHECK(port_adapter_notify_acpi(p->adapter[0], DxgkPowerStateEvent, PO_CB_LID_SWITCH_STATE, 0) ==
          STATUS_SUCCESS);
    probe_sleep(PROBE_SECOND);
    CHECK_RULE("DISP-056", !display_modes(p)->target[0].monitor &&
                               !vidpn_path_to(display_modes(p)->active, DISPLAY_CHILD));
    tell_connected = true;
    CHECK(port_adapter_notify_acpi(p->adapter[0], DxgkPowerStateEvent, PO_CB_LID_SWITCH_STATE, 1) ==
          STATUS_SUCCESS);
    probe_sleep(PROBE_SECOND);
    CHECK_RULE("DISP-056", display_modes(p)->target[0].monitor &&
                               vidpn_path_to(display_modes(p)->active, DISPLAY_CHILD));
}

TEST(a_lid_is_a_connection)
{
    struct probe *p = make();

    p->before[PROBE_NotifyAcpiEvent] = tell_inside;
    start(p, lid);
}

static void docks(struct probe *p)
{
    const struct modes *modes = display_modes(p);

    told = 2;
    tell_connected = true;
    CHECK(!modes->target[0].monitor && !modes->target[1].monitor);
    CHECK(port_adapter_notify_acpi(p->adapter[0], DxgkDockingEvent, ACPI_NOTIFY_DOCK_EVENT, 0) ==
          STATUS_SUCCESS);
    probe_sleep(PROBE_SECOND);
    CHECK_RULE("DISP-058",
               modes->target[0].monitor && modes->target[1].monitor &&
                   modes->target[0].monitor->arrival < modes->target[1].monitor->arrival &&
                   modes->active->paths == 2);
}

TEST(docking_tells_of_outputs)
{
    struct probe *p = make();

    display.connected[0] = display.connected[1] = false;
    p->before[PROBE_NotifyAcpiEvent] = tell_inside;
    start(p, docks);
}

/* ---- other flags ---- */

static void bad_flags(struct probe *p)
{
    flags = 0x10;
    CHECK(port_adapter_notify_acpi(p->adapter[0], DxgkAcpiEvent, ACPI_NOTIFY_PANEL_SWITCH, 0) ==
          STATUS_SUCCESS);
    CHECK_RULE("DISP-156/b", probe_rule(p, "DISP-156") == 1 &&
                                 probe_record(p, "DISP-156")->severity == VERIFY_WARNING);
    flags = DXGK_ACPI_CHAIN_NOT_HANDLED;
    CHECK(port_adapter_notify_acpi(p->adapter[0], DxgkAcpiEvent, ACPI_NOTIFY_PANEL_SWITCH, 0) ==
          STATUS_SUCCESS);
    CHECK_RULE("DISP-156/b", probe_rule(p, "DISP-156") == 2);
    CHECK(port_adapter_notify_acpi(p->adapter[0], DxgkChainedAcpiEvent, ACPI_NOTIFY_PANEL_SWITCH,
                                   0) == STATUS_SUCCESS);
    CHECK_RULE("DISP-156/b", probe_rule(p, "DISP-156") == 2);
}

TEST(flags_that_mean_nothing)
{
    start(make(), bad_flags);
}

static void anew(struct probe *p)
{
    const UINT commits = display_seen.commits;

    CHECK(display_ask_mode(p, 0, 640, 480, 0) == STATUS_SUCCESS);
    display_modes(p)->target[0].last = (D3DKMDT_2DREGION){800, 600};
    flags = DXGK_ACPI_CHANGE_DISPLAY_TOPOLOGY;
    CHECK(port_adapter_notify_acpi(p->adapter[0], DxgkAcpiEvent, ACPI_NOTIFY_PANEL_SWITCH, 0) ==
          STATUS_SUCCESS);
    CHECK_RULE("DISP-156/c", display_seen.commits == commits + 2 &&
                                 display_seen.commit[commits + 1].size.cx == 800 &&
                                 probe_count(p, PROBE_RecommendFunctionalVidPn) == 0);
}

TEST(flags_ask_for_another_topology)
{
    start(make(), anew);
}
