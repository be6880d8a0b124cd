/* SPDX-License-Identifier: MIT */
/* When a full driver is told to report vertical syncs, by which entry, and what follows when it does
 * not. */
#include "nt/cm/registry.h"
#include "port/support/owner.h"
#include "sim/sim.h"
#include "support/test.h"

#include <string.h>

#define IS(status, wanted) ((NTSTATUS)(status) == (wanted))
#define MS                 UINT64_C(1000000)
#define DRIVERS            "\\Registry\\Machine\\System\\CurrentControlSet\\Control\\GraphicsDrivers"

/* ---- what the driver was told ---- */

#define MOST 32u

static struct {
    UINT count;
    struct {
        unsigned entry; /* 1 to 3 */
        DXGK_CRTC_VSYNC_STATE state;
        UINT source;
        DXGK_INTERRUPT_TYPE type;
        uint64_t time;
        UINT power_calls; /* of DxgkDdiSetPowerState before it */
        UINT addresses;
    } call[MOST];
} told;
static NTSTATUS answer;

static void note(struct probe *p, struct probe_call *call, unsigned entry, int type, int state,
                 UINT source)
{
    const UINT n = told.count++ % MOST;

    told.call[n].entry = entry;
    told.call[n].type = (DXGK_INTERRUPT_TYPE)type;
    told.call[n].state = (DXGK_CRTC_VSYNC_STATE)state;
    told.call[n].source = source;
    told.call[n].time = sim_now();
    told.call[n].power_calls = (UINT)probe_count(p, PROBE_SetPowerState);
    told.call[n].addresses = full_seen.addresses;
    full_engine.enabled = state == DXGK_VSYNC_ENABLE;
    call->answered = true;
    call->result = (uint64_t)answer;
}

static void control(struct probe *p, struct probe_call *call)
{
    note(p, call, 1, (int)call->arg[1],
         call->arg[2] & 0xFF ? DXGK_VSYNC_ENABLE : DXGK_VSYNC_DISABLE_NO_PHASE, D3DDDI_ID_ALL);
}

static void control2(struct probe *p, struct probe_call *call)
{
    DXGKARG_CONTROLINTERRUPT2 args;

    memcpy(&args, &call->arg[1], sizeof(args));
    note(p, call, 2, args.InterruptType, args.CrtcVsyncState, D3DDDI_ID_ALL);
}

static void control3(struct probe *p, struct probe_call *call)
{
    const DXGKARG_CONTROLINTERRUPT3 *args = (const void *)(uintptr_t)call->arg[1];

    note(p, call, 3, args->InterruptType, args->CrtcVsyncState, args->VidPnSourceId);
}

static DXGK_CRTC_VSYNC_STATE state_of(UINT n)
{
    return told.call[n % MOST].state;
}

/* `entries`: a mask. */
static struct probe *controlled(unsigned entries)
{
    static const enum probe_ddi entry[] = {PROBE_ControlInterrupt, PROBE_ControlInterrupt2,
                                           PROBE_ControlInterrupt3};
    struct probe *p = owner_create(NULL);

    answer = STATUS_SUCCESS;
    for (unsigned i = 0; i < 3; i++)
        probe_set_entry(p, entry[i], entries >> i & 1);
    return p;
}

/* After owner_begin, which has the engine's own hook. */
static void watch(struct probe *p)
{
    memset(&told, 0, sizeof(told));
    p->before[PROBE_ControlInterrupt] = control;
    p->before[PROBE_ControlInterrupt2] = control2;
    p->before[PROBE_ControlInterrupt3] = control3;
}

/* ---- while somebody needs them ---- */

static void plainly(struct probe *p)
{
    UINT calls;

    owner_begin(p);
    owner_show(owner.primary[0]);
    watch(p);
    calls = full_seen.addresses;
    CHECK(IS(owner_flip(owner.primary[1]), STATUS_SUCCESS));
    probe_sleep(100 * MS);
    CHECK_RULE("PRES-167", told.count == 2 && state_of(0) == DXGK_VSYNC_ENABLE &&
                               told.call[0].addresses == calls);
    CHECK_RULE("PRES-168", told.call[0].type == DXGK_INTERRUPT_CRTC_VSYNC &&
                               told.call[1].type == DXGK_INTERRUPT_CRTC_VSYNC);
    CHECK_RULE("PRES-167", state_of(1) == DXGK_VSYNC_DISABLE_NO_PHASE);
    CHECK_RULE("PRES-171/a", told.call[1].time - told.call[0].time < 40 * MS);
    owner_end();
}

