/* SPDX-License-Identifier: MIT */
/* A present that never ends: its driver is started again, and shows the last frame. */
#include "nt/base/state.h"
#include "nt/cm/registry.h"
#include "port/support/presents.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>

#define SETTINGS "\\Registry\\Machine\\System\\CurrentControlSet\\Control\\GraphicsDrivers"

static size_t reports_asked;

static void count_report(struct probe *p, struct probe_call *call)
{
    const DXGKARG_COLLECTDBGINFO *args = (const DXGKARG_COLLECTDBGINFO *)(uintptr_t)call->arg[1];

    (void)p;
    reports_asked += args->Reason == VIDEO_TDR_TIMEOUT_DETECTED;
}

/* A frame that is never complete. */
static void lose(struct probe *p)
{
    presents_begin();
    presents.answer[0] = STATUS_PENDING;
    CHECK(present_fill(p, 0, (RECT){3, 3, 4, 4}, 0x998877));
    probe_sleep(PRESENT_PERIOD);
    CHECK(presents.count == 1);
}

/* ---- what is told of it ---- */

static KEVENT never;
static char waits[1024];

static void keep_waits(void *context, const char *line)
{
    (void)context;
    strncat(waits, line, sizeof(waits) - strlen(waits) - 1);
}

static void NTAPI worker(PVOID context)
{
    (void)context;
    (void)KeWaitForSingleObject(&never, Executive, KernelMode, FALSE, NULL);
    (void)PsTerminateSystemThread(STATUS_SUCCESS);
}

/* Its function is the driver. */
static bool symbolize(uintptr_t pc, char *text, size_t bytes)
{
    const uintptr_t start = (uintptr_t)worker;

    snprintf(text, bytes, "test.so!worker");
    return pc >= start && pc < start + 128;
}

/* The driver's thread, which is to carry the presents out. */
static void begin_worker(void)
{
    HANDLE thread;

    KeInitializeEvent(&never, NotificationEvent, FALSE);
    CHECK(PsCreateSystemThread(&thread, THREAD_ALL_ACCESS, NULL, NULL, NULL, worker, NULL) ==
          STATUS_SUCCESS);
    CHECK(ZwClose(thread) == STATUS_SUCCESS);
    nt_state()->config.waits = keep_waits;
    nt_state()->config.symbolize = symbolize;
    waits[0] = '\0';
}

static void check_report(struct probe *p, const char *text)
{
    char time[32];

    (void)p;
    snprintf(time, sizeof(time), "at %llu.", (unsigned long long)(presents.frame[0].time / 1000000));
    CHECK_RULE("PRES-329", strstr(text, "of source 0") && strstr(text, "in 1 rectangles"));
    CHECK_RULE("PRES-329", strstr(text, time));
    CHECK_RULE("PRES-329", strstr(waits, "waits for event"));
    nt_state()->config.waits = NULL;
    nt_state()->config.symbolize = NULL;
    (void)KeSetEvent(&never, 0, FALSE);
}

static void recovers(struct probe *p)
{
    const UINT commits = display_seen.commits;
    uint32_t pixel;

    CHECK(screens_settle(display_screens(p), 0));
    CHECK(present_draw(p, (RECT){0, 0, 1024, 768}, 0x112233));
    reports_asked = 0;
    begin_worker();
    lose(p);
    probe_forget(p);
    probe_sleep(1999000000 - PRESENT_PERIOD - (sim_now() - presents.frame[0].time));
    probe_sleep(PRESENT_PERIOD);
    CHECK_RULE("PRES-218", probe_rule(p, "PRES-218") == 0 && probe_count(p, PROBE_StopDevice) == 0);
    probe_sleep(1100000);
    CHECK_RULE("PRES-218", probe_rule(p, "PRES-218") == 1);
    check_report(p, probe_record(p, "PRES-218")->seen);
    probe_sleep(100000000);
    CHECK_RULE("PRES-257", probe_rule(p, "PRES-257") == 1 && reports_asked == 1);
    CHECK_RULE("PRES-258", probe_count(p, PROBE_StopDevice) == 1 &&
                               probe_count(p, PROBE_StartDevice) == 1 &&
                               probe_nth(p, PROBE_StopDevice, 0)->order <
                                   probe_nth(p, PROBE_StartDevice, 0)->order);
    CHECK_RULE("PRES-258", display_seen.commits == commits + 1 &&
                               display_seen.commit[commits].size.cx == 1024 &&
                               !display_seen.commit[commits].power && display_seen.visible[0]);
    CHECK_RULE("PRES-258", probe_count(p, PROBE_SetVidPnSourceVisibility) == 1);
    CHECK_RULE("PRES-222", presents.count == 2 && present_is(1, WHOLE));
    memcpy(&pixel, presents.frame[1].args.pSource, sizeof(pixel));
    CHECK_RULE("PRES-258", pixel == 0x112233);
    CHECK_RULE("PRES-258",
               screens_settle(display_screens(p), 0) && screens_frames(display_screens(p), 0) == 3);
    CHECK(present_report(p, 0, PRESENT_DONE) == STATUS_SUCCESS); /* too late */
    CHECK_RULE("PRES-216", probe_rule(p, "PRES-216") == 1);
    CHECK(present_draw(p, (RECT){0, 0, 9, 9}, 0));
}

TEST(a_lost_present_starts_the_driver_again)
{
    struct probe *p = display_create(NULL);

    probe_set_entry(p, PROBE_CollectDbgInfo, true);
    p->before[PROBE_CollectDbgInfo] = count_report;
    CHECK(probe_start(p) == STATUS_SUCCESS);
    probe_end(p, recovers);
}

/* ---- how long it takes ---- */

static uint64_t limit_s;

