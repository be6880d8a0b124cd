/* SPDX-License-Identifier: MIT */
/* Flips of clients: from D3DKMTPresent to the vertical sync that completes them. */
#include "port/support/client.h"
#include "port/support/full_display.h"
#include "screens/scanouts.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define MODE_CHANGE        1u
#define ON_NEXT_VSYNC      4u
#define SHARED_TRANSITION  0x40u

/* ---- a client with primaries ---- */

static struct probe_gpu gpu;
static D3DKMT_HANDLE primary[3];
static UINT described_width, describes, presents;
static DXGKARG_PRESENT presented;
static DXGK_ALLOCATIONLIST presented_list[3];
static NTSTATUS present_status;

static void describe(struct probe *p, struct probe_call *call)
{
    DXGKARG_DESCRIBEALLOCATION *args = (DXGKARG_DESCRIBEALLOCATION *)(uintptr_t)call->arg[1];

    (void)p;
    describes++;
    args->Width = described_width;
    args->Height = described_width == 800 ? 600 : 768;
    args->Format = D3DDDIFMT_X8R8G8B8; /* fits A8R8G8B8 (PRES-089) */
    call->answered = true;
}

static void note_present(struct probe *p, struct probe_call *call)
{
    const DXGKARG_PRESENT *args = (const DXGKARG_PRESENT *)(uintptr_t)call->arg[1];

    (void)p;
    presents++;
    presented = *args;
    memcpy(presented_list, args->pAllocationList, sizeof(presented_list));
    call->answered = true;
    call->result = (uint64_t)present_status;
}

static NTSTATUS create(UINT source, D3DKMT_HANDLE *handle)
{
    const uint64_t bytes = 1024 * 768 * 4;
    D3DDDI_ALLOCATIONINFO2 info;
    D3DKMT_CREATEALLOCATION args;
    NTSTATUS status;

    memset(&info, 0, sizeof(info));
    memset(&args, 0, sizeof(args));
    info.pPrivateDriverData = (void *)(uintptr_t)&bytes;
    info.PrivateDriverDataSize = sizeof(bytes);
    info.VidPnSourceId = source;
    info.Flags.Primary = 1;
    args.hDevice = gpu.device;
    args.NumAllocations = 1;
    args.pAllocationInfo2 = &info;
    status = D3DKMTCreateAllocation2(&args);
    *handle = info.hAllocation;
    return status;
}

static NTSTATUS own(D3DKMT_HANDLE device, D3DKMT_VIDPNSOURCEOWNER_TYPE type, UINT source)
{
    D3DKMT_SETVIDPNSOURCEOWNER args = {
        .hDevice = device, .pType = &type, .pVidPnSourceId = &source, .VidPnSourceCount = 1};

    return D3DKMTSetVidPnSourceOwner(&args);
}

static NTSTATUS set_mode(D3DKMT_HANDLE handle)
{
    const D3DKMT_SETDISPLAYMODE args = {.hDevice = gpu.device, .hPrimaryAllocation = handle};

    return D3DKMTSetDisplayMode(&args);
}

static NTSTATUS flip_at(D3DKMT_HANDLE handle, D3DDDI_FLIPINTERVAL_TYPE interval)
{
    D3DKMT_PRESENT args;

    memset(&args, 0, sizeof(args));
    args.hContext = gpu.context;
    args.hSource = handle;
    args.FlipInterval = interval;
    args.Flags.Flip = 1;
    return D3DKMTPresent(&args);
}

static NTSTATUS flip(D3DKMT_HANDLE handle)
{
    return flip_at(handle, D3DDDI_FLIPINTERVAL_ONE);
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
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    for (unsigned i = 0; i < 3; i++)
        CHECK(NT_SUCCESS(create(0, &primary[i])));
}

