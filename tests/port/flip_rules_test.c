/* SPDX-License-Identifier: MIT */
/* Flips: what every call of the driver has, what runs beside it, and which vertical syncs complete it. */
#include "port/support/flips.h"
#include "sim/irql.h"
#include "sim/machine.h"
#include "sim/sim.h"
#include "sim/thread.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))

/* ---- each call ---- */

static bool one_of_three(UINT flags)
{
    const UINT bits = flags & 7;

    return (bits == 1 || bits == 2 || bits == 4) && !(flags & ~0x47u);
}

static void a_normal_run(struct probe *p)
{
    const struct full_address *call = full_seen.address;

    flips_begin(p);
    flips_show_first();
    CHECK(IS(flips_flip(flips.primary[1]), STATUS_SUCCESS));
    CHECK(IS(flips_flip_at(flips.primary[2], D3DDDI_FLIPINTERVAL_IMMEDIATE), STATUS_SUCCESS));
    probe_sleep(40000000);
    CHECK(NT_SUCCESS(display_power(display_modes(p), DISPLAY_CHILD, false)));
    CHECK(NT_SUCCESS(display_power(display_modes(p), DISPLAY_CHILD, true)));
    CHECK(NT_SUCCESS(vidsch_force_reset(port_adapter_vidsch(p->adapter[0]), true)));
    probe_sleep(40000000);
    CHECK(full_seen.addresses >= 5 && full_seen.addresses < FULL_CALLS);
    for (UINT i = 0; i < full_seen.addresses; i++) {
        CHECK_RULE("PRES-123", call[i].allocation != NULL);
        CHECK_RULE("PRES-125", one_of_three(call[i].flags));
    }
    full_engine.enabled = false;
    flips_end();
}

TEST(all_calls_of_a_run)
{
    struct probe *p = flips_create(NULL);

    p->caps.FlipCaps.FlipImmediateMmIo = 1;
    flips_run(p, a_normal_run);
}

static void with_duration(struct probe *p)
{
    D3DKMT_PRESENT args;

    flips_begin(p);
    flips_show_first();
    memset(&args, 0, sizeof(args));
    args.hContext = flips.gpu.context;
    args.hSource = flips.primary[1];
    args.FlipInterval = D3DDDI_FLIPINTERVAL_ONE;
    args.Flags.Flip = 1;
    args.Duration = 416667;
    CHECK(IS(D3DKMTPresent(&args), STATUS_SUCCESS));
    probe_sleep(18000000);
    CHECK_RULE("PRES-128", flips_last()->duration == 0);
    args.Flags.DurationValid = 1;
    CHECK(IS(D3DKMTPresent(&args), STATUS_SUCCESS));
    probe_sleep(18000000);
    CHECK_RULE("PRES-128", flips_last()->duration == 416667);
    flips_end();
}

TEST(durations)
{
    flips_run(flips_create(NULL), with_duration);
}

static void two_held(struct probe *p)
{
    UINT calls;

    flips_begin(p);
    flips_show_first();
    calls = full_seen.addresses;
    for (UINT i = 0; i < 3; i++)
        CHECK(IS(flips_flip(flips.primary[(i + 1) % 3]), STATUS_SUCCESS));
    probe_sleep(1000000);
    CHECK_RULE("PRES-139", full_seen.addresses == calls + 2);
    probe_sleep(17000000);
    CHECK_RULE("PRES-139", full_seen.addresses == calls + 3);
    flips_end();
}

TEST(the_hardware_holds_two)
{
    struct probe *p = flips_create(NULL);

    p->caps.MaxQueuedFlipOnVSync = 2;
    flips_run(p, two_held);
}

/* ---- what runs beside it ---- */

static probe_hook *inner, *tell;
static bool in_flip, rendering, beside, overlapped, interrupted;
static unsigned interrupts;

static void note_interrupt(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    interrupts++;
    overlapped |= in_flip;
}

static void long_flip(struct probe *p, struct probe_call *call)
{
    if (!(((const DXGKARG_SETVIDPNSOURCEADDRESS *)(uintptr_t)call->arg[1])->Flags.Value & 1)) {
        in_flip = true;
        beside |= rendering;
        interrupted = false;
        probe_device_cause(0, 1, 0);
        KeStallExecutionProcessor(20);
        in_flip = false;
    }
    inner(p, call);
}

static void long_escape(struct probe *p, struct probe_call *call)
{
    (void)p;
    rendering = true;
    sim_block(sim_now() + 30000000, NULL);
    rendering = false;
    call->answered = true;
}

