/* SPDX-License-Identifier: MIT */
/* Vertical blanks of display-only drivers: made up by the host, or reported by the driver. */
#include "nt/cm/registry.h"
#include "port/support/client.h"
#include "port/support/presents.h"
#include "screens/blanks.h"
#include "support/test.h"

#define MS      UINT64_C(1000000)
#define DRIVERS "\\Registry\\Machine\\System\\CurrentControlSet\\Control\\GraphicsDrivers"

static D3DKMT_HANDLE adapter;

static void open_adapter(const struct probe *p)
{
    D3DKMT_OPENADAPTERFROMLUID open = {.AdapterLuid = p->adapter[0]->luid};

    CHECK(D3DKMTOpenAdapterFromLuid(&open) == STATUS_SUCCESS);
    adapter = open.hAdapter;
}

static void close_adapter(void)
{
    CHECK(D3DKMTCloseAdapter(&(D3DKMT_CLOSEADAPTER){adapter}) == STATUS_SUCCESS);
}

static NTSTATUS await(UINT source)
{
    const D3DKMT_WAITFORVERTICALBLANKEVENT args = {.hAdapter = adapter, .VidPnSourceId = source};

    return D3DKMTWaitForVerticalBlankEvent(&args);
}

static NTSTATUS await_second_form(void)
{
    const D3DKMT_WAITFORVERTICALBLANKEVENT2 args = {.hAdapter = adapter};

    return D3DKMTWaitForVerticalBlankEvent2(&args);
}

static uint64_t count(const struct probe *p, enum vsync_kind kind)
{
    return screens_vsyncs(display_screens(p), 0).of[kind];
}

static void run(struct probe *p, void (*body)(struct probe *p))
{
    struct probe_client *client;

    probe_clients_begin(p);
    CHECK(probe_start(p) == STATUS_SUCCESS);
    client = probe_client_run(p, body);
    probe_client_end(p, client);
    probe_clients_end(p);
    probe_destroy(p);
}

/* ---- made up ---- */

static bool about(uint64_t passed, uint64_t wanted)
{
    return passed + 30000 > wanted && passed < wanted + 30000;
}

static void made_up(struct probe *p)
{
    uint64_t first, before;

    open_adapter(p);
    CHECK(await(0) == STATUS_SUCCESS);
    first = sim_now();
    for (UINT i = 1; i <= 9; i++) {
        CHECK((i % 2 ? await(0) : await_second_form()) == STATUS_SUCCESS);
        CHECK_RULE("PRES-193", about(sim_now() - first, i * MS * 50 / 3));
    }
    before = sim_now();
    probe_sleep(40 * MS);
    CHECK(await(0) == STATUS_SUCCESS); /* the third since then */
    CHECK_RULE("PRES-193", about(sim_now() - before, 50 * MS));
    CHECK_RULE("PRES-326", count(p, VSYNC_SIMULATED) == 11 && count(p, VSYNC_REPORTED) == 0 &&
                               count(p, VSYNC_SUBSTITUTED) == 0);
    CHECK_RULE("PRES-193", probe_count(p, PROBE_ControlInterrupt) == 0);
    CHECK(await(1) == STATUS_GRAPHICS_INVALID_VIDEO_PRESENT_SOURCE);
    CHECK(display_power(display_modes(p), DISPLAY_CHILD, false) == STATUS_SUCCESS);
    CHECK(await(0) == STATUS_SUCCESS && await(0) == STATUS_SUCCESS); /* nobody could report them */
    CHECK_RULE("PRES-326", count(p, VSYNC_SUBSTITUTED) == 2 && count(p, VSYNC_SIMULATED) == 11);
    close_adapter();
}

TEST(a_driver_without_control_has_them_made_up)
{
    run(display_create(NULL), made_up);
}

static void line(struct probe *p)
{
    D3DKMT_GETSCANLINE args = {.VidPnSourceId = 0};

    open_adapter(p);
    args.hAdapter = adapter;
    CHECK(await(0) == STATUS_SUCCESS);
    probe_sleep(8 * MS);
    CHECK(D3DKMTGetScanLine(&args) == STATUS_SUCCESS);
    CHECK_RULE("PRES-196", args.ScanLine >= 386 && args.ScanLine <= 388 && !args.InVerticalBlank);
    probe_sleep(8 * MS);
    CHECK(D3DKMTGetScanLine(&args) == STATUS_SUCCESS);
    CHECK_RULE("PRES-193", args.ScanLine >= 773 && args.InVerticalBlank &&
                               probe_count(p, PROBE_GetScanLine) == 0 &&
                               probe_rule(p, "PRES-295") == 0);
    close_adapter();
}