static void end(void)
{
    full_engine_stop();
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

static void show_first(void)
{
    CHECK(NT_SUCCESS(own(gpu.device, D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE, 0)));
    CHECK(NT_SUCCESS(set_mode(primary[0])));
    full_engine_await();
}

static struct probe *flipping(void)
{
    struct probe *p = full_display_create(NULL);

    described_width = 1024;
    describes = presents = 0;
    present_status = STATUS_SUCCESS;
    p->before[PROBE_DescribeAllocation] = describe;
    p->before[PROBE_Present] = note_present;
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

/* ---- the life of a flip ---- */

static void one_flip(struct probe *p)
{
    const UINT first = full_seen.addresses;

    begin(p);
    CHECK_RULE("PRES-281", IS(flip(primary[0]), STATUS_GRAPHICS_NOT_EXCLUSIVE_MODE_OWNER));
    CHECK_RULE("PRES-275", IS(set_mode(primary[0]), STATUS_GRAPHICS_NOT_EXCLUSIVE_MODE_OWNER));
    show_first();
    CHECK_RULE("PRES-277", full_seen.addresses == first + 1 && last()->flags == MODE_CHANGE &&
                               display_seen.commits == 1);
    CHECK_RULE("PRES-085", describes == 1);
    CHECK_RULE("PRES-171/b", full_engine.enables == 0);

    CHECK(IS(flip(primary[1]), STATUS_SUCCESS));
    CHECK_RULE("PRES-133", presents == 1 && presented.pDmaBuffer == NULL && presented.Flags.Flip &&
                               !presented.Flags.Blt);
    CHECK_RULE("PRES-134", presented.DmaSize == 0 && presented.PatchLocationListOutSize == 0 &&
                               presented.pPatchLocationListOut == NULL &&
                               presented.DmaBufferPhysicalAddress.QuadPart == 0);
    CHECK_RULE("PRES-094", presented_list[2].hDeviceSpecificAllocation == NULL &&
                               presented_list[1].hDeviceSpecificAllocation != NULL &&
                               presented_list[0].hDeviceSpecificAllocation == NULL);
    CHECK_RULE("PRES-107",
               presented.pDmaBufferPrivateData == NULL && presented.DmaBufferPrivateDataSize == 0);
    probe_sleep(1000000);
    CHECK_RULE("PRES-124/a", full_seen.addresses == first + 2 && last()->flags == ON_NEXT_VSYNC);
    CHECK_RULE("PRES-119/b", last()->contexts == 1 && last()->context != NULL);
    CHECK_RULE("PRES-129/b", last()->irql > 2);
    CHECK_RULE("PRES-172", full_engine.enables == 1);
    CHECK(flips(p) == 0);
    probe_sleep(17000000);
    CHECK_RULE("PRES-142/b", flips(p) == 1);
    probe_sleep(40000000);
    CHECK_RULE("PRES-171/a", !full_engine.enabled && full_engine.disables == 1);
    end();
}

TEST(a_flip_is_complete_when_its_address_is_latched)
{
    run(flipping(), one_flip);
}

/* More than the hardware holds: one after the other. */
static void several(struct probe *p)
{
    UINT calls;

    begin(p);
    show_first();
    calls = full_seen.addresses;
    for (unsigned i = 0; i < 3; i++)
        CHECK(IS(flip(primary[(i + 1) % 3]), STATUS_SUCCESS));
    probe_sleep(1000000);
    CHECK_RULE("PRES-141", full_seen.addresses == calls + (UINT)p->caps.MaxQueuedFlipOnVSync);
    CHECK(IS(flip(primary[1]), STATUS_SUCCESS)); /* the fourth waits */
    CHECK_RULE("PRES-288", flips(p) >= 1);
    probe_sleep(100000000);
    CHECK_RULE("PRES-143", flips(p) == 4 && full_seen.addresses == calls + 4);
    CHECK(last()->allocation ==
          full_seen.address[(full_seen.addresses - 4) % FULL_CALLS].allocation);
    end();
}

TEST(the_hardware_holds_so_many)
{
    for (UINT most = 1; most < 4; most++) {
        struct probe *p = flipping();

        p->caps.MaxQueuedFlipOnVSync = most;
        run(p, several);
    }
}

static void at_intervals(struct probe *p)
{
    const bool allowed = p->caps.FlipCaps.FlipInterval;
    UINT calls;

    begin(p);
    show_first();
    CHECK_RULE("PRES-147", NT_SUCCESS(flip_at(primary[1], D3DDDI_FLIPINTERVAL_TWO)) == allowed);
    CHECK_RULE("PRES-147", NT_SUCCESS(flip_at(primary[1], D3DDDI_FLIPINTERVAL_FOUR)) == allowed);
    CHECK_RULE("PRES-280",
               IS(flip_at(primary[1], (D3DDDI_FLIPINTERVAL_TYPE)6), STATUS_INVALID_PARAMETER));
    probe_sleep(200000000);
    full_engine_await();
    calls = full_seen.addresses;
    CHECK(IS(flip(primary[1]), STATUS_SUCCESS));
    probe_sleep(18000000); /* it has been latched */
    CHECK(full_seen.addresses == calls + 1);
    if (allowed) {
        CHECK(IS(flip_at(primary[2], D3DDDI_FLIPINTERVAL_THREE), STATUS_SUCCESS));
        probe_sleep(30000000); /* one more vertical sync; two have to be, so that the third latches */
        CHECK_RULE("PRES-146", full_seen.addresses == calls + 1);
        probe_sleep(4000000);
        CHECK_RULE("PRES-146", full_seen.addresses == calls + 2);
    }
    end();
}

TEST(intervals)
{
    for (UINT allowed = 0; allowed < 2; allowed++) {
        struct probe *p = flipping();

        p->caps.FlipCaps.FlipInterval = allowed & 1;
        run(p, at_intervals);
    }
}

static void at_once(struct probe *p)
{
    const bool mmio = p->caps.FlipCaps.FlipImmediateMmIo;

    begin(p);
    show_first();
    CHECK(IS(flip_at(primary[1], D3DDDI_FLIPINTERVAL_IMMEDIATE), STATUS_SUCCESS));
    probe_sleep(1000000);
    CHECK_RULE("PRES-124/b", (last()->flags == 2) == mmio);
    CHECK_RULE("PRES-148", (last()->flags == 2) == mmio);
    CHECK_RULE("PRES-149", (last()->flags == ON_NEXT_VSYNC) == !mmio);
    CHECK_RULE("PRES-150", (flips(p) == 1) == mmio && (full_engine.enables == 0) == mmio);
    end();
}

TEST(flips_at_once)
{
    for (UINT mmio = 0; mmio < 2; mmio++) {
        struct probe *p = flipping();

        p->caps.FlipCaps.FlipImmediateMmIo = mmio & 1;
        run(p, at_once);
    }
}

/* ---- the end of who flips ---- */

static HANDLE shared;

static void leave(struct probe *p)
{
    shared = full_seen.primary;
    begin(p);
    show_first();
    CHECK(IS(flip(primary[1]), STATUS_SUCCESS));
    probe_sleep(40000000);
    CHECK(last()->allocation != shared);
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
    CHECK_RULE("PRES-259", last()->allocation == shared);
    full_engine_stop();
}

TEST(the_shared_primary_comes_back)
{
    struct probe *p = flipping();

    run(p, leave);
}

/* ---- from the shared primary and back ---- */

static void transition(struct probe *p)
{
    const bool direct = p->caps.SupportDirectFlip != FALSE;

    begin(p);
    CHECK(NT_SUCCESS(own(gpu.device, D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE, 0)));
    CHECK(IS(flip(primary[0]), STATUS_SUCCESS)); /* from the shared one */
    probe_sleep(20000000);
    CHECK_RULE("PRES-126/a",
               last()->flags == (direct ? ON_NEXT_VSYNC | SHARED_TRANSITION : ON_NEXT_VSYNC));
    CHECK_RULE("PRES-127", !(last()->flags & SHARED_TRANSITION) == !direct);
    CHECK(IS(flip(primary[1]), STATUS_SUCCESS));
    probe_sleep(20000000);
    CHECK_RULE("PRES-126/b", last()->flags == ON_NEXT_VSYNC);
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
    CHECK_RULE("PRES-126/a",
               last()->flags == (direct ? ON_NEXT_VSYNC | SHARED_TRANSITION : ON_NEXT_VSYNC));
    full_engine_stop();
}

TEST(transitions_of_the_shared_primary)
{
    for (unsigned direct = 0; direct < 2; direct++) {
        struct probe *p = flipping();

        p->caps.SupportDirectFlip = direct != 0;
        run(p, transition);
    }
}

/* ---- nobody looks ---- */

static void in_the_dark(struct probe *p)
{
    UINT calls;

    begin(p);
    show_first();
    CHECK(NT_SUCCESS(display_power(display_modes(p), DISPLAY_CHILD, false)));
    calls = full_seen.addresses;
    CHECK(IS(flip(primary[1]), STATUS_SUCCESS));
    probe_sleep(15000000);
    CHECK_RULE("PRES-248", flips(p) == 0);
    probe_sleep(5000000);
    CHECK_RULE("PRES-248", flips(p) == 1 && full_seen.addresses == calls);
    CHECK(NT_SUCCESS(display_power(display_modes(p), DISPLAY_CHILD, true)));
    CHECK_RULE("PRES-248", full_seen.addresses == calls + 1 && last()->flags == MODE_CHANGE &&
                               last()->allocation != full_seen.primary);
    CHECK_RULE("PRES-247", full_seen.committed[display_seen.commits - 1] == last()->allocation);
    end();
}

TEST(a_display_that_is_off)
{
    run(flipping(), in_the_dark);
}

/* ---- more than a device may queue ---- */

static void too_many(struct probe *p)
{
    D3DKMT_PRESENT args;

    (void)p;
    begin(p);
    show_first();
    full_engine.silent = true;
    memset(&args, 0, sizeof(args));
    args.hContext = gpu.context;
    args.hSource = primary[1];
    args.FlipInterval = D3DDDI_FLIPINTERVAL_ONE;
    args.Flags.Flip = args.Flags.FlipDoNotWait = 1;
    for (unsigned i = 0; i < 64; i++)
        CHECK_RULE("PRES-289", IS(D3DKMTPresent(&args), STATUS_SUCCESS));
    CHECK_RULE("PRES-289", IS(D3DKMTPresent(&args), STATUS_NO_MEMORY));
    full_engine.silent = false;
    end();
}

TEST(presents_that_do_not_wait)
{
    run(flipping(), too_many);
}

/* ---- a reset of the adapter ---- */

static void reset(struct probe *p)
{
    UINT calls, commits, shows;

    shared = full_seen.primary;
    begin(p);
    show_first();
    CHECK(IS(flip(primary[1]), STATUS_SUCCESS));
    probe_sleep(40000000);
    CHECK(IS(flip(primary[2]), STATUS_SUCCESS)); /* pending */
    probe_sleep(1000000);
    calls = full_seen.addresses;
    commits = display_seen.commits;
    shows = (UINT)probe_count(p, PROBE_SetVidPnSourceVisibility);
    CHECK(NT_SUCCESS(vidsch_force_reset(port_adapter_vidsch(p->adapter[0]), true)));
    full_engine.enabled = false; /* PRES-172 */
    probe_sleep(10000000);
    CHECK_RULE("VIDPN-192/a", display_seen.commits == commits + 1 &&
                                  !display_seen.commit[commits].power &&
                                  display_seen.commit[commits].paths == 1);
    CHECK_RULE("PRES-253", full_seen.addresses == calls + 1 && last()->allocation == shared &&
                               last()->flags == MODE_CHANGE &&
                               full_seen.committed[commits % FULL_CALLS] == shared);
    CHECK_RULE("PRES-253",
               probe_count(p, PROBE_SetVidPnSourceVisibility) == shows + 1 &&
                   probe_nth(p, PROBE_SetVidPnSourceVisibility, shows)->order >
                       probe_nth(p, PROBE_SetVidPnSourceAddress, full_seen.addresses - 1)->order);
    CHECK_RULE("PRES-254", flips(p) == 1);
    CHECK_RULE("PRES-253", !NT_SUCCESS(flip(primary[1])));
    end();
}

TEST(a_reset_shows_the_shared_primary)
{
    run(flipping(), reset);
}

/* ---- what is seen ---- */

static void fill(D3DKMT_HANDLE handle, UINT value)
{
    D3DKMT_LOCK2 lock = {.hDevice = gpu.device, .hAllocation = handle};
    const D3DKMT_UNLOCK2 unlock = {.hDevice = gpu.device, .hAllocation = handle};

    CHECK_RULE("PRES-078", NT_SUCCESS(D3DKMTLock2(&lock)));
    for (UINT i = 0; i < 1024 * 768; i++)
        ((UINT *)lock.pData)[i] = value;
    CHECK(NT_SUCCESS(D3DKMTUnlock2(&unlock)));
}

static UINT seen_pixel(const struct probe *p)
{
    const struct port_scanout scanout = port_display_scanout(p->adapter[0], 0);
    UINT pixel;

    CHECK(scanout.pixels && scanout.width == 1024 && scanout.height == 768 &&
          scanout.bytes >= (uint64_t)scanout.pitch * 768);
    memcpy(&pixel, scanout.pixels + (size_t)scanout.pitch * 767 + 1023 * 4, sizeof(pixel));
    return pixel;
}

static void look(struct probe *p)
{
    CHECK_RULE("PRES-154", seen_pixel(p) == 0);
    begin(p);
    fill(primary[0], 0x112233);
    fill(primary[1], 0x445566);
    CHECK(seen_pixel(p) == 0);
    show_first();
    CHECK(seen_pixel(p) == 0x112233);
    CHECK(IS(flip(primary[1]), STATUS_SUCCESS));
    probe_sleep(1000000);
    CHECK(seen_pixel(p) == 0x112233);
    probe_sleep(17000000);
    CHECK(seen_pixel(p) == 0x445566);
    end();
}

/* The probe's GPU moves nothing into video memory. */
static void in_aperture(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CREATEALLOCATION *args = (const DXGKARG_CREATEALLOCATION *)(uintptr_t)call->arg[1];

    (void)p;
    for (UINT i = 0; i < args->NumAllocations; i++) {
        DXGK_ALLOCATIONINFO *info = &args->pAllocationInfo[i];

        info->SupportedReadSegmentSet = info->SupportedWriteSegmentSet = 2;
        info->PreferredSegment.Value = 2;
    }
}

TEST(the_picture_of_the_primary)
{
    struct probe *p = flipping();

    p->after[PROBE_CreateAllocation] = in_aperture;
    run(p, look);
}

/* ---- what goes wrong ---- */

static void refusing(struct probe *p)
{
    begin(p);
    show_first();
    full.address_status = STATUS_UNSUCCESSFUL;
    CHECK(IS(flip(primary[1]), STATUS_SUCCESS));
    probe_sleep(1000000);
    CHECK_RULE("PRES-132/b", probe_rule(p, "PRES-132") == 1 && flips(p) == 0);
    full.address_status = STATUS_SUCCESS;
    present_status = STATUS_INVALID_PARAMETER;
    CHECK_RULE("PRES-134", IS(flip(primary[1]), STATUS_INVALID_PARAMETER));
    end();
}

TEST(the_driver_refuses)
{
    run(flipping(), refusing);
}

static void wrong_targets(struct probe *p)
{
    begin(p);
    show_first();
    full_engine.target = DISPLAY_CHILD + 7;
    CHECK(IS(flip(primary[1]), STATUS_SUCCESS));
    probe_sleep(40000000);
    CHECK_RULE("PRES-159/a", probe_rule(p, "PRES-159") >= 1 && flips(p) == 0);
    full_engine.target = DISPLAY_CHILD;
    probe_sleep(40000000);
    CHECK(flips(p) == 1);
    end();
}

TEST(vertical_syncs_of_nobody)
{
    run(flipping(), wrong_targets);
}

/* ---- owners ---- */

static void owners(struct probe *p)
{
    struct probe_gpu other;
    D3DKMT_HANDLE handle;

    begin(p);
    CHECK(NT_SUCCESS(probe_gpu_begin(&other)));
    CHECK_RULE("PRES-267/b", IS(own(gpu.device, D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE, 1),
                                STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE));
    CHECK_RULE("PRES-267/c",
               IS(own(gpu.device, (D3DKMT_VIDPNSOURCEOWNER_TYPE)5, 0), STATUS_INVALID_PARAMETER));
    CHECK_RULE("PRES-269/a", IS(own(gpu.device, D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVEGDI, 0),
                                STATUS_INVALID_PARAMETER));
    CHECK(IS(own(gpu.device, D3DKMT_VIDPNSOURCEOWNER_SHARED, 0), STATUS_SUCCESS));
    CHECK_RULE("PRES-267/a", IS(own(other.device, D3DKMT_VIDPNSOURCEOWNER_SHARED, 0),
                                STATUS_GRAPHICS_VIDPN_SOURCE_IN_USE));
    CHECK_RULE("PRES-268",
               IS(own(other.device, D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE, 0), STATUS_SUCCESS));
    CHECK_RULE("PRES-267/a", IS(own(gpu.device, D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE, 0),
                                STATUS_GRAPHICS_VIDPN_SOURCE_IN_USE));
    CHECK_RULE("PRES-269/b",
               IS(own(other.device, D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE, 0), STATUS_SUCCESS));
    CHECK_RULE("PRES-269/a", IS(own(other.device, D3DKMT_VIDPNSOURCEOWNER_EMULATED, 0),
                                STATUS_INVALID_PARAMETER));
    CHECK_RULE("PRES-269/a",
               IS(own(other.device, D3DKMT_VIDPNSOURCEOWNER_SHARED, 0), STATUS_INVALID_PARAMETER));
    CHECK_RULE("PRES-266/a",
               IS(D3DKMTSetVidPnSourceOwner(&(D3DKMT_SETVIDPNSOURCEOWNER){.hDevice = gpu.device}),
                  STATUS_SUCCESS));
    CHECK_RULE("PRES-272/a", IS(D3DKMTCheckVidPnExclusiveOwnership(&(
                                    D3DKMT_CHECKVIDPNEXCLUSIVEOWNERSHIP){.hAdapter = gpu.adapter}),
                                STATUS_GRAPHICS_PRESENT_OCCLUDED));
    CHECK(NT_SUCCESS(probe_gpu_end(&other)));
    CHECK_RULE("PRES-272/b", IS(D3DKMTCheckVidPnExclusiveOwnership(&(
                                    D3DKMT_CHECKVIDPNEXCLUSIVEOWNERSHIP){.hAdapter = gpu.adapter}),
                                STATUS_SUCCESS));
    CHECK_RULE("PRES-266/b",
               IS(own(gpu.device, D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE, 0), STATUS_SUCCESS));
    CHECK_RULE("PRES-073", IS(create(1, &handle), STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE));
    end();
}

TEST(who_owns_a_source)
{
    run(flipping(), owners);
}

/* ---- waiting ---- */

static void waits(struct probe *p)
{
    const D3DKMT_WAITFORVERTICALBLANKEVENT wait = {.hAdapter = 0};
    D3DKMT_WAITFORVERTICALBLANKEVENT args = wait;
    uint64_t before;

    begin(p);
    args.hAdapter = gpu.adapter;
    before = sim_now();
    CHECK_RULE("PRES-291", IS(D3DKMTWaitForVerticalBlankEvent(&args), STATUS_SUCCESS));
    CHECK_RULE("PRES-291", full_engine.reports == 1 && sim_now() - before < 17000000);
    full_engine.silent = true;
    before = sim_now();
    CHECK_RULE("PRES-293", IS(D3DKMTWaitForVerticalBlankEvent(&args), STATUS_SUCCESS));
    CHECK_RULE("PRES-293", sim_now() - before >= 33000000 && sim_now() - before < 34000000);
    args.VidPnSourceId = 1;
    CHECK_RULE("PRES-291", IS(D3DKMTWaitForVerticalBlankEvent(&args),
                              STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE));
    end();
}

TEST(waiting_for_the_blank)
{
    run(flipping(), waits);
}

/* ---- another mode ---- */

static void smaller(struct probe *p)
{
    begin(p);
    CHECK(NT_SUCCESS(own(gpu.device, D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE, 0)));
    described_width = 800;
    CHECK_RULE("PRES-277", IS(set_mode(primary[0]), STATUS_SUCCESS) && display_seen.commits == 2 &&
                               display_seen.commit[1].size.cx == 800 &&
                               last()->flags == MODE_CHANGE);
    described_width = 700;
    CHECK_RULE("PRES-277", !NT_SUCCESS(set_mode(primary[1])));
    end();
}

TEST(a_primary_brings_its_mode)
{
    run(flipping(), smaller);
}