TEST(one_flip)
{
    owner_run(controlled(1), plainly);
}

static void in_stages(struct probe *p)
{
    const unsigned entry = told.count; /* that is called */

    owner_begin(p);
    owner_show(owner.primary[0]);
    watch(p);
    CHECK(IS(owner_flip(owner.primary[1]), STATUS_SUCCESS));
    probe_sleep(200 * MS);
    CHECK_RULE("PRES-173", told.count == 3 && state_of(0) == DXGK_VSYNC_ENABLE &&
                               state_of(1) == DXGK_VSYNC_DISABLE_KEEP_PHASE &&
                               state_of(2) == DXGK_VSYNC_DISABLE_NO_PHASE);
    CHECK_RULE("PRES-175", told.call[2].time - told.call[1].time >= 33 * MS &&
                               told.call[2].time - told.call[1].time < 34 * MS);
    CHECK_RULE("PRES-174/a", told.call[0].entry == entry && told.call[1].entry == entry &&
                                 told.call[2].entry == entry);
    CHECK_RULE("PRES-174/a", told.call[0].source == D3DDDI_ID_ALL);
    /* a flip between the stages */
    watch(p);
    CHECK(IS(owner_flip(owner.primary[2]), STATUS_SUCCESS));
    while (told.count < 2)
        probe_sleep(MS);
    CHECK(IS(owner_flip(owner.primary[1]), STATUS_SUCCESS));
    probe_sleep(MS);
    CHECK_RULE("PRES-175", told.count == 3 && state_of(1) == DXGK_VSYNC_DISABLE_KEEP_PHASE &&
                               state_of(2) == DXGK_VSYNC_ENABLE);
    probe_sleep(200 * MS);
    CHECK_RULE("PRES-175", told.count == 5 && state_of(4) == DXGK_VSYNC_DISABLE_NO_PHASE);
    owner_end();
}

TEST(two_stages)
{
    told.count = 2;
    owner_run(controlled(3), in_stages);
    told.count = 3;
    owner_run(controlled(7), in_stages);
}

static void idle(struct probe *p)
{
    const uint64_t wanted = *(const uint64_t *)p->user;
    uint64_t before;

    owner_begin(p);
    owner_show(owner.primary[0]);
    watch(p);
    before = sim_now();
    CHECK(IS(owner_flip(owner.primary[1]), STATUS_SUCCESS));
    probe_sleep(400 * MS);
    if (!wanted) {
        CHECK_RULE("PRES-170/a", told.count == 1); /* never */
        owner_end();
        return;
    }
    CHECK_RULE("PRES-170/a", told.count == 2 && state_of(1) == DXGK_VSYNC_DISABLE_NO_PHASE);
    CHECK_RULE("PRES-170/a", told.call[1].time - before >= wanted &&
                                 told.call[1].time - before < wanted + 20 * MS);
    CHECK(IS(owner_flip(owner.primary[2]), STATUS_SUCCESS));
    probe_sleep(20 * MS);
    CHECK_RULE("PRES-170/b", told.count == 3 && state_of(2) == DXGK_VSYNC_ENABLE);
    CHECK(IS(owner_flip(owner.primary[1]), STATUS_SUCCESS)); /* it counts from this one now */
    before = sim_now();
    probe_sleep(160 * MS);
    CHECK_RULE("PRES-170/a", (told.count == 3) == (wanted > 160 * MS));
    owner_end();
}

/* `timeout` ~0: the registry has none. */
static void run_idle(UINT timeout, uint64_t wanted)
{
    struct probe *p = controlled(1);

    p->caps.SchedulingCaps.VSyncPowerSaveAware = 1;
    p->user = &wanted;
    if (timeout != ~0u)
        CHECK(nt_registry_set(DRIVERS "\\Scheduler", "VsyncIdleTimeout", REG_DWORD, &timeout,
                              sizeof(timeout)));
    owner_run(p, idle);
}

TEST(a_driver_that_saves_power)
{
    run_idle(~0u, 166 * MS);
    run_idle(4, 66 * MS);
    run_idle(0, 0);
}

/* ---- who asks ---- */

