/* SPDX-License-Identifier: MIT */
/* Flips that the GPU makes: of drivers without FlipOnVSyncMmIo; and flips to what is shown. */
#include "port/support/copies.h"
#include "screens/scanouts.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define MODE_CHANGE        1u
#define ON_NEXT_VSYNC      4u

static struct copies_client client;
static D3DKMT_HANDLE primary[3];

static uint64_t flips(const struct probe *p)
{
    return scanouts_flips(port_display_scanouts(p->adapter[0]), 0);
}

static NTSTATUS flip(D3DKMT_HANDLE handle, D3DDDI_FLIPINTERVAL_TYPE interval)
{
    D3DKMT_PRESENT args;

    memset(&args, 0, sizeof(args));
    args.hContext = client.context;
    args.hSource = handle;
    args.FlipInterval = interval;
    args.Flags.Flip = 1;
    args.Flags.FlipDoNotFlip = !handle;
    return D3DKMTPresent(&args);
}

static void begin(struct probe *p)
{
    full_engine_start(p);
    copies_begin(&client);
    for (unsigned i = 0; i < 3; i++)
        CHECK(NT_SUCCESS(copies_create_primary(&client, 0, &primary[i])));
    CHECK(NT_SUCCESS(copies_own(&client, 0)));
    CHECK(NT_SUCCESS(D3DKMTSetDisplayMode(
        &(D3DKMT_SETDISPLAYMODE){.hDevice = client.device, .hPrimaryAllocation = primary[0]})));
    full_engine_await();
}

static void end(void)
{
    probe_device_packet_ns = 1000;
    full_engine_stop();
    copies_end(&client);
}

/* ---- a flip as a packet ---- */

static bool no_wait;

static void as_packet(struct probe *p)
{
    const DXGKARG_SUBMITCOMMAND *submitted = copies_seen.submit;
    const struct copies_call *call;
    const UINT calls = full_seen.addresses + 1; /* of SetDisplayMode */

    begin(p);
    CHECK(full_seen.addresses == calls && flips(p) == 0);
    CHECK(IS(flip(primary[1], D3DDDI_FLIPINTERVAL_ONE), STATUS_SUCCESS));
    call = copies_last();
    CHECK_RULE("PRES-135", call->args.pDmaBuffer && call->args.DmaSize &&
                               call->args.FlipInterval == D3DDDI_FLIPINTERVAL_ONE &&
                               call->list[1].hDeviceSpecificAllocation && !call->args.SubRectCnt &&
                               !call->args.pDstSubRects);
    CHECK_RULE("PRES-094", !call->list[2].hDeviceSpecificAllocation);
    CHECK_RULE("PRES-096", call->args.Flags.Value == (no_wait ? 0xCu : 0x4u));
    copies_wait(&client);
    CHECK_RULE("PRES-135", copies_seen.submits == 1 && submitted->Flags.Flip &&
                               submitted->VidPnSourceId == 0 &&
                               submitted->FlipInterval == D3DDDI_FLIPINTERVAL_ONE &&
                               full_seen.addresses == calls);
    CHECK_RULE("PRES-136/a", submitted->Flags.FlipWithNoWait == no_wait && flips(p) == 0);
    probe_sleep(17000000);
    CHECK_RULE("PRES-136/a", flips(p) == 1 && full_engine.latched == full_engine.pending &&
                                 copies_seen.done == 1);
    CHECK(probe_rule(p, "PRES-143") == 0 && probe_rule(p, "PRES-327") == 0);
    end();
}

TEST(a_flip_is_a_packet)
{
    for (unsigned i = 0; i < 2; i++) {
        struct probe *p = copies_create(DXGKDDI_INTERFACE_VERSION_WIN7);

        no_wait = i != 0;
        p->caps.FlipCaps.FlipOnVSyncMmIo = 0;
        p->caps.FlipCaps.FlipOnVSyncWithNoWait = no_wait;
        copies_run(p, as_packet);
    }
}

/* The screen stands at the old one while the packet takes long. */
static void late_packet(struct probe *p)
{
    begin(p);
    probe_device_packet_ns = 50000000;
    CHECK(IS(flip(primary[1], D3DDDI_FLIPINTERVAL_ONE), STATUS_SUCCESS));
    probe_sleep(40000000);
    CHECK_RULE("PRES-136/a", flips(p) == 0);
    copies_wait(&client);
    CHECK_RULE("PRES-136/a", flips(p) == 0);
    probe_sleep(17000000);
    CHECK_RULE("PRES-136/a", flips(p) == 1);
    end();
}

TEST(a_flip_waits_for_its_packet)
{
    struct probe *p = copies_create(DXGKDDI_INTERFACE_VERSION_WIN7);

    p->caps.FlipCaps.FlipOnVSyncMmIo = 0;
    copies_run(p, late_packet);
}