TEST(and_its_scan_line)
{
    struct probe *p = display_create(NULL);

    display.target_mode[0].VideoSignalInfo.TotalSize = (D3DKMDT_2DREGION){1344, 806};
    run(p, line);
}

/* ---- reported ---- */

static struct {
    UINT calls;
    int type;
    bool enabled, silent, ends, runs;
    UINT target, reports;
    uint64_t enabled_at, disabled_at;
} engine;

static void control(struct probe *p, struct probe_call *call)
{
    (void)p;
    engine.calls++;
    engine.type = (int)call->arg[1];
    engine.enabled = (call->arg[2] & 0xFF) != 0;
    *(engine.enabled ? &engine.enabled_at : &engine.disabled_at) = sim_now();
    call->answered = true;
}

static void report_blank(struct probe *p)
{
    DXGKARGCB_NOTIFY_INTERRUPT_DATA data;

    memset(&data, 0, sizeof(data));
    data.InterruptType = DXGK_INTERRUPT_DISPLAYONLY_VSYNC;
    data.DisplayOnlyVsync.VidPnTargetId = engine.target;
    engine.reports++;
    CHECK(present_interrupt(p, &data) == STATUS_SUCCESS);
}

static void engine_main(struct probe *p)
{
    engine.runs = true;
    while (!engine.ends) {
        probe_sleep(PRESENT_PERIOD);
        if (engine.enabled && !engine.silent && !engine.ends)
            report_blank(p);
    }
    engine.runs = false;
}

static struct sim_thread *engine_thread;

static void engine_start(struct probe *p)
{
    engine_thread = probe_thread(p, probe_process(p, "engine"), "engine", engine_main);
    open_adapter(p);
}

static void engine_stop(void)
{
    engine.ends = true;
    while (engine.runs)
        probe_sleep(MS);
    sim_thread_release(engine_thread);
    close_adapter();
}

static struct probe *controlled(void)
{
    static const enum probe_ddi entries[] = {PROBE_ControlInterrupt, PROBE_GetScanLine};
    struct probe *p = display_create(NULL);
    D3DKMDT_VIDEO_SIGNAL_INFO *signal = &display.target_mode[0].VideoSignalInfo;

    memset(&engine, 0, sizeof(engine));
    engine.target = DISPLAY_CHILD;
    signal->VSyncFreq = (D3DDDI_RATIONAL){60, 1};
    signal->HSyncFreq = (D3DDDI_RATIONAL){60 * 768, 1};
    signal->PixelRate = (SIZE_T)60 * 768 * 1024;
    for (unsigned i = 0; i < 2; i++)
        probe_set_entry(p, entries[i], true);
    p->before[PROBE_ControlInterrupt] = control;
    return p;
}

static void reported(struct probe *p)
{
    uint64_t last;

    engine_start(p);
    probe_sleep(50 * MS);
    CHECK_RULE("PRES-169", engine.calls == 0); /* nobody needs them */
    for (UINT i = 1; i <= 5; i++) {
        CHECK(await(0) == STATUS_SUCCESS);
        CHECK_RULE("PRES-169", engine.calls == 1 && engine.type == DXGK_INTERRUPT_CRTC_VSYNC &&
                                   engine.enabled && engine.reports == i);
    }
    last = sim_now();
    CHECK_RULE("PRES-169", count(p, VSYNC_REPORTED) == 5 && probe_rule(p, "PRES-162") == 0);
    CHECK_RULE("PRES-326", count(p, VSYNC_SIMULATED) == 0 && count(p, VSYNC_SUBSTITUTED) == 0);
    probe_sleep(100 * MS);
    CHECK_RULE("PRES-171/a",
               engine.calls == 2 && !engine.enabled && engine.disabled_at - last < 40 * MS);
    engine.silent = true;
    last = sim_now();
    CHECK(await(0) == STATUS_SUCCESS);
    CHECK_RULE("PRES-293", about(sim_now() - last, 2 * PRESENT_PERIOD) && engine.calls == 3);
    CHECK_RULE("PRES-326", count(p, VSYNC_SUBSTITUTED) == 1 && count(p, VSYNC_REPORTED) < 8);
    engine_stop();
}