static void requested(struct probe *p)
{
    D3DKMT_CREATEDEVICE create = {.hAdapter = 0};

    owner_begin(p);
    watch(p);
    create.hAdapter = owner.gpu.adapter;
    create.Flags.RequestVSync = 1;
    CHECK(IS(D3DKMTCreateDevice(&create), STATUS_SUCCESS));
    probe_sleep(500 * MS);
    CHECK_RULE("PRES-308", told.count == 1 && state_of(0) == DXGK_VSYNC_ENABLE);
    CHECK(IS(D3DKMTDestroyDevice(&(D3DKMT_DESTROYDEVICE){create.hDevice}), STATUS_SUCCESS));
    probe_sleep(100 * MS);
    CHECK_RULE("PRES-308", told.count == 2 && state_of(1) == DXGK_VSYNC_DISABLE_NO_PHASE);
    owner_end();
}

TEST(a_device_that_wants_them_always)
{
    owner_run(controlled(1), requested);
}

static void failing(struct probe *p)
{
    owner_begin(p);
    owner_show(owner.primary[0]);
    watch(p);
    answer = STATUS_NOT_IMPLEMENTED;
    CHECK(IS(owner_flip(owner.primary[1]), STATUS_SUCCESS));
    probe_sleep(100 * MS);
    CHECK_RULE("PRES-176", probe_rule(p, "PRES-176") == 1 &&
                               probe_record(p, "PRES-176")->severity == VERIFY_WARNING);
    CHECK_RULE("PRES-176", owner_last()->flags == 4); /* flips go on */
    CHECK(IS(owner_flip(owner.primary[2]), STATUS_SUCCESS));
    probe_sleep(100 * MS);
    CHECK_RULE("PRES-176", probe_rule(p, "PRES-176") == 1); /* once */
    owner_end();
}

TEST(a_driver_that_does_not_enable_them)
{
    owner_run(controlled(1), failing);
}

/* ---- each source by itself ---- */

static void independent(struct probe *p)
{
    D3DKMT_WAITFORVERTICALBLANKEVENT wait = {.VidPnSourceId = 1};

    owner_begin(p);
    owner_show(owner.primary[0]);
    watch(p);
    CHECK(IS(owner_flip(owner.primary[1]), STATUS_SUCCESS));
    probe_sleep(MS);
    CHECK_RULE("PRES-174/b",
               told.count == 1 && told.call[0].source == 0 && state_of(0) == DXGK_VSYNC_ENABLE);
    wait.hAdapter = owner.gpu.adapter;
    CHECK(IS(D3DKMTWaitForVerticalBlankEvent(&wait), STATUS_SUCCESS));
    CHECK_RULE("PRES-174/b",
               told.count >= 2 && told.call[1].source == 1 && state_of(1) == DXGK_VSYNC_ENABLE);
    owner_end();
}

TEST(sources_one_by_one)
{
    struct probe *p = controlled(7);

    display.outputs = display.sources = 2;
    p->caps.MiscCaps.IndependentVidPnVSyncControl = 1;
    owner_run(p, independent);
    CHECK_RULE("PRES-174/b", told.call[(told.count - 1) % MOST].source == D3DDDI_ID_ALL &&
                                 state_of(told.count - 1) == DXGK_VSYNC_DISABLE_NO_PHASE);
}

/* ---- around power and resets ---- */

static void sleeps(struct probe *p)
{
    D3DKMT_CREATEDEVICE create = {.hAdapter = 0};
    UINT powers;

    owner_begin(p);
    watch(p);
    create.hAdapter = owner.gpu.adapter;
    create.Flags.RequestVSync = 1;
    CHECK(IS(D3DKMTCreateDevice(&create), STATUS_SUCCESS));
    probe_sleep(20 * MS);
    CHECK(told.count == 1);
    powers = (UINT)probe_count(p, PROBE_SetPowerState);
    CHECK(NT_SUCCESS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep)));
    CHECK_RULE("PRES-249", told.count == 2 && state_of(1) == DXGK_VSYNC_DISABLE_NO_PHASE);
    CHECK_RULE("PRES-172", probe_count(p, PROBE_SetPowerState) > told.call[1].power_calls &&
                               told.call[1].power_calls >= powers);
    probe_sleep(100 * MS);
    CHECK_RULE("PRES-172", told.count == 2);
    CHECK(NT_SUCCESS(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionSleep)));
    probe_sleep(100 * MS);
    CHECK_RULE("PRES-172", told.count == 3 && state_of(2) == DXGK_VSYNC_ENABLE);
    owner_end();
}

TEST(before_the_adapter_sleeps)
{
    owner_run(controlled(1), sleeps);
}

