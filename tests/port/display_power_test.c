/* SPDX-License-Identifier: MIT */
/* Displays that are turned off and on, alone and with the adapter. */
#include "port/support/display.h"
#include "sim/thread.h"
#include "support/test.h"

#include <string.h>

/* v0 V0: source 0 invisible, visible; c0 p0: commit, with PathPowerTransition; o0: with PathPoweredOff; D0 to D3, E0 to E3:
 * power of the first child, of another one; A0 to A3: of the adapter; P0: picture of source 0;
 * Q0: status of a child is asked. */
static char steps[256];

static void step(const char *what, unsigned n)
{
    const size_t at = strlen(steps);

    if (at + 4 >= sizeof(steps))
        return;
    steps[at] = *what;
    steps[at + 1] = (char)('0' + n);
}

static bool steps_are(const char *wanted)
{
    const bool are = strcmp(steps, wanted) == 0;

    if (!are)
        print_message("steps: %s, wanted: %s\n", steps, wanted);
    memset(steps, 0, sizeof(steps));
    return are;
}

static void note_visibility(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SETVIDPNSOURCEVISIBILITY *args =
        (const DXGKARG_SETVIDPNSOURCEVISIBILITY *)(uintptr_t)call->arg[1];

    (void)p;
    step(args->Visible ? "V" : "v", args->VidPnSourceId);
}

static void note_commit(struct probe *p, const DXGKARG_COMMITVIDPN *args,
                        const DXGK_VIDPN_INTERFACE *v)
{
    (void)p;
    (void)v;
    CHECK_RULE("VIDPN-175/d", args->Flags.Reserved == 0);
    step(args->Flags.PathPoweredOff        ? "o"
         : args->Flags.PathPowerTransition ? "p"
                                           : "c",
         args->AffectedVidPnSourceId);
}

static void note_power(struct probe *p, struct probe_call *call)
{
    const ULONG uid = (ULONG)call->arg[1];

    (void)p;
    step(uid == DISPLAY_ADAPTER_HW_ID ? "A"
         : uid == DISPLAY_CHILD       ? "D"
                                      : "E",
         (unsigned)call->arg[2] - (unsigned)PowerDeviceD0);
    if (uid != DISPLAY_ADAPTER_HW_ID)
        CHECK_RULE("DISP-150", uid >= DISPLAY_CHILD && uid < DISPLAY_CHILD + display.outputs &&
                                   (POWER_ACTION)call->arg[3] == PowerActionNone);
}

static NTSTATUS note_present(struct probe *p, const DXGKARG_PRESENT_DISPLAYONLY *args)
{
    (void)p;
    step("P", args->VidPnSourceId);
    return STATUS_SUCCESS;
}

static void note_question(struct probe *p, struct probe_call *call)
{
    CHECK_RULE("DISP-153", (BOOLEAN)call->arg[2] == TRUE || probe_count(p, PROBE_CommitVidPn) == 0);
    step("Q", 0);
}

static struct probe *watched(UINT count)
{
    struct probe *p = display_create(NULL);

    memset(steps, 0, sizeof(steps));
    display.sources = display.outputs = count;
    p->before[PROBE_SetVidPnSourceVisibility] = note_visibility;
    p->before[PROBE_SetPowerState] = note_power;
    p->before[PROBE_QueryChildStatus] = note_question;
    display.in_commit = note_commit;
    display.in_present = note_present;
    return p;
}

static void begin(struct probe *p)
{
    for (UINT source = 0; source < display.sources; source++)
        if (vidpn_paths_from(display_modes(p)->active, source))
            CHECK(screens_settle(display_screens(p), source));
    memset(steps, 0, sizeof(steps));
}

static void run(struct probe *p, void (*body)(struct probe *p))
{
    CHECK(probe_start(p) == STATUS_SUCCESS);
    probe_end(p, body);
}

static const struct display_commit *last_commit(void)
{
    return &display_seen.commit[(display_seen.commits - 1) % 64];
}

static NTSTATUS turn(struct probe *p, UINT output, bool on)
{
    return display_power(display_modes(p), DISPLAY_CHILD + output, on);
}

