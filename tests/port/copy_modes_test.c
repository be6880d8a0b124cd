/* SPDX-License-Identifier: MIT */
/* Copies, and other work on the GPU, while the mode changes; what copies of turned screens are. */
#include "port/support/copies.h"
#include "modes/display_worker.h"
#include "sim/machine.h"
#include "sim/thread.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define V1                 DXGKDDI_INTERFACE_VERSION_WDDM1_3
#define LONG_NS            50000000ull

static struct copies_client client;
static D3DKMT_HANDLE surface;

static void begin(void)
{
    copies_begin(&client);
    surface = copies_surface(&client, 64, 32, 0x112233);
}

static void end(void)
{
    probe_device_packet_ns = 1000;
    copies_end(&client);
}

static uint64_t time_of_last(const struct probe *p, enum probe_ddi ddi)
{
    return probe_nth(p, ddi, probe_count(p, ddi) - 1)->time;
}

/* ---- level two ---- */

/* A packet of D3DKMTRender, which names nothing. */
static void render(D3DKMT_HANDLE context)
{
    D3DKMT_RENDER args;

    memset(&args, 0, sizeof(args));
    args.hContext = context;
    args.CommandLength = 64;
    CHECK(NT_SUCCESS(D3DKMTRender(&args)));
}

/* On a node of its own, so that the paging of the new primary does not wait for it. */
static void work_in_flight(struct probe *p)
{
    const size_t visibilities = probe_count(p, PROBE_SetVidPnSourceVisibility);
    D3DKMT_CREATECONTEXT other = {.NodeOrdinal = 1, .EngineAffinity = 1};
    uint64_t done;

    begin();
    other.hDevice = client.device;
    CHECK(NT_SUCCESS(D3DKMTCreateContext(&other)));
    probe_device_packet_ns = LONG_NS;
    render(other.hContext);
    probe_sleep(1000000);
    CHECK(copies_seen.submits == 1);
    done = time_of_last(p, PROBE_SubmitCommand) + LONG_NS;
    probe_device_packet_ns = 1000;
    CHECK(NT_SUCCESS(display_ask_mode(p, 0, 800, 600, 0)));
    CHECK(time_of_last(p, PROBE_CreateAllocation) < done);
    CHECK_RULE("THREAD-026",
               time_of_last(p, PROBE_CommitVidPn) >= done &&
                   probe_nth(p, PROBE_SetVidPnSourceVisibility, visibilities)->time >= done);
    CHECK_RULE("PRES-130", time_of_last(p, PROBE_SetVidPnSourceAddress) >= done);
    end();
}

TEST(a_commit_waits_for_work_of_the_gpu)
{
    copies_run(copies_create(V1), work_in_flight);
}

/* The same mode, and another primary. */
static void shown_meanwhile(struct probe *p)
{
    D3DKMT_CREATECONTEXT other = {.NodeOrdinal = 1, .EngineAffinity = 1};
    D3DKMT_HANDLE primary;
    uint64_t done;
    UINT calls;

    begin();
    CHECK(NT_SUCCESS(copies_create_primary(&client, 0, &primary)));
    CHECK(NT_SUCCESS(copies_own(&client, 0)));
    other.hDevice = client.device;
    CHECK(NT_SUCCESS(D3DKMTCreateContext(&other)));
    calls = full_seen.addresses;
    probe_device_packet_ns = LONG_NS;
    render(other.hContext);
    probe_sleep(1000000);
    CHECK(copies_seen.submits == 1);
    done = time_of_last(p, PROBE_SubmitCommand) + LONG_NS;
    probe_device_packet_ns = 1000;
    CHECK(NT_SUCCESS(D3DKMTSetDisplayMode(
        &(D3DKMT_SETDISPLAYMODE){.hDevice = client.device, .hPrimaryAllocation = primary})));
    CHECK_RULE("PRES-130", full_seen.addresses == calls + 1 && display_seen.commits == 1 &&
                               time_of_last(p, PROBE_SetVidPnSourceAddress) >= done);
    end();
}

