/* SPDX-License-Identifier: MIT */
/* What holds for all flips and the vertical syncs that complete them. */
#include "port/support/owner.h"
#include "screens/scanouts.h"
#include "sim/sim.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define MS                 UINT64_C(1000000)

static uint64_t flips(const struct probe *p)
{
    return scanouts_flips(port_display_scanouts(p->adapter[0]), 0);
}

/* ---- each call ---- */

/* One of ModeChange, FlipImmediate and FlipOnNextVSync, and beside them the transition alone. */
static bool is_one_kind(UINT flags)
{
    const UINT kind = flags & 7;

    return (kind == 1 || kind == 2 || kind == 4) && !(flags & ~0x47u);
}

static void all_calls(struct probe *p)
{
    owner_begin(p);
    owner_show(owner.primary[0]);
    for (unsigned i = 0; i < 4; i++)
        CHECK(IS(owner_flip(owner.primary[i % 3]), STATUS_SUCCESS));
    CHECK(IS(display_ask_mode(p, 0, 800, 600, 0), STATUS_SUCCESS));
    CHECK(NT_SUCCESS(display_power(display_modes(p), DISPLAY_CHILD, false)));
    CHECK(NT_SUCCESS(display_power(display_modes(p), DISPLAY_CHILD, true)));
    CHECK(NT_SUCCESS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep)));
    CHECK(NT_SUCCESS(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionNone)));
    CHECK(NT_SUCCESS(vidsch_force_reset(port_adapter_vidsch(p->adapter[0]), true)));
    probe_sleep(20 * MS);
    CHECK(full_seen.addresses >= 6 && full_seen.addresses <= FULL_CALLS);
    for (UINT i = 0; i < full_seen.addresses; i++) {
        CHECK_RULE("PRES-123", full_seen.address[i].allocation != NULL);
        CHECK_RULE("PRES-125", is_one_kind(full_seen.address[i].flags));
    }
    owner_end();
}

TEST(calls_of_a_whole_life)
{
    owner_run(owner_create(NULL), all_calls);
}

/* ---- pending ones ---- */

static void two(struct probe *p)
{
    UINT calls;

    owner_begin(p);
    owner_show(owner.primary[0]);
    calls = full_seen.addresses;
    for (unsigned i = 0; i < 3; i++)
        CHECK(IS(owner_flip(owner.primary[(i + 1) % 3]), STATUS_SUCCESS));
    probe_sleep(MS);
    CHECK_RULE("PRES-139", full_seen.addresses == calls + 2 && full_engine.reports == 0);
    full_engine_await();
    CHECK_RULE("PRES-139", full_seen.addresses == calls + 3);
    owner_end();
}

TEST(two_that_the_hardware_holds)
{
    struct probe *p = owner_create(NULL);

    p->caps.MaxQueuedFlipOnVSync = 2;
    owner_run(p, two);
}

static void just_before(struct probe *p)
{
    uint64_t before;

    owner_begin(p);
    owner_show(owner.primary[0]);
    CHECK(IS(owner_flip(owner.primary[1]), STATUS_SUCCESS)); /* so that they are enabled */
    full_engine_await();
    CHECK(flips(p) == 1);
    probe_sleep(16 * MS);
    before = sim_now();
    CHECK(IS(owner_flip(owner.primary[2]), STATUS_SUCCESS));
    full_engine_await();
    CHECK_RULE("PRES-332", flips(p) == 2 && sim_now() - before < 2 * MS);
    owner_end();
}

TEST(a_flip_just_before_the_blank)
{
    owner_run(owner_create(NULL), just_before);
}

/* ---- an engine that is reset ---- */

static void engine(struct probe *p)
{
    const struct full_address *shown;
    UINT calls, commits;

    owner_begin(p);
    owner_show(owner.primary[0]);
    CHECK(IS(owner_flip(owner.primary[1]), STATUS_SUCCESS));
    probe_sleep(MS);
    shown = owner_last();
    calls = full_seen.addresses;
    commits = display_seen.commits;
    CHECK(NT_SUCCESS(vidsch_force_engine_reset(port_adapter_vidsch(p->adapter[0]), 1)));
    CHECK(probe_count(p, PROBE_ResetEngine) == 0 || probe_count(p, PROBE_ResetFromTimeout) == 0);
    probe_sleep(40 * MS);
    CHECK_RULE("PRES-255", full_seen.addresses == calls && display_seen.commits == commits &&
                               owner_last() == shown);
    CHECK_RULE("PRES-255", flips(p) == 1); /* the one that was pending */
    owner_end();
}

