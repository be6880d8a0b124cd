/* SPDX-License-Identifier: MIT */
/* Copies and fills of clients: from D3DKMTPresent through DxgkDdiPresent and the GPU to the screen. */
#include "port/support/copies.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define V1                 DXGKDDI_INTERFACE_VERSION_WDDM1_3
#define PRESENT            2u /* of DXGK_PATCHFLAGS and DXGK_SUBMITCOMMANDFLAGS */

static struct copies_client client;
static D3DKMT_HANDLE surface;

static bool is_rect(const RECT *r, LONG left, LONG top, LONG right, LONG bottom)
{
    return r->left == left && r->top == top && r->right == right && r->bottom == bottom;
}

/* From a surface of 64 x 32 to (100, 200), as it is. */
static D3DKMT_PRESENT blt(void)
{
    D3DKMT_PRESENT args = copies_args(&client, surface);

    args.Flags.SrcRectValid = args.Flags.DstRectValid = 1;
    args.SrcRect = (RECT){0, 0, 64, 32};
    args.DstRect = (RECT){100, 200, 164, 232};
    return args;
}

static void begin(void)
{
    copies_begin(&client);
    surface = copies_surface(&client, 64, 32, 0x112233);
}

static void end(void)
{
    copies_end(&client);
}

/* ---- what the driver gets ---- */

static HANDLE context, opened[2];
static const struct nt_process *process;

static void note_context(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATECONTEXT *args = (const DXGKARG_CREATECONTEXT *)(uintptr_t)call->arg[1];

    (void)p;
    if (args->Flags.SystemContext)
        return;
    context = args->hContext;
    process = call->process;
}

static void note_open(struct probe *p, struct probe_call *call)
{
    const DXGKARG_OPENALLOCATION *args = (const DXGKARG_OPENALLOCATION *)(uintptr_t)call->arg[1];

    (void)p;
    opened[0] = opened[1];
    opened[1] = args->pOpenAllocation[0].hDeviceSpecificAllocation;
}

static void blt_and_fill(struct probe *p)
{
    const HANDLE shared = full_seen.primary;
    const struct copies_call *call;
    const struct copies_patch *patch;
    D3DKMT_PRESENT args;

    begin();
    args = blt();
    CHECK(IS(copies_present(&client, &args), STATUS_SUCCESS));
    call = copies_last();
    CHECK_RULE("PRES-282/a", copies_pixel(p, 100, 200) == 0x112233 &&
                                 copies_pixel(p, 163, 231) == 0x112233 &&
                                 copies_pixel(p, 99, 200) == 0 && copies_pixel(p, 164, 231) == 0);
    CHECK_RULE("PRES-090", call->irql == 0 && call->context == context && call->process == process);
    CHECK_RULE("PRES-092", call->args.Flags.Value == 1 && call->list[1].hDeviceSpecificAllocation &&
                               call->list[2].hDeviceSpecificAllocation);
    CHECK_RULE("PATCH-098", !call->list[0].hDeviceSpecificAllocation &&
                                call->list[1].hDeviceSpecificAllocation == opened[0] &&
                                call->list[2].hDeviceSpecificAllocation == opened[1] &&
                                !call->list[1].WriteOperation && call->list[2].WriteOperation);
    CHECK_RULE("PRES-110", call->list[2].SegmentId == 2 &&
                               (uint64_t)call->list[2].PhysicalAddress.QuadPart ==
                                   full_seen.address[0].address &&
                               !call->list[1].SegmentId);
    CHECK_RULE("PRES-114", full_seen.primary == shared && full_seen.created == 1);
    patch = &copies_seen.patch[0];
    CHECK_RULE("PRES-113", copies_seen.patches == 1 && patch->args.Flags.Value == PRESENT &&
                               copies_seen.submits == 1 &&
                               copies_seen.submit[0].Flags.Value == PRESENT);
    CHECK_RULE("PRES-108", patch->args.PatchLocationListSubmissionLength == 2 &&
                               patch->location[0].AllocationIndex == 1 &&
                               patch->location[1].AllocationIndex == 2 &&
                               probe_rule(p, "PRES-108") == 0);
    CHECK(patch->list[1].SegmentId == 2 && patch->list[2].SegmentId == 2);
    CHECK(probe_rule(p, "PRES-109") == 0 && probe_rule(p, "PATCH-104") == 0);

    args = copies_args(&client, 0);
    args.Color = 0xFF00FF00;
    CHECK(IS(copies_present(&client, &args), STATUS_SUCCESS));
    call = copies_last();
    CHECK_RULE("PRES-093",
               call->args.Flags.Value == 2 && !call->list[1].hDeviceSpecificAllocation &&
                   call->list[2].hDeviceSpecificAllocation && call->args.Color == 0xFF00FF00);
    CHECK_RULE("PRES-282/c", call->args.SubRectCnt == 1 && is_rect(call->rect, 0, 0, 1024, 768) &&
                                 copies_pixel(p, 0, 0) == 0xFF00FF00 &&
                                 copies_pixel(p, 1023, 767) == 0xFF00FF00);
    CHECK_RULE("PRES-114", probe_count(p, PROBE_OpenAllocation) == 3); /* it is opened once */
    end();
}

