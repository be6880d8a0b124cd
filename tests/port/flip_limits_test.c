/* SPDX-License-Identifier: MIT */
/* Flips at the edges of what they may be, and what ends them. */
#include "port/support/client.h"
#include "port/support/full_display.h"
#include "screens/scanouts.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define VSYNC              16666667u /* ns */

/* ---- a client that owns source 0 ---- */

static struct probe_gpu gpu;
static D3DKMT_HANDLE primary[4];
static DXGKARG_PRESENT presented;
static UINT advances; /* 1: DxgkDdiPresent moves pDmaBuffer; 2: the private data; 3: the list */

static void note_present(struct probe *p, struct probe_call *call)
{
    static UINT bytes[4];
    DXGKARG_PRESENT *args = (DXGKARG_PRESENT *)(uintptr_t)call->arg[1];

    (void)p;
    presented = *args;
    if (advances == 1)
        args->pDmaBuffer = bytes;
    if (advances == 2)
        args->pDmaBufferPrivateData = bytes;
    if (advances == 3)
        args->pPatchLocationListOut = (D3DDDI_PATCHLOCATIONLIST *)(void *)bytes;
    call->answered = true;
    call->result = STATUS_SUCCESS;
}

static void describe(struct probe *p, struct probe_call *call)
{
    DXGKARG_DESCRIBEALLOCATION *args = (DXGKARG_DESCRIBEALLOCATION *)(uintptr_t)call->arg[1];

    (void)p;
    args->Width = 1024;
    args->Height = 768;
    args->Format = D3DDDIFMT_A8R8G8B8;
    call->answered = true;
}

static NTSTATUS create(D3DKMT_HANDLE *handle)
{
    const uint64_t bytes = 1024 * 768 * 4;
    D3DDDI_ALLOCATIONINFO2 info = {.pPrivateDriverData = (void *)(uintptr_t)&bytes,
                                   .PrivateDriverDataSize = sizeof(bytes),
                                   .Flags.Primary = 1};
    D3DKMT_CREATEALLOCATION args = {
        .hDevice = gpu.device, .NumAllocations = 1, .pAllocationInfo2 = &info};
    NTSTATUS status = D3DKMTCreateAllocation2(&args);

    *handle = info.hAllocation;
    return status;
}

static void begin(struct probe *p)
{
    const UINT source = 0;
    const D3DKMT_VIDPNSOURCEOWNER_TYPE type = D3DKMT_VIDPNSOURCEOWNER_EXCLUSIVE;

    advances = 0;
    full_engine_start(p);
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    for (unsigned i = 0; i < 4; i++)
        CHECK(NT_SUCCESS(create(&primary[i])));
    CHECK(NT_SUCCESS(D3DKMTSetVidPnSourceOwner(&(D3DKMT_SETVIDPNSOURCEOWNER){
        .hDevice = gpu.device, .pType = &type, .pVidPnSourceId = &source, .VidPnSourceCount = 1})));
    CHECK(NT_SUCCESS(D3DKMTSetDisplayMode(
        &(D3DKMT_SETDISPLAYMODE){.hDevice = gpu.device, .hPrimaryAllocation = primary[0]})));
    full_engine_await();
}