static void resets(struct probe *p)
{
    D3DKMT_CREATEDEVICE create = {.hAdapter = 0};

    owner_begin(p);
    watch(p);
    create.hAdapter = owner.gpu.adapter;
    create.Flags.RequestVSync = 1;
    CHECK(IS(D3DKMTCreateDevice(&create), STATUS_SUCCESS));
    probe_sleep(20 * MS);
    CHECK(told.count == 1);
    CHECK(NT_SUCCESS(vidsch_force_reset(port_adapter_vidsch(p->adapter[0]), true)));
    probe_sleep(20 * MS);
    CHECK_RULE("PRES-172", told.count == 2 && state_of(1) == DXGK_VSYNC_ENABLE);
    owner_end();
}

TEST(after_a_reset)
{
    owner_run(controlled(1), resets);
}

static void reset(struct probe *p)
{
    CHECK(NT_SUCCESS(vidsch_force_reset(port_adapter_vidsch(p->adapter[0]), true)));
}

/* The second stage of the first is over with the reset. */
static void resets_between(struct probe *p)
{
    owner_begin(p);
    owner_show(owner.primary[0]);
    watch(p);
    CHECK(IS(owner_flip(owner.primary[1]), STATUS_SUCCESS));
    while (told.count < 2)
        probe_sleep(MS);
    CHECK(state_of(1) == DXGK_VSYNC_DISABLE_KEEP_PHASE);
    reset(p);
    probe_sleep(200 * MS);
    CHECK_RULE("PRES-172", told.count == 2);
    owner_end();
}

TEST(a_reset_between_the_stages)
{
    owner_run(controlled(3), resets_between);
}

/* All of a reset adapter are disabled. */
static void resets_each(struct probe *p)
{
    D3DKMT_CREATEDEVICE create = {.hAdapter = 0};
    UINT enabled = 0;

    owner_begin(p);
    watch(p);
    create.hAdapter = owner.gpu.adapter;
    create.Flags.RequestVSync = 1;
    CHECK(IS(D3DKMTCreateDevice(&create), STATUS_SUCCESS));
    probe_sleep(20 * MS);
    CHECK(told.count == 2 && told.call[0].source != told.call[1].source);
    reset(p);
    probe_sleep(20 * MS);
    for (UINT i = 2; i < told.count; i++)
        enabled |= (UINT)(state_of(i) == DXGK_VSYNC_ENABLE) << told.call[i].source;
    CHECK_RULE("PRES-172", told.count == 4 && enabled == 3);
    owner_end();
}

TEST(each_source_after_a_reset)
{
    struct probe *p = controlled(7);

    display.outputs = display.sources = 2;
    p->caps.MiscCaps.IndependentVidPnVSyncControl = 1;
    owner_run(p, resets_each);
}

/* ---- none comes ---- */

static UINT resets_of(const struct probe *p)
{
    return (UINT)probe_count(p, PROBE_ResetFromTimeout);
}

static void silent(struct probe *p)
{
    owner_begin(p);
    owner_show(owner.primary[0]);
    watch(p);
    full_engine.silent = true;
    CHECK(IS(owner_flip(owner.primary[1]), STATUS_SUCCESS));
    probe_sleep(1900 * MS);
    CHECK_RULE("PRES-327", probe_rule(p, "PRES-327") == 0 && told.count == 1);
    CHECK_RULE("PRES-256", probe_rule(p, "PRES-256") == 0 && resets_of(p) == 0);
    probe_sleep(200 * MS);
    CHECK_RULE("PRES-327", probe_rule(p, "PRES-327") == 1 &&
                               probe_record(p, "PRES-327")->severity == VERIFY_ERROR);
    CHECK_RULE("PRES-327", told.count >= 3 && state_of(1) == DXGK_VSYNC_DISABLE_NO_PHASE &&
                               state_of(2) == DXGK_VSYNC_ENABLE);
    CHECK_RULE("PRES-256", probe_rule(p, "PRES-256") == 1 && resets_of(p) == 1);
    CHECK_RULE("PRES-256", !NT_SUCCESS(owner_flip(owner.primary[2])));
    CHECK_RULE("PRES-256", owner_last()->allocation == full_seen.primary);
    full_engine.silent = false;
    owner_end();
}

TEST(a_flip_that_no_vertical_sync_completes)
{
    owner_run(controlled(1), silent);
}