/* A vertical sync without an address completes none. */
static void without_address(struct probe *p)
{
    uint64_t address;

    begin(p);
    full_engine.stuck = true;
    CHECK(IS(flip(primary[1], D3DDDI_FLIPINTERVAL_ONE), STATUS_SUCCESS));
    full_engine.latched = 0;
    copies_wait(&client);
    address = full_engine.pending;
    probe_sleep(40000000);
    CHECK_RULE("PRES-157", flips(p) == 0 && probe_rule(p, "PRES-157") == 1);
    full_engine.stuck = false;
    full_engine.pending = address;
    probe_sleep(17000000);
    CHECK(flips(p) == 1);
    end();
}

TEST(a_flip_waits_for_an_address)
{
    struct probe *p = copies_create(DXGKDDI_INTERFACE_VERSION_WIN7);

    p->caps.FlipCaps.FlipOnVSyncMmIo = 0;
    copies_run(p, without_address);
}

/* Of a newer driver, which is warned. */
static void newer(struct probe *p)
{
    CHECK_RULE("PRES-136/b", probe_rule(p, "DISP-160") == 1);
    begin(p);
    CHECK(IS(flip(primary[1], D3DDDI_FLIPINTERVAL_IMMEDIATE), STATUS_SUCCESS));
    copies_wait(&client);
    CHECK_RULE("PRES-136/b",
               copies_seen.submit[0].Flags.Flip &&
                   copies_seen.submit[0].FlipInterval == D3DDDI_FLIPINTERVAL_IMMEDIATE);
    probe_sleep(17000000);
    CHECK_RULE("PRES-136/b", flips(p) == 1);
    end();
}

TEST(a_newer_driver_whose_gpu_flips)
{
    struct probe *p = copies_create(DXGKDDI_INTERFACE_VERSION_WDDM1_3);

    p->caps.FlipCaps.FlipOnVSyncMmIo = 0;
    copies_run(p, newer);
}

/* Its vertical sync is the one with its address. */
static void by_address(struct probe *p)
{
    begin(p);
    copies.no_pixels = true;
    full_engine.stuck = true;
    CHECK(IS(flip(primary[1], D3DDDI_FLIPINTERVAL_ONE), STATUS_SUCCESS));
    probe_sleep(40000000);
    CHECK_RULE("PRES-136/a", (flips(p) == 0) == no_wait);
    full_engine.stuck = false;
    probe_sleep(17000000);
    CHECK_RULE("PRES-136/a", flips(p) == 1);
    end();
}

TEST(which_vertical_sync_ends_it)
{
    for (unsigned i = 0; i < 2; i++) {
        struct probe *p = copies_create(DXGKDDI_INTERFACE_VERSION_WIN7);

        no_wait = i != 0;
        p->caps.FlipCaps.FlipOnVSyncMmIo = 0;
        p->caps.FlipCaps.FlipOnVSyncWithNoWait = no_wait;
        copies_run(p, by_address);
    }
}

/* The driver refuses: nothing is queued, and the primary is let go. */
static void refused(struct probe *p)
{
    begin(p);
    copies.status = STATUS_INSUFFICIENT_RESOURCES;
    CHECK_RULE("PRES-111/a",
               IS(flip(primary[1], D3DDDI_FLIPINTERVAL_ONE), STATUS_INSUFFICIENT_RESOURCES) &&
                   copies_seen.submits == 0);
    probe_sleep(40000000);
    CHECK(flips(p) == 0);
    CHECK(IS(flip(primary[1], D3DDDI_FLIPINTERVAL_ONE), STATUS_SUCCESS));
    probe_sleep(40000000);
    CHECK(flips(p) == 1);
    end();
}

TEST(a_flip_that_the_driver_refuses)
{
    struct probe *p = copies_create(DXGKDDI_INTERFACE_VERSION_WIN7);

    p->caps.FlipCaps.FlipOnVSyncMmIo = 0;
    copies_run(p, refused);
}

/* ---- to what is shown ---- */

static const struct full_address *last(void)
{
    return &full_seen.address[(full_seen.addresses - 1) % FULL_CALLS];
}

static void again(struct probe *p)
{
    uint64_t shown;
    UINT calls;

    begin(p);
    CHECK(IS(flip(primary[1], D3DDDI_FLIPINTERVAL_ONE), STATUS_SUCCESS));
    probe_sleep(40000000);
    CHECK(flips(p) == 1);
    shown = last()->address;
    calls = full_seen.addresses;
    CHECK_RULE("PRES-095", IS(flip(0, D3DDDI_FLIPINTERVAL_ONE), STATUS_SUCCESS) &&
                               copies_last()->args.Flags.Value == 4 &&
                               copies_last()->list[1].hDeviceSpecificAllocation ==
                                   copies_seen.present[0].list[1].hDeviceSpecificAllocation);
    probe_sleep(1000000);
    CHECK_RULE("PRES-095", full_seen.addresses == calls + 1 && last()->address == shown &&
                               last()->flags == ON_NEXT_VSYNC && flips(p) == 1);
    probe_sleep(17000000);
    CHECK_RULE("PRES-095", flips(p) == 2);
    CHECK_RULE("PRES-096", !(copies_last()->args.Flags.Value & 8));
    /* behind a flip that waits: to that */
    CHECK(IS(flip(primary[2], D3DDDI_FLIPINTERVAL_ONE), STATUS_SUCCESS));
    CHECK(IS(flip(0, D3DDDI_FLIPINTERVAL_ONE), STATUS_SUCCESS));
    probe_sleep(60000000);
    CHECK_RULE("PRES-095",
               flips(p) == 4 && last()->address != shown && full_seen.addresses == calls + 3);
    end();
}