static NTSTATUS set_power(struct probe *p, DEVICE_POWER_STATE state)
{
    return port_adapter_set_power(p->adapter[0], state,
                                  state == PowerDeviceD0 ? PowerActionNone : PowerActionSleep);
}

static void settle(struct probe *p)
{
    for (UINT source = 0; source < display.sources; source++)
        if (vidpn_paths_from(display_modes(p)->active, source))
            CHECK(screens_settle(display_screens(p), source));
}

/* ---- one display ---- */

static void check_off_and_on(struct probe *p)
{
    size_t enums;

    begin(p);
    CHECK_RULE("DISP-151", probe_count(p, PROBE_SetPowerState) == 0);
    CHECK(display_ask_mode(p, 0, 800, 600, 1) == STATUS_SUCCESS);
    begin(p);
    enums = probe_count(p, PROBE_EnumVidPnCofuncModality);
    CHECK(turn(p, 0, false) == STATUS_SUCCESS);
    CHECK_RULE("VIDPN-176", last_commit()->paths == 0 && last_commit()->power);
    CHECK_RULE("PRES-246", steps_are("v0p0D3"));
    CHECK(turn(p, 0, false) == STATUS_SUCCESS);
    CHECK_RULE("DISP-151", steps_are(""));
    CHECK(turn(p, 0, true) == STATUS_SUCCESS);
    settle(p);
    CHECK_RULE("PRES-247", steps_are("D0p0V0P0"));
    CHECK_RULE("VIDPN-177", last_commit()->paths == 1 && last_commit()->power &&
                                last_commit()->size.cx == 800 &&
                                last_commit()->rotation == D3DKMDT_VPPR_ROTATE90 &&
                                probe_count(p, PROBE_EnumVidPnCofuncModality) == enums);
    CHECK_RULE("VIDPN-175/b", last_commit()->power);
    CHECK(display_seen.failure == 0);
}

TEST(off_and_on)
{
    run(watched(1), check_off_and_on);
}

static void check_one_of_two(struct probe *p)
{
    begin(p);
    CHECK(turn(p, 0, false) == STATUS_SUCCESS);
    CHECK_RULE("VIDPN-176", steps_are("v0p0D3") && last_commit()->paths == 1);
    CHECK(turn(p, 0, true) == STATUS_SUCCESS);
    settle(p);
    CHECK_RULE("VIDPN-177", steps_are("D0p0V0P0") && last_commit()->paths == 2 &&
                                last_commit()->target == DISPLAY_CHILD);
}

TEST(one_of_two)
{
    run(watched(2), check_one_of_two);
}

static void check_replug(struct probe *p)
{
    begin(p);
    CHECK(turn(p, 0, false) == STATUS_SUCCESS && steps_are("v0p0D3"));
    display_indicate(p, 0, false);
    CHECK_RULE("DISP-151", steps_are(""));
    display_indicate(p, 0, true);
    settle(p);
    CHECK_RULE("DISP-151", steps_are("c0V0P0"));
    CHECK(turn(p, 1, false) == STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_TARGET);
    display_indicate(p, 0, false);
    CHECK(turn(p, 0, false) == STATUS_GRAPHICS_MONITOR_NOT_CONNECTED);
}

/* A monitor that comes is on, whatever the one before was. */
TEST(another_monitor_is_on)
{
    run(watched(1), check_replug);
}

static void fail_child(struct probe *p, struct probe_call *call)
{
    (void)p;
    if ((ULONG)call->arg[1] != DISPLAY_ADAPTER_HW_ID)
        probe_fail_call(p, call);
}

static void check_failing_child(struct probe *p)
{
    CHECK_RULE("DISP-150", turn(p, 0, false) == STATUS_SUCCESS && probe_rule(p, "DISP-150") == 1);
}

TEST(a_child_must_not_fail)
{
    struct probe *p = watched(1);

    p->before[PROBE_SetPowerState] = fail_child;
    run(p, check_failing_child);
}

