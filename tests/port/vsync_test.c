/* SPDX-License-Identifier: MIT */
/* Vertical syncs as a full driver reports them, right and wrong. */
#include "port/support/client.h"
#include "port/support/full_display.h"
#include "screens/scanouts.h"
#include "sim/sim.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define TARGET             DISPLAY_CHILD

/* ---- one notification ---- */

static DXGKARGCB_NOTIFY_INTERRUPT_DATA told;
static UINT times; /* that the service routine tells it */

static void interrupt(struct probe *p, struct probe_call *call)
{
    struct probe_adapter *a = &p->state[0];

    if (!times)
        return;
    (void)READ_REGISTER_ULONG(a->registers + PROBE_REG_STATUS / 4);
    for (; times; times--)
        a->dxgk.DxgkCbNotifyInterrupt(a->dxgk.DeviceHandle, &told);
    (void)a->dxgk.DxgkCbQueueDpc(a->dxgk.DeviceHandle);
    call->answered = true;
    call->result = TRUE;
}

static void notify(DXGK_INTERRUPT_TYPE type, UINT target, uint64_t address, UINT count)
{
    told.InterruptType = type;
    told.CrtcVsync.VidPnTargetId = target;
    told.CrtcVsync.PhysicalAddress.QuadPart = (LONGLONG)address;
    times = count;
    probe_device_cause(0, 1, 0);
    probe_sleep(1000000);
    memset(&told, 0, sizeof(told));
}

static void run(void (*body)(struct probe *p))
{
    struct probe *p = full_display_create(NULL);

    memset(&told, 0, sizeof(told));
    p->before[PROBE_InterruptRoutine] = interrupt;
    CHECK(IS(probe_start(p), STATUS_SUCCESS));
    probe_end(p, body);
}

static uint64_t shown(void)
{
    return full_seen.address[0].address;
}

static void sound(struct probe *p)
{
    notify(DXGK_INTERRUPT_CRTC_VSYNC, TARGET, shown(), 1);
    told.Flags.ValidPhysicalAdapterMask = 1;
    told.CrtcVsync.PhysicalAdapterMask = 1;
    notify(DXGK_INTERRUPT_CRTC_VSYNC, TARGET, shown(), 1);
    CHECK_RULE("PRES-155", probe_reports(p, VERIFY_WARNING) == 0);
    CHECK_RULE("PRES-160", probe_reports(p, VERIFY_WARNING) == 0); /* though none were enabled */
}

TEST(sound_ones)
{
    run(sound);
}

static void addresses(struct probe *p)
{
    notify(DXGK_INTERRUPT_CRTC_VSYNC, TARGET, 0, 1);
    CHECK_RULE("PRES-157", probe_rule(p, "PRES-157") == 1);
    notify(DXGK_INTERRUPT_CRTC_VSYNC, TARGET, 0, 1);
    CHECK_RULE("PRES-157", probe_rule(p, "PRES-157") == 1); /* once a second */
    probe_sleep(1000000000);
    notify(DXGK_INTERRUPT_CRTC_VSYNC, TARGET, shown() + 4096, 1);
    CHECK_RULE("PRES-143", probe_rule(p, "PRES-143") == 1 &&
                               probe_record(p, "PRES-143")->severity == VERIFY_WARNING);
    CHECK(NT_SUCCESS(display_power(display_modes(p), TARGET, false)));
    probe_sleep(1000000000);
    notify(DXGK_INTERRUPT_CRTC_VSYNC, TARGET, 0, 1); /* of no path */
    CHECK_RULE("PRES-157", probe_rule(p, "PRES-157") == 1);
    CHECK_RULE("PRES-159/b", probe_rule(p, "PRES-159") == 0);
}

TEST(addresses_that_nobody_knows)
{
    run(addresses);
}

static void flags(struct probe *p)
{
    told.Flags.Value = 2;
    notify(DXGK_INTERRUPT_CRTC_VSYNC, TARGET, shown(), 1);
    CHECK_RULE("PRES-158", probe_rule(p, "PRES-158") == 1);
    told.Flags.Value = 2;
    notify(DXGK_INTERRUPT_CRTC_VSYNC, TARGET, shown(), 1);
    CHECK_RULE("PRES-158", probe_rule(p, "PRES-158") == 1);
}

