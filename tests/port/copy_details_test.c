/* SPDX-License-Identifier: MIT */
/* Copies to a screen that is turned, that shows another device's primary, or that changes meanwhile. */
#include "port/support/copies.h"
#include "modes/display_worker.h"
#include "sim/machine.h"
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

/* ---- turned screens ---- */

static void turned(struct probe *p)
{
    D3DKMT_PRESENT args;

    begin();
    args = copies_args(&client, surface);
    args.Flags.SrcRectValid = args.Flags.Rotate = 1;
    args.SrcRect = (RECT){0, 0, 64, 32};
    for (UINT quarters = 1; quarters <= 3; quarters++) {
        CHECK(NT_SUCCESS(display_ask_mode(p, 0, 1024, 768, quarters)));
        CHECK(IS(D3DKMTPresent(&args), STATUS_SUCCESS));
        CHECK_RULE("PRES-099",
                   copies_last()->args.DstRect.right == (quarters == 2 ? 1024 : 768) &&
                       copies_last()->args.DstRect.bottom == (quarters == 2 ? 768 : 1024));
    }
    end();
}

TEST(both_quarter_turns)
{
    struct probe *p = copies_create(V1);

    copies.no_pixels = true;
    copies_run(p, turned);
}

/* ---- another device's primary ---- */

static NTSTATUS disown(const struct copies_client *c)
{
    return D3DKMTSetVidPnSourceOwner(&(D3DKMT_SETVIDPNSOURCEOWNER){.hDevice = c->device});
}

static void of_another(struct probe *p)
{
    struct copies_client other;
    D3DKMT_HANDLE primary;
    D3DKMT_PRESENT args;
    UINT presents;

    (void)p;
    begin();
    copies_begin(&other);
    CHECK(NT_SUCCESS(copies_create_primary(&other, 0, &primary)));
    CHECK(NT_SUCCESS(copies_own(&other, 0)));
    CHECK(NT_SUCCESS(D3DKMTSetDisplayMode(
        &(D3DKMT_SETDISPLAYMODE){.hDevice = other.device, .hPrimaryAllocation = primary})));
    CHECK(NT_SUCCESS(disown(&other))); /* it is still shown */
    args = copies_args(&client, 0);
    presents = copies_seen.presents;
    CHECK_RULE("PRES-114", IS(D3DKMTPresent(&args), STATUS_GRAPHICS_PRESENT_OCCLUDED) &&
                               copies_seen.presents == presents);
    args.hContext = other.context;
    CHECK_RULE("PRES-114", IS(copies_present(&other, &args), STATUS_SUCCESS));
    copies_end(&other);
    end();
}

TEST(what_another_device_shows)
{
    copies_run(copies_create(V1), of_another);
}

/* ---- what waits for a copy ---- */

/* A copy that takes long; until when, at least. */
static uint64_t copy_long(void)
{
    D3DKMT_PRESENT args = copies_args(&client, surface);
    const uint64_t now = sim_now();

    args.Flags.SrcRectValid = args.Flags.DstRectValid = 1;
    args.SrcRect = args.DstRect = (RECT){0, 0, 4, 4};
    probe_device_packet_ns = LONG_NS;
    CHECK(IS(D3DKMTPresent(&args), STATUS_SUCCESS));
    CHECK(sim_now() - now < LONG_NS / 2);
    return now + LONG_NS;
}

static void other_primary(struct probe *p)
{
    D3DKMT_HANDLE primary[2];
    uint64_t done;

    (void)p;
    begin();
    CHECK(NT_SUCCESS(copies_own(&client, 0)));
    for (unsigned i = 0; i < 2; i++)
        CHECK(NT_SUCCESS(copies_create_primary(&client, 0, &primary[i])));
    CHECK(NT_SUCCESS(D3DKMTSetDisplayMode(
        &(D3DKMT_SETDISPLAYMODE){.hDevice = client.device, .hPrimaryAllocation = primary[0]})));
    done = copy_long();
    CHECK(NT_SUCCESS(D3DKMTSetDisplayMode(
        &(D3DKMT_SETDISPLAYMODE){.hDevice = client.device, .hPrimaryAllocation = primary[1]})));
    CHECK_RULE("PRES-112", sim_now() >= done);
    end();
}