TEST(another_primary_waits_for_work_of_the_gpu)
{
    copies_run(copies_create(V1), shown_meanwhile);
}

/* ---- a change of mode waits for copies ---- */

static bool asked;
static NTSTATUS asked_status;

static void ask(void *arg)
{
    asked_status = display_ask_mode(arg, 0, 800, 600, 0);
    asked = true;
}

static void in_background(struct probe *p)
{
    struct sim_thread *thread = sim_thread_create("mode", SIM_THREAD_KERNEL, ask, p);

    CHECK(thread != NULL);
    sim_thread_release(thread);
    asked = false;
}

/* Behind a packet that takes long, so that the copy is queued in the context of its own node. */
static void queued_copy(struct probe *p)
{
    D3DKMT_PRESENT args;
    const HANDLE first = full_seen.primary;
    uint64_t done;

    begin();
    args = copies_args(&client, surface);
    args.Flags.SrcRectValid = 1;
    args.SrcRect = (RECT){0, 0, 64, 32};
    CHECK(IS(copies_present(&client, &args), STATUS_SUCCESS));
    probe_device_packet_ns = LONG_NS;
    render(client.context);
    render(client.context);
    CHECK(IS(D3DKMTPresent(&args), STATUS_SUCCESS));
    in_background(p);
    probe_sleep(LONG_NS);
    CHECK_RULE("PRES-112", !asked && display_seen.commits == 1 && full_seen.primary == first);
    copies_wait(&client);
    done = sim_now();
    CHECK(copies_seen.done == 2);
    while (!asked)
        probe_sleep(1000000);
    CHECK_RULE("PRES-112", NT_SUCCESS(asked_status) && display_seen.commits == 2 &&
                               time_of_last(p, PROBE_CommitVidPn) >= done);
    args.Flags.DstRectValid = 1;
    args.DstRect = (RECT){790, 590, 854, 622};
    probe_device_packet_ns = 1000;
    CHECK(IS(copies_present(&client, &args), STATUS_SUCCESS));
    CHECK_RULE("PRES-103",
               copies_last()->rect[0].right == 800 && copies_last()->rect[0].bottom == 600);
    end();
}

TEST(a_change_of_mode_waits_for_copies)
{
    copies_run(copies_create(V1), queued_copy);
}

/* What never runs does not hold the mode for ever. */
static void stuck_copy(struct probe *p)
{
    D3DKMT_CREATESYNCHRONIZATIONOBJECT create;
    D3DKMT_WAITFORSYNCHRONIZATIONOBJECT wait;
    D3DKMT_SIGNALSYNCHRONIZATIONOBJECT signal = {.ObjectCount = 0};
    D3DKMT_CREATECONTEXT other = {.EngineAffinity = 1};
    D3DKMT_PRESENT args;

    begin();
    memset(&create, 0, sizeof(create));
    memset(&wait, 0, sizeof(wait));
    create.hDevice = other.hDevice = client.device;
    CHECK(NT_SUCCESS(D3DKMTCreateContext(&other)));
    create.Info.Type = D3DDDI_SEMAPHORE;
    create.Info.Semaphore.MaxCount = 1;
    CHECK(NT_SUCCESS(D3DKMTCreateSynchronizationObject(&create)));
    wait.hContext = client.context;
    wait.ObjectCount = 1;
    wait.ObjectHandleArray[0] = create.hSyncObject;
    CHECK(NT_SUCCESS(D3DKMTWaitForSynchronizationObject(&wait)));
    args = copies_args(&client, surface);
    CHECK(IS(D3DKMTPresent(&args), STATUS_SUCCESS));
    in_background(p);
    probe_sleep(1900000000);
    CHECK_RULE("PRES-112", !asked && probe_rule(p, "PRES-112") == 0);
    probe_sleep(200000000);
    CHECK_RULE("PRES-112", asked && NT_SUCCESS(asked_status) && probe_rule(p, "PRES-112") == 1);
    signal.ObjectCount = 1;
    signal.ObjectHandleArray[0] = create.hSyncObject;
    signal.hContext = other.hContext;
    CHECK(NT_SUCCESS(D3DKMTSignalSynchronizationObject(&signal)));
    copies_wait(&client);
    copies_end(&client);
}