TEST(a_blt_and_a_fill_are_seen)
{
    struct probe *p = copies_create(V1);

    p->after[PROBE_CreateContext] = note_context;
    p->after[PROBE_OpenAllocation] = note_open;
    copies_run(p, blt_and_fill);
}

/* ---- the flags ---- */

static UINT flags_of(D3DKMT_PRESENTFLAGS flags)
{
    D3DKMT_PRESENT args = blt();

    args.Flags.Value |= flags.Value;
    args.Color = 0x123456;
    CHECK(IS(copies_present(&client, &args), STATUS_SUCCESS));
    CHECK_RULE("PRES-097", copies_last()->args.Color == 0x123456);
    CHECK_RULE("PRES-101", !(copies_last()->args.Flags.Value & ~0xFFu));
    return copies_last()->args.Flags.Value;
}

static NTSTATUS refused(D3DKMT_PRESENTFLAGS flags)
{
    D3DKMT_PRESENT args = blt();
    const UINT presents = copies_seen.presents;
    NTSTATUS status;

    args.Flags.Value |= flags.Value;
    status = D3DKMTPresent(&args);
    CHECK(copies_seen.presents == presents);
    return status;
}

static void with_flags(struct probe *p)
{
    D3DKMT_PRESENT args;

    (void)p;
    begin();
    CHECK_RULE("PRES-097", flags_of((D3DKMT_PRESENTFLAGS){.SrcColorKey = 1}) == 0x11);
    CHECK_RULE("PRES-097", flags_of((D3DKMT_PRESENTFLAGS){.DstColorKey = 1}) == 0x21);
    CHECK_RULE("PRES-098", flags_of((D3DKMT_PRESENTFLAGS){.LinearToSrgb = 1}) == 0x41);
    CHECK_RULE("PRES-098", flags_of((D3DKMT_PRESENTFLAGS){.Rotate = 1}) == 0x81);
    CHECK_RULE("PRES-101", flags_of((D3DKMT_PRESENTFLAGS){.PresentCountValid = 1}) == 1);
    CHECK_RULE("PRES-097", IS(refused((D3DKMT_PRESENTFLAGS){.SrcColorKey = 1, .DstColorKey = 1}),
                              STATUS_INVALID_PARAMETER));
    args = copies_args(&client, 0);
    args.Flags.SrcColorKey = 1;
    CHECK_RULE("PRES-097", IS(D3DKMTPresent(&args), STATUS_INVALID_PARAMETER));
    args = blt();
    args.Flags.ColorFill = 1;
    CHECK_RULE("PRES-282/a", IS(D3DKMTPresent(&args), STATUS_INVALID_PARAMETER));
    end();
}

TEST(flags_reach_the_driver)
{
    copies_run(copies_create(V1), with_flags);
}

static uint8_t pattern[65537];