TEST(a_flip_to_what_is_shown)
{
    copies_run(copies_create(DXGKDDI_INTERFACE_VERSION_WDDM1_3), again);
}

/* ---- beside the scheduler ---- */

static probe_hook *patch, *address;
static bool patching, beside;

static void long_patch(struct probe *p, struct probe_call *call)
{
    patching = true;
    probe_sleep(20000000);
    patching = false;
    patch(p, call);
}

static void note_address(struct probe *p, struct probe_call *call)
{
    beside |= patching;
    address(p, call);
}

/* A packet of another device is being patched, at level one. */
static void beside_patch(struct probe *p)
{
    D3DKMT_CREATEDEVICE create = {.Flags.RequestVSync = 1}; /* they stay enabled */
    struct copies_client other;
    D3DKMT_RENDER render;

    begin(p);
    create.hAdapter = client.adapter;
    CHECK(NT_SUCCESS(D3DKMTCreateDevice(&create)));
    for (unsigned i = 1; i <= 2; i++)
        CHECK(IS(flip(primary[i], D3DDDI_FLIPINTERVAL_ONE), STATUS_SUCCESS));
    probe_sleep(100000000); /* both are in memory */
    copies_begin(&other);
    patch = p->before[PROBE_Patch];
    p->before[PROBE_Patch] = long_patch;
    address = p->before[PROBE_SetVidPnSourceAddress];
    p->before[PROBE_SetVidPnSourceAddress] = note_address;
    memset(&render, 0, sizeof(render));
    render.hContext = other.context;
    render.CommandLength = 64;
    beside = false;
    CHECK(NT_SUCCESS(D3DKMTRender(&render)));
    probe_sleep(1000000);
    CHECK(patching);
    CHECK(IS(flip(primary[1], D3DDDI_FLIPINTERVAL_ONE), STATUS_SUCCESS));
    probe_sleep(40000000);
    CHECK_RULE("PRES-130", beside && flips(p) == 3);
    copies_end(&other);
    end();
}

TEST(a_flip_beside_a_call_of_the_scheduler)
{
    struct probe *p = copies_create(DXGKDDI_INTERFACE_VERSION_WDDM1_3);

    p->caps.FlipCaps.FlipOnVSyncMmIo = 1;
    copies_run(p, beside_patch);
}

/* ---- to several contexts ---- */

static NTSTATUS broadcast(D3DKMT_HANDLE other, ULONG count)
{
    D3DKMT_PRESENT args;

    memset(&args, 0, sizeof(args));
    args.hContext = client.context;
    args.hSource = primary[1];
    args.FlipInterval = D3DDDI_FLIPINTERVAL_ONE;
    args.Flags.Flip = 1;
    args.BroadcastContextCount = count;
    for (ULONG i = 0; i < count && i < 64; i++)
        args.BroadcastContext[i] = other;
    return D3DKMTPresent(&args);
}

static HANDLE contexts[4];
static UINT created;

static void note_context(struct probe *p, struct probe_call *call)
{
    (void)p;
    contexts[created++ % 4] = ((const DXGKARG_CREATECONTEXT *)(uintptr_t)call->arg[1])->hContext;
}

static void to_several(struct probe *p)
{
    const bool mmio = p->caps.FlipCaps.FlipOnVSyncMmIo;
    D3DKMT_CREATECONTEXT other = {.EngineAffinity = 1};

    begin(p);
    created = 0;
    p->after[PROBE_CreateContext] = note_context;
    other.hDevice = client.device;
    CHECK(NT_SUCCESS(D3DKMTCreateContext(&other)));
    CHECK_RULE("PRES-287", IS(broadcast(other.hContext, 65), STATUS_INVALID_PARAMETER));
    CHECK_RULE("PRES-287", IS(broadcast(77, 1), STATUS_INVALID_PARAMETER));
    CHECK_RULE("PRES-287",
               IS(broadcast(other.hContext, 64), mmio ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER));
    probe_sleep(40000000);
    CHECK_RULE("PRES-287", !mmio || (last()->contexts == 65 && last()->context != contexts[0]));
    end();
}

TEST(a_flip_is_broadcast)
{
    for (unsigned mmio = 0; mmio < 2; mmio++) {
        struct probe *p = copies_create(DXGKDDI_INTERFACE_VERSION_WIN7);

        p->caps.FlipCaps.FlipOnVSyncMmIo = mmio & 1;
        copies_run(p, to_several);
    }
}