static bool escaped;
static struct probe_client *other;

static void escape(struct probe *p)
{
    D3DKMT_ESCAPE args = {.Type = D3DKMT_ESCAPE_DRIVERPRIVATE};
    struct probe_gpu own;

    (void)p;
    CHECK(NT_SUCCESS(probe_gpu_begin(&own)));
    args.hAdapter = own.adapter;
    CHECK(IS(D3DKMTEscape(&args), STATUS_SUCCESS));
    CHECK(NT_SUCCESS(probe_gpu_end(&own)));
    escaped = true;
}

static void overlap(struct probe *p)
{
    unsigned before;

    flips_begin(p);
    flips_show_first();
    p->before[PROBE_Escape] = long_escape;
    tell = p->before[PROBE_InterruptRoutine];
    p->before[PROBE_InterruptRoutine] = note_interrupt;
    full_engine.silent = true;
    CHECK(IS(flips_flip(flips.primary[2]), STATUS_SUCCESS)); /* enables vertical syncs */
    probe_sleep(1000000);
    other = probe_client_start(p, escape);
    probe_sleep(1000000);
    CHECK(rendering);
    before = interrupts;
    CHECK(IS(flips_flip(flips.primary[1]), STATUS_SUCCESS));
    probe_sleep(5000000);
    CHECK_RULE("PRES-130", beside); /* a call of level zero is in the driver */
    CHECK_RULE("PRES-130", interrupts > before && !overlapped);
    CHECK_RULE("PRES-130", flips_last()->irql == SIM_IRQL_DEVICE);
    while (!escaped)
        probe_sleep(1000000);
    p->before[PROBE_InterruptRoutine] = tell;
    full_engine.silent = false;
    flips_end();
}

static struct probe *excluding(void)
{
    struct probe *p = flips_create(NULL);

    in_flip = rendering = beside = overlapped = escaped = false;
    interrupts = 0;
    p->caps.FlipCaps.FlipOnVSyncMmIo = 1;
    p->caps.MaxQueuedFlipOnVSync = 2;
    probe_set_entry(p, PROBE_Escape, true);
    inner = p->before[PROBE_SetVidPnSourceAddress];
    p->before[PROBE_SetVidPnSourceAddress] = long_flip;
    return p;
}

/* With the other client of the body. */
static void exclude(struct probe *p, void (*body)(struct probe *p))
{
    struct probe_client *client;

    probe_clients_begin(p);
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    client = probe_client_run(p, body);
    probe_client_end(p, other);
    probe_client_end(p, client);
    probe_clients_end(p);
    display_end(p);
}

TEST(a_flip_excludes_the_service_routine_alone)
{
    exclude(excluding(), overlap);
}

static void long_create(struct probe *p, struct probe_call *call)
{
    (void)p;
    (void)call;
    rendering = true;
    sim_block(sim_now() + 30000000, NULL);
    rendering = false;
}

static void other_mode(struct probe *p)
{
    CHECK(NT_SUCCESS(display_ask_mode(p, 1, 800, 600, 0)));
    escaped = true;
}

/* The primary of another source is being created, by another thread of the system. */
static void beside_creation(struct probe *p)
{
    D3DKMT_CREATEDEVICE create = {.Flags.RequestVSync = 1}; /* they stay enabled */

    flips_begin(p);
    create.hAdapter = flips.gpu.adapter;
    CHECK(IS(D3DKMTCreateDevice(&create), STATUS_SUCCESS));
    flips_show_first();
    CHECK(IS(flips_flip(flips.primary[1]), STATUS_SUCCESS));
    CHECK(IS(flips_flip(flips.primary[2]), STATUS_SUCCESS));
    probe_sleep(60000000); /* both are in memory */
    p->before[PROBE_CreateAllocation] = long_create;
    beside = false;
    other = probe_client_start(p, other_mode);
    while (!rendering)
        probe_sleep(100000);
    CHECK(IS(flips_flip(flips.primary[1]), STATUS_SUCCESS));
    probe_sleep(5000000);
    CHECK_RULE("PRES-130", rendering && beside);
    while (!escaped)
        probe_sleep(1000000);
    flips_end();
}

TEST(a_flip_beside_another_thread_of_the_system)
{
    struct probe *p = excluding();

    display.outputs = display.sources = 2;
    display.connected[1] = true;
    exclude(p, beside_creation);
}

/* ---- a change of what is shown by SetDisplayMode ---- */