static void check_change_while_off(struct probe *p)
{
    begin(p);
    CHECK(turn(p, 0, false) == STATUS_SUCCESS && steps_are("v0p0D3"));
    CHECK(display_ask_mode(p, 0, 640, 480, 0) == STATUS_SUCCESS);
    CHECK_RULE("VIDPN-178", steps_are("o0") && last_commit()->paths == 1 &&
                                last_commit()->size.cx == 640 && !last_commit()->power &&
                                display_modes(p)->active->paths == 0);
    CHECK_RULE("VIDPN-175/c", !display_seen.visible[0]);
    CHECK(display_ask_mode(p, 0, 641, 480, 0) == STATUS_INVALID_PARAMETER && steps_are(""));
    CHECK(turn(p, 0, true) == STATUS_SUCCESS);
    settle(p);
    CHECK_RULE("VIDPN-178", steps_are("D0p0V0P0") && last_commit()->size.cx == 640);
}

TEST(another_mode_while_it_is_off)
{
    run(watched(1), check_change_while_off);
}

/* ---- with the adapter ---- */

static void check_sleep(struct probe *p)
{
    size_t enums;

    CHECK(display_ask_mode(p, 1, 640, 480, 2) == STATUS_SUCCESS);
    begin(p);
    enums = probe_count(p, PROBE_EnumVidPnCofuncModality);
    CHECK(set_power(p, PowerDeviceD3) == STATUS_SUCCESS);
    CHECK_RULE("PRES-249", steps_are("v0p0D3v1p1E3A3"));
    CHECK(set_power(p, PowerDeviceD0) == STATUS_SUCCESS);
    CHECK_RULE("VIDPN-192/b", last_commit()->size.cx == 640 && last_commit()->paths == 2 &&
                                  last_commit()->power &&
                                  last_commit()->rotation == D3DKMDT_VPPR_ROTATE180 &&
                                  probe_count(p, PROBE_EnumVidPnCofuncModality) == enums);
    CHECK_RULE("DISP-152", !strchr(steps, 'v') && strstr(steps, "p1V0"));
    CHECK_RULE("PRES-250", strncmp(steps, "A0Q0Q0D0E0p0p1V0V1", 18) == 0 ||
                               strncmp(steps, "A0Q0Q0D0E0p0p1V0P0V1", 20) == 0);
    settle(p);
    CHECK_RULE("PRES-250", strstr(steps, "P0") && strstr(steps, "P1") && !strchr(steps, 'v'));
    CHECK(display_seen.failure == 0);
}

TEST(sleep_and_wake)
{
    run(watched(2), check_sleep);
}

static void check_unplugged(struct probe *p)
{
    begin(p);
    CHECK(set_power(p, PowerDeviceD3) == STATUS_SUCCESS);
    display.connected[0] = false;
    memset(steps, 0, sizeof(steps));
    CHECK(set_power(p, PowerDeviceD0) == STATUS_SUCCESS);
    CHECK_RULE("DISP-153", last_commit()->paths == 1 && last_commit()->source == 1 &&
                               !display_modes(p)->target[0].monitor && !strstr(steps, "D0") &&
                               strstr(steps, "A0Q0Q0E0p1V1"));
}

TEST(unplugged_in_sleep)
{
    run(watched(2), check_unplugged);
}

static void check_plugged(struct probe *p)
{
    begin(p);
    CHECK(set_power(p, PowerDeviceD3) == STATUS_SUCCESS);
    display.connected[1] = true;
    CHECK(set_power(p, PowerDeviceD0) == STATUS_SUCCESS);
    CHECK_RULE("DISP-153", last_commit()->paths == 2 && display_modes(p)->active->paths == 2 &&
                               last_commit()->source == 1 && last_commit()->size.cx == 1024);
    CHECK_RULE("VIDPN-170", vidpn_is_functional(display_modes(p)->active));
}

TEST(plugged_in_sleep)
{
    struct probe *p = watched(2);

    display.connected[1] = false;
    run(p, check_plugged);
}

