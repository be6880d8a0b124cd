/* SPDX-License-Identifier: MIT */
/* D3DKMTPollDisplayChildren and D3DKMTInvalidateActiveVidPn. */
#include "port/support/client.h"
#include "port/support/connections.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define FIRST              DISPLAY_CHILD
#define SECOND             (DISPLAY_CHILD + 1)

static void set_child(struct probe *p, unsigned i, DXGK_CHILD_DEVICE_HPD_AWARENESS awareness)
{
    p->child[i].ChildDeviceType = TypeVideoOutput;
    p->child[i].ChildUid = DISPLAY_CHILD + i;
    p->child[i].ChildCapabilities.HpdAwareness = awareness;
    p->child[i].ChildCapabilities.Type.VideoOutput.InterfaceTechnology = D3DKMDT_VOT_HDMI;
    p->child[i].ChildCapabilities.Type.VideoOutput.MonitorOrientationAwareness = D3DKMDT_MOA_NONE;
}

/* One polled and one interruptible. */
static struct probe *both_kinds(void)
{
    struct probe *p = display_create(NULL);

    display.outputs = display.sources = 2;
    set_child(p, 0, HpdAwarenessPolled);
    set_child(p, 1, HpdAwarenessInterruptible);
    return p;
}

static void run(struct probe *p, void (*body)(struct probe *p))
{
    struct probe_client *client;

    probe_clients_begin(p);
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    client = probe_client_run(p, body);
    probe_client_end(p, client);
    probe_clients_end(p);
    display_end(p);
}

static D3DKMT_HANDLE open_first(void)
{
    D3DKMT_ADAPTERINFO info[4];
    D3DKMT_ENUMADAPTERS2 args = {.NumAdapters = 4, .pAdapters = info};

    CHECK(NT_SUCCESS(D3DKMTEnumAdapters2(&args)) && args.NumAdapters >= 1);
    return info[0].hAdapter;
}

static void polls(struct probe *p)
{
    D3DKMT_POLLDISPLAYCHILDREN args = {.hAdapter = open_first()};
    const UINT commits = display_seen.commits;

    probe_forget(p);
    CHECK_RULE("DISP-043", IS(D3DKMTPollDisplayChildren(&args), STATUS_SUCCESS) &&
                               probe_count(p, PROBE_QueryChildStatus) == 1);
    CHECK_RULE("DISP-041/b", (probe_nth(p, PROBE_QueryChildStatus, 0)->arg[2] & 0xFF) == FALSE);
    args.NonDestructiveOnly = 1;
    args.PollInterruptible = 1;
    CHECK_RULE("DISP-043", IS(D3DKMTPollDisplayChildren(&args), STATUS_SUCCESS) &&
                               probe_count(p, PROBE_QueryChildStatus) == 3);
    CHECK_RULE("DISP-041/b", (probe_nth(p, PROBE_QueryChildStatus, 1)->arg[2] & 0xFF) == TRUE);

    display.connected[0] = true;
    args.PollInterruptible = 0;
    args.DisableModeReset = 1;
    CHECK(!modes_target(display_modes(p), FIRST)->monitor);
    CHECK_RULE("DISP-044", IS(D3DKMTPollDisplayChildren(&args), STATUS_SUCCESS) &&
                               modes_target(display_modes(p), FIRST)->monitor &&
                               display_seen.commits == commits);
    args.DisableModeReset = 0;
    CHECK_RULE("DISP-044", IS(D3DKMTPollDisplayChildren(&args), STATUS_SUCCESS) &&
                               display_seen.commits == commits + 1);
    args.Reserved = 1;
    CHECK_RULE("DISP-044", IS(D3DKMTPollDisplayChildren(&args), STATUS_INVALID_PARAMETER));
    args.Reserved = 0;
    args.hAdapter ^= 0x3C0;
    CHECK(IS(D3DKMTPollDisplayChildren(&args), STATUS_INVALID_PARAMETER));
}

TEST(a_client_polls)
{
    struct probe *p = both_kinds();

    display.connected[0] = false;
    run(p, polls);
}