static void mask(struct probe *p)
{
    told.CrtcVsync.PhysicalAdapterMask = 2; /* does not count without the flag */
    notify(DXGK_INTERRUPT_CRTC_VSYNC, TARGET, shown(), 1);
    CHECK_RULE("PRES-158", probe_rule(p, "PRES-158") == 0);
    told.Flags.ValidPhysicalAdapterMask = 1;
    told.CrtcVsync.PhysicalAdapterMask = 2;
    notify(DXGK_INTERRUPT_CRTC_VSYNC, TARGET, shown(), 1);
    CHECK_RULE("PRES-158", probe_rule(p, "PRES-158") == 1);
}

TEST(flags_are_told_once)
{
    run(flags);
    run(mask);
}

static void storm(struct probe *p)
{
    notify(DXGK_INTERRUPT_CRTC_VSYNC, TARGET, shown(), 16);
    CHECK(probe_rule(p, "PRES-331") == 0);
    notify(DXGK_INTERRUPT_CRTC_VSYNC, TARGET, shown(), 17);
    CHECK(probe_rule(p, "PRES-331") == 1);
}

TEST(more_than_sixteen_at_one_time)
{
    run(storm);
}

static void unknown_target(struct probe *p)
{
    told.Flags.Value = 2; /* of no interest then */
    notify(DXGK_INTERRUPT_CRTC_VSYNC, TARGET + 7, shown(), 1);
    CHECK_RULE("PRES-159/a", probe_rule(p, "PRES-159") == 1 && probe_rule(p, "PRES-158") == 0);
}

TEST(a_vertical_sync_of_no_target_is_dropped)
{
    run(unknown_target);
}

static void types(struct probe *p)
{
    static const DXGK_INTERRUPT_TYPE wrong[] = {DXGK_INTERRUPT_DISPLAYONLY_VSYNC,
                                                DXGK_INTERRUPT_DISPLAYONLY_PRESENT_PROGRESS,
                                                DXGK_INTERRUPT_CRTC_VSYNC_WITH_MULTIPLANE_OVERLAY,
                                                DXGK_INTERRUPT_CRTC_VSYNC_WITH_MULTIPLANE_OVERLAY2,
                                                DXGK_INTERRUPT_CRTC_VSYNC_WITH_MULTIPLANE_OVERLAY3};

    for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        notify(wrong[i], TARGET, shown(), 1);
        CHECK_RULE("PRES-162/a", probe_rule(p, "PRES-162") == i + 1);
    }
}

TEST(types_of_other_drivers)
{
    run(types);
}

static void never_offered(struct probe *p)
{
    notify(DXGK_INTERRUPT_MICACAST_CHUNK_PROCESSING_COMPLETE, TARGET, shown(), 1);
    CHECK_RULE("PRES-166", probe_rule(p, "PRES-166") == 1);
    notify(DXGK_INTERRUPT_PERIODIC_MONITORED_FENCE_SIGNALED, TARGET, shown(), 1);
    CHECK_RULE("PRES-166", probe_rule(p, "PRES-166") == 2 &&
                               probe_count(p, PROBE_CreatePeriodicFrameNotification) == 0);
}

TEST(types_that_nothing_asks_for)
{
    run(never_offered);
}

/* ---- what is scanned out while the source is invisible ---- */

static uint64_t hidden_address;
static bool hidden;

static void in_visibility(struct probe *p, struct probe_call *call)
{
    const DXGKARG_SETVIDPNSOURCEVISIBILITY *args =
        (const DXGKARG_SETVIDPNSOURCEVISIBILITY *)(uintptr_t)call->arg[1];

    (void)p;
    if (args->Visible || hidden)
        return;
    hidden = true;
    told.InterruptType = DXGK_INTERRUPT_CRTC_VSYNC;
    told.CrtcVsync.VidPnTargetId = TARGET;
    told.CrtcVsync.PhysicalAddress.QuadPart = (LONGLONG)hidden_address;
    times = 1;
    probe_device_cause(0, 1, 0);
    sim_block(sim_now() + 1000000, NULL);
    memset(&told, 0, sizeof(told));
}

static void invisible(struct probe *p)
{
    const uint64_t before = probe_rule(p, "PRES-157");

    hidden = false;
    p->before[PROBE_SetVidPnSourceVisibility] = in_visibility;
    CHECK(NT_SUCCESS(display_power(display_modes(p), TARGET, false)));
    CHECK_RULE("PRES-156", hidden && probe_rule(p, "PRES-157") == before + !hidden_address);
}

TEST(addresses_of_an_invisible_source)
{
    hidden_address = 0;
    run(invisible);
    hidden_address = 1; /* whatever, if it is not 0; it is no primary */
    run(invisible);
}