TEST(another_primary_waits_for_a_copy)
{
    copies_run(copies_create(V1), other_primary);
}

static void without_monitor(struct probe *p)
{
    const UINT commits = display_seen.commits;
    uint64_t done;

    begin();
    done = copy_long();
    display_indicate(p, 0, false);
    CHECK(display_seen.commits == commits + 1);
    CHECK_RULE("PRES-112", probe_nth(p, PROBE_CommitVidPn, commits)->time >= done);
    probe_device_packet_ns = 1000;
    end();
}

TEST(the_end_of_a_path_waits_for_a_copy)
{
    copies_run(copies_create(V1), without_monitor);
}

/* ---- a pass that writes nothing ---- */

static probe_hook *present;
static UINT calls, offset;

static void only_counts(struct probe *p, struct probe_call *call)
{
    DXGKARG_PRESENT *args = (DXGKARG_PRESENT *)(uintptr_t)call->arg[1];

    offset = args->MultipassOffset;
    if (calls++ == 0) {
        args->MultipassOffset = 5;
        call->answered = true;
        call->result = (uint32_t)STATUS_GRAPHICS_INSUFFICIENT_DMA_BUFFER;
        return;
    }
    args->MultipassOffset = 0;
    present(p, call);
}

static void advances(struct probe *p)
{
    D3DKMT_PRESENT args;

    begin();
    args = copies_args(&client, 0);
    present = p->before[PROBE_Present];
    p->before[PROBE_Present] = only_counts;
    calls = 0;
    CHECK_RULE("PRES-106", IS(D3DKMTPresent(&args), STATUS_SUCCESS) && calls == 2 &&
                               probe_rule(p, "PRES-106") == 0);
    CHECK_RULE("PRES-105", offset == 5);
    copies_wait(&client);
    end();
}

TEST(a_pass_that_only_counts_is_progress)
{
    copies_run(copies_create(V1), advances);
}

/* ---- rectangles as large as can be ---- */

static bool is_rect(const RECT *r, LONG left, LONG top, LONG right, LONG bottom)
{
    return r->left == left && r->top == top && r->right == right && r->bottom == bottom;
}

static RECT stretched(RECT from, RECT to, RECT sub)
{
    D3DKMT_PRESENT args = copies_args(&client, surface);

    args.Flags.SrcRectValid = args.Flags.DstRectValid = 1;
    args.SrcRect = from;
    args.DstRect = to;
    args.pSrcSubRects = &sub;
    copies.rects = 0;
    CHECK(IS(copies_present(&client, &args), STATUS_SUCCESS));
    return copies_last()->rect[0];
}

static void largest(struct probe *p)
{
    const RECT all = {INT32_MIN, INT32_MIN, INT32_MAX, INT32_MAX};
    const RECT small = {0, 0, 64, 32};
    RECT r;

    (void)p;
    begin();
    r = stretched(all, all, (RECT){3, 5, 700, 701}); /* as it is */
    CHECK_RULE("PRES-103", is_rect(&r, 3, 5, 700, 701));
    CHECK_RULE(
        "PRES-102",
        is_rect(&copies_last()->args.SrcRect, INT32_MIN, INT32_MIN, INT32_MAX, INT32_MAX) &&
            is_rect(&copies_last()->args.DstRect, INT32_MIN, INT32_MIN, INT32_MAX, INT32_MAX));
    r = stretched(all, all, all);
    CHECK_RULE("PRES-103", is_rect(&r, 0, 0, 1024, 768));
    r = stretched(all, all, (RECT){INT32_MIN, 4, INT32_MAX, 5});
    CHECK_RULE("PRES-103", is_rect(&r, 0, 4, 1024, 5));
    r = stretched(all, (RECT){0, 0, 1024, 768}, (RECT){0, 0, INT32_MAX, INT32_MAX});
    CHECK_RULE("PRES-103", is_rect(&r, 512, 384, 1024, 768)); /* the lower right quarter */
    r = stretched(small, (RECT){-2000000000, -2000000000, 2000000000, 2000000000},
                  (RECT){32, 16, 33, 17});
    CHECK_RULE("PRES-103", is_rect(&r, 0, 0, 1024, 768));
    end();
}

TEST(rectangles_as_large_as_can_be)
{
    struct probe *p = copies_create(V1);

    copies.no_pixels = true;
    copies_run(p, largest);
}