static void alone(struct probe *p, struct probe_call *call)
{
    beside |= rendering;
    in_flip = true;
    sim_block(sim_now() + 5000000, NULL);
    in_flip = false;
    inner(p, call);
}

static void note_escape(struct probe *p, struct probe_call *call)
{
    overlapped |= in_flip;
    long_escape(p, call);
}

static void mode_switch(struct probe *p)
{
    flips_begin(p);
    flips_show_first();
    p->before[PROBE_Escape] = note_escape;
    p->before[PROBE_SetVidPnSourceAddress] = alone;
    other = probe_client_start(p, escape);
    while (!rendering)
        probe_sleep(100000);
    CHECK(IS(flips_set_mode(flips.primary[1]), STATUS_SUCCESS));
    CHECK_RULE("PRES-130", !beside && flips_last()->irql == PASSIVE_LEVEL);
    while (!escaped)
        probe_sleep(1000000);
    CHECK_RULE("PRES-130", !overlapped);
    flips_end();
}

TEST(a_mode_switch_is_alone_in_the_driver)
{
    exclude(excluding(), mode_switch);
}

/* ---- what may be called inside ---- */

static void (*inside)(struct probe *p);
static uint64_t reports;

static void call_inside(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SETVIDPNSOURCEADDRESS *args = (const DXGKARG_SETVIDPNSOURCEADDRESS *)(uintptr_t)
                                                    call->arg[1];

    if (!(args->Flags.Value & 1)) {
        const uint64_t before = probe_reports(p, VERIFY_ERROR);

        inside(p);
        reports = probe_reports(p, VERIFY_ERROR) - before;
    }
    inner(p, call);
}

static void allowed(struct probe *p)
{
    struct probe_adapter *a = &p->state[0];
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;
    UCHAR event[100] = {0};

    memset(&data, 0, sizeof(data));
    data.InterruptType = DXGK_INTERRUPT_CRTC_VSYNC;
    data.CrtcVsync.VidPnTargetId = DISPLAY_CHILD;
    data.CrtcVsync.PhysicalAddress.QuadPart = (LONGLONG)full_engine.latched;
    a->dxgk.DxgkCbNotifyInterrupt(a->dxgk.DeviceHandle, &data);
    (void)a->dxgk.DxgkCbQueueDpc(a->dxgk.DeviceHandle);
    a->dxgk.DxgkCbLogEtwEvent(NULL, 1, sizeof(event), event);
}

static void other_callback(struct probe *p)
{
    struct probe_adapter *a = &p->state[0];
    DXGK_CHILD_STATUS status = {.Type = StatusConnection, .ChildUid = DISPLAY_CHILD};

    (void)a->dxgk.DxgkCbIndicateChildStatus(a->dxgk.DeviceHandle, &status);
}

static void pool(struct probe *p)
{
    void *block = ExAllocatePoolWithTag(NonPagedPoolNx, 64, 0x70696C66);

    (void)p;
    if (block)
        ExFreePoolWithTag(block, 0x70696C66);
}

static void lower_lock(struct probe *p)
{
    static KSPIN_LOCK lock;
    KIRQL irql;

    (void)p;
    KeAcquireSpinLock(&lock, &irql);
    KeReleaseSpinLock(&lock, irql);
}

static void flip_once(struct probe *p)
{
    flips_begin(p);
    flips_show_first();
    CHECK(IS(flips_flip(flips.primary[1]), STATUS_SUCCESS));
    probe_sleep(18000000);
    flips_end();
}

static uint64_t reports_of(void (*what)(struct probe *p))
{
    struct probe *p = flips_create(NULL);

    inside = what;
    reports = UINT64_MAX;
    p->caps.FlipCaps.FlipOnVSyncMmIo = 1;
    inner = p->before[PROBE_SetVidPnSourceAddress];
    p->before[PROBE_SetVidPnSourceAddress] = call_inside;
    flips_run(p, flip_once);
    return reports;
}

TEST(what_a_flip_may_call)
{
    CHECK_RULE("PRES-131", reports_of(allowed) == 0);
    CHECK_RULE("PRES-131", reports_of(other_callback) > 0);
    CHECK_RULE("PRES-131", reports_of(pool) > 0);
    CHECK_RULE("PRES-131", reports_of(lower_lock) > 0);
}

/* ---- which vertical syncs complete it ---- */