static void lasts(struct probe *p)
{
    CHECK(screens_settle(display_screens(p), 0));
    lose(p);
    probe_sleep(limit_s * PROBE_SECOND - (sim_now() - presents.frame[0].time) - 1000);
    CHECK_RULE("PRES-218", probe_rule(p, "PRES-218") == 0);
    probe_sleep(2000);
    CHECK_RULE("PRES-218", probe_rule(p, "PRES-218") == 1);
    CHECK(screens_settle(display_screens(p), 0));
}

static void with_delay(uint32_t value, uint64_t seconds)
{
    struct probe *p = display_create(NULL);

    limit_s = seconds;
    CHECK(nt_registry_set(SETTINGS, "TdrDodPresentDelay", REG_DWORD, &value, sizeof(value)));
    CHECK(probe_start(p) == STATUS_SUCCESS);
    probe_end(p, lasts);
}

TEST(the_delay_is_a_setting)
{
    with_delay(5, 5);
    with_delay(0, 1);
    with_delay(900, 900);
    with_delay(901, 900);
}

/* ---- when it does not succeed ---- */

static void refuse_start(struct probe *p, struct probe_call *call)
{
    (void)p;
    call->answered = true;
    call->result = (uint64_t)STATUS_UNSUCCESSFUL;
}

static void loses_for_good(struct probe *p)
{
    CHECK(screens_settle(display_screens(p), 0));
    p->before[PROBE_StartDevice] = refuse_start;
    lose(p);
    probe_sleep(3 * PROBE_SECOND);
}

TEST(a_driver_that_does_not_start_again_is_fatal)
{
    struct probe *p = display_create(NULL);

    CHECK(probe_start(p) == STATUS_SUCCESS);
    CHECK_RULE("PRES-258", probe_run(p, loses_for_good) == SIM_STOPPED &&
                               probe_said(p, "PRES-258", "StartDevice returned") &&
                               probe_record(p, "PRES-258")->code == VIDEO_TDR_FAILURE);
    probe_destroy(p);
}

static uint64_t pause_s;

static void loses_six(struct probe *p)
{
    CHECK(screens_settle(display_screens(p), 0));
    for (unsigned i = 0; i < 6; i++) {
        lose(p);
        CHECK(screens_settle(display_screens(p), 0));
        CHECK(probe_rule(p, "PRES-257") == i + 1);
        if (!i)
            probe_sleep(pause_s * PROBE_SECOND);
    }
}

TEST(the_sixth_within_a_minute_is_fatal)
{
    struct probe *p = display_create(NULL);

    pause_s = 49; /* and 2 s for each of five */
    CHECK(probe_start(p) == STATUS_SUCCESS);
    CHECK_RULE("PRES-258", probe_run(p, loses_six) == SIM_STOPPED &&
                               probe_said(p, "PRES-258", "sixth") && probe_rule(p, "PRES-257") == 5);
    probe_destroy(p);
}

TEST(the_sixth_after_a_minute_is_not)
{
    struct probe *p = display_create(NULL);

    pause_s = 51;
    CHECK(probe_start(p) == STATUS_SUCCESS);
    CHECK_RULE("PRES-258", probe_run(p, loses_six) == SIM_DONE);
    probe_destroy(p);
}

/* ---- meanwhile ---- */

static UINT presents_stopped;

static void draw_meanwhile(struct probe *p)
{
    CHECK(present_fill(p, 0, (RECT){8, 8, 9, 9}, 0x445566));
}

static void stop_slowly(struct probe *p, struct probe_call *call)
{
    struct sim_thread *thread = probe_thread(p, probe_process(p, "client"), "client",
                                             draw_meanwhile);

    (void)call;
    probe_sleep(5 * PRESENT_PERIOD);
    presents_stopped = presents.count;
    sim_thread_release(thread);
}

static void draws_meanwhile(struct probe *p)
{
    uint32_t pixel;

    CHECK(screens_settle(display_screens(p), 0));
    presents_stopped = 0;
    p->before[PROBE_StopDevice] = stop_slowly;
    lose(p);
    CHECK(screens_settle(display_screens(p), 0));
    p->before[PROBE_StopDevice] = NULL;
    CHECK_RULE("PRES-258", presents_stopped == 1 && presents.count == 2 && present_is(1, WHOLE));
    memcpy(&pixel, (const uint8_t *)presents.frame[1].args.pSource + 8 * 4096 + 8 * 4, 4);
    CHECK_RULE("PRES-258", pixel == 0x445566);
}

TEST(no_frame_reaches_a_driver_that_is_stopped)
{
    struct probe *p = display_create(NULL);

    CHECK(probe_start(p) == STATUS_SUCCESS);
    probe_end(p, draws_meanwhile);
}

/* ---- two sources ---- */

static void loses_two(struct probe *p)
{
    CHECK(screens_settle(display_screens(p), 0) && screens_settle(display_screens(p), 1));
    presents_begin();
    presents.answer[0] = presents.answer[1] = STATUS_PENDING;
    CHECK(present_fill(p, 0, (RECT){3, 3, 4, 4}, 1));
    probe_sleep(PROBE_SECOND);
    CHECK(present_fill(p, 1, (RECT){3, 3, 4, 4}, 2));
    CHECK(screens_settle(display_screens(p), 0) && screens_settle(display_screens(p), 1));
    probe_sleep(3 * PROBE_SECOND);
    CHECK_RULE("PRES-258", presents.count == 4 && present_is(2, WHOLE) && present_is(3, WHOLE) &&
                               probe_rule(p, "PRES-257") == 1);
}

TEST(all_sources_are_shown_again)
{
    struct probe *p = display_create(NULL);

    display.outputs = display.sources = 2;
    CHECK(probe_start(p) == STATUS_SUCCESS);
    probe_end(p, loses_two);
}
