/* SPDX-License-Identifier: MIT */
/* Flips that flip to nothing else, and those that start anew: FlipDoNotFlip, FlipRestart. */
#include "port/support/copies.h"
#include "screens/scanouts.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define MS                 UINT64_C(1000000)
#define ON_NEXT_VSYNC      4u

static struct copies_client client;
static D3DKMT_HANDLE primary[3];

static D3DKMT_PRESENT flip_of(const struct copies_client *c, D3DKMT_HANDLE handle)
{
    D3DKMT_PRESENT args;

    memset(&args, 0, sizeof(args));
    args.hContext = c->context;
    args.hSource = handle;
    args.FlipInterval = D3DDDI_FLIPINTERVAL_ONE;
    args.Flags.Flip = 1;
    args.Flags.FlipDoNotFlip = !handle;
    return args;
}

static NTSTATUS flip(D3DKMT_HANDLE handle)
{
    const D3DKMT_PRESENT args = flip_of(&client, handle);

    return D3DKMTPresent((D3DKMT_PRESENT *)(uintptr_t)&args);
}

static uint64_t flips(const struct probe *p)
{
    return scanouts_flips(port_display_scanouts(p->adapter[0]), 0);
}

static const struct full_address *last(void)
{
    return &full_seen.address[(full_seen.addresses - 1) % FULL_CALLS];
}

static void begin(struct probe *p)
{
    full_engine_start(p);
    copies_begin(&client);
    for (unsigned i = 0; i < 3; i++)
        CHECK(NT_SUCCESS(copies_create_primary(&client, 0, &primary[i])));
    CHECK(NT_SUCCESS(copies_own(&client, 0)));
}

static void show_first(void)
{
    CHECK(NT_SUCCESS(D3DKMTSetDisplayMode(
        &(D3DKMT_SETDISPLAYMODE){.hDevice = client.device, .hPrimaryAllocation = primary[0]})));
    full_engine_await();
}

static void end(void)
{
    full_engine_stop();
    copies_end(&client);
}

/* ---- nothing of one's own ---- */

static void to_shared(struct probe *p)
{
    const size_t opens = probe_count(p, PROBE_OpenAllocation);
    size_t own;
    HANDLE shared;
    UINT calls;

    begin(p);
    own = probe_count(p, PROBE_OpenAllocation);
    CHECK(own == opens + 3);
    calls = full_seen.addresses;
    full_engine_await();
    CHECK_RULE("PRES-339/a", IS(flip(0), STATUS_SUCCESS) && copies_seen.presents == 1 &&
                                 copies_last()->args.Flags.Value == 4 &&
                                 !copies_last()->args.pDmaBuffer &&
                                 probe_count(p, PROBE_OpenAllocation) == own + 1);
    shared = copies_last()->list[1].hDeviceSpecificAllocation;
    CHECK_RULE("PRES-339/a", shared != NULL);
    probe_sleep(1 * MS);
    CHECK_RULE("PRES-339/a", full_seen.addresses == calls + 1 &&
                                 last()->allocation == full_seen.primary &&
                                 last()->flags == ON_NEXT_VSYNC && last()->contexts == 1);
    CHECK_RULE("PRES-144", flips(p) == 0);
    probe_sleep(17 * MS);
    CHECK_RULE("PRES-144", flips(p) == 1);
    /* then its own, and again the one that is shown when it is its turn */
    CHECK(IS(flip(primary[1]), STATUS_SUCCESS));
    CHECK_RULE("PRES-339/a", IS(flip(0), STATUS_SUCCESS) &&
                                 copies_last()->list[1].hDeviceSpecificAllocation != shared &&
                                 probe_count(p, PROBE_OpenAllocation) == own + 1);
    probe_sleep(60 * MS);
    CHECK_RULE("PRES-339/a", flips(p) == 3 && last()->allocation != full_seen.primary);
    end();
    CHECK_RULE("PRES-259", last()->allocation == full_seen.primary);
}

