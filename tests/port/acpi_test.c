/* SPDX-License-Identifier: MIT */
/* Events of firmware on an adapter with outputs, and what a driver asks for by their flags. */
#include "modes/monitor.h"
#include "port/callbacks/acpi_method.h"
#include "port/running/acpi.h"
#include "port/support/display.h"
#include "support/test.h"

#include <string.h>

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

/* ---- methods ---- */

#define ACPI_PANEL 0x400u

static struct {
    struct port_adapter *adapter;
    unsigned calls;
    ULONG device, method, argument, room, answer;
    NTSTATUS status;
} method;

static NTSTATUS evaluate(void *context, struct port_adapter *adapter, ULONG device,
                         const ACPI_EVAL_INPUT_BUFFER_COMPLEX *input, ULONG input_bytes,
                         ACPI_EVAL_OUTPUT_BUFFER *output, ULONG output_bytes)
{
    CHECK(context == &method && input_bytes == sizeof(*input));
    method.calls++;
    method.adapter = adapter;
    method.device = device;
    method.method = input->MethodNameAsUlong;
    method.argument = input->Argument[0].Argument;
    method.room = output_bytes;
    if (output_bytes < sizeof(*output))
        return method.status;
    output->Signature = ACPI_EVAL_OUTPUT_BUFFER_SIGNATURE;
    output->Length = sizeof(*output);
    output->Count = 1;
    output->Argument[0].Type = ACPI_METHOD_ARGUMENT_INTEGER;
    output->Argument[0].DataLength = sizeof(ULONG);
    output->Argument[0].Argument = method.answer;
    return method.status;
}

static NTSTATUS call_method(struct probe *p, ULONG uid, ACPI_EVAL_OUTPUT_BUFFER *output)
{
    ACPI_EVAL_INPUT_BUFFER_COMPLEX input = {
        .Signature = 7, .MethodNameAsUlong = ACPI_METHOD_OUTPUT_BCM, .ArgumentCount = 1};
    NTSTATUS status;

    input.Argument[0].Argument = 55;
    status = p->state[0].dxgk.DxgkCbEvalAcpiMethod(p->state[0].dxgk.DeviceHandle, uid, &input,
                                                   sizeof(input), output,
                                                   output ? sizeof(*output) : 0);
    CHECK_RULE("LIFE-103", input.Signature == ACPI_EVAL_INPUT_BUFFER_COMPLEX_SIGNATURE);
    return status;
}

static void methods_of_children(struct probe *p)
{
    ACPI_EVAL_OUTPUT_BUFFER output = {.Length = 99};

    method.answer = 1234;
    CHECK_RULE("DISP-027", call_method(p, DISPLAY_CHILD, &output) == STATUS_SUCCESS &&
                               method.calls == 1 && method.device == ACPI_PANEL);
    CHECK(method.adapter == p->adapter[0] && method.method == ACPI_METHOD_OUTPUT_BCM &&
          method.argument == 55 && method.room == sizeof(output));
    CHECK_RULE("LIFE-103", output.Signature == ACPI_EVAL_OUTPUT_BUFFER_SIGNATURE &&
                               output.Length == sizeof(output) && output.Count == 1 &&
                               output.Argument[0].Argument == 1234);
    CHECK_RULE("LIFE-103", call_method(p, DISPLAY_ADAPTER_HW_ID, NULL) == STATUS_SUCCESS &&
                               method.device == DISPLAY_ADAPTER_HW_ID && method.room == 0);
    /* the identifier of firmware is none of a child; nor is a child without one an ACPI device */
    CHECK_RULE("DISP-027",
               call_method(p, ACPI_PANEL, NULL) == STATUS_OBJECT_NAME_NOT_FOUND &&
                   call_method(p, DISPLAY_CHILD + 1, NULL) == STATUS_OBJECT_NAME_NOT_FOUND &&
                   method.calls == 2);
    CHECK_RULE("DISP-027", display_modes(p)->targets == 2 &&
                               display_modes(p)->target[0].id == DISPLAY_CHILD &&
                               display_seen.commit[0].target == DISPLAY_CHILD);
    method.status = STATUS_OBJECT_NAME_NOT_FOUND;
    output.Length = 99;
    CHECK_RULE("LIFE-104", call_method(p, DISPLAY_CHILD, &output) == method.status &&
                               method.calls == 3 && output.Length == 99);
    port_acpi_methods_set(NULL);
    CHECK_RULE("LIFE-104", call_method(p, DISPLAY_CHILD, &output) == STATUS_OBJECT_NAME_NOT_FOUND &&
                               method.calls == 3 && output.Length == 99);
}

TEST(methods_of_firmware_are_those_of_the_identifier_it_knows)
{
    static const struct port_acpi_methods methods = {.evaluate = evaluate, .context = &method};
    struct probe *p = make();

    memset(&method, 0, sizeof(method));
    polled_first(p);
    p->child[0].AcpiUid = ACPI_PANEL;
    port_acpi_methods_set(&methods);
    start(p, methods_of_children);
}