static void end(void)
{
    full_engine_stop();
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

static D3DKMT_PRESENT flip_of(D3DKMT_HANDLE handle, D3DDDI_FLIPINTERVAL_TYPE interval)
{
    D3DKMT_PRESENT args;

    memset(&args, 0, sizeof(args));
    args.hContext = gpu.context;
    args.hSource = handle;
    args.FlipInterval = interval;
    args.Flags.Flip = 1;
    return args;
}

static NTSTATUS flip(D3DKMT_HANDLE handle, D3DDDI_FLIPINTERVAL_TYPE interval)
{
    D3DKMT_PRESENT args = flip_of(handle, interval);

    return D3DKMTPresent(&args);
}

static uint64_t flips(const struct probe *p)
{
    return scanouts_flips(port_display_scanouts(p->adapter[0]), 0);
}

static const struct full_address *last(void)
{
    return &full_seen.address[(full_seen.addresses - 1) % FULL_CALLS];
}

static struct probe *flipping(UINT most)
{
    struct probe *p = full_display_create(NULL);

    p->caps.MaxQueuedFlipOnVSync = most;
    p->caps.FlipCaps.FlipInterval = 1;
    p->before[PROBE_Present] = note_present;
    p->before[PROBE_DescribeAllocation] = describe;
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

/* ---- what a flip may say ---- */

static void arguments(struct probe *p)
{
    RECT rect = {0, 0, 1, 1};
    D3DKMT_PRESENT args;
    UINT calls;

    begin(p);
    calls = full_seen.addresses;
    for (unsigned i = 0; i < 7; i++) {
        args = flip_of(primary[1], D3DDDI_FLIPINTERVAL_ONE);
        args.Flags.Blt = i == 0;
        args.Flags.ColorFill = i == 1;
        args.Flags.DstRectValid = i == 2;
        args.Flags.SrcRectValid = i == 3;
        args.Flags.Rotate = i == 4;
        args.Flags.RestrictVidPnSource = i == 5;
        args.SubRectCnt = i == 6;
        args.pSrcSubRects = i == 6 ? &rect : NULL;
        CHECK_RULE("PRES-280", IS(D3DKMTPresent(&args), STATUS_INVALID_PARAMETER));
    }
    probe_sleep(1000000);
    CHECK_RULE("PRES-280", full_seen.addresses == calls);
    for (UINT interval = D3DDDI_FLIPINTERVAL_TWO; interval <= D3DDDI_FLIPINTERVAL_FOUR; interval++) {
        CHECK(IS(flip(primary[1], (D3DDDI_FLIPINTERVAL_TYPE)interval), STATUS_SUCCESS));
        CHECK_RULE("PRES-133", presented.FlipInterval == (D3DDDI_FLIPINTERVAL_TYPE)interval);
        probe_sleep(5ull * VSYNC);
    }
    for (advances = 1; advances <= 3; advances++) {
        CHECK(IS(flip(primary[advances], D3DDDI_FLIPINTERVAL_ONE), STATUS_SUCCESS));
        CHECK_RULE("PRES-134", probe_rule(p, "PRES-134") == advances);
        probe_sleep(2ull * VSYNC);
    }
    end();
}

TEST(what_excludes_a_flip)
{
    run(flipping(1), arguments);
}

/* ---- one vertical sync for several ---- */

static void last_of_two(struct probe *p)
{
    begin(p);
    full_engine.stuck = true;
    CHECK(IS(flip(primary[1], D3DDDI_FLIPINTERVAL_ONE), STATUS_SUCCESS));
    CHECK(IS(flip(primary[2], D3DDDI_FLIPINTERVAL_ONE), STATUS_SUCCESS));
    probe_sleep(3ull * VSYNC);
    CHECK_RULE("PRES-142/a", flips(p) == 0);
    full_engine.stuck = false;
    probe_sleep(1ull * VSYNC);
    CHECK_RULE("PRES-142/b", flips(p) == 2);
    end();
}

TEST(a_vertical_sync_completes_what_came_before)
{
    run(flipping(2), last_of_two);
}

/* ---- two vertical syncs before their DPC ---- */

static uint64_t two[2];
static bool due;

static void tell_two(struct probe *p, struct probe_call *call)
{
    struct probe_adapter *a = &p->state[0];
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

    if (!due)
        return;
    (void)READ_REGISTER_ULONG(a->registers + PROBE_REG_STATUS / 4);
    for (unsigned i = 0; i < 2; i++) {
        memset(&data, 0, sizeof(data));
        data.InterruptType = DXGK_INTERRUPT_CRTC_VSYNC;
        data.CrtcVsync.VidPnTargetId = DISPLAY_CHILD;
        data.CrtcVsync.PhysicalAddress.QuadPart = (LONGLONG)two[i];
        a->dxgk.DxgkCbNotifyInterrupt(a->dxgk.DeviceHandle, &data);
    }
    due = false;
    (void)a->dxgk.DxgkCbQueueDpc(a->dxgk.DeviceHandle);
    call->answered = true;
    call->result = TRUE;
}

static void both_count(struct probe *p)
{
    begin(p);
    p->before[PROBE_InterruptRoutine] = tell_two;
    full_engine.silent = true;
    two[0] = last()->address;
    CHECK(IS(flip(primary[1], D3DDDI_FLIPINTERVAL_ONE), STATUS_SUCCESS));
    probe_sleep(1000000);
    CHECK(flips(p) == 0);
    two[1] = last()->address;
    due = true;
    probe_device_cause(0, 1, 0);
    probe_sleep(1000000);
    CHECK_RULE("PRES-145", flips(p) == 1);
    end();
}

TEST(each_vertical_sync_before_a_dpc_counts)
{
    run(flipping(1), both_count);
}

/* ---- the end of a device ---- */

static void ends_early(struct probe *p)
{
    UINT calls, shared;

    begin(p);
    full_engine.stuck = true;
    calls = full_seen.addresses;
    for (unsigned i = 1; i < 4; i++)
        CHECK(IS(flip(primary[i], D3DDDI_FLIPINTERVAL_ONE), STATUS_SUCCESS));
    probe_sleep(1000000);
    CHECK(full_seen.addresses == calls + 1);
    full_engine.stuck = false;
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
    probe_sleep(5ull * VSYNC);
    shared = full_seen.addresses - 1;
    CHECK_RULE("PRES-259", full_seen.addresses == calls + 2 &&
                               full_seen.address[shared].address == full_seen.address[0].address &&
                               full_seen.address[shared].flags == 0x44);
    full_engine_stop();
}

TEST(flips_of_a_device_that_has_ended_are_dropped)
{
    run(flipping(1), ends_early);
}

/* ---- when vertical syncs are reported ---- */

static void while_one_waits(struct probe *p)
{
    UINT disables;

    begin(p);
    disables = full_engine.disables;
    CHECK(IS(flip(primary[1], D3DDDI_FLIPINTERVAL_ONE), STATUS_SUCCESS));
    CHECK(IS(flip(primary[2], D3DDDI_FLIPINTERVAL_FOUR), STATUS_SUCCESS));
    probe_sleep(4ull * VSYNC);
    CHECK_RULE("PRES-171/a", flips(p) == 1 && full_engine.disables == disables);
    probe_sleep(1ull * VSYNC);
    CHECK(flips(p) == 2);
    probe_sleep(VSYNC + VSYNC / 2); /* a period, and until the next pass */
    CHECK_RULE("PRES-171/a", full_engine.disables == disables + 1 && !full_engine.enabled);
    end();
}

TEST(a_flip_that_waits_needs_them)
{
    run(flipping(1), while_one_waits);
}

static UINT enables_refused;

static void refuse_control(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->answered = true;
    call->result = (uint32_t)STATUS_NOT_IMPLEMENTED;
    enables_refused += (call->arg[2] & 0xFF) != 0;
}

static void goes_on(struct probe *p)
{
    begin(p);
    p->before[PROBE_ControlInterrupt] = refuse_control;
    for (UINT i = 1; i <= 2; i++) {
        enables_refused = 0;
        CHECK(IS(flip(primary[i], D3DDDI_FLIPINTERVAL_ONE), STATUS_SUCCESS));
        probe_sleep(1000000);
        CHECK_RULE("PRES-176",
                   enables_refused == 1 && last()->flags == 4 && probe_rule(p, "PRES-176") == 1);
        full_engine.enabled = true; /* it reports them all the same */
        probe_sleep(4ull * VSYNC);
        CHECK_RULE("PRES-176", flips(p) == i);
    }
    end();
}

TEST(vertical_syncs_that_cannot_be_enabled_are_told_once)
{
    run(flipping(1), goes_on);
}

static uint64_t disabled_at;

static void note_control(struct probe *p, struct probe_call *call)
{
    (void)p;
    if (!(call->arg[2] & 0xFF))
        disabled_at = call->order;
}

static void waits(struct probe *p)
{
    disabled_at = 0;
    full_engine_start(p);
    p->after[PROBE_ControlInterrupt] = note_control;
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    full_engine_stop();
    CHECK(NT_SUCCESS(D3DKMTWaitForVerticalBlankEvent(
        &(D3DKMT_WAITFORVERTICALBLANKEVENT){.hAdapter = gpu.adapter, .hDevice = gpu.device})));
    CHECK(full_engine.enabled && !disabled_at);
    CHECK(NT_SUCCESS(probe_gpu_end(&gpu)));
}

static void waited(struct probe *p)
{
    full_engine_start(p);
    CHECK(NT_SUCCESS(probe_gpu_begin(&gpu)));
    CHECK(NT_SUCCESS(D3DKMTWaitForVerticalBlankEvent(
        &(D3DKMT_WAITFORVERTICALBLANKEVENT){.hAdapter = gpu.adapter, .hDevice = gpu.device})));
    CHECK(full_engine.enabled);
    probe_sleep(VSYNC + 1000000);
    CHECK_RULE("PRES-171/a", !full_engine.enabled && full_engine.disables == 1);
    end();
}

TEST(vertical_syncs_are_disabled_a_period_after_a_wait)
{
    run(flipping(1), waited);
}

TEST(vertical_syncs_are_disabled_before_the_stop)
{
    struct probe *p = flipping(1);
    struct probe_client *client;

    probe_clients_begin(p);
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    client = probe_client_run(p, waits);
    probe_client_end(p, client);
    probe_clients_end(p);
    (void)probe_stop(p);
    CHECK_RULE("PRES-172", disabled_at && !full_engine.enabled &&
                               disabled_at < probe_nth(p, PROBE_StopDevice, 0)->order);
    probe_destroy(p);
}

/* ---- a driver that cannot flip ---- */

static void no_present(struct probe *p)
{
    begin(p);
    CHECK_RULE("PRES-091/b", IS(flip(primary[1], D3DDDI_FLIPINTERVAL_ONE), STATUS_NOT_SUPPORTED) &&
                                 probe_rule(p, "PRES-091") == 1);
    end();
}

TEST(a_driver_without_present)
{
    struct probe *p = flipping(1);

    probe_set_entry(p, PROBE_Present, false);
    run(p, no_present);
}

/* ---- the rate of a primary ---- */

TEST(a_primary_has_the_rate_of_its_target)
{
    struct probe *p = full_display_create(NULL);

    display.target_mode[0].VideoSignalInfo.VSyncFreq = (D3DDDI_RATIONAL){59940, 1000};
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    CHECK_RULE("PRES-058", full_seen.surface.RefreshRate.Numerator == 59940 &&
                               full_seen.surface.RefreshRate.Denominator == 1000);
    display_end(p);
}