static void other_kinds(struct probe *p)
{
    static const D3DKMT_PRESENTFLAGS none[] = {
        {.PresentToBitmap = 1},
        {.RedirectedFlip = 1},
        {.RedirectedBlt = 1},
        {.FlipStereo = 1},
        {.FlipStereoTemporaryMono = 1},
        {.FlipStereoPreferRight = 1},
        {.BltStereoUseRight = 1},
        {.PresentHistoryTokenOnly = 1},
        {.RemoteSession = 1},
        {.CrossAdapter = 1},
        {.PresentHMD = 1},
    };
    D3DKMT_PRESENT args;

    (void)p;
    begin();
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        CHECK_RULE("PRES-286", IS(refused(none[i]), STATUS_NOT_SUPPORTED));
    CHECK_RULE("PRES-286",
               IS(refused((D3DKMT_PRESENTFLAGS){.PresentDDA = 1}), STATUS_INVALID_PARAMETER));
    CHECK_RULE("PRES-286", IS(refused((D3DKMT_PRESENTFLAGS){.ProtectedContentBlankedOut = 1}),
                              STATUS_INVALID_PARAMETER));
    args = blt();
    args.PresentHistoryToken.Model = D3DKMT_PM_REDIRECTED_BLT;
    CHECK_RULE("PRES-286", IS(copies_present(&client, &args), STATUS_SUCCESS));
    args = blt();
    args.BroadcastContextCount = 1;
    args.BroadcastContext[0] = client.context;
    CHECK_RULE("PRES-287", IS(D3DKMTPresent(&args), STATUS_INVALID_PARAMETER));
    args = blt();
    args.SubRectCnt = 0;
    CHECK_RULE("PRES-282/b", IS(D3DKMTPresent(&args), STATUS_INVALID_PARAMETER));
    args = blt();
    args.hWindow = (HWND)7;
    CHECK_RULE("PRES-283", IS(D3DKMTPresent(&args), STATUS_GRAPHICS_PRESENT_INVALID_WINDOW));
    args.hWindow = (HWND)1;
    CHECK_RULE("PRES-283", IS(copies_present(&client, &args), STATUS_SUCCESS));
    args.Flags.RestrictVidPnSource = 1;
    CHECK_RULE("PRES-283", IS(copies_present(&client, &args), STATUS_SUCCESS));
    args.VidPnSourceId = 1;
    CHECK_RULE("PRES-283", IS(D3DKMTPresent(&args), STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE));
    args.Flags.RestrictVidPnSource = 0;
    CHECK_RULE("PRES-283", IS(copies_present(&client, &args), STATUS_SUCCESS));
    args.PrivateDriverDataSize = 65536;
    args.pPrivateDriverData = pattern;
    CHECK_RULE("PRES-117", IS(copies_present(&client, &args), STATUS_SUCCESS) &&
                               copies_last()->args.PrivateDriverDataSize == 65536);
    args.PrivateDriverDataSize = 65537;
    CHECK_RULE("PRES-117", IS(D3DKMTPresent(&args), STATUS_INVALID_PARAMETER));
    args = blt();
    args.hSource = 77;
    CHECK(IS(D3DKMTPresent(&args), STATUS_INVALID_HANDLE));
    end();
}

TEST(what_a_present_may_not_be)
{
    copies_run(copies_create(V1), other_kinds);
}

/* ---- rectangles ---- */

static void rectangles(struct probe *p)
{
    RECT subs[4] = {{0, 0, 8, 8}, {60, 30, 70, 40}, {20, 20, 20, 30}, {10, 4, 12, 6}};
    D3DKMT_PRESENT args;
    const struct copies_call *call;
    UINT presents;

    begin();
    args = blt();
    args.DstRect = (RECT){100, 200, 100 + 128, 200 + 64}; /* twice as large */
    args.SubRectCnt = 4;
    args.pSrcSubRects = subs;
    CHECK(IS(copies_present(&client, &args), STATUS_SUCCESS));
    call = copies_last();
    CHECK_RULE("PRES-104", call->args.SubRectCnt == 3 &&
                               is_rect(&call->rect[0], 100, 200, 116, 216) &&
                               is_rect(&call->rect[2], 120, 208, 124, 212));
    CHECK_RULE("PRES-103", is_rect(&call->rect[1], 220, 260, 228, 264));
    CHECK_RULE("PRES-102",
               is_rect(&call->args.DstRect, 100, 200, 228, 264) &&
                   is_rect(&call->args.SrcRect, 0, 0, 64, 32) &&
                   copies_pixel(p, 115, 215) == 0x112233 && copies_pixel(p, 116, 216) == 0 &&
                   copies_pixel(p, 227, 263) == 0x112233 && copies_pixel(p, 150, 230) == 0);
    CHECK_RULE("PRES-104", call->args.pDstSubRects != subs);

    args = blt();
    args.DstRect = (RECT){1000, 760, 1064, 792}; /* beyond the screen */
    CHECK(IS(copies_present(&client, &args), STATUS_SUCCESS));
    CHECK_RULE("PRES-103", is_rect(copies_last()->rect, 1000, 760, 1024, 768));

    presents = copies_seen.presents;
    args = blt();
    args.DstRect = (RECT){2000, 0, 2064, 32};
    CHECK_RULE("PRES-104", IS(D3DKMTPresent(&args), STATUS_SUCCESS));
    args = blt();
    args.SubRectCnt = 1;
    args.pSrcSubRects = &subs[2];
    CHECK_RULE("PRES-104", IS(D3DKMTPresent(&args), STATUS_SUCCESS));
    args.DstRect = (RECT){10, 10, 10, 20};
    CHECK_RULE("PRES-104", IS(D3DKMTPresent(&args), STATUS_SUCCESS));
    CHECK_RULE("PRES-104", copies_seen.presents == presents);

    args = copies_args(&client, surface); /* no rectangle counts: all of both */
    copies.no_pixels = true;              /* three pixels become ten: what is touched counts */
    args.Flags.SrcRectValid = args.Flags.DstRectValid = 1;
    args.SrcRect = (RECT){0, 0, 3, 3};
    args.DstRect = (RECT){0, 0, 10, 10};
    subs[0] = (RECT){1, 1, 2, 3};
    args.SubRectCnt = 1;
    args.pSrcSubRects = subs;
    CHECK(IS(copies_present(&client, &args), STATUS_SUCCESS));
    CHECK_RULE("PRES-103", is_rect(copies_last()->rect, 3, 3, 7, 10));
    copies.no_pixels = false;
    subs[0] = (RECT){0, 0, 8, 8};
    args = copies_args(&client, surface);
    copies.width = 64;
    copies.height = 32;
    CHECK(IS(copies_present(&client, &args), STATUS_SUCCESS));
    CHECK_RULE("PRES-283", is_rect(&copies_last()->args.DstRect, 0, 0, 1024, 768) &&
                               is_rect(&copies_last()->args.SrcRect, 0, 0, 64, 32) &&
                               copies_pixel(p, 1023, 767) == 0x112233);
    args = copies_args(&client, 0);
    args.SubRectCnt = 2;
    args.pSrcSubRects = subs;
    args.Flags.DstRectValid = 1;
    args.DstRect = (RECT){4, 0, 1024, 768};
    CHECK(IS(copies_present(&client, &args), STATUS_SUCCESS));
    CHECK_RULE("PRES-103", is_rect(&copies_last()->rect[0], 4, 0, 8, 8) &&
                               is_rect(&copies_last()->rect[1], 60, 30, 70, 40));
    end();
}