static void silent_again(struct probe *p)
{
    owner_begin(p);
    for (UINT i = 1; i <= 2; i++) {
        owner_show(owner.primary[0]);
        full_engine.silent = true;
        CHECK(IS(owner_flip(owner.primary[1]), STATUS_SUCCESS));
        probe_sleep(2100 * MS);
        CHECK_RULE("PRES-256", probe_rule(p, "PRES-256") == i && resets_of(p) == i);
        full_engine.silent = false;
        CHECK(NT_SUCCESS(probe_gpu_end(&owner.gpu)));
        CHECK(NT_SUCCESS(probe_gpu_begin(&owner.gpu))); /* the device was lost */
        for (unsigned k = 0; k < 2; k++)
            CHECK(NT_SUCCESS(owner_allocate(0, &owner.primary[k])));
    }
    owner_end();
}

TEST(no_vertical_sync_completes_the_second_time)
{
    owner_run(controlled(1), silent_again);
}

static void tolerated(struct probe *p)
{
    owner_begin(p);
    owner_show(owner.primary[0]);
    full_engine.silent = true;
    CHECK(IS(owner_flip(owner.primary[1]), STATUS_SUCCESS));
    probe_sleep(2100 * MS);
    CHECK_RULE("PRES-256", probe_rule(p, "PRES-256") == 1 && resets_of(p) == 0);
    CHECK_RULE("PRES-256", IS(owner_flip(owner.primary[2]), STATUS_SUCCESS));
    full_engine.silent = false;
    owner_end();
}

/* The client ends while the flip back to the shared primary waits for one. */
static void left(struct probe *p)
{
    owner_begin(p);
    owner_show(owner.primary[0]);
    CHECK(IS(owner_flip(owner.primary[1]), STATUS_SUCCESS));
    probe_sleep(100 * MS);
    full_engine_stop();
    CHECK(NT_SUCCESS(probe_gpu_end(&owner.gpu)));
    CHECK_RULE("PRES-256", resets_of(p) == 1 && owner_last()->allocation == full_seen.primary);
}

TEST(the_end_of_a_client_without_vertical_syncs)
{
    owner_run(controlled(1), left);
}

/* TdrLevel 0 */
TEST(nothing_is_reset_without_detection)
{
    struct probe *p = controlled(1);
    const UINT level = 0;

    CHECK(nt_registry_set(DRIVERS, "TdrLevel", REG_DWORD, &level, sizeof(level)));
    owner_run(p, tolerated);
}

static void forced(struct probe *p)
{
    D3DKMT_TDRDBGCTRL_ESCAPE kind = {.TdrControl = D3DKMT_TDRDBGCTRLTYPE_VSYNCTDR};
    D3DKMT_ESCAPE escape;

    owner_begin(p);
    memset(&escape, 0, sizeof(escape));
    escape.hAdapter = owner.gpu.adapter;
    escape.Type = D3DKMT_ESCAPE_TDRDBGCTRL;
    escape.pPrivateDriverData = &kind;
    escape.PrivateDriverDataSize = sizeof(kind);
    CHECK_RULE("PRES-307/a", IS(D3DKMTEscape(&escape), STATUS_SUCCESS) && resets_of(p) == 1);
    owner_end();
}

TEST(a_debugger_forces_it)
{
    owner_run(controlled(1), forced);
}

/* ---- off the grid ---- */

static void reported(struct probe *p)
{
    D3DKMT_CREATEDEVICE create = {.hAdapter = 0};

    owner_begin(p);
    create.hAdapter = owner.gpu.adapter;
    create.Flags.RequestVSync = 1;
    CHECK(IS(D3DKMTCreateDevice(&create), STATUS_SUCCESS));
    probe_sleep(5000 * MS);
    CHECK_RULE("PRES-330", probe_rule(p, "PRES-330") == *(const UINT *)p->user);
    owner_end();
}

/* The engine reports them at 60 Hz. */
TEST(a_rate_that_is_not_that_of_the_mode)
{
    static const UINT hertz[] = {30, 31, 60, 119, 121};
    static const UINT wanted[] = {1, 0, 0, 0, 1};

    for (unsigned i = 0; i < sizeof(hertz) / sizeof(hertz[0]); i++) {
        struct probe *p = controlled(1);
        UINT number = wanted[i];

        display.target_mode[0] = full_target_mode(1024, 768, hertz[i]);
        display.target_mode[0].WireFormatAndPreference.Preference = D3DKMDT_MP_PREFERRED;
        p->user = &number;
        owner_run(p, reported);
    }
}