static void same_address(struct probe *p)
{
    UINT calls;

    flips_begin(p);
    flips_show_first();
    calls = full_seen.addresses;
    CHECK(IS(flips_flip(flips.primary[0]), STATUS_SUCCESS)); /* what is shown */
    probe_sleep(1000000);
    CHECK_RULE("PRES-144", full_seen.addresses == calls + 1 && flips_complete(p) == 0);
    probe_sleep(17000000);
    CHECK_RULE("PRES-144", flips_complete(p) == 1);
    flips_end();
}

TEST(a_flip_to_what_is_shown)
{
    flips_run(flips_create(NULL), same_address);
}

/* Told inside the call, so before it has returned. */
static void too_early(struct probe *p)
{
    flips_begin(p);
    flips_show_first();
    full_engine.silent = true;
    CHECK(IS(flips_flip(flips.primary[0]), STATUS_SUCCESS));
    probe_sleep(5000000);
    CHECK_RULE("PRES-144", flips_complete(p) == 0);
    full_engine.silent = false;
    probe_sleep(18000000);
    CHECK_RULE("PRES-144", flips_complete(p) == 1);
    flips_end();
}

TEST(a_vertical_sync_before_the_return)
{
    struct probe *p = flips_create(NULL);

    inside = allowed;
    p->caps.FlipCaps.FlipOnVSyncMmIo = 1;
    inner = p->before[PROBE_SetVidPnSourceAddress];
    p->before[PROBE_SetVidPnSourceAddress] = call_inside;
    flips_run(p, too_early);
}

static bool no_dpc;

static void forget_dpc(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->answered = no_dpc;
}

static void in_the_dpc(struct probe *p)
{
    flips_begin(p);
    flips_show_first();
    CHECK(IS(flips_flip(flips.primary[1]), STATUS_SUCCESS));
    probe_sleep(1000000);
    no_dpc = true;
    probe_sleep(17000000);
    CHECK_RULE("PRES-145", full_engine.reports >= 1 && flips_complete(p) == 0);
    no_dpc = false;
    probe_sleep(17000000);
    CHECK_RULE("PRES-145", flips_complete(p) == 1);
    flips_end();
}

TEST(a_notification_waits_for_its_dpc)
{
    struct probe *p = flips_create(NULL);

    no_dpc = false;
    p->before[PROBE_DpcRoutine] = forget_dpc;
    flips_run(p, in_the_dpc);
}

/* ---- the order within one service routine ---- */

static UINT told;
static bool is_first;

static void tell_sync(struct probe *p, struct probe_call *call)
{
    struct probe_adapter *a = &p->state[0];
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

    (void)call;
    memset(&data, 0, sizeof(data));
    data.InterruptType = DXGK_INTERRUPT_CRTC_VSYNC;
    data.CrtcVsync.VidPnTargetId = DISPLAY_CHILD;
    data.CrtcVsync.PhysicalAddress.QuadPart = (LONGLONG)full_seen.address[0].address;
    a->dxgk.DxgkCbNotifyInterrupt(a->dxgk.DeviceHandle, &data);
    (void)a->dxgk.DxgkCbQueueDpc(a->dxgk.DeviceHandle);
    told++;
}

/* What the GPU has done is told by the probe's own service routine. */
static void with_work(struct probe *p)
{
    D3DKMT_HANDLE allocation;

    CHECK(NT_SUCCESS(probe_gpu_begin(&flips.gpu)));
    if (is_first)
        p->before[PROBE_InterruptRoutine] = tell_sync;
    else
        p->after[PROBE_InterruptRoutine] = tell_sync;
    for (unsigned i = 0; i < 3; i++)
        CHECK(NT_SUCCESS(probe_gpu_allocate(&flips.gpu, 65536, &allocation)));
    CHECK(told >= 2);
    p->before[PROBE_InterruptRoutine] = p->after[PROBE_InterruptRoutine] = NULL;
    CHECK(NT_SUCCESS(probe_gpu_end(&flips.gpu)));
}

TEST(work_is_told_before_the_vertical_sync)
{
    for (unsigned first = 0; first < 2; first++) {
        struct probe *p = flips_create(NULL);
        uint64_t reported;

        told = 0;
        is_first = first != 0;
        probe_clients_begin(p);
        CHECK(IS(probe_start(p), STATUS_SUCCESS));
        probe_client_end(p, probe_client_run(p, with_work));
        reported = probe_rule(p, "PRES-161");
        CHECK_RULE("PRES-161", reported == first); /* once for an adapter */
        CHECK(!reported || probe_record(p, "PRES-161")->severity == VERIFY_WARNING);
        probe_clients_end(p);
        display_end(p);
    }
}