TEST(rectangles_are_clipped)
{
    copies_run(copies_create(V1), rectangles);
}

/* ---- passes ---- */

static void five(D3DKMT_PRESENT *args, RECT *subs)
{
    *args = blt();
    for (LONG i = 0; i < 5; i++)
        subs[i] = (RECT){i * 10, i, i * 10 + 4, i + 4};
    args->SubRectCnt = 5;
    args->pSrcSubRects = subs;
}

static void passes(struct probe *p)
{
    D3DKMT_PRESENT args;
    RECT subs[5];

    begin();
    five(&args, subs);
    copies.rects = 1;
    CHECK(IS(copies_present(&client, &args), STATUS_SUCCESS));
    CHECK_RULE("PRES-105", copies_seen.presents == 5 && copies_seen.submits == 5);
    for (UINT i = 0; i < 5; i++) {
        const struct copies_call *call = &copies_seen.present[i];

        CHECK_RULE("PRES-105", call->args.MultipassOffset == i && call->args.SubRectCnt == 5 &&
                                   is_rect(&call->rect[4], 140, 204, 144, 208));
        CHECK_RULE("PRES-104", call->args.pDstSubRects == copies_seen.present[0].args.pDstSubRects);
        CHECK_RULE("PRES-105", i == 0 || copies_seen.submit[i].SubmissionFenceId >
                                             copies_seen.submit[i - 1].SubmissionFenceId);
    }
    CHECK_RULE("PRES-105", copies_pixel(p, 143, 207) == 0x112233 && copies_seen.done == 5);

    copies.rects = 0;
    copies.stuck = true;
    CHECK_RULE("PRES-106", IS(copies_present(&client, &args), STATUS_NO_MEMORY) &&
                               probe_rule(p, "PRES-106") == 1 && copies_seen.submits == 5);
    end();
}

TEST(as_many_passes_as_the_driver_needs)
{
    copies_run(copies_create(V1), passes);
}

/* ---- what goes wrong ---- */