TEST(copies_that_never_run)
{
    copies_run(copies_create(V1), stuck_copy);
}

/* ---- a change of mode that fails ---- */

static void no_memory(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const DXGKARG_CREATEALLOCATION *)(uintptr_t)call->arg[1];

    (void)p;
    if (!args->Flags.Resource)
        return;
    call->answered = true;
    call->result = (uint64_t)STATUS_NO_MEMORY;
}

static void failing_mode(struct probe *p)
{
    const size_t destroyed = probe_count(p, PROBE_DestroyAllocation),
                 closed = probe_count(p, PROBE_CloseAllocation);
    D3DKMT_PRESENT args;

    begin();
    args = copies_args(&client, 0);
    args.Color = 0x808080;
    CHECK(IS(copies_present(&client, &args), STATUS_SUCCESS));
    p->before[PROBE_CreateAllocation] = no_memory;
    CHECK_RULE("PRES-062", IS(display_ask_mode(p, 0, 800, 600, 0), STATUS_NO_MEMORY));
    p->before[PROBE_CreateAllocation] = NULL;
    CHECK_RULE("PRES-062", display_seen.commits == 1 &&
                               probe_count(p, PROBE_DestroyAllocation) == destroyed &&
                               probe_count(p, PROBE_CloseAllocation) == closed);
    CHECK_RULE("PRES-062", copies_pixel(p, 1023, 767) == 0x808080);
    args.Color = 0x909090;
    CHECK(IS(copies_present(&client, &args), STATUS_SUCCESS));
    CHECK_RULE("PRES-062", copies_pixel(p, 0, 0) == 0x909090);
    end();
}

TEST(the_old_picture_stays_when_a_mode_fails)
{
    copies_run(copies_create(V1), failing_mode);
}

/* ---- turned screens ---- */

static void turned(struct probe *p)
{
    D3DKMT_PRESENT args;

    begin();
    CHECK(NT_SUCCESS(display_ask_mode(p, 0, 1024, 768, 1)));
    args = copies_args(&client, surface);
    args.Flags.SrcRectValid = 1;
    args.SrcRect = (RECT){0, 0, 64, 32};
    CHECK(IS(D3DKMTPresent(&args), STATUS_SUCCESS));
    CHECK_RULE("PRES-098",
               copies_last()->args.Flags.Value == 1 && copies_last()->args.DstRect.right == 1024);
    args.Flags.Rotate = 1;
    copies.rects = 0;
    CHECK(IS(D3DKMTPresent(&args), STATUS_SUCCESS));
    CHECK_RULE("PRES-099", copies_last()->args.DstRect.right == 768 &&
                               copies_last()->args.DstRect.bottom == 1024 &&
                               copies_last()->rect[0].right == 768 &&
                               copies_last()->rect[0].bottom == 1024);
    CHECK(NT_SUCCESS(display_ask_mode(p, 0, 1024, 768, 2)));
    CHECK(IS(D3DKMTPresent(&args), STATUS_SUCCESS));
    CHECK_RULE("PRES-099", copies_last()->args.DstRect.right == 1024);
    end();
}

TEST(rectangles_of_turned_screens)
{
    struct probe *p = copies_create(V1);

    copies.no_pixels = true;
    copies_run(p, turned);
}

/* ---- how many ---- */