TEST(a_driver_with_control_reports_them)
{
    run(controlled(), reported);
}

static void line_asked(struct probe *p)
{
    D3DKMT_GETSCANLINE args = {.VidPnSourceId = 0};

    open_adapter(p);
    args.hAdapter = adapter;
    CHECK(D3DKMTGetScanLine(&args) == STATUS_SUCCESS);
    CHECK_RULE("PRES-294", probe_count(p, PROBE_GetScanLine) == 1);
    close_adapter();
}

TEST(a_driver_with_control_is_asked_for_its_line)
{
    run(controlled(), line_asked);
}

static void unknown(struct probe *p)
{
    engine_start(p);
    engine.silent = true;
    engine.target = DISPLAY_CHILD + 7;
    report_blank(p);
    CHECK_RULE("PRES-159/a", probe_rule(p, "PRES-159") == 1 && count(p, VSYNC_REPORTED) == 0);
    engine.target = DISPLAY_CHILD;
    report_blank(p); /* though none are enabled */
    CHECK_RULE("PRES-160", probe_rule(p, "PRES-159") == 1 && count(p, VSYNC_REPORTED) == 1);
    engine_stop();
}

TEST(one_of_a_target_that_there_is_not)
{
    run(controlled(), unknown);
}

static void sleeps(struct probe *p)
{
    engine_start(p);
    CHECK(await(0) == STATUS_SUCCESS && engine.enabled);
    CHECK(NT_SUCCESS(port_adapter_set_power(p->adapter[0], PowerDeviceD3, PowerActionSleep)));
    CHECK_RULE("PRES-172", engine.calls == 2 && !engine.enabled);
    CHECK(NT_SUCCESS(port_adapter_set_power(p->adapter[0], PowerDeviceD0, PowerActionSleep)));
    CHECK(await(0) == STATUS_SUCCESS);
    CHECK_RULE("PRES-172", engine.calls == 3 && engine.enabled);
    engine_stop();
}

TEST(before_the_adapter_sleeps)
{
    run(controlled(), sleeps);
}

/* ---- none comes ---- */

static uint64_t limit;

static void silent(struct probe *p)
{
    uint64_t begun;

    engine_start(p);
    CHECK(screens_settle(display_screens(p), 0));
    engine.silent = true;
    CHECK(await(0) == STATUS_SUCCESS && engine.calls == 1);
    begun = engine.enabled_at;
    probe_forget(p);
    while (sim_now() < begun + limit - 60 * MS)
        CHECK(await(0) == STATUS_SUCCESS);
    CHECK_RULE("PRES-328", probe_rule(p, "PRES-328") == 0 && probe_count(p, PROBE_StopDevice) == 0);
    while (sim_now() < begun + limit + 60 * MS)
        CHECK(await(0) == STATUS_SUCCESS);
    CHECK_RULE("PRES-328", probe_rule(p, "PRES-328") == 1 &&
                               probe_record(p, "PRES-328")->severity == VERIFY_ERROR &&
                               probe_rule(p, "PRES-257") == 1 && probe_rule(p, "PRES-218") == 0 &&
                               probe_count(p, PROBE_StopDevice) == 1 &&
                               probe_count(p, PROBE_StartDevice) == 1);
    engine.silent = false;
    CHECK(screens_settle(display_screens(p), 0));
    CHECK(await(0) == STATUS_SUCCESS);
    CHECK_RULE("PRES-328", engine.enabled && count(p, VSYNC_REPORTED) > 0);
    engine_stop();
}

TEST(a_driver_that_reports_none_starts_again)
{
    limit = 2000 * MS;
    run(controlled(), silent);
}

TEST(after_the_time_of_the_registry)
{
    const UINT delay = 4;
    struct probe *p = controlled();

    CHECK(nt_registry_set(DRIVERS, "TdrDodVSyncDelay", REG_DWORD, &delay, sizeof(delay)));
    limit = 4000 * MS;
    run(p, silent);
}