static void statuses(struct probe *p)
{
    static const NTSTATUS failing[] = {
        STATUS_GRAPHICS_CANNOTCOLORCONVERT, STATUS_NO_MEMORY,
        STATUS_INSUFFICIENT_RESOURCES,      STATUS_INVALID_HANDLE,
        STATUS_PRIVILEGED_INSTRUCTION,      STATUS_ILLEGAL_INSTRUCTION};
    D3DKMT_PRESENT args;
    UINT presents;

    begin();
    args = blt();
    for (size_t i = 0; i < sizeof(failing) / sizeof(failing[0]); i++) {
        copies.status = failing[i];
        CHECK_RULE("PRES-111/a", IS(copies_present(&client, &args), failing[i]));
    }
    CHECK_RULE("PRES-111/a", copies_seen.submits == 0 && probe_rule(p, "PRES-111") == 0);
    copies.status = STATUS_ACCESS_DENIED;
    CHECK_RULE("PRES-111/a", IS(copies_present(&client, &args), STATUS_ACCESS_DENIED) &&
                                 probe_rule(p, "PRES-111") == 1);
    CHECK(IS(copies_present(&client, &args), STATUS_SUCCESS));
    copies.status = STATUS_GRAPHICS_GPU_EXCEPTION_ON_DEVICE;
    CHECK_RULE("PRES-111/b",
               IS(copies_present(&client, &args), STATUS_GRAPHICS_GPU_EXCEPTION_ON_DEVICE));
    presents = copies_seen.presents;
    CHECK_RULE("PRES-111/b", IS(D3DKMTPresent(&args), STATUS_GRAPHICS_GPU_EXCEPTION_ON_DEVICE) &&
                                 copies_seen.presents == presents);
    end();
}

TEST(failing_statuses)
{
    copies_run(copies_create(V1), statuses);
}

static void locations(struct probe *p)
{
    D3DKMT_PRESENT args;

    begin();
    args = blt();
    copies.slot = 8; /* one more than the driver says */
    CHECK_RULE("PRES-109", IS(copies_present(&client, &args), STATUS_SUCCESS) &&
                               probe_rule(p, "PRES-109") == 1 &&
                               copies_pixel(p, 163, 231) == 0x112233);
    CHECK_RULE("PRES-109", probe_rule(p, "PATCH-104") == 0);
    copies.slot = 7;
    CHECK(IS(copies_present(&client, &args), STATUS_SUCCESS));
    CHECK_RULE("PRES-109", probe_rule(p, "PRES-109") == 1);
    copies.unlisted = true;
    CHECK_RULE("PRES-108", IS(copies_present(&client, &args), STATUS_SUCCESS) &&
                               probe_rule(p, "PRES-108") == 2);
    copies.unlisted = false;
    copies.only_source = true;
    CHECK_RULE("PRES-108", IS(copies_present(&client, &args), STATUS_SUCCESS) &&
                               probe_rule(p, "PRES-108") == 3);
    copies.only_source = false;
    copies.element_zero = true;
    copies_seen.done = 0;
    CHECK_RULE("PRES-109", NT_SUCCESS(D3DKMTPresent(&args)) && probe_rule(p, "PRES-109") == 2);
    end();
}

TEST(locations_of_presents)
{
    copies_run(copies_create(V1), locations);
}

/* ---- to memory ---- */

static void to_memory(struct probe *p)
{
    HANDLE destination;
    D3DKMT_HANDLE other;
    D3DKMT_PRESENT args;
    UINT *pixel;

    begin();
    other = copies_surface(&client, 1024, 2, 0);
    args = blt();
    args.hDestination = other;
    args.DstRect = (RECT){0, 0, 64, 2000}; /* larger than the screen */
    args.SrcRect = (RECT){0, 0, 64, 2000};
    copies.no_pixels = true;
    destination = opened[1];
    CHECK(IS(copies_present(&client, &args), STATUS_SUCCESS));
    CHECK_RULE("PRES-103", is_rect(copies_last()->rect, 0, 0, 64, 2000));
    copies.no_pixels = false;
    args.DstRect = args.SrcRect = (RECT){0, 0, 64, 2};
    CHECK(IS(copies_present(&client, &args), STATUS_SUCCESS));
    CHECK_RULE("PRES-114",
               destination && copies_last()->list[2].hDeviceSpecificAllocation == destination);
    pixel = copies_lock(&client, other);
    CHECK_RULE("PRES-282/a", pixel[63] == 0x112233 && pixel[64] == 0 && pixel[1024] == 0x112233);
    copies_unlock(&client, other);
    CHECK(copies_pixel(p, 0, 0) == 0);
    args = copies_args(&client, 0); /* what a fill fills is the screen */
    args.hDestination = other;
    args.Color = 0x445566;
    CHECK(IS(copies_present(&client, &args), STATUS_SUCCESS));
    CHECK_RULE("PRES-093", copies_pixel(p, 0, 0) == 0x445566);
    end();
}

TEST(copies_to_memory)
{
    struct probe *p = copies_create(V1);

    p->after[PROBE_OpenAllocation] = note_open;
    copies_run(p, to_memory);
}