TEST(a_reset_of_an_engine)
{
    owner_run(owner_create(NULL), engine);
}

/* ---- vertical syncs that are none ---- */

static DXGKARGCB_NOTIFY_INTERRUPT_DATA told;
static bool due;

static void interrupt(struct probe *p, struct probe_call *call)
{
    struct probe_adapter *a = &p->state[0];

    if (!due)
        return;
    due = false;
    (void)READ_REGISTER_ULONG(a->registers + PROBE_REG_STATUS / 4);
    a->dxgk.DxgkCbNotifyInterrupt(a->dxgk.DeviceHandle, &told);
    (void)a->dxgk.DxgkCbQueueDpc(a->dxgk.DeviceHandle);
    call->answered = true;
    call->result = TRUE;
}

static void notify(int type, uint64_t address)
{
    memset(&told, 0, sizeof(told));
    told.InterruptType = (DXGK_INTERRUPT_TYPE)type;
    told.CrtcVsync.VidPnTargetId = DISPLAY_CHILD;
    told.CrtcVsync.PhysicalAddress.QuadPart = (LONGLONG)address;
    due = true;
    probe_device_cause(0, 1, 0);
    probe_sleep(MS);
}

static uint64_t found; /* address of the second primary */

static void find(struct probe *p)
{
    owner_begin(p);
    owner_show(owner.primary[0]);
    CHECK(IS(owner_flip(owner.primary[1]), STATUS_SUCCESS));
    probe_sleep(40 * MS);
    found = owner_last()->address;
    owner_end();
}

/* A primary can be at address 0: no vertical sync completes the flip to it. */
static void at_zero(struct probe *p)
{
    owner_begin(p);
    full_engine.silent = true;
    owner_show(owner.primary[0]);
    p->before[PROBE_InterruptRoutine] = interrupt;
    CHECK(IS(owner_flip(owner.primary[1]), STATUS_SUCCESS));
    probe_sleep(MS);
    CHECK(owner_last()->address == 0);
    CHECK(flips(p) == 0 && probe_rule(p, "PRES-157") == 0);
    notify(DXGK_INTERRUPT_CRTC_VSYNC, 0);
    CHECK_RULE("PRES-157", flips(p) == 0 && probe_rule(p, "PRES-157") == 1);
    owner_end();
}

TEST(address_0_completes_nothing)
{
    struct probe *p = owner_create(NULL);

    owner_run(p, find);
    p = owner_create(NULL);
    p->segment[0].BaseAddress.QuadPart -= (LONGLONG)found;
    owner_run(p, at_zero);
}

static void types(struct probe *p)
{
    static const int wrong[] = {DXGK_INTERRUPT_MICACAST_CHUNK_PROCESSING_COMPLETE,
                                DXGK_INTERRUPT_PERIODIC_MONITORED_FENCE_SIGNALED};
    probe_hook *kept;
    size_t before;

    owner_begin(p);
    owner_show(owner.primary[0]);
    kept = p->before[PROBE_InterruptRoutine];
    p->before[PROBE_InterruptRoutine] = interrupt;
    full_engine.silent = true;
    for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        before = probe_reports(p, VERIFY_ERROR);
        notify(wrong[i], 0);
        CHECK_RULE("PRES-166", probe_reports(p, VERIFY_ERROR) == before + 1);
    }
    CHECK_RULE("PRES-166", probe_count(p, PROBE_CreatePeriodicFrameNotification) == 0);
    full_engine.silent = false;
    p->before[PROBE_InterruptRoutine] = kept;
    owner_end();
}

TEST(types_that_the_host_never_asks_for)
{
    struct probe *p = owner_create(NULL);

    probe_set_entry(p, PROBE_CreatePeriodicFrameNotification, true);
    owner_run(p, types);
}