static void many(struct probe *p)
{
    D3DKMT_PRESENT args;
    uint64_t before;

    (void)p;
    begin();
    args = copies_args(&client, surface);
    args.Flags.SrcRectValid = args.Flags.DstRectValid = 1;
    args.SrcRect = args.DstRect = (RECT){0, 0, 4, 4};
    CHECK(IS(copies_present(&client, &args), STATUS_SUCCESS));
    probe_device_packet_ns = LONG_NS;
    before = sim_now();
    for (unsigned i = 0; i < 3; i++)
        CHECK(IS(D3DKMTPresent(&args), STATUS_SUCCESS));
    CHECK_RULE("PRES-289", sim_now() - before < LONG_NS);
    CHECK(IS(D3DKMTPresent(&args), STATUS_SUCCESS)); /* the fourth waits for the first */
    CHECK_RULE("PRES-289", sim_now() - before >= LONG_NS && sim_now() - before < 2 * LONG_NS);
    end();
}

TEST(copies_count_as_queued_presents)
{
    copies_run(copies_create(V1), many);
}

/* ---- from the screen to the screen ---- */

static UINT presentation;

static void screen_to_screen(struct probe *p)
{
    D3DKMT_HANDLE primary;
    D3DKMT_PRESENT args;
    const bool none = presentation == 1, overlap = presentation == 2;
    UINT presents;

    begin();
    CHECK(NT_SUCCESS(copies_create_primary(&client, 0, &primary)));
    CHECK(NT_SUCCESS(copies_own(&client, 0)));
    CHECK(NT_SUCCESS(D3DKMTSetDisplayMode(
        &(D3DKMT_SETDISPLAYMODE){.hDevice = client.device, .hPrimaryAllocation = primary})));
    args = copies_args(&client, primary);
    args.Flags.SrcRectValid = args.Flags.DstRectValid = 1;
    args.SrcRect = (RECT){0, 0, 64, 64};
    args.DstRect = (RECT){63, 63, 127, 127};
    presents = copies_seen.presents;
    CHECK_RULE("PRES-118", IS(D3DKMTPresent(&args),
                              none || overlap ? STATUS_INVALID_PARAMETER : STATUS_SUCCESS));
    CHECK_RULE("PRES-118", copies_seen.presents == presents + !(none || overlap));
    args.DstRect = (RECT){64, 0, 128, 64};
    CHECK_RULE("PRES-118",
               IS(D3DKMTPresent(&args), none ? STATUS_INVALID_PARAMETER : STATUS_SUCCESS));
    CHECK_RULE("PRES-114", none || (copies_last()->list[1].hDeviceSpecificAllocation ==
                                        copies_last()->list[2].hDeviceSpecificAllocation &&
                                    full_seen.created == 1));
    args.hSource = surface;
    args.DstRect = (RECT){0, 0, 64, 64};
    CHECK_RULE("PRES-118", IS(D3DKMTPresent(&args), STATUS_SUCCESS));
    end();
    (void)p;
}

TEST(a_screen_to_itself)
{
    for (presentation = 0; presentation < 3; presentation++) {
        struct probe *p = copies_create(V1);

        p->caps.PresentationCaps.NoScreenToScreenBlt = presentation == 1;
        p->caps.PresentationCaps.NoOverlapScreenBlt = presentation == 2;
        copies_run(p, screen_to_screen);
    }
}

/* ---- who may ---- */

static void whose(struct probe *p)
{
    struct copies_client other;
    D3DKMT_PRESENT args;

    (void)p;
    begin();
    copies_begin(&other);
    CHECK(NT_SUCCESS(copies_own(&other, 0)));
    args = copies_args(&client, 0);
    CHECK_RULE("PRES-114", IS(D3DKMTPresent(&args), STATUS_GRAPHICS_PRESENT_OCCLUDED));
    args.hContext = other.context;
    CHECK_RULE("PRES-114", IS(copies_present(&other, &args), STATUS_SUCCESS));
    copies_end(&other);
    args.hContext = client.context;
    CHECK_RULE("PRES-114", IS(copies_present(&client, &args), STATUS_SUCCESS));
    end();
}

TEST(another_device_owns_the_source)
{
    copies_run(copies_create(V1), whose);
}