static ULONG polled[8];
static unsigned asked;

static void note_uid(struct probe *p, struct probe_call *call)
{
    (void)p;
    polled[asked++ % 8] = ((const DXGK_CHILD_STATUS *)(uintptr_t)call->arg[1])->ChildUid;
}

static void polls_each(struct probe *p)
{
    D3DKMT_POLLDISPLAYCHILDREN args = {.hAdapter = open_first()};

    for (unsigned i = 1; i <= 2; i++) {
        asked = 0;
        CHECK(IS(D3DKMTPollDisplayChildren(&args), STATUS_SUCCESS));
        CHECK_RULE("DISP-042/b", asked == 2 && polled[0] == FIRST && polled[1] == FIRST + 3);
    }
    (void)p;
}

/* Two that are polled, one that tells and one that is always there. */
TEST(those_that_are_polled_are_asked_once)
{
    struct probe *p = display_create(NULL);

    display.outputs = 4;
    set_child(p, 0, HpdAwarenessPolled);
    set_child(p, 1, HpdAwarenessInterruptible);
    set_child(p, 2, HpdAwarenessAlwaysConnected);
    set_child(p, 3, HpdAwarenessPolled);
    p->before[PROBE_QueryChildStatus] = note_uid;
    run(p, polls_each);
}

static void polls_all(struct probe *p)
{
    D3DKMT_POLLDISPLAYCHILDREN args = {.hAdapter = open_first(), .PollInterruptible = 1};

    probe_forget(p);
    CHECK_RULE("DISP-043", IS(D3DKMTPollDisplayChildren(&args), STATUS_SUCCESS) &&
                               probe_count(p, PROBE_QueryChildStatus) == 2);
    args.PollAllAdapters = 1;
    CHECK_RULE("DISP-043", IS(D3DKMTPollDisplayChildren(&args), STATUS_SUCCESS) &&
                               probe_count(p, PROBE_QueryChildStatus) == 6);
}

TEST(all_adapters)
{
    const struct probe_options two = {.adapters = 2};
    struct probe *p = display_create(&two);

    display.outputs = display.sources = 2;
    run(p, polls_all);
}

static void removed(struct probe *p)
{
    const D3DKMT_POLLDISPLAYCHILDREN args = {.hAdapter = open_first()};

    probe_remove(p, 0);
    CHECK_RULE("DISP-044", IS(D3DKMTPollDisplayChildren(&args), STATUS_DEVICE_REMOVED));
}

TEST(a_stopped_adapter)
{
    run(both_kinds(), removed);
}

/* ---- the connection change model ---- */

static void by_queue(struct probe *p)
{
    D3DKMT_POLLDISPLAYCHILDREN args = {.hAdapter = open_first(), .NonDestructiveOnly = 1};

    (void)p;
    CHECK_RULE("DISP-087", IS(D3DKMTPollDisplayChildren(&args), STATUS_SUCCESS) &&
                               connection_seen.controls == 2 &&
                               connection_seen.control[1].Type == CONNECTION_POLL_ALL &&
                               connection_seen.control[1].NonDestructiveOnly);
    args.NonDestructiveOnly = 0;
    CHECK_RULE("DISP-087", IS(D3DKMTPollDisplayChildren(&args), STATUS_SUCCESS) &&
                               connection_seen.controls == 3 &&
                               !connection_seen.control[2].NonDestructiveOnly);
}

TEST(polls_of_the_connection_change_model)
{
    run(connections_create(NULL), by_queue);
}

/* ---- VidPNs that clients want ---- */

static void invalidate(struct probe *p)
{
    const D3DKMT_INVALIDATEACTIVEVIDPN args = {.hAdapter = open_first()};

    CHECK_RULE("VIDPN-164", IS(D3DKMTInvalidateActiveVidPn(&args), STATUS_NOT_SUPPORTED) &&
                                probe_count(p, PROBE_RecommendFunctionalVidPn) == 0);
}

TEST(later_drivers_are_not_asked)
{
    run(both_kinds(), invalidate);
}