static void check_stays_off(struct probe *p)
{
    begin(p);
    CHECK(turn(p, 0, false) == STATUS_SUCCESS && steps_are("v0p0D3"));
    CHECK(set_power(p, PowerDeviceD3) == STATUS_SUCCESS);
    CHECK_RULE("PRES-249", steps_are("A3"));
    CHECK(set_power(p, PowerDeviceD0) == STATUS_SUCCESS);
    CHECK_RULE("PRES-250", steps_are("A0Q0") && display_modes(p)->active->paths == 0);
    CHECK(turn(p, 0, true) == STATUS_SUCCESS);
    CHECK_RULE("VIDPN-177", last_commit()->paths == 1 && last_commit()->size.cx == 1024);
}

TEST(what_was_off_stays_off)
{
    run(watched(1), check_stays_off);
}

/* ---- what comes while the adapter sleeps ---- */

static void indicate(struct probe *p, UINT output, bool connected)
{
    DXGK_CHILD_STATUS status = {.Type = StatusConnection, .ChildUid = DISPLAY_CHILD + output};

    status.HotPlug.Connected = connected;
    display.connected[output] = connected;
    (void)p->state[0].dxgk.DxgkCbIndicateChildStatus(p->state[0].dxgk.DeviceHandle, &status);
}

static void check_told_asleep(struct probe *p)
{
    begin(p);
    CHECK(set_power(p, PowerDeviceD3) == STATUS_SUCCESS && steps_are("v0p0D3A3"));
    indicate(p, 1, true);
    probe_sleep(PROBE_SECOND);
    CHECK_RULE("DISP-049/c", steps_are("") && port_adapter_power(p->adapter[0]) == PowerDeviceD3);
    CHECK(set_power(p, PowerDeviceD0) == STATUS_SUCCESS);
    CHECK(display_update(display_modes(p)) == STATUS_SUCCESS);
    CHECK_RULE("DISP-153", display_modes(p)->active->paths == 2);
}

TEST(told_while_asleep)
{
    struct probe *p = watched(2);

    display.connected[1] = false;
    run(p, check_told_asleep);
}

static void check_wakes(struct probe *p)
{
    begin(p);
    CHECK(set_power(p, PowerDeviceD3) == STATUS_SUCCESS);
    CHECK(display_ask_mode(p, 0, 800, 600, 0) == STATUS_SUCCESS);
    CHECK_RULE("VIDPN-204/d", port_adapter_power(p->adapter[0]) == PowerDeviceD0 &&
                                  last_commit()->size.cx == 800 && last_commit()->paths == 1);
}

TEST(a_request_wakes_the_adapter)
{
    run(watched(1), check_wakes);
}

/* Changes of the mode and of the power at once. */
static bool changes_end;
static unsigned changed;

static void change_modes(struct probe *p)
{
    while (!changes_end) {
        (void)display_ask_mode(p, 0, changed % 2 ? 800 : 640, changed % 2 ? 600 : 480, 0);
        changed++;
        probe_sleep(PROBE_SECOND / 1000);
    }
}

static void check_race(struct probe *p)
{
    changes_end = false;
    changed = 0;
    sim_thread_release(probe_thread(p, probe_process(p, "user"), "changes", change_modes));
    for (unsigned i = 0; i < 20; i++) {
        CHECK(set_power(p, PowerDeviceD3) == STATUS_SUCCESS);
        indicate(p, 1, i % 2);
        probe_sleep(PROBE_SECOND / 700);
        CHECK(set_power(p, PowerDeviceD0) == STATUS_SUCCESS);
        indicate(p, 0, i % 3 != 0);
        probe_sleep(PROBE_SECOND / 900);
    }
    changes_end = true;
    probe_sleep(PROBE_SECOND);
    indicate(p, 0, true);
    CHECK(display_update(display_modes(p)) == STATUS_SUCCESS);
    CHECK_RULE("DISP-153", changed > 10 && display_modes(p)->target[0].monitor &&
                               vidpn_path_to(display_modes(p)->active, DISPLAY_CHILD));
    CHECK(display_seen.failure == 0 && probe_reports(p, VERIFY_ERROR) == 0);
}

TEST(power_and_modes_at_once)
{
    run(watched(2), check_race);
}