TEST(a_flip_to_the_shared_primary)
{
    copies_run(copies_create(DXGKDDI_INTERFACE_VERSION_WDDM1_3), to_shared);
}

static void packet_to_shared(struct probe *p)
{
    UINT calls;

    begin(p);
    calls = full_seen.addresses;
    full_engine_await();
    CHECK(IS(flip(0), STATUS_SUCCESS));
    CHECK_RULE("PRES-339/b",
               copies_last()->args.pDmaBuffer && copies_last()->list[1].hDeviceSpecificAllocation);
    copies_wait(&client);
    CHECK_RULE("PRES-339/b", copies_seen.submits == 1 && copies_seen.submit[0].Flags.Flip &&
                                 full_seen.addresses == calls &&
                                 full_engine.pending == last()->address && flips(p) == 0);
    probe_sleep(17 * MS);
    CHECK_RULE("PRES-339/b", flips(p) == 1);
    CHECK(probe_rule(p, "PRES-143") == 0);
    end();
}

TEST(a_flip_of_the_gpu_to_the_shared_primary)
{
    for (unsigned i = 0; i < 2; i++) {
        struct probe *p = copies_create(DXGKDDI_INTERFACE_VERSION_WIN7);

        p->caps.FlipCaps.FlipOnVSyncMmIo = 0;
        p->caps.FlipCaps.FlipOnVSyncWithNoWait = i != 0;
        copies_run(p, packet_to_shared);
    }
}

/* ---- of another device, and of no source ---- */

static void to_others(struct probe *p)
{
    D3DKMT_SETVIDPNSOURCEOWNER none = {.hDevice = 0};
    struct copies_client other;
    D3DKMT_PRESENT args;
    UINT calls;

    begin(p);
    show_first();
    none.hDevice = client.device;
    CHECK(NT_SUCCESS(D3DKMTSetVidPnSourceOwner(&none)));
    copies_begin(&other);
    CHECK(NT_SUCCESS(copies_own(&other, 0)));
    calls = full_seen.addresses;
    args = flip_of(&other, 0);
    CHECK_RULE("PRES-339/c",
               IS(D3DKMTPresent(&args), STATUS_INVALID_PARAMETER) && copies_seen.presents == 0);
    probe_sleep(40 * MS);
    CHECK_RULE("PRES-339/c", full_seen.addresses == calls);
    args.VidPnSourceId = 0xFFFFFFFF;
    CHECK_RULE("PRES-281", IS(D3DKMTPresent(&args), STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE));
    copies_end(&other);
    end();
}

TEST(a_flip_to_what_another_shows)
{
    copies_run(copies_create(DXGKDDI_INTERFACE_VERSION_WDDM1_3), to_others);
}

/* ---- anew ---- */

static void anew(struct probe *p)
{
    D3DKMT_PRESENT args;
    HANDLE second;
    UINT calls;

    begin(p);
    show_first();
    CHECK(IS(flip(primary[2]), STATUS_SUCCESS));
    probe_sleep(20 * MS);
    second = last()->allocation;
    full_engine.stuck = true;
    calls = full_seen.addresses;
    CHECK(IS(flip(primary[1]), STATUS_SUCCESS)); /* handed over */
    probe_sleep(1 * MS);
    CHECK(IS(flip(primary[0]), STATUS_SUCCESS));
    CHECK(IS(flip(primary[1]), STATUS_SUCCESS));
    args = flip_of(&client, primary[2]);
    args.Flags.FlipRestart = 1;
    CHECK_RULE("PRES-281", IS(D3DKMTPresent(&args), STATUS_SUCCESS)); /* there is room */
    CHECK(full_seen.addresses == calls + 1 && flips(p) == 1);
    full_engine.stuck = false;
    probe_sleep(100 * MS);
    CHECK_RULE("PRES-281",
               full_seen.addresses == calls + 2 && last()->allocation == second && flips(p) == 3);
    end();
}

TEST(a_flip_that_starts_anew)
{
    copies_run(copies_create(DXGKDDI_INTERFACE_VERSION_WDDM1_3), anew);
}
