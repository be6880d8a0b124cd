/* SPDX-License-Identifier: MIT */
/* What a driver says and asks inside a DDI of displays, and who calls these. */
#include "modes/monitor.h"
#include "nt/base/current.h"
#include "port/support/display.h"
#include "support/test.h"

static UINT output;
static bool connected, once;

static void tell(struct probe *p)
{
    DXGK_CHILD_STATUS status = {.Type = StatusConnection, .ChildUid = DISPLAY_CHILD + output};

    status.HotPlug.Connected = display.connected[output] = connected;
    CHECK(p->state[0].dxgk.DxgkCbIndicateChildStatus(p->state[0].dxgk.DeviceHandle, &status) ==
          STATUS_SUCCESS);
}

static void ask_monitor(const struct probe *p)
{
    const HANDLE adapter = p->state[0].dxgk.DeviceHandle;
    const DXGK_MONITORSOURCEMODESET_INTERFACE *table;
    const DXGK_MONITOR_INTERFACE *m = NULL;
    D3DKMDT_HMONITORSOURCEMODESET set;
    SIZE_T count = 0;

    CHECK_RULE("VIDPN-209", p->state[0].dxgk.DxgkCbQueryMonitorInterface(
                                adapter, DXGK_MONITOR_INTERFACE_VERSION_V1, &m) == STATUS_SUCCESS &&
                                m->pfnAcquireMonitorSourceModeSet(adapter, DISPLAY_CHILD, &set,
                                                                  &table) == STATUS_SUCCESS &&
                                table->pfnGetNumModes(set, &count) == STATUS_SUCCESS && count > 0 &&
                                m->pfnReleaseMonitorSourceModeSet(adapter, set) == STATUS_SUCCESS);
}

static void inside(struct probe *p)
{
    if (!once)
        return;
    once = false;
    ask_monitor(p);
    tell(p);
}

static void in_enum(struct probe *p, const DXGKARG_ENUMVIDPNCOFUNCMODALITY *args,
                    const DXGK_VIDPN_INTERFACE *v)
{
    (void)args;
    (void)v;
    inside(p);
}

static void in_commit(struct probe *p, const DXGKARG_COMMITVIDPN *args,
                      const DXGK_VIDPN_INTERFACE *v)
{
    (void)args;
    (void)v;
    inside(p);
}

static void arrives(struct probe *p)
{
    const UINT commits = display_seen.commits;
    const size_t read = probe_count(p, PROBE_QueryDeviceDescriptor);

    once = true;
    output = 1;
    connected = true;
    CHECK(display_ask_mode(p, 0, 800, 600, 0) == STATUS_SUCCESS && !once);
    probe_sleep(PROBE_SECOND);
    CHECK_RULE("VIDPN-209", display_modes(p)->target[1].monitor &&
                                display_seen.commits == commits + 2 &&
                                display_seen.commit[commits].size.cx == 800 &&
                                display_seen.commit[commits + 1].source == 1);
    CHECK_RULE("VIDPN-208", probe_nth(p, PROBE_QueryDeviceDescriptor, read)->order >=
                                probe_nth(p, PROBE_CommitVidPn, commits)->left);
}

static struct probe *two_outputs(void)
{
    struct probe *p = display_create(NULL);

    once = false;
    display.outputs = display.sources = 2;
    display.connected[1] = false;
    return p;
}

TEST(a_monitor_comes_during_an_enumeration)
{
    struct probe *p = two_outputs();

    display.after_enum = in_enum;
    CHECK(probe_start(p) == STATUS_SUCCESS);
    probe_end(p, arrives);
}

TEST(a_monitor_comes_during_a_commit)
{
    struct probe *p = two_outputs();

    display.in_commit = in_commit;
    CHECK(probe_start(p) == STATUS_SUCCESS);
    probe_end(p, arrives);
}

/* The one whose mode is being changed. */
static void leaves(struct probe *p)
{
    const UINT commits = display_seen.commits;

    once = true;
    output = 0;
    connected = false;
    CHECK_RULE("VIDPN-208",
               display_ask_mode(p, 0, 800, 600, 0) == STATUS_GRAPHICS_MONITOR_NOT_CONNECTED);
    probe_sleep(PROBE_SECOND);
    CHECK_RULE("VIDPN-208", display_seen.commits == commits + 1 &&
                                display_seen.commit[commits].paths == 0 &&
                                !display_modes(p)->target[0].monitor && !display_seen.visible[0]);
}

TEST(a_monitor_leaves_during_an_enumeration)
{
    struct probe *p = two_outputs();

    display.after_enum = in_enum;
    CHECK(probe_start(p) == STATUS_SUCCESS);
    probe_end(p, leaves);
}

/* Another one: what is in progress is finished. */
static void other_leaves(struct probe *p)
{
    const UINT commits = display_seen.commits;

    once = true;
    output = 1;
    connected = false;
    CHECK_RULE("VIDPN-208", display_ask_mode(p, 0, 800, 600, 0) == STATUS_SUCCESS);
    probe_sleep(PROBE_SECOND);
    CHECK_RULE("VIDPN-208", display_seen.commits == commits + 2 &&
                                display_seen.commit[commits].size.cx == 800 &&
                                display_seen.commit[commits + 1].source == 1 &&
                                display_modes(p)->active->paths == 1);
}

TEST(another_monitor_leaves_during_an_enumeration)
{
    struct probe *p = two_outputs();

    display.connected[1] = true;
    display.after_enum = in_enum;
    CHECK(probe_start(p) == STATUS_SUCCESS);
    probe_end(p, other_leaves);
}

/* ---- who calls ---- */

static void one_worker(struct probe *p)
{
    static const enum probe_ddi vidpn_ddis[] = {
        PROBE_IsSupportedVidPn, PROBE_EnumVidPnCofuncModality, PROBE_CommitVidPn,
        PROBE_QueryVidPnHWCapability, PROBE_SetVidPnSourceVisibility};
    const struct probe_call *first = probe_nth(p, PROBE_IsSupportedVidPn, 0);

    CHECK(display_ask_mode(p, 0, 800, 600, 0) == STATUS_SUCCESS);
    for (size_t i = 0; i < sizeof(vidpn_ddis) / sizeof(vidpn_ddis[0]); i++)
        for (size_t n = 0; n < probe_count(p, vidpn_ddis[i]); n++) {
            const struct probe_call *call = probe_nth(p, vidpn_ddis[i], n);

            CHECK_RULE("VIDPN-210", call->thread == first->thread && call->irql == PASSIVE_LEVEL &&
                                        call->process == nt_process_system());
        }
    CHECK_RULE("VIDPN-210", probe_count(p, PROBE_QueryVidPnHWCapability) == 2);
}

TEST(the_worker_is_of_the_system)
{
    display_run(NULL, one_worker);
}
